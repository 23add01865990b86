// SPDX-License-Identifier: Apache-2.0
#include "common/service_status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/service.h"

void service_status(const char *fmt, ...)
{
	char buf[256] = "STATUS=";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + 7, sizeof(buf) - 7, fmt, ap);
	va_end(ap);
	buf[strcspn(buf, "\n")] = '\0';
	service_notify(buf);
}
