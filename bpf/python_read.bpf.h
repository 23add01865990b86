/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * python_read - from the loop of CPython's interpreter to the frames that it runs
 *
 * Pure functions that read memory only through bpf_probe_read_user(): for the
 * kernel and for the host.  All that is read was written by the profiled process, and an
 * adversary may have chosen where to begin: so an object is taken for a code object or a
 * string only if its type says so.
 */
#ifndef BPF_PYTHON_READ_BPF_H
#define BPF_PYTHON_READ_BPF_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "python.h"
#include "python_lines.h"
#include "user.bpf.h"

#define PYTHON_THREADS_MAX	64	/* looked at in the list of threads */
#define PYTHON_FRAME_READS	16	/* of a frame, at most, without names */

/*
 * pthread_getspecific() by hand.  glibc 2.4 - 2.42, x86-64: nptl/descr.h, struct
 * pthread.specific_1stblock of {seq, data}; musl 1.1 - 1.2: pthread_impl.h,
 * struct pthread.tsd.
 */
#define GLIBC_KEYS		32
#define GLIBC_DATA		(0x310 + 8)
#define MUSL_KEYS		128
#define MUSL_TSD		128
/* AArch64: pthread_self() lies below the thread pointer, by the size of glibc's
 * struct pthread */
#define PTHREAD_MAX		4096

static const struct python_layout python_layouts[PYTHON_LAYOUTS] =
	PYTHON_LAYOUT_TABLE;

/* What must be 0 when a sample begins. */
#define PYTHON_STATE_BEGIN	__builtin_offsetof(struct python_state, frame_words)

static const struct python_lines python_lines_table[PYTHON_LAYOUTS] =
	PYTHON_LINES_TABLE;

struct python_state {
	__u64 frame;		/* the next one; 0: none */
	__u64 thread;		/* PyThreadState of the frames; 0: not found */
	__u64 base;		/* its last frame, which has no function; or 0 */
	__u64 code_type;	/* PyCode_Type, PyUnicode_Type; 0: not met yet */
	__u64 str_type;
	__u64 bytes_type;
	__u64 entry_of, entry;	/* python_entry_frame() of frame entry_of is entry */
	__u32 version;		/* which layout */
	__u32 known;		/* how often a thread was looked for */
	__u32 part;		/* of the frames that are next: enum runtime_part */
	__u32 reads;		/* beyond those of every frame */
	union {			/* what was read last */
		__u64 frame_words[PYTHON_FRAME_BYTES / 8];
		__u64 code_words[PYTHON_CODE_BYTES / 8 + 12];
		__u64 str_words[PYTHON_STR_BYTES / 8 + 1];
	};
};

#define PYTHON_NOWHERE	(~0ULL)
#define PYTHON_BEGINS	(~1ULL)		/* before the first instruction */

/* A frame, found. */
struct python_frame {
	__u64 code, name, filename, lines;
	__u64 at;		/* in the code, bytes; or one of the above */
	__u32 line;		/* the first one of its function */
};

static __always_inline const struct python_layout *python_layout(__u64 version)
{
	/* keep the mask, which the compiler would drop: the verifier needs it */
	asm volatile("" : "+r"(version));
	return &python_layouts[version & (PYTHON_LAYOUTS - 1)];
}

static __always_inline const struct python_lines *python_lines(__u64 version)
{
	asm volatile("" : "+r"(version));
	return &python_lines_table[version & (PYTHON_LAYOUTS - 1)];
}

static __always_inline int python_has_layout(__u32 version)
{
	return version < PYTHON_LAYOUTS && python_layout(version)->ascii;
}

/* --- the thread ----------------------------------------------------------------- */

/* Is this the PyThreadState of the thread whose thread pointer is tp? */
static __always_inline int python_is_thread(const struct python_layout *l,
					    __u64 thread, __u64 tp)
{
	__u64 id = thread ? user_word(thread + l->thread_id) : 0;

#ifdef __TARGET_ARCH_arm64
	return id && tp - id <= PTHREAD_MAX;
#else
	return id && id == tp;
#endif
}

