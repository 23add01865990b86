// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/managed_visits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/frame.h"

/* --- processes ---------------------------------------------------------------------- */

static void visits_drop(struct managed_visits *m, struct visit_process *p)
{
	m->waiting -= p->words.n / 2;
	free(p->words.v);
	*p = (struct visit_process){ .used_ns = 0 };
}

static bool visits_is(const struct visit_process *p, const struct managed_key *key)
{
	return p->used_ns && p->key.tgid == key->tgid &&
	       p->key.start_ns == key->start_ns && p->key.exec_id == key->exec_id &&
	       p->key.runtime == key->runtime;
}

/* A free element; else that of the process that waits for nothing and was met longest
 * ago; else NULL. */
static struct visit_process *visits_take(struct managed_visits *m)
{
	struct visit_process *oldest = NULL;

	for (uint32_t i = 0; i < VISITS_PROCESSES; i++) {
		struct visit_process *p = &m->v[i];

		if (!p->used_ns)
			return p;
		if (!p->words.n && (!oldest || p->used_ns < oldest->used_ns))
			oldest = p;
	}
	if (oldest)
		visits_drop(m, oldest);
	return oldest;
}

/* May this user have another frame waiting, and maybe another process? */
static bool visits_shares(const struct managed_visits *m, uint32_t owner, bool process)
{
	uint32_t frames = 0, processes = 0;

	for (uint32_t i = 0; i < VISITS_PROCESSES; i++) {
		const struct visit_process *p = &m->v[i];

		if (!p->used_ns || p->owner != owner)
			continue;
		frames += p->words.n / 2;
		processes += p->words.n != 0;
	}
	return frames < VISITS_SHARE(VISITS_WAITING) &&
	       (!process || processes < VISITS_SHARE(VISITS_PROCESSES));
}

static struct visit_process *visits_process(struct managed_visits *m,
					    const struct managed_key *key, uint32_t owner)
{
	struct visit_process *p;

	if (!m->v)
		m->v = calloc(VISITS_PROCESSES, sizeof(*m->v));
	for (uint32_t i = 0; m->v && i < VISITS_PROCESSES; i++) {
		p = &m->v[i];
		if (visits_is(p, key))
			return visits_shares(m, owner, !p->words.n) ? p : NULL;
	}
	p = m->v && visits_shares(m, owner, true) ? visits_take(m) : NULL;
	if (!p)
		return NULL;
	/* never 0, and another one each time */
	m->generation = (m->generation + 1) % (UINT32_MAX / VISITS_PROCESSES);
	p->space = (m->generation + 1) * VISITS_PROCESSES + (uint32_t)(p - m->v);
	p->key = *key;
	p->key.function = p->key.cookie = 0;
	return p;
}

/* --- questions ------------------------------------------------------------------------ */

bool visits_want(struct managed_visits *m, const struct managed_key *key, uint32_t owner,
		 bool urgent, uint64_t now_ns)
{
	struct visit_process *p = visits_process(m, key, owner);

	if (!p)
		return false;
	p->used_ns = now_ns;
	if (p->never || p->words.n >= 2 * VISITS_FRAMES || m->waiting >= VISITS_WAITING ||
	    !vector_reserve(&p->words, 2))
		return false;
	if (p->words.n == p->asked)
		p->since_ns = now_ns;
	p->words.v[p->words.n++] = MANAGED_WORD(key->runtime, key->cookie, 0ULL);
	p->words.v[p->words.n++] = key->function;
	p->owner = owner;
	p->urgent |= urgent;
	m->waiting++;
	return true;
}

static uint64_t visits_gap(const struct visit_process *p)
{
	uint64_t gap = VISITS_GAP_NS << (p->visits < 16 ? p->visits : 16);

	return gap < VISITS_GAP_MAX_NS ? gap : VISITS_GAP_MAX_NS;
}

bool visits_next(struct managed_visits *m, bool late, uint64_t now_ns,
		 struct jit_question *ret)
{
	for (uint32_t i = 0; m->waiting && i < VISITS_PROCESSES; i++) {
		struct visit_process *p = &m->v[i];

		if (!p->words.n || p->asked || now_ns < p->next_ns ||
		    !(p->urgent || (late && now_ns - p->since_ns >= VISITS_LATE_NS)))
			continue;
		p->next_ns = now_ns + visits_gap(p);
		p->visits++;
		p->asked = p->words.n;
		p->urgent = false;
		*ret = (struct jit_question){
			.start_ns = p->key.start_ns, .tgid = p->key.tgid,
			.space = p->space, .owner = p->owner, .words = p->words.v,
			.n = p->words.n, .fd = -1,
		};
		return true;
	}
	return false;
}

static struct visit_process *visits_of(const struct managed_visits *m, uint32_t space)
{
	struct visit_process *p = m->v ? &m->v[space % VISITS_PROCESSES] : NULL;

	return p && p->used_ns && p->space == space && p->asked ? p : NULL;
}

bool visits_asked(const struct managed_visits *m, uint32_t space,
		  struct managed_key *ret)
{
	const struct visit_process *p = visits_of(m, space);

	if (p)
		*ret = p->key;
	return p != NULL;
}

bool visits_again(int result)
{
	return result == -EAGAIN || result == -ETIMEDOUT || result == -ENOMEM ||
	       result == -ENOSPC;
}

void visits_answered(struct managed_visits *m, uint32_t space, int result)
{
	struct visit_process *p = visits_of(m, space);
	uint32_t n = p ? p->asked : 0;

	if (!p)
		return;
	p->asked = 0;
	if (visits_again(result)) {
		p->urgent = true;
		return;
	}
	/* ended, denied or in quarantine; or what was read killed a worker */
	p->never |= result == -ESRCH || result == -EPERM || result == -EACCES ||
		    result > 0;
	memmove(p->words.v, p->words.v + n, (p->words.n - n) * sizeof(*p->words.v));
	p->words.n -= n;
	m->waiting -= n / 2;
}

void visits_sweep(struct managed_visits *m, uint64_t now_ns)
{
	for (uint32_t i = 0; m->v && i < VISITS_PROCESSES; i++) {
		struct visit_process *p = &m->v[i];

		if (p->used_ns && !p->asked && now_ns - p->used_ns >= VISITS_IDLE_NS)
			visits_drop(m, p);
	}
}

void visits_fini(struct managed_visits *m)
{
	for (uint32_t i = 0; m->v && i < VISITS_PROCESSES; i++)
		free(m->v[i].words.v);
	free(m->v);
	*m = (struct managed_visits){ 0 };
}
