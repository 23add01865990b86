/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * vma - which mapping of a process holds a user address, and which file is mapped there:
 * a walk of the kernel's own VMA tree without its lock.  Works with interrupts off (perf
 * event, NMI), any number of times in a sample.
 *
 * Why this is safe: BPF programs run under RCU, each load is checked for faults, each
 * loop is bounded.  If the tree changes during the walk, the result is a miss at worst:
 * a VMA is accepted only if it is of this mm and holds the address, and these fields are
 * read again at the end, since the kernel may reuse a VMA's memory at once (< 6.4,
 * >= 6.15).
 *
 * Two ways to read, chosen when the program is loaded (the kfunc is weak, the
 * verifier drops the dead branch): plain loads by bpf_rdonly_cast, 6.2 and
 * later: three to five times faster, and allowed under
 * lockdown=confidentiality; bpf_probe_read_kernel, 5.10 and later.
 *
 * Layouts: lib/maple_tree.c and include/linux/maple_tree.h of Linux 6.1 - 7.3
 * (node type in bits 3-6 of a pointer, the root marked by 2 in bits 0-1, a zero
 * pivot ends a node); mm/mmap.c of Linux 5.10.  Offsets, pivot counts and type numbers
 * come from BTF, so with a new layout the walk misses or fails to load, but gives no
 * wrong answer; loaderd also tests it on its own code at start.
 */
#ifndef BPF_VMA_BPF_H
#define BPF_VMA_BPF_H

#include "kern.h"
#include "file.h"

struct mapping {
	__u64 start, end;
	__u64 off;		/* file offset of start, bytes */
	struct file_key key;	/* if has_file */
	__u64 file;		/* struct file *, or 0 */
	__u8 has_file;
	__u8 busy;		/* being written: do not remember it */
	__u8 exec;		/* executable */
	__u8 pad[5];
};

const volatile __u32 page_shift = 12;	/* set by loaderd: unit of vm_pgoff */

#define VMA_SCRATCH_WORDS	32
#define MAPLE_LEVELS		8
#define RB_LEVELS		40
#define MAPLE_NODE		256
#define OFFSET(type, field)	bpf_core_field_offset(struct type, field)
#define HAS_VMA_LOCK							\
	bpf_core_field_exists(struct vm_area_struct___seq, vm_lock_seq)
#define MM_LOCK_SEQ							\
	(bpf_core_field_exists(struct mm_struct___6_13,			\
			       mm_lock_seq.sequence) ?			\
	 OFFSET(mm_struct___6_13, mm_lock_seq.sequence) :		\
	 OFFSET(mm_struct___6_4, mm_lock_seq))
#define CTIME_NS_MASK		0x7fffffff	/* bit 31: multigrain flag, 6.13 */

struct maple_layout {
	__u64 pivots, pivot, slot;
};

/* 0: no such node. */
static __always_inline int maple_layout(__u32 type, struct maple_layout *l)
{
	if (type == bpf_core_enum_value(enum maple_type, maple_arange_64)) {
		l->pivots = bpf_core_field_size(struct maple_arange_64, pivot) / 8;
		l->pivot = OFFSET(maple_arange_64, pivot);
		l->slot = OFFSET(maple_arange_64, slot);
		return 1;
	}
	l->pivots = bpf_core_field_size(struct maple_range_64, pivot) / 8;
	l->pivot = OFFSET(maple_range_64, pivot);
	l->slot = OFFSET(maple_range_64, slot);
	return type == bpf_core_enum_value(enum maple_type, maple_leaf_64) ||
	       type == bpf_core_enum_value(enum maple_type, maple_range_64);
}

/* --- by plain loads ------------------------------------------------------ */

/* *low: the start of the mapping or gap, or a lower address; may be NULL. */
static __always_inline __u64 typed_maple_find(__u64 root, __u64 addr, __u64 *low)
{
	struct maple_layout l;
	__u64 e = root, i;

	for (int level = 0; level < MAPLE_LEVELS; level++) {
		__u32 type = (e >> 3) & 15;
		__u64 node = e & ~(__u64)(MAPLE_NODE - 1);

		if (e < 4096 || (e & 3) != (level ? 0 : 2) ||
		    !maple_layout(type, &l))
			return 0;
		for (i = 0; i < l.pivots; i++) {
			__u64 last = LOAD(node + l.pivot + i * 8);

			if (!last || last >= addr)
				break;
			if (low)
				*low = last + 1;
		}
		e = LOAD(node + l.slot + i * 8);
		if (type == bpf_core_enum_value(enum maple_type, maple_leaf_64))
			return e;
	}
	return 0;
}

