/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl_loop - one transfer of libcurl at a time, driven by the event loop
 *
 * The caller sets the options of the easy handle.  Users: http.h, download.h.
 */
#ifndef EXPORTERD_CURL_LOOP_H
#define EXPORTERD_CURL_LOOP_H

#include <curl/curl.h>
#include <stdbool.h>

#include "common/evloop.h"
#include "exporterd/timer.h"

struct curl_loop {
	struct evloop *loop;
	CURLM *multi;
	CURL *easy;
	struct timer timer;		/* curl's timeouts */
	bool busy;
	void (*done)(void *arg, CURLcode code);
	void *arg;
	char error[CURL_ERROR_SIZE];
};

/*
 * Make both handles.  done is called once for each curl_loop_start() that
 * returned 0 and was not cancelled; it may start again.  0 or -errno;
 * curl_loop_fini() accepts either.
 */
int curl_loop_init(struct curl_loop *c, struct evloop *loop,
		   void (*done)(void *arg, CURLcode code), void *arg);
void curl_loop_fini(struct curl_loop *c);

/*
 * What holds for every request to this URL: http and https alone, certificates
 * are checked, no redirect, no proxy for this host, no signals, .error is
 * filled in.  False: curl refuses.
 */
bool curl_loop_rules(struct curl_loop *c, const char *url);

/* Begin.  Never calls done itself.  Returns 0, -EBUSY or -EIO. */
int curl_loop_start(struct curl_loop *c);
void curl_loop_cancel(struct curl_loop *c);

#endif /* EXPORTERD_CURL_LOOP_H */
