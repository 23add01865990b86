// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the tests of one program, or those named on the command line, each in a
 * process of its own, so that one failure does not hide the next.  Prints TAP.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"

struct test_case *test_list;
struct test_case **test_tail = &test_list;

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(name, argv[i]))
			return true;
	}
	return argc == 1;
}

static int run(const struct test_case *test)
{
	int status = 1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		test->fn();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	int n = 0, failed = 0;

	for (struct test_case *t = test_list; t; t = t->next) {
		int r;

		if (!wanted(t->name, argc, argv))
			continue;
		r = run(t);
		n++;
		if (r == 77) {
			printf("ok %d - %s # SKIP\n", n, t->name);
		} else {
			printf("%sok %d - %s\n", r ? "not " : "", n, t->name);
			failed += r != 0;
		}
	}
	printf("1..%d\n", n);
	return failed ? 1 : 0;
}
