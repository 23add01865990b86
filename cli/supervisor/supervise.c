// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/console.h"
#include "cli/record/progress.h"
#include "cli/record/recorder_link.h"
#include "cli/status/report.h"
#include "cli/supervisor/child.h"
#include "cli/supervisor/daemons.h"
#include "cli/supervisor/launcher.h"
#include "cli/supervisor/reload.h"
#include "cli/supervisor/restart.h"
#include "cli/supervisor/signals.h"
#include "common/clock.h"
#include "common/log.h"
#include "ipc/hub_client.h"

#define S(n)		((n) * NSEC_PER_SEC)
#define START_NS	S(20)	/* for all to be ready */
#define START_TRIES	3	/* deaths of one daemon before it was ready */
#define ASK_NS		(50 * NSEC_PER_MSEC)	/* is loaderd up yet? */
#define PLAIN_NS	S(10)	/* between lines, when not on a terminal */
#define COMMAND_NS	S(5)	/* for the command, after the first signal */

enum phase {
	STARTING,
	RUNNING,
	END_COMMAND,		/* it still runs, and was asked to end */
	END_LOADER,
	END_HUB,
	END_EXPORTER,
	END_VIEWER,
	END_RECORDER,
	ENDED
};

struct daemon {
	pid_t pid;		/* 0: not running */
	bool ready;		/* has said READY=1 */
	bool was_ready;		/* so did this one or one before it */
	unsigned int tries;	/* deaths before any was ready */
	uint64_t started_ns;
	uint64_t due_ns;	/* when to start it (again) */
	uint64_t backoff_ns;
	uint64_t replace_ns;	/* it ends by then for another one; 0: no */
};

struct sup {
	struct options *opt;
	struct target *target;
	struct config *config;	/* of opt; NULL: not to be read again */
	struct progress progress;
	bool had_terminal;
	bool plain;
	struct launch launch;
	struct console console;
	struct hub_client watch;
	struct daemon daemon[DAEMON__COUNT];
	int signals;		/* signalfd */

	struct recorder_link recorder;
	struct launcher launcher;
	pid_t command;		/* the launcher, once it runs it */
	int command_status;

	enum phase phase;
	bool failed;		/* the exit status will be 1 */
	bool quick;		/* asked twice to end */
	bool killed;		/* of this phase: SIGKILL was sent */
	int end_signal;		/* what to send the command; 0: it knows */
	uint64_t phase_ns;	/* when this phase began */
	uint64_t deadline_ns;	/* of this phase; UINT64_MAX: none */
	uint64_t shown_ns;
	uint64_t asked_ns;
	uint64_t run_ns, end_ns;	/* of sampling */
	uint64_t start_real_ns, end_real_ns;	/* likewise, CLOCK_REALTIME */
};

/* --- daemons --------------------------------------------------------------------------- */

/* What ends in this phase; DAEMON__COUNT: no daemon. */
static enum daemon_id ending(enum phase p)
{
	return p == END_LOADER ? DAEMON_LOADER : p == END_HUB ? DAEMON_HUB :
		p == END_EXPORTER ? DAEMON_EXPORTER :
		p == END_VIEWER ? DAEMON_VIEWER : DAEMON__COUNT;
}

static bool has(const struct sup *s, enum daemon_id id)
{
	return id != DAEMON_VIEWER || s->launch.page.on;
}

/* Is it to run, in this phase? */
static bool supervise_wanted(const struct sup *s, enum daemon_id id)
{
	static const enum phase until[DAEMON__COUNT] = {
		[DAEMON_HUB] = END_HUB, [DAEMON_EXPORTER] = END_EXPORTER,
		[DAEMON_LOADER] = END_LOADER, [DAEMON_VIEWER] = END_VIEWER,
	};

	if (s->opt->output && !s->recorder.ready)
		return false;
	return has(s, id) && s->phase < until[id] && !s->quick;
}

