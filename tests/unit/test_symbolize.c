// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/symbolize.h"
#include "bpf/python_lines.h"
#include "tests/unit/complexity.h"
#include "tests/unit/harness.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "symbolizerd/hub/interval.h"
#include "tests/unit/managed_record.h"

static const struct file_key key = { .ino = 5, .size = 9 };

struct setup {
	struct executables exes;
	struct ksym_names ksyms;
	struct managed managed;
	struct pass pass;
	struct executable *e;
};

static void set_up(struct setup *s)
{
	struct ksym_rec k = { .number = 1, .name = "vfs_read" };
	uint32_t i;

	memset(s, 0, sizeof(*s));
	executables_init(&s->exes, 1);
	managed_init(&s->managed, 1);
	i = executables_mention(&s->exes, &key, 1);
	CHECK_EQ(executables_assign(&s->exes, 2, i, "/bin/x", 6, true), 0);
	s->e = executables_get(&s->exes, i);
	CHECK_EQ(ksym_set(&s->ksyms, &k), 0);
	s->pass = (struct pass){
		.builder = batch_builder_new(20), .exes = &s->exes,
		.ksyms = &s->ksyms, .managed = &s->managed, .number = 1, .interval = 1, .now_ns = 1,
	};
	CHECK(s->pass.builder != NULL);
}

static void tear_down(struct setup *s)
{
	batch_builder_free(s->pass.builder);
	pass_fini(&s->pass);
	executables_fini(&s->exes);
	managed_fini(&s->managed);
	ksym_clear(&s->ksyms);
}

static struct trace *trace(uint16_t n_kernel, uint16_t n_user,
			   const uint64_t *words)
{
	size_t n = (size_t)n_kernel + n_user;
	struct trace *tr = calloc(1, sizeof(*tr) + n * 8);

	CHECK(tr != NULL);
	tr->n_kernel = n_kernel;
	tr->n_user = n_user;
	memcpy(tr->words, words, n * 8);
	return tr;
}

/* One event with this stack, as a batch; the caller frees the data. */
static void *one_event(struct setup *s, struct trace *tr, struct batch *b)
{
	uint32_t stack = pass_stack(&s->pass, tr, 0);
	void *data;
	size_t len;

	CHECK_EQ(pass_stack(&s->pass, tr, 0), stack);
	batch_event(s->pass.builder, stack, 0, 0, STOP_COMPLETE, 50);
	CHECK_EQ(batch_builder_finish(s->pass.builder, 10, 100, &data, &len),
		 0);
	CHECK_EQ(batch_open(data, len, b), 0);
	return data;
}

TEST(symbolize_a_stack_without_frames_says_so)
{
	struct setup s;
	struct batch b;
	struct trace *tr = trace(0, 0, (uint64_t[]){ 0 });
	void *data;

	set_up(&s);
	data = one_event(&s, tr, &b);
	CHECK_EQ(b.stacks[0].n, 1);
	CHECK_EQ(b.frames[0].kind, BATCH_FRAME_CUT);
	free(data);
	free(tr);
	tear_down(&s);
}

TEST(symbolize_shares_equal_frames)
{
	uint64_t words[2000];
	struct setup s;
	struct batch b;
	struct trace *tr;
	void *data;

	set_up(&s);
	for (uint32_t i = 0; i < 1000; i++)
		words[i] = FRAME_WORD(FRAME_NATIVE, 2, i / 2);
	tr = trace(0, 1000, words);
	data = one_event(&s, tr, &b);
	CHECK_EQ(b.stacks[0].n, 1000);
	CHECK_EQ(batch_n(&b, BATCH_FRAMES), 500);
	CHECK_EQ(s.pass.frames, 500);
	CHECK_EQ(s.pass.unsymbolized, 500);
	/* of one executable */
	CHECK(s.pass.cost < 500 * (sizeof(struct batch_frame) + sizeof(struct batch_exe) + 128));
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQ(b.frames[b.stack_frames[i]].address, i / 2);
	free(data);
	free(tr);
	tear_down(&s);
}

