// SPDX-License-Identifier: Apache-2.0
/*
 * Names of methods as a worker reads them from a process's memory: the right ones in each
 * version, none of what is no method, and an end whatever the memory says.
 */
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/hotspot_read.bpf.h"

#include "bpf/frame.h"
#include "bpf/runtime.h"
#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/hotspot/names.h"
#include "tests/unit/hotspot_memory.h"

#define BASE	0x7f0000000000ULL	/* where it is in the file, too */
#define SIZE	(1 << 14)
#define FRAMES	256

static char memory[SIZE];
static struct frame_names_build names;
static struct process_memory mem;
static uint64_t words[2 * FRAMES];

/* What the sampler's functions read here: for cookies. */
long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 off = (__u64)(uintptr_t)src - BASE;

	memset(dst, 0, size);
	if (off > SIZE || SIZE - off < size)
		return -EFAULT;
	memcpy(dst, memory + off, size);
	return 0;
}

static __u64 word_of(__u64 method)
{
	static struct hotspot_state h;

	h.vm.version = hs.version;
	CHECK(hotspot_read_method(&h, method));
	return MANAGED_WORD(RUNTIME_HOTSPOT, MANAGED_COOKIE(h.fingerprint >> 40), 0ULL);
}

static void ask(size_t frame, __u64 method)
{
	words[2 * frame] = word_of(method);
	words[2 * frame + 1] = method;
}

/* A method for each frame: of a class with a file and of one without, in turns. */
static __u64 made[2];

static void make(__u32 version)
{
	struct hs_class with, without;

	memset(memory, 0, sizeof(memory));
	hs = (struct hs_memory){ .start = BASE, .b = memory, .size = SIZE,
				 .version = version };
	hs_alloc(64);
	with = hs_class("a/b/C", "C.java");
	made[0] = hs_method(&with, "run", "(I[Ljava/lang/String;)V", "\x0a\x12");
	without = hs_class("D", NULL);
	made[1] = hs_method(&without, "<init>", "()V", NULL);
	for (size_t i = 0; i < FRAMES; i++)
		ask(i, made[i % 2]);
}

