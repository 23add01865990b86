// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/process.h"
#include "tests/unit/harness.h"

#include <string.h>

static struct trace_rec rec(uint32_t tgid, uint64_t start, uint64_t exec)
{
	return (struct trace_rec){
		.process = { start, tgid, exec }, .tid = tgid,
		.stop = STOP_COMPLETE, .n_user = 1, .comm = "main",
	};
}

TEST(process_is_pid_start_and_exec)
{
	struct trace_rec a = rec(1, 2, 3), b = rec(1, 2, 4), c = rec(1, 5, 3);
	struct processes p;
	uint32_t i;

	processes_init(&p, 7);
	i = processes_add(&p, &a, 1);
	CHECK(processes_add(&p, &b, 1) != i);
	CHECK(processes_add(&p, &c, 1) != i);
	CHECK_EQ(processes_add(&p, &a, 1), i);
	CHECK_EQ(p.n, 3);
	processes_fini(&p);
}

TEST(process_name_is_the_main_threads)
{
	struct trace_rec r = rec(10, 1, 1);
	struct processes p;
	struct process *pr;

	processes_init(&p, 7);
	r.tid = 11;
	strcpy(r.comm, "thread");
	pr = processes_get(&p, processes_add(&p, &r, 1));
	CHECK(!strcmp(pr->comm, "thread"));
	r.tid = 10;
	strcpy(r.comm, "main");
	processes_add(&p, &r, 1);
	r.tid = 12;
	strcpy(r.comm, "other");
	processes_add(&p, &r, 1);
	CHECK(!strcmp(pr->comm, "main"));
	/* it waits, and was renamed */
	strcpy(r.leader, "my-server");
	processes_add(&p, &r, 1);
	CHECK_STR(pr->comm, "my-server");
	processes_fini(&p);
}

TEST(process_has_its_name_before_the_main_thread_ran)
{
	struct trace_rec r = rec(10, 1, 1);
	struct processes p;

	processes_init(&p, 7);
	r.tid = 11;
	strcpy(r.comm, "pool-1");
	strcpy(r.leader, "my-indexer");
	CHECK_STR(processes_get(&p, processes_add(&p, &r, 1))->comm, "my-indexer");
	processes_fini(&p);
}

TEST(process_gets_the_path_of_the_host)
{
	struct trace_rec r = rec(10, 1, 1);
	struct processes p;
	struct process *pr;

	processes_init(&p, 7);
	r.exe = 5;
	pr = processes_get(&p, processes_add(&p, &r, 1));
	process_set_path(pr, "/tmp/evil", 9, false);
	process_set_path(pr, "/tmp/later", 10, false);
	CHECK_STR(pr->path, "/tmp/evil");
	process_set_path(pr, "/bin/x", 6, true);
	CHECK_STR(pr->path, "/bin/x");
	/* it began from there: what becomes of the file later is not its path */
	process_set_path(pr, "/bin/moved", 10, true);
	processes_drop_number(&p, 5, "/tmp/evil");
	CHECK_STR(pr->path, "/bin/x");
	processes_fini(&p);
}

TEST(process_without_user_memory_is_the_kernels)
{
	struct trace_rec r = rec(2, 1, 1);
	struct processes p;
	struct process *pr;

	processes_init(&p, 7);
	r.stop = STOP_NO_USER;
	r.n_user = 0;
	pr = processes_get(&p, processes_add(&p, &r, 1));
	CHECK(!pr->user);
	r.exe = 5;
	processes_add(&p, &r, 1);
	CHECK(pr->user);
	CHECK_EQ(pr->exe, 5);
	r.exe = EXE_NONE;
	processes_add(&p, &r, 1);
	CHECK_EQ(pr->exe, 5);
	processes_forget_numbers(&p);
	CHECK_EQ(pr->exe, EXE_NONE);
	processes_fini(&p);
}