TEST(symbolize_numbers_nobody_knows)
{
	uint64_t words[] = {
		FRAME_WORD(FRAME_KERNEL, 77, 4), FRAME_WORD(FRAME_NATIVE, 9, 8),
		FRAME_FILE_WORD(16), 1, 2, 3, 4, 5,
		FRAME_WORD(FRAME_NATIVE, EXE_VDSO, 32),
	};
	struct trace *tr = trace(1, 8, words);
	struct setup s;
	struct batch b;
	size_t len;
	void *data;

	set_up(&s);
	data = one_event(&s, tr, &b);
	CHECK_EQ(b.stacks[0].n, 4);
	CHECK_EQ(batch_n(&b, BATCH_FUNCTIONS), 1);	/* the empty one */
	CHECK_EQ(b.frames[b.stack_frames[0]].kind, BATCH_FRAME_KERNEL);
	for (uint32_t i = 1; i < 3; i++) {
		CHECK_EQ(b.frames[b.stack_frames[i]].kind, BATCH_FRAME_NATIVE);
		CHECK_EQ(b.frames[b.stack_frames[i]].exe, 0);
		CHECK_EQ(b.frames[b.stack_frames[i]].address, 8u * i);
	}
	CHECK(!memcmp(batch_str(&b, b.exes[b.frames[b.stack_frames[3]].exe].path,
				&len), "[vdso]", 6));
	free(data);
	free(tr);
	tear_down(&s);
}

TEST(symbolize_go_by_its_own_kind)
{
	uint64_t words[] = { FRAME_WORD(FRAME_NATIVE, 2, 8) };
	struct trace *tr = trace(0, 1, words);
	struct setup s;
	struct batch b;
	void *data;

	set_up(&s);
	s.e->runtime = RUNTIME_GO;
	data = one_event(&s, tr, &b);
	CHECK_EQ(b.frames[0].kind, BATCH_FRAME_GO);
	free(data);
	free(tr);
	tear_down(&s);
}

static void expect_string(const struct batch *b, uint32_t string, const char *want)
{
	size_t n;
	const char *got = batch_str(b, string, &n);

	CHECK(n == strlen(want) && !memcmp(got, want, n));
}

/* Two frames of an interpreter between native ones, one without a name: what a
 * record says, as a batch does. */
TEST(symbolize_python_by_name_file_and_line)
{
	static const uint8_t pairs[] = { 4, 2, 4, 3 };
	const struct batch_frame *f;
	struct trace *tr;
	struct setup s;
	struct batch b;
	void *data;

	set_up(&s);
	made_begin(1);
	made_word(FRAME_WORD(FRAME_NATIVE, 2, 8));
	made_names("f.<locals>.<lambda>", "/a/b.py", 40);
	made_text(TEXT_LINES, LINES_PAIRS, 0, pairs, sizeof(pairs));
	made_frame(0x7f0000001000, 1, 5);
	made_frame(0x7f0000001000, 1, 9);
	made_frame(0x7f0000002000, 1, 9);
	managed_translate(&s.managed, &made_record.rec, 1);
	tr = trace(0, made_record.rec.n_user, made_record.words);
	CHECK(!pass_trace_waits(&s.pass, tr));
	data = one_event(&s, tr, &b);
	CHECK_EQ(b.stacks[0].n, 4);
	for (uint32_t i = 1; i < 3; i++) {
		f = &b.frames[b.stack_frames[i]];
		CHECK_EQ(f->kind, BATCH_FRAME_PYTHON);
		CHECK_EQ(f->line, i == 1 ? 42 : 45);
		CHECK_EQ(f->exe, 0);
		expect_string(&b, b.functions[f->function].name, "f.<locals>.<lambda>");
		expect_string(&b, b.functions[f->function].file, "/a/b.py");
		CHECK_EQ(b.functions[f->function].start_line, 40);
	}
	/* of the same function */
	CHECK_EQ(b.frames[b.stack_frames[1]].function, b.frames[b.stack_frames[2]].function);
	f = &b.frames[b.stack_frames[3]];
	CHECK_EQ(f->kind, BATCH_FRAME_PYTHON);
	CHECK_EQ(f->function, 0);
	CHECK_EQ(f->line, 0);
	free(data);
	free(tr);
	tear_down(&s);
}

