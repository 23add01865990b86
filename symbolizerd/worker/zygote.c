// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/worker/zygote.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cost.h"
#include "common/log.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/worker/confine.h"
#include "symbolizerd/worker/priority.h"
#include "symbolizerd/worker/worker.h"

#define WORKER_MAPS	(8 << 20)	/* bytes from which an array gets its own mapping */
#define WORKER_AHEAD	(256 << 10)	/* bytes by which the heap grows */

struct zygote {
	struct conn hub;
	int signals;
	int slots[WORKER_SLOTS];
	pid_t pids[WORKER_SLOTS];	/* 0: none */
	uint64_t told_ns;		/* of its own CPU time, reported so far */
	uint64_t begin_ends_ns;		/* 0: it has ended */
	int group;			/* from priority_raise() */
};

/* --- in the worker ------------------------------------------------------- */

/* A worker has one job: memory that it frees it will need again, so it keeps that, and
 * the kernel need not clear it twice. */
static void zygote_work_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, WORKER_MAPS);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, WORKER_AHEAD);
}

static void zygote_work(struct zygote *z, unsigned int slot, unsigned int cpu_s, pid_t zygote)
{
	zygote_work_memory();
	close(z->hub.fd);
	close(z->signals);
	if (z->group >= 0)
		close(z->group);
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		if (i != slot)
			close(z->slots[i]);
	}
	confine_worker(cpu_s);
	if (getppid() != zygote)
		_exit(1);
	_exit(worker_run(z->slots[slot]));
}

/* --- in the zygote ------------------------------------------------------- */

static int zygote_tell_exit(struct zygote *z, unsigned int slot, int status,
			    const struct rusage *used)
{
	struct msg_slot m = {
		.slot = slot, .status = status,
		.rss_bytes = (uint64_t)used->ru_maxrss * 1024,
	};
	struct rusage own = { 0 };
	char byte;

	getrusage(RUSAGE_SELF, &own);
	m.cpu_ns = cost_cpu(used) + cost_cpu(&own) - z->told_ns;
	z->told_ns = cost_cpu(&own);

	/* discard what the worker did not read, with its descriptors: the
	 * next worker must not get it */
	while (recv(z->slots[slot], &byte, 1, MSG_DONTWAIT) > 0)
		;
	z->pids[slot] = 0;
	return conn_send(&z->hub, MSG_EXITED, 0, &m, sizeof(m), NULL, 0, NULL,
			 0);
}

/* After the beginning, workers have the priority of all other programs. */
static void zygote_settle(struct zygote *z)
{
	if (z->begin_ends_ns && now_ns() >= z->begin_ends_ns &&
	    priority_settle(&z->group) == 0)
		z->begin_ends_ns = 0;
}

static int zygote_fork_worker(struct zygote *z, unsigned int slot, unsigned int cpu_s)
{
	pid_t self = getpid(), pid;

	if (z->pids[slot])
		return -EPROTO;
	zygote_settle(z);
	pid = fork();
	if (pid == 0)
		zygote_work(z, slot, cpu_s, self);
	if (pid < 0)
		return zygote_tell_exit(z, slot, ZYGOTE_NO_FORK,
					&(struct rusage){ 0 });
	z->pids[slot] = pid;
	return conn_send(&z->hub, MSG_FORKED, 0, &(struct msg_slot){
				.slot = slot, .status = pid,
			 }, sizeof(struct msg_slot), NULL, 0, NULL, 0);
}

static int zygote_reap(struct zygote *z)
{
	struct signalfd_siginfo si;
	struct rusage used;
	int status, r = 0;
	pid_t pid;

	(void)!read(z->signals, &si, sizeof(si));
	while (r == 0 && (pid = wait4(-1, &status, WNOHANG, &used)) > 0) {
		for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
			if (z->pids[i] == pid)
				r = zygote_tell_exit(z, i, status, &used);
		}
	}
	return r;
}

