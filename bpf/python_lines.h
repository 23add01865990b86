/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * python_lines - where CPython keeps place and table of lines, by version
 *
 * Sources as in python.h.
 */
#ifndef BPF_PYTHON_LINES_H
#define BPF_PYTHON_LINES_H

#include "frame.h"
#include "python.h"

/* The form of a table of lines (TEXT_LINES): Objects/codeobject.c. */
enum python_lines_form {
	LINES_PAIRS = 1,	/* lnotab_notes.txt: 3.6 - 3.9 */
	LINES_RANGES = 2,	/* lnotab_notes.txt: 3.10 */
	LINES_LOCATIONS = 3,	/* locations.md: 3.11 and later */
};

/* Offsets in bytes. */
struct python_lines {
	__u8 at;		/* of a frame: f_lasti, or a pointer into the code */
	__u8 unit;		/* f_lasti: bytes that it counts; 0: a pointer */
	__u8 code;		/* of a code object: co_code_adaptive, which .at
				 * points into; else co_code, a bytes object */
	__u8 table;		/* of a code object: co_lnotab, co_linetable */
	__u8 form;		/* enum python_lines_form */
	__u8 basic;		/* PyCode_Type.tp_basicsize: since 3.11 the same as
				 * .code */
	/* Without a GIL, since 3.14: a thread's own copies of instructions,
	 * _PyCodeArray.  0: there are none */
	__u8 copy;		/* of a frame: number of the copy, 32 bits; 0: the code
				 * object's */
	__u8 copies;		/* of a code object */
};

/* PyCode_Type: tp_itemsize, and tp_weaklistoffset: before 3.11 co_zombieframe is between */
#define PYTHON_CODE_ITEM(t)	((t)->unit ? 0u : 2u)
#define PYTHON_CODE_WEAK(t)	((t)->table + ((t)->unit ? 16u : 8u))

#define PYTHON_COPIES(array)	((array) + 8)	/* after their number */

#define PYTHON_BYTES_DATA	16	/* PyBytesObject: from .ob_size to .ob_sval */

#define PYTHON_LINES_TABLE {						\
	[6] = { 120, 1, 40, 112, LINES_PAIRS, 144, 0, 0 },		\
	[7] = { 104, 1, 40, 112, LINES_PAIRS, 144, 0, 0 },		\
	[8] = { 104, 1, 48, 120, LINES_PAIRS, 176, 0, 0 },		\
	[9] = { 104, 1, 48, 120, LINES_PAIRS, 176, 0, 0 },		\
	[10] = { 96, 2, 48, 120, LINES_RANGES, 176, 0, 0 },		\
	[11] = { 56, 0, 184, 136, LINES_LOCATIONS, 184, 0, 0 },		\
	[12] = { 56, 0, 192, 136, LINES_LOCATIONS, 192, 0, 0 },		\
	[13] = { 56, 0, 200, 136, LINES_LOCATIONS, 200, 0, 0 },		\
	[14] = { 56, 0, 208, 136, LINES_LOCATIONS, 208, 0, 0 },		\
	[15] = { 56, 0, 208, 136, LINES_LOCATIONS, 208, 0, 0 },		\
	[13 + PYTHON_FREE_THREADED] =					\
		{ 56, 0, 216, 152, LINES_LOCATIONS, 216, 0, 0 },		\
	[14 + PYTHON_FREE_THREADED] =					\
		{ 56, 0, 232, 152, LINES_LOCATIONS, 232, 72, 224 },	\
	[15 + PYTHON_FREE_THREADED] =					\
		{ 56, 0, 232, 152, LINES_LOCATIONS, 232, 72, 224 },	\
}

#endif /* BPF_PYTHON_LINES_H */
