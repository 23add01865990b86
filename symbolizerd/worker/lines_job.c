// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/worker/lines_job.h"

#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/message_hub.h"
#include "symbolizerd/elf/file_id.h"
#include "symbolizerd/symbols/dwarf_places.h"
#include "symbolizerd/worker/debug_file.h"

_Static_assert(LINE_STRING_MAX == 2 * DWARF_NAME_MAX + 1, "a directory, a slash, a file");

static sigjmp_buf lines_job_shrunk;

static void lines_job_on_bus(int sig)
{
	(void)sig;
	siglongjmp(lines_job_shrunk, 1);
}

/* Does this file itself have DWARF? */
static bool lines_job_has(const struct elf_file *f)
{
	return elf_file_find(f, ".debug_info") || elf_file_find(f, ".zdebug_info");
}

static bool lines_job_any(const struct elf_file *f)
{
	return lines_job_has(f) || (f->debug && lines_job_has(f->debug));
}

void lines_job_may_be(const struct elf_file *f, struct msg_job_done *done)
{
	done->lines = lines_job_any(f);
	if (done->lines || !elf_file_find(f, ".symtab") || !debug_file_may_be(f, done))
		return;
	done->lines = 1;
	done->debug = JOB_DEBUG_LINES;
}

/* The segment with code at this file offset, or NULL. */
static const Elf64_Phdr *lines_job_segment(const struct elf_file *f, uint64_t off)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && off >= p->p_offset &&
		    off - p->p_offset < p->p_filesz &&
		    p->p_filesz < UINT64_MAX - p->p_vaddr)
			return p;
	}
	return NULL;
}

/* Has the visit reached its limits? */
static bool lines_job_enough(void)
{
	struct mallinfo2 m = mallinfo2();

	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) > LINES_JOB_NS ||
	       m.uordblks + m.hblkhd > LINES_JOB_BYTES;
}

/* The piece around an address that is in s, or, if there is none, this address alone. */
static void lines_job_piece(struct dwarf_places *d, uint64_t vaddr, uint32_t max,
			    const struct dwarf_span *s, struct dwarf_code *ret,
			    struct symbol_place alone[SYMBOL_DEPTH_MAX], uint32_t *n)
{
	ret->span = *s;
	*n = 0;
	if (dwarf_places_around(d, vaddr, max, ret))
		return;
	ret->span = (struct dwarf_span){ vaddr, vaddr + 1 };
	ret->n = 0;
	*n = dwarf_places_at(d, vaddr, alone);
}

/* Add the code around a virtual address, with so many segments at most; it is in s, which is
 * so many bytes behind its file offset.  False: there is no room. */
static bool lines_job_around(struct dwarf_places *d, uint64_t vaddr, uint32_t max,
			     const struct dwarf_span *s, uint64_t shift,
			     struct line_codes_build *codes)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct dwarf_code code;
	uint32_t n;

	lines_job_piece(d, vaddr, max, s, &code, at, &n);
	if (!line_codes_add(codes, code.span.low - shift,
			    (uint32_t)(code.span.high - code.span.low)))
		return false;
	if (!code.n)
		return line_codes_add_segment(codes, 0, at, n);
	for (uint32_t i = 0; i < code.n; i++) {
		n = dwarf_places_within(d, code.at[i], at);
		if (!line_codes_add_segment(codes, (uint32_t)(code.at[i] - code.span.low), at, n))
			return false;
	}
	return true;
}

/* The part of a segment that a piece around this address is in.  Parts are fixed, so that pieces
 * of different visits are the same, or have nothing in common. */
static struct dwarf_span lines_job_part(const Elf64_Phdr *p, uint64_t vaddr)
{
	struct dwarf_span s = { p->p_vaddr, p->p_vaddr + p->p_filesz };
	uint64_t low = vaddr & ~(LINE_CODE_BYTES - 1ULL), last = vaddr | (LINE_CODE_BYTES - 1ULL);

	if (s.low < low)
		s.low = low;
	if (s.high > last)
		s.high = last + 1;
	return s;
}

/* Add the code around an offset; only its own place if more does not fit even alone.  False:
 * there is no room. */
static bool lines_job_at(struct dwarf_places *d, const struct elf_file *f, uint64_t off,
			 struct line_codes_build *codes)
{
	const Elf64_Phdr *p = lines_job_segment(f, off);
	struct dwarf_span s;
	uint64_t vaddr;

	if (!p || line_codes_has(codes, off))
		return true;
	vaddr = off - p->p_offset + p->p_vaddr;
	s = lines_job_part(p, vaddr);
	if (lines_job_around(d, vaddr, LINE_CODE_SEGMENTS, &s, vaddr - off, codes))
		return true;
	/* the next visit has room for all of it */
	if (codes->full && codes->hdr.codes)
		return false;
	return lines_job_around(d, vaddr, 1, &s, vaddr - off, codes);
}

/* The file whose split DWARF is wanted, and the hub. */
struct lines_job_split {
	const struct elf_file *f;
	struct conn *c;
};

/* A dwarf_open_fn.  .dwo files are where a compiler ran: they are not opened. */
static int lines_job_package(void *arg, const char *name, const char *dir)
{
	const struct lines_job_split *s = arg;

	(void)dir;
	if (name)
		return -1;
	return debug_file_package(s->f, s->c);
}

static int lines_job_read(const struct elf_file *f, int fd, int alternate, struct conn *c,
			  const uint64_t *offsets, uint32_t n,
			  struct line_codes_build *codes)
{
	struct lines_job_split split = { f, c };
	struct dwarf_places *d;
	int r = dwarf_places_open(fd, alternate, &d);

	if (r)
		return r;
	dwarf_places_split(d, lines_job_package, &split);
	for (uint32_t i = 0; i < n; i++) {
		bool room = lines_job_at(d, f, offsets[i], codes);

		/* the first one is done in any case */
		if (!room && i) {
			line_codes_stop(codes, i);
			break;
		}
		if (i + 1 < n && lines_job_enough()) {
			line_codes_stop(codes, i + 1);
			break;
		}
	}
	dwarf_places_close(d);
	return JOB_OK;
}

int lines_job(struct conn *c, int fd, const uint64_t *offsets, uint32_t n,
	      struct line_codes_build *codes)
{
	struct msg_job_done done = { .exe = 0 };
	struct debug_file debug = { .fd = -1 };
	struct elf_file f;
	int r = elf_file_open(&f, fd), alternate = -1;

	if (!r && !lines_job_has(&f)) {
		done.build_id_len = file_build_id(&f, done.build_id, BUILD_ID_MAX);
		debug_file_find(&debug, &f, c, 0, &done);
	}
	if (!r && lines_job_any(&f))
		alternate = debug_file_alternate(&f, c);
	if (sigsetjmp(lines_job_shrunk, 1))
		return JOB_CORRUPT;	/* nothing is closed: a worker has one job */
	signal(SIGBUS, lines_job_on_bus);
	if (!r && lines_job_any(&f))
		r = lines_job_read(&f, f.debug ? debug.fd : fd, alternate, c, offsets, n, codes);
	else if (!r && elf_file_find(&f, ".symtab"))
		r = JOB_NO_NAMES;
	signal(SIGBUS, SIG_DFL);
	if (alternate >= 0)
		close(alternate);
	debug_file_close(&debug, &f);
	elf_file_close(&f);
	return r;
}
