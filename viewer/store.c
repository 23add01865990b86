// SPDX-License-Identifier: Apache-2.0
#include "viewer/store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define SEALED		0xff	/* .grade of a minute that is over */
#define MINUTE_NS	(60 * NSEC_PER_SEC)
#define LATE_NS		(15 * NSEC_PER_SEC)	/* then a minute is over */

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

static int insert(struct store *s, struct segment *seg)
{
	size_t at = s->n, cap = s->cap ? 2 * s->cap : 64;

	if (s->n == s->cap) {
		struct segment **p = reallocarray(s->v, cap, sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->v = p;
		s->cap = cap;
	}
	while (at > 0 && s->v[at - 1]->start_ns > seg->start_ns)
		at--;
	memmove(s->v + at + 1, s->v + at, (s->n - at) * sizeof(*s->v));
	s->v[at] = seg;
	s->n++;
	s->bytes += seg->bytes;
	s->samples += seg->samples;
	return 0;
}

static struct segment *take_out(struct store *s, size_t at)
{
	struct segment *seg = s->v[at];

	s->n--;
	memmove(s->v + at, s->v + at + 1, (s->n - at) * sizeof(*s->v));
	s->bytes -= seg->bytes;
	s->samples -= seg->samples;
	return seg;
}

static void drop(struct store *s, size_t at, uint64_t *counter)
{
	struct segment *seg = take_out(s, at);

	*counter += seg->samples;
	segment_free(seg);
}

/* Put one segment in the place of these (n indices, ascending).  If that
 * cannot be done they go: what is over the budget or in pieces must not stay
 * so. */
static void merge(struct store *s, const size_t *at, size_t n,
		  enum segment_state to, uint8_t grade)
{
	struct segment *v[64] = { 0 }, *one = NULL;
	uint64_t samples = 0;
	int r;

	for (size_t i = 0; i < n; i++) {
		v[i] = s->v[at[i]];
		samples += v[i]->samples;
	}
	r = segment_merge(v, n, to, &one);
	if (r == -E2BIG && to == SEGMENT_EXACT) {
		/* they are large: leave them apart */
		for (size_t i = 0; i < n; i++)
			v[i]->grade = SEALED;
		return;
	}
	if (r == 0)
		one->grade = grade;
	for (size_t i = n; i-- > 0; )
		segment_free(take_out(s, at[i]));
	if (r == 0)
		insert(s, one);		/* there is room: n >= 1 were there */
	else
		s->dropped += samples;
}

/* --- merging what is exact --------------------------------------------------------- */

/* Exact segments of this minute and grade (grade SEALED: of any that is not),
 * at most max. */
static size_t find(const struct store *s, uint64_t minute, uint8_t grade,
		   size_t *at, size_t max)
{
	size_t n = 0;

	for (size_t i = s->n; i-- > 0 && n < max; ) {
		const struct segment *g = s->v[i];

		/* later ones are rare: starts are in order */
		if (g->minute < minute)
			break;
		if (g->minute == minute && g->state == SEGMENT_EXACT &&
		    g->grade != SEALED &&
		    (grade == SEALED || g->grade == grade))
			at[n++] = i;
	}
	for (size_t i = 0; i < n / 2; i++) {
		size_t t = at[i];

		at[i] = at[n - 1 - i];
		at[n - 1 - i] = t;
	}
	return n;
}

static void merge_grades(struct store *s, uint64_t minute)
{
	size_t at[STORE_FAN];

	for (uint8_t grade = 0; grade < SEALED - 1; grade++) {
		if (find(s, minute, grade, at, STORE_FAN) < STORE_FAN)
			return;
		merge(s, at, STORE_FAN, SEGMENT_EXACT, grade + 1);
	}
}

/* Minutes that are over become one segment each.  Of a step at most 64. */
static void seal(struct store *s, uint64_t now)
{
	uint64_t over = now > LATE_NS ? (now - LATE_NS) / MINUTE_NS : 0;
	size_t at[64], n;

	for (size_t i = 0; i < s->n; i++) {
		struct segment *g = s->v[i];

		if (g->minute >= over)
			return;
		if (g->state != SEGMENT_EXACT || g->grade == SEALED)
			continue;
		n = find(s, g->minute, SEALED, at, 64);
		if (n == 1)
			s->v[at[0]]->grade = SEALED;
		else
			merge(s, at, n, SEGMENT_EXACT, SEALED);
	}
}

/* --- the budget ------------------------------------------------------------------------ */

static size_t count_minutes(const struct store *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->v[i]->state == SEGMENT_MINUTE;
	return n;
}

static void merge_minutes(struct store *s)
{
	size_t at[STORE_LONG], n = 0;

	for (size_t i = 0; i < s->n && n < STORE_LONG; i++) {
		if (s->v[i]->state == SEGMENT_MINUTE)
			at[n++] = i;
	}
	merge(s, at, n, SEGMENT_LONG, 0);
}

/* The first exact segment that ends before this, or -1. */
static ssize_t oldest_exact(const struct store *s, uint64_t before)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i]->state == SEGMENT_EXACT)
			return s->v[i]->end_ns <= before ? (ssize_t)i : -1;
	}
	return -1;
}

/* Take one step down. */
static void coarsen(struct store *s, uint64_t now)
{
	size_t minutes = count_minutes(s), at[1];
	ssize_t exact = oldest_exact(s, now > STORE_FRESH_NS ?
				     now - STORE_FRESH_NS : 0);

	if (minutes >= 2 * STORE_LONG || (exact < 0 && minutes > 1)) {
		merge_minutes(s);
	} else if (exact >= 0) {
		at[0] = (size_t)exact;
		merge(s, at, 1, SEGMENT_MINUTE, 0);
	} else {
		drop(s, 0, &s->dropped);
	}
}

void store_expire(struct store *s, uint64_t now)
{
	uint64_t before = now > s->keep_ns ? now - s->keep_ns : 0;

	for (size_t i = 0; i < s->n; ) {
		if (s->v[i]->start_ns >= before)
			return;
		if (s->v[i]->end_ns <= before)
			drop(s, i, &s->expired);
		else
			i++;
	}
}

int store_add(struct store *s, void *data, size_t len, uint64_t now)
{
	struct segment *seg;
	uint64_t minute;
	int r;

	s->requests++;
	if (!data)
		return 0;
	r = segment_new(data, len, &seg);
	if (r) {
		free(data);
		return r;
	}
	minute = seg->minute;
	r = insert(s, seg);
	if (r) {
		segment_free(seg);
		return r;
	}
	store_expire(s, now);
	merge_grades(s, minute);
	seal(s, now);
	while (s->bytes > s->budget && s->n)
		coarsen(s, now);
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
