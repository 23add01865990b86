/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costly_memory - a process whose memory makes one sample as dear as it can be
 *
 * At fixed addresses of this very process, so that a test can walk it on the host and a
 * bench have it sampled.  Pages of HOLES that were never touched are not there for BPF,
 * which cannot wait for them: such a read fails, and costs most of all.
 * To be included after bpf/hotspot_read.bpf.h and bpf/python_read.bpf.h.
 */
#ifndef TESTS_COSTLY_MEMORY_H
#define TESTS_COSTLY_MEMORY_H

#include <sys/mman.h>

#include "bpf/runtime.h"
#include "symbolizerd/unwind/table.h"
#include "tests/unit/harness.h"
#include "tests/unit/hotspot_memory.h"
#include "tests/unit/python_memory.h"

#define COSTLY		0x200000000000ULL
#define MIB		(1ULL << 20)
#define PAGE		4096ULL
#define OBJECTS		COSTLY
#define OBJECTS_BYTES	(4 * MIB)
#define CODE		(COSTLY + 16 * MIB)	/* two blocks of HotSpot's code heap */
#define BLOCK		(256ULL << 10)
#define SEGMAP		(COSTLY + 32 * MIB)
#define SEGMENTS	(2 * BLOCK >> SEGMENT)
#define SEGMENT		4			/* its size: 16 bytes */
#define PCS		(COSTLY + 64 * MIB)	/* PcDesc[] */
#define PCS_BYTES	(16 * MIB)
#define SCOPES		(PCS + PCS_BYTES)	/* behind them, or at .data */
#define FILE_AT		(COSTLY + 128 * MIB)	/* mapped by who includes this */
#define FILE_BYTES	MIB
#define LOOP_AT		0x10000ULL		/* in it: CPython's loop */
#define SIGNAL_AT	0x20000ULL		/* a signal's frame */
#define HOLES		(COSTLY + 256 * MIB)	/* each second page is none */
#define HOLES_N		2200ULL
#define HOLES_BYTES	(2 * PAGE * HOLES_N)

static const struct costly_region {
	__u64 at, bytes;
} costly_regions[] = {
	{ OBJECTS, OBJECTS_BYTES }, { CODE, 2 * BLOCK }, { SEGMAP, SEGMENTS },
	{ PCS, PCS_BYTES + PAGE }, { HOLES, HOLES_BYTES },
};
#define COSTLY_REGIONS	(sizeof(costly_regions) / sizeof(*costly_regions))

/* The end of a page with a hole behind it. */
static inline __u64 costly_edge(__u64 i)
{
	return HOLES + 2 * PAGE * i + PAGE;
}

