/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http - the server: libmicrohttpd, one thread, on open sockets
 *
 * A request is accepted or refused by its headers alone (guard.h), before its body is
 * read.  Its headers must come within HTTP_REQUEST_NS of the end of the previous one, the rest
 * and the answer within as much of the headers, so that clients which send a byte now and then
 * cannot keep their connections; the first headers, which show the key, within
 * HTTP_STRANGER_NS.
 */
#ifndef VIEWER_SERVER_HTTP_H
#define VIEWER_SERVER_HTTP_H

#include <microhttpd.h>

#include "viewer/server/api.h"
#include "viewer/server/guard.h"
#include "common/listen.h"
#include "common/log_limit.h"

#define HTTP_PROFILES_PATH	"/v1development/profiles"
#define HTTP_CONNECTIONS	48	/* of each address */
#define HTTP_STRANGERS	32	/* of both, that have not shown the key: one more ends the oldest */
#define HTTP_MEMORY		65536	/* of a connection: line and headers */
#define HTTP_POSTS		4	/* bodies that are received at a time */
#define HTTP_REQUEST_NS		20000000000ULL
#define HTTP_STRANGER_NS	5000000000ULL
#define HTTP_IDLE_S		10

struct viewer_http {
	struct api *api;
	char key[PAGE_KEY_LEN + 1];
	bool otlp;			/* accept HTTP_PROFILES_PATH */
	uint16_t port;
	char policy[1024];		/* Content-Security-Policy of the page */
	struct MHD_Daemon *daemon[LISTEN_MAX];
	int epoll[LISTEN_MAX];		/* when readable, call http_work() */
	int n;
	struct client *clients;		/* connections */
	unsigned int posts;		/* bodies being received */
	uint64_t refused;		/* requests, by guard.h */
	uint64_t strangers_ended;	/* connections without the key: there were too many */
	struct log_limit stranger_log;
};

/* The caller sets .api, .key and .otlp before; takes over the sockets.  0 or -errno after
 * a line in the log. */
int http_start(struct viewer_http *h, const struct listeners *l);
void http_stop(struct viewer_http *h);

/* Serve requests.  Returns after how many ms to call it again if nothing becomes
 * readable before. */
int http_work(struct viewer_http *h);

/* The number of open connections. */
unsigned int http_connections(const struct viewer_http *h);

/* To be called each second: end connections that took too long. */
void http_tick(struct viewer_http *h);

#endif /* VIEWER_SERVER_HTTP_H */
