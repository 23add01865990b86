/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_visits - which frames want their names read from their process's memory, and
 * when that is done
 *
 * BPF sends a function's names, but reads only what is in memory.  What it could not
 * read (pages of a file that the program never touched, or that were taken from it) a
 * worker can, for many frames in one visit.
 *
 * What a process costs does not depend on what it runs: so many frames of it wait, and
 * the time between two visits doubles up to VISITS_GAP_MAX_NS.  One user's processes have
 * at most a third of the room, and so have those whose user is not known yet.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_MANAGED_VISITS_H
#define SYMBOLIZERD_KNOWLEDGE_MANAGED_VISITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/vector.h"
#include "ipc/message_hub.h"
#include "symbolizerd/knowledge/jit.h"

#define VISITS_PROCESSES	256u
#define VISITS_FRAMES		(JOB_WORDS_MAX / 2)	/* of a process that wait */
#define VISITS_WAITING		2048u			/* of all */
/* of one user, of VISITS_PROCESSES and of VISITS_WAITING */
#define VISITS_SHARE(max)	((max) / 3)
#define VISITS_GAP_NS		500000000ULL
#define VISITS_GAP_MAX_NS	8000000000ULL
#define VISITS_LATE_NS		300000000ULL	/* so long BPF may still send them */
#define VISITS_IDLE_NS		60000000000ULL

/* What stands for a function in a process. */
struct managed_key {
	uint64_t start_ns, exec_id, function;
	uint32_t tgid, runtime, cookie, pad;
};

struct visit_process {
	struct managed_key key;	/* of none of its functions */
	uint64_t next_ns;	/* no visit before */
	uint64_t used_ns;	/* a frame was wanted; 0: free */
	uint32_t space;		/* the number that its questions have; never 0 */
	uint32_t owner;
	uint32_t visits;
	uint32_t asked;		/* words of the visit that is under way; 0: none */
	bool urgent;
	bool never;		/* it has ended, or must not be visited */
	uint64_t since_ns;	/* what waits longest */
	VECTOR(uint64_t) words;	/* two a frame: bpf/frame.h */
};

struct managed_visits {
	struct visit_process *v;	/* [VISITS_PROCESSES]; NULL until needed */
	uint32_t generation;
	uint32_t waiting;	/* frames */
};

void visits_fini(struct managed_visits *m);

/*
 * A frame wants names; urgent: BPF has tried.  Else it may still send them.  False: there
 * is no room, or its process is not visited.
 */
bool visits_want(struct managed_visits *m, const struct managed_key *key, uint32_t owner,
		 bool urgent, uint64_t now_ns);

/* The next question, if one is due; late: also for what is not urgent.  It is under way
 * then; its words are borrowed, until the next call of visits_want(). */
bool visits_next(struct managed_visits *m, bool late, uint64_t now_ns,
		 struct jit_question *ret);

/* Is the question with this number under way?  Then a key of its process in *ret. */
bool visits_asked(const struct managed_visits *m, uint32_t space,
		  struct managed_key *ret);

/* With this result (jobs_ops.names) the question is asked again. */
bool visits_again(int result);

/* It is answered: its frames do not wait any more, unless it is asked again. */
void visits_answered(struct managed_visits *m, uint32_t space, int result);

/* Forget processes that are idle. */
void visits_sweep(struct managed_visits *m, uint64_t now_ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_MANAGED_VISITS_H */
