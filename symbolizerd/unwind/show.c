// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/show.h"

#include <inttypes.h>
#include <stdlib.h>

#include "bpf/table.h"
#include "ipc/message_hub.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/unwind/build.h"
#include "symbolizerd/unwind/table.h"

struct show_names {
	const char *sp, *fp, *pc;
	const char *regs[REGS_MAX];
};

struct shown_table {
	const struct elf_file *f;
	const struct show_names *names;
	FILE *to;
	struct symbol_index symbols;
	const struct table_hdr *hdr;
	const struct unwind_rule *rules;
	const struct dir_entry *dir;
	const union element *elements;
};

static const struct show_names *show_names_of(uint16_t machine)
{
	static const struct show_names x86 = {
		"rsp", "rbp", "rip", {
			"rbx", "r12", "r13", "r14", "r15", "rax", "rdx", "rcx",
			"rsi", "rdi", "r8", "r9", "r10", "r11", "?", "?",
		},
	};
	static const struct show_names arm = {
		"sp", "x29", "pc", {
			"x19", "x20", "x21", "x22", "x23", "x30", "?", "?",
			"?", "?", "?", "?", "?", "?", "?", "?",
		},
	};

	if (machine == EM_X86_64)
		return &x86;
	return &arm;
}

/* --- a rule ---------------------------------------------------------------- */

static void show_plain(const struct shown_table *s, const char *base, int64_t off)
{
	fputs(base, s->to);
	if (off)
		fprintf(s->to, "%+" PRId64, off);
}

static void show_deref(const struct shown_table *s, const char *base,
		       const struct unwind_rule *r)
{
	fputs("*(", s->to);
	show_plain(s, base, r->cfa_off);
	fputc(')', s->to);
	if (r->aux)
		fprintf(s->to, "+%d", r->aux);
}

static void show_cfa(const struct shown_table *s, const struct unwind_rule *r)
{
	const struct show_names *n = s->names;
	const char *reg = n->regs[r->cfa_reg % REGS_MAX];

	fputs(" cfa=", s->to);
	switch (r->cfa) {
	case CFA_SP:
		show_plain(s, n->sp, r->cfa_off);
		break;
	case CFA_FP:
		show_plain(s, n->fp, r->cfa_off);
		break;
	case CFA_REG:
		show_plain(s, reg, r->cfa_off);
		break;
	case CFA_SP_DEREF:
		show_deref(s, n->sp, r);
		break;
	case CFA_FP_DEREF:
		show_deref(s, n->fp, r);
		break;
	case CFA_REG_DEREF:
		show_deref(s, reg, r);
		break;
	default:
		fprintf(s->to, "%s+8+8*((%s&15)>=11)", n->sp, n->pc);
	}
}

static void show_saved(const struct shown_table *s, const char *reg, bool by_fp,
		       int64_t off)
{
	fprintf(s->to, " %s=*(", reg);
	show_plain(s, by_fp ? s->names->fp : "cfa", off);
	fputc(')', s->to);
}

static void show_rule(const struct shown_table *s, const struct unwind_rule *r)
{
	static const char *const words[CFA__MAX] = {
		[CFA_NONE] = "none", [CFA_END] = "end",
		[CFA_SIGNAL] = "signal", [CFA_UNSUPPORTED] = "unsupported",
		[CFA_RUNTIME] = "none",		/* no rule: is about the file */
	};

	if (r->cfa >= CFA__MAX || words[r->cfa]) {
		fprintf(s->to, " %s", r->cfa < CFA__MAX ? words[r->cfa] : "?");
		return;
	}
	show_cfa(s, r);
	if (r->ra == RA_REG)
		fprintf(s->to, " ra=%s", s->names->regs[r->ra_reg % REGS_MAX]);
	else
		show_saved(s, "ra", false, r->ra_off);
	if (r->saved & RULE_ELSEWHERE)
		fputs(" elsewhere", s->to);
	if (r->saved & RULE_INJECTED)
		fputs(" injected", s->to);
	if (r->saved & (1 << SAVED_FP))
		show_saved(s, s->names->fp, r->by_fp & (1 << SAVED_FP), r->fp_off);
	for (int i = 0; i < SAVED_REGS; i++) {
		if (r->saved & (1 << i))
			show_saved(s, s->names->regs[i], r->by_fp & (1 << i),
				   8 * (int64_t)r->reg_off[i]);
	}
}

