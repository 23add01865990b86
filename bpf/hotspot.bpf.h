/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot - from an address in HotSpot's code cache to the methods that run there,
 * and to the caller's frame
 *
 * Pure functions that read memory only through bpf_probe_read_user(): for the
 * kernel and for the host.  x86-64.  All that is read was written by the profiled
 * process, and where to begin may have been chosen by an adversary: so nothing is
 * believed to be a method unless the objects around it agree (hotspot_believe()).
 *
 * How code is found: src/hotspot/share/memory/heap.cpp, CodeHeap::find_start();
 * what a frame looks like: src/hotspot/cpu/x86/frame_x86.hpp; inlined methods:
 * src/hotspot/share/code/{pcDesc,scopeDesc}.cpp.
 */
#ifndef BPF_HOTSPOT_BPF_H
#define BPF_HOTSPOT_BPF_H

#include <bpf/bpf_helpers.h>

#include "hotspot.h"
#include "unwind.bpf.h"
#include "user.bpf.h"

#define HOTSPOT_HEAPS		4	/* code heaps of a process */
#define HOTSPOT_HEAP_MAX	(1ULL << 32)	/* bytes of one */
#define HOTSPOT_HOPS		64	/* in the segment map: 2 MiB of code */
#define HOTSPOT_BLOB_READ	384	/* bytes of a block: all of a nmethod's head */
#define HOTSPOT_BLOB_LEAST	128	/* of any block; where the heap ends */
#define HOTSPOT_PCS_MAX		(1 << 20)	/* PcDescs of a method */
#define HOTSPOT_PCS_CHUNK	16	/* looked at in one read */
#define HOTSPOT_PUSHED		6	/* words beyond the frame of interrupted code */
#define HOTSPOT_FRAME_MAX	(1 << 17)	/* words */
#define HOTSPOT_CONST_READ	48	/* bytes of a ConstMethod that are looked at */
#define HOTSPOT_CONST_MAX	(1 << 15)	/* words of a ConstMethod: more is of another
					 * version, which has something else there */

static const struct hotspot_layout hotspot_layouts[HOTSPOT_LAYOUTS] =
	HOTSPOT_LAYOUT_TABLE;

struct hotspot_heap {
	__u64 low, high, segmap;
	__u32 shift, pad;
};

/* What is the same for all samples of a process. */
struct hotspot_vm {
	__u32 version;		/* which layout; 0: none */
	__u32 n;		/* heaps */
	struct hotspot_heap heap[HOTSPOT_HEAPS];
};

enum hotspot_kind {
	HOTSPOT_NONE = 0,	/* not in the code cache, or nothing that we know */
	HOTSPOT_STUB,		/* code of the VM's own, by frame size or rbp */
	HOTSPOT_BARE,		/* ... that has no frame */
	HOTSPOT_INTERPRETER,
	HOTSPOT_COMPILED,
	HOTSPOT_WRAPPER,	/* of a native method */
};

/* Of struct hotspot_state: .inside. */
#define HOTSPOT_FIRST	1	/* no method of this frame was appended yet */
#define HOTSPOT_MORE	2	/* callers that it is inlined into are next */

/* What must be 0 when a sample begins. */
#define HOTSPOT_STATE_BEGIN	__builtin_offsetof(struct hotspot_state, vm)

struct hotspot_state {
	__u32 known;		/* .vm was looked up */
	__u32 inside;		/* 0, or one of the above */
	__u32 kind;		/* enum hotspot_kind, of the code at hand */
	__u32 compiled_frames;
	__u64 compiled_name;	/* CodeBlob._name, as met */
	__u64 interpreter_name;
	struct hotspot_vm vm;
	/* the code at hand */
	__u64 blob;
	__u64 code;		/* where its instructions begin */
	__u64 pc;		/* in it, or the address that it is returned to */
	__u64 scopes, scopes_end, metadata, metadata_end;
	__u64 scope;		/* the next one, from .scopes on; 0: none */
	/* the method at hand */
	__u64 method;
	__u64 constants;
	__u64 bcp;		/* of the interpreter */
	__u64 alike;		/* where this differs methods differ */
	__u32 code_size;	/* bytes */
	__u32 at;		/* bci; HOTSPOT_NOWHERE */
	union {			/* what was read last */
		__u64 heap_words[HOTSPOT_HEAP_BYTES / 8];
		__u64 blob_words[128];	/* the block's head first */
		__u8 code_bytes[64];
	};
	union {
		__u64 const_words[HOTSPOT_CONST_BYTES / 8];
		__u32 pcs[HOTSPOT_PCS_CHUNK * 4];
		__u8 bytes[64];
	};
	__u64 pool_words[HOTSPOT_POOL_BYTES / 8];
};

