// SPDX-License-Identifier: Apache-2.0
/* The table of runtimes: what the hub, encoders and workers rely on. */
#include "symbolizerd/runtimes/runtimes.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bpf/frame.h"
#include "ipc/message_hub.h"
#include "symbolizerd/unwind/table.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/table_view.h"

TEST(numbers_of_runtimes_never_change)
{
	CHECK_EQ(RUNTIME_NONE, 0);
	CHECK_EQ(RUNTIME_GO, 1);
	CHECK_EQ(RUNTIME_PYTHON, 2);
	CHECK_EQ(RUNTIME_HOTSPOT, 3);
	CHECK_EQ(RUNTIME_PERL, 4);
}

TEST(each_runtime_has_a_row_for_batches)
{
	CHECK_EQ(runtime_info(RUNTIME_NONE)->code, BATCH_FRAME_NATIVE);
	CHECK_STR(runtime_info(RUNTIME_NONE)->id_key, "");
	for (uint32_t i = 1; i < RUNTIME__MAX; i++) {
		const struct runtime_info *info = runtime_info(i);

		/* native code of its files is code of a file */
		CHECK_EQ(frame_kind_class(info->code), FRAMES_FILE);
		CHECK(info->id_key != NULL);
		for (uint32_t k = 1; k < i; k++)
			CHECK(!info->id_key[0] ||
			      strcmp(info->id_key, runtime_info(k)->id_key));
	}
}

/* Each source is whole, and there is an end. */
TEST(sources_of_names_are_whole)
{
	size_t n = 0;

	for (; runtimes_symbols(n); n++) {
		const struct symbol_source *s = runtimes_symbols(n);

		CHECK(s->open && s->function && s->name && s->lines &&
		      s->close);
	}
	CHECK(n > 0 && n < RUNTIME__MAX);
}

TEST(only_runtimes_with_frames_of_their_own_name_any)
{
	const uint64_t word = FRAME_ANON_WORD(0x1000);
	struct process_memory m = { -1, 1, 1 };
	static struct frame_names_build names;

	frame_names_begin(&names, 1);
	/* Go's frames are native ones, CPython's names come with the samples */
	for (uint32_t i = 0; i <= RUNTIME__MAX; i++) {
		bool visited = i < RUNTIME__MAX && runtime_info(i)->flags & RUNTIME_VISITED;

		CHECK_EQ(visited, i == RUNTIME_HOTSPOT);
		CHECK_EQ(runtimes_names(i, &m, &word, 1, &names),
			 visited ? JOB_OK : JOB_NO_NAMES);
	}
	CHECK_EQ(names.named, 0);
}

TEST(an_ordinary_program_is_of_no_runtime)
{
	struct runtime_found facts;
	struct elf_file f;
	int fd = open("/proc/self/exe", O_RDONLY);

	CHECK(fd >= 0);
	CHECK_EQ(elf_file_open(&f, fd), 0);
	memset(&facts, 0xff, sizeof(facts));
	runtimes_find(&f, &facts);
	CHECK_EQ(facts.runtime, RUNTIME_NONE);
	CHECK_STR(facts.id, "");
	elf_file_close(&f);
	close(fd);
}

/* --- what find() says becomes rows -------------------------------------------------- */

#define CODE	0x100000	/* virtual address of the code */
#define BYTES	256

static struct elf_image im;

/* The table of a file of code of which this was found; *code: where that is in the file. */
static void *table_of(const struct runtime_found *found, uint64_t *code)
{
	static const uint8_t bytes[BYTES];
	struct table_view v;
	struct elf_file f;
	void *table;
	size_t len;
	int fd;

	image_init(&im, EM_X86_64);
	*code = image_put(&im, bytes, BYTES);
	image_segment(&im, PT_LOAD, PF_R | PF_X, *code, CODE, BYTES);
	image_finish(&im);
	fd = image_file(&im);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	f.found = found;
	CHECK_EQ(unwind_build(&f, runtimes_rows, &table, &len), JOB_OK);
	CHECK(view_open(&v, table, len));
	elf_file_close(&f);
	close(fd);
	return table;
}

TEST(facts_are_the_rules_of_the_first_places)
{
	struct runtime_found r = { .runtime = RUNTIME_PYTHON };
	const struct unwind_rule *rule;
	uint64_t code;
	void *table;

	/* more than there is room for */
	for (uint32_t i = 0; i < 2 * RUNTIME_FACTS; i++)
		runtime_add_fact(&r, 100 + i, ~0ULL - i, -(int32_t)i);
	CHECK_EQ(r.n_facts, RUNTIME_FACTS);
	table = table_of(&r, &code);
	for (uint32_t i = 0; i < RUNTIME_FACTS; i++) {
		rule = table_lookup(table, i);
		CHECK_EQ(rule->cfa, CFA_RUNTIME);
		CHECK_EQ(RUNTIME_VERSION(rule), 100 + i);
		CHECK_EQ(RUNTIME_ROOT(rule), ~0ULL - i);
		CHECK_EQ(RUNTIME_AUX(rule), -(int32_t)i);
	}
	CHECK_EQ(table_lookup(table, RUNTIME_FACTS)->cfa, CFA_NONE);
	free(table);
}

static uint32_t n_spans;

static int on_span(void *ctx, uint64_t start, uint64_t end, const struct unwind_rule *rule)
{
	const struct runtime_span *want = ctx;

	CHECK(n_spans < UNWIND_SPANS);
	CHECK_EQ(start, want[n_spans].start);
	CHECK_EQ(end, want[n_spans].end);
	CHECK_EQ(rule->cfa, CFA_NONE);
	CHECK_EQ(rule->by_fp, want[n_spans].mark);
	n_spans++;
	return 0;
}

TEST(spans_are_rows_without_a_rule)
{
	struct runtime_found r = { .runtime = RUNTIME_PYTHON };
	const struct elf_file f = { .fd = -1, .found = &r };

	for (uint32_t i = 0; i < 2 * UNWIND_SPANS; i++)
		runtime_add_span(&r, CODE + 16 * i, CODE + 16 * i + 1 + i,
				 i % 2 ? RULE_LOOP_PART : RULE_LOOP);
	CHECK_EQ(r.n_spans, UNWIND_SPANS);
	r.n_spans = 1;
	/* the wrong way round, and empty */
	runtime_add_span(&r, CODE + 2, CODE + 1, RULE_LOOP);
	runtime_add_span(&r, CODE + 2, CODE + 2, RULE_LOOP);
	CHECK_EQ(r.n_spans, 1);
	r.n_spans = UNWIND_SPANS;
	CHECK_EQ(runtimes_rows(&f, on_span, r.spans), 0);
	CHECK_EQ(n_spans, UNWIND_SPANS);
}

TEST(places_count_from_where_the_file_begins)
{
	struct elf_file f;
	uint64_t code, at;
	int fd;

	free(table_of(&(struct runtime_found){ 0 }, &code));
	fd = image_file(&im);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK(runtime_relative(&f, CODE + 8, CODE + 0x5000, &at));
	CHECK_EQ(at, code + 0x5000);
	CHECK(!runtime_relative(&f, CODE - 1, CODE, &at));
	CHECK(!runtime_relative(&f, CODE + BYTES, CODE, &at));
	elf_file_close(&f);
	close(fd);
}
