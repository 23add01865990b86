// SPDX-License-Identifier: Apache-2.0
/*
 * processes - too many, too short, and with numbers of others before them
 *
 * processes threads N	N threads, each awake now and then
 * processes short N	N processes in all, each a moment long; then again
 * processes exec N	N processes that are another program all the time
 * processes tiny N DIR	N executables, all different, one after the other
 * processes new DIR	new files, each run once and removed, as many as it can
 * processes lives	64 processes with files of their own, each dead after 1 to 20 ms
 * processes reuse	one after the other with the number of the one before, while
 * processes turn	root's, turns the numbers back
 * processes bomb N	all fork, always; N at a time
 * processes names DIR	paths of 4,095 bytes, names that mean something to faces
 * Each goes on until it is killed.
 */
#include "tests/hostile/adversary/chain.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#define AT_ONCE	64		/* children */
#define MARK	"mark_XXXXXXXX"	/* each copy of this file has another */

static const volatile char mark[] = MARK;
static volatile unsigned long sink;

static void burn(unsigned int loops)
{
	for (unsigned int i = 0; i < loops * 1000; i++)
		sink += i ^ (unsigned long)mark[i % 5];
}

static void *thread(void *arg)
{
	struct timespec t = { 0, 10000000 + (long)(uintptr_t)arg * 100000 };

	for (;;) {
		burn(20);
		nanosleep(&t, NULL);
	}
	return NULL;
}

static int threads(unsigned int n)
{
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (unsigned int i = 0; i < n; i++) {
		if (pthread_create(&t, &small, thread,
				   (void *)(uintptr_t)(i % 1000)))
			fprintf(stderr, "%u threads\n", i), n = i;
	}
	for (;;)
		pause();
	return 1;
}

/* At most AT_ONCE at a time; child() does not return. */
static int many(unsigned int n, void (*child)(unsigned int i, const char *arg),
		const char *arg)
{
	unsigned int up = 0;

	for (unsigned int i = 0;; i = (i + 1) % n) {
		pid_t pid = fork();

		if (!pid)
			child(i, arg);
		up += pid > 0;
		while (up && waitpid(-1, NULL, up < AT_ONCE && pid > 0 ?
				     WNOHANG : 0) > 0)
			up--;
	}
	return 1;
}

static void a_moment(unsigned int i, const char *arg)
{
	(void)arg;
	burn(1 + i % 50);
	_exit(0);
}

/* Another image every millisecond or so. */
static int exec_loop(unsigned int n, const char *self)
{
	while (n > 1 && fork())
		n--;
	burn(300);
	execl("/proc/self/exe", self, "exec", "1", NULL);
	return 1;
}

/* The next number is this one again, not in 30,000 forks. */
static int turn_back(void)
{
	const struct timespec t = { 0, 50000 };
	int fd = open("/proc/sys/kernel/ns_last_pid", O_RDWR | O_CLOEXEC);
	char first[16];
	ssize_t n = read(fd, first, sizeof(first));

	while (n > 0 && pwrite(fd, first, (size_t)n, 0) == n)
		nanosleep(&t, NULL);
	return 1;
}

/* Ends if numbers are not given again. */
static int reuse(void)
{
	unsigned int same = 0;
	pid_t last = 0, pid;

	for (unsigned int i = 1;; i++) {
		pid = fork();
		if (!pid)
			a_moment(i, NULL);
		if (waitpid(pid, NULL, 0) < 0)
			return 1;
		same += pid == last;
		last = pid;
		if (i >= 1000 && same < i / 16) {
			fprintf(stderr, "%u of %u\n", same, i);
			return 1;
		}
	}
	return 1;
}

/* N at a time, by whichever process forked; the first one stays. */
static int bomb(unsigned int n)
{
	const struct rlimit most = { n, n };
	pid_t first = getpid();

	if (setrlimit(RLIMIT_NPROC, &most))
		return 1;
	for (;;) {
		if (fork() < 0)
			burn(10);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (getpid() != first && chain_ns() / 1000 % 16 == 0)
			_exit(0);
	}
	return 1;
}