/* Read names of so many frames out of the first `bytes` of the memory. */
static void visit(size_t frames, size_t bytes)
{
	int fd = memfd_create("memory", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(pwrite(fd, memory, bytes, (off_t)BASE) == (ssize_t)bytes);
	mem = (struct process_memory){ fd, PROCESS_MEMORY_READS, PROCESS_MEMORY_BYTES };
	frame_names_begin(&names, (uint32_t)frames);
	CHECK_EQ(hotspot_names(&mem, words, 2 * frames, &names), JOB_OK);
	close(fd);
}

/* The answer, as the hub opens it. */
static struct frame_names answer(size_t frames)
{
	static char data[FRAME_NAMES_BYTES_MAX] __attribute__((__aligned__(8)));
	struct frame_names ret;
	struct iovec parts[3];
	size_t n = 0;

	frame_names_end(&names, parts);
	for (int i = 0; i < 3; i++) {
		memcpy(data + n, parts[i].iov_base, parts[i].iov_len);
		n += parts[i].iov_len;
	}
	CHECK_EQ(frame_names_open(data, n, (uint32_t)frames, &ret), 0);
	return ret;
}

static const char *first_name(void)
{
	struct frame_names n = answer(1);

	return frame_names_place(&n, 0).name;
}

/* --- right --------------------------------------------------------------------------- */

TEST(names_of_methods_in_each_version)
{
	EACH_LAYOUT(v) {
		struct frame_names n;

		make(v);
		visit(FRAMES, SIZE);
		n = answer(FRAMES);
		CHECK_EQ(n.n, 2 * FRAMES);
		for (uint32_t i = 0; i < n.n; i++) {
			struct symbol_place p = frame_names_place(&n, i);

			CHECK_EQ(n.v[i].frame, i / 2);
			CHECK_STR(p.name, i % 4 == 0 ? "a.b.C.run" :
				  i % 4 == 1 ? "a.b.C.run(int, java.lang.String[])" :
				  i % 4 == 2 ? "D.<init>" : "D.<init>()");
			CHECK_STR(p.file, i % 4 ? "" : "C.java");
		}
	}
}

/* The beginning of a name, the end of class and file: as the sampler sends them. */
TEST(names_that_are_long_are_cut)
{
	char text[500], class[200], want[600];
	struct frame_names n;
	struct hs_class c;

	make(17);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memset(class, 'y', sizeof(class) - 1);
	class[sizeof(class) - 1] = '\0';
	c = hs_class(class, text);
	ask(0, hs_method(&c, text, "()V", NULL));
	visit(1, SIZE);
	snprintf(want, sizeof(want), "...%.120s.%.120s", class, text);
	CHECK_STR(first_name(), want);
	n = answer(1);
	CHECK_EQ(strlen(frame_names_place(&n, 0).file), 3 + TEXT_BYTES);
}

/* --- wrong --------------------------------------------------------------------------- */

TEST(names_of_another_method_are_not_given)
{
	make(17);
	words[0] ^= 1ULL << 30;			/* the cookie */
	visit(1, SIZE);
	CHECK_STR(first_name(), "");
	make(17);
	words[1] += 8;
	visit(1, SIZE);
	CHECK_STR(first_name(), "");
	/* a class that does not say that this is its pool */
	make(17);
	hs_put(hs_get(hs_get(hs_get(words[1] + 8) + 8) + hs_layout()->holder) +
		       hs_layout()->klass_constants, BASE + 64);
	visit(1, SIZE);
	CHECK_STR(first_name(), "");
}

TEST(names_of_other_words_are_not_given)
{
	make(17);
	words[0] = MANAGED_WORD(RUNTIME_PYTHON, MANAGED_COOKIE_OF(words[0]), 0ULL);
	visit(1, SIZE);
	CHECK_STR(first_name(), "");
	/* of one frame, whatever it is, the next has its own */
	words[0] = FRAME_WITH_MORE(FRAME_WORD(FRAME_FILE, 0, 0), 3);
	ask(2, made[0]);
	frame_names_begin(&names, 2);
	mem = (struct process_memory){ -1, 9, 9 };
	CHECK_EQ(hotspot_names(&mem, words, 3, &names), JOB_OK);
	CHECK_EQ(hotspot_names(&mem, words, 1, &names), JOB_OK);
	CHECK_EQ(hotspot_names(&mem, words, 0, &names), JOB_OK);
	CHECK_EQ(mem.reads, 9);
}

/* Each end of the memory: a name is whole or not there. */
TEST(names_survive_truncated_memory)
{
	EACH_LAYOUT(v) {
		int some = 0;

		make(v);
		for (size_t n = 8; n < SIZE; n += 4) {
			const char *name;

			visit(1, n);
			name = first_name();
			CHECK(!*name || !strcmp(name, "a.b.C.run"));
			some += *name != 0;
		}
		CHECK(some > 0);
	}
}

/* Any byte is another: there is an end, and what is said can be opened. */
TEST(names_survive_memory_that_lies)
{
	srand(1);
	for (int i = 0; i < 4000; i++) {
		EACH_LAYOUT(v) {
			if (v != 8 && v != 17 && v != 25 + HOTSPOT_BSM)
				continue;
			make(v);
			for (int k = 1 + rand() % 3; k > 0; k--)
				memory[(size_t)rand() % hs.n] = (char)(rand() % 3 ? rand() : 255);
			visit(2, SIZE);
			answer(2);
		}
	}
}

/* What no layout takes costs a bounded number of reads. */
TEST(names_of_nothing_cost_little)
{
	uint32_t used;

	make(25);
	for (size_t i = 0; i < FRAMES; i++)
		words[2 * i] ^= 1ULL << 30;
	visit(FRAMES, SIZE);
	used = PROCESS_MEMORY_READS - mem.reads;
	printf("# %u reads\n", used);
	CHECK(used < PROCESS_MEMORY_READS / 2);
	CHECK_EQ(answer(FRAMES).n, FRAMES);
	CHECK_STR(names.strings, "");
	/* and what all layouts take, but for its names, too */
	make(25);
	hs_put(hs_get(hs_get(made[0] + 8) + 8) + hs_layout()->tags, BASE + 64);
	visit(FRAMES, SIZE);
	CHECK(mem.reads > PROCESS_MEMORY_READS / 2);
}
