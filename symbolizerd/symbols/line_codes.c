// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/line_codes.h"

#include <errno.h>
#include <string.h>

#include "common/bisect.h"

_Static_assert(sizeof(struct line_codes_hdr) == 32 && sizeof(struct line_code) == 16 &&
	       sizeof(struct line_at) == 12 && sizeof(struct line_name) == 16 &&
	       sizeof(struct line_segment) == 4, "what comes next is aligned");

/* --- reading ------------------------------------------------------------------ */

/* Bytes of all parts. */
static uint64_t line_codes_bytes(const struct line_codes_hdr *h)
{
	return sizeof(*h) + h->codes * (uint64_t)sizeof(struct line_code) +
	       h->ats * (uint64_t)sizeof(struct line_at) +
	       h->functions * (uint64_t)sizeof(struct line_name) +
	       h->segments * (uint64_t)sizeof(struct line_segment) + h->string_bytes;
}

/* The first segment begins at 0, each has places that are there. */
static bool line_codes_segments_sound(const struct line_code *c, const struct line_segment *v)
{
	if (!c->segments || v[0].begin)
		return false;
	for (uint32_t i = 0; i < c->segments; i++) {
		if (v[i].begin >= c->len || (i && v[i].begin <= v[i - 1].begin) ||
		    (v[i].at >= c->ats && v[i].at != LINE_NONE))
			return false;
	}
	return true;
}

/* Each is in an earlier one, not too deep, and its function is there. */
static bool line_codes_ats_sound(const struct line_code *c, const struct line_at *v,
				 uint32_t functions)
{
	uint8_t depth[LINE_CODE_ATS];

	if (c->ats > LINE_CODE_ATS)
		return false;
	for (uint32_t i = 0; i < c->ats; i++) {
		if (v[i].function >= functions || v[i].pad || (v[i].outer >= i && v[i].outer != LINE_NONE))
			return false;
		depth[i] = 1;
		if (v[i].outer != LINE_NONE)
			depth[i] = (uint8_t)(depth[v[i].outer] + 1);
		if (depth[i] > SYMBOL_DEPTH_MAX)
			return false;
	}
	return true;
}

/* All codes are sound, and have together what there is. */
static bool line_codes_sound(const struct line_codes *x)
{
	uint32_t segments = 0, ats = 0;

	for (uint32_t i = 0; i < x->hdr.codes; i++) {
		const struct line_code *c = &x->codes[i];

		if (!c->len || c->len > LINE_CODE_BYTES || c->offset > UINT64_MAX - c->len ||
		    c->segments > x->hdr.segments - segments || c->ats > x->hdr.ats - ats ||
		    !line_codes_segments_sound(c, x->segments + segments) ||
		    !line_codes_ats_sound(c, x->ats + ats, x->hdr.functions))
			return false;
		segments += c->segments;
		ats += c->ats;
	}
	return segments == x->hdr.segments && ats == x->hdr.ats;
}

/* Is there a string at this offset?  Its length is added. */
static bool line_codes_string_sound(const struct line_codes *x, uint32_t off, uint32_t *bytes)
{
	size_t len;

	if (off >= x->hdr.string_bytes)
		return false;
	len = strnlen(x->strings + off, LINE_STRING_MAX + 1);
	*bytes += (uint32_t)len;
	return len <= LINE_STRING_MAX;
}

/* Many functions may have one string, and strings parts of others: what is read is bounded. */
static bool line_codes_functions_sound(const struct line_codes *x)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < x->hdr.functions; i++) {
		const struct line_name *f = &x->functions[i];

		if (!line_codes_string_sound(x, f->name, &bytes) ||
		    !line_codes_string_sound(x, f->file, &bytes) ||
		    !line_codes_string_sound(x, f->system, &bytes) || bytes > LINE_CODES_NAMES)
			return false;
	}
	return true;
}

