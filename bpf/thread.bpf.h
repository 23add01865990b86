/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * thread - a word that the current thread has of its own (thread_read.bpf.h)
 */
#ifndef BPF_THREAD_BPF_H
#define BPF_THREAD_BPF_H

#include "kern.h"
#include "thread_read.bpf.h"

static __always_inline __u64 current_thread_pointer(void)
{
	__u64 task = (__u64)bpf_get_current_task();

#ifdef __TARGET_ARCH_arm64
	return KLOAD(task_struct, task, thread.uw.tp_value);
#else
	return KLOAD(task_struct, task, thread.fsbase);
#endif
}

/* how: enum thread_how.  value: address or distance, as it says; from base, but for
 * THREAD_TP.  0 also if it is not known. */
__weak __noinline __u64 thread_word(__u32 how, __u64 value, __u64 base)
{
	return thread_word_of(current_thread_pointer(), how,
			      how == THREAD_TP ? value : base + value);
}

#endif /* BPF_THREAD_BPF_H */
