/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - what processes call themselves
 *
 * A process has the name of its leading thread, but a request may hold samples
 * of other threads only.  So the last name of a leader is remembered, in a
 * table of fixed size: when two processes share a slot, the later one replaces
 * the other.
 */
#ifndef VIEWER_SERVER_NAMES_H
#define VIEWER_SERVER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NAMES_SLOTS	4096
#define NAMES_LEN	47

struct viewer_names {
	struct name_slot {
		uint64_t start_ns;	/* with pid: which process */
		uint32_t pid;
		uint8_t len;		/* 0: free */
		char text[NAMES_LEN];
	} slots[NAMES_SLOTS];
};

/* Names over NAMES_LEN bytes are not remembered. */
void names_put(struct viewer_names *n, uint32_t pid, uint64_t start_ns,
	       const char *text, size_t len);

/* The name, not NUL-terminated, valid until the next names_put(); or NULL. */
const char *names_get(const struct viewer_names *n, uint32_t pid,
		      uint64_t start_ns, size_t *len);

#endif /* VIEWER_SERVER_NAMES_H */
