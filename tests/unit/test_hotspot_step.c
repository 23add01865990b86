// SPDX-License-Identifier: Apache-2.0
/*
 * From an address in HotSpot's code cache to methods and to the caller, on the host:
 * for each version that the sampler knows, code, methods and frames in memory made up
 * by its layout.  Whether the layouts are HotSpot's: tests/live/test_hotspot.py.
 */
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <string.h>

#include "bpf/hotspot_read.bpf.h"

#include "tests/unit/any_rule.h"
#include "tests/unit/hotspot_process.h"

/* --- code ------------------------------------------------------------------------------ */

TEST(hotspot_code_is_found)
{
	EACH_LAYOUT(v) {
		struct hotspot_state h;

		make(v);
		h = found();
		CHECK_EQ(h.vm.version, v);
		CHECK_EQ(h.vm.n, 1);
		for (__u64 i = 0; i < 512; i++) {
			CHECK(hotspot_read_blob(&h, made.code.code + i));
			CHECK_EQ(h.kind, HOTSPOT_COMPILED);
			CHECK_EQ(h.blob, made.code.blob);
			CHECK_EQ(h.code, made.code.code);
		}
		/* more segments than a byte of the map can say */
		CHECK(hotspot_read_blob(&h, made.interpreter.end - 1));
		CHECK_EQ(h.kind, HOTSPOT_INTERPRETER);
		CHECK_EQ(h.blob, made.interpreter.blob);
		CHECK(hotspot_read_blob(&h, made.stub.code) && h.kind == HOTSPOT_STUB);
		CHECK(hotspot_read_blob(&h, made.bare.code) && h.kind == HOTSPOT_BARE);
		CHECK(hotspot_read_blob(&h, made.wrapper.code) && h.kind == HOTSPOT_WRAPPER);
		/* behind all blocks, before and behind the heap */
		CHECK(!hotspot_read_blob(&h, hs.heap + 8));
		CHECK(!hotspot_read_blob(&h, hs.heap_at - 1));
		CHECK(!hotspot_read_blob(&h, hs.heap_end));
		CHECK_EQ(h.kind, HOTSPOT_NONE);
	}
}

TEST(hotspot_code_that_is_free_is_none)
{
	EACH_LAYOUT(v) {
		const struct hotspot_layout *l;
		struct hotspot_state h;

		make(v);
		l = hs_layout();
		h = found();
		*(__u8 *)hs_at(made.code.blob - l->block + l->used) = 0;
		CHECK(!hotspot_read_blob(&h, made.code.code));
		*(__u8 *)hs_at(made.code.blob - l->block + l->used) = 1;
		hs_put32(made.code.blob - l->block, 2);	/* shorter than that */
		CHECK(!hotspot_read_blob(&h, made.code.code));
		/* a map that leads below the heap, or in circles */
		memset(hs_at(hs.segmap), 254, HEAP >> HS_SHIFT);
		CHECK(!hotspot_read_blob(&h, made.code.code));
		memset(hs_at(hs.segmap), 1, HEAP >> HS_SHIFT);
		CHECK(!hotspot_read_blob(&h, hs.heap_end - 1));
	}
}

/* The CodeHeap that the process has. */
static __u64 heap_object(void)
{
	const struct hotspot_layout *l = hs_layout();
	__u64 at = hs_get(made.root);

	return l->heaps ? hs_get(hs_get(at + l->heaps)) : at;
}

static bool heap_is_found(__u64 low, __u64 high, __u64 segmap, __u32 shift)
{
	const struct hotspot_layout *l = hs_layout();
	__u64 at = heap_object();

	hs_put(at + l->memory, low);
	hs_put(at + l->memory + 8, high);
	hs_put(at + l->segmap, segmap);
	hs_put32(at + l->shift, shift);
	return found().vm.n == 1;
}

