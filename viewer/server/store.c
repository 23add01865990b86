// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define SEALED		0xfe	/* .grade of a minute that is over, or too large */
#define PIECES_MAX	64	/* merged at a time */
#define MINUTE_NS	(60 * NSEC_PER_SEC)
#define LATE_NS		(15 * NSEC_PER_SEC)	/* after its end a minute is over */

void store_init(struct store *s, uint64_t budget, uint64_t keep_ns)
{
	*s = (struct store){
		.budget = budget, .keep_ns = keep_ns,
	};
}

void store_fini(struct store *s)
{
	for (size_t i = 0; i < s->n; i++)
		segment_free(s->v[i]);
	free(s->v);
}

/* --- the list ------------------------------------------------------------------ */

static int store_insert(struct store *s, struct segment *seg)
{
	size_t at = s->n;

	if (!vector_reserve(s, 1))
		return -ENOMEM;
	while (at > 0 && s->v[at - 1]->start_ns > seg->start_ns)
		at--;
	memmove(s->v + at + 1, s->v + at, (s->n - at) * sizeof(*s->v));
	s->v[at] = seg;
	s->n++;
	s->bytes += seg->bytes;
	s->samples += seg->samples;
	return 0;
}

static struct segment *store_take_out(struct store *s, size_t at)
{
	struct segment *seg = s->v[at];

	s->n--;
	memmove(s->v + at, s->v + at + 1, (s->n - at) * sizeof(*s->v));
	s->bytes -= seg->bytes;
	s->samples -= seg->samples;
	return seg;
}

static void store_drop(struct store *s, size_t at, uint64_t *counter)
{
	struct segment *seg = store_take_out(s, at);

	*counter += seg->samples;
	segment_free(seg);
}

/* Replace n segments (indices, ascending) by one.  0, or -ENOMEM or -E2BIG: nothing is
 * changed. */
static int store_merge(struct store *s, const size_t *at, size_t n,
		       enum segment_state to, uint8_t grade)
{
	struct segment *v[PIECES_MAX] = { 0 }, *one = NULL;
	int r;

	for (size_t i = 0; i < n; i++)
		v[i] = s->v[at[i]];
	r = segment_merge(v, n, to, &one);
	if (r)
		return r;
	one->grade = grade;
	for (size_t i = n; i-- > 0; )
		segment_free(store_take_out(s, at[i]));
	return store_insert(s, one); /* there is room: n >= 1 were removed */
}

/* Segments that cannot be merged are left as they are. */
static void store_merge_exact(struct store *s, const size_t *at, size_t n,
			      uint8_t grade)
{
	if (store_merge(s, at, n, SEGMENT_EXACT, grade) == 0)
		return;
	for (size_t i = 0; i < n; i++)
		s->v[at[i]]->grade = SEALED;
}

/* --- merging what is exact --------------------------------------------------------- */

#define ANY	0xff	/* grade */

/* Segments of this minute up to this state and of this grade, at most max:
 * indices, ascending. */
static size_t store_find(const struct store *s, uint64_t minute,
			 enum segment_state upto, uint8_t grade, size_t *at,
			 size_t max)
{
	size_t n = 0;

	/* mostly the last ones: starts are in order */
	for (size_t i = s->n; i-- > 0 && n < max; ) {
		const struct segment *g = s->v[i];

		if (g->minute < minute)
			break;
		if (g->minute == minute && g->state <= upto &&
		    (grade == ANY || g->grade == grade))
			at[n++] = i;
	}
	for (size_t i = 0; i < n / 2; i++) {
		size_t t = at[i];

		at[i] = at[n - 1 - i];
		at[n - 1 - i] = t;
	}
	return n;
}

static void store_merge_grades(struct store *s, uint64_t minute)
{
	size_t at[STORE_FAN];

	for (uint8_t grade = 0; grade < SEALED - 1; grade++) {
		if (store_find(s, minute, SEGMENT_EXACT, grade, at, STORE_FAN) <
		    STORE_FAN)
			return;
		store_merge_exact(s, at, STORE_FAN, grade + 1);
	}
}

