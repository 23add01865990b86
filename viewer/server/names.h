/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - the names of processes
 *
 * A batch of ours says it.  In a request of others a process has the name of its leading
 * thread, but there may be samples of other threads only.  So the last name of each leading
 * thread is remembered, in a table of fixed size: of two processes in one slot the later
 * one replaces the other.
 */
#ifndef VIEWER_SERVER_NAMES_H
#define VIEWER_SERVER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NAMES_SLOTS	4096
#define NAMES_LEN	47

struct viewer_names {
	struct name_slot {
		uint64_t start_ns;	/* with pid: identifies the process */
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
