// SPDX-License-Identifier: Apache-2.0
#include "profile/cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "profile/remap.h"

/* --- selecting samples --------------------------------------------------------- */

static bool cut_has_pid(const struct cut *c, const struct batch_resource *r)
{
	for (uint32_t i = 0; i < c->pids.n; i++) {
		if (c->pids.v[i] == r->pid)
			return r->start_ns <= c->start_ns;
	}
	return c->pids.n == 0;
}

static bool cut_in_container(const struct cut *c, const struct batch *b,
			     const struct batch_resource *r)
{
	size_t len, n = strlen(c->container);
	const char *id = batch_str(b, r->container_id, &len);

	return len >= n && memcmp(id, c->container, n) == 0;
}

static bool cut_in_unit(const struct cut *c, const struct batch *b,
			const struct batch_resource *r)
{
	size_t len, n = strlen(c->unit);
	const char *unit = batch_str(b, r->unit, &len);

	if (n == 0)
		return true;
	if (len != n || memcmp(unit, c->unit, n) != 0)
		return false;
	/* a container's may have the same name */
	batch_str(b, r->container_id, &len);
	return len == 0 || *c->container;
}

static bool cut_in_time(const struct cut *c, uint64_t t)
{
	return t >= c->start_ns && t < c->end_ns;
}

/* A sample that is kept with `thin` is also kept with less. */
static bool cut_keeps(const struct cut *c, uint64_t t)
{
	return !(XXH3_64bits(&t, sizeof(t)) & ((1u << c->thin) - 1));
}

bool cut_takes_all(const struct cut *c, const struct batch *b)
{
	return !c->pids.n && !*c->container && !*c->unit && !c->thin &&
	       b->hdr->start_ns >= c->start_ns && b->hdr->end_ns <= c->end_ns;
}

/* --- a batch ---------------------------------------------------------------------- */

/* times: room for those of the sample with most. */
static void cut_take_sample(struct remap *r, const struct cut *cut,
			    const struct batch_sample *s, uint64_t *times)
{
	uint32_t n = 0, to;

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t t = r->from->times[s->first + i];

		if (cut_in_time(cut, t) && cut_keeps(cut, t))
			times[n++] = t;
	}
	if (!n)
		return;
	to = batch_sample(r->to, remap_stack(r, s->stack),
			  remap_attr(r, s->attr),
			  remap_resource(r, s->resource), s->stop);
	if (to != UINT32_MAX)
		batch_sample_times(r->to, to, times, n);
}

static void cut_take_samples(struct remap *r, const struct cut *cut,
			     uint64_t *times)
{
	const struct batch *b = r->from;

	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &b->samples[i];
		const struct batch_resource *of = &b->resources[s->resource];

		if (cut_has_pid(cut, of) && cut_in_container(cut, b, of) &&
		    cut_in_unit(cut, b, of))
			cut_take_sample(r, cut, s, times);
	}
}

int cut_batch(const struct cut *cut, const struct batch *b, void **ret,
	      size_t *len, uint64_t *events)
{
	uint64_t from = b->hdr->start_ns, until = b->hdr->end_ns;
	uint64_t *times = calloc(batch_n(b, BATCH_TIMES) + 1ul, sizeof(*times));
	struct remap m = {
		.to = batch_builder_new(b->hdr->frequency >> cut->thin), .from = b,
		.kinds = REMAP_ALL,
	};
	int r = remap_init(&m);

	*ret = NULL;
	*events = 0;
	if (!m.to || !times)
		r = -ENOMEM;
	if (!r) {
		cut_take_samples(&m, cut, times);
		*events = batch_events(m.to);
	}
	if (from < cut->start_ns)
		from = cut->start_ns;
	if (until > cut->end_ns)
		until = cut->end_ns;
	if (*events)
		r = batch_builder_finish(m.to, from, until, ret, len);
	batch_builder_free(m.to);
	remap_fini(&m);
	free(times);
	return r;
}
