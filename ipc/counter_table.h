/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_table - every number of a status, and what it is called
 *
 * The text and the JSON of `trifold status` and the metrics that exporterd
 * sends are all made from this one table: what is added here is in all three.
 * A unit test fails when a number of struct status is in no row.
 *
 * Metrics follow OpenTelemetry's semantic conventions 1.44.0 (general/metrics:
 * names, units by UCUM with {annotations}; system/process-metrics: names that
 * begin with "process.").
 */
#ifndef IPC_COUNTER_TABLE_H
#define IPC_COUNTER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/counters.h"

/* A status with what follows from it. */
struct counted {
	struct status st;
	struct account sum;
	uint64_t loader_up, exporter_up;	/* 0 or 1 */
};
void counted_make(const struct status *st, struct counted *ret);

enum metric_kind {
	METRIC_SUM,		/* only grows, until its process ends */
	METRIC_LEVEL,		/* rises and falls; a sum over hosts is meaningful */
	METRIC_GAUGE,		/* a sum over hosts is not; may be < 0 */
};

#define METRIC_KEYS	3

struct metric {
	const char *name, *unit;	/* "s": the number is in ns */
	const char *help;
	enum metric_kind kind;
	const char *key[METRIC_KEYS];	/* of attributes; NULL: no more */
};

/* Objects of the JSON, in their order. */
enum counter_group {
	GROUP_TOP,		/* beside the objects; written by hand */
	GROUP_SAMPLES,
	GROUP_LOST_BY,		/* inside GROUP_SAMPLES */
	GROUP_STOPS,
	GROUP_LOADERD,
	GROUP_TOTALS,
	GROUP_SYMBOLIZERD,
	GROUP_EXPORTERD,
	GROUP__MAX
};

/* Headings of the text. */
enum counter_section {
	SECTION_PROCESSES,
	SECTION_COSTS,
	SECTION_EXPORT,
	SECTION_SAMPLES,
	SECTION_STOPS,
	SECTION_RECEIVED,
	SECTION_STACKS,
	SECTION_EXECUTABLES,
	SECTION__MAX
};

struct counter {
	uint16_t at;		/* of a uint64_t in struct counted */
	uint8_t group, section;
	bool rare;		/* the text leaves it out while it is 0 */
	const char *name;	/* in JSON */
	const char *label;	/* in the text; NULL: not shown there, since
				 * another row or a line made by hand is */
	const struct metric *metric;	/* NULL: another row has it */
	const char *value[METRIC_KEYS];	/* of the metric's attributes */
};

extern const struct counter counter_table[];
extern const size_t counter_table_n;

/* The same for one of exporterd's receivers: .at is of struct receiver, group
 * and section mean nothing.  The first two attributes of each metric are the
 * receiver's number and URL; .value has none for them. */
extern const struct counter receiver_table[];
extern const size_t receiver_table_n;

static inline uint64_t receiver_value(const struct receiver *r,
				      const struct counter *row)
{
	return *(const uint64_t *)((const char *)r + row->at);
}

static inline uint64_t counter_value(const struct counted *c,
				     const struct counter *row)
{
	return *(const uint64_t *)((const char *)c + row->at);
}

#endif /* IPC_COUNTER_TABLE_H */