TEST(hotspot_a_heap_has_bounds)
{
	EACH_LAYOUT(v) {
		struct hotspot_state h;

		make(v);
		h = found();
		CHECK(!hotspot_heap_of(&h, hs.heap_at - 1));
		CHECK(hotspot_heap_of(&h, hs.heap_at));
		CHECK(hotspot_heap_of(&h, hs.heap_end - 1));
		CHECK(!hotspot_heap_of(&h, hs.heap_end));
		/* a block that goes on beyond it */
		hs_put32(made.caller.blob - hs_layout()->block, 1 << 20);
		CHECK(!hotspot_read_blob(&h, hs.heap_end));

		CHECK(heap_is_found(4096, 8192, 8, 7));
		CHECK(heap_is_found(4096, 4096 + HOTSPOT_HEAP_MAX, 8, 7));
		CHECK(!heap_is_found(4096, 4097 + HOTSPOT_HEAP_MAX, 8, 7));
		CHECK(!heap_is_found(8192, 8192, 8, 7));
		CHECK(!heap_is_found(8192, 4096, 8, 7));
		CHECK(!heap_is_found(0, 8192, 8, 7));
		CHECK(!heap_is_found(4104, 8192, 8, 7));
		CHECK(!heap_is_found(4096, 8192, 0, 7));
		CHECK(heap_is_found(4096, 8192, 8, 4));
		CHECK(!heap_is_found(4096, 8192, 8, 3));
		CHECK(heap_is_found(4096, 8192, 8, 16));
		CHECK(!heap_is_found(4096, 8192, 8, 17));
	}
}

/* --- methods --------------------------------------------------------------------------- */

static void expect(struct hotspot_state *h, __u64 method, __u32 bci)
{
	struct hotspot_names names;

	CHECK_EQ(h->method, method);
	CHECK_EQ(h->at, bci);
	CHECK(hotspot_check_method(h, &names));
	CHECK_EQ(names.klass, hs_get(made.klass.klass + hs_layout()->klass_name));
	CHECK_EQ(names.file, hs_get(made.klass.pool + hs_layout()->pool + 8));
	CHECK_EQ(!names.lines, method != made.outer);
	if (names.lines)
		CHECK_EQ(names.lines, hs_bytecode(method) + HS_CODE);
}

/* The methods at a place: exact, or the address that is returned to. */
static struct hotspot_state methods_at(__u64 pc, __u32 exact)
{
	struct hotspot_state h = found();
	struct unwind_state st = at(pc, exact);

	CHECK(hotspot_read_blob(&h, st.pc));
	hotspot_compiled(&h, &st);
	return h;
}

TEST(hotspot_inlined_methods)
{
	EACH_LAYOUT(v) {
		struct hotspot_state h;

		make(v);
		h = methods_at(made.code.code + CALL_AT, 0);
		CHECK(hotspot_next_scope(&h));
		expect(&h, made.inner, 7);
		CHECK(hotspot_next_scope(&h));
		expect(&h, made.outer, 30);
		CHECK(!hotspot_next_scope(&h));
		/* interrupted before the call, and behind it */
		h = methods_at(made.code.code + CALL_AT - 9, EXACT);
		CHECK(hotspot_next_scope(&h));
		expect(&h, made.inner, 7);
		h = methods_at(made.code.code + CALL_AT + 1, EXACT);
		CHECK(hotspot_next_scope(&h));
		expect(&h, made.outer, 50);
		CHECK_EQ(h.scope, 0);
		/* behind the last place: its sentinel has no scope */
		h = methods_at(made.code.code + ALONE_AT + 1, EXACT);
		CHECK_EQ(h.scope, 0);
		CHECK_EQ(h.method, made.outer);
	}
}

#define MANY	120

TEST(hotspot_places_are_many)
{
	static struct hs_place places[MANY];
	struct hs_inlined scopes[MANY];

	EACH_LAYOUT(v) {
		struct hs_blob b;

		make(v);
		for (__u32 n = 1; n <= MANY; n += 17) {
			for (__u32 i = 0; i < n; i++) {
				scopes[i] = (struct hs_inlined){ made.outer, i % HS_CODE };
				places[i] = (struct hs_place){ 4 * i + 4, &scopes[i], 1 };
			}
			b = hs_nmethod("nmethod", made.outer, WORDS, 0, places, n);
			for (__u32 i = 0; i < 4 * n; i++) {
				struct hotspot_state h = methods_at(b.code + i, EXACT);

				CHECK(hotspot_next_scope(&h));
				expect(&h, made.outer, (i ? (i - 1) / 4 : 0) % HS_CODE);
			}
		}
	}
}

