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

/* The virtual address of code at this file offset. */
static bool lines_job_vaddr(const struct elf_file *f, uint64_t off, uint64_t *ret)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && off >= p->p_offset &&
		    off - p->p_offset < p->p_filesz) {
			*ret = off - p->p_offset + p->p_vaddr;
			return true;
		}
	}
	return false;
}

/* Has the visit reached its limits? */
static bool lines_job_enough(void)
{
	struct mallinfo2 m = mallinfo2();

	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) > LINES_JOB_NS ||
	       m.uordblks + m.hblkhd > LINES_JOB_BYTES;
}

/* Add the places at an address as those of offset i.  False: there is no more room. */
static bool lines_job_at(struct dwarf_places *d, uint64_t vaddr, uint32_t i,
			 struct frame_names_build *names)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	uint32_t n = dwarf_places_at(d, vaddr, at);

	for (uint32_t j = 0; j < n; j++) {
		if (!frame_names_add(names, i, &at[j]))
			return false;
	}
	return true;
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
			  struct frame_names_build *names)
{
	struct lines_job_split split = { f, c };
	struct dwarf_places *d;
	uint64_t vaddr;
	int r = dwarf_places_open(fd, alternate, &d);

	if (r)
		return r;
	dwarf_places_split(d, lines_job_package, &split);
	for (uint32_t i = 0; i < n; i++) {
		bool room = !lines_job_vaddr(f, offsets[i], &vaddr) ||
			    lines_job_at(d, vaddr, i, names);

		if (i + 1 < n && (!room || lines_job_enough())) {
			frame_names_stop(names, i + 1);
			break;
		}
	}
	dwarf_places_close(d);
	return JOB_OK;
}

int lines_job(struct conn *c, int fd, const uint64_t *offsets, uint32_t n,
	      struct frame_names_build *names)
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
		r = lines_job_read(&f, f.debug ? debug.fd : fd, alternate, c, offsets, n, names);
	else if (!r && elf_file_find(&f, ".symtab"))
		r = JOB_NO_NAMES;
	signal(SIGBUS, SIG_DFL);
	if (alternate >= 0)
		close(alternate);
	debug_file_close(&debug, &f);
	elf_file_close(&f);
	return r;
}
