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
#include "cli/supervisor/child.h"
#include "cli/supervisor/identity.h"
#include "cli/supervisor/runtime_dir.h"
#include "cli/top/control.h"
#include "cli/top/daemons.h"
#include "cli/top/display.h"
#include "cli/top/rows.h"
#include "cli/top/term.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/log_quote.h"
#include "ipc/conn.h"

#define RETRY_NS	(200 * NSEC_PER_MSEC)	/* between connections */
#define GRACE_NS	(3 * NSEC_PER_SEC)	/* for the display to end */
#define SUSPEND_NS	NSEC_PER_SEC	/* ... or to let go of the terminal */

struct keeper {
	const struct options *opt;
	struct top_display display;	/* how it is to be */
	struct top_term term;
	struct top_daemons own;
	bool is_own;		/* .own was started */
	pid_t pid;		/* of the display; 0: has ended */
	int status;		/* of it, as of waitpid */
	int control, signals, errors;
	bool wants;		/* it has no connection */
	bool suspending;
	bool failed;
	uint64_t retry_ns, kill_ns, suspend_ns;	/* 0: not set */
};

/* --- symbolizerd ------------------------------------------------------------------ */

static int feed(struct keeper *k)
{
	struct top_msg m = { .word = TOP_FEED };
	struct conn c = { .fd = -1 };
	uid_t uid = 0;
	int r = running_connect(&c, &uid);

	k->retry_ns = now_ns() + RETRY_NS;
	if (r)
		return r;
	m.hub_uid = uid;
	r = top_tell(k->control, &m, c.fd);
	conn_close(&c);
	k->wants = r != 0;
	return r;
}

/* Is there a trifold?  If not, start one.  0 or -errno, said in the log. */
static int find_or_start(struct keeper *k)
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
	r = top_daemons_start(&k->own, k->opt);
	if (r)
		log_err("cannot start a trifold: %s", strerror(-r));
	k->is_own = r == 0;
	return r;
}

/* --- the display -------------------------------------------------------------------- */

static int start_display(struct keeper *k)
{
	int fds[2], errors[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	if (pipe2(errors, O_CLOEXEC) < 0) {
		close(fds[0]);
		close(fds[1]);
		return -errno;
	}
	k->display.control = fds[1];
	k->display.log_fd = errors[1];
	k->pid = fork();
	if (k->pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		_exit(top_display(&k->display));
	}
	close(fds[1]);
	close(errors[1]);
	k->control = fds[0];
	k->errors = errors[0];
	fcntl(k->errors, F_SETFL, O_NONBLOCK);
	k->wants = true;
	k->retry_ns = now_ns();
	return k->pid < 0 ? -errno : 0;
}

static void end_display(struct keeper *k)
{
	const struct top_msg m = { .word = TOP_QUIT };

	if (k->kill_ns || !k->pid)
		return;
	(void)top_tell(k->control, &m, -1);
	k->kill_ns = now_ns() + GRACE_NS;
}

/* Let the terminal be somebody else's for a while. */
static void top_suspend(struct keeper *k)
{
	const struct top_msg m = { .word = TOP_RESUME };

	k->suspending = false;
	k->suspend_ns = 0;
	if (!k->display.plain)
		top_term_restore(&k->term, false);
	kill(getpid(), SIGSTOP);
	/* somebody has sent SIGCONT */
	(void)top_tell(k->control, &m, -1);
}

static void ask_to_suspend(struct keeper *k)
{
	const struct top_msg m = { .word = TOP_SUSPEND };

	k->suspending = true;
	k->suspend_ns = now_ns() + SUSPEND_NS;
	(void)top_tell(k->control, &m, -1);
}

static void top_on_control(struct keeper *k)
{
	struct top_msg m;
	int r = top_hear(k->control, &m, NULL);

	if (r == -EAGAIN)
		return;
	if (r) {		/* its end will be seen */
		close(k->control);
		k->control = -1;
	} else if (m.word == TOP_CONNECT) {
		k->wants = true;
		k->retry_ns = now_ns() + RETRY_NS;
	} else if (m.word == TOP_SUSPENDED && k->suspending) {
		top_suspend(k);
	}
}

/* --- events ---------------------------------------------------------------------------- */

static void top_reap(struct keeper *k)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == k->pid) {
			k->pid = 0;
			k->status = status;
		} else if (k->is_own && pid == k->own.pid) {
			k->own.pid = 0;
			k->own.status = status;
			k->failed |= !k->kill_ns;
			end_display(k);
		}
	}
}

static void top_on_signal(struct keeper *k)
{
	struct signalfd_siginfo si;

	if (read(k->signals, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD)
		top_reap(k);
	else if (si.ssi_signo == SIGTSTP)
		ask_to_suspend(k);
	else
		end_display(k);
}

static void on_log(struct keeper *k)
{
	struct top_msg m = { .word = TOP_LINE };

	if (top_daemons_read(&k->own, m.text, sizeof(m.text)) &&
	    k->control >= 0)
		(void)top_tell(k->control, &m, -1);
}

static void on_time(struct keeper *k, uint64_t now)
{
	if (k->wants && now >= k->retry_ns && k->control >= 0)
		(void)feed(k);
	if (k->suspend_ns && now >= k->suspend_ns)
		top_suspend(k);
	if (k->kill_ns && now >= k->kill_ns && k->pid) {
		kill(k->pid, SIGKILL);
		k->kill_ns = now + GRACE_NS;
	}
}

static int top_timeout_ms(const struct keeper *k, uint64_t now)
{
	const uint64_t at[] = {
		k->wants ? k->retry_ns : 0, k->suspend_ns, k->kill_ns,
	};
	uint64_t first = now + 60 * NSEC_PER_SEC;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (at[i] && at[i] < first)
			first = at[i];
	}
	return first <= now ? 0 : (int)((first - now) / NSEC_PER_MSEC) + 1;
}

