// SPDX-License-Identifier: Apache-2.0
/*
 * No word of a target's memory leaves the kernel unless it is an address within
 * an executable mapping of that process, or belongs to a function of CPython: the
 * whole sampler on the host, with tables and rules that an adversary made up, over
 * memory full of other words.
 */
#ifdef __aarch64__
#define __TARGET_ARCH_arm64
#endif
#include "bpf/host_kernel.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "bpf/sampler.bpf.c"
#pragma GCC diagnostic pop

#include <errno.h>

#include "symbolizerd/knowledge/record.h"
#include "tests/unit/any_rule.h"
#include "tests/unit/harness.h"
static __u64 any_word(void);

#include "tests/unit/hotspot_objects.h"
#include "tests/unit/python_objects.h"

#define ROUNDS		40
#define SAMPLES		1500		/* a round */
#define KIB		1024
#define SLABS		4		/* two of rules, two of tables */
#define TABLE_AT	(2u << SLAB_SHIFT)
#define PAGES		8		/* of each table: half a MiB */
#define FACTS		2		/* the rule at place 0 of a file */
#define FACTS_AT	(TABLE_AT + 8000)	/* the rows of its first page */
#define OBJECTS		(96 * KIB)	/* of the heap, its end */
#define METHODS		(128 * KIB)	/* of the heap, its begin */

/* --- the process's memory ----------------------------------------------------- */

enum { NO_FILE = -1, WITH_TABLE, WITHOUT_TABLE, UNKNOWN, ASKED_FOR, FILES };

static const struct region {
	__u64 start, size;
	int file;
	__u64 off;
	int exec;
} regions[] = {
	{ 0x400000, 64 * KIB, WITH_TABLE, 0, 1 },
	{ 0x410000, 64 * KIB, WITH_TABLE, 0x10000, 0 },	/* a gap */
	{ 0x420000, 64 * KIB, WITH_TABLE, 0x20000, 1 },
	{ 0x7f1000000000, 64 * KIB, WITHOUT_TABLE, 0x3000, 1 },
	{ 0x7f1000010000, 64 * KIB, WITHOUT_TABLE, 0x13000, 0 },
	{ 0x7f2000000000, 64 * KIB, UNKNOWN, 0x1000, 1 },
	{ 0x7f2000010000, 64 * KIB, UNKNOWN, 0x11000, 0 },
	{ 0x7f3000000000, 64 * KIB, ASKED_FOR, 0, 1 },
	{ 0x7f4000000000, 64 * KIB, NO_FILE, 0, 1 },	/* of a JIT */
	{ 0x7f4000010000, 256 * KIB, NO_FILE, 0, 0 },	/* heap */
	{ 0x7ffc00000000, 256 * KIB, NO_FILE, 0, 0 },	/* stack */
	{ 0x7ffd00000000, 4 * KIB, NO_FILE, 0, 1 },	/* vDSO */
};
#define REGIONS		(sizeof(regions) / sizeof(*regions))
#define JIT		(&regions[REGIONS - 4])
#define HEAP		(&regions[REGIONS - 3])
#define STACK		(&regions[REGIONS - 2])
#define VDSO		(&regions[REGIONS - 1])

static __u64 *memory[REGIONS];
static int hotspot;		/* the runtime of this round's files */

static const struct region *region_of(__u64 addr)
{
	for (size_t i = 0; i < REGIONS; i++) {
		if (addr - regions[i].start < regions[i].size)
			return &regions[i];
	}
	return NULL;
}

static __u64 inside(const struct region *r)
{
	return r->start + below(r->size);
}

static __u64 code_address(int exec)
{
	const struct region *r;

	do {
		r = &regions[below(REGIONS)];
	} while (r->exec != exec);
	return inside(r);
}

static __u64 any_place(void)
{
	return inside(STACK) & ~7ULL;
}

static __u64 any_thread(void)
{
	return STACK->start + 0x1230 + below(THREADS) * 0xa000;
}

