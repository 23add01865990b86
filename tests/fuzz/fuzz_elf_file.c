// SPDX-License-Identifier: Apache-2.0
/* A file through all that a worker does with it (tests/unit/elf_visit.h says
 * what must hold then); all names are read to their ends. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/elf_visit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct elf_visit v;
	size_t sum = 0;

	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	elf_visit(&v, fd);
	for (uint32_t i = 0; !v.indexed && i < v.symbols.n; i++)
		sum += strlen(v.symbols.names + v.symbols.symbols[i].name);
	if (sum > SYMBOLS_BYTES_MAX)
		abort();
	elf_visit_free(&v);
	return 0;
}
