// SPDX-License-Identifier: Apache-2.0
#include "common/service.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void listen_env(const char *pid, const char *fds, const char *names)
{
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", fds, 1);
	setenv("LISTEN_FDNAMES", names, 1);
}

static const char *my_pid(void)
{
	static char buf[16];

	snprintf(buf, sizeof(buf), "%d", (int)getpid());
	return buf;
}

/* Bind to an address the kernel chooses, so nothing is left behind. */
static int put_listener(int at, int type, bool listening)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	CHECK(fd >= 0);
	CHECK(bind(fd, (struct sockaddr *)&addr, sizeof(sa_family_t)) == 0);
	if (listening)
		CHECK(listen(fd, 1) == 0);
	if (fd != at) {
		CHECK(dup2(fd, at) == at);
		close(fd);
	}
	return at;
}

TEST(service_finds_listeners_by_name)
{
	put_listener(3, SOCK_SEQPACKET, true);
	put_listener(4, SOCK_SEQPACKET, true);
	listen_env(my_pid(), "2", "loader:export");
	CHECK_EQ(service_listen_fd("loader"), 3);
	CHECK_EQ(service_listen_fd("export"), 4);
	CHECK(fcntl(4, F_GETFD) & FD_CLOEXEC);
	CHECK(fcntl(4, F_GETFL) & O_NONBLOCK);
	CHECK_EQ(service_listen_fd("load"), -ENOENT);
	CHECK_EQ(service_listen_fd("loader2"), -ENOENT);
	CHECK_EQ(service_listen_fd(""), -ENOENT);
	CHECK(getenv("LISTEN_FDS") != NULL);
}

TEST(service_wants_a_listening_seqpacket_socket)
{
	listen_env(my_pid(), "1", "loader");
	put_listener(3, SOCK_SEQPACKET, false);
	CHECK_EQ(service_listen_fd("loader"), -EINVAL);
	put_listener(3, SOCK_STREAM, true);
	CHECK_EQ(service_listen_fd("loader"), -EINVAL);
	CHECK(dup2(open("/dev/null", O_RDWR), 3) == 3);
	CHECK_EQ(service_listen_fd("loader"), -EINVAL);
	close(3);
	CHECK_EQ(service_listen_fd("loader"), -EINVAL);
}

TEST(service_ignores_what_is_meant_for_others)
{
	put_listener(3, SOCK_SEQPACKET, true);
	listen_env("1", "1", "loader");
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	listen_env("", "1", "loader");
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	listen_env("-1", "1", "loader");
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	listen_env(my_pid(), "1x", "loader");
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	listen_env(my_pid(), "99999999999999999999999", "loader");
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	listen_env(my_pid(), "0", "loader");
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	listen_env(my_pid(), "1", "");
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	listen_env(my_pid(), "1", "a:loader");	/* more names than fds */
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	listen_env(my_pid(), "9", "a");		/* more fds than names */
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	unsetenv("LISTEN_FDNAMES");
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
	unsetenv("LISTEN_PID");
	CHECK_EQ(service_listen_fd("loader"), -ENOENT);
}

static void expect(int fd, const char *want)
{
	char buf[512];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	if (!want) {
		CHECK(n < 0);
		return;
	}
	CHECK(n >= 0);
	buf[n] = '\0';
	CHECK(!strcmp(buf, want));
}

static int manager(char *name, size_t size, bool abstract)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	size_t len;

	snprintf(name, size, "%s/trifold-notify-%d", abstract ? "@" : "/tmp",
		 (int)getpid());
	unlink(name);
	len = strlen(name);
	memcpy(addr.sun_path, name, len);
	if (abstract)
		addr.sun_path[0] = '\0';
	CHECK(bind(fd, (struct sockaddr *)&addr, (socklen_t)
		   (offsetof(struct sockaddr_un, sun_path) + len)) == 0);
	return fd;
}

TEST(service_notifies_by_path)
{
	char name[64], buf[512];
	int fd = manager(name, sizeof(name), false);

	setenv("NOTIFY_SOCKET", name, 1);
	CHECK_EQ(service_init(), 0);
	service_scrub_env();
	CHECK(getenv("NOTIFY_SOCKET") == NULL);
	CHECK(getenv("LISTEN_PID") == NULL);
	unlink(name);			/* connected is connected */
	service_ready();
	expect(fd, "READY=1");
	service_status("%d samples\nREADY=0", 7);
	expect(fd, "STATUS=7 samples");
	/* once is enough */
	service_status("7 samples");
	service_status("8 samples");
	expect(fd, "STATUS=8 samples");
	service_status("%0500d", 7);
	CHECK_EQ(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), 255);
	/* nobody watches */
	service_alive();
	expect(fd, NULL);
	service_stopping();
	expect(fd, "STOPPING=1");
	close(fd);
	service_stopping();		/* nobody there: no signal, no error */
}

TEST(service_notifies_an_abstract_socket)
{
	char name[64];
	int fd = manager(name, sizeof(name), true);

	setenv("NOTIFY_SOCKET", name, 1);
	CHECK_EQ(service_init(), 0);
	service_ready();
	expect(fd, "READY=1");
}

TEST(service_is_alive_for_who_watches)
{
	char name[64];
	int fd = manager(name, sizeof(name), true);

	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "30000000", 1);
	CHECK_EQ(service_init(), 0);
	service_alive();
	expect(fd, "WATCHDOG=1");
	unsetenv("WATCHDOG_USEC");
	CHECK_EQ(service_init(), 0);
	service_alive();
	expect(fd, NULL);
}

TEST(service_without_a_manager_is_silent)
{
	char longer[200];

	unsetenv("NOTIFY_SOCKET");
	CHECK_EQ(service_init(), 0);
	service_ready();
	service_status("x");
	service_alive();
	setenv("NOTIFY_SOCKET", "relative", 1);
	CHECK_EQ(service_init(), -ENOENT);
	memset(longer, '/', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	setenv("NOTIFY_SOCKET", longer, 1);
	CHECK_EQ(service_init(), -EINVAL);
	setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
	CHECK_EQ(service_init(), -ENOENT);
}
