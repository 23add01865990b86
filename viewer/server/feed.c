// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/feed.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "viewer/server/take.h"

static int feed_on_batch(void *arg, const void *data, size_t len,
			 uint64_t samples)
{
	struct feed *f = arg;
	int r = take_batch(f->store, data, len, samples,
			   clock_ns(CLOCK_REALTIME));

	if (r && log_limited(&f->log))
		log_warn("cannot show a batch of %llu samples: %s",
			 (unsigned long long)samples, strerror(-r));
	return r;
}

static const struct hub_client_ops feed_ops = { .batch = feed_on_batch };

void feed_init(struct feed *f, struct store *s, const char *path, uid_t hub_uid)
{
	*f = (struct feed){ .store = s };
	hub_client_init(&f->hub, path, hub_uid, &feed_ops, f);
}

void feed_fini(struct feed *f)
{
	hub_client_fini(&f->hub);
}

bool feed_samples(const struct feed *f)
{
	return f->hub.statuses && f->hub.status.loader_up;
}

static void feed_connect(struct feed *f, uint64_t now)
{
	int r = hub_client_connect(&f->hub, now);

	if (r && !f->away) {
		log_info("symbolizerd is not there (%s: %s): waiting for it",
			 f->hub.path, strerror(-r));
		f->away = true;
	}
}

static void feed_read(struct feed *f, uint64_t now)
{
	int r = hub_client_read(&f->hub, now);

	if (r > 0 && log_limited(&f->log))
		log_err("invalid message from symbolizerd: %s", msg_verdict_name(r));
	else if (r < 0 && r != -EPIPE && log_limited(&f->log))
		log_err("connection to symbolizerd: %s", strerror(-r));
	if (f->hub.statuses)
		f->away = false;
}

int feed_work(struct feed *f, int ms)
{
	uint64_t now = now_ns(), left;

	if (!f->hub.path)
		return ms;
	feed_connect(f, now);
	if (f->hub.conn.fd >= 0)
		feed_read(f, now);
	if (f->hub.conn.fd >= 0 || f->hub.retry_ns <= now)
		return ms;
	left = (f->hub.retry_ns - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	if (left > (uint64_t)ms)
		return ms;
	return (int)left;
}
