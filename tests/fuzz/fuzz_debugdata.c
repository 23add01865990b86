// SPDX-License-Identifier: Apache-2.0
/* A .gnu_debugdata, and the names that come of it.  First byte: the rest is what is
 * compressed (0), or the compressed bytes. */
#include "ipc/message_hub.h"
#include "symbolizerd/elf/debugdata.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"
#include "tests/unit/debugdata_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void names(struct elf_file *f, struct elf_file *in)
{
	struct symbol_index idx;
	void *index;
	size_t len;

	f->debug = in;
	if (!symbols_build(f, NULL, &index, &len)) {
		if (symbols_open(index, len, &idx))
			abort();
		free(index);
	}
	elf_file_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct elf_image im;
	static uint8_t packed[12000];
	struct elf_file f, in;
	int fd;

	if (!size || size > 8000)
		return 0;
	if (data[0])
		debugdata_outer(&im, data + 1, size - 1);
	else
		debugdata_outer(&im, packed,
				debugdata_pack(data + 1, size - 1, 0, packed, sizeof(packed)));
	fd = image_file(&im);
	if (elf_file_open(&f, fd))
		abort();
	if (!debugdata_open(&f, &in))
		names(&f, &in);
	elf_file_close(&f);
	close(fd);
	return 0;
}
