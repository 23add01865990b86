/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot_read - from code of HotSpot to the methods that run there, and their names
 *
 * Pure functions that read memory only through bpf_probe_read_user(): for the
 * kernel and for the host.  All that is read was written by the profiled
 * process, and an adversary may have chosen where to begin: so nothing is taken for a
 * method unless the objects around it agree (hotspot_check_method()).
 *
 * What a frame looks like: src/hotspot/cpu/, frame_x86.hpp, frame_aarch64.hpp; inlined methods:
 * src/hotspot/share/code/{pcDesc,scopeDesc}.cpp.
 */
#ifndef BPF_HOTSPOT_READ_BPF_H
#define BPF_HOTSPOT_READ_BPF_H

#include "hash.h"
#include "hotspot.h"
#include "hotspot_caller.bpf.h"
#include "hotspot_code.bpf.h"
#include "unwind.bpf.h"
#include "user.bpf.h"

#define HOTSPOT_PCS_MAX		(1 << 20)	/* PcDescs of a method */
#define HOTSPOT_CONST_READ	48	/* bytes of a ConstMethod that are looked at */
#define HOTSPOT_CONST_MAX	(1 << 15)	/* words of a ConstMethod: a larger number is
					 * another member, of another version */

/* --- methods ---------------------------------------------------------------------------- */

/* Read the Method at this address: .constants, .code_size, .fingerprint.  False: it
 * cannot be read.  Whether it is a Method is not checked: hotspot_check_method(). */
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
	h->fingerprint = (at * HASH_FACTOR + h->constants) * HASH_FACTOR +
		   HOTSPOT_U16(h->const_words, l->method_name) +
		   ((__u64)HOTSPOT_U16(h->const_words, l->signature) << 16) +
		   ((__u64)h->code_size << 32);
	return 1;
}

/* The method of an interpreter's frame, and the place in it.  False: not read.  In the
 * interrupted frame the pointer to the bytecode is in a register; if it is not, the
 * interrupted code may have no frame yet or any more, and the frame pointer belongs to
 * another frame. */
static __always_inline int hotspot_interpreted(struct hotspot_state *h,
					       struct unwind_state *st)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u64 method = 0, bcp = 0, code;

	if (st->fp < st->sp || st->fp - st->sp > FP_REACH)
		return 0;
	unwind_window(st, st->fp - 8 * HOTSPOT_BCP_AT(l));
	if (unwind_word(st, &method, st->fp - 8 * HOTSPOT_METHOD) ||
	    unwind_word(st, &bcp, st->fp - 8 * HOTSPOT_BCP_AT(l)) ||
	    !hotspot_read_method(h, method))
		return 0;
	code = user_word(method + l->const_method) + l->code_at;
	if (st->exact == EXACT && HOTSPOT_BCP(st) - code < h->code_size)
		bcp = HOTSPOT_BCP(st);
	else if (st->exact == EXACT && HOTSPOT_BCP(st) != code && hotspot_frameless_ra(h, st))
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
		__u64 half = n / 2, before;

		h->reads++;
		/* all ones if all before first + half are before the place: a branch here would
		 * double what the verifier follows */
		before = (__s64)(__s32)user_u32(pcs + (first + half - 1) * size);
		before = (__s64)(before - place) >> 63;
		first += half & before;
		n = half + (n & 1 & before);
	}
	/* memory after the last one may not be mapped */
	bytes = n * size;
	asm volatile("" : "+r"(bytes));		/* keep this check for the verifier: */
	if (!bytes || bytes > sizeof(h->pcs) ||
	    bpf_probe_read_user(h->pcs, bytes, (void *)(pcs + first * size)))
		return 0;
	for (__u32 i = 0; i < HOTSPOT_PCS_CHUNK; i++) {
		if (i < n && (__s32)h->pcs[(i * size / 4) & 63] >= place)
			return h->pcs[(i * size / 4 + 1) & 63];
	}
	return 0;
}

/* Find the methods of compiled code: sets .scope, .method.  PcDescs exist for the places
 * where the VM can interrupt code: calls, polls. */
static __always_inline void hotspot_compiled(struct hotspot_state *h,
					     const struct unwind_state *st)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u64 pcs = hotspot_member(h, l, &l->pcs), end = hotspot_member(h, l, &l->pcs_end);
	__u64 deopt = hotspot_member(h, l, &l->deopt), at, mh;

	h->method = HOTSPOT_BLOB_AT(h, l, l->method);
	h->scope = 0;
	h->pc = st->pc + !st->exact;
	at = (__s32)hotspot_member(h, l, &l->orig_pc);
	mh = l->deopt_mh.field ? hotspot_member(h, l, &l->deopt_mh) : deopt;
	if (!st->exact && (h->pc == deopt || h->pc == mh) &&
	    unwind_word(st, &h->pc, st->sp + at))
		return;
	if (h->kind != HOTSPOT_COMPILED || h->pc - h->code >= 1 << 30 || end <= pcs ||
	    end - pcs > HOTSPOT_PCS_MAX * 16ULL || !l->pc_desc)
		return;
	h->scopes = hotspot_member(h, l, &l->scopes);
	h->scopes_end = hotspot_member(h, l, &l->scopes_end);
	h->metadata = hotspot_member(h, l, &l->metadata);
	h->metadata_end = hotspot_member(h, l, &l->metadata_end);
	h->scope = hotspot_scope_at(h, pcs, (end - pcs) / l->pc_desc,
				    (__s32)(h->pc - h->code));
}

/*
 * UNSIGNED5 (src/hotspot/share/utilities/unsigned5.hpp, before JDK 20
 * code/compressedStream.cpp): bytes of a number, six bits each from the second on; a byte
 * of 192 or more is followed by another.  x: 1 since JDK 20, where each byte is one more.
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

/* The method of the next scope, innermost first; .scope moves on to its caller's.  False:
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
	/* a caller's scope lies before: no endless loop */
	h->scope = sender < h->scope ? sender : 0;
	method = h->metadata + 8 * ((__u64)number - 1);
	if (!number || method >= h->metadata_end ||
	    !hotspot_read_method(h, user_word(method)))
		return 0;
	if (bci >= h->code_size)
		bci = bci == ~0U && h->code_size ? 0 : HOTSPOT_NOWHERE;
	h->at = bci;
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

/* The Symbol at this index of the constant pool; 0: its tag does not say that it is one. */
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
 * Is the method at hand a Method?  Its constant pool must name a class, and the class
 * this pool, or another one that names the class (methods that the VM makes for method
 * handles have a small pool of their own); there must be as many tags as constants, and
 * those of name and signature must say text.  Then *ret gets its names.
 */
static __always_inline int hotspot_check_method(struct hotspot_state *h,
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

#endif /* BPF_HOTSPOT_READ_BPF_H */
