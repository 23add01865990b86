/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * record - what a sample looks like, from the BPF ring to symbolizerd
 *
 * Shared by bpf/, loaderd/, symbolizerd/ and the tests: plain data, no
 * pointers, no implicit padding.  The same bytes travel through the BPF ring
 * and from loaderd to symbolizerd, with one difference: in the BPF ring the
 * kernel part holds raw addresses, from loaderd on it holds FRAME_KERNEL words
 * (frame.h).  No raw kernel address leaves loaderd.
 */
#ifndef BPF_RECORD_H
#define BPF_RECORD_H

#include "process.h"

#define REC_VERSION	8
#define KERNEL_MAX	127		/* kernel.perf_event_max_stack */
#define COMM_LEN	16
#define REC_WORDS	2048		/* power of two; room for words */
#define RECORD_MAX	(REC_WORDS * 8)	/* bytes */

enum rec_kind {
	REC_SAMPLE = 1,
	REC_KSYM = 2,		/* by loaderd, see struct ksym_rec */
};

struct trace_rec {
	__u32 len;		/* of the whole record, bytes; multiple of 8 */
	__u8 kind;		/* enum rec_kind; must stay at this place */
	__u8 stop;		/* enum stop_reason: stop.h */
	__u8 flags;		/* enum rec_flags: stop.h */
	__u8 version;		/* REC_VERSION */
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	struct process_id process;
	__u32 tid;		/* in the initial PID namespace */
	__u32 uid;		/* of who runs it: the real one, in the initial namespace */
	__u64 cgroup_id;	/* in the v2 hierarchy */
	__u32 exe;		/* number of the main executable, or EXE_NONE */
	__u16 n_kernel;		/* words of kernel stack, leaf first */
	__u16 n_user;		/* words (not frames) after them */
	__u32 run_ns;		/* run time of the BPF program so far */
	__u32 cpu;
	char comm[COMM_LEN];	/* of the thread; NUL-padded */
	char leader[COMM_LEN];	/* of the main thread, if it is another one; not checked */
	__u64 words[];		/* n_kernel, then n_user */
};
_Static_assert(sizeof(struct trace_rec) == 96, "trace_rec: layout");

/* The name of a kernel symbol; comes before the first record that uses its number. */
#define KSYM_NAME_MAX	128
struct ksym_rec {
	__u32 len;		/* sizeof(struct ksym_rec) */
	__u8 kind;		/* REC_KSYM */
	__u8 pad[3];
	__u32 number;		/* as in KSYM_WORD() */
	__u32 pad2;
	char name[KSYM_NAME_MAX];	/* "tcp_sendmsg", "ext4_map [ext4]" */
};
_Static_assert(sizeof(struct ksym_rec) == 144, "ksym_rec: layout");

/* A kernel frame: number below 1 << 20, offset in the symbol below 1 << 36. */
#define KSYM_WORD(number, offset)					\
	(1ULL << 60 | (__u64)(number) << 36 | (__u64)(offset))

#endif /* BPF_RECORD_H */
