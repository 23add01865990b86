// SPDX-License-Identifier: Apache-2.0
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_TEXT_MAX	958	/* bytes with a NUL; more is cut off */

static struct {
	const char *name;
	bool debug;
	bool levels;		/* lines begin with <N> */
} log_state = { .name = "trifold" };

/* Is standard error what JOURNAL_STREAM names?  The variable is inherited, but standard
 * error may go elsewhere.  0:0 is the supervisor's pipe. */
static bool log_to_journal(void)
{
	const char *journal = getenv("JOURNAL_STREAM");
	unsigned long dev, ino;
	struct stat st;

	if (!journal || sscanf(journal, "%lu:%lu", &dev, &ino) != 2)
		return false;
	if (!dev && !ino)
		return true;
	return !fstat(STDERR_FILENO, &st) && dev == st.st_dev && ino == st.st_ino;
}

void log_init(const char *name, bool debug)
{
	log_state.name = name;
	log_state.debug = debug;
	log_state.levels = log_to_journal();
}

void log_line(int level, const char *fmt, ...)
{
	char text[LOG_TEXT_MAX], line[LOG_TEXT_MAX + 100], prefix[16] = "";
	int saved = errno, n;
	va_list ap;

	if (level == LOG_DEBUG && !log_state.debug)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (log_state.levels)
		snprintf(prefix, sizeof(prefix), "<%d>", level);
	n = snprintf(line, sizeof(line), "%s%.64s: %s\n", prefix, log_state.name, text);
	/* if the log cannot be written, there is nowhere to report it */
	(void)!write(STDERR_FILENO, line, (size_t)n);
	errno = saved;
}

const char *log_quote(const char *s, size_t len, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		char text[5] = { s[i] };
		size_t text_len = 1;

		if (c < ' ' || c > '~' || c == '\\')
			text_len = (size_t)snprintf(text, sizeof(text), "\\x%02x", c);
		if (size < text_len + 1 || n > size - text_len - 1)
			break;
		memcpy(out + n, text, text_len);
		n += text_len;
	}
	if (size)
		out[n] = '\0';
	return out;
}