/* The thread state by the key that CPython has allocated; 0: it is not this thread's. */
static __always_inline __u64 python_thread_by_key(const struct python_layout *l,
						  __u64 root, __u64 tp)
{
	__u64 thread = 0;
	__u32 key;

#ifdef __TARGET_ARCH_arm64
	return 0;	/* where struct pthread begins depends on its size */
#endif
	if (!l->tss_key)
		return 0;
	key = user_u32(root + l->tss_key);
	if (key < GLIBC_KEYS)
		thread = user_word(tp + GLIBC_DATA + 16 * key);
	if (python_is_thread(l, thread, tp))
		return thread;
	if (key < MUSL_KEYS)
		thread = user_word(user_word(tp + MUSL_TSD) + 8 * key);
	return python_is_thread(l, thread, tp) ? thread : 0;
}

/* The innermost frame of a thread. */
static __always_inline __u64 python_frame_of(const struct python_layout *l,
					     __u64 thread)
{
	__u64 frame = user_word(thread + l->current);

	return frame && l->cframe ? user_word(frame + l->cframe - 1) : frame;
}

/* Is it this thread's state, and has it frames?  Global: the verifier checks it once, and
 * not for each thread of a list. */
__weak __noinline int python_thread_fits(__u64 version, __u64 thread, __u64 tp)
{
	const struct python_layout *l = python_layout(version);

	return python_is_thread(l, thread, tp) && python_frame_of(l, thread);
}

/* A state of this thread that has frames and is not `other`, by all lists of threads. */
static __always_inline __u64 python_thread_by_list(__u32 version, __u64 root, __u64 tp,
						   __u64 other)
{
	const struct python_layout *l = python_layout(version);
	__u64 interp = user_word(root + l->interpreters);
	__u64 thread = interp ? user_word(interp + l->threads) : 0;

	for (int i = 0; i < PYTHON_THREADS_MAX && interp; i++) {
		if (thread != other && python_thread_fits(version, thread, tp))
			return thread;
		if (thread)
			thread = user_word(thread + PYTHON_NEXT);
		if (thread)
			continue;
		interp = user_word(interp + l->next_interp);
		thread = interp ? user_word(interp + l->threads) : 0;
	}
	return 0;
}

/* The state of this thread in the interpreter that it runs; 0: not found without a
 * search. */
static __always_inline __u64 python_thread_running(const struct python_layout *l,
						   __u64 root, __u64 tp, __s64 at)
{
	__u64 thread = 0;

	if (at)
		thread = user_word(tp + at);
	else if (l->running)
		thread = user_word(root + l->running);
	if (python_is_thread(l, thread, tp))
		return thread;
	return python_thread_by_key(l, root, tp);
}

/*
 * Find the innermost frame of the thread with this thread pointer; root: address
 * of _PyRuntime; at: PYTHON_THREAD_AT.  The second time: in another interpreter,
 * which called the one found first.
 */
static __always_inline void python_find(struct python_state *p, __u32 version,
					__u64 root, __u64 tp, __s64 at)
{
	const struct python_layout *l = python_layout(version);
	__u64 thread = 0, other = p->thread;

	p->version = version;
	if (!p->known++)
		thread = python_thread_running(l, root, tp, at);
	if (!thread) {
		p->reads += 4 * PYTHON_THREADS_MAX;
		thread = python_thread_by_list(version, root, tp, other);
	}
	p->thread = thread;
	p->frame = thread ? python_frame_of(l, thread) : 0;
	p->base = thread && l->base ? user_word(thread + l->base) : 0;
}

#define PYTHON_FINDS	2	/* interpreters of one stack */

