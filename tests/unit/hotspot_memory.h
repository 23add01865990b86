/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_memory - HotSpot's code cache, methods and frames in made-up memory, as a
 * version lays them out
 *
 * The test says where the memory is; what is made lies one behind the other, at
 * multiples of 16.  To be included after bpf/hotspot_read.bpf.h.
 */
#ifndef TESTS_HOTSPOT_MEMORY_H
#define TESTS_HOTSPOT_MEMORY_H

#include <string.h>

#include "tests/unit/harness.h"

#define HS_SHIFT	7		/* segments of 128 bytes */

struct hs_memory {
	__u64 start;		/* address in the process */
	char *b;		/* the same, here */
	size_t size, n;
	__u32 version;		/* of bpf/hotspot.h */
	__u64 heap, heap_end, segmap;	/* where the next blob goes */
	__u64 heap_at;
	char *heap_b;		/* the same, here; NULL: it lies in .b */
};

static struct hs_memory hs;

static inline const struct hotspot_layout *hs_layout(void)
{
	return &hotspot_layouts[hs.version];
}

static inline void *hs_at(__u64 addr)
{
	if (hs.heap_b && addr - hs.heap_at < hs.heap_end - hs.heap_at)
		return hs.heap_b + (addr - hs.heap_at);
	CHECK(addr - hs.start < hs.size);
	return hs.b + (addr - hs.start);
}

static inline void hs_bytes(__u64 addr, const void *v, size_t n)
{
	memcpy(hs_at(addr), v, n);
}

static inline void hs_put(__u64 addr, __u64 v)
{
	hs_bytes(addr, &v, 8);
}

static inline void hs_put32(__u64 addr, __u32 v)
{
	hs_bytes(addr, &v, 4);
}

static inline void hs_put16(__u64 addr, __u32 v)
{
	hs_bytes(addr, &(__u16){ (__u16)v }, 2);
}

static inline __u64 hs_get(__u64 addr)
{
	__u64 v;

	memcpy(&v, hs_at(addr), 8);
	return v;
}

static inline __u64 hs_alloc(size_t len)
{
	__u64 at = hs.start + hs.n;

	CHECK(hs.size - hs.n >= len + 16);
	hs.n = (hs.n + len + 15) / 16 * 16;
	return at;
}

/* --- the code cache ------------------------------------------------------------------ */

/* One CodeHeap; what leads to it is returned. */
static inline __u64 hs_code_cache_at(__u64 at, __u64 size, char *b)
{
	const struct hotspot_layout *l = hs_layout();
	__u64 heap, list, data, root = hs_alloc(8);

	hs.heap = hs.heap_at = at;
	hs.heap_end = hs.heap + size;
	hs.heap_b = b;
	hs.segmap = hs_alloc(size >> HS_SHIFT);
	memset(hs_at(hs.segmap), 255, size >> HS_SHIFT);
	heap = hs_alloc(HOTSPOT_HEAP_BYTES);
	hs_put(heap + l->memory, hs.heap);
	hs_put(heap + l->memory + 8, hs.heap_end);
	hs_put(heap + l->segmap, hs.segmap);
	hs_put32(heap + l->shift, HS_SHIFT);
	if (!l->heaps) {
		hs_put(root, heap);
		return root;
	}
	list = hs_alloc(64);
	data = hs_alloc(64);
	hs_put32(list, 1);
	hs_put(list + l->heaps, data);
	hs_put(data, heap);
	hs_put(root, list);
	return root;
}

static inline __u64 hs_code_cache(__u64 size)
{
	hs.n = (hs.n + 4095) / 4096 * 4096;
	return hs_code_cache_at(hs_alloc(size), size, NULL);
}

static inline void hs_member(__u64 blob, const struct hotspot_at *a, __u64 v,
			     __u64 code)
{
	const struct hotspot_layout *l = hs_layout();

	if (a->from == HOTSPOT_BLOB)
		v -= blob;
	else if (a->from == HOTSPOT_CODE)
		v -= code;
	else if (a->from == HOTSPOT_IMMUTABLE)
		v -= hs_get(blob + l->immutable);
	else if (a->from == HOTSPOT_MUTABLE)
		v -= hs_get(blob + l->mutable);
	hs_bytes(blob + a->field, &v, a->bytes);
}

struct hs_blob {
	__u64 blob, code, end;
};

/* The segment map of a block, as CodeHeap::mark_segmap_as_used() fills it. */
static inline void hs_used(__u64 block, __u64 bytes)
{
	__u64 n = (bytes + (1 << HS_SHIFT) - 1) >> HS_SHIFT;
	__u8 *map = hs_at(hs.segmap + ((block - hs.heap_at) >> HS_SHIFT));
	__u8 v = 0;

	for (__u64 i = 0; i < n; i++) {
		map[i] = v++;
		if (v == 255)
			v = 1;
	}
	hs_put32(block, (__u32)n);
	hs_put32(block + 4, 0);
	*(__u8 *)hs_at(block + hs_layout()->used) = 1;
}

