/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_machine - the whole sampler on the host, with maps that remember, one process
 * after the other, a ring that may be full, and a hub that may be new
 */
#ifndef TESTS_SAMPLER_MACHINE_H
#define TESTS_SAMPLER_MACHINE_H

#ifdef __aarch64__
#define __TARGET_ARCH_arm64
#endif
/* mappings have a lock, as from Linux 6.4 on */
#define bpf_core_field_exists(type, field)	FLAVOR_IS(type, vm_area_struct___seq)
#include "bpf/host_kernel.h"

/* Sizes of key and value are those of what it is given. */
static long machine_update(void *map, const void *key, __u32 key_size, const void *value,
			   __u32 value_size);
#define bpf_map_update_elem(map, key, value, flags)			\
	((void)(flags), machine_update((map), (key), sizeof(*(key)), (value), sizeof(*(value))))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "bpf/sampler.bpf.c"
#pragma GCC diagnostic pop

#include <errno.h>

#include "tests/unit/harness.h"
#include "tests/unit/python_process.h"

#define STACK		0x7ffc00000000ULL
#define STACK_BYTES	65536
#define SP		(STACK + 0x800)
#define FP		(STACK + 0x1000)
#define PROGRAM		0x400000ULL	/* has a table */
#define PYTHON		0x500000ULL	/* CPython's file */
#define UNKNOWN		0x1000000ULL	/* the first mapping of a file without a number */
#define UNKNOWN_N	12
#define MAPPINGS	(2 + UNKNOWN_N)
#define MAPPING_BYTES	0x20000ULL

#define TABLE_AT	(2u << SLAB_SHIFT)
enum { RULE_FACTS = 2, RULE_OF_LOOP, RULE_CALLED };	/* rule numbers */

static __u64 stack[STACK_BYTES / 8];
static __u64 now;
static __u32 tgid, uid;
static bool ring_full, requests_full;
static void (*on_read)(void);		/* once, at the next read of the stack */

/* --- the kernel's ------------------------------------------------------------------ */

struct host_file {
	struct file file;
	struct super_block sb;
	char inode[512];
};

static struct host_file host_files[MAPPINGS];
static struct file_entry entries[2];	/* PROGRAM's and PYTHON's */
static char mm[1024], vmas[MAPPINGS][512], kn[1024];
static struct task_struct task;
static struct css_set css;
static struct cgroup group;
static struct scratch state;
static struct cpu_counts counted;
static struct remembered_rules remembered;
static union element slab[3][SLAB_ELEMENTS];

static __u32 *vma_seq(int i)
{
	return (__u32 *)(vmas[i] + 2 * FLAVOR_AT);
}

static void map_file(int i, __u64 start)
{
	struct inode *inode = (void *)host_files[i].inode;

	host_files[i].sb = (struct super_block){ 1, 0xef53 };
	*inode = (struct inode){ &host_files[i].sb, 1 + (unsigned long)i, 0, 1 << 20 };
	host_files[i].file.f_inode = inode;
	*(struct vm_area_struct *)vmas[i] = (struct vm_area_struct){
		start, start + MAPPING_BYTES, 0, VM_EXEC | 1, &host_files[i].file,
		(void *)mm,
	};
	*vma_seq(i) = 6;
}

static void make_tables(void)
{
	__u64 root = made.root - PYTHON;

	slab[0][RULE_FACTS / 2].rule[RULE_FACTS & 1] = (struct unwind_rule){
		.cfa = CFA_RUNTIME, .cfa_off = (__s32)py.version,
		.ra_off = (__s32)root, .fp_off = (__s32)(root >> 32),
	};
	slab[0][RULE_OF_LOOP / 2].rule[RULE_OF_LOOP & 1] = (struct unwind_rule){
		.cfa = CFA_END, .by_fp = RULE_LOOP,
	};
	slab[0][RULE_CALLED / 2].rule[RULE_CALLED & 1] = (struct unwind_rule){
		.cfa = CFA_SP, .cfa_off = 16, .ra_off = -8,
	};
	slab[2][0].dir[0].rule_before = RULE_CALLED;
	slab[2][1].dir[0].rule_before = RULE_FACTS;
	slab[2][1].dir[1].rule_before = RULE_OF_LOOP;
	entries[0] = (struct file_entry){ .exe = EXE_FIRST, .dir = TABLE_AT, .pages = 2,
					  .state = FILE_TABLE };
	entries[1] = (struct file_entry){ .exe = EXE_FIRST + 1, .dir = TABLE_AT + 1,
					  .pages = 2, .state = FILE_TABLE,
					  .runtime = RUNTIME_PYTHON };
}