static __always_inline __u32 typed_lock_seq(__u64 vma)
{
	return HAS_VMA_LOCK ?
	       LOAD(vma + OFFSET(vm_area_struct___seq, vm_lock_seq)) : 0;
}

/* A key without what is far from the rest in memory: generation and magic. */
static __always_inline void typed_near_key(__u64 file, struct file_key *k)
{
	struct inode *i = AS(inode, AS(file, file)->f_inode);

	k->dev = AS(super_block, i->i_sb)->s_dev;
	k->ino = i->i_ino;
	k->size = i->i_size;
	if (bpf_core_field_exists(struct inode___6_11, i_ctime_sec)) {
		k->ctime = AS(inode___6_11, i)->i_ctime_sec;
		k->ctime_ns = AS(inode___6_11, i)->i_ctime_nsec & CTIME_NS_MASK;
	} else if (bpf_core_field_exists(struct inode___6_6, __i_ctime)) {
		k->ctime = AS(inode___6_6, i)->__i_ctime.tv_sec;
		k->ctime_ns = AS(inode___6_6, i)->__i_ctime.tv_nsec;
	} else {
		k->ctime = AS(inode___5_10, i)->i_ctime.tv_sec;
		k->ctime_ns = AS(inode___5_10, i)->i_ctime.tv_nsec;
	}
}

static __always_inline void typed_key(__u64 file, struct file_key *k)
{
	struct inode *i = AS(inode, AS(file, file)->f_inode);

	typed_near_key(file, k);
	k->generation = i->i_generation;
	k->magic = AS(super_block, i->i_sb)->s_magic;
}

static __always_inline int typed_read(__u64 mm, __u64 vma, __u64 addr,
				      struct mapping *m)
{
	struct vm_area_struct *v = AS(vm_area_struct, vma);
	__u64 file, pgoff;
	__u32 seq;

	if (vma < 4096 || (__u64)v->vm_mm != mm)
		return 0;
	seq = typed_lock_seq(vma);
	m->start = v->vm_start;
	m->end = v->vm_end;
	pgoff = v->vm_pgoff;
	m->off = pgoff << page_shift;
	if (addr < m->start || addr >= m->end)
		return 0;
	m->exec = (v->vm_flags & VM_EXEC) != 0;
	file = (__u64)v->vm_file;
	m->file = file;
	m->has_file = file != 0;
	if (file)
		typed_key(file, &m->key);
	m->busy = HAS_VMA_LOCK &&
		  (seq != typed_lock_seq(vma) ||
		   seq == (__u32)LOAD(mm + MM_LOCK_SEQ));
	barrier();
	v = AS(vm_area_struct, vma);
	return (__u64)v->vm_mm == mm && v->vm_start == m->start &&
	       v->vm_end == m->end && v->vm_pgoff == pgoff &&
	       (__u64)v->vm_file == file;
}

/* --- by bpf_probe_read_kernel, in few long reads -------------------------- */

#define GET(type, p, field)	BPF_CORE_READ((struct type *)(p), field)
#define LARGER(a, b)		((a) > (b) ? (a) : (b))
#define WORD(offset)		scratch[(offset) / 8 % VMA_SCRATCH_WORDS]

static __always_inline __u64 probe_maple_find(__u64 root, __u64 addr,
					      __u64 *low, __u64 *scratch)
{
	struct maple_layout l;
	__u64 e = root, i;

	for (int level = 0; level < MAPLE_LEVELS; level++) {
		__u32 type = (e >> 3) & 15;
		__u64 node = e & ~(__u64)(MAPLE_NODE - 1);

		if (e < 4096 || (e & 3) != (level ? 0 : 2) ||
		    !maple_layout(type, &l) ||
		    bpf_probe_read_kernel(scratch, MAPLE_NODE, (void *)node))
			return 0;
		for (i = 0; i < l.pivots; i++) {
			__u64 last = WORD(l.pivot + i * 8);

			if (!last || last >= addr)
				break;
			if (low)
				*low = last + 1;
		}
		e = WORD(l.slot + i * 8);
		if (type == bpf_core_enum_value(enum maple_type, maple_leaf_64))
			return e;
	}
	return 0;
}

/* *below: the end of the nearest mapping further down; may be NULL. */
static __always_inline __u64 probe_rb_find(__u64 node, __u64 addr,
					   __u64 *below, __u64 *scratch)
{
	const __u64 start = OFFSET(vm_area_struct, vm_start);
	const __u64 end = OFFSET(vm_area_struct, vm_end);
	const __u64 rb = OFFSET(vm_area_struct___rb, vm_rb);
	const __u64 left = rb + OFFSET(rb_node, rb_left);
	const __u64 right = rb + OFFSET(rb_node, rb_right);
	__u64 span = LARGER(LARGER(start, end), LARGER(left, right)) + 8;

	if (span > VMA_SCRATCH_WORDS * 8)
		return 0;
	for (int level = 0; level < RB_LEVELS; level++) {
		if (!node ||
		    bpf_probe_read_kernel(scratch, span, (void *)(node - rb)))
			return 0;
		if (addr < WORD(start))
			node = WORD(left);
		else if (addr < WORD(end))
			return node - rb;
		else {
			if (below)
				*below = WORD(end);
			node = WORD(right);
		}
	}
	return 0;
}

