/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * python - where CPython keeps its frames, by version
 *
 * The numbers are constants here, not sent by workers: so the table of a file can choose
 * a version and the place of its runtime, but not which words of an object are read.
 *
 * Taken from the headers of the versions named (Include/internal/pycore_*.h,
 * Include/cpython/, frameobject.h, code.h), 64 bits, without Py_TRACE_REFS.  The
 * numbers in files of 3.13 and later are compared with them
 * (symbolizerd/runtimes/python/offsets.c).
 */
#ifndef BPF_PYTHON_H
#define BPF_PYTHON_H

#include <linux/types.h>

/*
 * Which struct python_layout: the minor version of 3.x, and whether there is no
 * GIL.  Values never change.
 */
#define PYTHON_FREE_THREADED	16
#define PYTHON_LAYOUTS		32		/* a power of two */

/* Of the rule that a worker sends for the file (RUNTIME_*, table.h): the place of the
 * thread state in each thread, from the thread pointer; 0: not known. */
#define PYTHON_THREAD_AT(rule)	((rule)->aux)

enum python_entry {
	PYTHON_EACH = 0,	/* a native frame of the loop for each frame */
	PYTHON_MARKED,		/* _PyInterpreterFrame.is_entry */
	PYTHON_OWNED,		/* a frame of the loop's own after the last:
				 * .owner is PYTHON_OWNER_C or more */
};
#define PYTHON_OWNER_C	3	/* FRAME_OWNED_BY_CSTACK; since 3.14
				 * FRAME_OWNED_BY_INTERPRETER */

/* Offsets in bytes. */
struct python_layout {
	__u16 running;		/* _PyRuntimeState: gilstate.tstate_current; 0:
				 * the key's value is the one that runs */
	__u16 tss_key;		/* _PyRuntimeState: autoTSSkey._key; 0: none */
	__u16 interpreters;	/* _PyRuntimeState: interpreters.head */
	__u16 next_interp;	/* PyInterpreterState */
	__u16 threads;		/* PyInterpreterState: threads.head, tstate_head */
	__u16 thread_id;	/* PyThreadState; its .next is at 8 */
	__u16 current;		/* PyThreadState: its frame, or its cframe */
	__u16 cframe;		/* _PyCFrame.current_frame + 1; 0: there is none */
	__u16 base;		/* PyThreadState: the frame without a function
				 * that ends the list; 0: there is none */
	/* of a frame: below PYTHON_FRAME_BYTES */
	__u8 previous, code, entry;
	__u8 how;		/* enum python_entry */
	/* of a code object: below PYTHON_CODE_BYTES */
	__u8 name, filename, line;
	/* of any object and of a type */
	__u8 ob_type, tp_name;
	/* of a string: below PYTHON_STR_BYTES */
	__u8 length, state;	/* PyASCIIObject */
	__u8 ascii;		/* sizeof(PyASCIIObject); 0: there is no layout */
	__u8 compact;		/* sizeof(PyCompactUnicodeObject) */
	__u8 interned;		/* bits of .state before the others */
};

/* PyTypeObject (Include/cpython/object.h), the same since 3.6: tp_basicsize, tp_itemsize
 * after it, tp_flags, tp_weaklistoffset. */
#define PYTHON_TP_SIZES(l)	((l)->tp_name + 8u)
#define PYTHON_TP_FLAGS(l)	((l)->tp_name + 144u)
#define PYTHON_TP_WEAK(l)	((l)->tp_name + 184u)
/* Its tp_flags: those that say whose subclass it is (Py_TPFLAGS_*_SUBCLASS), that it was
 * made by a class statement (HEAPTYPE), and that it is complete. */
#define PYTHON_TYPE_BITS	(0xff000000ULL | 1 << 9 | PYTHON_TYPE_READY)
#define PYTHON_TYPE_READY	(1ULL << 12)
#define PYTHON_TYPE_BYTES	(1ULL << 27)
#define PYTHON_TYPE_STR		(1ULL << 28)

#define PYTHON_NEXT		8	/* PyThreadState.next */
#define PYTHON_FRAME_BYTES	128	/* with f_lasti; 80 do without */
#define PYTHON_FRAME_LEAST	80
#define PYTHON_CODE_BYTES	160
#define PYTHON_STR_BYTES	56

/* Since 3.14 the low bits of _PyInterpreterFrame.f_executable are flags of its reference
 * count (Py_TAG_BITS). */
#define PYTHON_OBJECT(word)	((word) & ~7ULL)

/* PyASCIIObject.state, after interned: kind:3 (bytes a character), compact:1, ascii:1 */
#define PYTHON_STR_KIND(state)		((state) & 7)
#define PYTHON_STR_COMPACT(state)	((state) >> 3 & 1)
#define PYTHON_STR_ASCII(state)		((state) >> 4 & 1)

/* Objects, and without a GIL (_T); strings until 3.11, and later without wstr. */
#define PYTHON_OBJECTS							\
	.ob_type = 8, .tp_name = 24, .length = 16, .state = 32
#define PYTHON_OBJECTS_T						\
	.ob_type = 24, .tp_name = 40, .length = 32, .state = 48