#define HOTSPOT_NOWHERE	(~0U)
/* An aligned word of what was read. */
#define HOTSPOT_WORD(words, at) ((words)[((at) >> 3) & (sizeof(words) / 8 - 1)])
/* Two or four bytes of it. */
#define HOTSPOT_U32(words, at)						\
	((__u32)(HOTSPOT_WORD(words, at) >> (8 * ((at) & 4))))
#define HOTSPOT_U16(words, at)						\
	((__u16)(HOTSPOT_WORD(words, at) >> (8 * ((at) & 6))))

static __always_inline const struct hotspot_layout *hotspot_layout(__u64 version)
{
	/* the compiler may know better, the verifier does not */
	asm volatile("" : "+r"(version));
	return &hotspot_layouts[version & (HOTSPOT_LAYOUTS - 1)];
}

static __always_inline int hotspot_knows(__u32 version)
{
	return version < HOTSPOT_LAYOUTS && hotspot_layout(version)->code_at;
}

/* --- the code heaps ----------------------------------------------------------------- */

/* One of the CodeHeaps; false: it is none. */
static __always_inline int hotspot_heap(struct hotspot_state *h,
					const struct hotspot_layout *l, __u64 at,
					struct hotspot_heap *ret)
{
	if (!at || bpf_probe_read_user(h->heap_words, sizeof(h->heap_words),
				       (void *)at))
		return 0;
	ret->low = HOTSPOT_WORD(h->heap_words, l->memory);
	ret->high = HOTSPOT_WORD(h->heap_words, l->memory + 8);
	ret->segmap = HOTSPOT_WORD(h->heap_words, l->segmap);
	ret->shift = HOTSPOT_U32(h->heap_words, l->shift);
	return ret->low && !(ret->low & 4095) && ret->high > ret->low &&
	       ret->high - ret->low <= HOTSPOT_HEAP_MAX && ret->segmap &&
	       ret->shift >= 4 && ret->shift <= 16;
}

/* Fill h->vm: root is the address of the variable that leads to the heaps. */
static __always_inline void hotspot_find(struct hotspot_state *h, __u32 version,
					 __u64 root)
{
	const struct hotspot_layout *l = hotspot_layout(version);
	__u64 list = user_word(root), data = 0;
	__u32 n = 1;

	h->vm.version = 0;
	h->vm.n = 0;
	if (!list)
		return;
	if (l->heaps) {
		n = user_u32(list);
		data = user_word(list + l->heaps);
	}
	for (__u32 i = 0; i < HOTSPOT_HEAPS; i++) {
		__u64 at = l->heaps ? user_word(data + 8 * i) : list;

		if (i >= n || !hotspot_heap(h, l, at, &h->vm.heap[i]))
			break;
		h->vm.n = i + 1;
	}
	if (h->vm.n)
		h->vm.version = version;
}

static __always_inline const struct hotspot_heap *
hotspot_heap_of(const struct hotspot_state *h, __u64 pc)
{
	for (__u32 i = 0; i < HOTSPOT_HEAPS; i++) {
		if (i < h->vm.n && pc >= h->vm.heap[i].low &&
		    pc < h->vm.heap[i].high)
			return &h->vm.heap[i];
	}
	return NULL;
}

/*
 * Where the block begins that holds pc, by the segment map: a byte says how many
 * segments it is at least to there; 0: here; 255: the block is free.
 */
static __always_inline __u64 hotspot_block(const struct hotspot_heap *heap,
					   __u64 pc)
{
	__u64 seg = (pc - heap->low) >> (heap->shift & 31);
	__u8 back = 255;

	for (int i = 0; i < HOTSPOT_HOPS; i++) {
		if (bpf_probe_read_user(&back, 1, (void *)(heap->segmap + seg)) ||
		    back == 255 || back > seg)
			return 0;
		if (!back)
			return heap->low + (seg << (heap->shift & 31));
		seg -= back;
	}
	return 0;
}

