// SPDX-License-Identifier: Apache-2.0
/* A program with skeletons of split DWARF, and its package or .dwo file: what a worker does
 * for lines.  The input is the program's length (32 bits), the program, the other file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizerd/symbols/dwarf_places.h"
#include "tests/fuzz/code_begin.h"

#define ADDRESSES	16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *other;
static size_t other_len;

static int put(const uint8_t *data, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

/* As a package, and then as each unit's .dwo file. */
static int open_split(void *arg, const char *name, const char *dir)
{
	if (name && strlen(name) + (dir ? strlen(dir) : 0) > 1u << 30)
		abort();
	return *(const bool *)arg == !name ? put(other, other_len) : -1;
}

static void visit(int fd, bool package)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	uint64_t vaddr = code_begin(fd);
	struct dwarf_places *d;

	if (dwarf_places_open(fd, -1, &d))
		return;
	dwarf_places_split(d, open_split, &package);
	for (int i = 0; i < ADDRESSES; i++, vaddr += 3) {
		uint32_t n = dwarf_places_at(d, vaddr, at);

		if (n > SYMBOL_DEPTH_MAX)
			abort();
		while (n-- > 0) {
			if (strlen(at[n].name) > DWARF_NAME_MAX ||
			    strlen(at[n].file) > 2 * DWARF_NAME_MAX + 1)
				abort();
		}
	}
	dwarf_places_close(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t len;
	int fd;

	if (size < sizeof(len))
		return 0;
	memcpy(&len, data, sizeof(len));
	data += sizeof(len);
	size -= sizeof(len);
	if (len > size)
		len = (uint32_t)size;
	other = data + len;
	other_len = size - len;
	fd = put(data, len);
	visit(fd, true);
	visit(fd, false);
	close(fd);
	return 0;
}
