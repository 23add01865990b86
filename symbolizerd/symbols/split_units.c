// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/split_units.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* --- a file that consists of headers ---------------------------------------------------- */

enum { STUB_NONE, STUB_INFO, STUB_ABBREV, STUB_STR, STUB_STR_OFFSETS, STUB_RNGLISTS,
       STUB_RANGES, STUB_ADDR, STUB_NAMES, STUB__SECTIONS };

#define STUB_NAME_MAX	24

struct split_stub {
	Elf64_Ehdr ehdr;
	Elf64_Shdr shdrs[STUB__SECTIONS];
	char names[STUB__SECTIONS][STUB_NAME_MAX];
};

static const char stub_names[STUB__SECTIONS][STUB_NAME_MAX] = {
	[STUB_INFO] = ".debug_info", [STUB_ABBREV] = ".debug_abbrev",
	[STUB_STR] = ".debug_str", [STUB_STR_OFFSETS] = ".debug_str_offsets",
	[STUB_RNGLISTS] = ".debug_rnglists", [STUB_RANGES] = ".debug_ranges",
	[STUB_ADDR] = ".debug_addr", [STUB_NAMES] = ".shstrtab",
};

static void split_stub_init(struct split_stub *s, const struct split_bytes *parts)
{
	s->ehdr = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_shoff = offsetof(struct split_stub, shdrs),
		.e_ehsize = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = STUB__SECTIONS, .e_shstrndx = STUB_NAMES,
	};
	memcpy(s->names, stub_names, sizeof(s->names));
	for (unsigned int i = STUB_INFO; i < STUB__SECTIONS; i++) {
		if (i != STUB_NAMES && !parts[i].len)
			continue;	/* of type SHT_NULL, without a name */
		s->shdrs[i] = (Elf64_Shdr){
			.sh_type = i == STUB_NAMES ? SHT_STRTAB : SHT_PROGBITS,
			.sh_name = i * STUB_NAME_MAX,
			.sh_offset = offsetof(struct split_stub, names),
			.sh_size = sizeof(s->names), .sh_addralign = 1,
		};
	}
}

/* Gives each section another buffer: libdw reads the one that is there, since
 * elf_getdata(3) always returns the same descriptor. */
static bool split_stub_fill(Elf *elf, const struct split_bytes *parts)
{
	for (unsigned int i = STUB_INFO; i < STUB_NAMES; i++) {
		Elf_Data *d;

		if (!parts[i].len)
			continue;
		d = elf_getdata(elf_getscn(elf, i), NULL);
		if (!d)
			return false;
		d->d_buf = (void *)(uintptr_t)parts[i].at;
		d->d_size = parts[i].len;
	}
	return true;
}

/* --- a unit --------------------------------------------------------------------------- */

bool split_is_skeleton(Dwarf_Die *unit, uint64_t *dwo_id)
{
	uint8_t type;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, dwo_id, NULL, NULL))
		return false;
	/* a skeleton of DWARF 4 may have some functions of its own */
	return type == DW_UT_skeleton ||
	       (type == DW_UT_split_compile && dwarf_hasattr(unit, DW_AT_GNU_dwo_name));
}

/* The bytes from the skeleton's base on. */
static struct split_bytes split_from_base(struct split_bytes b, Dwarf_Die *skeleton,
					  unsigned int base)
{
	Dwarf_Attribute a;
	Dwarf_Word off = 0;

	if (dwarf_attr(skeleton, base, &a) && dwarf_formudata(&a, &off))
		off = b.len;
	if (off >= b.len)
		return (struct split_bytes){ 0 };
	return (struct split_bytes){ b.at + off, b.len - off };
}

/* The unit's own parts, and those of the skeleton's file. */
static void split_unit_parts(const struct split_units *s, Dwarf_Die *skeleton, bool v5,
			     const struct split_bytes own[SPLIT__PARTS],
			     struct split_bytes ret[STUB__SECTIONS])
{
	memset(ret, 0, STUB__SECTIONS * sizeof(*ret));
	ret[STUB_INFO] = own[SPLIT_INFO];
	ret[STUB_ABBREV] = own[SPLIT_ABBREV];
	ret[STUB_STR] = own[SPLIT_STR];
	ret[STUB_STR_OFFSETS] = own[SPLIT_STR_OFFSETS];
	if (v5) {
		ret[STUB_ADDR] = split_from_base(s->addresses, skeleton, DW_AT_addr_base);
		ret[STUB_RNGLISTS] = own[SPLIT_RNGLISTS];
	} else {
		ret[STUB_ADDR] = split_from_base(s->addresses, skeleton,
						 DW_AT_GNU_addr_base);
		ret[STUB_RANGES] = split_from_base(s->ranges, skeleton,
						   DW_AT_GNU_ranges_base);
	}
}

