/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http - one OTLP request at a time, by libcurl, driven by the event loop
 *
 * Rules: OTLP specification 1.11.0, "OTLP/HTTP".  Certificates are checked;
 * redirects are not followed; proxies come from curl's usual variables, but
 * not for this host (endpoint_is_loopback()).  An answer has at most
 * HTTP_ANSWER_MAX bytes after decompression.
 */
#ifndef EXPORTERD_HTTP_H
#define EXPORTERD_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/evloop.h"
#include "exporterd/curl_loop.h"
#include "exporterd/endpoint.h"

#define HTTP_ANSWER_MAX	(4u << 20)	/* the specification's default */
#define HTTP_VALUE_MAX	64		/* of Retry-After, NUL included */

/* Valid during the callback only. */
struct http_answer {
	long status;		/* 0: no answer, or an incomplete one */
	const char *error;	/* why, if status is 0 */
	bool too_large;		/* the body is over HTTP_ANSWER_MAX */
	const uint8_t *body;
	size_t len;
	char retry_after[HTTP_VALUE_MAX];	/* "": none, or too long */
};

struct http {
	struct curl_loop curl;
	struct curl_slist *headers;
	void (*done)(void *arg, const struct http_answer *answer);
	void *arg;
	struct http_answer answer;
	struct buffer body;
};

/* Where to send requests. */
struct http_target {
	const struct endpoint *endpoint;	/* its url is not used */
	const char *url;
	const char *header;	/* one more line, without CRLF; or NULL */
};

/*
 * Prepare; what target points to is borrowed.  done is called once for each
 * http_post() that returned 0 and was not cancelled; it may post again.
 * Returns 0 or -errno; http_fini() accepts either.
 */
int http_init(struct http *h, struct evloop *loop,
	      const struct http_target *target,
	      void (*done)(void *arg, const struct http_answer *answer),
	      void *arg);
void http_fini(struct http *h);

/* Send a body, compressed already; it is borrowed until done or http_cancel().
 * Never calls done itself.  Returns 0, -EBUSY or -EIO. */
int http_post(struct http *h, const void *body, size_t len);
void http_cancel(struct http *h);

#endif /* EXPORTERD_HTTP_H */
