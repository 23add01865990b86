// SPDX-License-Identifier: Apache-2.0
/* What symbolizerd's processes may not do any more, tried from inside. */
#include <sched.h>
#include <sys/resource.h>

#include "ipc/sealed.h"
#include "symbolizerd/worker/confine.h"
#include "tests/hostile/forbidden.h"

static int as_hub(void)
{
	confine_namespaces();
	confine_hub(TEST_UID, TEST_UID);
	return 0;
}

static int as_zygote(void)
{
	int keep[] = { 1, 2 };

	confine_namespaces();
	confine_zygote(TEST_UID, TEST_UID, keep, 2);
	return 0;
}

static int as_worker(void)
{
	as_zygote();
	confine_worker(WORKER_CPU_S);
	return 0;
}

static long do_accept(void)
{
	/* the call is allowed; there is nothing to accept from */
	return accept4(-1, NULL, NULL, 0) < 0 && errno != EBADF ? -1 : 0;
}

static long do_sealed(void)
{
	struct iovec part = { (void *)"x", 1 };

	return sealed_make("test", &part, 1);
}

static long do_fork_and_wait(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) != pid ? -1 : 0;
}

static long do_fork_by_libc(void)
{
	return fork();
}

static long do_namespace(void)
{
	return syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
}

static long do_thread(void)
{
	return syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, 0, 0,
		       0, 0);
}

static long do_pair(void)
{
	int sv[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
}

static long do_terminate(void)
{
	return kill(0, SIGTERM);
}

static long do_kill_hard(void)
{
	return kill(getppid(), SIGKILL);
}

static long do_limit(void)
{
	struct rlimit rl = { 1, 1 };

	return setrlimit(RLIMIT_CPU, &rl);
}

static long do_huge_file(void)
{
	int fd = memfd_create("huge", MFD_CLOEXEC);

	signal(SIGXFSZ, SIG_IGN);
	return ftruncate(fd, WORKER_FILE_BYTES + 1);
}

static long do_huge_memory(void)
{
	void *p = mmap(NULL, WORKER_DATA_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static long do_huge_space(void)
{
	void *p = mmap(NULL, WORKER_AS_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

/* As a large file with DWARF is. */
static long do_large_map(void)
{
	void *p = mmap(NULL, WORKER_AS_BYTES / 4 * 3, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED || madvise(p, 4096, MADV_RANDOM) ? -1 : 0;
}

static void nowhere_to_go(const char *who, int (*become)(void))
{
	forbidden_common(who, become);
	refused(who, become, "open a file", do_open);
	refused(who, become, "network socket", do_inet);
	refused(who, become, "Unix socket", do_unix);
	refused(who, become, "socket pair", do_pair);
	refused(who, become, "new namespace", do_namespace);
	refused(who, become, "thread", do_thread);
	refused(who, become, "SIGTERM to its group", do_terminate);
	allowed(who, become, "sealed memory", do_sealed);
}

int main(void)
{
	need_root();
	nowhere_to_go("hub", as_hub);
	refused("hub", as_hub, "fork", do_fork_by_libc);
	refused("hub", as_hub, "SIGKILL", do_kill_hard);
	allowed("hub", as_hub, "accept", do_accept);

	nowhere_to_go("zygote", as_zygote);
	allowed("zygote", as_zygote, "fork and wait", do_fork_and_wait);
	/* its parent is root's */
	refused("zygote", as_zygote, "SIGKILL to others", do_kill_hard);

	nowhere_to_go("worker", as_worker);
	refused("worker", as_worker, "fork", do_fork_by_libc);
	refused("worker", as_worker, "SIGKILL", do_kill_hard);
	refused("worker", as_worker, "changing limits", do_limit);
	refused("worker", as_worker, "too large a memfd", do_huge_file);
	refused("worker", as_worker, "too much memory", do_huge_memory);
	refused("worker", as_worker, "too much address space", do_huge_space);
	allowed("worker", as_worker, "a large mapping", do_large_map);
	return finish();
}
