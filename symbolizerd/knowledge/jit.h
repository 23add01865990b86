/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit - names of code that lies in memory of no file
 *
 * A JIT may write what its code is called into a perf map or a jitdump
 * (symbolizerd/symbols/).  When a sample has an address in a process that has no name
 * yet, a worker looks for it there: in the jitdump, if there is one, then in the perf
 * map.  A file is read at most every JIT_GAP_NS, for all addresses that wait, and its
 * descriptor stays here, so that it can be read when the process has ended.  A name is
 * that of the moment when the file was read; it is looked up again after JIT_AGAIN_NS,
 * since memory is used again.
 *
 * The same address means something else in each process: a trace that has such frames
 * carries the number of the process here, its space.
 *
 * Room is bounded, by process and in all.  Where there is none left, the user whose
 * processes have most gives first.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_JIT_H
#define SYMBOLIZERD_KNOWLEDGE_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "common/hash_table.h"
#include "common/vector.h"
#include "ipc/counters.h"
#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/tables/owners.h"

#define JIT_PROCESSES	1024u
#define JIT_PLACES	8192u		/* addresses of a process */
#define JIT_BYTES	(16u << 20)	/* of all addresses, with their names */
#define JIT_FDS		32u		/* processes whose files are open */
#define JIT_DUMPS	16u		/* jitdumps of processes that have no sample yet */
#define JIT_GAP_NS	2000000000ULL
#define JIT_AGAIN_NS	60000000000ULL
#define JIT_MISSING_NS	64000000000ULL	/* a file that is not there: at most so rarely */
#define JIT_YOUNG_NS	4000000000ULL	/* so long a file may be behind */
#define JIT_IDLE	12u		/* intervals without a sample */
#define JIT_ASK		512u		/* addresses of a visit */

enum jit_source { JIT_DUMP = 0, JIT_MAP, JIT__SOURCES };

enum jit_state {
	JIT_FREE = 0,
	JIT_WANTED,		/* is looked for; may have a former name */
	JIT_KNOWN,
	JIT_NAMELESS,
};

struct jit_place {
	uint64_t addr;
	uint64_t born_ns;	/* CLOCK_MONOTONIC */
	uint64_t at_ns;		/* when it was looked for; likewise */
	char *name;		/* owned, .file in the same piece; NULL: none */
	const char *file;	/* "": unknown */
	uint32_t line;		/* 0: unknown */
	uint32_t space;
	uint32_t bytes;		/* charged to .owner */
	uint32_t owner;
	uint32_t used;		/* interval of the last sample */
	uint8_t state;		/* enum jit_state */
	uint8_t tried;		/* bits: enum jit_source */
};

struct jit_file {
	int fd;			/* -1: none; owned */
	uint64_t size;		/* when it was read */
	uint64_t next_ns;	/* not before; UINT64_MAX: never again */
	uint32_t missing;	/* times that it was not there, in a row */
};

struct jit_process {
	uint64_t start_ns, exec_id;
	uint32_t tgid, space;	/* 0: free */
	uint32_t owner;		/* OWNER_UNKNOWN until a file was opened */
	uint32_t n_places;
	uint32_t used;		/* interval of the last sample */
	bool visit;		/* a worker is at it, or a job waits */
	bool grown;		/* a file is longer than when it was read, seen at: */
	uint64_t grown_ns;
	bool look;		/* while looking for what is to be asked again */
	enum jit_source source;	/* of that visit */
	uint64_t dump_until_ns;	/* its jitdump may still come */
	struct jit_file file[JIT__SOURCES];
	VECTOR(uint32_t) wanted;	/* places */
};

/* A question for a worker: n words, each a FRAME_ANON.  fd: the file (borrowed), -1: the
 * process's perf map is to be opened.  0; or -errno, and jit_answer() does not come. */
struct jit_question {
	uint64_t start_ns;
	uint32_t tgid, space, owner;
	const uint64_t *words;
	size_t n;
	int fd;
};
typedef int (*jit_visit_fn)(void *ctx, const struct jit_question *q);

struct jit {
	uint64_t seed;
	jit_visit_fn visit;	/* the owner's to set; NULL: nothing gets a name */
	void *ctx;
	struct hub_stats *stats;	/* borrowed */
	struct jit_process *v;	/* [JIT_PROCESSES]; NULL until needed */
	uint32_t generation;
	struct hash_table by_key;	/* of .v */
	VECTOR(struct jit_place) places;
	VECTOR(uint32_t) free_places;
	struct hash_table by_addr;	/* of .places */
	struct owners bytes;
	uint32_t hand;		/* where the next one that gives is looked for */
	struct {
		uint32_t tgid;	/* 0: free */
		int fd;
	} dumps[JIT_DUMPS];
	uint32_t next_dump;
};

void jit_init(struct jit *j, uint64_t seed, struct hub_stats *stats);
void jit_fini(struct jit *j);

/* The space of a record that was judged: 0 if no frame of it is in memory of no file, or
 * there is no room. */
uint32_t jit_space(struct jit *j, const struct trace_rec *rec, uint32_t interval);

/* A stack of this space has been sampled: what has no name is to be looked for. */
void jit_mention(struct jit *j, uint32_t space, const uint64_t *words, size_t n,
		 uint32_t interval, uint64_t now_ns);

/* What is known of an address; NULL: nothing. */
const struct jit_place *jit_find(const struct jit *j, uint32_t space, uint64_t addr);

/* May it have a name soon?  It is being looked for; or it is new, or its process's file
 * has grown: that may be behind, since JITs write through buffers. */
bool jit_waits(struct jit *j, uint32_t space, uint64_t addr, uint64_t now_ns);

/* Is this the path of a jitdump? */
bool jit_is_dump(const char *path, size_t len);

/* Process tgid maps this jitdump (fd borrowed). */
void jit_dump(struct jit *j, uint32_t tgid, int fd, uint64_t now_ns);

/* The perf map that was asked for (fd borrowed) of a process that began at start_ns
 * (CLOCK_REALTIME).  0; or -ESTALE: it is older than the process. */
int jit_opened(struct jit *j, uint32_t space, int fd, uint64_t start_ns);

/* The answer to a question: names of its words, or NULL and the reason (jobs_ops.names). */
void jit_answer(struct jit *j, uint32_t space, const uint64_t *words, size_t n,
		const struct frame_names *names, int result, uint64_t now_ns);

/* Each second: ask what is due. */
void jit_tick(struct jit *j, uint64_t now_ns);

/* Forget what was idle. */
void jit_sweep(struct jit *j, uint32_t interval);

#endif /* SYMBOLIZERD_KNOWLEDGE_JIT_H */
