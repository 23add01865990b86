// SPDX-License-Identifier: Apache-2.0
/* An ELF file's DWARF at and around some addresses of its code: what a worker does for lines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizerd/symbols/dwarf_places.h"
#include "tests/fuzz/code_begin.h"

#define ADDRESSES	16
#define SEGMENTS	64	/* of a piece */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct symbol_place *at, uint32_t n)
{
	if (n > SYMBOL_DEPTH_MAX)
		abort();
	while (n-- > 0) {
		if (strlen(at[n].name) > DWARF_NAME_MAX ||
		    strlen(at[n].file) > 2 * DWARF_NAME_MAX + 1 ||
		    (at[n].system && strlen(at[n].system) > DWARF_NAME_MAX))
			abort();
	}
}

/* The piece around an address. */
static void look_around(struct dwarf_places *d, uint64_t vaddr)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct dwarf_code c = { .span = { vaddr, vaddr + 256 } };

	if (!dwarf_places_around(d, vaddr, SEGMENTS, &c))
		return;
	if (!c.n || c.n > SEGMENTS || c.at[0] != c.span.low || c.span.low != vaddr ||
	    c.span.high <= vaddr || c.span.high > vaddr + 256)
		abort();
	for (uint32_t i = 0; i < c.n; i++) {
		if (c.at[i] >= c.span.high || (i && c.at[i] <= c.at[i - 1]))
			abort();
		check(at, dwarf_places_within(d, c.at[i], at));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct dwarf_places *d;
	static int fd = -1;
	uint64_t vaddr;

	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	vaddr = code_begin(fd);
	if (dwarf_places_open(fd, -1, &d))
		return 0;
	for (int i = 0; i < ADDRESSES; i++, vaddr += 3) {
		check(at, dwarf_places_at(d, vaddr, at));
		look_around(d, vaddr);
	}
	dwarf_places_close(d);
	return 0;
}
