/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling - a perf event on every CPU that is online, also on those that come later
 */
#ifndef LOADERD_SAMPLING_H
#define LOADERD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#define CPUS_MAX	4096
#define EVENT_NAME	"event"	/* in the store */

struct sampling {
	int prog_fd;		/* borrowed */
	int online_fd;		/* /sys/devices/system/cpu/online, held open */
	uint32_t frequency;	/* Hz, per CPU */
	uint32_t cpus;		/* possible ones */
	uint32_t n;		/* CPUs sampled now */
	int event[CPUS_MAX];	/* of them */
	char list[CPUS_MAX];	/* of CPUs online when the events were opened */
	uint64_t random;	/* drawn every other time; else the complement */
	bool hardware;		/* the event is cpu-cycles; else cpu-clock */
	bool enabled;
};

/* Open and attach on all CPUs that are online, not yet counting.  To be called as root,
 * for Debian's perf_event_paranoid=3.  0 or -errno. */
int sampling_open(struct sampling *s, int prog_fd, uint32_t cpus, uint32_t frequency);

/* Take the events of a former loaderd, with its program, to stop them later.
 * s: zero-initialised. */
void sampling_former(struct sampling *s);

/* Begin, once there is a hub to take the samples; from now on the events are in the
 * store. */
void sampling_enable(struct sampling *s);

/* Follow CPUs that came or went, and vary the distances of samples.  To be called about
 * once a second while samples come, and not in step with anything.  0; or -errno of a CPU
 * that cannot be sampled, while the others are. */
int sampling_refresh(struct sampling *s);

/* Close all events: when this returns, no BPF program runs on them. */
void sampling_stop(struct sampling *s);

#endif /* LOADERD_SAMPLING_H */
