// SPDX-License-Identifier: Apache-2.0
/*
 * What a sample asks of memory, counted over recorded stacks: no machine is faster in
 * that than another.
 */
#include <fcntl.h>
#include <unistd.h>

#include "bpf/stop.h"
#include "common/read_all.h"
#include "symbolizerd/snapshot/text.h"
#include "tests/unit/harness.h"

#include "symbolizerd/snapshot/replay.c"

static void read_recording(const char *path, struct snapshot *s)
{
	struct buffer packed = { 0 }, text = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		printf("# %s cannot be opened; run this from the top of the sources\n", path);
	CHECK(fd >= 0);
	CHECK_EQ(read_all(fd, 1 << 20, &packed), 0);
	close(fd);
	CHECK_EQ(text_unpack(packed.data, packed.len, &text), 0);
	CHECK_EQ(text_read(text.data, text.len, s), 0);
	free(packed.data);
	free(text.data);
}

struct cost {
	uint32_t frames, reads, elements;
};

/* Of a sample of the main thread. */
static struct cost sample_cost(struct walk *w, const struct snapshot *s)
{
	uint32_t reads = w->n_reads, elements = w->n_elements;
	const struct trace_rec *rec = walk_thread(w, &s->threads.v[0]);

	CHECK(rec && rec->stop == STOP_COMPLETE);
	return (struct cost){ rec->n_user, w->n_reads - reads, w->n_elements - elements };
}

/* A first sample and a second one of the same stack. */
static void recording_cost(const char *path, struct cost *first, struct cost *again)
{
	struct replay_misses misses = { 0 };
	struct snapshot s = { 0 };
	struct replaying r = {
		.s = &s, .misses = &misses,
		.walk = { .s = &s, .read = replay_read, .table = replay_table,
			  .looked_up = replay_looked_up },
	};

	read_recording(path, &s);
	r.walk.ctx = &r;
	CHECK_EQ(walk_begin(&r.walk), 0);
	*first = sample_cost(&r.walk, &s);
	*again = sample_cost(&r.walk, &s);
	CHECK_EQ(first->frames, again->frames);
	CHECK_EQ(misses.memory + misses.rows, 0);
	walk_end(&r.walk);
	snapshot_fini(&s);
	printf("# %s: %u frames, %u reads; elements: %u, then %u\n", path, first->frames,
	       first->reads, first->elements, again->elements);
}

static const char *const recordings[] = {
	"tests/recordings/gcc-O2.gz", "tests/recordings/clang-O3.gz",
	"tests/recordings/gcc-O2-static-stripped.gz", "tests/recordings/gcc-O0-fp.gz",
};
#define RECORDINGS	(sizeof(recordings) / sizeof(*recordings))

TEST(a_stack_that_stays_asks_for_a_third_of_the_tables_at_most)
{
	for (size_t i = 0; i < RECORDINGS; i++) {
		struct cost first, again;

		recording_cost(recordings[i], &first, &again);
		CHECK(first.frames > 5);
		/* directory, index, row, rule */
		CHECK(first.elements <= 4 * first.frames);
		CHECK(first.elements >= 2 * first.frames);
		/* more than two frames in 128 bytes drive each other out */
		CHECK(3 * again.elements <= first.elements);
	}
}

TEST(a_stack_is_read_in_windows)
{
	for (size_t i = 0; i < RECORDINGS; i++) {
		struct cost first, again;

		recording_cost(recordings[i], &first, &again);
		CHECK(again.reads <= first.frames);
		CHECK_EQ(again.reads, first.reads);
	}
}
