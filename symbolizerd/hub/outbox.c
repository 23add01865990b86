// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int outbox_put(struct outbox *o, unsigned int type, uint64_t id,
	       const void *payload, size_t a, const void *tail, size_t b,
	       int fd)
{
	struct out_msg *m = NULL;
	int r = -ENOBUFS;

	if (o->n < OUTBOX_MAX) {
		m = malloc(sizeof(*m) + a + b);
		r = -ENOMEM;
	}
	if (!m) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	*m = (struct out_msg){ .id = id, .type = type, .fd = fd,
			       .len = a + b };
	if (a)
		memcpy(m->payload, payload, a);
	if (b)
		memcpy(m->payload + a, tail, b);
	if (o->first)
		o->last->next = m;
	else
		o->first = m;
	o->last = m;
	o->n++;
	return 0;
}

void outbox_pop(struct outbox *o)
{
	struct out_msg *m = o->first;

	o->first = m->next;
	o->n--;
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

int outbox_flush(struct outbox *o, struct conn *c)
{
	while (o->first) {
		struct out_msg *m = o->first;
		int r = conn_send(c, m->type, m->id, m->payload, m->len, NULL,
				  0, &m->fd, m->fd >= 0);

		if (r)
			return r;
		outbox_pop(o);
	}
	return 0;
}

void outbox_clear(struct outbox *o)
{
	while (o->first)
		outbox_pop(o);
}
