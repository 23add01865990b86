// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/supervisor/child.h"
#include "cli/supervisor/front_link.h"
#include "cli/supervisor/launcher.h"
#include "cli/supervisor/programs.h"
#include "cli/supervisor/say.h"
#include "cli/supervisor/signals.h"
#include "common/clock.h"

#define S(n)		((n) * NSEC_PER_SEC)
#define START_TRIES	3	/* deaths of one daemon before it was ready */
#define ASK_NS		(50 * NSEC_PER_MSEC)	/* is loaderd up yet? */
#define REPLACE_NS	S(8)	/* for a daemon to end, then SIGKILL */
#define LEFT_NS		S(2)	/* for what the daemons leave behind */
#define BACKOFF_FIRST_NS	(100 * NSEC_PER_MSEC)
#define BACKOFF_MAX_NS		S(5)
#define BACKOFF_RESET_NS	S(10)

enum phase {
	PLANNING,		/* the front reads arguments and configuration */
	STARTING,
	RUNNING,
	END_COMMAND,		/* it still runs, and was asked to end */
	END_LOADER,
	END_HUB,
	END_EXPORTER,
	END_VIEWER,
	END_RECORDER,
	END_FRONT,
	ENDED
};

/* Who ends in this phase, and the time for it, s (0: open). */
static const struct {
	enum program who;
	unsigned int seconds;
} phases[] = {
	[PLANNING] = { PROGRAM__COUNT, 60 },
	[STARTING] = { PROGRAM__COUNT, 20 },
	[RUNNING] = { PROGRAM__COUNT, 0 },
	[END_COMMAND] = { PROGRAM_LAUNCHER, 5 },
	[END_LOADER] = { PROGRAM_LOADER, 5 },
	[END_HUB] = { PROGRAM_HUB, 20 },
	[END_EXPORTER] = { PROGRAM_EXPORTER, 10 },
	[END_VIEWER] = { PROGRAM_VIEWER, 5 },
	[END_RECORDER] = { PROGRAM_RECORDER, 60 },
	[END_FRONT] = { PROGRAM_FRONT, 10 },
	[ENDED] = { PROGRAM__COUNT, 0 },
};

struct proc {
	pid_t pid;		/* 0: not running */
	pid_t group;		/* of the last one: what it leaves is in it */
	bool ready;		/* has said READY=1 */
	bool was_ready;		/* so did this one or one before it */
	unsigned int tries;	/* deaths before any was ready */
	uint64_t started_ns;
	uint64_t due_ns;	/* when to start it (again) */
	uint64_t backoff_ns;
	uint64_t replace_ns;	/* it ends by then for another one; 0: no */
};

struct sup {
	struct launch launch;
	struct plan *plan;	/* PLAN_BYTES_MAX */
	struct proc proc[PROGRAM__COUNT];
	struct launcher launcher;
	int signals;		/* signalfd */
	struct front_link front;
	int log;		/* read end of what the daemons write */
	int say;		/* our way into it */
	bool had_terminal;
	unsigned int offers, reloads;	/* that may be answered */
	bool reload_again, end_said;

	enum phase phase;
	bool failed;		/* the exit status will be 1 */
	bool quick;		/* asked twice to end */
	bool killed;		/* of this phase: the last means was used */
	int end_signal;		/* what to send the command; 0: it knows */
	int status;		/* the exit status, unless failed */
	uint64_t deadline_ns;	/* of this phase; UINT64_MAX: none */
	uint64_t asked_ns;
	uint64_t start_real_ns, end_real_ns;	/* of sampling; 0: not yet */
};

static void supervise_enter(struct sup *s, enum phase p, uint64_t now);

/* --- the front ---------------------------------------------------------------- */

static void offer_hub(struct sup *s, bool ready)
{
	struct told m = { .kind = TOLD_HUB, .ready = ready,
			  .hub_uid = s->launch.ids.uid[ID_HUB] };
	int fd = runtime_dir_connect();

	if (fd < 0)
		return;
	if (!front_link_tell(&s->front, m, fd))
		s->offers++;
	close(fd);
}

/* Nobody shows lines any more: they go to standard error, the daemons' to
 * nowhere. */
static void front_gone(struct sup *s)
{
	front_link_close(&s->front);
	say_to(STDERR_FILENO);
}

