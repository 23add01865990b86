// SPDX-License-Identifier: Apache-2.0
/*
 * A JIT of three functions: outer calls middle calls leaf, which burns CPU; with frame
 * pointers.  They are called outer_MODE, "middle @x/MODE.cold" and leaf_MODE in the perf map or
 * jitdump that the mode makes.
 * usage: jit_code MODE SECONDS [FOLDER]
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CODE_MAX	128
#define USER		65534

struct function {
	char name[64];
	uint8_t *code;
	size_t size;
};

static struct function functions[3];	/* leaf, middle, outer */
static char map_path[64];

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

#if defined(__x86_64__)
static size_t burn(uint8_t *p)
{
	static const uint8_t code[] = {
		0x55, 0x48, 0x89, 0xe5,		/* push %rbp; mov %rsp,%rbp */
		0xb9, 0x00, 0x00, 0x20, 0x00,	/* mov $0x200000,%ecx */
		0xff, 0xc9, 0x75, 0xfc,		/* 1: dec %ecx; jne 1b */
		0x5d, 0xc3,			/* pop %rbp; ret */
	};

	memcpy(p, code, sizeof(code));
	return sizeof(code);
}

static size_t call(uint8_t *p, const void *to)
{
	static const uint8_t begin[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8 };
	static const uint8_t end[] = { 0xff, 0xd0, 0x90, 0x5d, 0xc3 };

	memcpy(p, begin, sizeof(begin));	/* ...; mov $to,%rax */
	memcpy(p + sizeof(begin), &to, 8);
	memcpy(p + sizeof(begin) + 8, end, sizeof(end));	/* call *%rax; nop; pop; ret */
	return sizeof(begin) + 8 + sizeof(end);
}
#elif defined(__aarch64__)
static size_t burn(uint8_t *p)
{
	static const uint32_t code[] = {
		0xa9bf7bfd, 0x910003fd,		/* stp x29,x30,[sp,#-16]!; mov x29,sp */
		0xd2a00409,			/* movz x9,#0x20,lsl #16 */
		0xf1000529, 0x54ffffe1,		/* 1: subs x9,x9,#1; b.ne 1b */
		0xa8c17bfd, 0xd65f03c0,		/* ldp x29,x30,[sp],#16; ret */
	};

	memcpy(p, code, sizeof(code));
	return sizeof(code);
}

static size_t call(uint8_t *p, const void *to)
{
	static const uint32_t code[] = {
		0xa9bf7bfd, 0x910003fd,
		0x580000b0, 0xd63f0200,		/* ldr x16,1f; blr x16 */
		0xd503201f, 0xa8c17bfd, 0xd65f03c0,	/* nop; ldp; ret; 1: */
	};

	memcpy(p, code, sizeof(code));
	memcpy(p + sizeof(code), &to, 8);
	return sizeof(code) + 8;
}
#endif

static uint8_t *memory(const char *mode)
{
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;

	if (!strcmp(mode, "memfd")) {
		fd = memfd_create("doublemapper", 0);
		flags = MAP_SHARED;
		if (ftruncate(fd, 65536))
			exit(1);
	}
	return mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);
}

/* Of one more set of functions, beside the former ones, or (again) in their place. */
static void make(const char *mode, bool again)
{
	static uint8_t *page;
	static const char *const forms[] = { "leaf_%s", "middle @x/%s.cold", "outer_%s" };

	if (!page)
		page = memory(mode);
	else if (!again)
		page += 4096;
	if (page == MAP_FAILED)
		exit(1);
	for (int i = 0; i < 3; i++) {
		struct function *f = &functions[i];

		snprintf(f->name, sizeof(f->name), forms[i], mode);
		f->code = page + i * CODE_MAX;
		f->size = i ? call(f->code, functions[i - 1].code) : burn(f->code);
		__builtin___clear_cache((char *)f->code, (char *)f->code + f->size);
	}
}

/* For so long, and a quarter of a second of CPU time at least: that many samples. */
__attribute__((noinline)) static void run(double seconds)
{
	double end = now(CLOCK_MONOTONIC) + seconds, enough = now(CLOCK_PROCESS_CPUTIME_ID) + 0.25;
	void (*volatile outer)(void) = (void (*)(void))functions[2].code;

	while (now(CLOCK_MONOTONIC) < end || now(CLOCK_PROCESS_CPUTIME_ID) < enough)
		outer();
}

