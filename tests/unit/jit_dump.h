/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_dump - makes a jitdump: Linux, tools/perf/util/jitdump.h
 */
#ifndef TESTS_JIT_DUMP_H
#define TESTS_JIT_DUMP_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

struct jit_dump {
	size_t len;
	uint64_t code_index;
	uint8_t bytes[1 << 16];
};

static inline void jit_put(struct jit_dump *d, const void *p, size_t n)
{
	memcpy(d->bytes + d->len, p, n);
	d->len += n;
}

static inline void jit_u32(struct jit_dump *d, uint32_t v)
{
	jit_put(d, &v, sizeof(v));
}

static inline void jit_u64(struct jit_dump *d, uint64_t v)
{
	jit_put(d, &v, sizeof(v));
}

static inline void jit_dump_begin(struct jit_dump *d)
{
	d->len = d->code_index = 0;
	jit_u32(d, 0x4a695444);
	jit_u32(d, 1);
	jit_u32(d, 40);
#ifdef __aarch64__
	jit_u32(d, EM_AARCH64);
#else
	jit_u32(d, EM_X86_64);
#endif
	jit_u32(d, 0);
	jit_u32(d, 4711);
	jit_u64(d, 0);
	jit_u64(d, 0);
}

static inline void jit_record(struct jit_dump *d, uint32_t id, size_t size)
{
	jit_u32(d, id);
	jit_u32(d, (uint32_t)size);
	jit_u64(d, 0);
}

/* Returns its index. */
static inline uint64_t jit_load(struct jit_dump *d, uint64_t addr, uint64_t size,
				const char *name)
{
	jit_record(d, 0, 56 + strlen(name) + 1 + 4);
	jit_u32(d, 4711);
	jit_u32(d, 4711);
	jit_u64(d, addr);
	jit_u64(d, addr);
	jit_u64(d, size);
	jit_u64(d, d->code_index);
	jit_put(d, name, strlen(name) + 1);
	jit_put(d, "code", 4);
	return d->code_index++;
}

static inline void jit_move(struct jit_dump *d, uint64_t from, uint64_t to, uint64_t size,
			    uint64_t index)
{
	jit_record(d, 1, 64);
	jit_u32(d, 4711);
	jit_u32(d, 4711);
	jit_u64(d, to);
	jit_u64(d, from);
	jit_u64(d, to);
	jit_u64(d, size);
	jit_u64(d, index);
}

/* Two entries, of which the second has the file of the first. */
static inline void jit_lines(struct jit_dump *d, uint64_t addr, const char *file,
			     uint32_t line, uint32_t second)
{
	jit_record(d, 2, 32 + 16 + strlen(file) + 1 + 16 + 2);
	jit_u64(d, addr);
	jit_u64(d, 2);
	jit_u64(d, addr);
	jit_u32(d, line);
	jit_u32(d, 0);
	jit_put(d, file, strlen(file) + 1);
	jit_u64(d, addr + 8);
	jit_u32(d, second);
	jit_u32(d, 0);
	jit_put(d, "\377", 2);
}

#endif /* TESTS_JIT_DUMP_H */