/* --- daemons ------------------------------------------------------------------ */

/* Is this daemon to run, in this phase? */
static bool wanted(const struct sup *s, enum program id)
{
	enum phase until = id == PROGRAM_HUB ? END_HUB :
		id == PROGRAM_EXPORTER ? END_EXPORTER :
		id == PROGRAM_LOADER ? END_LOADER : END_VIEWER;

	return s->phase >= STARTING && s->phase < until && !s->quick &&
	       (id != PROGRAM_VIEWER || (s->plan->flags & PLAN_PAGE)) &&
	       (s->proc[PROGRAM_RECORDER].ready ||
		!(s->plan->flags & PLAN_RECORD));
}

uint64_t supervise_backoff(uint64_t *backoff, uint64_t lived_ns)
{
	uint64_t next = *backoff * 2;

	if (*backoff == 0 || lived_ns >= BACKOFF_RESET_NS)
		next = BACKOFF_FIRST_NS;
	return *backoff = next < BACKOFF_MAX_NS ? next : BACKOFF_MAX_NS;
}

static void start_one(struct sup *s, enum program id, int fd, uint64_t now)
{
	struct proc *p = &s->proc[id];
	pid_t pid = program_start(&s->launch, id, fd);

	if (fd >= 0)
		close(fd);
	p->started_ns = now;
	p->ready = false;
	p->replace_ns = 0;
	if (pid > 0) {
		p->pid = p->group = pid;
		return;
	}
	say("%s cannot be started: %s", program_names[id], strerror(-pid));
	p->due_ns = now + supervise_backoff(&p->backoff_ns, 0);
}

static void start_due(struct sup *s, uint64_t now)
{
	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		bool feed = i == PROGRAM_EXPORTER &&
			    (s->plan->flags & PLAN_RECORD);

		if (!s->proc[i].pid && now >= s->proc[i].due_ns && wanted(s, i))
			start_one(s, i, feed ? front_link_pair(&s->front, TOLD_FEED) : -1,
				  now);
	}
}

static void daemon_died(struct sup *s, enum program id, int status,
			uint64_t now)
{
	struct proc *p = &s->proc[id];
	const char *name = program_names[id];
	uint64_t wait;
	char how[80];

	child_how(status, how, sizeof(how));
	if (!wanted(s, id)) {
		/* by us, perhaps before it was ready for that */
		if (status && !WIFSIGNALED(status))
			say("%s %s", name, how);
		return;
	}
	if (p->replace_ns) {
		p->due_ns = now;
		return;
	}
	wait = supervise_backoff(&p->backoff_ns, now - p->started_ns);
	p->due_ns = now + wait;
	p->tries += !p->was_ready;
	if (p->tries < START_TRIES)
		say("%s %s; it is started again in %.1f s", name, how,
		    (double)wait / NSEC_PER_SEC);
	else
		say("%s %s; failed three times; giving up", name, how);
}

static void replace(struct sup *s, uint32_t which, uint64_t now)
{
	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		struct proc *p = &s->proc[i];

		if (!(which & 1u << i))
			continue;
		p->due_ns = now;
		if (!p->pid || p->replace_ns)
			continue;
		p->replace_ns = now + REPLACE_NS;
		kill(p->pid, i == PROGRAM_EXPORTER ? SIGHUP : SIGTERM);
	}
}

static void check_replaced(struct sup *s, uint64_t now)
{
	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		struct proc *p = &s->proc[i];

		if (!p->pid || !p->replace_ns || now < p->replace_ns)
			continue;
		say("%s (pid %d) does not end: sending SIGKILL",
		    program_names[i], (int)p->pid);
		kill(p->pid, SIGKILL);
		p->replace_ns = UINT64_MAX;
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
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(s->launch.runtime.notify, &mh,
			    MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&mh);
	struct ucred cred;

	if (!c || c->cmsg_type != SCM_CREDENTIALS)
		return;
	memcpy(&cred, CMSG_DATA(c), sizeof(cred));
	text[n] = '\0';
	if (strncmp(text, "READY=1", 7) && !strstr(text, "\nREADY=1"))
		return;
	for (int i = 0; i < PROGRAM_PLANNED; i++) {
		if (s->proc[i].pid != cred.pid)
			continue;
		s->proc[i].ready = s->proc[i].was_ready = true;
		if (i == PROGRAM_HUB)
			offer_hub(s, false);
	}
}

