// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/elf/eh_frame_hdr.h"

#include <string.h>

#include "ipc/message_hub.h"

#define HDR_LEN		12	/* version and encodings, pointer, count */
#define HDR_PAIR	8	/* start of a function, its FDE */

static const uint8_t hdr_encodings[] = { 1, 0x1b, 0x03, 0x3b };

/* The number at this offset, added to an address. */
static uint64_t eh_frame_hdr_relative(const struct eh_frame_hdr *h, uint64_t to, size_t off)
{
	int32_t rel;

	memcpy(&rel, h->b.data + off, sizeof(rel));
	return to + (uint64_t)(int64_t)rel;
}

int eh_frame_hdr_read(const struct elf_file *f, struct eh_frame_hdr *ret)
{
	const Elf64_Phdr *p = elf_file_segment(f, PT_GNU_EH_FRAME);
	size_t room;
	int r;

	*ret = (struct eh_frame_hdr){ 0 };
	if (!p || p->p_filesz < HDR_LEN)
		return JOB_OK;
	r = elf_file_read(f, p->p_offset, p->p_filesz, &ret->b);
	if (r || memcmp(ret->b.data, hdr_encodings, sizeof(hdr_encodings)))
		return r;
	ret->b.vaddr = p->p_vaddr;
	ret->frame = eh_frame_hdr_relative(ret, ret->b.vaddr + 4, 4);
	memcpy(&ret->n, ret->b.data + 8, sizeof(ret->n));
	room = (ret->b.len - HDR_LEN) / HDR_PAIR;
	if (ret->n > room)
		ret->n = (uint32_t)room;
	return JOB_OK;
}

uint64_t eh_frame_hdr_start(const struct eh_frame_hdr *h, size_t i)
{
	return eh_frame_hdr_relative(h, h->b.vaddr, HDR_LEN + HDR_PAIR * i);
}

uint64_t eh_frame_hdr_fde(const struct eh_frame_hdr *h, size_t i)
{
	return eh_frame_hdr_relative(h, h->b.vaddr, HDR_LEN + HDR_PAIR * i + 4);
}
