/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline - the events of a batch by process, thread and time; frames that look
 * the same
 */
#ifndef PROFILE_TIMELINE_H
#define PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "ipc/batch.h"

struct buffer;

struct timeline_event {
	uint64_t time;		/* CLOCK_REALTIME, ns */
	uint32_t resource;
	uint32_t tid;
	uint32_t sample;	/* of which it is an event */
};

/*
 * All events in the order of resource, thread (if by_thread), time, sample;
 * malloc'ed, *n of them; or NULL.
 */
struct timeline_event *timeline_sort(const struct batch *b, bool by_thread,
				     size_t *n);

/*
 * For each frame the lowest-numbered one that has its name, file and kind
 * (and its line and how deep it is inlined, if by_line); malloc'ed, or NULL.
 */
uint32_t *timeline_frames(const struct batch *b, bool by_line);

/* Append "name (pid N)" of a resource; names: of profile_process_names(). */
void timeline_process(const struct batch *b, const uint32_t *names,
		      uint32_t resource, struct buffer *out);

#endif /* PROFILE_TIMELINE_H */
