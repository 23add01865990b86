// SPDX-License-Identifier: Apache-2.0
/*
 * jit NAME HOW: code in anonymous memory, called by C without frame pointers.
 * HOW: loop: it burns the time; callback: it calls back into C; chain: three of
 * it; bare: a loop without a frame pointer, above data of its own; memfd: a loop
 * in a memfd, as runtimes do that write and run code at two addresses; zero,
 * memfd-zero: it calls back into C with 0 where a frame pointer would be.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "busy.h"

#define TIMES 0x40, 0x42, 0x0f, 0	/* 1,000,000 */

static const unsigned char loop[] = {
	0x55, 0x48, 0x89, 0xe5,			/* push rbp; mov rbp, rsp */
	0xb9, TIMES, 0xff, 0xc9, 0x75, 0xfc,	/* mov ecx; dec ecx; jnz */
	0x5d, 0xc3,				/* pop rbp; ret */
};
static const unsigned char callback[] = {	/* call the first argument */
	0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3,
};
static const unsigned char chain[] = {		/* ... with the second */
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7,
	0x48, 0x89, 0xd6, 0xff, 0xd0, 0x5d, 0xc3,
};
static const unsigned char bare[] = {
	0x6a, 0, 0x6a, 0, 0x6a, 0,		/* push 0, three times */
	0xb9, TIMES, 0xff, 0xc9, 0x75, 0xfc,
	0x48, 0x83, 0xc4, 24, 0xc3,		/* add rsp, 24; ret */
};
static const unsigned char zero[] = {
	0x55, 0x31, 0xed, 0xff, 0xd7,		/* push rbp; xor ebp, ebp; call rdi */
	0x5d, 0xc3,				/* pop rbp; ret */
};

typedef void jit_fn(void *, void *, void *);

LINK static void leaf(void)
{
	spin();
}

LINK static void called_back(void)
{
	leaf();
	sink++;
}

static void *code(const void *bytes, size_t len)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(p, bytes, len);
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	return p;
}

static void *code_in_memfd(const void *bytes, size_t len)
{
	int fd = memfd_create("code", 0);

	if (ftruncate(fd, 4096) || pwrite(fd, bytes, len, 0) != (ssize_t)len)
		exit(1);
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
}

LINK static void outer(void *fn, void *a, void *b, void *c)
{
	volatile unsigned long pad[11] = { sink };

	((jit_fn *)fn)(a, b, c);
	sink += pad[0];
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "loop";
	void *jit_loop = code(loop, sizeof(loop));
	void *jit_back = code(callback, sizeof(callback));
	void *jit_chain = code(chain, sizeof(chain));
	void *jit_bare = code(bare, sizeof(bare));
	void *jit_memfd = code_in_memfd(loop, sizeof(loop));
	void *jit_zero = code(zero, sizeof(zero));
	void *jit_memfd_zero = code_in_memfd(zero, sizeof(zero));

	be_called(argv[1]);
	for (;;) {
		if (!strcmp(how, "loop"))
			outer(jit_loop, NULL, NULL, NULL);
		else if (!strcmp(how, "memfd"))
			outer(jit_memfd, NULL, NULL, NULL);
		else if (!strcmp(how, "callback"))
			outer(jit_back, called_back, NULL, NULL);
		else if (!strcmp(how, "chain"))
			outer(jit_chain, jit_chain, jit_back, called_back);
		else if (!strcmp(how, "zero"))
			outer(jit_zero, called_back, NULL, NULL);
		else if (!strcmp(how, "memfd-zero"))
			outer(jit_memfd_zero, called_back, NULL, NULL);
		else
			outer(jit_bare, NULL, NULL, NULL);
	}
}