TEST(hotspot_numbers)
{
	EACH_LAYOUT(v) {
		struct hotspot_state h = { 0 };

		make(v);
		for (__u32 n = 0; n < 700000; n += n < 13000 ? 1 : 997) {
			__u32 i = 0;
			size_t len = hs_number(h.bytes, n);

			CHECK_EQ(hotspot_number(&h, &i, hs_layout()->unsigned5), n);
			CHECK_EQ(i, len);
		}
	}
}

TEST(hotspot_a_frame_that_is_deoptimized)
{
	EACH_LAYOUT(v) {
		struct hotspot_state h;

		make(v);
		hs_put(SP + 8, made.code.code + CALL_AT);
		h = methods_at(made.code.end - 16, 0);
		CHECK(hotspot_next_scope(&h));
		expect(&h, made.inner, 7);
	}
}

TEST(hotspot_a_method_is_one_only_if_its_class_says_so)
{
	EACH_LAYOUT(v) {
		const struct hotspot_layout *l;
		struct hotspot_names names;
		struct hotspot_state h;
		__u64 own;

		make(v);
		l = hs_layout();
		h = found();
		CHECK(hotspot_read_method(&h, made.plain));
		CHECK(hotspot_check_method(&h, &names));
		/* a pool of another class of which this is not the pool */
		hs_put(made.klass.klass + l->klass_constants, made.klass.pool + 8);
		CHECK(!hotspot_check_method(&h, &names));
		/* methods of the VM's own: the class has another pool, which is its */
		own = hs_alloc(128);
		hs_put(own + l->holder, made.klass.klass);
		hs_put(made.klass.klass + l->klass_constants, own);
		CHECK(hotspot_check_method(&h, &names));
		hs_put32(made.klass.tags, HS_CONSTANTS + 1);
		CHECK(!hotspot_check_method(&h, &names));
		hs_put32(made.klass.tags, HS_CONSTANTS);
		/* a name that is no text */
		*(__u8 *)hs_at(made.klass.tags + 4 + made.klass.n - 2) = 9;
		CHECK(!hotspot_check_method(&h, &names));
		CHECK(hotspot_read_method(&h, made.outer));
		CHECK(hotspot_check_method(&h, &names));
		CHECK(!hotspot_read_method(&h, made.outer + 4));
		CHECK(!hotspot_read_method(&h, 0));
	}
}

/* --- frames ------------------------------------------------------------------------------ */

/* These bytes, with pc where the '|' would be: behind n of them. */
static struct unwind_state code(const char *bytes, int n, int len, __u64 from)
{
	hs_bytes(made.code.code + from, bytes, (size_t)len);
	return at(made.code.code + from + (__u64)n, EXACT);
}

TEST(hotspot_callers_of_compiled_code)
{
	EACH_LAYOUT(v) {
		make(v);
		frame(WORDS - 1);
		expect_caller(at(made.code.code + CALL_AT, 0), SP + 8 * WORDS, 0x1234);
		expect_caller(at(made.code.code + CALL_AT, EXACT), SP + 8 * WORDS, 0x1234);
		/* C2 has pushed something */
		make(v);
		frame(WORDS);
		expect_caller(at(made.code.code + CALL_AT, EXACT), SP + 8 * WORDS + 8, 0x1234);
		/* a native method's */
		make(v);
		frame(3);
		expect_caller(at(made.wrapper.code + CALL_AT, 0), SP + 32, 0x1234);
	}
}

/* push rbp; sub rsp, n; cmp [r15 + 32], 1 */
#define PROLOGUE	"\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x83\xec\x20\x41\x81\x7f\x20\x01\x00\x00\x00"
/* sub rsp, n; mov [rsp + n - 16], rbp */
#define PROLOGUE_2	"\x90\x90\x48\x81\xec\x28\x00\x00\x00\x48\x89\x6c\x24\x20"