static int zygote_obey(struct zygote *z)
{
	unsigned int cpu_s = WORKER_CPU_S;
	struct msg_slot m;
	struct msg msg;
	int r = conn_recv(&z->hub, &msg);

	if (r == -EAGAIN)
		return 0;
	if (r)
		return -EPIPE;
	memcpy(&m, msg.buf, sizeof(m));
	msg_close_fds(&msg);
	if (m.slot >= WORKER_SLOTS)
		return -EPROTO;
	if (m.status > 0 && m.status < WORKER_CPU_S)
		cpu_s = (unsigned int)m.status;
	if (msg.hdr.type == MSG_FORK)
		return zygote_fork_worker(z, m.slot, cpu_s);
	if (msg.hdr.type != MSG_KILL)
		return -EPROTO;
	/* it was not reaped yet, so the number is not reused */
	if (z->pids[m.slot])
		kill(z->pids[m.slot], SIGKILL);
	return 0;
}

static int zygote_serve(struct zygote *z)
{
	struct pollfd p[] = {
		{ .fd = z->hub.fd, .events = POLLIN },
		{ .fd = z->signals, .events = POLLIN },
	};
	int r = 0;

	while (r == 0) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return -errno;
		/* reap first: the next messages may be about their slots */
		if (p[1].revents)
			r = zygote_reap(z);
		if (r == 0 && p[0].revents)
			r = zygote_obey(z);
	}
	return r;
}

static void zygote_kill_all(const struct zygote *z)
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		if (z->pids[i])
			kill(z->pids[i], SIGKILL);
	}
}

static int zygote_open_signals(void)
{
	sigset_t set;

	/* the main process handles signals that a terminal or a service manager
	 * sends to the whole group */
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Raise the priority, in a new session. */
static void zygote_raise(struct zygote *z, int proc)
{
	if (setsid() >= 0)
		z->group = priority_raise(proc);
	if (z->group >= 0 || getpriority(PRIO_PROCESS, 0) < 0)
		z->begin_ends_ns = now_ns() + ZYGOTE_BEGIN_NS;
}

/* z has its slots, its group and .begin_ends_ns. */
static void zygote_main(struct zygote *z, uid_t uid, gid_t gid, pid_t hub,
			int control)
{
	int keep[WORKER_SLOTS + 4] = { STDERR_FILENO, control };
	int r;

	z->signals = zygote_open_signals();
	if (z->signals < 0)
		_exit(1);
	conn_init(&z->hub, control, PEER_HUB, CONN_READY);
	keep[2] = z->signals;
	keep[3] = z->group;
	memcpy(keep + 4, z->slots, sizeof(z->slots));
	confine_worker_prepare();
	confine_zygote(uid, gid, keep, WORKER_SLOTS + 4);
	if (getppid() != hub)
		_exit(1);
	r = zygote_serve(z);
	zygote_kill_all(z);
	if (r != -EPIPE)
		log_err("zygote: %s", strerror(-r));
	_exit(r != -EPIPE);
}

/* --- in the main process -------------------------------------------------- */

static int zygote_pair(int *ours, int *theirs)
{
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0, sv) < 0)
		return -errno;
	*ours = sv[0];
	*theirs = sv[1];
	return 0;
}

int zygote_start(uid_t uid, gid_t gid, int proc, struct zygote_ends *ret)
{
	struct zygote z = { .group = -1 };
	int control = -1;
	pid_t self = getpid(), pid;
	int r = zygote_pair(&ret->control, &control);

	for (unsigned int i = 0; i < WORKER_SLOTS && r == 0; i++)
		r = zygote_pair(&ret->slots[i], &z.slots[i]);
	if (r < 0)
		return r;	/* the caller ends: nothing is closed */
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		zygote_raise(&z, proc);
		zygote_main(&z, uid, gid, self, control);
	}
	ret->pid = pid;
	close(control);
	for (unsigned int i = 0; i < WORKER_SLOTS; i++)
		close(z.slots[i]);
	return 0;
}
