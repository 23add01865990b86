// SPDX-License-Identifier: Apache-2.0
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LINE_MAX_BYTES	1024

static struct {
	const char *name;
	bool debug, prefix;
} self = { .name = "trifold" };

void log_init(const char *name, bool debug)
{
	self.name = name;
	self.debug = debug;
	self.prefix = getenv("JOURNAL_STREAM") != NULL;
}

void log_line(int level, const char *fmt, ...)
{
	char buf[LINE_MAX_BYTES];
	int saved = errno, n = 0, m;
	va_list ap;

	if (level == LOG_DEBUG && !self.debug)
		return;
	if (self.prefix)
		n = snprintf(buf, sizeof(buf), "<%d>", level);
	n += snprintf(buf + n, sizeof(buf) - (size_t)n, "%.64s: ", self.name);
	errno = saved;		/* for %m */
	va_start(ap, fmt);
	m = vsnprintf(buf + n, sizeof(buf) - (size_t)n, fmt, ap);
	va_end(ap);
	if (m > 0)
		n += m;
	if (n > LINE_MAX_BYTES - 1)
		n = LINE_MAX_BYTES - 1;
	buf[n++] = '\n';
	/* nobody to tell when the log itself cannot be written */
	(void)!write(STDERR_FILENO, buf, (size_t)n);
	errno = saved;
}
