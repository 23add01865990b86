// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/snapshot/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/wire.h"

/* include/linux/elfcore.h, struct elf_prstatus of 64 bits */
#define PR_PID		32
#define PR_REG		112
/* words of pr_reg: arch/x86/include/asm/user_64.h; arch/arm64/include/uapi/asm/ptrace.h */
#define X86_ORIG_RAX	15
#define X86_RIP		16
#define X86_RSP		19
#define X86_FS_BASE	21
#define X86_WORDS	27
#define ARM_WORDS	34
#define CORE_ARM_TLS	0x401
#define CORE_ARM_CALL	0x404
#define PATH_BYTES	4096

static bool core_read(const struct core *c, uint64_t off, void *dst, size_t len)
{
	return off <= c->size && c->size - off >= len &&
	       pread(c->fd, dst, len, (off_t)off) == (ssize_t)len;
}

/* --- threads -------------------------------------------------------------------------- */

static int core_thread(struct snapshot *s, struct wire_in d)
{
	uint32_t words = s->machine == SNAPSHOT_AARCH64 ? ARM_WORDS : X86_WORDS;
	struct snapshot_thread t = { 0 };
	uint64_t r[ARM_WORDS];

	if (wire_skip(&d, PR_PID) || wire_get_u32(&d, &t.tid) ||
	    wire_skip(&d, PR_REG - PR_PID - 4) || wire_get(&d, r, words * sizeof(*r)))
		return -ENOEXEC;
	if (s->machine == SNAPSHOT_AARCH64) {
		memcpy(t.regs, r, SNAPSHOT_REGS * sizeof(*r));
	} else {
		memcpy(t.regs, r, X86_ORIG_RAX * sizeof(*r));
		t.regs[15] = r[X86_RIP];
		t.regs[16] = r[X86_RSP];
		t.tp = r[X86_FS_BASE];
		t.call = (int64_t)r[X86_ORIG_RAX] >= 0;
	}
	if (s->threads.n == SNAPSHOT_THREADS_MAX)
		return 0;
	return vector_push(&s->threads, t) ? 0 : -ENOMEM;
}

/* Of the thread that was last. */
static void core_arm(struct snapshot *s, uint32_t type, struct wire_in d)
{
	struct snapshot_thread *t = s->threads.n ? &s->threads.v[s->threads.n - 1] : NULL;
	uint32_t call;

	if (t && type == CORE_ARM_TLS && wire_get_u64(&d, &t->tp))
		t->tp = 0;
	if (t && type == CORE_ARM_CALL && !wire_get_u32(&d, &call))
		t->call = (int32_t)call >= 0;
}

/* --- files ---------------------------------------------------------------------------- */

static uint32_t core_file(struct core *c, struct snapshot *s, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = path;
	struct snapshot_file f = { 0 };

	for (uint32_t i = 0; i < c->paths.n; i++) {
		if (!strcmp(c->paths.v[i], path))
			return i;
	}
	if (slash)
		name = slash + 1;
	log_quote(name, strlen(name), f.name, sizeof(f.name));
	if (!f.name[0])
		strcpy(f.name, "?");
	if (s->files.n == SNAPSHOT_FILES_MAX || !vector_push(&s->files, f))
		return SNAPSHOT_NO_FILE;
	if (!vector_push(&c->paths, path)) {
		s->files.n--;
		return SNAPSHOT_NO_FILE;
	}
	return c->paths.n - 1;
}

/* The mapping that begins there.  gdb's cores have none of what is as in its file, code
 * above all: then it is added, as code.  NULL: none, or others are in the way. */
static struct snapshot_map *core_map(struct snapshot *s, uint64_t start, uint64_t end)
{
	struct snapshot_map m = {
		.start = start, .end = end, .file = SNAPSHOT_NO_FILE, .exec = true,
	};
	uint32_t i = 0;

	while (i < s->maps.n && s->maps.v[i].end <= start)
		i++;
	if (i < s->maps.n && s->maps.v[i].start == start)
		return &s->maps.v[i];
	if (start >= end || (start | end) % SNAPSHOT_PAGE ||
	    (i < s->maps.n && s->maps.v[i].start < end) ||
	    s->maps.n == SNAPSHOT_MAPS_MAX || !vector_push(&s->maps, m))
		return NULL;
	memmove(&s->maps.v[i + 1], &s->maps.v[i],
		(s->maps.n - 1 - i) * sizeof(m));
	s->maps.v[i] = m;
	return &s->maps.v[i];
}

/* NT_FILE: how many, the size of a page; start, end, page of each; then their paths. */
static int core_files(struct core *c, struct snapshot *s, struct wire_in d)
{
	uint64_t n, page;
	struct wire_in names = d;

	if (wire_get_u64(&d, &n) || wire_get_u64(&d, &page) || n > SNAPSHOT_MAPS_MAX ||
	    wire_skip(&names, 16 + 24 * n))
		return -ENOEXEC;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t start, end, off;
		struct snapshot_map *m;
		const char *path;

		if (wire_get_u64(&d, &start) || wire_get_u64(&d, &end) ||
		    wire_get_u64(&d, &off) || wire_get_cstr(&names, PATH_BYTES, &path))
			return -ENOEXEC;
		/* gdb counts in bytes: page is 1 */
		if (off > 1ULL << 48 || (page != SNAPSHOT_PAGE && page != 1) ||
		    off * page % SNAPSHOT_PAGE)
			continue;
		m = core_map(s, start, end);
		if (!m)
			continue;
		m->off = off * page;
		m->file = core_file(c, s, path);
	}
	return 0;
}