/* What an interpreter runs whose frames are these, the innermost first. False: unknown. */
static bool runs(const char *const (*frames)[2], uint32_t n, char ret[SCRIPT_MAX])
{
	struct trace *tr;
	struct setup s;
	struct batch b;
	void *data;
	bool found;

	set_up(&s);
	made_begin(1);
	made_word(FRAME_WORD(FRAME_NATIVE, 2, 8));
	for (uint32_t i = 0; i < n; i++) {
		made_names(frames[i][0], frames[i][1], 1);
		made_frame(0x7f0000001000 + 0x1000 * i, 1, 0);
	}
	made_word(FRAME_WORD(FRAME_NATIVE, 2, 16));
	managed_translate(&s.managed, &made_record.rec, 1);
	tr = trace(0, made_record.rec.n_user, made_record.words);
	data = one_event(&s, tr, &b);
	CHECK_EQ(b.stacks[0].n, n + 2);
	found = pass_script(&s.pass, tr, ret);
	free(data);
	free(tr);
	tear_down(&s);
	return found;
}

TEST(symbolize_says_which_script_runs)
{
	static const char *const script[][2] = { { "work", "/a/job.py" }, { "<module>", "/a/job.py" } };
	static const char *const module[][2] = {
		{ "work", "/a/pkg/__main__.py" }, { "<module>", "/a/pkg/__main__.py" },
		{ "_run_code", "<frozen runpy>" }, { "_run_module_as_main", "<frozen runpy>" },
	};
	static const char *const import[][2] = { { "<module>", "/a/lib.py" }, { "_bootstrap", "/l/threading.py" } };
	char name[SCRIPT_MAX];

	CHECK(runs(script, 2, name));
	CHECK_STR(name, "job.py");
	CHECK(runs(module, 4, name));
	CHECK_STR(name, "pkg");
	CHECK(!runs(import, 2, name));
	CHECK(!runs(import, 0, name));
}

/* A runtime that the hub does not know, and one without such frames. */
TEST(symbolize_managed_of_other_runtimes_is_unknown)
{
	uint64_t words[] = { OUR_WORD(0, RUNTIME__MAX, 0), OUR_WORD(0, 15, 1),
			     OUR_WORD(0, RUNTIME_GO, 2) };
	struct trace *tr = trace(0, 3, words);
	struct setup s;
	struct batch b;
	void *data;

	set_up(&s);
	data = one_event(&s, tr, &b);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(b.frames[b.stack_frames[i]].kind, BATCH_FRAME_UNKNOWN);
	free(data);
	free(tr);
	tear_down(&s);
}

/* A worker demangled the first, nothing the second, and lied about the last. */
static void names_in_a_file_of(enum runtime runtime, const char *const want[3][3])
{
	static const struct {
		struct symbols_hdr h;
		struct symbol s[3];
		char names[46];
	} made = {
		{ SYMBOLS_MAGIC, 3, 0, 0, 46, 0 },
		{ { 16, 8, 1 | SYMBOL_MANGLED }, { 24, 8, 21 },
		  { 32, 8, 39 | SYMBOL_MANGLED } },
		"\0a::f(int)\0_ZN1a1fEi\0g.cold@@V_1\0______a::h()",
	};
	size_t len = offsetof(__typeof__(made), names) + 46;
	uint64_t words[] = { FRAME_WORD(FRAME_NATIVE, 2, 16),
			     FRAME_WORD(FRAME_NATIVE, 2, 24),
			     FRAME_WORD(FRAME_NATIVE, 2, 32) };
	struct trace *tr = trace(0, 3, words);
	struct setup s;
	struct batch b;
	void *data, *map;

	set_up(&s);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED);
	memcpy(map, &made, len);
	CHECK_EQ(symbols_open(map, len, &s.e->s.symbols), 0);
	s.e->s.map = map;
	s.e->s.map_len = 4096;
	s.e->runtime = runtime;
	data = one_event(&s, tr, &b);
	CHECK_EQ(b.stacks[0].n, 3);
	for (int i = 0; i < 3; i++) {
		const struct batch_function *f =
			&b.functions[b.frames[b.stack_frames[i]].function];
		uint32_t v[] = { f->name, batch_full_name(f),
				 batch_system_name(f) };

		for (int k = 0; k < 3; k++) {
			size_t n;
			const char *got = batch_str(&b, v[k], &n);

			CHECK(n == strlen(want[i][k]) &&
			      !memcmp(got, want[i][k], n));
		}
		/* what is the same costs nothing */
		CHECK_EQ(f->full_name != 0, strcmp(want[i][1], want[i][0]) != 0);
		CHECK_EQ(f->system_name != 0, i == 0);
	}
	free(data);
	free(tr);
	tear_down(&s);
}