TEST(hotspot_prologues)
{
	EACH_LAYOUT(v) {
		__u64 fp = SP + 0x200;

		make(v);
		frame(0);
		expect_caller(code(PROLOGUE, 0, 20, 0), SP + 8, fp);
		expect_caller(code(PROLOGUE, 7, 20, 0), SP + 8, fp);
		frame(1);
		expect_caller(code(PROLOGUE, 8, 20, 0), SP + 16, 0x1234);
		make(v);
		frame(WORDS - 1);
		expect_caller(code(PROLOGUE, 12, 20, 0), SP + 8 * WORDS, 0x1234);
		make(v);
		frame(0);
		expect_caller(code(PROLOGUE_2, 2, 14, 0), SP + 8, fp);
		make(v);
		frame(WORDS - 1);
		expect_caller(code(PROLOGUE_2, 9, 14, 0), SP + 8 * WORDS, fp);
		expect_caller(code(PROLOGUE_2, 14, 14, 0), SP + 8 * WORDS, 0x1234);
	}
}

TEST(hotspot_epilogues)
{
	/* add rsp, n; pop rbp; then what C1 and C2 of different versions do */
	static const struct { const char *bytes; int add, pop, len; } e[] = {
		{ "\x48\x83\xc4\x20\x5d\x49\x3b\xa7\x38\x03\x00\x00\x0f\x87\x00\x00\x00\x00\xc3", 4, 5, 19 },
		{ "\x48\x83\xc4\x20\x5d\x85\x05\x11\x22\x33\x00\xc3", 4, 5, 12 },
		{ "\x48\x83\xc4\x20\x5d\x4d\x8b\x57\x70\x41\x85\x02\xc3", 4, 5, 13 },
		{ "\x48\x83\xc4\x20\x5d\x4d\x8b\x97\x08\x01\x00\x00\x41\x85\x02\xc3", 4, 5, 16 },
		{ "\x48\x83\xc4\x20\x5d\xc3", 4, 5, 6 },
	};
	static const int behind[][4] = {
		{ 5, 12, 18 }, { 5, 11 }, { 5, 9, 12 }, { 5, 12, 15 }, { 5 },
	};

	EACH_LAYOUT(v) {
		for (int i = 0; i < 5; i++) {
			make(v);
			frame(WORDS - 1);
			expect_caller(code(e[i].bytes, 0, e[i].len, 200), SP + 8 * WORDS, 0x1234);
			make(v);
			frame(1);
			expect_caller(code(e[i].bytes, e[i].add, e[i].len, 200), SP + 16, 0x1234);
			make(v);
			frame(0);
			for (int k = 0; k < 4 && behind[i][k]; k++)
				expect_caller(code(e[i].bytes, behind[i][k], e[i].len, 200),
					      SP + 8, SP + 0x200);
		}
		/* a loop's poll is no return */
		make(v);
		frame(WORDS - 1);
		expect_caller(code("\x4d\x8b\x97\x08\x01\x00\x00\x41\x85\x02\xeb\xf0", 0, 12, 200),
			      SP + 8 * WORDS, 0x1234);
	}
}

/* An interpreter's frame at fp. */
static void interpreted(__u64 fp, __u64 method, __u64 bci, __u64 sender_sp)
{
	hs_put(fp, 0x1234);
	hs_put(fp + 8, made.caller.code + 100);
	hs_put(fp - 8 * HOTSPOT_SENDER_SP, sender_sp);
	hs_put(fp - 8 * HOTSPOT_METHOD, method);
	hs_put(fp - 8ULL * hs_layout()->bcp, hs_bytecode(method) + bci);
}

TEST(hotspot_frames_of_the_interpreter)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;
		struct hotspot_state h;

		make(v);
		interpreted(SP + 0x200, made.outer, 33, SP + 0x300);
		st = at(made.interpreter.code + 1000, 0);
		expect_caller(st, SP + 0x300, 0x1234);
		CHECK_EQ(step(&st, &h), STOP_NOT);
		expect(&h, made.outer, 33);
		/* the register says more where it was interrupted */
		st = at(made.interpreter.code + 1000, EXACT);
		st.regs[2] = hs_bytecode(made.outer) + 40;
		CHECK_EQ(step(&st, &h), STOP_NOT);
		expect(&h, made.outer, 40);
		/* or holds something else; and the frame, too */
		st = at(made.interpreter.code + 1000, EXACT);
		st.regs[2] = hs_bytecode(made.outer) + HS_CODE;
		CHECK_EQ(step(&st, &h), STOP_NOT);
		expect(&h, made.outer, 33);
		hs_put(SP + 0x200 - 8ULL * hs_layout()->bcp, SP);
		st = at(made.interpreter.code + 1000, 0);
		CHECK_EQ(step(&st, &h), STOP_NOT);
		expect(&h, made.outer, HOTSPOT_NOWHERE);
		/* an odd sender's sp */
		hs_put(SP + 0x200 - 8 * HOTSPOT_SENDER_SP, SP);
		expect_caller(at(made.interpreter.code + 1000, 0), SP + 0x210, 0x1234);
	}
}

