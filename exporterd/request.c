// SPDX-License-Identifier: Apache-2.0
#include "exporterd/request.h"

#include <errno.h>
#include <stdlib.h>

int request_init(struct request *q, const struct batch *b,
		 struct otlp_range range, const struct otlp_resource *extra)
{
	int r;

	*q = (struct request){ 0 };
	for (uint32_t i = 0; i < range.n; i++)
		q->samples += b->samples[range.first + i].n;
	r = otlp_encode_range(b, range, extra, &q->raw, &q->len);
	if (r < 0)
		return r;
	q->profiles = otlp_profiles(b, range);
	return 0;
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
