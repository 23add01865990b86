/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * list - the executable mappings of files, of processes that need not run now
 *
 * By an iterator over tasks, each of whose mappings are walked without their lock, as a
 * sample does (vma.bpf.h).  The kernel's own iterator over mappings (iter/task_vma) waits
 * for a process's mmap lock, and a process can keep that for ever.
 */
#ifndef BPF_LIST_BPF_H
#define BPF_LIST_BPF_H

#include "filter.bpf.h"
#include "requests.bpf.h"
#include "vma.bpf.h"

#define LIST_STEPS	256	/* down at a time: mappings and gaps */
#define LIST_WALK	8192	/* ... of a process */
#define LIST_NS		250000000ULL	/* time of a list */
/* Files of a process at most.  What is written for one task must fit into 8 pages, or the
 * whole list ends there (kernel/bpf/bpf_iter.c, bpf_seq_read(), 5.10 to 7.3). */
#define LIST_TASK	336
#define LIST_SOME	8	/* ... in one write, of which the verifier follows each by itself */
_Static_assert(LIST_TASK % LIST_SOME == 0, "list_files: whole writes");
_Static_assert(LIST_TASK / LIST_SOME * LIST_STEPS >= LIST_WALK, "list_files: of a whole process");
_Static_assert((LIST_TASK + 1) * sizeof(struct request_file) < 8 * 4096, "list_files: one task");

__u32 list_tgid;		/* set by loaderd: list this process alone, or LIST_ALL */

/* The walk at hand.  There is one reader, loaderd; a sample may interrupt it. */
static struct listing {
	__u64 mm, at;		/* at 0: it has ended */
	__u64 session, begin_ns;	/* of this list */
	__u32 steps;		/* of this process */
	__u64 then;		/* not 0: where it goes on after the program's own file */
	__u64 vma[VMA_SCRATCH_WORDS];
	struct mapping m;
	struct request_file task;	/* of the process itself, without a file */
	__u32 n;
	struct request_file found[LIST_SOME];
} listing;

/* The super block of a task's root; 0: the task is about to end. */
static __always_inline __u64 root_super(__u64 task)
{
	__u64 fs = (__u64)KLOAD(task_struct, task, fs);

	if (fs)
		fs = (__u64)KLOAD(fs_struct, fs, root.mnt);
	return fs ? (__u64)KLOAD(vfsmount, fs, mnt_sb) : 0;
}

/* Of request_file, for a task of the list; the reader is loaderd. */
static __always_inline __u32 root_magic(__u64 task)
{
	__u64 root = root_super(task);

	if (!root || !host_mounts(task))
		return 0;
	if (root == root_super(bpf_get_current_task()))
		return ROOT_OURS;
	return KLOAD(super_block, root, s_magic);
}

/* One step down, to listing.found[listing.n] if that is for the list. */
__weak __noinline int list_look(void)
{
	struct request_file *r = &listing.found[listing.n & (LIST_SOME - 1)];
	__u64 next = 0;
	int found = vma_down(listing.mm, listing.at, &listing.m, listing.vma, &next);

	if (listing.then)
		next = listing.then;
	listing.then = 0;
	listing.at = next;
	listing.steps++;
	if (!found || !listing.m.exec || !listing.m.has_file)
		return 0;
	*r = listing.task;
	r->start = listing.m.start;
	r->end = listing.m.end;
	r->key = listing.m.key;
	r->ask = ask_bits_of(listing.m.file);
	listing.n++;
	return 0;
}

/* Some steps, until there are enough for one write.  Returns their number. */
__weak __noinline int list_some(void)
{
	listing.n = 0;
	for (int i = 0; i < LIST_STEPS; i++) {
		if (!listing.at || listing.steps >= LIST_WALK || listing.n >= LIST_SOME)
			break;
		list_look();
	}
	return listing.n;
}

/* Is a task one for the list?  late: there is no time left. */
static __always_inline int list_wants(struct task_struct *t, int late)
{
	if (t->pid != t->tgid || (t->flags & PF_KTHREAD))
		return 0;
	if (list_tgid != LIST_ALL && t->tgid != list_tgid)	/* before 6.1 all tasks come */
		return 0;
	if (late)
		return 0;
	return filter.kind == FILTER_ALL || passes_filter((__u64)t) ||
	       (filter.kind == FILTER_BELOW && (__u64)t->tgid == filter.id[0]);
}

/* Begin with a task.  0: it has no memory. */
static __always_inline int list_begin(struct task_struct *t)
{
	struct request_file *n = &listing.task;
	__u64 cred;

	listing.mm = (__u64)KLOAD(task_struct, t, mm);
	if (!listing.mm)
		return 0;
	listing.at = (__u64)KLOAD(mm_struct, listing.mm, start_code);
	listing.then = (__u64)KLOAD(mm_struct, listing.mm, start_stack);
	listing.steps = 0;
	cred = (__u64)KLOAD(task_struct, t, cred);
	*n = (struct request_file){ .kind = REQUEST_FILE };
	n->process = (struct process_id){ t->start_boottime, t->tgid, t->self_exec_id };
	n->uid = KLOAD(cred, cred, uid.val);
	n->runs = t->on_rq != 0;
	n->ns_tgid = own_number((__u64)t);
	n->root_magic = root_magic((__u64)t);
	return 1;
}

/* Of one process itself, without a file.  Then every executable mapping of a file, of all
 * processes that are sampled, and of a command's launcher, which maps in advance what the
 * command will.  The program, then from the stack downwards. */
SEC("iter/task")
int list_files(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	__u64 now = bpf_ktime_get_ns();

	if (listing.session != ctx->meta->session_id) {
		listing.session = ctx->meta->session_id;
		listing.begin_ns = now;
	}
	if (!t || !list_wants(t, now - listing.begin_ns > LIST_NS) || !list_begin(t))
		return 0;
	if (list_tgid != LIST_ALL)	/* that it is there, whatever the walk meets */
		bpf_seq_write(ctx->meta->seq, &listing.task, sizeof(listing.task));
	for (int i = 0; i < LIST_TASK / LIST_SOME; i++) {
		__u64 bytes;

		if (!listing.at || listing.steps >= LIST_WALK)
			break;
		bytes = list_some() * sizeof(listing.found[0]);
		asm volatile("" : "+r"(bytes));		/* keep this check for the verifier: */
		if (bytes > sizeof(listing.found))
			break;
		bpf_seq_write(ctx->meta->seq, listing.found, bytes);
	}
	return 0;
}

#endif /* BPF_LIST_BPF_H */
