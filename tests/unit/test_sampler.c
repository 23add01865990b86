// SPDX-License-Identifier: Apache-2.0
/*
 * What the sampler keeps from one sample to the next, and what it gives up when there
 * is no room: the whole sampler on the host, with maps that remember, one process after
 * the other, a ring that may be full, and a hub that may be new.
 */
#ifdef __aarch64__
#define __TARGET_ARCH_arm64
#endif
/* mappings have a lock, as from Linux 6.4 on */
#define bpf_core_field_exists(type, field)	FLAVOR_IS(type, vm_area_struct___seq)
#include "bpf/host_kernel.h"

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

/* Files that no sample has met. */
static void new_files(void)
{
	static unsigned long last = 1000;

	for (int i = 2; i < MAPPINGS; i++)
		((struct inode *)host_files[i].inode)->i_ino = ++last;
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
	char key[sizeof(struct named_key)], value[sizeof(struct jit_owner)];
};

static struct entry kept[16384];
static int n_kept;

static size_t key_size(void *map)
{
	if (map == &named)
		return sizeof(struct named_key);
	return map == &jits ? sizeof(struct process_id) : sizeof(__u64);
}

static struct entry *kept_of(void *map, const void *key)
{
	for (int i = 0; i < n_kept; i++) {
		if (kept[i].map == map && !memcmp(kept[i].key, key, key_size(map)))
			return &kept[i];
	}
	return NULL;
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	struct entry *e = kept_of(map, key);
	size_t size = sizeof(__u64);

