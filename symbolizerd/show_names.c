// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/show_names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/log.h"
#include "ipc/message_hub.h"
#include "symbolizerd/show_split.h"
#include "symbolizerd/symbols/index_build.h"

int show_names_open(struct shown_names *s, const struct elf_file *f,
		    symbol_sources_fn sources, bool mangled, FILE *to)
{
	size_t len;
	int r;

	*s = (struct shown_names){ .f = f, .to = to, .mangled = mangled };
	r = symbols_build(f, sources, &s->data, &len);
	if (!r && symbols_open(s->data, len, &s->index))
		r = JOB_CORRUPT;
	if (!elf_file_find(f, ".debug_info") && f->debug)
		f = f->debug;
	if (r || !dwarf_places_open(f->fd, -1, &s->dwarf))
		return r;
	log_warn("no lines: its DWARF is too large or contradicts itself");
	return JOB_OK;
}

static int show_names_split_file(void *arg, const char *name, const char *dir)
{
	const struct shown_names *s = arg;

	if (!name && s->package)
		return s->package;
	if (!name || !s->dwo)
		return -1;
	return show_split_open(s->dwo, name, dir);
}

void show_names_split(struct shown_names *s, int package, int dwo)
{
	s->package = package;
	s->dwo = dwo;
	if (s->dwarf)
		dwarf_places_split(s->dwarf, show_names_split_file, s);
}

void show_names_close(struct shown_names *s)
{
	if (s->dwarf)
		dwarf_places_close(s->dwarf);
	free(s->data);
	s->dwarf = NULL;
	s->data = NULL;
}

/* What a terminal would not print but obey: C0, DEL, and C1 in UTF-8. */
static bool show_names_control(const unsigned char *c)
{
	return *c < 0x20 || *c == 0x7f || *c == '\\' ||
	       (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
}

static void show_names_text(FILE *to, const char *text)
{
	for (const unsigned char *c = (const void *)text; *c; c++) {
		if (show_names_control(c))
			fprintf(to, "\\x%02x", *c);
		else
			putc(*c, to);
	}
}

static void show_names_function(const struct shown_names *s, const struct symbol_place *p)
{
	if (!*p->name && !p->begin)
		putc('?', s->to);
	else if (!*p->name)
		fprintf(s->to, "!0x%" PRIx64, p->begin);
	else if (s->mangled && p->system)
		show_names_text(s->to, p->system);
	else
		show_names_text(s->to, p->name);
}

static void show_names_place(const struct shown_names *s, const struct symbol_place *p,
			     bool inlined)
{
	show_names_function(s, p);
	if (*p->file || p->line || inlined)
		putc('\t', s->to);
	if (*p->file || p->line) {
		show_names_text(s->to, *p->file ? p->file : "?");
		fprintf(s->to, ":%" PRIu32, p->line);
	}
	fputs(inlined ? "\t(inlined)\n" : "\n", s->to);
}

/* What DWARF says; but the function that has an address of its own is called what
 * the symbol table calls it, if that does. */
static uint32_t show_names_places(const struct shown_names *s, uint64_t vaddr, uint64_t off,
				  struct symbol_place places[SYMBOL_DEPTH_MAX])
{
	uint32_t n = symbols_places(&s->index, off, places), more;
	struct symbol_place outer = places[0];

	if (n > 1 || (n && places[0].line) || !s->dwarf)
		return n;	/* a runtime's lines */
	more = dwarf_places_at(s->dwarf, vaddr, places);
	if (!more) {
		places[0] = outer;
		return n;
	}
	if (!n)
		return more;
	if (*outer.name || (outer.begin && !*places[more - 1].name)) {
		places[more - 1].name = outer.name;
		places[more - 1].system = outer.system;
		places[more - 1].begin = outer.begin;
	}
	return more;
}

void show_names_at(const struct shown_names *s, uint64_t vaddr)
{
	struct symbol_place places[SYMBOL_DEPTH_MAX] = { { .name = "", .file = "" } };
	uint32_t n = 0;
	uint64_t off;

	if (elf_file_offset(s->f, vaddr, true, &off, NULL))
		n = show_names_places(s, vaddr, off, places);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(s->to, "0x%" PRIx64 "\t", vaddr);
		show_names_place(s, &places[i], i + 1 < n);
	}
	if (!n)
		fprintf(s->to, "0x%" PRIx64 "\t?\n", vaddr);
}

/* Where the file says that this offset is executed: the first such segment. */
static bool show_names_vaddr(const struct elf_file *f, uint64_t off, uint64_t *ret)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
		    off < p->p_offset || off - p->p_offset >= p->p_filesz)
			continue;
		*ret = off - p->p_offset + p->p_vaddr;
		return true;
	}
	return false;
}

void show_names_all(const struct shown_names *s)
{
	struct symbol_place places[SYMBOL_DEPTH_MAX];
	uint64_t vaddr;

	for (uint32_t i = 0; i < s->index.n; i++) {
		const struct symbol *sym = &s->index.symbols[i];
		uint32_t n = symbols_places(&s->index, sym->start, places);

		if (!n || !show_names_vaddr(s->f, sym->start, &vaddr))
			continue;
		fprintf(s->to, "0x%" PRIx64 "\t0x%" PRIx32 "\t", vaddr, sym->size);
		show_names_function(s, &places[n - 1]);
		putc('\n', s->to);
	}
}
