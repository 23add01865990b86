// SPDX-License-Identifier: Apache-2.0
#include "cli/front/phases.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/recorder.h"
#include "cli/supervisor/program_table.h"
#include "common/clock.h"
#include "common/wait_status.h"

#define S(n)		((n) * NSEC_PER_SEC)
#define START_TRIES	3	/* deaths of one daemon before it was ready */
#define ASK_NS		(50 * NSEC_PER_MSEC)	/* is loaderd up yet? */
#define REPLACE_NS	S(8)	/* for a daemon to end, then SIGKILL */
#define BACKOFF_FIRST_NS	(100 * NSEC_PER_MSEC)

/* For a daemon that had become ready, and for one that had not. */
static const struct {
	uint64_t max_ns, reset_ns;
} backoffs[] = { [true] = { S(1), S(2) }, [false] = { S(5), S(10) } };

/* Which program ends in this phase, and the time for it, s (0: no limit; phases_limit()).  A
 * start is slow where the kernel verifies slowly: 5.10 in an emulator took over
 * 20 s. */
static const struct {
	enum program who;
	unsigned int seconds;
} phases[] = {
	[PHASE_STARTING] = { PROGRAM__COUNT, 60 },
	[PHASE_RUNNING] = { PROGRAM__COUNT, 0 },
	[PHASE_END_COMMAND] = { PROGRAM_LAUNCHER, 5 },
	[PHASE_END_LOADER] = { PROGRAM_LOADER, 5 },
	[PHASE_END_HUB] = { PROGRAM_HUB, 20 },
	[PHASE_END_EXPORTER] = { PROGRAM_EXPORTER, 10 },
	[PHASE_END_VIEWER] = { PROGRAM_VIEWER, 5 },
	[PHASE_END_RECORDER] = { PROGRAM_RECORDER, 60 },
	[PHASE_ENDED] = { PROGRAM__COUNT, 0 },
};

static void phases_enter(struct phases *p, enum front_phase phase, uint64_t now);

static const char *phases_name(enum program id)
{
	if (id < PROGRAM_DAEMONS)
		return program_table[id].name;
	if (id == PROGRAM_RECORDER)
		return "the recorder";
	if (id == PROGRAM_READER)
		return "the reader";
	return "the command";
}

/* Print a line, after pending lines of the programs. */
__attribute__((format(printf, 2, 3)))
static void phases_say(struct phases *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	console_pump(p->console);
	console_say(p->console, "%s", text);
}

/* --- daemons ------------------------------------------------------------------ */

static void phases_offer_hub(struct phases *p, bool ready)
{
	uid_t uid;
	int fd = orders_connect(p->orders, &uid);

	if (fd >= 0)
		p->ops->hub(p->arg, fd, uid, ready);
}

/* Should this daemon run in this phase? */
static bool phases_wants(const struct phases *p, enum program id)
{
	enum front_phase until;

	if (id == PROGRAM_HUB)
		until = PHASE_END_HUB;
	else if (id == PROGRAM_EXPORTER)
		until = PHASE_END_EXPORTER;
	else if (id == PROGRAM_LOADER)
		until = PHASE_END_LOADER;
	else
		until = PHASE_END_VIEWER;
	return p->phase < until && !p->quick &&
	       (id != PROGRAM_VIEWER || (p->plan->flags & PLAN_PAGE)) &&
	       (p->proc[PROGRAM_RECORDER].ready ||
		!(p->plan->flags & PLAN_RECORD));
}

uint64_t phases_backoff(uint64_t *backoff, uint64_t lived_ns, bool ready)
{
	uint64_t next = *backoff * 2, max = backoffs[ready].max_ns;

	if (*backoff == 0 || lived_ns >= backoffs[ready].reset_ns)
		next = BACKOFF_FIRST_NS;
	if (next > max)
		next = max;
	*backoff = next;
	return next;
}

/* 0 or -errno. */
static int phases_start_one(struct phases *p, enum program id, const int *fds,
			    int n, uint64_t now)
{
	struct phase_proc *proc = &p->proc[id];
	pid_t pid = orders_start(p->orders, id, p->plan, fds, n);

	proc->started_ns = now;
	proc->ready = false;
	proc->replace_ns = 0;
	if (pid > 0) {
		proc->pid = pid;
		return 0;
	}
	phases_say(p, "%s cannot be started: %s", phases_name(id),
		   strerror(-pid));
	proc->due_ns = now + phases_backoff(&proc->backoff_ns, 0, false);
	return pid;
}