static void start_due(struct sup *s, uint64_t now)
{
	for (int i = 0; i < DAEMON__COUNT; i++) {
		struct daemon *d = &s->daemon[i];
		int feed;

		if (d->pid || now < d->due_ns || !supervise_wanted(s, i))
			continue;
		feed = i == DAEMON_EXPORTER ? recorder_link_feed(&s->recorder) : -1;
		d->pid = daemon_start(&s->launch, i, feed);
		if (feed >= 0)
			close(feed);
		d->started_ns = now;
		d->ready = false;
		d->replace_ns = 0;
		if (d->pid > 0)
			continue;
		console_say(&s->console, "%s cannot be started: %s",
			    daemon_names[i], strerror(-d->pid));
		d->pid = 0;
		d->due_ns = now + restart_backoff(&d->backoff_ns, 0);
	}
}

static void daemon_died(struct sup *s, enum daemon_id id, int status,
			uint64_t now)
{
	struct daemon *d = &s->daemon[id];
	uint64_t wait;
	char how[80];

	d->pid = 0;
	if (!supervise_wanted(s, id)) {
		/* by us, perhaps before it was ready for that */
		if (status && !WIFSIGNALED(status))
			console_say(&s->console, "%s %s", daemon_names[id],
				    child_how(status, how, sizeof(how)));
		return;
	}
	if (d->replace_ns) {
		d->due_ns = now;
		return;
	}
	wait = restart_backoff(&d->backoff_ns, now - d->started_ns);
	d->due_ns = now + wait;
	d->tries += !d->was_ready;
	if (d->tries < START_TRIES)
		console_say(&s->console, "%s %s; it is started again in "
			    "%llu.%llu s", daemon_names[id],
			    child_how(status, how, sizeof(how)),
			    (unsigned long long)(wait / NSEC_PER_SEC),
			    (unsigned long long)(wait / (NSEC_PER_SEC / 10) % 10));
	else
		console_say(&s->console, "%s %s for the %u. time: giving up",
			    daemon_names[id],
			    child_how(status, how, sizeof(how)), d->tries);
}

/* The configuration is read again: daemons that obey what changed in it end in
 * good order, and start_due() starts others. */
static void on_reload(struct sup *s, uint64_t now)
{
	unsigned int which = reload(s->opt, s->config, &s->console);

	s->launch.network = daemons_export(s->opt);
	for (int i = 0; i < DAEMON__COUNT; i++) {
		struct daemon *d = &s->daemon[i];

		if (!(which & 1u << i))
			continue;
		d->due_ns = now;
		if (!d->pid || d->replace_ns)
			continue;
		d->replace_ns = now + RELOAD_END_NS;
		kill(d->pid, reload_signal(i));
	}
}

static void check_replaced(struct sup *s, uint64_t now)
{
	for (int i = 0; i < DAEMON__COUNT; i++) {
		struct daemon *d = &s->daemon[i];

		if (!d->pid || !d->replace_ns || now < d->replace_ns)
			continue;
		console_say(&s->console, "%s (pid %d) does not end: sending SIGKILL",
			    daemon_names[i], (int)d->pid);
		kill(d->pid, SIGKILL);
		d->replace_ns = UINT64_MAX;
	}
}

static void on_notify(struct sup *s)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	char text[512];
	struct iovec iov = { text, sizeof(text) - 1 };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(s->launch.dir.notify, &mh,
			    MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&mh);
	struct ucred cred;

	if (!c || c->cmsg_type != SCM_CREDENTIALS)
		return;
	memcpy(&cred, CMSG_DATA(c), sizeof(cred));
	text[n] = '\0';
	if (strncmp(text, "READY=1", 7) && !strstr(text, "\nREADY=1"))
		return;
	s->recorder.ready |= s->recorder.pid == cred.pid;
	for (int i = 0; i < DAEMON__COUNT; i++) {
		if (s->daemon[i].pid == cred.pid)
			s->daemon[i].ready = s->daemon[i].was_ready = true;
	}
}

/* --- phases -------------------------------------------------------------------------------- */

static void supervise_enter(struct sup *s, enum phase p, uint64_t now);