	(void)flags;
	if (map == &shares)
		size = sizeof(struct share);
	else if (map == &jits)
		size = sizeof(struct jit_owner);
	else
		CHECK(map == &asked || map == &named);
	if (!e) {
		CHECK(n_kept < 16384);
		e = &kept[n_kept++];
		e->map = map;
		memcpy(e->key, key, key_size(map));
	}
	memcpy(e->value, value, size);
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

static struct file_entry *file_of(const struct file_key *key)
{
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

long bpf_probe_read_kernel(void *dst, __u32 size, const void *src)
{
	memset(dst, 0, size);
	if ((uintptr_t)src < 65536)
		return -EFAULT;
	memcpy(dst, src, size);
	return 0;
}

long bpf_probe_read_kernel_str(void *dst, __u32 size, const void *src)
{
	return bpf_probe_read_kernel(dst, size, src);
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
	n_requests = n_lists = n_cgroups = 0;
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

/* In CPython's loop, with FRAMES functions. */
static void sample_python(void)
{
	sample_at(PYTHON + 0x10010, 0);
	CHECK_EQ(n_managed, FRAMES);
}

/* A stack with a frame in each of the mappings of files without a number. */
static void sample_unknown(void)
{
	for (__u64 i = 0; i < UNKNOWN_N - 1; i++) {
		__u64 *pair = &stack[(FP - STACK) / 8 + 4 * i];

		pair[0] = i < UNKNOWN_N - 2 ? FP + 32 * (i + 1) : 0;
		pair[1] = UNKNOWN + (i + 1) * MAPPING_BYTES + 0x100;
	}
	sample_at(UNKNOWN + 0x100, FP);
	CHECK_EQ(n_sent, UNKNOWN_N * (1 + KEY_WORDS));
}

/* --- names ---------------------------------------------------------------------------------- */

TEST(names_are_sent_once)
{
	begin_machine();
	sample_python();
	CHECK_EQ(n_names, FRAMES);
	now += NAMED_NS - 1;
	sample_python();
	CHECK_EQ(n_names, 0);
	now++;
	sample_python();
	CHECK_EQ(n_names, FRAMES);
	/* another process, with the same numbers for other functions */
	tgid++;
	sample_python();
	CHECK_EQ(n_names, FRAMES);
	task.self_exec_id++;
	sample_python();
	CHECK_EQ(n_names, FRAMES);
	sample_python();
	CHECK_EQ(n_names, 0);
}

TEST(names_of_a_lost_record_go_with_the_next)
{
	begin_machine();
	ring_full = true;
	sample_python();
	sample_python();
	CHECK_EQ(counted.n[BPF_RING_FULL], 2);
	CHECK_EQ(counted.n[BPF_SENT], 0);
	ring_full = false;
	sample_python();
	CHECK_EQ(n_names, FRAMES);
	sample_python();
	CHECK_EQ(n_names, 0);
	/* one without names takes none away */
	ring_full = true;
	sample_python();
	ring_full = false;
	sample_python();
	CHECK_EQ(n_names, 0);
	CHECK_EQ(counted.n[BPF_TAKEN], 6);
	CHECK_EQ(counted.n[BPF_SENT], 3);
}

TEST(a_new_hub_gets_all_names)
{
	begin_machine();
	sample_python();
	now += 1000;
	asked_since = now;
	sample_python();
	CHECK_EQ(n_names, FRAMES);
	sample_python();
	CHECK_EQ(n_names, 0);
}

/* --- requests -------------------------------------------------------------------------------- */

TEST(a_file_is_asked_for_once_in_a_while)
{
	__u64 known;

	begin_machine();
	for (int i = 3; i < MAPPINGS; i++)	/* all the same */
		((struct inode *)host_files[i].inode)->i_ino =
			((struct inode *)host_files[2].inode)->i_ino;
	sample_unknown();
	CHECK_EQ(n_requests, 1);
	CHECK_EQ(n_cgroups, 1);
	now += ASK_NS - 1;
	sample_unknown();
	CHECK_EQ(n_requests, 1);
	CHECK_EQ(n_cgroups, 1);
	now++;
	sample_unknown();
	CHECK_EQ(n_requests, 2);
	CHECK_EQ(n_cgroups, 2);
	/* loaderd says that the hub knows */
	for (int i = 0; i < n_kept; i++) {
		known = now | ASKED_KNOWN;
		if (kept[i].map == &asked)
			memcpy(kept[i].value, &known, sizeof(known));
	}
	now += 100 * ASK_NS;
	sample_unknown();
	CHECK_EQ(n_requests, 2);
	CHECK_EQ(n_cgroups, 2);
	/* ... but not the next one */
	asked_since = now;
	sample_unknown();
	CHECK_EQ(n_requests, 3);
	CHECK_EQ(n_cgroups, 3);
	CHECK_EQ(counted.n[BPF_REQUEST_FULL], 0);
}

TEST(a_sample_asks_for_so_many_files)
{
	begin_machine();
	sample_unknown();
	CHECK_EQ(n_requests, SHARE_SAMPLE);
	CHECK_EQ(n_lists, 1);
	CHECK_EQ(counted.n[BPF_REQUEST_FULL], UNKNOWN_N - SHARE_SAMPLE);
	/* the next one asks for the others */
	sample_unknown();
	CHECK_EQ(n_requests, UNKNOWN_N);
	CHECK_EQ(n_lists, 1);
	sample_unknown();
	CHECK_EQ(n_requests, UNKNOWN_N);
}

/* A process with ever new files: what it asked for in one second. */
static unsigned int greedy(void)
{
	unsigned int before = n_requests;

	for (int i = 0; i < 40; i++) {
		new_files();
		sample_unknown();
	}
	return n_requests - before;
}

TEST(a_greedy_process_asks_for_its_share)
{
	begin_machine();
	CHECK_EQ(greedy(), SHARE_SECOND);
	CHECK_EQ(counted.n[BPF_REQUEST_FULL], 40 * UNKNOWN_N - SHARE_SECOND);
	now += SHARE_NS - 1;
	CHECK_EQ(greedy(), 0);
	now++;
	CHECK_EQ(greedy(), SHARE_SECOND);
	CHECK_EQ(n_lists, 2);
	/* all processes of a user together, and not those of another one */
	now += SHARE_NS;
	for (unsigned int n = 0; n < SHARE_USER; n += SHARE_SECOND, tgid++)
		CHECK_EQ(greedy(), SHARE_SECOND);
	CHECK_EQ(greedy(), 0);
	uid++;
	CHECK_EQ(greedy(), SHARE_SECOND);
	/* uids of one range of subordinate ones are one user */
	now += SHARE_NS;
	uid = 3 * OWNER_UIDS;
	for (unsigned int n = 0; n < SHARE_USER; n += SHARE_SECOND, tgid++, uid += 100)
		CHECK_EQ(greedy(), SHARE_SECOND);
	tgid++;
	CHECK_EQ(greedy(), 0);
	uid = 4 * OWNER_UIDS;
	CHECK_EQ(greedy(), SHARE_SECOND);
}

/* Of a user's processes with new files, so many a second have all their mappings listed. */
TEST(a_user_has_a_share_of_the_lists)
{
	begin_machine();
	for (int i = 0; i < SHARE_LISTS + 4; i++, tgid++) {
		new_files();
		sample_unknown();
	}
	CHECK_EQ(n_requests, (SHARE_LISTS + 4) * SHARE_SAMPLE);
	CHECK_EQ(n_lists, SHARE_LISTS);
	CHECK_EQ(counted.n[BPF_REQUEST_FULL], (SHARE_LISTS + 4) * (UNKNOWN_N - SHARE_SAMPLE) + 4);
	uid++;
	new_files();
	sample_unknown();
	CHECK_EQ(n_lists, SHARE_LISTS + 1);
}

TEST(requests_without_room_are_counted)
{
	begin_machine();
	requests_full = true;
	sample_unknown();
	CHECK_EQ(n_requests, 0);
	/* of all its frames, and of its cgroup */
	CHECK_EQ(counted.n[BPF_REQUEST_FULL], UNKNOWN_N + 1);
	requests_full = false;
	now += ASK_NS;
	sample_unknown();
	CHECK_EQ(n_requests, SHARE_SAMPLE);
	CHECK_EQ(n_cgroups, 1);
}

/* --- mappings -------------------------------------------------------------------------------- */

/* What wrote to the mapping of PROGRAM is done. */
static void written(void)
{
	*vma_seq(0) = 6;
	((struct vm_area_struct *)vmas[0])->vm_pgoff = 2;
}

/* Two frames in one mapping, the second one there, which is written between them:
 * where in the file is the second one said to be? */
static __u64 second_place(bool busy, __u64 there)
{
	begin_machine();
	if (busy)
		*vma_seq(0) = 7;	/* as mm_lock_seq */
	stack[(SP - STACK) / 8 + 1] = PROGRAM + there + 1;
	on_read = written;
	sample_at(PROGRAM + 0x200, 0);
	CHECK_EQ(n_sent, 2);
	CHECK_EQ(sent[0], FRAME_WORD(FRAME_NATIVE, EXE_FIRST, 0x200));
	CHECK_EQ(FRAME_NUMBER(sent[1]), EXE_FIRST);
	return FRAME_PLACE(sent[1]);
}

TEST(a_mapping_that_is_being_written_is_not_remembered)
{
	CHECK_EQ(second_place(true, 0x300), 0x2300);
	CHECK_EQ(second_place(true, 0x201), 0x2201);
	CHECK_EQ(second_place(true, 0x1ff), 0x21ff);
	/* any other is looked up once in a sample */
	CHECK_EQ(second_place(false, 0x300), 0x300);
	CHECK_EQ(second_place(false, 0x1ff), 0x1ff);
	CHECK_EQ(second_place(false, 0), 0);
	CHECK_EQ(second_place(false, MAPPING_BYTES - 1), MAPPING_BYTES - 1);
}

/* A runtime that a newer hub knows: its code is unwound as native code, and counted. */
TEST(mappings_of_unknown_runtimes_are_counted)
{
	begin_machine();
	sample_at(PROGRAM + 0x200, 0);
	sample_python();
	CHECK_EQ(counted.n[BPF_RUNTIME_UNKNOWN], 0);
	entries[0].runtime = RUNTIME__MAX;
	stack[(SP - STACK) / 8 + 1] = PROGRAM + 0x301;
	sample_at(PROGRAM + 0x200, 0);
	CHECK_EQ(n_sent, 2);
	CHECK_EQ(counted.n[BPF_RUNTIME_UNKNOWN], 1);
}

/* --- moved text ---------------------------------------------------------------------------------- */

#define MOVED_FROM	(UNKNOWN + MAPPING_BYTES)
#define MOVED_TO	(UNKNOWN + 2 * MAPPING_BYTES)
enum { MOVED_BELOW = 2, MOVED, MOVED_ABOVE };	/* mappings */

static struct vm_area_struct *vma_of(int i)
{
	return (void *)vmas[i];
}

/* PROGRAM's file in three mappings; in place of the middle one there is memory of no file. */
static void move_text(void)
{
	begin_machine();
	for (int i = MOVED_BELOW; i <= MOVED_ABOVE; i++) {
		vma_of(i)->vm_file = &host_files[0].file;
		vma_of(i)->vm_pgoff = (vma_of(i)->vm_start - UNKNOWN) >> page_shift;
	}
	vma_of(MOVED)->vm_file = NULL;
	vma_of(MOVED)->vm_pgoff = MOVED_FROM >> page_shift;
}

/* Is it taken for PROGRAM's file? */
static bool is_moved(void)
{
	__u64 anonymous = FRAME_ANON_WORD(MOVED_FROM + 0x123);

	sample_at(MOVED_FROM + 0x123, 0);
	CHECK(n_sent >= 1);
	if (sent[0] == anonymous)
		return false;
	CHECK_EQ(sent[0], FRAME_WORD(FRAME_NATIVE, EXE_FIRST, MAPPING_BYTES + 0x123));
	return true;
}

TEST(moved_text_is_its_files)
{
	move_text();
	CHECK(is_moved());
	/* a file without a number is asked for, by a mapping of its own */
	entries[0].exe = EXE_NONE;
	sample_at(MOVED_FROM + 0x123, 0);
	CHECK_EQ(FRAME_KIND(sent[0]), FRAME_FILE);
	CHECK_EQ(FRAME_PLACE(sent[0]), MAPPING_BYTES + 0x123);
	/* in a segment of its own, as lld makes them, at one end */
	move_text();
	vma_of(MOVED_ABOVE)->vm_pgoff--;
	vma_of(MOVED_ABOVE)->vm_flags = 1;
	CHECK(is_moved());
	move_text();
	vma_of(MOVED_BELOW)->vm_pgoff++;
	vma_of(MOVED_BELOW)->vm_flags = 1;
	CHECK(is_moved());
}

TEST(moved_text_in_a_file_without_a_name)
{
	move_text();
	vma_of(MOVED)->vm_file = &host_files[1].file;
	vma_of(MOVED)->vm_pgoff = 0;
	entries[1].state = FILE_CODE;
	entries[1].pages = 0;
	CHECK(is_moved());
	/* without the others it is as memory of no file */
	vma_of(MOVED_ABOVE)->vm_file = &host_files[9].file;
	CHECK(!is_moved());
}

TEST(code_between_other_mappings_is_not_moved_text)
{
	move_text();
	vma_of(MOVED_ABOVE)->vm_file = &host_files[9].file;
	CHECK(!is_moved());
	move_text();
	vma_of(MOVED_BELOW)->vm_file = NULL;
	CHECK(!is_moved());
	move_text();
	vma_of(MOVED_BELOW)->vm_end--;
	CHECK(!is_moved());
	move_text();
	vma_of(MOVED_ABOVE)->vm_start++;
	CHECK(!is_moved());
	move_text();
	vma_of(MOVED_ABOVE)->vm_pgoff -= 2;
	CHECK(!is_moved());
	move_text();
	vma_of(MOVED_ABOVE)->vm_pgoff++;
	CHECK(!is_moved());
	/* neither end is text */
	move_text();
	vma_of(MOVED_ABOVE)->vm_pgoff--;
	vma_of(MOVED_BELOW)->vm_flags = vma_of(MOVED_ABOVE)->vm_flags = 1;
	CHECK(!is_moved());
}