/* A CodeBlob with so many bytes of code, behind 512 of its head and before `more`. */
static inline struct hs_blob hs_blob(const char *name, __u64 code, __u64 more,
				     __u32 frame_words)
{
	const struct hotspot_layout *l = hs_layout();
	__u64 bytes = l->block + 512 + code + more, text = hs_alloc(32);
	struct hs_blob b = { .blob = hs.heap + l->block };

	hs_used(hs.heap, bytes);
	hs.heap += (bytes + (1 << HS_SHIFT) - 1) >> HS_SHIFT << HS_SHIFT;
	CHECK(hs.heap <= hs.heap_end);
	memset(hs_at(b.blob), 0, 512);
	strcpy(hs_at(text), name);
	b.code = b.blob + 512;
	b.end = b.code + code;
	memset(hs_at(b.code), 0x90, code);
	hs_put(b.blob + l->name, text);
	hs_put32(b.blob + l->frame_size, frame_words);
	hs_member(b.blob, &l->code, b.code, b.code);
	hs_member(b.blob, &l->code_end, b.end, b.code);
	hs_member(b.blob, &l->frame_complete, b.code - 1, b.code);
	return b;
}

/* --- methods -------------------------------------------------------------------------- */

static inline __u64 hs_symbol(const char *text)
{
	const struct hotspot_layout *l = hs_layout();
	__u64 symbol = hs_alloc(16 + strlen(text));

	hs_put16(symbol + l->symbol_length, (__u32)strlen(text));
	hs_bytes(symbol + l->symbol_body, text, strlen(text));
	return symbol;
}

struct hs_class {
	__u64 klass, pool, tags;
	__u32 n;		/* constants used */
};

#define HS_CONSTANTS	32

static inline __u32 hs_constant(struct hs_class *c, __u64 symbol)
{
	CHECK(c->n < HS_CONSTANTS);
	*(__u8 *)hs_at(c->tags + 4 + c->n) = HOTSPOT_UTF8;
	hs_put(c->pool + hs_layout()->pool + 8ULL * c->n, symbol);
	return c->n++;
}

static inline struct hs_class hs_class(const char *name, const char *file)
{
	const struct hotspot_layout *l = hs_layout();
	struct hs_class c = { .klass = hs_alloc(512),
			      .pool = hs_alloc(l->pool + 8 * HS_CONSTANTS),
			      .tags = hs_alloc(4 + HS_CONSTANTS), .n = 1 };

	hs_put32(c.tags, HS_CONSTANTS);
	hs_put(c.pool + l->tags, c.tags);
	hs_put(c.pool + l->holder, c.klass);
	hs_put32(c.pool + l->length, HS_CONSTANTS);
	hs_put(c.klass + l->klass_constants, c.pool);
	hs_put(c.klass + l->klass_name, hs_symbol(name));
	if (file)
		hs_put16((l->source_in_pool ? c.pool : c.klass) + l->source_file,
			 hs_constant(&c, hs_symbol(file)));
	return c;
}

#define HS_CODE		100		/* bytes of bytecode */

static inline __u64 hs_method(struct hs_class *c, const char *name,
			      const char *signature, const char *lines)
{
	const struct hotspot_layout *l = hs_layout();
	__u64 method = hs_alloc(96);
	__u64 more = lines ? strlen(lines) + 1 : 0;
	__u64 size = (l->code_at + HS_CODE + more + 7) / 8;
	__u64 at = hs_alloc(size * 8);

	/* what is behind the table is of the same bytes */
	memset(hs_at(at), lines ? lines[0] : 0, size * 8);
	hs_put(method + l->const_method, at);
	hs_put(at + l->constants, c->pool);
	hs_put32(at + l->size, (__u32)size);
	hs_put16(at + l->flags, lines ? l->has_lines : 0);
	hs_put16(at + l->code_size, HS_CODE);
	hs_put16(at + l->method_name, hs_constant(c, hs_symbol(name)));
	hs_put16(at + l->signature, hs_constant(c, hs_symbol(signature)));
	if (lines)
		strcpy(hs_at(at + l->code_at + HS_CODE), lines);
	return method;
}

/* Where the bytecode of a method begins. */
static inline __u64 hs_bytecode(__u64 method)
{
	return hs_get(method + hs_layout()->const_method) + hs_layout()->code_at;
}

/* --- compiled code ---------------------------------------------------------------------- */

