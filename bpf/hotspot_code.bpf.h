/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot_code - from an address in HotSpot's code cache to the code that runs there
 *
 * How code is found: src/hotspot/share/memory/heap.cpp, CodeHeap::find_start().
 * Functions of this file and of those that include it are pure, but for memory that
 * they read through bpf_probe_read_user().
 */
#ifndef BPF_HOTSPOT_CODE_BPF_H
#define BPF_HOTSPOT_CODE_BPF_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "hotspot.h"
#include "unwind.bpf.h"
#include "user.bpf.h"

#define HOTSPOT_HEAPS		4	/* code heaps of a process */
#define HOTSPOT_HEAP_MAX	(1ULL << 32)	/* bytes of one */
#define HOTSPOT_HOPS		64	/* in the segment map: 2 MiB of code */
#define HOTSPOT_BLOB_READ	384	/* bytes of a block: all of a nmethod's head */
#define HOTSPOT_BLOB_LEAST	128	/* of any block; where the heap ends */
#define HOTSPOT_FRAME_READS	16	/* of a frame, without what .reads counts */
#define HOTSPOT_METHOD_READS	8	/* of a method of it, without names */
#define HOTSPOT_PCS_CHUNK	16	/* looked at in one read */

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

/* What must be 0 when a sample begins. */
#define HOTSPOT_STATE_BEGIN	__builtin_offsetof(struct hotspot_state, vm)

struct hotspot_state {
	__u32 first;		/* no method of this frame was appended yet */
	__u32 reads;		/* beyond those of every frame */
	__u32 kind;		/* enum hotspot_kind, of the code at hand */
	__u32 texts;		/* how often names were looked up in files */
	__u64 unread;		/* name of the code at hand, if it is not in memory */
	__u64 compiled_name;	/* CodeBlob._name of compiled code, once it was seen */
	__u64 interpreter_name;
	struct hotspot_vm vm;
	/* the code at hand */
	__u64 blob;
	__u64 code;		/* where its instructions begin */
	__u64 pc;		/* in it, or its return address */
	__u64 scopes, scopes_end, metadata, metadata_end;
	__u64 scope;		/* the next one, from .scopes on; 0: none */
	/* the method at hand */
	__u64 method;
	__u64 constants;
	__u64 bcp;		/* of the interpreter */
	__u64 fingerprint;	/* differs between methods at the same address */
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
	/* keep the mask, which the compiler would drop: the verifier needs it */
	asm volatile("" : "+r"(version));
	return &hotspot_layouts[version & (HOTSPOT_LAYOUTS - 1)];
}

static __always_inline int hotspot_has_layout(__u32 version)
{
	return version < HOTSPOT_LAYOUTS && hotspot_layout(version)->code_at;
}

/* --- the code heaps ----------------------------------------------------------------- */

/* Read a CodeHeap; false: it is none. */
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

