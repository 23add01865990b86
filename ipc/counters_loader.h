/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters_loader - what loaderd counts
 *
 * Numbers count samples unless the name shows something else, and only grow.
 * counters.h has the sums.
 */
#ifndef IPC_COUNTERS_LOADER_H
#define IPC_COUNTERS_LOADER_H

#include <stdint.h>

#include "bpf/request.h"

/* Of the opener, by its own report. */
struct opener_stats {
	uint64_t cpu_ns;		/* of all openers, after their last answer */
	uint64_t rss_bytes;		/* the most that the last one had */
	uint64_t stuck;			/* now: killed ones that still hang */
	uint64_t pid;			/* of the last one */
	uint64_t parent;		/* pid of the respawner, by loaderd */
};

/* By loaderd, since it started. */
struct loader_stats {
	uint64_t bpf[BPF_COUNTS];	/* sums over CPUs: enum bpf_count.  0 from
					 * loaderd: the hub reads the map */
	uint64_t drained;		/* taken from the BPF ring, and counted below */
	uint64_t forwarded;		/* sent to symbolizerd */
	uint64_t no_hub;		/* no hub was connected */
	uint64_t bad_record;		/* did not pass the checks */
	/* executables, not samples; from here on a loaderd counts for itself alone */
	uint64_t file_requests;		/* requests for a file from BPF */
	uint64_t entry_unknown;		/* entries for keys that have none */
	uint64_t slabs;			/* slabs allocated, rule slabs too */
	uint64_t open_failed;		/* the mapping had ended, or open(2) failed */
	uint64_t open_killed;		/* opener was killed by its deadline */
	uint64_t key_mismatch;		/* another file was mapped there by then */
	uint64_t fs_refused;		/* of a file system that may hang: FUSE ... */
	uint64_t lists_put_off;		/* of mappings, for lack of time */
	uint64_t requests_full;		/* requests for a file for which there was no room */
	uint64_t ksyms;			/* kernel symbols named */
	uint64_t cpus;			/* CPUs sampled now */
	uint64_t covered_ns;		/* CPU time that was sampled, idle or not */
	uint64_t missed_ns;		/* ... and that was not, of CPUs that were online:
					 * at most */
	uint64_t hub_connects;
	uint64_t offences;		/* messages that ended a connection */
	uint64_t map_bytes;		/* room of all maps but those of runtimes: keys and values */
	uint64_t runtimes;		/* with which the sampler is loaded: bits by number */
	uint64_t runtimes_wanted;	/* for which it was to be loaded last, as MSG_RUNTIMES had it */
	uint64_t variant_error;		/* errno of that; 0: it was loaded */
	/* costs */
	uint64_t start_ns;		/* of loaderd: CLOCK_REALTIME */
	uint64_t cpu_ns;		/* of its main process */
	uint64_t sampling_ns;		/* of it, for samples alone */
	uint64_t rss_bytes;		/* the most that it had */
	struct opener_stats opener;
};

#endif /* IPC_COUNTERS_LOADER_H */
