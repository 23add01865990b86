// SPDX-License-Identifier: Apache-2.0
/*
 * Which programs that begin are asked for: the sampler's executed(), and what it keeps of
 * programs that it knew.
 */
#include "tests/unit/sampler_machine.h"

#define MOMENT	(4000000ULL << BEGUN_SHIFT)

/* The program's file as its process has it, mapped from start on: how often were files
 * looked up? */
static unsigned int begin_program(struct host_file *exe, __u64 start)
{
	unsigned int before = n_lookups;

	((struct mm_struct *)mm)->exe_file = &exe->file;
	((struct mm_struct *)mm)->start_code = start + 0x100;
	executed(NULL);
	return n_lookups - before;
}

static struct inode *inode_of(struct host_file *f)
{
	return (void *)f->inode;
}

TEST(a_program_that_begins_is_asked_for)
{
	begin_machine();
	for (unsigned int i = 1; i < 5; i++) {
		CHECK_EQ(begin_program(&host_files[2], UNKNOWN), 1);
		CHECK_EQ(begin_program(&host_files[2], UNKNOWN), 1);
		CHECK_EQ(n_requests, i);
		now += ASK_NS;
	}
	/* nor is anything taken for known that has no mapping */
	CHECK_EQ(begin_program(&host_files[2], 0x1000), 0);
	CHECK_EQ(begin_program(&host_files[2], UNKNOWN), 1);
	CHECK_EQ(n_requests, 5);
}

TEST(a_known_program_is_looked_up_once_in_a_moment)
{
	begin_machine();
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(begin_program(&host_files[0], PROGRAM), 1);
		CHECK_EQ(begin_program(&host_files[0], PROGRAM), 0);
		CHECK_EQ(begin_program(&host_files[0], PROGRAM), 0);
		now += MOMENT;
	}
	CHECK_EQ(n_requests, 0);
}

/* On an overlay the process's file is another one than the mapping's. */
TEST(a_program_of_an_overlay_is_known_by_its_mapping)
{
	static struct host_file over;

	begin_machine();
	over = host_files[2];
	over.file.f_inode = inode_of(&over);
	over.sb.s_dev = 7;
	inode_of(&over)->i_sb = &over.sb;
	CHECK_EQ(begin_program(&over, PROGRAM), 1);
	CHECK_EQ(begin_program(&over, PROGRAM), 0);
	CHECK_EQ(n_requests, 0);
	/* with another file beneath it is another time */
	((struct inode___5_10 *)(over.inode + FLAVOR_AT))->i_ctime.tv_nsec++;
	CHECK_EQ(begin_program(&over, UNKNOWN), 1);
	CHECK_EQ(n_requests, 1);
}

/* A file like PROGRAM's, but for one thing: one bit that leaves it the same place. */
static struct host_file *almost_program(int thing)
{
	static struct host_file twin;
	struct inode *inode = inode_of(&twin);
	struct timespec64 *ctime = &((struct inode___5_10 *)(twin.inode + FLAVOR_AT))->i_ctime;
	void *things[] = { &inode->i_ino, &inode->i_size, &twin.sb.s_dev, &ctime->tv_sec,
			   &ctime->tv_nsec };

	twin = host_files[0];
	twin.file.f_inode = inode;
	inode->i_sb = &twin.sb;
	*(__u32 *)things[thing] ^= BEGUN;
	return &twin;
}

/* What is remembered of one program is said of no other. */
TEST(programs_that_begin_are_told_apart)
{
	begin_machine();
	for (int thing = 0; thing < 5; thing++) {
		begin_program(&host_files[0], PROGRAM);
		CHECK_EQ(begin_program(&host_files[0], PROGRAM), 0);
		/* asked for, though it would have the same place */
		CHECK_EQ(begin_program(almost_program(thing), UNKNOWN), 1);
		now += ASK_NS;
	}
	CHECK_EQ(n_requests, 5);
}

/* Its table was given back: it is taken for known for a moment, but its samples ask. */
TEST(a_program_that_was_dropped_is_asked_for)
{
	begin_machine();
	begin_program(&host_files[0], PROGRAM);
	dropped = true;
	begin_program(&host_files[0], PROGRAM);
	CHECK_EQ(n_requests, 0);
	sample_at(PROGRAM + 0x200, 0);
	CHECK_EQ(n_requests, 1);
	now += MOMENT;
	begin_program(&host_files[0], PROGRAM);
	CHECK_EQ(n_requests, 2);
}
