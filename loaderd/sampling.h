/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling - a perf event on every CPU that is online, also on those that come later
 *
 * How long an event has counted is the kernel's own number (read(2) of it), and so is the
 * account of CPU time: what was sampled, and what was not.
 */
#ifndef LOADERD_SAMPLING_H
#define LOADERD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#define CPUS_MAX	4096
#define EVENT_NAME	"event"	/* in the store */

/* perf_event_open(2): times in ns */
struct event_times {
	uint64_t value, enabled, running;
};

struct cpu_event {
	int fd;			/* 0: none */
	bool hardware;		/* it is cpu-cycles; else cpu-clock */
	struct event_times times;	/* by the last look */
};

struct sampling {
	int prog_fd, programs_fd;	/* the program, and the map where it goes on; borrowed */
	int online_fd;		/* /sys/devices/system/cpu/online, held open */
	uint32_t frequency;	/* Hz, per CPU */
	uint32_t cpus;		/* possible ones */
	uint32_t n;		/* CPUs sampled now */
	struct cpu_event event[CPUS_MAX];	/* of each CPU */
	char list[CPUS_MAX];	/* of CPUs online when the events were opened */
	uint64_t random;	/* drawn every other time; else the complement */
	uint64_t looked_ns;	/* at all events, now_ns() */
	/* CPU time since enabled: sampled; and not, although the CPU was online, at most:
	 * a gap in which its event went, or it came, is missed as a whole */
	uint64_t covered_ns, missed_ns;
	bool hardware;		/* the last event is cpu-cycles; else cpu-clock */
	bool no_cycles;		/* an event of cycles did not count them */
	bool stale;		/* the store has other events */
	bool enabled;
};

struct bpf;

/* Open and attach on all CPUs that are online, not yet counting.  To be called as root,
 * for Debian's perf_event_paranoid=3.  0 or -errno. */
int sampling_open(struct sampling *s, const struct bpf *b, uint32_t frequency);

/* Take the events of a former loaderd, with its programs, to stop them later.
 * s: zero-initialised. */
void sampling_former(struct sampling *s);

/* Begin, once there is a hub to take the samples; from now on the events are in the
 * store. */
void sampling_enable(struct sampling *s);

/* Open events anew that no longer count, follow CPUs that came or went, and vary the
 * distances of samples.  To be called about once a second while samples come, and not in
 * step with anything.  0; or -errno of a CPU that cannot be sampled, while the others are:
 * -EACCES where perf_event_paranoid lets only a process sample that has more rights than
 * we kept. */
int sampling_refresh(struct sampling *s);

/* Close all events: when this returns, no BPF program runs on them. */
void sampling_stop(struct sampling *s);

#endif /* LOADERD_SAMPLING_H */