static void top_serve(struct keeper *k)
{
	struct pollfd p[] = {
		{ .fd = k->signals, .events = POLLIN },
		{ .fd = k->control, .events = POLLIN },
		{ .fd = k->is_own ? k->own.log : -1, .events = POLLIN },
	};

	if (poll(p, 3, top_timeout_ms(k, now_ns())) < 0 && errno != EINTR)
		end_display(k);
	if (p[2].revents)
		on_log(k);
	if (p[1].revents)
		top_on_control(k);
	if (p[0].revents)
		top_on_signal(k);
	on_time(k, now_ns());
}

/* --- the end ------------------------------------------------------------------------------ */

/* What the display had to say, now that the terminal is free. */
static void say_errors(struct keeper *k)
{
	char buf[4096], out[4 * sizeof(buf) + 1];
	ssize_t n = read(k->errors, buf, sizeof(buf));
	char *line = buf, *eol;

	for (; n > 0 && line < buf + n; line = eol + 1) {
		eol = memchr(line, '\n', (size_t)(buf + n - line));
		if (!eol)
			eol = buf + n;
		log_quote(line, (size_t)(eol - line), out, sizeof(out));
		(void)!write(STDERR_FILENO, out, strlen(out));
		(void)!write(STDERR_FILENO, "\n", 1);
	}
	close(k->errors);
}

static void end_own(struct keeper *k)
{
	if (!k->is_own)
		return;
	k->kill_ns = 1;		/* its end is expected from now on */
	if (k->own.pid)
		kill(k->own.pid, SIGTERM);
	while (k->own.pid) {
		struct pollfd p[] = {
			{ .fd = k->signals, .events = POLLIN },
			{ .fd = k->own.log, .events = POLLIN },
		};
		struct signalfd_siginfo si;
		char line[8];

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		if (p[1].revents)
			top_daemons_read(&k->own, line, sizeof(line));
		if (!p[0].revents ||
		    read(k->signals, &si, sizeof(si)) != sizeof(si))
			continue;
		if (si.ssi_signo == SIGCHLD)
			top_reap(k);
		else if (k->own.pid)	/* somebody is in a hurry */
			kill(k->own.pid, SIGTERM);
	}
	if (!WIFEXITED(k->own.status) || WEXITSTATUS(k->own.status))
		k->failed = true;
}

static int top_finish(struct keeper *k)
{
	bool ok = WIFEXITED(k->status) && WEXITSTATUS(k->status) == 0;
	char how[80], line[8];

	if (!k->display.plain)
		top_term_restore(&k->term, !ok);
	say_errors(k);
	if (!ok && WIFSIGNALED(k->status))
		log_err("the display %s",
			child_how(k->status, how, sizeof(how)));
	end_own(k);
	while (k->is_own && top_daemons_read(&k->own, line, sizeof(line)))
		;
	if (k->is_own && k->failed)
		top_daemons_say(&k->own);
	return ok && !k->failed ? 0 : 1;
}

/* --- the beginning -------------------------------------------------------------------------- */

static int top_catch_signals(struct keeper *k)
{
	static const int which[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP,
	};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++)
		sigaddset(&set, which[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	k->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return k->signals < 0 ? -errno : 0;
}

/* Ready for the display to start.  0 or -errno, said in the log. */
static int top_set_up(struct keeper *k)
{
	struct identities ids;
	int r;

	k->display.opt = k->opt;
	k->display.plain = k->opt->once || !isatty(STDOUT_FILENO) ||
			   !isatty(STDIN_FILENO);
	r = k->display.plain ? 0 : top_term_save(&k->term);
	if (!r)
		r = identity_find(&ids);
	if (r)
		return r;
	k->display.seal_uid = ids.uid[ID_RECORDER];
	r = top_catch_signals(k);
	if (r)
		log_err("signalfd: %s", strerror(-r));
	return r ? r : find_or_start(k);
}

int run_top(const struct options *o)
{
	struct keeper k = { .opt = o, .control = -1, .own.log = -1 };
	int r;

	k.display.view = o->view ? top_view_named(o->view) : TOP_FUNCTIONS;
	if (k.display.view == TOP__VIEWS) {
		log_err("option --view takes functions, processes, containers "
			"or threads; see `trifold top --help`");
		return EXIT_USAGE;
	}
	if (geteuid() != 0) {
		log_err("needs root, to watch all processes: run "
			"`sudo trifold top ...`");
		return 1;
	}
	if (top_set_up(&k))
		return 1;
	r = start_display(&k);
	if (r) {
		log_err("the display cannot be started: %s", strerror(-r));
		k.failed = true;
		end_own(&k);
		return 1;
	}
	while (k.pid)
		top_serve(&k);
	return top_finish(&k);
}
