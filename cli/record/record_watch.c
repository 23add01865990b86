// SPDX-License-Identifier: Apache-2.0
#include "cli/record/record_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/log.h"

/* --- is the range complete? ----------------------------------------------- */

static bool record_watch_is_over(const struct record_watch *w, uint64_t t)
{
	return t >= SETTLE_NS && t - SETTLE_NS >= w->cut.end_ns;
}

uint64_t record_watch_wait_ns(uint32_t interval_ms)
{
	/* one more: intervals are as long only about */
	uint64_t ns = (BATCH_CARRIES + 1) * interval_ms * NSEC_PER_MSEC;

	return SETTLE_NS + (ns < BATCH_CARRY_NS ? ns : BATCH_CARRY_NS);
}

/* No sample of the range still waits at t. */
static bool record_watch_waits_no_more(const struct record_watch *w, uint64_t t)
{
	uint64_t wait = record_watch_wait_ns(w->hub.status.interval_ms);

	return t >= wait && t - wait >= w->cut.end_ns;
}

static void record_watch_seen(struct record_watch *w, uint64_t t)
{
	if (t > w->seen_ns)
		w->seen_ns = t;
}

void record_watch_batch_end(struct record_watch *w, uint64_t end_ns)
{
	record_watch_seen(w, end_ns);
	if (w->last_came || !record_watch_is_over(w, end_ns))
		return;
	if (!w->settled && !record_watch_waits_no_more(w, end_ns))
		return;
	w->last_came = true;
	w->last_statuses = w->hub.statuses;
}

/* Of the account of CPU time, what passes from the first status on. */
static void record_watch_time(struct record_watch *w, const struct status *st)
{
	struct account a;

	account_sum(st, &a);
	/* less: another account has begun */
	if (!w->timed || a.missed_ns < w->missed_first_ns)
		w->missed_first_ns = a.missed_ns;
	w->timed = true;
	w->missed_ns = a.missed_ns;
	if (st->loader.cpus)
		w->cpus = st->loader.cpus;
}

void record_watch_status(struct record_watch *w, const struct status *st,
			 uint64_t now_ns)
{
	record_watch_time(w, st);
	if (!st->hub.pending)
		record_watch_seen(w, now_ns);
	if (!record_watch_is_over(w, now_ns) || !w->hub.statuses)
		return;
	if (w->last_came && w->hub.statuses != w->last_statuses)
		w->state.covered = 1;
	w->settled |= st->hub.exes_waiting == 0;
	w->state.covered |= w->settled && st->hub.pending == 0;
}

/* --- batches -------------------------------------------------------------------- */

/* 0, or -EPROTO: counted as missed. */
static int record_watch_collect(struct record_watch *w, const void *data,
				size_t len, uint64_t samples)
{
	bool was_full = w->collect->refused != 0;
	enum batch_outcome outcome = collect_add(w->collect, data, len, samples);

	if (w->collect->refused && !was_full)
		log_warn("the profile has reached its largest size (%u MiB): "
			 "from now on samples are counted, not kept",
			 BATCH_BYTES_MAX >> 20);
	if (outcome == BATCH_INVALID)
		return -EPROTO;
	return 0;
}

static bool record_watch_is_ours(struct record_watch *w, const struct batch *b)
{
	if (b->hdr->frequency == w->frequency)
		return true;
	if (!w->other_frequency)
		log_warn("the running trifold samples at %u Hz by now, not %u: "
			 "these samples are left out", b->hdr->frequency,
			 w->frequency);
	w->other_frequency = true;
	return false;
}

static int record_watch_take_batch(void *arg, const void *data, size_t len,
				   uint64_t samples)
{
	struct record_watch *w = arg;
	uint64_t events;
	struct batch b;
	size_t cut_len;
	void *cut;
	int r;

	if (batch_open(data, len, &b) || batch_n(&b, BATCH_TIMES) != samples ||
	    !record_watch_is_ours(w, &b))
		return -EPROTO;
	if (cut_takes_all(&w->cut, &b)) {
		r = record_watch_collect(w, data, len, samples);
	} else {
		r = cut_batch(&w->cut, &b, &cut, &cut_len, &events);
		if (!r && cut) {
			r = record_watch_collect(w, cut, cut_len, events);
			free(cut);
		}
	}
	record_watch_batch_end(w, b.hdr->end_ns);
	return r;
}

