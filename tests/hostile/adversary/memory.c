// SPDX-License-Identifier: Apache-2.0
/*
 * memory - address spaces that only an attack has
 *
 * memory grow	330 executable mappings and files that change their sizes, all in one stack
 * memory maps N	N mappings, in as many processes as that takes
 * memory files N	N mapped files, each in some stack
 * memory stacks	stacks that are their own callers, go down, fault, never end
 * memory churn	code that moves, changes and vanishes while it runs
 * memory guesses	a stack on which all callers are guessed, as many words apart as that takes
 * Each goes on until it is killed.
 */
#include "tests/hostile/adversary/chain.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define PAGE	4096
#define DEPTH	1000
#define EXEC	(PROT_READ | PROT_EXEC)
#define A_PROCESS	50000	/* mappings; vm.max_map_count is 65,530 */

static struct link *links;	/* on the stack of main(): frame pointers go up */

static int file_of_pages(size_t n, unsigned int number)
{
	int fd = memfd_create("adversary", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)(n * PAGE)) ||
	    pwrite(fd, &number, sizeof(number), 0) < 0)
		exit(1);
	return fd;
}

/* A file's size is part of what it is known by: each turn they are all new. */
static int grow(void)
{
	enum { N = 330, MOST = 8 };
	static char *at[N];
	static size_t lens[N];
	static int fds[N];

	for (int i = 0; i < N; i++)
		fds[i] = file_of_pages(MOST, (unsigned int)i);
	for (unsigned int turn = 0;; turn++) {
		for (unsigned int i = 0; i < N; i++) {
			size_t len = (1 + (turn + i) % MOST) * PAGE;

			if (at[i])
				munmap(at[i], lens[i]);
			if (ftruncate(fds[i], MOST * PAGE + turn % 1000))
				return 1;
			at[i] = chain_map(len, EXEC, fds[i]);
			lens[i] = len;
			if (!at[i])
				return 1;
		}
		chain_through(links, DEPTH, at, N);
		chain_run(links);
	}
	return 1;
}

/* No two that lie side by side have the same rights, so none are joined. */
static int maps(size_t n)
{
	static char *at[A_PROCESS / 2];
	size_t have = 0;

	while (n > A_PROCESS && fork())
		n -= A_PROCESS;
	if (n > A_PROCESS)
		n = A_PROCESS;
	for (size_t i = 0; i < n / 2; i++) {
		char *p = chain_map(PAGE, EXEC, -1);

		if (!p || !chain_map(PAGE, PROT_READ, -1))
			break;
		at[have++] = p;
	}
	for (size_t i = 0; have > DEPTH; i++) {
		chain_through(links, DEPTH, at + i * DEPTH % (have - DEPTH),
			      DEPTH);
		chain_run(links);
	}
	return 1;
}

static int files(size_t n)
{
	static char *at[A_PROCESS];
	unsigned int first = 0;
	size_t have = 0;

	while (n > A_PROCESS && fork()) {
		n -= A_PROCESS;
		first += A_PROCESS;
	}
	if (n > A_PROCESS)
		n = A_PROCESS;
	for (size_t i = 0; i < n; i++) {
		int fd = file_of_pages(1, first + (unsigned int)i);
		char *p = chain_map(PAGE, EXEC, fd);

		close(fd);
		if (p)
			at[have++] = p;
		if (have >= DEPTH && have % DEPTH == 0) {
			chain_through(links, DEPTH, at + have - DEPTH, DEPTH);
			chain_run(links);
		}
	}
	for (size_t i = 0; have >= DEPTH; i++) {
		chain_through(links, DEPTH, at + i * DEPTH % have, DEPTH);
		chain_run(links);
	}
	return 1;
}

