// SPDX-License-Identifier: Apache-2.0
#include "loaderd/drain.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* A record and the definitions of its kernel symbols never need more. */
#define ROOM_MAX	(RECORD_MAX + KERNEL_MAX * sizeof(struct ksym_rec))

static bool drain_sound(const struct trace_rec *r, size_t len)
{
	return len >= sizeof(*r) && len <= RECORD_MAX && r->len == len &&
	       r->kind == REC_SAMPLE && r->version == REC_VERSION &&
	       r->n_kernel <= KERNEL_MAX &&
	       len == sizeof(*r) + 8 * ((size_t)r->n_kernel + r->n_user);
}

/* Into the buffer: first the symbols that are new, then the record. */
static void drain_copy(struct drain *d, const struct trace_rec *r)
{
	uint64_t words[KERNEL_MAX];
	struct trace_rec *to;

	for (uint32_t i = 0; i < r->n_kernel; i++) {
		/* all but the leaf are return addresses */
		if (ksyms_word(d->ksyms, r->words[i] - (i > 0), &words[i],
			       (void *)(d->buf + d->len)))
			d->len += sizeof(struct ksym_rec);
	}
	to = (void *)(d->buf + d->len);
	memcpy(to, r, r->len);
	memcpy(to->words, words, 8 * (size_t)r->n_kernel);
	d->len += r->len;
	d->samples++;
}

int drain_record(void *ctx, void *data, size_t len)
{
	struct drain *d = ctx;
	uint64_t *lost = !drain_sound(data, len) ? &d->stats->bad_record :
			 d->fd < 0 ? &d->stats->no_hub : NULL;

	if (lost) {
		d->stats->drained++;
		++*lost;
		return 0;
	}
	drain_copy(d, data);
	return sizeof(d->buf) - d->len < ROOM_MAX ? drain_flush(d) : 0;
}

int drain_flush(struct drain *d)
{
	d->full = false;
	if (!d->len)
		return 0;
	if (send(d->fd, d->buf, d->len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
		d->stats->drained += d->samples;
		d->stats->forwarded += d->samples;
		d->len = d->samples = 0;
	} else if (errno == EAGAIN) {
		d->full = true;
		return -EAGAIN;
	} else {
		/* its other end is closed: that the hub is gone is seen soon */
		drain_to(d, d->fd);
	}
	return 0;
}

void drain_to(struct drain *d, int fd)
{
	d->stats->drained += d->samples;
	d->stats->no_hub += d->samples;
	d->len = d->samples = 0;
	d->full = false;
	d->fd = fd;
	d->ksyms->n = 0;
}