/* Mappings, each to the right of the one below it. */
static void make_mappings(void)
{
	struct rb_node **link = &((struct mm_struct___rb *)(mm + 2 * FLAVOR_AT))->mm_rb.rb_node;

	map_file(0, PROGRAM);
	map_file(1, PYTHON);
	for (int i = 2; i < MAPPINGS; i++)
		map_file(i, UNKNOWN + (__u64)(i - 2) * MAPPING_BYTES);
	for (int i = 0; i < MAPPINGS; i++) {
		struct rb_node *node = (void *)(vmas[i] + FLAVOR_AT);

		*node = (struct rb_node){ NULL, NULL };
		*link = node;
		link = &node->rb_right;
	}
	*(int *)(mm + 3 * FLAVOR_AT) = 7;	/* mm_lock_seq: nothing is written */
}

/* --- maps: lists of what was put into them ------------------------------------------ */

struct entry {
	void *map;
	__u64 key_size;
	char key[64], value[256];	/* aligned */
};

static struct entry kept[16384];
static int n_kept;

static struct entry *kept_of(void *map, const void *key)
{
	for (int i = 0; i < n_kept; i++) {
		if (kept[i].map == map && !memcmp(kept[i].key, key, kept[i].key_size))
			return &kept[i];
	}
	return NULL;
}

static long machine_update(void *map, const void *key, __u32 key_size, const void *value,
			   __u32 value_size)
{
	struct entry *e = kept_of(map, key);

	CHECK(key_size <= sizeof(e->key) && value_size <= sizeof(e->value));
	if (!e) {
		CHECK(n_kept < 16384);
		e = &kept[n_kept++];
		e->map = map;
		e->key_size = key_size;
		memcpy(e->key, key, key_size);
	}
	memcpy(e->value, value, value_size);
	return 0;
}

long bpf_map_delete_elem(void *map, const void *key)
{
	struct entry *e = kept_of(map, key);

	if (!e)
		return -ENOENT;
	*e = kept[--n_kept];
	return 0;
}

static unsigned int n_lookups;		/* in `files` */
static bool dropped;			/* ... nothing is there */

static struct file_entry *file_of(const struct file_key *key)
{
	n_lookups++;
	if (dropped)
		return NULL;
	if (key->magic != 0xef53 || key->ino > 2)
		return NULL;
	return &entries[key->ino - 1];
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	struct entry *e;

	if (map == &scratch_map)
		return &state;
	if (map == &remembered_rules)
		return &remembered;
	if (map == &counts)
		return &counted;
	if (map == &files)
		return file_of(key);
	if (map == &slabs)
		return *(const __u32 *)key < 3 ? slab[*(const __u32 *)key] : NULL;
	for (int i = 0; i < 3; i++) {
		if (map == slab[i])
			return &slab[i][*(const __u32 *)key];
	}
	e = kept_of(map, key);
	return e ? e->value : NULL;
}

/* --- what leaves ----------------------------------------------------------------------- */

static unsigned int n_requests, n_lists, n_cgroups, n_names, n_managed;
static __u64 sent[REC_WORDS];		/* user frames of the last record */
static __u32 n_sent;