static __u64 secret(void)
{
	const struct region *r = &regions[below(REGIONS)];

	switch (below(6)) {
	case 0:
		return inside(HEAP);
	case 1:		/* kernel, [vsyscall], not canonical */
		return (__u64[]){ 0xffffffff81000000, 0xffffffffff600000,
				  0xffff888000000000, 1ULL << 63 }[below(4)] + below(4096);
	case 2:		/* near a mapping */
		return r->start - 1 - below(64);
	case 3:
		return r->start + r->size + 1 + below(4096);
	default:
		return marked_word();
	}
}

static __u64 any_word(void)
{
	switch (below(16)) {
	case 0 ... 6:
		return code_address(1) & (below(2) ? ~7ULL : ~0ULL);
	case 7 ... 9:
		return inside(STACK) & ~7ULL;
	case 10 ... 11:
		return code_address(0);
	case 12:
		return below(4) ? below(8192) : 0;
	case 13:
		if (hotspot)
			return hs_methods[below(HS_METHODS)];
		return below(4) || !n_objects ? any_thread() : objects[below(n_objects)].at;
	default:
		return secret();
	}
}

/* --- the kernel's ---------------------------------------------------------------- */

static struct host_file {
	struct file file;
	struct super_block sb;
	char inode[512];
	struct file_key key;
	struct file_entry entry;	/* .exe 0: has none */
} host_files[FILES];

static char mm[1024], vmas[REGIONS][512];
static struct task_struct task;
static struct css_set css;
static struct cgroup group;
static char kn[1024];			/* the root's: no parent */
static struct scratch state;
static struct cpu_counts counted;
static struct share shared;
static struct hotspot_vm vm_of_process;
static union element slab[SLABS][SLAB_ELEMENTS];
static struct file_entry vdso_entry;
static int vdso_known;

static void make_file(int i)
{
	struct host_file *h = &host_files[i];
	struct inode *inode = (void *)h->inode;
	struct inode___5_10 *more = (void *)(h->inode + FLAVOR_AT);

	h->sb = (struct super_block){ .s_dev = 0x10 + i, .s_magic = 0xef53 };
	*inode = (struct inode){ &h->sb, 1000 + i, 7, 1 << 20 };
	more->i_ctime = (struct timespec64){ 1700000000 + i, 5 };
	h->file.f_inode = inode;
	h->key = (struct file_key){ 1000 + i, 1 << 20, 1700000000 + i, 5,
				    0x10 + i, 7, 0xef53 };
	if (i != UNKNOWN)
		h->entry = (struct file_entry){
			.exe = 10 + i, .dir = TABLE_AT + 16 * i,
			.pages = i == WITHOUT_TABLE ? 0 : PAGES,
			.runtime = RUNTIME_PYTHON,
			.state = i == ASKED_FOR ? FILE_TABLE | FILE_ASK :
						  FILE_TABLE,
		};
}

/* The tree: each mapping to the right of the one below it. */
static void make_world(void)
{
	struct rb_node **link;

	for (int i = 0; i < FILES; i++)
		make_file(i);
	link = &((struct mm_struct___rb *)(mm + 2 * FLAVOR_AT))->mm_rb.rb_node;
	for (size_t i = 0; i < REGIONS; i++) {
		const struct region *r = &regions[i];
		struct vm_area_struct___rb *node = (void *)(vmas[i] + FLAVOR_AT);

		memory[i] = malloc(r->size);
		*(struct vm_area_struct *)vmas[i] = (struct vm_area_struct){
			r->start, r->start + r->size, r->off >> page_shift,
			r->exec ? VM_EXEC | 1 : 3,
			r->file == NO_FILE ? NULL : &host_files[r->file].file,
			(void *)mm,
		};
		*link = &node->vm_rb;
		link = &node->vm_rb.rb_right;
	}
	((struct mm_struct *)mm)->exe_file = &host_files[WITH_TABLE].file;
	((struct mm_struct *)mm)->start_stack = STACK->start + 200 * KIB;
	((struct mm_struct___ctx *)(mm + FLAVOR_AT))->context.vdso =
		(void *)VDSO->start;
	group.kn = (void *)kn;
	css.dfl_cgrp = &group;
	task = (struct task_struct){ .mm = (void *)mm, .tgid = 77, .pid = 77,
				     .group_leader = &task,
				     .start_boottime = 5, .cgroups = &css };
}

