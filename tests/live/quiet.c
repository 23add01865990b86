// SPDX-License-Identifier: Apache-2.0
/* A service that is told what to do: each line of its input is the number of a function and so
 * many milliseconds of CPU time in it, and is answered by a line.  Or with an argument: so many
 * milliseconds in the first function, and no service. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long n;

#define FUNCTION(name)				\
__attribute__((noinline)) void name(void)	\
{						\
	for (int i = 0; i < 1000; i++)		\
		n += n / 3 + 1;			\
}
void only_XXXXXXXX(void);
void second(void);
void third(void);
FUNCTION(only_XXXXXXXX)
FUNCTION(second)
FUNCTION(third)

static void work(int which, int ms)
{
	static void (*const functions[])(void) = { only_XXXXXXXX, second, third };
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * ms;

	while (clock() < end)
		functions[which % 3]();
}

int main(int argc, char **argv)
{
	int which, ms;

	if (argc > 1)
		work(0, atoi(argv[1]));
	while (argc == 1 && scanf("%d %d", &which, &ms) == 2) {
		work(which, ms);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
