// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/elf/debugdata.h"

#include <lzma.h>
#include <stdlib.h>

#include "ipc/message_hub.h"

#define DEBUGDATA_FIRST	(256u << 10)	/* bytes of the buffer, which is then doubled */

static size_t debugdata_max(size_t packed)
{
	uint64_t max = (uint64_t)packed * ELF_INFLATE_RATIO;

	if (max < ELF_INFLATE_FREE)
		max = ELF_INFLATE_FREE;
	if (max > DEBUGDATA_MAX)
		max = DEBUGDATA_MAX;
	return max;
}

/* More room for the output, up to max bytes.  JOB_OK or a verdict. */
static int debugdata_grow(lzma_stream *s, uint8_t **buf, size_t *cap, size_t max)
{
	size_t n = *cap ? 2 * *cap : DEBUGDATA_FIRST;
	uint8_t *p;

	if (*cap >= max)
		return JOB_TOO_LARGE;
	if (n > max)
		n = max;
	p = realloc(*buf, n);
	if (!p)
		return JOB_NO_MEMORY;
	s->next_out = p + *cap;
	s->avail_out = n - *cap;
	*buf = p;
	*cap = n;
	return JOB_OK;
}

static int debugdata_verdict(lzma_ret r)
{
	switch (r) {
	case LZMA_OK:
	case LZMA_STREAM_END:
		return JOB_OK;
	case LZMA_MEM_ERROR:
		return JOB_NO_MEMORY;
	case LZMA_MEMLIMIT_ERROR:
		return JOB_TOO_LARGE;
	default:
		return JOB_CORRUPT;
	}
}

/* One stream and nothing after it.  *ret is to be freed, also after a failure. */
static int debugdata_unpack(const struct elf_bytes *packed, uint8_t **ret, size_t *len)
{
	size_t cap = 0, max = debugdata_max(packed->len);
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret did = LZMA_OK;
	int r;

	*ret = NULL;
	r = debugdata_verdict(lzma_stream_decoder(&s, DEBUGDATA_DECODER_MAX, 0));
	s.next_in = packed->data;
	s.avail_in = packed->len;
	while (!r && did != LZMA_STREAM_END) {
		if (!s.avail_out)
			r = debugdata_grow(&s, ret, &cap, max);
		if (!r) {
			did = lzma_code(&s, LZMA_FINISH);
			r = debugdata_verdict(did);
		}
	}
	if (!r && s.avail_in)
		r = JOB_CORRUPT;
	*len = s.total_out;
	lzma_end(&s);
	return r;
}

int debugdata_open(const struct elf_file *f, struct elf_file *ret)
{
	const Elf64_Shdr *s = elf_file_find(f, ".gnu_debugdata");
	struct elf_bytes packed;
	uint8_t *data;
	size_t len;
	int r;

	if (!s)
		return JOB_NOT_ELF;
	if (s->sh_size > DEBUGDATA_PACKED_MAX || s->sh_flags & SHF_COMPRESSED)
		return JOB_TOO_LARGE;
	r = elf_file_section(f, s, &packed);
	if (r)
		return r;
	r = debugdata_unpack(&packed, &data, &len);
	elf_bytes_free(&packed);
	if (r) {
		free(data);
		return r;
	}
	r = elf_file_open_memory(ret, data, len);
	if (!r && ret->ehdr.e_machine != f->ehdr.e_machine)
		r = JOB_CORRUPT;
	if (r)
		elf_file_close(ret);
	return r;
}
