// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/snapshot/taking.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/elf/file_id.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/snapshot/frames.h"
#include "symbolizerd/snapshot/text.h"
#include "symbolizerd/snapshot/walk.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/tables/vdso.h"
#include "symbolizerd/unwind/build.h"
#include "symbolizerd/unwind/table.h"

/* --- files --------------------------------------------------------------------------- */

/* A descriptor of a file: of ours for the vDSO, else as we were given it. */
static int taking_file(const struct taken_process *c, uint32_t file, bool *ours)
{
	const struct snapshot_map *vdso = snapshot_map_of(&c->s, c->s.vdso);

	*ours = vdso && vdso->file == file;
	if (*ours)
		return vdso_image();
	return file < c->n_files ? c->files + (int)file : -1;
}

static void taking_facts(struct taken_process *c, uint32_t file, struct elf_file *f)
{
	struct taking_built *b = &c->built[file];
	struct runtime_found found;
	uint8_t id[20];
	size_t len = file_build_id(f, id, sizeof(id));

	runtimes_find(f, &found);
	f->found = &found;
	b->runtime = found.runtime;
	for (size_t i = 0; i < len; i++)
		snprintf(b->build_id + 2 * i, 3, "%02x", id[i]);
	if (unwind_build(f, runtimes_rows, &b->table, &len))
		b->table = NULL;
	f->found = NULL;
}

static void taking_build(struct taken_process *c, uint32_t file)
{
	struct elf_file f;
	bool ours;
	int fd = taking_file(c, file, &ours);

	c->built[file].done = true;
	if (fd < 0)
		return;
	if (!elf_file_open(&f, fd))
		taking_facts(c, file, &f);
	elf_file_close(&f);
	if (ours)
		close(fd);
}

/* --- what the walk asks ---------------------------------------------------------------- */

/* What a core leaves out is as in its file. */
static bool taking_from_file(const struct taken_process *c, uint64_t at, void *dst,
			     size_t len)
{
	const struct snapshot_map *m = snapshot_map_of(&c->s, at);

	return m && m->file < c->n_files && m->end - at >= len &&
	       pread(c->files + (int)m->file, dst, len,
		     (off_t)(m->off + (at - m->start))) == (ssize_t)len;
}

static bool taking_get(const struct taken_process *c, uint64_t at, void *dst, size_t len)
{
	if (at > INT64_MAX)
		return false;
	if (c->core)
		return !core_memory(c->core, at, dst, len) ||
		       taking_from_file(c, at, dst, len);
	return pread(c->memory, dst, len, (off_t)at) == (ssize_t)len;
}

static int taking_read(void *ctx, uint64_t at, void *dst, size_t len)
{
	struct taken_process *c = ctx;
	struct snapshot_range failed = { at, len };

	if (taking_get(c, at, dst, len))
		return snapshot_put(&c->s, at, dst, len) ? 0 : -ENOSPC;
	memset(dst, 0, len);
	if (c->s.failed.n < SNAPSHOT_FAILED_MAX && !snapshot_failed(&c->s, at, len))
		vector_push(&c->s.failed, failed);
	return -EFAULT;
}

static void taking_table(void *ctx, uint32_t file, struct walk_file *ret)
{
	struct taken_process *c = ctx;
	struct taking_built *b = &c->built[file];

	if (!b->done)
		taking_build(c, file);
	c->s.files.v[file].runtime = b->runtime;
	memcpy(c->s.files.v[file].build_id, b->build_id, sizeof(b->build_id));
	if (b->table)
		walk_tables_add(&c->walk.tables, b->table, &ret->dir, &ret->pages);
}

static void taking_looked_up(void *ctx, uint32_t file, uint64_t off)
{
	struct taken_process *c = ctx;
	const void *table = c->built[file].table;
	const struct unwind_rule *rule = table ? table_lookup(table, off) : NULL;
	struct snapshot_row row = { .file = file };

	if (snapshot_row_of(&c->s, file, off) || c->s.rows.n == SNAPSHOT_ROWS_MAX)
		return;
	if (rule)
		row.rule = *rule;
	if (table)
		walk_tables_range(table, off, &row.start, &row.end);
	vector_push(&c->s.rows, row);
}

/* --- all of it -------------------------------------------------------------------------- */

/* Of mappings only those that a walk may look for stay: code, files', and what was
 * read. */
static void taking_drop_maps(struct snapshot *s)
{
	uint32_t to = 0;

	for (uint32_t i = 0; i < s->maps.n; i++) {
		const struct snapshot_map *m = &s->maps.v[i];
		bool read = false;

		for (uint32_t k = 0; k < s->pages.n && !read; k++)
			read = s->pages.v[k]->at - m->start < m->end - m->start;
		if (read || m->exec || m->file != SNAPSHOT_NO_FILE)
			s->maps.v[to++] = *m;
	}
	s->maps.n = to;
}

