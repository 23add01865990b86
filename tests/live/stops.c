// SPDX-License-Identifier: Apache-2.0
/*
 * stops - our stack of a thread that stands still, for a debugger's script
 *
 * usage: stops		(root; commands on standard input, one answer each)
 *
 *	pid PID		look at this process from now on	-> ok
 *	get TID		the stack where the thread last left its CPU; asked once
 *			a stop	-> none | again | REASON FLAGS PC:SP:WORD ...
 *
 * "again": files were met whose tables were not there; now they are, or will be
 * asked for at the next stop: one that was asked for a moment ago may have been
 * unmapped before we looked, and is mapped elsewhere now.  Numbers are
 * hexadecimal; WORD is of bpf/frame.h, and its number one of
 *	exe NUMBER	the file of that number			-> PATH
 * Tables are made and installed by the code of symbolizerd and loaderd.
 */
#include "tests/live/stops.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/tables/vdso.h"
#include "symbolizerd/unwind/build.h"
#include "tests/live/install_table.h"
#include "tests/live/stops.skel.h"

#define EXES_MAX	4096
#define TABLE_BUDGET	(256u << 20)

struct state {
	struct stops *skel;
	struct installer installer;
	struct ring_buffer *requests;
	char *path[EXES_MAX];	/* by number */
	uint32_t n_exes;
	bool installed;		/* since it was last set to false */
};

static void die(const char *what, int r)
{
	fprintf(stderr, "stops: %s: %s\n", what, strerror(r < 0 ? -r : r));
	exit(1);
}

static void install(struct state *s, const struct file_key *key, uint32_t exe,
		    int fd, const char *name)
{
	void *data = NULL;
	struct elf_file f;
	size_t len = 0;
	int r;

	if (elf_file_open(&f, fd)) {
		fprintf(stderr, "stops: %s is no ELF file\n", name);
	} else {
		if (unwind_build(&f, runtimes_rows, &data, &len))
			len = 0;
		elf_file_close(&f);
	}
	r = installer_put(&s->installer, key, exe, data, len);
	if (r)
		die("installer_put", r);
	if (len)
		free(data);
	s->path[exe] = strdup(name);
	s->installed = true;
}

/* A file that the BPF program asks for. */
static int on_request(void *ctx, void *data, size_t len)
{
	const struct request_file *n = data;
	struct state *s = ctx;
	char link[96], name[4096] = "";
	struct file_entry e;
	int fd;

	if (len < sizeof(*n) || n->kind != REQUEST_FILE || s->n_exes == EXES_MAX ||
	    !bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.files), &n->key, &e))
		return 0;
	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", n->process.tgid,
		 (unsigned long long)n->start, (unsigned long long)n->end);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	if (fd < 0)	/* unmapped since */
		return 0;
	if (readlink(link, name, sizeof(name) - 1) > 0)
		install(s, &n->key, s->n_exes++, fd, name);
	close(fd);
	return 0;
}

static void install_vdso(struct state *s)
{
	struct file_key key = VDSO_KEY;
	int fd = vdso_image();

	if (fd == -ENOENT)
		return;
	if (fd < 0)
		die("vdso", fd);
	install(s, &key, EXE_VDSO, fd, "[vdso]");
	close(fd);
}

static void start(struct state *s)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct bpf_program *p;
	int r;

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	s->skel = stops__open();
	if (!s->skel)
		die("open", errno);
	bpf_object__for_each_program(p, s->skel->obj)
		/* walk() is in a map */
		bpf_program__set_autoload(p, p == s->skel->progs.stopped ||
					     p == s->skel->progs.walk);
	s->skel->rodata->page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE));
	r = stops__load(s->skel);
	if (r)
		die("load", r);
	r = installer_init(&s->installer, bpf_map__fd(s->skel->maps.files),
			   bpf_map__fd(s->skel->maps.slabs),
			   bpf_map__fd(s->skel->maps.slab0), TABLE_BUDGET);
	if (r)
		die("installer_init", r);
	s->n_exes = EXE_FIRST;
	s->requests = ring_buffer__new(bpf_map__fd(s->skel->maps.requests),
				       on_request, s, NULL);
	if (!s->requests)
		die("requests", errno);
	install_vdso(s);
	r = stops__attach(s->skel);
	if (r)
		die("attach", r);
}

static void forget_asked(struct state *s)
{
	int fd = bpf_map__fd(s->skel->maps.asked);
	uint64_t key;

	while (!bpf_map_get_next_key(fd, NULL, &key))
		bpf_map_delete_elem(fd, &key);
}

/* A frame in a file that BPF did not know: what follows is a guess. */
static bool guessed(const struct stop *stop)
{
	for (uint32_t i = 0; i < stop->n && i < FRAMES_MAX; i++) {
		if (stop->frame[i].word >> FRAME_KIND_SHIFT == FRAME_FILE)
			return true;
	}
	return false;
}

static void get(struct state *s, uint32_t tid)
{
	static struct stop stop;
	int fd = bpf_map__fd(s->skel->maps.stops);
	bool none, unknown;

	s->installed = false;
	ring_buffer__consume(s->requests);
	none = bpf_map_lookup_elem(fd, &tid, &stop) != 0;
	unknown = !none && guessed(&stop);
	if (s->installed || unknown)
		forget_asked(s);
	if (none) {
		puts("none");
		return;
	}
	bpf_map_delete_elem(fd, &tid);
	if (s->installed || unknown) {
		puts("again");
		return;
	}
	printf("%x %x", stop.reason, stop.flags);
	for (uint32_t i = 0; i < stop.n && i < FRAMES_MAX; i++)
		printf(" %llx:%llx:%llx", stop.frame[i].pc, stop.frame[i].sp,
		       stop.frame[i].word);
	putchar('\n');
}

static void answer(struct state *s, const char *line)
{
	uint32_t n;

	if (sscanf(line, "pid %u", &n) == 1) {
		s->skel->bss->tracee = n;
		puts("ok");
	} else if (sscanf(line, "get %u", &n) == 1) {
		get(s, n);
	} else if (sscanf(line, "exe %u", &n) == 1) {
		puts(n < EXES_MAX && s->path[n] ? s->path[n] : "?");
	} else {
		puts("what?");
	}
	fflush(stdout);
}

int main(void)
{
	static struct state self;
	char line[128];

	start(&self);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		answer(&self, line);
	stops__destroy(self.skel);
	return 0;
}
