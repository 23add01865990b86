// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/split_file.h"

#include <gelf.h>
#include <string.h>

#include "common/wire.h"

#define SPLIT_VERSION_GNU	2	/* 32 bits */
#define SPLIT_VERSION_5		5	/* 16 bits, and 16 of padding */

/* --- sections ------------------------------------------------------------------ */

/* ".debug_x", or ".zdebug_x". */
static bool split_section_is(const char *have, const char *name)
{
	return !strcmp(have, name) || (!strncmp(have, ".z", 2) && !strcmp(have + 2, name + 1));
}

/* NULL: it is empty. */
static Elf_Data *split_section_data(Elf_Scn *scn, const GElf_Shdr *shdr, const char *name)
{
	Elf_Data *d;

	/* elf_compress_gnu() fails if it is not, or no longer, compressed */
	if (name[1] == 'z')
		elf_compress_gnu(scn, 0, 0);
	else if (shdr->sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
		return NULL;
	d = elf_getdata(scn, NULL);
	if (!d || !d->d_buf || !d->d_size)
		return NULL;
	return d;
}

struct split_bytes split_section(Elf *elf, const char *name)
{
	struct split_bytes none = { 0 };
	Elf_Scn *scn;
	GElf_Shdr shdr;
	Elf_Data *d;
	const char *have;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return none;
	for (scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		have = elf_strptr(elf, names, shdr.sh_name);
		if (!have || !split_section_is(have, name))
			continue;
		d = split_section_data(scn, &shdr, have);
		if (!d)
			return none;
		return (struct split_bytes){ d->d_buf, d->d_size };
	}
	return none;
}

void split_file_init(struct split_file *f, Elf *elf)
{
	static const char *const names[SPLIT__PARTS] = {
		[SPLIT_INFO] = ".debug_info.dwo",
		[SPLIT_ABBREV] = ".debug_abbrev.dwo",
		[SPLIT_STR] = ".debug_str.dwo",
		[SPLIT_STR_OFFSETS] = ".debug_str_offsets.dwo",
		[SPLIT_RNGLISTS] = ".debug_rnglists.dwo",
	};

	for (int i = 0; i < SPLIT__PARTS; i++)
		f->parts[i] = split_section(elf, names[i]);
	f->index = split_section(elf, ".debug_cu_index");
}

/* --- the index ------------------------------------------------------------------ */

struct split_index {
	uint32_t n_columns, n_rows, n_slots;
	struct wire_in ids, rows;	/* a hash table: ID of a unit, its row from 1 on */
	struct wire_in columns;		/* kinds of sections */
	struct wire_in offsets, sizes;	/* row by row */
	bool v5;
};

static bool split_index_header(struct split_index *x, struct wire_in *in)
{
	uint32_t version;

	if (wire_get_u32(in, &version) || wire_get_u32(in, &x->n_columns) ||
	    wire_get_u32(in, &x->n_rows) || wire_get_u32(in, &x->n_slots))
		return false;
	x->v5 = (version & 0xffff) == SPLIT_VERSION_5;
	return (x->v5 || version == SPLIT_VERSION_GNU) &&
	       x->n_columns <= SPLIT_COLUMNS_MAX && x->n_slots &&
	       !(x->n_slots & (x->n_slots - 1));
}

static bool split_index_open(struct split_index *x, const struct split_bytes *b)
{
	struct wire_in in;
	uint64_t cells;

	wire_init(&in, b->at, b->len, false);
	if (!split_index_header(x, &in))
		return false;
	cells = (uint64_t)x->n_rows * x->n_columns;	/* below 2^36 */
	return !wire_get_sub(&in, 8ULL * x->n_slots, &x->ids) &&
	       !wire_get_sub(&in, 4ULL * x->n_slots, &x->rows) &&
	       !wire_get_sub(&in, 4ULL * x->n_columns, &x->columns) &&
	       !wire_get_sub(&in, 4 * cells, &x->offsets) &&
	       !wire_get_sub(&in, 4 * cells, &x->sizes);
}

static uint32_t split_u32(const struct wire_in *in, uint64_t i)
{
	uint32_t v;

	memcpy(&v, in->start + 4 * i, sizeof(v));
	return v;
}

/* The unit's row, from 1 on; 0: none. */
static uint32_t split_index_row(const struct split_index *x, uint64_t id, uint32_t *steps)
{
	uint32_t mask = x->n_slots - 1, at = id & mask, step = (id >> 32 & mask) | 1;

	for (uint32_t i = 0; i < x->n_slots && *steps; i++, at = (at + step) & mask) {
		uint32_t row = split_u32(&x->rows, at);
		uint64_t have;

		--*steps;
		if (!row)
			return 0;
		memcpy(&have, x->ids.start + 8ULL * at, sizeof(have));
		if (have == id && row <= x->n_rows)
			return row;
		if (have == id)
			return 0;
	}
	return 0;
}

/* The part of a column; SPLIT__PARTS: one that is not used here. */
static enum split_part split_index_part(const struct split_index *x, uint32_t column)
{
	switch (split_u32(&x->columns, column)) {
	case 1:
		return SPLIT_INFO;
	case 3:
		return SPLIT_ABBREV;
	case 6:
		return SPLIT_STR_OFFSETS;
	case 8:			/* in version 2: macros */
		return x->v5 ? SPLIT_RNGLISTS : SPLIT__PARTS;
	default:
		return SPLIT__PARTS;
	}
}

bool split_file_find(const struct split_file *f, uint64_t dwo_id, uint32_t *steps,
		     struct split_bytes ret[SPLIT__PARTS])
{
	struct split_index x;
	uint32_t row;

	memcpy(ret, f->parts, sizeof(f->parts));
	if (!f->index.at)
		return true;
	if (!split_index_open(&x, &f->index))
		return false;
	row = split_index_row(&x, dwo_id, steps);
	if (!row)
		return false;
	for (int i = 0; i < SPLIT__PARTS; i++) {
		if (i != SPLIT_STR)	/* shared by all units */
			ret[i] = (struct split_bytes){ 0 };
	}
	for (uint32_t c = 0; c < x.n_columns; c++) {
		uint64_t cell = (uint64_t)(row - 1) * x.n_columns + c;
		uint32_t at = split_u32(&x.offsets, cell), len = split_u32(&x.sizes, cell);
		enum split_part part = split_index_part(&x, c);

		if (part != SPLIT__PARTS && at < f->parts[part].len &&
		    len <= f->parts[part].len - at)
			ret[part] = (struct split_bytes){ f->parts[part].at + at, len };
	}
	return true;
}
