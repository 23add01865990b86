// SPDX-License-Identifier: Apache-2.0
#include "exporterd/request.h"

#include <errno.h>
#include <stdlib.h>

struct otlp_how request_how(const struct resource *r, const struct endpoint *e)
{
	struct otlp_how how = resource_how(r);

	how.bare = e->bare;
	how.guesses = e->guesses;
	how.nameless = e->nameless;
	return how;
}

int request_init(struct request *q, const struct batch *b,
		 struct otlp_range range, const struct otlp_how *extra)
{
	*q = (struct request){
		.samples = range.n, .span_ns = b->hdr->end_ns - b->hdr->start_ns,
	};
	return otlp_encode_range(b, range, extra, &q->raw, &q->len, &q->made);
}

void request_fini(struct request *q)
{
	free(q->raw);
	for (int i = 0; i < COMPRESSION__KINDS; i++)
		body_put(q->bodies[i]);
}

struct body *request_body(struct request *q, enum compression c)
{
	if (!q->bodies[c])
		q->bodies[c] = body_make_cut(q->raw, q->len, q->made.cuts.at,
					     OTLP_CUTS, c);
	return q->bodies[c];
}

struct item *request_item(struct request *q, uint64_t id, enum compression c,
			  struct kept_batch *batch, struct otlp_range range)
{
	struct body *body = request_body(q, c);
	struct item *it;

	if (!body)
		return NULL;
	it = item_new(body, id, q->samples, q->made.profiles);
	if (!it)
		return NULL;
	if (batch)
		it->batch = kept_batch_get(batch);
	it->first = range.first;
	it->span_ns = q->span_ns;
	return it;
}

/* Another item of the batch of `it`, of these events. */
static struct item *request_part(const struct item *it, const struct batch *b,
				 struct otlp_range range,
				 const struct otlp_how *extra)
{
	struct item *ret = NULL;
	struct request q;

	if (request_init(&q, b, range, extra) == 0)
		ret = request_item(&q, it->id, it->body->compression,
				   it->batch, range);
	request_fini(&q);
	return ret;
}

int request_halve(const struct item *it, const struct otlp_how *extra,
		  struct item *ret[2])
{
	uint32_t n = (uint32_t)it->samples, half = n / 2;
	struct batch b;
	int r;

	if (n < 2)
		return -ENODATA;
	r = kept_batch_map(it->batch, &b);
	if (r < 0)
		return r;
	ret[0] = request_part(it, &b, (struct otlp_range){ it->first, half },
			      extra);
	ret[1] = request_part(it, &b,
			      (struct otlp_range){ it->first + half, n - half },
			      extra);
	kept_batch_unmap(&b);
	if (ret[0] && ret[1])
		return 0;
	item_free(ret[0]);
	item_free(ret[1]);
	return -ENOMEM;
}
