// SPDX-License-Identifier: Apache-2.0
/*
 * Words of a thread, on the host: TLS made up as glibc and musl lay it out on x86-64.
 * test_thread_arm.c is the same for AArch64.
 */
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <string.h>

#include "bpf/thread_read.bpf.h"

#define BASE	0x7f0000000000ULL
#define SIZE	65536
#define TP	(BASE + 0x4000)
#define VALUE	0x1234567890ULL

static char memory[SIZE];
static int reads;

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 off = (__u64)(uintptr_t)src - BASE;

	reads++;
	if (off > SIZE || SIZE - off < size) {
		memset(dst, 0, size);
		return -EFAULT;
	}
	memcpy(dst, memory + off, size);
	return 0;
}

static void put(__u64 addr, __u64 v)
{
	CHECK(addr - BASE <= SIZE - sizeof(v));
	memcpy(memory + (addr - BASE), &v, sizeof(v));
}

/* --- threads as libcs make them --------------------------------------------------- */

#ifdef __TARGET_ARCH_arm64
static __u64 glibc_bytes = 1824;		/* sizeof(struct pthread), 2.41 */
#define GLIBC_AT	(TP - glibc_bytes)
#else
#define GLIBC_AT	TP
#endif

/* struct pthread, and a dtv at .dtv */
static void make_glibc(void)
{
	__u64 specific = GLIBC_AT + GLIBC_SPECIFIC;

	memset(memory, 0, sizeof(memory));
	put(specific, specific - 512);
	put(GLIBC_DTV(TP), BASE + 0x8000);
#ifndef __TARGET_ARCH_arm64
	put(TP, TP);			/* tcbhead_t.tcb, .self */
	put(TP + 16, TP);
	put(TP + 24, 1);		/* multiple_threads */
#endif
}

static void make_musl(void)
{
	memset(memory, 0, sizeof(memory));
	put(MUSL_SELF(TP), MUSL_SELF(TP));
	put(MUSL_DTV(TP), BASE + 0x8000);
	put(MUSL_SELF(TP) + TSD_OF_MUSL, BASE + 0x9000);
#ifndef __TARGET_ARCH_arm64
	put(TP + 16, TP);		/* .prev, .next */
	put(TP + 24, TP);
#endif
}

static __u64 word(__u32 how, __u64 at)
{
	return thread_word_of(TP, how, at);
}

/* --- keys -------------------------------------------------------------------------- */

static __u64 by_key(__u32 key)
{
	put(BASE + 64, key | 0xdeadULL << 32);
	return word(THREAD_KEY, BASE + 64);
}

TEST(thread_key_of_glibc)
{
	__u64 first = GLIBC_AT + GLIBC_SPECIFIC - 512;

	make_glibc();
	CHECK_EQ(by_key(0), 0);
	for (__u32 key = 0; key < 32; key++)
		put(first + 16 * key + 8, VALUE + key);
	for (__u32 key = 0; key < 32; key++)
		CHECK_EQ(by_key(key), VALUE + key);
}

TEST(thread_key_of_glibc_in_a_later_block)
{
	make_glibc();
	CHECK_EQ(by_key(100), 0);
	put(GLIBC_AT + GLIBC_SPECIFIC + 8 * 3, BASE + 0xa000);
	put(BASE + 0xa000 + 16 * 4 + 8, VALUE);
	CHECK_EQ(by_key(100), VALUE);
	CHECK_EQ(by_key(101), 0);
	CHECK_EQ(by_key(1024), 0);
	CHECK_EQ(by_key(UINT32_MAX), 0);
}

TEST(thread_key_of_musl)
{
	make_musl();
	put(BASE + 0x9000 + 8 * 5, VALUE);
	put(BASE + 0x9000 + 8 * 127, VALUE + 1);
	put(BASE + 0x9000 + 8 * 128, VALUE + 2);
	CHECK_EQ(by_key(5), VALUE);
	CHECK_EQ(by_key(127), VALUE + 1);
	CHECK_EQ(by_key(128), 0);
	CHECK_EQ(by_key(4), 0);
}

