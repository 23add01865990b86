// SPDX-License-Identifier: Apache-2.0
/*
 * Any memory as that of a thread of Perl: 8 bytes that say version and stack pointers, then
 * what lies at BASE, with the interpreter first.  The walk ends, within its budget.
 */
#include "tests/unit/bpf_host.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/perl_read.bpf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE	0x7f0000000000ULL
#define READS_MAX	24		/* of one context, with its names */
#define LOOPS		64

static const uint8_t *memory;
static size_t memory_len;
static uint32_t reads;

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 off = (__u64)(uintptr_t)src - BASE;

	reads++;
	if (off > memory_len || memory_len - off < size) {
		memset(dst, 0, size);
		return -EFAULT;
	}
	memcpy(dst, memory + off, size);
	return 0;
}

static void names_of(struct perl_state *p, const struct perl_frame *f)
{
	__u64 name = 0, package = 0;
	struct perl_text t;

	if (f->kind != PERL_SUB) {
		perl_file_glob(p, f->at, &t);
		return;
	}
	perl_sub_name(p, f, &name, &package);
	if (perl_read_hek(p, name, &t) && (!t.bytes || t.bytes > PERL_NAME_MAX))
		abort();
	perl_read_hek(p, package, &t);
}

/* False: there are no more. */
static bool loop_of(struct perl_state *p, __u64 sp)
{
	perl_enter_loop(p, sp);
	for (;;) {
		struct perl_frame f = { 0 };
		enum perl_found found;

		reads = 0;
		found = perl_next(p, &f);
		if (found == PERL_FRAME || found == PERL_LAST)
			names_of(p, &f);
		if (reads > READS_MAX)
			abort();
		if (found == PERL_BROKEN)
			return false;
		if (found == PERL_END || found == PERL_LAST)
			return p->si != 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perl_state p;
	__u64 sp = BASE;

	if (size < 8)
		return 0;
	memory = data + 8;
	memory_len = size - 8;
	memset(&p, 0xaa, sizeof(p));
	memset(&p, 0, PERL_STATE_BEGIN);
	p.version = PERL_MINOR_MIN + data[0] % 7 * 2;
	if (data[1] & 1) {
		p.version |= PERL_THREADED;
		perl_begin(&p, BASE);
	} else {
		perl_begin_global(&p, BASE, BASE + 16, BASE + 24);
	}
	for (int i = 0; i < LOOPS && p.si && loop_of(&p, sp); i++)
		sp += data[2 + i % 6] * 8ULL;
	if (p.walked > PERL_WALK_MAX + LOOPS)
		abort();
	return 0;
}
