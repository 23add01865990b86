// SPDX-License-Identifier: Apache-2.0
/*
 * moved NAME HOW: text that its program has copied to memory of its own, at the same
 * addresses, as programs do that want it on huge pages.  HOW: anonymous, or memfd: a file
 * without a name, as hugetlbfs has them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "busy.h"

#define PAGE	4096
#define MOVED	__attribute__((section(".text.moved"), aligned(PAGE)))
#define STAYS	__attribute__((section(".text.stays"), aligned(PAGE)))

LINK MOVED static void leaf(void)
{
	for (int i = 0; i < 100; i++)
		spin();
}

LINK MOVED static void middle(void)
{
	volatile unsigned long pad[30] = { sink };

	leaf();
	sink += pad[0];
}

LINK MOVED static void outer(void)
{
	volatile unsigned long pad[11] = { sink };

	middle();
	sink += pad[0];
}

LINK STAYS static void move(const char *how)
{
	char *from = (char *)outer, *to = (char *)outer + PAGE;
	char *of[] = { (char *)leaf, (char *)middle };
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *copy;

	for (int i = 0; i < 2; i++) {
		from = of[i] < from ? of[i] : from;
		to = of[i] + PAGE > to ? of[i] + PAGE : to;
	}
	if (!strcmp(how, "memfd")) {
		fd = memfd_create("huge", 0);
		flags = MAP_SHARED;
		if (ftruncate(fd, to - from))
			exit(1);
	}
	copy = mmap(NULL, (size_t)(to - from), PROT_READ | PROT_WRITE, flags, fd, 0);
	if (copy == MAP_FAILED)
		exit(1);
	memcpy(copy, from, (size_t)(to - from));
	if (mprotect(copy, (size_t)(to - from), PROT_READ | PROT_EXEC) ||
	    mremap(copy, (size_t)(to - from), (size_t)(to - from),
		   MREMAP_MAYMOVE | MREMAP_FIXED, from) == MAP_FAILED)
		exit(1);
}

STAYS int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	move(argv[2]);
	be_called(argv[1]);
	for (;;)
		outer();
}