/* Open libdw on a file that has these parts. */
static bool split_unit_read(const struct split_units *s, struct split_unit *u,
			    const struct split_bytes *parts)
{
	u->stub = calloc(1, sizeof(*u->stub));
	if (!u->stub)
		return false;
	split_stub_init(u->stub, parts);
	elf_version(EV_CURRENT);
	u->elf = elf_memory((char *)u->stub, sizeof(*u->stub));
	if (!u->elf || !split_stub_fill(u->elf, parts))
		return false;
	u->dbg = dwarf_begin_elf(u->elf, DWARF_C_READ, NULL);
	if (u->dbg)
		dwarf_new_oom_handler(u->dbg, s->no_memory);
	return u->dbg;
}

/* The unit of this ID among those of its compilation. */
static bool split_unit_find(const struct split_units *s, struct split_unit *u, uint64_t dwo_id)
{
	Dwarf_CU *cu = NULL;
	uint64_t id;
	uint8_t type;

	while (*s->steps && !dwarf_get_units(u->dbg, cu, &cu, NULL, &type, &u->die, NULL)) {
		--*s->steps;
		if (type == DW_UT_split_compile &&
		    !dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) && id == dwo_id)
			return true;
	}
	return false;
}

static bool split_unit_open(const struct split_units *s, struct split_unit *u,
			    Dwarf_Die *skeleton, uint64_t dwo_id)
{
	struct split_bytes own[SPLIT__PARTS], parts[STUB__SECTIONS];
	const struct split_file *file = s->find(s->arg, skeleton);
	Dwarf_Half version;

	if (!file || !split_file_find(file, dwo_id, s->steps, own) ||
	    dwarf_cu_info(skeleton->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL))
		return false;
	split_unit_parts(s, skeleton, version >= 5, own, parts);
	if (!split_unit_read(s, u, parts) || !split_unit_find(s, u, dwo_id))
		return false;
	u->lists = (struct split_lists){
		.ranges = parts[version >= 5 ? STUB_RNGLISTS : STUB_RANGES],
		.addresses = parts[STUB_ADDR], .rnglists = version >= 5, .steps = s->steps,
	};
	if (dwarf_lowpc(skeleton, &u->lists.base))
		u->lists.base = 0;
	u->functions = (struct dwarf_functions){ .steps = s->steps, .lists = &u->lists };
	return true;
}

static void split_unit_close(struct split_unit *u, bool broken)
{
	dwarf_functions_fini(&u->functions);
	if (broken)
		return;
	if (u->dbg)
		dwarf_end(u->dbg);
	if (u->elf)
		elf_end(u->elf);
	free(u->stub);
	u->dbg = NULL;
	u->elf = NULL;
	u->stub = NULL;
}

struct split_unit *split_units_get(struct split_units *s, Dwarf_Die *skeleton)
{
	Dwarf_Off off = dwarf_dieoffset(skeleton);
	struct split_unit *u;
	uint64_t dwo_id;

	if (!s->find || !split_is_skeleton(skeleton, &dwo_id))
		return NULL;
	for (uint32_t i = s->units.n; i-- > 0;) {
		u = s->units.v[i];
		if (u->skeleton == off)
			return u->stub ? u : NULL;
	}
	if (!s->begun) {
		s->addresses = split_section(s->main, ".debug_addr");
		s->ranges = split_section(s->main, ".debug_ranges");
	}
	s->begun = true;
	u = calloc(1, sizeof(*u));
	if (!u || !vector_push(&s->units, u)) {
		free(u);
		return NULL;
	}
	u->skeleton = off;
	if (split_unit_open(s, u, skeleton, dwo_id))
		return u;
	split_unit_close(u, false);
	return NULL;
}

void split_units_fini(struct split_units *s, bool broken)
{
	for (uint32_t i = 0; i < s->units.n; i++) {
		split_unit_close(s->units.v[i], broken);
		free(s->units.v[i]);
	}
	free(s->units.v);
	*s = (struct split_units){ 0 };
}
