// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/frame_names.h"

#include <errno.h>
#include <stdbool.h>

/* All places are in order, and their strings begin within the bytes. */
static bool frame_names_sound(const struct frame_names *x, uint32_t n_frames,
			      uint32_t string_bytes)
{
	uint32_t named = 0, depth = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		const struct frame_name *p = &x->v[i];

		depth = p->frame == named ? 1 : depth + 1;
		named += p->frame == named;
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

	return (struct symbol_place){
		.name = x->strings + p->name, .file = x->strings + p->file,
		.first_line = p->first_line, .line = p->line,
		.system = p->system ? x->strings + p->system : NULL,
	};
}
