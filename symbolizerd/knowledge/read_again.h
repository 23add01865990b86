/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_again - when symbols of a file are read that were read before
 *
 * What went for want of room, or since nothing new was met in it, is read again when a sample
 * asks for it, but not before a pause, which doubles each time, until nobody has asked for
 * AGAIN_LONG_NS after it.  All such readings have a share of one CPU, each owner
 * the same part of it (user_share.h).  So neither a file nor an owner has a worker read the
 * same all the time, and what one owner's cost takes nothing from the others.
 *
 * What could not be read for our want of memory is tried again likewise, and so is what has a
 * new debug file, but for its first one, which waits for no pause; a file that killed its worker
 * after a quarantine, which doubles, too.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_READ_AGAIN_H
#define SYMBOLIZERD_KNOWLEDGE_READ_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/knowledge/user_share.h"

#define AGAIN_NS	(5 * NSEC_PER_SEC)	/* the first pause */
#define AGAIN_DOUBLED	5			/* times at most: 160 s */
#define AGAIN_LONG_NS	(AGAIN_NS << AGAIN_DOUBLED)
#define AGAIN_PERCENT	5			/* of one CPU, for workers that read again */
#define AGAIN_COST_NS	(25 * NSEC_PER_MSEC)	/* of CPU time that one costs at least */
#define QUARANTINE_NS	(600 * NSEC_PER_SEC)
#define QUARANTINE_DOUBLED	4		/* times at most: 160 minutes */

/* Of all files; begins with read_again_init(). */
struct reads_again {
	uint64_t pause_ns;	/* AGAIN_NS, but for tests */
	uint64_t quarantine_ns;	/* QUARANTINE_NS, likewise */
	struct user_share share;
	uint64_t n;		/* until now */
	uint64_t put_off;	/* that had to wait */
};

/* Of a file; begins as zeroes, but for .all. */
struct read_again {
	struct reads_again *all;	/* borrowed */
	bool read;		/* a worker was given its symbols to read: the next time is again */
	bool begun;		/* once at least */
	bool hurried;		/* it had its time without a pause */
	bool paid;		/* AGAIN_COST_NS are charged for the next reading */
	bool put_off;		/* asked for since the last time, and refused */
	uint8_t doubled;	/* the pause */
	uint8_t deaths;		/* of workers */
	uint64_t next_ns;	/* not before */
};

void read_again_init(struct reads_again *all);

/* A sample wants a file of this owner to be read.  True: it is now. */
bool read_again_begin(struct read_again *r, uint32_t owner, uint64_t now_ns);

/* There is more to read: the first time that this is said there is no pause, but the share
 * holds. */
void read_again_at_once(struct read_again *r);

/* It is read once more, which nobody asked for. */
void read_again_pay(struct read_again *r, uint32_t owner);

/* A worker is given it; symbols: not the table alone.  True: that is again, and
 * read_again_used() is to be told. */
bool read_again_given(struct read_again *r, bool symbols);

/* It killed its worker. */
void read_again_quarantine(struct read_again *r, uint64_t now_ns);

/* A worker has ended that read a file of this owner again, and used so much. */
void read_again_used(struct reads_again *all, uint32_t owner, uint64_t cpu_ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_READ_AGAIN_H */
