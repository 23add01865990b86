/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_process - a process with HotSpot's code and one frame of it, for tests
 *
 * To be included after bpf/hotspot_read.bpf.h.
 */
#ifndef TESTS_HOTSPOT_PROCESS_H
#define TESTS_HOTSPOT_PROCESS_H

#include <errno.h>
#include <string.h>

#include "tests/unit/hotspot_memory.h"

#define BASE	0x7f0000000000ULL
#define SIZE	(1 << 20)
#define HEAP	(1 << 18)
#define STACK	(BASE + 0x1000)		/* up to 64 KiB */
#define SP	(STACK + 0x800)

static char memory[SIZE];
static size_t readable = SIZE;		/* bytes of it */
static unsigned long n_reads;

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 off = (__u64)(uintptr_t)src - BASE;

	n_reads++;
	if (off > readable || readable - off < size) {
		memset(dst, 0, size);
		return -EFAULT;
	}
	memcpy(dst, memory + off, size);
	return 0;
}

/* --- a process ----------------------------------------------------------------------- */

static struct made {
	__u64 root;
	struct hs_class klass;
	__u64 outer, inner, plain;		/* methods */
	struct hs_blob code, interpreter, stub, bare, wrapper, caller;
	struct hs_inlined two[2], one[1];
} made;

#define CALL_AT		64	/* where inner is called, inlined into outer */
#define ALONE_AT	160	/* in outer itself */
#define WORDS		6	/* of its frame */
#define COMPLETE	32

static void make(__u32 version)
{
	struct hs_place places[2];

	readable = SIZE;
	memset(memory, 0, sizeof(memory));
	hs = (struct hs_memory){ .start = BASE, .b = memory, .size = SIZE,
				 .n = 0x12000, .version = version };
	made.root = hs_code_cache(HEAP);
	made.klass = hs_class("a/b/C", "C.java");
	made.outer = hs_method(&made.klass, "outer", "(I)V", "\x0a\x12");
	made.inner = hs_method(&made.klass, "inner", "()J", NULL);
	made.plain = hs_method(&made.klass, "plain", "()V", NULL);
	made.two[0] = (struct hs_inlined){ made.inner, 7 };
	made.two[1] = (struct hs_inlined){ made.outer, 30 };
	made.one[0] = (struct hs_inlined){ made.outer, 50 };
	places[0] = (struct hs_place){ CALL_AT, made.two, 2 };
	places[1] = (struct hs_place){ ALONE_AT, made.one, 1 };
	made.interpreter = hs_blob("Interpreter", 40000, 0, 0);
	made.code = hs_nmethod("nmethod", made.outer, WORDS, COMPLETE, places, 2);
	made.stub = hs_blob("StubRoutines (1)", 256, 0, 0);
	made.bare = hs_blob("vtable chunks", 256, 0, 0);
	made.wrapper = hs_nmethod("native nmethod", made.plain, 4, COMPLETE, NULL, 0);
	made.caller = hs_nmethod("nmethod", made.plain, 3, COMPLETE, NULL, 0);
}

static struct hotspot_state found(void)
{
	struct hotspot_state h = { 0 };

	CHECK(hotspot_has_layout(hs.version));
	hotspot_find(&h, hs.version, made.root);
	return h;
}

static struct unwind_state at(__u64 pc, __u32 exact)
{
	return (struct unwind_state){ .pc = pc - !exact, .sp = SP, .fp = SP + 0x200,
				      .exact = exact };
}

/* --- its frames ------------------------------------------------------------------------- */

static enum stop_reason step(struct unwind_state *st, struct hotspot_state *h)
{
	*h = found();
	CHECK(hotspot_read_blob(h, st->pc));
	if (h->kind == HOTSPOT_INTERPRETER && !hotspot_interpreted(h, st))
		h->method = 0;
	return hotspot_caller(h, st);
}

static void expect_step(struct unwind_state st, __u64 pc, __u64 sp, __u64 fp)
{
	struct hotspot_state h;

	CHECK_EQ(step(&st, &h), STOP_NOT);
	CHECK_EQ(st.pc, pc);
	CHECK_EQ(st.sp, sp);
	CHECK_EQ(st.fp, fp);
	CHECK_EQ(st.exact, 0);
	CHECK_EQ(st.depth, 1);
}

static void expect_caller(struct unwind_state st, __u64 sp, __u64 fp)
{
	expect_step(st, made.caller.code + 99, sp, fp);
}

/* A return address at a word of the stack, with a saved frame pointer below. */
static void frame(int word)
{
	hs_put(SP + 8 * (__u64)word, made.caller.code + 100);
	if (word)
		hs_put(SP + 8 * (__u64)word - 8, 0x1234);
}

#endif /* TESTS_HOTSPOT_PROCESS_H */
