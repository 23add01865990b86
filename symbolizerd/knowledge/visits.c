// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/visits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/message_hub.h"
#include "symbolizerd/tables/owners.h"

#define VISIT_COST_NS	5000000ULL	/* of CPU time, about, for one under way */
#define LOOK_NS	50000000	/* all targets are looked at: so often, when nothing is new */

void visits_init(struct visits *m, const struct visits_rules *rules,
		 const struct visits_ops *ops, void *ctx, uint64_t seed)
{
	*m = (struct visits){ .rules = rules, .ops = ops, .ctx = ctx, .seed = seed };
}

static uint32_t visits_frames(const struct visits *m, const struct visit_target *t)
{
	return t->words.n / m->rules->frame_words;
}

/* --- accounts --------------------------------------------------------------------- */

static struct visit_account *visits_account(const struct visits *m,
					    const struct visit_target *t)
{
	return &m->accounts[t->account];
}

/* There is one account more than there are targets: always one for this owner. */
static uint32_t visits_account_of(const struct visits *m, uint32_t owner)
{
	uint32_t unused = 0;

	for (uint32_t i = 0; i <= m->rules->targets; i++) {
		if (!m->accounts[i].targets)
			unused = i;
		else if (m->accounts[i].owner == owner)
			return i;
	}
	m->accounts[unused] = (struct visit_account){ .owner = owner };
	return unused;
}

static void visits_book(struct visits *m, struct visit_target *t, uint32_t owner)
{
	struct visit_account *a;

	t->owner = owner;
	t->account = visits_account_of(m, owner);
	a = visits_account(m, t);
	a->targets++;
	a->waiting += visits_frames(m, t);
	if (t->asked)
		a->under_way++;
	if (a->served_ns < t->asked_ns)
		a->served_ns = t->asked_ns;
}

static void visits_unbook(struct visits *m, struct visit_target *t)
{
	struct visit_account *a = visits_account(m, t);

	a->targets--;
	a->waiting -= visits_frames(m, t);
	if (t->asked)
		a->under_way--;
}

void visits_give(struct visits *m, struct visit_target *t, uint32_t owner)
{
	if (t->owner == owner)
		return;
	visits_unbook(m, t);
	visits_book(m, t, owner);
}

/* --- frames ----------------------------------------------------------------------- */

/* The frames from `first` on, n of them, do not wait any more. */
static void visits_remove(struct visits *m, struct visit_target *t, uint32_t first, uint32_t n)
{
	uint32_t each = m->rules->frame_words;
	uint32_t end = (first + n) * each;

	if (!n)
		return;
	memmove(&t->words.v[first * each], &t->words.v[end],
		(t->words.n - end) * sizeof(*t->words.v));
	t->words.n -= n * each;
	m->waiting -= n;
	visits_account(m, t)->waiting -= n;
}

/* Tell the client that these frames get no names. */
static void visits_refuse(struct visits *m, const struct visit_target *t, uint32_t first,
			  uint32_t n, int result)
{
	for (uint32_t i = first; i < first + n; i++)
		m->ops->name(m->ctx, t, &t->words.v[i * m->rules->frame_words], NULL, 0, 0,
			     result);
}

/* All that waits is lost, but for what is asked for. */
static void visits_lose(struct visits *m, struct visit_target *t)
{
	uint32_t n = visits_frames(m, t) - t->asked;

	m->lost += n;
	visits_refuse(m, t, t->asked, n, VISIT_LOST);
	visits_remove(m, t, t->asked, n);
}

/* Room for a frame of this target.  False: no owner has more waiting than its own. */
static bool visits_make_room(struct visits *m, const struct visit_target *asker)
{
	uint32_t most = visits_account(m, asker)->waiting;
	struct visit_target *loser = NULL;

	if (m->waiting < m->rules->waiting)
		return true;
	for (uint32_t i = 0; i < m->rules->targets; i++) {
		struct visit_target *t = &m->v[i];

		if (!t->number || visits_frames(m, t) == t->asked)
			continue;
		if (visits_account(m, t)->waiting <= most)
			continue;
		loser = t;
		most = visits_account(m, t)->waiting;
	}
	if (!loser)
		return false;
	visits_lose(m, loser);
	return true;
}

