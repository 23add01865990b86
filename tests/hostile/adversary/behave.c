// SPDX-License-Identifier: Apache-2.0
/*
 * behave - processes that do anything, in an order that a seed chooses
 *
 * behave SEED DIR	about 30 processes at a time, each with a life of its own: it forks,
 *	execs itself from files and memory, makes and moves code, lies in perf maps and
 *	jitdumps, enters namespaces, mounts, renames itself, loses threads, stops, vanishes.
 * It goes on until it is killed.  What it makes is in DIR, which lies in a mount namespace of
 * its own with /tmp, if it may make one.  All names that it invents begin with bhv_.
 */
#include "tests/hostile/adversary/chain.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define AT_ONCE		30	/* children of the first process */
#define ACTS_MAX	40	/* in a life */
#define PROCESSES	300	/* RLIMIT_NPROC */
#define CODE		(1 << 16)

static uint64_t state;
static const char *dir;
static volatile unsigned long sink;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % n;
}

static __attribute__((noinline)) void burn(unsigned int depth)
{
	if (depth)
		burn(depth - 1);
	for (unsigned int i = 0; i < 100000; i++)
		sink += i * sink;
}

static void nap(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

/* --- processes ------------------------------------------------------------------ */

static void again(const char *path)
{
	char seed[32], name[64];

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)state);
	snprintf(name, sizeof(name), "bhv_%u", below(1000));
	execl(path, name, seed, dir, "life", NULL);
}

static void act_fork(void)
{
	pid_t p = fork();

	if (p)
		return;
	state ^= (uint64_t)getpid() << 20;
	if (below(2))
		setsid();
	burn(below(30));
	_exit(0);
}

static void act_vanish(void)
{
	pid_t p = vfork();

	if (!p)
		_exit(0);
	if (p > 0 && below(2))
		waitpid(p, NULL, 0);
}

static void act_exec(void)
{
	again("/proc/self/exe");
}

/* In a file that is gone by then, or in none. */
static void act_exec_other(void)
{
	unsigned char *image = NULL;
	char path[300];
	size_t len = 0;
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	struct stat st;

	if (from >= 0 && !fstat(from, &st)) {
		len = (size_t)st.st_size;
		image = malloc(len);
	}
	if (!image || read(from, image, len) != (ssize_t)len)
		return;
	snprintf(path, sizeof(path), "%s/bhv_%u", dir, below(1000));
	if (below(2))
		to = (int)syscall(SYS_memfd_create, "bhv_memory", 0);
	else
		to = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);
	/* a few bytes may be others, behind the program */
	if (to >= 0 && write(to, image, len) == (ssize_t)len && write(to, image, below(64)) >= 0) {
		char link[40];

		close(open("/dev/null", O_RDONLY));
		snprintf(link, sizeof(link), "/proc/self/fd/%d", to);
		from = open(link, O_RDONLY | O_CLOEXEC);
		close(to);
		if (from < 0)
			return;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", from);
		if (below(2))
			unlink(path);
		again(link);
	}
	free(image);
}

static void *thread(void *arg)
{
	burn((unsigned int)(uintptr_t)arg);
	if (below(4) == 0)
		prctl(PR_SET_NAME, "bhv_\x1b[2J;\n");
	return NULL;
}

static void act_threads(void)
{
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	for (uint32_t n = below(8); n > 0; n--)
		pthread_create(&t, &small, thread, (void *)(uintptr_t)below(20));
	if (below(20) == 0)
		pthread_exit(NULL);	/* the process goes on without a leader */
}

static void act_stop(void)
{
	pid_t p = fork();

	if (!p) {
		raise(SIGSTOP);
		burn(5);
		_exit(0);
	}
	nap(below(50));
	if (p > 0)
		kill(p, below(2) ? SIGCONT : SIGKILL);
}

static void act_name(void)
{
	char name[16] = "bhv_";

	for (int i = 4; i < 15; i++)
		name[i] = (char)(1 + below(255));
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_DUMPABLE, below(3) != 0);
}

/* --- memory ------------------------------------------------------------------------ */

