/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_share - CPU time that users may take, each as much as the others
 *
 * A percentage of one CPU, divided equally among the users that ask for it, asked in the
 * last minute, or are in debt; but root, whose files are what all run, has half of it.  A
 * user that used more than its part is in debt, and gets nothing until its parts have paid
 * for that; other users' parts stay as they are.  What is not needed is spare, up to a
 * window; at the start there are SPARE windows, which stay until they are used.  A user
 * who has nothing left gets half of it, if it then has any; so does one beyond USERS.  So
 * all together use what the share allows, what is spare at the start, and what is under way
 * for users that have nothing left.
 *
 * What is used for nobody in particular comes out of what is spare.  If that is not enough,
 * three quarters of the share pay for it, and users have the fourth.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_USER_SHARE_H
#define SYMBOLIZERD_KNOWLEDGE_USER_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

#define USER_SHARE_NS		(10 * NSEC_PER_SEC)	/* a window: kept at most */
#define USER_SHARE_SPARE	4	/* windows, at the start; owed at most */
#define USER_SHARE_IDLE_NS	(60 * NSEC_PER_SEC)
#define USER_SHARE_USERS	64	/* at a time, root not counted */

struct user_part {
	uint32_t owner;
	int64_t left_ns;	/* CPU time */
	uint64_t seen_ns;	/* when it last asked */
};

struct user_share {
	uint32_t percent;	/* of one CPU */
	uint64_t filled_ns;	/* when: CLOCK_MONOTONIC */
	uint64_t used_ns;	/* of all, until now */
	int64_t spare_ns;	/* less than 0: used for nobody in particular, and not paid */
	uint32_t n;
	struct user_part v[USER_SHARE_USERS + 1];
};

void user_share_init(struct user_share *s, uint32_t percent, uint64_t now_ns);

/* May this user begin something, when what it has under way will use so much?  now_ns that
 * is earlier than what was said before counts as that. */
bool user_share_left(struct user_share *s, uint32_t owner, uint64_t under_way_ns,
		     uint64_t now_ns);

/* Is it in debt, or has it used up its part? */
bool user_share_used_up(const struct user_share *s, uint32_t owner);

/* So much CPU time was used for it. */
void user_share_use(struct user_share *s, uint32_t owner, uint64_t ns);

/* So much was used for nobody in particular; at most USER_SHARE_SPARE windows are owed. */
void user_share_use_all(struct user_share *s, uint64_t ns);

/* What a window brings a user, CPU time, if all have equal parts. */
uint64_t user_share_window(const struct user_share *s);

#endif /* SYMBOLIZERD_KNOWLEDGE_USER_SHARE_H */