/* --- files -------------------------------------------------------------------- */

static unsigned char *image;
static size_t image_len;

/* It dies wherever we are with it: its file is asked for, listed, opened, read. */
static void a_life(unsigned int i, const char *arg)
{
	struct itimerval t = {
		.it_value.tv_usec = 1000 + (i * 7919 + getpid()) % 19000,
	};

	(void)arg;
	memcpy(image + 9, &i, 4);
	setitimer(ITIMER_REAL, &t, NULL);
	for (unsigned int k = 0;; k++)
		chain_load_fd(chain_file(image, image_len, image_len), image_len,
			      k);
}

static int write_image(const char *path, unsigned int number)
{
	unsigned char *at = memmem(image, image_len, "mark_", 5);
	char text[9];
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	ssize_t n;

	snprintf(text, sizeof(text), "%08x", number);
	if (at)
		memcpy(at + 5, text, 8);
	if (fd < 0)
		return -1;
	n = write(fd, image, image_len);
	close(fd);
	return n == (ssize_t)image_len ? 0 : -1;
}

static void a_file(unsigned int i, const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/tiny-%u", dir, i);
	if (access(path, X_OK))
		write_image(path, i);
	execl(path, path, "burn", NULL);
	_exit(1);
}

/* Removed while it runs: by its time of change it is another one then. */
static void a_new_file(unsigned int i, const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/new-%u", dir, i);
	write_image(path, i);
	execl(path, path, "once", NULL);
	_exit(1);
}

/* Down into directories with names of 255 bytes, by chdir(2). */
static void nest(const char *piece)
{
	char name[256];
	size_t len = strlen(piece);

	for (size_t i = 0; i < 255; i++)
		name[i] = piece[i % len];
	name[255] = '\0';
	for (int i = 0; i < 14; i++) {
		if ((mkdir(name, 0755) && errno != EEXIST) || chdir(name))
			return;
	}
}

static void a_name(unsigned int i, const char *dir)
{
	static const char *const names[] = {
		"</script><img src=x onerror=alert(1)>", "\x1b[2J\x1b]0;x\x07",
		"a\nb;c d 99999\n", "\xff\xfe\xc3\x28\xed\xa0\x80", "%s%n%x",
		"\"],\"x\":[\"", "\xe2\x80\xae" "evil", "[stack ends: no_table]",
	};
	const char *name = names[i % (sizeof(names) / sizeof(*names))];
	char exe[32];

	if (chdir(dir))
		_exit(1);
	for (const char *c = name; i % 16 < 8; c++) {
		if (!*c) {
			nest(name);
			break;
		}
		if (*c == '/')
			break;
	}
	snprintf(exe, sizeof(exe), "./%.20s", name[0] == '<' ? name + 9 : name);
	if (access(exe, X_OK))
		write_image(exe, i);
	execl(exe, name, "burn", name, NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int n = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;

	if (!strcmp(what, "burn")) {
		if (argc > 2)
			prctl(PR_SET_NAME, argv[2]);
		burn(argc > 2 ? 5000 : 2000);
		return 0;
	}
	if (!strcmp(what, "once")) {
		unlink(argv[0]);
		burn(50);
		return 0;
	}
	if (!strcmp(what, "threads"))
		return threads(n);
	if (!strcmp(what, "short") && n)
		return many(n, a_moment, NULL);
	if (!strcmp(what, "exec") && n)
		return exec_loop(n, argv[0]);
	if (!strcmp(what, "reuse"))
		return reuse();
	if (!strcmp(what, "turn"))
		return turn_back();
	if (!strcmp(what, "bomb") && n > 1)
		return bomb(n);
	image = chain_image(&image_len);
	if (!strcmp(what, "lives"))
		return many(1 << 30, a_life, NULL);
	if (!strcmp(what, "new") && argc > 2)
		return many(1 << 30, a_new_file, argv[2]);
	if (!strcmp(what, "tiny") && n && argc > 3)
		return many(n, a_file, argv[3]);
	if (!strcmp(what, "names") && argc > 2)
		return many(16, a_name, argv[2]);
	return 2;
}
