// SPDX-License-Identifier: Apache-2.0
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *log_name = "trifold";
static bool log_debugs, log_prefixes;

void log_init(const char *name, bool debug)
{
	const char *journal = getenv("JOURNAL_STREAM");
	unsigned long dev, ino;
	struct stat st;

	log_name = name;
	log_debugs = debug;
	/* inherited, but standard error goes elsewhere now?  0:0: the supervisor's pipe */
	log_prefixes = journal && sscanf(journal, "%lu:%lu", &dev, &ino) == 2 && !fstat(2, &st) &&
		(!(dev | ino) || (dev == st.st_dev && ino == st.st_ino));
}

void log_line(int level, const char *fmt, ...)
{
	char buf[1024];
	int saved = errno, n = 0;
	va_list ap;

	if (level == LOG_DEBUG && !log_debugs)
		return;
	if (log_prefixes)
		n = snprintf(buf, sizeof(buf), "<%d>", level);
	n += snprintf(buf + n, sizeof(buf) - (size_t)n, "%.64s: ", log_name);
	errno = saved;		/* for %m */
	va_start(ap, fmt);
	n += vsnprintf(buf + n, sizeof(buf) - (size_t)n, fmt, ap);
	va_end(ap);
	n = n < (int)sizeof(buf) ? n : (int)sizeof(buf) - 1;
	buf[n++] = '\n';
	/* nobody to tell when the log itself cannot be written */
	(void)!write(STDERR_FILENO, buf, (size_t)n);
	errno = saved;
}
