// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/utf8.h"
#include "common/vector.h"
#include "profile/profile.h"
#include "viewer/server/decode_frames.h"

/* --- memory of the messages, up to a limit -------------------------------------- */

/* Freed memory is not available again: a message in many pieces is joined piece by
 * piece, with a copy for each, which would cost their number squared. */
struct budget {
	ProtobufCAllocator ops;
	size_t left;
	bool over;
};

#define DECODE_BLOCK	16	/* overhead of an allocation, bytes */

static void *decode_take(void *arg, size_t size)
{
	struct budget *m = arg;
	void *p = NULL;

	if (size > m->left || m->left - size < DECODE_BLOCK)
		m->over = true;
	else
		p = malloc(size);
	if (p)
		m->left -= DECODE_BLOCK + size;
	return p;
}

static void decode_give(void *arg, void *data)
{
	(void)arg;
	free(data);
}

/* --- process and thread of a sample ----------------------------------------------- */

struct owner {
	uint64_t start_ns;
	uint32_t pid, tid;
	struct text path, name, title, container, service, thread;
};

struct dec {
	const struct decode_in *in;
	struct decoded *out;
	struct frames frames;
	struct batch_builder *b;
	uint64_t start_ns, end_ns;
	VECTOR(uint64_t) times;		/* of a sample */
	struct owner owner;		/* of .resource and .thread */
	uint32_t resource, thread;
	uint32_t stop;			/* of the current sample */
	bool owned;			/* .owner is valid */
	bool naming;			/* first pass: names of leading threads */
};

static uint32_t decode_id_of(const OtlpIn__Value *v)
{
	if (!v || v->value_case != OTLP_IN__VALUE__VALUE_INT_VALUE ||
	    v->int_value < 0 || v->int_value > UINT32_MAX)
		return 0;
	return (uint32_t)v->int_value;
}

/* ISO 8601 in UTC, as exporterd writes it; else 0. */
static uint64_t decode_time_of(struct text t)
{
	struct tm tm = { 0 };
	char buf[40], *end;
	uint64_t ns, unit = NSEC_PER_SEC / 10;
	time_t s;

	if (t.len >= sizeof(buf))
		return 0;
	memcpy(buf, t.s, t.len);
	buf[t.len] = '\0';
	end = strptime(buf, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!end)
		return 0;
	s = timegm(&tm);
	if (s <= 0 || (uint64_t)s > UINT64_MAX / NSEC_PER_SEC - 1)
		return 0;
	ns = (uint64_t)s * NSEC_PER_SEC;
	if (*end == '.')
		end++;
	for (; *end >= '0' && *end <= '9'; end++) {
		ns += (uint64_t)(*end - '0') * unit;
		unit /= 10;
	}
	return ns;
}

static uint32_t decode_early_end(struct text name)
{
	return batch_early_end_of(name.s, name.len);
}

static void decode_attribute(struct dec *d, struct owner *o, struct text key,
			     const OtlpIn__Value *v)
{
	const struct {
		const char *key;
		struct text *to;
	} texts[] = {
		{ "process.executable.path", &o->path },
		{ "process.executable.name", &o->name },
		{ "process.title", &o->title },
		{ "container.id", &o->container },
		{ "service.name", &o->service },
		{ "thread.name", &o->thread },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (text_is(key, texts[i].key)) {
			*texts[i].to = frames_value(&d->frames, v);
			return;
		}
	}
	if (text_is(key, "process.pid"))
		o->pid = decode_id_of(v);
	else if (text_is(key, "thread.id"))
		o->tid = decode_id_of(v);
	else if (text_is(key, "process.creation.time"))
		o->start_ns = decode_time_of(frames_value(&d->frames, v));
	else if (text_is(key, "trifold.stack.end"))
		d->stop = decode_early_end(frames_value(&d->frames, v));
}

static void decode_attributes(struct dec *d, struct owner *o, const int32_t *v,
			      size_t n)
{
	for (size_t i = 0; i < n && !d->frames.bad; i++) {
		const OtlpIn__KeyValueAndUnit *a =
			frames_attribute(&d->frames, v[i]);

		if (a)
			decode_attribute(d, o, frames_text(&d->frames, a->key_strindex),
					 a->value);
	}
}