/* Start it with one end of a new pair of sockets.  The other end, or -1. */
static int phases_start_with_socket(struct phases *p, enum program id,
				    uint64_t now)
{
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	r = phases_start_one(p, id, &fds[1], 1, now);
	close(fds[1]);
	if (!r)
		return fds[0];
	close(fds[0]);
	return -1;
}

/* Start exporterd with a connection to the recorder, for what it sends. */
static void phases_start_feed(struct phases *p, uint64_t now)
{
	int fd = phases_start_with_socket(p, PROGRAM_EXPORTER, now);

	if (fd < 0)
		return;
	p->ops->feed(p->arg, fd);
	close(fd);
}

static void phases_start_due(struct phases *p, uint64_t now)
{
	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		if (p->proc[i].pid || now < p->proc[i].due_ns ||
		    !phases_wants(p, i))
			continue;
		if (i == PROGRAM_EXPORTER && (p->plan->flags & PLAN_RECORD))
			phases_start_feed(p, now);
		else if (i == PROGRAM_VIEWER)
			phases_start_one(p, i, p->page, p->n_page, now);
		else
			phases_start_one(p, i, NULL, 0, now);
	}
}

static void phases_daemon_died(struct phases *p, enum program id, int status,
			       uint64_t now)
{
	struct phase_proc *proc = &p->proc[id];
	const char *name = phases_name(id);
	uint64_t wait;
	char how[80];

	wait_status_text(status, how, sizeof(how));
	if (!phases_wants(p, id)) {
		/* ended on request, perhaps before it handled the signal */
		if (status && !WIFSIGNALED(status))
			phases_say(p, "%s %s", name, how);
		return;
	}
	if (proc->replace_ns) {
		proc->due_ns = now;
		return;
	}
	wait = phases_backoff(&proc->backoff_ns, now - proc->started_ns,
			      proc->ready);
	proc->due_ns = now + wait;
	proc->tries += !proc->was_ready;
	if (proc->tries < START_TRIES)
		phases_say(p, "%s %s; restarting in %.1f s", name, how,
			   (double)wait / NSEC_PER_SEC);
	else
		phases_say(p, "%s %s; failed three times; giving up", name, how);
}

/* Tell the next hub of launcher, recorder and writer; daemons it knows.  The
 * launcher's child, the command, is another process. */
static void phases_plan_own(struct phases *p)
{
	static const enum program who[] = { PROGRAM_LAUNCHER, PROGRAM_RECORDER };

	for (int i = 0; i < 2; i++) {
		if (p->proc[who[i]].pid)
			plan_add(p->plan, PROGRAM_HUB, "--own=%d",
				 (int)p->proc[who[i]].pid);
	}
	if (p->writer > 0)
		plan_add(p->plan, PROGRAM_HUB, "--own=%d", (int)p->writer);
}

void phases_replace(struct phases *p, uint32_t which, uint64_t now)
{
	phases_plan_own(p);
	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		struct phase_proc *proc = &p->proc[i];

		if (!(which & 1u << i) || p->phase > PHASE_RUNNING)
			continue;
		proc->due_ns = now;
		if (!proc->pid || proc->replace_ns)
			continue;
		proc->replace_ns = now + REPLACE_NS;
		if (i == PROGRAM_EXPORTER)
			orders_signal(p->orders, i, SIGHUP);
		else
			orders_signal(p->orders, i, SIGTERM);
	}
}

static void phases_check_replaced(struct phases *p, uint64_t now)
{
	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		struct phase_proc *proc = &p->proc[i];

		if (!proc->pid || !proc->replace_ns || now < proc->replace_ns)
			continue;
		phases_say(p, "%s (pid %d) does not end: sending SIGKILL",
			   phases_name(i), (int)proc->pid);
		orders_signal(p->orders, i, SIGKILL);
		proc->replace_ns = UINT64_MAX;
	}
}

/* The writer is trifold's own, too; the recorder reports it before the hub
 * starts. */
