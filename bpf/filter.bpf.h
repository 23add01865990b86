/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * filter - which tasks are sampled, as struct task_filter says
 */
#ifndef BPF_FILTER_BPF_H
#define BPF_FILTER_BPF_H

#include "state.bpf.h"

#define FILTER_LEVELS	64		/* parents of a task or of a cgroup */

static __always_inline int is_filter_pid(__u64 task)
{
	__u64 leader = (__u64)KLOAD(task_struct, task, group_leader);
	__u32 tgid = KLOAD(task_struct, task, tgid);

	for (int i = 0; i < FILTER_MAX && i < filter.n; i++) {
		if (filter.id[i] == tgid)
			return KLOAD(task_struct, leader, start_boottime) <=
			       filter.before_ns;
	}
	return 0;
}

static __always_inline int is_filter_descendant(__u64 task)
{
	for (int i = 0; i < FILTER_LEVELS; i++) {
		__u32 tgid;

		task = (__u64)KLOAD(task_struct, task, real_parent);
		tgid = KLOAD(task_struct, task, tgid);
		if (tgid == filter.id[0])
			return 1;
		if (tgid <= 1)
			break;
	}
	return 0;
}

static __always_inline int is_in_filter_cgroup(__u64 task)
{
	__u64 kn = (__u64)KLOAD(task_struct, task, cgroups);

	kn = (__u64)KLOAD(css_set, kn, dfl_cgrp);
	kn = (__u64)KLOAD(cgroup, kn, kn);
	for (int i = 0; kn && i < FILTER_LEVELS; i++) {
		if ((__u64)KLOAD(kernfs_node, kn, id) == filter.id[0])
			return 1;
		kn = kernfs_parent(kn);
	}
	return 0;
}

static __always_inline int passes_filter(__u64 task)
{
	switch (filter.kind) {
	case FILTER_PID:		return is_filter_pid(task);
	case FILTER_BELOW:	return is_filter_descendant(task);
	case FILTER_CGROUP:	return is_in_filter_cgroup(task);
	}
	return 1;
}

/* The current task's.  Global, so that its loops are verified once. */
__weak __noinline int current_passes_filter(void)
{
	return passes_filter((__u64)bpf_get_current_task());
}

#endif /* BPF_FILTER_BPF_H */
