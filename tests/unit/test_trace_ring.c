// SPDX-License-Identifier: Apache-2.0
#include "ipc/trace_consumer.h"
#include "ipc/trace_ring.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE	(2 * TRACE_REC_MAX)

struct rec {
	uint32_t len;
	uint8_t kind, pad[3];
	uint64_t seq;
};

struct ring {
	struct trace_producer p;
	struct trace_consumer c;
};

static void init(struct ring *r)
{
	CHECK_EQ(trace_producer_init(&r->p, SIZE), 0);
	CHECK_EQ(trace_consumer_init(&r->c, r->p.data_fd, r->p.pos_fd, SIZE),
		 0);
}

static bool put(struct trace_producer *p, uint32_t len, uint64_t seq)
{
	struct rec *rec = trace_producer_reserve(p, len);

	if (!rec)
		return false;
	memset(rec, (int)seq, len);
	rec->len = len;
	rec->kind = 1;
	if (len >= sizeof(*rec))
		rec->seq = seq;
	trace_producer_commit(p, len);
	return true;
}

static void get(struct trace_consumer *c, uint32_t want_len, uint64_t seq)
{
	const struct rec *rec;
	size_t len;

	rec = trace_consumer_peek(c, &len);
	CHECK(rec != NULL);
	CHECK_EQ(len, want_len);
	CHECK_EQ(rec->len, want_len);
	if (len >= sizeof(*rec))
		CHECK_EQ(rec->seq, seq);
	for (size_t i = sizeof(*rec); i < len; i++)
		CHECK_EQ(((const uint8_t *)rec)[i], (uint8_t)seq);
	trace_consumer_next(c, len);
}

static void none(struct trace_consumer *c)
{
	size_t len = 1;

	CHECK(trace_consumer_peek(c, &len) == NULL);
	CHECK_EQ(len, 0);
}

static void malformed(struct trace_consumer *c)
{
	size_t len = 1;

	CHECK(trace_consumer_peek(c, &len) == NULL);
	CHECK_EQ(len, SIZE_MAX);
}

/* The positions are the first eight bytes of their pages. */
static uint64_t *word(const void *page)
{
	return (uint64_t *)(uintptr_t)page;
}

/* By the consumer's own word. */
static bool all_consumed(const struct ring *r)
{
	return *word(r->p.tail) == r->p.pos;
}

/* What a hostile consumer may do with the descriptor it was given. */
static uint64_t *hostile_tail(struct trace_producer *p)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			  p->pos_fd, 0);

	CHECK(page != MAP_FAILED);
	return page;
}

TEST(trace_ring_carries_records_in_order)
{
	struct ring r;

	init(&r);
	none(&r.c);
	CHECK(all_consumed(&r));
	CHECK(put(&r.p, 8, 0));
	CHECK(put(&r.p, 80, 1));
	CHECK(!all_consumed(&r));
	get(&r.c, 8, 0);
	get(&r.c, 80, 1);
	none(&r.c);
	CHECK(all_consumed(&r));
	trace_consumer_fini(&r.c);
	trace_producer_fini(&r.p);
}

TEST(trace_ring_wraps_at_every_offset)
{
	struct ring r;
	uint64_t seq = 0;

	init(&r);
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t len = 16 + 8 * (round * 7919 % 4093);

		CHECK(put(&r.p, len, seq));
		CHECK(put(&r.p, 24, seq + 1));
		get(&r.c, len, seq);
		get(&r.c, 24, seq + 1);
		seq += 2;
	}
	none(&r.c);
	CHECK(r.p.pos > 100ull * SIZE);
	CHECK(all_consumed(&r));
}

