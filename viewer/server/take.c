// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/take.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/profile.h"
#include "profile/remap.h"

struct taking {
	struct store *store;
	struct batch b;
	struct remap remap;
	uint32_t *attrs, *resources;	/* number in the store's batch + 1; 0: not yet */
	uint64_t *times;		/* room for those of the sample with most */
	uint64_t oldest_ns, newest_ns;	/* events outside are left out */
	uint64_t start_ns, end_ns;	/* of the events taken */
	uint64_t events;
};

static uint32_t take_string(const struct taking *t, uint32_t i)
{
	size_t len;
	const char *s = batch_str(&t->b, i, &len);

	return batch_string(t->remap.to, s, len);
}

/* The name of a leading thread is that of its process, in this batch and later ones. */
static void take_names(struct taking *t)
{
	for (uint32_t i = 0; i < batch_n(&t->b, BATCH_SAMPLES); i++) {
		const struct batch_sample *v = &t->b.samples[i];
		const struct batch_attr *a = &t->b.attrs[v->attr];
		const struct batch_resource *r = &t->b.resources[v->resource];
		const char *name;
		size_t len;

		if (a->tid != r->pid || !r->pid)
			continue;
		name = batch_str(&t->b, a->thread_name, &len);
		names_put(&t->store->names, r->pid, r->start_ns, name, len);
	}
}

static uint32_t take_process_name(struct taking *t,
				  const struct batch_resource *r)
{
	size_t len, exe_len, comm_len;
	const char *name = names_get(&t->store->names, r->pid, r->start_ns,
				     &len);
	const char *exe = batch_str(&t->b, r->exe_name, &exe_len);
	const char *comm = batch_str(&t->b, r->comm, &comm_len);

	if (r->comm && !profile_name_is_cut(comm, comm_len, exe, exe_len))
		return take_string(t, r->comm);
	if (name && !profile_name_is_cut(name, len, exe, exe_len))
		return batch_string(t->remap.to, name, len);
	if (r->exe_name)
		return take_string(t, r->exe_name);
	return take_string(t, r->comm);
}

static uint32_t take_resource(struct taking *t, uint32_t i)
{
	struct batch_resource r = t->b.resources[i];

	if (t->resources[i])
		return t->resources[i] - 1;
	r.comm = take_process_name(t, &t->b.resources[i]);
	r.exe_path = take_string(t, r.exe_path);
	r.exe_name = take_string(t, r.exe_name);
	r.container_id = take_string(t, r.container_id);
	r.unit = take_string(t, r.unit);
	t->resources[i] = batch_resource(t->remap.to, &r) + 1;
	return t->resources[i] - 1;
}

static uint32_t take_attr(struct taking *t, uint32_t i)
{
	struct batch_attr a = t->b.attrs[i];

	if (t->attrs[i])
		return t->attrs[i] - 1;
	a.thread_name = take_string(t, a.thread_name);
	a.cpu = 0;
	t->attrs[i] = batch_attr(t->remap.to, &a) + 1;
	return t->attrs[i] - 1;
}

/* Put the events of a sample that are taken into t->times.  Returns their number. */
static uint32_t take_times(struct taking *t, const struct batch_sample *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		uint64_t at = t->b.times[v->first + i];

		if (at < t->oldest_ns || at >= t->newest_ns)
			continue;
		if (at < t->start_ns)
			t->start_ns = at;
		if (at >= t->end_ns)
			t->end_ns = at + 1;
		t->times[n++] = at;
	}
	return n;
}

static void take_samples(struct taking *t)
{
	for (uint32_t i = 0; i < batch_n(&t->b, BATCH_SAMPLES); i++) {
		const struct batch_sample *v = &t->b.samples[i];
		uint32_t n = take_times(t, v), stop = STOP_COMPLETE, to;

		if (n == 0)
			continue;
		if (batch_early_end(v->stop))
			stop = v->stop;
		to = batch_sample(t->remap.to, remap_stack(&t->remap, v->stack),
				  take_attr(t, v->attr),
				  take_resource(t, v->resource), stop);
		if (to != UINT32_MAX)
			batch_sample_times(t->remap.to, to, t->times, n);
		t->events += n;
	}
}

static int take_init(struct taking *t)
{
	t->remap = (struct remap){
		.to = batch_builder_new(t->b.hdr->frequency), .from = &t->b,
		.kinds = REMAP_ALL,
	};
	t->attrs = calloc(batch_n(&t->b, BATCH_ATTRS) + 1, sizeof(uint32_t));
	t->resources = calloc(batch_n(&t->b, BATCH_RESOURCES) + 1,
			      sizeof(uint32_t));
	t->times = calloc(batch_n(&t->b, BATCH_TIMES) + 1, sizeof(uint64_t));
	if (remap_init(&t->remap) || !t->remap.to || !t->attrs ||
	    !t->resources || !t->times)
		return -ENOMEM;
	return 0;
}

static void take_fini(struct taking *t)
{
	batch_builder_free(t->remap.to);
	remap_fini(&t->remap);
	free(t->attrs);
	free(t->resources);
	free(t->times);
}

int take_batch(struct store *s, const void *data, size_t len, uint64_t samples,
	       uint64_t now)
{
	struct taking t = {
		.store = s, .start_ns = UINT64_MAX,
		.oldest_ns = store_ago(now, s->keep_ns),
		.newest_ns = now + TAKE_FUTURE_NS,
	};
	size_t made_len = 0;
	void *made = NULL;
	int r = batch_open(data, len, &t.b);

	if (r)
		return r;
	if (batch_n(&t.b, BATCH_TIMES) != samples)
		return -EPROTO;
	s->frequency = t.b.hdr->frequency;
	r = take_init(&t);
	if (r == 0) {
		take_names(&t);
		take_samples(&t);
		if (t.events)
			r = batch_builder_finish(t.remap.to, t.start_ns,
						 t.end_ns, &made, &made_len);
	}
	take_fini(&t);
	if (r)
		return r;
	/* made is NULL if no event was taken: it still counts as a batch */
	return store_add(s, made, made_len, now);
}
