/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_memory - CPython's objects in made-up memory, as a version lays them out
 *
 * The test says where the memory is; what is made lies one behind the other, at
 * multiples of 16.  To be included after bpf/python_read.bpf.h.
 */
#ifndef TESTS_PYTHON_MEMORY_H
#define TESTS_PYTHON_MEMORY_H

#include <string.h>

#include "tests/unit/harness.h"

struct py_memory {
	__u64 start;		/* address in the process */
	char *b;		/* the same, here */
	size_t size, n;
	__u32 version;		/* of bpf/python.h */
	__u64 code_type, str_type, bytes_type;
	__u64 names;		/* of these types: PY_NAMES bytes */
};

#define PY_NAMES	48

static struct py_memory py;

static inline const struct python_layout *py_layout(void)
{
	return &python_layouts[py.version];
}

static inline void *py_at(__u64 addr)
{
	CHECK(addr - py.start < py.size);
	return py.b + (addr - py.start);
}

static inline void py_put(__u64 addr, __u64 v)
{
	memcpy(py_at(addr), &v, sizeof(v));
}

static inline __u64 py_get(__u64 addr)
{
	__u64 v;

	memcpy(&v, py_at(addr), sizeof(v));
	return v;
}

/* What was there before stays. */
static inline __u64 py_alloc(size_t len)
{
	__u64 at = py.start + py.n;

	CHECK(py.size - py.n >= len + 16);
	py.n = (py.n + len + 15) / 16 * 16;
	return at;
}

/* sizeof(PyUnicodeObject): a pointer behind the compact one */
static inline __u64 py_str_size(void)
{
	return py_layout()->compact + 8u;
}

/* What a type has but for its name and size, which is called what CPython calls it. */
struct py_kind {
	__u64 item, flags, weak;
};

static inline struct py_kind py_code_kind(void)
{
	const struct python_lines *t = &python_lines_table[py.version];

	/* tp_flags as in 3.13: BASETYPE and others, too */
	return (struct py_kind){ PYTHON_CODE_ITEM(t), 0x1102, PYTHON_CODE_WEAK(t) };
}

static const struct py_kind py_str_kind = { 0, 0x10401502, 0 };
static const struct py_kind py_bytes_kind = { 1, 0x8401502, 0 };

static inline __u64 py_type_named(__u64 name, __u64 size, const struct py_kind *kind)
{
	__u64 type = py_alloc(256);

	py_put(type + py_layout()->tp_name, name);
	py_put(type + PYTHON_TP_SIZES(py_layout()), size);
	py_put(type + PYTHON_TP_SIZES(py_layout()) + 8, kind->item);
	py_put(type + PYTHON_TP_FLAGS(py_layout()), kind->flags);
	py_put(type + PYTHON_TP_WEAK(py_layout()), kind->weak);
	return type;
}

static inline __u64 py_type(const char *name, __u64 size, const struct py_kind *kind)
{
	__u64 text = py_alloc(16);

	strcpy(py_at(text), name);
	return py_type_named(text, size, kind);
}

/* Of n characters; kind 0: ASCII, else the bytes of one. */
static inline __u64 py_str(__u64 type, const void *text, __u64 n, __u32 kind)
{
	__u32 size = kind ? kind : 1;
	__u64 head = kind ? py_layout()->compact : py_layout()->ascii;
	__u64 str = py_alloc(head + (n + 1) * size);

	py_put(str + py_layout()->ob_type, type);
	py_put(str + py_layout()->length, n);
	py_put(str + py_layout()->state,
	       (size | 1u << 3 | (kind ? 0u : 1u) << 4) << py_layout()->interned);
	memcpy(py_at(str + head), text, n * size);
	memset(py_at(str + head + n * size), 0, size);
	return str;
}

static inline __u64 py_ascii(const char *text)
{
	return py_str(py.str_type, text, strlen(text), 0);
}

