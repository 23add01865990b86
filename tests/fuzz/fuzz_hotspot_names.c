// SPDX-License-Identifier: Apache-2.0
/* A process's memory of any bytes, at address 0, with what a Method is to be: what comes out
 * is names of the frames that were asked for.  Cookies are those of the memory, in a layout
 * of the input's choice: else none would agree. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/frame.h"
#include "bpf/hotspot.h"
#include "bpf/runtime.h"
#include "symbolizerd/runtimes/hotspot/names.h"

#define FRAMES	4
#define HASH	0x9e3779b97f4a7c15ULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t get(const uint8_t *data, size_t size, uint64_t at, size_t n)
{
	uint64_t v = 0;

	if (at <= size && size - at >= n)
		memcpy(&v, data + at, n);
	return v;
}

/* As hotspot_read_method() makes it. */
static uint32_t cookie(const uint8_t *data, size_t size, const struct hotspot_layout *l,
		       uint64_t method)
{
	uint64_t at = get(data, size, method + l->const_method, 8);
	uint64_t h = (at * HASH + get(data, size, at + l->constants, 8)) * HASH;

	h += get(data, size, at + l->method_name, 2);
	h += get(data, size, at + l->signature, 2) << 16;
	h += get(data, size, at + l->code_size, 2) << 32;
	return MANAGED_COOKIE(h >> 40);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct hotspot_layout layouts[HOTSPOT_LAYOUTS] = HOTSPOT_LAYOUT_TABLE;
	static struct frame_names_build b;
	static uint8_t answer[FRAME_NAMES_BYTES_MAX + 8];
	static int fd = -1;
	struct process_memory mem;
	uint64_t words[2 * FRAMES];
	struct iovec parts[3];
	struct frame_names x;
	size_t len = 0;

	if (fd < 0)
		fd = memfd_create("memory", 0);
	if (!size || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	for (uint64_t i = 0; i < FRAMES; i++) {
		words[2 * i + 1] = 8 * (i + 1);
		words[2 * i] = MANAGED_WORD(RUNTIME_HOTSPOT,
					    cookie(data, size, &layouts[data[0] % HOTSPOT_LAYOUTS],
						   words[2 * i + 1]), 0ULL);
	}
	mem = (struct process_memory){ fd, PROCESS_MEMORY_READS, PROCESS_MEMORY_BYTES };
	frame_names_begin(&b, FRAMES);
	(void)!hotspot_names(&mem, words, 2 * FRAMES, &b);
	frame_names_end(&b, parts);
	for (int i = 0; i < 3; i++) {
		memcpy(answer + len, parts[i].iov_base, parts[i].iov_len);
		len += parts[i].iov_len;
	}
	if (frame_names_open(answer, len, FRAMES, &x))
		abort();
	return 0;
}