/* --- notes ---------------------------------------------------------------------------- */

static int core_note(struct core *c, struct snapshot *s, uint32_t type, struct wire_in d)
{
	if (type == NT_PRSTATUS)
		return core_thread(s, d);
	if (type == NT_FILE)
		return core_files(c, s, d);
	if (s->machine == SNAPSHOT_AARCH64)
		core_arm(s, type, d);
	return 0;
}

static int core_notes(struct core *c, struct snapshot *s, const Elf64_Phdr *p)
{
	uint32_t namesz, descsz, type;
	struct wire_in in, name, desc;
	int r = 0;

	if (c->notes || p->p_filesz > CORE_NOTES_MAX)
		return -ENOEXEC;
	c->notes = malloc(p->p_filesz + 1);
	if (!c->notes)
		return -ENOMEM;
	if (!core_read(c, p->p_offset, c->notes, p->p_filesz))
		return -ENOEXEC;
	wire_init(&in, c->notes, p->p_filesz, false);
	while (!r && !wire_get_u32(&in, &namesz) && !wire_get_u32(&in, &descsz) &&
	       !wire_get_u32(&in, &type) &&
	       !wire_get_sub(&in, ((uint64_t)namesz + 3) & ~3ULL, &name) &&
	       !wire_get_sub(&in, descsz, &desc)) {
		r = core_note(c, s, type, desc);
		if (wire_skip(&in, -descsz & 3))
			break;
	}
	return r;
}

/* --- all of it ------------------------------------------------------------------------ */

static int core_load(struct core *c, struct snapshot *s, const Elf64_Phdr *p)
{
	struct snapshot_map m = {
		.start = p->p_vaddr, .end = p->p_vaddr + p->p_memsz,
		.file = SNAPSHOT_NO_FILE, .exec = p->p_flags & PF_X,
		.write = p->p_flags & PF_W,
	};

	if (!p->p_memsz || p->p_vaddr >= 1ULL << 63)	/* [vsyscall] */
		return 0;
	if (p->p_memsz > 1ULL << 62 || (m.start | m.end) % SNAPSHOT_PAGE ||
	    p->p_filesz > p->p_memsz || s->maps.n == SNAPSHOT_MAPS_MAX ||
	    (s->maps.n && s->maps.v[s->maps.n - 1].end > m.start))
		return -ENOEXEC;
	return vector_push(&s->maps, m) && vector_push(&c->loads, *p) ? 0 : -ENOMEM;
}

static int core_header(struct core *c, struct snapshot *s, Elf64_Ehdr *e)
{
	if (!core_read(c, 0, e, sizeof(*e)) || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_ident[EI_DATA] != ELFDATA2LSB ||
	    e->e_type != ET_CORE || e->e_phentsize != sizeof(Elf64_Phdr) ||
	    e->e_phnum == PN_XNUM ||
	    (e->e_machine != EM_X86_64 && e->e_machine != EM_AARCH64))
		return -ENOEXEC;
	s->machine = e->e_machine == EM_AARCH64 ? SNAPSHOT_AARCH64 : SNAPSHOT_X86_64;
	return 0;
}

/* All segments of this type, one after the other.  0 or -errno. */
static int core_segments(struct core *c, struct snapshot *s, const Elf64_Ehdr *e, uint32_t type,
			 int (*take)(struct core *c, struct snapshot *s, const Elf64_Phdr *p))
{
	int r = 0;

	for (uint32_t i = 0; !r && i < e->e_phnum; i++) {
		Elf64_Phdr p;

		if (e->e_phoff > c->size ||
		    !core_read(c, e->e_phoff + i * sizeof(p), &p, sizeof(p)))
			r = -ENOEXEC;
		else if (p.p_type == type)
			r = take(c, s, &p);
	}
	return r;
}

/* Mappings first: the notes, which lie before them, say what files they are of. */
int core_open(struct core *c, int fd, struct snapshot *s)
{
	struct stat st;
	Elf64_Ehdr e;
	int r;

	*c = (struct core){ .fd = fd };
	if (fstat(fd, &st) < 0)
		return -errno;
	c->size = (uint64_t)st.st_size;
	r = core_header(c, s, &e);
	if (!r)
		r = core_segments(c, s, &e, PT_LOAD, core_load);
	if (!r)
		r = core_segments(c, s, &e, PT_NOTE, core_notes);
	if (!r && !s->threads.n)
		r = -ENOEXEC;
	return r;
}

void core_fini(struct core *c)
{
	free(c->loads.v);
	free(c->paths.v);
	free(c->notes);
	*c = (struct core){ .fd = -1 };
}

int core_memory(const struct core *c, uint64_t at, void *dst, size_t len)
{
	for (uint32_t i = 0; i < c->loads.n; i++) {
		const Elf64_Phdr *p = &c->loads.v[i];

		if (at - p->p_vaddr < p->p_filesz && p->p_filesz - (at - p->p_vaddr) >= len &&
		    p->p_offset <= c->size)
			return core_read(c, p->p_offset + (at - p->p_vaddr), dst, len) ?
			       0 : -EFAULT;
	}
	return -EFAULT;
}
