// SPDX-License-Identifier: Apache-2.0
/*
 * What one sample can cost at most: the whole sampler, over memory that is made to be
 * dear, counted in reads of that memory.  These are the worst layouts that were found by
 * hand; a search goes on from there.  How long they take: tests/bench/costly.c.  The bounds
 * follow from the code: docs/SECURITY.md, "What one sample can cost".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/host.h"

#include "bpf/hotspot_read.bpf.h"
#include "bpf/python_read.bpf.h"
#include "bpf/parts.h"
#include "bpf/runtime.h"
#include "bpf/stop.h"
#include "symbolizerd/snapshot/walk.h"
#include "symbolizerd/unwind/table.h"
#include "tests/unit/costly_memory.h"

#define TP		(PCS + MIB)
#define TRIES		60	/* of the search, in each layout */
/* What the frames of a runtime may cost together, a step beyond that, and names of 64 frames.
 * CPython's cost less: a frame, names, two searches for the thread. */
#define STEP_READS	133ULL	/* of HotSpot's, at most */
#define HOTSPOT_READS	(READS_SAMPLE + STEP_READS + 64 * 40)
#define PYTHON_READS	(18 * FRAMES_MAX + 64 * 22 + 2 * 400)
#define SIGNAL_READS	(17 * FRAMES_MAX)

/* Only what the walk reads counts. */
long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	(void)dst, (void)size, (void)src;
	return -EFAULT;
}

static __u32 n_failed;
static __u64 read_at[4096];	/* where it was read last */
static __u32 n_read;
static struct costly costly;

static bool readable(uint64_t at, size_t len)
{
	for (size_t i = 0; i < COSTLY_REGIONS; i++) {
		const struct costly_region *r = &costly_regions[i];
		__u64 off = at - r->at;

		if (off >= r->bytes || r->bytes - off < len)
			continue;
		if (r->at != HOLES)
			return true;
		return !(off / PAGE & 1) && !((off + len - 1) / PAGE & 1);
	}
	return false;
}

static int read_memory(void *ctx, uint64_t at, void *dst, size_t len)
{
	(void)ctx;
	if (!readable(at, len)) {
		n_failed++;
		return -EFAULT;
	}
	read_at[n_read++ % 4096] = at;
	memcpy(dst, (void *)at, len);
	return 0;
}

static void looked_up(void *ctx, uint32_t file, uint64_t off)
{
	(void)ctx, (void)file, (void)off;
}

static void add_table(void *ctx, uint32_t file, struct walk_file *ret)
{
	struct walk *w = ctx;
	size_t len;
	void *table = costly_table(&costly, &len);

	(void)file;
	CHECK_EQ(walk_tables_add(&w->tables, table, &ret->dir, &ret->pages), 0);
	free(table);
}

/* --- a process -------------------------------------------------------------------- */

static struct snapshot process;
static struct snapshot_thread *thread;

enum { RBP = 4, RIP = 15, RSP = 16 };

