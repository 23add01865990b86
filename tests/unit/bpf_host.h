/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_host - what BPF code needs to be compiled for the host
 *
 * The test that includes a *.bpf.h after this file answers
 * bpf_probe_read_user() itself, from memory it made up or recorded.
 */
#ifndef TESTS_BPF_HOST_H
#define TESTS_BPF_HOST_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif

long bpf_probe_read_user(void *dst, __u32 size, const void *src);

#endif /* TESTS_BPF_HOST_H */
