/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * frame - the words that the stacks of a record (record.h) are made of
 */
#ifndef BPF_FRAME_H
#define BPF_FRAME_H

#include "file.h"
#include "record.h"

#define FRAMES_MAX	1024		/* user frames a sample */

/*
 * A frame is a word and 0 to 15 more behind it.  Bits 63..60 of the word are
 * its kind; 59..56 say how many words follow, so that a record can be walked by
 * who does not know the kind; then number (20 bits) and place (36: files of up
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
	FRAME_CUT = 5,		/* FRAMES_MAX reached: what follows is missing */
	FRAME_MANAGED = 6,	/* number: enum runtime; then what stands for the
				 * function in this process, and its cookie */
	FRAME_TEXT = 7,		/* no frame: bytes of a name of the managed frame
				 * that follows; number: TEXT_NUMBER */
	FRAME__KINDS
};
_Static_assert(FRAME__KINDS <= 16, "kinds: 4 bits");
#define MANAGED_WORDS	2		/* behind the first of FRAME_MANAGED */

/* Which name the bytes of a FRAME_TEXT are, and their form: UTF-16 and UTF-32
 * without surrogates, Latin-1, ASCII.  place: for a name the first line of the
 * function, for a file how many bytes are missing in front. */
enum frame_text {
	TEXT_NAME = 1,
	TEXT_FILE = 2,
};
#define TEXT_NUMBER(which, kind)	((which) | (kind) << 4)
#define TEXT_WHICH(number)		((number) & 15)
#define TEXT_KIND(number)		((number) >> 4)	/* bytes of a character;
							 * 0: ASCII */
#define TEXT_BYTES	(8 * FRAME_MORE_MAX)	/* at most; the rest is NUL */

#define FRAME_KIND_SHIFT	60
#define FRAME_MORE_SHIFT	56
#define FRAME_MORE_MAX		15	/* words behind the first */
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
#define FRAME_FILE_WORD(place)						\
	FRAME_WITH_MORE(FRAME_WORD(FRAME_FILE, 0, place), KEY_WORDS)
#define FRAME_ANON_WORD(addr)						\
	(((__u64)FRAME_ANON << FRAME_KIND_SHIFT) |			\
	 ((__u64)(addr) & FRAME_ADDR_MASK))
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