static __always_inline int probe_vma(__u64 vma, __u64 *scratch)
{
	__u64 span = LARGER(LARGER(LARGER(OFFSET(vm_area_struct, vm_start),
					  OFFSET(vm_area_struct, vm_end)),
				   LARGER(OFFSET(vm_area_struct, vm_mm),
					  OFFSET(vm_area_struct, vm_flags))),
			    LARGER(OFFSET(vm_area_struct, vm_pgoff),
				   OFFSET(vm_area_struct, vm_file))) + 8;

	return span <= VMA_SCRATCH_WORDS * 8 &&
	       !bpf_probe_read_kernel(scratch, span, (void *)vma);
}

static __always_inline __u32 probe_u32(__u64 p)
{
	__u32 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)p);
	return v;
}

static __always_inline __u32 probe_lock_seq(__u64 vma)
{
	return HAS_VMA_LOCK ?
	       probe_u32(vma + OFFSET(vm_area_struct___seq, vm_lock_seq)) : 0;
}

static __always_inline void probe_near_key(__u64 file, struct file_key *k)
{
	__u64 i = (__u64)GET(file, file, f_inode);
	__u64 sb = (__u64)GET(inode, i, i_sb);
	struct timespec64 t = {};

	k->dev = GET(super_block, sb, s_dev);
	k->ino = GET(inode, i, i_ino);
	k->size = GET(inode, i, i_size);
	if (bpf_core_field_exists(struct inode___6_11, i_ctime_sec)) {
		k->ctime = GET(inode___6_11, i, i_ctime_sec);
		k->ctime_ns = GET(inode___6_11, i, i_ctime_nsec) & CTIME_NS_MASK;
		return;
	}
	bpf_probe_read_kernel(&t, sizeof(t), (void *)(i +
		(bpf_core_field_exists(struct inode___6_6, __i_ctime) ?
		 OFFSET(inode___6_6, __i_ctime) :
		 OFFSET(inode___5_10, i_ctime))));
	k->ctime = t.tv_sec;
	k->ctime_ns = t.tv_nsec;
}

static __always_inline void probe_key(__u64 file, struct file_key *k)
{
	__u64 i = (__u64)GET(file, file, f_inode);
	__u64 sb = (__u64)GET(inode, i, i_sb);

	probe_near_key(file, k);
	k->generation = GET(inode, i, i_generation);
	k->magic = GET(super_block, sb, s_magic);
}

static __always_inline int probe_read(__u64 mm, __u64 vma, __u64 addr,
				      struct mapping *m, __u64 *scratch)
{
	__u64 file, pgoff;
	__u32 seq;

	if (vma < 4096)
		return 0;
	seq = probe_lock_seq(vma);
	if (!probe_vma(vma, scratch) ||
	    WORD(OFFSET(vm_area_struct, vm_mm)) != mm)
		return 0;
	m->start = WORD(OFFSET(vm_area_struct, vm_start));
	m->end = WORD(OFFSET(vm_area_struct, vm_end));
	pgoff = WORD(OFFSET(vm_area_struct, vm_pgoff));
	m->off = pgoff << page_shift;
	if (addr < m->start || addr >= m->end)
		return 0;
	m->exec = (WORD(OFFSET(vm_area_struct, vm_flags)) & VM_EXEC) != 0;
	file = WORD(OFFSET(vm_area_struct, vm_file));
	m->file = file;
	m->has_file = file != 0;
	if (file)
		probe_key(file, &m->key);
	m->busy = HAS_VMA_LOCK && (seq == probe_u32(mm + MM_LOCK_SEQ) ||
				   seq != probe_lock_seq(vma));
	return probe_vma(vma, scratch) &&
	       WORD(OFFSET(vm_area_struct, vm_mm)) == mm &&
	       WORD(OFFSET(vm_area_struct, vm_start)) == m->start &&
	       WORD(OFFSET(vm_area_struct, vm_end)) == m->end &&
	       WORD(OFFSET(vm_area_struct, vm_pgoff)) == pgoff &&
	       WORD(OFFSET(vm_area_struct, vm_file)) == file;
}