/* UNSIGNED5, one to three bytes. */
static inline size_t hs_number(__u8 *p, __u32 v)
{
	const __u32 x = hs_layout()->unsigned5, low = 192 - x;

	if (v < low) {
		p[0] = (__u8)(v + x);
		return 1;
	}
	v -= low;
	p[0] = (__u8)(192 + (v & 63));
	v >>= 6;
	if (v < low) {
		p[1] = (__u8)(v + x);
		return 2;
	}
	v -= low;
	p[1] = (__u8)(192 + (v & 63));
	CHECK(v >> 6 < low);
	p[2] = (__u8)((v >> 6) + x);
	return 3;
}

/* A method that is inlined into the next, up to the last one. */
struct hs_inlined {
	__u64 method;
	__u32 bci;
};

struct hs_place {
	__u32 offset;		/* in the code */
	const struct hs_inlined *scopes;
	__u32 n;
};

#define HS_SECTION	2048		/* bytes of each section, at most */

/* Scopes of a place, outermost first; the offset of the innermost. */
static inline __u32 hs_scopes(__u64 scopes, __u32 *used, const struct hs_place *p,
			      __u64 metadata, __u32 *n_metadata)
{
	__u32 sender = 0;

	for (__u32 i = p->n; i-- > 0;) {
		__u32 at = *used, k = 0;
		__u8 *b = hs_at(scopes + at);
		size_t n;

		while (k < *n_metadata && hs_get(metadata + 8ULL * k) != p->scopes[i].method)
			k++;
		if (k == *n_metadata)
			hs_put(metadata + 8ULL * (*n_metadata)++, p->scopes[i].method);
		n = hs_number(b, sender);
		n += hs_number(b + n, k + 1);
		n += hs_number(b + n, p->scopes[i].bci + 1);
		*used += (__u32)n;
		sender = at;
	}
	return sender;
}

/* A nmethod of `method`, of 512 bytes of code, with these places. */
static inline struct hs_blob hs_nmethod(const char *name, __u64 method,
					__u32 frame_words, __u32 complete,
					const struct hs_place *place, __u32 n)
{
	const struct hotspot_layout *l = hs_layout();
	int apart = l->pcs.from == HOTSPOT_IMMUTABLE;
	struct hs_blob b = hs_blob(name, 512, apart ? 0 : 3 * HS_SECTION, frame_words);
	__u64 pcs, scopes, metadata;
	__u32 used = 1, n_metadata = 0;	/* place 0 of the scopes says none */

	hs_put(b.blob + l->method, method);
	hs_member(b.blob, &l->frame_complete, b.code + complete, b.code);
	hs_member(b.blob, &l->deopt, b.end - 16, b.code);
	if (l->deopt_mh.field)
		hs_member(b.blob, &l->deopt_mh, b.end - 8, b.code);
	hs_bytes(b.blob + l->orig_pc.field, &(__u32){ 8 }, 4);
	if (apart) {
		hs_put(b.blob + l->immutable, hs_alloc(2 * HS_SECTION));
		hs_put(b.blob + l->mutable, hs_alloc(HS_SECTION));
		pcs = hs_get(b.blob + l->immutable) + 64;
		scopes = pcs + l->pc_desc * (n + 2ULL);
		metadata = hs_get(b.blob + l->mutable) + 64;
	} else {
		metadata = b.end;
		scopes = metadata + HS_SECTION / 2;
		pcs = scopes + HS_SECTION;
	}
	hs_put32(pcs, (__u32)-1);
	for (__u32 i = 0; i < n; i++) {
		hs_put32(pcs + l->pc_desc * (i + 1ULL), place[i].offset);
		hs_put32(pcs + l->pc_desc * (i + 1ULL) + 4,
			 hs_scopes(scopes, &used, &place[i], metadata, &n_metadata));
	}
	hs_put32(pcs + l->pc_desc * (n + 1ULL), 0x7fffffff);
	hs_member(b.blob, &l->pcs, pcs, b.code);
	hs_member(b.blob, &l->metadata, metadata, b.code);
	hs_member(b.blob, &l->metadata_end, apart ? metadata + 8ULL * n_metadata : scopes,
		  b.code);
	hs_member(b.blob, &l->scopes, scopes, b.code);
	hs_member(b.blob, &l->scopes_end, apart ? scopes + used : pcs, b.code);
	hs_member(b.blob, &l->pcs_end, pcs + l->pc_desc * (n + 2ULL), b.code);
	return b;
}

#define EACH_LAYOUT(v)							\
	for (__u32 v = 0; v < HOTSPOT_LAYOUTS; v++)			\
		if (hotspot_has_layout(v))

#endif /* TESTS_HOTSPOT_MEMORY_H */
