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

#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>

#define SIZE	(1u << 20)
#define FILE_ID	2
#define HELD_ID	3
#define DEBUG	"/usr/lib/debug"

struct answer {
	struct fuse_out_header h;
	union {
		struct fuse_init_out init;
		struct fuse_entry_out entry;
		struct fuse_attr_out attr;
		struct fuse_open_out open;
	} u;
};

static struct fuse_attr attr_of(uint64_t id)
{
	return (struct fuse_attr){
		.ino = id, .size = SIZE, .nlink = 1, .blksize = 4096,
		.mode = id == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755,
	};
}

/* Bytes of the answer after its header; -1: there is none, ever. */
static int answer(const struct fuse_in_header *in, struct answer *a)
{
	uint64_t id;

	switch (in->opcode) {
	case FUSE_INIT:
		a->u.init = (struct fuse_init_out){
			.major = FUSE_KERNEL_VERSION,
			.minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096,
		};
		return sizeof(a->u.init);
	case FUSE_LOOKUP:
		/* of debug files nothing is told */
		if (!strcmp((const char *)(in + 1), "code"))
			id = FILE_ID;
		else if (!strcmp((const char *)(in + 1), "held"))
			id = HELD_ID;
		else
			return -1;
		a->u.entry = (struct fuse_entry_out){
			.nodeid = id, .entry_valid = 3600,
			.attr_valid = 3600, .attr = attr_of(id),
		};
		return sizeof(a->u.entry);
	case FUSE_GETATTR:
		a->u.attr = (struct fuse_attr_out){
			.attr_valid = 3600, .attr = attr_of(in->nodeid),
		};
		return sizeof(a->u.attr);
	case FUSE_OPEN:
		a->u.open = (struct fuse_open_out){ .fh = 1 };
		return sizeof(a->u.open);
	case FUSE_FLUSH:	/* or we hang ourselves in close(2) */
		a->h.error = -ENOSYS;
		return 0;
	}
	return -1;
}

static void serve(int fd)
{
	static char buf[FUSE_MIN_READ_BUFFER * 16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		const struct fuse_in_header *in = (const void *)buf;
		struct answer a = { 0 };
		int n;

		if (read(fd, buf, sizeof(buf)) < 0) {
			if (errno == EINTR || errno == ENOENT)
				continue;
			_exit(1);
		}
		n = answer(in, &a);
		if (n < 0)
			continue;
		a.h.len = (uint32_t)(sizeof(a.h) + (size_t)n);
		a.h.unique = in->unique;
		if (write(fd, &a, a.h.len) < 0 && errno != ENOENT)
			_exit(1);
	}
}

static int mount_mute(const char *device, const char *at)
{
	int fd = open(device, O_RDWR | O_CLOEXEC);
	char options[96];

	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	if (fd < 0 || mount("mute", at, "fuse", MS_NOSUID | MS_NODEV, options))
		return -1;
	if (!fork())
		serve(fd);
	close(fd);
	return 0;
}

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
	if (mount_mute(argv[2], argv[1])) {
		perror("fuse");
		return 77;
	}
	if (argc > 3)
		keep_mmap_lock(argv[1], image, len);
	if (mount_mute(argv[2], DEBUG))
		perror(DEBUG);
	for (unsigned int i = 0;; i++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		code = chain_map(SIZE, PROT_READ | PROT_EXEC, fd);
		data = chain_map(SIZE, PROT_READ | PROT_WRITE, fd);
		if (fd < 0 || !code || !data)
			return 1;
		close(fd);
		chain_through(links, 64, &code, 1);
		links[32].next = (const struct link *)(data + i % SIZE / 16 * 16);
		chain_run(links);
		/* a file without symbols: its debug file is looked for */
		memcpy(image + 9, &i, 4);
		chain_load_fd(chain_file(image, len, len), len, i);
		munmap(code, SIZE);
		munmap(data, SIZE);
	}
	return 1;
}
