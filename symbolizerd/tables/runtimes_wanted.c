// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/runtimes_wanted.h"

#include <errno.h>

#include "ipc/runtimes.h"

#define BIT(r)		(1ULL << (r))
#define ANY		BIT(RUNTIME_NONE)	/* there is one at all */

/* Those that the sampler walks. */
static uint64_t runtimes_walked(void)
{
	uint64_t all = 0;

	for (uint32_t r = RUNTIME_NONE + 1; r < RUNTIME__MAX; r++) {
		if (runtime_info(r)->flags & RUNTIME_WALKS)
			all |= BIT(r);
	}
	return all;
}

static uint64_t runtimes_wanted_now(struct runtimes_wanted *w, const uint32_t *files,
				    uint64_t now)
{
	uint64_t want = 0, new;

	for (uint32_t r = RUNTIME_NONE + 1; r < RUNTIME__MAX; r++) {
		if (files[r])
			w->used_ns[r] = now;
		if (files[r] || (w->asked & BIT(r) && now - w->used_ns[r] < RUNTIMES_REST_NS))
			want |= BIT(r);
	}
	if (w->failed && now - w->failed_ns >= RUNTIMES_RETRY_NS)
		w->failed = 0;
	want &= runtimes_walked() & ~w->failed;
	new = want & ~w->in_force;
	if (w->apart && new)
		want = (want & w->in_force) | (new & -new);
	return want ? want | ANY : 0;
}

void runtimes_wanted_begin(struct runtimes_wanted *w)
{
	*w = (struct runtimes_wanted){
		.failed = w->failed, .failed_ns = w->failed_ns, .said = w->said,
	};
}

bool runtimes_wanted_ask(struct runtimes_wanted *w, const uint32_t files[RUNTIME__MAX],
			 bool more, uint64_t now, uint64_t *ret)
{
	uint64_t want = runtimes_wanted_now(w, files, now);

	if (want == w->asked) {
		w->since_ns = 0;
		return false;
	}
	if (!w->since_ns)
		w->since_ns = now;
	if (w->sampling && (w->waiting || now - w->asked_ns < RUNTIMES_EVERY_NS))
		return false;
	if (!w->sampling && more && now - w->since_ns < RUNTIMES_GATHER_NS)
		return false;
	w->since_ns = 0;
	w->asked = want;
	w->asked_ns = now;
	w->waiting = true;
	*ret = want;
	return true;
}

/* The kernel did not load what was asked for last.  What was new in it is left out, so what is
 * in force is as if it had been asked for. */
static uint64_t runtimes_wanted_refused(struct runtimes_wanted *w, uint64_t now)
{
	uint64_t new = w->asked & ~w->in_force & runtimes_walked();
	uint64_t say = new & ~w->said;

	w->asked = w->in_force;
	if (new & (new - 1)) {
		w->apart = true;
		return 0;
	}
	w->failed |= new;
	w->failed_ns = now;
	w->said |= new;
	return say;
}

/* loaderd goes on with what a former hub wanted: as if we had asked for it. */
static void runtimes_wanted_adopt(struct runtimes_wanted *w, uint64_t now)
{
	w->heard = true;
	if (w->waiting)
		return;
	w->asked = w->in_force;
	for (uint32_t r = 0; r < RUNTIME__MAX; r++)
		w->used_ns[r] = now;
}

uint64_t runtimes_wanted_answer(struct runtimes_wanted *w, const struct loader_stats *s,
				uint64_t now)
{
	w->in_force = s->runtimes;
	w->failed &= ~w->in_force;
	w->said &= ~w->in_force;
	w->sampling = s->cpus;
	if (!w->heard)
		runtimes_wanted_adopt(w, now);
	if (!w->waiting || s->runtimes_wanted != w->asked)
		return 0;
	w->waiting = false;
	return w->in_force == w->asked ? 0 : runtimes_wanted_refused(w, now);
}