static void phases_note_writer(struct phases *p, const char *text)
{
	static const char said[] = "STATUS=" RECORDER_WRITER;

	if (p->writer || strncmp(text, said, sizeof(said) - 1))
		return;
	p->writer = (pid_t)atoi(text + sizeof(said) - 1);
	if (p->writer > 0)
		plan_add(p->plan, PROGRAM_HUB, "--own=%d", (int)p->writer);
}

void phases_notify(struct phases *p)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	char text[512];
	struct iovec iov = { text, sizeof(text) - 1 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(p->notify, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c;
	struct ucred cred;

	if (n < 0)
		c = NULL;
	else
		c = CMSG_FIRSTHDR(&mh);
	if (!c || c->cmsg_type != SCM_CREDENTIALS)
		return;
	memcpy(&cred, CMSG_DATA(c), sizeof(cred));
	text[n] = '\0';
	if (cred.pid == p->proc[PROGRAM_RECORDER].pid)
		phases_note_writer(p, text);
	if (strncmp(text, "READY=1", 7) && !strstr(text, "\nREADY=1"))
		return;
	for (int i = 0; i <= PROGRAM_RECORDER; i++) {
		if (!p->proc[i].pid || p->proc[i].pid != cred.pid)
			continue;
		p->proc[i].ready = p->proc[i].was_ready = true;
		if (i == PROGRAM_HUB)
			phases_offer_hub(p, false);
	}
}

/* --- phases ------------------------------------------------------------------- */

static pid_t phase_pid(const struct phases *p)
{
	enum program who = phases[p->phase].who;

	if (who == PROGRAM__COUNT)
		return 0;
	return p->proc[who].pid;
}

/* Begin to end, with the command if it still runs. */
void phases_end(struct phases *p, uint64_t now)
{
	if (p->phase >= PHASE_END_COMMAND)
		return;
	phases_enter(p, PHASE_END_COMMAND, now);
}

static void phases_fail(struct phases *p, uint64_t now)
{
	p->failed = true;
	phases_end(p, now);
}

/* End the command with this signal; 0: it got one already. */
static void phases_end_command(struct phases *p, int sig)
{
	if (p->go >= 0)			/* it has not begun */
		close(p->go);
	else if (sig)
		orders_signal(p->orders, PROGRAM_LAUNCHER, sig);
	p->go = -1;
}

/* s; 0: none.  Who reads standard output takes as long as it wants, such as less(1). */
static unsigned int phases_limit(const struct phases *p, enum front_phase phase)
{
	if (phase == PHASE_END_RECORDER && (p->plan->flags & PLAN_PIPED))
		return 0;
	return phases[phase].seconds;
}

static void phases_enter(struct phases *p, enum front_phase phase, uint64_t now)
{
	unsigned int limit = phases_limit(p, phase);

	p->phase = phase;
	p->killed = false;
	if (limit)
		p->deadline_ns = now + S(limit);
	else
		p->deadline_ns = UINT64_MAX;
	if (phase == PHASE_RUNNING && p->plan->duration_ms)
		p->deadline_ns = now + p->plan->duration_ms * NSEC_PER_MSEC;
	if (phase == PHASE_END_LOADER) {
		p->end_real_ns = clock_ns(CLOCK_REALTIME);
		p->ops->ending(p->arg);
	}
	if (!phase_pid(p))
		return;
	if (phase == PHASE_END_COMMAND) {
		phases_end_command(p, p->end_signal);
	} else if (phase == PHASE_END_RECORDER) {
		/* a recording that never began leaves no file */
		if (!p->start_real_ns || p->quick ||
		    p->ops->write(p->arg, p->start_real_ns, p->end_real_ns))
			orders_signal(p->orders, PROGRAM_RECORDER, SIGTERM);
	} else {
		orders_signal(p->orders, phases[phase].who, SIGTERM);
	}
	if ((p->plan->flags & PLAN_VERBOSE) && phase >= PHASE_END_LOADER &&
	    phase < PHASE_END_RECORDER)
		phases_say(p, "ending %s", phases_name(phases[phase].who));
}

static bool phases_all_ready(const struct phases *p)
{
	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		if (!p->proc[i].ready && phases_wants(p, i))
			return false;
	}
	return true;
}

/* Is a program missing that should be ready by now? */
static bool phases_waits_for(const struct phases *p, enum program id)
{
	if (p->proc[id].ready)
		return false;
	if (id == PROGRAM_RECORDER)
		return p->proc[id].pid;
	return phases_wants(p, id);
}

