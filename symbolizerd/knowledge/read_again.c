// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/read_again.h"

void read_again_init(struct reads_again *all)
{
	*all = (struct reads_again){ .pause_ns = AGAIN_NS, .quarantine_ns = QUARANTINE_NS };
	user_share_init(&all->share, AGAIN_PERCENT, 0);
}

/* The pause that follows this time. */
static void read_again_pause(struct read_again *r, uint64_t now_ns)
{
	if (!r->begun || now_ns - r->next_ns >= AGAIN_LONG_NS)
		r->doubled = 0;
	else if (r->doubled < AGAIN_DOUBLED)
		r->doubled++;
	r->begun = true;
	r->next_ns = now_ns + (r->all->pause_ns << r->doubled);
}

void read_again_pay(struct read_again *r, uint32_t owner)
{
	user_share_use(&r->all->share, owner, AGAIN_COST_NS);
	r->paid = true;
}

bool read_again_begin(struct read_again *r, uint32_t owner, uint64_t now_ns)
{
	struct reads_again *all = r->all;
	bool due = now_ns >= r->next_ns;

	if (due && r->read) {
		due = user_share_left(&all->share, owner, 0, now_ns);
		if (!due)		/* whoever meets it asks, each time */
			r->next_ns = now_ns + NSEC_PER_SEC;
	}
	if (!due) {
		if (!r->put_off)
			all->put_off++;
		r->put_off = true;
		return false;
	}
	if (r->read)
		read_again_pay(r, owner);
	r->put_off = false;
	read_again_pause(r, now_ns);
	return true;
}

void read_again_at_once(struct read_again *r)
{
	if (!r->hurried)
		r->next_ns = 0;
	r->hurried = true;
}

bool read_again_given(struct read_again *r, bool symbols)
{
	bool again = r->paid;

	r->paid = false;
	if (symbols)
		r->read = true;
	return again;
}

void read_again_quarantine(struct read_again *r, uint64_t now_ns)
{
	r->next_ns = now_ns + (r->all->quarantine_ns << r->deaths);
	if (r->deaths < QUARANTINE_DOUBLED)
		r->deaths++;
}

void read_again_used(struct reads_again *all, uint32_t owner, uint64_t cpu_ns)
{
	all->n++;
	if (cpu_ns > AGAIN_COST_NS)
		user_share_use(&all->share, owner, cpu_ns - AGAIN_COST_NS);
}