/* Begin to end; where the command still runs, it ends first. */
static void supervise_begin_end(struct sup *s, uint64_t now)
{
	if (s->phase >= END_COMMAND)
		return;
	if (!s->end_ns)
		s->end_ns = now;
	supervise_enter(s, s->command ? END_COMMAND : END_LOADER, now);
}

static void supervise_fail(struct sup *s, uint64_t now)
{
	s->failed = true;
	supervise_begin_end(s, now);
}

static pid_t phase_pid(const struct sup *s)
{
	enum daemon_id id = ending(s->phase);

	if (id != DAEMON__COUNT)
		return s->daemon[id].pid;
	return s->phase == END_COMMAND ? s->command :
		s->phase == END_RECORDER ? s->recorder.pid : 0;
}

static void end_recorder(struct sup *s)
{
	/* a recording that never began leaves no file */
	bool write = s->run_ns && !s->quick;
	struct profile_account account = { 0 };

	if (s->watch.known)
		report_account(&s->watch.status, &account);
	account.start_ns = s->start_real_ns;
	account.end_ns = s->end_real_ns;
	if (recorder_link_end(&s->recorder, write ? &account : NULL))
		console_say(&s->console, "the recorder does not listen");
}

static void supervise_enter(struct sup *s, enum phase p, uint64_t now)
{
	static const uint64_t limit_ns[] = {
		[STARTING] = START_NS, [RUNNING] = 0,
		[END_COMMAND] = COMMAND_NS, [END_LOADER] = S(5),
		[END_HUB] = S(20), [END_EXPORTER] = S(10), [END_VIEWER] = S(5),
		[END_RECORDER] = S(60), [ENDED] = 0,
	};

	s->phase = p;
	s->phase_ns = now;
	s->killed = false;
	s->deadline_ns = limit_ns[p] ? now + limit_ns[p] : UINT64_MAX;
	if (p == RUNNING && s->opt->duration_ms)
		s->deadline_ns = now + s->opt->duration_ms * NSEC_PER_MSEC;
	if (p == END_LOADER)
		s->end_real_ns = clock_ns(CLOCK_REALTIME);
	if (p == END_RECORDER)
		end_recorder(s);
	else if (p == END_COMMAND && s->end_signal)
		launcher_signal(&s->launcher, s->end_signal);
	else if (p > END_COMMAND && p < END_RECORDER && phase_pid(s))
		kill(phase_pid(s), SIGTERM);
	if (s->opt->verbose && p >= END_LOADER && p < END_RECORDER)
		console_say(&s->console, "ending %s", daemon_names[ending(p)]);
}

static int start_launcher(struct sup *s)
{
	const struct child_spec spec = {
		.path = s->opt->rest[0], .argv = s->opt->rest,
		.env = environ, .log_fd = -1,
	};
	int r = s->opt->rest[0] ? launcher_start(&s->launcher, &spec) : 0;

	s->launch.launcher = s->launcher.pid;
	return r;
}

static void start_command(struct sup *s, uint64_t now)
{
	int r = launcher_go(&s->launcher);

	if (!r) {
		s->command = s->launcher.pid;
		return;
	}
	console_say(&s->console, "%s: %s", s->opt->rest[0], strerror(-r));
	supervise_fail(s, now);
}

static bool all_ready(const struct sup *s)
{
	for (int i = 0; i < DAEMON__COUNT; i++) {
		if (!s->daemon[i].ready && has(s, i))
			return false;
	}
	return true;
}

/* All three are ready, and symbolizerd has loaderd's hello. */
static bool sampling(struct sup *s, uint64_t now)
{
	if (!all_ready(s))
		return false;
	if (s->watch.known && s->watch.status.loader_up)
		return true;
	if (now - s->asked_ns >= ASK_NS) {
		hub_client_renew(&s->watch, now);
		s->asked_ns = now;
	}
	return false;
}

