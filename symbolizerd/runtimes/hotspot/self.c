// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/hotspot/self.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizerd/runtimes/hotspot/stores.h"

/* vmStructs.hpp: struct VMStructEntry, struct VMTypeEntry; the last entry of a table
 * has no name. */
struct field_entry {
	uint64_t type, field, kind;	/* strings */
	uint32_t is_static, pad;
	uint64_t offset;		/* unless it is static */
	uint64_t address;		/* if it is static */
};
struct type_entry {
	uint64_t type, super;		/* strings */
	uint32_t flags[3], pad;
	uint64_t size;
};
_Static_assert(sizeof(struct field_entry) == 48, "VMStructEntry");
_Static_assert(sizeof(struct type_entry) == 40, "VMTypeEntry");

/* --- sections ------------------------------------------------------------------------ */

static bool self_section(const struct elf_file *f, uint64_t vaddr,
			 struct elf_bytes *ret)
{
	for (uint32_t i = 0; i < f->n_shdrs; i++) {
		const Elf64_Shdr *s = &f->shdrs[i];

		if ((s->sh_flags & (SHF_ALLOC | SHF_COMPRESSED)) == SHF_ALLOC &&
		    s->sh_type != SHT_NOBITS &&
		    vaddr >= s->sh_addr && vaddr - s->sh_addr < s->sh_size &&
		    s->sh_size <= SELF_SECTION_MAX)
			return !elf_file_section(f, s, ret);
	}
	return false;
}

/* len bytes at an address in a section; NULL: not all of them are in it. */
static const void *self_at(const struct elf_bytes *b, uint64_t vaddr, size_t len)
{
	uint64_t at = vaddr - b->vaddr;

	if (!b->data || at >= b->len || b->len - at < len)
		return NULL;
	return b->data + at;
}

/* A string; it may end with the section.  "": it is not in the section. */
static const char *self_string(const struct self *s, uint64_t vaddr)
{
	const char *p = self_at(&s->strings, vaddr, 1);

	return p ? p : "";
}

static bool self_pointer(const struct elf_file *f, uint64_t vaddr, uint64_t *ret)
{
	return elf_file_get(f, vaddr, ret, sizeof(*ret)) && *ret != 0;
}

/* How many entries of `size` bytes the table has, each beginning with a name. */
static uint32_t self_count(const struct elf_bytes *b, uint64_t table, size_t size)
{
	uint32_t n = 0;
	const void *p;
	uint64_t name;

	while (n < SELF_ENTRIES_MAX) {
		p = self_at(b, table + (uint64_t)n * size, size);
		if (!p)
			return 0;
		memcpy(&name, p, sizeof(name));
		if (!name)
			return n;
		n++;
	}
	return 0;
}

/* --- the code that fills the table ---------------------------------------------------- */

/* Where the functions of .init_array are: from the first on, past the last one. */
static bool self_init_span(const struct elf_file *f, uint64_t *start, uint64_t *len)
{
	const Elf64_Shdr *s = elf_file_find(f, ".init_array");
	struct elf_bytes b;
	uint64_t last = 0, w;

	if (!s || s->sh_size > SELF_SECTION_MAX || elf_file_section(f, s, &b))
		return false;
	*start = UINT64_MAX;
	for (size_t i = 0; i < b.len / sizeof(w); i++) {
		memcpy(&w, b.data + i * sizeof(w), sizeof(w));
		if (!w)
			continue;
		if (w < *start)
			*start = w;
		if (w > last)
			last = w;
	}
	elf_bytes_free(&b);
	*len = last - *start + SELF_CODE_MAX / 16;
	return last >= *start && last - *start < SELF_CODE_MAX;
}

/* A stores_fn: is the number that is written the offset of an entry? */
static void self_stored(void *ctx, uint64_t to, uint64_t number)
{
	struct self *s = ctx;
	uint64_t at = to - s->fields_at;
	uint64_t i = at / sizeof(struct field_entry);

	if (i < s->n_fields && at % sizeof(struct field_entry) ==
	    offsetof(struct field_entry, offset))
		s->offsets[i] = number;
}

static void self_run(struct self *s, const struct elf_file *f)
{
	uint64_t start, len, off, left;
	struct elf_bytes code;

	if (!self_init_span(f, &start, &len) ||
	    !elf_file_offset(f, start, true, &off, &left))
		return;
	if (len > left)
		len = left;
	if (elf_file_read(f, off, len, &code))
		return;
	if (f->ehdr.e_machine == EM_X86_64)
		stores_x86(&code, start, self_stored, s);
	else
		stores_arm64(&code, start, self_stored, s);
	elf_bytes_free(&code);
}

/* --- entries -------------------------------------------------------------------------- */

static void self_field(const struct self *s, uint32_t i, struct field_entry *ret)
{
	memcpy(ret, s->fields.data + (s->fields_at - s->fields.vaddr) +
	       i * sizeof(*ret), sizeof(*ret));
}

bool self_open(struct self *s, const struct elf_file *f, uint64_t fields,
	       uint64_t types)
{
	struct field_entry e;

	*s = (struct self){ 0 };
	if (!self_pointer(f, fields, &s->fields_at) ||
	    !self_pointer(f, types, &s->types_at) ||
	    !self_section(f, s->fields_at, &s->fields) ||
	    !self_section(f, s->types_at, &s->types))
		return false;
	s->n_fields = self_count(&s->fields, s->fields_at, sizeof(e));
	s->n_types = self_count(&s->types, s->types_at, sizeof(struct type_entry));
	if (!s->n_fields || !s->n_types)
		return false;
	self_field(s, 0, &e);
	s->offsets = malloc(s->n_fields * sizeof(*s->offsets));
	if (!s->offsets || !self_section(f, e.type, &s->strings))
		return false;
	for (uint32_t i = 0; i < s->n_fields; i++) {
		self_field(s, i, &e);
		s->offsets[i] = e.offset;
	}
	self_run(s, f);
	return true;
}

void self_close(struct self *s)
{
	elf_bytes_free(&s->fields);
	elf_bytes_free(&s->types);
	elf_bytes_free(&s->strings);
	free(s->offsets);
	s->offsets = NULL;
}

static bool self_find(const struct self *s, const char *type, const char *field,
		      struct field_entry *ret, uint32_t *at)
{
	for (*at = 0; *at < s->n_fields; (*at)++) {
		self_field(s, *at, ret);
		if (!strcmp(self_string(s, ret->field), field) &&
		    !strcmp(self_string(s, ret->type), type))
			return true;
	}
	return false;
}

bool self_static(const struct self *s, const char *type, const char *field,
		 uint64_t *ret)
{
	struct field_entry e;
	uint32_t i;

	if (!self_find(s, type, field, &e, &i) || !e.is_static)
		return false;
	*ret = e.address;
	return true;
}

bool self_offset(const struct self *s, const char *type, const char *field,
		 uint64_t *ret)
{
	struct field_entry e;
	uint32_t i;

	if (!self_find(s, type, field, &e, &i) || e.is_static)
		return false;
	*ret = s->offsets[i];
	return true;
}

bool self_size(const struct self *s, const char *type, uint64_t *ret)
{
	struct type_entry e;

	for (uint32_t i = 0; i < s->n_types; i++) {
		memcpy(&e, s->types.data + (s->types_at - s->types.vaddr) +
		       i * sizeof(e), sizeof(e));
		if (!strcmp(self_string(s, e.type), type)) {
			*ret = e.size;
			return true;
		}
	}
	return false;
}
