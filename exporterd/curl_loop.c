// SPDX-License-Identifier: Apache-2.0
#include "exporterd/curl_loop.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "exporterd/endpoint.h"

/* One of curl's sockets in the event loop. */
struct watch {
	struct ev_source src;
	struct curl_loop *curl;
};

static void curl_loop_check(struct curl_loop *c)
{
	CURLMsg *m;
	int left;

	for (;;) {
		CURLcode code;

		m = curl_multi_info_read(c->multi, &left);
		if (!m)
			return;
		if (m->msg != CURLMSG_DONE)
			continue;
		code = m->data.result;
		curl_multi_remove_handle(c->multi, c->easy);
		c->busy = false;
		c->done(c->arg, code);
		return;
	}
}

/* --- the event loop ------------------------------------------------------- */

static int curl_loop_on_event(struct ev_source *src, uint32_t events)
{
	struct watch *w = (struct watch *)src;
	struct curl_loop *c = w->curl;
	int running, what = 0;

	if (events & (EPOLLIN | EPOLLHUP))
		what |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (events & EPOLLERR)
		what |= CURL_CSELECT_ERR;
	/* this may free w */
	curl_multi_socket_action(c->multi, src->fd, what, &running);
	curl_loop_check(c);
	return 0;
}

static int curl_loop_watch(struct curl_loop *c, curl_socket_t fd, uint32_t events)
{
	struct watch *w = malloc(sizeof(*w));

	if (!w)
		return -1;
	*w = (struct watch){ { .fd = fd, .fn = curl_loop_on_event }, c };
	if (evloop_add(c->loop, &w->src, events) < 0) {
		free(w);
		return -1;
	}
	curl_multi_assign(c->multi, fd, w);
	return 0;
}

static int curl_loop_on_socket(CURL *easy, curl_socket_t fd, int what, void *arg,
			       void *assigned)
{
	struct watch *w = assigned;
	struct curl_loop *c = arg;
	uint32_t events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (w) {
			evloop_del(c->loop, &w->src);
			free(w);
			curl_multi_assign(c->multi, fd, NULL);
		}
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	if (!w)
		return curl_loop_watch(c, fd, events);
	if (evloop_mod(c->loop, &w->src, events) < 0)
		return -1;
	return 0;
}

static void curl_loop_on_timer(void *arg)
{
	struct curl_loop *c = arg;
	int running;

	curl_multi_socket_action(c->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	curl_loop_check(c);
}

static int curl_loop_on_timeout(CURLM *multi, long ms, void *arg)
{
	struct curl_loop *c = arg;

	(void)multi;
	if (ms < 0)
		timer_stop(&c->timer);
	else
		timer_set(&c->timer, (uint64_t)ms * NSEC_PER_MSEC, 0);
	return 0;
}

/* --- life ----------------------------------------------------------------- */

static bool curl_loop_set_multi(struct curl_loop *c)
{
	CURLM *m = c->multi;

	return !curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, curl_loop_on_socket) &&
	       !curl_multi_setopt(m, CURLMOPT_SOCKETDATA, c) &&
	       !curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, curl_loop_on_timeout) &&
	       !curl_multi_setopt(m, CURLMOPT_TIMERDATA, c) &&
	       !curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, 2L);
}

int curl_loop_init(struct curl_loop *c, struct evloop *loop,
		   void (*done)(void *arg, CURLcode code), void *arg)
{
	int r;

	*c = (struct curl_loop){ .loop = loop, .done = done, .arg = arg };
	r = timer_init(&c->timer, loop, curl_loop_on_timer, c);
	if (r < 0)
		return r;
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return -ENOMEM;
	c->multi = curl_multi_init();
	c->easy = curl_easy_init();
	if (!c->multi || !c->easy)
		return -ENOMEM;
	if (!curl_loop_set_multi(c))
		return -EINVAL;
	return 0;
}

void curl_loop_fini(struct curl_loop *c)
{
	curl_loop_cancel(c);
	curl_easy_cleanup(c->easy);
	curl_multi_cleanup(c->multi);
	timer_fini(&c->timer);
	curl_global_cleanup();
}

#define SET(option, value)						\
	do {								\
		if (curl_easy_setopt(c->easy, option, value) != CURLE_OK) \
			return false;					\
	} while (0)

bool curl_loop_rules(struct curl_loop *c, const char *url)
{
	SET(CURLOPT_URL, url);
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_PROXY, endpoint_is_loopback(url) ? "" : NULL);
#if LIBCURL_VERSION_NUM >= 0x075500
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
	SET(CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_ERRORBUFFER, c->error);
	return true;
}

int curl_loop_start(struct curl_loop *c)
{
	if (c->busy)
		return -EBUSY;
	c->error[0] = '\0';
	if (curl_multi_add_handle(c->multi, c->easy))
		return -EIO;
	c->busy = true;
	return 0;
}

void curl_loop_cancel(struct curl_loop *c)
{
	if (c->busy)
		curl_multi_remove_handle(c->multi, c->easy);
	c->busy = false;
}