TEST(trace_ring_pads_the_end_even_by_eight_bytes)
{
	struct ring r;

	init(&r);
	CHECK(put(&r.p, TRACE_REC_MAX, 1));
	CHECK(put(&r.p, TRACE_REC_MAX - 8, 2));
	get(&r.c, TRACE_REC_MAX, 1);
	get(&r.c, TRACE_REC_MAX - 8, 2);
	CHECK(put(&r.p, 16, 3));		/* 8 bytes are left: pad */
	CHECK_EQ(r.p.pos, SIZE + 16);
	get(&r.c, 16, 3);
	none(&r.c);
	/* a record that fits exactly needs none */
	CHECK(put(&r.p, TRACE_REC_MAX, 4));
	get(&r.c, TRACE_REC_MAX, 4);
	CHECK(put(&r.p, TRACE_REC_MAX - 16, 5));
	CHECK_EQ(r.p.pos, 2 * SIZE);
	get(&r.c, TRACE_REC_MAX - 16, 5);
	none(&r.c);
}

TEST(trace_ring_full_writes_nothing)
{
	struct ring r;
	uint64_t pos;

	init(&r);
	CHECK(put(&r.p, TRACE_REC_MAX, 1));
	CHECK(put(&r.p, TRACE_REC_MAX, 2));	/* full to the last byte */
	pos = r.p.pos;
	CHECK(!put(&r.p, 8, 3));
	CHECK_EQ(r.p.pos, pos);
	get(&r.c, TRACE_REC_MAX, 1);
	CHECK(put(&r.p, TRACE_REC_MAX - 8, 3));
	CHECK(!put(&r.p, 16, 4));
	CHECK(put(&r.p, 8, 0));
	CHECK(!put(&r.p, 8, 5));
	get(&r.c, TRACE_REC_MAX, 2);
	get(&r.c, TRACE_REC_MAX - 8, 3);
	get(&r.c, 8, 0);
	none(&r.c);
}

TEST(trace_ring_full_when_record_and_pad_do_not_fit_both)
{
	struct ring r;
	uint64_t pos;

	init(&r);
	CHECK(put(&r.p, TRACE_REC_MAX, 1));
	CHECK(put(&r.p, TRACE_REC_MAX - 64, 2));
	get(&r.c, TRACE_REC_MAX, 1);
	pos = r.p.pos;
	/* 64 bytes at the end, TRACE_REC_MAX at the start */
	CHECK(put(&r.p, TRACE_REC_MAX, 3));
	CHECK_EQ(r.p.pos, pos + 64 + TRACE_REC_MAX);
	get(&r.c, TRACE_REC_MAX - 64, 2);
	get(&r.c, TRACE_REC_MAX, 3);
	none(&r.c);
	/* now with 8 bytes too few */
	CHECK(put(&r.p, TRACE_REC_MAX - 72, 4));
	get(&r.c, TRACE_REC_MAX - 72, 4);
	CHECK(put(&r.p, 16, 5));
	pos = r.p.pos;
	CHECK_EQ(SIZE - pos % SIZE, 56);
	CHECK(put(&r.p, TRACE_REC_MAX, 6));
	pos = r.p.pos;
	CHECK(!put(&r.p, TRACE_REC_MAX - 8, 7));
	CHECK_EQ(r.p.pos, pos);
}

TEST(trace_ring_forgotten_reservation_leaves_no_trace)
{
	struct ring r;

	init(&r);
	CHECK(put(&r.p, TRACE_REC_MAX, 1));
	CHECK(put(&r.p, TRACE_REC_MAX - 16, 2));
	get(&r.c, TRACE_REC_MAX, 1);
	CHECK(trace_producer_reserve(&r.p, 800) != NULL);
	get(&r.c, TRACE_REC_MAX - 16, 2);
	none(&r.c);
	CHECK(all_consumed(&r));
	CHECK(put(&r.p, 800, 3));
	get(&r.c, 800, 3);
	none(&r.c);
}

