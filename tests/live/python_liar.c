// SPDX-License-Identifier: Apache-2.0
/*
 * Looks like CPython 3.11 and lies: its list of frames is a circle, its strings are
 * longer than memory, its key is wild.  With a third argument it has a thousand
 * functions, with names and tables of lines as long as they can be, which are others
 * all the time.  What it pays for that is its own.
 *
 *	python_liar [SECONDS [LENGTH OF NAMES [any]]]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* offsets: bpf/python.h */
#define WORD(p, at)	(*(uint64_t *)((char *)(p) + (at)))

uint64_t _PyRuntime[512];
#ifndef VERSION
#define VERSION 0x030b02f0
#endif
const unsigned long Py_Version = VERSION;
#define MANY	1000
static uint64_t interpreter[64], thread[64], cframe[8], frames[MANY][16];
static uint64_t codes[MANY][32], code_type[8], str_type[8], bytes_type[8], table[256];
static struct {
	uint64_t head[6];
	char text[4096];
} name;

static volatile uint64_t sink;
static int renamed;

__attribute__((noinline)) uint64_t burn(double seconds)
{
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	do {
		for (int i = 0; i < 20000; i++)
			sink += i;
		for (int i = 0; renamed && i < MANY; i++)
			WORD(codes[i], 72) += MANY;	/* the first line */
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	} while (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9 < seconds);
	return sink;
}

__attribute__((noinline)) uint64_t _PyEval_EvalFrameDefault(double seconds)
{
	return burn(seconds) + 1;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 2;
	int n = argc > 3 ? MANY : 3;

	code_type[3] = (uintptr_t)"code";
	code_type[4] = 184;		/* tp_basicsize */
	str_type[3] = (uintptr_t)"str";
	str_type[4] = 80;
	bytes_type[3] = (uintptr_t)"bytes";
	table[1] = (uintptr_t)bytes_type;
	table[2] = 2000;
	name.head[1] = (uintptr_t)str_type;
	name.head[2] = argc > 2 ? strtoull(argv[2], NULL, 0) : 60000;
	name.head[4] = 1 << 2 | 1 << 5 | 1 << 6;
	memset(name.text, 'L', sizeof(name.text));
	for (int i = 0; i < n; i++) {
		codes[i][1] = (uintptr_t)code_type;
		WORD(codes[i], 72) = i;
		WORD(codes[i], 112) = WORD(codes[i], 128) = (uintptr_t)&name;
		WORD(codes[i], 136) = (uintptr_t)table;
		WORD(frames[i], 32) = (uintptr_t)codes[i];
		WORD(frames[i], 48) = (uintptr_t)frames[(i + 1) % n];
	}
	renamed = argc > 3;
	cframe[1] = (uintptr_t)frames[0];
	WORD(thread, 56) = (uintptr_t)cframe;
	WORD(thread, 152) = (uint64_t)pthread_self();
	WORD(interpreter, 16) = (uintptr_t)thread;
	WORD(_PyRuntime, 40) = (uintptr_t)interpreter;
	((uint32_t *)_PyRuntime)[596 / 4] = UINT32_MAX;
	return _PyEval_EvalFrameDefault(seconds) == 42;
}
