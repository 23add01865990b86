/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines - functions and lines at places in files, from their DWARF
 *
 * A worker says of an executable whether it, or its debug file, has DWARF.  Then what
 * samples meet in it is asked for, place by place, many at once in a visit; the answers
 * are kept while they are used.
 *
 * What a file costs does not depend on what it runs: so many of its places wait, there
 * is one visit at a time, and the time between two doubles up to LINES_GAP_MAX_NS.  All
 * visits have a share of one CPU, each user the same part of it, and who uses more pays
 * for that himself (user_share.h).  LINES_AT_ONCE are under way at most, half of them of
 * one user, and the user who has fewest is next, of several the one who was longest not
 * served.  A file whose visit killed its worker, or found nothing to read, is not visited
 * again; but one with a symbol table of its own when its debug file comes later
 * (debug_files.h).
 *
 * Room is bounded.  Where there is none left, the user whose files have most gives
 * first, what was not used lately.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_SOURCE_LINES_H
#define SYMBOLIZERD_KNOWLEDGE_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_table.h"
#include "common/vector.h"
#include "symbolizerd/knowledge/executable.h"
#include "symbolizerd/knowledge/jit.h"
#include "symbolizerd/knowledge/user_share.h"
#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/tables/owners.h"

#define LINES_BYTES	(16u << 20)	/* of all places, with functions */
#define LINES_FILES	256u		/* with places that wait */
#define LINES_WAITING	4096u		/* places */
#define LINES_ASK	256u		/* of a visit, and of a file that wait */
#define LINES_SHARE(max)	((max) / 3)	/* of one user, of the two before */
#define LINES_AT_ONCE	8u	/* visits */
#define LINES_VISIT_NS	25000000ULL	/* CPU time that one is thought to use, until it has */
#define LINES_GAP_NS	1000000000ULL
#define LINES_GAP_MAX_NS	8000000000ULL
#define LINES_SOON_NS	2000000000ULL	/* samples wait for visits that begin until then */
#define LINES_FD_NS	10000000000ULL	/* for the file's descriptor */
#define LINES_TRIES	3
#define LINES_IDLE	60u		/* intervals without a sample */
#define LINES_PERCENT	2		/* of one CPU, for the workers, by default */

enum line_state {
	LINE_FREE = 0,
	LINE_WANTED,
	LINE_KNOWN,		/* also when nothing is known of it */
};

/* A function, the same for all places of one owner. */
struct line_function {
	char *name;		/* owned, the next two in the same piece; NULL: free */
	const char *system;	/* "": as .name */
	const char *file;	/* "": unknown */
	uint32_t first_line;
	uint32_t refs;
	uint32_t bytes, owner;
	uint64_t hash;
};

struct line_at {
	uint32_t function, line;
};

/* A place in a file. */
struct line_place {
	uint64_t offset;
	uint32_t file;		/* executable.lines_id */
	uint32_t owner;
	uint32_t used;		/* interval of the last sample */
	uint8_t state;		/* enum line_state */
	uint8_t n;
	bool touched;		/* in a later interval, since the hand passed */
	struct line_at *v;	/* the innermost first; owned; NULL: nothing is known */
};

/* A file with places that wait. */
struct line_file {
	uint32_t id;		/* executable.lines_id; 0: free */
	struct file_key key;
	uint32_t space;		/* number of its question; never 0 */
	uint32_t owner;
	uint32_t visits, tries;
	uint32_t asked;		/* places of the visit that is under way */
	uint64_t asked_ns;	/* when the last visit was asked for; 0: never */
	uint64_t next_ns;	/* no visit before */
	uint64_t used_ns;
	uint64_t fd_ns;		/* since when its descriptor is waited for; 0: it is not */
	bool put_off;		/* waits for CPU time, and is counted */
	VECTOR(uint32_t) wanted;	/* places */
};

struct source_lines {
	uint64_t seed;
	uint32_t last_id;
	struct line_file *files;	/* [LINES_FILES]; NULL until needed */
	uint32_t generation, waiting;
	VECTOR(struct line_place) places;
	VECTOR(uint32_t) free_places;
	struct hash_table by_place;
	VECTOR(struct line_function) functions;
	VECTOR(uint32_t) free_functions;
	struct hash_table by_content;
	struct owners bytes;
	uint32_t hand;
	struct user_share share;	/* .percent 0: nothing is asked for */
	bool ending;		/* no pause between visits */
	uint64_t visits, answers, found;
	uint64_t put_off;	/* visits: the share was used up */
	uint64_t deaths;	/* visits that killed their worker */
};

void source_lines_init(struct source_lines *l, uint64_t seed);
void source_lines_fini(struct source_lines *l);

/* Visits may have so much of one CPU; 0: there are none. */
void source_lines_share(struct source_lines *l, uint32_t percent, uint64_t now_ns);

/* Is anything to be known of this file's places here? */
static inline bool source_lines_of(const struct source_lines *l, const struct executable *e)
{
	return l->share.percent && e->lines && !e->no_lines;
}

/* A sample met this place: it is asked for unless it is known.  Only if
 * source_lines_of(). */
void source_lines_want(struct source_lines *l, struct executable *e, uint64_t off,
		       uint32_t interval, uint64_t now_ns);

/* May it be known soon? */
bool source_lines_wait(const struct source_lines *l, const struct executable *e, uint64_t off,
		       uint64_t now_ns);

/* What is known of a place, the innermost first: how many. */
uint32_t source_lines_find(const struct source_lines *l, const struct executable *e,
			   uint64_t off, struct symbol_place ret[SYMBOL_DEPTH_MAX]);

/*
 * The next file with a question that is due, its index in x, or EXECUTABLE_NONE; from
 * *at on, which is 0 at first.  With a descriptor the question is in *ret, and under
 * way: its words are borrowed.  Without, ret->fd is -1, and it is not.
 */
uint32_t source_lines_next(struct source_lines *l, const struct executables *x, uint32_t *at,
			   uint64_t now_ns, struct jit_question *ret);

/* The answer to a question: names of its words, or NULL and the reason (jobs_ops.names). */
void source_lines_answer(struct source_lines *l, const struct executables *x, uint32_t space,
			 const struct frame_names *names, int result);

/* A visit for this user has used so much CPU time. */
void source_lines_used(struct source_lines *l, uint32_t owner, uint64_t cpu_ns);

/* Forget places that were idle. */
void source_lines_sweep(struct source_lines *l, uint32_t interval);

#endif /* SYMBOLIZERD_KNOWLEDGE_SOURCE_LINES_H */
