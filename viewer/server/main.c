// SPDX-License-Identifier: Apache-2.0
/*
 * viewer - keeps the last hour of profiles and serves a page that shows them
 *
 * Unprivileged.  Subscribes to the hub's batches, accepts OTLP over HTTP with
 * --otlp, and serves a page to browsers on this host: see confine.h for what it can
 * do, docs/VIEWER.md for the rest.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/service.h"
#include "common/signals.h"
#include "viewer/server/confine.h"
#include "viewer/server/feed.h"
#include "viewer/server/http.h"

struct viewer {
	struct viewer_config cfg;
	struct store store;
	struct feed feed;
	struct api api;
	struct viewer_http http;
	int signals;
};

static int viewer_catch_signals(struct viewer *v)
{
	static const int which[] = { SIGTERM, SIGINT, 0 };

	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return -errno;
	v->signals = signals_open(which);
	if (v->signals < 0)
		return v->signals;
	return 0;
}

static int viewer_open_sockets(struct viewer_config *c)
{
	int r;

	if (c->sockets.n)
		return 0;
	r = listen_open(c->family, c->listen_port, &c->sockets);
	if (r)
		log_err("cannot listen on port %u of loopback: %s",
			c->listen_port, strerror(-r));
	return r;
}

static int viewer_start(struct viewer *v)
{
	bool own_key = !v->cfg.key[0];
	int r = viewer_open_sockets(&v->cfg);

	if (r == 0)
		r = viewer_catch_signals(v);
	if (r == 0)
		r = service_init();
	if (r == 0 && own_key)
		r = page_key_new(v->cfg.key);
	if (r)
		return r;
	service_scrub_env();
	store_init(&v->store, (uint64_t)v->cfg.memory_mib << 20,
		   v->cfg.keep_s * NSEC_PER_SEC);
	feed_init(&v->feed, &v->store, v->cfg.hub, v->cfg.hub_uid);
	api_init(&v->api, &v->store, v->cfg.hub ? &v->feed : NULL);
	v->http.api = &v->api;
	v->http.otlp = v->cfg.otlp;
	memcpy(v->http.key, v->cfg.key, sizeof(v->http.key));
	r = http_start(&v->http, &v->cfg.sockets);
	if (r == 0 && own_key)
		log_info("the page: http://%s:%u/#key=%s",
			 listen_host(&v->cfg.sockets), v->cfg.sockets.port, v->cfg.key);
	return r;
}

static void viewer_tick(struct viewer *v)
{
	const struct store *s = &v->store;
	unsigned int browsers = http_connections(&v->http);

	http_tick(&v->http);
	store_expire(&v->store, clock_ns(CLOCK_REALTIME));
	service_alive();
	service_status("%u connections of browsers, %llu samples of at most %llu minutes in %llu KiB",
		       browsers, (unsigned long long)s->samples,
		       (unsigned long long)v->cfg.keep_s / 60,
		       (unsigned long long)s->bytes / 1024);
}

static int viewer_run(struct viewer *v)
{
	struct pollfd p[2 + LISTEN_MAX] = {
		{ .fd = v->signals, .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	uint64_t next = 0;
	int ms = 0;

	for (int i = 0; i < v->http.n; i++)
		p[2 + i] = (struct pollfd){ .fd = v->http.epoll[i],
					    .events = POLLIN };
	service_ready();
	for (;;) {
		uint64_t now;

		p[1].fd = v->feed.hub.conn.fd;
		if (poll(p, 2 + (nfds_t)v->http.n, ms) < 0 && errno != EINTR)
			return -errno;
		if (p[0].revents)
			return 0;
		ms = feed_work(&v->feed, http_work(&v->http));
		now = now_ns();
		if (now >= next) {
			viewer_tick(v);
			next = now + NSEC_PER_SEC;
		}
	}
}

int main(int argc, char **argv)
{
	static struct viewer v;
	int r;

	log_init("trifold-viewer", false);
	r = viewer_config_load(&v.cfg, argc, argv);
	if (r < 0)		/* --help, --version */
		return 0;
	if (r)
		return r;
	log_init("trifold-viewer", v.cfg.debug);
	r = viewer_start(&v);
	if (r < 0) {
		log_err("cannot start: %s", strerror(-r));
	} else {
		viewer_confine(&v.cfg);
		r = viewer_run(&v);
	}
	service_stopping();
	http_stop(&v.http);
	feed_fini(&v.feed);
	store_fini(&v.store);
	return r < 0;
}