/* --- what leaves ------------------------------------------------------------------ */

static unsigned long frames_of[FRAME__KINDS], refused_mapped, refused_other;
static unsigned long n_requests, n_code_reads;

static void no_mark(const void *data, size_t len)
{
	const __u32 mark = MARK;

	CHECK(!memmem(data, len, &mark, sizeof(mark)));
}

/* Executable memory of this file; a signal trampoline's place may be behind it. */
static int is_code(int file, __u64 place)
{
	for (size_t i = 0; i < REGIONS; i++) {
		if (regions[i].exec && regions[i].file == file && &regions[i] != VDSO &&
		    place - regions[i].off <= regions[i].size)
			return 1;
	}
	return 0;
}

static int file_of_key(const struct file_key *key)
{
	for (int i = 0; i < FILES; i++) {
		if (!memcmp(key, &host_files[i].key, sizeof(*key)))
			return i;
	}
	return NO_FILE;
}

static void check_frame(const __u64 *w)
{
	__u32 kind = FRAME_KIND(*w), exe = FRAME_NUMBER(*w);
	const struct region *r;
	int file;

	CHECK(kind < FRAME__KINDS);
	frames_of[kind]++;
	if (kind == FRAME_MANAGED || kind == FRAME_TEXT) {
		check_managed(w);
		return;
	}
	CHECK_EQ(n_texts, 0);
	CHECK_EQ(FRAME_MORE(*w), kind == FRAME_FILE ? KEY_WORDS : 0);
	switch (kind) {
	case FRAME_LOOP:
	case FRAME_NATIVE:
		if (exe == EXE_VDSO)
			CHECK(FRAME_PLACE(*w) <= VDSO->size);
		else
			CHECK(exe >= 10 && exe < 10 + FILES && is_code(exe - 10, FRAME_PLACE(*w)));
		break;
	case FRAME_FILE:
		file = file_of_key((const void *)(w + 1));
		CHECK(exe == 0 && file != NO_FILE && is_code(file, FRAME_PLACE(*w)));
		break;
	case FRAME_ANON:
		r = region_of(FRAME_ADDR(*w));
		CHECK(r && r->exec && r->file == NO_FILE);
		break;
	case FRAME_GUESS:
		CHECK_EQ(*w, FRAME_GUESS_WORD(STOP_NO_ROW));
		break;
	default:
		CHECK_EQ(*w, (__u64)FRAME_CUT << FRAME_KIND_SHIFT);
	}
}

static void check_record(const struct trace_rec *r, size_t len)
{
	CHECK_EQ(record_check(r, len), RECORD_SAMPLE);	/* the hub would take it */
	CHECK_EQ(r->len, len);
	CHECK_EQ(len, sizeof(*r) + 8 * (r->n_kernel + r->n_user));
	CHECK(len <= RECORD_MAX);
	CHECK_EQ(r->n_kernel, 0);
	CHECK(r->stop < STOP__MAX);
	n_texts = 0;
	for (size_t i = 0; i < r->n_user; i += 1 + FRAME_MORE(r->words[i]))
		check_frame(&r->words[i]);
	CHECK_EQ(n_texts, 0);
}

static void check_request(const struct request_file *q)
{
	const struct region *r = region_of(q->start);
	int file = file_of_key(&q->key);

	n_requests++;
	CHECK(r && r->exec && r->file == file && file != NO_FILE);
	CHECK_EQ(r->start, q->start);
	CHECK_EQ(r->start + r->size, q->end);
}

long bpf_ringbuf_output(void *to, void *data, __u64 size, __u64 flags)
{
	(void)flags;
	no_mark(data, size);
	if (to == &ring) {
		check_record(data, size);
	} else {
		CHECK(to == &requests);
		if (*(__u32 *)data != REQUEST_CGROUP)
			check_request(data);
	}
	return to == &ring && !below(8) ? -EAGAIN : 0;
}