TEST(processes_unused_are_forgotten)
{
	struct trace_rec r;
	struct processes p;
	uint32_t kept;

	processes_init(&p, 7);
	for (uint32_t i = 1; i <= 1000; i++) {
		r = rec(i, i, 0);
		process_set_path(processes_get(&p, processes_add(&p, &r, 1)),
				 "/bin/x", 6, false);
	}
	r = rec(500, 500, 0);
	kept = processes_add(&p, &r, 3);
	processes_sweep(&p, 1 + PROCESS_IDLE_INTERVALS);
	CHECK_EQ(p.n, 1);
	CHECK_EQ(processes_add(&p, &r, 4), kept);
	CHECK(!strcmp(processes_get(&p, kept)->path, "/bin/x"));
	for (uint32_t i = 2000; i < 2999; i++) {
		r = rec(i, i, 0);
		CHECK(processes_add(&p, &r, 4) < 1000);
	}
	CHECK_EQ(p.top, 1000);
	processes_sweep(&p, 100);
	CHECK_EQ(p.n, 0);
	processes_fini(&p);
}

TEST(processes_have_an_upper_bound)
{
	struct processes p;
	struct trace_rec r;

	processes_init(&p, 7);
	for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
		r = rec(i, 0, 0);
		CHECK(processes_add(&p, &r, 1) != PROCESS_NONE);
	}
	r = rec(PROCESSES_MAX, 0, 0);
	CHECK_EQ(processes_add(&p, &r, 1), PROCESS_NONE);
	r = rec(5, 0, 0);
	CHECK(processes_add(&p, &r, 1) != PROCESS_NONE);
	processes_fini(&p);
}

TEST(process_keeps_its_path_when_the_number_goes)
{
	struct trace_rec a = rec(1, 2, 3), b = rec(2, 2, 3), c = rec(3, 2, 3);
	struct processes p;

	processes_init(&p, 7);
	a.exe = b.exe = 9;
	c.exe = 10;
	processes_add(&p, &a, 1);
	process_set_path(processes_get(&p, processes_add(&p, &b, 1)), "/b", 2, false);
	processes_add(&p, &c, 1);
	processes_drop_number(&p, 9, "/a");
	CHECK(!strcmp(processes_get(&p, processes_add(&p, &a, 1))->path, "/a"));
	CHECK(!strcmp(processes_get(&p, processes_add(&p, &b, 1))->path, "/b"));
	processes_drop_number(&p, 10, NULL);
	c.exe = EXE_NONE;
	CHECK(!processes_get(&p, processes_add(&p, &c, 1))->path);
	CHECK_EQ(processes_get(&p, processes_add(&p, &c, 1))->exe, EXE_NONE);
	processes_fini(&p);
}

TEST(process_path_loses_the_kernels_remark)
{
	CHECK_EQ(process_path_len("/usr/bin/x (deleted)", 20), 10);
	CHECK_EQ(process_path_len("/usr/bin/x", 10), 10);
	CHECK_EQ(process_path_len(" (deleted)", 10), 10);
}

TEST(process_with_a_script_is_kept_longer)
{
	struct trace_rec a = rec(1, 1, 1), b = rec(2, 1, 1);
	struct processes p;
	uint32_t kept;

	processes_init(&p, 7);
	kept = processes_add(&p, &a, 1);
	processes_add(&p, &b, 1);
	processes_get(&p, kept)->script = strdup("job.py");
	processes_sweep(&p, PROCESS_SCRIPT_INTERVALS);
	CHECK_EQ(p.n, 1);
	CHECK_EQ(processes_add(&p, &a, 2), kept);
	CHECK_STR(processes_get(&p, kept)->script, "job.py");
	processes_sweep(&p, 2 + PROCESS_SCRIPT_INTERVALS);
	CHECK_EQ(p.n, 0);
	processes_fini(&p);
}

/* Many short processes: each sweep forgets those of former intervals, so others find room. */
TEST(processes_make_room_early)
{
	struct processes p;
	struct trace_rec r = rec(1, 1, 1);
	uint32_t kept;

	processes_init(&p, 7);
	kept = processes_add(&p, &r, 5);
	for (uint32_t i = 2; i <= PROCESSES_MAX / 2; i++) {
		r = rec(i, 1, 1);
		CHECK(processes_add(&p, &r, 5) != PROCESS_NONE);
	}
	processes_sweep(&p, 6);
	CHECK_EQ(p.n, PROCESSES_MAX / 2);
	r = rec(1, 1, 1);
	CHECK_EQ(processes_add(&p, &r, 6), kept);
	r = rec(PROCESSES_MAX, 1, 1);
	processes_add(&p, &r, 6);
	processes_sweep(&p, 6);
	CHECK_EQ(p.n, 2);
	processes_fini(&p);
}
