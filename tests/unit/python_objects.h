/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_objects - functions of CPython in a memory of other words, what looks like
 * them, and whether what a record says is of such a function
 *
 * A part of test_words.c, which says which words there are.
 */
#ifndef TESTS_PYTHON_OBJECTS_H
#define TESTS_PYTHON_OBJECTS_H

#include "tests/unit/any_rule.h"
#include "tests/unit/python_memory.h"

#define THREADS		4		/* thread pointers */

static __u64 any_word(void);
static __u64 any_place(void);		/* where a frame may be */
static __u64 any_thread(void);		/* a thread pointer */

/* CPython's objects, and what looks like them; their types are not among them. */
static struct object {
	enum { PLAIN, CODE, TEXT, LINES } what;
	__u64 at;
	const void *bytes;		/* of TEXT and LINES */
	size_t n;
} objects[96];
static __u32 n_objects;

static const struct object *object_at(__u64 addr)
{
	for (__u32 i = 0; i < n_objects; i++) {
		if (objects[i].at == addr)
			return &objects[i];
	}
	return NULL;
}

/* --- what leaves ------------------------------------------------------------------ */

/* The words of a FRAME_TEXT are some of these bytes, then NULs. */
static int is_part(const __u64 *w, const struct object *o)
{
	__u32 which = TEXT_WHICH(FRAME_NUMBER(*w));
	size_t len = 8 * FRAME_MORE(*w), from = which == TEXT_NAME ? 0 : FRAME_PLACE(*w);
	char want[TEXT_BYTES] = { 0 };

	if (o->what != (which == TEXT_LINES ? LINES : TEXT) || from > o->n)
		return 0;
	if (len > TEXT_BYTES)
		return 0;
	memcpy(want, (const char *)o->bytes + from, o->n - from < len ? o->n - from : len);
	return !memcmp(w + 1, want, len);
}

/* Of a module's code: its size and first 64 bytes, or 0 if it is no table. */
static __u32 table_hash(__u64 table)
{
	const struct object *o = object_at(table);
	__u64 words[TABLE_HASHED] = { 0 }, h;

	if (!o || o->what != LINES || !o->n)
		return 0;
	memcpy(words, o->bytes, o->n < sizeof(words) ? o->n : sizeof(words));
	h = o->n;
	for (int i = 0; i < TABLE_HASHED; i++)
		h = (h + words[i]) * HASH_FACTOR;
	return (__u32)(h >> 32);
}

/* By one of the layouts, as none says which one the adversary took. */
static int is_cookie(__u32 cookie, __u64 code)
{
	EACH_VERSION(v) {
		const struct python_layout *l = &python_layouts[v];
		__u32 line;
		__u64 h, table;

		memcpy(&line, py_at(code + l->line), sizeof(line));
		h = (py_get(code + l->name) * HASH_FACTOR + py_get(code + l->filename)) * HASH_FACTOR + line;
		table = py_get(code + python_lines_table[v].table);
		h += line > 1 ? table : table_hash(table);
		h *= HASH_FACTOR;
		if (MANAGED_COOKIE(h >> 40) == cookie)
			return 1;
	}
	return 0;
}

static void check_text(const __u64 *w, __u64 code)
{
	int found = 0;

	for (__u32 at = 0; at < PYTHON_CODE_BYTES && !found; at += 8) {
		const struct object *o = object_at(py_get(code + at));

		found = o && is_part(w, o);
	}
	CHECK(found);
}

/* What FRAME_TEXTs say is of the function of the frame that follows. */
static const __u64 *texts[4 + TEXT_LINES_MAX];
static __u32 n_texts;

static void check_managed(const __u64 *w)
{
	const struct object *o;

	if (FRAME_KIND(*w) == FRAME_TEXT) {
		CHECK(n_texts < 4 + TEXT_LINES_MAX && FRAME_MORE(*w));
		texts[n_texts++] = w;
		return;
	}
	CHECK_EQ(FRAME_MORE(*w), 1);
	if (MANAGED_RUNTIME(*w) == RUNTIME_HOTSPOT) {
		hs_check_frame(w, texts, n_texts);
		n_texts = 0;
		return;
	}
	CHECK_EQ(MANAGED_RUNTIME(*w), RUNTIME_PYTHON);
	o = object_at(w[1]);
	CHECK(o && o->what == CODE);
	CHECK(is_cookie(MANAGED_COOKIE_OF(*w), o->at));
	/* no number but a place in code */
	CHECK(MANAGED_AT(*w) >= MANAGED_AT_START || MANAGED_AT(*w) < PY_CODE_SIZE);
	for (__u32 i = 0; i < n_texts; i++)
		check_text(texts[i], o->at);
	n_texts = 0;
}

/* --- the objects ------------------------------------------------------------------- */

static void add_object(int what, __u64 at, const void *bytes, size_t n)
{
	CHECK(n_objects < sizeof(objects) / sizeof(*objects));
	objects[n_objects++] = (struct object){ what, at, bytes, n };
}

#define UNREADABLE	8	/* where no memory is */

static void py_kind_differs(struct py_kind *k, const struct py_kind *by)
{
	k->flags ^= by->flags;
	k->item += by->item;
	k->weak += by->weak;
}

/* Types whose name cannot be read and that differ in one word from the one that is meant,
 * and objects of them. */