long bpf_map_update_elem(void *map, const void *key, const void *value,
			 __u64 flags)
{
	(void)flags;
	if (map == &rt3_vms)
		memcpy(&vm_of_process, value, sizeof(vm_of_process));
	if (map != &asked && map != &shares && map != &rt0_named)
		return 0;	/* of runtimes: addresses, which stay there */
	no_mark(key, map == &rt0_named ? sizeof(struct named_key) : 8);
	no_mark(value, map == &shares ? sizeof(struct share) : 8);
	return map == &rt0_named && !below(8) ? -ENOMEM : 0;
}

long bpf_map_delete_elem(void *map, const void *key)
{
	if (map == &rt0_named)
		no_mark(key, sizeof(struct named_key));
	return 0;
}

/* --- the helpers that only read ------------------------------------------------------ */

static struct remembered_rules remembered;	/* of this round's tables */
static __u64 long_ago;		/* or not: when names were sent */

void *bpf_map_lookup_elem(void *map, const void *key)
{
	__u32 i = *(const __u32 *)key;

	if (map == &scratch_map)
		return &state;
	if (map == &remembered_rules)
		return &remembered;
	if (map == &counts)
		return &counted;
	if (map == &shares)
		return &shared;
	if (map == &rt0_named)	/* of HotSpot's it says that it was believed */
		return below(3) || hotspot ? NULL : &long_ago;
	if (map == &slabs)
		return i < SLABS ? slab[i] : NULL;
	if (map == &files) {
		int file = file_of_key(key);

		if (file == NO_FILE)
			return vdso_known ? &vdso_entry : NULL;
		return host_files[file].entry.exe ? &host_files[file].entry : NULL;
	}
	for (int s = 0; s < SLABS; s++) {
		if (map == slab[s])
			return i < SLAB_ELEMENTS ? &slab[s][i] : NULL;
	}
	return map == &rt3_vms ? &vm_of_process : NULL;
}

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	const struct region *r = region_of((uintptr_t)src);
	__u64 off = r ? (uintptr_t)src - r->start : 0;

	n_code_reads += size == PYTHON_CODE_BYTES;	/* no other reads so many */
	memset(dst, 0, size);
	if (!r || r->size - off < size)
		return -EFAULT;
	memcpy(dst, (const char *)memory[r - regions] + off, size);
	return 0;
}

__u64 bpf_ktime_get_ns(void)
{
	static __u64 now = 1000000000;

	return now += 1000;
}

__u64 bpf_get_current_pid_tgid(void)
{
	return 77ULL << 32 | 77;
}

__u64 bpf_get_current_uid_gid(void)
{
	return 0;
}

#include "tests/unit/idle_kernel.h"

/* --- the adversary ------------------------------------------------------------------- */

/* Of place 0 a rule that says where the runtime is, of others anything. */
static void any_facts_row(void)
{
	union element *row = &slab[2][FACTS_AT - TABLE_AT + 1];

	memset(&slab[2][FACTS_AT - TABLE_AT], 0xff, sizeof(*row));
	slab[2][FACTS_AT - TABLE_AT].index[0] = 0;
	for (__u32 i = 0; i < ELEMENT_ROWS; i++)
		row->row[i] = (struct unwind_row){ 4096 * i, next_random() };
	row->row[0] = (struct unwind_row){ 0, FACTS };
	row->row[1].low = 1;
	for (int i = 0; i < FILES; i++)
		slab[2][2 * i].dir[0] = (struct dir_entry){ FACTS_AT, 1, next_random() };
}

/* What the adversary says of the runtime: mostly, where it is. */
static struct unwind_rule any_facts(void)
{
	__u64 root = (below(4) ? hotspot ? hs_root : runtime : any_word()) - 0x400000;
	__u32 version = below(4) ? said_version : any_version();

	if (hotspot)
		version = below(4) ? hs_said_version : hs_any_version();

	return (struct unwind_rule){
		.cfa = below(64) ? CFA_RUNTIME : below(256),
		.cfa_off = below(16) ? version : next_random(),
		.aux = below(2) ? 0 : any_offset(),
		.ra_off = root, .fp_off = root >> 32,
	};
}

