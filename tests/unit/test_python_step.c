// SPDX-License-Identifier: Apache-2.0
/*
 * From CPython's loop to its frames, on the host: for each version that the sampler
 * knows, a thread, its frames and their functions in memory made up by its layout.
 * Whether the layouts are CPython's: tests/live/test_python.py.
 */
#ifdef __aarch64__
#define __TARGET_ARCH_arm64
#endif
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <string.h>

#include "bpf/python_read.bpf.h"

#include "tests/unit/python_process.h"

#define STEPS	50
#define KEY	3
#define MUSL_KEY 5

static __s64 thread_at;			/* PYTHON_THREAD_AT */
static size_t readable = SIZE;		/* bytes of it */
static __u64 absent;			/* if not 0: PY_NAMES bytes are not mapped in */

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 addr = (__u64)(uintptr_t)src, off = addr - BASE;

	if (off > readable || readable - off < size ||
	    (absent && addr + size > absent && addr < absent + PY_NAMES)) {
		memset(dst, 0, size);
		return -EFAULT;
	}
	memcpy(dst, memory + off, size);
	return 0;
}

/* --- a process ------------------------------------------------------------------- */

static void by_glibc(__u64 thread)
{
	py_put(TP + 0x318 + 16 * KEY, thread);	/* struct pthread, 2.36 */
}

static void by_musl(__u64 thread)
{
	__u64 tsd = py_alloc(2048);

	py_put(TP + 128, tsd);			/* struct pthread, 1.2 */
	py_put(tsd + 8 * MUSL_KEY, thread);
}

static struct python_state found(void)
{
	struct python_state p = { 0 };

	CHECK(python_has_layout(py.version));
	python_find(&p, py.version, made.root, TP, thread_at);
	CHECK_EQ(p.known, 1);
	return p;
}

static void no_thread(void)
{
	CHECK_EQ(found().frame, 0);
}

static void expect_frame(const struct python_frame *f, int i)
{
	CHECK_EQ(f->code, made.code[i]);
	CHECK_EQ(f->name, made.name);
	CHECK_EQ(f->filename, made.file);
	CHECK_EQ(f->lines, made.lines);
	CHECK_EQ(f->line, 10 + i);
	CHECK_EQ(f->at, 4 * i);
}

/* All frames of the thread, where the loops end as the version has them. */
static void expect_frames(void)
{
	struct python_state p = found();
	int how = py_layout()->how;

	for (int i = 0; i < FRAMES; i++) {
		struct python_frame f = { 0 };
		int last = how == PYTHON_EACH || (how == PYTHON_MARKED && i == FRAMES - 1);

		CHECK_EQ(python_next(&p, &f), last ? PYTHON_LAST : PYTHON_FRAME);
		expect_frame(&f, i);
	}
	if (how == PYTHON_OWNED)
		CHECK_EQ(python_next(&p, &(struct python_frame){ 0 }), PYTHON_END);
	CHECK_EQ(p.frame, 0);
	CHECK_EQ(python_next(&p, &(struct python_frame){ 0 }), PYTHON_BROKEN);
}

static __u64 place_of(int i)
{
	struct python_state p = found();
	struct python_frame f = { 0 };

	while (i-- >= 0)
		CHECK(python_next(&p, &f) != PYTHON_BROKEN);
	return f.at;
}

/* --- the thread ------------------------------------------------------------------ */

#ifndef __TARGET_ARCH_arm64
TEST(python_thread_by_the_key_of_glibc)
{
	EACH_VERSION(v) {
		make(v, KEY);
		if (!py_layout()->tss_key)
			continue;
		py_put(py_get(made.root + py_layout()->interpreters) +
		       py_layout()->threads, 0);	/* no list */
		no_thread();
		by_glibc(made.thread);
		expect_frames();
		/* another's: of a thread that ended, whose memory is used again */
		py_put(made.thread + py_layout()->thread_id, TP + 64);
		no_thread();
	}
}

TEST(python_thread_by_the_key_of_musl)
{
	EACH_VERSION(v) {
		make(v, MUSL_KEY);
		if (!py_layout()->tss_key)
			continue;
		py_put(py_get(made.root + py_layout()->interpreters) +
		       py_layout()->threads, 0);
		by_musl(made.thread);
		expect_frames();
		/* keys that neither has */
		py_put(made.root + py_layout()->tss_key, 128);
		py_put(py_get(TP + 128) + 8 * 128, made.thread);
		no_thread();
	}
}
#endif

