// SPDX-License-Identifier: Apache-2.0
/*
 * family - processes that burn a known amount of CPU time, for test_targets.py
 *
 *	family tree SHORT	a grandchild and a daemon (two forks, a session
 *		of its own) that burn a second each, and SHORT processes of 5
 *		ms, one after the other; prints the CPU seconds of all
 *	family twin left|right SECONDS	main() and two threads burn in that
 *		function for so long
 *	family waits NAME SECONDS	the process has that name, and waits; a thread
 *		burns in pool()
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static int report[2];		/* pipe: CPU seconds, as double */

static double now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static __attribute__((noinline)) void burn(double seconds)
{
	double end = now(CLOCK_PROCESS_CPUTIME_ID) + seconds;

	while (now(CLOCK_PROCESS_CPUTIME_ID) < end) {
		for (int i = 0; i < 20000; i++)
			sink += i * sink;
	}
}

static _Noreturn void work(const char *name, double seconds)
{
	double used;

	prctl(PR_SET_NAME, name);
	burn(seconds);
	used = now(CLOCK_PROCESS_CPUTIME_ID);
	_exit(write(report[1], &used, sizeof(used)) != sizeof(used));
}

static void wait_all(void)
{
	while (wait(NULL) > 0)
		;
}

static int tree(int n_short)
{
	double used, sum = 0;

	if (pipe(report) < 0)
		return 1;
	if (fork() == 0) {
		if (fork() == 0)
			work("fam_grand", 1);
		wait_all();
		_exit(0);
	}
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			work("fam_daemon", 1);
		_exit(0);
	}
	for (int i = 0; i < n_short; i++) {
		pid_t pid = fork();

		if (pid == 0)
			work("fam_short", 0.005);
		waitpid(pid, NULL, 0);
	}
	for (int i = 0; i < n_short + 2; i++) {
		if (read(report[0], &used, sizeof(used)) != sizeof(used))
			return 1;
		sum += used;
	}
	wait_all();
	printf("%.3f\n", sum + now(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}

static double end;

static __attribute__((noinline)) void *left(void *arg)
{
	while (now(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < 20000; i++)
			sink += i * sink;
	}
	__asm__ volatile("" ::: "memory");
	return arg;
}

static __attribute__((noinline)) void *right(void *arg)
{
	while (now(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < 20000; i++)
			sink -= i * sink;
	}
	__asm__ volatile("" ::: "memory");
	return arg;
}

static int twin(const char *which, double seconds)
{
	void *(*fn)(void *) = strcmp(which, "left") ? right : left;
	pthread_t t[2];

	end = now(CLOCK_MONOTONIC) + seconds;
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&t[i], NULL, fn, NULL))
			return 1;
	}
	fn(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static __attribute__((noinline)) void *pool(void *arg)
{
	prctl(PR_SET_NAME, "pool-1");
	while (now(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < 20000; i++)
			sink ^= i * sink;
	}
	__asm__ volatile("" ::: "memory");
	return arg;
}

static int waits(const char *name, double seconds)
{
	pthread_t t;

	end = now(CLOCK_MONOTONIC) + seconds;
	prctl(PR_SET_NAME, name);
	if (pthread_create(&t, NULL, pool, NULL))
		return 1;
	return pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "tree"))
		return tree(atoi(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "twin"))
		return twin(argv[2], atof(argv[3]));
	if (argc == 4 && !strcmp(argv[1], "waits"))
		return waits(argv[2], atof(argv[3]));
	return 2;
}
