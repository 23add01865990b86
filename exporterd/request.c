// SPDX-License-Identifier: Apache-2.0
#include "exporterd/request.h"

#include <errno.h>
#include <stdlib.h>

int request_init(struct request *q, const struct batch *b,
		 const struct otlp_resource *extra)
{
	int r;

	*q = (struct request){ .samples = batch_n(b, BATCH_TIMES) };
	r = otlp_encode(b, extra, &q->raw, &q->len);
	if (r < 0)
		return r;
	q->profiles = otlp_profiles(b);
	return q->len > REQUEST_MAX ? -E2BIG : 0;
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
		q->bodies[c] = body_make(q->raw, q->len, c);
	return q->bodies[c];
}
