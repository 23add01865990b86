/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * request - what BPF and loaderd tell each other, apart from samples and tables
 */
#ifndef BPF_REQUEST_H
#define BPF_REQUEST_H

#include "file.h"
#include "process.h"

/*
 * Requests of BPF to loaderd, through a ring of their own: each at most once in 100 ms,
 * and not more than a process's share (requests.bpf.h).
 */
enum request_kind {
	REQUEST_FILE = 1,		/* no number or no table for this file */
	REQUEST_CGROUP = 2,	/* no name for this cgroup */
	REQUEST_LIST = 3,	/* as REQUEST_FILE, the first of this process in
				 * a second: list all that it maps */
	REQUEST_EXEC = 4,	/* as REQUEST_FILE, when its program begins: it is in
				 * no sample yet */
};

struct request_file {
	__u32 kind;		/* REQUEST_FILE, REQUEST_LIST, REQUEST_EXEC */
	__u32 uid;		/* as in trace_rec */
	struct process_id process;
	__u64 start, end;	/* the mapping */
	struct file_key key;
	__u32 ask, runs;	/* bits of FILE_ASK* that this mapping answers; 1: from
				 * the list, and its main thread is runnable */
	/* from the list: tgid in the process's own PID namespace; and the magic of the file
	 * system of its root, ROOT_OURS, or 0: its mounts are not the host's */
	__u32 ns_tgid, root_magic;
};

#define LIST_ALL	0u	/* no process has this number */

#define ROOT_OURS	1	/* it is loaderd's own, whatever that is; no magic */

#define ASKED_KNOWN	(1ULL << 63)	/* with the time: do not ask again */

#define CGROUP_PIECES	32	/* so many levels, if none has a longer name than a piece */
#define CGROUP_PIECE	48	/* bytes, NUL included */
struct request_cgroup {
	__u32 kind;		/* REQUEST_CGROUP */
	__u32 pieces;		/* used below */
	__u64 cgroup_id;
	/* The names of its levels, from the leaf towards the root.  A name goes on in the
	 * next piece, which may be empty, as long as pieces are full. */
	char piece[CGROUP_PIECES][CGROUP_PIECE];
};
_Static_assert(CGROUP_PIECE % 8 == 0, "request_cgroup: read in words");

/* Which tasks are sampled; loaderd writes it before the programs are loaded. */
#define FILTER_MAX	32
enum filter_kind {
	FILTER_ALL = 0,		/* every task */
	FILTER_PID,		/* the processes id[0..n-1] */
	FILTER_BELOW,		/* descendants of process id[0], without it */
	FILTER_CGROUP,		/* in cgroup id[0] (v2) or one below it */
	FILTER__MAX
};
struct task_filter {
	__u32 kind;
	__u32 n;
	__u64 before_ns;	/* FILTER_PID: a process that began after this,
				 * CLOCK_BOOTTIME, has a reused number */
	__u64 id[FILTER_MAX];
};

#define BPF_COUNTS	24	/* enum bpf_count, count.h */

/* The map `counts`, one for each possible CPU.  Only BPF writes it; loaderd and the hub
 * map it to read. */
struct cpu_counts {
	__u64 n[BPF_COUNTS];	/* whole cache lines */
};

#endif /* BPF_REQUEST_H */
