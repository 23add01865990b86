/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_early - jitdumps that a process mapped before its first sample
 *
 * They are known by their path: a jitdump is mapped to be found.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_JIT_EARLY_H
#define SYMBOLIZERD_KNOWLEDGE_JIT_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/process.h"

#define JIT_EARLY	16u	/* the oldest goes first */
#define JIT_EARLY_NS	60000000000ULL

/* Begins as zeroes. */
struct jit_early {
	struct {
		struct process_id process;	/* .tgid 0: free */
		uint64_t since_ns;
		int fd;		/* owned */
	} v[JIT_EARLY];
	uint32_t next;
	uint64_t closed;	/* for want of room */
};

/* Is this the path of a jitdump? */
bool jit_early_is_dump(const char *path, size_t len);

/* This process maps this one (fd borrowed). */
void jit_early_add(struct jit_early *e, const struct process_id *process, int fd, uint64_t now_ns);

/* The last one of this process, the caller's from now on; -1: it has none.  Its others are
 * closed. */
int jit_early_take(struct jit_early *e, const struct process_id *process);

/* Close those whose process had no sample for JIT_EARLY_NS. */
void jit_early_sweep(struct jit_early *e, uint64_t now_ns);

void jit_early_fini(struct jit_early *e);

#endif /* SYMBOLIZERD_KNOWLEDGE_JIT_EARLY_H */