TEST(symbolize_names_short_full_and_system)
{
	static const char *const want[3][3] = {
		{ "a::f", "a::f(int)", "_ZN1a1fEi" },
		{ "g", "g.cold@@V_1", "g.cold@@V_1" },
		{ "a::h()", "a::h()", "a::h()" },
	};

	names_in_a_file_of(0, want);
}

/* What C's compilers append is a function's name there. */
TEST(symbolize_leaves_ends_of_names_of_go)
{
	static const char *const want[3][3] = {
		{ "a::f", "a::f(int)", "_ZN1a1fEi" },
		{ "g.cold@@V_1", "g.cold@@V_1", "g.cold@@V_1" },
		{ "a::h()", "a::h()", "a::h()" },
	};

	names_in_a_file_of(RUNTIME_GO, want);
}

/* outer at 16 of a.go:10, with inner of b.go inlined at line 12, from 8 on. */
TEST(symbolize_shows_lines_and_what_is_inlined)
{
	static const struct {
		struct symbols_hdr h;
		struct symbol s;
		struct symbol_function f[2];
		uint32_t at;
		uint8_t lines[13];
		char names[24];
	} made = {
		{ SYMBOLS_MAGIC, 1, 2, 13, 24, 0 }, { 16, 16, 1 },
		{ { 1, 7, 10 }, { 12, 18, 20 } }, 0,
		{ 2, 0, 0, 1, 1, 12,  8, 5, 0,  8, 17, 1,  0 },
		"\0outer\0a.go\0inner\0b.go",
	};
	size_t len = offsetof(__typeof__(made), names) + 24;
	uint64_t words[] = { FRAME_WORD(FRAME_NATIVE, 2, 24),
			     FRAME_WORD(FRAME_NATIVE, 2, 16) };
	struct trace *tr = trace(0, 2, words);
	uint32_t in[BATCH_INLINED_MAX + 1];
	const struct batch_frame *f;
	uint8_t *map;
	struct setup s;
	struct batch b;
	void *data;

	set_up(&s);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED);
	memcpy(map, &made, len);
	CHECK_EQ(symbols_open(map, len, &s.e->s.symbols), 0);
	s.e->s.map = map;
	s.e->s.map_len = 4096;
	s.e->runtime = RUNTIME_GO;
	data = one_event(&s, tr, &b);
	CHECK_EQ(b.stacks[0].n, 2);
	CHECK_EQ(batch_inlined(&b, b.stack_frames[0], in), 2);
	f = &b.frames[in[0]];
	CHECK_EQ(f->line, 24);
	CHECK_EQ(f->address, 24);
	CHECK_EQ(b.functions[f->function].start_line, 20);
	f = &b.frames[in[1]];
	CHECK_EQ(f->line, 12);
	CHECK_EQ(b.functions[f->function].start_line, 10);
	CHECK_EQ(batch_inlined(&b, b.stack_frames[1], in), 1);
	CHECK_EQ(b.frames[in[0]].line, 11);
	free(data);
	free(tr);
	tear_down(&s);
}

/* Names that samples met are kept, others are read again: only those are waited for. */
TEST(symbolize_waits_for_what_was_let_go)
{
	static const struct {
		struct symbols_hdr h;
		struct symbol s;
		char names[8];
	} made = { { SYMBOLS_MAGIC, 1, 0, 0, 8, 0 }, { 16, 16, 1 }, "\0known" };
	uint64_t known[] = { FRAME_WORD(FRAME_NATIVE, 2, 20) };
	uint64_t other[] = { FRAME_WORD(FRAME_NATIVE, 2, 40) };
	struct trace *a = trace(0, 1, known), *b = trace(0, 1, other);
	struct setup s;
	struct batch got;
	void *data;

	set_up(&s);
	CHECK_EQ(symbols_open(&made, sizeof(made), &s.e->s.few), 0);
	s.e->named = s.e->s.partial = true;
	CHECK(!pass_trace_waits(&s.pass, a) && !pass_trace_waits(&s.pass, b));
	CHECK(!executable_want(s.e, 20, 1000) && executable_want(s.e, 40, 1000));
	s.pass.now_ns = 1000 + EXECUTABLE_OPEN_NS - 1;
	CHECK(!pass_trace_waits(&s.pass, a) && pass_trace_waits(&s.pass, b));
	data = one_event(&s, a, &got);
	CHECK(got.frames[got.stack_frames[0]].function);
	free(data);
	free(a);
	free(b);
	tear_down(&s);
}

