/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk - the whole sampler, on the host, over a process that stands still
 *
 * bpf/sampler.bpf.c is compiled twice, for the two machines (walk_x86.c,
 * walk_arm64.c): so a new step of it needs nothing here.  What the kernel has of a
 * process is made of a snapshot's mappings and threads; memory and tables come from
 * the caller, which may note what was asked for.
 */
#ifndef SYMBOLIZERD_SNAPSHOT_WALK_H
#define SYMBOLIZERD_SNAPSHOT_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "symbolizerd/snapshot/snapshot.h"
#include "symbolizerd/snapshot/walk_tables.h"

struct walk_file {
	uint32_t dir, pages;	/* of its table */
	bool asked;
};

struct walk {
	const struct snapshot *s;
	struct walk_tables tables;
	void *ctx;
	/* Len bytes of the process's memory: 0, or negative. */
	int (*read)(void *ctx, uint64_t at, void *dst, size_t len);
	/* The file of this number is met for the first time: add its table. */
	void (*table)(void *ctx, uint32_t file, struct walk_file *ret);
	/* A place of a file was looked up. */
	void (*looked_up)(void *ctx, uint32_t file, uint64_t off);
	VECTOR(struct walk_file) files;
	uint32_t n_reads, n_elements;	/* of memory; of tables, 64 bytes each */
	uint32_t read_ns;	/* what each such read takes by the sampler's clock */
	struct walk_kernel *kernel;	/* of one machine's */
	uint64_t *record;		/* RECORD_MAX bytes: the last one */
	size_t record_len;
};

/* The caller has filled in all but what is the walk's own.  0 or -ENOMEM. */
int walk_begin(struct walk *w);
void walk_end(struct walk *w);

/*
 * Sample a thread: the record, as loaderd would send it, or NULL.  Names of managed
 * frames are in the first that has them, as long as there is room: so a second one
 * may have more.
 */
struct trace_rec *walk_thread(struct walk *w, const struct snapshot_thread *t);

/* Which file is meant by the number in a record's frame; SNAPSHOT_NO_FILE: none. */
uint32_t walk_file_of(const struct walk *w, uint32_t exe);

/* The vDSO's, likewise. */
uint32_t walk_vdso_file(const struct walk *w);

/* The two machines'. */
struct walk_kernel *walk_kernel_x86(struct walk *w);
struct walk_kernel *walk_kernel_arm64(struct walk *w);
void walk_sample_x86(struct walk *w, const struct snapshot_thread *t);
void walk_sample_arm64(struct walk *w, const struct snapshot_thread *t);
void walk_free_x86(struct walk_kernel *k);
void walk_free_arm64(struct walk_kernel *k);

#endif /* SYMBOLIZERD_SNAPSHOT_WALK_H */
