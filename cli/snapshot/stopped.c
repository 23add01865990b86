// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot/stopped.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "common/clock.h"

#ifdef __aarch64__
#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL	0x404
#endif
#endif

#define ROUNDS	16	/* through the list, until there is no new thread */
#define PAUSE_NS	200000	/* between looks at a thread that is to stop */

static bool stopped_has(const struct stopped *s, pid_t tid)
{
	for (uint32_t i = 0; i < s->threads.n; i++) {
		if (s->threads.v[i].tid == tid)
			return true;
	}
	return false;
}

/* Wait until it stands: 1.  0: it has ended.  -EBUSY: it does not stop. */
static int stopped_wait(struct stopped_thread *t, uint64_t deadline_ns)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int status, r;

	while ((r = waitpid(t->tid, &status, __WALL | WNOHANG)) <= 0) {
		if (r < 0 && errno != EINTR)
			return 0;
		if (now_ns() >= deadline_ns)
			return -EBUSY;
		nanosleep(&pause, NULL);
	}
	if (!WIFSTOPPED(status))
		return 0;
	/* no event: a signal was on its way, and waits for us to pass it on */
	if (!(status >> 16))
		t->signal = WSTOPSIG(status);
	return 1;
}

/* Have it stop.  0, also if it has ended. */
static int stopped_ask(struct stopped *s, pid_t tid)
{
	struct stopped_thread t = { .tid = tid };

	if (!vector_reserve(&s->threads, 1))
		return -ENOMEM;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
		if (errno == ESRCH && s->threads.n)
			return 0;
		return -errno;
	}
	if (!ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		vector_push(&s->threads, t);
	return 0;
}

/* Until those from `from` on stand; those that have ended, or do not stop, are left out.
 * 0 or -EBUSY. */
static int stopped_all(struct stopped *s, uint32_t from)
{
	uint32_t to = from;
	int r = 0;

	for (uint32_t i = from; i < s->threads.n; i++) {
		struct stopped_thread t = s->threads.v[i];
		int got = stopped_wait(&t, s->deadline_ns);

		if (got > 0)
			s->threads.v[to++] = t;
		else if (got < 0)
			r = got;
	}
	s->threads.n = to;
	return r;
}

/* Those that are not there yet: how many, or -errno. */
static int stopped_new(struct stopped *s)
{
	uint32_t before = s->threads.n;
	char path[48];
	struct dirent *e;
	int n = 0, r = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
	d = opendir(path);
	if (!d && errno == ENOENT)
		return -ESRCH;
	if (!d)
		return -errno;
	while (!r && (e = readdir(d))) {
		pid_t tid = atoi(e->d_name);

		if (tid <= 0 || stopped_has(s, tid))
			continue;
		r = stopped_ask(s, tid);
		n++;
	}
	closedir(d);
	if (r)
		stopped_all(s, before);
	else
		r = stopped_all(s, before);
	if (r)
		return r;
	return n;
}

int stopped_begin(struct stopped *s, pid_t pid)
{
	int r;

	*s = (struct stopped){ .pid = pid, .deadline_ns = now_ns() + STOPPED_NS };
	r = stopped_ask(s, pid);
	if (!r)
		r = stopped_all(s, 0);
	for (int i = 0, n = 1; !r && n && i < ROUNDS; i++) {
		n = stopped_new(s);
		if (n < 0)
			r = n;
	}
	if (!r && !s->threads.n)
		r = -ESRCH;
	if (r)
		stopped_end(s);
	return r;
}

static int stopped_get(pid_t tid, int set, void *regs, size_t size)
{
	struct iovec v = { regs, size };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)set, &v) < 0)
		return -errno;
	if (v.iov_len != size)
		return -ENOEXEC;
	return 0;
}

/* One line; the order of the registers is that of docs/SNAPSHOT.md. */
static int stopped_line(pid_t tid, struct buffer *to)
{
	struct user_regs_struct u;
	const char *where = "user";
	int r = stopped_get(tid, NT_PRSTATUS, &u, sizeof(u));
#ifdef __aarch64__
	uint64_t tp = 0;
	int call = -1;

	if (!r)
		r = stopped_get(tid, NT_ARM_TLS, &tp, sizeof(tp));
	if (r)
		return r;
	if (stopped_get(tid, NT_ARM_SYSTEM_CALL, &call, sizeof(call)))
		call = -1;
	if (call >= 0)
		where = "call";
	buffer_printf(to, "thread %d %s %" PRIx64, tid, where, tp);
	for (int i = 0; i < 31; i++)
		buffer_printf(to, " %llx", u.regs[i]);
	buffer_printf(to, " %llx %llx\n", u.sp, u.pc);
#else
	const unsigned long long regs[] = {
		u.r15, u.r14, u.r13, u.r12, u.rbp, u.rbx, u.r11, u.r10, u.r9,
		u.r8, u.rax, u.rcx, u.rdx, u.rsi, u.rdi, u.rip, u.rsp,
	};

	if (r)
		return r;
	if (u.cs != 0x33)		/* arch/x86/include/asm/segment.h */
		return -ENOEXEC;
	if ((long long)u.orig_rax >= 0)
		where = "call";
	buffer_printf(to, "thread %d %s %llx", tid, where, u.fs_base);
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		buffer_printf(to, " %llx", regs[i]);
	buffer_str(to, "\n");
#endif
	return 0;
}

int stopped_describe(const struct stopped *s, struct buffer *to)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < s->threads.n && i < STOPPED_THREADS_MAX; i++) {
		r = stopped_line(s->threads.v[i].tid, to);
		if (r == -ESRCH && i)	/* killed in between */
			r = 0;
	}
	return r;
}

void stopped_end(struct stopped *s)
{
	for (uint32_t i = 0; i < s->threads.n; i++)
		ptrace(PTRACE_DETACH, s->threads.v[i].tid, NULL,
		       (void *)(intptr_t)s->threads.v[i].signal);
	free(s->threads.v);
	*s = (struct stopped){ .pid = s->pid };
}