int taking_walk(struct taken_process *c, const void *said, size_t len)
{
	snapshot_fini(&c->s);
	return text_read(said, len, &c->s) ? -EPROTO : taking_walk_again(c);
}

int taking_walk_again(struct taken_process *c)
{
	struct snapshot walked = { 0 };
	struct managed managed;
	int r;

	managed_init(&managed, 1);
	c->walk = (struct walk){
		.s = &c->s, .ctx = c, .read = taking_read, .table = taking_table,
		.looked_up = taking_looked_up,
	};
	r = walk_begin(&c->walk);
	for (uint32_t i = 0; !r && i < c->s.threads.n; i++)
		r = frames_walk(&c->walk, &managed, &c->s.threads.v[i], &walked);
	walk_end(&c->walk);
	managed_fini(&managed);
	/* what the walk found is what is kept of the threads */
	free(c->s.threads.v);
	memcpy(&c->s.threads, &walked.threads, sizeof(walked.threads));
	memcpy(&c->s.frames, &walked.frames, sizeof(walked.frames));
	taking_drop_maps(&c->s);
	return r;
}

/* --- names ------------------------------------------------------------------------------ */

static void taking_name(struct snapshot_frame *f, const struct symbol_index *index,
			 uint64_t off)
{
	const char *name = symbols_find(index, off);

	if (name && !f->name && asprintf(&f->name, "%s", name) < 0)
		f->name = NULL;
	for (char *p = f->name; p && *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
}

static void taking_names_of(struct taken_process *c, uint32_t file,
			     const struct symbol_index *index)
{
	for (uint32_t i = 0; i < c->s.frames.n; i++) {
		struct snapshot_frame *f = &c->s.frames.v[i];
		uint32_t of;
		uint64_t off;

		if (frames_native(f->place, &of, &off) && of == file)
			taking_name(f, index, off);
	}
}

static bool taking_is_met(const struct taken_process *c, uint32_t file)
{
	uint32_t of;
	uint64_t off;

	for (uint32_t i = 0; i < c->s.frames.n; i++) {
		if (frames_native(c->s.frames.v[i].place, &of, &off) && of == file)
			return true;
	}
	return false;
}

void taking_names(struct taken_process *c)
{
	for (uint32_t i = 0; i < c->s.files.n; i++) {
		struct symbol_index index;
		void *symbols = NULL;
		struct elf_file f;
		size_t len;
		bool ours;
		int fd = taking_is_met(c, i) ? taking_file(c, i, &ours) : -1;

		if (fd < 0)
			continue;
		if (!elf_file_open(&f, fd) &&
		    !symbols_build(&f, runtimes_symbols, &symbols, &len) &&
		    !symbols_open(symbols, len, &index))
			taking_names_of(c, i, &index);
		free(symbols);
		elf_file_close(&f);
		if (ours)
			close(fd);
	}
}

/* --- for people ------------------------------------------------------------------------- */

enum taking_kind { OF_STACKS, OF_HEAP, OF_OTHER, OF_DATA, OF_CODE, OF__KINDS };

static enum taking_kind taking_kind_of(const struct snapshot *s, uint64_t at)
{
	const struct snapshot_map *m = snapshot_map_of(s, at);

	if (!m)
		return OF_OTHER;
	if (m->file != SNAPSHOT_NO_FILE)
		return m->exec ? OF_CODE : OF_DATA;
	if (m->stack)
		return OF_STACKS;
	return m->heap ? OF_HEAP : OF_OTHER;
}

static uint32_t taking_bytes_of(const struct snapshot_page *p)
{
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(p->has); i++)
		n += (uint32_t)__builtin_popcount(p->has[i]);
	return n;
}

void taking_summary(const struct taken_process *c, FILE *to)
{
	static const char *const what[OF__KINDS] = {
		"of the main thread's stack", "of the heap",
		"of other memory that is of no file (other threads' stacks, objects)",
		"of files' data", "of files' code",
	};
	uint64_t bytes[OF__KINDS] = { 0 };

	for (uint32_t i = 0; i < c->s.pages.n; i++)
		bytes[taking_kind_of(&c->s, c->s.pages.v[i]->at)] +=
			taking_bytes_of(c->s.pages.v[i]);
	fprintf(to, "registers of %u threads, their stacks as %u frames, %u mappings, "
		"names of %u files, %u unwind rules\n", c->s.threads.n, c->s.frames.n,
		c->s.maps.n, c->s.files.n, c->s.rows.n);
	for (int i = 0; i < OF__KINDS; i++) {
		if (bytes[i])
			fprintf(to, "%" PRIu64 " bytes %s\n", bytes[i], what[i]);
	}
}

void taking_fini(struct taken_process *c)
{
	for (uint32_t i = 0; i < SNAPSHOT_FILES_MAX; i++)
		free(c->built[i].table);
	snapshot_fini(&c->s);
}
