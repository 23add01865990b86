/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutants - messages that are right but for one thing
 *
 * From a message that its receiver takes, and from the table of rules
 * (ipc/rules.h), every way of getting it wrong, one at a time; and every message
 * that a peer has no business sending.  Whoever receives one must close the
 * connection and count an offence.
 */
#ifndef TESTS_HOSTILE_MUTANTS_H
#define TESTS_HOSTILE_MUTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/message.h"

enum mutation {
	MUT_NONE,		/* nothing is wrong: it is taken */
	MUT_VERSION_OLD, MUT_VERSION_NEW,
	MUT_SHORT,		/* payload: a byte less than the rule allows */
	MUT_LONG,		/* ... a byte more */
	MUT_LARGEST,		/* ... more than any message has */
	MUT_HEADER_MORE,	/* header: a byte more than there is */
	MUT_HEADER_LESS, MUT_HEADER_WRAPS,
	MUT_NO_PAYLOAD,		/* a header that is cut off in the middle */
	MUT_FD_LESS, MUT_FD_MORE, MUT_FD_FLOOD,
	/* of the descriptor that is to be sealed memory */
	MUT_MEM_UNSEALED,	/* it could be written */
	MUT_MEM_GROWS,		/* all seals but this one */
	MUT_MEM_SHRINKS,
	MUT_MEM_CUT,		/* a byte less */
	MUT_MEM_MORE,		/* a byte more */
	MUT_MEM_EMPTY,
	MUT_MEM_PIPE, MUT_MEM_SOCKET, MUT_MEM_FILE, MUT_MEM_DIR, MUT_MEM_DEVICE,
	MUTATIONS
};

/* A message that is taken.  Its descriptors are sealed memory with mem_len bytes
 * of mem (if that is not NULL), and for the rest those in fds (borrowed), or any
 * file. */
struct mutant {
	unsigned int type;
	uint64_t id;
	const void *payload;
	size_t len;
	const void *mem;
	size_t mem_len;
	bool written;			/* not sealed against writing */
	int fds[MSG_FDS_MAX];		/* 0: any file */
};

const char *mutation_name(enum mutation how);

/* Send it with this wrong.  False: nothing is sent, for this cannot be wrong in
 * it (no descriptor, say).  A peer that has closed already is no error. */
bool mutant_send(int socket, const struct mutant *m, enum mutation how);

/* Likewise a message of this type as its rule says, if `from` may not send it in
 * this state; types that are none, too.  False: it may. */
bool mutant_send_stranger(int socket, enum peer from, enum conn_state state,
			  unsigned int type);
#define MUTANT_TYPES	(MSG__MAX + 3)	/* those that are worth trying */

#endif /* TESTS_HOSTILE_MUTANTS_H */