int line_codes_open(const void *data, size_t len, uint32_t offsets, struct line_codes *ret)
{
	struct line_codes x;

	if (len < sizeof(x.hdr) || len > LINE_CODES_BYTES_MAX)
		return -EPROTO;
	memcpy(&x.hdr, data, sizeof(x.hdr));
	if (x.hdr.magic != LINE_CODES_MAGIC || x.hdr.left >= offsets ||
	    x.hdr.codes > LINE_CODES_MAX || x.hdr.pad || !x.hdr.string_bytes ||
	    line_codes_bytes(&x.hdr) != len)
		return -EPROTO;
	x.codes = (const void *)((const char *)data + sizeof(x.hdr));
	x.ats = (const void *)(x.codes + x.hdr.codes);
	x.functions = (const void *)(x.ats + x.hdr.ats);
	x.segments = (const void *)(x.functions + x.hdr.functions);
	x.strings = (const char *)(x.segments + x.hdr.segments);
	if (x.strings[0] || x.strings[x.hdr.string_bytes - 1] ||
	    !line_codes_functions_sound(&x) || !line_codes_sound(&x))
		return -EPROTO;
	*ret = x;
	return 0;
}

struct symbol_place line_codes_function(const struct line_codes *x, uint32_t i)
{
	const struct line_name *f = &x->functions[i];
	struct symbol_place place = {
		.name = x->strings + f->name, .file = x->strings + f->file,
		.first_line = f->first_line,
	};

	if (f->system)
		place.system = x->strings + f->system;
	return place;
}

bool line_codes_any(const struct line_code *v, uint32_t n, uint64_t off)
{
	for (uint32_t i = n; i-- > 0;) {
		if (off >= v[i].offset && off - v[i].offset < v[i].len)
			return true;
	}
	return false;
}

uint32_t line_codes_segment(const struct line_segment *v, uint32_t n, uint64_t off)
{
	return bisect(mid, n, v[mid].begin <= off) - 1;
}

/* --- building ----------------------------------------------------------------- */

void line_codes_begin(struct line_codes_build *b, uint32_t offsets)
{
	b->hdr = (struct line_codes_hdr){ .magic = LINE_CODES_MAGIC, .string_bytes = 1 };
	b->offsets = offsets;
	b->full = false;
	b->names = 0;
	memset(b->last_at, 0, sizeof(b->last_at));
	memset(b->last_function, 0, sizeof(b->last_function));
	memset(b->last_string, 0, sizeof(b->last_string));
	b->strings[0] = '\0';
}

static uint32_t line_codes_hash(uint32_t hash, uint64_t word)
{
	return (uint32_t)(((hash ^ word) * 0x9e3779b97f4a7c15ULL) >> 32);
}

/* The answer has no room for it. */
static bool line_codes_full(struct line_codes_build *b)
{
	b->full = true;
	return false;
}

/* The slot of something recent. */
static uint32_t *line_codes_last(uint32_t v[LINE_CODES_LAST], uint32_t hash)
{
	return &v[hash % LINE_CODES_LAST];
}

