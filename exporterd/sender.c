// SPDX-License-Identifier: Apache-2.0
#include "exporterd/sender.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "exporterd/answer.h"
#include "exporterd/request.h"

#define VERSION_HEADER	"OTLP-Profiles-Development-Version: 1"

static void sender_post(struct sender *s);

static const char *sender_url(const struct sender *s)
{
	return s->endpoint->shown_url;
}

/* --- parts ---------------------------------------------------------------- */

static bool sender_is_too_large(const struct sender *s, const struct item *it)
{
	return s->too_large && it->body->raw_len >= s->too_large &&
	       now_ns() < s->too_large_ns;
}

static void sender_log_no_split(struct sender *s, int r)
{
	const char *why = strerror(-r);

	if (r == -ENODATA || !log_limited(&s->split_log))
		return;
	if (r == -ENOENT)
		why = "too many later batches wait";
	log_err("cannot send a request to %s in parts: %s", sender_url(s), why);
}

/* Halve cur until it is not known to be too large; the other halves become parts.
 * False: it could not be halved. */
static bool sender_split(struct sender *s)
{
	const struct otlp_how extra = request_how(s->resource, s->endpoint);
	bool done = false;

	do {
		struct item *half[2];
		int r = request_halve(s->cur, &extra, half);

		if (r < 0) {
			sender_log_no_split(s, r);
			return done;
		}
		item_free(s->cur);
		s->cur = half[0];
		half[1]->next = s->parts;
		s->parts = half[1];
		done = true;
	} while (sender_is_too_large(s, s->cur));
	return done;
}

/* --- items ----------------------------------------------------------------- */

/* Does the next item belong to a batch of which the hub has an outcome already? */
static bool sender_next_is_begun(const struct sender *s)
{
	const struct item *it = s->parts ? s->parts : s->queue.first;

	return it && s->any_begun && it->id == s->begun;
}

static struct item *sender_take_next(struct sender *s)
{
	struct item *it = s->parts;

	if (s->hold && !sender_next_is_begun(s))
		return NULL;
	if (!it)
		return queue_pop(&s->queue);
	s->parts = it->next;
	it->next = NULL;
	return it;
}

/* Is it too early for the next item?  If so, the timer is set. */
static bool sender_in_gap(struct sender *s)
{
	uint64_t now = now_ns();

	if (now >= s->next_ns || s->end_ns || sender_next_is_begun(s))
		return false;
	if (!s->hold)
		timer_set(&s->again, s->next_ns - now, 0);
	return true;
}

/* Another batch may begin within its own time, so that a fleet does not come at once. */
static void sender_plan_gap(struct sender *s)
{
	uint64_t span = s->cur->span_ns;

	if (!s->catching_up)
		return;
	if (span > SENDER_GAP_MAX_NS)
		span = SENDER_GAP_MAX_NS;
	s->next_ns = now_ns() + backoff_random() % (span + 1);
}

static void sender_start_next(struct sender *s)
{
	if (s->cur || (!s->parts && !s->queue.n) || sender_in_gap(s))
		return;
	s->cur = sender_take_next(s);
	if (!s->cur)
		return;
	/* of a gap that is over before its timer is read */
	timer_stop(&s->again);
	if (sender_is_too_large(s, s->cur))
		(void)sender_split(s);
	s->first_try_ns = now_ns();
	sender_plan_gap(s);
	sender_post(s);
}

static void sender_tell(struct sender *s, struct item *it, enum batch_outcome o)
{
	uint64_t id = it->id, samples = it->samples;

	item_free(it);
	s->begun = id;
	s->any_begun = true;
	sender_lost(s, id, samples, o);
}

/* cur has its outcome; the callback may add batches. */
static void sender_finish(struct sender *s, enum batch_outcome o)
{
	struct item *it = s->cur;

	s->cur = NULL;
	timer_stop(&s->again);
	sender_tell(s, it, o);
	sender_start_next(s);
}

/* --- messages -------------------------------------------------------------- */

