// SPDX-License-Identifier: Apache-2.0
/*
 * cfi_agree - do our unwind tables say what elfutils says?
 *
 * usage: cfi_agree [-v] [-n PCS] FILE...
 *
 * For each file, builds the table as a worker does, then asks both it and
 * libdw how to leave a frame, at both ends of every row that libdw finds, at a
 * random place between them and beside every FDE (of at most about PCS places
 * a file; 200,000).  Both answers are carried out on made-up registers and
 * memory, and what comes out is compared: CFA, return address, stack pointer,
 * frame pointer, callee-saved registers.  Prints a line a file and the sums by
 * cause; -v shows the first differences of each cause.  Exits with 1 if a table
 * says anything else than libdw (to say nothing, where a rule cannot, is fine).
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/unwind/build.h"
#include "tests/live/cfi_agree.h"
#include "tests/unit/table_view.h"

enum cause {
	SAME = 0,		/* a rule, and the same results */
	SAME_END,		/* both: outermost frame */
	SAME_NONE,		/* both: nothing known */
	BRIDGED,		/* padding between two functions of equal rules */
	BEYOND,			/* libdw's expression is beyond this program */
	UNSUPPORTED,		/* ours: cannot be expressed */
	ODD_SAVED,		/* no rule says where this register is */
	MISSING,		/* libdw has a rule, we have none */
	INVENTED,		/* the other way round */
	NOT_END,		/* one of us says it is the outermost frame */
	OTHER_CFA,
	OTHER_RA,
	OTHER_FP,
	OTHER_SAVED,
	CAUSES
};
static const char *const cause_names[CAUSES] = {
	"same", "same: end", "same: nothing", "bridged padding", "not judged",
	"unsupported", "oddly saved register", "missing",
	"invented", "end differs", "CFA differs", "return address differs",
	"frame pointer differs", "saved register differs",
};

static struct {
	bool verbose;
	uint64_t pcs_max;
	uint64_t counts[CAUSES], files, bare, unbuilt;
	uint64_t seed;
} g = { .pcs_max = 200000, .seed = 88172645463325252ULL };

struct file {
	const char *path;
	struct elf_file elf;
	struct table_view table;
	Dwarf_CFI *cfi;
	struct arch arch;
	uint64_t counts[CAUSES];
	unsigned int keep;	/* of 1024 FDEs */
};

static uint64_t rnd(void)
{
	g.seed ^= g.seed << 13, g.seed ^= g.seed >> 7, g.seed ^= g.seed << 17;
	return g.seed;
}

/* --- one place ------------------------------------------------------------- */

static enum cause compare(const struct file *f, const struct unwind_rule *r,
			  Dwarf_Frame *frame, uint64_t pc)
{
	struct frame_regs ours, theirs, in;
	bool odd = false;
	int known;

	if (!frame)
		return r->cfa == CFA_NONE ? SAME_NONE : INVENTED;
	frame_make(&f->arch, pc, &in);
	known = frame_by_libdw(&f->arch, frame, &in, &theirs);
	if (r->cfa == CFA_NONE)
		return MISSING;
	if (theirs.end || r->cfa == CFA_END)
		return theirs.end && r->cfa == CFA_END ? SAME_END : NOT_END;
	if (r->cfa == CFA_UNSUPPORTED)
		return UNSUPPORTED;
	if (known < 0)
		return BEYOND;
	frame_by_rule(&f->arch, r, &in, &ours);
	/* what matters is the caller's sp, mostly the same */
	if (ours.cfa != (theirs.known[SAVED_REGS + 1] ? theirs.sp : theirs.cfa))
		return OTHER_CFA;
	if (ours.ra != theirs.ra)
		return OTHER_RA;
	for (int i = SAVED_FP; i >= 0; i--) {
		if (!theirs.known[i] || ours.reg[i] == theirs.reg[i])
			continue;
		if (!theirs.odd[i])
			return i == SAVED_FP ? OTHER_FP : OTHER_SAVED;
		odd = true;
	}
	return odd ? ODD_SAVED : SAME;
}

/* Padding that the table bridges: rules beside it are equal. */
static bool bridged(const struct file *f, uint64_t pc)
{
	uint64_t lo = pc, hi = pc;
	Dwarf_Frame *frame;

	while (pc - lo < 16 && dwarf_cfi_addrframe(f->cfi, lo, &frame))
		lo--;
	while (hi - lo < 16 && dwarf_cfi_addrframe(f->cfi, hi, &frame))
		hi++;
	return hi - lo <= 16;
}

static void judge(struct file *f, uint64_t pc, Dwarf_Frame *frame)
{
	const struct unwind_rule *r;
	enum cause c;
	uint64_t off;

	if (!elf_file_offset(&f->elf, pc, true, &off, NULL))
		return;
	r = view_find(&f->table, off);
	c = compare(f, r, frame, pc);
	if (c == INVENTED && bridged(f, pc))
		c = BRIDGED;
	f->counts[c]++;
	if (g.verbose && c > SAME_NONE && c != BRIDGED && f->counts[c] <= 3) {
		printf("  %s: %#jx: %s; cfa %u reg %u off %d aux %d ra %u %d "
		       "saved %#x fp %d\n", f->path, (uintmax_t)pc,
		       cause_names[c], r->cfa, r->cfa_reg, r->cfa_off, r->aux,
		       r->ra, r->ra_off, r->saved, r->fp_off);
		if (frame)
			frame_print(&f->arch, frame);
	}
}

static void judge_at(struct file *f, uint64_t pc)
{
	Dwarf_Frame *frame = NULL;

	if (dwarf_cfi_addrframe(f->cfi, pc, &frame))
		frame = NULL;
	judge(f, pc, frame);
	free(frame);
}

