// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/supervise.h"

#include <err.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/supervisor/programs.h"

#define END_S		5	/* between SIGTERM and SIGKILL */
#define PATIENCE_S	20	/* for a front that was told twice to end */
#define LEFT_MS		1500	/* for what daemons have left behind; a process in D waits on */
#define LEFT_ROUND_MS	2
#define STARTS_FREE	16	/* without a wait; the later ones are delayed */
#define STARTS_WAIT_US	50000

struct sup {
	struct launch launch;
	pid_t pid[PROGRAM__COUNT];	/* of the last one; 0: there was none */
	uint32_t running;		/* 1 << enum program */
	int signals;			/* signalfd */
	int front;			/* socket; -1: closed */
	unsigned int starts;
	bool opened, asked, ending;
	int status;			/* to exit with */
};

static bool sup_runs(const struct sup *s, enum program id)
{
	return s->running >> id & 1;
}

static void sup_signal(const struct sup *s, enum program id, int sig)
{
	if (id == PROGRAM_LAUNCHER && sig == SIGKILL)
		sig = LAUNCHER_KILL;
	if (sup_runs(s, id))
		kill(s->pid[id], sig);
}

/* Take nothing more from the front, and end it. */
static void sup_drop_front(struct sup *s)
{
	close(s->front);
	s->front = -1;
	sup_signal(s, PROGRAM_FRONT, SIGKILL);
}

/* End all that runs: by SIGTERM; called again, by SIGKILL. */
static void sup_end_all(struct sup *s)
{
	int sig = s->ending ? SIGKILL : SIGTERM;

	sup_drop_front(s);
	if (s->running)
		s->status = 1;
	for (int i = 0; i < PROGRAM_FRONT; i++)
		sup_signal(s, i, sig);
	s->ending = true;
	alarm(END_S);
}

static void sup_tell(struct sup *s, const struct tell *m, int fd)
{
	if (ask_send(s->front, m, sizeof(*m), &fd, fd >= 0, MSG_DONTWAIT))
		sup_drop_front(s);
}

/* --- what the front asks for ---------------------------------------------------- */

/* One of each at a time; the user's command once, and only if there is one. */
static bool sup_may_start(const struct sup *s, enum program id)
{
	if (id == PROGRAM_LAUNCHER && (s->pid[id] || !*program_command(s->launch.argv)))
		return false;
	return s->opened && !sup_runs(s, id);
}

static pid_t sup_start(struct sup *s, const struct ask *m, size_t len,
		       const int *fds, int n)
{
	pid_t pid;

	s->starts++;
	if (s->starts > STARTS_FREE)
		usleep(STARTS_WAIT_US);
	pid = program_start(&s->launch, m, len, fds, n);
	if (pid > 0) {
		s->pid[m->program] = pid;
		s->running |= 1u << m->program;
	}
	return pid;
}

/* Do what a message asks for, and reply.  False: it is not allowed, now or at all. */
static bool sup_obey(struct sup *s, const struct ask *m, size_t len, const int *fds, int n)
{
	struct launch *l = &s->launch;
	struct tell reply = { .kind = TELL_REPLY };
	int fd = -1;

	if (!ask_check(m, len, n))
		return false;
	switch (m->kind) {
	case ASK_SIGNAL:
		sup_signal(s, m->program, m->signal);
		return true;
	case ASK_OPEN:
		if (s->opened)
			return false;
		reply.value = runtime_dir_make(l->socket, &l->ids);
		s->opened = !reply.value;
		if (s->opened)
			fd = l->socket[RUNTIME_NOTIFY];
		l->log_fd = dup(fds[0]);
		break;
	case ASK_START:
		if (!sup_may_start(s, m->program))
			return false;
		reply.value = sup_start(s, m, len, fds, n);
		break;
	default:	/* ASK_HUB */
		fd = runtime_dir_connect();
		reply.value = fd < 0 ? fd : (int)l->ids.uid[ID_HUB];
	}
	sup_tell(s, &reply, fd);
	close(fd);
	return true;
}

