/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain - a stack of an adversary's choice
 *
 * chain_run() burns CPU with the frame pointer at a chain of its own making.
 * Built without unwind tables, so that the frame pointer is what is believed.
 */
#ifndef TESTS_ADVERSARY_CHAIN_H
#define TESTS_ADVERSARY_CHAIN_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct link {			/* as the ABIs have it */
	const struct link *next;
	uintptr_t ret;
};

#define CHAIN_MS	10

static inline uint64_t chain_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void chain_run(const struct link *at)
{
	uint64_t end = chain_ns() + CHAIN_MS * 1000000;

	do {
		unsigned long n = 1000000;
#ifdef __x86_64__
		__asm__ volatile("push %%rbp\n\tmov %1, %%rbp\n"
				 "1:\tdec %0\n\tjnz 1b\n\tpop %%rbp"
				 : "+r"(n) : "r"(at) : "memory", "cc");
#else
		__asm__ volatile("stp x29, x30, [sp, -16]!\n\tmov x29, %1\n"
				 "1:\tsubs %0, %0, #1\n\tb.ne 1b\n\t"
				 "ldp x29, x30, [sp], 16"
				 : "+r"(n) : "r"(at) : "memory", "cc");
#endif
	} while (chain_ns() < end);
}

/* n links upwards, through these places in turn. */
static inline void chain_through(struct link *v, size_t n, char *const *at,
				 size_t n_at)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (struct link){ i + 1 < n ? &v[i + 1] : NULL,
				      (uintptr_t)at[i % n_at] + 8 };
}

/* len bytes of a file, or of nothing if fd < 0; NULL: no room. */
static inline void *chain_map(size_t len, int prot, int fd)
{
	void *p = mmap(NULL, len, prot, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS :
		       MAP_PRIVATE, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* --- files in a stack ------------------------------------------------------ */

#define CHAIN_LOADED	64	/* mapped at a time */

/* A file that is mapped in place of one before it and burns CPU: sample after
 * sample has it, so it is opened and parsed.  Closes fd. */
static inline void chain_load_fd(int fd, size_t len, unsigned int i)
{
	static char *at[CHAIN_LOADED];
	static size_t lens[CHAIN_LOADED];
	struct link links[CHAIN_LOADED];

	i %= CHAIN_LOADED;
	if (at[i])
		munmap(at[i], lens[i]);
	at[i] = chain_map(len, PROT_READ | PROT_EXEC, fd);
	lens[i] = len;
	close(fd);
	if (!at[i])
		exit(1);
	chain_through(links, i + 1, at, i + 1);
	chain_run(links);
}

/* A file without a name, of this content, padded with zeros to its size. */
static inline int chain_file(const void *data, size_t len, uint64_t size)
{
	int fd = memfd_create("adversary", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len ||
	    ftruncate(fd, (off_t)size))
		exit(1);
	return fd;
}

/* Our own executable; to be freed never. */
static inline unsigned char *chain_image(size_t *len)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned char *image;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		exit(1);
	*len = (size_t)st.st_size;
	image = malloc(*len);
	if (!image || read(fd, image, *len) != st.st_size)
		exit(1);
	close(fd);
	return image;
}

#endif /* TESTS_ADVERSARY_CHAIN_H */