/* --- all FDEs -------------------------------------------------------------- */

static void judge_range(struct file *f, uint64_t start, uint64_t end)
{
	judge_at(f, start - 1);
	judge_at(f, end);
	while (start < end) {
		Dwarf_Addr lo, hi;
		Dwarf_Frame *frame;
		bool signal;

		if (dwarf_cfi_addrframe(f->cfi, start, &frame)) {
			judge(f, start, NULL);
			return;
		}
		dwarf_frame_info(frame, &lo, &hi, &signal);
		judge(f, start, frame);
		if (hi > end || hi <= start)
			hi = end;
		if (hi - start > 1)
			judge(f, hi - 1, frame);
		if (hi - start > 2)
			judge(f, start + 1 + rnd() % (hi - start - 2), frame);
		free(frame);
		start = hi;
	}
}

static void judge_section(struct file *f, Elf *elf, Elf_Data *data,
			  uint64_t vaddr, bool eh)
{
	const unsigned char *ident = (const void *)elf_getident(elf, NULL);
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry e, cie;
	int r;

	while ((r = dwarf_next_cfi(ident, data, eh, at, &next, &e)) <= 0 &&
	       next > at) {
		uint64_t start, len;
		Dwarf_Off end;

		at = next;
		if (r < 0 || dwarf_cfi_cie_p(&e) || rnd() % 1024 >= f->keep ||
		    dwarf_next_cfi(ident, data, eh, e.fde.CIE_pointer, &end,
				   &cie))
			continue;
		if (!fde_range(&cie.cie, &e.fde, data->d_buf, vaddr, &start,
			       &len) && len && start)
			judge_range(f, start, start + len);
	}
}

static Elf_Scn *section(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t str;

	if (elf_getshdrstrndx(elf, &str))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *s = gelf_getshdr(scn, shdr) ?
				elf_strptr(elf, str, shdr->sh_name) : NULL;

		if (s && !strcmp(s, name) && shdr->sh_type != SHT_NOBITS)
			return scn;
	}
	return NULL;
}

/* --- files ------------------------------------------------------------------- */

static void report(const struct file *f)
{
	uint64_t n = 0, same = 0;

	for (int i = 0; i < CAUSES; i++) {
		n += f->counts[i];
		same += i <= BRIDGED ? f->counts[i] : 0;
		g.counts[i] += f->counts[i];
	}
	printf("%9ju places %9.5f%%  %s\n", (uintmax_t)n,
	       n ? 100.0 * same / n : 100.0, f->path);
	g.files++;
}

static void judge_file(struct file *f, Elf *elf)
{
	GElf_Shdr shdr = { 0 };
	Elf_Scn *scn = section(elf, ".eh_frame", &shdr);
	bool eh = scn != NULL;
	Elf_Data *data;
	Dwarf *dw = NULL;

	if (section(elf, ".gopclntab", &(GElf_Shdr){ 0 })) {
		g.bare++;	/* its table is not made of CFI: test_go.py */
		return;
	}
	if (!scn)
		scn = section(elf, ".debug_frame", &shdr);
	data = scn ? elf_getdata(scn, NULL) : NULL;
	if (scn && !eh)
		dw = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	f->cfi = eh ? dwarf_getcfi_elf(elf) : dw ? dwarf_getcfi(dw) : NULL;
	if (!f->cfi || !data || !data->d_size) {
		g.bare++;
	} else {
		/* some 60 bytes of CFI are an FDE, or 30 places */
		f->keep = data->d_size / 2 < g.pcs_max ? 1024 :
			  1 + 2048 * g.pcs_max / data->d_size;
		judge_section(f, elf, data, shdr.sh_addr, eh);
		report(f);
	}
	if (eh)
		dwarf_cfi_end(f->cfi);
	dwarf_end(dw);
}

static void one(const char *path)
{
	struct file f = { .path = path };
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;
	void *table = NULL;
	size_t len;
	Elf *elf;

	if (fd < 0 || elf_file_open(&f.elf, fd)) {
		close(fd);
		return;
	}
	r = unwind_build(&f.elf, runtimes_rows, &table, &len);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (r || !elf || !view_open(&f.table, table, len)) {
		printf("  %s: verdict %d, or the table is not sound\n", path, r);
		g.unbuilt++;
	} else {
		arch_init(&f.arch, f.elf.ehdr.e_machine);
		judge_file(&f, elf);
	}
	elf_end(elf);
	free(table);
	elf_file_close(&f.elf);
	close(fd);
}

int main(int argc, char **argv)
{
	uint64_t n = 0, wrong = 0;
	int opt;

	while ((opt = getopt(argc, argv, "vn:")) != -1) {
		if (opt == 'v')
			g.verbose = true;
		else if (opt == 'n')
			g.pcs_max = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	elf_version(EV_CURRENT);
	for (int i = optind; i < argc; i++)
		one(argv[i]);
	for (int i = 0; i < CAUSES; i++)
		n += g.counts[i];
	printf("\n%ju files, %ju without CFI, %ju failed; %ju places\n",
	       (uintmax_t)g.files, (uintmax_t)g.bare, (uintmax_t)g.unbuilt,
	       (uintmax_t)n);
	for (int i = 0; i < CAUSES; i++)
		printf("%12ju %10.6f%%  %s\n", (uintmax_t)g.counts[i],
		       n ? 100.0 * g.counts[i] / n : 0, cause_names[i]);
	for (int i = MISSING; i < CAUSES; i++)
		wrong += g.counts[i];
	return g.unbuilt || wrong;
}