#define HOTSPOT_TEXT(a, b, c, d, e, f, g, h)				\
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 |	\
	 (__u64)(e) << 32 | (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

/* By the first eight bytes of its name. */
static __always_inline enum hotspot_kind hotspot_kind_of(struct hotspot_state *h,
							 __u64 name)
{
	if (name == h->compiled_name && name)
		return HOTSPOT_COMPILED;
	if (name == h->interpreter_name && name)
		return HOTSPOT_INTERPRETER;
	switch (user_word(name)) {
	case HOTSPOT_TEXT('n', 'm', 'e', 't', 'h', 'o', 'd', 0):
		h->compiled_name = name;
		return HOTSPOT_COMPILED;
	case HOTSPOT_TEXT('n', 'a', 't', 'i', 'v', 'e', ' ', 'n'):
		return HOTSPOT_WRAPPER;
	case HOTSPOT_TEXT('I', 'n', 't', 'e', 'r', 'p', 'r', 'e'):
		h->interpreter_name = name;
		return HOTSPOT_INTERPRETER;
	case HOTSPOT_TEXT('v', 't', 'a', 'b', 'l', 'e', ' ', 'c'):
	case HOTSPOT_TEXT('I', '2', 'C', '/', 'C', '2', 'I', ' '):
	case HOTSPOT_TEXT('M', 'e', 't', 'h', 'o', 'd', 'H', 'a'):
		return HOTSPOT_BARE;
	default:
		return HOTSPOT_STUB;
	}
}

#define HOTSPOT_BLOB_AT(h, l, at) HOTSPOT_WORD((h)->blob_words, (l)->block + (at))

static __always_inline __u64 hotspot_get(const struct hotspot_state *h,
					 const struct hotspot_layout *l,
					 const struct hotspot_at *a)
{
	__u64 v = HOTSPOT_BLOB_AT(h, l, a->field) >> (8 * (a->field & 7));

	if (a->bytes == 2)
		v = (__u64)(__s64)(__s16)v;
	else if (a->bytes == 4)
		v = (__u64)(__s64)(__s32)v;
	if (a->from == HOTSPOT_BLOB)
		v += h->blob;
	else if (a->from == HOTSPOT_CODE)
		v += h->code;
	else if (a->from == HOTSPOT_IMMUTABLE)
		v += HOTSPOT_BLOB_AT(h, l, l->immutable);
	else if (a->from == HOTSPOT_MUTABLE)
		v += HOTSPOT_BLOB_AT(h, l, l->mutable);
	return v;
}

/* Read the CodeBlob that holds pc into h->blob_words; sets .kind, .blob, .code.
 * False: it is not in the code cache, or not what it should be. */
static __always_inline int hotspot_read_blob(struct hotspot_state *h, __u64 pc)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	const struct hotspot_heap *heap = hotspot_heap_of(h, pc);
	__u64 block = heap ? hotspot_block(heap, pc) : 0, len, used;

	h->kind = HOTSPOT_NONE;
	if (!block)
		return 0;
	if (bpf_probe_read_user(h->blob_words, HOTSPOT_BLOB_READ, (void *)block) &&
	    bpf_probe_read_user(h->blob_words, HOTSPOT_BLOB_LEAST, (void *)block))
		return 0;
	/* HeapBlock::Header: _length, in segments; _used */
	len = (__u32)h->blob_words[0];
	used = HOTSPOT_WORD(h->blob_words, l->used) >> (8 * (l->used & 7)) & 0xff;
	if (used != 1 || pc - block >= len << (heap->shift & 31))
		return 0;
	h->blob = block + l->block;
	h->code = hotspot_get(h, l, &l->code);
	h->kind = hotspot_kind_of(h, HOTSPOT_BLOB_AT(h, l, l->name));
	return 1;
}

/* --- the caller's frame --------------------------------------------------------------- */

#define IS3(b, i, x, y, z)						\
	((b)[(i) & 63] == (x) && (b)[((i) + 1) & 63] == (y) &&		\
	 (b)[((i) + 2) & 63] == (z))

/* h->code_bytes has 32 bytes before pc, and 16 from there on. */
#define HERE	32

/* Behind the frame, which is gone, only the poll for a safepoint is left, or the
 * return itself.  C1 and C2; JDK 16 and later compare rsp with a word of the
 * thread; before that a page is read, as loops do until today. */
