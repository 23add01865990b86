// SPDX-License-Identifier: Apache-2.0
/*
 * load MODE SECONDS - burns CPU where stacks are less plain
 *
 *	threads	main() and two threads, where thread_main() calls thread_work()
 *	vdso	main() calls ask_time(), which is in the vDSO most of the time
 *	signal	main() calls wait_for_alarm(); the handler, on a stack of its
 *		own, calls handler_work()
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile unsigned long sink;
static time_t end;

static void burn(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink += i * sink;
}

static __attribute__((noinline)) void thread_work(void)
{
	while (time(NULL) < end)
		burn(20000);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void *thread_main(void *arg)
{
	thread_work();
	sink += 1;
	return arg;
}

static int threads(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++) {
		if (pthread_create(&t[i], NULL, thread_main, NULL))
			return 1;
	}
	thread_work();	/* a process is called by its first thread's name */
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static __attribute__((noinline)) void ask_time(void)
{
	struct timespec ts;

	do {
		clock_gettime(CLOCK_REALTIME, &ts);
		sink += ts.tv_nsec;
	} while (ts.tv_sec < end);
}

static __attribute__((noinline)) void handler_work(void)
{
	burn(400000);
	__asm__ volatile("" ::: "memory");
}

/*
 * The next alarm comes 4 ms after this handler's end, of the time that the
 * process has run: where handler_work() takes longer than that, an interval would
 * leave no time for anything else, main()'s end least of all.
 */
static int set_alarm(void)
{
	struct itimerval it = { .it_value = { 0, 4000 } };

	return setitimer(ITIMER_PROF, &it, NULL);
}

static void on_alarm(int sig)
{
	handler_work();
	sink += sig + set_alarm();
}

static __attribute__((noinline)) void wait_for_alarm(void)
{
	while (time(NULL) < end)
		burn(1000);
	__asm__ volatile("" ::: "memory");
}

static int signals(void)
{
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_handler = on_alarm,
				.sa_flags = SA_ONSTACK | SA_RESTART };
	if (sigaltstack(&ss, NULL) || sigaction(SIGPROF, &sa, NULL) || set_alarm())
		return 1;
	wait_for_alarm();
	return signal(SIGPROF, SIG_IGN) == SIG_ERR;	/* none while it exits */
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int r = 2;

	end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 1);
	if (!strcmp(mode, "threads"))
		r = threads();
	else if (!strcmp(mode, "signal"))
		r = signals();
	else if (!strcmp(mode, "vdso"))
		ask_time(), r = 0;
	sink += r;
	return r;
}
