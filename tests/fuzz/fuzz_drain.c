// SPDX-License-Identifier: Apache-2.0
/*
 * Any records from the BPF ring, any order of flushing, full sockets and dying
 * hubs: the account of samples agrees after each step, and no word of a kernel
 * stack leaves that could be an address.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/frame.h"
#include "loaderd/drain.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ksym_range ranges[KSYM_RANGES];
static struct ksyms k = { .range = ranges };
static struct loader_stats stats;
static struct drain d = { .ksyms = &k, .stats = &stats, .fd = -1 };
static int pair[2];
static uint64_t in, out;	/* samples: given, seen by the hub */
static bool dirty;		/* a hub died with samples that it had not read */

static void hub_begins(void)
{
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	drain_to(&d, pair[0]);
}

static void hub_ends(void)
{
	drain_to(&d, -1);
	close(pair[0]);
	close(pair[1]);
}

static void check_sent(const struct trace_rec *r)
{
	CHECK(r->kind == REC_SAMPLE && r->n_kernel <= KERNEL_MAX);
	for (uint32_t i = 0; i < r->n_kernel; i++) {
		CHECK(FRAME_KIND(r->words[i]) == FRAME_KERNEL);
		CHECK(FRAME_NUMBER(r->words[i]) <= 2 * KSYM_RANGES);
		CHECK(FRAME_PLACE(r->words[i]) < 16 + 5000);	/* fake_size() */
	}
	out++;
}

/* A datagram of whole records; false: none is there. */
static bool hub_reads(void)
{
	static uint64_t buf[SAMPLES_BYTES / 8];
	ssize_t n = recv(pair[1], buf, sizeof(buf), MSG_DONTWAIT);

	for (ssize_t at = 0; at < n;) {
		const struct trace_rec *r = (void *)((uint8_t *)buf + at);

		CHECK(n - at >= (ssize_t)sizeof(struct ksym_rec) ||
		      n - at >= (ssize_t)sizeof(*r));
		CHECK(r->len && r->len % 8 == 0 && r->len <= n - at);
		if (r->kind == REC_KSYM)
			CHECK(memchr(((const struct ksym_rec *)r)->name, 0,
				     KSYM_NAME_MAX));
		else
			check_sent(r);
		at += r->len;
	}
	return n > 0;
}

/* One record of some of the bytes, in memory of its exact size; how & 1: with
 * a sound head, so that most are taken. */
static size_t give(const uint8_t *data, size_t size, uint8_t how)
{
	size_t len = size < 2 ? 0 : (data[0] | data[1] << 8) % (RECORD_MAX + 64);
	struct trace_rec *r;

	if (len > size)
		len = size;
	len &= how & 1 ? ~(size_t)7 : ~(size_t)0;
	r = malloc(len ? len : 1);
	memcpy(r, data, len);
	if (how & 1 && len >= sizeof(*r) && len <= RECORD_MAX) {
		size_t words = (len - sizeof(*r)) / 8;

		r->len = len;
		r->kind = REC_SAMPLE;
		r->version = REC_VERSION;
		r->n_kernel = r->n_kernel % (KERNEL_MAX + 1);
		if (r->n_kernel > words)
			r->n_kernel = words;
		r->n_user = words - r->n_kernel;
		for (uint32_t i = 0; i < r->n_kernel && how & 2; i++)
			r->words[i] = KERNEL_TEXT + r->words[i] % 1100000;
	}
	in++;
	d.full = drain_record(&d, r, len) == -EAGAIN;
	free(r);
	return len;
}

static void check_account(void)
{
	CHECK(stats.drained == in - d.samples);
	CHECK(stats.drained ==
	      stats.forwarded + stats.bad_record + stats.no_hub);
	CHECK(out <= stats.forwarded);
}

static size_t step(const uint8_t *data, size_t size)
{
	size_t used = 0;

	switch (data[0] % 8) {
	case 0:
		drain_flush(&d);
		break;
	case 1:
		hub_reads();
		break;
	case 2:
		dirty |= out != stats.forwarded;
		hub_ends();
		hub_begins();
		break;
	case 3:
		k.n = 0;
		break;
	default:
		if (!d.full)
			used = give(data + 1, size - 1, data[0] >> 4);
	}
	check_account();
	return 1 + used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	memset(&stats, 0, sizeof(stats));
	in = out = 0;
	dirty = false;
	k.n = 0;
	hub_begins();
	while (size) {
		size_t n = step(data, size);

		data += n;
		size -= n;
	}
	while (drain_flush(&d) == -EAGAIN)
		CHECK(hub_reads());
	while (hub_reads())
		;
	check_account();
	CHECK(dirty || out == stats.forwarded);
	hub_ends();
	CHECK(stats.drained == in);
	return 0;
}
