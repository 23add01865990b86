/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * host - what BPF code needs to be compiled for the host
 *
 * Sources that include a *.bpf.h after this file define bpf_probe_read_user(), which
 * reads memory that was made up or recorded.
 */
#ifndef BPF_HOST_H
#define BPF_HOST_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#define __BPF_HELPERS__		/* instead of bpf/bpf_helpers.h */

#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif

/* global functions: on the host each file has a copy */
#ifndef __weak
#define __weak			static __attribute__((__unused__))
#define __noinline		__attribute__((noinline))
#endif

#ifndef BPF_HELPER
#define BPF_HELPER
#endif

BPF_HELPER long bpf_probe_read_user(void *dst, __u32 size, const void *src);

#endif /* BPF_HOST_H */