static void make_nameless_lookalikes(const __u64 *marks, size_t n)
{
	static const struct {
		__u64 size;
		struct py_kind kind;
	} differs[] = {
		{ .size = 8 },
		{ .kind.flags = 1 << 9 }, { .kind.flags = 1 << 12 }, { .kind.flags = 1 << 29 },
		{ .kind.item = 1 }, { .kind.weak = 1 },
	};
	__u64 basic = python_lines_table[py.version].basic;
	struct py_kind code = py_code_kind();

	for (size_t i = 0; i < sizeof(differs) / sizeof(*differs); i++) {
		struct py_kind c = code, s = py_str_kind, b = py_bytes_kind;

		py_kind_differs(&c, &differs[i].kind);
		py_kind_differs(&s, &differs[i].kind);
		py_kind_differs(&b, &differs[i].kind);
		add_object(PLAIN, py_code(py_type_named(UNREADABLE, basic + differs[i].size, &c),
					  any_word(), any_word(), any_word(), 1), NULL, 0);
		add_object(PLAIN, py_str(py_type_named(UNREADABLE, py_str_size() + differs[i].size,
						       &s), marks, n, i & 1), NULL, 0);
		add_object(PLAIN, py_bytes(py_type_named(UNREADABLE, 33 + differs[i].size, &b),
					   marks, n), NULL, 0);
	}
}

/* Types that are called nearly so, and objects of them. */
static void make_lookalikes(void)
{
	static const char *const names[] = { "codec", "cod", "code ", "Code", "mode" };
	static const char *const strs[] = { "strx", "st", "Str", "str " };
	static const char *const bytes[] = { "bytesx", "byte", "Bytes" };
	struct py_kind code = py_code_kind();
	__u64 marks[16];

	for (size_t i = 0; i < 16; i++)
		marks[i] = marked_word();
	for (size_t i = 0; i < 5; i++)
		add_object(PLAIN, py_code(py_type(names[i],
						  python_lines_table[py.version].basic, &code),
					  any_word(), any_word(), any_word(), 1), NULL, 0);
	for (size_t i = 0; i < 4; i++)
		add_object(PLAIN, py_str(py_type(strs[i], py_str_size(), &py_str_kind), marks,
					 sizeof(marks), i & 1), NULL, 0);
	for (size_t i = 0; i < 3; i++)
		add_object(PLAIN, py_bytes(py_type(bytes[i], 33, &py_bytes_kind), marks,
					   sizeof(marks)), NULL, 0);
	make_nameless_lookalikes(marks, sizeof(marks));
}

static void make_strings(void)
{
	static const __u32 kinds[] = { 0, 1, 2, 4 };
	static const __u32 lens[] = { 0, 5, 24, 150 };
	static char letters[2000];
	__u64 str;

	memset(letters, 'x', sizeof(letters));
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 4; k++)
			add_object(TEXT, py_str(py.str_type, letters, lens[k], kinds[i]),
				   letters, lens[k] * (kinds[i] ? kinds[i] : 1));
	}
	for (int i = 0; i < 3; i++)
		add_object(LINES, py_bytes(py.bytes_type, letters, 40 * i * i * i * i * i),
			   letters, 40 * i * i * i * i * i);
	/* its characters are elsewhere */
	str = py_alloc(256);
	py_put(str + py_layout()->ob_type, py.str_type);
	py_put(str + py_layout()->length, 100);
	py_put(str + py_layout()->state, 1 << 2 | 1 << 6);
	py_put(str + py_layout()->ascii, marked_word());
	add_object(PLAIN, str, NULL, 0);
}

/* Mostly with names; some have one of another kind. */
static void make_functions(void)
{
	__u32 n = n_objects;

	for (int i = 0; i < 12; i++) {
		__u64 name[3], code;

		for (int k = 0; k < 3; k++)
			name[k] = below(8) ? objects[below(n)].at : any_word();
		code = py_code(py.code_type, name[0], name[1], name[2], 1 + i);
		/* and any that an object begins with */
		py_put(code, objects[below(n)].at);
		add_object(CODE, code, NULL, 0);
	}
}

static __u64 runtime;		/* _PyRuntime */
static __u32 said_version;	/* of it: true or not */

static __u32 any_version(void)
{
	__u32 v;

	do {
		v = below(PYTHON_LAYOUTS);
	} while (!python_layouts[v].ascii);
	return v;
}

/* A runtime with a thread for each thread pointer, in frames of any of the objects.
 * The adversary may have found such in the memory of another version, too. */
static void make_runtime(void)
{
	__u32 version = py.version;
	__u64 frame = any_place(), thread = 0;

	py.version = said_version;
	for (__u32 i = 0; i < 8 * THREADS; i++) {
		const struct object *o = &objects[below(n_objects)];

		if (below(8))
			o = &objects[n_objects - 1 - below(5)];
		frame = py_frame(o->at, below(8) ? frame : any_word(), below(300), 0);
		if (i % 8 < 7)
			continue;
		frame = py_thread(any_thread(), frame);
		py_put(frame + PYTHON_NEXT, thread);
		thread = frame;
		frame = any_place();
	}
	runtime = py_runtime(below(2) ? 0 : UINT32_MAX, thread);
	py.version = version;
}

#endif /* TESTS_PYTHON_OBJECTS_H */
