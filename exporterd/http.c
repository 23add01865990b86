// SPDX-License-Identifier: Apache-2.0
#include "exporterd/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "profile/formats/otlp.h"

#define USER_AGENT							\
	"trifold/" TRIFOLD_VERSION " OTel-OTLP-Exporter-C/" TRIFOLD_VERSION

#define HTTP_KEPT_MAX	65536	/* bytes kept for the next answer */

/* One of curl's sockets in the event loop. */
struct watch {
	struct ev_source src;
	struct http *http;
};

/* --- the answer ----------------------------------------------------------- */

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
	struct http *h = arg;
	size_t len = size * n;

	if (len > HTTP_ANSWER_MAX - h->body.len) {
		h->answer.too_large = true;
		return 0;
	}
	buffer_add(&h->body, data, len);
	return h->body.failed ? 0 : len;
}

static size_t on_header(char *data, size_t size, size_t n, void *arg)
{
	static const char name[] = "Retry-After:";
	struct http *h = arg;
	size_t len = size * n, skip = sizeof(name) - 1;

	/* a status line: what came before was a proxy's, or a 1xx */
	if (len >= 5 && memcmp(data, "HTTP/", 5) == 0)
		h->answer.retry_after[0] = '\0';
	if (len < skip || strncasecmp(data, name, skip) != 0)
		return len;
	while (skip < len && (data[skip] == ' ' || data[skip] == '\t'))
		skip++;
	while (n > skip && strchr(" \t\r\n", data[n - 1]))
		n--;
	if (n - skip < HTTP_VALUE_MAX && !memchr(data + skip, '\0', n - skip)) {
		memcpy(h->answer.retry_after, data + skip, n - skip);
		h->answer.retry_after[n - skip] = '\0';
	}
	return len;
}

static void exporter_http_forget(struct http *h)
{
	free(h->body.data);
	h->body = (struct buffer){ 0 };
}

static void exporter_http_deliver(struct http *h, CURLcode code)
{
	struct http_answer *a = &h->answer;

	curl_multi_remove_handle(h->multi, h->easy);
	h->busy = false;
	a->status = 0;
	if (code == CURLE_OK || a->too_large)
		curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &a->status);
	a->error = h->error[0] ? h->error : curl_easy_strerror(code);
	a->body = h->body.data;
	a->len = h->body.len;
	h->done(h->arg, a);
	/* a large answer is rare: do not keep its memory */
	if (h->body.cap > HTTP_KEPT_MAX && !h->busy)
		exporter_http_forget(h);
}

static void check_done(struct http *h)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(h->multi, &left))) {
		if (m->msg != CURLMSG_DONE)
			continue;
		exporter_http_deliver(h, m->data.result);
		return;
	}
}

/* --- the event loop ------------------------------------------------------- */

static int on_socket_event(struct ev_source *src, uint32_t events)
{
	struct watch *w = (struct watch *)src;
	struct http *h = w->http;
	int running, what = 0;

	if (events & (EPOLLIN | EPOLLHUP))
		what |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (events & EPOLLERR)
		what |= CURL_CSELECT_ERR;
	/* w may be gone after this */
	curl_multi_socket_action(h->multi, src->fd, what, &running);
	check_done(h);
	return 0;
}

static int watch_new(struct http *h, curl_socket_t fd, uint32_t events)
{
	struct watch *w = malloc(sizeof(*w));

	if (!w)
		return -1;
	*w = (struct watch){ { .fd = fd, .fn = on_socket_event }, h };
	if (evloop_add(h->loop, &w->src, events) < 0) {
		free(w);
		return -1;
	}
	curl_multi_assign(h->multi, fd, w);
	return 0;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg,
		     void *assigned)
{
	struct watch *w = assigned;
	struct http *h = arg;
	uint32_t events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (w) {
			evloop_del(h->loop, &w->src);
			free(w);
			curl_multi_assign(h->multi, fd, NULL);
		}
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	if (!w)
		return watch_new(h, fd, events);
	return evloop_mod(h->loop, &w->src, events) < 0 ? -1 : 0;
}

static void exporter_http_on_timer(void *arg)
{
	struct http *h = arg;
	int running;

	curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	check_done(h);
}

static int on_timeout(CURLM *multi, long ms, void *arg)
{
	struct http *h = arg;

	(void)multi;
	if (ms < 0)
		timer_stop(&h->timer);
	else
		timer_set(&h->timer, (uint64_t)ms * NSEC_PER_MSEC, 0);
	return 0;
}