TEST(hotspot_on_the_way_into_the_interpreter)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;

		make(v);
		frame(0);
		st = at(made.interpreter.code + 8, EXACT);
		st.fp = 0;
		st.regs[2] = SP + 0x40;		/* r13 */
		expect_caller(st, SP + 0x40, 0);
		st.regs[2] = 77;
		expect_caller(st, SP + 8, 0);
	}
}

/* Math.sqrt(), called by C1's code, has no frame; rbp is that of an interpreter's
 * frame further up, whose method is one. */
TEST(hotspot_interpreter_without_a_frame)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;
		struct hotspot_state h;

		make(v);
		frame(0);
		interpreted(SP + 0x200, made.outer, 33, SP + 0x300);
		st = at(made.interpreter.code + 8, EXACT);
		st.regs[2] = SP + 0x18;
		expect_caller(st, SP + 0x18, SP + 0x200);
		CHECK_EQ(step(&st, &h), STOP_NOT);
		CHECK_EQ(h.method, 0);
		/* the return address is in rax, locals are pushed */
		hs_put(SP, 0);
		st = at(made.interpreter.code + 8, EXACT);
		st.regs[2] = SP + 0x18;
		st.regs[REG_RESULT] = made.caller.code + 100;
		expect_caller(st, SP + 0x18, SP + 0x200);
		/* rbp is that of its own frame: pushed, then rsp of the caller, too */
		hs_put(SP, 0x1234);
		hs_put(SP + 8, made.caller.code + 100);
		st.fp = SP;
		expect_caller(st, SP + 0x18, 0x1234);
		hs_put(SP - 8, SP + 0x18);
		st.sp = SP - 8;
		expect_caller(st, SP + 0x18, 0x1234);
		/* on the way out rsp of the caller is in rbx */
		make(v);
		frame(0);
		interpreted(SP + 0x200, made.outer, 33, SP + 0x300);
		st = at(made.interpreter.code + 8, EXACT);
		st.regs[2] = hs_bytecode(made.outer) + HS_CODE + 1;
		st.regs[0] = SP + 0x20;
		expect_caller(st, SP + 0x20, SP + 0x200);
	}
}

/* Code between compiled code and the interpreter. */
TEST(hotspot_adapters)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;

		make(v);
		frame(0);
		st = at(made.bare.code + 4, EXACT);
		st.regs[2] = SP + 0x40;		/* of an older call */
		hs_put(SP + 0x38, made.caller.code + 40);	/* the interpreter's */
		expect_caller(st, SP + 8, SP + 0x200);
		hs_put(SP + 0x38, 7);		/* an argument */
		expect_caller(st, SP + 0x40, SP + 0x200);
		hs_put(SP + 0x38, made.caller.code + 100);	/* not yet */
		expect_caller(st, SP + 0x40, SP + 0x200);
		st.regs[2] = SP + 0x48;		/* no step of 16 */
		expect_caller(st, SP + 8, SP + 0x200);
		st.regs[2] = SP + 0x4000;	/* more than there can be */
		expect_caller(st, SP + 8, SP + 0x200);
		/* the return address was popped; then there is room */
		hs_put(SP, 0);
		st.regs[REG_RESULT] = made.caller.code + 100;
		hs_put(SP - 8, made.caller.code + 100);
		st.regs[2] = SP + 0x20;
		expect_caller(st, SP, SP + 0x200);
		st.regs[2] = SP;
		expect_caller(st, SP, SP + 0x200);
		hs_put(SP - 8, 0);
		st.regs[2] = SP + 0x40;
		expect_caller(st, SP + 0x40, SP + 0x200);
		/* it has called the VM */
		hs_put(SP + 0x900, made.caller.code + 100);
		st = at(made.bare.code + 4, 0);
		st.regs[2] = SP + 0x900;
		expect_caller(st, SP + 0x908, SP + 0x200);
	}
}

