/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that can only be made in a child, since it is spoilt by them.  Such a
 * child ends by the system call: before exit() and _exit() sanitizers make others
 * that it lost.
 */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"

/* How a child that does this ends: as from waitpid. */
static inline int fate(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		fn();
		syscall(SYS_exit_group, 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* In a child: leave with the number of the line that does not hold. */
#define MUST(cond)							\
	do {								\
		if (!(cond))						\
			syscall(SYS_exit_group, __LINE__ % 251 + 1);	\
	} while (0)

#endif /* TESTS_CHILD_H */
