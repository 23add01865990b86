// SPDX-License-Identifier: Apache-2.0
/* What the viewer may not do any more, tried from inside. */
#include <arpa/inet.h>
#include <sched.h>

#include "tests/hostile/forbidden.h"
#include "viewer/server/confine.h"

static struct listeners own;	/* from before it was confined */
static int spare;

static int as_viewer(void)
{
	const struct config c = {
		.uid = TEST_UID, .gid = TEST_UID, .memory_mib = 1,
	};

	spare = socket(AF_INET, SOCK_STREAM, 0);
	if (spare < 0 || listen_open(AF_UNSPEC, 0, &own))
		return -1;
	return confine(&c);
}

static long do_accept(void)
{
	/* nobody comes, but the call is allowed on the socket it has */
	return accept4(own.fd[0], NULL, NULL, SOCK_CLOEXEC) < 0 &&
	       errno != EAGAIN ? -1 : 0;
}

static long do_connect(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons(own.port);
	return connect(spare, (struct sockaddr *)&a, sizeof(a));
}

static long do_bind(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	return bind(spare, (struct sockaddr *)&a, sizeof(a));
}

static long do_listen(void)
{
	return listen(spare, 1);
}

static long do_pair(void)
{
	int sv[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
}

static long do_thread(void)
{
	return syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, 0, 0,
		       0, 0);
}

static long do_memfd(void)
{
	return memfd_create("x", MFD_CLOEXEC);
}

static long do_huge_memory(void)
{
	void *p = mmap(NULL, 3ULL << 30, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	need_root();
	forbidden_common("viewer", as_viewer);
	refused("viewer", as_viewer, "open a file", do_open);
	refused("viewer", as_viewer, "network socket", do_inet);
	refused("viewer", as_viewer, "Unix socket", do_unix);
	refused("viewer", as_viewer, "socket pair", do_pair);
	refused("viewer", as_viewer, "connect", do_connect);
	refused("viewer", as_viewer, "bind", do_bind);
	refused("viewer", as_viewer, "listen", do_listen);
	refused("viewer", as_viewer, "fork", do_fork);
	refused("viewer", as_viewer, "thread", do_thread);
	refused("viewer", as_viewer, "memfd", do_memfd);
	refused("viewer", as_viewer, "too much memory", do_huge_memory);
	allowed("viewer", as_viewer, "accept", do_accept);
	return finish();
}