/* Is python_find() to be called? */
static __always_inline int python_needs_thread(const struct python_state *p)
{
	return !p->known || (p->thread && !p->frame && p->known < PYTHON_FINDS);
}

/* --- objects ---------------------------------------------------------------------- */

enum python_type_of {
	PYTHON_TYPE_OF_CODE,
	PYTHON_TYPE_OF_STR,
	PYTHON_TYPE_OF_BYTES,
};

/* What tells a type from others. */
struct python_type {
	__u64 name, mask;	/* its first eight bytes, NUL included; which of them count */
	__u64 size, item, flags;	/* tp_basicsize, tp_itemsize, of tp_flags */
	__u64 weak;		/* tp_weaklistoffset */
};

static __always_inline void python_type_of(const struct python_layout *l,
					   const struct python_lines *t, __u32 which,
					   struct python_type *ret)
{
	if (which == PYTHON_TYPE_OF_CODE)
		*ret = (struct python_type){
			.name = 0x65646f63, .mask = 0xffffffffff,	/* "code" */
			.size = t->basic, .item = PYTHON_CODE_ITEM(t),
			.flags = PYTHON_TYPE_READY, .weak = PYTHON_CODE_WEAK(t),
		};
	else if (which == PYTHON_TYPE_OF_STR)
		*ret = (struct python_type){
			.name = 0x727473, .mask = 0xffffffff,		/* "str" */
			.size = l->compact + 8u, .flags = PYTHON_TYPE_READY | PYTHON_TYPE_STR,
		};
	else
		*ret = (struct python_type){
			.name = 0x7365747962, .mask = 0xffffffffffff,	/* "bytes" */
			.size = l->length + PYTHON_BYTES_DATA + 1u, .item = 1,
			.flags = PYTHON_TYPE_READY | PYTHON_TYPE_BYTES,
		};
}

/* By what CPython itself has written into it, so that BPF can read it. */
static __always_inline int python_type_has(const struct python_layout *l, __u64 type,
					   const struct python_type *want)
{
	__u64 sizes[2] = { 0 }, differs;

	bpf_probe_read_user(sizes, sizeof(sizes), (void *)(type + PYTHON_TP_SIZES(l)));
	/* one condition: before 6.11 each would double what the verifier follows */
	differs = (sizes[0] ^ want->size) | (sizes[1] ^ want->item);
	differs |= (user_word(type + PYTHON_TP_FLAGS(l)) & PYTHON_TYPE_BITS) ^ want->flags;
	differs |= user_word(type + PYTHON_TP_WEAK(l)) ^ want->weak;
	return !differs;
}

/*
 * Is it that type?  By its name.  That is text in the interpreter's file, on a page that a
 * process may not have mapped in (a forked child; one whose memory was taken back) and
 * that BPF cannot wait for: then by its other words.  which: enum python_type_of.  Global,
 * so that it is verified once.
 */
__weak __noinline int python_is_type(__u64 version, __u64 type, __u32 which)
{
	const struct python_layout *l = python_layout(version);
	__u64 name = user_word(type + l->tp_name), text = 0;
	struct python_type want;

	if (!name)
		return 0;
	python_type_of(l, python_lines(version), which, &want);
	if (bpf_probe_read_user(&text, sizeof(text), (void *)name))
		return python_type_has(l, type, &want);
	if ((text & want.mask) != want.name)
		return 0;
	return which == PYTHON_TYPE_OF_BYTES ||
	       user_word(type + PYTHON_TP_SIZES(l)) == want.size;
}

/* An aligned word of what was read. */
#define PYTHON_AT(words, at) ((words)[((at) >> 3) & (sizeof(words) / 8 - 1)])

