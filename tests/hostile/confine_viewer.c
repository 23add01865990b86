// SPDX-License-Identifier: Apache-2.0
/* What the viewer may not do any more, tried from inside. */
#include <arpa/inet.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "ipc/conn.h"
#include "tests/hostile/forbidden.h"
#include "viewer/server/confine.h"

static char dir[] = "/tmp/trifold-viewer-XXXXXX";
static char hub[64], others[64], outside[64], file[64];
static struct listeners own;	/* from before it was confined */

static int confined(const char *path)
{
	const struct viewer_config c = {
		.uid = TEST_UID,
		.gid = TEST_UID,
		.memory_mib = 1,
		.hub = path,
	};

	if (listen_open(AF_UNSPEC, 0, &own))
		return -1;
	viewer_confine(&c);
	return 0;
}

static int as_viewer(void)
{
	return confined(hub);
}

/* One that shows what others send it. */
static int as_receiver(void)
{
	return confined(NULL);
}

/* A socket in the way of the runtime directory, for this uid alone. */
static void make_socket(const char *path, uid_t uid)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	strcpy(a.sun_path, path);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || chmod(path, 0600) ||
	    chown(path, uid, uid) || listen(fd, 8))
		exit(1);
}

static void make_directory(void)
{
	int fd;

	if (!mkdtemp(dir) || chmod(dir, 0755))
		exit(1);
	snprintf(hub, sizeof(hub), "%s/status.sock", dir);
	snprintf(others, sizeof(others), "%s/export.sock", dir);
	snprintf(file, sizeof(file), "%s/lock", dir);
	snprintf(outside, sizeof(outside), "%s.sock", dir);
	make_socket(hub, TEST_UID);
	make_socket(others, TEST_UID + 1);
	make_socket(outside, TEST_UID);
	fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	close(fd);
}

static void remove_directory(void)
{
	unlink(hub);
	unlink(others);
	unlink(outside);
	unlink(file);
	rmdir(dir);
}

static long connect_to(const char *path)
{
	struct conn c;
	int r = conn_connect(&c, path, PEER_HUB, 0);

	errno = -r;
	return r ? -1 : 0;
}

static long do_connect_hub(void)
{
	return connect_to(hub);
}

static long do_connect_again(void)
{
	return connect_to(hub) || connect_to(hub) ? -1 : 0;
}

static long do_connect_others(void)
{
	return connect_to(others);
}

static long do_connect_outside(void)
{
	return connect_to(outside);
}

static long do_abstract(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0x" };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);

	/* somebody listens there: main() */
	return connect(fd, (struct sockaddr *)&a, sizeof(a));
}

static long do_hub_file(void)
{
	return open(file, O_RDONLY);
}

static long do_datagram(void)
{
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* The type that it may have, of a family that it may not. */
static long do_sctp(void)
{
	return socket(AF_INET, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		      0);
}

static long do_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, 0);
}

/* tcp(7): connect() to AF_UNSPEC ends the listening. */
static long do_turn(void)
{
	struct sockaddr_in a = { .sin_family = AF_UNSPEC };

	if (connect(own.fd[0], (struct sockaddr *)&a, sizeof(a)))
		return -1;
	a.sin_family = AF_INET;
	a.sin_port = htons(80);
	a.sin_addr.s_addr = htonl(0xc0000201);	/* 192.0.2.1, RFC 5737 */
	return connect(own.fd[0], (struct sockaddr *)&a, sizeof(a)) == 0 ||
	       errno == EINPROGRESS ? 0 : -1;
}

static long do_accept(void)
{
	/* nobody comes, but the call is allowed on the socket it has */
	return accept4(own.fd[0], NULL, NULL, SOCK_CLOEXEC) < 0 &&
	       errno != EAGAIN ? -1 : 0;
}

static long do_bind(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	return bind(own.fd[0], (struct sockaddr *)&a, sizeof(a));
}

static int do_unix_ok(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		      0);
}

static long do_listen(void)
{
	return listen(do_unix_ok(), 1);
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

/* Both kinds of viewer. */
static void refuse(const char *who, int (*confine_it)(void))
{
	forbidden_common(who, confine_it);
	refused(who, confine_it, "open a file", do_open);
	refused(who, confine_it, "open a file beside the hub's", do_hub_file);
	refused(who, confine_it, "network socket", do_inet);
	refused(who, confine_it, "SCTP socket", do_sctp);
	refused(who, confine_it, "netlink socket", do_netlink);
	refused(who, confine_it, "Unix stream socket", do_unix);
	refused(who, confine_it, "Unix datagram socket", do_datagram);
	refused(who, confine_it, "socket pair", do_pair);
	refused(who, confine_it, "connect to an abstract socket", do_abstract);
	refused(who, confine_it, "connect to a socket elsewhere",
		do_connect_outside);
	refused(who, confine_it, "connect to another's socket",
		do_connect_others);
	refused(who, confine_it, "connect from a listening socket", do_turn);
	refused(who, confine_it, "bind", do_bind);
	refused(who, confine_it, "listen", do_listen);
	refused(who, confine_it, "fork", do_fork);
	refused(who, confine_it, "thread", do_thread);
	refused(who, confine_it, "memfd", do_memfd);
	refused(who, confine_it, "too much memory", do_huge_memory);
	allowed(who, confine_it, "accept", do_accept);
}

int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0x" };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	need_root();
	make_directory();
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 8))
		return 1;
	refuse("viewer", as_viewer);
	allowed("viewer", as_viewer, "connect to the hub", do_connect_hub);
	allowed("viewer", as_viewer, "... and again", do_connect_again);
	refuse("receiver", as_receiver);
	refused("receiver", as_receiver, "connect to a hub", do_connect_hub);
	remove_directory();
	return finish();
}