TEST(thread_key_of_no_libc_that_is_known)
{
	memset(memory, 0, sizeof(memory));
	CHECK_EQ(by_key(3), 0);
	memset(memory, 0xff, sizeof(memory));
	CHECK_EQ(by_key(3), 0);
	CHECK_EQ(word(THREAD_KEY, 0), 0);
}

#ifdef __TARGET_ARCH_arm64
TEST(thread_key_whatever_the_size_of_the_descriptor)
{
	for (glibc_bytes = 1760; glibc_bytes <= 2032; glibc_bytes += 16) {
		make_glibc();
		put(GLIBC_AT + GLIBC_SPECIFIC - 512 + 16 * 7 + 8, VALUE);
		CHECK_EQ(by_key(7), VALUE);
	}
	glibc_bytes = 1824;
}
#endif

/* --- variables --------------------------------------------------------------------- */

TEST(thread_variable_at_a_distance)
{
	make_glibc();
	put(TP - 64, VALUE);
	put(TP + 0x700, VALUE + 1);
	CHECK_EQ(word(THREAD_TP, (__u64)-64), VALUE);
	CHECK_EQ(word(THREAD_TP, 0x700), VALUE + 1);
	put(BASE + 64, (__u64)-64);
	CHECK_EQ(word(THREAD_IE, BASE + 64), VALUE);
	put(BASE + 64, 0);		/* not relocated yet */
	CHECK_EQ(word(THREAD_IE, BASE + 64), 0);
}

static void check_module(int bytes)
{
	put(BASE + 64, 3);
	put(BASE + 72, 0x20);
	CHECK_EQ(word(THREAD_GD, BASE + 64), 0);
	put(BASE + 0x8000 + bytes * 3, BASE + 0xb000);
	put(BASE + 0xb020, VALUE);
	CHECK_EQ(word(THREAD_GD, BASE + 64), VALUE);
	put(BASE + 0x8000 + bytes * 3, UINT64_MAX);
	CHECK_EQ(word(THREAD_GD, BASE + 64), 0);
	put(BASE + 0x8000 + bytes * 3, BASE + 0xb000);
	/* the descriptor of a module that was loaded later */
	put(BASE + 96, BASE + 0x100);	/* some function */
	put(BASE + 104, BASE + 64);
	CHECK_EQ(word(THREAD_DESC, BASE + 96), VALUE);
	put(BASE + 96, 0);
	CHECK_EQ(word(THREAD_DESC, BASE + 96), 0);
	for (__u64 module = 4096; module; module <<= 1) {
		put(BASE + 64, module);
		CHECK_EQ(word(THREAD_GD, BASE + 64), 0);
	}
	put(BASE + 64, 0);
	CHECK_EQ(word(THREAD_GD, BASE + 64), 0);
}

TEST(thread_variable_of_a_module_with_glibc)
{
	make_glibc();
	check_module(16);
}

TEST(thread_variable_of_a_module_with_musl)
{
	make_musl();
	check_module(8);
}

TEST(thread_variable_by_a_static_descriptor)
{
	make_glibc();
	put(BASE + 96, BASE + 0x100);
	put(BASE + 104, (__u64)-48);
	put(TP - 48, VALUE);
	CHECK_EQ(word(THREAD_DESC, BASE + 96), VALUE);
	put(BASE + 104, 0x40);
	put(TP + 0x40, VALUE + 1);
	CHECK_EQ(word(THREAD_DESC, BASE + 96), VALUE + 1);
}

/* --- hostile ----------------------------------------------------------------------- */

TEST(thread_words_of_any_memory_cost_little)
{
	unsigned int x = 1;

	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i + 8 <= SIZE; i += 8) {
			__u64 v = BASE + (x = x * 1664525 + 1013904223) % SIZE;

			if (x & 1 << 20)
				memcpy(memory + i, &v, sizeof(v));
			else
				memset(memory + i, (int)(x >> 24), 8);
			i += x >> 22 & 0x1f8;
		}
		for (__u32 how = 0; how < 8; how++) {
			reads = 0;
			word(how, BASE + (x >> 8) % SIZE);
			CHECK(reads < 32);
		}
	}
}
