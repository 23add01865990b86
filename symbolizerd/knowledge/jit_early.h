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

#define JIT_EARLY	16u	/* the oldest goes first */

/* Begins as zeroes. */
struct jit_early {
	struct {
		uint32_t tgid;	/* 0: free */
		int fd;		/* owned */
	} v[JIT_EARLY];
	uint32_t next;
	uint64_t closed;	/* for want of room */
};

/* Is this the path of a jitdump? */
bool jit_early_is_dump(const char *path, size_t len);

/* Process tgid maps this one (fd borrowed). */
void jit_early_add(struct jit_early *e, uint32_t tgid, int fd);

/* The last one of this process, the caller's from now on; -1: it has none.  Its others are
 * closed. */
int jit_early_take(struct jit_early *e, uint32_t tgid);

void jit_early_fini(struct jit_early *e);

#endif /* SYMBOLIZERD_KNOWLEDGE_JIT_EARLY_H */
