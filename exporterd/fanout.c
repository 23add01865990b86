// SPDX-License-Identifier: Apache-2.0
#include "exporterd/fanout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "exporterd/request.h"
#include "ipc/sealed.h"

_Static_assert(KEPT_MAX >= QUEUE_ITEMS + ENDPOINTS_MAX, "KEPT_MAX");

static bool fanout_spools(const struct fanout *f)
{
	return f->n && f->spool.dir >= 0;
}

static void fanout_on_outcome(void *arg, const struct sender *s, uint64_t id,
			      uint64_t samples, enum batch_outcome o)
{
	struct fanout *f = arg;
	struct sender *first = &f->senders[0];

	if (s != first) {
		f->ended(f->arg);
		return;
	}
	if (f->ending && o == BATCH_GAVE_UP && spool_has(&f->spool, id)) {
		/* the next exporterd sends it */
		first->outcomes.samples[o] -= samples;
		f->left = true;
	} else {
		spool_done(&f->spool, id, samples);
		f->outcome(f->arg, id, samples, o);
	}
	fanout_feed(f);
	f->ended(f->arg);
}

/* The spool dropped samples. */
static void fanout_spool_lost(void *arg, uint64_t id, uint64_t samples,
			      enum batch_outcome o)
{
	struct fanout *f = arg;

	f->senders[0].outcomes.samples[o] += samples;
	f->outcome(f->arg, id, samples, o);
}

int fanout_init(struct fanout *f, struct evloop *loop,
		const struct exporter_config *cfg)
{
	int r = 0;

	f->resource = &cfg->resource;
	spool_init(&f->spool, fanout_spool_lost, f);
	for (f->n = 0; f->n < cfg->n_endpoints && r == 0; f->n++)
		r = sender_init(&f->senders[f->n], loop,
				&cfg->endpoints[f->n], &cfg->resource,
				fanout_on_outcome, f);
	return r;
}

void fanout_fini(struct fanout *f)
{
	for (unsigned int i = 0; i < f->n; i++)
		sender_fini(&f->senders[i]);
	f->n = 0;
	spool_fini(&f->spool);
}

/* --- a batch to some of the senders ------------------------------------------ */

/* Senders first <= s < end whose requests are encoded as those of `as`. */
struct fanout_to {
	struct sender *first, *end;
	const struct endpoint *as;
};

/* The next of them, from s on, or the end. */
static struct sender *fanout_next(struct fanout_to to, struct sender *s)
{
	while (s < to.end && !request_same_how(s->endpoint, to.as))
		s++;
	return s;
}

static void fanout_add_request(struct fanout_to to, uint64_t id, struct request *q,
			       struct kept_batch *batch, struct otlp_range range)
{
	for (struct sender *s = fanout_next(to, to.first); s < to.end;
	     s = fanout_next(to, s + 1)) {
		struct item *it = request_item(
			q, id, s->endpoint->compression, batch, range);

		if (it)
			sender_add(s, it);
		else
			sender_lost(s, id, q->samples, BATCH_GAVE_UP);
	}
}

static void fanout_lost(struct fanout *f, struct fanout_to to, uint64_t id,
			uint64_t samples, int why)
{
	enum batch_outcome o = BATCH_GAVE_UP;

	if (why == -ENODATA)
		o = BATCH_DELIVERED;
	else if (log_limited(&f->log))
		log_err("%llu samples are not sent: %s",
			(unsigned long long)samples, strerror(-why));
	for (struct sender *s = fanout_next(to, to.first); s < to.end;
	     s = fanout_next(to, s + 1))
		sender_lost(s, id, samples, o);
}

static void fanout_send_as(struct fanout *f, struct fanout_to to, uint64_t id,
			   struct kept_batch *batch, const struct batch *b,
			   struct otlp_range left)
{
	const struct otlp_how extra = request_how(f->resource, to.as);
	struct otlp_range now = left;

	do {
		struct request q;
		int r = request_init(&q, b, now, &extra);

		if (r == 0 && q.len > REQUEST_MAX && now.n > 1) {
			now.n /= 2;
			request_fini(&q);
			continue;
		}
		if (r == 0)
			fanout_add_request(to, id, &q, batch, now);
		else
			fanout_lost(f, to, id, q.samples, r);
		request_fini(&q);
		left.first += now.n;
		left.n -= now.n;
		now.first = left.first;
		if (now.n > left.n)
			now.n = left.n;
	} while (left.n);
}

/* Send these events of the batch in fd, encoded once for all whose requests are the same;
 * to.as is not looked at. */
static void fanout_send(struct fanout *f, struct fanout_to to, uint64_t id,
			int fd, const struct batch *b, struct otlp_range left)
{
	struct kept_batch *batch = kept_batch_new(&f->kept, fd, b->hdr->bytes);

	for (struct sender *s = to.first; s < to.end; s++) {
		to.as = s->endpoint;
		/* ... with the first of them */
		if (fanout_next(to, to.first) == s)
			fanout_send_as(f, to, id, batch, b, left);
	}
	kept_batch_put(batch);
}

