// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int say_fd = STDERR_FILENO;

void say_to(int fd)
{
	say_fd = fd;
}

void say(const char *fmt, ...)
{
	char buf[1024] = "trifold: ";
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = 9 + vsnprintf(buf + 9, sizeof(buf) - 10, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(buf) - 2)
		n = (int)sizeof(buf) - 2;
	buf[n++] = '\n';
	/* there is nobody to tell when the log itself cannot be written */
	(void)!write(say_fd, buf, (size_t)n);
}