/* --- phases ------------------------------------------------------------------- */

static pid_t phase_pid(const struct sup *s)
{
	enum program who = phases[s->phase].who;

	return who == PROGRAM__COUNT ? 0 : s->proc[who].pid;
}

/* Begin to end; where the command still runs, it ends first. */
static void begin_end(struct sup *s, uint64_t now)
{
	if (s->phase >= END_COMMAND)
		return;
	front_link_tell(&s->front, (struct told){ .kind = TOLD_ENDING }, -1);
	supervise_enter(s, s->phase == PLANNING ? END_FRONT :
			s->launcher.go < 0 && s->proc[PROGRAM_LAUNCHER].pid ?
			END_COMMAND : END_LOADER, now);
}

static void supervise_fail(struct sup *s, uint64_t now)
{
	s->failed = true;
	begin_end(s, now);
}

static void supervise_enter(struct sup *s, enum phase p, uint64_t now)
{
	struct told m = { .kind = TOLD_WRITE, .failed = s->failed,
			  .start_ns = s->start_real_ns };
	pid_t pid;

	s->phase = p;
	s->killed = false;
	s->deadline_ns = phases[p].seconds ? now + S(phases[p].seconds) :
					     UINT64_MAX;
	if (p == RUNNING && s->plan->duration_ms)
		s->deadline_ns = now + s->plan->duration_ms * NSEC_PER_MSEC;
	if (p == END_LOADER)
		s->end_real_ns = clock_ns(CLOCK_REALTIME);
	m.end_ns = s->end_real_ns;
	pid = phase_pid(s);
	if (!pid)
		return;
	if (p == END_COMMAND) {
		if (s->end_signal)
			launcher_signal(&s->launcher, s->end_signal);
	} else if (p == END_RECORDER) {
		/* a recording that never began leaves no file */
		if (!s->start_real_ns || s->quick || front_link_tell(&s->front, m, -1))
			kill(pid, SIGTERM);
	} else if (p == END_FRONT) {
		m.kind = TOLD_DONE;
		if (!s->plan->kind || front_link_tell(&s->front, m, -1))
			kill(pid, SIGKILL);
		say_to(STDERR_FILENO);
	} else {
		kill(pid, SIGTERM);
	}
	if ((s->plan->flags & PLAN_VERBOSE) && p >= END_LOADER &&
	    p < END_RECORDER)
		say("ending %s", program_names[phases[p].who]);
}

static bool all_ready(const struct sup *s)
{
	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		if (!s->proc[i].ready && wanted(s, i))
			return false;
	}
	return true;
}

static void check_start(struct sup *s, uint64_t now)
{
	bool late = now >= s->deadline_ns, failed = late;

	for (int i = 0; i < PROGRAM_PLANNED; i++) {
		failed |= s->proc[i].tries >= START_TRIES;
		if (late && !s->proc[i].ready &&
		    (i == PROGRAM_RECORDER ? s->proc[i].pid : wanted(s, i)))
			say("%s is not ready after %u s", program_names[i],
			    phases[STARTING].seconds);
	}
	if (failed)
		supervise_fail(s, now);
	else if (s->proc[PROGRAM_HUB].ready && all_ready(s) &&
		 now - s->asked_ns >= ASK_NS) {
		offer_hub(s, true);
		s->asked_ns = now;
	}
}

/* The front has seen that loaderd samples. */
static void begin_run(struct sup *s, uint64_t now)
{
	int r = 0;

	s->start_real_ns = clock_ns(CLOCK_REALTIME);
	supervise_enter(s, RUNNING, now);
	front_link_tell(&s->front, (struct told){ .kind = TOLD_RUNNING,
			       .start_ns = s->start_real_ns }, -1);
	if (s->plan->flags & PLAN_COMMAND)
		r = launcher_go(&s->launcher);
	if (r) {
		say("the command cannot be started: %s", strerror(-r));
		supervise_fail(s, now);
	}
}