/* --- the spool ------------------------------------------------------------------ */

/* Give the first sender one batch of the spool.  False: there is none now. */
static bool fanout_feed_one(struct fanout *f)
{
	struct fanout_to to = { f->senders, f->senders + 1, f->senders->endpoint };
	struct spool_name name;
	const void *data;
	struct batch b;
	size_t len;
	int fd = spool_next(&f->spool, &name), r;

	if (fd == -ENOENT)
		return false;
	if (fd < 0) {
		if (log_limited(&f->log))
			log_err("cannot read a batch of the spool now: %s",
				strerror(-fd));
		return false;
	}
	f->senders[0].backlog = f->spool.waiting > 0;
	r = sealed_map(fd, sizeof(struct batch_hdr), BATCH_BYTES_MAX, &data,
		       &len);
	if (r == 0)
		r = batch_open(data, len, &b);
	if (r == 0) {
		fanout_send(f, to, name.id, fd, &b,
			    (struct otlp_range){ name.first, name.n });
		kept_batch_unmap(&b);
	} else {
		fanout_lost(f, to, name.id, name.n, r);
	}
	close(fd);
	return true;
}

void fanout_feed(struct fanout *f)
{
	if (!fanout_spools(f) || f->feeding || f->left)
		return;
	f->feeding = true;
	while (sender_idle(&f->senders[0]) && !f->senders[0].hold &&
	       fanout_feed_one(f))
		;
	f->feeding = false;
}

void fanout_start(struct fanout *f)
{
	if (!fanout_spools(f))
		return;
	f->senders[0].give_up_ns = SPOOL_AGE_NS;
	spool_scan(&f->spool);
	/* what waits from before comes as after an outage */
	f->senders[0].catching_up = f->spool.waiting > 0;
	fanout_feed(f);
}

void fanout_add(struct fanout *f, uint64_t id, int fd, const struct batch *b)
{
	struct fanout_to to = { f->senders, f->senders + f->n, NULL };
	int r = spool_put(&f->spool, id, b);

	if (r == -EEXIST) {
		/* the hub counts it twice: as queued when this exporterd connected,
		 * and now */
		f->outcome(f->arg, id, batch_n(b, BATCH_TIMES), BATCH_GAVE_UP);
		return;
	}
	if (r == 0)
		to.first++;
	if (to.first < to.end)
		fanout_send(f, to, id, fd, b, otlp_all(b));
	fanout_feed(f);
}

/* --- the end ---------------------------------------------------------------------- */

static bool fanout_idle_from(const struct fanout *f, unsigned int first)
{
	for (unsigned int i = first; i < f->n; i++) {
		if (!sender_idle(&f->senders[i]))
			return false;
	}
	return true;
}

bool fanout_idle(const struct fanout *f)
{
	return fanout_idle_from(f, 0) && (f->left || !f->spool.waiting);
}

void fanout_drain(struct fanout *f, uint64_t end_ns)
{
	f->ending = true;
	for (unsigned int i = 0; i < f->n; i++)
		sender_drain(&f->senders[i], end_ns);
}

void fanout_leave(struct fanout *f, uint64_t end_ns)
{
	f->ending = true;
	if (f->n)
		sender_hold(&f->senders[0]);
	for (unsigned int i = 1; i < f->n; i++)
		sender_drain(&f->senders[i], end_ns);
}

bool fanout_left(const struct fanout *f)
{
	return !f->n || (sender_held(&f->senders[0]) && fanout_idle_from(f, 1));
}

void fanout_give_up(struct fanout *f, bool leaving)
{
	f->ending = f->left = true;
	for (unsigned int i = 0; i < f->n; i++) {
		if (i > 0 || !leaving)
			sender_give_up(&f->senders[i]);
	}
}

uint64_t fanout_samples(const struct fanout *f)
{
	if (!f->n)
		return 0;
	return sender_samples(&f->senders[0]) + f->spool.waiting;
}

static void fanout_fill_receiver(const struct sender *s, struct receiver *ret)
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
		fanout_fill_receiver(&f->senders[i], &ret->receivers[i]);
	spool_stats(&f->spool, ret);
	ret->receivers[0].queued = ret->queued = fanout_samples(f);
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
			 "%llu given up", s->endpoint->shown_url,
			 (unsigned long long)o[BATCH_DELIVERED],
			 (unsigned long long)o[BATCH_REJECTED],
			 (unsigned long long)o[BATCH_QUEUE_FULL],
			 (unsigned long long)o[BATCH_GAVE_UP]);
	}
	if (f->spool.n)
		log_info("spool %s: %u batches stay for the next start",
			 f->spool.path, f->spool.n);
}
