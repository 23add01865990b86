/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen - listening sockets on loopback only
 */
#ifndef COMMON_LISTEN_H
#define COMMON_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#define LISTEN_MAX	2	/* 127.0.0.1 and ::1 */

struct listeners {
	int fd[LISTEN_MAX];
	int n;
	uint16_t port;
	int family;		/* of the first: AF_INET or AF_INET6 */
};

/* The host to print in an address: a number that is bound.  "localhost" may lead to the
 * same port of the other family, or of another machine's forwarding, which may be an
 * attacker's, and the page's key with it. */
const char *listen_host(const struct listeners *l);

/* "PORT" or "HOST:PORT"; HOST: localhost, 127.0.0.1 or [::1].  0 or -EINVAL.
 * family: AF_UNSPEC for both, or the one that HOST means. */
int listen_parse(const char *text, int *family, uint16_t *port);

/*
 * Bind and listen on 127.0.0.1 and, where there is IPv6, ::1, on one port (0:
 * any that both have); or on the one of `family`.  0 or -errno.
 */
int listen_open(int family, uint16_t port, struct listeners *ret);

/* The family of a socket. */
int listen_family(int fd);

/* Is fd a listening TCP socket of loopback?  Its port; or 0. */
uint16_t listen_check(int fd);

void listen_close(struct listeners *l);

#endif /* COMMON_LISTEN_H */