static void any_tables(void)
{
	for (__u32 i = 0; i < RULES_MAX; i++)
		slab[i >> (SLAB_SHIFT + 1)][i / 2 % SLAB_ELEMENTS].rule[i & 1] =
			hotspot || below(3) ? any_rule() :
			(struct unwind_rule){ .cfa = below(2) ? CFA_NONE : CFA_END };
	for (__u32 i = 0; i < SLAB_ELEMENTS * sizeof(union element) / 8; i++)
		((__u64 *)slab[2])[i] = next_random();
	for (__u32 i = 0; i < 16 * FILES * 8; i++)
		slab[2][i / 8].dir[i % 8] = (struct dir_entry){
			.first = below(16) ? TABLE_AT + 100 + below(4096) :
					     next_random(),
			.n = below(16) ? 4096 : next_random(),
			.rule_before = next_random(),
		};
	any_facts_row();
}

enum { NOTHING, PYTHONS, HOTSPOTS };

/* Twice: random words lead to the objects, and lie around them. */
static void make_objects(int real)
{
	py.start = HEAP->start + HEAP->size - OBJECTS;
	py.b = (char *)memory[HEAP - regions] + HEAP->size - OBJECTS;
	py.size = OBJECTS;
	py.n = n_objects = 0;
	make_lookalikes();
	if (real) {
		py_types();
		make_strings();
		make_functions();
	}
	make_runtime();
}

/* Twice, too. */
static void make_methods(void)
{
	hs.start = HEAP->start;
	hs.b = (char *)memory[HEAP - regions];
	hs.size = METHODS;
	hs.n = 0;
	hs_make_methods();
	hs_root = hs_code_cache_at(JIT->start, JIT->size,
				   (char *)memory[JIT - regions]);
	hs_make_code();
}

/* A word that ends in a call by register: the next one is where that returns to. */
#define CALL_CODE	(0xd0ffULL << 48 | 1)

static void any_memory(void)
{
	for (size_t i = 0; i < REGIONS; i++) {
		for (__u64 k = 0; k < regions[i].size / 8; k++)
			memory[i][k] = below(2) ? any_word() : CALL_CODE;
	}
}

static void make_round(int real)
{
	if (real == HOTSPOTS)
		make_methods();
	else
		make_objects(real);
}

static void any_registers(struct bpf_perf_event_data *ctx)
{
	__u64 *word = (__u64 *)&ctx->regs;

	for (size_t i = 0; i < sizeof(ctx->regs) / 8; i++)
		word[i] = any_word();
#ifdef __TARGET_ARCH_arm64
	ctx->regs.pstate = 0;
	ctx->regs.sp = below(16) ? inside(STACK) & ~7ULL : any_word();
	ctx->regs.pc = below(16) ? code_address(1) : any_word();
#else
	ctx->regs.cs = 0x33;
	ctx->regs.rsp = below(16) ? inside(STACK) & ~7ULL : any_word();
	ctx->regs.rip = below(16) ? code_address(1) : any_word();
#endif
}

static void one_sample(void)
{
	struct bpf_perf_event_data ctx;
	const struct region *r;

	any_registers(&ctx);
#ifdef __TARGET_ARCH_arm64
	task.thread.uw.tp_value = any_thread() + below(4096);
#else
	task.thread.fsbase = any_thread();
#endif
	slab[0][FACTS / 2].rule[FACTS & 1] = any_facts();
	long_ago = below(1ULL << 40);
	memset(&shared, 0, sizeof(shared));
	sample(&ctx);
	no_mark(&counted, sizeof(counted));
	r = region_of(state.st.pc);
	if (!r)
		refused_other++;
	else if (!r->exec)
		refused_mapped++;
}

static void all_rounds(int real)
{
	hotspot = real == HOTSPOTS;
	for (int i = 0; i < FILES; i++)
		host_files[i].entry.runtime = hotspot ? RUNTIME_HOTSPOT : RUNTIME_PYTHON;
	for (int round = 0; round < ROUNDS; round++) {
		vdso_known = round & 1;
		vdso_entry = (struct file_entry){ .exe = EXE_VDSO,
						  .dir = TABLE_AT + 64, .pages = 1 };
		any_tables();
		memset(&remembered, 0, sizeof(remembered));
		py.version = any_version();
		said_version = below(2) ? py.version : any_version();
		hs.version = hs_any_version();
		hs_said_version = below(2) ? hs.version : hs_any_version();
		make_round(real);
		any_memory();
		make_round(real);
		for (int i = 0; i < SAMPLES; i++)
			one_sample();
	}
}

