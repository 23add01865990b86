/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_machine - the sampler and the kernel around it, for one machine
 *
 * To be included by walk_x86.c and walk_arm64.c, once each.  Both are in one program:
 * what the sampler defines for all to see is weak here, and its functions are static.
 */
#ifndef SYMBOLIZERD_SNAPSHOT_WALK_MACHINE_H
#define SYMBOLIZERD_SNAPSHOT_WALK_MACHINE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizerd/snapshot/walk.h"

/* --- the sampler ------------------------------------------------------------------ */

#define BPF_HELPER	static __attribute__((__unused__))
#define SEC(name)	__attribute__((__weak__))
#pragma weak identity
#pragma weak list_tgid
#pragma weak symbol_addr
#pragma weak asked_since
#pragma weak wake
#pragma weak modules
#pragma weak ring_wake_bytes
#pragma weak thread_size
#pragma weak runtimes
#pragma weak filter
#pragma weak page_shift

/* As <linux/ptrace.h> and <linux/bpf_perf_event.h> have them on the machine itself:
 * arch/x86/include/uapi/asm/ptrace.h, arch/arm64/include/uapi/asm/ptrace.h. */
#define _LINUX_PTRACE_H
#define __LINUX_BPF_PERF_EVENT_H__
#define _UAPI__LINUX_BPF_PERF_EVENT_H__
#ifdef __TARGET_ARCH_arm64
struct user_pt_regs {
	__UINT64_TYPE__ regs[31], sp, pc, pstate;
};
struct bpf_perf_event_data {
	struct user_pt_regs regs;
};
#else
struct pt_regs {
	unsigned long r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx,
		rsi, rdi, orig_rax, rip, cs, eflags, rsp, ss;
};
struct bpf_perf_event_data {
	struct pt_regs regs;
};
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "bpf/host_kernel.h"
#include "bpf/kern.h"
#undef __weak
#define __weak		static __attribute__((__unused__))

/* Sizes of key and value are those of what it is given. */
static long walk_update(void *map, const void *key, __u32 key_size,
			const void *value, __u32 value_size);
#define bpf_map_update_elem(map, key, value, flags)			\
	((void)(flags), walk_update((map), (key), sizeof(*(key)), (value),	\
				    sizeof(*(value))))

/* A rule is looked up here; the caller learns of it. */
static int walk_table_rule(__u32 dir, __u32 pages, __u64 off);
#define table_rule	walk_rule_in_slabs
#include "bpf/lookup.bpf.h"
#undef table_rule
#define table_rule	walk_table_rule
#define walk		WALK_PROGRAM
#include "bpf/sampler.bpf.c"
#undef walk
#pragma GCC diagnostic pop

/* --- what the kernel has of the process --------------------------------------------- */

#define VMA_BYTES	(FLAVOR_AT + sizeof(struct vm_area_struct___rb))
_Static_assert(sizeof(struct vm_area_struct) <= FLAVOR_AT, "flavors lie after it");

struct walk_entry {		/* of a map of the sampler's */
	void *map;
	struct walk_entry *next;
	__u32 key_size;
	__u64 words[];		/* key, padded; value */
};

struct walk_file_kernel {
	struct file file;
	char inode[FLAVOR_AT + sizeof(struct inode___5_10)];
	struct file_entry entry;
};

struct walk_kernel {
	struct cpu_counts counts;
	struct walk_entry *entries;
	struct task_struct task;
	struct css_set css;
	struct cgroup group;
	struct super_block sb;
	char kn[1024];			/* the root's: no parent */
	char mm[1024];
	char *vmas;			/* VMA_BYTES each */
	struct walk_file_kernel *files;
	__u64 now;
	struct remembered_rules remembered;
	struct scratch scratch;		/* its end is of any size */
};

static struct walk *walking;	/* of the sample that is being taken: the
				 * kernel's helpers, below, have no argument for it */

static void *walk_vma(const struct walk_kernel *k, __u32 i)
{
	return k->vmas + i * VMA_BYTES;
}

/* The red-black tree of Linux 5.10, without colours: mappings [from, to). */
static struct rb_node *walk_tree(const struct walk_kernel *k, __u32 from, __u32 to)
{
	__u32 middle = from + (to - from) / 2;
	struct vm_area_struct___rb *v;

	if (from >= to)
		return NULL;
	v = (void *)((char *)walk_vma(k, middle) + FLAVOR_AT);
	v->vm_rb.rb_left = walk_tree(k, from, middle);
	v->vm_rb.rb_right = walk_tree(k, middle + 1, to);
	return &v->vm_rb;
}

static void walk_make_files(struct walk_kernel *k, __u32 n)
{
	k->sb = (struct super_block){ .s_dev = 1, .s_magic = 0xef53 };
	for (__u32 i = 0; i < n; i++) {
		struct inode *inode = (void *)k->files[i].inode;

		*inode = (struct inode){ &k->sb, i + 1, 0, 1 };
		k->files[i].file.f_inode = inode;
	}
}