/* An exception on its way to the caller: rbp is that of an interpreter's frame. */
TEST(hotspot_stub_without_a_frame)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;

		for (int words = 1; words <= 2; words++) {
			make(v);
			hs_bytes(made.stub.code + 4, "\xe8\x01\x02\x03\x04", 5);
			interpreted(SP + 0x200, made.outer, 33, SP + 0x300);
			hs_put(SP + 0x208, made.caller.code + 40);	/* no call before it */
			frame(words - 1);
			hs_bytes(made.caller.code + 95, "\xe8\x01\x02\x03\x04", 5);
			st = at(made.stub.code + 9, 0);
			expect_caller(st, SP + 8 * (__u64)words, SP + 0x200);
			st = at(made.stub.code + 11, EXACT);
			expect_caller(st, SP + 8 * (__u64)words, SP + 0x200);
		}
		/* where it was thrown, in a frame that is whole */
		st.regs[REG_RESULT + 1] = made.code.code + CALL_AT;
		hs_bytes(made.code.code + CALL_AT - 5, "\xe8\x01\x02\x03\x04", 5);
		expect_step(st, made.code.code + CALL_AT - 1, SP, SP + 0x200);
	}
}

/* leave; cmp [r15 + n], 0; jne; ret */
#define WRAPPER_END	"\xc9\x49\x83\x7f\x08\x00\x0f\x85\x00\x00\x00\x00\xc3"
#define WRAPPER_END_2	"\xc9\x49\x83\xbf\x08\x01\x00\x00\x00\x75\x08\xc3"

TEST(hotspot_wrapper_that_returns)
{
	EACH_LAYOUT(v) {
		static const int places[] = { 1, 6, 12 }, places_2[] = { 1, 9, 11 };

		make(v);
		frame(0);
		for (int i = 0; i < 3; i++) {
			hs_bytes(made.wrapper.code + 200, WRAPPER_END, 13);
			expect_caller(at(made.wrapper.code + 200 + (__u64)places[i], EXACT), SP + 8, SP + 0x200);
			hs_bytes(made.wrapper.code + 200, WRAPPER_END_2, 12);
			expect_caller(at(made.wrapper.code + 200 + (__u64)places_2[i], EXACT), SP + 8, SP + 0x200);
		}
		make(v);
		frame(3);
		hs_bytes(made.wrapper.code + 200, WRAPPER_END, 13);
		expect_caller(at(made.wrapper.code + 200, EXACT), SP + 32, 0x1234);
	}
}

TEST(hotspot_stubs)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;
		struct hotspot_state h;

		make(v);
		frame(0);
		expect_caller(at(made.bare.code + 4, EXACT), SP + 8, SP + 0x200);
		/* by rbp, if that says nothing else: what is not done here */
		make(v);
		hs_bytes(made.stub.code + 4, "\xe8\x01\x02\x03\x04", 5);
		frame(4);
		st = at(made.stub.code + 9, 0);
		CHECK_EQ(step(&st, &h), STOP_ANON);
		CHECK_EQ(st.depth, 0);
		/* also if it has an address of code on the stack, which nothing returns to */
		hs_put(SP, made.caller.code + 40);
		hs_put(SP + 8, made.caller.code + 60);
		st = at(made.stub.code + 9, 0);
		CHECK_EQ(step(&st, &h), STOP_ANON);
		hs_put(SP + 8, 0);
		/* the VM's own call into Java: of what it saved one word may be code */
		hs_bytes(made.bare.code + 16, "\xff\xd0", 2);
		hs_put(SP + 0x208, made.bare.code + 18);
		frame(1);
		CHECK_EQ(step(&st, &h), STOP_ANON);
		hs_put(SP + 0x208, 0);
		/* interrupted, with words pushed */
		frame(2);
		hs_put(SP, 0);
		expect_caller(at(made.stub.code + 9, EXACT), SP + 24, SP + 0x200);
		/* the barrier at the entry of methods */
		make(v);
		hs_put(SP + 0x200, 0x1234);
		hs_put(SP + 0x208, ~0ULL);
		hs_put(SP + 0x210, made.caller.code + 100);
		expect_caller(at(made.stub.code + 9, 0), SP + 0x218, 0x1234);
	}
}

