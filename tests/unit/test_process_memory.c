// SPDX-License-Identifier: Apache-2.0
/* Reading a process's memory: its holes, its end, and the budget. */
#include "symbolizerd/symbols/process_memory.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct process_memory open_memory(pid_t pid)
{
	struct process_memory m = { -1, 100, 1 << 20 };
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	m.fd = open(name, O_RDONLY | O_CLOEXEC);
	CHECK(m.fd >= 0);
	return m;
}

/* Two pages, of which the second is not mapped. */
static char *page_and_hole(size_t *page)
{
	char *p;

	*page = (size_t)sysconf(_SC_PAGESIZE);
	p = mmap(NULL, *page * 2, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	CHECK_EQ(munmap(p + *page, *page), 0);
	return p;
}

TEST(memory_ends_where_the_mapping_does)
{
	struct process_memory m = open_memory(getpid());
	uint64_t at;
	char buf[64];
	size_t page;
	char *p = page_and_hole(&page);

	memcpy(p + page - 5, "hello", 5);
	at = (uint64_t)(uintptr_t)p;
	CHECK_EQ(process_memory_read(&m, at + page - 5, buf, 5), 5);
	CHECK_EQ(memcmp(buf, "hello", 5), 0);
	CHECK_EQ(process_memory_read(&m, at + page - 5, buf, 64), 5);
	CHECK_EQ(process_memory_read(&m, at + page, buf, 64), -EFAULT);
	close(m.fd);
}

TEST(no_address_is_too_strange)
{
	struct process_memory m = open_memory(getpid());
	char buf[8];

	CHECK_EQ(process_memory_read(&m, 0, buf, 8), -EFAULT);
	CHECK_EQ(process_memory_read(&m, INT64_MAX, buf, 8), -EFAULT);
	CHECK_EQ(process_memory_read(&m, 1ULL << 63, buf, 8), -EFAULT);
	CHECK_EQ(process_memory_read(&m, UINT64_MAX, buf, 8), -EFAULT);
	CHECK_EQ(process_memory_read(&m, (uint64_t)(uintptr_t)buf, buf, 0),
		 -EFAULT);
	close(m.fd);
}

TEST(a_spent_budget_stays_spent)
{
	static const char some[16] = "some";
	uint64_t at = (uint64_t)(uintptr_t)some;
	struct process_memory m = open_memory(getpid());
	char buf[16];

	m.reads = 2;
	CHECK_EQ(process_memory_read(&m, at, buf, 4), 4);
	CHECK_EQ(process_memory_read(&m, 0, buf, 4), -EFAULT);
	CHECK_EQ(process_memory_read(&m, at, buf, 4), -EDQUOT);
	m.reads = 10;
	m.bytes = 6;
	CHECK_EQ(process_memory_read(&m, at, buf, 4), 4);
	CHECK_EQ(process_memory_read(&m, at, buf, 4), -EDQUOT);
	CHECK_EQ(process_memory_read(&m, at, buf, 1), -EDQUOT);
	close(m.fd);
}

TEST(memory_of_a_process_that_has_ended_is_gone)
{
	static const char some[16] = "some";
	struct process_memory m;
	char buf[4];
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	m = open_memory(pid);
	CHECK_EQ(process_memory_read(&m, (uint64_t)(uintptr_t)some, buf, 4), 4);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK_EQ(process_memory_read(&m, (uint64_t)(uintptr_t)some, buf, 4),
		 -ESRCH);
	close(m.fd);
}
