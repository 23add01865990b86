// SPDX-License-Identifier: Apache-2.0
#include "cli/top/top.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/status/running.h"
#include "cli/supervisor/identity.h"
#include "cli/supervisor/runtime_dir.h"
#include "cli/top/control.h"
#include "cli/top/daemons.h"
#include "cli/top/display.h"
#include "cli/top/rows.h"
#include "cli/top/term.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/signals.h"
#include "common/wait_status.h"
#include "ipc/conn.h"

#define RETRY_NS	(200 * NSEC_PER_MSEC)	/* between connections */
#define GRACE_NS	(3 * NSEC_PER_SEC)	/* for the display to end */
#define SUSPEND_NS	NSEC_PER_SEC	/* ... or to release the terminal */

struct top_parent {
	const struct options *opt;
	struct top_display display;	/* its parameters */
	struct top_term term;
	struct top_daemons own;
	bool is_own;		/* .own was started */
	pid_t pid;		/* of the display; 0: has ended */
	int status;		/* of it, as of waitpid */
	int control, signals, errors;
	bool wants;		/* it needs a connection */
	bool suspending;
	bool failed;
	uint64_t retry_ns, kill_ns, suspend_ns;	/* 0: not set */
};

/* --- symbolizerd ------------------------------------------------------------------ */

static int top_offer(struct top_parent *top)
{
	struct top_msg m = { .word = TOP_FEED };
	struct conn c = { .fd = -1 };
	uid_t uid = 0;
	int r = running_connect(&c, &uid);

	top->retry_ns = now_ns() + RETRY_NS;
	if (r)
		return r;
	m.hub_uid = uid;
	r = top_tell(top->control, &m, c.fd);
	conn_close(&c);
	top->wants = r != 0;
	return r;
}

/* Find a running trifold, or start one.  0, or -errno after a line in the log. */
static int top_find_or_start(struct top_parent *top)
{
	struct conn c = { .fd = -1 };
	uid_t uid;
	int r = running_connect(&c, &uid);

	conn_close(&c);
	if (r && !running_nobody(r)) {
		log_err("cannot connect to %s: %s", STATUS_SOCKET,
			strerror(-r));
		return r;
	}
	if (!r)
		return 0;
	if (geteuid() != 0) {
		log_err("no trifold is running here, and starting one needs root: run "
			"`sudo trifold top ...`");
		return -EPERM;
	}
	r = top_daemons_start(&top->own, top->opt);
	if (r)
		log_err("cannot start a trifold: %s", strerror(-r));
	top->is_own = r == 0;
	return r;
}

/* --- the display -------------------------------------------------------------------- */

static int top_start_display(struct top_parent *top)
{
	int fds[2], errors[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	if (pipe2(errors, O_CLOEXEC) < 0) {
		close(fds[0]);
		close(fds[1]);
		return -errno;
	}
	top->display.control = fds[1];
	top->display.log_fd = errors[1];
	top->pid = fork();
	if (top->pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		_exit(top_display(&top->display));
	}
	close(fds[1]);
	close(errors[1]);
	top->control = fds[0];
	top->errors = errors[0];
	fcntl(top->errors, F_SETFL, O_NONBLOCK);
	top->wants = true;
	top->retry_ns = now_ns();
	if (top->pid < 0)
		return -errno;
	return 0;
}

static void top_end_display(struct top_parent *top)
{
	const struct top_msg m = { .word = TOP_QUIT };

	if (top->kill_ns || !top->pid)
		return;
	(void)top_tell(top->control, &m, -1);
	top->kill_ns = now_ns() + GRACE_NS;
}

/* Release the terminal for a while. */
static void top_suspend(struct top_parent *top)
{
	const struct top_msg m = { .word = TOP_RESUME };

	top->suspending = false;
	top->suspend_ns = 0;
	if (!top->display.plain)
		top_term_restore(&top->term, false);
	kill(getpid(), SIGSTOP);
	/* continued by SIGCONT */
	(void)top_tell(top->control, &m, -1);
}

static void top_ask_to_suspend(struct top_parent *top)
{
	const struct top_msg m = { .word = TOP_SUSPEND };

	top->suspending = true;
	top->suspend_ns = now_ns() + SUSPEND_NS;
	(void)top_tell(top->control, &m, -1);
}

static void top_on_control(struct top_parent *top)
{
	struct top_msg m;
	int r = top_hear(top->control, &m, NULL);

	if (r == -EAGAIN)
		return;
	if (r) {		/* SIGCHLD follows */
		close(top->control);
		top->control = -1;
	} else if (m.word == TOP_CONNECT) {
		top->wants = true;
		top->retry_ns = now_ns() + RETRY_NS;
	} else if (m.word == TOP_SUSPENDED && top->suspending) {
		top_suspend(top);
	}
}

/* --- events ---------------------------------------------------------------------------- */

static void top_reap(struct top_parent *top)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == top->pid) {
			top->pid = 0;
			top->status = status;
		} else if (top->is_own && pid == top->own.pid) {
			top->own.pid = 0;
			top->own.status = status;
			top->failed |= !top->kill_ns;
			top_end_display(top);
		}
	}
}