static __always_inline int hotspot_returns(const __u8 *b)
{
	if (b[HERE] == 0xc3)					/* ret */
		return 1;
	if (IS3(b, HERE, 0x49, 0x3b, 0xa7) || IS3(b, HERE, 0x49, 0x3b, 0x67))
		return 1;				/* cmp rsp, [r15 + n] */
	if (b[HERE] == 0x0f && b[HERE + 1] == 0x87 &&		/* ja, behind that */
	    (IS3(b, HERE - 7, 0x49, 0x3b, 0xa7) ||
	     IS3(b, HERE - 4, 0x49, 0x3b, 0x67)))
		return 1;
	if (IS3(b, HERE, 0x41, 0x85, 0x02) && b[HERE + 3] == 0xc3)
		return 1;				/* test [r10], eax; ret */
	if (b[HERE] == 0x85 && b[HERE + 1] == 0x05 && b[HERE + 6] == 0xc3)
		return 1;				/* test [rip + n], eax; ret */
	if (IS3(b, HERE, 0x4d, 0x8b, 0x57) && IS3(b, HERE + 4, 0x41, 0x85, 0x02) &&
	    b[HERE + 7] == 0xc3)
		return 1;				/* mov r10, [r15 + n]; ... */
	return IS3(b, HERE, 0x4d, 0x8b, 0x97) && IS3(b, HERE + 7, 0x41, 0x85, 0x02) &&
	       b[HERE + 10] == 0xc3;
}

/* The same of a native method's wrapper: leave; cmp [r15 + n], 0; jne; ret. */
static __always_inline int hotspot_wrapper_returns(const __u8 *b)
{
	if (IS3(b, HERE, 0x49, 0x83, 0xbf) || IS3(b, HERE, 0x49, 0x83, 0x7f))
		return b[HERE - 1] == 0xc9;
	return (b[HERE] == 0x0f || b[HERE] == 0x75) &&
	       ((b[HERE - 9] == 0xc9 && IS3(b, HERE - 8, 0x49, 0x83, 0xbf)) ||
		(b[HERE - 6] == 0xc9 && IS3(b, HERE - 5, 0x49, 0x83, 0x7f)));
}

/* sub rsp, n: 1 if it begins at b[i] */
#define IS_SUB(b, i)	(IS3(b, i, 0x48, 0x83, 0xec) || IS3(b, i, 0x48, 0x81, 0xec))
/* mov rbp, rsp */
#define IS_MOV(b, i)	(IS3(b, i, 0x48, 0x8b, 0xec) || IS3(b, i, 0x48, 0x89, 0xe5))

enum hotspot_made {
	MADE_ALL,		/* the frame is whole */
	MADE_NOT,		/* the return address is at rsp */
	MADE_RBP,		/* rbp is at rsp, the return address above */
	MADE_NO_RBP,		/* whole, but rbp is not yet saved */
};

/* Before frame_complete: what of the frame is there?  MacroAssembler::
 * verified_entry(): push rbp (mov rbp, rsp) sub rsp, n; or sub rsp, n and rbp is
 * stored.  Behind that may be a barrier, which belongs to it. */
static __always_inline enum hotspot_made hotspot_prologue(const __u8 *b)
{
	if (b[HERE - 1] == 0x55 && (IS_SUB(b, HERE) || IS_MOV(b, HERE)))
		return MADE_RBP;
	if (IS_MOV(b, HERE - 3) && b[HERE - 4] == 0x55)
		return MADE_RBP;
	if (IS3(b, HERE - 7, 0x48, 0x81, 0xec) && b[HERE] == 0x48 &&
	    b[HERE + 1] == 0x89 && b[HERE - 8] != 0x55)
		return MADE_NO_RBP;
	for (int i = 0; i <= HERE - 4; i++) {
		if (IS_SUB(b, i) && i + (b[i + 1] == 0x83 ? 4 : 7) <= HERE)
			return MADE_ALL;
	}
	return MADE_NOT;
}

/* What of its frame does interrupted compiled code have? */
static __always_inline enum hotspot_made hotspot_made(struct hotspot_state *h,
						      const struct hotspot_layout *l,
						      __u64 pc)
{
	__u64 complete = hotspot_get(h, l, &l->frame_complete);
	const __u8 *b = h->code_bytes;

	if (bpf_probe_read_user(h->code_bytes, HERE + 16, (void *)(pc - HERE)))
		return MADE_ALL;
	if (b[HERE] == 0x5d)					/* pop rbp */
		return MADE_RBP;
	if (hotspot_returns(b) || (h->kind == HOTSPOT_WRAPPER && hotspot_wrapper_returns(b)))
		return MADE_NOT;
	if (pc < complete && complete - h->code < 4096)	/* -1: never */
		return hotspot_prologue(b);
	return MADE_ALL;
}

