// SPDX-License-Identifier: Apache-2.0
#include "exporterd/metrics_sender.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "exporterd/answer.h"

static void metrics_sender_post(struct metrics_sender *m);

/* --- the answer ------------------------------------------------------------- */

static const char *metrics_sender_hint(long status)
{
	switch (status) {
	case 401:
	case 403:
		return " (see OTEL_EXPORTER_OTLP_METRICS_HEADERS)";
	case 404:
	case 405:
		return " (if it takes no metrics: OTEL_METRICS_EXPORTER=none)";
	default:
		return "";
	}
}

static void metrics_sender_failed(struct metrics_sender *m, long status,
				  const char *text)
{
	char code[32] = "";

	m->stats->metrics_failed++;
	m->failing = true;
	if (!log_limited(&m->log))
		return;
	if (status)
		snprintf(code, sizeof(code), "HTTP %ld%s", status, *text ? ": " : "");
	log_warn("cannot send metrics: %s%s%s", code, text,
		 metrics_sender_hint(status));
}

static void metrics_sender_accepted(struct metrics_sender *m,
				    const struct answer *a)
{
	m->stats->metrics_rejected += a->rejected;
	if (m->failing)
		log_info("sending metrics again");
	m->failing = false;
	if ((!a->rejected && !a->text[0]) || !log_limited(&m->log))
		return;
	if (a->rejected)
		log_warn("receiver refused %llu data points: %s",
			 (unsigned long long)a->rejected, a->text);
	else
		log_warn("receiver accepted metrics, with a message: %s", a->text);
}

static void metrics_sender_done(struct metrics_sender *m)
{
	body_put(m->body);
	m->body = NULL;
	if (m->ending && !m->last)
		metrics_sender_post(m);
	if (m->last && !m->body)
		m->ended(m->arg);
}

static void metrics_sender_on_answer(void *arg, const struct http_answer *http)
{
	struct metrics_sender *m = arg;
	struct answer a;

	answer_judge(http, &a);
	if (a.verdict == ANSWER_ACCEPTED || a.verdict == ANSWER_PARTIAL)
		metrics_sender_accepted(m, &a);
	else
		metrics_sender_failed(m, http->status, a.text);
	metrics_sender_done(m);
}

/* --- requests --------------------------------------------------------------- */

static struct body *metrics_sender_make(struct metrics_sender *m)
{
	const struct status *status = NULL;
	struct body *body;
	uint8_t *data;
	size_t len;

	if (m->status_ns && now_ns() - m->status_ns < METRICS_STALE_NS)
		status = &m->status;
	if (metrics_encode(&m->metrics, status, m->stats,
			   clock_ns(CLOCK_REALTIME), &data, &len) < 0)
		return NULL;
	body = body_make(data, len, m->cfg->to.compression);
	free(data);
	return body;
}

static void metrics_sender_post(struct metrics_sender *m)
{
	m->last = m->ending;
	m->stats->metrics_requests++;
	m->body = metrics_sender_make(m);
	if (m->body && http_post(&m->http, m->body->data, m->body->len) == 0)
		return;
	metrics_sender_failed(
		m, 0, m->body ? "libcurl refused to start" : "out of memory");
	body_put(m->body);
	m->body = NULL;
}

static void metrics_sender_on_timer(void *arg)
{
	struct metrics_sender *m = arg;

	if (!m->body)
		metrics_sender_post(m);
}

/* --- life ------------------------------------------------------------------- */

int metrics_sender_init(struct metrics_sender *m, struct evloop *loop,
			const struct metrics_config *cfg,
			const struct pairs *resource,
			struct exporter_stats *stats,
			void (*ended)(void *arg), void *arg)
{
	const struct http_target target = { &cfg->to, cfg->to.url, NULL };
	int r;

	*m = (struct metrics_sender){
		.cfg = cfg, .metrics.resource = resource, .stats = stats,
		.ended = ended, .arg = arg,
	};
	if (!metrics_sender_on(m))
		return 0;
	metrics_find_instance(&m->metrics);
	r = timer_init(&m->timer, loop, metrics_sender_on_timer, m);
	if (r < 0)
		return r;
	return http_init(&m->http, loop, &target, metrics_sender_on_answer, m);
}

void metrics_sender_start(struct metrics_sender *m)
{
	if (!metrics_sender_on(m))
		return;
	log_info("sending metrics to %s every %llu ms", m->cfg->to.shown_url,
		 (unsigned long long)(m->cfg->interval_ns / NSEC_PER_MSEC));
	timer_set(&m->timer, m->cfg->interval_ns, m->cfg->interval_ns);
}

void metrics_sender_status(struct metrics_sender *m, const struct status *st)
{
	m->status = *st;
	m->status_ns = now_ns();
}

void metrics_sender_end(struct metrics_sender *m)
{
	if (!metrics_sender_on(m) || m->ending)
		return;
	m->ending = true;
	timer_stop(&m->timer);
	if (!m->body)
		metrics_sender_post(m);
}

bool metrics_sender_idle(const struct metrics_sender *m)
{
	return !metrics_sender_on(m) || (m->last && !m->body);
}

void metrics_sender_give_up(struct metrics_sender *m)
{
	if (!m->body)
		return;
	http_cancel(&m->http);
	metrics_sender_failed(m, 0, "no answer before the end of exporterd");
	body_put(m->body);
	m->body = NULL;
}
