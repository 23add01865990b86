// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/frame_names.h"

#include <errno.h>
#include <string.h>

/* --- reading ------------------------------------------------------------------ */

/* All places are in order, and their strings begin within string_bytes. */
static bool frame_names_sound(const struct frame_names *x, uint32_t n_frames,
			      uint32_t string_bytes)
{
	uint32_t named = 0, depth = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		const struct frame_name *p = &x->v[i];

		depth++;
		if (p->frame == named) {
			depth = 1;
			named++;
		}
		if (!named || p->frame != named - 1 ||
		    depth > SYMBOL_DEPTH_MAX ||
		    p->name >= string_bytes || p->file >= string_bytes ||
		    p->system >= string_bytes)
			return false;
	}
	return named == n_frames;
}

int frame_names_open(const void *data, size_t len, uint32_t n_frames,
		     struct frame_names *ret)
{
	const struct frame_names_hdr *hdr = data;
	struct frame_names x;

	if (len < sizeof(*hdr) || len > FRAME_NAMES_BYTES_MAX ||
	    hdr->magic != FRAME_NAMES_MAGIC || hdr->left >= n_frames ||
	    hdr->n > (len - sizeof(*hdr)) / sizeof(*x.v) ||
	    !hdr->string_bytes ||
	    hdr->string_bytes != len - sizeof(*hdr) - hdr->n * sizeof(*x.v))
		return -EPROTO;
	x.v = (const void *)(hdr + 1);
	x.n = hdr->n;
	x.left = hdr->left;
	x.strings = (const char *)(x.v + x.n);
	if (x.strings[0] || x.strings[hdr->string_bytes - 1] ||
	    !frame_names_sound(&x, n_frames, hdr->string_bytes))
		return -EPROTO;
	*ret = x;
	return 0;
}

struct symbol_place frame_names_place(const struct frame_names *x, uint32_t i)
{
	const struct frame_name *p = &x->v[i];
	struct symbol_place place = {
		.name = x->strings + p->name, .file = x->strings + p->file,
		.first_line = p->first_line, .line = p->line,
	};

	if (p->system)
		place.system = x->strings + p->system;
	return place;
}

/* --- building ----------------------------------------------------------------- */

void frame_names_begin(struct frame_names_build *b, uint32_t n_frames)
{
	b->hdr = (struct frame_names_hdr){ FRAME_NAMES_MAGIC, 0, 1, 0 };
	b->n_frames = n_frames;
	b->named = b->depth = 0;
	memset(b->last, 0, sizeof(b->last));
	b->strings[0] = '\0';
}

/* Offset of a string, for which there is room. */
static uint32_t frame_names_string(struct frame_names_build *b, const char *s)
{
	uint32_t at = b->hdr.string_bytes, len = (uint32_t)strlen(s) + 1, hash = 0;
	uint32_t *last;

	if (!*s)
		return 0;
	for (const char *p = s; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;	/* FNV */
	last = &b->last[(hash >> 16) % FRAME_NAMES_LAST];
	if (*last && !strcmp(b->strings + *last, s))
		return *last;
	memcpy(b->strings + at, s, len);
	b->hdr.string_bytes += len;
	*last = at;
	return at;
}

/* Give empty names to frames before this one: there is always room for them. */
static void frame_names_fill(struct frame_names_build *b, uint32_t frame)
{
	for (; b->named < frame; b->named++)
		b->v[b->hdr.n++] = (struct frame_name){ .frame = b->named };
}

bool frame_names_add(struct frame_names_build *b, uint32_t frame,
		     const struct symbol_place *p)
{
	const char *system = p->system ? p->system : "";
	bool again = frame + 1 == b->named;
	uint32_t need = b->n_frames - b->named;

	if (again)
		need++;
	if (frame >= b->n_frames || frame + 1 < b->named ||
	    (again && b->depth == SYMBOL_DEPTH_MAX) ||
	    b->hdr.n + need > FRAME_NAMES_MAX ||
	    strlen(p->name) + strlen(p->file) + strlen(system) + 3 >
		    FRAME_NAMES_STRINGS - b->hdr.string_bytes)
		return false;
	frame_names_fill(b, frame);
	b->v[b->hdr.n++] = (struct frame_name){
		frame, frame_names_string(b, p->name),
		frame_names_string(b, p->file), frame_names_string(b, system),
		p->first_line, p->line,
	};
	if (!again)
		b->depth = 0;
	b->depth++;
	b->named = frame + 1;
	return true;
}

void frame_names_end(struct frame_names_build *b, struct iovec parts[3])
{
	frame_names_fill(b, b->n_frames);
	parts[0] = (struct iovec){ &b->hdr, sizeof(b->hdr) };
	parts[1] = (struct iovec){ b->v, b->hdr.n * sizeof(*b->v) };
	parts[2] = (struct iovec){ b->strings, b->hdr.string_bytes };
}
