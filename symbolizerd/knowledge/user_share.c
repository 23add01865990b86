// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/user_share.h"

#include <stddef.h>

static int64_t user_share_of(const struct user_share *s, uint64_t ns)
{
	return (int64_t)(ns / 100 * s->percent);
}

void user_share_init(struct user_share *s, uint32_t percent, uint64_t now_ns)
{
	*s = (struct user_share){ .percent = percent, .filled_ns = now_ns };
	s->spare_ns = user_share_of(s, USER_SHARE_SPARE * USER_SHARE_NS);
}

static struct user_part *user_share_find(const struct user_share *s, uint32_t owner)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->v[i].owner == owner)
			return (struct user_part *)&s->v[i];
	}
	return NULL;
}

/* NULL: there are too many.  Root has a place in any case. */
static struct user_part *user_share_user(struct user_share *s, uint32_t owner)
{
	struct user_part *u = user_share_find(s, owner);
	uint32_t most = USER_SHARE_USERS;

	if (u)
		return u;
	if (!owner || user_share_find(s, 0))
		most++;
	if (s->n >= most)
		return NULL;
	u = &s->v[s->n++];
	*u = (struct user_part){ .owner = owner };
	return u;
}

/* A user who has not asked lately, and owes nothing, gets no part. */
static void user_share_forget(struct user_share *s, uint64_t now_ns)
{
	for (uint32_t i = 0; i < s->n;) {
		struct user_part *u = &s->v[i];

		if (u->left_ns < 0 || now_ns - u->seen_ns < USER_SHARE_IDLE_NS) {
			i++;
			continue;
		}
		s->spare_ns += u->left_ns;
		*u = s->v[--s->n];
	}
}

/* What all owe is paid first, by three quarters of what came.  Returns how much that is. */
static int64_t user_share_pay(struct user_share *s, int64_t came)
{
	int64_t pays = came / 4 * 3;

	if (s->spare_ns >= 0)
		return 0;
	if (pays > -s->spare_ns)
		pays = -s->spare_ns;
	s->spare_ns += pays;
	return pays;
}

/* Of what came: equal parts, but root, if others are there, has half. */
static int64_t user_share_part(const struct user_share *s, const struct user_part *u,
			       int64_t came)
{
	if (s->n == 1 || !user_share_find(s, 0))
		return came / s->n;
	if (!u->owner)
		return came / 2;
	return came / 2 / (s->n - 1);
}

static void user_share_fill(struct user_share *s, uint64_t now_ns)
{
	int64_t most = user_share_of(s, USER_SHARE_NS);
	int64_t rest = user_share_of(s, now_ns - s->filled_ns);
	int64_t kept = s->spare_ns > most ? s->spare_ns : most;
	int64_t came;

	came = rest - user_share_pay(s, rest);
	rest = came;
	s->filled_ns = now_ns;
	for (uint32_t i = 0; i < s->n; i++) {
		struct user_part *u = &s->v[i];
		int64_t room = u->left_ns < most ? most - u->left_ns : 0;
		int64_t part = user_share_part(s, u, came);
		int64_t more = part < room ? part : room;

		u->left_ns += more;
		rest -= more;
	}
	s->spare_ns += rest;
	user_share_forget(s, now_ns);
	if (s->spare_ns > kept)
		s->spare_ns = kept;
}

bool user_share_left(struct user_share *s, uint32_t owner, uint64_t under_way_ns,
		     uint64_t now_ns)
{
	int64_t need = (int64_t)under_way_ns;
	struct user_part *u;

	if (now_ns > s->filled_ns)
		user_share_fill(s, now_ns);
	u = user_share_user(s, owner);
	if (!u)
		return s->spare_ns / 2 > need;
	u->seen_ns = s->filled_ns;
	if (u->left_ns <= 0 && u->left_ns + s->spare_ns / 2 > need) {
		u->left_ns += s->spare_ns / 2;
		s->spare_ns -= s->spare_ns / 2;
	}
	return u->left_ns > need;
}

bool user_share_used_up(const struct user_share *s, uint32_t owner)
{
	const struct user_part *u = user_share_find(s, owner);

	return u && u->left_ns <= 0;
}

/* What is spare pays; at most SPARE windows are owed. */
static void user_share_owe(struct user_share *s, uint64_t ns)
{
	int64_t most = USER_SHARE_SPARE * user_share_of(s, USER_SHARE_NS);

	if (ns > (uint64_t)most * 2)
		ns = (uint64_t)most * 2;
	s->spare_ns -= (int64_t)ns;
	if (s->spare_ns < -most)
		s->spare_ns = -most;
}

void user_share_use(struct user_share *s, uint32_t owner, uint64_t ns)
{
	struct user_part *u = user_share_user(s, owner);

	s->used_ns += ns;
	if (u)
		u->left_ns -= (int64_t)ns;
	else
		user_share_owe(s, ns);
}

void user_share_use_all(struct user_share *s, uint64_t ns)
{
	s->used_ns += ns;
	user_share_owe(s, ns);
}

uint64_t user_share_window(const struct user_share *s)
{
	uint64_t window = (uint64_t)user_share_of(s, USER_SHARE_NS);

	return s->n ? window / s->n : window;
}