/* --- life ----------------------------------------------------------------- */

static bool add_line(struct curl_slist **list, const char *line)
{
	struct curl_slist *l = curl_slist_append(*list, line);

	if (l)
		*list = l;
	return l != NULL;
}

static bool add_field(struct curl_slist **list, const char *name,
		      const char *value)
{
	char *line;
	bool ok;

	/* "Name:" would remove it, "Name;" sends it empty */
	if (asprintf(&line, *value ? "%s: %s" : "%s;%s", name, value) < 0)
		return false;
	ok = add_line(list, line);
	free(line);
	return ok;
}

static bool make_headers(struct http *h, const struct http_target *t)
{
	bool ok = add_line(&h->headers, "Content-Type: application/x-protobuf") &&
		add_line(&h->headers, "Expect:");
	const struct endpoint *e = t->endpoint;

	if (ok && t->header)
		ok = add_line(&h->headers, t->header);
	if (ok && e->compression != COMPRESSION_NONE)
		ok = add_field(&h->headers, "Content-Encoding",
			       compression_name(e->compression));
	for (size_t i = 0; i < e->headers.n && ok; i++)
		ok = add_field(&h->headers, e->headers.v[2 * i],
			       e->headers.v[2 * i + 1]);
	return ok;
}

#define SET(option, value)						\
	do {								\
		if (curl_easy_setopt(h->easy, option, value) != CURLE_OK) \
			return false;					\
	} while (0)

static bool set_behaviour(struct http *h, const struct http_target *t)
{
	const struct endpoint *e = t->endpoint;

	SET(CURLOPT_URL, t->url);
	SET(CURLOPT_PATH_AS_IS, 1L);
	if (endpoint_is_loopback(t->url))
		SET(CURLOPT_PROXY, "");
#if LIBCURL_VERSION_NUM >= 0x075500
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
	SET(CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_POST, 1L);
	SET(CURLOPT_USERAGENT, USER_AGENT);
	SET(CURLOPT_HTTPHEADER, h->headers);
	SET(CURLOPT_ACCEPT_ENCODING, "gzip");
	SET(CURLOPT_TIMEOUT_MS, e->timeout_ms);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	if (e->ca)
		SET(CURLOPT_CAINFO, e->ca);
	if (e->cert)
		SET(CURLOPT_SSLCERT, e->cert);
	if (e->key)
		SET(CURLOPT_SSLKEY, e->key);
	SET(CURLOPT_ERRORBUFFER, h->error);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, h);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, h);
	return true;
}

static bool set_multi(struct http *h)
{
	CURLM *m = h->multi;

	return !curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, on_socket) &&
	       !curl_multi_setopt(m, CURLMOPT_SOCKETDATA, h) &&
	       !curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, on_timeout) &&
	       !curl_multi_setopt(m, CURLMOPT_TIMERDATA, h) &&
	       !curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, 2L);
}

int http_init(struct http *h, struct evloop *loop,
	      const struct http_target *target,
	      void (*done)(void *arg, const struct http_answer *answer),
	      void *arg)
{
	int r;

	*h = (struct http){ .loop = loop, .done = done, .arg = arg };
	r = timer_init(&h->timer, loop, exporter_http_on_timer, h);
	if (r < 0)
		return r;
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return -ENOMEM;
	h->multi = curl_multi_init();
	h->easy = curl_easy_init();
	if (!h->multi || !h->easy || !make_headers(h, target))
		return -ENOMEM;
	return set_behaviour(h, target) && set_multi(h) ? 0 : -EINVAL;
}

void http_fini(struct http *h)
{
	http_cancel(h);
	curl_easy_cleanup(h->easy);
	curl_multi_cleanup(h->multi);
	curl_slist_free_all(h->headers);
	timer_fini(&h->timer);
	exporter_http_forget(h);
	curl_global_cleanup();
}

int http_post(struct http *h, const void *body, size_t len)
{
	if (h->busy)
		return -EBUSY;
	h->answer = (struct http_answer){ 0 };
	h->body.len = 0;
	h->body.failed = false;
	h->error[0] = '\0';
	if (curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, body) ||
	    curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE,
			     (curl_off_t)len) ||
	    curl_multi_add_handle(h->multi, h->easy))
		return -EIO;
	h->busy = true;
	return 0;
}

void http_cancel(struct http *h)
{
	if (h->busy)
		curl_multi_remove_handle(h->multi, h->easy);
	h->busy = false;
}