static const char *sender_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Which setting may help. */
static const char *sender_hint_415(const struct endpoint *e)
{
	bool zstd = e->compression == COMPRESSION_ZSTD;

	if (e->compression == COMPRESSION_NONE)
		return " (is this an OTLP/HTTP receiver?)";
	if (e->number > 1 && zstd)
		return " (does it know zstd?  If not, set its _COMPRESSION=gzip)";
	if (e->number > 1)
		return " (does it know gzip?  If not, set its _COMPRESSION=none)";
	if (zstd)
		return " (does it know zstd?  If not, set "
		       "OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION=gzip)";
	return " (does it know gzip?  If not, set OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION=none)";
}

static const char *sender_hint(const struct sender *s, long status)
{
	switch (status) {
	case 401:
	case 403:
		if (s->endpoint->number > 1)
			return " (see its _HEADERS)";
		return " (see OTEL_EXPORTER_OTLP_HEADERS)";
	case 404:
	case 405:
		return " (OTLP profiles are at /v1development/profiles, and a collector "
		       "needs --feature-gates=service.profilesSupport)";
	case 413:
		if (s->cur->samples > 1)
			return "";
		return " (one sample alone: see the receiver's limit)";
	case 415:
		return sender_hint_415(s->endpoint);
	default:
		return "";
	}
}

/* "HTTP 503: text", or the text alone when there was no answer. */
static const char *sender_describe(long status, const struct answer *a,
				   char out[320])
{
	if (status)
		snprintf(out, 320, "HTTP %ld%s%s", status,
			 a->text[0] ? ": " : "", a->text);
	else
		snprintf(out, 320, "%s", a->text);
	return out;
}

static void sender_log_retry(struct sender *s, long status, const struct answer *a)
{
	char text[320];

	if (!s->failing)
		log_warn("cannot send to %s: %s; trying again", sender_url(s),
			 sender_describe(status, a, text));
	else
		log_debug("still cannot send to %s: %s", sender_url(s),
			  sender_describe(status, a, text));
	s->failing = true;
}

static void sender_log_end(struct sender *s, long status, const struct answer *a)
{
	char text[320];

	if (a->verdict == ANSWER_ACCEPTED && s->failing)
		log_info("sending again to %s", sender_url(s));
	if (a->verdict == ANSWER_ACCEPTED || a->verdict == ANSWER_PARTIAL)
		s->failing = false;
	if (a->verdict == ANSWER_ACCEPTED && !a->text[0])
		return;
	if (!log_limited(&s->log))
		return;
	sender_describe(status, a, text);
	switch (a->verdict) {
	case ANSWER_ACCEPTED:
		log_warn("%s accepted a request, with a message: %s", sender_url(s), a->text);
		break;
	case ANSWER_PARTIAL:
		log_warn("%s refused %llu of %u profiles: %s", sender_url(s),
			 (unsigned long long)a->rejected, s->cur->profiles,
			 a->text);
		break;
	case ANSWER_RETRY:
	case ANSWER_RETRY_FEW:
		log_warn("gave up on %llu sample%s for %s: %s",
			 (unsigned long long)s->cur->samples,
			 sender_plural(s->cur->samples), sender_url(s), text);
		break;
	default:
		log_warn("%s refused %llu sample%s: %s%s", sender_url(s),
			 (unsigned long long)s->cur->samples,
			 sender_plural(s->cur->samples), text,
			 sender_hint(s, status));
	}
}

/* --- attempts ------------------------------------------------------------- */

/* When cur may be sent again at the latest; 0: not any more. */
static uint64_t sender_last_try(const struct sender *s, const struct answer *a)
{
	uint64_t end = s->first_try_ns + s->give_up_ns, now = now_ns();

	if (a->verdict == ANSWER_RETRY_FEW && s->errors >= SENDER_ERRORS_MAX)
		return 0;
	if (s->end_ns && s->end_ns < end)
		end = s->end_ns;
	if (now >= end)
		return 0;
	return end;
}

/* As the receiver says, with up to a tenth more: it may say the same to many. */
static uint64_t sender_wait(struct sender *s, const struct answer *a)
{
	uint64_t random = backoff_random();

	if (a->wait_ns)
		return a->wait_ns + random % (a->wait_ns / 10 + 1);
	return backoff_next_full(&s->backoff, random);
}

