// SPDX-License-Identifier: Apache-2.0
/*
 * From the BPF ring to the socket.  Above all invariant 6: no raw kernel
 * address leaves loaderd, whatever a record holds.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/frame.h"
#include "loaderd/drain.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/harness.h"

static struct ksym_range ranges[KSYM_RANGES];
static struct ksyms k = { .range = ranges };
static struct loader_stats stats;
static struct drain d = { .ksyms = &k, .stats = &stats, .fd = -1 };
static int to = -1, from = -1;
static uint64_t raw[RECORD_MAX / 8 + 16];
static uint64_t rng = 88172645463325252ULL;

static uint64_t random64(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static void start(void)
{
	int pair[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	to = pair[0];
	from = pair[1];
	drain_to(&d, to);
	memset(&stats, 0, sizeof(stats));
}

static void end(void)
{
	drain_to(&d, -1);
	close(from);
	close(to);
}

/* The next record that was sent, or NULL.  A datagram holds whole records. */
static uint64_t datagram[SAMPLES_BYTES / 8];
static size_t datagram_at, datagram_len;

static const struct trace_rec *next(void)
{
	const struct trace_rec *r;

	if (datagram_at == datagram_len) {
		ssize_t n = recv(from, datagram, sizeof(datagram),
				 MSG_DONTWAIT | MSG_TRUNC);

		datagram_at = datagram_len = 0;
		if (n < 0)
			return NULL;
		CHECK(n > 0 && (size_t)n <= sizeof(datagram));
		datagram_len = (size_t)n;
	}
	r = (void *)&datagram[datagram_at / 8];
	CHECK(r->len >= 8 && r->len % 8 == 0);
	CHECK(r->len <= datagram_len - datagram_at);
	datagram_at += r->len;
	return r;
}

/* A record that is sound, with random words: in, around and far from the
 * kernel's text, user addresses, frame words. */
static struct trace_rec *make(uint16_t n_kernel, uint16_t n_user)
{
	struct trace_rec *r = (void *)raw;

	*r = (struct trace_rec){
		.len = sizeof(*r) + 8u * (n_kernel + n_user),
		.kind = REC_SAMPLE, .version = REC_VERSION,
		.n_kernel = n_kernel, .n_user = n_user,
	};
	for (uint32_t i = 0; i < (uint32_t)n_kernel + n_user; i++) {
		uint64_t x = random64();

		r->words[i] = i < n_kernel && x % 8 ?
			KERNEL_TEXT - 4096 + x % 1100000 : random64();
	}
	return r;
}

/* What a word of the kernel part may be: a known number, an offset below the
 * size of its symbol. */
static uint32_t names[FRAME_NUMBER_MASK + 1];	/* symbol + 1, by number */

static void take_definition(const struct ksym_rec *def)
{
	unsigned int i;

	CHECK_EQ(def->len, sizeof(*def));
	CHECK(def->number != KSYM_NONE && def->number <= FRAME_NUMBER_MASK);
	CHECK_EQ(sscanf(def->name, "sym%u_", &i), 1);
	CHECK(i < SYMBOLS);
	CHECK(!memchr(def->name, 'x', sizeof(def->name)));	/* no 0x... */
	names[def->number] = i + 1;
}

static void check_kernel_word(uint64_t in, bool leaf, uint64_t out)
{
	uint32_t number = FRAME_NUMBER(out);
	uint64_t place = FRAME_PLACE(out);

	CHECK_EQ(out, FRAME_WORD(FRAME_KERNEL, number, place));
	if (number == KSYM_NONE) {
		CHECK_EQ(place, 0);
		CHECK(in - !leaf - KERNEL_TEXT >=
		      fake_start(SYMBOLS) - KERNEL_TEXT);
		return;
	}
	CHECK(names[number] != 0);
	CHECK(place < fake_size(names[number] - 1));
	CHECK_EQ(fake_start(names[number] - 1) + place, in - !leaf);
}

