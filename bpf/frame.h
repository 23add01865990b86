/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * frame - the words that the stacks of a record (record.h) are made of
 */
#ifndef BPF_FRAME_H
#define BPF_FRAME_H

#include "file.h"
#include "record.h"

#define FRAMES_MAX	1024		/* user frames a sample */
#define SAMPLE_NS	4000000ULL	/* time of a sample, after which its stack is cut; */
#define SAMPLE_FRAME_NS	4000ULL		/* ... and more for each user frame: 8 ms in all */
#define SAMPLE_SURE	64		/* user frames that it has time for, however long */
#define GUESSES_MAX	8		/* of them, guessed callers */

/*
 * A frame is a word followed by 0 to 15 others.  Bits 63..60 of the word are its kind;
 * 59..56 say how many words follow, so that a reader can skip a kind that it does not
 * know; then number (20 bits) and place (36: files of up
 * to 64 GiB), or an address (56: user space of all machines).  Leaf first.  For
 * all frames but the first, signal frames and the first one above these, the
 * place is the return address minus one.
 */
enum frame_kind {
	FRAME_NONE = 0,		/* never sent */
	FRAME_KERNEL = 1,	/* number: kernel symbol; place: offset in it */
	FRAME_NATIVE = 2,	/* number: executable; place: file offset */
	FRAME_FILE = 3,		/* file without a number yet; place: file
				 * offset; then KEY_WORDS of struct file_key */
	FRAME_ANON = 4,		/* address: in memory of no file */
	FRAME_CUT = 5,		/* FRAMES_MAX or SAMPLE_NS reached: what follows is missing */
	FRAME_MANAGED = 6,	/* a runtime's: MANAGED_WORD; then what stands for the
				 * function: the address of an object, mostly */
	FRAME_TEXT = 7,		/* no frame: a name of the managed frame that follows;
				 * number: TEXT_NUMBER */
	FRAME_LOOP = 8,		/* as FRAME_NATIVE, of an interpreter's loop, which ran
				 * the managed frames before it */
	FRAME_GUESS = 9,	/* no frame: the caller that follows is guessed (guess.bpf.h);
				 * number: enum stop_reason that the stack would have here */
	FRAME__KINDS
};
_Static_assert(FRAME__KINDS <= 16, "kinds: 4 bits");
#define FRAME_KIND_SHIFT	60
#define FRAME_MORE_SHIFT	56
#define FRAME_MORE_MAX		15	/* words after the first */
#define FRAME_NUMBER_SHIFT	36
#define FRAME_NUMBER_MASK	0xfffffULL
#define FRAME_PLACE_MASK	0xfffffffffULL
#define FRAME_ADDR_MASK		0xffffffffffffffULL
#define FRAME_WORD(kind, number, place)					\
	(((__u64)(kind) << FRAME_KIND_SHIFT) |				\
	 (((__u64)(number) & FRAME_NUMBER_MASK) << FRAME_NUMBER_SHIFT) | \
	 ((__u64)(place) & FRAME_PLACE_MASK))
#define FRAME_WITH_MORE(word, more)					\
	((word) | ((__u64)(more) << FRAME_MORE_SHIFT))
#define FRAME_LOOP_WORD(native)						\
	FRAME_WORD(FRAME_LOOP, FRAME_NUMBER(native), FRAME_PLACE(native))
#define FRAME_GUESS_WORD(why)	FRAME_WORD(FRAME_GUESS, why, 0)
#define FRAME_FILE_WORD(place)						\
	FRAME_WITH_MORE(FRAME_WORD(FRAME_FILE, 0, place), KEY_WORDS)
#define FRAME_ANON_WORD(addr)						\
	(((__u64)FRAME_ANON << FRAME_KIND_SHIFT) |			\
	 ((__u64)(addr) & FRAME_ADDR_MASK))

/*
 * FRAME_MANAGED: the runtime (6 bits of the number), the place in the function (in units of
 * the runtime, for a line), and a cookie (22 bits), which differs when the address is
 * reused for another function.  Then 1 to 3 words that stand for the function, of which
 * the runtime says what they are.
 */
#define MANAGED_AT_MAX		0xfffffffULL	/* not known */
#define MANAGED_AT_START	(MANAGED_AT_MAX - 1)	/* before the first instruction */
#define MANAGED_RUNTIMES	64
#define MANAGED_WORDS_MAX	3
#define MANAGED_COOKIE(x)	((__u32)((x) & 0x3fffff))
#define MANAGED_WORD_WITH(runtime, cookie, at, words)			\
	FRAME_WITH_MORE(FRAME_WORD(FRAME_MANAGED,			\
				   (runtime) | (cookie) >> 8 << 6,	\
				   ((__u64)(cookie) & 0xff) << 28 | (at)), words)
#define MANAGED_WORD(runtime, cookie, at)				\
	MANAGED_WORD_WITH(runtime, cookie, at, 1)
#define MANAGED_RUNTIME(w)	(FRAME_NUMBER(w) & (MANAGED_RUNTIMES - 1))
#define MANAGED_COOKIE_OF(w)						\
	((FRAME_NUMBER(w) >> 6) << 8 | (__u32)(FRAME_PLACE(w) >> 28))
#define MANAGED_AT(w)		((__u32)(FRAME_PLACE(w) & MANAGED_AT_MAX))

/*
 * FRAME_TEXT: which, and the form of its bytes, which are padded with NULs.
 * NAME: form: enum text_form; place: the function's first line, 0: not known.
 * FILE, CLASS: likewise; place: how many bytes are missing in front.
 * SIGNATURE: likewise; place: 0.
 * LINES: form: of the runtime; place: how many bytes of the table were before.
 */
enum frame_text {
	TEXT_NAME = 1,
	TEXT_FILE = 2,
	TEXT_LINES = 3,
	TEXT_CLASS = 4,
	TEXT_SIGNATURE = 5,
};
enum text_form {
	FORM_ASCII = 0,
	FORM_LATIN1 = 1,
	FORM_UTF16 = 2,		/* this and UTF-32: in the machine's byte order */
	FORM_MUTF8 = 3,		/* NUL is two bytes, what is beyond U+FFFF six */
	FORM_UTF32 = 4,
	FORM_UTF8 = 5,
	FORM__MAX
};
#define LINES_FORMS	16	/* tables of lines: forms of the runtime's own, from 1 to this */
#define TEXT_NUMBER(which, form)	((which) | (form) << 4)
#define TEXT_WHICH(number)		((number) & 15)
#define TEXT_FORM(number)		((number) >> 4)
#define TEXT_BYTES	(8 * FRAME_MORE_MAX)	/* at most in one */
#define TEXT_LINES_MAX	32			/* of a function: 3,840 bytes */

#define FRAME_KIND(w)		((__u32)((w) >> FRAME_KIND_SHIFT))
#define FRAME_MORE(w)							\
	((__u32)((w) >> FRAME_MORE_SHIFT) & FRAME_MORE_MAX)
#define FRAME_NUMBER(w)							\
	((__u32)(((w) >> FRAME_NUMBER_SHIFT) & FRAME_NUMBER_MASK))
#define FRAME_PLACE(w)		((w) & FRAME_PLACE_MASK)
#define FRAME_ADDR(w)		((w) & FRAME_ADDR_MASK)
_Static_assert(KSYM_WORD(5, 7) == FRAME_WORD(FRAME_KERNEL, 5, 7),
	       "what loaderd writes is a frame");

#endif /* BPF_FRAME_H */
