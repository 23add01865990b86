/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executable - what is known of the files that programs run from
 *
 * An executable is a file's content, by its key.  loaderd's numbers stand for
 * it until that loaderd ends.  Its symbols come from a worker and stay as long
 * as it does, within a budget of bytes.  A key that a sample mentions before
 * loaderd has opened the file is an entry without a path.
 */
#ifndef SYMBOLIZERD_HUB_EXECUTABLE_H
#define SYMBOLIZERD_HUB_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_table.h"
#include "common/vector.h"
#include "ipc/counters.h"
#include "ipc/message_hub.h"
#include "symbolizerd/symbols/index.h"

#define EXECUTABLE_NONE		UINT32_MAX
#define EXECUTABLES_MAX		65536
#define EXECUTABLE_IDLE_INTERVALS	12
#define QUARANTINE_INTERVALS	120	/* idle, before it is tried again */
#define RETIRE_INTERVALS	3	/* samples may still carry the number */
#define SYMBOLS_BUDGET		(64u << 20)	/* of all idle ones */

struct executable {
	struct file_key key;
	char *path;		/* NULL: not opened yet; owned */
	const void *map;	/* of the symbols' memfd; NULL: none */
	size_t map_len;
	struct symbol_index symbols;
	uint64_t met_ns;	/* CLOCK_MONOTONIC, when first mentioned */
	uint32_t used;		/* interval of the last mention */
	uint32_t numbers;	/* that stand for it now */
	uint32_t jobs;		/* queued or running */
	uint32_t stamp;		/* of the pass that `batch_exe` belongs to */
	uint32_t batch_exe;
	bool wanted;		/* a sample waits for it */
	bool quarantined;	/* a worker died while parsing it */
	bool known;		/* build ID and so on are filled in */
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
	uint64_t seed;
};

void executables_init(struct executables *x, uint64_t seed);
void executables_fini(struct executables *x);

/* The entry of a key, made if there is none.  When there are EXECUTABLES_MAX,
 * the least recently used ones without a number and a job are forgotten.
 * EXECUTABLE_NONE when memory is short. */
uint32_t executables_mention(struct executables *x, const struct file_key *key,
			     uint32_t interval, uint64_t now_ns);

/* The entry of a key, or EXECUTABLE_NONE. */
uint32_t executables_find(const struct executables *x,
			  const struct file_key *key);

/* What a number stands for, or NULL. */
struct executable *executables_number(const struct executables *x,
				      uint32_t number);

/* From now on number stands for entry i.  path (len bytes) is where the file is;
 * NULL: keep the path that is known.  0 or -ENOMEM. */
int executables_assign(struct executables *x, uint32_t number, uint32_t i,
		       const char *path, size_t len);

/* The number means nothing after RETIRE_INTERVALS.  0 or -ENOMEM. */
int executables_retire(struct executables *x, uint32_t number,
		       uint32_t interval);

/* From now on no number means anything. */
void executables_forget_numbers(struct executables *x);

/*
 * A worker's answer.  map (owned from now on; may be NULL) holds idx.  False
 * when its fields make no sense: nothing is taken over then.
 */
bool executable_done(struct executable *e, const struct msg_job_done *done,
		     const void *map, size_t map_len,
		     const struct symbol_index *idx);

/* Forget idle entries that nothing refers to; drop symbols beyond the budget. */
void executables_sweep(struct executables *x, uint32_t interval);

/* Entries with a job, and in quarantine. */
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

#endif /* SYMBOLIZERD_HUB_EXECUTABLE_H */