/* Fill h->vm.  root: address of the variable that leads to the heaps. */
static __always_inline void hotspot_find(struct hotspot_state *h, __u32 version,
					 __u64 root)
{
	const struct hotspot_layout *l = hotspot_layout(version);
	__u64 list = user_word(root), data = 0;
	__u32 n = 1;

	__builtin_memset(&h->vm, 0, sizeof(h->vm));
	if (!list)
		return;
	if (l->heaps) {
		n = user_u32(list);
		data = user_word(list + l->heaps);
	}
	for (__u32 i = 0; i < HOTSPOT_HEAPS; i++) {
		__u64 at = l->heaps ? user_word(data + 8 * i) : list;

		if (i >= n)
			break;
		if (!hotspot_heap(h, l, at, &h->vm.heap[i])) {
			h->vm.heap[i].low = h->vm.heap[i].high = 0;
			break;
		}
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

/* Is pc in a code heap?  The sign of a difference says so, without a branch: each would
 * double what the verifier follows, at the many places that ask.  Heaps that are not there
 * have no bytes; none has 2^63. */
static __always_inline int hotspot_has_code(const struct hotspot_state *h, __u64 pc)
{
	__u64 in = 0;

	for (__u32 i = 0; i < HOTSPOT_HEAPS; i++) {
		__u64 at = pc - h->vm.heap[i].low;

		in |= ~at & (at - (h->vm.heap[i].high - h->vm.heap[i].low));
	}
	return in >> 63;
}

/*
 * The start of the block that holds pc, by the segment map: a byte says how many
 * segments to go back at least; 0: the block starts here; 255: it is free.
 */
static __always_inline __u64 hotspot_block(struct hotspot_state *h,
					   const struct hotspot_heap *heap, __u64 pc)
{
	__u64 seg = (pc - heap->low) >> (heap->shift & 31);
	__u8 back = 255;

	for (int i = 0; i < HOTSPOT_HOPS; i++) {
		h->reads++;
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

/* The kind of a CodeBlob of this name, from now on. */
static __always_inline enum hotspot_kind
hotspot_name_means(struct hotspot_state *h, __u64 name, enum hotspot_kind kind)
{
	if (kind == HOTSPOT_COMPILED)
		h->compiled_name = name;
	if (kind == HOTSPOT_INTERPRETER)
		h->interpreter_name = name;
	return kind;
}

/* The kind of a CodeBlob, by the first eight bytes of its name.  If these are not in
 * memory, h->unread is that name, and the kind is only likely. */
static __always_inline enum hotspot_kind hotspot_kind_of(struct hotspot_state *h,
							 __u64 name)
{
	__u64 text = 0;

	h->unread = 0;
	if (name == h->compiled_name && name)
		return HOTSPOT_COMPILED;
	if (name == h->interpreter_name && name)
		return HOTSPOT_INTERPRETER;
	if (bpf_probe_read_user(&text, sizeof(text), (void *)name)) {
		h->unread = name;
		return HOTSPOT_STUB;
	}
	switch (text) {
	case HOTSPOT_TEXT('n', 'm', 'e', 't', 'h', 'o', 'd', 0):
		return hotspot_name_means(h, name, HOTSPOT_COMPILED);
	case HOTSPOT_TEXT('n', 'a', 't', 'i', 'v', 'e', ' ', 'n'):
		return HOTSPOT_WRAPPER;
	case HOTSPOT_TEXT('I', 'n', 't', 'e', 'r', 'p', 'r', 'e'):
		return hotspot_name_means(h, name, HOTSPOT_INTERPRETER);
	case HOTSPOT_TEXT('v', 't', 'a', 'b', 'l', 'e', ' ', 'c'):
	case HOTSPOT_TEXT('I', '2', 'C', '/', 'C', '2', 'I', ' '):
	case HOTSPOT_TEXT('M', 'e', 't', 'h', 'o', 'd', 'H', 'a'):
		return HOTSPOT_BARE;
	default:
		return HOTSPOT_STUB;
	}
}

#define HOTSPOT_BLOB_AT(h, l, at) HOTSPOT_WORD((h)->blob_words, (l)->block + (at))

static __always_inline __u64 hotspot_member(const struct hotspot_state *h,
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
	__u64 block = heap ? hotspot_block(h, heap, pc) : 0, len, used;

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
	h->code = hotspot_member(h, l, &l->code);
	h->kind = hotspot_kind_of(h, HOTSPOT_BLOB_AT(h, l, l->name));
	return 1;
}

/* --- to the caller ------------------------------------------------------------------- */

enum hotspot_made {
	MADE_ALL,		/* the frame is whole */
	MADE_NOT,		/* there is none, or none any more */
	MADE_PAIR,		/* the frame pointer is at sp, the return address above */
	MADE_NO_FP,		/* whole, but the frame pointer is not yet saved */
};

/* Move st to the caller that was found. */
static __always_inline enum stop_reason hotspot_move_to(struct unwind_state *st, __u64 ra,
							__u64 sp, __u64 fp)
{
	/* an interrupted frame that is about to return may have no word left */
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

/* Is the word at the upper end of a frame of this size an address in the code cache, where
 * all callers of its code are, but those of the stub that is for calls of the VM's? */
static __always_inline int hotspot_has_return_address(const struct hotspot_state *h,
						      const struct unwind_state *st, __u64 words)
{
	__u64 ra = 0;

	return !unwind_word(st, &ra, st->sp + 8 * words - 8) &&
	       hotspot_has_code(h, ra & RA_MASK);
}

#define HOTSPOT_ARGUMENTS	(8 * 256)	/* bytes of a call, at most */

#endif /* BPF_HOTSPOT_CODE_BPF_H */