/* A page that answers no fault, if this user may have one. */
static void *mute_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	void *p = chain_map(PAGE, PROT_READ | PROT_WRITE, -1);
	struct uffdio_register reg = {
		.range = { (uintptr_t)p, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		fprintf(stderr, "no userfaultfd\n");
	return p;
}

static int stacks(void)
{
	static char *code[1];
	struct link *hole = chain_map(PAGE, PROT_NONE, -1), *mute = mute_page();
	const struct link *const odd[] = {
		links, links + DEPTH - 1, hole, mute, (void *)8,
		(void *)((char *)links + 3), (void *)0xffffffff81000000,
		(void *)0x8000000000000000, (void *)-8,
	};
	size_t n = sizeof(odd) / sizeof(*odd);

	code[0] = chain_map(PAGE, EXEC, file_of_pages(1, 1));
	for (size_t i = 0;; i++) {
		chain_through(links, DEPTH, code, 1);
		/* each leads to each, from the top, the middle and the end */
		links[i / n % 3 * (DEPTH / 2) % DEPTH].next = odd[i % n];
		links[DEPTH - 1].next = odd[(i + 1) % n];
		if (i % 5 == 4)		/* downwards */
			for (int k = 1; k < DEPTH; k++)
				links[k].next = &links[k - 1];
		chain_run(i % 7 == 6 ? odd[i % n] : i % 5 == 4 ?
			  &links[DEPTH - 1] : links);
	}
	return 1;
}

/* Code in a file that is rewritten, moved and taken away. */
static int churn(void)
{
	static const unsigned char spin[] = {
#ifdef __x86_64__
		0xb9, 0, 0, 8, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3,
#else
		0x00, 0x01, 0xa0, 0xd2, 0x00, 0x04, 0x00, 0xf1,
		0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6,
#endif
	};

	for (unsigned int turn = 0;; turn++) {
		int fd = file_of_pages(4, turn);
		size_t in = 64 + turn * 16 % (2 * PAGE);
		char *p = chain_map(4 * PAGE, PROT_READ | PROT_WRITE, fd), *q;

		if (!p)
			return 1;
		memcpy(p + in, spin, sizeof(spin));
		mprotect(p, 4 * PAGE, EXEC);
		__builtin___clear_cache(p, p + 4 * PAGE);
		((void (*)(void))(p + in))();
		q = mremap(p, 4 * PAGE, 3 * PAGE, MREMAP_MAYMOVE);
		ftruncate(fd, turn % 2 ? 4 * PAGE : 3 * PAGE);
		((void (*)(void))(q + in))();
		mprotect(q, PAGE, PROT_NONE);
		munmap(q, 3 * PAGE);
		close(fd);
	}
	return 1;
}

#ifdef __x86_64__
#define GUESSES		8	/* of a sample: GUESSES_MAX in bpf/frame.h */
#define APART		16	/* words: all are looked at, GUESS_WORDS in bpf/guess.bpf.h */
#define ABOVE		128	/* words above main()'s frame: they lead to a root */

void guesses_spin(const uintptr_t *sp, unsigned long n);
extern const char guesses_ret[];

__asm__(".text\n"
	"guesses_spin:\n"
	"	push %rbx\n	push %rbp\n"
	"	mov %rsp, %rbx\n	mov %rdi, %rsp\n	mov $3, %ebp\n"
	"1:	dec %rsi\n	jnz 1b\n"
	"	mov %rbx, %rsp\n	pop %rbp\n	pop %rbx\n	ret\n"
	"	call *%rax\n"		/* may go anywhere */
	"guesses_ret:\n	ret\n");

/* frame: main()'s.  Addresses of code that no call is before, a return address, and so on. */
static int guesses(const uintptr_t *frame)
{
	static uintptr_t stack[4096 + (GUESSES - 1) * APART + ABOVE];
	uintptr_t *at = stack + 4096;	/* below it signals have room */

	for (int i = 0; i < (GUESSES - 1) * APART; i++)
		*at++ = (uintptr_t)guesses_ret + (i % APART == APART - 1 ? 0 : 1);
	memcpy(at, frame + 1, ABOVE * sizeof(*at));
	for (;;)
		guesses_spin(stack + 4096, 10000000);
	return 1;
}
#else
static int guesses(const uintptr_t *frame)
{
	return frame ? 77 : 1;	/* there are none */
}
#endif

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct link on_stack[DEPTH] = { 0 };
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	links = on_stack;
	if (!strcmp(what, "grow"))
		return grow();
	if (!strcmp(what, "maps") && n > 2 * DEPTH)
		return maps(n);
	if (!strcmp(what, "files") && n > DEPTH)
		return files(n);
	if (!strcmp(what, "stacks"))
		return stacks();
	if (!strcmp(what, "churn"))
		return churn();
	if (!strcmp(what, "guesses"))
		return guesses(__builtin_frame_address(0));
	return 2;
}
