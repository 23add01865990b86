/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_objects - methods of HotSpot in a memory of other words, and whether what a
 * record says is of such a method
 *
 * A part of test_words.c, which says which words there are.  All text is of the letter
 * x, and tables of lines are of one byte: so what is anything else is known.
 */
#ifndef TESTS_HOTSPOT_OBJECTS_H
#define TESTS_HOTSPOT_OBJECTS_H

#include "ipc/runtimes.h"
#include "tests/unit/hotspot_memory.h"

#define HS_METHODS	12
#define HS_LINE		0x11

static __u64 hs_methods[HS_METHODS];
static __u32 hs_said_version;	/* true or not */
static __u64 hs_root;

static __u32 hs_any_version(void)
{
	__u32 v;

	do {
		v = below(HOTSPOT_LAYOUTS);
	} while (!hotspot_has_layout(v));
	return v;
}

static const char *hs_letters(void)
{
	static const __u32 lens[] = { 1, 7, 24, 150, 400 };
	static char text[512];

	memset(text, 'x', sizeof(text));
	text[lens[below(5)]] = '\0';
	return text;
}

/* Classes and methods; some have something wrong. */
static void hs_make_methods(void)
{
	static char lines[64];
	struct hs_class c = { 0 };

	memset(lines, HS_LINE, sizeof(lines) - 1);
	for (int i = 0; i < HS_METHODS; i++) {
		if (i % 3 == 0)
			c = hs_class(hs_letters(), below(4) ? hs_letters() : NULL);
		hs_methods[i] = hs_method(&c, hs_letters(), hs_letters(),
					  below(2) ? lines : NULL);
		if (i % 3 == 2 && below(3) == 0)
			hs_put(c.pool + hs_layout()->holder, any_word());
	}
}

/* A code cache with all kinds of code, whose methods are these or any words. */
static void hs_make_code(void)
{
	static struct hs_inlined scopes[8];
	struct hs_place places[2] = { { 100, scopes, 5 }, { 300, scopes + 5, 3 } };

	for (int i = 0; i < 8; i++)
		scopes[i] = (struct hs_inlined){
			below(8) ? hs_methods[below(HS_METHODS)] : any_word(),
			below(HS_CODE + 20) };
	hs_blob("Interpreter", 9000, 0, 0);
	hs_blob("StubRoutines (1)", 1000, 0, 0);
	hs_blob("vtable chunks", 1000, 0, 0);
	hs_blob("a stub", 1000, 0, 4);
	for (int i = 0; i < 3; i++)
		hs_nmethod(i == 2 ? "native nmethod" : "nmethod",
			   below(8) ? hs_methods[below(HS_METHODS)] : any_word(),
			   1 + below(12), below(2) ? 0 : 40, places, 2);
}

/* By one of the layouts, as none says which one the adversary took. */
static int hs_is_cookie(__u32 cookie, __u64 method)
{
	EACH_LAYOUT(v) {
		const struct hotspot_layout *l = &hotspot_layouts[v];
		__u64 at = hs_get(method + l->const_method), h;

		h = (at * HASH_FACTOR + hs_get(at + l->constants)) *
			    HASH_FACTOR +
		    (__u16)hs_get(at + l->method_name) +
		    ((__u64)(__u16)hs_get(at + l->signature) << 16) +
		    ((__u64)(__u16)hs_get(at + l->code_size) << 32);
		if (MANAGED_COOKIE(h >> 40) == cookie)
			return 1;
	}
	return 0;
}

static void hs_check_text(const __u64 *w)
{
	__u32 which = TEXT_WHICH(FRAME_NUMBER(*w));
	const __u8 *b = (const void *)(w + 1);
	size_t n = 8 * FRAME_MORE(*w);

	for (size_t i = 0; i < n; i++)
		CHECK(!b[i] || b[i] == (which == TEXT_LINES ? HS_LINE : 'x'));
}

static unsigned long hs_frames, hs_own, hs_texts;

/* texts: what was said of this frame's method. */
static void hs_check_frame(const __u64 *w, const __u64 *const *texts, __u32 n)
{
	int found = w[1] > HOTSPOT_NONE && w[1] <= HOTSPOT_INTERPRETER;

	if (found) {
		CHECK_EQ(n, 0);
		CHECK_EQ(MANAGED_COOKIE_OF(*w), 0);
		CHECK_EQ(MANAGED_AT(*w), MANAGED_AT_MAX);
		hs_own++;
		return;
	}
	for (int i = 0; i < HS_METHODS; i++)
		found |= hs_methods[i] == w[1];
	CHECK(found);
	CHECK(hs_is_cookie(MANAGED_COOKIE_OF(*w), w[1]));
	CHECK(MANAGED_AT(*w) == MANAGED_AT_MAX || MANAGED_AT(*w) < HS_CODE);
	for (__u32 i = 0; i < n; i++)
		hs_check_text(texts[i]);
	hs_frames++;
	hs_texts += n;
}

#endif /* TESTS_HOTSPOT_OBJECTS_H */