/* The caller was found. */
static __always_inline enum stop_reason hotspot_to(struct unwind_state *st, __u64 ra,
						   __u64 sp, __u64 fp)
{
	/* nothing is left of a frame that is about to return */
	if (sp < st->sp + !st->exact)
		return STOP_NO_PROGRESS;
	if (!ra)
		return STOP_READ;
	st->pc = ra - 1;
	st->sp = sp;
	st->fp = fp;
	st->exact = 0;
	st->found = FOUND_BY_RULE;
	st->depth++;
	return STOP_NOT;
}

/* A frame of this size, whose return address is at its upper end, and rbp below. */
static __always_inline enum stop_reason hotspot_by_size(struct unwind_state *st,
							__u64 words,
							enum hotspot_made made)
{
	__u64 ra = 0, fp = st->fp, cfa = st->sp + 8 * words;

	if (made == MADE_NOT)
		cfa = st->sp + 8;
	else if (made == MADE_RBP)
		cfa = st->sp + 16;
	unwind_window(st, cfa - 8 * WINDOW_MIN);
	if (unwind_word(st, &ra, cfa - 8) ||
	    ((made == MADE_ALL || made == MADE_RBP) &&
	     unwind_word(st, &fp, cfa - 16)))
		return STOP_READ;
	return hotspot_to(st, ra, cfa, fp);
}

/* An interpreter's frame hangs on rbp. */
static __always_inline enum stop_reason hotspot_by_rbp(struct unwind_state *st)
{
	__u64 ra, fp, sp, at = st->fp;

	if (at < st->sp || at - st->sp > FP_REACH ||
	    unwind_word(st, &ra, at + 8) || unwind_word(st, &fp, at) ||
	    unwind_word(st, &sp, at - 8 * HOTSPOT_SENDER_SP))
		return STOP_READ;
	if (sp < at + 16 || sp - at > FP_REACH)
		sp = at + 16;
	return hotspot_to(st, ra, sp, fp);
}

/* Words of a frame of the code at hand; 0: it does not say. */
static __always_inline __u64 hotspot_frame_words(const struct hotspot_state *h)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u32 words = HOTSPOT_U32(h->blob_words, l->block + l->frame_size);

	return words <= HOTSPOT_FRAME_MAX ? words : 0;
}

/* Is the word at the upper end of such a frame an address in the code cache, where
 * all callers of its code are, but those of the stub that is for calls of the VM's? */
static __always_inline int hotspot_called(const struct hotspot_state *h,
					  const struct unwind_state *st, __u64 words)
{
	__u64 ra = 0;

	return !unwind_word(st, &ra, st->sp + 8 * words - 8) && hotspot_heap_of(h, ra);
}

/* Words of the frame of interrupted code, which may have pushed some more: C2's code
 * for strings does (macroAssembler_x86.cpp, string_compare() and others). */
static __always_inline __u64 hotspot_pushed(const struct hotspot_state *h,
					    const struct unwind_state *st, __u64 words)
{
	for (__u64 i = 0; i <= HOTSPOT_PUSHED; i++) {
		if (hotspot_called(h, st, words + i))
			return words + i;
	}
	return words;
}

#include "hotspot_bare.bpf.h"

#define HOTSPOT_ENTRY	24	/* words of a ContinuationEntry, at most, rbp and ra */

/*
 * Nothing calls from where this frame returns to: it is a barrier, put into the last
 * frame of a virtual thread's that came back to the stack; its callers are still in
 * the heap (continuationFreezeThaw.cpp, patch_return()).  What follows on the stack is
 * the frame of Continuation.enterSpecial(): a ContinuationEntry, rbp, and an address
 * in compiled code.
 */
static __always_inline enum stop_reason hotspot_continuation(struct hotspot_state *h,
							     struct unwind_state *st)
{
	for (__u64 i = 2; i <= HOTSPOT_ENTRY; i++) {
		if (hotspot_called(h, st, i))
			return hotspot_by_size(st, i, MADE_ALL);
	}
	return STOP_ANON;
}

#define HOTSPOT_NO_RA	(~0ULL)	/* method_entry_barrier's, in place of an address */

/* What a stub may have on the stack below its return address. */
#define HOTSPOT_STUB_WORDS(st)	((st)->exact ? HOTSPOT_PUSHED : 2)

