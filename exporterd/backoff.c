// SPDX-License-Identifier: Apache-2.0
#include "exporterd/backoff.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"

#define RETRY_AFTER_MAX	86400	/* seconds; a longer wait is cut to it */

uint64_t backoff_next(struct backoff *b, uint64_t random)
{
	uint64_t base = b->next_ns ? b->next_ns : b->first_ns;

	b->next_ns = base + base / 2;
	if (b->next_ns > b->max_ns)
		b->next_ns = b->max_ns;
	return base / 2 + random % (base + 1);
}

uint64_t backoff_next_full(struct backoff *b, uint64_t random)
{
	uint64_t base = b->next_ns ? b->next_ns : b->first_ns, least = b->first_ns / 4;

	b->next_ns = 2 * base;
	if (b->next_ns > b->max_ns)
		b->next_ns = b->max_ns;
	return least + random % (base - least + 1);
}

uint64_t backoff_random(void)
{
	uint64_t r;

	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != (ssize_t)sizeof(r))
		r = now_ns() * 0x9e3779b97f4a7c15ULL >> 16;
	return r;
}

static bool backoff_parse_seconds(const char *s, uint64_t *ret)
{
	uint64_t v = 0;
	size_t n = 0;

	for (; s[n] >= '0' && s[n] <= '9'; n++) {
		if (v <= RETRY_AFTER_MAX)
			v = v * 10 + (uint64_t)(s[n] - '0');
	}
	if (n == 0 || s[n])
		return false;
	*ret = v;
	return true;
}

int retry_after_parse(const char *value, time_t now, uint64_t *ret_ns)
{
	uint64_t s;

	if (!backoff_parse_seconds(value, &s)) {
		time_t date;

		/* each of the three forms of a date begins with a weekday */
		if (!strchr("MTWFS", value[0]) || !value[0])
			return -EINVAL;
		date = curl_getdate(value, NULL);
		if (date == (time_t)-1)
			return -EINVAL;
		s = 0;
		if (date > now)
			s = (uint64_t)(date - now);
	}
	if (s > RETRY_AFTER_MAX)
		s = RETRY_AFTER_MAX;
	*ret_ns = s * NSEC_PER_SEC;
	return 0;
}
