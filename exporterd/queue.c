// SPDX-License-Identifier: Apache-2.0
#include "exporterd/queue.h"

#include <stdlib.h>

#include "exporterd/kept_batch.h"

struct item *item_new(struct body *body, uint64_t id, uint64_t samples,
		      uint32_t profiles)
{
	struct item *it = malloc(sizeof(*it));

	if (it)
		*it = (struct item){
			.id = id, .samples = samples, .profiles = profiles,
			.body = body_get(body),
		};
	return it;
}

void item_free(struct item *it)
{
	if (!it)
		return;
	body_put(it->body);
	kept_batch_put(it->batch);
	free(it);
}

struct item *queue_pop(struct queue *q)
{
	struct item *it = q->first;

	if (!it)
		return NULL;
	q->first = it->next;
	if (!q->first)
		q->last = NULL;
	it->next = NULL;
	q->n--;
	q->bytes -= item_bytes(it);
	q->samples -= it->samples;
	return it;
}

struct item *queue_push(struct queue *q, struct item *it)
{
	struct item *gone = NULL, **end = &gone;

	it->next = NULL;
	if (item_bytes(it) > q->max_bytes || q->max_n == 0)
		return it;
	while (q->n >= q->max_n || q->max_bytes - q->bytes < item_bytes(it)) {
		*end = queue_pop(q);
		end = &(*end)->next;
	}
	if (q->last)
		q->last->next = it;
	else
		q->first = it;
	q->last = it;
	q->n++;
	q->bytes += item_bytes(it);
	q->samples += it->samples;
	return gone;
}
