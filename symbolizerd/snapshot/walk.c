// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/snapshot/walk.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/file.h"

static bool walk_is_arm(const struct walk *w)
{
	return w->s->machine == SNAPSHOT_AARCH64;
}

int walk_begin(struct walk *w)
{
	w->record = malloc(RECORD_MAX);
	if (!w->record || !vector_reserve(&w->files, w->s->files.n + 1))
		return -ENOMEM;
	memset(w->files.v, 0, w->files.cap * sizeof(*w->files.v));
	w->files.n = w->s->files.n;
	if (walk_is_arm(w))
		w->kernel = walk_kernel_arm64(w);
	else
		w->kernel = walk_kernel_x86(w);
	if (!w->kernel)
		return -ENOMEM;
	return 0;
}

void walk_end(struct walk *w)
{
	if (w->kernel && walk_is_arm(w))
		walk_free_arm64(w->kernel);
	else if (w->kernel)
		walk_free_x86(w->kernel);
	walk_tables_fini(&w->tables);
	free(w->files.v);
	free(w->record);
	w->kernel = NULL;
	w->record = NULL;
}

struct trace_rec *walk_thread(struct walk *w, const struct snapshot_thread *t)
{
	w->record_len = 0;
	if (walk_is_arm(w))
		walk_sample_arm64(w, t);
	else
		walk_sample_x86(w, t);
	if (!w->record_len)
		return NULL;
	return (void *)w->record;
}

uint32_t walk_vdso_file(const struct walk *w)
{
	const struct snapshot_map *vdso = snapshot_map_of(w->s, w->s->vdso);

	if (!vdso)
		return SNAPSHOT_NO_FILE;
	return vdso->file;
}

uint32_t walk_file_of(const struct walk *w, uint32_t exe)
{
	if (exe == EXE_VDSO)
		return walk_vdso_file(w);
	if (exe - EXE_FIRST >= w->s->files.n)
		return SNAPSHOT_NO_FILE;
	return exe - EXE_FIRST;
}