static void supervise_begin_run(struct sup *s, uint64_t now)
{
	char address[80];

	s->run_ns = s->shown_ns = now;
	s->start_real_ns = clock_ns(CLOCK_REALTIME);
	supervise_enter(s, RUNNING, now);
	if (s->launch.page.on)
		console_say(&s->console, "live page%s: %s",
			    s->launch.page.elsewhere ?
			    " (its usual port is taken)" : "",
			    live_page_address(&s->launch.page, address));
	if (s->opt->rest[0])
		start_command(s, now);
	else if (!s->opt->duration_ms && (s->plain || s->console.tty))
		console_say(&s->console, "profiling %s%suntil Ctrl-C",
			    s->target->what, *s->target->what ? " " : "");
}

/* When all that shall be recorded has ended, so has the recording. */
static void check_target(struct sup *s, uint64_t now)
{
	uint32_t pid;

	while ((pid = target_ended(s->target)))
		console_say(&s->console, "process %u has ended", pid);
	if (s->target->kind == TARGET_PIDS && !s->target->running)
		supervise_begin_end(s, now);
}

static void check_start(struct sup *s, uint64_t now)
{
	if (sampling(s, now)) {
		supervise_begin_run(s, now);
		return;
	}
	for (int i = 0; i < DAEMON__COUNT; i++) {
		if (s->daemon[i].tries >= START_TRIES) {
			supervise_fail(s, now);
			return;
		}
	}
	if (now < s->deadline_ns)
		return;
	for (int i = 0; i < DAEMON__COUNT; i++) {
		if (!s->daemon[i].ready && supervise_wanted(s, i))
			console_say(&s->console, "%s is not ready after %llu s",
				    daemon_names[i], START_NS / NSEC_PER_SEC);
	}
	supervise_fail(s, now);
}

/* The time of this phase is over: stronger means. */
static void overdue(struct sup *s, uint64_t now)
{
	static const char *const what[] = {
		[END_COMMAND] = "the command", [END_RECORDER] = "the recorder",
	};
	enum daemon_id id = ending(s->phase);
	/* the keeper removes its file on SIGTERM, by SIGKILL it could not */
	bool gently = !s->killed && (s->phase == END_RECORDER ||
		(s->phase == END_COMMAND && s->end_signal != SIGTERM &&
		 !s->quick));
	int sig = gently ? SIGTERM : SIGKILL;

	console_say(&s->console, "%s (%spid %d) %s: sending %s",
		    id != DAEMON__COUNT ? daemon_names[id] : what[s->phase],
		    s->phase == END_COMMAND ? "below " : "",
		    (int)phase_pid(s), s->quick ? "still runs" :
		    "does not end", sig == SIGTERM ? "SIGTERM" : "SIGKILL");
	if (s->phase == END_COMMAND)
		launcher_signal(&s->launcher, sig);
	else
		kill(phase_pid(s), sig);
	s->killed = s->killed || sig == SIGKILL || s->phase == END_RECORDER;
	s->end_signal = SIGTERM;
	s->deadline_ns = now + S(5);
}

static void supervise_advance(struct sup *s, uint64_t now)
{
	enum phase before;

	if (s->phase == STARTING)
		check_start(s, now);
	if (s->phase == RUNNING && now >= s->deadline_ns)
		supervise_begin_end(s, now);
	if (s->phase == RUNNING)
		check_target(s, now);
	do {
		before = s->phase;
		if (before > RUNNING && before < ENDED && !phase_pid(s))
			supervise_enter(s, before + 1, now);
	} while (s->phase != before);
	if (s->phase > RUNNING && s->phase < ENDED && now >= s->deadline_ns)
		overdue(s, now);
}

/* --- events ---------------------------------------------------------------------------------- */

static void supervise_child_died(struct sup *s, pid_t pid, int status,
				 uint64_t now)
{
	char how[80];

	if (pid == s->launcher.pid) {
		s->failed |= !s->command;
		s->launcher.pid = s->command = 0;
		s->command_status = status;
		s->end_ns = s->end_ns ? s->end_ns : now;
		if (s->phase <= RUNNING)
			supervise_begin_end(s, now);
		return;
	}
	if (pid == s->recorder.pid) {
		s->recorder.pid = 0;
		if (status == 0 && s->phase == END_RECORDER)
			return;
		/* why, it said itself, unless it was killed */
		if (WIFSIGNALED(status) && !s->killed)
			console_say(&s->console, "the recorder %s",
				    child_how(status, how, sizeof(how)));
		supervise_fail(s, now);
		return;
	}
	for (int i = 0; i < DAEMON__COUNT; i++) {
		if (s->daemon[i].pid == pid)
			daemon_died(s, i, status, now);
	}
}