bool visits_want(struct visits *m, struct visit_target *t, const uint64_t *words,
		 bool urgent, uint64_t now_ns)
{
	uint32_t n = m->rules->frame_words;

	m->now_ns = now_ns;
	t->used_ns = now_ns;
	if (now_ns < t->closed_ns)
		return false;
	if (visits_frames(m, t) >= m->rules->ask || !visits_make_room(m, t) ||
	    !vector_reserve(&t->words, n)) {
		m->lost++;
		return false;
	}
	if (visits_frames(m, t) == t->asked)
		t->since_ns = now_ns;
	memcpy(&t->words.v[t->words.n], words, n * sizeof(*words));
	t->words.n += n;
	if (urgent)
		t->urgent = true;
	if (!t->asked && visits_due(m, t, now_ns))
		m->look_ns = 0;
	m->waiting++;
	visits_account(m, t)->waiting++;
	return true;
}

/* --- targets ---------------------------------------------------------------------- */

static uint64_t visits_hash(const struct visits *m, const struct visit_key *key)
{
	return hash_mix(m->seed, key, sizeof(*key));
}

/* It has no visit under way; or all goes. */
static void visits_drop(struct visits *m, struct visit_target *t)
{
	if (m->ops->dropped)
		m->ops->dropped(m->ctx, t);
	m->waiting -= visits_frames(m, t);
	visits_unbook(m, t);
	hash_remove_index(&m->by_key, visits_hash(m, &t->key), visits_slot(m, t));
	free(t->words.v);
	*t = (struct visit_target){ .number = 0 };
}

/* Does b go rather than a?  Then b's owner has more, or b waits for nothing, or it was not
 * used for longer. */
static bool visits_goes(const struct visits *m, const struct visit_target *a,
			const struct visit_target *b)
{
	uint32_t mine = visits_account(m, a)->targets, others = visits_account(m, b)->targets;

	if (mine != others)
		return others > mine;
	if (!a->words.n != !b->words.n)
		return !b->words.n;
	return b->used_ns < a->used_ns;
}

/* A free element, or that of a target that goes; NULL: none does. */
static struct visit_target *visits_take(struct visits *m, uint32_t owner)
{
	uint32_t account = visits_account_of(m, owner);
	uint32_t mine = m->accounts[account].targets;
	struct visit_target *goes = NULL;

	for (uint32_t i = 0; i < m->rules->targets; i++) {
		struct visit_target *t = &m->v[i];

		if (!t->number)
			return t;
		if (t->asked || t->used_ns == m->now_ns ||
		    visits_account(m, t)->targets < mine)
			continue;
		if (t->words.n && visits_account(m, t)->targets == mine)
			continue;
		if (!goes || visits_goes(m, goes, t))
			goes = t;
	}
	if (goes) {
		visits_lose(m, goes);
		visits_drop(m, goes);
	}
	return goes;
}

struct visit_target *visits_of_key(const struct visits *m, const struct visit_key *key)
{
	const struct hash_slot *s = hash_find(&m->by_key, visits_hash(m, key));

	while (s && memcmp(&m->v[hash_index(s)].key, key, sizeof(*key)))
		s = hash_next(&m->by_key, s);
	return s ? &m->v[hash_index(s)] : NULL;
}

struct visit_target *visits_find(const struct visits *m, uint32_t number)
{
	struct visit_target *t;

	if (!m->v || !number)
		return NULL;
	t = &m->v[number % m->rules->targets];
	return t->number == number ? t : NULL;
}

static bool visits_allocate(struct visits *m)
{
	if (!m->v)
		m->v = calloc(m->rules->targets, sizeof(*m->v));
	if (!m->accounts)
		m->accounts = calloc(m->rules->targets + 1, sizeof(*m->accounts));
	return m->v && m->accounts;
}

/* NULL: there is no room, or no memory. */
static struct visit_target *visits_add(struct visits *m, const struct visit_key *key,
				       uint32_t owner)
{
	struct visit_target *t;

	if (!visits_allocate(m))
		return NULL;
	t = visits_take(m, owner);
	if (!t || !hash_add(&m->by_key, visits_hash(m, key), visits_slot(m, t)))
		return NULL;
	/* never 0, and another one each time */
	m->generation = (m->generation + 1) % (UINT32_MAX / m->rules->targets - 1);
	t->number = (m->generation + 1) * m->rules->targets + visits_slot(m, t);
	t->key = *key;
	visits_book(m, t, owner);
	return t;
}

struct visit_target *visits_target(struct visits *m, const struct visit_key *key,
				   uint32_t owner, uint64_t now_ns)
{
	struct visit_target *t = visits_of_key(m, key);

	m->now_ns = now_ns;
	if (!t)
		t = visits_add(m, key, owner);
	if (t)
		t->used_ns = now_ns;
	else
		m->lost++;
	return t;
}