/*
 * A stub that says no size: by rbp, if it is called from where that leads to; else by
 * what lies on the stack, for rbp may be that of the interpreter's frame last made.
 * One that takes an exception to a caller has no frame when it asks the VM for the
 * handler, but for a word that aligns it (generate_forward_exception()); where it was
 * thrown is then in rdx, also where it comes from a handler of compiled code, which has
 * its frame (generate_exception_blob()).  The barrier
 * at a method's entry has a word of its own above rbp (stubGenerator_x86_64.cpp,
 * generate_method_entry_barrier()).
 */
static __always_inline enum stop_reason hotspot_stub(struct hotspot_state *h,
						     struct unwind_state *st)
{
	__u64 ra = 0, fp = 0, at = st->fp;
	int sound = at >= st->sp && at - st->sp <= FP_REACH &&
		    !unwind_word(st, &ra, at + 8);

	if (sound && ra == HOTSPOT_NO_RA && !unwind_word(st, &fp, at) &&
	    !unwind_word(st, &ra, at + 16))
		return hotspot_to(st, ra, at + 24, fp);
	if (!st->exact && call_distance(st->pc + 1, st->pc) == CALL_NONE)
		return hotspot_continuation(h, st);
	if (sound && (!st->exact || hotspot_heap_of(h, ra)) &&
	    call_distance(ra, st->pc) <= CALL_ANYWHERE)
		return STOP_ANON;
	if (st->exact == EXACT && hotspot_heap_of(h, HOTSPOT_RDX(st)) &&
	    call_distance(HOTSPOT_RDX(st), st->pc) < CALL_UNREAD)
		return hotspot_to(st, HOTSPOT_RDX(st), st->sp, st->fp);
	for (__u64 i = 1; i <= HOTSPOT_PUSHED; i++) {
		if (i <= HOTSPOT_STUB_WORDS(st) && hotspot_called(h, st, i))
			return hotspot_by_size(st, i, MADE_NO_RBP);
	}
	return STOP_ANON;
}

/* Move st to the caller of the code at hand.  STOP_ANON: by frame pointer. */
static __always_inline enum stop_reason hotspot_caller(struct hotspot_state *h,
						       struct unwind_state *st)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u64 words = hotspot_frame_words(h);
	enum hotspot_made made = MADE_ALL;

	/* where a stub's frame is whole is not known */
	if (h->kind == HOTSPOT_STUB && st->exact) {
		if (unwind_bare(st))
			return STOP_NOT;
		return words && hotspot_called(h, st, words) ?
		       hotspot_by_size(st, words, MADE_ALL) : hotspot_stub(h, st);
	}

	if (h->kind == HOTSPOT_INTERPRETER && !h->method && st->exact == EXACT) {
		__u64 ra = hotspot_bare_ra(h, st);

		return ra ? hotspot_entering(st, ra) : STOP_ANON;
	}
	if (h->kind == HOTSPOT_INTERPRETER)
		return hotspot_by_rbp(st);
	if (h->kind == HOTSPOT_BARE)
		return hotspot_adapter(h, st);
	if (!words)
		return hotspot_stub(h, st);
	if (st->exact)
		made = hotspot_made(h, l, st->pc);
	if (st->exact && made == MADE_ALL)
		words = hotspot_pushed(h, st, words);
	return hotspot_by_size(st, words, made);
}

/* --- methods ---------------------------------------------------------------------------- */

/* The Method at this address: .constants, .code_size, .alike.  False: it cannot be
 * read.  Whether it is one: hotspot_believe(). */
static __always_inline int hotspot_read_method(struct hotspot_state *h, __u64 method)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u64 at = method ? user_word(method + l->const_method) : 0;

	h->method = method;
	h->at = HOTSPOT_NOWHERE;
	if (!at || (method & 7) || (at & 7) ||
	    bpf_probe_read_user(h->const_words, HOTSPOT_CONST_READ, (void *)at))
		return 0;
	h->constants = HOTSPOT_WORD(h->const_words, l->constants);
	h->code_size = HOTSPOT_U16(h->const_words, l->code_size);
	h->alike = (at * 0x9e3779b97f4a7c15ULL + h->constants) * 0x9e3779b97f4a7c15ULL +
		   HOTSPOT_U16(h->const_words, l->method_name) +
		   ((__u64)HOTSPOT_U16(h->const_words, l->signature) << 16) +
		   ((__u64)h->code_size << 32);
	return 1;
}

