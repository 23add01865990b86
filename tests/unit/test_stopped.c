// SPDX-License-Identifier: Apache-2.0
/*
 * A process stands still and runs on, again and again, while signals come: none is
 * lost, and no thread is forgotten.
 */
#include "cli/snapshot/stopped.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"

#define THREADS	4
#define ROUNDS	20000
#define CAUGHT	5	/* signals in between, which are enough */
#define WAIT_MS	30000	/* for anything that must happen */

/* What the processes know of each other. */
static struct shared {
	uint32_t threads, sent, enough, handled, over;
} *shared;

static void *run(void *arg)
{
	__atomic_add_fetch(&shared->threads, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return arg;
}

/* A queue keeps each of them, and the one of the lowest number is delivered first. */
static void on_signal(int sig)
{
	if (sig == SIGRTMIN)
		__atomic_add_fetch(&shared->handled, 1, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&shared->over, 1, __ATOMIC_SEQ_CST);
}

/* Until *word is this much at least. */
static void wait_until(const uint32_t *word, uint32_t least)
{
	for (int i = 0; __atomic_load_n(word, __ATOMIC_SEQ_CST) < least; i++) {
		CHECK(i < WAIT_MS);
		usleep(1000);
	}
}

/* On the first CPU, or the last one: so that both run, where there are two.  How many
 * there are. */
static int run_on(bool last)
{
	cpu_set_t all, one;
	int cpu = -1;

	CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &all) && (cpu < 0 || last))
			cpu = i;
	}
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	return CPU_COUNT(&all);
}

static pid_t start_target(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		pthread_t t;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_on(true);
		sigfillset(&sa.sa_mask);
		sigaction(SIGRTMIN, &sa, NULL);
		sigaction(SIGRTMIN + 1, &sa, NULL);
		/* the main thread takes all, so one is handled after the other */
		sigprocmask(SIG_BLOCK, &sa.sa_mask, NULL);
		for (int i = 1; i < THREADS; i++)
			pthread_create(&t, NULL, run, NULL);
		sigprocmask(SIG_UNBLOCK, &sa.sa_mask, NULL);
		run(NULL);
	}
	wait_until(&shared->threads, THREADS);
	return pid;
}

static void begin(struct stopped *s, pid_t pid)
{
	int r = stopped_begin(s, pid);

	if (r == -EPERM) {
		printf("# SKIP this user may trace no process here\n");
		exit(TEST_SKIP);
	}
	CHECK_EQ(r, 0);
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

static void queue(pid_t pid, int sig)
{
	const union sigval none = { 0 };

	while (sigqueue(pid, sig, none) < 0 && errno == EAGAIN)
		usleep(100);
}

TEST(all_threads_stand_and_run_on)
{
	pid_t pid = start_target();
	struct stopped s;
	int status;

	begin(&s, pid);
	CHECK_EQ(s.threads.n, THREADS);
	CHECK_EQ(s.threads.v[0].tid, pid);
	queue(pid, SIGRTMIN);
	usleep(20000);
	CHECK_EQ(__atomic_load_n(&shared->handled, __ATOMIC_SEQ_CST), 0);
	stopped_end(&s);
	wait_until(&shared->handled, 1);
	end_target(pid);
	CHECK_EQ(stopped_begin(&s, pid), -ESRCH);
	/* one that has ended, and waits to be reaped */
	pid = fork();
	if (!pid)
		_exit(7);
	waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	CHECK(stopped_begin(&s, pid) < 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(WEXITSTATUS(status), 7);
}

TEST(no_signal_is_lost)
{
	pid_t pid = start_target(), sender = fork();
	uint32_t caught = 0;
	struct stopped s;
	int cpus;

	CHECK(sender >= 0);
	if (!sender) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!__atomic_load_n(&shared->enough, __ATOMIC_SEQ_CST)) {
			queue(pid, SIGRTMIN);
			shared->sent++;
		}
		queue(pid, SIGRTMIN + 1);
		_exit(0);
	}
	cpus = run_on(false);
	for (int i = 0; i < ROUNDS && caught < CAUGHT; i++) {
		begin(&s, pid);
		for (uint32_t k = 0; k < s.threads.n; k++)
			caught += s.threads.v[k].signal != 0;
		stopped_end(&s);
	}
	__atomic_store_n(&shared->enough, 1, __ATOMIC_SEQ_CST);
	wait_until(&shared->over, 1);
	printf("# %u signals, %u caught in between\n", shared->sent, caught);
	CHECK_EQ(__atomic_load_n(&shared->handled, __ATOMIC_SEQ_CST), shared->sent);
	CHECK_EQ(waitpid(sender, NULL, 0), sender);
	end_target(pid);
	if (!caught && cpus < 2) {
		printf("# SKIP on one CPU none comes in between\n");
		exit(TEST_SKIP);
	}
	CHECK(caught > 0);
}
