/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files - which files loaderd knows, under which number, with which table
 *
 * loaderd opens a file, lets the kernel confirm what it is, and asks (MSG_EXE).
 * Here the file gets a number, later the table that a worker made of it.  When the
 * byte budget, the rules, the numbers or loaderd's map run short, the owner with
 * the most of that (owners.h) loses a file: the least recently used one.  A file
 * that no process maps and no sample has used is dropped after a while.  Its key
 * is dropped first, its space is free after a grace period (tables.h), and its
 * number is reused when no record can have it any more.
 */
#ifndef SYMBOLIZERD_TABLES_FILES_H
#define SYMBOLIZERD_TABLES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/runtime.h"
#include "common/hash_table.h"
#include "ipc/message_hub.h"
#include "symbolizerd/tables/out.h"
#include "symbolizerd/tables/tables.h"

#define FILE_NUMBERS_MAX	(2 * FILES_MAX)	/* with those that rest before reuse */

struct known_file {		/* by number */
	struct file_key key;
	struct table_ref table;
	uint64_t id;		/* of the pending MSG_EXE; 0: none */
	uint64_t after;		/* if free: message that must be settled before reuse */
	uint32_t next;		/* if free: the one that was freed next; 0: none */
	uint32_t used_s;	/* last use; if free: since when */
	uint32_t need;		/* bytes that its table waits for */
	uint32_t tgid;		/* a process that ran it; 0: none known */
	uint32_t runs_as;	/* its owner (owners.h) */
	uint32_t owner;		/* of the file; if free: of the last one */
	uint8_t state;		/* enum file_state, without FILE_ASK* */
	uint8_t runtime;
	bool used;		/* the number stands for key */
	bool mapped;		/* by some process, at the last answer to out->list() */
	bool host;		/* its path on the host is known */
};

struct file_policy {
	struct known_file *v;
	uint32_t n, cap;	/* all numbers ever given are below n */
	struct hash_table by_key;
	uint32_t free_first, free_last;	/* numbers to reuse; 0: none */
	uint32_t waiting;	/* files with .need */
	uint32_t idle_s;	/* a file without use for so long is dropped */
	uint32_t now_s;		/* at the last tick */
	uint32_t listed_s;	/* when MSG_LIST was sent last */
	uint32_t list_s;	/* time between two MSG_LIST; 0: .idle_s */
	uint32_t sweep;		/* number to check next; 0: done */
	uint32_t of_runtime[RUNTIME__MAX];	/* files; that of RUNTIME_NONE is of no use */
	bool up;		/* files_begin() was called */
	uint64_t seed;
	struct owners owners;	/* files of each owner */
	struct owners numbers;	/* numbers of each owner, with resting ones */
	struct table_policy tables;
	struct table_stats stats;
	const struct tables_out *out;
	void *ctx;
};

void files_init(struct file_policy *f, uint64_t seed, const struct tables_out *out,
		void *ctx);
void files_fini(struct file_policy *f);

/* A loaderd has connected.  All numbers become invalid (out->dropped() for each).  0
 * or -ENOMEM. */
int files_begin(struct file_policy *f, uint64_t budget, uint32_t idle_s,
		uint32_t now_s);

/* What a former hub left: slabs (as tables_adopt_slab()), then all entries.  Invalid
 * ones are dropped, except for the vDSO's key: loaderd adds that itself, once a
 * connection, and files_exe() must follow. */
bool files_adopt_slab(struct file_policy *f, uint32_t slab, const void *map);
int files_adopt(struct file_policy *f, const struct msg_entry *v, uint32_t n);

/*
 * loaderd asks for a file's table (id 0: it only has the key).  owner: of the file
 * (owners.h).  Returns the file's number, and one of the functions below must
 * follow; or -errno: loaderd has got its answer, and the descriptor is not needed.
 */
int files_exe(struct file_policy *f, const struct msg_exe *m, uint32_t owner,
	      uint64_t id);

/* A worker's table of len bytes. */
void files_table(struct file_policy *f, uint32_t number, const void *data,
		 size_t len);
/* The file's runtime (below RUNTIME__MAX), to be sent with the next message about it. */
void files_runtime(struct file_policy *f, uint32_t number, uint32_t runtime);
/* There will be no table, and the file is FILE_BARE or FILE_CODE; an installed one stays. */
void files_no_table(struct file_policy *f, uint32_t number, enum file_state state);
/* No worker is free: loaderd asks again, or out->vdso() for the vDSO. */
void files_later(struct file_policy *f, uint32_t number);
/* Still queued for a worker: loaderd need not wait for the answer. */
void files_pending(struct file_policy *f, uint32_t number);
/* Everything is known already. */
void files_settled(struct file_policy *f, uint32_t number);

/* Is it known whether there is a table? */
bool files_has_answer(const struct file_policy *f, uint32_t number);

/* loaderd's statistics: n messages are settled (tables.h), and the samples until then
 * have been received.  False: that is an offence. */
bool files_settled_to(struct file_policy *f, uint64_t n);

/* A sample used it just now. */
void files_used(struct file_policy *f, uint32_t number);

/* Answer to out->list(): MAPPED_BYTES of bits. */
void files_mapped(struct file_policy *f, const uint64_t *bits);

/* The number of a key, or EXE_NONE; what a number stands for, or NULL. */
uint32_t files_find(const struct file_policy *f, const struct file_key *key);
const struct known_file *files_get(const struct file_policy *f, uint32_t number);

/* To be called each second: forgets files, makes room, compacts slabs. */
void files_tick(struct file_policy *f, uint32_t now_s);

void files_stats(const struct file_policy *f, struct table_stats *ret);

#endif /* SYMBOLIZERD_TABLES_FILES_H */
