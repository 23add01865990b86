/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * kern - the few kernel structs that trifold reads
 *
 * CO-RE finds the real offsets when the programs are loaded, so only names and types
 * matter here and a build host needs no BTF.  A field that moved or changed its type has
 * a flavor (NAME___FLAVOR); bpf_core_field_exists() tells which one a kernel has, never
 * its version.
 */
#ifndef BPF_KERN_H
#define BPF_KERN_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
};
struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};
struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_generation;
	__s64 i_size;
};
struct inode___5_10 {				/* < 6.6 */
	struct timespec64 i_ctime;
};
struct inode___6_6 {				/* 6.6 - 6.10: 13bc24457850 */
	struct timespec64 __i_ctime;
};
struct inode___6_11 {				/* 6.11 -: 3aa63a569c64 */
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec;
};
struct user_namespace {
	int level;				/* 0: the host's own */
};
struct mnt_namespace {
	struct user_namespace *user_ns;
};
struct nsproxy {
	struct mnt_namespace *mnt_ns;
};
struct upid {
	int nr;
};
struct pid {
	unsigned int level;			/* of the innermost namespace */
	struct upid numbers[1];
};
struct vfsmount {
	struct super_block *mnt_sb;
	int mnt_flags;
};
struct mount {
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
};
struct path {
	struct vfsmount *mnt;
};
struct fs_struct {
	struct path root;
};
struct file {
	struct inode *f_inode;
	struct path f_path;
};
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct file *vm_file;
	struct mm_struct *vm_mm;
};
struct mm_context {
	void *vdso;
};
struct mm_struct {
	struct file *exe_file;
	__u64 start_code, start_stack;
};
struct mm_struct___ctx {			/* mm_context_t is a typedef */
	struct mm_context context;
};

/* Linux >= 6.1: mappings in a maple tree */
struct maple_tree {
	void *ma_root;
};
struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
};
struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
};
enum maple_type {
	maple_leaf_64 = 1,
	maple_range_64 = 2,
	maple_arange_64 = 3,
};
struct mm_struct___maple {
	struct maple_tree mm_mt;
};

/* before: in a red-black tree */
struct rb_node {
	struct rb_node *rb_right, *rb_left;
};
struct rb_root {
	struct rb_node *rb_node;
};
struct vm_area_struct___rb {
	struct rb_node vm_rb;
};
struct mm_struct___rb {
	struct rb_root mm_rb;
};

/* >= 6.4: equal numbers say that the mapping is being written */
struct vm_area_struct___seq {
	unsigned int vm_lock_seq;
};
struct seqcount {
	unsigned int sequence;
};
struct mm_struct___6_13 {
	struct seqcount mm_lock_seq;
};
struct mm_struct___6_4 {			/* 6.4 - 6.12 */
	int mm_lock_seq;
};

struct kernfs_node {
	const char *name;
	__u64 id;				/* >= 5.5: 67c0496e87d1 */
};
struct kernfs_node___6_15 {
	struct kernfs_node *__parent;		/* 633488947ef6 */
};
struct kernfs_node___old {
	struct kernfs_node *parent;
};
struct cgroup {
	struct kernfs_node *kn;
};
struct css_set {
	struct cgroup *dfl_cgrp;
};
struct thread_struct {
#ifdef __TARGET_ARCH_arm64
	struct {
		unsigned long tp_value;
	} uw;
#else
	unsigned long fsbase;
#endif
};
struct cred {
	struct {
		unsigned int val;
	} uid;
};
struct task_struct {
	struct thread_struct thread;
	struct mm_struct *mm;
	unsigned int flags;
	int pid, tgid;
	unsigned int on_rq;			/* 7.3: of another size */
	struct task_struct *group_leader, *real_parent;
	__u64 start_boottime;
	__u64 self_exec_id;
	struct css_set *cgroups;
	const struct cred *cred;
	struct fs_struct *fs;
	struct nsproxy *nsproxy;
	struct pid *thread_pid;
	void *stack;
	char comm[16];
};

struct pt_regs___kernel {			/* has more than the uapi struct */
	int syscallno;				/* arm64; -1: no system call */
};

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
};
struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *key;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#define PF_KTHREAD	0x00200000	/* include/linux/sched.h */
#define VM_EXEC		0x00000004	/* include/linux/mm.h */

/* Plain kernel loads (6.2+): the verifier turns the call into nothing and the
 * load into one with a fault handler. */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;
#define AS(type, p)							\
	((struct type *)bpf_rdonly_cast((void *)(p),			\
					bpf_core_type_id_kernel(struct type)))
/* One field of a kernel struct, by plain load if the kernel allows it.  The pointer is
 * evaluated first: inside BPF_CORE_READ a struct of ours would be relocated. */
#define KLOAD(type, p, field) ({					\
	struct type *_k = (struct type *)(p);				\
	bpf_rdonly_cast ? AS(type, _k)->field : BPF_CORE_READ(_k, field); })
/* any eight bytes, by plain load */
#define LOAD(p)	((__u64)AS(timespec64, p)->tv_sec)

static __always_inline __u64 kernfs_parent(__u64 kn)
{
	if (bpf_core_field_exists(struct kernfs_node___6_15, __parent))
		return (__u64)KLOAD(kernfs_node___6_15, kn, __parent);
	return (__u64)KLOAD(kernfs_node___old, kn, parent);
}

#endif /* BPF_KERN_H */
