// SPDX-License-Identifier: Apache-2.0
/*
 * What the sampler keeps from one sample to the next, and what it gives up when there
 * is no room.
 */
#include "tests/unit/sampler_machine.h"

/* Files that no sample has met. */
static void new_files(void)
{
	static unsigned long last = 1000;

	for (int i = 2; i < MAPPINGS; i++)
		((struct inode *)host_files[i].inode)->i_ino = ++last;
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