static __always_inline __u64 probe_find(__u64 mm, __u64 addr, __u64 *scratch)
{
	if (bpf_core_field_exists(struct mm_struct___maple, mm_mt))
		return probe_maple_find(
			(__u64)GET(mm_struct___maple, mm, mm_mt.ma_root), addr,
			NULL, scratch);
	return probe_rb_find((__u64)GET(mm_struct___rb, mm, mm_rb.rb_node),
			     addr, NULL, scratch);
}

/* ------------------------------------------------------------------------- */

/*
 * Fill *m with the mapping of mm (a struct mm_struct *) that holds addr.
 * scratch: VMA_SCRATCH_WORDS words.  Returns 0 when there is none.
 */
static __always_inline int vma_lookup(__u64 mm, __u64 addr, struct mapping *m,
				      __u64 *scratch)
{
	if (bpf_rdonly_cast) {
		__u64 root = (__u64)AS(mm_struct___maple, mm)->mm_mt.ma_root;

		return typed_read(mm, typed_maple_find(root, addr, NULL), addr, m);
	}
	return probe_read(mm, probe_find(mm, addr, scratch), addr, m, scratch);
}

/*
 * One step of a walk down all mappings: as vma_lookup(), and *next is the address of the
 * next step; 0: there is nothing further down.  A gap is a step of its own since 6.1.
 */
static __always_inline int vma_down(__u64 mm, __u64 addr, struct mapping *m,
				    __u64 *scratch, __u64 *next)
{
	__u64 low = 0, vma;
	int found;

	if (bpf_rdonly_cast) {
		vma = (__u64)AS(mm_struct___maple, mm)->mm_mt.ma_root;
		found = typed_read(mm, typed_maple_find(vma, addr, &low), addr, m);
	} else if (bpf_core_field_exists(struct mm_struct___maple, mm_mt)) {
		vma = (__u64)GET(mm_struct___maple, mm, mm_mt.ma_root);
		vma = probe_maple_find(vma, addr, &low, scratch);
		found = probe_read(mm, vma, addr, m, scratch);
	} else {
		vma = (__u64)GET(mm_struct___rb, mm, mm_rb.rb_node);
		vma = probe_rb_find(vma, addr, &low, scratch);
		found = probe_read(mm, vma, addr, m, scratch);
	}
	if (found)
		low = m->start;
	*next = low && low <= addr ? low - 1 : 0;
	return found;
}

/* The key of an open file (a struct file *). */
static __always_inline void file_key_of(__u64 file, struct file_key *k)
{
	if (bpf_rdonly_cast)
		typed_key(file, k);
	else
		probe_key(file, k);
}

/* ... without generation and magic, which stay as they are. */
static __always_inline void near_key_of(__u64 file, struct file_key *k)
{
	if (bpf_rdonly_cast)
		typed_near_key(file, k);
	else
		probe_near_key(file, k);
}

/*
 * Is the path of an open file the host's?  1 if it was opened through a mount of a mount
 * namespace that belongs to the host's user namespace: there only the host's root can
 * mount, while in a user namespace of their own users can make any path lead to any file.
 * The mount decides, not the process, as descriptors can be passed on.  A mount of no
 * namespace (internal to the kernel: NULL or an error; detached) has no path.
 */
static __always_inline __u32 host_path(__u64 file)
{
	__u64 mnt = (__u64)KLOAD(file, file, f_path.mnt), ns, user;

	if (!mnt)
		return 0;
	ns = (__u64)KLOAD(mount, mnt - OFFSET(mount, mnt), mnt_ns);
	if (!ns || ns > -4096ULL)
		return 0;
	user = (__u64)KLOAD(mnt_namespace, ns, user_ns);
	return user && !KLOAD(user_namespace, user, level);
}

/* Were all mounts that a task sees made by the host's root?  As in host_path(). */
static __always_inline __u32 host_mounts(__u64 task)
{
	__u64 ns = (__u64)KLOAD(task_struct, task, nsproxy), user;

	if (ns)		/* NULL: it is about to end */
		ns = (__u64)KLOAD(nsproxy, ns, mnt_ns);
	user = ns ? (__u64)KLOAD(mnt_namespace, ns, user_ns) : 0;
	return user && !KLOAD(user_namespace, user, level);
}

/* A task's number in its own PID namespace, the innermost; 0: unknown. */
static __always_inline __u32 own_number(__u64 task)
{
	__u64 pid = (__u64)KLOAD(task_struct, task, thread_pid);
	__u64 level;

	if (!pid)
		return 0;
	level = KLOAD(pid, pid, level);
	return KLOAD(upid, pid + OFFSET(pid, numbers) +
			   level * bpf_core_type_size(struct upid), nr);
}

#endif /* BPF_VMA_BPF_H */
