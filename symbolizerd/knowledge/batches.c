// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/batches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/vector.h"

void batches_init(struct batches *b, struct ledger *l, uint64_t first_id)
{
	*b = (struct batches){
		.ledger = l, .first_id = first_id, .next_id = first_id,
	};
}

static void batches_drop_fd(struct sent_batch *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void batches_fini(struct batches *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		batches_drop_fd(&b->v[i]);
	free(b->v);
	*b = (struct batches){ 0 };
}

static void batches_remove_at(struct batches *b, uint32_t i)
{
	batches_drop_fd(&b->v[i]);
	memmove(&b->v[i], &b->v[i + 1], (b->n - i - 1) * sizeof(*b->v));
	b->n--;
}

static void batches_finish_at(struct batches *b, uint32_t i,
			      enum batch_outcome o)
{
	ledger_outcome(b->ledger, o, b->v[i].samples);
	batches_remove_at(b, i);
}

/* Let go of the oldest descriptors beyond those that are held. */
static void batches_hold_newest(struct batches *b)
{
	uint32_t held = 0;

	for (uint32_t i = b->n; i-- > 0;) {
		if (b->v[i].fd < 0 || ++held <= BATCHES_HELD)
			continue;
		if (b->v[i].sent)
			batches_drop_fd(&b->v[i]);
		else
			batches_finish_at(b, i, BATCH_QUEUE_FULL);
	}
	if (b->n > BATCHES_MAX)
		batches_finish_at(b, 0, BATCH_QUEUE_FULL);
}

int batches_add(struct batches *b, int fd, uint64_t bytes, uint64_t samples)
{
	struct sent_batch s = {
		.id = b->next_id,
		.samples = samples,
		.events = samples,
		.bytes = bytes,
		.fd = fd,
	};

	ledger_handed(b->ledger, samples);
	if (!vector_push(b, s)) {
		close(fd);
		ledger_outcome(b->ledger, BATCH_QUEUE_FULL, samples);
		return -ENOMEM;
	}
	b->next_id++;
	batches_hold_newest(b);
	return 0;
}

struct sent_batch *batches_unsent(struct batches *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		if (!b->v[i].sent)
			return &b->v[i];
	}
	return NULL;
}

bool batches_done(struct batches *b, uint64_t id, uint32_t outcome, uint64_t n)
{
	if (outcome >= BATCH__OUTCOMES)
		return false;
	for (uint32_t i = 0; i < b->n; i++) {
		struct sent_batch *s = &b->v[i];

		if (s->id != id)
			continue;
		if (!s->sent || n > s->samples)
			return false;
		ledger_outcome(b->ledger, outcome, n);
		s->samples -= n;
		if (s->samples == 0)
			batches_remove_at(b, i);
		return true;
	}
	return ledger_inherited_done(b->ledger, outcome, n, id < b->first_id);
}

static void batches_send_again(struct batches *b, struct sent_batch *s)
{
	s->sent = false;
	ledger_requeued(b->ledger, s->samples);
}

static void batches_hello_of_another(struct batches *b)
{
	ledger_exporter_empty(b->ledger);
	for (uint32_t i = b->n; i-- > 0;) {
		struct sent_batch *s = &b->v[i];

		/* a part that is finished cannot be told from the rest */
		if (s->fd < 0 || s->samples != s->events)
			batches_finish_at(b, i, BATCH_QUEUE_FULL);
		else if (s->sent)
			batches_send_again(b, s);
	}
}

static uint64_t batches_sent_samples(const struct batches *b)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		if (b->v[i].sent)
			n += b->v[i].samples;
	return n;
}

static void batches_hello_of_same(struct batches *b, uint64_t queued,
			  const struct export_outcomes *done)
{
	uint64_t has = queued + outcomes_sum(done);
	uint64_t known = batches_sent_samples(b) + b->ledger->inherited +
			 b->ledger->foreign;
	uint64_t missing = known > has ? known - has : 0;

	for (uint32_t i = b->n; i-- > 0;) {
		struct sent_batch *s = &b->v[i];

		if (!s->sent)
			continue;
		if (s->fd >= 0 && s->samples == s->events &&
		    s->samples <= missing) {
			missing -= s->samples;
			batches_send_again(b, s);
			continue;
		}
		ledger_disown(b->ledger, s->samples);
		batches_remove_at(b, i);
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
		batches_hello_of_another(b);
	else
		batches_hello_of_same(b, queued, done);
	b->ledger->exporter_spoke = true;
}