/* Of an interpreter's frame: which method, and where in it.  In the frame that was
 * interrupted the pointer to the bytecode is in r13; if it is not, code may have been
 * interrupted that has no frame yet, or no more, and rbp is another's. */
static __always_inline int hotspot_interpreted(struct hotspot_state *h,
					       struct unwind_state *st)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u64 method = 0, bcp = 0, code;

	if (st->fp < st->sp || st->fp - st->sp > FP_REACH)
		return 0;
	unwind_window(st, st->fp - 8 * (__u64)l->bcp);
	if (unwind_word(st, &method, st->fp - 8 * HOTSPOT_METHOD) ||
	    unwind_word(st, &bcp, st->fp - 8 * (__u64)l->bcp) ||
	    !hotspot_read_method(h, method))
		return 0;
	code = user_word(method + l->const_method) + l->code_at;
	if (st->exact == EXACT && HOTSPOT_R13(st) - code < h->code_size)
		bcp = HOTSPOT_R13(st);
	else if (st->exact == EXACT && HOTSPOT_R13(st) != code && hotspot_bare_ra(h, st))
		return 0;
	if (bcp - code < h->code_size)
		h->at = bcp - code;
	return 1;
}

/* --- inlined methods ---------------------------------------------------------------------- */

/* The first PcDesc at or after a place in the code: its scope; 0: none. */
static __always_inline __u32 hotspot_scope_at(struct hotspot_state *h, __u64 pcs,
					      __u64 n, __s32 place)
{
	const __u64 size = hotspot_layout(h->vm.version)->pc_desc;
	__u64 first = 0, bytes;

	for (int i = 0; i < 20 && n > HOTSPOT_PCS_CHUNK; i++) {
		__u64 half = n / 2;

		/* all before first + half are before the place */
		if ((__s32)user_u32(pcs + (first + half - 1) * size) < place) {
			first += half;
			n -= half;
		} else {
			n = half;
		}
	}
	/* what lies behind the last may not be there at all */
	bytes = n * size;
	asm volatile("" : "+r"(bytes));		/* the verifier shall see this: */
	if (!bytes || bytes > sizeof(h->pcs) ||
	    bpf_probe_read_user(h->pcs, bytes, (void *)(pcs + first * size)))
		return 0;
	for (__u32 i = 0; i < HOTSPOT_PCS_CHUNK; i++) {
		if (i < n && (__s32)h->pcs[(i * size / 4) & 63] >= place)
			return h->pcs[(i * size / 4 + 1) & 63];
	}
	return 0;
}

/* Where the methods of compiled code are found: sets .scope, .method.  The PcDescs
 * are those of the places where code can be interrupted by the VM: calls, polls. */
static __always_inline void hotspot_compiled(struct hotspot_state *h,
					     const struct unwind_state *st)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u64 pcs = hotspot_get(h, l, &l->pcs), end = hotspot_get(h, l, &l->pcs_end);
	__u64 deopt = hotspot_get(h, l, &l->deopt), at, mh;

	h->method = HOTSPOT_BLOB_AT(h, l, l->method);
	h->scope = 0;
	h->pc = st->pc + !st->exact;
	at = (__s32)hotspot_get(h, l, &l->orig_pc);
	mh = l->deopt_mh.field ? hotspot_get(h, l, &l->deopt_mh) : deopt;
	if (!st->exact && (h->pc == deopt || h->pc == mh) &&
	    unwind_word(st, &h->pc, st->sp + at))
		return;
	if (h->kind != HOTSPOT_COMPILED || h->pc - h->code >= 1 << 30 || end <= pcs ||
	    end - pcs > HOTSPOT_PCS_MAX * 16ULL || !l->pc_desc)
		return;
	h->scopes = hotspot_get(h, l, &l->scopes);
	h->scopes_end = hotspot_get(h, l, &l->scopes_end);
	h->metadata = hotspot_get(h, l, &l->metadata);
	h->metadata_end = hotspot_get(h, l, &l->metadata_end);
	h->scope = hotspot_scope_at(h, pcs, (end - pcs) / l->pc_desc,
				    (__s32)(h->pc - h->code));
}

/*
 * UNSIGNED5 (src/hotspot/share/utilities/unsigned5.hpp, before JDK 20
 * code/compressedStream.cpp): bytes of a number, six bits each from the second on;
 * those from 192 on go on.  x: since JDK 20 each byte is one more.
 */
