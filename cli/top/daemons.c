// SPDX-License-Identifier: Apache-2.0
#include "cli/top/daemons.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/front/start.h"
#include "common/log.h"
#include "common/sandbox.h"

static _Noreturn void daemons_become_supervisor(const struct options *o,
						int log, pid_t parent)
{
	const int keep[] = { 0, 1, 2 };
	char frequency[16], interval[16], own[16];
	int argc = 8;
	char *argv[] = {
		(char *)"trifold", (char *)"daemons",
		(char *)"--frequency", frequency, (char *)"--interval", interval,
		(char *)"--own", own, NULL, NULL, NULL, NULL, NULL
	};
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 ||
	    dup2(log, 2) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(1);
	sandbox_close_fds(keep, 3);
	snprintf(frequency, sizeof(frequency), "%u", o->frequency);
	snprintf(interval, sizeof(interval), "%u", TOP_INTERVAL);
	snprintf(own, sizeof(own), "%d", (int)parent);
	if (o->include_self)
		argv[argc++] = (char *)"--include-self";
	if (o->show_loops)
		argv[argc++] = (char *)"--show-loops";
	if (o->libexec) {
		argv[argc++] = (char *)"--libexec";
		argv[argc++] = (char *)o->libexec;
	}
	_exit(start_supervisor(argc, argv));
}

int top_daemons_start(struct top_daemons *d, const struct options *o)
{
	pid_t parent = getpid();
	int fds[2];

	*d = (struct top_daemons){ .log = -1 };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	d->pid = fork();
	if (d->pid == 0)
		daemons_become_supervisor(o, fds[1], parent);
	close(fds[1]);
	if (d->pid < 0) {
		d->pid = 0;
		close(fds[0]);
		return -errno;
	}
	d->log = fds[0];
	fcntl(d->log, F_SETFL, O_NONBLOCK);
	return 0;
}

/* Copy the last whole line of the kept output. */
static bool daemons_last_line(const struct top_daemons *d, char *line,
			      size_t size)
{
	const char *end = memrchr(d->kept, '\n', d->len), *start;
	size_t len;

	if (!end || end == d->kept)
		return false;
	start = memrchr(d->kept, '\n', (size_t)(end - d->kept));
	if (start)
		start++;
	else
		start = d->kept;
	len = (size_t)(end - start);
	if (len >= size)
		len = size - 1;
	memcpy(line, start, len);
	line[len] = '\0';
	return len > 0;
}

bool top_daemons_read(struct top_daemons *d, char *line, size_t size)
{
	char buf[1024];
	ssize_t n;

	if (d->log < 0)
		return false;
	n = read(d->log, buf, sizeof(buf));
	if (n == 0) {
		close(d->log);
		d->log = -1;
	}
	if (n <= 0)
		return false;
	if (d->len + (size_t)n > sizeof(d->kept)) {
		size_t drop = d->len + (size_t)n - sizeof(d->kept);

		memmove(d->kept, d->kept + drop, d->len - drop);
		d->len -= drop;
	}
	memcpy(d->kept + d->len, buf, (size_t)n);
	d->len += (size_t)n;
	return memchr(buf, '\n', (size_t)n) && daemons_last_line(d, line, size);
}

void top_daemons_say(const struct top_daemons *d)
{
	char out[4 * TOP_LOG_KEPT + 2];
	const char *s = d->kept, *end = d->kept + d->len;

	while (s < end) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));
		size_t len;

		if (eol)
			len = (size_t)(eol - s);
		else
			len = (size_t)(end - s);
		log_quote(s, len, out, sizeof(out) - 1);
		strcat(out, "\n");
		(void)!write(STDERR_FILENO, out, strlen(out));
		s += len + 1;
	}
}