void visits_sweep(struct visits *m, uint64_t now_ns)
{
	m->now_ns = now_ns;
	for (uint32_t i = 0; m->v && i < m->rules->targets; i++) {
		struct visit_target *t = &m->v[i];

		if (!t->number || t->asked || now_ns - t->used_ns < m->rules->idle_ns)
			continue;
		visits_lose(m, t);
		visits_drop(m, t);
	}
}

void visits_fini(struct visits *m)
{
	for (uint32_t i = 0; m->v && i < m->rules->targets; i++) {
		if (m->v[i].number)
			visits_drop(m, &m->v[i]);
	}
	free(m->v);
	free(m->accounts);
	hash_free(&m->by_key);
	visits_init(m, m->rules, m->ops, m->ctx, m->seed);
}

/* --- questions -------------------------------------------------------------------- */

bool visits_due(const struct visits *m, const struct visit_target *t, uint64_t until_ns)
{
	return until_ns >= t->closed_ns && (m->ending || until_ns >= t->next_ns);
}

void visits_close(const struct visits *m, struct visit_target *t)
{
	t->closed_ns = m->now_ns + (VISITS_CLOSED_NS << t->closed);
	if (t->closed < VISITS_CLOSED_DOUBLED)
		t->closed++;
}

/* Can it be asked? */
static bool visits_waits(const struct visits *m, const struct visit_target *t, bool late,
			 uint64_t now_ns)
{
	if (!t->number || !t->words.n || t->asked || !visits_due(m, t, now_ns))
		return false;
	return t->urgent || (late && now_ns - t->since_ns >= m->rules->late_ns);
}

/* Has its owner CPU time for one more?  If not, that is counted once. */
static bool visits_may(struct visits *m, struct visit_target *t, uint64_t now_ns)
{
	uint64_t need = visits_account(m, t)->under_way * VISIT_COST_NS;

	if (!m->share || m->ending)
		return true;
	need += user_share_window(m->share) / m->reserve;
	if (user_share_left(m->share, t->owner, need, now_ns))
		return true;
	if (!t->put_off)
		++*m->put_off;
	t->put_off = true;
	return false;
}

/* Can it, says the client, too? */
static bool visits_ready(struct visits *m, struct visit_target *t, uint64_t now_ns)
{
	enum visit_ready ready = VISIT_NOW;

	if (!visits_may(m, t, now_ns))
		return false;
	if (m->ops->ready)
		ready = m->ops->ready(m->ctx, t, visits_account(m, t)->under_way, now_ns);
	if (ready == VISIT_NEVER)
		visits_lose(m, t);
	return ready == VISIT_NOW;
}

/* Since when it goes without a visit: one that had none, since it waits. */
static uint64_t visits_last_ns(const struct visit_target *t)
{
	return t->asked_ns ? t->asked_ns : t->since_ns;
}

/* Is a served before b? */
static bool visits_before(const struct visits *m, const struct visit_target *a,
			  const struct visit_target *b)
{
	const struct visit_account *x = visits_account(m, a), *y = visits_account(m, b);

	if (x->under_way != y->under_way)
		return x->under_way < y->under_way;
	if (x->served_ns != y->served_ns)
		return x->served_ns < y->served_ns;
	return visits_last_ns(a) < visits_last_ns(b);
}

static struct visit_target *visits_next(struct visits *m, bool late, uint64_t now_ns)
{
	struct visit_target *best = NULL;

	for (uint32_t i = 0; i < m->rules->targets; i++) {
		struct visit_target *t = &m->v[i];

		if (!visits_waits(m, t, late, now_ns) || !visits_ready(m, t, now_ns))
			continue;
		if (visits_account(m, t)->under_way >= (m->rules->at_once + 1) / 2)
			continue;
		if (!best || visits_before(m, t, best))
			best = t;
	}
	return best;
}

static uint64_t visits_gap(const struct visits *m, const struct visit_target *t)
{
	uint64_t gap = m->rules->gap_ns << (t->visits < 16 ? t->visits : 16);

	return gap < m->rules->gap_max_ns ? gap : m->rules->gap_max_ns;
}

void visits_hurry(struct visits *m, struct visit_target *t)
{
	if (visits_frames(m, t) == t->asked)
		return;
	t->urgent = true;
	m->look_ns = 0;
}