/* A stack that comes once in an interval, and is looked at several times. */
TEST(symbolize_counts_a_sample_once_for_its_lines)
{
	uint64_t words[] = { FRAME_WORD(FRAME_NATIVE, 2, 8), FRAME_WORD(FRAME_NATIVE, 2, 16) };
	struct trace *a = trace(0, 2, words), *b = trace(0, 1, words + 1);
	static struct source_lines lines;
	struct setup s;

	set_up(&s);
	source_lines_init(&lines, 1, &s.exes);
	source_lines_share(&lines, 2, 1);
	source_lines_late(&lines, true);
	s.pass.lines = &lines;
	s.e->lines = s.e->named = true;
	/* nor is one counted later that waited for something */
	s.e->named = false;
	s.e->jobs = 1;
	a->met = 1;
	pass_trace(&s.pass, a);
	CHECK(a->waits && !a->met);
	s.e->named = true;
	s.e->jobs = 0;
	a->met = b->met = 1;
	for (int i = 0; i < 3; i++, s.pass.number++)
		pass_trace(&s.pass, a);
	CHECK(!a->waits && !a->met && lines.visits.waiting == 2);
	/* the second sample of one of its places */
	pass_trace(&s.pass, b);
	CHECK(b->waits);
	source_lines_fini(&lines);
	free(a);
	free(b);
	tear_down(&s);
}

TEST(symbolize_waits_for_workers_and_for_loaderd)
{
	uint64_t native[] = { FRAME_WORD(FRAME_NATIVE, 2, 8) };
	uint64_t file[1 + KEY_WORDS] = { FRAME_FILE_WORD(8) };
	struct file_key other = { .ino = 6, .size = 1 };
	struct trace *a = trace(0, 1, native), *f;
	struct setup s;
	uint32_t at;

	set_up(&s);
	CHECK(!pass_trace_waits(&s.pass, a));
	s.e->jobs = 1;
	CHECK(pass_trace_waits(&s.pass, a));
	s.e->named = true;		/* a second visit: names are there */
	CHECK(!pass_trace_waits(&s.pass, a));
	s.e->jobs = 0;
	memcpy(&file[1], &other, sizeof(other));
	f = trace(0, 1 + KEY_WORDS, file);
	CHECK(!pass_trace_waits(&s.pass, f));	/* nobody opens it */
	at = executables_mention(&s.exes, &other, 1);
	CHECK(!pass_trace_waits(&s.pass, f));
	CHECK(executable_want(executables_get(&s.exes, at), 8, 1000));
	s.pass.now_ns = 1000 + EXECUTABLE_OPEN_NS - 1;
	CHECK(pass_trace_waits(&s.pass, f));
	s.pass.now_ns = 1000 + EXECUTABLE_OPEN_NS;
	CHECK(!pass_trace_waits(&s.pass, f));
	/* it is open, and has no place in the queue */
	executables_keep(&s.exes, at, dup(1), 1000);
	CHECK(pass_trace_waits(&s.pass, f));
	executable_failed(executables_get(&s.exes, at), JOB_CORRUPT, 1000);
	CHECK(!pass_trace_waits(&s.pass, f));
	free(a);
	free(f);
	tear_down(&s);
}

/* --- code that was used again -------------------------------------------------- */

static bool (*same_place)(const void *entry, const void *sought);
static uint32_t lookups;

static bool count_lookup(const void *entry, const void *sought)
{
	lookups++;
	return same_place(entry, sought);
}

/* A JIT's code at this address: what it is called, and was until then. */
static uint32_t jit_code(struct jit *j, uint64_t word, const char *was, uint64_t until_ns)
{
	struct trace_rec rec = { .flags = REC_HAS_ANON, .process = { 1, 7, 0 } };
	uint32_t space = jit_space(j, &rec, 1);
	struct jit_place *a;

	jit_mention(j, space, &word, 1, 1);
	a = owner_cache_at(&j->places, 0);
	CHECK(a == jit_find(j, space, FRAME_ADDR(word)));
	a->is = (struct jit_called){ strdup("now"), "", 0 };
	if (was)
		a->was = (struct jit_called){ strdup(was), "", 0 };
	a->was_until_ns = until_ns;
	a->state = JIT_KNOWN;
	same_place = j->places.same;
	j->places.same = count_lookup;
	return space;
}