static inline void costly_map(void)
{
	for (size_t i = 0; i < COSTLY_REGIONS; i++) {
		const struct costly_region *r = &costly_regions[i];
		void *p = mmap((void *)r->at, r->bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

		CHECK(p == (void *)r->at);
		/* no huge pages: they would fill the holes */
		madvise(p, r->bytes, MADV_NOHUGEPAGE);
	}
}

/* A process, and where its thread stands. */
struct costly {
	enum runtime runtime;		/* of the file */
	__u32 version;
	__u64 root, pc, sp, fp;
};

/* The table of the file. */
static inline void *costly_table(const struct costly *c, size_t *len)
{
	static const struct unwind_rule loop = {
		.cfa = CFA_SP, .cfa_off = 16, .ra_off = -8, .by_fp = RULE_LOOP,
	};
	static const struct unwind_rule signal = { .cfa = CFA_SIGNAL };
	__u64 from = c->root - FILE_AT;
	struct unwind_rule facts = {
		.cfa = CFA_RUNTIME, .cfa_off = (__s32)c->version,
		.ra_off = (__s32)from, .fp_off = (__s32)(from >> 32),
	};
	struct table_builder b;
	void *table;

	CHECK_EQ(table_builder_init(&b), 0);
	CHECK_EQ(table_builder_add(&b, 0, 1, &facts), 0);
	CHECK_EQ(table_builder_add(&b, LOOP_AT, LOOP_AT + 64, &loop), 0);
	CHECK_EQ(table_builder_add(&b, SIGNAL_AT, SIGNAL_AT + 64, &signal), 0);
	CHECK_EQ(table_builder_finish(&b, &table, len), 0);
	table_builder_fini(&b);
	return table;
}

/* --- HotSpot ---------------------------------------------------------------------- */

/* Methods whose names are all there but the last one that is looked at. */
static inline __u64 costly_method(void)
{
	const struct hotspot_layout *l = hs_layout();
	struct hs_class c = hs_class("a/b/C", "C.java"), other = hs_class("a/b/C", NULL);
	__u64 method = hs_method(&c, "name", "()V", "\x0a");

	/* its class has another pool, which names the class */
	hs_put(c.klass + l->klass_constants, other.pool);
	hs_put(other.pool + l->holder, c.klass);
	*(__u8 *)hs_at(c.tags + 4 + c.n - 1) = 0;	/* the signature's */
	return method;
}

/* As many steps as there can be from here to the begin of a block. */
static inline void costly_segments(void)
{
	__u8 *map = (void *)SEGMAP;

	for (__u64 i = 0; i < SEGMENTS; i++) {
		__u64 back = i % (BLOCK >> SEGMENT);

		map[i] = back < 254 ? (__u8)back : 254;
	}
}

/* The search for a place goes through all of them, to the first. */
static inline void costly_pcs(__u32 scope)
{
	const __u32 size = hs_layout()->pc_desc;

	for (__u64 at = PCS; at < PCS + PCS_BYTES; at += size)
		memcpy((void *)at, (__u32[]){ INT32_MAX, scope }, 8);
}

#define COSTLY_SCOPE	16

static inline __u64 costly_blob(int i, __u64 method)
{
	const struct hotspot_layout *l = hs_layout();
	__u64 block = CODE + (__u64)i * BLOCK, blob = block + l->block, code = blob + 512;
	__u64 pc = block + ((__u64)(HOTSPOT_HOPS - 1) * 254 << SEGMENT) + 8;
	__u64 data = hs_alloc(512), text = hs_alloc(16), scopes = data + 256;

	strcpy(hs_at(text), "nmethod");		/* each its own */
	*(__u32 *)block = BLOCK >> SEGMENT;
	*(__u8 *)(block + l->used) = 1;
	hs_put(blob + l->name, text);
	hs_put32(blob + l->frame_size, 0);
	hs_put(blob + l->method, method);
	if (l->immutable) {
		hs_put(blob + l->immutable, data);
		hs_put(blob + l->mutable, data);
	}
	hs_member(blob, &l->code, code, code);
	hs_member(blob, &l->deopt, pc, code);	/* so the stack has the address */
	hs_bytes(blob + l->orig_pc.field, &(__s32){ -8 }, 4);
	if (l->scopes.field == l->pcs_end.field)
		scopes = SCOPES;
	hs_member(blob, &l->metadata, data, code);
	hs_member(blob, &l->metadata_end, data + 256, code);
	hs_member(blob, &l->scopes, scopes, code);
	hs_member(blob, &l->scopes_end, scopes + 256, code);
	/* where the end of one is the begin of the next, these count */
	hs_member(blob, &l->pcs, PCS, code);
	hs_member(blob, &l->pcs_end, PCS + PCS_BYTES, code);
	hs_put(data, method);
	/* no sender, the first method, bci 0 */
	memcpy((void *)(scopes + COSTLY_SCOPE),
	       (__u8[]){ l->unsigned5, (__u8)(1 + l->unsigned5), (__u8)(1 + l->unsigned5) }, 3);
	return pc;
}

/* A chain of frame pointers from edge to edge. */
static inline void costly_chain(const __u64 *pc)
{
	for (__u64 i = 0; i < HOLES_N; i++) {
		__u64 *pair = (void *)(costly_edge(i) - 16);

		pair[0] = i + 1 < HOLES_N ? costly_edge(i + 1) - 16 : 0;
		pair[1] = pc[(i + 1) & 1];
	}
}

static inline struct costly costly_hotspot(__u32 version)
{
	struct costly c = { RUNTIME_HOTSPOT, version, 0, 0, costly_edge(0), costly_edge(1) - 16 };
	const struct hotspot_layout *l;
	__u64 heap, pc[2];

	hs = (struct hs_memory){ .start = OBJECTS, .b = (char *)OBJECTS,
				 .size = OBJECTS_BYTES, .version = version };
	l = hs_layout();
	memset((void *)OBJECTS, 0, OBJECTS_BYTES);
	memset((void *)CODE, 0, 2 * BLOCK);
	c.root = hs_code_cache_at(CODE, 2 * BLOCK, (char *)CODE);
	heap = hs_get(c.root);
	if (l->heaps)
		heap = hs_get(hs_get(heap + l->heaps));
	hs_put(heap + l->segmap, SEGMAP);
	hs_put32(heap + l->shift, SEGMENT);
	costly_segments();
	costly_pcs(COSTLY_SCOPE);
	for (int i = 0; i < 2; i++)
		pc[i] = costly_blob(i, costly_method());
	costly_chain(pc);
	c.pc = pc[0];
	return c;
}

/* --- CPython ---------------------------------------------------------------------- */

#define COSTLY_FRAMES	128	/* in a circle: more than have their names sent */
#define COSTLY_THREAD	(PYTHON_THREADS_MAX - 1)	/* its place in the list */

/* A type whose name is on a page that is not there, so that all else of it is compared;
 * i: which hole. */
static inline __u64 costly_type(__u64 i, __u64 size, const struct py_kind *kind)
{
	return py_type_named(costly_edge(i) + 64, size, kind);
}

struct costly_types {
	__u64 code, str, bytes;
};

static inline struct costly_types costly_types(__u64 i)
{
	const struct py_kind code = py_code_kind();
	__u64 bytes = py_layout()->length + PYTHON_BYTES_DATA + 1u;

	return (struct costly_types){
		costly_type(i, python_lines_table[py.version].basic, &code),
		costly_type(i + 1, py_str_size(), &py_str_kind),
		costly_type(i + 2, bytes, &py_bytes_kind),
	};
}

/* A string, or a table of lines, of which a part of the text is not there. */
static inline __u64 costly_text(__u64 type, __u64 hole)
{
	const struct python_layout *l = py_layout();
	__u64 at = costly_edge(hole) - PYTHON_STR_BYTES, n = 64;
	__u32 state = (1u | 1u << 3 | 1u << 4) << l->interned;

	memcpy((void *)(at + l->ob_type), &type, 8);
	memcpy((void *)(at + l->length), &n, 8);
	if (l->state + sizeof(state) <= PYTHON_STR_BYTES)
		memcpy((void *)(at + l->state), &state, sizeof(state));
	return at;
}

/* A frame of which no more can be read than there must be. */
static inline void costly_frame(__u64 i, __u64 code)
{
	const struct python_lines *t = &python_lines_table[py.version];
	const struct python_layout *l = py_layout();
	__u64 at = costly_edge(i) - PYTHON_FRAME_LEAST;
	__u64 next = costly_edge((i + 1) % COSTLY_FRAMES) - PYTHON_FRAME_LEAST;

	memset((void *)at, 0, PYTHON_FRAME_LEAST);
	memcpy((void *)(at + l->previous), &next, 8);
	memcpy((void *)(at + l->code), &code, 8);
	if (t->copies)
		memcpy((void *)(at + t->copy), &(__u32){ 1 }, 4);
}

/* The list of threads has ours in the last place that is looked at. */
static inline __u64 costly_runtime(__u64 tp)
{
	const struct python_layout *l = py_layout();
	__u64 root = py_runtime(UINT32_MAX, py_thread(tp, costly_edge(0) - PYTHON_FRAME_LEAST));
	__u64 last = py_get(root + l->interpreters);

	for (int i = 0; i < COSTLY_THREAD; i++) {
		__u64 interpreter = py_alloc(8192);

		py_put(interpreter + l->threads, py_thread(tp, 0));
		py_put(interpreter + l->next_interp, last);
		last = interpreter;
	}
	py_put(root + l->interpreters, last);
	return root;
}

/* A function whose types are not those of the one before. */
static inline __u64 costly_code(__u64 i, const struct costly_types *types)
{
	const struct python_lines *t = &python_lines_table[py.version];
	__u64 hole = COSTLY_FRAMES + 3 * i, code, array;

	code = py_code(types[i & 1].code, costly_text(types[0].str, hole),
		       costly_text(types[1].str, hole + 1),
		       costly_text(types[i & 1].bytes, hole + 2), 1);
	if (t->copies) {
		array = py_alloc(64);
		py_put(array, 2);
		py_put(code + t->copies, array);
	}
	return code;
}

static inline struct costly costly_python(__u32 version, __u64 tp)
{
	struct costly c = { RUNTIME_PYTHON, version, 0, FILE_AT + LOOP_AT + 8, PCS, 0 };
	struct costly_types types[2];

	memset((void *)OBJECTS, 0, OBJECTS_BYTES);
	py = (struct py_memory){ .start = OBJECTS, .b = (char *)OBJECTS,
				 .size = OBJECTS_BYTES, .version = version };
	types[0] = costly_types(HOLES_N - 4);
	types[1] = costly_types(HOLES_N - 8);
	for (__u64 i = 0; i < COSTLY_FRAMES; i++)
		costly_frame(i, costly_code(i, types));
	/* each frame of the loop returns into it */
	for (__u64 at = PCS; at < PCS + PCS_BYTES; at += 8)
		*(__u64 *)at = c.pc + 1;
	c.root = costly_runtime(tp);
	return c;
}

/* --- signals -------------------------------------------------------------------- */

/* Frames of signals, one below the other, that lead to themselves. */
static inline struct costly costly_signals(void)
{
	struct costly c = { RUNTIME_NONE, 0, FILE_AT, FILE_AT + SIGNAL_AT, OBJECTS, 0 };
	__u64 at = c.sp + SIG_REGS;

	memset((void *)OBJECTS, 0, PAGE);
	*(__u64 *)(at + 8 * SIG_PC) = c.pc;
	*(__u64 *)(at + 8 * SIG_SP) = c.sp;
	return c;
}

#endif /* TESTS_COSTLY_MEMORY_H */