/* --- the connection ---------------------------------------------------------------- */

void record_watch_init(struct record_watch *w, struct collect *c,
		       uint32_t frequency, int control)
{
	/* missing batches are counted by the client */
	static const struct hub_client_ops ops = {
		.batch = record_watch_take_batch,
	};

	*w = (struct record_watch){
		.collect = c,
		.control = control,
		.frequency = frequency,
		.cut = { .start_ns = UINT64_MAX, .end_ns = UINT64_MAX },
	};
	hub_client_init(&w->hub, NULL, 0, &ops, w);
}

void record_watch_range(struct record_watch *w, const struct cut *c)
{
	w->cut = *c;
	w->cut.container[CONTAINER_ID_MAX] = '\0';
	w->cut.unit[BATCH_UNIT_MAX] = '\0';
	if (w->cut.pids.n > NUMBERS_MAX)
		w->cut.pids.n = NUMBERS_MAX;
	if (w->cut.end_ns < w->collect->end_ns)
		w->cut.end_ns = w->collect->end_ns;
	w->on = true;
}

void record_watch_open(struct record_watch *w, int fd, uid_t hub_uid)
{
	hub_client_take(&w->hub, fd, hub_uid);
	w->state.opened++;
	w->settled = w->last_came = false;
}

void record_watch_read(struct record_watch *w)
{
	uint64_t before = w->hub.statuses;
	int r = hub_client_read(&w->hub, now_ns());

	if (r && r != -EPIPE)
		log_err("symbolizerd's batches: %s",
			r > 0 ? msg_verdict_name(r) : strerror(-r));
	if (w->hub.statuses && w->hub.statuses != before)
		record_watch_status(w, &w->hub.status,
				    clock_ns(CLOCK_REALTIME));
}

void record_watch_say(struct record_watch *w)
{
	struct iovec iov = { &w->state, sizeof(w->state) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct record_state *s = &w->state;

	s->connected = w->hub.conn.fd >= 0;
	/* when symbolizerd sent the first one it may not have read the
	 * subscription yet */
	s->subscribed = s->connected && w->hub.statuses > 1;
	s->samples = w->collect->events;
	s->missed = w->hub.missed;
	s->lost = hub_client_lost(&w->hub) - w->hub.missed;
	s->no_room = w->collect->refused;
	if (w->spoke && !memcmp(s, &w->said, sizeof(*s)))
		return;
	/* the next status comes in a second */
	if (sendmsg(w->control, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
	w->said = *s;
	w->spoke = true;
}

static void record_watch_reason(struct profile_account *a, uint64_t n,
				const char *what)
{
	size_t len = strlen(a->reasons);

	if (n)
		snprintf(a->reasons + len, sizeof(a->reasons) - len,
			 ", %s %" PRIu64, what, n);
	a->lost += n;
}

/* Where the range ends that was recorded: it is open, or in the future, when the running
 * trifold ended before it. */
static uint64_t record_watch_end(const struct record_watch *w)
{
	uint64_t end = w->seen_ns;

	if (w->state.covered || w->cut.end_ns < end)
		return w->cut.end_ns;
	if (end < w->collect->end_ns)
		end = w->collect->end_ns;
	if (end < w->cut.start_ns)
		return w->cut.start_ns;
	return end;
}

void record_watch_account(const struct record_watch *w,
			  struct profile_account *ret)
{
	const struct record_state *s = &w->state;
	uint64_t all;

	*ret = (struct profile_account){
		.start_ns = w->cut.start_ns, .end_ns = record_watch_end(w),
		.delivered = s->samples, .known = 1,
		.reasons = "taken by the running trifold",
	};
	record_watch_reason(ret, s->missed, "missed");
	record_watch_reason(ret, s->lost, "in no batch");
	record_watch_reason(ret, s->no_room, "no room");
	ret->taken = ret->delivered + ret->lost;
	all = (ret->end_ns - ret->start_ns) * w->cpus;
	ret->missed_ns = w->missed_ns - w->missed_first_ns;
	if (ret->missed_ns > all)
		ret->missed_ns = all;
	ret->covered_ns = all - ret->missed_ns;
}
