// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/number.h"
#include "viewer/server/body.h"
#include "viewer/server/decode.h"

/* made of viewer/live.html by viewer/page.mk */
extern const unsigned char live_html[];
extern const unsigned long live_html_len;

#define TICK_MS		1000
#define IDLE_TICK_MS	5000	/* no client is connected */

struct client {
	struct client *next, **from;
	struct MHD_Connection *c;
	uint64_t deadline_ns;
	bool keyed;			/* a request of it had the key */
	bool shut;			/* it is about to be closed */
};

/* One request. */
struct call {
	bool post;
	struct viewer_body body;
	int error;			/* of body_add() */
};

/* --- answers ------------------------------------------------------------------------ */

/* The policy of all answers but the page. */
static const char no_policy[] =
	"default-src 'none'; frame-ancestors 'none'; sandbox";

static void viewer_http_put_headers(struct MHD_Response *r, const char *policy)
{
	static const char *const headers[][2] = {
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cache-Control", "no-store" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Cross-Origin-Embedder-Policy", "require-corp" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "X-Frame-Options", "DENY" },
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
	MHD_add_response_header(r, "Content-Security-Policy", policy);
}

/* extra: another header, or NULL.  Takes over a->body. */
static enum MHD_Result viewer_http_reply(struct MHD_Connection *c, struct viewer_answer *a,
					 const char *extra, const char *value)
{
	struct MHD_Response *r;
	char disposition[160];
	enum MHD_Result done;

	if (a->body.data)
		r = MHD_create_response_from_buffer(a->body.len, a->body.data,
						    MHD_RESPMEM_MUST_FREE);
	else
		r = MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
	if (!r) {
		free(a->body.data);
		return MHD_NO;
	}
	viewer_http_put_headers(r, no_policy);
	if (a->type)
		MHD_add_response_header(r, "Content-Type", a->type);
	if (a->file[0]) {
		snprintf(disposition, sizeof(disposition),
			 "attachment; filename=\"%s\"", a->file);
		MHD_add_response_header(r, "Content-Disposition", disposition);
	}
	if (extra)
		MHD_add_response_header(r, extra, value);
	done = MHD_queue_response(c, a->status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result viewer_http_refuse(struct MHD_Connection *c,
					  unsigned int status, const char *why)
{
	struct viewer_answer a = { 0 };

	api_error(&a, status, why);
	switch (status) {
	case 401:
		return viewer_http_reply(c, &a, "WWW-Authenticate", "Bearer");
	case 503:
		return viewer_http_reply(c, &a, "Retry-After", "1");
	default:
		return viewer_http_reply(c, &a, NULL, NULL);
	}
}

static enum MHD_Result viewer_http_refuse_method(struct MHD_Connection *c,
						 const char *allowed)
{
	struct viewer_answer a = { 0 };

	api_error(&a, 405, "not a method for this path");
	return viewer_http_reply(c, &a, "Allow", allowed);
}

static enum MHD_Result viewer_http_give_page(struct viewer_http *h,
					     struct MHD_Connection *c)
{
	struct MHD_Response *r;
	enum MHD_Result done;

	r = MHD_create_response_from_buffer(live_html_len, (void *)live_html,
					    MHD_RESPMEM_PERSISTENT);
	if (!r)
		return MHD_NO;
	viewer_http_put_headers(r, h->policy);
	MHD_add_response_header(r, "Content-Type", "text/html; charset=utf-8");
	done = MHD_queue_response(c, 200, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result viewer_http_add_param(void *arg, enum MHD_ValueKind kind,
					     const char *key, size_t key_len,
					     const char *value, size_t value_len)
{
	struct params *p = arg;

	(void)kind;
	if (p->n == PARAMS_MAX) {
		p->over = true;
		return MHD_NO;
	}
	if (!value) {
		value = "";
		value_len = 0;
	}
	p->v[p->n] = (struct param){ key, value, key_len, value_len };
	p->n++;
	return MHD_YES;
}

/* Send an answer of the API.  503: not enough memory now. */
static enum MHD_Result viewer_http_reply_api(struct MHD_Connection *c, struct viewer_answer *a)
{
	if (a->status == 503)
		return viewer_http_reply(c, a, "Retry-After", "1");
	return viewer_http_reply(c, a, NULL, NULL);
}

static enum MHD_Result viewer_http_give_api(struct viewer_http *h, struct MHD_Connection *c,
					    const char *path)
{
	struct params p = { .n = 0 };
	struct viewer_answer a;

	MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, viewer_http_add_param, &p);
	api_get(h->api, path, &p, clock_ns(CLOCK_REALTIME), &a);
	return viewer_http_reply_api(c, &a);
}

static enum MHD_Result viewer_http_take_body(struct viewer_http *h,
					     struct MHD_Connection *c, struct call *call)
{
	struct viewer_answer a;
	int r = call->error;

	if (r == 0)
		r = body_end(&call->body);
	if (r == -E2BIG)
		return viewer_http_refuse(c, 413, "the request is too large");
	if (r == -EPROTO)
		return viewer_http_refuse(c, 400,
					  "the body is not encoded as it says");
	if (r)
		return viewer_http_refuse(c, 503, "not enough memory");
	api_post(h->api, call->body.bytes.data, call->body.bytes.len,
		 clock_ns(CLOCK_REALTIME), &a);
	return viewer_http_reply_api(c, &a);
}

/* --- headers of a request ------------------------------------------------------------- */

struct asked {
	const struct viewer_http *h;
	unsigned int hosts, keys;
	bool foreign;			/* a host or an origin that is not this server */
	bool keyed;
	bool body;
	bool not_protobuf, encoded;	/* encoded: in an unknown way, or twice */
	enum coding coding;
	bool too_long;
};

/* Is a header's value this word? */
static bool viewer_http_value_is(const char *value, const char *want)
{
	size_t len = strlen(want);

	return !strncasecmp(value, want, len) &&
	       value[len + strspn(value + len, " \t")] == '\0';
}

/* Is it this word, or "word; parameters"? */
static bool viewer_http_type_is(const char *value, const char *want)
{
	size_t len = strlen(want);

	return !strncasecmp(value, want, len) &&
	       (value[len] == ';' || viewer_http_value_is(value, want));
}

/* Is a Content-Length invalid or above the limit? */
static bool viewer_http_too_long(const char *value)
{
	uint64_t len;

	return !number_read(value, &len) || len > DECODE_BODY_MAX;
}

static void viewer_http_see_body_header(struct asked *a, const char *key, const char *value)
{
	if (!strcasecmp(key, "Content-Length")) {
		if (strspn(value, "0") != strlen(value))
			a->body = true;
		if (viewer_http_too_long(value))
			a->too_long = true;
	} else if (!strcasecmp(key, "Transfer-Encoding")) {
		a->body = true;
	} else if (!strcasecmp(key, "Content-Type")) {
		a->not_protobuf = !viewer_http_type_is(value, "application/x-protobuf");
	} else if (!strcasecmp(key, "Content-Encoding")) {
		if (a->coding != BODY_PLAIN)
			a->encoded = true;
		if (viewer_http_value_is(value, "gzip"))
			a->coding = BODY_GZIP;
		else if (viewer_http_value_is(value, "zstd"))
			a->coding = BODY_ZSTD;
		else if (viewer_http_value_is(value, "identity"))
			a->coding = BODY_PLAIN;
		else
			a->encoded = true;
	}
}

static enum MHD_Result viewer_http_see_header(void *arg, enum MHD_ValueKind kind,
					      const char *key, const char *value)
{
	struct asked *a = arg;

	(void)kind;
	if (!value)
		value = "";
	if (!strcasecmp(key, "Host")) {
		a->hosts++;
		if (!guard_host(value, a->h->port))
			a->foreign = true;
	} else if (!strcasecmp(key, "Origin")) {
		if (!guard_origin(value, a->h->port))
			a->foreign = true;
	} else if (!strcasecmp(key, "Sec-Fetch-Site")) {
		if (!guard_site(value))
			a->foreign = true;
	} else if (!strcasecmp(key, "Authorization")) {
		a->keys++;
		a->keyed = guard_key(value, a->h->key);
	} else {
		viewer_http_see_body_header(a, key, value);
	}
	return MHD_YES;
}

static struct client *client_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (!i)
		return NULL;
	return i->socket_context;
}

/* From these headers on the request has its time. */
static void client_has_key(struct MHD_Connection *c)
{
	struct client *p = client_of(c);

	if (!p)
		return;
	p->keyed = true;
	p->deadline_ns = now_ns() + HTTP_REQUEST_NS;
}

/* libmicrohttpd sees the end of input and closes it. */
static void client_shut(struct client *p)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(p->c, MHD_CONNECTION_INFO_CONNECTION_FD);

	p->shut = true;
	if (i)
		shutdown(i->connect_fd, SHUT_RDWR);
}

/* Judge a request by its headers: 0, or a status with a reason (405: *why has the
 * allowed methods). */
static unsigned int viewer_http_judge(const struct asked *a, const char *path,
				      const char *method, const char **why)
{
	bool post = a->h->otlp && !strcmp(path, HTTP_PROFILES_PATH);
	bool allowed;

	*why = "only this host's own page may ask";
	if (a->hosts != 1 || a->foreign)
		return 403;
	*why = "no such path";
	if (strcmp(path, "/") && !post && !api_knows(path))
		return 404;
	*why = "the key of this trifold is missing: see its output";
	if (strcmp(path, "/") && (a->keys != 1 || !a->keyed))
		return 401;
	if (post) {
		*why = "POST";
		allowed = !strcmp(method, "POST");
	} else {
		*why = "GET, HEAD";
		allowed = !strcmp(method, "GET") || !strcmp(method, "HEAD");
	}
	if (!allowed)
		return 405;
	*why = "the request is too large";
	if (a->too_long || (!post && a->body))
		return 413;
	*why = "Content-Type application/x-protobuf, Content-Encoding gzip, zstd or none";
	if (post && (a->not_protobuf || a->encoded))
		return 415;
	*why = "too many requests at once";
	if (post && a->h->posts >= HTTP_POSTS)
		return 503;
	return 0;
}

static enum MHD_Result viewer_http_begin(struct viewer_http *h,
					 struct MHD_Connection *c,
					 const char *path, const char *method,
					 void **state)
{
	struct asked a = { .h = h, .not_protobuf = true };
	unsigned int status;
	struct call *call;
	const char *why;

	MHD_get_connection_values(c, MHD_HEADER_KIND, viewer_http_see_header, &a);
	status = viewer_http_judge(&a, path, method, &why);
	if (status == 401 || status == 403)
		h->refused++;
	else if (a.keyed && !a.foreign)
		client_has_key(c);
	if (status == 405)
		return viewer_http_refuse_method(c, why);
	if (status)
		return viewer_http_refuse(c, status, why);
	call = calloc(1, sizeof(*call));
	if (!call)
		return MHD_NO;
	if (!strcmp(method, "POST")) {
		if (body_init(&call->body, a.coding, DECODE_BODY_MAX)) {
			free(call);
			return MHD_NO;
		}
		call->post = true;
		h->posts++;
	}
	*state = call;
	return MHD_YES;
}

static enum MHD_Result http_on_request(void *arg, struct MHD_Connection *c,
				       const char *path, const char *method,
				       const char *version, const char *data,
				       size_t *len, void **state)
{
	struct viewer_http *h = arg;
	struct call *call = *state;

	(void)version;
	if (!call)
		return viewer_http_begin(h, c, path, method, state);
	if (*len) {
		if (!call->error)
			call->error = body_add(&call->body, data, *len);
		*len = 0;
		/* the answer follows the body; http_tick() limits the time */
		return MHD_YES;
	}
	if (call->post)
		return viewer_http_take_body(h, c, call);
	if (!strcmp(path, "/"))
		return viewer_http_give_page(h, c);
	return viewer_http_give_api(h, c, path);
}

/* --- connections ---------------------------------------------------------------------- */

static void viewer_http_on_completed(void *arg, struct MHD_Connection *c, void **state,
				     enum MHD_RequestTerminationCode how)
{
	struct client *p = client_of(c);
	struct call *call = *state;
	struct viewer_http *h = arg;

	(void)how;
	if (p && p->keyed)
		p->deadline_ns = now_ns() + HTTP_REQUEST_NS;
	else if (p)
		p->deadline_ns = now_ns() + HTTP_STRANGER_NS;
	if (!call)
		return;
	if (call->post) {
		h->posts--;
		body_fini(&call->body);
	}
	free(call);
	*state = NULL;
}

/* Any user may connect, and wait: nobody with the key waits for a place behind them.  The
 * newest is first in the list. */
static void viewer_http_limit_strangers(struct viewer_http *h)
{
	struct client *oldest = NULL;
	unsigned int n = 0;

	for (struct client *p = h->clients; p; p = p->next) {
		if (p->keyed || p->shut)
			continue;
		oldest = p;
		n++;
	}
	if (n <= HTTP_STRANGERS)
		return;
	client_shut(oldest);
	h->strangers_ended++;
	if (log_limited(&h->stranger_log))
		log_warn("%llu connections without the key were ended: there may be %d",
			 (unsigned long long)h->strangers_ended, HTTP_STRANGERS);
}

static void viewer_http_on_connection(void *arg, struct MHD_Connection *c, void **context,
				      enum MHD_ConnectionNotificationCode what)
{
	struct viewer_http *h = arg;
	struct client *p = *context;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (!p)
			return;
		*p->from = p->next;
		if (p->next)
			p->next->from = p->from;
		free(p);
		*context = NULL;
		return;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return;
	*p = (struct client){
		.next = h->clients, .from = &h->clients, .c = c,
		.deadline_ns = now_ns() + HTTP_STRANGER_NS,
	};
	if (h->clients)
		h->clients->from = &p->next;
	h->clients = p;
	*context = p;
	viewer_http_limit_strangers(h);
}

unsigned int http_connections(const struct viewer_http *h)
{
	unsigned int n = 0;

	for (const struct client *c = h->clients; c; c = c->next)
		n++;
	return n;
}

void http_tick(struct viewer_http *h)
{
	uint64_t now = now_ns();

	for (struct client *p = h->clients; p; p = p->next) {
		if (now >= p->deadline_ns)
			client_shut(p);
	}
}

/* --- life -------------------------------------------------------------------------------- */

static void viewer_http_say(void *arg, const char *fmt, va_list ap)
{
	char text[512];
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	(void)arg;
	while (n > 0 && (size_t)n < sizeof(text) && text[n - 1] == '\n')
		text[--n] = '\0';
	log_debug("libmicrohttpd: %s", text);
}

/*
 * The Content-Security-Policy of the live page for a header: what the page's own <meta>
 * says, and what only a header can say (that no other page may frame it).  0, or
 * -EINVAL: the page has none, or it is too long.
 */
static int viewer_http_page_policy(char *out, size_t size)
{
	static const char before[] =
		"http-equiv=\"Content-Security-Policy\" content=\"";
	const char *s = memmem(live_html, live_html_len, before, strlen(before)), *end;
	int n;

	if (!s)
		return -EINVAL;
	s += strlen(before);
	end = memchr(s, '"', live_html_len -
		     (size_t)(s - (const char *)live_html));
	if (!end || memchr(s, '\n', (size_t)(end - s)))
		return -EINVAL;
	n = snprintf(out, size, "%.*s; frame-ancestors 'none'", (int)(end - s), s);
	if (n < 0 || (size_t)n >= size)
		return -EINVAL;
	return 0;
}

static struct MHD_Daemon *http_start_one(struct viewer_http *h, int fd)
{
	return MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		http_on_request, h, MHD_OPTION_EXTERNAL_LOGGER, viewer_http_say,
		NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)HTTP_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)HTTP_IDLE_S,
		MHD_OPTION_NOTIFY_COMPLETED, viewer_http_on_completed, h,
		MHD_OPTION_NOTIFY_CONNECTION, viewer_http_on_connection, h, MHD_OPTION_END);
}

