/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executable - what is known of the files that programs run from
 *
 * An executable is a file's content, by its key.  loaderd's numbers stand for
 * it until that loaderd ends.  Its symbols come from a worker, whole, and stay so until
 * samples have met no new one for LET_GO_INTERVALS: then only those stay that samples met, and
 * the file is read again when a sample meets another one.  If that is soon, they went too
 * early: the next time they stay twice as long, LET_GO_DOUBLED times at most.
 *
 * There are two budgets of bytes for whole tables: for idle ones, and for all.  Beyond them
 * the owner with the most loses the table that was in no sample for longest, but for what
 * samples met.  That is kept as long as the entry, which is as long as a process maps the
 * file, in a memory of its own (file_symbols.h).  Whatever went is read again when a sample
 * asks for it, within bounds (read_again.h).
 *
 * A key that a sample mentions before loaderd has opened the file is an entry without a path.
 *
 * Symbols are read when a sample meets the file, which may be when no process runs
 * it any more: until then its descriptor is kept.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_EXECUTABLE_H
#define SYMBOLIZERD_KNOWLEDGE_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_table.h"
#include "common/vector.h"
#include "ipc/counters.h"
#include "ipc/message_hub.h"
#include "symbolizerd/knowledge/file_symbols.h"
#include "symbolizerd/knowledge/name_source.h"
#include "symbolizerd/knowledge/read_again.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/tables/owners.h"

#define EXECUTABLE_NONE		UINT32_MAX
#define EXECUTABLES_MAX		65536
/* An entry that no number stands for is forgotten after so many intervals without a mention;
 * one in quarantine later: else its file would be tried at once when it comes again. */
#define EXECUTABLE_IDLE_INTERVALS	12
#define QUARANTINE_INTERVALS	120
#define RETIRE_INTERVALS	3	/* samples may still carry the number */
#define SYMBOLS_TRIES		3	/* for want of memory or processes */
#define LET_GO_INTERVALS	6	/* without a new name: half a minute by default */
#define LET_GO_DOUBLED		3	/* times at most */
#define EXECUTABLE_OPEN_NS	2000000000ULL	/* samples wait so long for an unknown file */
#define KEPT_S			60	/* so long at least, if it is not mapped */
#define SYMBOLS_BUDGET		(64u << 20)	/* of all idle ones */
#define SYMBOLS_BUDGET_ALL	(256u << 20)	/* a quarter of HUB_AS_BYTES */

struct executable {
	struct file_key key;
	char *path;		/* NULL: not opened yet; owned */
	bool host_path;		/* it is the host's */
	struct file_symbols s;
	struct read_again again;
	uint32_t gone_interval;	/* when its symbols were let go, if .gone */
	uint32_t doubled;	/* how often the time until that is twice as long */
	uint32_t new_interval;	/* of the last symbol that was new to samples */
	bool fresh;		/* .new_interval is not set yet */
	bool gone;
	uint32_t used;		/* interval of the last mention */
	uint32_t numbers;	/* that stand for it now */
	uint32_t number;	/* the last that was given to it */
	uint32_t jobs;		/* queued or running */
	uint32_t tries;		/* at its symbols, which we were too poor for */
	uint32_t owner;		/* of the file (symbolizerd/tables/owners.h) */
	uint64_t layer;		/* MSG_LAYER() of it */
	uint32_t stamp;		/* of the pass that `batch_exe` belongs to */
	uint32_t batch_exe;
	uint64_t wanted_ns;	/* CLOCK_MONOTONIC, since when */
	uint64_t kept_ns;	/* likewise, .fd */
	int fd;			/* for its symbols; -1: none; owned */
	uint32_t fd_owner;	/* on whose account */
	bool wanted;		/* a sample has met it, and .named is false */
	bool renew;		/* it is to be read anew: its debug file is there now */
	uint32_t debug;		/* enum job_debug: what the last worker found */
	uint64_t debug_asked_ns;	/* when it was looked for again; 0: never */
	uint64_t debug_print;	/* of the one for which it was read anew last; 0: none */
	bool lines;		/* it, or its debug file, has DWARF, or may have */
	bool lines_seen;	/* a visit to that found some */
	bool no_lines;		/* a visit failed */
	uint8_t lines_deaths;	/* visits that killed their worker */
	uint64_t lines_again_ns;	/* if .no_lines: it is visited again; 0: never */
	bool lacks_dwarf;	/* JOB_DEBUG_LINES, and it found no debug file */
	uint32_t lines_id;	/* what source_lines.h knows it by; 0: it does not */
	bool begins;		/* its program began when it was opened: no sample asked */
	bool quarantined;	/* a worker died while parsing it, a while ago at most */
	bool table_later;	/* it has no table, which may have been our fault */
	bool known;		/* build ID and so on are filled in */
	bool unknown;		/* its runtime's version is not, and that was said */
	bool named;		/* its symbols were read, or cannot be */
	uint8_t file_id[FILE_ID_LEN];
	char build_id[2 * BUILD_ID_MAX + 1];	/* hex; "": none */
	char *runtime_id;	/* NULL: none; owned */
	uint32_t runtime;	/* enum runtime */
};

