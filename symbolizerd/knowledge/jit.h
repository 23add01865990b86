/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit - names of code that lies in memory of no file
 *
 * A JIT may write what its code is called into a perf map or a jitdump
 * (symbolizerd/symbols/).  When a sample has an address in a process that has no name
 * yet, a worker looks for it there: in the jitdump, if there is one, then in the perf
 * map.  A file is read at most every JIT_GAP_NS, for all addresses that wait (visits.h),
 * and its descriptor stays here, so that it can be read when the process has ended.
 *
 * Memory is used again, so a name is that of the moment when the file was read: when the
 * file has changed since then, and a sample meets the address, it is looked up again.
 * That reads all of the file, so it waits the longer the larger the file is: JIT_GAP_NS
 * for each JIT_GAP_BYTES, JIT_AGAIN_NS at most.  Samples from before the file's first
 * change since the last look keep the former name.
 *
 * The same address means something else in each process: a trace that has such frames
 * carries the number of the process here, its space.  That is the number of its perf map
 * as a target of visits.
 *
 * The names' memory is shared by users (owner_cache.h), and so are descriptors: when JIT_FDS
 * are open, the owner with the most loses the one whose process had no sample for longest.
 * loaderd opens the perf map again when the next visit asks for it, and then also sends the
 * jitdump again, if the process still maps it.
 *
 * Whose a process is says its first sample: the real user, who cannot be another one by
 * running a program of that one's.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_JIT_H
#define SYMBOLIZERD_KNOWLEDGE_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "ipc/counters.h"
#include "symbolizerd/knowledge/jit_early.h"
#include "symbolizerd/knowledge/name_source.h"
#include "symbolizerd/knowledge/owner_cache.h"
#include "symbolizerd/knowledge/visits.h"
#include "symbolizerd/tables/owners.h"

#define JIT_TARGETS	1024u		/* files of processes */
#define JIT_BYTES	(16u << 20)	/* of all addresses, with their names */
#define JIT_FDS		64u		/* files that are open */
#define JIT_AT_ONCE	64u		/* visits */
#define JIT_GAP_NS	2000000000ULL
#define JIT_GAP_BYTES	(4u << 20)
#define JIT_AGAIN_NS	60000000000ULL
#define JIT_MISSING_NS	64000000000ULL	/* a file that is not there: at most so rarely */
#define JIT_YOUNG_NS	4000000000ULL	/* a file's entries may come so late */
#define JIT_RECENT_NS	10000000000ULL	/* an address with a sample since then */
#define JIT_IDLE_NS	60000000000ULL	/* without a sample */
#define JIT_ASK		512u		/* addresses of a visit */

enum jit_source { JIT_DUMP = 0, JIT_MAP, JIT__SOURCES };

enum jit_state {
	JIT_FREE = 0,
	JIT_WANTED,		/* is looked for; may have a former name */
	JIT_KNOWN,
	JIT_NAMELESS,
};

struct jit_called {
	char *name;		/* owned, .file in the same piece; NULL: none */
	const char *file;	/* "": unknown */
	uint32_t line;		/* 0: unknown */
};

struct jit_place {
	struct cache_entry entry;	/* first */
	uint64_t addr;
	uint64_t born_ns;	/* CLOCK_MONOTONIC */
	uint64_t at_ns;		/* when it was looked for; likewise */
	uint64_t version;	/* of its process's files then; 0: it is to be looked for anew */
	uint64_t changed_ns;	/* when they first changed after that; 0: they did not, as
				 * far as is known */
	uint64_t used_ns;	/* of the last sample; likewise */
	struct jit_called is, was;
	uint64_t was_until_ns;	/* .was: of samples from before this time */
	uint32_t space;
	uint8_t state;		/* enum jit_state */
	bool went_on;		/* .version is that of the jitdump's visit: it waits for the map's */
};

/* What is kept of a target. */
struct jit_file {
	int fd;			/* -1: none; owned */
	uint32_t owner;		/* of the process */
	uint64_t size;		/* when it was read */
	uint32_t missing;	/* times that it was not there, in a row */
	uint32_t space;		/* of its process; 0: free */
	bool closed;		/* no visits for a while: its places are asked for when that ends */
	uint64_t asked;		/* version of its process's files when the last visit began */
	/* only of a perf map, for its process */
	uint32_t dump;		/* number of the jitdump's target; 0: none */
	uint64_t dump_until_ns;	/* the jitdump may still come */
	uint64_t looked_ns;	/* when .now was found out */
	uint64_t now;		/* version of both files: from sizes and times, another one when
				 * they change */
	uint64_t changed_ns;	/* when they changed last */
	uint64_t told;		/* .now when all addresses without a name were looked for last */
	bool more;		/* some found no room to wait: they are looked for again */
	bool look;		/* in jit_look_again(): its addresses are to be looked for */
};

struct jit {
	uint64_t seed;
	visit_fn visit;		/* the owner's to set; NULL: nothing gets a name */
	void *ctx;
	struct hub_stats *stats;	/* borrowed */
	struct visits visits;
	struct jit_file files[JIT_TARGETS];	/* of .visits, by slot */
	struct owners open;	/* of them, by owner */
	struct owner_cache places;
	struct jit_early early;
	uint64_t closed;	/* files, for want of room */
	uint32_t looks;		/* for jitdumps, since the last tick */
};

void jit_init(struct jit *j, uint64_t seed, struct hub_stats *stats);
void jit_fini(struct jit *j);

/* The space of a record that was judged: 0 if no frame of it is in memory of no file, or
 * there is no room. */
uint32_t jit_space(struct jit *j, const struct trace_rec *rec, uint64_t now_ns);

/* A stack of this space has been sampled: what has no name is to be looked for. */
void jit_mention(struct jit *j, uint32_t space, const uint64_t *words, size_t n,
		 uint64_t now_ns);

/* What is known of an address; NULL: nothing. */
const struct jit_place *jit_find(const struct jit *j, uint32_t space, uint64_t addr);

/* May it have a name soon?  It is being looked for; or it is new, or its process's file
 * has grown: JITs write through buffers, and so may be late. */
bool jit_waits(struct jit *j, uint32_t space, uint64_t addr, uint64_t now_ns);

/* Until when it had another name (CLOCK_MONOTONIC); 0: it had none. */
uint64_t jit_was_until(const struct jit *j, uint32_t space, uint64_t addr);

extern const struct name_source jit_name_source;	/* of struct jit */

/* This process maps this jitdump (fd borrowed). */
void jit_dump(struct jit *j, const struct process_id *process, int fd, uint64_t now_ns);

/* The perf map that was asked for (fd borrowed) of a process that began at start_ns
 * (CLOCK_REALTIME).  0; -ESTALE: it is older than the process; -EACCES: others may write it. */
int jit_opened(struct jit *j, uint32_t space, int fd, uint64_t start_ns);

/* Each second: look again for what may have a name by now, and ask. */
void jit_tick(struct jit *j, uint64_t now_ns);

/* Forget what was idle. */
void jit_sweep(struct jit *j, uint64_t now_ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_JIT_H */