/* Code that counts and returns; it may be moved, replaced, or go. */
static void act_code(void)
{
#if defined(__x86_64__)
	static const unsigned char loop[] = { 0xb9, 0, 0, 8, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
#else
	static const unsigned char loop[] = { 0xc0, 0x03, 0x5f, 0xd6 };	/* ret */
#endif
	unsigned char *m = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*fn)(void);

	if (m == MAP_FAILED)
		return;
	for (uint32_t n = below(20); n > 0; n--) {
		unsigned char *at = m + below(CODE - sizeof(loop)) / 16 * 16;

		memcpy(at, loop, sizeof(loop));
		__builtin___clear_cache((char *)at, (char *)at + sizeof(loop));
		memcpy(&fn, &at, sizeof(fn));
		fn();
		if (below(4) == 0)
			madvise(m, CODE, MADV_DONTNEED);
	}
	if (below(2))
		munmap(m, CODE);
}

static void act_stack(void)
{
	static struct link links[64];

	for (uint32_t i = 0; i < 64; i++) {
		links[i].next = &links[below(64)];
		links[i].ret = below(2) ? (uintptr_t)burn + below(64) : (uintptr_t)state;
	}
	chain_run(&links[0]);
}

/* The pages of our own text, and what the sampler reads of us, are not there. */
static void act_page_out(void)
{
	uintptr_t text = (uintptr_t)burn & ~4095UL;

	madvise((void *)text, 4096, MADV_DONTNEED);
#ifdef MADV_PAGEOUT
	madvise((void *)((uintptr_t)&state & ~4095UL), 4096, MADV_PAGEOUT);
#endif
	burn(3);
}

/* --- files ------------------------------------------------------------------------- */

static void act_lie(void)
{
	static const char *const names[] = {
		"/tmp/perf-%d.map", "%s/jit-%d.dump", "%s/libjvm.so", "%s/libpython3.11.so.1.0",
	};
	uint32_t which = below(4);
	char path[300];
	FILE *f;

	if (which == 0)
		snprintf(path, sizeof(path), names[0], (int)getpid());
	else
		snprintf(path, sizeof(path), names[which], dir, (int)getpid());
	if (below(8) == 0) {
		unlink(path);
		if (symlink(below(2) ? "/etc/shadow" : "/dev/zero", path))
			return;
		return;
	}
	f = fopen(path, "w");
	if (!f)
		return;
	for (uint32_t n = below(2000); n > 0; n--)
		fprintf(f, "%llx %x bhv_lie_%u\n", (unsigned long long)state >> below(64), below(1 << 20), n);
	if (below(2))
		fwrite(&state, sizeof(state), 1, f);
	fclose(f);
	if (which) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		void *m = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		burn(2);
		if (m != MAP_FAILED && below(2))
			munmap(m, 4096);
		if (fd >= 0)
			close(fd);
	}
}

/* Elsewhere: other numbers, other files below the same paths. */
static void act_namespaces(void)
{
	static const int kinds[] = { CLONE_NEWUSER, CLONE_NEWUSER | CLONE_NEWNS,
				     CLONE_NEWUSER | CLONE_NEWPID, CLONE_NEWUSER | CLONE_NEWUTS };
	char from[300];

	if (unshare(kinds[below(4)]))
		return;
	snprintf(from, sizeof(from), "%s", dir);
	if (below(2))
		mount("bh", from, "tmpfs", 0, "size=4m");
	if (below(4) == 0)
		mount(from, "/usr/lib/debug", NULL, MS_BIND, NULL);
	act_fork();
}

/* --- lives -------------------------------------------------------------------------- */

static void (*const acts[])(void) = {
	act_fork, act_vanish, act_exec, act_exec_other, act_threads, act_stop, act_name, act_code,
	act_stack, act_page_out, act_lie, act_namespaces,
};

static void live(void)
{
	for (uint32_t n = below(ACTS_MAX); n > 0; n--) {
		acts[below(sizeof(acts) / sizeof(*acts))]();
		burn(below(10));
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct rlimit most = { PROCESSES, PROCESSES }, files = { 4 << 20, 4 << 20 };
	uint32_t n = 0;

	if (argc < 3)
		return 1;
	state = strtoull(argv[1], NULL, 10);
	dir = argv[2];
	if (argc > 3)
		live();
	/* not the host's */
	mount("bh", "/tmp", "tmpfs", 0, "size=64m");
	if (setrlimit(RLIMIT_NPROC, &most) || setrlimit(RLIMIT_FSIZE, &files))
		return 1;
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		pid_t p = n < AT_ONCE ? fork() : -1;

		below(2);	/* each has a seed of its own */
		if (!p)
			live();
		if (p > 0) {
			n++;
			continue;
		}
		if (waitpid(-1, NULL, 0) > 0)
			n--;
		else
			nap(10);
	}
}