static void sender_plan_retry(struct sender *s, long status, const struct answer *a)
{
	uint64_t end = sender_last_try(s, a), wait = sender_wait(s, a), now = now_ns();

	s->catching_up = true;
	if (s->hold)
		return;
	/* a last try at the end, or when the receiver wants it; but who is told to end
	 * does not wait for that */
	if (!end || (s->end_ns && wait > end - now)) {
		sender_log_end(s, status, a);
		/* the receiver is no better for the next batch */
		s->next_ns = now + wait;
		sender_finish(s, BATCH_GAVE_UP);
		return;
	}
	if (!a->wait_ns && wait > end - now)
		wait = end - now;
	if (a->verdict == ANSWER_RETRY_FEW)
		s->errors++;
	sender_log_retry(s, status, a);
	s->retries++;
	timer_set(&s->again, wait, 0);
}

static void sender_refuse_parts(struct sender *s)
{
	uint64_t n = 0;

	while (s->parts) {
		struct item *it = s->parts;

		s->parts = it->next;
		n += it->samples;
		sender_tell(s, it, BATCH_REJECTED);
	}
	if (n && log_limited(&s->split_log))
		log_warn("%s rejected %d single samples as too large: not trying %llu more",
			 sender_url(s), SENDER_SINGLES_MAX, (unsigned long long)n);
}

/* The receiver rejected cur as too large: send it in parts. */
static void sender_judge_size(struct sender *s, long status, const struct answer *a)
{
	size_t len = s->cur->body->raw_len;

	if (!s->too_large || len < s->too_large || now_ns() >= s->too_large_ns)
		s->too_large = len;
	s->too_large_ns = now_ns() + SENDER_TOO_LARGE_NS;
	if (sender_split(s)) {
		if (log_limited(&s->split_log))
			log_warn("%s rejected a request of %zu bytes as too large: sending it in parts",
				 sender_url(s), len);
		s->first_try_ns = now_ns();
		sender_post(s);
		return;
	}
	/* the next one may be smaller: it is tried */
	if (s->cur->samples == 1)
		s->singles++;
	sender_log_end(s, status, a);
	if (s->singles >= SENDER_SINGLES_MAX)
		sender_refuse_parts(s);
	sender_finish(s, BATCH_REJECTED);
}

/* The answer says how many profiles were refused, not which: as large a part of the
 * samples counts as rejected. */
static void sender_finish_partly(struct sender *s, const struct answer *a)
{
	struct item *it = s->cur;
	uint64_t n = it->samples;

	if (a->rejected < it->profiles)
		n = (it->samples * a->rejected + it->profiles - 1) / it->profiles;
	if (n == it->samples) {
		sender_finish(s, BATCH_REJECTED);
		return;
	}
	it->samples -= n;
	s->begun = it->id;
	s->any_begun = true;
	/* cur stays meanwhile: the callback begins nothing */
	sender_lost(s, it->id, n, BATCH_REJECTED);
	sender_finish(s, BATCH_DELIVERED);
}

static void sender_judge(struct sender *s, const struct http_answer *http)
{
	struct answer a;

	answer_judge(http, &a);
	if (a.wait_ns > SENDER_RETRY_AFTER_MAX_NS)
		a.wait_ns = SENDER_RETRY_AFTER_MAX_NS;
	s->http_status = (uint64_t)http->status;
	if (a.rejected > s->cur->profiles)
		a.rejected = s->cur->profiles;
	s->partial_rejected += a.rejected;
	if (a.verdict == ANSWER_RETRY || a.verdict == ANSWER_RETRY_FEW) {
		sender_plan_retry(s, http->status, &a);
		return;
	}
	if (a.verdict == ANSWER_TOO_LARGE) {
		sender_judge_size(s, http->status, &a);
		return;
	}
	s->singles = 0;
	sender_log_end(s, http->status, &a);
	backoff_reset(&s->backoff);
	if (a.verdict == ANSWER_FINAL) {
		sender_finish(s, BATCH_REJECTED);
		return;
	}
	s->errors = 0;
	if (a.verdict == ANSWER_PARTIAL)
		sender_finish_partly(s, &a);
	else
		sender_finish(s, BATCH_DELIVERED);
}

static void sender_on_answer(void *arg, const struct http_answer *answer)
{
	sender_judge(arg, answer);
}

