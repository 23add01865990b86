// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/go/find.h"

#include <string.h>
#include <sys/types.h>

#include "ipc/message_hub.h"
#include "symbolizerd/elf/file_id.h"

#define NT_GO_BUILD_ID	4	/* cmd/internal/buildid: ELF note of "Go" */
#define BLOCK		(1u << 20)	/* bytes read at once when searching */
#define CANDIDATES_MAX	64	/* headers looked at when searching */
#define SAMPLES		16	/* functions whose inlining tree is looked at */
#define WORDS		48	/* of moduledata: enough for what is read here */

/* Words of moduledata: header, names ... text (all versions).  Then gofunc:
 * Go 1.27, 1.20 to 1.26 (covctrs, ecovctrs are new), 1.18 and 1.19. */
#define WORD_TEXT	22
static const uint8_t gofunc_words[] = { 43, 40, 38 };

/* --- searching a file --------------------------------------------------------- */

struct go_search {
	struct pclntab *t;
	uint32_t candidates;	/* that may still be looked at */
	bool found;
};

/* Looks at the bytes b at offset `at` of a segment. */
typedef int (*go_block_fn)(struct go_search *s, const Elf64_Phdr *p, uint64_t at,
			   const struct elf_bytes *b);

/* The loaded segments whose flags, of those in mask, are these: a block at a time,
 * with 8 bytes of the next one.  Ends when fn has found something or failed. */
static int go_search_segments(struct go_search *s, uint32_t mask, uint32_t flags,
			      go_block_fn fn)
{
	const struct elf_file *f = s->t->f;

	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type != PT_LOAD || (p->p_flags & mask) != flags ||
		    p->p_offset > f->size || p->p_filesz > f->size - p->p_offset)
			continue;
		for (uint64_t at = 0; at < p->p_filesz; at += BLOCK) {
			uint64_t len = p->p_filesz - at;
			struct elf_bytes b;
			int r;

			if (len > BLOCK + 8)
				len = BLOCK + 8;
			r = elf_file_read(f, p->p_offset + at, len, &b);
			if (r)
				return r;
			r = fn(s, p, at, &b);
			elf_bytes_free(&b);
			if (r || s->found || !s->candidates)
				return r;
		}
	}
	return JOB_OK;
}

/* --- moduledata: where code is -------------------------------------------------- */

/* Are the first and the last function in code, if it begins there? */
static bool go_text_sound(const struct pclntab *t, uint64_t text)
{
	uint64_t off;
	struct pclntab_func fn;
	struct pclntab with = *t;

	with.text = text;
	return elf_file_offset(t->f, text, true, &off, NULL) &&
	       pclntab_func(&with, 0, &fn) &&
	       pclntab_func(&with, t->n - 1, &fn);
}

/* Is the first entry's name one of the names? */
static bool go_inltree_sound(const struct pclntab *t, const struct pclntab_func *fn,
			     struct pclntab_window *w)
{
	struct pclntab_inlined in;

	return pclntab_inlined(t, fn, 0, w, &in) && in.name[0] &&
	       (in.name == (const char *)t->names.data || !in.name[-1]);
}

/* Are the inlining trees where gofunc says?  Looks at a few functions. */
static bool go_inltrees_sound(const struct pclntab *t)
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
		ok = go_inltree_sound(t, &fn, &w);
		seen++;
	}
	elf_bytes_free(&w.b);
	return ok && seen;
}

/* Does it begin with the addresses of header and names? */
static bool go_module_begins(const struct pclntab *t, const uint8_t *p)
{
	uint64_t w[2];

	memcpy(w, p, sizeof(w));
	return w[0] == t->bytes.vaddr &&
	       w[1] - t->bytes.vaddr ==
	       (uint64_t)(t->names.data - t->bytes.data);
}

/* Read moduledata at this file offset.  False: it is not there. */
static bool go_module_use(struct pclntab *t, uint64_t off)
{
	uint64_t w[WORDS];
	struct elf_bytes b;
	bool ok;

	if (elf_file_read(t->f, off, sizeof(w), &b))
		return false;
	memcpy(w, b.data, sizeof(w));
	ok = go_module_begins(t, b.data);
	elf_bytes_free(&b);
	if (!ok || (t->magic != PCLNTAB_116 && !go_text_sound(t, w[WORD_TEXT])))
		return false;
	if (t->magic == PCLNTAB_116)
		return true;
	t->text = w[WORD_TEXT];
	for (size_t i = 0; i < sizeof(gofunc_words); i++) {
		t->gofunc = w[gofunc_words[i]];
		if (go_inltrees_sound(t))
			return true;
	}
	t->gofunc = 0;
	return true;
}