/* Send and take all; the one sample must be `in`. */
static bool taken(const struct trace_rec *in)
{
	const struct trace_rec *r;
	bool found = false;

	CHECK_EQ(drain_flush(&d), 0);
	while ((r = next())) {
		if (r->kind == REC_KSYM) {
			take_definition((const void *)r);
		} else {
			CHECK(!found);
			found = true;
			CHECK_EQ(r->len, in->len);
			CHECK(!memcmp(r, in, sizeof(*r)));
			for (uint32_t i = 0; i < in->n_kernel; i++)
				check_kernel_word(in->words[i], i == 0,
						  r->words[i]);
			CHECK(!memcmp(r->words + r->n_kernel,
				      in->words + in->n_kernel,
				      8 * (size_t)in->n_user));
		}
	}
	return found;
}

TEST(drain_lets_no_kernel_address_out)
{
	start();
	for (int i = 0; i < 20000; i++) {
		struct trace_rec *r = make(random64() % (KERNEL_MAX + 1),
					   random64() % 64);

		if (i % 5000 == 4999)
			k.n = 0;
		drain_record(&d, r, r->len);
		CHECK(taken(r));
	}
	CHECK_EQ(stats.drained, 20000);
	CHECK_EQ(stats.forwarded, 20000);
	end();
}

/* Every field that says how long something is, wrong. */
TEST(drain_counts_a_record_that_makes_no_sense)
{
	struct trace_rec *r;
	uint64_t n = 0;

	start();
#define BAD(what, length)						\
	do {								\
		r = make(5, 7);						\
		what;							\
		drain_record(&d, r, (length));				\
		CHECK_EQ(stats.bad_record, ++n);			\
		CHECK(!taken(r));					\
	} while (0)
	BAD(r->len -= 8, r->len);
	BAD(r->len += 8, r->len);
	BAD(r->len += 8, r->len - 8);
	BAD(r->len -= 4, r->len);
	BAD((void)r, 0);
	BAD((void)r, sizeof(*r) - 1);
	BAD((void)r, r->len - 8);
	BAD(r->n_kernel--, r->len);
	BAD(r->n_kernel++, r->len);
	BAD(r->n_user = UINT16_MAX, r->len);
	BAD(r->n_kernel = UINT16_MAX, r->len);
	BAD(r->kind = REC_KSYM, r->len);
	BAD(r->kind = 0, r->len);
	BAD(r->version++, r->len);
	BAD(r = make(KERNEL_MAX + 1, 0), r->len);
	BAD(r = make(0, RECORD_MAX / 8 - 9), r->len);
#undef BAD
	CHECK_EQ(stats.drained, n);
	CHECK_EQ(stats.forwarded, 0);
	end();
}

/* Random bytes over a sound record: it is refused, or all of the above holds. */
TEST(drain_survives_records_with_random_bytes)
{
	uint64_t done = 0;

	start();
	for (int i = 0; i < 50000; i++) {
		struct trace_rec *r = make(random64() % 20, random64() % 20);
		uint32_t len = r->len;

		((uint8_t *)r)[random64() % len] = (uint8_t)random64();
		drain_record(&d, r, len);
		done += taken(r);
	}
	CHECK_EQ(stats.drained, 50000);
	CHECK_EQ(stats.forwarded, done);
	CHECK_EQ(stats.forwarded + stats.bad_record, stats.drained);
	CHECK(stats.bad_record > 1000 && done > 1000);
	end();
}

TEST(drain_counts_what_has_nowhere_to_go)
{
	struct trace_rec *r = make(3, 3);

	start();
	drain_to(&d, -1);
	CHECK_EQ(drain_record(&d, r, r->len), 0);
	CHECK_EQ(stats.no_hub, 1);
	CHECK_EQ(stats.drained, 1);
	CHECK_EQ(stats.forwarded, 0);
	end();
}

/* As libbpf does it: a record that was delivered is gone from the ring, and a
 * negative answer stops the others.  in: how many were delivered so far. */
