// SPDX-License-Identifier: Apache-2.0
/*
 * chain - a known chain of ten functions, for the tests
 *
 * Built -O2 -fomit-frame-pointer.  `chain SECONDS` burns CPU in chain_10;
 * `chain SECONDS syscall` spends it in system calls made there.  With `rest` as the last
 * word it sleeps nine tenths of its time.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static char buf[1 << 16];

static __attribute__((noinline)) void chain_10(int syscalls, int fd)
{
	for (int i = 0; i < 200; i++) {
		if (syscalls) {
			if (read(fd, buf, sizeof(buf)) < 0)
				exit(1);
		} else {
			for (int k = 0; k < 2000; k++)
				sink += k * sink + i;
		}
	}
	__asm__ volatile("" ::: "memory");
}

/* each calls the next from the middle, so none is a tail call */
#define LINK(n, next, words)						\
static __attribute__((noinline)) void chain_##n(int s, int fd)		\
{									\
	volatile unsigned long pad[words];				\
									\
	pad[0] = sink + n;						\
	next(s, fd);							\
	sink += pad[0];							\
}
LINK(9, chain_10, 3)
LINK(8, chain_9, 40)
LINK(7, chain_8, 1)
LINK(6, chain_7, 500)
LINK(5, chain_6, 2)
LINK(4, chain_5, 9)
LINK(3, chain_4, 1)
LINK(2, chain_3, 70)
LINK(1, chain_2, 1)

/* Sleep so long that a tenth of the time since the last rest was CPU time, whatever a
 * round of the chain takes. */
static void rest(void)
{
	static clock_t used;
	clock_t now = clock();
	long ns = (long)(now - used) * 9 * (1000000000L / CLOCKS_PER_SEC);
	struct timespec t = { ns / 1000000000L, ns % 1000000000L };

	used = now;
	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 1;
	int syscalls = argc > 2 && !strcmp(argv[2], "syscall");
	int rests = argc > 2 && !strcmp(argv[argc - 1], "rest");
	int fd = open("/dev/zero", O_RDONLY);
	time_t end = time(NULL) + seconds;

	while (time(NULL) < end) {
		chain_1(syscalls, fd);
		if (rests)
			rest();
	}
	return 0;
}
