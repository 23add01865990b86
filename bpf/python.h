/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * python - where CPython keeps its frames, by version
 *
 * The numbers are here and not in what a worker sends: so the table of a file
 * chooses a version and where its runtime lies, and never which word of an object
 * is read.
 *
 * Taken from the headers of the versions named (Include/internal/pycore_*.h,
 * Include/cpython/, frameobject.h, code.h), 64 bits, without Py_TRACE_REFS and
 * with the GIL.
 */
#ifndef BPF_PYTHON_H
#define BPF_PYTHON_H

#include <linux/types.h>

/* Which struct python_layout: the minor version of 3.x.  Values never change. */
#define PYTHON_MINOR_MIN	7
#define PYTHON_MINOR_MAX	13
#define PYTHON_LAYOUTS		16		/* a power of two */

enum python_entry {
	PYTHON_EACH = 0,	/* a native frame of the loop for each frame */
	PYTHON_MARKED,		/* _PyInterpreterFrame.is_entry */
	PYTHON_OWNED,		/* a frame of the loop's own behind the last:
				 * .owner is PYTHON_OWNER_C or more */
};
#define PYTHON_OWNER_C	3	/* FRAME_OWNED_BY_CSTACK */

/* Offsets in bytes. */
struct python_layout {
	__u16 tss_key;		/* _PyRuntimeState: autoTSSkey._key */
	__u16 interpreters;	/* _PyRuntimeState: interpreters.head */
	__u16 threads;		/* PyInterpreterState: threads.head, tstate_head */
	__u16 thread_id;	/* PyThreadState; its .next is at 8 */
	__u16 current;		/* PyThreadState: its frame, or its cframe */
	__u16 cframe;		/* _PyCFrame.current_frame + 1; 0: there is none */
	/* of a frame: below PYTHON_FRAME_BYTES */
	__u8 previous, code, entry;
	__u8 how;		/* enum python_entry */
	/* of a code object: below PYTHON_CODE_BYTES */
	__u8 name, filename, line;
	__u8 ascii;		/* sizeof(PyASCIIObject) */
	__u8 compact;		/* sizeof(PyCompactUnicodeObject) */
	__u8 pad[3];
};

#define PYTHON_NEXT		8	/* PyThreadState.next */
#define PYTHON_OB_TYPE		8	/* PyObject.ob_type */
#define PYTHON_TP_NAME		24	/* PyTypeObject.tp_name */
#define PYTHON_LENGTH		16	/* PyASCIIObject.length */
#define PYTHON_STATE		32	/* PyASCIIObject.state */
#define PYTHON_FRAME_BYTES	112	/* with f_lasti; 80 do without */
#define PYTHON_FRAME_LEAST	80
#define PYTHON_CODE_BYTES	144
#define PYTHON_STR_BYTES	40

/* PyASCIIObject.state: interned:2, kind:3 (bytes a character), compact:1, ascii:1 */
#define PYTHON_STR_KIND(state)		((state) >> 2 & 7)
#define PYTHON_STR_COMPACT(state)	((state) >> 5 & 1)
#define PYTHON_STR_ASCII(state)		((state) >> 6 & 1)

#define PYTHON_LAYOUT_TABLE {						\
	[7] = { .tss_key = 1508, .interpreters = 24, .threads = 8,	\
		.thread_id = 176, .current = 24, .previous = 24,	\
		.code = 32, .name = 104, .filename = 96, .line = 36,	\
		.ascii = 48, .compact = 72 },				\
	[8] = { .tss_key = 1396, .interpreters = 32, .threads = 8,	\
		.thread_id = 176, .current = 24, .previous = 24,	\
		.code = 32, .name = 112, .filename = 104, .line = 40,	\
		.ascii = 48, .compact = 72 },				\
	[9] = { .tss_key = 588, .interpreters = 32, .threads = 8,	\
		.thread_id = 176, .current = 24, .previous = 24,	\
		.code = 32, .name = 112, .filename = 104, .line = 40,	\
		.ascii = 48, .compact = 72 },				\
	[10] = { .tss_key = 588, .interpreters = 32, .threads = 8,	\
		.thread_id = 176, .current = 24, .previous = 24,	\
		.code = 32, .name = 112, .filename = 104, .line = 40,	\
		.ascii = 48, .compact = 72 },				\
	[11] = { .tss_key = 596, .interpreters = 40, .threads = 16,	\
		.thread_id = 152, .current = 56, .cframe = 8 + 1,	\
		.previous = 48, .code = 32, .entry = 68,		\
		.how = PYTHON_MARKED, .name = 128, .filename = 112,	\
		.line = 72, .ascii = 48, .compact = 72 },		\
	[12] = { .tss_key = 1548, .interpreters = 40, .threads = 72,	\
		.thread_id = 136, .current = 56, .cframe = 0 + 1,	\
		.previous = 8, .code = 0, .entry = 70,			\
		.how = PYTHON_OWNED, .name = 128, .filename = 112,	\
		.line = 68, .ascii = 40, .compact = 56 },		\
	[13] = { .tss_key = 2164, .interpreters = 632, .threads = 7344,	\
		.thread_id = 152, .current = 72, .previous = 8,		\
		.code = 0, .entry = 70, .how = PYTHON_OWNED,		\
		.name = 128, .filename = 112, .line = 68,		\
		.ascii = 40, .compact = 56 },				\
}

#endif /* BPF_PYTHON_H */
