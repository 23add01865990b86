// SPDX-License-Identifier: Apache-2.0
/* What the front of `trifold run` and `record` may not do, tried from inside:
 * while it reads arguments and configuration, and afterwards. */
#include <arpa/inet.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "cli/config/confine.h"
#include "tests/hostile/forbidden.h"

static int spare;
static int pair[2];

static int as_reading(void)
{
	confine_front_reading(TEST_UID);
	return 0;
}

static int as_front(void)
{
	spare = socket(AF_INET, SOCK_STREAM, 0);
	if (spare < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		return -1;
	confine_front_reading(TEST_UID);
	confine_front();
	return 0;
}

static long do_read_secret(void)
{
	/* only root's: the configuration may be so */
	return open("/etc/shadow", O_RDONLY);
}

static long do_write_secret(void)
{
	return open("/etc/shadow", O_WRONLY);
}

static long do_set_mode(void)
{
	return chmod("/etc/shadow", 0600);
}

static long do_read_memory(void)
{
	return open("/proc/1/mem", O_RDONLY);
}

static long do_connect(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = 1 };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return connect(spare, (struct sockaddr *)&a, sizeof(a));
}

static long do_bind(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	return bind(spare, (struct sockaddr *)&a, sizeof(a));
}

static long do_list(void)
{
	return open("/proc", O_RDONLY | O_DIRECTORY);
}

static long do_send(void)
{
	return send(pair[0], "x", 1, 0);
}

static long do_pair(void)
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
}

static long do_inet_pair(void)
{
	/* the kernel has none, but must not even be asked */
	return socketpair(AF_INET, SOCK_STREAM, 0, pair) < 0 &&
	       errno == EOPNOTSUPP ? 0 : -1;
}

static long do_push(void)
{
	/* characters into the terminal of root */
	return ioctl(0, TIOCSTI, "x");
}

static long do_width(void)
{
	struct winsize ws;

	/* allowed, though this may be no terminal */
	return ioctl(0, TIOCGWINSZ, &ws) < 0 && errno != ENOTTY ? -1 : 0;
}

int main(void)
{
	need_root();
	/* before its plan: an ordinary user who may read all files */
	allowed("reading front", as_reading, "reading root's file",
		do_read_secret);
	refused("reading front", as_reading, "writing root's file",
		do_write_secret);
	refused("reading front", as_reading, "changing its mode", do_set_mode);
	refused("reading front", as_reading, "another process's memory",
		do_read_memory);
	refused("reading front", as_reading, "becoming root", do_root);
	refused("reading front", as_reading, "mount", do_mount);
	refused("reading front", as_reading, "killing its parent", do_kill);
	refused("reading front", as_reading, "ptrace", do_ptrace);
	refused("reading front", as_reading, "loading a module", do_module);

	forbidden_common("front", as_front);
	refused("front", as_front, "open a file", do_open);
	refused("front", as_front, "read root's file", do_read_secret);
	refused("front", as_front, "list processes", do_list);
	refused("front", as_front, "network socket", do_inet);
	refused("front", as_front, "Unix socket", do_unix);
	refused("front", as_front, "connect", do_connect);
	refused("front", as_front, "bind", do_bind);
	refused("front", as_front, "fork", do_fork);
	refused("front", as_front, "typing into the terminal", do_push);
	refused("front", as_front, "a pair of network sockets", do_inet_pair);
	allowed("front", as_front, "a pair of Unix sockets", do_pair);
	allowed("front", as_front, "sending to the supervisor", do_send);
	allowed("front", as_front, "the terminal's width", do_width);
	return finish();
}
