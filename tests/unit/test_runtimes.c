// SPDX-License-Identifier: Apache-2.0
/* The table of runtimes: what the hub, encoders and workers rely on. */
#include "symbolizerd/runtimes/runtimes.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bpf/frame.h"
#include "ipc/message_hub.h"
#include "tests/unit/harness.h"

TEST(numbers_of_runtimes_never_change)
{
	CHECK_EQ(RUNTIME_NONE, 0);
	CHECK_EQ(RUNTIME_GO, 1);
	CHECK_EQ(RUNTIME_PYTHON, 2);
	CHECK_EQ(RUNTIME_HOTSPOT, 3);
}

TEST(each_runtime_has_a_row_for_batches)
{
	CHECK_EQ(runtime_info(RUNTIME_NONE)->code, BATCH_FRAME_NATIVE);
	CHECK_STR(runtime_info(RUNTIME_NONE)->id_key, "");
	for (uint32_t i = 1; i < RUNTIME__MAX; i++) {
		const struct runtime_info *info = runtime_info(i);

		/* native code of its files is code of a file */
		CHECK_EQ(frame_kind_class(info->code), FRAMES_FILE);
		CHECK(info->id_key != NULL);
		for (uint32_t k = 1; k < i; k++)
			CHECK(!info->id_key[0] ||
			      strcmp(info->id_key, runtime_info(k)->id_key));
	}
}

/* Each source is whole, and there is an end. */
TEST(sources_of_names_are_whole)
{
	size_t n = 0;

	for (; runtimes_symbols(n); n++) {
		const struct symbol_source *s = runtimes_symbols(n);

		CHECK(s->open && s->function && s->name && s->lines &&
		      s->close);
	}
	CHECK(n > 0 && n < RUNTIME__MAX);
}

TEST(only_runtimes_with_frames_of_their_own_name_any)
{
	const uint64_t word = FRAME_ANON_WORD(0x1000);
	struct process_memory m = { -1, 1, 1 };
	static struct frame_names_build names;

	frame_names_begin(&names, 1);
	/* Go's frames are native ones, CPython's names come with the samples */
	for (uint32_t i = 0; i <= RUNTIME__MAX; i++) {
		bool visited = i < RUNTIME__MAX && runtime_info(i)->flags & RUNTIME_VISITED;

		CHECK_EQ(visited, i == RUNTIME_HOTSPOT);
		CHECK_EQ(runtimes_names(i, &m, &word, 1, &names),
			 visited ? JOB_OK : JOB_NO_NAMES);
	}
	CHECK_EQ(names.named, 0);
}

TEST(an_ordinary_program_is_of_no_runtime)
{
	struct runtime_facts facts;
	struct elf_file f;
	int fd = open("/proc/self/exe", O_RDONLY);

	CHECK(fd >= 0);
	CHECK_EQ(elf_file_open(&f, fd), 0);
	memset(&facts, 0xff, sizeof(facts));
	runtimes_detect(&f, &facts);
	CHECK_EQ(facts.runtime, RUNTIME_NONE);
	CHECK_STR(facts.id, "");
	elf_file_close(&f);
	close(fd);
}