TEST(python_thread_by_the_list)
{
	EACH_VERSION(v) {
		__u64 others = 0;

		make(v, UINT32_MAX);
		expect_frames();
		for (int i = 0; i < PYTHON_THREADS_MAX; i++) {
			__u64 thread = py_thread(TP + 8 + i, 0);

			py_put(thread + PYTHON_NEXT, others ? others : made.thread);
			others = thread;
			if (i == PYTHON_THREADS_MAX - 2) {	/* ours is the last looked at */
				made.root = py_runtime(UINT32_MAX, others);
				expect_frames();
			}
		}
		made.root = py_runtime(UINT32_MAX, others);
		no_thread();
		/* a circle without it */
		py_put(others + PYTHON_NEXT, others);
		no_thread();
		/* no interpreter */
		py_put(made.root + py_layout()->interpreters, 0);
		no_thread();
	}
}

TEST(python_thread_by_a_variable_of_each_thread)
{
	EACH_VERSION(v) {
		make(v, UINT32_MAX);
		py_put(made.root + py_layout()->interpreters, 0);	/* no list */
		py_put(TP - 16, made.thread);
		no_thread();
		thread_at = -16;
		expect_frames();
		py_put(made.thread + py_layout()->thread_id, TP + 64);
		no_thread();
		thread_at = 0;
	}
}

TEST(python_thread_of_another_interpreter)
{
	EACH_VERSION(v) {
		__u64 first, second;

		make(v, UINT32_MAX);
		first = py_get(made.root + py_layout()->interpreters);
		second = py_alloc(8192);
		py_put(second + py_layout()->threads, made.thread);
		py_put(first + py_layout()->threads, py_thread(TP + 8, 0));
		py_put(first + py_layout()->next_interp, second);
		expect_frames();
		py_put(first + py_layout()->threads, 0);	/* it has none at all */
		expect_frames();
		/* a circle of interpreters */
		py_put(second + py_layout()->threads, 0);
		py_put(second + py_layout()->next_interp, first);
		no_thread();
	}
}

TEST(python_has_layouts_of_its_versions_only)
{
	CHECK(!python_has_layout(0) && !python_has_layout(5) && python_has_layout(6));
	CHECK(!python_has_layout(6 + PYTHON_LAYOUTS) && !python_has_layout(UINT32_MAX));
	EACH_VERSION(v) {
		const struct python_layout *l = &python_layouts[v];
		const struct python_lines *t = &python_lines_table[v];

		/* within what is read */
		CHECK(l->previous < PYTHON_FRAME_LEAST && l->code < PYTHON_FRAME_LEAST &&
		      l->entry < PYTHON_FRAME_LEAST && t->at < PYTHON_FRAME_BYTES);
		CHECK(l->name < PYTHON_CODE_BYTES && l->filename < PYTHON_CODE_BYTES &&
		      l->line < PYTHON_CODE_BYTES && t->table < PYTHON_CODE_BYTES);
		/* and read by whole words */
		CHECK(!((l->previous | l->code | l->name | l->filename | t->at | t->table) & 7));
		CHECK(!(l->line & 3) && t->form && l->ascii < l->compact);
	}
}

/* --- frames ---------------------------------------------------------------------- */

TEST(python_frames_of_two_loops)
{
	EACH_VERSION(v) {
		struct python_state p;
		struct python_frame f;
		__u64 between;

		make(v, UINT32_MAX);
		/* the middle one was the first of its loop */
		if (py_layout()->how == PYTHON_MARKED)
			*(__u8 *)py_at(made.frame[1] + py_layout()->entry) = 1;
		if (py_layout()->how == PYTHON_OWNED) {
			between = py_frame(0, made.frame[2], 0, PYTHON_OWNER_C);
			py_put(made.frame[1] + py_layout()->previous, between);
		}
		p = found();
		CHECK_EQ(python_next(&p, &f), py_layout()->how == PYTHON_EACH ?
					      PYTHON_LAST : PYTHON_FRAME);
		CHECK_EQ(python_next(&p, &f), py_layout()->how == PYTHON_OWNED ?
					      PYTHON_FRAME : PYTHON_LAST);
		expect_frame(&f, 1);
		if (py_layout()->how == PYTHON_OWNED)
			CHECK_EQ(python_next(&p, &f), PYTHON_END);
		CHECK_EQ(p.frame, made.frame[2]);
		CHECK_EQ(python_next(&p, &f), py_layout()->how == PYTHON_OWNED ?
					      PYTHON_FRAME : PYTHON_LAST);
		expect_frame(&f, 2);
	}
}

