// SPDX-License-Identifier: Apache-2.0
/*
 * Looks like CPython 3.11 and lies: its list of frames is a circle, its strings are
 * longer than memory, its key is wild.  What it pays for that is its own.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* offsets: bpf/python.h */
#define WORD(p, at)	(*(uint64_t *)((char *)(p) + (at)))

uint64_t _PyRuntime[512];
const unsigned long Py_Version = 0x030b02f0;
static uint64_t interpreter[64], thread[64], cframe[8], frames[3][16], code[32];
static uint64_t code_type[8], str_type[8];
static struct {
	uint64_t head[6];
	char text[4096];
} name;

static volatile uint64_t sink;

__attribute__((noinline)) uint64_t burn(double seconds)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		for (int i = 0; i < 20000; i++)
			sink += i;
		clock_gettime(CLOCK_MONOTONIC, &b);
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

	code_type[3] = (uintptr_t)"code";
	str_type[3] = (uintptr_t)"str";
	name.head[1] = (uintptr_t)str_type;
	name.head[2] = argc > 2 ? strtoull(argv[2], NULL, 0) : 60000;
	name.head[4] = 1 << 2 | 1 << 5 | 1 << 6;
	memset(name.text, 'L', sizeof(name.text));
	code[1] = (uintptr_t)code_type;
	WORD(code, 112) = WORD(code, 128) = (uintptr_t)&name;
	for (int i = 0; i < 3; i++) {
		WORD(frames[i], 32) = (uintptr_t)code;
		WORD(frames[i], 48) = (uintptr_t)frames[(i + 1) % 3];
	}
	cframe[1] = (uintptr_t)frames[0];
	WORD(thread, 56) = (uintptr_t)cframe;
	WORD(thread, 152) = (uint64_t)pthread_self();
	WORD(interpreter, 16) = (uintptr_t)thread;
	WORD(_PyRuntime, 40) = (uintptr_t)interpreter;
	((uint32_t *)_PyRuntime)[596 / 4] = UINT32_MAX;
	return _PyEval_EvalFrameDefault(seconds) == 42;
}
