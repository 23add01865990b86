// SPDX-License-Identifier: Apache-2.0
#include "common/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/number.h"

#define BACKLOG		32
#define TRIES		20	/* for a port that both families have */

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

int listen_parse(const char *text, int *family, uint16_t *port)
{
	static const struct {
		const char *host;
		int family;
	} hosts[] = {
		{ "localhost:", AF_UNSPEC }, { "127.0.0.1:", AF_INET },
		{ "[::1]:", AF_INET6 },
	};
	uint64_t v;

	*family = AF_UNSPEC;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		size_t len = strlen(hosts[i].host);

		if (strncmp(text, hosts[i].host, len))
			continue;
		*family = hosts[i].family;
		text += len;
		break;
	}
	if (!number_parse(text, 0, UINT16_MAX, &v))
		return -EINVAL;
	*port = (uint16_t)v;
	return 0;
}

static socklen_t listen_fill(union address *a, int family, uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (family == AF_INET) {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons(port);
		a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(a->in);
	}
	a->in6.sin6_family = AF_INET6;
	a->in6.sin6_port = htons(port);
	a->in6.sin6_addr = in6addr_loopback;
	return sizeof(a->in6);
}

static int listen_open_one(int family, uint16_t port)
{
	union address a;
	socklen_t len = listen_fill(&a, family, port);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1, r;

	if (fd < 0)
		return -errno;
	/* the port can be used while connections to it are in TIME_WAIT */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    (family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) < 0) ||
	    bind(fd, &a.any, len) < 0 || listen(fd, BACKLOG) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

uint16_t listen_check(int fd)
{
	union address a = { 0 };
	socklen_t len = sizeof(a), size = sizeof(int);
	int listening = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) < 0 ||
	    !listening || getsockname(fd, &a.any, &len) < 0)
		return 0;
	if (a.any.sa_family == AF_INET &&
	    a.in.sin_addr.s_addr == htonl(INADDR_LOOPBACK))
		return ntohs(a.in.sin_port);
	if (a.any.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr))
		return ntohs(a.in6.sin6_port);
	return 0;
}

int listen_family(int fd)
{
	int family = AF_INET;
	socklen_t len = sizeof(family);

	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len);
	return family;
}

const char *listen_host(const struct listeners *l)
{
	if (l->family == AF_INET6)
		return "[::1]";
	return "127.0.0.1";
}

static int listen_open_both(uint16_t port, struct listeners *l)
{
	int fd = listen_open_one(AF_INET, port);

	*l = (struct listeners){ .family = AF_INET };
	if (fd < 0)
		return fd;
	l->fd[l->n++] = fd;
	l->port = listen_check(fd);
	fd = listen_open_one(AF_INET6, l->port);
	if (fd >= 0) {
		l->fd[l->n++] = fd;
	} else if (fd == -EADDRINUSE) {
		listen_close(l);
		return fd;
	}
	return 0;	/* anything else: there is no IPv6 */
}

int listen_open(int family, uint16_t port, struct listeners *l)
{
	int tries = port ? 1 : TRIES;
	int r = -EADDRINUSE;

	*l = (struct listeners){ .family = family };
	if (family == AF_UNSPEC) {
		for (int i = 0; i < tries && r == -EADDRINUSE; i++)
			r = listen_open_both(port, l);
		return r;
	}
	l->fd[0] = listen_open_one(family, port);
	if (l->fd[0] < 0)
		return l->fd[0];
	l->n = 1;
	l->port = listen_check(l->fd[0]);
	return 0;
}

void listen_close(struct listeners *l)
{
	while (l->n > 0)
		close(l->fd[--l->n]);
}