int http_start(struct viewer_http *h, const struct listeners *l)
{
	int r = viewer_http_page_policy(h->policy, sizeof(h->policy));

	if (r) {
		log_err("the page has no Content-Security-Policy");
		return r;
	}
	h->port = l->port;
	for (int i = 0; i < l->n; i++) {
		const union MHD_DaemonInfo *info = NULL;

		h->daemon[i] = http_start_one(h, l->fd[i]);
		if (h->daemon[i])
			info = MHD_get_daemon_info(h->daemon[i], MHD_DAEMON_INFO_EPOLL_FD);
		if (!info) {
			log_err("libmicrohttpd cannot be started");
			return -EIO;
		}
		h->epoll[i] = info->epoll_fd;
		h->n = i + 1;
	}
	return 0;
}

void http_stop(struct viewer_http *h)
{
	for (int i = 0; i < h->n; i++)
		MHD_stop_daemon(h->daemon[i]);
	h->n = 0;
}

int http_work(struct viewer_http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;
	int next = IDLE_TICK_MS;

	for (int i = 0; i < h->n; i++)
		MHD_run(h->daemon[i]);
	if (h->clients)
		next = TICK_MS;
	for (int i = 0; i < h->n; i++) {
		if (MHD_get_timeout(h->daemon[i], &ms) == MHD_YES &&
		    ms < (unsigned int)next)
			next = (int)ms;
	}
	return next;
}