/* The sampler ends it after FRAMES_MAX. */
TEST(python_frames_in_a_circle_go_on)
{
	EACH_VERSION(v) {
		struct python_state p;
		struct python_frame f;

		make(v, UINT32_MAX);
		py_put(made.frame[FRAMES - 1] + py_layout()->previous, made.frame[0]);
		p = found();
		for (int i = 0; i < STEPS; i++) {
			enum python_found got = python_next(&p, &f);

			CHECK(got == PYTHON_FRAME || got == PYTHON_LAST);
			expect_frame(&f, i % FRAMES);
		}
	}
}

/* At the end of a chunk of frames there is no f_lasti. */
TEST(python_frame_at_the_end_of_memory)
{
	EACH_VERSION(v) {
		struct python_state p;
		struct python_frame f;

		make(v, UINT32_MAX);
		p = found();
		p.frame = BASE + SIZE - PYTHON_FRAME_LEAST;
		memcpy(memory + SIZE - PYTHON_FRAME_LEAST, py_at(made.frame[0]),
		       PYTHON_FRAME_LEAST);
		CHECK(python_next(&p, &f) != PYTHON_BROKEN);
		CHECK_EQ(f.code, made.code[0]);
		p.frame = BASE + SIZE - PYTHON_FRAME_LEAST + 8;
		memmove(memory + SIZE - PYTHON_FRAME_LEAST + 8, py_at(made.frame[0]),
			PYTHON_FRAME_LEAST - 8);
		CHECK_EQ(python_next(&p, &f), PYTHON_BROKEN);
	}
}

/* Without a GIL a thread has instructions of its own, which the frame is in. */
TEST(python_frame_in_a_threads_own_copy)
{
	int versions = 0;

	EACH_VERSION(v) {
		const struct python_lines *t = &python_lines_table[v];
		__u64 array, copy;
		__u32 other = 3;

		if (!t->copies)
			continue;
		versions++;
		make(v, UINT32_MAX);
		copy = py_alloc(PY_CODE_SIZE);
		array = py_alloc(64);
		py_put(array, 3);	/* of them */
		py_put(PYTHON_COPIES(array), made.code[1] + t->code);
		py_put(PYTHON_COPIES(array) + 16, copy);
		py_put(made.code[1] + t->copies, array);
		py_put(made.frame[1] + t->at, copy + 4);
		CHECK_EQ(place_of(1), PYTHON_NOWHERE);	/* in the code object's: not */
		other = 2;
		memcpy(py_at(made.frame[1] + t->copy), &other, 4);
		expect_frames();
		/* behind its end; one that is not made; that is beyond; none at all */
		py_put(made.frame[1] + t->at, copy + PY_CODE_SIZE);
		CHECK_EQ(place_of(1), PYTHON_NOWHERE);
		py_put(made.frame[1] + t->at, copy + 4);
		py_put(PYTHON_COPIES(array) + 16, 0);
		CHECK_EQ(place_of(1), PYTHON_NOWHERE);
		py_put(PYTHON_COPIES(array) + 16, copy);
		py_put(array, 2);
		CHECK_EQ(place_of(1), PYTHON_NOWHERE);
		py_put(made.code[1] + t->copies, 0);
		CHECK_EQ(place_of(1), PYTHON_NOWHERE);
	}
	CHECK_EQ(versions, 2);
}

TEST(python_frame_that_has_not_begun)
{
	static const __u32 minus_one = ~0U, minus_two = ~1U;

	EACH_VERSION(v) {
		const struct python_lines *t = &python_lines_table[v];

		make(v, UINT32_MAX);
		if (t->unit)
			memcpy(py_at(made.frame[1] + t->at), &minus_one, 4);
		else
			py_put(made.frame[1] + t->at, made.code[1] + t->code - 2);
		CHECK_EQ(place_of(1), PYTHON_BEGINS);
		/* other places before it there are none */
		if (t->unit)
			memcpy(py_at(made.frame[1] + t->at), &minus_two, 4);
		else
			py_put(made.frame[1] + t->at, made.code[1] + t->code - 4);
		CHECK_EQ(place_of(1), PYTHON_NOWHERE);
	}
}

