/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_visit - all that a worker does with a file, and what must hold then
 *
 * Whatever the file is: a table that is made keeps what bpf/table.h promises,
 * and an index that is made can be opened.
 */
#ifndef TESTS_ELF_VISIT_H
#define TESTS_ELF_VISIT_H

#include <stdlib.h>
#include <string.h>

#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/elf/file_id.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/unwind/build.h"
#include "tests/unit/table_view.h"

/* Everything malloc'ed; free with elf_visit_free(). */
struct elf_visit {
	int opened, built, indexed;	/* verdicts */
	void *table, *index;
	struct table_view view;		/* .hdr NULL: no table */
	struct symbol_index symbols;
	uint8_t id[FILE_ID_LEN], build_id[BUILD_ID_MAX];
	size_t build_id_len;
	struct runtime_found facts;
};

static inline void elf_visit(struct elf_visit *v, int fd)
{
	struct elf_file f;
	size_t len;

	memset(v, 0, sizeof(*v));
	v->built = v->indexed = -1;
	v->opened = elf_file_open(&f, fd);
	if (!v->opened) {
		file_id(fd, f.size, v->id);
		v->build_id_len = file_build_id(&f, v->build_id, BUILD_ID_MAX);
		runtimes_find(&f, &v->facts);
		v->built = unwind_build(&f, runtimes_rows, &v->table, &len);
		if (!v->built && !view_open(&v->view, v->table, len))
			abort();
		v->indexed = symbols_build(&f, runtimes_symbols, &v->index, &len);
		if (!v->indexed && symbols_open(v->index, len, &v->symbols))
			abort();
	}
	elf_file_close(&f);
}

static inline void elf_visit_free(struct elf_visit *v)
{
	free(v->table);
	free(v->index);
}

#endif /* TESTS_ELF_VISIT_H */
