/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params - the parameters of a request (docs/VIEWER.md)
 */
#ifndef VIEWER_SERVER_PARAMS_H
#define VIEWER_SERVER_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "viewer/server/select.h"

#define PARAMS_MAX	512
#define PARAMS_BINS_MAX	10000
#define PARAMS_LIMIT_MAX	10000

struct param {
	const char *name, *value;	/* borrowed, after decoding of %XX */
	size_t name_len, value_len;
};

struct params {
	struct param v[PARAMS_MAX];
	size_t n;
	bool over;			/* there were more */
};

/* The parameters of all paths together, checked. */
struct viewer_request {
	struct query q;
	struct query base;		/* with the filters of q */
	bool has_base;
	bool reverse;
	bool first;			/* with the first time of each stack */
	uint32_t bins;			/* 120 */
	uint32_t limit;			/* 100 */
	struct select_text format;	/* empty: none given */
};

/* now: CLOCK_REALTIME, ns.  NULL, or a line that describes the mistake. */
const char *params_read(const struct params *p, uint64_t now,
			struct viewer_request *ret);

#endif /* VIEWER_SERVER_PARAMS_H */
