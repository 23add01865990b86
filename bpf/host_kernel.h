/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * host_kernel - libbpf's headers and the kernel's helpers, for a whole BPF
 * program on the host
 *
 * Kernel memory is the includer's own, laid out as kern.h says; flavors that belong
 * to Linux 5.10 lie FLAVOR_AT bytes after the start of the struct that they are part
 * of, and no other flavor is there unless the includer defines
 * bpf_core_field_exists().  The includer answers the helpers declared here; with
 * BPF_HELPER static, as static functions.
 */
#ifndef BPF_HOST_KERNEL_H
#define BPF_HOST_KERNEL_H

#include <linux/bpf.h>

#include "host.h"

/* instead of bpf/bpf_core_read.h */
#define __BPF_CORE_READ_H__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wunknown-attributes"
#pragma GCC diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif

#ifndef SEC
#define SEC(name)
#endif
#define __ksym
#undef __weak
#define __weak			__attribute__((weak))
#define barrier()		__asm__ volatile("" ::: "memory")
#define __uint(name, value)	int (*name)[value]
#define __type(name, value)	__typeof__(value) *name
#define __array(name, value)	__typeof__(value) *name[]

#define FLAVOR_AT		128
#define FLAVOR_IS(type, flavor)	__builtin_types_compatible_p(type, struct flavor)
#define FLAVOR_SHIFT(type)						\
	((FLAVOR_IS(type, vm_area_struct___rb) ||			\
	  FLAVOR_IS(type, mm_struct___ctx) ||				\
	  FLAVOR_IS(type, kernfs_node___old) ||				\
	  FLAVOR_IS(type, inode___5_10) ? FLAVOR_AT : 0) +		\
	 (FLAVOR_IS(type, mm_struct___rb) ||				\
	  FLAVOR_IS(type, vm_area_struct___seq) ? 2 * FLAVOR_AT : 0) +	\
	 (FLAVOR_IS(type, mm_struct___6_4) ? 3 * FLAVOR_AT : 0))
#ifndef bpf_core_field_exists
#define bpf_core_field_exists(type, field)	0
#endif
#define bpf_core_field_offset(type, field)				\
	(__builtin_offsetof(type, field) + FLAVOR_SHIFT(type))
#define bpf_core_field_size(type, field)	sizeof(((type *)0)->field)
#define bpf_core_type_size(type)		sizeof(type)
#define bpf_core_type_exists(type)		1
#define bpf_core_type_id_kernel(type)		0
#define bpf_core_enum_value(type, value)	((__u32)(value))
#define bpf_core_enum_value_exists(type, value)	0
#define BPF_CORE_READ(src, field) ({					\
	__typeof__(src) src_ = (void *)((char *)(src) +			\
					FLAVOR_SHIFT(__typeof__(*(src)))); \
	__typeof__(src_->field) got_;					\
	bpf_probe_read_kernel(&got_, sizeof(got_), &src_->field);	\
	got_; })

/* `programs` has one */
#define bpf_tail_call(ctx, map, index)	((void)(map), walk(ctx))

/* state.bpf.h: not by a map */
#define RUNTIME_STATE(number, name)					\
static struct name rt##number##_state;					\
static inline struct name *name(void)					\
{									\
	return &rt##number##_state;					\
}

BPF_HELPER void *bpf_map_lookup_elem(void *map, const void *key);
BPF_HELPER long bpf_map_update_elem(void *map, const void *key, const void *value,
			 __u64 flags);
BPF_HELPER long bpf_map_delete_elem(void *map, const void *key);
BPF_HELPER long bpf_probe_read_user_str(void *dst, __u32 size, const void *src);
BPF_HELPER long bpf_probe_read_kernel(void *dst, __u32 size, const void *src);
BPF_HELPER long bpf_probe_read_kernel_str(void *dst, __u32 size, const void *src);
BPF_HELPER __u64 bpf_ktime_get_ns(void);
BPF_HELPER __u64 bpf_jiffies64(void);
BPF_HELPER __u64 bpf_get_current_pid_tgid(void);
BPF_HELPER __u64 bpf_get_current_uid_gid(void);
BPF_HELPER __u64 bpf_get_current_cgroup_id(void);
BPF_HELPER __u64 bpf_get_current_task(void);
BPF_HELPER struct task_struct *bpf_get_current_task_btf(void);
BPF_HELPER long bpf_task_pt_regs(struct task_struct *task);
BPF_HELPER long bpf_get_current_comm(void *dst, __u32 size);
BPF_HELPER __u32 bpf_get_smp_processor_id(void);
BPF_HELPER long bpf_get_stack(void *ctx, void *dst, __u32 size, __u64 flags);
BPF_HELPER __u64 bpf_ringbuf_query(void *ring, __u64 flags);
BPF_HELPER long bpf_ringbuf_output(void *ring, void *data, __u64 size, __u64 flags);
BPF_HELPER long bpf_seq_write(void *seq, const void *data, __u32 size);
BPF_HELPER long bpf_seq_printf(void *seq, const char *fmt, __u32 size, const void *args,
		    __u32 args_size);

#endif /* BPF_HOST_KERNEL_H */
