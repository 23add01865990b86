// SPDX-License-Identifier: Apache-2.0
/*
 * signals NAME HOW: a timer interrupts interrupted(), the handler takes long.
 * HOW: plain; nested: it raises another signal; fault: interrupted() faults;
 * bad-call: it calls what is not there;
 * alternate: on a stack of its own, below the thread's; above: above it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "busy.h"

#define STACK	(1 << 20)
#define LOW	((void *)0x10000000)	/* below all else */

static sigjmp_buf before;
static int nested, fault;
static void (*volatile nowhere)(void);

LINK static void in_second(void)
{
	for (int i = 0; i < 51; i++)	/* not the same as in_handler() */
		spin();
}

static void second(int sig)
{
	in_second();
	sink += sig;
}

LINK static void in_handler(void)
{
	for (int i = 0; i < 50; i++)
		spin();
}

static void handler(int sig)
{
	if (nested)
		raise(SIGUSR1);
	in_handler();
	sink += sig;
	if (fault)
		siglongjmp(before, 1);
}

LINK static void interrupted(void)
{
	volatile unsigned long pad[7] = { sink };

	if (fault > 1)
		nowhere();
	if (fault)
		*(volatile int *)8 = 1;
	for (int i = 0; i < 20; i++)
		spin();
	sink += pad[0];
}

static void timer_signal(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGVTALRM);
	pthread_sigmask(how, &set, NULL);
}

LINK static void *outer(void *alternate)
{
	stack_t alt = { .ss_sp = alternate, .ss_size = STACK };

	timer_signal(SIG_UNBLOCK);
	if (alternate)
		sigaltstack(&alt, NULL);
	for (;;) {
		sigsetjmp(before, 1);
		interrupted();
	}
	return NULL;
}

static void *pages(void *at)
{
	return mmap(at, STACK, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0),
		    -1, 0);
}

/* A thread on a stack that lies below everything.  The timer's signal is the
 * process's: while the thread is in its handler, this one would get it. */
LINK static void low_thread(void)
{
	pthread_attr_t attr;
	pthread_t t;

	timer_signal(SIG_BLOCK);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, pages(LOW), STACK);
	pthread_create(&t, &attr, outer, pages(NULL));
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	const char *how = argc > 2 ? argv[2] : "plain";

	be_called(argv[1]);
	nested = !strcmp(how, "nested");
	fault = !strcmp(how, "fault") ? 1 : !strcmp(how, "bad-call") ? 2 : 0;
	sigaction(SIGVTALRM, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sa.sa_handler = second;
	sigaction(SIGUSR1, &sa, NULL);
	if (!fault)
		setitimer(ITIMER_VIRTUAL, &often, NULL);
	if (!strcmp(how, "above")) {
		low_thread();
		return 0;
	}
	outer(!strcmp(how, "alternate") ? malloc(STACK) : NULL);
	return 0;
}
