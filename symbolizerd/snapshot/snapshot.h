/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot - what is kept of a process that stood still, to walk its stacks again
 *
 * Registers of each thread, mappings, the unwind rules that the walk looked up, and
 * those ranges of memory that it read.  docs/SNAPSHOT.md has the form as text.
 */
#ifndef SYMBOLIZERD_SNAPSHOT_SNAPSHOT_H
#define SYMBOLIZERD_SNAPSHOT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "common/vector.h"

/* Limits: what is beyond is refused. */
#define SNAPSHOT_FILES_MAX	4096
#define SNAPSHOT_MAPS_MAX	65536
#define SNAPSHOT_ROWS_MAX	32768
#define SNAPSHOT_PAGES_MAX	2048		/* 8 MiB of memory */
#define SNAPSHOT_FAILED_MAX	65536
#define SNAPSHOT_THREADS_MAX	1024
#define SNAPSHOT_FRAMES_MAX	65536		/* of all threads */

#define SNAPSHOT_NO_FILE	UINT32_MAX
#define SNAPSHOT_NAME		64		/* bytes of a file's, NUL included */
#define SNAPSHOT_PAGE		4096u
#define SNAPSHOT_REGS		33

enum snapshot_machine {
	SNAPSHOT_X86_64 = 0,	/* regs: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8
				 * rax rcx rdx rsi rdi rip rsp */
	SNAPSHOT_AARCH64,	/* regs: x0 to x30, sp, pc */
	SNAPSHOT__MACHINES
};
extern const uint32_t snapshot_regs_n[SNAPSHOT__MACHINES];

struct snapshot_file {
	char name[SNAPSHOT_NAME];	/* without directories */
	char build_id[41];		/* hexadecimal; "": none, or not known */
	uint32_t runtime;		/* enum runtime, bpf/runtime.h */
};

struct snapshot_map {
	uint64_t start, end, off;	/* off: file offset of start */
	uint32_t file;			/* number, or SNAPSHOT_NO_FILE */
	bool exec, stack, heap, write;	/* the last three: only for people */
};

/* In file offsets [start, end) of a file this rule holds. */
struct snapshot_row {
	uint64_t start, end;
	uint32_t file;
	struct unwind_rule rule;
};

struct snapshot_page {
	uint64_t at;			/* address, a multiple of SNAPSHOT_PAGE */
	uint8_t has[SNAPSHOT_PAGE / 8];	/* which bytes are known */
	uint8_t data[SNAPSHOT_PAGE];
};

struct snapshot_range {
	uint64_t at, len;
};

struct snapshot_thread {
	uint32_t tid;
	bool call;			/* in a system call */
	uint64_t tp;			/* thread pointer */
	uint64_t regs[SNAPSHOT_REGS];
	uint32_t stop;			/* enum stop_reason; 0: not walked */
	uint32_t first, n;		/* of frames */
};

/* A frame, as text: what the walk found, and for people its name. */
struct snapshot_frame {
	char *place;			/* owned */
	char *name;			/* owned; NULL: none */
};

struct snapshot {
	uint32_t machine;
	uint64_t stack;			/* sp when the process began; 0: not known */
	uint64_t vdso;			/* 0: none */
	VECTOR(struct snapshot_file) files;
	VECTOR(struct snapshot_map) maps;	/* ascending */
	VECTOR(struct snapshot_row) rows;
	VECTOR(struct snapshot_page *) pages;	/* ascending; owned */
	VECTOR(struct snapshot_range) failed;	/* reads that failed */
	VECTOR(struct snapshot_thread) threads;
	VECTOR(struct snapshot_frame) frames;
};

void snapshot_fini(struct snapshot *s);

/* Note len bytes at an address.  False: no room. */
bool snapshot_put(struct snapshot *s, uint64_t at, const void *data, size_t len);

/* Get len bytes; false: not all of them are known. */
bool snapshot_get(const struct snapshot *s, uint64_t at, void *dst, size_t len);

/* Was this read tried, in vain? */
bool snapshot_failed(const struct snapshot *s, uint64_t at, uint64_t len);

/* The mapping that holds an address, or NULL. */
const struct snapshot_map *snapshot_map_of(const struct snapshot *s, uint64_t at);

/* The row that holds a place of a file, or NULL. */
const struct snapshot_row *snapshot_row_of(const struct snapshot *s, uint32_t file,
					   uint64_t off);

/* Append a frame of the last thread; takes place and name, frees them on failure. */
bool snapshot_frame(struct snapshot *s, char *place, char *name);

#endif /* SYMBOLIZERD_SNAPSHOT_SNAPSHOT_H */
