// SPDX-License-Identifier: Apache-2.0
#include "loaderd/drain.h"

#include <string.h>

static bool drain_sound(const struct trace_rec *r, size_t len)
{
	return len >= sizeof(*r) && len <= TRACE_REC_MAX && r->len == len &&
	       r->kind == REC_SAMPLE && r->version == REC_VERSION &&
	       r->n_kernel <= KERNEL_MAX &&
	       len == sizeof(*r) + 8 * ((size_t)r->n_kernel + r->n_user);
}

/* Kernel words of r as they go further, their symbols defined before. */
static bool kernel_words(struct drain *d, const struct trace_rec *r,
			 uint64_t *words)
{
	for (uint32_t i = 0; i < r->n_kernel; i++) {
		/* all but the leaf are return addresses */
		if (!ksyms_word(d->ksyms, d->to, r->words[i] - (i > 0),
				&words[i]))
			return false;
	}
	return true;
}

int drain_record(void *ctx, void *data, size_t len)
{
	const struct trace_rec *r = data;
	struct drain *d = ctx;
	uint64_t words[KERNEL_MAX];
	struct trace_rec *to;

	d->stats->drained++;
	if (!drain_sound(r, len)) {
		d->stats->bad_record++;
		return 0;
	}
	if (!d->to) {
		d->stats->no_hub++;
		return 0;
	}
	to = kernel_words(d, r, words) ? trace_producer_reserve(d->to, len) :
					 NULL;
	if (!to) {
		d->stats->trace_full++;
		return 0;
	}
	memcpy(to, r, sizeof(*r));
	memcpy(to->words, words, 8 * (size_t)r->n_kernel);
	memcpy(to->words + r->n_kernel, r->words + r->n_kernel,
	       8 * (size_t)r->n_user);
	trace_producer_commit(d->to, len);
	d->stats->forwarded++;
	d->written++;
	return 0;
}

void drain_to(struct drain *d, struct trace_producer *to)
{
	d->to = to;
	ksyms_forget(d->ksyms);
	d->written = 0;
}