static int go_module_block(struct go_search *s, const Elf64_Phdr *p, uint64_t at,
			   const struct elf_bytes *b)
{
	for (size_t i = 0; !s->found && i + 16 <= b->len; i += 8)
		s->found = go_module_begins(s->t, b->data + i) &&
			   go_module_use(s->t, p->p_offset + at + i);
	return JOB_OK;
}

/* Fill in .text and .gofunc of a table whose header was read; header_text: what
 * the header says of .text, 0: nothing.  JOB_OK, or a verdict of reading. */
static int go_module_read(struct pclntab *t, uint64_t header_text)
{
	const Elf64_Shdr *s = elf_file_find(t->f, ".go.module");
	struct go_search search = { .t = t, .candidates = 1 };
	int r;

	if (s && go_module_use(t, s->sh_offset))
		return JOB_OK;
	r = go_search_segments(&search, PF_W, PF_W, go_module_block);
	if (r || search.found || t->magic == PCLNTAB_116)
		return r;
	if (header_text && go_text_sound(t, header_text)) {
		t->text = header_text;
		return r;
	}
	/* all of .text is Go's where Go's linker made it */
	s = elf_file_find(t->f, ".text");
	if (s && go_text_sound(t, s->sh_addr))
		t->text = s->sh_addr;
	else
		t->n = 0;
	return r;
}

/* --- pclntab ------------------------------------------------------------------ */

/* A table that may begin at this file offset.  JOB_OK, or a verdict. */
static int go_find_take(struct pclntab *t, uint64_t off, uint64_t len,
			uint64_t vaddr, bool *found)
{
	uint64_t text;
	int r;

	if (len > PCLNTAB_MAX)
		len = PCLNTAB_MAX;
	r = elf_file_read(t->f, off, len, &t->bytes);
	if (r == JOB_NO_MEMORY)
		return r;
	if (r)
		return JOB_OK;
	t->bytes.vaddr = vaddr;
	*found = pclntab_header(t, &text);
	if (*found)
		return go_module_read(t, text);
	elf_bytes_free(&t->bytes);
	t->n = 0;
	return JOB_OK;
}

/* Go's linker always writes a note, also where section headers are missing. */
static bool go_find_is_go(const struct elf_file *f)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];
		struct elf_bytes b;
		bool yes;

		if (p->p_type != PT_NOTE || p->p_filesz < 16 ||
		    p->p_filesz > 65536 ||
		    elf_file_read(f, p->p_offset, p->p_filesz, &b))
			continue;
		yes = memmem(b.data, b.len, "Go\0\0", 4);
		elf_bytes_free(&b);
		if (yes)
			return true;
	}
	return !f->n_shdrs;
}

/* A header at a multiple of 8 within a block of a segment. */
static int go_find_block(struct go_search *s, const Elf64_Phdr *p, uint64_t at,
			 const struct elf_bytes *b)
{
	int r = JOB_OK;

	for (size_t i = 0; i < BLOCK && i + 8 <= b->len; i += 8) {
		if (!pclntab_is_header(b->data + i))
			continue;
		s->candidates--;
		r = go_find_take(s->t, p->p_offset + at + i, p->p_filesz - at - i,
				 p->p_vaddr + at + i, &s->found);
		if (r || s->found || !s->candidates)
			break;
	}
	return r;
}

int go_find(struct pclntab *t, const struct elf_file *f)
{
	static const char *const sections[] = {
		".gopclntab",
		".data.rel.ro.gopclntab",
	};
	struct go_search search = { .t = t, .candidates = CANDIDATES_MAX };
	int r = JOB_OK;

	*t = (struct pclntab){ .f = f };
	for (int i = 0; i < 2 && !r && !search.found; i++) {
		const Elf64_Shdr *s = elf_file_find(f, sections[i]);

		if (s && !(s->sh_flags & SHF_COMPRESSED))
			r = go_find_take(t, s->sh_offset, s->sh_size,
					 s->sh_addr, &search.found);
	}
	if (!r && !search.found && go_find_is_go(f))
		r = go_search_segments(&search, PF_X, 0, go_find_block);
	if (r)
		pclntab_close(t);
	return r;
}

/* --- was it built by Go? ------------------------------------------------------ */

bool go_build_id(const struct elf_file *f, char *ret, size_t size)
{
	ssize_t n;

	memset(ret, 0, size);
	n = file_note(f, ".note.go.buildid", "Go", NT_GO_BUILD_ID, ret,
		      size - 1);
	if (n < 0)
		return elf_file_find(f, ".gopclntab") != NULL;
	if (memchr(ret, '\0', n))
		memset(ret, 0, size);
	return true;
}
