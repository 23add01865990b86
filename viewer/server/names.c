// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/names.h"

#include <string.h>

static uint32_t names_slot_of(uint32_t pid, uint64_t start_ns)
{
	uint64_t h = (start_ns ^ pid) * 0x9e3779b97f4a7c15ULL;

	return (uint32_t)(h >> 32) % NAMES_SLOTS;
}

void names_put(struct viewer_names *n, uint32_t pid, uint64_t start_ns,
	       const char *text, size_t len)
{
	struct name_slot *s = &n->slots[names_slot_of(pid, start_ns)];

	if (len == 0 || len > NAMES_LEN)
		return;
	s->start_ns = start_ns;
	s->pid = pid;
	s->len = (uint8_t)len;
	memcpy(s->text, text, len);
}

const char *names_get(const struct viewer_names *n, uint32_t pid,
		      uint64_t start_ns, size_t *len)
{
	const struct name_slot *s = &n->slots[names_slot_of(pid, start_ns)];

	if (!s->len || s->pid != pid || s->start_ns != start_ns)
		return NULL;
	*len = s->len;
	return s->text;
}
