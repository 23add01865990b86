// SPDX-License-Identifier: Apache-2.0
#include "exporterd/debuginfod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "exporterd/endpoint.h"

#define MINUTE_NS	(60 * NSEC_PER_SEC)
#define REQUEST_NS	(MINUTE_NS / DEBUGINFOD_REQUESTS)
#define PATH		"/buildid/%s/debuginfo"

static void debuginfod_next(struct debuginfod *d);

static bool debuginfod_same(const struct msg_debuginfo_wanted *a,
			    const struct msg_debuginfo_wanted *b)
{
	return a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

/* --- build IDs that are not requested for some time --------------------------- */

static bool debuginfod_knows(const struct debuginfod *d,
			     const struct msg_debuginfo_wanted *w)
{
	uint64_t now = now_ns();

	for (unsigned int i = 0; i < DEBUGINFOD_REMEMBERED; i++) {
		const struct debuginfod_known *k = &d->known[i];

		if (k->until_ns > now && debuginfod_same(&k->wanted, w))
			return true;
	}
	return false;
}

/* How many are of this owner. */
static unsigned int debuginfod_held(const struct debuginfod *d, uint32_t owner)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < DEBUGINFOD_REMEMBERED; i++) {
		if (d->known[i].wanted.owner == owner)
			n++;
	}
	return n;
}

/* Where to remember another one: one that is over, or else the oldest of the owner who has
 * most. */
static struct debuginfod_known *debuginfod_place(struct debuginfod *d)
{
	struct debuginfod_known *best = NULL;
	uint64_t now = now_ns();
	unsigned int most = 0;

	for (unsigned int i = 0; i < DEBUGINFOD_REMEMBERED; i++) {
		struct debuginfod_known *k = &d->known[i];
		unsigned int n;

		if (k->until_ns <= now)
			return k;
		if (best && best->wanted.owner == k->wanted.owner) {
			if (k->number < best->number)
				best = k;
			continue;
		}
		n = debuginfod_held(d, k->wanted.owner);
		if (n > most) {
			best = k;
			most = n;
		}
	}
	return best;
}

static void debuginfod_remember(struct debuginfod *d,
				const struct msg_debuginfo_wanted *w, uint64_t seconds)
{
	*debuginfod_place(d) = (struct debuginfod_known){
		now_ns() + seconds * NSEC_PER_SEC, d->remembered++, *w,
	};
}

/* --- servers ------------------------------------------------------------------ */

static void debuginfod_postpone(struct debuginfod_server *s, uint64_t retry_after_s)
{
	uint64_t wait = backoff_next(&s->backoff, backoff_random());

	if (retry_after_s > DEBUGINFOD_MOST_S)
		retry_after_s = DEBUGINFOD_MOST_S;
	if (wait < retry_after_s * NSEC_PER_SEC)
		wait = retry_after_s * NSEC_PER_SEC;
	s->until_ns = now_ns() + wait;
}

static void debuginfod_failed(struct debuginfod *d, unsigned int server,
			      const struct download_result *r)
{
	d->stats->debuginfod_failed++;
	if (r->end != DOWNLOAD_TOO_MUCH)
		debuginfod_postpone(&d->servers[server], r->retry_after_s);
	if (log_limited(&d->log))
		log_warn("no debug file from debuginfod server %u of %u: %s (HTTP status %ld)",
			 server + 1, d->config->n, r->error, r->status);
}

/* --- questions ------------------------------------------------------------------ */

/* Answer the first question. */
static void debuginfod_answer(struct debuginfod *d, int fd)
{
	uint64_t id = d->questions[0].id;

	d->n--;
	memmove(d->questions, d->questions + 1, d->n * sizeof(d->questions[0]));
	d->answer(d->arg, id, fd);
}

/* No server gave the file of the first question. */
static void debuginfod_not_found(struct debuginfod *d)
{
	const struct debuginfod_question *q = &d->questions[0];

	if (!q->unsure && !q->spoilt)
		d->stats->debuginfod_not_found++;
	if (!q->unsure || q->spoilt)
		debuginfod_remember(d, &q->wanted, DEBUGINFOD_NO_S);
	debuginfod_answer(d, -1);
}

static int debuginfod_request(struct debuginfod *d, unsigned int server)
{
	const struct msg_debuginfo_wanted *w = &d->questions[0].wanted;
	char hex[2 * BUILD_ID_MAX + 1], path[sizeof(hex) + sizeof(PATH)];
	char *url;
	int r;

	for (uint32_t i = 0; i < w->build_id_len; i++)
		sprintf(hex + 2 * i, "%02x", w->build_id[i]);
	snprintf(path, sizeof(path), PATH, hex);
	d->stats->debuginfod_requests++;
	url = endpoint_url(d->config->urls[server], path);
	if (!url)
		return -ENOMEM;
	r = download_start(&d->download, url, w);
	free(url);
	return r;
}