/* Minutes that are over become one segment each, once; later segments of them are merged
 * by store_merge_grades(). */
static void store_seal(struct store *s, uint64_t now)
{
	uint64_t over = store_ago(now, LATE_NS) / MINUTE_NS;
	size_t at[PIECES_MAX], n;

	if (s->sealed && s->sealed < over - 60)
		s->sealed = over - 60;		/* there were no samples for long */
	for (; s->sealed && s->sealed < over; s->sealed++) {
		n = store_find(s, s->sealed, SEGMENT_EXACT, ANY, at,
			       PIECES_MAX);
		if (n > 1)
			store_merge_exact(s, at, n, SEALED);
	}
	if (!s->sealed)
		s->sealed = over;
}

/* --- the budget ------------------------------------------------------------------------ */

static size_t store_count_minutes(const struct store *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i]->state == SEGMENT_MINUTE)
			n++;
	}
	return n;
}

/* Merge the oldest minutes; if that fails, drop the oldest. */
static void store_merge_minutes(struct store *s)
{
	size_t at[STORE_LONG], n = 0;

	for (size_t i = 0; i < s->n && n < STORE_LONG; i++) {
		if (s->v[i]->state == SEGMENT_MINUTE)
			at[n++] = i;
	}
	if (store_merge(s, at, n, SEGMENT_LONG, 0))
		store_drop(s, at[0], &s->dropped);
}

/* The first exact segment that ends before this, or -1. */
static ssize_t store_oldest_exact(const struct store *s, uint64_t before)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i]->state != SEGMENT_EXACT)
			continue;
		if (s->v[i]->end_ns > before)
			return -1;
		return (ssize_t)i;
	}
	return -1;
}

/* Coarsen an exact segment together with its whole minute, or else alone. */
static void store_forget_times(struct store *s, size_t exact)
{
	size_t at[PIECES_MAX], n;

	n = store_find(s, s->v[exact]->minute, SEGMENT_MINUTE, ANY, at,
		       PIECES_MAX);
	if (store_merge(s, at, n, SEGMENT_MINUTE, 0) &&
	    store_merge(s, &exact, 1, SEGMENT_MINUTE, 0))
		store_drop(s, exact, &s->dropped);
}

/* Take one of the steps of store.h. */
static void store_coarsen(struct store *s, uint64_t now)
{
	size_t minutes = store_count_minutes(s);
	ssize_t exact = store_oldest_exact(s, store_ago(now, STORE_FRESH_NS));

	if (minutes >= 2 * STORE_LONG || (exact < 0 && minutes > 1))
		store_merge_minutes(s);
	else if (exact >= 0)
		store_forget_times(s, (size_t)exact);
	else
		store_drop(s, 0, &s->dropped);
}

void store_expire(struct store *s, uint64_t now)
{
	uint64_t before = store_ago(now, s->keep_ns);

	for (size_t i = 0; i < s->n; ) {
		if (s->v[i]->start_ns >= before)
			return;
		if (s->v[i]->end_ns <= before)
			store_drop(s, i, &s->expired);
		else
			i++;
	}
}

int store_add(struct store *s, void *data, size_t len, uint64_t now)
{
	struct segment *seg;
	uint64_t minute;
	int r;

	s->batches++;
	if (!data)
		return 0;
	r = segment_new(data, len, &seg);
	if (r) {
		free(data);
		return r;
	}
	minute = seg->minute;
	r = store_insert(s, seg);
	if (r) {
		segment_free(seg);
		return r;
	}
	store_expire(s, now);
	store_merge_grades(s, minute);
	store_seal(s, now);
	while (s->bytes > s->budget && s->n)
		store_coarsen(s, now);
	return 0;
}

uint64_t store_coarse_ns(const struct store *s, enum segment_state state)
{
	uint64_t end = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i]->state >= state && s->v[i]->end_ns > end)
			end = s->v[i]->end_ns;
	}
	return end;
}