/* The time of this phase is over: stronger means. */
static void overdue(struct sup *s, uint64_t now)
{
	bool command = s->phase == END_COMMAND;
	/* the recorder removes its file on SIGTERM, by SIGKILL it could not */
	bool gently = !s->killed && (s->phase == END_RECORDER ||
		(command && s->end_signal != SIGTERM && !s->quick));
	int sig = gently ? SIGTERM : SIGKILL;

	say("%s (%spid %d) %s: sending %s", program_names[phases[s->phase].who],
	    command ? "below " : "", (int)phase_pid(s),
	    s->quick ? "still runs" : "does not end",
	    gently ? "SIGTERM" : "SIGKILL");
	if (command)
		launcher_signal(&s->launcher, sig);
	else
		kill(phase_pid(s), sig);
	s->failed |= s->phase == END_FRONT;
	s->killed |= sig == SIGKILL || s->phase == END_RECORDER;
	s->end_signal = SIGTERM;
	s->deadline_ns = now + S(5);
}

static void supervise_advance(struct sup *s, uint64_t now)
{
	bool over = now >= s->deadline_ns;

	if (s->phase == STARTING)
		check_start(s, now);
	else if (s->phase == RUNNING && over)
		begin_end(s, now);
	else if (s->phase == PLANNING && over) {
		say("the front sends no plan");
		supervise_fail(s, now);
	}
	while (s->phase > RUNNING && s->phase < ENDED && !phase_pid(s))
		supervise_enter(s, s->phase + 1, now);
	if (s->phase > RUNNING && s->phase < ENDED && now >= s->deadline_ns)
		overdue(s, now);
}

/* --- what the front says ------------------------------------------------------ */

/* Everything that a first plan needs before the daemons.  0 or -errno, said. */
static int prepare(struct sup *s, uint64_t now)
{
	struct launch *l = &s->launch;
	char *const *argv = l->argv;
	struct child_spec command = { .env = environ, .log_fd = -1 };
	int r = runtime_dir_make(&l->runtime, &l->ids);

	if (r)
		return r;
	while (*argv && strcmp(*argv, "--"))
		argv++;
	if ((s->plan->flags & PLAN_COMMAND) && *argv && argv[1]) {
		command.argv = argv + 1;
		command.path = argv[1];
		r = launcher_start(&s->launcher, &command);
		s->proc[PROGRAM_LAUNCHER].pid = l->launcher = s->launcher.pid;
		if (r)
			say("the launcher cannot be started: %s", strerror(-r));
	} else if (s->plan->flags & (PLAN_COMMAND | PLAN_BELOW)) {
		r = -EPROTO;
	}
	if (!r && (s->plan->flags & PLAN_RECORD))
		start_one(s, PROGRAM_RECORDER, front_link_pair(&s->front, TOLD_RECORDER),
			  now);
	return r;
}

/* False: it must not say that, now or at all. */
static bool on_plan(struct sup *s, uint64_t now)
{
	const struct front_link *f = &s->front;
	const struct plan *p = f->message;
	bool first = s->phase == PLANNING;

	if (plan_check(p, f->len, s->launch.argv))
		return false;
	if (first ? p->replace || !f->n_fds != !(p->flags & PLAN_PAGE) :
	    !s->reloads || f->n_fds || p->flags != s->plan->flags)
		return false;
	if (s->phase > RUNNING)
		return true;
	memcpy(s->plan, p, f->len);
	if (!first) {
		s->reloads--;
		replace(s, p->replace, now);
		return true;
	}
	for (int i = 0; i < f->n_fds; i++)
		s->launch.page[i] = fcntl(f->fds[i], F_DUPFD_CLOEXEC, 3);
	s->launch.n_page = f->n_fds;
	say_to(s->say);
	if (prepare(s, now))
		supervise_fail(s, now);
	else
		supervise_enter(s, STARTING, now);
	return true;
}

static bool on_word(struct sup *s, uint32_t kind, uint64_t now)
{
	if (kind == FRONT_BEGIN && s->offers) {
		s->offers--;
		if (s->phase == STARTING && all_ready(s))
			begin_run(s, now);
		return true;
	}
	if (kind != FRONT_END || !s->start_real_ns || s->end_said)
		return false;
	s->end_said = true;
	begin_end(s, now);
	return true;
}