/* --- perf map ----------------------------------------------------------------- */

static void write_map(const char *flags, const char *before, const char *after)
{
	FILE *f = fopen(map_path, flags);

	if (!f)
		exit(1);
	fputs(before, f);
	for (int i = 0; i < 3; i++)
		fprintf(f, "%lx %zx %s\n", (unsigned long)functions[i].code,
			functions[i].size, functions[i].name);
	if (*after)
		fprintf(f, "%lx 10 %s", (unsigned long)functions[0].code, after);
	fclose(f);
}

/* --- jitdump: Linux, tools/perf/util/jitdump.h ------------------------------------ */

struct header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};
struct record {
	uint32_t id, total_size;
	uint64_t timestamp;
};
struct load {
	struct record r;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};
struct debug {
	struct record r;
	uint64_t code_addr, nr_entry;
	uint64_t addr;
	uint32_t line, discrim;
	char file[16];
};

static void write_dump(const char *folder)
{
	struct header h = {
		0x4a695444, 1, sizeof(h),
#ifdef __aarch64__
		EM_AARCH64,
#else
		EM_X86_64,
#endif
		0, (uint32_t)getpid(), 0, 0,
	};
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, &h, sizeof(h)) != sizeof(h) ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		exit(1);
	for (uint32_t i = 0; i < 3; i++) {
		const struct function *f = &functions[i];
		uint32_t name = (uint32_t)strlen(f->name) + 1;
		uint64_t at = (uintptr_t)f->code;
		struct debug d = {
			{ 2, sizeof(d), 0 }, at, 1, at, 100 + i, 0, "source.jit",
		};
		struct load l = {
			{ 0, (uint32_t)(sizeof(l) + name + f->size), 0 },
			(uint32_t)getpid(), (uint32_t)getpid(), at, at, f->size, i,
		};

		if (write(fd, &d, sizeof(d)) != sizeof(d) ||
		    write(fd, &l, sizeof(l)) != sizeof(l) ||
		    write(fd, f->name, name) != name ||
		    write(fd, f->code, f->size) != (ssize_t)f->size)
			exit(1);
	}
	close(fd);
}

/* --- what others must not be able to do ---------------------------------------------- */

static void become_user(void)
{
	if (setgid(USER) || setuid(USER))
		exit(1);
}

static void hostile(const char *mode)
{
	if (!strcmp(mode, "foreign"))	/* root's, in a user's name */
		write_map("w", "", "");
	become_user();
	if ((!strcmp(mode, "fifo") && mkfifo(map_path, 0666)) ||
	    (!strcmp(mode, "shadow") && symlink("/etc/shadow", map_path)) ||
	    (!strcmp(mode, "folder") && mkdir(map_path, 0777)))
		exit(1);
	if (!strcmp(mode, "shared")) {	/* others may write it, and could have */
		write_map("w", "", "");
		if (chmod(map_path, 0666))
			exit(1);
	}
	if (!strcmp(mode, "huge")) {
		write_map("w", "", "");
		/* a hole of 64 GiB before the lines that count */
		if (truncate(map_path, 64LL << 30))
			exit(1);
		write_map("a", "\n", "");
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	double seconds = argc > 2 ? atof(argv[2]) : 0;

	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	unlink(map_path);
	make(mode, false);
	if (!strcmp(mode, "map") || !strcmp(mode, "inside") || !strcmp(mode, "memfd")) {
		write_map("w", "", "half wri");
	} else if (!strcmp(mode, "dump")) {
		write_dump(argv[3]);
	} else if (!strcmp(mode, "late")) {
		run(seconds);
		write_map("w", "", "");
		run(seconds);
	} else if (!strcmp(mode, "grow")) {
		write_map("w", "", "");
		run(seconds);
		make("grown", false);
		write_map("a", "", "");
	} else if (!strcmp(mode, "reuse")) {
		write_map("w", "", "");
		run(seconds);
		make("reused", true);
		write_map("a", "", "");
	} else if (strcmp(mode, "none")) {
		hostile(mode);
	}
	run(seconds);
	if (remove(map_path) && !strcmp(mode, "map"))
		return 1;
	return 0;
}
