// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/params.h"

#include <string.h>

#include "common/clock.h"
#include "common/number.h"

#define LAST_S		60
#define LAST_MAX_S	(366 * 86400)
#define TIME_MAX_MS	(1ULL << 43)	/* the year 2248 */

static const char *const key_names[KEY__COUNT] = {
	[KEY_PROCESS] = "process", [KEY_PID] = "pid", [KEY_THREAD] = "thread",
	[KEY_TID] = "tid", [KEY_CONTAINER] = "container",
	[KEY_EXECUTABLE] = "executable", [KEY_KIND] = "kind",
};

static bool params_is(const char *s, size_t len, const char *want)
{
	return want && strlen(want) == len && !memcmp(s, want, len);
}

/* A decimal number, at most max. */
static bool params_number(const struct param *p, uint64_t max, uint64_t *ret)
{
	return number_span(p->value, p->value_len, max, ret);
}

static const char *params_add_kind(struct query *q, const struct param *p)
{
	for (uint32_t k = 0; k < BATCH_FRAME__KINDS; k++) {
		if (params_is(p->value, p->value_len, frame_kind_filter(k))) {
			q->kinds |= 1u << k;
			return NULL;
		}
	}
	return "kind: as profile.frame.type has it";
}

static const char *params_add_filter(struct query *q, enum select_key k,
				     const struct param *p)
{
	uint64_t v = 0;

	if (k == KEY_KIND)
		return params_add_kind(q, p);
	if (q->key[k].n == SELECT_VALUES_MAX)
		return "too many values of one filter";
	if ((k == KEY_PID || k == KEY_TID) && !params_number(p, UINT32_MAX, &v))
		return "pid and tid: a number";
	q->key[k].number[q->key[k].n] = (uint32_t)v;
	q->key[k].text[q->key[k].n] = (struct select_text){ p->value, p->value_len };
	q->key[k].n++;
	return NULL;
}

/* Numbers as given; UINT64_MAX: not given. */
struct numbers {
	uint64_t from, to, last, base_from, base_to, bins, limit, reverse,
		first;
};

static const char *params_read_one(struct viewer_request *r, struct numbers *n,
				   const struct param *p)
{
	const struct {
		const char *name;
		uint64_t *to;
		uint64_t max;
		const char *error;
	} numbers[] = {
		{ "from", &n->from, TIME_MAX_MS, "from: ms since 1970" },
		{ "to", &n->to, TIME_MAX_MS, "to: ms since 1970" },
		{ "last", &n->last, LAST_MAX_S, "last: a number of seconds" },
		{ "base_from", &n->base_from, TIME_MAX_MS,
		  "base_from: ms since 1970" },
		{ "base_to", &n->base_to, TIME_MAX_MS, "base_to: ms since 1970" },
		{ "bins", &n->bins, PARAMS_BINS_MAX, "bins: 1 to 10000" },
		{ "limit", &n->limit, PARAMS_LIMIT_MAX, "limit: 1 to 10000" },
		{ "reverse", &n->reverse, 1, "reverse: 0 or 1" },
		{ "first", &n->first, 1, "first: 0 or 1" },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!params_is(p->name, p->name_len, numbers[i].name))
			continue;
		if (*numbers[i].to != UINT64_MAX)
			return "a parameter is given twice";
		if (!params_number(p, numbers[i].max, numbers[i].to))
			return numbers[i].error;
		return NULL;
	}
	for (int k = 0; k < KEY__COUNT; k++) {
		if (params_is(p->name, p->name_len, key_names[k]))
			return params_add_filter(&r->q, k, p);
	}
	if (!params_is(p->name, p->name_len, "format"))
		return "unknown parameter";
	r->format = (struct select_text){ p->value, p->value_len };
	return NULL;
}

static const char *params_settle_range(struct numbers *n, uint64_t now,
				       struct query *q)
{
	if (n->last != UINT64_MAX && n->from != UINT64_MAX)
		return "from or last, not both";
	if (n->last == UINT64_MAX)
		n->last = LAST_S;
	q->to_ns = now;
	if (n->to != UINT64_MAX)
		q->to_ns = n->to * NSEC_PER_MSEC;
	if (n->from != UINT64_MAX)
		q->from_ns = n->from * NSEC_PER_MSEC;
	else
		q->from_ns = store_ago(q->to_ns, n->last * NSEC_PER_SEC);
	if (q->from_ns >= q->to_ns)
		return "from must be before to";
	return NULL;
}

const char *params_read(const struct params *p, uint64_t now,
			struct viewer_request *r)
{
	struct numbers n;
	const char *error;

	memset(&n, 0xff, sizeof(n));
	*r = (struct viewer_request){ .has_base = false };
	if (p->over)
		return "too many parameters";
	for (size_t i = 0; i < p->n; i++) {
		error = params_read_one(r, &n, &p->v[i]);
		if (error)
			return error;
	}
	error = params_settle_range(&n, now, &r->q);
	if (error)
		return error;
	if (n.bins == 0 || n.limit == 0)
		return "bins and limit: at least 1";
	r->bins = 120;
	if (n.bins != UINT64_MAX)
		r->bins = (uint32_t)n.bins;
	r->limit = 100;
	if (n.limit != UINT64_MAX)
		r->limit = (uint32_t)n.limit;
	r->reverse = n.reverse == 1;
	r->first = n.first == 1;
	if (n.base_from == UINT64_MAX && n.base_to == UINT64_MAX)
		return NULL;
	if (n.base_from == UINT64_MAX || n.base_to == UINT64_MAX ||
	    n.base_from >= n.base_to)
		return "base_from and base_to: both, in this order";
	r->has_base = true;
	r->base = r->q;
	r->base.from_ns = n.base_from * NSEC_PER_MSEC;
	r->base.to_ns = n.base_to * NSEC_PER_MSEC;
	return NULL;
}