uint32_t visits_waiting(const struct visits *m, const struct visit_target *t)
{
	return visits_account(m, t)->waiting;
}

void visits_shorten(struct visits *m, struct visit_target *t, uint64_t pause_ns)
{
	if (t->next_ns <= t->asked_ns + pause_ns)
		return;
	t->next_ns = t->asked_ns + pause_ns;
	m->look_ns = 0;
}

void visits_hurry_all(struct visits *m)
{
	for (uint32_t i = 0; m->v && i < m->rules->targets; i++) {
		struct visit_target *t = &m->v[i];

		if (!t->number)
			continue;
		visits_shorten(m, t, visits_gap(m, t));
		visits_hurry(m, t);
	}
}

static void visits_begin(struct visits *m, struct visit_target *t, uint64_t now_ns)
{
	struct visit_account *a = visits_account(m, t);

	t->next_ns = now_ns + visits_gap(m, t);
	t->asked_ns = now_ns;
	t->asked = visits_frames(m, t);
	t->urgent = t->put_off = false;
	t->visits++;
	a->served_ns = now_ns;
	a->under_way++;
	m->under_way++;
	m->asked++;
}

void visits_ask(struct visits *m, bool late, uint64_t now_ns)
{
	m->now_ns = now_ns;
	if (!late && now_ns < m->look_ns)
		return;
	/* each asks for some of what waits: it ends */
	while (m->waiting && m->under_way < m->rules->at_once) {
		struct visit_target *t = visits_next(m, late, now_ns);
		struct visit_question q;
		int r;

		if (!t) {
			m->look_ns = now_ns + LOOK_NS;
			return;
		}
		visits_begin(m, t, now_ns);
		q = (struct visit_question){
			.number = t->number, .owner = t->owner, .words = t->words.v,
			.n = t->words.n, .fd = -1,
		};
		r = m->ops->ask(m->ctx, t, &q);
		if (r < 0)
			visits_answer(m, q.number, NULL, r, now_ns);
	}
}

/* --- answers ---------------------------------------------------------------------- */

bool visits_delayed(int result)
{
	return result == -EAGAIN || result == -ETIMEDOUT || result == -ENOMEM ||
	       result == -ENOSPC || result == JOB_NO_MEMORY;
}

/* Is it to be asked again, after this result? */
static bool visits_again(const struct visits *m, struct visit_target *t, int result)
{
	if (!visits_delayed(result))
		return false;
	t->failures++;
	return t->failures != m->rules->failures;
}

/* The answer holds for all that waits: how many frames. */
static uint32_t visits_finish(const struct visits *m, struct visit_target *t)
{
	t->asked = visits_frames(m, t);
	return t->asked;
}

/* Tell the client the names of the first n frames. */
static void visits_name(struct visits *m, const struct visit_target *t, uint32_t n,
			const struct frame_names *names)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t end = first;

		while (end < names->n && names->v[end].frame == i)
			end++;
		m->ops->name(m->ctx, t, &t->words.v[i * m->rules->frame_words], names, first,
			     end - first, 0);
		first = end;
	}
}

void visits_answer(struct visits *m, uint32_t number, const struct frame_names *names,
		   int result, uint64_t now_ns)
{
	struct visit_target *t = visits_find(m, number);
	uint32_t done = 0;

	m->now_ns = now_ns;
	m->look_ns = 0;
	if (!t || !t->asked)
		return;
	if (names) {
		done = t->asked - names->left;
		if (names->left)
			t->urgent = true;
		t->failures = 0;
		visits_name(m, t, done, names);
	} else if (visits_again(m, t, result)) {
		t->urgent = true;
	} else {
		done = visits_finish(m, t);
		t->failures = 0;
		visits_refuse(m, t, 0, done, result);
	}
	if (m->ops->answered)
		m->ops->answered(m->ctx, t, result);
	visits_account(m, t)->under_way--;
	m->under_way--;
	t->asked = 0;
	visits_remove(m, t, 0, done);
}

void visits_settle(struct visits *m, struct visit_target *t,
		   bool (*has)(void *ctx, const struct visit_target *t, const uint64_t *words))
{
	for (uint32_t i = visits_frames(m, t); i-- > t->asked;) {
		if (has(m->ctx, t, &t->words.v[i * m->rules->frame_words]))
			visits_remove(m, t, i, 1);
	}
	if (visits_frames(m, t) == t->asked)
		t->urgent = false;
}
