// SPDX-License-Identifier: Apache-2.0
#include "common/service_status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/service.h"

void service_status(const char *fmt, ...)
{
	static char last[256];
	char buf[sizeof(last)] = "STATUS=";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + 7, sizeof(buf) - 7, fmt, ap);
	va_end(ap);
	buf[strcspn(buf, "\n")] = '\0';
	if (!strcmp(buf, last))
		return;
	strcpy(last, buf);
	service_notify(buf);
}