static void top_on_signal(struct top_parent *top)
{
	struct signalfd_siginfo si;

	if (read(top->signals, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD)
		top_reap(top);
	else if (si.ssi_signo == SIGTSTP)
		top_ask_to_suspend(top);
	else
		top_end_display(top);
}

static void top_on_log(struct top_parent *top)
{
	struct top_msg m = { .word = TOP_LINE };

	if (top_daemons_read(&top->own, m.text, sizeof(m.text)) &&
	    top->control >= 0)
		(void)top_tell(top->control, &m, -1);
}

static void top_on_time(struct top_parent *top, uint64_t now)
{
	if (top->wants && now >= top->retry_ns && top->control >= 0)
		(void)top_offer(top);
	if (top->suspend_ns && now >= top->suspend_ns)
		top_suspend(top);
	if (top->kill_ns && now >= top->kill_ns && top->pid) {
		kill(top->pid, SIGKILL);
		top->kill_ns = now + GRACE_NS;
	}
}

static int top_timeout_ms(const struct top_parent *top, uint64_t now)
{
	const uint64_t at[] = { top->suspend_ns, top->kill_ns };
	uint64_t first = now + 60 * NSEC_PER_SEC;

	if (top->wants && top->retry_ns && top->retry_ns < first)
		first = top->retry_ns;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (at[i] && at[i] < first)
			first = at[i];
	}
	if (first <= now)
		return 0;
	return (int)((first - now) / NSEC_PER_MSEC) + 1;
}

static void top_serve(struct top_parent *top)
{
	struct pollfd p[] = {
		{ .fd = top->signals, .events = POLLIN },
		{ .fd = top->control, .events = POLLIN },
		{ .fd = top->own.log, .events = POLLIN },	/* -1: none */
	};

	if (poll(p, 3, top_timeout_ms(top, now_ns())) < 0 && errno != EINTR)
		top_end_display(top);
	if (p[2].revents)
		top_on_log(top);
	if (p[1].revents)
		top_on_control(top);
	if (p[0].revents)
		top_on_signal(top);
	top_on_time(top, now_ns());
}

/* --- the end ------------------------------------------------------------------------------ */

/* Print the display's log, now that the terminal is free. */
static void top_say_errors(struct top_parent *top)
{
	char buf[4096], out[4 * sizeof(buf) + 1];
	ssize_t n = read(top->errors, buf, sizeof(buf));
	char *line = buf, *eol;

	for (; n > 0 && line < buf + n; line = eol + 1) {
		eol = memchr(line, '\n', (size_t)(buf + n - line));
		if (!eol)
			eol = buf + n;
		log_quote(line, (size_t)(eol - line), out, sizeof(out));
		(void)!write(STDERR_FILENO, out, strlen(out));
		(void)!write(STDERR_FILENO, "\n", 1);
	}
	close(top->errors);
}

static void top_end_own(struct top_parent *top)
{
	if (!top->is_own)
		return;
	top->kill_ns = 1; /* from now on it is expected to end */
	if (top->own.pid)
		kill(top->own.pid, SIGTERM);
	while (top->own.pid) {
		struct pollfd p[] = {
			{ .fd = top->signals, .events = POLLIN },
			{ .fd = top->own.log, .events = POLLIN },
		};
		struct signalfd_siginfo si;
		char line[8];

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		if (p[1].revents)
			top_daemons_read(&top->own, line, sizeof(line));
		if (!p[0].revents ||
		    read(top->signals, &si, sizeof(si)) != sizeof(si))
			continue;
		if (si.ssi_signo == SIGCHLD)
			top_reap(top);
		else if (top->own.pid) /* a second signal: do not wait */
			kill(top->own.pid, SIGTERM);
	}
	if (!WIFEXITED(top->own.status) || WEXITSTATUS(top->own.status))
		top->failed = true;
}

static int top_finish(struct top_parent *top)
{
	bool ok = WIFEXITED(top->status) && WEXITSTATUS(top->status) == 0;
	char how[80], line[8];

	if (!top->display.plain)
		top_term_restore(&top->term, !ok);
	top_say_errors(top);
	if (!ok && WIFSIGNALED(top->status))
		log_err("the display %s",
			wait_status_text(top->status, how, sizeof(how)));
	top_end_own(top);
	while (top->is_own && top_daemons_read(&top->own, line, sizeof(line)))
		;
	if (top->is_own && top->failed)
		top_daemons_say(&top->own);
	return !ok || top->failed;
}

/* --- start ---------------------------------------------------------------- */

static int top_catch_signals(struct top_parent *top)
{
	static const int which[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, 0,
	};

	top->signals = signals_open(which);
	if (top->signals < 0)
		return top->signals;
	return 0;
}

/* Prepare the start of the display.  0, or -errno after a line in the log. */
static int top_set_up(struct top_parent *top)
{
	struct identities ids;
	int r;

	top->display.opt = top->opt;
	top->display.plain = top->opt->once || top->opt->json || !isatty(STDOUT_FILENO) ||
			     !isatty(STDIN_FILENO);
	if (top->display.plain)
		r = 0;
	else
		r = top_term_save(&top->term);
	if (!r)
		r = identity_find(&ids);
	if (r)
		return r;
	/* without root the uid stays */
	if (geteuid())
		top->display.seal_uid = (uid_t)-1;
	else
		top->display.seal_uid = ids.uid[ID_RECORDER];
	r = top_catch_signals(top);
	if (r)
		log_err("signalfd: %s", strerror(-r));
	if (r)
		return r;
	return top_find_or_start(top);
}

int run_top(const struct options *o)
{
	struct top_parent top = { .opt = o, .control = -1, .own.log = -1 };
	int r;

	if (o->view)
		top.display.view = top_view_named(o->view);
	else
		top.display.view = TOP_FUNCTIONS;
	if (top.display.view == TOP__VIEWS) {
		log_err("option --view takes functions, processes, containers, "
			"threads or lines; see `trifold top --help`");
		return EXIT_USAGE;
	}
	if (running_forbidden("top"))
		return 1;
	if (top_set_up(&top))
		return 1;
	r = top_start_display(&top);
	if (r) {
		log_err("the display cannot be started: %s", strerror(-r));
		top.failed = true;
		top_end_own(&top);
		return 1;
	}
	while (top.pid)
		top_serve(&top);
	return top_finish(&top);
}