struct retired {
	uint32_t number, interval;
};

struct executables {
	struct executable **v;	/* by index: NULL when free */
	uint32_t cap, top, n;	/* indices below top were used */
	uint32_t free_hint;	/* below, no index is free */
	struct hash_table by_key;
	uint32_t *by_number;	/* index + 1; 0: none */
	uint32_t numbers_cap;
	VECTOR(struct retired) retired;
	VECTOR(uint32_t) kept_list;	/* with a descriptor, the oldest first */
	struct owners kept;	/* descriptors */
	uint32_t kept_max;	/* at most so many; 0 until it is set */
	uint32_t kept_s;	/* KEPT_S, but for tests */
	struct met_symbols met;
	struct reads_again again;
	uint64_t let_go;	/* tables that went but for what samples met: nothing was new */
	uint64_t crowded;	/* entries and descriptors that went or were not taken: no room */
	uint64_t full;		/* tables that went so, or did not come, for want of room */
	uint32_t lasts;		/* LET_GO_INTERVALS, likewise */
	uint64_t seed;
};

void executables_init(struct executables *x, uint64_t seed);
void executables_fini(struct executables *x);

/* The entry of a key, made if there is none.  When there are EXECUTABLES_MAX,
 * the least recently used ones without a number and a job are forgotten.
 * EXECUTABLE_NONE when memory is short. */
uint32_t executables_mention(struct executables *x, const struct file_key *key,
			     uint32_t interval);

/* The entry of a key, or EXECUTABLE_NONE. */
uint32_t executables_find(const struct executables *x,
			  const struct file_key *key);

/* What a number stands for, or NULL. */
struct executable *executables_number(const struct executables *x,
				      uint32_t number);

/* From now on number stands for entry i.  path (len bytes) is where a process
 * sees the file; NULL: unknown.  A path of the host's is kept, and replaces
 * what is known; another one is kept while none is known.  0 or -ENOMEM. */
int executables_assign(struct executables *x, uint32_t number, uint32_t i,
		       const char *path, size_t len, bool host);

/* The number means nothing after RETIRE_INTERVALS.  0 or -ENOMEM. */
int executables_retire(struct executables *x, uint32_t number,
		       uint32_t interval);

/* From now on no number means anything. */
void executables_forget_numbers(struct executables *x);

/* A sample has met it at this offset: its symbols are wanted, or its table, if that could not
 * be made for now.  False: nothing is new, or it is too early to read it again. */
bool executable_want(struct executable *e, uint64_t off, uint64_t now_ns);

/* What is at this offset, as symbols_places() says it.  A sample has met that. */
uint32_t executable_places(struct executable *e, uint64_t off, uint32_t interval,
			   struct symbol_place ret[SYMBOL_DEPTH_MAX]);

extern const struct name_source executable_source;	/* it is in frame_place.exe */

/* Has it use for a descriptor, to have symbols read? */
bool executable_unread(const struct executable *e);

