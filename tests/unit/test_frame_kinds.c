// SPDX-License-Identifier: Apache-2.0
/* The table of frame kinds: what its readers take for granted of every row. */
#include "ipc/frame_kinds.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/harness.h"

TEST(numbers_of_kinds_never_change)
{
	/* batches and recordings that exist carry them */
	CHECK_EQ(BATCH_FRAME_NONE, 0);
	CHECK_EQ(BATCH_FRAME_KERNEL, 1);
	CHECK_EQ(BATCH_FRAME_NATIVE, 2);
	CHECK_EQ(BATCH_FRAME_GO, 3);
	CHECK_EQ(BATCH_FRAME_UNKNOWN, 4);
	CHECK_EQ(BATCH_FRAME_CUT, 5);
	CHECK_EQ(BATCH_FRAME_PYTHON, 6);
	CHECK_EQ(BATCH_FRAME_JIT, 7);
	CHECK_EQ(BATCH_FRAME_JVM, 8);
	CHECK_EQ(BATCH_FRAME_GUESS, 9);
}

/* The texts go into JSON and HTML as they are. */
static bool plain(const char *s)
{
	return !strpbrk(s, "\"\\<>&\n");
}

TEST(each_row_is_whole)
{
	for (uint32_t k = 0; k < BATCH_FRAME__KINDS; k++) {
		const struct frame_kind_info *i = frame_kind_info(k);

		CHECK(plain(i->name) && plain(i->shown));
		CHECK(i->title[0] && plain(i->title));
		CHECK(i->colour[0] && plain(i->colour));
		CHECK_EQ(k == BATCH_FRAME_NONE, i->class == FRAMES_PROCESS);
		CHECK_EQ(k == BATCH_FRAME_NONE, !i->name[0]);
		/* what has no file and no symbol needs words */
		CHECK_EQ(i->class == FRAMES_FILE || i->class == FRAMES_PROCESS,
			 !i->shown[0]);
	}
}

TEST(names_tell_kinds_apart)
{
	for (uint32_t k = 0; k < BATCH_FRAME__KINDS; k++) {
		for (uint32_t i = 0; i < k; i++) {
			CHECK(strcmp(frame_kind_info(k)->name,
				     frame_kind_info(i)->name));
			CHECK(strcmp(frame_kind_info(k)->title,
				     frame_kind_info(i)->title));
		}
	}
}

TEST(people_filter_by_kinds_of_code)
{
	CHECK(frame_kind_filter(BATCH_FRAME_NONE) == NULL);
	CHECK(frame_kind_filter(BATCH_FRAME_CUT) == NULL);
	CHECK_STR(frame_kind_filter(BATCH_FRAME_KERNEL), "kernel");
	CHECK_STR(frame_kind_filter(BATCH_FRAME_GO), "go");
	CHECK_STR(frame_kind_filter(BATCH_FRAME_UNKNOWN), "unknown");
}

/* "kinds: 1 kernel, 2 native, ..." */
TEST(protocol_document_names_every_kind)
{
	FILE *f = fopen("docs/PROTOCOL.md", "r");
	char want[512] = "kinds:", line[4096];
	size_t at = strlen(want);
	bool found = false;

	CHECK(f != NULL);
	for (uint32_t k = 1; k < BATCH_FRAME__KINDS; k++)
		at += (size_t)snprintf(want + at, sizeof(want) - at, "%s %u %s",
				       k > 1 ? "," : "", k,
				       frame_kind_info(k)->name);
	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, want) != NULL;
	CHECK(found);
	if (f)
		fclose(f);
}