static void show_name(const struct shown_table *s, uint64_t off)
{
	const char *name = symbols_find(&s->symbols, off);

	if (name)
		fprintf(s->to, " %s", name);
}

/* --- a table ----------------------------------------------------------------- */

static uint32_t show_index_elements(const struct dir_entry *d)
{
	return (d->n + INDEX_FANOUT - 1) / INDEX_FANOUT;
}

static const struct unwind_row *show_row(const struct shown_table *s,
					 const struct dir_entry *d, uint32_t k)
{
	return &s->elements[d->first + show_index_elements(d) +
			    k / ELEMENT_ROWS]
			.row[k % ELEMENT_ROWS];
}

/* [start, end) of the file, as addresses of each executable segment that maps it. */
static void show_range(const struct shown_table *s, uint64_t start, uint64_t end,
		       uint16_t rule)
{
	for (uint32_t i = 0; i < s->f->n_phdrs; i++) {
		const Elf64_Phdr *p = &s->f->phdrs[i];
		uint64_t from = start, to = end;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (from < p->p_offset)
			from = p->p_offset;
		if (to > p->p_offset + p->p_filesz)
			to = p->p_offset + p->p_filesz;
		if (from >= to)
			continue;
		fprintf(s->to, "0x%" PRIx64 "-0x%" PRIx64,
			from - p->p_offset + p->p_vaddr,
			to - p->p_offset + p->p_vaddr);
		show_rule(s, &s->rules[rule]);
		show_name(s, from);
		fputc('\n', s->to);
	}
}

/* Successive rows with the same rule are one range, also across pages. */
static void show_all(const struct shown_table *s)
{
	uint64_t start = 0, at = 0;
	uint16_t rule = RULE_NONE;

	for (uint32_t page = 0; page < s->hdr->pages; page++) {
		const struct dir_entry *d = &s->dir[page];

		for (uint32_t k = 0; k < d->n * (uint32_t)ELEMENT_ROWS; k++) {
			const struct unwind_row *r = show_row(s, d, k);

			at = ((uint64_t)page << TABLE_PAGE_SHIFT) + r->low;
			if (r->rule == rule)
				continue;
			show_range(s, start, at, rule);
			start = at;
			rule = r->rule;
		}
	}
	show_range(s, start, (uint64_t)s->hdr->pages << TABLE_PAGE_SHIFT, rule);
}

static void show_at(const struct shown_table *s, uint64_t vaddr)
{
	static const struct unwind_rule none;
	const struct unwind_rule *r;
	uint64_t off;

	fprintf(s->to, "0x%" PRIx64, vaddr);
	if (elf_file_offset(s->f, vaddr, true, &off, NULL)) {
		r = table_lookup(s->hdr, off);
		show_rule(s, r ? r : &none);
		show_name(s, off);
	} else {
		fputs(" not executable", s->to);
	}
	fputc('\n', s->to);
}

int show_table(const struct elf_file *f, unwind_rows_fn rows,
	       symbol_sources_fn sources, const uint64_t *at, size_t n,
	       FILE *to)
{
	static const struct unwind_rule none;
	struct shown_table s = { .f = f, .to = to, .rules = &none };
	void *table, *symbols = NULL;
	size_t len, symbols_len;
	int r = unwind_build(f, rows, &table, &len);

	if (r)
		return r;
	if (!symbols_build(f, sources, &symbols, &symbols_len))
		symbols_open(symbols, symbols_len, &s.symbols);
	s.names = show_names_of(f->ehdr.e_machine);
	s.hdr = table;
	if (s.hdr->pages) {
		s.rules = (const void *)(s.hdr + 1);
		s.dir = (const void *)(s.rules + s.hdr->n_rules);
		s.elements = (const void *)(s.dir + (s.hdr->pages + 7) / 8 * 8);
	}
	for (size_t i = 0; i < n; i++)
		show_at(&s, at[i]);
	if (!n)
		show_all(&s);
	free(symbols);
	free(table);
	return JOB_OK;
}