/* Likewise, or its lines? */
static inline bool executable_is_read(const struct executable *e)
{
	return !executable_unread(e) && (!e->lines || e->no_lines);
}

/* It has a debug file somewhere, and was read without it. */
static inline bool executable_lacks_debug(const struct executable *e)
{
	return e->debug == JOB_DEBUG_INSIDE || e->debug == JOB_DEBUG_MISSING || e->lacks_dwarf;
}

/* It is not known yet whether it has lines: no sample waits for that. */
static inline bool executable_lines_unsure(const struct executable *e)
{
	return e->debug == JOB_DEBUG_LINES && !e->lines_seen;
}

/* What is known of its lines is asked for anew. */
void executable_forget_lines(struct executable *e);

/* Its debug file is there, and this is its print: have it read anew by the next
 * sample, or its lines alone, if its names are its own.  False: that was done for this
 * one before. */
bool executable_renew(struct executable *e, uint64_t print);

/* A worker that reads it anew asks for its debug file, which is not at hand any more: so
 * that was not tried. */
void executable_missed_debug(struct executable *e);

/* What a worker says of it.  False when its fields make no sense: nothing is
 * taken over then. */
bool executable_known(struct executable *e, const struct msg_job_done *done);

/* It is of a runtime that trifold knows, in a version that it does not: true, and
 * logged, the first time. */
bool executable_version_unknown(struct executable *e,
				const struct msg_job_done *done);

/* Its symbols: map (owned from now on) holds idx.  NULL: there is no room for them, and they
 * are asked for again later. */
void executable_named(struct executable *e, const void *map, size_t map_len,
		      const struct symbol_index *idx);

/* Its symbols could not be read for want of memory or processes, which it may not
 * be to blame for: are they to be tried again? */
bool executable_again(struct executable *e);

/* A job ended so: a job_verdict, or -errno, our side failed.  Is that no fault of the file's, or
 * perhaps none, since the worker died? */
bool executable_later(int verdict);

/* Its job has ended without a result.  With executable_later() it is tried again, when a
 * sample asks for it. */
void executable_failed(struct executable *e, int verdict, uint64_t now_ns);

/* From now on it is this owner's. */
void executable_give(struct executable *e, uint32_t owner);

/*
 * May one more descriptor of this owner's be kept?  If not, *ret is the entry
 * whose descriptor goes first: of the owner with the most of them, the one
 * that was kept longest and is not wanted.  EXECUTABLE_NONE: all are wanted.
 */
bool executables_may_keep(struct executables *x, uint32_t owner, uint32_t *ret);

/* Keep fd (owned from now on, if true is returned) for entry i, which has none.
 * False: there is no memory. */
bool executables_keep(struct executables *x, uint32_t i, int fd,
		      uint64_t now_ns);

/* The descriptor of entry i, the caller's from now on; -1: it has none. */
int executables_take_fd(struct executables *x, uint32_t i);

/* Make room for len bytes of symbols of e, which are not whole.  False: there is none. */
bool executables_symbols_room(struct executables *x, const struct executable *e,
			      size_t len, uint32_t interval);

/* Forget idle entries that nothing refers to; let go of descriptors that no number
 * stands for, unless they are wanted; drop symbols beyond the budget. */
void executables_sweep(struct executables *x, uint32_t interval);

/* Let symbols go that samples have not met, of the first such entry from i on whose
 * last new one is long ago; or some went of it for want of room, since the last call.  Which
 * one: BPF is to ask for it again.  Or EXECUTABLE_NONE. */
uint32_t executables_let_names_go(struct executables *x, uint32_t i, uint32_t interval);

/* Entries with a job, or that wait for a place in the queue; and in quarantine. */
void executables_count(const struct executables *x, uint64_t *waiting,
		       uint64_t *failed);

/* The paths of the first ones in quarantine; the rest of *ret is zeroed. */
void executables_quarantine(const struct executables *x,
			    struct quarantine *ret);

static inline struct executable *executables_get(const struct executables *x,
						 uint32_t i)
{
	return x->v[i];
}

#endif /* SYMBOLIZERD_KNOWLEDGE_EXECUTABLE_H */
