// SPDX-License-Identifier: Apache-2.0
/* A perf map or a jitdump of any bytes: what comes out is names of the frames that were
 * asked for. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/frame.h"
#include "symbolizerd/symbols/jit_names.h"

#define FRAMES	16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct frame_names_build b;
	static uint8_t answer[FRAME_NAMES_BYTES_MAX + 8];
	static int fd = -1;
	uint64_t words[FRAMES];
	struct iovec parts[3];
	struct frame_names x;
	size_t len = 0;

	if (fd < 0)
		fd = memfd_create("input", 0);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	for (uint64_t i = 0; i < FRAMES; i++)
		words[i] = FRAME_ANON_WORD(i * 0x400);
	frame_names_begin(&b, FRAMES);
	(void)!jit_names(fd, words, FRAMES, &b);
	frame_names_end(&b, parts);
	for (int i = 0; i < 3; i++) {
		memcpy(answer + len, parts[i].iov_base, parts[i].iov_len);
		len += parts[i].iov_len;
	}
	if (frame_names_open(answer, len, FRAMES, &x))
		abort();
	return 0;
}
