// SPDX-License-Identifier: Apache-2.0
#include "loaderd/drain.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* What a record and the definitions of its kernel symbols need at most. */
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
		uint64_t addr = r->words[i];
		struct ksym_rec *def = (void *)(d->buf + d->len);

		/* all but the first are return addresses: the call is before them */
		if (i > 0)
			addr--;
		if (ksyms_word(d->ksyms, addr, &words[i], def))
			d->len += sizeof(*def);
	}
	to = (void *)(d->buf + d->len);
	memcpy(to, r, r->len);
	memcpy(to->words, words, 8 * (size_t)r->n_kernel);
	d->len += r->len;
	d->samples++;
}

/* The samples in the buffer leave it.  They are counted as drained, and here. */
static void drain_empty(struct drain *d, uint64_t *counter)
{
	d->stats->drained += d->samples;
	*counter += d->samples;
	d->samples = 0;
	d->len = 0;
}

int drain_record(void *ctx, void *data, size_t len)
{
	struct drain *d = ctx;

	if (!drain_sound(data, len)) {
		d->stats->drained++;
		d->stats->bad_record++;
		return 0;
	}
	if (d->fd < 0) {
		d->stats->drained++;
		d->stats->no_hub++;
		return 0;
	}
	drain_copy(d, data);
	if (sizeof(d->buf) - d->len < ROOM_MAX)
		return drain_flush(d);
	return 0;
}

int drain_flush(struct drain *d)
{
	d->full = false;
	if (!d->len)
		return 0;
	if (send(d->fd, d->buf, d->len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
		drain_empty(d, &d->stats->forwarded);
		return 0;
	}
	if (errno == EAGAIN) {
		d->full = true;
		return -EAGAIN;
	}
	/* the hub has closed it, and will be found gone soon */
	drain_to(d, d->fd);
	return 0;
}

void drain_to(struct drain *d, int fd)
{
	drain_empty(d, &d->stats->no_hub);
	d->full = false;
	d->fd = fd;
	d->ksyms->n = 0;
}