/* Read the code object; false: it is none, or one of another version. */
static __always_inline int python_read_code(struct python_state *p,
					    const struct python_layout *l,
					    __u64 code, struct python_frame *ret)
{
	__u64 line, type;

	if (bpf_probe_read_user(p->code_words, PYTHON_CODE_BYTES, (void *)code))
		return 0;
	type = PYTHON_AT(p->code_words, l->ob_type);
	if (!type || (type != p->code_type &&
		      !python_is_type(p->version, type, PYTHON_TYPE_OF_CODE)))
		return 0;
	p->code_type = type;
	ret->code = code;
	ret->name = PYTHON_AT(p->code_words, l->name);
	ret->filename = PYTHON_AT(p->code_words, l->filename);
	line = PYTHON_AT(p->code_words, l->line);
	ret->line = l->line & 4 ? line >> 32 : line;
	return 1;
}

enum python_found {
	PYTHON_FRAME = 1,	/* *ret is one; there may be more */
	PYTHON_LAST,		/* *ret is the last one of this loop */
	PYTHON_END,		/* the loop has no more; *ret is none */
	PYTHON_BROKEN,		/* not a valid frame: give up */
};

/* The start of a thread's own copy of a function's instructions; 0: it has none. */
static __always_inline __u64 python_copy(const struct python_lines *t, __u64 code,
					 __u32 copy)
{
	__u64 array = user_word(code + t->copies);

	return array && copy < user_word(array) ?
	       user_word(PYTHON_COPIES(array) + 8ULL * copy) : 0;
}

/* The place of a frame in its code, bytes; PYTHON_NOWHERE if it is beyond the code, so
 * that no other number leaves.  One that has not begun has f_lasti -1, or points to the
 * instruction of two bytes that would be before its first one. */
static __always_inline __u64 python_place(const struct python_state *p,
					  const struct python_layout *l,
					  const struct python_lines *t, __u64 at,
					  __u64 code, __u32 copy)
{
	__u64 size;

	if (t->unit) {
		if ((__u32)at == ~0U)
			return PYTHON_BEGINS;
		at = (__u64)(__u32)at * t->unit;
		size = user_word(PYTHON_AT(p->code_words, t->code) + l->length);
	} else {
		at -= copy ? python_copy(t, code, copy) : code + t->code;
		size = 2 * PYTHON_AT(p->code_words, l->length);
	}
	return at < size || at == PYTHON_BEGINS ? at : PYTHON_NOWHERE;
}

/* At the end of a chunk of frames only PYTHON_FRAME_LEAST bytes may be mapped. */
static __always_inline int python_read_frame(struct python_state *p)
{
	return bpf_probe_read_user(p->frame_words, PYTHON_FRAME_BYTES,
				   (void *)p->frame) &&
	       bpf_probe_read_user(p->frame_words, PYTHON_FRAME_LEAST,
				   (void *)p->frame);
}

/* The frame at p->frame; then moves on to its caller. */
static __always_inline enum python_found
python_next(struct python_state *p, struct python_frame *ret)
{
	const struct python_layout *l = python_layout(p->version);
	const struct python_lines *t = python_lines(p->version);
	__u64 code, entry, previous, at;
	__u32 copy;

	if (!p->frame || (p->frame & 7) || python_read_frame(p))
		return PYTHON_BROKEN;
	previous = PYTHON_AT(p->frame_words, l->previous);
	code = PYTHON_OBJECT(PYTHON_AT(p->frame_words, l->code));
	entry = PYTHON_AT(p->frame_words, l->entry) >> (8 * (l->entry & 7)) & 0xff;
	at = PYTHON_AT(p->frame_words, t->at);
	copy = t->copies ? PYTHON_AT(p->frame_words, t->copy) : 0;
	p->frame = previous == p->base ? 0 : previous;
	if (l->how == PYTHON_OWNED && entry >= PYTHON_OWNER_C)
		return PYTHON_END;
	if (!python_read_code(p, l, code, ret))
		return PYTHON_BROKEN;
	ret->lines = PYTHON_AT(p->code_words, t->table);
	ret->at = python_place(p, l, t, at, code, copy);
	return l->how == PYTHON_EACH || (l->how == PYTHON_MARKED && entry) ?
	       PYTHON_LAST : PYTHON_FRAME;
}

