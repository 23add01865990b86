// SPDX-License-Identifier: Apache-2.0
#include "exporterd/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profile/formats/otlp.h"

#define USER_AGENT							\
	"trifold/" TRIFOLD_VERSION " OTel-OTLP-Exporter-C/" TRIFOLD_VERSION

#define HTTP_KEPT_MAX	65536	/* bytes kept for the next answer */

/* --- the answer ----------------------------------------------------------- */

static size_t exporter_http_on_body(char *data, size_t size, size_t n, void *arg)
{
	struct http *h = arg;
	size_t len = size * n;

	if (len > HTTP_ANSWER_MAX - h->body.len) {
		h->answer.too_large = true;
		return 0;
	}
	buffer_add(&h->body, data, len);
	if (h->body.failed)
		return 0;
	return len;
}

static size_t exporter_http_on_header(char *data, size_t size, size_t n, void *arg)
{
	static const char name[] = "Retry-After:";
	struct http *h = arg;
	size_t len = size * n, skip = sizeof(name) - 1;

	/* a status line: earlier headers were those of a proxy or of a 1xx */
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

static void exporter_http_deliver(void *arg, CURLcode code)
{
	struct http *h = arg;
	struct http_answer *a = &h->answer;

	a->status = 0;
	if (code == CURLE_OK || a->too_large)
		curl_easy_getinfo(h->curl.easy, CURLINFO_RESPONSE_CODE, &a->status);
	a->error = h->curl.error;
	if (!h->curl.error[0])
		a->error = curl_easy_strerror(code);
	a->body = h->body.data;
	a->len = h->body.len;
	h->done(h->arg, a);
	/* a large answer is rare: do not keep its memory */
	if (h->body.cap > HTTP_KEPT_MAX && !h->curl.busy)
		exporter_http_forget(h);
}

/* --- life ----------------------------------------------------------------- */

static bool exporter_http_add_line(struct curl_slist **list, const char *line)
{
	struct curl_slist *l = curl_slist_append(*list, line);

	if (!l)
		return false;
	*list = l;
	return true;
}

static bool exporter_http_add_field(struct curl_slist **list, const char *name,
				    const char *value)
{
	char *line;
	bool ok;

	/* "Name:" would remove it, "Name;" sends it empty */
	if (asprintf(&line, *value ? "%s: %s" : "%s;%s", name, value) < 0)
		return false;
	ok = exporter_http_add_line(list, line);
	free(line);
	return ok;
}

static bool exporter_http_make_headers(struct http *h, const struct http_target *t)
{
	bool ok = exporter_http_add_line(&h->headers, "Content-Type: application/x-protobuf") &&
		exporter_http_add_line(&h->headers, "Expect:");
	const struct endpoint *e = t->endpoint;

	if (ok && t->header)
		ok = exporter_http_add_line(&h->headers, t->header);
	if (ok && e->compression != COMPRESSION_NONE)
		ok = exporter_http_add_field(&h->headers, "Content-Encoding",
					     compression_name(e->compression));
	for (size_t i = 0; i < e->headers.n && ok; i++)
		ok = exporter_http_add_field(&h->headers, e->headers.v[2 * i],
					     e->headers.v[2 * i + 1]);
	return ok;
}

#define SET(option, value)						\
	do {								\
		if (curl_easy_setopt(h->curl.easy, option, value) != CURLE_OK) \
			return false;					\
	} while (0)

static bool exporter_http_set_options(struct http *h, const struct http_target *t)
{
	const struct endpoint *e = t->endpoint;

	if (!curl_loop_rules(&h->curl, t->url))
		return false;
	SET(CURLOPT_POST, 1L);
	SET(CURLOPT_USERAGENT, USER_AGENT);
	SET(CURLOPT_HTTPHEADER, h->headers);
	SET(CURLOPT_ACCEPT_ENCODING, "gzip");
	SET(CURLOPT_TIMEOUT_MS, e->timeout_ms);
	SET(CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
	if (e->ca)
		SET(CURLOPT_CAINFO, e->ca);
	if (e->cert)
		SET(CURLOPT_SSLCERT, e->cert);
	if (e->key)
		SET(CURLOPT_SSLKEY, e->key);
	SET(CURLOPT_WRITEFUNCTION, exporter_http_on_body);
	SET(CURLOPT_WRITEDATA, h);
	SET(CURLOPT_HEADERFUNCTION, exporter_http_on_header);
	SET(CURLOPT_HEADERDATA, h);
	return true;
}

int http_init(struct http *h, struct evloop *loop,
	      const struct http_target *target,
	      void (*done)(void *arg, const struct http_answer *answer),
	      void *arg)
{
	int r;

	*h = (struct http){ .done = done, .arg = arg };
	r = curl_loop_init(&h->curl, loop, exporter_http_deliver, h);
	if (r < 0)
		return r;
	if (!exporter_http_make_headers(h, target))
		return -ENOMEM;
	if (!exporter_http_set_options(h, target))
		return -EINVAL;
	return 0;
}

void http_fini(struct http *h)
{
	curl_loop_fini(&h->curl);
	curl_slist_free_all(h->headers);
	exporter_http_forget(h);
}

int http_post(struct http *h, const void *body, size_t len)
{
	if (h->curl.busy)
		return -EBUSY;
	h->answer = (struct http_answer){ 0 };
	h->body.len = 0;
	h->body.failed = false;
	if (curl_easy_setopt(h->curl.easy, CURLOPT_POSTFIELDS, body) ||
	    curl_easy_setopt(h->curl.easy, CURLOPT_POSTFIELDSIZE_LARGE,
			     (curl_off_t)len))
		return -EIO;
	return curl_loop_start(&h->curl);
}

void http_cancel(struct http *h)
{
	curl_loop_cancel(&h->curl);
}
