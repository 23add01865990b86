// SPDX-License-Identifier: Apache-2.0
#include "exporterd/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/sealed.h"

/* --- batches ---------------------------------------------------------------- */

struct kept_batch {
	struct kept_batches *in;
	struct kept_batch *prev, *next;		/* in the list `in`, if fd >= 0 */
	unsigned int refs;
	int fd;					/* -1: no longer kept */
	size_t bytes;
};

static void kept_batch_close(struct kept_batch *k)
{
	struct kept_batches *in = k->in;

	if (k->fd < 0)
		return;
	if (k->prev)
		k->prev->next = k->next;
	else
		in->first = k->next;
	if (k->next)
		k->next->prev = k->prev;
	else
		in->last = k->prev;
	in->n--;
	in->bytes -= k->bytes;
	close(k->fd);
	k->fd = -1;
}

struct kept_batch *kept_batch_new(struct kept_batches *in, int fd, size_t bytes)
{
	struct kept_batch *k;

	while (in->n && (in->n >= KEPT_MAX || bytes > KEPT_BYTES - in->bytes))
		kept_batch_close(in->first);
	k = malloc(sizeof(*k));
	if (!k)
		return NULL;
	*k = (struct kept_batch){
		.in = in, .prev = in->last, .refs = 1, .bytes = bytes,
		.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3),
	};
	if (k->fd < 0) {
		free(k);
		return NULL;
	}
	if (in->last)
		in->last->next = k;
	else
		in->first = k;
	in->last = k;
	in->n++;
	in->bytes += bytes;
	return k;
}

struct kept_batch *kept_batch_get(struct kept_batch *k)
{
	k->refs++;
	return k;
}

void kept_batch_put(struct kept_batch *k)
{
	if (!k)
		return;
	k->refs--;
	if (k->refs)
		return;
	kept_batch_close(k);
	free(k);
}

int kept_batch_map(const struct kept_batch *k, struct batch *ret)
{
	const void *data;
	size_t len;
	int r;

	if (!k || k->fd < 0)
		return -ENOENT;
	r = sealed_map(k->fd, sizeof(struct batch_hdr), BATCH_BYTES_MAX, &data,
		       &len);
	if (r < 0)
		return r;
	r = batch_open(data, len, ret);
	if (r < 0)
		munmap((void *)data, len);
	return r;
}

void kept_batch_unmap(const struct batch *b)
{
	munmap((void *)b->hdr, b->hdr->bytes);
}

/* --- requests --------------------------------------------------------------- */

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
