/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_process - the memory of a process with one thread of CPython, for tests
 *
 * To be included after bpf/python_read.bpf.h.
 */
#ifndef TESTS_PYTHON_PROCESS_H
#define TESTS_PYTHON_PROCESS_H

#include "tests/unit/python_memory.h"

#define BASE	0x7f0000001000ULL
#define SIZE	131072
#define TP	(BASE + 0x400)		/* thread pointer */
#define FRAMES	3

static char memory[SIZE];

static struct process {
	__u64 root, thread;
	__u64 frame[FRAMES], code[FRAMES], name, file, lines;	/* innermost first */
} made;

/* Thread pointer and its surroundings first, then objects.  The last frame is one
 * that the loop was entered with, as the version marks it. */
static void make(__u32 version, __u32 key)
{
	const struct python_layout *l;
	__u64 next = 0;

	memset(memory, 0, sizeof(memory));
	py = (struct py_memory){ .start = BASE, .b = memory, .size = SIZE,
				 .n = 8192, .version = version };
	l = py_layout();
	py_types();
	made.name = py_ascii("function");
	made.file = py_ascii("/a/file.py");
	made.lines = py_bytes(py.bytes_type, "lines", 5);
	if (l->how == PYTHON_OWNED)
		next = py_frame(0, 0, 0, PYTHON_OWNER_C);
	for (int i = FRAMES - 1; i >= 0; i--) {
		made.code[i] = py_code(py.code_type, made.name, made.file, made.lines, 10 + i);
		made.frame[i] = next = py_frame(made.code[i], next, 4 * i,
						l->how == PYTHON_MARKED && i == FRAMES - 1);
	}
	made.thread = py_thread(TP, made.frame[0]);
	made.root = py_runtime(key, made.thread);
}

#endif /* TESTS_PYTHON_PROCESS_H */
