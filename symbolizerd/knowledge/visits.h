/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visits - frames that wait for names that a worker reads, and when it does
 *
 * A name that no record and no symbol index has is read elsewhere: in a process's memory,
 * in a file of its JIT, in an executable's DWARF.  Each of these is a target.  Frames of a
 * target wait together, and one visit names many: a question for a worker
 * (symbolizerd/jobs/jobs.h), which is answered once, or forgotten.
 *
 * What a target costs does not depend on what it runs: so many of its frames wait, it has
 * one visit at a time, and there is a pause between two of them.  What all cost is bounded
 * by the rules, and shared by owners:
 * - Half of the visits under way are one owner's at most.  The next one is for the owner
 *   with the fewest under way, then for the one that was not served for longest, then for
 *   the target that was not visited for longest, or never, and waits longest.
 * - None begins for an owner whose part of the CPU time for all workers is used up
 *   (user_share.h), but at a recording's end: what waits for that has no place among those
 *   under way.
 * - Where there is no room for a target, the owner with the most loses the one that
 *   was not used for longest.  Where there is no room for a frame, the owner with the
 *   most waiting loses those of a target.  A client hears of each frame that is
 *   lost, so that it is wanted again when a sample meets it again.  An owner that has
 *   the most itself waits until its own are answered.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_VISITS_H
#define SYMBOLIZERD_KNOWLEDGE_VISITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/process.h"
#include "common/hash_table.h"
#include "common/vector.h"
#include "symbolizerd/knowledge/user_share.h"
#include "symbolizerd/symbols/frame_names.h"

#define VISIT_KEY	4	/* words of a target's key: what they say is the client's */
#define VISITS_CLOSED_NS	600000000000ULL	/* the first time, then each time twice as long */
#define VISITS_CLOSED_DOUBLED	4	/* times at most */
#define VISIT_LOST	(-ENOBUFS)	/* of a frame: it had to go for want of room */

struct visit_key {
	uint64_t v[VISIT_KEY];
};

/* Of what a process has: which of it is the client's to say. */
static inline struct visit_key visit_key_of(const struct process_id *p, uint64_t which)
{
	return (struct visit_key){ { p->start_ns, p->exec_id, p->tgid, which } };
}

static inline struct process_id visit_process(const struct visit_key *key)
{
	return (struct process_id){ key->v[0], (uint32_t)key->v[2], (uint32_t)key->v[1] };
}

struct visit_target {
	struct visit_key key;
	uint32_t number;	/* of this target alone, and of its questions; 0: free */
	uint32_t owner, account;	/* account: element of .accounts */
	uint32_t visits;	/* until now */
	uint32_t failures;	/* in a row that were not its fault */
	uint32_t asked;		/* frames of the visit under way; 0: none */
	uint64_t asked_ns;	/* the last one began; 0: never */
	uint64_t next_ns;	/* no visit before */
	uint64_t used_ns;
	uint64_t since_ns;	/* what waits longest, and is not asked for */
	bool urgent;
	bool put_off;		/* its owner's part of the CPU time is used up */
	uint64_t closed_ns;	/* is not visited before */
	uint32_t closed;	/* times */
	VECTOR(uint64_t) words;	/* of the frames that wait; first those asked for */
};

/* A question for a worker. */
struct visit_question {
	struct process_id process;	/* of a file: 0 */
	uint32_t runtime;	/* whose names they are: enum runtime */
	uint32_t number;	/* of the target */
	uint32_t owner;
	const uint64_t *words;	/* borrowed; of frames (bpf/frame.h), or offsets */
	size_t n;
	int fd;			/* what is to be read (borrowed); -1: it is to be opened */
};

/* Hand a question to a worker.  0; or -errno, and there is no other answer. */
typedef int (*visit_fn)(void *ctx, const struct visit_question *q);

struct visits_rules {
	uint32_t targets;
	uint32_t frame_words;
	uint32_t ask;		/* frames of a visit, and of a target that wait */
	uint32_t waiting;	/* frames of all targets */
	uint32_t at_once;	/* visits */
	uint32_t failures;	/* so many, and the frames stay without names; 0: for ever */
	uint64_t gap_ns;	/* from a visit to the next; each time twice as long */
	uint64_t gap_max_ns;
	uint64_t late_ns;	/* what is not urgent waits so long */
	uint64_t idle_ns;	/* an unused target is kept so long */
};

enum visit_ready { VISIT_NOW, VISIT_LATER, VISIT_NEVER };