static void on_front(struct sup *s, uint64_t now)
{
	int r = front_link_read(&s->front);
	uint32_t kind = s->front.message->kind;

	if (r == 0)
		return;
	if (r > 0 && kind == FRONT_PLAN)
		r = on_plan(s, now) ? 1 : -EPROTO;
	else if (r > 0)
		r = s->front.len == sizeof(kind) && !s->front.n_fds &&
		    on_word(s, kind, now) ? 1 : -EPROTO;
	front_link_drop(&s->front);
	if (r > 0)
		return;
	front_gone(s);
	if (r == -EPIPE && (s->phase == PLANNING || s->phase == END_FRONT))
		return;			/* its end says how it went */
	say("the front %s: it is killed", r == -EPROTO ?
	    "says what it must not" : "has closed its socket");
	kill(s->proc[PROGRAM_FRONT].pid, SIGKILL);
	supervise_fail(s, now);
}

/* --- events ------------------------------------------------------------------- */

static void start_reader(struct sup *s)
{
	int fd = front_link_pair(&s->front, TOLD_RELOAD);
	pid_t pid;

	s->reload_again = false;
	if (fd < 0)
		return;
	s->reloads++;
	pid = program_start_front(&s->launch, PROGRAM_READER, fd, -1);
	close(fd);
	s->proc[PROGRAM_READER].pid = pid > 0 ? pid : 0;
}

static void front_died(struct sup *s, int status, uint64_t now)
{
	char how[80];

	if (s->front.fd >= 0)
		front_gone(s);
	s->failed |= status != 0;
	if (s->phase == PLANNING && WIFEXITED(status)) {
		/* it has said why, or was asked for help */
		s->failed = false;
		s->status = WEXITSTATUS(status);
		supervise_enter(s, ENDED, now);
	} else if (s->phase != END_FRONT) {
		if (!s->end_said)
			say("the front %s", child_how(status, how, sizeof(how)));
		supervise_fail(s, now);
	}
}

static void supervise_child_died(struct sup *s, pid_t pid, int status,
				 uint64_t now)
{
	enum program id = 0;
	char how[80];

	while (id < PROGRAM__COUNT && s->proc[id].pid != pid)
		id++;
	if (id == PROGRAM__COUNT)	/* an orphan of one of them */
		return;
	s->proc[id].pid = 0;
	if (id < PROGRAM_DAEMONS) {
		daemon_died(s, id, status, now);
	} else if (id == PROGRAM_FRONT) {
		front_died(s, status, now);
	} else if (id == PROGRAM_READER) {
		if (s->reload_again && s->phase <= RUNNING)
			start_reader(s);
	} else if (id == PROGRAM_LAUNCHER) {
		s->failed |= s->launcher.go >= 0;
		s->launcher.pid = 0;
		s->status = WIFEXITED(status) ? WEXITSTATUS(status) :
						128 + WTERMSIG(status);
		begin_end(s, now);
	} else if (status || s->phase != END_RECORDER) {
		/* why, it said itself, unless it was killed */
		if (WIFSIGNALED(status) && !s->killed)
			say("the recorder %s", child_how(status, how,
							 sizeof(how)));
		supervise_fail(s, now);
	}
}

static void quick_end(struct sup *s, uint64_t now)
{
	s->quick = s->failed = true;
	say("ending at once: samples under way are lost");
	for (int i = 0; i < PROGRAM_PLANNED; i++) {
		if (s->proc[i].pid)
			kill(s->proc[i].pid, i == PROGRAM_RECORDER ? SIGTERM :
								     SIGKILL);
	}
	if (s->launcher.go < 0)
		launcher_signal(&s->launcher, SIGKILL);
	s->killed = true;
	s->deadline_ns = now + S(2);
}

/* SIGHUP is also how a terminal goes. */
static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
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
	} else if (si.ssi_signo == SIGHUP && (s->plan->flags & PLAN_RELOAD) &&
		   (!s->had_terminal || has_terminal())) {
		s->reload_again = true;
		if (s->phase <= RUNNING && !s->proc[PROGRAM_READER].pid)
			start_reader(s);
	} else if (s->phase > RUNNING) {
		if (!s->quick)
			quick_end(s, now);
	} else {
		/* Ctrl-C reaches the command too: the kernel sends it to both */
		s->end_signal = si.ssi_code == SI_KERNEL ? 0 :
							   (int)si.ssi_signo;
		s->failed |= s->phase < RUNNING;
		begin_end(s, now);
	}
}

