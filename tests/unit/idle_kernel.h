/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_kernel - helpers of the kernel of which tests that run the whole sampler ask for
 * nothing but its memory: one process in cgroup 3 on CPU 0, no kernel stack, an empty ring.  Included
 * where struct task_struct task is defined.
 */
#ifndef TESTS_IDLE_KERNEL_H
#define TESTS_IDLE_KERNEL_H

/* The kernel's memory is ours. */
long bpf_probe_read_kernel(void *dst, __u32 size, const void *src)
{
	memset(dst, 0, size);
	if ((uintptr_t)src < 65536)
		return -EFAULT;
	memcpy(dst, src, size);
	return 0;
}

/* Byte by byte, as a target's memory may end anywhere. */
long bpf_probe_read_user_str(void *dst, __u32 size, const void *src)
{
	char *to = dst;

	for (__u32 n = 0; n < size; n++) {
		if (bpf_probe_read_user(to + n, 1, (const char *)src + n))
			return -EFAULT;
		if (n + 1 == size)
			to[n] = '\0';
		if (!to[n])
			return n + 1;
	}
	return size;
}

long bpf_probe_read_kernel_str(void *dst, __u32 size, const void *src)
{
	return bpf_probe_read_kernel(dst, size, src);
}

__u64 bpf_get_current_cgroup_id(void)
{
	return 3;
}

__u64 bpf_get_current_task(void)
{
	return (uintptr_t)&task;
}

struct task_struct *bpf_get_current_task_btf(void)
{
	return &task;
}

long bpf_task_pt_regs(struct task_struct *t)
{
	(void)t;
	return 0;
}

long bpf_get_current_comm(void *dst, __u32 size)
{
	memset(dst, 'c', size);
	return 0;
}

/* 250 Hz */
__u64 bpf_jiffies64(void)
{
	return bpf_ktime_get_ns() / 4000000;
}

__u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

long bpf_get_stack(void *ctx, void *dst, __u32 size, __u64 flags)
{
	(void)ctx, (void)dst, (void)size, (void)flags;
	return 0;
}

__u64 bpf_ringbuf_query(void *of, __u64 flags)
{
	(void)of, (void)flags;
	return 0;
}

static void (*on_seq_write)(const void *data, __u32 size);

long bpf_seq_write(void *seq, const void *data, __u32 size)
{
	(void)seq;
	if (on_seq_write)
		on_seq_write(data, size);
	return 0;
}

long bpf_seq_printf(void *seq, const char *fmt, __u32 size, const void *args,
		    __u32 args_size)
{
	(void)seq, (void)fmt, (void)size, (void)args, (void)args_size;
	return 0;
}

#endif /* TESTS_IDLE_KERNEL_H */
