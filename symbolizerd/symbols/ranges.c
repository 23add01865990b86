// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/ranges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/message_hub.h"

/* The header: version 1, encodings of the pointer to .eh_frame, of the count
 * and of the table; then those. */
static const uint8_t ranges_encodings[] = { 1, 0x1b, 0x03, 0x3b };
#define RANGES_HDR	12
#define RANGES_PAIR	8
/* An FDE of 32 bits: length, distance to its CIE, begin, bytes. */
#define RANGES_FDE	16
#define RANGES_BEGIN	8
#define RANGES_SIZE	12

static int32_t ranges_word(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t ranges_relative(uint64_t to, const uint8_t *p)
{
	return to + (uint64_t)(int64_t)ranges_word(p);
}

/* One pair of the table.  False: the FDE does not say the same. */
static bool ranges_one(const struct elf_bytes *hdr,
		       const struct elf_bytes *frame, uint32_t i,
		       struct code_range *ret)
{
	const uint8_t *pair = hdr->data + RANGES_HDR + RANGES_PAIR * (size_t)i;
	uint64_t begin = ranges_relative(hdr->vaddr, pair);
	uint64_t fde = ranges_relative(hdr->vaddr, pair + 4);
	uint64_t at = fde - frame->vaddr;

	if (at >= frame->len || frame->len - at < RANGES_FDE ||
	    ranges_relative(fde + RANGES_BEGIN,
			    frame->data + at + RANGES_BEGIN) != begin)
		return false;
	ret->vaddr = begin;
	ret->size = (uint32_t)ranges_word(frame->data + at + RANGES_SIZE);
	return ret->size;
}

static int ranges_take(const struct elf_bytes *hdr,
		       const struct elf_bytes *frame, struct code_range **ret,
		       uint32_t *n)
{
	uint32_t count = (uint32_t)ranges_word(hdr->data + 8);
	size_t room = (hdr->len - RANGES_HDR) / RANGES_PAIR;

	count = count < room ? count : (uint32_t)room;
	count = count < RANGES_MAX ? count : RANGES_MAX;
	*ret = calloc(count + 1ul, sizeof(**ret));
	if (!*ret)
		return JOB_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		*n += ranges_one(hdr, frame, i, &(*ret)[*n]);
	return JOB_OK;
}

int ranges_read(const struct elf_file *f, struct code_range **ret, uint32_t *n)
{
	struct elf_bytes hdr = { 0 }, frame = { 0 };
	const Elf64_Phdr *p = NULL;
	int r;

	*ret = NULL;
	*n = 0;
	for (uint32_t i = 0; i < f->n_phdrs && !p; i++) {
		if (f->phdrs[i].p_type == PT_GNU_EH_FRAME)
			p = &f->phdrs[i];
	}
	if (!p || p->p_filesz < RANGES_HDR)
		return JOB_OK;
	r = elf_file_read(f, p->p_offset, p->p_filesz, &hdr);
	hdr.vaddr = p->p_vaddr;
	if (!r && !memcmp(hdr.data, ranges_encodings, 4))
		r = elf_file_at(f, ranges_relative(hdr.vaddr + 4, hdr.data + 4),
				&frame);
	if (!r && frame.data)
		r = ranges_take(&hdr, &frame, ret, n);
	elf_bytes_free(&hdr);
	elf_bytes_free(&frame);
	return r == JOB_NO_MEMORY ? r : JOB_OK;
}