#define PYTHON_ENTRY_FAR	64	/* frames of one loop */

/* The frame that the loop of the next frame keeps on the stack, after its last one; 0:
 * not known. */
static __always_inline __u64 python_entry_frame(struct python_state *p)
{
	const struct python_layout *l = python_layout(p->version);
	__u64 frame = p->frame, word;

	for (int i = 0; i < PYTHON_ENTRY_FAR && frame && l->how == PYTHON_OWNED; i++) {
		p->reads += 2;
		word = user_word(frame + (l->entry & ~7));
		if ((word >> (8 * (l->entry & 7)) & 0xff) >= PYTHON_OWNER_C)
			return frame;
		frame = user_word(frame + l->previous);
	}
	return 0;
}

/* Has the walk passed over that loop's own frame, between these stack pointers? */
static __always_inline int python_passed_over(struct python_state *p, __u64 from, __u64 sp)
{
	/* once a frame: the profiled process must not choose how often */
	if (p->entry_of != p->frame) {
		p->entry_of = p->frame;
		p->entry = python_entry_frame(p);
	}
	return p->entry && p->entry >= from && p->entry < sp;
}

/* --- text -------------------------------------------------------------------------- */

struct python_text {
	__u64 at;		/* of the characters */
	__u32 bytes;		/* of all of them */
	__u32 kind;		/* bytes of one: 1 (0: and all are ASCII), 2, 4 */
};

/* Find the characters of a string; false: it is none, or of an unknown form.  Its type
 * has the size of PyUnicodeObject, a pointer more than the compact one: with the layout
 * of another version, memory after the characters would be read. */
static __always_inline int python_read_str(struct python_state *p, __u64 str,
					   struct python_text *ret)
{
	const struct python_layout *l = python_layout(p->version);
	__u64 len, type;
	__u32 state;

	if (bpf_probe_read_user(p->str_words, PYTHON_STR_BYTES, (void *)str))
		return 0;
	type = PYTHON_AT(p->str_words, l->ob_type);
	if (!type || (type != p->str_type &&
		      !python_is_type(p->version, type, PYTHON_TYPE_OF_STR)))
		return 0;
	p->str_type = type;
	len = PYTHON_AT(p->str_words, l->length);
	state = PYTHON_AT(p->str_words, l->state) >> (l->interned & 31);
	ret->kind = PYTHON_STR_KIND(state);
	if (!PYTHON_STR_COMPACT(state) || len > 1 << 16 ||
	    (ret->kind != 1 && ret->kind != 2 && ret->kind != 4))
		return 0;
	ret->bytes = len * ret->kind;
	ret->at = str + (PYTHON_STR_ASCII(state) ? l->ascii : l->compact);
	if (PYTHON_STR_ASCII(state))
		ret->kind = 0;
	return 1;
}

/* Find a table of lines, .kind: enum python_lines_form; false: it is no bytes object. */
static __always_inline int python_read_bytes(struct python_state *p, __u64 bytes,
					     struct python_text *ret)
{
	const struct python_layout *l = python_layout(p->version);
	__u64 len, type;

	if (bpf_probe_read_user(p->str_words, PYTHON_STR_BYTES, (void *)bytes))
		return 0;
	type = PYTHON_AT(p->str_words, l->ob_type);
	if (!type || (type != p->bytes_type &&
		      !python_is_type(p->version, type, PYTHON_TYPE_OF_BYTES)))
		return 0;
	p->bytes_type = type;
	len = PYTHON_AT(p->str_words, l->length);
	ret->bytes = len < 1 << 20 ? len : 0;
	ret->kind = python_lines(p->version)->form;
	ret->at = bytes + l->length + PYTHON_BYTES_DATA;
	return 1;
}

#endif /* BPF_PYTHON_READ_BPF_H */