/* Offset of a string.  False: there is no room. */
static bool line_codes_string(struct line_codes_build *b, const char *s, uint32_t *ret)
{
	uint32_t at = b->hdr.string_bytes, hash = 0;
	size_t len = strlen(s) + 1;
	uint32_t *last;

	*ret = 0;
	if (len == 1)
		return true;
	for (const char *p = s; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;	/* FNV */
	last = line_codes_last(b->last_string, hash >> 16);
	*ret = *last;
	if (*last && !strcmp(b->strings + *last, s))
		return true;
	if (len > LINE_STRING_MAX + 1)
		return false;
	if (len > LINE_CODES_STRINGS - at)
		return line_codes_full(b);
	memcpy(b->strings + at, s, len);
	b->hdr.string_bytes += (uint32_t)len;
	*last = *ret = at;
	return true;
}

static bool line_codes_same(const struct symbol_place *a, const struct symbol_place *b)
{
	return a->name == b->name && a->file == b->file && a->system == b->system &&
	       a->first_line == b->first_line;
}

/* Bytes of a function's strings. */
static size_t line_codes_names(const struct symbol_place *p)
{
	size_t system = p->system ? strlen(p->system) : 0;

	return strlen(p->name) + strlen(p->file) + system;
}

/* Index of a function: one with the same strings, or a new one.  False: as before. */
static bool line_codes_intern(struct line_codes_build *b, const struct symbol_place *p,
			      uint32_t *ret)
{
	uint32_t hash = line_codes_hash(line_codes_hash(0, (uintptr_t)p->name),
					(uintptr_t)p->file);
	uint32_t *last = line_codes_last(b->last_function,
					 line_codes_hash(hash, p->first_line));
	struct line_name f = { .first_line = p->first_line };

	if (*last && line_codes_same(&b->known[*last - 1], p)) {
		*ret = *last - 1;
		return true;
	}
	if (b->hdr.functions == LINE_CODES_FUNCTIONS ||
	    line_codes_names(p) > LINE_CODES_NAMES - b->names)
		return line_codes_full(b);
	if (!line_codes_string(b, p->name, &f.name) ||
	    !line_codes_string(b, p->file, &f.file) ||
	    !line_codes_string(b, p->system ? p->system : "", &f.system))
		return false;
	b->names += (uint32_t)line_codes_names(p);
	*ret = b->hdr.functions++;
	b->functions[*ret] = f;
	b->known[*ret] = *p;
	*last = *ret + 1;
	return true;
}

/* Index, in the code that is being made, of a function at a line.  False: as before. */
static bool line_codes_at(struct line_codes_build *b, const struct line_at *a, uint16_t *ret)
{
	struct line_code *c = &b->codes[b->hdr.codes - 1];
	uint32_t hash = line_codes_hash(line_codes_hash(a->function, a->line), a->outer);
	uint32_t *last = line_codes_last(b->last_at, hash);

	if (*last > b->before.ats && !memcmp(&b->ats[*last - 1], a, sizeof(*a))) {
		*ret = (uint16_t)(*last - 1 - b->before.ats);
		return true;
	}
	if (c->ats == LINE_CODE_ATS)
		return false;
	if (b->hdr.ats == LINE_CODES_ATS)
		return line_codes_full(b);
	*ret = c->ats++;
	b->ats[b->hdr.ats++] = *a;
	*last = b->hdr.ats;
	return true;
}

bool line_codes_add(struct line_codes_build *b, uint64_t offset, uint32_t len)
{
	b->before = b->hdr;
	b->names_before = b->names;
	b->full = b->hdr.codes == LINE_CODES_MAX;
	if (b->full || !len || len > LINE_CODE_BYTES)
		return false;
	b->codes[b->hdr.codes++] = (struct line_code){ .offset = offset, .len = len };
	return true;
}

/* The code is not added; nor is anything shared that was. */
static bool line_codes_undo(struct line_codes_build *b)
{
	b->hdr = b->before;
	b->names = b->names_before;
	memset(b->last_at, 0, sizeof(b->last_at));
	memset(b->last_function, 0, sizeof(b->last_function));
	memset(b->last_string, 0, sizeof(b->last_string));
	return false;
}

bool line_codes_add_segment(struct line_codes_build *b, uint32_t begin,
			    const struct symbol_place *v, uint32_t n)
{
	struct line_code *c = &b->codes[b->hdr.codes - 1];
	struct line_segment s = { (uint16_t)begin, LINE_NONE };

	while (n-- > 0) {
		struct line_at a = { .line = v[n].line, .outer = s.at };

		if (!line_codes_intern(b, &v[n], &a.function) || !line_codes_at(b, &a, &s.at))
			return line_codes_undo(b);
	}
	if (c->segments && b->segments[b->hdr.segments - 1].at == s.at)
		return true;
	if (c->segments == LINE_CODE_SEGMENTS)
		return line_codes_undo(b);
	b->full = b->hdr.segments == LINE_CODES_SEGMENTS;
	if (b->full)
		return line_codes_undo(b);
	b->segments[b->hdr.segments++] = s;
	c->segments++;
	return true;
}

void line_codes_end(struct line_codes_build *b, struct iovec parts[LINE_CODES_PARTS])
{
	parts[0] = (struct iovec){ &b->hdr, sizeof(b->hdr) };
	parts[1] = (struct iovec){ b->codes, b->hdr.codes * sizeof(*b->codes) };
	parts[2] = (struct iovec){ b->ats, b->hdr.ats * sizeof(*b->ats) };
	parts[3] = (struct iovec){ b->functions, b->hdr.functions * sizeof(*b->functions) };
	parts[4] = (struct iovec){ b->segments, b->hdr.segments * sizeof(*b->segments) };
	parts[5] = (struct iovec){ b->strings, b->hdr.string_bytes };
}
