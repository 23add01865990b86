/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_files - debug files that come after an executable was read
 *
 * A worker says of an executable whether it lacks its debug file (executable.h).  While
 * samples meet such a one, loaderd's opener is asked again each DEBUG_AGAIN_NS: a
 * package that was installed meanwhile is found.  debug_files_found() takes what comes,
 * from there or from a server, and has each executable of that build ID read anew at
 * its next sample; the worker's question is answered from here (debug_files_get()).
 * Batches that left keep their names, later ones have the new ones.
 *
 * A file may have its debug file, and lack the alternate file of that.  Each visit for its
 * lines asks for it; if the host has none, servers are asked, and what comes has the lines
 * asked for anew.
 *
 * A user with many programs of invented build IDs does not keep others waiting: questions
 * are shared by owner (debug_files_may_ask()).
 *
 * A descriptor holds on to a file system, so one of a host's file goes after
 * DEBUG_LOCAL_NS; one of a server after DEBUG_SERVER_NS without use, or when it proved to
 * be of no use.  Beyond DEBUG_FILES_MAX, and of servers' files in memory beyond
 * DEBUG_SERVER_BYTES, the least recently used one goes.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_DEBUG_FILES_H
#define SYMBOLIZERD_KNOWLEDGE_DEBUG_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/message_hub.h"
#include "ipc/message_loader.h"
#include "symbolizerd/knowledge/executable.h"

#define DEBUG_FILES_MAX	64	/* descriptors */
#define DEBUG_ASKS_MAX	3	/* with loaderd, which takes four: one is for a worker */
#define DEBUG_LACKING_MAX	32	/* files whose alternate file is not there */
#define DEBUG_AGAIN_NS	45000000000ULL	/* with a visit, found within a minute */
#define DEBUG_ANSWER_NS	5000000000ULL	/* none comes any more */
#define DEBUG_LOCAL_NS	60000000000ULL
#define DEBUG_SERVER_NS	600000000000ULL
#define DEBUG_SERVER_BYTES	(256ULL << 20)	/* but for the last that came */
#define DEBUG_MET_INTERVALS	12	/* samples met it: a minute by default */

struct build_id {
	uint32_t len;		/* 2 to BUILD_ID_MAX */
	uint8_t bytes[BUILD_ID_MAX];
};

/* What looks for files. */
struct debug_files_ops {
	/* Have loaderd look for this build ID as the executable of this number would:
	 * debug_files_answer() follows.  0 or -errno. */
	int (*ask)(void *ctx, uint32_t number, const struct build_id *id);
	/* The host has none: samples meet an executable of this owner with this build ID
	 * that lacks its debug file.  Once when it was read, then at most each
	 * DEBUG_AGAIN_NS while that is so.  useless: what a server had for it was read,
	 * and is not what it should be.  False: not now; after it was read that is tried
	 * again soon.  May be NULL. */
	bool (*missing)(void *ctx, const struct build_id *id, uint32_t owner, bool useless);
};

struct debug_at_hand {
	struct build_id id;
	int fd;
	enum debug_source source;
	uid_t uid;		/* of the file */
	uint64_t since_ns, used_ns;
	uint64_t bytes;		/* of a server's that is memory; else 0 */
};

struct debug_ask {
	uint64_t since_ns;	/* 0: none */
	uint32_t number, owner;
	bool useless;		/* as of missing() above */
	struct build_id id;
};

/* A question for an alternate file, or its answer. */
struct debug_lacking {
	uint32_t lines_id;	/* of the file that lacks it; 0: free */
	uint32_t number, owner;	/* of that */
	uint64_t missing_ns;	/* when servers were to be asked; 0: never */
	uint64_t turn;		/* the larger, the later it came */
	struct build_id id;
};

struct debug_files {
	struct debug_at_hand v[DEBUG_FILES_MAX];
	uint32_t n;
	struct debug_ask asks[DEBUG_ASKS_MAX];
	struct debug_lacking lacking[DEBUG_LACKING_MAX];
	uint64_t turn;		/* of the next of these */
	uint32_t next;		/* the executable that is looked at next */
	uint64_t again_ns;	/* DEBUG_AGAIN_NS, but for tests */
	const struct debug_files_ops *ops;	/* NULL: nothing is asked */
	void *ctx;
};

/* Of so many questions that may be under way, so many are, and this owner has `own` of
 * them: may it ask one more?  An owner with none may, while there is room; the more one
 * has, the more room there must be for others, and four are the most. */
static inline bool debug_files_may_ask(uint32_t own, uint32_t used, uint32_t all)
{
	if (!own)
		return used < all;
	return all - used > own * all / 4;
}

void debug_files_init(struct debug_files *d);
void debug_files_fini(struct debug_files *d);

/* This is the debug file of this build ID (fd is owned from now on): executables of
 * x that lack it, and to which it may belong by its owner, are read anew when a sample
 * meets them; if a worker has one just now, some seconds later.  How many at once. */
uint32_t debug_files_found(struct debug_files *d, struct executables *x,
			   const struct build_id *id, int fd, enum debug_source source,
			   uint64_t now_ns);

/* A debug file of this build ID for an executable of this owner (tables/owners.h), or
 * NULL: .fd stays here. */
const struct debug_at_hand *debug_files_get(struct debug_files *d, const struct build_id *id,
					    uint32_t owner, uint64_t now_ns);

/* loaderd's answer to the question for this number: fd is owned from now on; -1:
 * there is none. */
void debug_files_answer(struct debug_files *d, struct executables *x, uint32_t number, int fd,
			uint64_t now_ns);

/* A worker that reads e's lines has loaderd asked for this, of which alternate files are
 * remembered: of so many questions that whoever has most of them gives first.  Then: the
 * host has none for the file of this number. */
void debug_files_wants(struct debug_files *d, const struct executable *e,
		       const struct msg_wanted *q);
void debug_files_no_alternate(struct debug_files *d, uint32_t number, uint64_t now_ns);

/* Each second: let go of what is old, and ask again for some that lack theirs. */
void debug_files_tick(struct debug_files *d, struct executables *x, uint32_t interval,
		      uint64_t now_ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_DEBUG_FILES_H */
