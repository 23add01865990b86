// SPDX-License-Identifier: Apache-2.0
#include "exporterd/fanout.h"

#include <errno.h>
#include <string.h>

#include "exporterd/request.h"

_Static_assert(KEPT_MAX >= QUEUE_ITEMS + ENDPOINTS_MAX, "KEPT_MAX");

static void on_outcome(void *arg, const struct sender *s, uint64_t id,
		       uint64_t samples, enum batch_outcome o)
{
	struct fanout *f = arg;

	if (s == &f->senders[0])
		f->outcome(f->arg, id, samples, o);
	f->ended(f->arg);
}

int fanout_init(struct fanout *f, struct evloop *loop,
		const struct exporter_config *cfg)
{
	int r = 0;

	f->resource = &cfg->resource;
	for (f->n = 0; f->n < cfg->n_endpoints && r == 0; f->n++)
		r = sender_init(&f->senders[f->n], loop,
				&cfg->endpoints[f->n], &cfg->resource,
				on_outcome, f);
	return r;
}

void fanout_fini(struct fanout *f)
{
	while (f->n)
		sender_fini(&f->senders[--f->n]);
}

static void add_request(struct fanout *f, uint64_t id, struct request *q,
			struct kept_batch *batch, struct otlp_range range)
{
	for (unsigned int i = 0; i < f->n; i++) {
		struct sender *s = &f->senders[i];
		struct item *it = request_item(
			q, id, s->endpoint->compression, batch, range);

		if (it)
			sender_add(s, it);
		else
			sender_lost(s, id, q->samples, BATCH_GAVE_UP);
	}
}

static void fanout_lost(struct fanout *f, uint64_t id, uint64_t samples,
			int why)
{
	enum batch_outcome o = why == -ENODATA ? BATCH_DELIVERED :
						 BATCH_GAVE_UP;

	if (o == BATCH_GAVE_UP && log_limited(&f->log))
		log_err("%llu samples are not sent: %s",
			(unsigned long long)samples, strerror(-why));
	for (unsigned int i = 0; i < f->n; i++)
		sender_lost(&f->senders[i], id, samples, o);
}

void fanout_add(struct fanout *f, uint64_t id, int fd, const struct batch *b)
{
	const struct otlp_resource extra = {
		(const char *const *)f->resource->v,
	};
	struct otlp_range left = otlp_all(b), now = left;
	struct kept_batch *batch = kept_batch_new(&f->kept, fd, b->hdr->bytes);

	do {
		struct request q;
		int r = request_init(&q, b, now, &extra);

		if (r == 0 && q.len > REQUEST_MAX && now.n > 1) {
			now.n /= 2;
			request_fini(&q);
			continue;
		}
		if (r == 0)
			add_request(f, id, &q, batch, now);
		else
			fanout_lost(f, id, q.samples, r);
		request_fini(&q);
		left.first += now.n;
		left.n -= now.n;
		now.first = left.first;
		if (now.n > left.n)
			now.n = left.n;
	} while (left.n);
	kept_batch_put(batch);
}

static bool idle_from(const struct fanout *f, unsigned int first)
{
	for (unsigned int i = first; i < f->n; i++) {
		if (!sender_idle(&f->senders[i]))
			return false;
	}
	return true;
}

bool fanout_idle(const struct fanout *f)
{
	return idle_from(f, 0);
}

void fanout_drain(struct fanout *f, uint64_t end_ns)
{
	for (unsigned int i = 0; i < f->n; i++)
		sender_drain(&f->senders[i], end_ns);
}

void fanout_leave(struct fanout *f, uint64_t end_ns)
{
	if (f->n)
		sender_hold(&f->senders[0]);
	for (unsigned int i = 1; i < f->n; i++)
		sender_drain(&f->senders[i], end_ns);
}

bool fanout_left(const struct fanout *f)
{
	return !f->n || (sender_held(&f->senders[0]) && idle_from(f, 1));
}

void fanout_give_up(struct fanout *f, bool leaving)
{
	for (unsigned int i = leaving; i < f->n; i++)
		sender_give_up(&f->senders[i]);
}

uint64_t fanout_samples(const struct fanout *f)
{
	return f->n ? sender_samples(&f->senders[0]) : 0;
}

static void say_receiver(const struct sender *s, struct receiver *ret)
{
	const uint64_t *o = s->outcomes.samples;
	const char *url = s->endpoint->shown_url;

	memcpy(ret->url, url, strnlen(url, sizeof(ret->url)));
	ret->number = s->endpoint->number;
	ret->queued = sender_samples(s);
	ret->delivered = o[BATCH_DELIVERED];
	ret->rejected = o[BATCH_REJECTED];
	ret->queue_full = o[BATCH_QUEUE_FULL];
	ret->gave_up = o[BATCH_GAVE_UP];
	ret->requests = s->requests;
	ret->retries = s->retries;
	ret->http_status = s->http_status;
}

void fanout_stats(const struct fanout *f, struct exporter_stats *ret)
{
	const struct sender *s = &f->senders[0];

	if (!f->n)
		return;
	for (unsigned int i = 0; i < f->n; i++)
		say_receiver(&f->senders[i], &ret->receivers[i]);
	ret->queued = sender_samples(s);
	ret->queued_bytes = sender_bytes(s);
	ret->requests = s->requests;
	ret->request_bytes = s->request_bytes;
	ret->wire_bytes = s->wire_bytes;
	ret->retries = s->retries;
	ret->http_status = s->http_status;
	ret->partial_rejected = s->partial_rejected;
}

void fanout_say_outcomes(const struct fanout *f)
{
	for (unsigned int i = 1; i < f->n; i++) {
		const struct sender *s = &f->senders[i];
		const uint64_t *o = s->outcomes.samples;

		log_info("%s: %llu samples delivered, %llu rejected, %llu pushed out of the queue, "
			 "gave up on %llu", s->endpoint->shown_url,
			 (unsigned long long)o[BATCH_DELIVERED],
			 (unsigned long long)o[BATCH_REJECTED],
			 (unsigned long long)o[BATCH_QUEUE_FULL],
			 (unsigned long long)o[BATCH_GAVE_UP]);
	}
}
