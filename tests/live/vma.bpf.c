// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks the sampler's VMA walker about addresses of the caller's own memory.
 * With VMA_PROBE (vma_probe.bpf.c) as on a kernel before 6.2: all reads by
 * bpf_probe_read_kernel.
 */
#include "bpf/kern.h"

#ifdef VMA_PROBE
#define bpf_rdonly_cast	((void *(*)(const void *, __u32))0)
#endif
#include "bpf/vma.bpf.h"
#include "tests/live/vma.h"

char LICENSE[] SEC("license") = "GPL";

struct vma_run run;

/* As in the sampler: no state but in maps. */
struct own {
	__u64 mm;
	__u64 words[VMA_SCRATCH_WORDS];
	struct mapping m;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct own);
} own_map SEC(".maps");

static __always_inline struct own *own(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&own_map, &zero);
}

__weak __noinline int look(__u32 i)
{
	struct vma_ask *a = &run.ask[i & (ASKS - 1)];
	struct own *o = own();

	if (!o)
		return 0;
	a->found = vma_lookup(o->mm, a->addr, &o->m, o->words);
	a->start = o->m.start;
	a->end = o->m.end;
	a->off = o->m.off;
	a->key = o->m.key;
	a->has_file = o->m.has_file;
	a->busy = o->m.busy;
	a->exec = o->m.exec;
	return 0;
}

SEC("raw_tp")
int ask_all(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = (__u64)bpf_get_current_task(), t0;
	struct own *o = own();

	(void)ctx;
	if (!o)
		return 0;
	o->mm = (__u64)KLOAD(task_struct, task, mm);
	t0 = bpf_ktime_get_ns();
	for (__u32 i = 0; i < ASKS; i++)
		look(i);
	run.ns = bpf_ktime_get_ns() - t0;
	return 1;
}