TEST(trace_ring_refuses_odd_lengths_and_sizes)
{
	static const size_t lens[] = {
		0, 1, 4, 7, 9, 12, TRACE_REC_MAX + 8, TRACE_REC_MAX - 1,
		SIZE_MAX, SIZE_MAX - 7,
	};
	static const size_t sizes[] = {
		0, 1, 4096, TRACE_REC_MAX, SIZE - 8, SIZE + 4096,
		(size_t)1 << 40, SIZE_MAX,
	};
	struct trace_producer p;
	struct ring r;

	init(&r);
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		CHECK(trace_producer_reserve(&r.p, lens[i]) == NULL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CHECK_EQ(trace_producer_init(&p, sizes[i]), -EINVAL);
		trace_producer_fini(&p);
		CHECK_EQ(trace_consumer_init(&r.c, r.p.data_fd, r.p.pos_fd,
					     sizes[i]), -EPROTO);
	}
}

/* --- a hostile consumer ---------------------------------------------------- */

TEST(trace_ring_producer_disbelieves_impossible_tails)
{
	struct ring r;
	uint64_t *tail;

	init(&r);
	tail = hostile_tail(&r.p);
	CHECK(put(&r.p, TRACE_REC_MAX, 1));
	CHECK(put(&r.p, TRACE_REC_MAX, 2));
	for (int bit = 0; bit < 64; bit++) {
		*tail = 1ull << bit;
		/* beyond what was written: nothing was consumed */
		if (*tail > r.p.pos) {
			CHECK(!put(&r.p, 8, 3));
			CHECK_EQ(r.p.last_tail <= r.p.pos, true);
		}
	}
	*tail = r.p.pos + 1;
	CHECK(!put(&r.p, TRACE_REC_MAX, 3));
	*tail = UINT64_MAX;
	CHECK(!put(&r.p, TRACE_REC_MAX, 3));
	CHECK(!all_consumed(&r));
}

TEST(trace_ring_tail_never_moves_back)
{
	struct ring r;
	uint64_t *tail;

	init(&r);
	tail = hostile_tail(&r.p);
	CHECK(put(&r.p, TRACE_REC_MAX, 1));
	CHECK(put(&r.p, TRACE_REC_MAX, 2));
	*tail = TRACE_REC_MAX;
	CHECK(put(&r.p, TRACE_REC_MAX, 3));
	*tail = 0;
	CHECK(!put(&r.p, 8, 4));
	CHECK_EQ(r.p.last_tail, TRACE_REC_MAX);
	*tail = 2 * TRACE_REC_MAX;
	CHECK(put(&r.p, 8, 4));
}

TEST(trace_ring_producer_stays_inside_whatever_the_tail_says)
{
	struct ring r;
	uint64_t *tail, x = 88172645463325252ull;

	init(&r);
	tail = hostile_tail(&r.p);
	for (int i = 0; i < 200000; i++) {
		uint32_t len;
		uint8_t *p;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		*tail = i % 3 ? r.p.pos - x % (2 * SIZE) : x;
		len = 8 + 8 * (uint32_t)(x % 4096);
		p = trace_producer_reserve(&r.p, len);
		CHECK(r.p.pos - r.p.last_tail <= SIZE);
		if (!p)
			continue;
		CHECK(p >= r.p.data && (size_t)(p - r.p.data) <= SIZE - len);
		memset(p, 0xff, len);
		trace_producer_commit(&r.p, len);
		CHECK(r.p.pos - r.p.last_tail <= SIZE);
	}
	CHECK(r.p.pos > SIZE);
}

