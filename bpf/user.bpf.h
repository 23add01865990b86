/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* user - one number of the profiled process's memory; 0 if it cannot be read */
#ifndef BPF_USER_BPF_H
#define BPF_USER_BPF_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

static __always_inline __u64 user_word(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

static __always_inline __u32 user_u32(__u64 addr)
{
	__u32 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

static __always_inline __u32 user_u16(__u64 addr)
{
	__u16 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

#endif /* BPF_USER_BPF_H */
