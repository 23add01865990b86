/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff - when to try again
 *
 * backoff_next() is for who is alone: waits grow by half each time up to a limit, and
 * each is spread over 50 % to 150 % of its value.  backoff_next_full() is for one of a
 * fleet: waits double, and each is anywhere between a quarter of the first and its value
 * ("full jitter"), so that whom a receiver refuses together does not come back together.
 * A struct backoff is for one of the two.
 */
#ifndef EXPORTERD_BACKOFF_H
#define EXPORTERD_BACKOFF_H

#include <stdint.h>
#include <time.h>

struct backoff {
	uint64_t first_ns, max_ns;	/* first_ns <= max_ns */
	uint64_t next_ns;		/* 0: start with first_ns */
};

/* How long to wait now; `random` is any 64 random bits. */
uint64_t backoff_next(struct backoff *b, uint64_t random);
uint64_t backoff_next_full(struct backoff *b, uint64_t random);

static inline void backoff_reset(struct backoff *b)
{
	b->next_ns = 0;
}

/* Random bits; falls back to the clock when the kernel has none. */
uint64_t backoff_random(void);

/*
 * The value of a Retry-After header (RFC 9110, 10.2.3): seconds, or a date to
 * be compared with `now`; a date in the past is 0.  At most a day.  Returns 0
 * and the wait; -EINVAL for anything else, and leaves *ret alone.
 */
int retry_after_parse(const char *value, time_t now, uint64_t *ret_ns);

#endif /* EXPORTERD_BACKOFF_H */