static void walk_make_maps(struct walk_kernel *k, const struct snapshot *s)
{
	for (__u32 i = 0; i < s->maps.n; i++) {
		const struct snapshot_map *m = &s->maps.v[i];
		struct file *file = NULL;
		unsigned long flags = 3;

		if (m->file < s->files.n && m->start != s->vdso)
			file = &k->files[m->file].file;
		if (m->exec)
			flags = VM_EXEC | 1;
		*(struct vm_area_struct *)walk_vma(k, i) = (struct vm_area_struct){
			m->start, m->end, m->off >> page_shift, flags, file, (void *)k->mm,
		};
	}
	((struct mm_struct___rb *)(k->mm + 2 * FLAVOR_AT))->mm_rb.rb_node =
		walk_tree(k, 0, s->maps.n);
	((struct mm_struct *)k->mm)->start_stack = s->stack;
	((struct mm_struct___ctx *)(k->mm + FLAVOR_AT))->context.vdso =
		(void *)(uintptr_t)s->vdso;
}

struct walk_kernel *WALK_KERNEL(struct walk *w)
{
	struct walk_kernel *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->vmas = calloc(w->s->maps.n + 1, VMA_BYTES);
	k->files = calloc(w->s->files.n + 1, sizeof(*k->files));
	if (!k->vmas || !k->files) {
		WALK_FREE(k);
		return NULL;
	}
	walk_make_files(k, w->s->files.n);
	walk_make_maps(k, w->s);
	k->group.kn = (void *)k->kn;
	k->css.dfl_cgrp = &k->group;
	k->now = 1000000000000ULL;
	k->task = (struct task_struct){
		.mm = (void *)k->mm, .tgid = 1, .pid = 1, .group_leader = &k->task,
		.start_boottime = 1, .cgroups = &k->css,
	};
	return k;
}

void WALK_FREE(struct walk_kernel *k)
{
	while (k->entries) {
		struct walk_entry *e = k->entries;

		k->entries = e->next;
		free(e);
	}
	free(k->vmas);
	free(k->files);
	free(k);
}

/* --- maps --------------------------------------------------------------------------- */

static struct walk_entry **walk_entry_of(void *map, const void *key)
{
	struct walk_entry **e = &walking->kernel->entries;

	while (*e && ((*e)->map != map || memcmp((*e)->words, key, (*e)->key_size)))
		e = &(*e)->next;
	return e;
}

static struct file_entry *walk_files_entry(const struct file_key *key)
{
	struct walk *w = walking;
	__u64 i = key->ino - 1;		/* the vDSO's has none */
	__u32 exe = EXE_FIRST + (__u32)i;
	struct file_entry *e;

	if (!key->ino) {
		i = walk_vdso_file(w);
		exe = EXE_VDSO;
	}
	if (i >= w->files.n)
		return NULL;
	if (!w->files.v[i].asked) {
		w->files.v[i].asked = true;
		w->table(w->ctx, (__u32)i, &w->files.v[i]);
	}
	e = &w->kernel->files[i].entry;
	*e = (struct file_entry){
		.exe = exe, .dir = w->files.v[i].dir, .pages = w->files.v[i].pages,
		.runtime = (__u8)w->s->files.v[i].runtime, .state = FILE_TABLE,
	};
	return e;
}

/* What stands for the slab of that number, as a map. */
static void *walk_slab(__u32 number)
{
	if (number >= SLABS_MAX)
		return NULL;
	return (void *)(uintptr_t)(number + 1);
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	struct walk_entry *e;

	if (map == &scratch_map)
		return &walking->kernel->scratch;
	if (map == &remembered_rules)
		return &walking->kernel->remembered;
	if (map == &counts)
		return &walking->kernel->counts;
	if (map == &files)
		return walk_files_entry(key);
	if (map == &slabs)
		return walk_slab(*(const __u32 *)key);
	if ((uintptr_t)map <= SLABS_MAX) {
		walking->n_elements++;
		return walk_tables_element(&walking->tables,
			((__u32)(uintptr_t)map - 1) << SLAB_SHIFT |
			*(const __u32 *)key);
	}
	e = *walk_entry_of(map, key);
	if (!e)
		return NULL;
	return (char *)e->words + (e->key_size + 7) / 8 * 8;
}

static long walk_update(void *map, const void *key, __u32 key_size,
			const void *value, __u32 value_size)
{
	struct walk_entry **at = walk_entry_of(map, key), *e = *at;
	__u32 padded = (key_size + 7) / 8 * 8;

	if (!e) {
		e = calloc(1, sizeof(*e) + padded + value_size);
		if (!e)
			return -ENOMEM;
		e->map = map;
		e->key_size = key_size;
		memcpy(e->words, key, key_size);
		*at = e;
	}
	memcpy((char *)e->words + padded, value, value_size);
	return 0;
}

static long bpf_map_delete_elem(void *map, const void *key)
{
	struct walk_entry **at = walk_entry_of(map, key), *e = *at;

	if (!e)
		return -ENOENT;
	*at = e->next;
	free(e);
	return 0;
}

/* --- rules and memory --------------------------------------------------------------- */

