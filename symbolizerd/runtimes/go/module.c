// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/go/module.h"

#include <string.h>

#include "ipc/message_hub.h"

#define BLOCK		(1u << 20)
#define WORDS		48	/* of moduledata: enough for what is read here */

/* Words of moduledata: header, names ... text (all versions).  Then gofunc:
 * Go 1.27, 1.20 to 1.26 (covctrs, ecovctrs are new), 1.18 and 1.19. */
#define WORD_TEXT	22
static const uint8_t gofunc_words[] = { 43, 40, 38 };

#define SAMPLES		16	/* functions with inlined calls looked at */

static bool text_sound(const struct pclntab *t, uint64_t text)
{
	uint64_t off;
	struct pclntab_func fn;
	struct pclntab with = *t;

	with.text = text;
	return elf_file_offset(t->f, text, true, &off, NULL) &&
	       pclntab_func(&with, 0, &fn) &&
	       pclntab_func(&with, t->n - 1, &fn);
}

/* --- inlining trees --------------------------------------------------------- */

/* The first entry's name is one of the names. */
static bool entry_sound(const struct pclntab *t, const struct pclntab_func *fn,
			struct pclntab_window *w)
{
	struct pclntab_inlined in;

	return pclntab_inlined(t, fn, 0, w, &in) && in.name[0] &&
	       (in.name == (const char *)t->names.data || !in.name[-1]);
}

/* Are the inlining trees where gofunc says?  For a few functions. */
static bool inltrees_sound(const struct pclntab *t)
{
	struct pclntab_window w = { 0 };
	uint32_t seen = 0;
	bool ok = true;

	for (uint32_t i = 0; i < t->n && ok && seen < SAMPLES; i++) {
		struct pclntab_func fn;

		if (!pclntab_func(t, i, &fn) ||
		    !pclntab_pcdata(t, &fn, PCDATA_INLTREE) ||
		    !pclntab_funcdata(t, &fn, FUNCDATA_INLTREE))
			continue;
		ok = entry_sound(t, &fn, &w);
		seen++;
	}
	elf_bytes_free(&w.b);
	return ok && seen;
}

/* --- moduledata -------------------------------------------------------------- */

/* Does it begin with the addresses of header and names? */
static bool begins(const struct pclntab *t, const uint8_t *p)
{
	uint64_t w[2];

	memcpy(w, p, sizeof(w));
	return w[0] == t->bytes.vaddr &&
	       w[1] - t->bytes.vaddr ==
	       (uint64_t)(t->names.data - t->bytes.data);
}

/* Words of moduledata at a place in the file.  False: it is not there. */
static bool use(struct pclntab *t, uint64_t off)
{
	uint64_t w[WORDS];
	struct elf_bytes b;
	bool ok;

	if (elf_file_read(t->f, off, sizeof(w), &b))
		return false;
	memcpy(w, b.data, sizeof(w));
	ok = begins(t, b.data);
	elf_bytes_free(&b);
	if (!ok || (t->magic != PCLNTAB_116 && !text_sound(t, w[WORD_TEXT])))
		return false;
	if (t->magic == PCLNTAB_116)
		return true;
	t->text = w[WORD_TEXT];
	for (size_t i = 0; i < sizeof(gofunc_words); i++) {
		t->gofunc = w[gofunc_words[i]];
		if (inltrees_sound(t))
			return true;
	}
	t->gofunc = 0;
	return true;
}

static int go_module_search(struct pclntab *t, bool *found)
{
	for (uint32_t i = 0; i < t->f->n_phdrs; i++) {
		const Elf64_Phdr *p = &t->f->phdrs[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W) ||
		    p->p_offset > t->f->size ||
		    p->p_filesz > t->f->size - p->p_offset)
			continue;
		for (uint64_t at = 0; at < p->p_filesz; at += BLOCK) {
			uint64_t len = p->p_filesz - at;
			struct elf_bytes b;
			int r;

			/* one word more than is looked at */
			if (len > BLOCK + 8)
				len = BLOCK + 8;
			r = elf_file_read(t->f, p->p_offset + at, len, &b);
			if (r)
				return r;
			for (size_t k = 0; !*found && k + 16 <= b.len; k += 8)
				*found = begins(t, b.data + k) &&
					 use(t, p->p_offset + at + k);
			elf_bytes_free(&b);
			if (*found)
				return JOB_OK;
		}
	}
	return JOB_OK;
}

int go_module_read(struct pclntab *t, uint64_t header_text)
{
	const Elf64_Shdr *s = elf_file_find(t->f, ".go.module");
	bool found = s && use(t, s->sh_offset);
	int r = JOB_OK;

	if (!found)
		r = go_module_search(t, &found);
	if (r || found || t->magic == PCLNTAB_116)
		return r;
	if (header_text && text_sound(t, header_text)) {
		t->text = header_text;
		return r;
	}
	/* all of .text is Go's where Go's linker made it */
	s = elf_file_find(t->f, ".text");
	if (s && text_sound(t, s->sh_addr))
		t->text = s->sh_addr;
	else
		t->n = 0;
	return r;
}