/* Copy a text, cut to whole characters, unless there is one already. */
static void decode_keep(char out[65], struct text t)
{
	size_t n = 0;

	if (*out)
		return;
	for (size_t i = 0; i < t.len; i += n) {
		n = utf8_char(t.s + i, t.len - i);
		if (n == 0 || i + n > 64)
			return;
		memcpy(out + i, t.s + i, n);
	}
}

static void decode_resource_attributes(struct dec *d, struct owner *o,
				       const OtlpIn__Resource *r)
{
	for (size_t i = 0; r && i < r->n_attributes; i++) {
		const OtlpIn__KeyValue *a = r->attributes[i];
		struct text key = { (const char *)a->key.data, a->key.len };

		if (!key.len)
			key = frames_text(&d->frames, a->key_strindex);
		if (text_is(key, "host.name"))
			decode_keep(d->out->host, frames_value(&d->frames, a->value));
		else if (text_is(key, "os.version"))
			decode_keep(d->out->kernel, frames_value(&d->frames, a->value));
		else
			decode_attribute(d, o, key, a->value);
	}
}

static struct text decode_process_name(struct dec *d, const struct owner *o)
{
	struct text t = { "", 0 };

	if (o->title.len)
		return o->title;
	t.s = names_get(d->in->names, o->pid, o->start_ns, &t.len);
	if (t.s && !profile_name_is_cut(t.s, t.len, o->name.s, o->name.len))
		return t;
	if (o->name.len)
		return o->name;
	return o->thread;
}

static void decode_put_owner(struct dec *d, const struct owner *o)
{
	struct batch_resource r = { .pid = o->pid, .start_ns = o->start_ns };
	struct batch_attr a = { .tid = o->tid };

	/* most samples have the owner of the previous one */
	if (d->owned && !memcmp(o, &d->owner, sizeof(*o)))
		return;
	r.exe_path = text_intern(d->b, o->path);
	r.exe_name = text_intern(d->b, o->name);
	r.container_id = text_intern(d->b, o->container);
	r.unit = text_intern(d->b, o->service);
	r.comm = text_intern(d->b, decode_process_name(d, o));
	a.thread_name = text_intern(d->b, o->thread);
	d->resource = batch_resource(d->b, &r);
	d->thread = batch_attr(d->b, &a);
	d->owner = *o;
	d->owned = true;
}

/* --- times ---------------------------------------------------------------------------- */

/* 0 or -ENOMEM. */
static int decode_put_time(struct dec *d, uint64_t t)
{
	if (t < d->in->oldest_ns || t >= d->in->newest_ns) {
		d->out->rejected++;
		return 0;
	}
	if (t < d->start_ns)
		d->start_ns = t;
	if (t >= d->end_ns)
		d->end_ns = t + 1;
	if (!vector_push(&d->times, t))
		return -ENOMEM;
	return 0;
}

/* The number of samples that a value stands for. */
static uint64_t decode_weight(struct dec *d, const OtlpIn__Profile *p, int64_t v)
{
	struct text unit = { "", 0 };

	if (p->sample_type)
		unit = frames_text(&d->frames, p->sample_type->unit_strindex);
	if (v <= 0)
		return 0;
	if (!text_is(unit, "nanoseconds"))
		return (uint64_t)v;
	if (p->period <= 0)
		return 1;
	return ((uint64_t)v + (uint64_t)p->period / 2) / (uint64_t)p->period;
}

/* Put the times of a sample into d->times.  0; -E2BIG: there are too many; -ENOMEM. */
static int decode_times(struct dec *d, const OtlpIn__Profile *p,
			const OtlpIn__Sample *s)
{
	size_t stamps = s->n_timestamps_unix_nano, n = stamps;
	uint64_t max = d->in->limits.events;
	int r = 0;

	d->times.n = 0;
	if (n == 0)
		n = s->n_values;
	for (size_t i = 0; i < n; i++) {
		uint64_t w = 1;

		if (i < s->n_values)
			w = decode_weight(d, p, s->values[i]);
		if (w > max || d->out->events + d->times.n +
		    d->out->rejected > max - w)
			return -E2BIG;
		for (uint64_t k = 0; k < w && r == 0; k++) {
			uint64_t t = p->time_unix_nano + p->duration_nano / w * k;

			if (stamps)
				t = s->timestamps_unix_nano[i];
			r = decode_put_time(d, t);
		}
	}
	return r;
}