/* Where nothing calls, a continuation's frame returns to. */
TEST(hotspot_virtual_threads)
{
	EACH_LAYOUT(v) {
		make(v);
		frame(9);
		expect_caller(at(made.stub.code + 9, 0), SP + 80, 0x1234);
	}
}

TEST(hotspot_scopes_in_a_circle_end)
{
	EACH_LAYOUT(v) {
		struct hotspot_state h;
		__u8 *b;

		make(v);
		h = methods_at(made.code.code + CALL_AT, 0);
		b = hs_at(h.scopes + h.scope);
		for (__u32 sender = h.scope; sender < h.scope + 2; sender++) {
			struct hotspot_state again = h;

			hs_number(b, sender);
			CHECK(hotspot_next_scope(&again));
			CHECK_EQ(again.scope, 0);
		}
	}
}

/* Nor may anything be behind the last place. */
TEST(hotspot_places_where_memory_ends)
{
	EACH_LAYOUT(v) {
		struct unwind_state st = { .pc = 0 };
		struct hotspot_state h;

		make(v);
		st.pc = made.code.code + CALL_AT - 1;
		h = found();
		CHECK(hotspot_read_blob(&h, st.pc));
		readable = hotspot_member(&h, hs_layout(), &hs_layout()->pcs_end) - BASE;
		hotspot_compiled(&h, &st);
		CHECK(h.scope);
	}
}

/* What lies behind the metadata, or the scopes, is neither. */
TEST(hotspot_sections_have_an_end)
{
	EACH_LAYOUT(v) {
		struct hotspot_state h, again;

		make(v);
		h = again = methods_at(made.code.code + CALL_AT, 0);
		again.metadata_end = again.metadata;
		CHECK(!hotspot_next_scope(&again));
		again = h;
		again.scopes_end = again.scopes + again.scope;
		CHECK(!hotspot_next_scope(&again));
	}
}

/* --- the adversary ------------------------------------------------------------------------ */

static __u64 any_word(void)
{
	switch (below(8)) {
	case 0:
		return next_random();
	case 1:
		return below(4096);
	case 2:
		return hs.heap_at + below(HEAP);
	default:
		return BASE + below(SIZE) / 8 * 8;
	}
}

/* All of it, at any place: ends, reads a bounded number of times, and on any outcome
 * but STOP_NOT the state is as it was. */
static void any_step(struct hotspot_state *h)
{
	struct unwind_state st = at(hs.heap_at + below(HEAP), below(2)), was;
	struct hotspot_names names;
	enum stop_reason why;

	st.sp = STACK + 8 * below(4096);
	st.fp = below(4) ? st.sp + 8 * below(64) : any_word();
	for (int i = 0; i < REGS_MAX; i++)
		st.regs[i] = any_word();
	was = st;
	n_reads = 0;
	if (!hotspot_read_blob(h, st.pc)) {
		CHECK(n_reads <= HOTSPOT_HOPS + 3);
		return;
	}
	if (h->kind == HOTSPOT_INTERPRETER && !hotspot_interpreted(h, &st))
		h->method = 0;
	if (h->kind >= HOTSPOT_COMPILED)
		hotspot_compiled(h, &st);
	for (int i = 0; i < FRAMES_MAX && hotspot_next_scope(h); i++)
		hotspot_check_method(h, &names);
	n_reads = 0;
	why = hotspot_caller(h, &st);
	CHECK(n_reads < 40);
	if (why == STOP_NOT)
		CHECK(st.sp >= was.sp + !was.exact && !st.exact && st.depth == 1);
	else
		CHECK(st.pc == was.pc && st.sp == was.sp && st.fp == was.fp && !st.depth);
}

TEST(hotspot_memory_that_lies)
{
	unsigned long found_some = 0;

	EACH_LAYOUT(v) {
		for (int round = 0; round < 60; round++) {
			struct hotspot_state h;

			make(v);
			for (__u32 i = 0; i < 1u << below(15); i++)
				hs_put(BASE + below(SIZE) / 8 * 8, any_word());
			readable = below(2) ? SIZE : below(SIZE);
			h = found();
			CHECK(h.vm.n <= HOTSPOT_HEAPS);
			found_some += h.vm.n;
			for (int i = 0; i < 300; i++)
				any_step(&h);
		}
	}
	CHECK(found_some > 100);
}
