/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls - what the BPF program of tests/live/calls.bpf.c tells of processes
 * that have a seccomp filter
 */
#ifndef TESTS_CALLS_H
#define TESTS_CALLS_H

#include <linux/types.h>

#define CALLS_NR	512	/* numbers of system calls are below */
#define CALLS_INSNS	1024	/* instructions of a filter are fewer */
#define CALLS_COMM	16

/* A call that this process made with this many filters, for the first time. */
struct calls_call {
	__u32 tgid, depth;	/* depth: filters that the thread has */
	__u32 nr, arg;		/* the lower half of the argument asked for, or 0 */
	__u64 start_ns;		/* of the process: its number may be used again */
};

/* The first call of a process with this many filters: the newest of them. */
struct calls_filter {
	__u32 tgid, depth;
	__u64 start_ns;
	char comm[CALLS_COMM];	/* of the process */
	__u32 n, zero;		/* instructions; 0: the kernel does not keep them */
	__u64 insn[CALLS_INSNS];	/* struct sock_filter */
};

#endif /* TESTS_CALLS_H */
