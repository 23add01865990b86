// SPDX-License-Identifier: Apache-2.0
#include "cli/record/attach.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/console.h"
#include "cli/record/record_watch.h"
#include "cli/record/launcher.h"
#include "cli/record/recorder_link.h"
#include "cli/record/signals.h"
#include "cli/status/running.h"
#include "cli/supervisor/identity.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/wait_status.h"

#define S(n)		((n) * NSEC_PER_SEC)
#define BEGIN_NS	S(10)	/* until symbolizerd answers */
#define RETRY_NS	(200 * NSEC_PER_MSEC)	/* between connections */
#define GONE_NS		S(2)	/* the socket is gone: trifold has ended */
#define SILENT_NS	S(15)	/* the socket is there, but nothing arrives */
#define COMMAND_NS	S(5)	/* for the command, after the first signal */
#define WRITE_NS	S(60)
#define LATE_NS		S(10)	/* a batch, on a busy machine */

enum attach_phase {
	BEGINNING,		/* not subscribed yet */
	RUNNING,
	END_COMMAND,		/* it still runs, and was asked to end */
	SETTLING,		/* waiting for the last samples */
	WRITING,
	ENDED,
};

struct attach {
	struct options opt;	/* with the frequency of the running trifold */
	struct target *target;
	uid_t seal_uid;		/* of the recorder's writer */
	struct console console;
	struct recorder_link recorder;
	struct launcher launcher;
	pid_t command;		/* the launcher, once it runs the command */
	int command_status;
	int signals;		/* signalfd */
	uint32_t interval_ms;	/* of the running trifold */

	struct cut range;
	struct record_state state;
	uint32_t offered;	/* connections */
	uint64_t retry_ns;
	bool nobody;		/* the last attempt found no trifold */
	uint64_t gone_ns;	/* since when none was found; 0: one was */

	enum attach_phase phase;
	bool failed;
	bool killed;		/* SIGKILL or the last SIGTERM was sent */
	int end_signal;		/* signal for the command; 0: it was sent */
	uint64_t deadline_ns;	/* of this phase; UINT64_MAX: none */
	uint64_t run_ns, shown_ns;
};

/* --- is a suitable trifold running? --------------------------------------- */

int attach_find(struct status *ret)
{
	int r = running_status(ret, true, NULL);

	if (running_nobody(r))
		return 0;
	if (r == -ENOLINK)
		log_err("a trifold is running, but takes no samples now: see "
			"`trifold status`, and record when it does, or stop it");
	else if (r == -ETIMEDOUT)
		log_err("a trifold is running, but its symbolizerd does not "
			"answer: is it starting?");
	else if (r)
		log_err("a trifold is running, but gives no status: %s",
			strerror(-r));
	if (r)
		return r;
	return 1;
}

int attach_check(const struct options *o, const struct target *t,
		 const struct status *st, char *err, size_t size)
{
	err[0] = '\0';
	if (st->partial)
		snprintf(err, size, "the trifold that is running samples a part "
			 "of the system only: wait for its end, or stop it");
	else if (t->kind == TARGET_COMMAND)
		snprintf(err, size, "a trifold is running, whose samples do not "
			 "show which command they belong to: add --all to record "
			 "the whole system while it runs, or stop that trifold");
	else if (o->unit && !*t->service)
		snprintf(err, size, "a trifold is running, whose samples name "
			 "services, but no other units (nor names of over %d "
			 "bytes, nor what a service made below itself): use "
			 "--container, --name or --pid, or stop that trifold",
			 BATCH_UNIT_MAX);
	else if (o->cgroup)
		snprintf(err, size, "a trifold is running, whose samples do not "
			 "name a cgroup: use --unit, "
			 "--container, --name or --pid, or stop that trifold");
	else if (options_given(o, "frequency") && o->frequency != st->frequency)
		snprintf(err, size, "a trifold is running, which samples at %u "
			 "Hz, and so will this recording: leave out "
			 "--frequency, or stop that trifold", st->frequency);
	if (*err)
		return -EINVAL;
	return 0;
}

/* --- the recorder ----------------------------------------------------------------- */

static void attach_tell_range(struct attach *a)
{
	const struct record_msg m = { .kind = RECORD_RANGE, .range = a->range };

	if (recorder_link_tell(&a->recorder, &m, -1))
		console_say(&a->console, "the recorder does not respond");
}

/* Give the writer a connection to symbolizerd, if it has none. */
static void attach_offer(struct attach *a, uint64_t now)
{
	struct record_msg m = { .kind = RECORD_WATCH };
	struct conn c = { .fd = -1 };
	uid_t uid;
	int r;

	if (a->phase > SETTLING || a->state.connected ||
	    a->state.opened != a->offered || now < a->retry_ns)
		return;
	a->retry_ns = now + RETRY_NS;
	r = running_connect(&c, &uid);
	a->nobody = running_nobody(r);
	if (r)
		return;
	m.hub_uid = uid;
	if (!recorder_link_tell(&a->recorder, &m, c.fd))
		a->offered++;
	conn_close(&c);
}