static void take_record(const struct trace_rec *r)
{
	n_names = n_managed = 0;
	n_sent = r->n_user;
	memcpy(sent, r->words, 8 * n_sent);
	for (__u32 i = 0; i < n_sent; i += 1 + FRAME_MORE(sent[i])) {
		__u64 w = sent[i];

		if (FRAME_KIND(w) == FRAME_MANAGED)
			n_managed++;
		if (FRAME_KIND(w) == FRAME_TEXT && TEXT_WHICH(FRAME_NUMBER(w)) == TEXT_NAME)
			n_names++;
		/* padded with NULs, not with the text before it */
		if (FRAME_KIND(w) == FRAME_TEXT && TEXT_WHICH(FRAME_NUMBER(w)) == TEXT_LINES)
			CHECK(!memcmp(&sent[i + 1], "lines\0\0", 8));
	}
}

long bpf_ringbuf_output(void *to, void *data, __u64 size, __u64 flags)
{
	const struct request_file *q = data;

	(void)flags, (void)size;
	if (to == &ring) {
		take_record(data);
		return ring_full ? -EAGAIN : 0;
	}
	CHECK(to == &requests);
	if (requests_full)
		return -EAGAIN;
	if (q->kind == REQUEST_CGROUP) {
		n_cgroups++;
		return 0;
	}
	CHECK_EQ(q->process.tgid, tgid);
	CHECK(q->process.start_ns == task.start_boottime && q->process.exec_id == (__u32)task.self_exec_id);
	CHECK_EQ(q->uid, uid);
	n_requests++;
	if (q->kind == REQUEST_LIST)
		n_lists++;
	return 0;
}

/* --- the helpers that only read ---------------------------------------------------------- */

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 at = (uintptr_t)src;

	if (at - STACK < STACK_BYTES && on_read) {
		on_read();
		on_read = NULL;
	}
	memset(dst, 0, size);
	if (at >= STACK && at - STACK <= STACK_BYTES - size)
		memcpy(dst, (char *)stack + (at - STACK), size);
	else if (at >= BASE && at - BASE <= SIZE - size)
		memcpy(dst, memory + (at - BASE), size);
	else
		return -EFAULT;
	return 0;
}

__u64 bpf_ktime_get_ns(void)
{
	return now;
}

__u64 bpf_get_current_pid_tgid(void)
{
	return (__u64)tgid << 32 | tgid;
}

__u64 bpf_get_current_uid_gid(void)
{
	return uid;
}

#include "tests/unit/idle_kernel.h"

/* --- samples ------------------------------------------------------------------------------ */

/* A machine on which nothing was sampled yet. */
static void begin_machine(void)
{
	make(12, UINT32_MAX);
	make_tables();
	make_mappings();
	memset(stack, 0, sizeof(stack));
	memset(&counted, 0, sizeof(counted));
	memset(&remembered, 0, sizeof(remembered));
	n_kept = 0;
	n_requests = n_lists = n_cgroups = n_lookups = 0;
	dropped = false;
	memset(begun, 0, sizeof(begun));
	ring_full = requests_full = false;
	on_read = NULL;
	asked_since = 0;
	now = 1000000000000ULL;
	tgid = 77;
	uid = 1000;
	((struct mm_struct *)mm)->exe_file = &host_files[0].file;
	((struct mm_struct *)mm)->start_stack = STACK + STACK_BYTES - 4096;
	group.kn = (void *)kn;
	css.dfl_cgrp = &group;
	task = (struct task_struct){ .mm = (void *)mm, .group_leader = &task,
				     .start_boottime = 5, .cgroups = &css };
#ifdef __TARGET_ARCH_arm64
	task.thread.uw.tp_value = TP;
#else
	task.thread.fsbase = TP;
#endif
}

static void sample_at(__u64 pc, __u64 fp)
{
	struct bpf_perf_event_data ctx;

	memset(&ctx, 0, sizeof(ctx));
#ifdef __TARGET_ARCH_arm64
	ctx.regs.pc = pc;
	ctx.regs.sp = SP;
	ctx.regs.regs[29] = fp;
#else
	ctx.regs.cs = 0x33;
	ctx.regs.rip = pc;
	ctx.regs.rsp = SP;
	ctx.regs.rbp = fp;
#endif
	sample(&ctx);
}

#endif /* TESTS_SAMPLER_MACHINE_H */