/* --- the request ------------------------------------------------------------------------ */

static int decode_put_sample(struct dec *d, const OtlpIn__Profile *p,
			     const OtlpIn__Sample *s, struct owner o)
{
	uint32_t stack, sample;
	int r;

	d->stop = STOP_COMPLETE;
	decode_attributes(d, &o, s->attribute_indices, s->n_attribute_indices);
	if (d->frames.bad)
		return -EPROTO;
	if (d->naming) {
		if (o.tid == o.pid && o.pid)
			names_put(d->in->names, o.pid, o.start_ns, o.thread.s,
				  o.thread.len);
		return 0;
	}
	stack = frames_stack(&d->frames, s->stack_index);
	r = decode_times(d, p, s);
	if (d->frames.bad)
		return -EPROTO;
	if (r || d->times.n == 0)
		return r;
	decode_put_owner(d, &o);
	sample = batch_sample(d->b, stack, d->thread, d->resource,
			      d->stop);
	batch_sample_times(d->b, sample, d->times.v, d->times.n);
	d->out->events += d->times.n;
	return 0;
}

static int decode_put_profile(struct dec *d, const OtlpIn__Profile *p,
			      const struct owner *of)
{
	struct owner o = *of;
	int r = 0;

	decode_attributes(d, &o, p->attribute_indices, p->n_attribute_indices);
	if (p->period > 0 && p->period_type &&
	    text_is(frames_text(&d->frames, p->period_type->unit_strindex),
		    "nanoseconds") && (uint64_t)p->period <= NSEC_PER_SEC)
		d->out->frequency = (uint32_t)((NSEC_PER_SEC +
			(uint64_t)p->period / 2) / (uint64_t)p->period);
	for (size_t i = 0; i < p->n_samples && r == 0; i++)
		r = decode_put_sample(d, p, p->samples[i], o);
	if (d->frames.bad)
		return -EPROTO;
	return r;
}

static int decode_put_request(struct dec *d, const OtlpIn__Request *q)
{
	int r = 0;

	for (size_t i = 0; i < q->n_resource_profiles; i++) {
		const OtlpIn__ResourceProfiles *rp = q->resource_profiles[i];
		struct owner o = { .path = { "", 0 }, .name = { "", 0 },
				   .container = { "", 0 }, .service = { "", 0 },
				   .thread = { "", 0 } };

		decode_resource_attributes(d, &o, rp->resource);
		for (size_t k = 0; k < rp->n_scope_profiles; k++) {
			const OtlpIn__ScopeProfiles *sp = rp->scope_profiles[k];

			for (size_t m = 0; m < sp->n_profiles && r == 0; m++)
				r = decode_put_profile(d, sp->profiles[m], &o);
		}
	}
	if (d->frames.bad)
		return -EPROTO;
	return r;
}

static int decode_build(struct dec *d, const OtlpIn__Request *q)
{
	int r;

	d->b = batch_builder_new(1);
	if (!d->b)
		return -ENOMEM;
	r = frames_init(&d->frames, q->dictionary, d->b);
	d->naming = true;
	if (r == 0)
		r = decode_put_request(d, q);
	d->naming = false;
	if (r == 0)
		r = decode_put_request(d, q);
	if (r == 0 && d->out->events)
		r = batch_builder_finish(d->b, d->start_ns, d->end_ns,
					 &d->out->data, &d->out->len);
	free(d->times.v);
	frames_fini(&d->frames);
	batch_builder_free(d->b);
	if (r == -EINVAL)
		return -EPROTO;
	return r;
}

int decode_request(const struct decode_in *in, struct decoded *ret)
{
	struct budget m = { { decode_take, decode_give, &m }, in->limits.memory, false };
	struct dec d = { .in = in, .out = ret, .start_ns = UINT64_MAX };
	OtlpIn__Request *q;
	int r;

	*ret = (struct decoded){ 0 };
	if (in->len > in->limits.body)
		return -E2BIG;
	q = otlp_in__request__unpack(&m.ops, in->len, in->data);
	if (!q && m.over)
		return -E2BIG;
	if (!q)
		return -EPROTO;
	r = decode_build(&d, q);
	otlp_in__request__free_unpacked(q, &m.ops);
	if (r)
		*ret = (struct decoded){ 0 };
	return r;
}