static int by_start(const void *a, const void *b)
{
	const struct snapshot_map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void make_process(void)
{
	static struct snapshot_file file;
	static struct snapshot_map maps[1 + COSTLY_REGIONS];
	static struct snapshot_thread threads[1];

	file.runtime = costly.runtime;
	maps[0] = (struct snapshot_map){ .start = FILE_AT, .end = FILE_AT + FILE_BYTES,
					 .exec = true };
	for (size_t i = 0; i < COSTLY_REGIONS; i++)
		maps[1 + i] = (struct snapshot_map){
			.start = costly_regions[i].at, .file = SNAPSHOT_NO_FILE, .exec = true,
			.end = costly_regions[i].at + costly_regions[i].bytes,
		};
	qsort(maps, 1 + COSTLY_REGIONS, sizeof(*maps), by_start);
	threads[0] = (struct snapshot_thread){ .tid = 1, .tp = TP };
	threads[0].regs[RIP] = costly.pc;
	threads[0].regs[RSP] = costly.sp;
	threads[0].regs[RBP] = costly.fp;
	thread = threads;
	process = (struct snapshot){ .stack = HOLES + HOLES_BYTES - 64 };
	process.files.v = &file;
	process.files.n = 1;
	process.maps.v = maps;
	process.maps.n = 1 + COSTLY_REGIONS;
	process.threads.v = threads;
	process.threads.n = 1;
}

struct cost {
	__u32 words, reads, failed, stop;
};

/* Of a first sample of this process; read_ns: what a read takes. */
static struct cost timed_cost(uint32_t read_ns)
{
	struct walk w = { .s = &process, .read = read_memory, .table = add_table,
			  .looked_up = looked_up, .read_ns = read_ns };
	const struct trace_rec *rec;
	struct cost c;

	w.ctx = &w;
	n_failed = 0;
	CHECK_EQ(walk_begin(&w), 0);
	rec = walk_thread(&w, thread);
	CHECK(rec);
	c = (struct cost){ rec->n_user, w.n_reads, n_failed, rec->stop };
	walk_end(&w);
	return c;
}

static struct cost sample_cost(void)
{
	return timed_cost(0);
}

/* --- the search --------------------------------------------------------------------- */

static __u64 seed = 1;

static __u64 below(__u64 n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

/* A word that was read, or one near it. */
static __u64 some_place(void)
{
	__u32 n = n_read < 4096 ? n_read : 4096;
	__u64 at = (read_at[below(n)] + 8 * below(16)) & ~7ULL;

	return readable(at, 8) ? at : OBJECTS;
}

static __u64 some_word(__u64 was)
{
	switch (below(5)) {
	case 0:
		return 0;
	case 1:
		return *(__u64 *)some_place();
	case 2:
		return some_place();
	case 3:
		return was + 8 * below(64) - 256;
	default:
		return was ^ 1ULL << below(64);
	}
}

/* Change a word at a time, and keep what makes the sample no cheaper. */
static __u32 search(void)
{
	__u32 best = sample_cost().reads;

	for (int i = 0; i < TRIES; i++) {
		__u64 *place = (__u64 *)some_place(), was = *place;
		__u32 reads;

		*place = some_word(was);
		reads = sample_cost().reads;
		if (reads < best)
			*place = was;
		else
			best = reads;
	}
	return best;
}

static void judge(const char *what, __u32 least, __u32 most)
{
	struct cost c;
	__u32 best;

	make_process();
	c = sample_cost();
	best = search();
	printf("# %s %u: %u reads, of which %u fail, for %u words; %u after the search, "
	       "bound %u\n", what, costly.version, c.reads, c.failed, c.words, best, most);
	CHECK_EQ(c.stop, STOP_CUT);
	CHECK(c.reads > least);		/* else the layout is not what it should be */
	CHECK(best <= most);
}

TEST(a_sample_of_hotspot_has_a_bound)
{
	costly_map();
	EACH_LAYOUT(v) {
		costly = costly_hotspot(v);
		judge("HotSpot", HOTSPOT_READS / 2, HOTSPOT_READS);
	}
}

TEST(a_sample_of_python_has_a_bound)
{
	costly_map();
	EACH_VERSION(v) {
		costly = costly_python(v, TP);
		judge("CPython", PYTHON_READS / 3, PYTHON_READS);
	}
}

TEST(a_sample_of_signals_has_a_bound)
{
	costly_map();
	costly = costly_signals();
	judge("signals", SIGNAL_READS / 2, SIGNAL_READS);
}

/* Where reads are slow, a sample ends when its time is over: within some steps. */
TEST(a_sample_ends_when_its_time_is_over)
{
	static const uint32_t read_ns[] = { 80, 200, 1000 };

	costly_map();
	costly = costly_hotspot(17);
	make_process();
	for (size_t i = 0; i < sizeof(read_ns) / sizeof(*read_ns); i++) {
		struct cost c = timed_cost(read_ns[i]);
		uint64_t took = (uint64_t)c.reads * read_ns[i];

		printf("# a read takes %u ns: %u reads, %u words\n", read_ns[i], c.reads, c.words);
		CHECK_EQ(c.stop, STOP_CUT);
		CHECK(c.words < FRAMES_MAX);
		CHECK(took <= SAMPLE_NS + c.words * SAMPLE_FRAME_NS + 10 * STEP_READS * read_ns[i] ||
		      c.words <= SAMPLE_SURE + 10);
	}
}
