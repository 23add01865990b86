/* SPDX-License-Identifier: Apache-2.0 */
/* fake_http - HTTP, a timer and a clock (fake_timer.h) that the test drives; for one
 * source file of a test. */
#ifndef TESTS_FAKE_HTTP_H
#define TESTS_FAKE_HTTP_H

#include <errno.h>

#include "exporterd/http.h"
#include "tests/unit/fake_timer.h"
#include "tests/unit/harness.h"

static int post_fails;
static unsigned int posts;

int http_init(struct http *h, struct evloop *loop,
	      const struct http_target *target,
	      void (*done)(void *arg, const struct http_answer *answer),
	      void *arg)
{
	CHECK(target->endpoint && target->url);
	*h = (struct http){ .curl.loop = loop, .done = done, .arg = arg };
	return 0;
}

void http_fini(struct http *h)
{
	(void)h;
}

int http_post(struct http *h, const void *body, size_t len)
{
	CHECK(!h->curl.busy && body && len);
	posts++;
	if (post_fails)
		return -EIO;
	h->curl.busy = true;
	return 0;
}

void http_cancel(struct http *h)
{
	h->curl.busy = false;
}

#endif /* TESTS_FAKE_HTTP_H */