static void quick_end(struct sup *s, uint64_t now)
{
	s->quick = s->failed = true;
	console_say(&s->console, "ending at once: samples under way are lost");
	supervise_begin_end(s, now);
	for (int i = 0; i < DAEMON__COUNT; i++) {
		if (s->daemon[i].pid)
			kill(s->daemon[i].pid, SIGKILL);
	}
	if (s->recorder.pid)
		kill(s->recorder.pid, SIGTERM);
	if (s->command)
		launcher_signal(&s->launcher, SIGKILL);
	s->killed = true;
	s->deadline_ns = now + S(2);
}

static void supervise_on_signal(struct sup *s, uint64_t now)
{
	struct signalfd_siginfo si;
	int status;
	pid_t pid;

	if (read(s->signals, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			supervise_child_died(s, pid, status, now);
		return;
	}
	if (si.ssi_signo == SIGHUP && s->config &&
	    (!s->had_terminal || reload_has_terminal())) {
		if (s->phase <= RUNNING)
			on_reload(s, now);
		return;
	}
	if (s->phase > RUNNING) {
		if (!s->quick)
			quick_end(s, now);
		return;
	}
	/* Ctrl-C reaches the command too, the kernel sends it to both */
	s->end_signal = si.ssi_code == SI_KERNEL ? 0 : (int)si.ssi_signo;
	if (s->phase == STARTING)
		s->failed = true;
	supervise_begin_end(s, now);
}

static void supervise_show(struct sup *s, uint64_t now)
{
	uint64_t every = s->console.tty ? S(1) : PLAIN_NS;
	char text[256];

	if (s->phase != RUNNING || !s->watch.known ||
	    (!s->console.tty && !s->plain) || now - s->shown_ns < every)
		return;
	s->shown_ns += (now - s->shown_ns) / every * every;
	if (s->plain)
		report_progress(&s->watch.status,
				(now - s->run_ns) / NSEC_PER_SEC, text,
				sizeof(text));
	else
		progress_line(&s->progress, &s->watch.status, now - s->run_ns,
			      s->opt->duration_ms * NSEC_PER_MSEC, text,
			      sizeof(text));
	if (s->console.tty)
		console_progress(&s->console, text);
	else
		console_say(&s->console, "%s", text);
}

static int supervise_timeout_ms(const struct sup *s, uint64_t now)
{
	uint64_t at = s->deadline_ns, every = s->console.tty ? S(1) : PLAIN_NS;

	for (int i = 0; i < DAEMON__COUNT; i++) {
		if (!s->daemon[i].pid && supervise_wanted(s, i) &&
		    s->daemon[i].due_ns < at)
			at = s->daemon[i].due_ns;
		if (s->daemon[i].pid && s->daemon[i].replace_ns &&
		    s->daemon[i].replace_ns < at)
			at = s->daemon[i].replace_ns;
	}
	if (s->watch.conn.fd < 0 && s->phase < END_EXPORTER &&
	    s->watch.retry_ns < at)
		at = s->watch.retry_ns;
	if (s->phase == RUNNING && (s->console.tty || s->plain) &&
	    s->shown_ns + every < at)
		at = s->shown_ns + every;
	if (s->phase == STARTING && all_ready(s) && s->asked_ns + ASK_NS < at)
		at = s->asked_ns + ASK_NS;
	if (at == UINT64_MAX)
		return -1;
	if (at <= now)
		return 0;
	at = (at - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return at > 60000 ? 60000 : (int)at;
}

static void read_status(struct sup *s, uint64_t now)
{
	int r = hub_client_read(&s->watch, now);

	if (r > 0)
		log_err("symbolizerd broke the protocol of its status: %s",
			msg_verdict_name(r));
}

static void wait_and_serve(struct sup *s)
{
	struct pollfd p[] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->launch.dir.notify, .events = POLLIN },
		{ .fd = s->console.read_fd, .events = POLLIN },
		{ .fd = s->watch.conn.fd, .events = POLLIN },
		{ .fd = s->phase == RUNNING ? s->target->ended : -1,
		  .events = POLLIN },
	};
	uint64_t now;

	if (poll(p, 5, supervise_timeout_ms(s, now_ns())) < 0 && errno != EINTR)
		s->failed = true;
	now = now_ns();
	if (p[2].revents)
		console_pump(&s->console);
	if (p[3].revents)
		read_status(s, now);
	if (p[1].revents)
		on_notify(s);
	if (p[0].revents)
		supervise_on_signal(s, now);
}

