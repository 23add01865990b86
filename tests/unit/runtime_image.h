/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_image - a made-up file of a runtime, as a worker reads it, whole and damaged
 */
#ifndef TESTS_RUNTIME_IMAGE_H
#define TESTS_RUNTIME_IMAGE_H

#include <stdlib.h>

#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/unwind/build.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/table_view.h"

/* The runtime's ID, as a worker says it. */
static inline const char *image_detect(const struct elf_image *im, uint32_t runtime,
				       bool unknown)
{
	static struct runtime_found facts;
	struct elf_file f;
	int fd = image_file(im);

	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	runtimes_find(&f, &facts);
	CHECK_EQ(facts.runtime, runtime);
	CHECK_EQ(facts.unknown, unknown);
	elf_file_close(&f);
	close(fd);
	return facts.id;
}

/* Its table, to be freed. */
static inline void *image_table(const struct elf_image *im)
{
	struct elf_file f;
	int fd = image_file(im);
	struct table_view v;
	size_t len;
	void *table;

	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK_EQ(unwind_build(&f, runtimes_rows, &table, &len), JOB_OK);
	CHECK(view_open(&v, table, len));
	elf_file_close(&f);
	close(fd);
	return table;
}

/* What is made of any bytes is valid. */
static inline void image_survive(const void *bytes, size_t len)
{
	struct table_view view;
	struct runtime_found facts;
	struct elf_file f;
	void *t = NULL;
	size_t n;
	int fd = file_of(bytes, len);

	if (!elf_file_open(&f, fd)) {
		runtimes_find(&f, &facts);
		CHECK(memchr(facts.id, '\0', sizeof(facts.id)));
		if (!unwind_build(&f, runtimes_rows, &t, &n))
			CHECK(view_open(&view, t, n));
	}
	elf_file_close(&f);
	free(t);
	close(fd);
}

static inline void image_survive_truncated(const struct elf_image *im)
{
	for (size_t len = 0; len < im->n; len++)
		image_survive(im->b, len);
}

/* Each bit; of bytes that `like` has in the same place, whose bits were all flipped: one. */
static inline void image_survive_flipped(struct elf_image *im, const struct elf_image *like)
{
	for (size_t bit = 0; bit < 8 * im->n; bit++) {
		size_t at = bit / 8;

		if (like && im->b[at] == like->b[at] && bit % 8 != at % 8)
			continue;
		im->b[at] ^= 1 << bit % 8;
		image_survive(im->b, im->n);
		im->b[at] ^= 1 << bit % 8;
	}
}

#endif /* TESTS_RUNTIME_IMAGE_H */