static void sender_post(struct sender *s)
{
	const struct http_answer none = { .error = "libcurl refused to start" };
	const struct body *b = s->cur->body;

	if (http_post(&s->http, b->data, b->len) < 0) {
		sender_judge(s, &none);
		return;
	}
	s->requests++;
	s->request_bytes += b->raw_len;
	s->wire_bytes += b->len;
}

static void sender_on_again(void *arg)
{
	struct sender *s = arg;

	if (s->cur)
		sender_post(s);
	else
		sender_start_next(s);
}

/* --- life ----------------------------------------------------------------- */

int sender_init(struct sender *s, struct evloop *loop,
		const struct endpoint *endpoint, const struct resource *resource,
		void (*outcome)(void *arg, const struct sender *s, uint64_t id,
				uint64_t samples, enum batch_outcome o),
		void *arg)
{
	const struct http_target target = {
		endpoint, endpoint->url, VERSION_HEADER,
	};
	int r;

	*s = (struct sender){
		.backoff = { SENDER_FIRST_NS, SENDER_MAX_NS, 0 },
		.endpoint = endpoint, .resource = resource, .outcome = outcome,
		.arg = arg, .give_up_ns = SENDER_GIVE_UP_NS,
	};
	queue_init(&s->queue, QUEUE_ITEMS, QUEUE_BYTES);
	r = timer_init(&s->again, loop, sender_on_again, s);
	if (r < 0)
		return r;
	return http_init(&s->http, loop, &target, sender_on_answer, s);
}

void sender_fini(struct sender *s)
{
	http_fini(&s->http);
	timer_fini(&s->again);
	item_free(s->cur);
	while (s->parts) {
		struct item *it = s->parts;

		s->parts = it->next;
		item_free(it);
	}
	while (s->queue.n)
		item_free(queue_pop(&s->queue));
}

void sender_add(struct sender *s, struct item *it)
{
	struct item *gone;

	if (sender_idle(s) && !s->backlog && now_ns() >= s->next_ns)
		s->catching_up = false;
	gone = queue_push(&s->queue, it);
	while (gone) {
		struct item *next = gone->next;

		sender_tell(s, gone, BATCH_QUEUE_FULL);
		gone = next;
	}
	sender_start_next(s);
}

void sender_lost(struct sender *s, uint64_t id, uint64_t samples,
		 enum batch_outcome o)
{
	s->outcomes.samples[o] += samples;
	if (o == BATCH_QUEUE_FULL && log_limited(&s->queue_log))
		log_warn("the queue for %s is full: dropping the oldest %llu sample%s",
			 sender_url(s), (unsigned long long)samples, sender_plural(samples));
	s->outcome(s->arg, s, id, samples, o);
}

uint64_t sender_samples(const struct sender *s)
{
	uint64_t n = s->queue.samples;

	if (s->cur)
		n += s->cur->samples;
	for (const struct item *it = s->parts; it; it = it->next)
		n += it->samples;
	return n;
}

uint64_t sender_bytes(const struct sender *s)
{
	uint64_t n = s->queue.bytes;

	if (s->cur)
		n += item_bytes(s->cur);
	for (const struct item *it = s->parts; it; it = it->next)
		n += item_bytes(it);
	return n;
}

void sender_drain(struct sender *s, uint64_t end_ns)
{
	s->end_ns = end_ns;
	/* a wait for the next try, or a gap, may now be too long */
	if (!sender_idle(s) && !s->http.curl.busy)
		timer_set(&s->again, 0, 0);
}

void sender_hold(struct sender *s)
{
	s->hold = true;
	timer_stop(&s->again);
}

bool sender_held(const struct sender *s)
{
	return s->hold && !s->http.curl.busy && (s->cur || !sender_next_is_begun(s));
}

void sender_give_up(struct sender *s)
{
	struct item *it;

	http_cancel(&s->http);
	timer_stop(&s->again);
	it = s->cur;
	s->cur = NULL;
	if (it)
		sender_tell(s, it, BATCH_GAVE_UP);
	while (s->parts) {
		it = s->parts;
		s->parts = it->next;
		sender_tell(s, it, BATCH_GAVE_UP);
	}
	while (s->queue.n)
		sender_tell(s, queue_pop(&s->queue), BATCH_GAVE_UP);
}