/* What a client does.  None may free the struct visits. */
struct visits_ops {
	/* A visit to t is due, and its owner has so many under way.  VISIT_NEVER: what
	 * waits is lost.  NULL: always VISIT_NOW. */
	enum visit_ready (*ready)(void *ctx, const struct visit_target *t, uint32_t under_way,
				  uint64_t now_ns);
	/* Complete the question and hand it to a worker, as visit_fn. */
	int (*ask)(void *ctx, const struct visit_target *t, struct visit_question *q);
	/* A frame by its words: it has the names from `first` on, n of them.  n 0: it gets
	 * none, for this reason: -errno or a job_verdict.  May call visits_want(), but not
	 * for this target. */
	void (*name)(void *ctx, const struct visit_target *t, const uint64_t *words,
		     const struct frame_names *names, uint32_t first, uint32_t n, int result);
	/* An answer has come, and its frames were told, unless visits_delayed().  May be
	 * NULL. */
	void (*answered)(void *ctx, struct visit_target *t, int result);
	/* The target goes.  May be NULL. */
	void (*dropped)(void *ctx, const struct visit_target *t);
};

/* What an owner has. */
struct visit_account {
	uint64_t served_ns;	/* its last visit began */
	uint32_t owner;
	uint32_t targets;	/* 0: free */
	uint32_t waiting;	/* frames */
	uint32_t under_way;	/* visits */
};

struct visits {
	const struct visits_rules *rules;
	const struct visits_ops *ops;
	void *ctx;
	uint64_t seed;
	struct visit_target *v;	/* [rules->targets]; NULL until needed */
	struct hash_table by_key;	/* of .v */
	struct visit_account *accounts;	/* one more than .v */
	uint32_t generation;
	uint32_t waiting;	/* frames */
	uint32_t under_way;
	uint64_t now_ns;	/* of the last call that was told the time */
	uint64_t look_ns;	/* nothing new is due before, but for what is late */
	bool ending;		/* no pause between visits; only with rules->failures */
	/* CPU time of all workers, borrowed as the counter; NULL: there is no limit */
	struct user_share *share;
	uint64_t *put_off;	/* targets that waited for their owner's part */
	uint32_t reserve;	/* such a fraction of a user's window is kept for others' work */
	uint64_t asked;		/* questions, until now */
	uint64_t lost;		/* frames that found no room, or had to go */
};

void visits_init(struct visits *m, const struct visits_rules *rules,
		 const struct visits_ops *ops, void *ctx, uint64_t seed);
void visits_fini(struct visits *m);

/* The target with this key, which is made if it is not there; it was used.  NULL: there is
 * no room, or no memory. */
struct visit_target *visits_target(struct visits *m, const struct visit_key *key,
				   uint32_t owner, uint64_t now_ns);

/* Frames that wait, of all targets of this one's owner. */
uint32_t visits_waiting(const struct visits *m, const struct visit_target *t);

/* The target of this number; NULL: it is gone. */
struct visit_target *visits_find(const struct visits *m, uint32_t number);
struct visit_target *visits_of_key(const struct visits *m, const struct visit_key *key);

/* Its place among all, below rules->targets: for what a client keeps of it. */
static inline uint32_t visits_slot(const struct visits *m, const struct visit_target *t)
{
	return (uint32_t)(t - m->v);
}

/* From now on it has this owner. */
void visits_give(struct visits *m, struct visit_target *t, uint32_t owner);

/* The target is not visited for a while: it has ended, is denied, or killed a worker.  That
 * may have been for want of time or memory, so it is tried again, if it is still there. */
void visits_close(const struct visits *m, struct visit_target *t);

/* A frame of the target wants names; what is not urgent may still get them otherwise.
 * False: there is no room now, or the target is closed. */
bool visits_want(struct visits *m, struct visit_target *t, const uint64_t *words,
		 bool urgent, uint64_t now_ns);

/* Ask what is due.  Each second with late: also what is not urgent.  Whenever frames may
 * have been wanted without: cheap, and may be 50 ms late with what was wanted before. */
void visits_ask(struct visits *m, bool late, uint64_t now_ns);

/* What waits of this target is urgent from now on; nothing, if nothing waits. */
void visits_hurry(struct visits *m, struct visit_target *t);

/* The pause after its last visit is no longer than this. */
void visits_shorten(struct visits *m, struct visit_target *t, uint64_t pause_ns);

/* The rules are others now (of as many targets): all that waits is urgent, and no pause is
 * longer than by them. */
void visits_hurry_all(struct visits *m);

/* May this target be visited until then? */
bool visits_due(const struct visits *m, const struct visit_target *t, uint64_t until_ns);

/* The answer to a question: names of its frames; or NULL and the reason, -errno or a
 * job_verdict. */
void visits_answer(struct visits *m, uint32_t number, const struct frame_names *names,
		   int result, uint64_t now_ns);

/* Frames that wait, and are not asked for, wait no more if the client has a name: has() may
 * forget them itself, and is not told again. */
void visits_settle(struct visits *m, struct visit_target *t,
		   bool (*has)(void *ctx, const struct visit_target *t, const uint64_t *words));

/* With this result a question is only delayed, and asked again. */
bool visits_delayed(int result);

/* Forget targets that are idle. */
void visits_sweep(struct visits *m, uint64_t now_ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_VISITS_H */