/* The only function of an event at this time, in a pass of its own. */
static void expect_function_at(struct setup *s, struct trace *tr, uint64_t time_ns,
			       const char *name)
{
	struct batch b;
	void *data;
	size_t len;

	s->pass.number++;
	s->pass.builder = batch_builder_new(20);
	batch_event(s->pass.builder, pass_stack(&s->pass, tr, time_ns), 0, 0, STOP_COMPLETE, 50);
	CHECK_EQ(batch_builder_finish(s->pass.builder, 10, 100, &data, &len), 0);
	CHECK_EQ(batch_open(data, len, &b), 0);
	CHECK_EQ(batch_n(&b, BATCH_FUNCTIONS), 2);	/* and none */
	CHECK(!strncmp(batch_str(&b, b.functions[1].name, &len), name, len));
	CHECK_EQ(len, strlen(name));
	free(data);
	batch_builder_free(s->pass.builder);
	pass_fini(&s->pass);
	s->pass.builder = NULL;
}

TEST(symbolize_gives_samples_from_before_the_former_name)
{
	uint64_t word[] = { FRAME_ANON_WORD(0x1000) };
	struct trace *tr = trace(0, 1, word);
	static struct hub_stats stats;
	static struct jit j;
	struct setup s;

	set_up(&s);
	batch_builder_free(s.pass.builder);
	jit_init(&j, 1, &stats);
	s.pass.jit = &j;
	tr->space = jit_code(&j, word[0], "before", 500);
	expect_function_at(&s, tr, 499, "before");
	expect_function_at(&s, tr, 500, "now");
	expect_function_at(&s, tr, 499, "before");
	jit_fini(&j);
	free(tr);
	tear_down(&s);
}

/* A name is looked for once a trace and pass, not with each of its events. */
TEST(symbolize_looks_for_former_names_once_a_trace)
{
	uint64_t word[] = { FRAME_ANON_WORD(0x1000) };
	struct trace *tr = trace(0, 1, word);
	static struct hub_stats stats;
	static struct jit j;
	struct setup s;
	uint32_t stack, once;

	set_up(&s);
	jit_init(&j, 1, &stats);
	s.pass.jit = &j;
	tr->space = jit_code(&j, word[0], NULL, 0);
	lookups = 0;
	stack = pass_stack(&s.pass, tr, 1000);
	once = lookups;
	CHECK(once > 0);
	for (uint64_t i = 0; i < 1000; i++)
		CHECK_EQ(pass_stack(&s.pass, tr, 1000 + i), stack);
	CHECK_EQ(lookups, once);
	jit_fini(&j);
	free(tr);
	tear_down(&s);
}

/* --- chosen addresses ---------------------------------------------------------- */

#define GOLDEN		0x9e3779b97f4a7c15ULL
#define GOLDEN_INVERSE	0xf1de83e19937733dULL	/* GOLDEN * it = 1, modulo 2^64 */
#define CHOSEN_MAX	16000

/* Addresses that a table without a seed (the product with GOLDEN, its bits from
 * 32 on) would all put into one place: as a process may lay out its memory. */
static const uint64_t *chosen(void)
{
	static uint64_t words[CHOSEN_MAX];
	uint64_t x = 88172645463325252ULL;
	size_t n = 0;

	while (!words[CHOSEN_MAX - 1]) {
		uint64_t word;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		word = (x & ~(0xfffffULL << 32)) * GOLDEN_INVERSE;
		word = FRAME_ANON_WORD(word);
		if ((word * GOLDEN >> 32 & 0xfffff) == 0)
			words[n++] = word;
	}
	return words;
}

static uint64_t symbolize_chosen(size_t n)
{
	const uint64_t *words = chosen();
	uint64_t ns = 0, begin;
	struct setup s;

	CHECK(n <= CHOSEN_MAX);
	set_up(&s);
	for (size_t at = 0; at < n; at += 1000) {
		struct trace *tr = trace(0, 1000, words + at);

		begin = complexity_ns();
		pass_stack(&s.pass, tr, 0);
		ns += complexity_ns() - begin;
		free(tr);
	}
	CHECK_EQ(s.pass.frames, n);
	tear_down(&s);
	return ns;
}

TEST(symbolize_chosen_addresses_cost_no_more)
{
	CHECK_EQ(GOLDEN * GOLDEN_INVERSE, 1);
	CHECK(complexity_growth(symbolize_chosen, 2000) < COMPLEXITY_MAX);
}