static void deliver(uint64_t *in, uint64_t end)
{
	int r = -EAGAIN;

	while (r == -EAGAIN && !drain_flush(&d)) {
		r = 0;
		while (*in < end && !r) {
			struct trace_rec *rec = make(*in % 60, 50);

			rec->time_ns = ++*in;
			r = drain_record(&d, rec, rec->len);
		}
	}
	drain_flush(&d);
}

TEST(drain_stops_at_a_full_socket_and_loses_nothing)
{
	const struct trace_rec *r;
	uint64_t in = 0, out = 0;
	int stops = 0;

	start();
	while (out < 20000) {
		deliver(&in, 20000);
		stops += d.full;
		CHECK_EQ(d.full, in < 20000 || d.len > 0);
		/* what waits in the buffer does not count as drained */
		CHECK_EQ(stats.drained, in - d.samples);
		CHECK_EQ(stats.forwarded, stats.drained);
		/* one datagram makes room for others */
		do {
			r = next();
			CHECK(r != NULL);
			if (r->kind == REC_SAMPLE)
				CHECK_EQ(r->time_ns, ++out);
		} while (datagram_at < datagram_len);
	}
	CHECK(stops > 5);
	CHECK_EQ(in, 20000);
	CHECK_EQ(stats.forwarded, 20000);
	CHECK(!next());
	end();
}

/* The largest record, all of whose symbols are new, behind as much as there can
 * be in the buffer when one is taken. */
TEST(drain_has_room_for_the_largest_record)
{
	struct trace_rec *r;

	start();
	do {
		r = make(0, 13);
		CHECK_EQ(drain_record(&d, r, r->len), 0);
		CHECK(sizeof(d.buf) - d.len >=
		      RECORD_MAX + KERNEL_MAX * sizeof(struct ksym_rec));
	} while (d.len);			/* until it was sent */
	CHECK(stats.forwarded > 100);
	while (d.len + 184 + RECORD_MAX + KERNEL_MAX * sizeof(struct ksym_rec) <=
	       sizeof(d.buf)) {
		r = make(0, 13);
		CHECK_EQ(drain_record(&d, r, r->len), 0);
		CHECK(d.len > 0);
	}
	r = make(KERNEL_MAX, (RECORD_MAX - sizeof(*r)) / 8 - KERNEL_MAX);
	CHECK_EQ(r->len, RECORD_MAX);
	for (unsigned int i = 0; i < KERNEL_MAX; i++)
		r->words[i] = fake_start(2 * i) + 8;
	memset(names, 0, sizeof(names));
	CHECK_EQ(drain_record(&d, r, r->len), 0);
	CHECK_EQ(d.len, 0);			/* sent at once */
	CHECK_EQ(stats.forwarded, stats.drained);
	CHECK_EQ(k.n, KERNEL_MAX);
	end();
	datagram_at = datagram_len = 0;
}

TEST(drain_counts_what_a_hub_did_not_take)
{
	struct trace_rec *r;

	start();
	for (int i = 0; i < 3; i++) {
		r = make(5, 3);
		CHECK_EQ(drain_record(&d, r, r->len), 0);
	}
	CHECK_EQ(stats.drained, 0);
	close(from);			/* the hub died */
	from = -1;
	CHECK_EQ(drain_flush(&d), 0);
	CHECK_EQ(stats.no_hub, 3);
	CHECK_EQ(k.n, 0);		/* the next one knows no symbol */
	r = make(5, 3);
	CHECK_EQ(drain_record(&d, r, r->len), 0);
	drain_to(&d, -1);		/* that is noticed */
	CHECK_EQ(stats.no_hub, 4);
	CHECK_EQ(stats.drained, 4);
	CHECK_EQ(stats.forwarded, 0);
	end();
}

/* A new consumer knows none of the numbers of the one before. */
TEST(drain_defines_symbols_anew_for_each_hub)
{
	struct trace_rec *r;

	for (int i = 0; i < 3; i++) {
		start();
		memset(names, 0, sizeof(names));
		r = make(20, 0);
		drain_record(&d, r, r->len);
		CHECK(taken(r));	/* with definitions for all */
		end();
	}
}