static void phases_check_start(struct phases *p, uint64_t now)
{
	bool late = now >= p->deadline_ns, failed = late;

	for (int i = 0; i <= PROGRAM_RECORDER; i++) {
		failed |= p->proc[i].tries >= START_TRIES;
		if (late && phases_waits_for(p, i))
			phases_say(p, "%s is not ready after %u s",
				   phases_name(i),
				   phases[PHASE_STARTING].seconds);
	}
	if (failed)
		phases_fail(p, now);
	else if (p->proc[PROGRAM_HUB].ready && phases_all_ready(p) &&
		 now - p->asked_ns >= ASK_NS) {
		p->asked_ns = now;
		phases_offer_hub(p, true);
	}
}

void phases_run(struct phases *p, uint64_t now)
{
	if (p->phase != PHASE_STARTING || !phases_all_ready(p))
		return;
	p->start_real_ns = clock_ns(CLOCK_REALTIME);
	phases_enter(p, PHASE_RUNNING, now);
	p->ops->running(p->arg, now);
	if (p->go < 0)
		return;
	if (send(p->go, "", 1, MSG_NOSIGNAL) != 1) {
		phases_say(p, "the command cannot be started: %s",
			   strerror(errno));
		phases_fail(p, now);
		return;
	}
	close(p->go);
	p->go = -1;
}

/* The time of this phase is over: send a stronger signal. */
static void phases_overdue(struct phases *p, uint64_t now)
{
	bool command = p->phase == PHASE_END_COMMAND;
	/* on SIGTERM the recorder removes its file; on SIGKILL it could not */
	bool gently = !p->killed && (p->phase == PHASE_END_RECORDER ||
		(command && p->end_signal != SIGTERM && !p->quick));
	const char *name = "SIGKILL", *where = "", *how = "does not end";
	int sig = SIGKILL;

	if (gently) {
		sig = SIGTERM;
		name = "SIGTERM";
	}
	if (command)
		where = "below ";
	if (p->quick)
		how = "still runs";
	phases_say(p, "%s (%spid %d) %s: sending %s",
		   phases_name(phases[p->phase].who), where, (int)phase_pid(p), how, name);
	orders_signal(p->orders, phases[p->phase].who, sig);
	p->killed |= sig == SIGKILL || p->phase == PHASE_END_RECORDER;
	p->end_signal = SIGTERM;
	p->deadline_ns = now + S(5);
}

void phases_advance(struct phases *p, uint64_t now)
{
	phases_start_due(p, now);
	phases_check_replaced(p, now);
	if (p->phase == PHASE_STARTING)
		phases_check_start(p, now);
	else if (p->phase == PHASE_RUNNING && now >= p->deadline_ns)
		phases_end(p, now);
	while (p->phase > PHASE_RUNNING && p->phase < PHASE_ENDED &&
	       !phase_pid(p))
		phases_enter(p, p->phase + 1, now);
	if (p->phase > PHASE_RUNNING && p->phase < PHASE_ENDED &&
	    now >= p->deadline_ns)
		phases_overdue(p, now);
}

int phases_timeout_ms(const struct phases *p, uint64_t now)
{
	uint64_t at = p->deadline_ns;

	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		const struct phase_proc *proc = &p->proc[i];
		uint64_t due = UINT64_MAX;

		if (proc->pid && proc->replace_ns)
			due = proc->replace_ns;
		else if (!proc->pid && phases_wants(p, i))
			due = proc->due_ns;
		if (due < at)
			at = due;
	}
	if (p->phase == PHASE_STARTING && phases_all_ready(p) &&
	    p->asked_ns + ASK_NS < at)
		at = p->asked_ns + ASK_NS;
	if (at <= now)
		return 0;
	at = (at - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	if (at > 60000)
		return 60000;
	return (int)at;
}

/* --- messages of the supervisor ------------------------------------------- */

static void phases_start_reader(struct phases *p, uint64_t now)
{
	int fd = phases_start_with_socket(p, PROGRAM_READER, now);

	p->reload_again = false;
	if (fd < 0)
		return;
	if (p->reader >= 0)
		close(p->reader);
	p->reader = fd;
}