static void sup_on_front(struct sup *s)
{
	static struct ask m;
	int fds[ASK_FDS_MAX], n;
	int len = ask_recv(s->front, &m, sizeof(m), fds, &n, MSG_DONTWAIT);

	if (len == -EPIPE) {
		sup_drop_front(s);
	} else if (len < 0 || (len && !sup_obey(s, &m, (size_t)len, fds, n))) {
		warnx("invalid message from the front: it is killed");
		sup_end_all(s);
	}
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

/* --- events --------------------------------------------------------------------- */

/* Its exit status is ours. */
static void sup_front_ended(struct sup *s, int status)
{
	s->status = 1;
	if (WIFSIGNALED(status))
		warnx("the front was killed by signal %d (%s)",
		      WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WIFEXITED(status))
		s->status = WEXITSTATUS(status);
	sup_end_all(s);
}

/* PROGRAM__COUNT: the process was an orphan of one of the programs. */
static enum program sup_find(const struct sup *s, pid_t pid)
{
	enum program id = 0;

	while (id < PROGRAM__COUNT && !(sup_runs(s, id) && s->pid[id] == pid))
		id++;
	return id;
}

static void sup_ended(struct sup *s, pid_t pid, int status)
{
	struct tell m = { .kind = TELL_DIED, .program = sup_find(s, pid), .value = status };

	if (m.program == PROGRAM__COUNT)
		return;
	s->running &= ~(1u << m.program);
	if (m.program != PROGRAM_FRONT)
		sup_tell(s, &m, -1);
	else if (!s->ending)
		sup_front_ended(s, status);
}

static void sup_reap(struct sup *s)
{
	int status;

	for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0;
	     pid = waitpid(-1, &status, WNOHANG))
		sup_ended(s, pid, status);
}

/* A signal that the front has to know.  The second one that asks it to end gives it some
 * seconds to do so. */
static void sup_pass_on(struct sup *s, const struct signalfd_siginfo *si)
{
	struct tell m = {
		.kind = TELL_SIGNAL, .value = (int)si->ssi_signo,
		.by_kernel = si->ssi_code == SI_KERNEL,
	};

	sup_tell(s, &m, -1);
	if (si->ssi_signo == SIGHUP)
		return;
	if (s->asked && !s->ending)
		alarm(PATIENCE_S);
	s->asked = true;
}

static void sup_on_signal(struct sup *s)
{
	struct signalfd_siginfo si;

	if (read(s->signals, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD)
		sup_reap(s);
	else if (si.ssi_signo == SIGALRM)
		sup_end_all(s);
	else
		sup_pass_on(s, &si);
}

/* --- start and end -------------------------------------------------------------- */

static int sup_catch_signals(void)
{
	static const int which[] = {
		SIGCHLD, SIGALRM, SIGINT, SIGTERM, SIGQUIT, SIGHUP,
	};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++)
		sigaddset(&set, which[i]);
	/* a blocked signal arrives, even if it is ignored */
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* 0, or -errno. */
static int sup_start_front(struct sup *s)
{
	static const struct ask m = { .program = PROGRAM_FRONT };
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	s->front = fds[0];
	r = sup_start(s, &m, ASK_BYTES(0), fds + 1, 1);
	close(fds[1]);
	return r;
}

/* End what daemons leave, such as symbolizerd's zygote, and reap it: all at once, so that
 * one that does not end takes no time of the others.  What a recorded command leaves is
 * not ours. */
static void sup_end_left(const struct sup *s)
{
	bool left = true;

	for (int rounds = LEFT_MS / LEFT_ROUND_MS; left && rounds >= 0; rounds--) {
		left = false;
		for (int i = 0; i < PROGRAM_LAUNCHER; i++) {
			if (s->pid[i] && waitpid(-s->pid[i], NULL, WNOHANG) >= 0) {
				left = true;
				kill(-s->pid[i], SIGKILL);
				if (rounds == 0)
					warnx("a process of group %d does not end, not even by SIGKILL: it "
					      "waits for a file system that does not answer", s->pid[i]);
			}
		}
		usleep(LEFT_ROUND_MS * 1000);
	}
}

int supervise(char **argv)
{
	static char self[PATH_MAX];
	struct sup s = { .launch = { .argv = argv }, .front = -1 };

	s.signals = sup_catch_signals();
	/* the daemons are where the user said, or beside this program */
	s.launch.dir = ask_option(argv, "--libexec");
	if (!s.launch.dir && readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
		s.launch.dir = dirname(self);
	if (!s.launch.dir || s.signals < 0 || identity_find(&s.launch.ids) ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || sup_start_front(&s) < 0)
		err(1, "cannot begin");
	while (s.running) {
		struct pollfd p[] = {
			{ .fd = s.signals, .events = POLLIN },
			{ .fd = s.front, .events = POLLIN },
		};

		poll(p, 2, -1);
		if (p[1].revents)
			sup_on_front(&s);
		if (p[0].revents)
			sup_on_signal(&s);
	}
	sup_end_left(&s);
	if (s.opened)
		runtime_dir_remove();
	return s.status;
}
