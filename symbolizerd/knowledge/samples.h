/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples - events of the present interval, in order of arrival
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_SAMPLES_H
#define SYMBOLIZERD_KNOWLEDGE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

#define SAMPLES_MAX	(1u << 20)	/* beyond that they are dropped */
#define SAMPLES_FLUSH	(1u << 18)	/* so many end an interval early */

struct event {
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
	uint32_t trace;		/* index in struct traces */
	uint32_t process;	/* index in struct processes */
	uint32_t tid;
	uint32_t cpu;
	char comm[COMM_LEN];
	uint8_t stop;		/* enum stop_reason */
	uint8_t carried;	/* intervals that it was held back */
	uint8_t pad[6];
};
_Static_assert(sizeof(struct event) == 48, "event: no growth unseen");

struct samples {
	struct event *v;
	uint32_t n, cap;
	uint32_t flush_at;	/* so many ask for an early end */
};

void samples_fini(struct samples *s);

/* Add an event; NULL when memory is short or there are SAMPLES_MAX. */
struct event *samples_add(struct samples *s);

/* Keep the first n (moved there by the caller) and give memory back. */
void samples_keep(struct samples *s, uint32_t n);

#endif /* SYMBOLIZERD_KNOWLEDGE_SAMPLES_H */