/* --- phases ------------------------------------------------------------------------- */

static void attach_settle(struct attach *a, uint64_t now)
{
	uint64_t real = clock_ns(CLOCK_REALTIME);
	uint64_t limit = record_watch_wait_ns(a->interval_ms) +
			 a->interval_ms * NSEC_PER_MSEC + LATE_NS;

	if (real < a->range.end_ns)
		a->range.end_ns = real;
	attach_tell_range(a);
	a->deadline_ns = now + limit;
	if (a->console.tty)
		console_say(&a->console, "waiting up to %u s for the last "
			    "samples", (unsigned int)(limit / NSEC_PER_SEC));
}

static void attach_write_file(struct attach *a, uint64_t now)
{
	const struct record_msg m = { .kind = RECORD_END };

	/* who reads standard output takes as long as it wants, such as less(1) */
	if (!recorder_link_piped(&a->opt))
		a->deadline_ns = now + WRITE_NS;
	if (recorder_link_tell(&a->recorder, &m, -1))
		console_say(&a->console, "the recorder does not respond");
}

static void attach_enter(struct attach *a, enum attach_phase p, uint64_t now)
{
	a->phase = p;
	a->deadline_ns = UINT64_MAX;
	if (p == END_COMMAND) {
		a->deadline_ns = now + COMMAND_NS;
		if (a->end_signal)
			launcher_signal(&a->launcher, a->end_signal);
	} else if (p == SETTLING) {
		attach_settle(a, now);
	} else if (p == WRITING) {
		attach_write_file(a, now);
	}
}

static void attach_begin_run(struct attach *a, uint64_t now)
{
	int r;

	attach_enter(a, RUNNING, now);
	a->run_ns = a->shown_ns = now;
	a->range.start_ns = clock_ns(CLOCK_REALTIME);
	a->range.end_ns = UINT64_MAX;
	if (a->opt.duration_ms) {
		uint64_t span = a->opt.duration_ms * NSEC_PER_MSEC;

		a->range.end_ns = a->range.start_ns + span;
		a->deadline_ns = now + span;
	}
	attach_tell_range(a);
	if (a->opt.rest[0]) {
		r = launcher_go(&a->launcher);
		if (r)
			a->command = 0;
		else
			a->command = a->launcher.pid;
		if (!r)
			return;
		console_say(&a->console, "%s: %s", a->opt.rest[0], strerror(-r));
		a->failed = true;
		attach_enter(a, SETTLING, now);
	} else if (!a->opt.duration_ms && a->console.tty) {
		console_say(&a->console, "profiling %s until Ctrl-C, beside "
			    "the trifold that is running", a->target->what);
	}
}

/* End the recording, after the command if that still runs. */
static void attach_begin_end(struct attach *a, uint64_t now)
{
	if (a->phase == BEGINNING) {
		a->failed = true;
		attach_enter(a, ENDED, now);
	} else if (a->phase == RUNNING) {
		attach_enter(a, a->command ? END_COMMAND : SETTLING, now);
	}
}

static bool attach_has_ended(const struct attach *a, uint64_t now)
{
	return a->gone_ns &&
	       now - a->gone_ns >= (a->nobody ? GONE_NS : SILENT_NS);
}

static void attach_check_run(struct attach *a, uint64_t now)
{
	uint32_t pid;

	if (now >= a->deadline_ns) {
		attach_begin_end(a, now);
		return;
	}
	while ((pid = target_ended(a->target)))
		console_say(&a->console, "process %u has ended", pid);
	if (a->target->kind == TARGET_PIDS && !a->target->running) {
		attach_begin_end(a, now);
	} else if (attach_has_ended(a, now) && !a->command) {
		console_say(&a->console, "the running trifold ended, and with it "
			    "the recording");
		a->failed = true;
		attach_enter(a, WRITING, now);
	}
}

static void attach_check_settling(struct attach *a, uint64_t now)
{
	if (a->state.covered) {
		attach_enter(a, WRITING, now);
	} else if (attach_has_ended(a, now)) {
		console_say(&a->console, "the running trifold ended: the recording "
			    "is cut short");
		a->failed = true;
		attach_enter(a, WRITING, now);
	} else if (now >= a->deadline_ns) {
		console_say(&a->console, "the last samples did not arrive in time: "
			    "some may be missing");
		a->failed = true;
		attach_enter(a, WRITING, now);
	}
}