static __always_inline __u32 hotspot_number(const struct hotspot_state *h, __u32 *i,
					    __u32 x)
{
	__u32 v = 0, b;

	for (__u32 k = 0; k < 5; k++) {
		b = h->bytes[(*i)++ & 15];
		v += (b - x) << (6 * k);
		if (b < 192)
			break;
	}
	return v;
}

/* The method of the next scope, innermost first; then goes on to its caller.  False:
 * there is none. */
static __always_inline int hotspot_next_scope(struct hotspot_state *h)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u64 at = h->scopes + h->scope, method;
	__u32 i = 0, sender, number, bci;

	if (!h->scope || at >= h->scopes_end ||
	    bpf_probe_read_user(h->bytes, 16, (void *)at))
		return 0;
	sender = hotspot_number(h, &i, l->unsigned5);
	number = hotspot_number(h, &i, l->unsigned5);
	bci = hotspot_number(h, &i, l->unsigned5) - 1;	/* InvocationEntryBci: -1 */
	/* a caller's scope was written before: no circle */
	h->scope = sender < h->scope ? sender : 0;
	method = h->metadata + 8 * ((__u64)number - 1);
	if (!number || method >= h->metadata_end ||
	    !hotspot_read_method(h, user_word(method)))
		return 0;
	h->at = bci < h->code_size ? bci : bci == ~0U && h->code_size ? 0 :
								     HOTSPOT_NOWHERE;
	return 1;
}

/* --- names ---------------------------------------------------------------------------------- */

/* A method's names. */
struct hotspot_names {
	__u64 klass, name, signature, file;	/* Symbols; .file may be 0 */
	__u64 lines;		/* the compressed line table; 0: none */
	__u32 lines_max;	/* not longer than that */
	__u32 pad;
};

#define HOTSPOT_UTF8	1	/* JVM_CONSTANT_Utf8 */

/* The Symbol at this index of the constant pool, whose tag must say that it is one. */
static __always_inline __u64 hotspot_symbol(const struct hotspot_state *h,
					    const struct hotspot_layout *l,
					    __u64 tags, __u32 length, __u32 index)
{
	__u8 tag = 0;

	if (!index || index >= length ||
	    bpf_probe_read_user(&tag, 1, (void *)(tags + 4 + index)) ||
	    tag != HOTSPOT_UTF8)
		return 0;
	return user_word(h->constants + l->pool + 8ULL * index);
}

/*
 * Is the method at hand one?  Its pool of constants says which class it is of, and
 * the class that this is its pool, or another that says so (methods that the VM makes
 * for method handles have a small one of their own); there are as many tags as
 * constants, and those of name and signature say that they are text.  Then these are
 * its names.
 */
static __always_inline int hotspot_believe(struct hotspot_state *h,
					   struct hotspot_names *ret)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u64 tags, klass, own;
	__u32 length, file, begin, bytes;

	if (!h->constants || (h->constants & 7) ||
	    bpf_probe_read_user(h->pool_words, HOTSPOT_POOL_BYTES,
				(void *)h->constants))
		return 0;
	tags = HOTSPOT_WORD(h->pool_words, l->tags);
	klass = HOTSPOT_WORD(h->pool_words, l->holder);
	length = HOTSPOT_U32(h->pool_words, l->length);
	own = klass ? user_word(klass + l->klass_constants) : 0;
	if (!tags || !own || length > 65536 || user_u32(tags) != length ||
	    (own != h->constants && user_word(own + l->holder) != klass))
		return 0;
	ret->klass = user_word(klass + l->klass_name);
	ret->name = hotspot_symbol(h, l, tags, length,
				   HOTSPOT_U16(h->const_words, l->method_name));
	ret->signature = hotspot_symbol(h, l, tags, length,
					HOTSPOT_U16(h->const_words, l->signature));
	file = l->source_in_pool ? HOTSPOT_U16(h->pool_words, l->source_file) :
				   user_u16(klass + l->source_file);
	ret->file = hotspot_symbol(h, l, tags, length, file);
	begin = l->code_at + h->code_size;
	bytes = HOTSPOT_U32(h->const_words, l->size);
	bytes = bytes <= HOTSPOT_CONST_MAX ? 8 * bytes : 0;
	ret->lines = 0;
	if (HOTSPOT_U16(h->const_words, l->flags) & l->has_lines && bytes > begin) {
		ret->lines = user_word(h->method + l->const_method) + begin;
		ret->lines_max = bytes - begin;
	}
	return ret->klass && ret->name && ret->signature;
}

#endif /* BPF_HOTSPOT_BPF_H */