TEST(trace_ring_consumer_cannot_write_shrink_or_remap)
{
	struct ring r;
	size_t all = 4096 + SIZE;
	void *ro;

	init(&r);
	CHECK(write(r.p.data_fd, "x", 1) < 0);
	CHECK(ftruncate(r.p.data_fd, 0) < 0);
	CHECK(ftruncate(r.p.pos_fd, 0) < 0);
	CHECK(ftruncate(r.p.pos_fd, 1 << 20) < 0);
	CHECK(fallocate(r.p.data_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			0, 4096) < 0);
	CHECK(mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, r.p.data_fd,
		   0) == MAP_FAILED);
	ro = mmap(NULL, all, PROT_READ, MAP_SHARED, r.p.data_fd, 0);
	CHECK(ro != MAP_FAILED);
	CHECK(mprotect(ro, all, PROT_READ | PROT_WRITE) < 0);
	CHECK(fcntl(r.p.data_fd, F_ADD_SEALS, F_SEAL_WRITE) < 0);
	CHECK(fcntl(r.p.pos_fd, F_ADD_SEALS, F_SEAL_WRITE) < 0);
}

/* --- a producer that has gone mad ------------------------------------------ */

TEST(trace_ring_consumer_refuses_unsealed_memory)
{
	struct trace_consumer c;
	struct ring r;
	int data, pos;

	init(&r);
	data = memfd_create("data", MFD_ALLOW_SEALING);
	pos = memfd_create("pos", MFD_ALLOW_SEALING);
	CHECK(ftruncate(data, 4096 + SIZE) == 0 && ftruncate(pos, 4096) == 0);
	CHECK_EQ(trace_consumer_init(&c, data, r.p.pos_fd, SIZE), -EPROTO);
	CHECK_EQ(trace_consumer_init(&c, r.p.data_fd, pos, SIZE), -EPROTO);
	CHECK_EQ(trace_consumer_init(&c, r.p.pos_fd, r.p.data_fd, SIZE),
		 -EPROTO);
	CHECK_EQ(trace_consumer_init(&c, r.p.data_fd, r.p.pos_fd, 2 * SIZE),
		 -EPROTO);
	CHECK_EQ(trace_consumer_init(&c, 0, -1, SIZE), -EPROTO);
	CHECK_EQ(trace_consumer_init(&c, r.p.data_fd, r.p.pos_fd, SIZE), 0);
}

TEST(trace_ring_consumer_disbelieves_impossible_heads)
{
	static const uint64_t heads[] = {
		4, 15, SIZE + 8, UINT64_MAX, UINT64_MAX - 7, 1ull << 32,
	};
	struct ring r;

	init(&r);
	CHECK(put(&r.p, 16, 1));
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		*word(r.p.head) = heads[i];
		malformed(&r.c);
	}
	*word(r.p.head) = 16;
	get(&r.c, 16, 1);
}

TEST(trace_ring_consumer_refuses_impossible_records)
{
	static const uint32_t lens[] = {
		0, 4, 7, 12, 88, TRACE_REC_MAX + 8, SIZE, UINT32_MAX,
		UINT32_MAX - 7,
	};
	struct ring r;

	init(&r);
	CHECK(put(&r.p, 80, 1));
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		memcpy(r.p.data, &lens[i], 4);
		malformed(&r.c);
	}
	memcpy(r.p.data, &(uint32_t){ 80 }, 4);
	r.p.data[4] = 0;		/* a pad that does not reach the end */
	malformed(&r.c);
	r.p.data[4] = 1;
	get(&r.c, 80, 1);
}

/* --- two processes --------------------------------------------------------- */

#define RUN	300000

static uint32_t len_of(uint64_t seq)
{
	return 16 + 8 * (uint32_t)(seq * 2654435761u % 300);
}

static void produce(struct trace_producer *p)
{
	for (uint64_t seq = 0; seq < RUN; seq++) {
		while (!put(p, len_of(seq), seq))
			usleep(50);
	}
	_exit(0);
}

TEST(trace_ring_between_two_processes)
{
	struct ring r;
	int status;
	pid_t pid;

	init(&r);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		produce(&r.p);
	for (uint64_t seq = 0; seq < RUN; ) {
		size_t len;

		if (!trace_consumer_peek(&r.c, &len)) {
			CHECK_EQ(len, 0);
			usleep(50);
			continue;
		}
		get(&r.c, len_of(seq), seq);
		seq++;
	}
	none(&r.c);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}
