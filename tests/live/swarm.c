// SPDX-License-Identifier: Apache-2.0
/*
 * swarm - many executables, many processes, an exec storm
 *
 * swarm call DEPTH US		call DEPTH functions deep, burn so long, exit
 * swarm stay DEPTH US		the same once a second, for ever
 * swarm drive DIR N P RATE SECONDS US
 *	keep P processes of DIR/u0 .. DIR/u(N-1) staying, and start RATE a
 *	second of them, at random, that call and end; print how many
 *
 * The test makes N files of this one by writing another number over each
 * only_XXXXXXXX, so that a stack says by itself which file it should be of.
 * Which function calls which is fixed: next = (7 * i + 1) % 512.
 */
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static volatile unsigned long sink;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* --- 512 functions, each with a frame of its own size ------------------------ */

typedef void (*fn)(int depth, uint64_t end);
static const fn all[512];

#define FN(i)								\
	static __attribute__((noinline)) void fn_##i(int depth, uint64_t end) \
	{								\
		volatile char pad[16 + 16 * (0##i & 511)];		\
									\
		pad[0] = (char)sink;					\
		if (depth > 0)						\
			all[(7 * (0##i) + 1) % 512](depth - 1, end);	\
		else							\
			while (now_us() < end)				\
				sink += end;				\
		sink += pad[0];						\
	}
#define NAME(i)	fn_##i,
/* in octal: 0000 .. 0777 */
#define EIGHT(m, a)	m(a##0) m(a##1) m(a##2) m(a##3) m(a##4) m(a##5) m(a##6) m(a##7)
#define X64(m, a)	EIGHT(m, a##0) EIGHT(m, a##1) EIGHT(m, a##2) EIGHT(m, a##3) \
			EIGHT(m, a##4) EIGHT(m, a##5) EIGHT(m, a##6) EIGHT(m, a##7)
#define X512(m)		X64(m, 0) X64(m, 1) X64(m, 2) X64(m, 3) X64(m, 4) \
			X64(m, 5) X64(m, 6) X64(m, 7)
X512(FN)
static const fn all[512] = { X512(NAME) };

__attribute__((noinline)) void only_XXXXXXXX(int depth, uint64_t us)
{
	all[depth % 512](depth, now_us() + us);
	sink++;
}

/* --- the driver --------------------------------------------------------------- */

static pid_t start(const char *dir, unsigned int i, char *how, char *depth,
		   char *us)
{
	char path[4096], name[32];
	char *argv[] = { name, how, depth, us, NULL };
	pid_t pid;

	snprintf(name, sizeof(name), "u%u", i);
	snprintf(path, sizeof(path), "%s/u%u", dir, i);
	return posix_spawn(&pid, path, NULL, NULL, argv, environ) ? -1 : pid;
}

static int drive(char **a)
{
	unsigned int n = atoi(a[1]), p = atoi(a[2]), rate = atoi(a[3]);
	uint64_t t0, end, begun = 0, ended = 0, failed = 0;
	pid_t *stay = calloc(p, sizeof(*stay));

	for (unsigned int i = 0; i < p; i++)
		stay[i] = start(a[0], i % n, "stay", "20", a[5]);
	t0 = now_us();
	end = t0 + atof(a[4]) * 1e6;
	printf("up\n");
	fflush(stdout);
	while (now_us() < end) {
		while (begun - ended < 200 &&
		       begun < (now_us() - t0) * rate / 1000000) {
			begun++;
			if (start(a[0], rand() % n, "call", "20", a[5]) < 0)
				failed++, ended++;
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			ended++;
		usleep(1000);
	}
	for (unsigned int i = 0; i < p; i++)
		kill(stay[i], SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	printf("%lu started, %lu could not\n", begun, failed);
	return 0;
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* none outlives the test */
	if (argc == 8 && !strcmp(argv[1], "drive"))
		return drive(argv + 2);
	if (argc != 4)
		return 2;
	do {
		only_XXXXXXXX(atoi(argv[2]), atoi(argv[3]));
		if (!strcmp(argv[1], "stay"))
			usleep(1000000);
	} while (!strcmp(argv[1], "stay"));
	return 0;
}
