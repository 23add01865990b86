// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/config.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/harness.h"

static struct viewer_config c;

/* The arguments after the name, up to NULL. */
static int load(const char *first, const char *second, const char *third)
{
	char *argv[] = { (char *)"trifold-viewer", (char *)"--otlp", (char *)first, (char *)second,
			 (char *)third, NULL };
	int argc = 0;

	while (argv[argc])
		argc++;
	optind = 0;		/* getopt(3): begin anew */
	return viewer_config_load(&c, argc, argv);
}

static const char *of_fd(char text[32], int fd)
{
	snprintf(text, 32, "--listen-fd=%d", fd);
	return text;
}

TEST(viewer_config_takes_two_sockets_of_one_port)
{
	struct listeners l, other;
	char a[32], b[32], d[32];

	CHECK_EQ(listen_open(AF_UNSPEC, 0, &l), 0);
	CHECK_EQ(listen_open(AF_INET, 0, &other), 0);
	CHECK(l.port != other.port);
	CHECK_EQ(load(of_fd(a, l.fd[0]), NULL, NULL), 0);
	CHECK_EQ(c.sockets.n, 1);
	CHECK_EQ(c.sockets.port, l.port);
	CHECK_EQ(fcntl(l.fd[0], F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	/* the address that is printed has one port */
	CHECK_EQ(load(of_fd(a, l.fd[0]), of_fd(b, other.fd[0]), NULL), 2);
	if (l.n == 2) {
		CHECK_EQ(load(of_fd(a, l.fd[0]), of_fd(b, l.fd[1]), NULL), 0);
		CHECK_EQ(c.sockets.n, 2);
		CHECK_EQ(c.sockets.family, AF_INET);
		CHECK_EQ(load(of_fd(a, l.fd[1]), of_fd(b, l.fd[0]), NULL), 0);
		CHECK_EQ(c.sockets.family, AF_INET6);
		CHECK_EQ(load(of_fd(a, l.fd[0]), of_fd(b, l.fd[1]), of_fd(d, l.fd[0])), 2);
	}
	listen_close(&l);
	listen_close(&other);
}

TEST(viewer_config_refuses_what_does_not_listen_on_loopback)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);	/* not bound */
	char a[32];

	CHECK_EQ(load(of_fd(a, fd), NULL, NULL), 2);
	CHECK_EQ(listen(fd, 1), 0);			/* of every address */
	CHECK_EQ(load(of_fd(a, fd), NULL, NULL), 2);
	close(fd);
	CHECK_EQ(load(of_fd(a, fd), NULL, NULL), 2);
	CHECK_EQ(load("--listen-fd=2", NULL, NULL), 2);
	CHECK_EQ(load("--listen-fd=x", NULL, NULL), 2);
}

TEST(viewer_config_judges_its_options)
{
	static const char *const bad[] = {
		"--keep=9", "--keep=604801", "--memory=0", "--memory=4097", "--uid=0", "--gid=0",
		"--hub=x", "--hub=/x", "--listen=0.0.0.0:1", "more", "--no",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(load(bad[i], NULL, NULL), 2);
	CHECK_EQ(load("--keep=10", "--memory=4096", "--hub=/x/y"), 0);
	CHECK(c.keep_s == 10 && c.memory_mib == 4096 && c.otlp);
	CHECK_STR(c.hub, "/x/y");
	CHECK_EQ(load("--listen=[::1]:9", NULL, NULL), 0);
	CHECK(c.family == AF_INET6 && c.listen_port == 9);
}

TEST(viewer_config_takes_the_key_out_of_the_environment)
{
	static char good[] = "TRIFOLD_VIEWER_KEY=0123456789abcdef0123456789abcdef";

	setenv("TRIFOLD_VIEWER_KEY", "0123456789ABCDEF0123456789abcdef", 1);
	CHECK_EQ(load(NULL, NULL, NULL), 2);
	CHECK_EQ(putenv(good), 0);
	CHECK_EQ(load(NULL, NULL, NULL), 0);
	CHECK_STR(c.key, "0123456789abcdef0123456789abcdef");
	CHECK(!getenv("TRIFOLD_VIEWER_KEY") && !strchr(good, 'a'));
	CHECK_EQ(load(NULL, NULL, NULL), 0);
	CHECK_STR(c.key, "");
}