static inline __u64 py_bytes(__u64 type, const void *data, __u64 n)
{
	__u64 begin = py_layout()->length + PYTHON_BYTES_DATA;
	__u64 bytes = py_alloc(begin + n + 1);

	py_put(bytes + py_layout()->ob_type, type);
	py_put(bytes + py_layout()->length, n);
	memcpy(py_at(bytes + begin), data, n);
	memset(py_at(bytes + begin + n), 0, 1);
	return bytes;
}

#define PY_CODE_SIZE	64	/* bytes of a function's code */

static inline __u64 py_code(__u64 type, __u64 name, __u64 file, __u64 lines,
			    __u32 line)
{
	static const char bytecode[PY_CODE_SIZE];
	const struct python_layout *l = py_layout();
	const struct python_lines *t = &python_lines_table[py.version];
	__u64 code = py_alloc(PYTHON_CODE_BYTES + 112);

	py_put(code + py_layout()->ob_type, type);
	py_put(code + l->name, name);
	py_put(code + l->filename, file);
	py_put(code + t->table, lines);
	if (t->unit)	/* co_code, of so many bytes */
		py_put(code + t->code, py_bytes(0, bytecode, PY_CODE_SIZE));
	else		/* ob_size, units of two */
		py_put(code + py_layout()->length, PY_CODE_SIZE / 2);
	memcpy(py_at(code + l->line), &line, sizeof(line));
	return code;
}

/* at: bytes from the start of the code; entry: .is_entry, .owner */
static inline __u64 py_frame(__u64 code, __u64 previous, __u32 at, __u8 entry)
{
	const struct python_lines *t = &python_lines_table[py.version];
	const struct python_layout *l = py_layout();
	__u64 frame = py_alloc(PYTHON_FRAME_BYTES);
	__u32 units = t->unit ? at / t->unit : 0;

	py_put(frame + l->previous, previous);
	py_put(frame + l->code, code);
	if (t->unit)
		memcpy(py_at(frame + t->at), &units, sizeof(units));
	else
		py_put(frame + t->at, code + t->code + at);
	if (l->how != PYTHON_EACH)
		*(__u8 *)py_at(frame + l->entry) = entry;
	return frame;
}

/* A thread whose innermost frame this is. */
static inline __u64 py_thread(__u64 id, __u64 frame)
{
	const struct python_layout *l = py_layout();
	__u64 thread = py_alloc(512), cframe = py_alloc(64);

	py_put(thread + PYTHON_NEXT, 0);
	py_put(thread + l->thread_id, id);
	py_put(thread + l->current, l->cframe ? cframe : frame);
	if (l->cframe)
		py_put(cframe + l->cframe - 1, frame);
	return thread;
}

/* _PyRuntime of one interpreter with this first thread; key: of no use if
 * UINT32_MAX. */
static inline __u64 py_runtime(__u32 key, __u64 thread)
{
	const struct python_layout *l = py_layout();
	__u64 root = py_alloc(4096), interpreter = py_alloc(8192);

	if (l->tss_key)
		memcpy(py_at(root + l->tss_key), &key, sizeof(key));
	py_put(root + l->interpreters, interpreter);
	py_put(interpreter + l->next_interp, 0);
	py_put(interpreter + l->threads, thread);
	return root;
}

static inline void py_types(void)
{
	struct py_kind code = py_code_kind();

	py.names = py_alloc(PY_NAMES);
	strcpy(py_at(py.names), "code");
	strcpy(py_at(py.names + 16), "str");
	strcpy(py_at(py.names + 32), "bytes");
	py.code_type = py_type_named(py.names, python_lines_table[py.version].basic, &code);
	py.str_type = py_type_named(py.names + 16, py_str_size(), &py_str_kind);
	py.bytes_type = py_type_named(py.names + 32, py_layout()->length + PYTHON_BYTES_DATA + 1u,
				      &py_bytes_kind);
}

#define EACH_VERSION(v)							\
	for (__u32 v = 0; v < PYTHON_LAYOUTS; v++)			\
		if (python_layouts[v].ascii)

#endif /* TESTS_PYTHON_MEMORY_H */