/* Nobody reads the daemons' lines any more; they must not wait for that. */
static void drop_log(struct sup *s)
{
	char buf[4096];

	for (int i = 0; i < 16 && read(s->log, buf, sizeof(buf)) > 0; i++)
		;
}

static int supervise_timeout_ms(const struct sup *s, uint64_t now)
{
	uint64_t at = s->deadline_ns;

	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		const struct proc *p = &s->proc[i];
		uint64_t due = p->pid ? p->replace_ns : p->due_ns;

		if ((p->pid ? due != 0 : wanted(s, i)) && due < at)
			at = due;
	}
	if (s->phase == STARTING && all_ready(s) && s->asked_ns + ASK_NS < at)
		at = s->asked_ns + ASK_NS;
	if (at <= now)
		return 0;
	at = (at - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return at > 60000 ? 60000 : (int)at;
}

static void supervise_loop(struct sup *s)
{
	supervise_enter(s, PLANNING, now_ns());
	while (s->phase != ENDED) {
		struct pollfd p[] = {
			{ .fd = s->signals, .events = POLLIN },
			{ .fd = s->launch.runtime.notify, .events = POLLIN },
			{ .fd = s->front.fd, .events = POLLIN },
			{ .fd = s->front.fd < 0 ? s->log : -1, .events = POLLIN },
		};
		uint64_t now = now_ns();

		start_due(s, now);
		if (poll(p, 4, supervise_timeout_ms(s, now)) < 0 &&
		    errno != EINTR)
			s->failed = true;
		now = now_ns();
		if (p[3].revents)
			drop_log(s);
		if (p[1].revents)
			on_notify(s);
		if (p[2].revents)
			on_front(s, now);
		if (p[0].revents)
			supervise_on_signal(s, now);
		check_replaced(s, now);
		supervise_advance(s, now);
	}
}

/* --- start and end ------------------------------------------------------------ */

/* The pipe that all write their lines to, and our own way into it, on which we
 * do not wait.  0 or -1. */
static int open_log(struct sup *s)
{
	char path[32];
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	s->log = fds[0];
	s->launch.log_fd = fds[1];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	s->say = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return s->say < 0 ? -1 : fcntl(s->log, F_SETFL, O_NONBLOCK);
}

/* 0 or -1. */
static int start_front(struct sup *s)
{
	struct proc *p = &s->proc[PROGRAM_FRONT];
	int fd = front_link_open(&s->front);

	if (fd < 0)
		return -1;
	p->pid = program_start_front(&s->launch, PROGRAM_FRONT, fd, s->log);
	close(fd);
	return p->pid > 0 ? 0 : -1;
}

/* Wait for what the daemons leave behind, such as symbolizerd's zygote: nobody
 * else may be there to do so.  What a recorded command leaves is not ours. */
static void reap_left(const struct sup *s)
{
	uint64_t end = now_ns() + LEFT_NS;

	for (int i = 0; i < PROGRAM_PLANNED; i++) {
		pid_t group = s->proc[i].group;

		while (group && waitpid(-group, NULL, WNOHANG) >= 0) {
			if (now_ns() > end)
				kill(-group, SIGKILL);
			usleep(2000);
		}
	}
}

int supervise(char **argv)
{
	static union {
		struct plan plan;
		char room[PLAN_BYTES_MAX];
	} plan, message;
	struct sup s = {
		.launch = { .argv = argv, .plan = &plan.plan,
			    .runtime = { -1, -1, -1, -1, -1 } },
		.plan = &plan.plan, .launcher.go = -1,
		.front = { .fd = -1, .message = &message.plan },
	};
	struct launch *l = &s.launch;

	s.had_terminal = has_terminal() && !signals_nohup();
	s.signals = signals_catch(!strcmp(argv[1], "run"));
	if (programs_find(plan_option(argv, "--libexec"), l->dir) ||
	    identity_find(&l->ids))
		return 1;
	if (s.signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
	    open_log(&s) < 0 || start_front(&s) < 0) {
		say("cannot begin: %s", strerror(errno));
		return 1;
	}
	supervise_loop(&s);
	launcher_cancel(&s.launcher);
	reap_left(&s);
	if (l->runtime.lock >= 0)
		runtime_dir_remove(&l->runtime);
	return s.failed ? 1 : s.status;
}
