// SPDX-License-Identifier: Apache-2.0
/* A program of two phases: first(), from SIGUSR1 on second().  Or with a number:
 * so many milliseconds of CPU time in a function that tells copies of it apart. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static volatile sig_atomic_t go;
static volatile unsigned long n;

#define FUNCTION(name)				\
__attribute__((noinline)) void name(void)	\
{						\
	for (int i = 0; i < 1000; i++)		\
		n += n / 3 + 1;			\
}
void first(void);
void second(void);
void only_XXXXXXXX(void);
FUNCTION(first)
FUNCTION(second)
FUNCTION(only_XXXXXXXX)

static void on_signal(int s)
{
	(void)s;
	go = 1;
}

int main(int argc, char **argv)
{
	clock_t end = argc > 1 ? CLOCKS_PER_SEC / 1000 * atoi(argv[1]) : 0;

	signal(SIGUSR1, on_signal);
	while (argc > 1 && clock() < end)
		only_XXXXXXXX();
	while (argc == 1) {
		if (go)
			second();
		else
			first();
	}
	return 0;
}