static void phases_recorder_died(struct phases *p, int status, uint64_t now)
{
	char how[80];

	if (!status && p->phase == PHASE_END_RECORDER)
		return;
	p->unwritten = true;
	/* it printed why, unless it was killed */
	if (WIFSIGNALED(status) && !p->killed)
		phases_say(p, "the recorder %s",
			   wait_status_text(status, how, sizeof(how)));
	phases_fail(p, now);
}

static void phases_died(struct phases *p, enum program id, int status,
			uint64_t now)
{
	p->proc[id].pid = 0;
	if (id < PROGRAM_DAEMONS) {
		phases_daemon_died(p, id, status, now);
	} else if (id == PROGRAM_READER) {
		if (p->reload_again && p->phase <= PHASE_RUNNING)
			phases_start_reader(p, now);
	} else if (id == PROGRAM_RECORDER) {
		phases_recorder_died(p, status, now);
	} else {
		p->failed |= p->go >= 0;
		p->status = wait_status_code(status);
		phases_end(p, now);
	}
}

static void phases_ended_quickly(struct phases *p, uint64_t now)
{
	p->quick = p->failed = true;
	if (p->proc[PROGRAM_RECORDER].pid)
		phases_say(p, "stopping now: the recording is given up");
	else
		phases_say(p, "stopping now: samples under way are not waited for");
	for (int i = 0; i < PROGRAM_DAEMONS; i++)
		orders_signal(p->orders, i, SIGKILL);
	orders_signal(p->orders, PROGRAM_RECORDER, SIGTERM);
	phases_end_command(p, SIGKILL);
	p->killed = true;
	p->deadline_ns = now + S(2);
}

/* SIGHUP may also mean that the terminal is gone.  True: it is not. */
static bool phases_has_terminal(const struct phases *p)
{
	struct winsize ws;

	return ioctl(p->tty, TIOCGWINSZ, &ws) == 0;
}

static void phases_signal(struct phases *p, int sig, bool by_kernel,
			  uint64_t now)
{
	bool reloads = p->plan->flags & PLAN_RELOAD;

	if (sig == SIGHUP && reloads &&
	    (p->tty < 0 || phases_has_terminal(p))) {
		p->reload_again = true;
		if (p->phase <= PHASE_RUNNING && !p->proc[PROGRAM_READER].pid)
			phases_start_reader(p, now);
	} else if (sig == SIGHUP && !reloads && p->nohup) {
		return;
	} else if (p->phase > PHASE_RUNNING) {
		if (!p->quick)
			phases_ended_quickly(p, now);
	} else {
		/* Ctrl-C reaches the command too: the kernel sends it to both */
		if (by_kernel)
			p->end_signal = 0;
		else
			p->end_signal = sig;
		if (p->phase < PHASE_RUNNING) {
			phases_say(p, "stopped before it sampled");
			p->failed = true;
		}
		phases_end(p, now);
	}
}

void phases_tell(struct phases *p, const struct tell *t, uint64_t now)
{
	if (t->kind == TELL_DIED && t->program < PROGRAM_FRONT)
		phases_died(p, t->program, t->value, now);
	else if (t->kind == TELL_SIGNAL)
		phases_signal(p, t->value, t->by_kernel, now);
}

/* --- start ---------------------------------------------------------------- */

static bool phases_begin_command(struct phases *p, uint64_t now)
{
	p->go = phases_start_with_socket(p, PROGRAM_LAUNCHER, now);
	if (p->go < 0)
		return false;
	if (p->plan->flags & PLAN_BELOW)
		plan_add(p->plan, PROGRAM_LOADER, "--filter-below=%d",
			 (int)p->proc[PROGRAM_LAUNCHER].pid);
	return !p->plan->full;
}

static bool phases_begin_recorder(struct phases *p, uint64_t now)
{
	int fd = phases_start_with_socket(p, PROGRAM_RECORDER, now);

	if (fd >= 0)
		p->ops->recorder(p->arg, fd);
	return fd >= 0;
}

void phases_begin(struct phases *p, uint64_t now)
{
	p->go = p->reader = -1;
	phases_enter(p, PHASE_STARTING, now);
	if (((p->plan->flags & PLAN_COMMAND) &&
	     !phases_begin_command(p, now)) ||
	    ((p->plan->flags & PLAN_RECORD) && !phases_begin_recorder(p, now)))
		phases_fail(p, now);
	phases_plan_own(p);
}
