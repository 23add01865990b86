/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_share - CPU time that users may take, each as much as the others
 *
 * So many percent of one CPU, divided equally among the users who ask for it, or have
 * asked in the last minute, or owe.  Who used more than his part owes it, and pays with
 * what he would get; the others' parts are not touched by that.  What nobody needs is
 * spare, up to SPARE windows, which is there at the start: a user whose part is used up
 * gets half of it, if he then has any.  So all use what the share allows, what is spare
 * at the start, and what those under way use when their user has nothing left.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_USER_SHARE_H
#define SYMBOLIZERD_KNOWLEDGE_USER_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

#define USER_SHARE_NS		(10 * NSEC_PER_SEC)	/* a window: kept at most */
#define USER_SHARE_SPARE	4			/* windows */
#define USER_SHARE_IDLE_NS	(60 * NSEC_PER_SEC)
#define USER_SHARE_USERS	64	/* at a time; others wait */

struct user_part {
	uint32_t owner;
	int64_t left_ns;	/* CPU time */
	uint64_t seen_ns;	/* when he last asked */
};

struct user_share {
	uint32_t percent;	/* of one CPU */
	uint64_t filled_ns;	/* when: CLOCK_MONOTONIC */
	uint64_t used_ns;	/* of all, until now */
	int64_t spare_ns;
	uint32_t n;
	struct user_part v[USER_SHARE_USERS];
};

void user_share_init(struct user_share *s, uint32_t percent, uint64_t now_ns);

/* A user asks: may he begin something, when what he has under way will use so much? */
bool user_share_left(struct user_share *s, uint32_t owner, uint64_t under_way_ns,
		     uint64_t now_ns);

/* Does he owe, or has he used up his part? */
bool user_share_used_up(const struct user_share *s, uint32_t owner);

/* So much CPU time was used for him. */
void user_share_use(struct user_share *s, uint32_t owner, uint64_t ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_USER_SHARE_H */
