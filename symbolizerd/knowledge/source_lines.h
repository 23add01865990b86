/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines - functions and lines at places in files, from their DWARF
 *
 * A worker says of an executable whether it, or its debug file, has DWARF.  Then what
 * samples meet in it is asked for, many places at once in a visit.  The answer has the whole
 * function of each, which is kept while it is used: its other places are known when samples
 * meet them first.
 *
 * A file is a target of visits (visits.h).  All visits have a share of one CPU, each user
 * the same part of it, and a user who uses more is charged for it (user_share.h).  A
 * file whose visit found nothing to read is not visited again; but
 * one with a symbol table of its own when its debug file comes later (debug_files.h).  One
 * whose visit killed its worker is, after LINES_KILLED_NS, and each time later.
 *
 * The memory of all is shared by users (line_store.h).
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_SOURCE_LINES_H
#define SYMBOLIZERD_KNOWLEDGE_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/knowledge/executable.h"
#include "symbolizerd/knowledge/line_store.h"
#include "symbolizerd/knowledge/owner_cache.h"
#include "symbolizerd/knowledge/user_share.h"
#include "symbolizerd/knowledge/visits.h"

#define LINES_BYTES	(16u << 20)	/* of all that is known, and of places */
#define LINES_FILES	256u		/* with places that wait */
#define LINES_WAITING	4096u		/* places */
#define LINES_ASK	512u		/* of a visit, and of a file that wait */
#define LINES_AT_ONCE	8u	/* visits */
#define LINES_VISIT_NS	25000000ULL	/* CPU time that one is thought to use, until it has */
#define LINES_GAP_NS	1000000000ULL
#define LINES_GAP_MAX_NS	8000000000ULL
/* Of places and visits that are late: source_lines_late(). */
#define LINES_HOT	2u		/* samples of a place that is urgent */
#define LINES_LATE_NS	60000000000ULL	/* others wait so long, unless their file is visited */
#define LINES_LATE_WAITING	384u	/* and no more of a file, */
#define LINES_LATE_OWNER	(LINES_WAITING / 4 * 3)	/* nor of an owner */
#define LINES_LATE_GAP_NS	20000000000ULL
#define LINES_LATE_GAP_MAX_NS	160000000000ULL
#define LINES_SOON_NS	2000000000ULL	/* samples wait for visits that begin until then */
#define LINES_FD_NS	10000000000ULL	/* for the file's descriptor */
#define LINES_TRIES	3
#define LINES_KILLED_NS	VISITS_CLOSED_NS
#define LINES_KILLED_DOUBLED	4	/* times at most */
#define LINES_IDLE	60u		/* intervals without a sample */
#define LINES_IDLE_NS	300000000000ULL	/* of a file */
#define LINES_PERCENT	2		/* of one CPU, for the workers, by default */

/* A place in a file that is wanted. */
struct line_place {
	struct cache_entry entry;	/* first */
	uint64_t offset;
	uint32_t file;		/* executable.lines_id */
	uint8_t samples;	/* up to LINES_HOT */
};

/* What is kept of a target. */
struct line_file {
	uint32_t number;	/* of the target that it belongs to */
	bool put_off;		/* waits for CPU time, and is counted */
	struct file_key key;
	uint64_t fd_ns;		/* since when its descriptor is waited for; 0: it is not */
};

struct source_lines {
	uint64_t seed;
	uint32_t last_id;
	struct visits visits;
	struct line_file files[LINES_FILES];	/* of .visits, by slot */
	struct line_store store;	/* what is known */
	struct owner_cache places;	/* what is not; charged to the same owners */
	uint32_t interval;	/* of the last sample */
	const struct line_codes *answer;	/* that has just come; borrowed, or NULL */
	struct user_share share;	/* .percent 0: nothing is asked for */
	bool late;
	const struct executables *exes;	/* borrowed */
	/* The owner's to set.  Executable i is to be read: as visit_fn, q->fd is its
	 * descriptor. */
	int (*visit)(void *ctx, uint32_t i, const struct visit_question *q);
	/* Executable i has no descriptor. */
	void (*open)(void *ctx, uint32_t i);
	void *ctx;
	uint64_t answers, found;
	uint64_t put_off;	/* visits: the share was used up */
	uint64_t deaths;	/* visits that killed their worker */
};

void source_lines_init(struct source_lines *l, uint64_t seed, const struct executables *exes);
void source_lines_fini(struct source_lines *l);

/* Visits may have so much of one CPU; 0: there are none. */
void source_lines_share(struct source_lines *l, uint32_t percent, uint64_t now_ns);

/*
 * Not late, as at first: a place is asked for at its first sample, and samples wait for it.
 * Late, for who runs for months: most of a visit's cost is to open the file, so visits are
 * few and full.  A place makes a visit when samples met it twice; one with a single sample
 * is in that of others, or waits LINES_LATE_NS; and pauses grow to minutes, unless so many
 * places wait that the visit is full.
 */
void source_lines_late(struct source_lines *l, bool late);

/* Its visit killed its worker, which is long ago now. */
static inline bool source_lines_again(const struct source_lines *l, const struct executable *e)
{
	return e->lines_again_ns && l->visits.now_ns >= e->lines_again_ns;
}

/* Is anything to be known of this file's places here? */
static inline bool source_lines_of(const struct source_lines *l, const struct executable *e)
{
	return l->share.percent && e->lines && (!e->no_lines || source_lines_again(l, e));
}

/* A sample met this place: it is asked for unless it is known.  samples: that were not
 * counted there yet.  Only if source_lines_of(). */
void source_lines_want(struct source_lines *l, struct executable *e, uint64_t off,
		       uint32_t samples, uint32_t interval, uint64_t now_ns);

/* May it be known soon? */
bool source_lines_wait(const struct source_lines *l, const struct executable *e, uint64_t off,
		       uint64_t now_ns);

/* What is known of a place, the innermost first: how many. */
uint32_t source_lines_find(const struct source_lines *l, const struct executable *e,
			   uint64_t off, struct symbol_place ret[SYMBOL_DEPTH_MAX]);

/* As a name source: the functions of a place that the symbol index does not know as
 * exactly. */
extern const struct name_source source_lines_source;

/* The answer to a question: code of its file, the words that are left. */
void source_lines_answer(struct source_lines *l, uint32_t number, const struct line_codes *codes,
			 uint64_t now_ns);

/* A visit for this user has used so much CPU time. */
void source_lines_used(struct source_lines *l, uint32_t owner, uint64_t cpu_ns);

/* Forget what was idle. */
void source_lines_sweep(struct source_lines *l, uint32_t interval, uint64_t now_ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_SOURCE_LINES_H */