/* Whose frame is on the stack: the loop's that the walk has passed over. */
TEST(python_loop_that_was_passed_over)
{
	EACH_VERSION(v) {
		struct python_state p;
		__u64 entry;

		make(v, UINT32_MAX);
		p = found();
		entry = py_get(made.frame[FRAMES - 1] + py_layout()->previous);
		if (py_layout()->how != PYTHON_OWNED) {
			CHECK(!python_entry_frame(&p) && !python_passed_over(&p, entry, ~0ULL));
			continue;
		}
		CHECK_EQ(python_entry_frame(&p), entry);
		CHECK(python_passed_over(&p, entry, entry + 8));
		/* looked for once, however often the walk comes here */
		p.entry += 64;
		CHECK(!python_passed_over(&p, entry, entry + 8));
		p.entry = entry;
		CHECK(!python_passed_over(&p, entry, entry));
		CHECK(!python_passed_over(&p, entry + 8, entry + 16));
		/* a circle; and what cannot be read */
		py_put(made.frame[FRAMES - 1] + py_layout()->previous, made.frame[0]);
		CHECK(!python_entry_frame(&p));
		p.frame = 8;
		CHECK(!python_entry_frame(&p));
		p.frame = 0;
		CHECK(!python_entry_frame(&p));
	}
}

/* --- names ----------------------------------------------------------------------- */

static int text_of(__u64 str, struct python_text *t)
{
	struct python_state p = { .version = py.version };

	*t = (struct python_text){ 0 };
	return python_read_str(&p, str, t);
}

TEST(python_strings_of_each_kind)
{
	static const __u32 kinds[] = { 0, 1, 2, 4 };

	EACH_VERSION(v) {
		struct python_text t;
		__u64 str = 0;

		make(v, UINT32_MAX);
		for (int i = 0; i < 4; i++) {
			__u32 size = kinds[i] ? kinds[i] : 1;

			str = py_str(py.str_type, "abcdabcdabcd", 3, kinds[i]);
			CHECK(text_of(str, &t));
			CHECK_EQ(t.kind, kinds[i]);
			CHECK_EQ(t.bytes, 3 * size);
			CHECK(!memcmp(py_at(t.at), "abcdabcdabcd", 3 * size));
		}
		/* bits before those that say what it is: how it is interned */
		py_put(str + py_layout()->state, py_get(str + py_layout()->state) |
		       ((1u << py_layout()->interned) - 1));
		CHECK(text_of(str, &t) && t.kind == 4);
		/* longer than any name; not compact; of an odd kind */
		py_put(str + py_layout()->length, (1 << 16) + 1);
		CHECK(!text_of(str, &t));
		py_put(str + py_layout()->length, ~0ULL);
		CHECK(!text_of(str, &t));
		py_put(str + py_layout()->length, 3);
		py_put(str + py_layout()->state, 4 << py_layout()->interned);
		CHECK(!text_of(str, &t));
		py_put(str + py_layout()->state, (3 | 1 << 3) << py_layout()->interned);
		CHECK(!text_of(str, &t));
		py_put(str + py_layout()->state, (4 | 1 << 3) << py_layout()->interned);
		CHECK(text_of(str, &t));
		/* bytes are no string; the size is another version's */
		CHECK(!text_of(made.lines, &t));
		py_put(py.str_type + py_layout()->tp_name + 8, py_str_size() ^ (80 ^ 64));
		CHECK(!text_of(str, &t));
	}
}

TEST(python_tables_of_lines_are_bytes)
{
	EACH_VERSION(v) {
		struct python_state p = { .version = v };
		struct python_text t = { 0 };

		make(v, UINT32_MAX);
		CHECK(python_read_bytes(&p, made.lines, &t));
		CHECK_EQ(t.bytes, 5);
		CHECK_EQ(t.kind, v < 10 ? LINES_PAIRS : v == 10 ? LINES_RANGES : LINES_LOCATIONS);
		CHECK(!memcmp(py_at(t.at), "lines", 5));
		CHECK(!python_read_bytes(&p, made.name, &t));
		py_put(made.lines + py_layout()->length, ~0ULL);
		CHECK(!python_read_bytes(&p, made.lines, &t) || !t.bytes);
	}
}

/* --- the page with the names of the types is not mapped in ------------------------- */