static int walk_table_rule(__u32 dir, __u32 pages, __u64 off)
{
	struct walk *w = walking;

	for (__u32 i = 0; pages && i < w->files.n; i++) {
		if (w->files.v[i].pages && w->files.v[i].dir == dir)
			w->looked_up(w->ctx, i, off);
	}
	return walk_rule_in_slabs(dir, pages, off);
}

static long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	memset(dst, 0, size);
	walking->n_reads++;
	if (walking->read(walking->ctx, (uintptr_t)src, dst, size))
		return -EFAULT;
	return 0;
}

/* Words of it: a recording has no others. */
static long bpf_probe_read_user_str(void *dst, __u32 size, const void *src)
{
	__u64 at = (uintptr_t)src, word;
	char *to = dst;
	__u32 n = 0;

	while (n < size) {
		if (bpf_probe_read_user(&word, sizeof(word), (void *)((at + n) & ~7ULL)))
			return -EFAULT;
		do {
			to[n] = (char)(word >> 8 * ((at + n) & 7));
			if (n + 1 == size)
				to[n] = '\0';
			if (!to[n++])
				return n;
		} while (n < size && ((at + n) & 7));
	}
	return n;
}

static long bpf_probe_read_kernel(void *dst, __u32 size, const void *src)
{
	memset(dst, 0, size);
	if ((uintptr_t)src < 65536)
		return -EFAULT;
	memcpy(dst, src, size);
	return 0;
}

static long bpf_probe_read_kernel_str(void *dst, __u32 size, const void *src)
{
	return bpf_probe_read_kernel(dst, size, src);
}

/* --- the rest ------------------------------------------------------------------------- */

static __attribute__((__unused__)) long (bpf_map_update_elem)(void *map,
	const void *key, const void *value, __u64 flags)
{
	(void)map, (void)key, (void)value, (void)flags;
	return -EINVAL;		/* is a macro, above */
}

static __u64 bpf_jiffies64(void)
{
	return 0;
}

static __u64 bpf_ktime_get_ns(void)
{
	return walking->kernel->now + (__u64)walking->n_reads * walking->read_ns;
}

static __u64 bpf_get_current_pid_tgid(void)
{
	return 1ULL << 32 | 1;
}

static __u64 bpf_get_current_uid_gid(void)
{
	return 0;
}

static __u64 bpf_get_current_cgroup_id(void)
{
	return 1;
}

static __u64 bpf_get_current_task(void)
{
	return (uintptr_t)&walking->kernel->task;
}

static struct task_struct *bpf_get_current_task_btf(void)
{
	return &walking->kernel->task;
}

static long bpf_task_pt_regs(struct task_struct *t)
{
	(void)t;
	return 0;
}

static long bpf_get_current_comm(void *dst, __u32 size)
{
	memset(dst, 0, size);
	return 0;
}

static __u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

static long bpf_get_stack(void *ctx, void *dst, __u32 size, __u64 flags)
{
	(void)ctx, (void)dst, (void)size, (void)flags;
	return 0;
}

static __u64 bpf_ringbuf_query(void *of, __u64 flags)
{
	(void)of, (void)flags;
	return 0;
}

static long bpf_ringbuf_output(void *to, void *data, __u64 size, __u64 flags)
{
	(void)flags;
	if (to == &ring && size <= RECORD_MAX) {
		memcpy(walking->record, data, size);
		walking->record_len = size;
	}
	return 0;
}

static long bpf_seq_write(void *seq, const void *data, __u32 size)
{
	(void)seq, (void)data, (void)size;
	return 0;
}

static long bpf_seq_printf(void *seq, const char *fmt, __u32 size, const void *args,
			   __u32 args_size)
{
	(void)seq, (void)fmt, (void)size, (void)args, (void)args_size;
	return 0;
}

/* --- a sample --------------------------------------------------------------------------- */

#define NEXT_NS		200000000ULL	/* what was left out comes then: LINES_NS */

static void walk_registers(struct walk_kernel *k, const struct snapshot_thread *t,
			   struct bpf_perf_event_data *to)
{
	const uint64_t *r = t->regs;

	memset(to, 0, sizeof(*to));
#ifdef __TARGET_ARCH_arm64
	memcpy(to->regs.regs, r, sizeof(to->regs.regs));
	to->regs.sp = r[31];
	to->regs.pc = r[32] - t->call;	/* as step_into_syscall() */
	k->task.thread.uw.tp_value = t->tp;
#else
	memcpy(&to->regs, r, 15 * sizeof(*r));
	to->regs.rip = r[15] - t->call;
	to->regs.rsp = r[16];
	to->regs.cs = 0x33;
	k->task.thread.fsbase = t->tp;
#endif
}

void WALK_SAMPLE(struct walk *w, const struct snapshot_thread *t)
{
	struct bpf_perf_event_data ctx;

	walking = w;
	w->kernel->now += NEXT_NS;
	walk_registers(w->kernel, t, &ctx);
	WALK_PROGRAM(&ctx);
}

#endif /* SYMBOLIZERD_SNAPSHOT_WALK_MACHINE_H */