static void attach_kill_late(struct attach *a, uint64_t now)
{
	bool command = a->phase == END_COMMAND;
	int sig = SIGTERM;

	if (a->killed || (command && a->end_signal == SIGTERM))
		sig = SIGKILL;
	console_say(&a->console, "%s does not end: sending %s", command ?
		    "the command" : "the recorder", sig == SIGTERM ? "SIGTERM" :
		    "SIGKILL");
	if (command)
		launcher_signal(&a->launcher, sig);
	else
		kill(a->recorder.pid, sig);
	a->killed |= !command;
	a->end_signal = SIGTERM;
	a->deadline_ns = now + S(5);
}

static void attach_advance(struct attach *a, uint64_t now)
{
	if (a->phase == BEGINNING && a->state.subscribed) {
		attach_begin_run(a, now);
	} else if (a->phase == BEGINNING && now >= a->deadline_ns) {
		console_say(&a->console, "the running trifold gives no batches: "
			    "it may be ending, or have its maximum of readers "
			    "(`trifold record`, `trifold top`)");
		attach_begin_end(a, now);
	} else if (a->phase == RUNNING) {
		attach_check_run(a, now);
	} else if (a->phase == END_COMMAND && !a->command) {
		attach_enter(a, SETTLING, now);
	} else if (a->phase == SETTLING) {
		attach_check_settling(a, now);
	} else if (a->phase != ENDED && now >= a->deadline_ns) {
		attach_kill_late(a, now);
	}
}

/* --- events -------------------------------------------------------------------------- */

/* The writer's state, as reported; false: nothing yet. */
static bool attach_on_state(struct attach *a, uint64_t now)
{
	struct record_state s;
	ssize_t n = recv(a->recorder.control, &s, sizeof(s), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n != sizeof(s)) {		/* its end will be seen */
		if (a->recorder.control >= 0)
			close(a->recorder.control);
		a->recorder.control = -1;
		return false;
	}
	a->state = s;
	if (!a->run_ns || a->phase > SETTLING)
		return true;
	if (!s.subscribed && !a->gone_ns) {
		a->gone_ns = now;
		console_say(&a->console, "symbolizerd of the running trifold is "
			    "gone: waiting for it");
	} else if (s.subscribed && a->gone_ns) {
		a->gone_ns = 0;
		console_say(&a->console, "symbolizerd is back: the recording "
			    "goes on");
	}
	return true;
}

static void attach_child_died(struct attach *a, pid_t pid, int status,
			      uint64_t now)
{
	char how[80];

	if (pid == a->launcher.pid) {
		a->failed |= !a->command;
		a->launcher.pid = a->command = 0;
		a->command_status = status;
		if (a->phase == RUNNING)
			attach_enter(a, SETTLING, now);
	} else if (pid == a->recorder.pid) {
		a->recorder.pid = 0;
		/* the writer logged why, unless it was killed */
		if (WIFSIGNALED(status) && !a->killed)
			console_say(&a->console, "the recorder %s",
				    wait_status_text(status, how, sizeof(how)));
		if (status || a->phase != WRITING)
			a->failed = true;
		attach_enter(a, ENDED, now);
	}
}

