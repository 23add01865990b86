// SPDX-License-Identifier: Apache-2.0
/*
 * mute - a file system of one's own that stops to answer
 *
 * mute DIR FUSE [lock]	FUSE: a device node of /dev/fuse that this user may open
 * Mounts it at DIR and where debug files are (with mounts of its own:
 * unshare -Urm); maps a file of it that is never read, as code of which the
 * program needs none and as a stack that leads there.
 * lock: instead it keeps its mmap lock for ever, and runs in a file that is new.
 * Goes on until it is killed; 77: no FUSE for this user.
 */
#include "tests/hostile/adversary/chain.h"
#include "tests/hostile/mute_files.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>

#define DEBUG	"/usr/lib/debug"

static void *read_own_memory(void *page)
{
	char c;
	int fd = open("/proc/self/mem", O_RDONLY);

	/* the kernel holds the mmap lock while it waits for the page */
	return (void *)(intptr_t)pread(fd, &c, 1, (off_t)(uintptr_t)page);
}

static void *map_something(void *arg)
{
	(void)arg;
	usleep(200000);
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* A process that is sampled, with a file that nobody knows, while nobody gets its mmap
 * lock: one thread has it to read and does not give it back, and another waits to write. */
static _Noreturn void keep_mmap_lock(const char *dir, const void *image, size_t len)
{
	pthread_t reader, writer;
	char path[4096], *code;
	struct link links[1] = { { NULL, 0 } };
	void *page;
	int fd, file = chain_file(image, len, len);

	snprintf(path, sizeof(path), "%s/held", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	code = chain_map(len, PROT_READ | PROT_EXEC, file);
	chain_run(links);	/* later on no page fault ends */
	if (page == MAP_FAILED || !code ||
	    pthread_create(&reader, NULL, read_own_memory, page) ||
	    pthread_create(&writer, NULL, map_something, NULL))
		_exit(1);
	usleep(500000);
	chain_through(links, 1, &code, 1);
	for (;;) {
		fchmod(file, 0755);	/* to others it is another file now */
		chain_run(links);
	}
}

int main(int argc, char **argv)
{
	size_t len;
	unsigned char *image = chain_image(&len);
	char path[4096], *code, *data;
	struct link links[64];
	int fd;

	if (argc < 3)
		return 2;
	snprintf(path, sizeof(path), "%s/code", argv[1]);
	if (mute_files(argv[2], argv[1]) < 0) {
		perror("fuse");
		return 77;
	}
	if (argc > 3)
		keep_mmap_lock(argv[1], image, len);
	if (mute_files(argv[2], DEBUG) < 0)
		perror(DEBUG);
	for (unsigned int i = 0;; i++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		code = chain_map(MUTE_SIZE, PROT_READ | PROT_EXEC, fd);
		data = chain_map(MUTE_SIZE, PROT_READ | PROT_WRITE, fd);
		if (fd < 0 || !code || !data)
			return 1;
		close(fd);
		chain_through(links, 64, &code, 1);
		links[32].next = (const struct link *)(data + i % MUTE_SIZE / 16 * 16);
		chain_run(links);
		/* a file without symbols: its debug file is looked for */
		memcpy(image + 9, &i, 4);
		chain_load_fd(chain_file(image, len, len), len, i);
		munmap(code, MUTE_SIZE);
		munmap(data, MUTE_SIZE);
	}
	return 1;
}