/* Is a request allowed now?  If not, the timer is set. */
static bool debuginfod_may_request(struct debuginfod *d)
{
	uint64_t now = now_ns();

	if (d->used_ns < now)
		d->used_ns = now;
	if (d->used_ns + REQUEST_NS <= now + MINUTE_NS) {
		d->used_ns += REQUEST_NS;
		return true;
	}
	timer_set(&d->timer, d->used_ns + REQUEST_NS - MINUTE_NS - now, 0);
	return false;
}

/* Ask the next server that may be asked now; or answer, and go on with the next
 * question. */
static void debuginfod_next(struct debuginfod *d)
{
	while (d->n && !d->download.curl.busy) {
		struct debuginfod_question *q = &d->questions[0];

		while (q->server < d->config->n &&
		       d->servers[q->server].until_ns > now_ns()) {
			q->unsure = true;
			q->server++;
		}
		if (q->server >= d->config->n) {
			debuginfod_not_found(d);
		} else if (!debuginfod_may_request(d)) {
			return;
		} else if (debuginfod_request(d, q->server)) {
			q->unsure = true;
			q->server++;
		}
	}
}

static void debuginfod_on_timer(void *arg)
{
	debuginfod_next(arg);
}

static void debuginfod_on_done(void *arg, const struct download_result *r)
{
	struct debuginfod *d = arg;
	struct debuginfod_question *q = &d->questions[0];

	d->stats->debuginfod_bytes += r->bytes;
	switch (r->end) {
	case DOWNLOAD_FOUND:
		backoff_reset(&d->servers[q->server].backoff);
		d->stats->debuginfod_found++;
		debuginfod_remember(d, &q->wanted, DEBUGINFOD_FOUND_S);
		debuginfod_answer(d, r->fd);
		debuginfod_next(d);
		return;
	case DOWNLOAD_NOT_THERE:
		backoff_reset(&d->servers[q->server].backoff);
		break;
	case DOWNLOAD_TOO_MUCH:
	case DOWNLOAD_SPOILT:
		debuginfod_failed(d, q->server, r);
		q->spoilt = true;
		break;
	case DOWNLOAD_REFUSED:
		debuginfod_failed(d, q->server, r);
		q->unsure = true;
		break;
	}
	q->server++;
	debuginfod_next(d);
}

bool debuginfod_ask(struct debuginfod *d, uint64_t id,
		    const struct msg_debuginfo_wanted *wanted)
{
	int fd;

	if (wanted->build_id_len < DEBUGINFO_ID_MIN || wanted->build_id_len > BUILD_ID_MAX ||
	    wanted->useless > 1)
		return false;
	if (wanted->useless)
		debug_cache_drop(&d->cache, wanted);
	fd = debug_cache_get(&d->cache, wanted);
	if (fd >= 0) {
		d->stats->debuginfod_asked++;
		d->stats->debuginfod_cached++;
		d->answer(d->arg, id, fd);
		return true;
	}
	if (debuginfod_knows(d, wanted) || d->n == DEBUGINFOD_QUESTIONS) {
		d->answer(d->arg, id, -1);
		return true;
	}
	d->stats->debuginfod_asked++;
	d->questions[d->n] = (struct debuginfod_question){ .id = id, .wanted = *wanted };
	d->n++;
	debuginfod_next(d);
	return true;
}

void debuginfod_forget(struct debuginfod *d)
{
	download_cancel(&d->download);
	timer_stop(&d->timer);
	d->n = 0;
}

/* --- life ------------------------------------------------------------------------ */

int debuginfod_init(struct debuginfod *d, struct evloop *loop,
		    const struct debuginfod_config *config,
		    struct exporter_stats *stats,
		    void (*answer)(void *arg, uint64_t id, int fd),
		    void *arg)
{
	int r;

	*d = (struct debuginfod){
		.config = config, .stats = stats, .answer = answer, .arg = arg,
	};
	debug_cache_init(&d->cache);
	for (unsigned int i = 0; i < config->n; i++)
		d->servers[i].backoff = (struct backoff){
			DEBUGINFOD_FIRST_S * NSEC_PER_SEC,
			DEBUGINFOD_MOST_S * NSEC_PER_SEC, 0,
		};
	r = timer_init(&d->timer, loop, debuginfod_on_timer, d);
	if (r < 0)
		return r;
	return download_init(&d->download, loop, &d->cache, config->max_bytes,
			     config->timeout_s, debuginfod_on_done, d);
}

void debuginfod_fini(struct debuginfod *d)
{
	timer_fini(&d->timer);
	download_fini(&d->download);
	debug_cache_fini(&d->cache);
}
