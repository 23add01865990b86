// SPDX-License-Identifier: Apache-2.0
/* What list_files() says of a process, over the mappings of a made-up one. */
#include "tests/unit/sampler_machine.h"

static struct request_file listed[2 * MAPPINGS];
static unsigned int n_listed, n_writes;

static void take_list(const void *data, __u32 size)
{
	unsigned int n = size / sizeof(listed[0]);

	CHECK_EQ(size % sizeof(listed[0]), 0);
	CHECK(n_listed + n <= 2 * MAPPINGS);
	memcpy(&listed[n_listed], data, size);
	n_listed += n;
	n_writes++;
}

static void list(void)
{
	static const struct cred root;
	static __u64 session;
	struct bpf_iter_meta meta = { .session_id = ++session };
	struct bpf_iter__task ctx = { &meta, &task };

	n_listed = n_writes = 0;
	on_seq_write = take_list;
	list_tgid = tgid;
	task.pid = task.tgid = (int)tgid;
	task.cred = &root;
	list_files(&ctx);
}

/* The process itself, its program, and the others from the stack downwards. */
TEST(all_mappings_of_a_process_are_listed)
{
	begin_machine();
	((struct mm_struct *)mm)->start_code = PYTHON + 0x100;
	sample_at(PROGRAM + 0x200, 0);	/* it leaves nothing that is in the way */
	list();
	/* the program comes again where the walk meets it */
	CHECK_EQ(n_listed, 1 + 1 + MAPPINGS);
	CHECK_EQ(listed[0].end, 0);
	CHECK_EQ(listed[1].start, PYTHON);
	for (int i = 0; i < MAPPINGS; i++) {
		const struct vm_area_struct *vma = (void *)vmas[MAPPINGS - 1 - i];

		CHECK_EQ(listed[2 + i].start, vma->vm_start);
		CHECK_EQ(listed[2 + i].end, vma->vm_end);
		CHECK_EQ(listed[2 + i].key.ino, MAPPINGS - i);
	}
	for (unsigned int i = 0; i < n_listed; i++) {
		CHECK_EQ(listed[i].kind, REQUEST_FILE);
		CHECK_EQ(listed[i].process.tgid, tgid);
		CHECK_EQ(listed[i].process.start_ns, task.start_boottime);
	}
}

TEST(what_is_not_executable_is_not_listed)
{
	begin_machine();
	((struct mm_struct *)mm)->start_code = PYTHON + 0x100;
	for (int i = 2; i < MAPPINGS; i++)
		((struct vm_area_struct *)vmas[i])->vm_flags = 1;
	((struct vm_area_struct *)vmas[0])->vm_file = NULL;
	list();
	CHECK_EQ(n_listed, 3);
	CHECK_EQ(listed[1].start, PYTHON);
	CHECK_EQ(listed[2].start, PYTHON);
	/* and a process of another number is no one's here */
	list_tgid = tgid + 1;
	n_listed = 0;
	list_files(&(struct bpf_iter__task){ &(struct bpf_iter_meta){ 0 }, &task });
	CHECK_EQ(n_listed, 0);
}
