// SPDX-License-Identifier: Apache-2.0
/* moments NAME MOMENT: one function a moment, named as the moment is. */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "busy.h"

LINK static void leaf(void)
{
	for (int i = 0; i < 20; i++)
		spin();
}

LINK static void in_call(void)
{
	for (int i = 0; i < 1000; i++)
		sink += getppid();
}

LINK static void in_vdso(void)
{
	struct timespec t;

	for (int i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		sink += t.tv_nsec;
	}
}

LINK static void child(void)
{
	leaf();
	sink++;
}

LINK static void in_vfork(void)
{
	if (!vfork()) {
		child();
		_exit(0);
	}
	wait(NULL);	/* and with it its CPU time is known */
	sink++;
}

LINK static void realigned(void)
{
	volatile char pad[640] __attribute__((aligned(64)));

	pad[0] = sink;
	leaf();
	sink += pad[0];
}

LINK static void allocates(void)
{
	volatile char *p = alloca(100 + sink % 1000);

	p[0] = sink;
	leaf();
	sink += p[0];
}

/* gcc's vla with an aligned local: both at once */
LINK static void allocates_aligned(void)
{
	volatile char pad[128] __attribute__((aligned(128)));
	volatile char *p = alloca(100 + sink % 1000);

	p[0] = pad[0] = sink;
	leaf();
	sink += p[0] + pad[0];
}

LINK static void apply(void (*fn)(void))
{
	fn();
	sink++;
}

LINK static void nests(void)
{
	unsigned long mine = sink;
	void inner(void)
	{
		mine++;
		leaf();
		mine++;
	}

	apply(inner);
	sink += mine;
}

static jmp_buf env;

LINK static void jumps_back(void)
{
	sink++;
	longjmp(env, 1);
}

LINK static void jumps(void)
{
	for (volatile int i = 0; i < 1000; i++) {
		if (!setjmp(env))
			jumps_back();
	}
}

__attribute__((noreturn)) LINK static void never_returns(void)
{
	for (;;)
		leaf();
}

/* ends with a call: the return address is of the next function */
__attribute__((noreturn)) LINK static void last(void)
{
	sink++;
	never_returns();
}

LINK static void deeper(int n)
{
	volatile unsigned long pad[2] = { sink };

	if (n > 0)
		deeper(n - 1);
	else
		leaf();
	sink += pad[0];
}

LINK static void deep(void)
{
	deeper(1100);
	sink++;
}

LINK static void fits(void)
{
	deeper(1000);
	sink++;
}

static void *thread_main(void *arg)
{
	for (;;)
		leaf();
	return arg;
}

LINK static void threads(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread_main, NULL);
	pthread_join(t, NULL);
}

static void *short_life(void *arg)
{
	sink++;
	return arg;
}

LINK static void begins(void)
{
	pthread_t t;

	pthread_create(&t, NULL, short_life, NULL);
	pthread_join(t, NULL);
}

#ifdef __GLIBC__	/* musl has no contexts */
static ucontext_t home, away;

static void coroutine(void)
{
	for (;;) {
		leaf();
		swapcontext(&away, &home);
	}
}

LINK static void switches(void)
{
	getcontext(&away);
	away.uc_stack.ss_sp = malloc(65536);
	away.uc_stack.ss_size = 65536;
	away.uc_link = &home;
	makecontext(&away, coroutine, 0);
	for (;;) {
		swapcontext(&home, &away);
		leaf();
	}
}

#else
#define switches threads
#endif

LINK static void storm(const char *exe)
{
	if (!vfork()) {
		execl(exe, exe, NULL);
		_exit(1);
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	sink++;
}

static const struct moment {
	const char *name;
	void (*fn)(void);
} moments[] = {
	{ "in_call", in_call }, { "in_vdso", in_vdso },
	{ "in_vfork", in_vfork }, { "realigned", realigned },
	{ "allocates", allocates }, { "allocates_aligned", allocates_aligned },
	{ "nests", nests }, { "jumps", jumps }, { "last", last },
	{ "deep", deep }, { "fits", fits }, { "threads", threads },
	{ "switches", switches }, { "begins", begins },
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	be_called(argv[1]);
	for (unsigned int i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
		while (!strcmp(argv[2], moments[i].name))
			moments[i].fn();
	}
	for (;;)
		storm(argv[2]);
}
