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
#define PATIENCE_S	20	/* for a front that was asked twice to end */
#define STARTS_FREE	16	/* at once; later ones wait */
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

static void send_signal(const struct sup *s, enum program id, int sig)
{
	if (id == PROGRAM_LAUNCHER && sig == SIGKILL)
		sig = LAUNCHER_KILL;
	if (s->running >> id & 1)
		kill(s->pid[id], sig);
}

/* The front is not heard any more: its end is next. */
static void drop_front(struct sup *s)
{
	close(s->front);
	s->front = -1;
	send_signal(s, PROGRAM_FRONT, SIGKILL);
}

/* End all that runs: by SIGTERM; called again, by SIGKILL. */
static void end_all(struct sup *s)
{
	drop_front(s);
	if (s->running)
		s->status = 1;
	for (int i = 0; i < PROGRAM_FRONT; i++)
		send_signal(s, i, s->ending ? SIGKILL : SIGTERM);
	s->ending = true;
	alarm(END_S);
}

static void tell(struct sup *s, const struct tell *m, int fd)
{
	if (ask_send(s->front, m, sizeof(*m), &fd, fd >= 0, MSG_DONTWAIT))
		drop_front(s);
}

/* --- what the front asks for ---------------------------------------------------- */

/* One of each; the user's command once, and only if there is one. */
static bool may_start(const struct sup *s, enum program id)
{
	if (id == PROGRAM_LAUNCHER &&
	    (s->pid[id] || !*program_command(s->launch.argv)))
		return false;
	return s->opened && !(s->running >> id & 1);
}

static pid_t start(struct sup *s, const struct ask *m, size_t len,
		   const int *fds, int n)
{
	pid_t pid;

	/* whoever asks for too many gets them slowly */
	if (s->starts++ >= STARTS_FREE)
		usleep(STARTS_WAIT_US);
	pid = program_start(&s->launch, m, len, fds, n);
	if (pid > 0) {
		s->pid[m->program] = pid;
		s->running |= 1u << m->program;
	}
	return pid;
}

/* False: it must not ask for that, now or at all. */
static bool sup_obey(struct sup *s, const struct ask *m, size_t len, const int *fds,
		 int n)
{
	struct launch *l = &s->launch;
	struct tell reply = { .kind = TELL_REPLY };
	int fd = -1;

	if (!ask_check(m, len, n) ||
	    (m->kind == ASK_OPEN && s->opened) ||
	    (m->kind == ASK_START && !may_start(s, m->program)))
		return false;
	if (m->kind == ASK_SIGNAL) {
		send_signal(s, m->program, m->signal);
		return true;
	}
	if (m->kind == ASK_OPEN) {
		reply.value = runtime_dir_make(l->socket, &l->ids);
		s->opened = !reply.value;
		fd = s->opened ? l->socket[RUNTIME_NOTIFY] : -1;
		l->log_fd = dup(fds[0]);
	} else if (m->kind == ASK_START) {
		reply.value = start(s, m, len, fds, n);
	} else {
		fd = runtime_dir_connect();
		reply.value = fd < 0 ? fd : (int)l->ids.uid[ID_HUB];
	}
	tell(s, &reply, fd);
	close(fd);			/* or -1: nothing */
	return true;
}

static void on_front(struct sup *s)
{
	static struct ask m;
	int fds[ASK_FDS_MAX], n;
	int len = ask_recv(s->front, &m, sizeof(m), fds, &n, MSG_DONTWAIT);

	if (len == -EPIPE) {
		drop_front(s);
	} else if (len < 0 || (len && !sup_obey(s, &m, (size_t)len, fds, n))) {
		warnx("the front says what it must not: it is killed");
		end_all(s);
	}
	while (n > 0)
		close(fds[--n]);
}

/* --- events --------------------------------------------------------------------- */

/* Its exit status is ours. */
static void front_died(struct sup *s, int status)
{
	if (WIFSIGNALED(status))
		warnx("the front was killed by signal %d (%s)",
		      WTERMSIG(status), strsignal(WTERMSIG(status)));
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	end_all(s);
}

static void reap(struct sup *s)
{
	struct tell m = { .kind = TELL_DIED };
	pid_t pid;

	while ((pid = waitpid(-1, &m.value, WNOHANG)) > 0) {
		m.program = 0;
		while (m.program < PROGRAM__COUNT &&
		       !(s->running >> m.program & 1 &&
			 s->pid[m.program] == pid))
			m.program++;
		if (m.program == PROGRAM__COUNT)
			continue;	/* an orphan of one of them */
		s->running &= ~(1u << m.program);
		if (m.program != PROGRAM_FRONT)
			tell(s, &m, -1);
		else if (!s->ending)
			front_died(s, m.value);
	}
}

static void on_signal(struct sup *s)
{
	struct tell m = { .kind = TELL_SIGNAL };
	struct signalfd_siginfo si;

	if (read(s->signals, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD) {
		reap(s);
	} else if (si.ssi_signo == SIGALRM) {
		end_all(s);
	} else {
		m.value = (int)si.ssi_signo;
		m.by_kernel = si.ssi_code == SI_KERNEL;
		tell(s, &m, -1);
		if (si.ssi_signo != SIGHUP && s->asked && !s->ending)
			alarm(PATIENCE_S);
		s->asked |= si.ssi_signo != SIGHUP;
	}
}

/* --- start and end -------------------------------------------------------------- */

static int catch_signals(void)
{
	static const int which[] = {
		SIGCHLD, SIGALRM, SIGINT, SIGTERM, SIGQUIT, SIGHUP,
	};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++)
		sigaddset(&set, which[i]);
	/* one that is blocked comes, ignored or not */
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* 0, or -errno. */
static int start_front(struct sup *s)
{
	static const struct ask m = { .program = PROGRAM_FRONT };
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	s->front = fds[0];
	r = start(s, &m, ASK_BYTES(0), fds + 1, 1);
	close(fds[1]);
	return r;
}

/* What daemons leave, such as symbolizerd's zygote, ends with them; nobody else
 * may be there to reap it.  What a recorded command leaves is not ours. */
static void end_left(const struct sup *s)
{
	for (int i = 0; i < PROGRAM_LAUNCHER; i++) {
		while (s->pid[i] && waitpid(-s->pid[i], NULL, WNOHANG) >= 0) {
			kill(-s->pid[i], SIGKILL);
			usleep(2000);
		}
	}
}

int supervise(char **argv)
{
	static char self[PATH_MAX];
	struct sup s = { .launch = { .argv = argv }, .front = -1,
			 .signals = catch_signals() };

	/* the daemons are where the user said, or beside this program */
	s.launch.dir = ask_option(argv, "--libexec");
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 &&
	    !s.launch.dir)
		s.launch.dir = dirname(self);
	if (!s.launch.dir || s.signals < 0 || identity_find(&s.launch.ids) ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || start_front(&s) < 0)
		err(1, "cannot begin");
	while (s.running) {
		struct pollfd p[] = {
			{ .fd = s.signals, .events = POLLIN },
			{ .fd = s.front, .events = POLLIN },
		};

		poll(p, 2, -1);
		if (p[1].revents)
			on_front(&s);
		if (p[0].revents)
			on_signal(&s);
	}
	end_left(&s);
	if (s.opened)
		runtime_dir_remove();
	return s.status;
}
