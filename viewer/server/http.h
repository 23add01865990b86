/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http - the server: libmicrohttpd, one thread, on sockets that are open
 *
 * A request is accepted or refused by its headers alone (guard.h), before a
 * byte of its body is read.  A request has HTTP_REQUEST_NS from the end of the
 * one before, so clients that send a byte now and then do not hold their
 * connections.
 */
#ifndef VIEWER_SERVER_HTTP_H
#define VIEWER_SERVER_HTTP_H

#include <microhttpd.h>

#include "viewer/server/api.h"
#include "viewer/server/guard.h"
#include "common/listen.h"

#define HTTP_PROFILES_PATH	"/v1development/profiles"
#define HTTP_CONNECTIONS	48	/* of each address */
#define HTTP_MEMORY		65536	/* of a connection: line and headers */
#define HTTP_POSTS		4	/* bodies that come in at a time */
#define HTTP_REQUEST_NS		20000000000ULL
#define HTTP_IDLE_S		10

struct viewer_http {
	struct api *api;
	char key[PAGE_KEY_LEN + 1];
	bool otlp;			/* take HTTP_PROFILES_PATH */
	uint16_t port;
	char policy[1024];		/* the page's */
	struct MHD_Daemon *daemon[LISTEN_MAX];
	int epoll[LISTEN_MAX];		/* readable: http_work() */
	int n;
	struct client *clients;		/* those who are connected */
	unsigned int posts;		/* bodies coming in */
	uint64_t refused;		/* requests, by guard.h */
};

/* .api, .key and .otlp are set; takes over the sockets.  0 or -errno after a line in
 * the log. */
int http_start(struct viewer_http *h, const struct listeners *l);
void http_stop(struct viewer_http *h);

/* Serve what is ready.  Returns after how many ms to call again, if nothing
 * becomes readable before. */
int http_work(struct viewer_http *h);

/* How many are open. */
unsigned int http_connections(const struct viewer_http *h);

/* Each second: end connections whose time is over. */
void http_tick(struct viewer_http *h);

#endif /* VIEWER_SERVER_HTTP_H */
