/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forbidden - try calls from inside a confined process
 *
 * Each attempt has a process of its own: it confines itself as the daemon
 * does, then makes the call.  Refused means: killed by SIGSYS, or an error.
 */
#ifndef TESTS_FORBIDDEN_H
#define TESTS_FORBIDDEN_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_UID	61500	/* owns nothing */

static int tests, failures;

static void need_root(void)
{
	if (geteuid() == 0)
		return;
	printf("ok 1 - confinement # SKIP needs root\n1..1\n");
	exit(0);
}

enum outcome { DONE, ERROR, KILLED, NOT_CONFINED };

static enum outcome attempt(int (*become)(void), long (*call)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (become())
			_exit(3);
		_exit(call() < 0 ? 2 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return NOT_CONFINED;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? KILLED : NOT_CONFINED;
	switch (WEXITSTATUS(status)) {
	case 0:
		return DONE;
	case 2:
		return ERROR;
	default:
		return NOT_CONFINED;
	}
}

static void verdict(int ok, const char *who, const char *what, const char *how)
{
	failures += !ok;
	printf("%sok %d - %s: %s is %s\n", ok ? "" : "not ", ++tests, who, what,
	       how);
}

static inline void refused(const char *who, int (*become)(void),
			   const char *what, long (*call)(void))
{
	enum outcome o = attempt(become, call);

	verdict(o == ERROR || o == KILLED, who, what,
		o == KILLED ? "refused (killed)" : o == ERROR ? "refused" :
		o == DONE ? "possible!" : "not tried: confinement failed");
}

static inline void allowed(const char *who, int (*become)(void),
			   const char *what, long (*call)(void))
{
	verdict(attempt(become, call) == DONE, who, what, "possible");
}

static inline int finish(void)
{
	printf("1..%d\n", tests);
	return failures != 0;
}

/* --- calls --------------------------------------------------------------- */

static inline long do_fork(void)
{
	pid_t pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid;
}

static inline long do_exec(void)
{
	char *argv[] = { (char *)"/bin/true", NULL };

	execv("/bin/true", argv);
	return -1;
}

static inline long do_open(void)
{
	return open("/etc/passwd", O_RDONLY);
}

static inline long do_create(void)
{
	long fd = open("/tmp/trifold-test-forbidden", O_CREAT | O_WRONLY, 0600);

	if (fd >= 0)
		unlink("/tmp/trifold-test-forbidden");
	return fd;
}

static inline long do_inet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static inline long do_unix(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static inline long do_ptrace(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), 0, 0);
}

static inline long do_root(void)
{
	return setresuid(0, 0, 0);
}

static inline long do_mount(void)
{
	return mount("none", "/mnt", "tmpfs", 0, NULL);
}

static inline long do_exec_memory(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static inline long do_kill(void)
{
	return kill(getppid(), SIGTERM);
}

static inline long do_module(void)
{
	return syscall(SYS_init_module, "", 0, "");
}

/* What no process of trifold may do. */
static inline void forbidden_common(const char *who, int (*become)(void))
{
	refused(who, become, "exec", do_exec);
	refused(who, become, "ptrace", do_ptrace);
	refused(who, become, "becoming root", do_root);
	refused(who, become, "mount", do_mount);
	refused(who, become, "executable memory", do_exec_memory);
	refused(who, become, "killing its parent", do_kill);
	refused(who, become, "creating a file", do_create);
	refused(who, become, "loading a module", do_module);
}

#endif /* TESTS_FORBIDDEN_H */