static void attach_on_signal(struct attach *a, uint64_t now)
{
	struct signalfd_siginfo si;
	int status;
	pid_t pid;

	if (read(a->signals, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			attach_child_died(a, pid, status, now);
	} else if (a->phase <= RUNNING) {
		/* Ctrl-C reaches the command too, the kernel sends it to both */
		if (si.ssi_code == SI_KERNEL)
			a->end_signal = 0;
		else
			a->end_signal = (int)si.ssi_signo;
		attach_begin_end(a, now);
	} else if (a->phase == SETTLING) {
		console_say(&a->console, "not waiting for the last samples");
		a->failed = true;
		attach_enter(a, WRITING, now);
	} else {
		a->failed = true;
		a->deadline_ns = now;
	}
}

static void attach_show(struct attach *a, uint64_t now)
{
	char text[160], total[40] = "";

	if (!a->console.tty || a->phase != RUNNING || now - a->shown_ns < S(1))
		return;
	a->shown_ns += (now - a->shown_ns) / S(1) * S(1);
	if (a->opt.duration_ms)
		snprintf(total, sizeof(total), "of %.6g ",
			 (double)a->opt.duration_ms / 1000);
	snprintf(text, sizeof(text), "%u %ss   %" PRIu64 " samples so far, %"
		 PRIu64 " missed", (unsigned int)((now - a->run_ns) / S(1)), total,
		 a->state.samples, a->state.missed + a->state.lost);
	console_progress(&a->console, text);
}

static int attach_timeout_ms(const struct attach *a, uint64_t now)
{
	uint64_t at = a->deadline_ns;

	if (a->phase <= SETTLING && (!a->state.connected || a->gone_ns) &&
	    now + RETRY_NS < at)
		at = now + RETRY_NS;
	if (a->console.tty && a->phase == RUNNING && a->shown_ns + S(1) < at)
		at = a->shown_ns + S(1);
	if (at <= now)
		return 0;
	at = (at - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	if (at > 60000)
		return 60000;
	return (int)at;
}

static void attach_loop(struct attach *a)
{
	while (a->phase != ENDED) {
		struct pollfd p[] = {
			{ .fd = a->signals, .events = POLLIN },
			{ .fd = a->recorder.control, .events = POLLIN },
			{ .fd = a->console.read_fd, .events = POLLIN },
			{ .fd = a->phase == RUNNING ? a->target->ended : -1,
			  .events = POLLIN },
		};
		uint64_t now;

		attach_offer(a, now_ns());
		if (poll(p, 4, attach_timeout_ms(a, now_ns())) < 0 &&
		    errno != EINTR)
			a->failed = true;
		now = now_ns();
		if (p[2].revents)
			console_pump(&a->console);
		if (p[1].revents)
			attach_on_state(a, now);
		if (p[0].revents)
			attach_on_signal(a, now);
		attach_show(a, now);
		attach_advance(a, now);
	}
}

/* --- start and end ---------------------------------------------------------------------- */

static int attach_start(struct attach *a)
{
	static struct plan plan;
	int r = 0;

	if (a->opt.rest[0])
		r = launcher_start(&a->launcher, a->opt.rest);
	plan_init(&plan);
	recorder_link_plan(&plan, &a->opt, a->target->what);
	plan_add(&plan, PROGRAM_RECORDER, "--output=%s", a->opt.output);
	if (!r)
		r = recorder_link_start(&a->recorder, &plan, a->seal_uid,
					a->console.write_fd);
	if (r) {
		log_err("the recorder cannot be started: %s", strerror(-r));
		return r;
	}
	a->deadline_ns = now_ns() + BEGIN_NS;
	/* no answer yet, and one is due */
	a->range.start_ns = a->range.end_ns = UINT64_MAX;
	a->offered = 0;
	a->state.connected = 1;		/* assumed, until it answers */
	attach_tell_range(a);
	return 0;
}

static int attach_set_up(struct attach *a)
{
	struct identities ids;
	int r = identity_find(&ids);

	if (r)
		return r;
	a->seal_uid = ids.uid[ID_RECORDER];
	a->signals = signals_catch();
	if (a->signals < 0)
		r = a->signals;
	else
		r = 0;
	if (!r)
		r = console_init(&a->console, a->opt.verbose);
	if (r)
		log_err("cannot begin: %s", strerror(-r));
	a->range.pids = a->target->pids;
	memcpy(a->range.container, a->target->container,
	       sizeof(a->range.container));
	if (a->opt.unit)
		memcpy(a->range.unit, a->target->service, sizeof(a->range.unit));
	return r;
}

static void attach_finish(struct attach *a)
{
	const struct record_state *s = &a->state;
	char more[128] = "";
	int status;

	launcher_cancel(&a->launcher);
	/* the writer's last messages are still in the socket */
	while (attach_on_state(a, now_ns()))
		;
	if (a->recorder.control >= 0)
		close(a->recorder.control);
	if (a->recorder.pid)	/* this ends it without a file */
		waitpid(a->recorder.pid, &status, 0);
	console_fini(&a->console);
	close(a->signals);
	if (s->lost)
		snprintf(more, sizeof(more), ", %" PRIu64 " lost by it", s->lost);
	if (s->no_room)
		snprintf(more + strlen(more), sizeof(more) - strlen(more),
			 ", %" PRIu64 " without room", s->no_room);
	if (a->run_ns)
		log_info("taken by the running trifold; %" PRIu64 " sample%s in "
			 "this recording, %" PRIu64 " missed%s", s->samples,
			 s->samples == 1 ? "" : "s", s->missed, more);
}

int attach(const struct options *o, struct target *target,
	   const struct status *st)
{
	struct attach a = {
		.opt = *o, .target = target, .recorder.control = -1,
		.launcher.go = -1, .interval_ms = st->interval_ms,
	};
	char err[400];

	if (attach_check(o, target, st, err, sizeof(err))) {
		log_err("%s", err);
		return 1;
	}
	a.opt.frequency = st->frequency;
	if (attach_set_up(&a))
		return 1;
	if (attach_start(&a))
		a.failed = true;
	else
		attach_loop(&a);
	attach_finish(&a);
	if (a.failed)
		return 1;
	if (!o->rest[0])
		return 0;
	return wait_status_code(a.command_status);
}
