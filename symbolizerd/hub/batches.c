// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/batches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void batches_init(struct batches *b, struct ledger *l, uint64_t first_id)
{
	*b = (struct batches){ .ledger = l, .next_id = first_id };
}

static void drop_fd(struct sent_batch *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void batches_fini(struct batches *b)
{
	for (size_t i = 0; i < b->n; i++)
		drop_fd(&b->v[i]);
	free(b->v);
	*b = (struct batches){ 0 };
}

static void remove_at(struct batches *b, size_t i)
{
	drop_fd(&b->v[i]);
	memmove(&b->v[i], &b->v[i + 1], (b->n - i - 1) * sizeof(*b->v));
	b->n--;
}

static void finish_at(struct batches *b, size_t i, enum batch_outcome o)
{
	ledger_outcome(b->ledger, o, b->v[i].samples);
	remove_at(b, i);
}

/* Let go of the oldest descriptors beyond those that are held. */
static void hold_newest(struct batches *b)
{
	size_t held = 0;

	for (size_t i = b->n; i-- > 0;) {
		if (b->v[i].fd < 0 || ++held <= BATCHES_HELD)
			continue;
		if (b->v[i].sent)
			drop_fd(&b->v[i]);
		else
			finish_at(b, i, BATCH_QUEUE_FULL);
	}
	if (b->n > BATCHES_MAX)
		finish_at(b, 0, BATCH_QUEUE_FULL);
}

static int batches_make_room(struct batches *b)
{
	size_t room = b->room ? b->room * 2 : BATCHES_HELD;
	struct sent_batch *v;

	if (b->n < b->room)
		return 0;
	v = reallocarray(b->v, room, sizeof(*v));
	if (!v)
		return -ENOMEM;
	b->v = v;
	b->room = room;
	return 0;
}

int batches_add(struct batches *b, int fd, uint64_t bytes, uint64_t samples)
{
	int r = batches_make_room(b);

	ledger_handed(b->ledger, samples);
	if (r < 0) {
		close(fd);
		ledger_outcome(b->ledger, BATCH_QUEUE_FULL, samples);
		return r;
	}
	b->v[b->n++] = (struct sent_batch){
		.id = b->next_id++,
		.samples = samples,
		.events = samples,
		.bytes = bytes,
		.fd = fd,
	};
	hold_newest(b);
	return 0;
}

struct sent_batch *batches_unsent(struct batches *b)
{
	for (size_t i = 0; i < b->n; i++) {
		if (!b->v[i].sent)
			return &b->v[i];
	}
	return NULL;
}

bool batches_done(struct batches *b, uint64_t id, uint32_t outcome, uint64_t n)
{
	if (outcome >= BATCH__OUTCOMES)
		return false;
	for (size_t i = 0; i < b->n; i++) {
		struct sent_batch *s = &b->v[i];

		if (s->id != id)
			continue;
		if (!s->sent || n > s->samples)
			return false;
		ledger_outcome(b->ledger, outcome, n);
		s->samples -= n;
		if (s->samples == 0)
			remove_at(b, i);
		return true;
	}
	return ledger_inherited_done(b->ledger, outcome, n);
}

static void send_again(struct batches *b, struct sent_batch *s)
{
	s->sent = false;
	ledger_requeued(b->ledger, s->samples);
}

static void hello_of_another(struct batches *b)
{
	ledger_exporter_empty(b->ledger);
	for (size_t i = b->n; i-- > 0;) {
		struct sent_batch *s = &b->v[i];

		/* a part that is finished cannot be told from the rest */
		if (s->fd < 0 || s->samples != s->events)
			finish_at(b, i, BATCH_QUEUE_FULL);
		else if (s->sent)
			send_again(b, s);
	}
}

static uint64_t sent_samples(const struct batches *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += b->v[i].sent ? b->v[i].samples : 0;
	return n;
}

static void hello_of_same(struct batches *b, uint64_t queued,
			  const struct export_outcomes *done)
{
	uint64_t has = queued + outcomes_sum(done);
	uint64_t known = sent_samples(b) + b->ledger->inherited;
	uint64_t missing = known > has ? known - has : 0;

	for (size_t i = b->n; i-- > 0;) {
		struct sent_batch *s = &b->v[i];

		if (!s->sent)
			continue;
		if (s->fd >= 0 && s->samples == s->events &&
		    s->samples <= missing) {
			missing -= s->samples;
			send_again(b, s);
			continue;
		}
		ledger_disown(b->ledger, s->samples);
		remove_at(b, i);
	}
	ledger_exporter_again(b->ledger, queued, done);
}

void batches_hello(struct batches *b, uint64_t queued,
		   const struct export_outcomes *done)
{
	bool first = !b->ledger->exporter_spoke;

	if (first)
		ledger_exporter_first(b->ledger, queued, done);
	else if (queued == 0 && outcomes_sum(done) == 0)
		hello_of_another(b);
	else
		hello_of_same(b, queued, done);
	b->ledger->exporter_spoke = true;
}