static void expect_types(bool code, bool str, bool bytes)
{
	struct python_state p = found(), q = p;
	struct python_frame f = { 0 };
	struct python_text t = { 0 };

	CHECK_EQ(python_next(&p, &f) != PYTHON_BROKEN, code);
	CHECK_EQ(python_read_str(&q, made.name, &t), str);
	CHECK_EQ(python_read_bytes(&q, made.lines, &t), bytes);
	CHECK(!python_read_str(&q, made.lines, &t) && !python_read_bytes(&q, made.name, &t));
}

/* With this word of all types changed they are none; but then back. */
static void expect_none_with(__u64 at, __u64 bits)
{
	__u64 types[] = { py.code_type, py.str_type, py.bytes_type };

	for (int i = 0; i < 3; i++)
		py_put(types[i] + at, py_get(types[i] + at) ^ bits);
	expect_types(false, false, false);
	for (int i = 0; i < 3; i++)
		py_put(types[i] + at, py_get(types[i] + at) ^ bits);
	expect_types(true, true, true);
}

TEST(python_types_are_known_without_their_names)
{
	EACH_VERSION(v) {
		const struct python_layout *l = &python_layouts[v];

		make(v, UINT32_MAX);
		absent = py.names;
		expect_frames();
		expect_types(true, true, true);
		for (int bit = 0; bit < 8; bit++) {
			expect_none_with(PYTHON_TP_SIZES(l), 1ULL << bit);
			expect_none_with(PYTHON_TP_SIZES(l) + 8, 1ULL << bit);
			expect_none_with(PYTHON_TP_WEAK(l), 1ULL << bit);
			expect_none_with(PYTHON_TP_FLAGS(l), 1ULL << (24 + bit));
		}
		expect_none_with(PYTHON_TP_FLAGS(l), 1 << 9);	/* made by a class statement */
		expect_none_with(PYTHON_TP_FLAGS(l), 1 << 12);	/* not complete */
		/* others do not count */
		py_put(py.code_type + PYTHON_TP_FLAGS(l), 1ULL << 12 | 1ULL << 40 | 1 << 8);
		expect_types(true, true, true);
		/* what can be read says it: then nothing else does */
		absent = 0;
		strcpy(py_at(py.names), "codec");
		strcpy(py_at(py.names + 16), "Str");
		strcpy(py_at(py.names + 32), "byte");
		expect_types(false, false, false);
	}
}

/* --- broken memory --------------------------------------------------------------- */

/* What the walk gives are code objects by their type, and it ends. */
static int walk(void)
{
	struct python_state p = { 0 };
	int n = 0;

	python_find(&p, py.version, made.root, TP, thread_at);
	while (p.frame && n < STEPS) {
		struct python_frame f = { 0 };
		struct python_text t = { 0 };
		enum python_found got = python_next(&p, &f);
		__u64 type = 0, name = 0;
		char text[8] = "";

		if (got == PYTHON_BROKEN)
			break;
		if (got == PYTHON_END)
			continue;
		bpf_probe_read_user(&type, 8, (void *)(f.code + py_layout()->ob_type));
		bpf_probe_read_user(&name, 8, (void *)(type + py_layout()->tp_name));
		if (!bpf_probe_read_user(text, 8, (void *)name))
			CHECK(!memcmp(text, "code", 5));
		else
			CHECK_EQ(type, py.code_type);
		if (python_read_str(&p, f.name, &t))
			CHECK(t.bytes <= 4 << 16);
		n++;
	}
	return n;
}

TEST(python_walk_of_every_truncation)
{
	EACH_VERSION(v) {
		int all = 0;

		make(v, UINT32_MAX);
		for (readable = 0; readable <= py.n; readable += 8)
			all += walk() == FRAMES;
		readable = SIZE;
		CHECK_EQ(walk(), FRAMES);
		CHECK(all > 0 && all < (int)py.n / 8 / 2);
	}
}

TEST(python_walk_with_every_bit_flipped)
{
	EACH_VERSION(v) {
		int fewer = 0;

		make(v, UINT32_MAX);
		for (size_t bit = 8 * 8192; bit < 8 * py.n; bit++) {
			memory[bit / 8] ^= 1 << bit % 8;
			fewer += walk() < FRAMES;
			memory[bit / 8] ^= 1 << bit % 8;
		}
		CHECK(fewer > 500);
	}
}