TEST(words_leave_only_as_addresses_in_executable_mappings)
{
	make_world();
	all_rounds(NOTHING);
	printf("# %lu native frames, %lu of files without number, %lu anonymous\n",
	       frames_of[FRAME_NATIVE], frames_of[FRAME_FILE], frames_of[FRAME_ANON]);
	printf("# refused: %lu words in other mappings, %lu in none; %lu requests, %lu guesses\n",
	       refused_mapped, refused_other, n_requests, frames_of[FRAME_GUESS]);
	/* the rules led somewhere, and to words that they must not show */
	CHECK(frames_of[FRAME_NATIVE] + frames_of[FRAME_LOOP] > ROUNDS * SAMPLES / 2 &&
	      frames_of[FRAME_LOOP] > 1000 && frames_of[FRAME_FILE] > 1000 && frames_of[FRAME_ANON] > 1000);
	CHECK(refused_mapped > 1000 && refused_other > 1000 && n_requests > 1000);
#ifndef __aarch64__
	CHECK(frames_of[FRAME_GUESS] > 100);
#endif
	/* and to what was no code object */
	printf("# taken for a code object: %lu words\n", n_code_reads);
	CHECK(n_code_reads > 1000 && !frames_of[FRAME_MANAGED] && !frames_of[FRAME_TEXT]);
}

TEST(words_leave_only_of_python_functions)
{
	make_world();
	all_rounds(PYTHONS);
	printf("# %lu managed frames, %lu pieces of names and tables\n",
	       frames_of[FRAME_MANAGED], frames_of[FRAME_TEXT]);
	CHECK(frames_of[FRAME_MANAGED] > 1000 && frames_of[FRAME_TEXT] > 1000);
}

#ifndef __aarch64__
TEST(words_leave_only_of_java_methods)
{
	make_world();
	all_rounds(HOTSPOTS);
	printf("# %lu frames of methods with %lu pieces of names and tables, %lu of stubs\n",
	       hs_frames, hs_texts, hs_own);
	CHECK(hs_frames > 200 && hs_texts > 500 && hs_own > 300);
}
#endif

/* Nothing but the file of a program, where nobody knows it, and no more of them than
 * leave room for what samples need. */
TEST(words_of_a_program_that_begins)
{
	struct mm_struct *m = (void *)mm;

	make_world();
	memset(&counted, 0, sizeof(counted));
	for (size_t i = 0; i < REGIONS; i++) {
		unsigned long before = n_requests;

		memset(&shared, 0, sizeof(shared));
		m->start_code = regions[i].start + 64;
		m->exe_file = &host_files[regions[i].file == NO_FILE ? UNKNOWN :
					  regions[i].file].file;
		executed(NULL);
		CHECK_EQ(n_requests - before, regions[i].exec && regions[i].file == UNKNOWN);
		shared = (struct share){ .since_ns = bpf_ktime_get_ns(), .n = SHARE_EXEC };
		before = n_requests;
		executed(NULL);
		CHECK_EQ(n_requests, before);
	}
	CHECK_EQ(counted.n[BPF_REQUEST_FULL], 0);
}

/* A cgroup's name is read by words: what lies behind it in the kernel's memory
 * stays there. */
TEST(words_behind_a_name_stay)
{
	for (int n = 0; n < 8; n++) {
		char name[8], got[8];
		__u64 v;

		memset(name, 0x80 + n, sizeof(name));
		name[n] = '\0';
		memcpy(&v, name, sizeof(v));
		CHECK_EQ(cut_at_nul(&v), 1);
		memcpy(got, &v, sizeof(v));
		CHECK(!memcmp(got, name, (size_t)n));
		for (int i = n; i < 8; i++)
			CHECK_EQ(got[i], 0);
	}
	for (int n = 0; n < 1000; n++) {
		__u64 v = marked_word() | 0x0101010101010101ULL, was = v;

		CHECK_EQ(cut_at_nul(&v), 0);
		CHECK_EQ(v, was);
	}
}
