// SPDX-License-Identifier: Apache-2.0
#include "cli/record/console.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <syslog.h>
#include <unistd.h>

#include "common/log.h"

#define PUMP_BYTES	65536	/* at once, before other work */

int console_open(struct console *c, bool all, int read_fd)
{
	*c = (struct console){
		.tty = isatty(STDERR_FILENO) == 1, .all = all,
		.read_fd = read_fd, .write_fd = -1,
	};
	if (fcntl(c->read_fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

int console_init(struct console *c, bool all)
{
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r = console_open(c, all, fds[0]);
	c->write_fd = fds[1];
	return r;
}

void console_fini(struct console *c)
{
	console_pump(c);
	console_clear(c);
	close(c->read_fd);
	if (c->write_fd >= 0)
		close(c->write_fd);
}

static void console_put(const char *s, size_t n)
{
	/* an error of the log itself cannot be reported */
	(void)!write(STDERR_FILENO, s, n);
}

void console_clear(struct console *c)
{
	if (c->shown)
		console_put("\r\033[K", 4);
	c->shown = false;
}

static void console_put_line(struct console *c)
{
	/* four bytes at most for each */
	char out[4 * sizeof(c->part) + 2];
	const char *s = c->part;
	size_t len = c->len;
	int level = LOG_ERR;

	c->len = 0;
	if (len > 2 && s[0] == '<' && s[1] >= '0' && s[1] <= '7' &&
	    s[2] == '>') {
		level = s[1] - '0';
		s += 3;
		len -= 3;
	}
	if (len == 0 || (level > LOG_WARNING && !c->all))
		return;
	console_clear(c);
	log_quote(s, len, out, sizeof(out) - 1);
	strcat(out, "\n");
	console_put(out, strlen(out));
}

void console_pump(struct console *c)
{
	char buf[4096];
	size_t total = 0;
	ssize_t n;

	while (total < PUMP_BYTES &&
	       (n = read(c->read_fd, buf, sizeof(buf))) > 0) {
		total += (size_t)n;
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] != '\n')
				c->part[c->len++] = buf[i];
			if (buf[i] == '\n' || c->len == sizeof(c->part))
				console_put_line(c);
		}
	}
}

void console_say(struct console *c, const char *fmt, ...)
{
	char buf[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	console_clear(c);
	log_info("%s", buf);
}

void console_progress(struct console *c, const char *text)
{
	struct winsize ws;
	char buf[512];
	int cols = 80;

	if (!c->tty)
		return;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 1)
		cols = ws.ws_col;
	snprintf(buf, sizeof(buf), "\r%.*s\033[K", cols - 1, text);
	console_put(buf, strlen(buf));
	c->shown = true;
}