#define PYTHON_WSTR	PYTHON_OBJECTS, .ascii = 48, .compact = 72, .interned = 2
#define PYTHON_STR	PYTHON_OBJECTS, .ascii = 40, .compact = 56, .interned = 2
#define PYTHON_STR_T	PYTHON_OBJECTS_T, .ascii = 56, .compact = 72
/* Frames on the heap; code objects of 3.6 and 3.7, of 3.8 to 3.10. */
#define PYTHON_HEAP							\
	.current = 24, .previous = 24, .code = 32, .how = PYTHON_EACH
#define PYTHON_CODE_3_6	.name = 104, .filename = 96, .line = 36
#define PYTHON_CODE_3_8	.name = 112, .filename = 104, .line = 40
#define PYTHON_CODE_3_12 .name = 128, .filename = 112, .line = 68
#define PYTHON_CODE_T	.name = 144, .filename = 128, .line = 84

/* 3.6 has no _PyRuntime: its root is interp_head itself (pystate.c). */
#define PYTHON_LAYOUT_TABLE {						\
	[6] = { .interpreters = 0, .threads = 8, .thread_id = 152,	\
		PYTHON_HEAP, PYTHON_CODE_3_6, PYTHON_WSTR },		\
	[7] = { .tss_key = 1508, .interpreters = 24, .threads = 8,	\
		.running = 1480, .thread_id = 176,			\
		PYTHON_HEAP, PYTHON_CODE_3_6, PYTHON_WSTR },		\
	[8] = { .tss_key = 1396, .interpreters = 32, .threads = 8,	\
		.running = 1368, .thread_id = 176,			\
		PYTHON_HEAP, PYTHON_CODE_3_8, PYTHON_WSTR },		\
	[9] = { .tss_key = 588, .interpreters = 32, .threads = 8,	\
		.running = 568, .thread_id = 176,			\
		PYTHON_HEAP, PYTHON_CODE_3_8, PYTHON_WSTR },		\
	[10] = { .tss_key = 588, .interpreters = 32, .threads = 8,	\
		.running = 568, .thread_id = 176,			\
		PYTHON_HEAP, PYTHON_CODE_3_8, PYTHON_WSTR },		\
	[11] = { .tss_key = 596, .interpreters = 40, .threads = 16,	\
		.running = 576, .thread_id = 152,			\
		.current = 56, .cframe = 8 + 1,				\
		.previous = 48, .code = 32, .entry = 68,		\
		.how = PYTHON_MARKED, .name = 128, .filename = 112,	\
		.line = 72, PYTHON_WSTR },				\
	[12] = { .tss_key = 1548, .interpreters = 40, .threads = 72,	\
		.thread_id = 136, .current = 56, .cframe = 0 + 1,	\
		.previous = 8, .code = 0, .entry = 70,			\
		.how = PYTHON_OWNED, PYTHON_CODE_3_12, PYTHON_STR },	\
	[13] = { .tss_key = 2164, .interpreters = 632,			\
		.next_interp = 7264, .threads = 7344,			\
		.thread_id = 152, .current = 72, .previous = 8,		\
		.code = 0, .entry = 70, .how = PYTHON_OWNED,		\
		PYTHON_CODE_3_12, PYTHON_STR },				\
	[14] = { .tss_key = 2340, .interpreters = 808,			\
		.next_interp = 7272, .threads = 7344,			\
		.thread_id = 152, .current = 72, .previous = 8,		\
		.code = 0, .entry = 74, .how = PYTHON_OWNED,		\
		PYTHON_CODE_3_12, PYTHON_STR },				\
	[15] = { .interpreters = 936,					\
		.next_interp = 7264, .threads = 7336,			\
		.thread_id = 176, .current = 72, .base = 80,		\
		.previous = 8,						\
		.code = 0, .entry = 74, .how = PYTHON_OWNED,		\
		PYTHON_CODE_3_12, PYTHON_STR },				\
	[13 + PYTHON_FREE_THREADED] = {					\
		.tss_key = 2164, .interpreters = 632,			\
		.next_interp = 7264, .threads = 7344,			\
		.thread_id = 152, .current = 72, .previous = 8,		\
		.code = 0, .entry = 70, .how = PYTHON_OWNED,		\
		PYTHON_CODE_T, PYTHON_STR_T, .interned = 2 },		\
	[14 + PYTHON_FREE_THREADED] = {					\
		.tss_key = 2340, .interpreters = 808,			\
		.next_interp = 7272, .threads = 7344,			\
		.thread_id = 152, .current = 72, .previous = 8,		\
		.code = 0, .entry = 78, .how = PYTHON_OWNED,		\
		PYTHON_CODE_T, PYTHON_STR_T, .interned = 8 },		\
	[15 + PYTHON_FREE_THREADED] = {					\
		.interpreters = 936,					\
		.next_interp = 7264, .threads = 7336,			\
		.thread_id = 176, .current = 72, .base = 80,		\
		.previous = 8,						\
		.code = 0, .entry = 78, .how = PYTHON_OWNED,		\
		PYTHON_CODE_T, PYTHON_STR_T, .interned = 8 },		\
}

#endif /* BPF_PYTHON_H */