static void supervise_loop(struct sup *s)
{
	supervise_enter(s, STARTING, now_ns());
	while (s->phase != ENDED) {
		uint64_t now = now_ns();

		start_due(s, now);
		if (s->phase < END_EXPORTER)
			hub_client_connect(&s->watch, now);
		wait_and_serve(s);
		now = now_ns();
		supervise_show(s, now);
		check_replaced(s, now);
		supervise_advance(s, now);
	}
}

/* --- start and end -------------------------------------------------------------------------- */

static int supervise_set_up(struct sup *s)
{
	struct launch *l = &s->launch;
	int r;

	l->opt = s->opt;
	l->target = s->target;
	r = daemons_find(s->opt->libexec, l->programs);
	if (!r)
		r = identity_find(&l->ids);
	if (!r && s->plain)
		r = live_page_open(&l->page, s->opt, l->programs);
	if (r)
		return r;
	s->signals = signals_catch(s->config);
	r = s->signals < 0 ? s->signals : 0;
	if (!r)
		r = runtime_dir_make(&l->dir, &l->ids);
	if (r)
		return r;
	r = console_init(&s->console, s->opt->verbose);
	if (r) {
		runtime_dir_remove(&l->dir);
		return r;
	}
	l->log_fd = s->console.write_fd;
	hub_client_init(&s->watch, STATUS_SOCKET, l->ids.uid[ID_HUB], NULL,
			NULL);
	return 0;
}

static int exit_status(const struct sup *s)
{
	if (s->failed)
		return 1;
	if (!s->opt->rest[0])
		return 0;
	return WIFEXITED(s->command_status) ? WEXITSTATUS(s->command_status) :
		128 + WTERMSIG(s->command_status);
}

static void supervise_finish(struct sup *s)
{
	char text[768];

	read_status(s, now_ns());
	hub_client_fini(&s->watch);
	console_fini(&s->console);
	if (s->watch.known && s->run_ns) {
		report_summary(&s->watch.status, text, sizeof(text));
		log_info("%s", text);
	} else if (!s->failed) {
		log_warn("no account of the samples was received");
	}
	runtime_dir_remove(&s->launch.dir);
	live_page_close(&s->launch.page);
	close(s->signals);
}

int supervise(struct options *o, struct target *target, struct config *c,
	      bool plain)
{
	struct sup s = {
		.opt = o, .target = target, .config = c, .plain = plain,
		.recorder.control = -1, .launcher.go = -1,
		.had_terminal = reload_has_terminal() && !signals_nohup(),
	};
	int r;

	/* to record is not to send: only `run` has an endpoint */
	s.launch.network = plain && daemons_export(o);
	if (supervise_set_up(&s))
		return 1;
	r = start_launcher(&s);
	if (!r && o->output)
		r = recorder_link_start(&s.recorder, &s.launch);
	if (r)
		log_err("%s cannot be started: %s", s.launcher.pid ||
			!o->rest[0] ? "the recorder" : "the launcher",
			strerror(-r));
	else
		supervise_loop(&s);
	launcher_cancel(&s.launcher);
	supervise_finish(&s);
	return r ? 1 : exit_status(&s);
}
