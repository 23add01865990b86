// SPDX-License-Identifier: Apache-2.0
/* The bytes of a file behind its name; and the name of one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exporterd/spool_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_name(const uint8_t *data, size_t size)
{
	char s[64] = "", again[SPOOL_NAME_SIZE];
	struct spool_name name;

	memcpy(s, data, size < sizeof(s) ? size : sizeof(s) - 1);
	if (spool_name_read(s, &name) < 0)
		return;
	spool_name_write(&name, again);
	if (strcmp(s, again) || !name.n)
		abort();
}

/* With the right hash, so that what is behind it is tried, too. */
static void one_file(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	struct spool_hdr *hdr = (void *)copy;
	struct spool_name name;
	struct batch b;

	if (!copy)
		return;
	memcpy(copy, data, size);
	if (hdr->bytes == size - sizeof(*hdr) && data[size - 1] & 1)
		hdr->hash = spool_hash(hdr, hdr + 1);
	name = (struct spool_name){ hdr->id, 0, (uint32_t)hdr->samples };
	if (spool_file_check(copy, size, &name, &b) == 0 &&
	    (batch_n(&b, BATCH_TIMES) != name.n ||
	     (const uint8_t *)b.hdr != copy + sizeof(*hdr)))
		abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	one_name(data, size);
	if (size >= sizeof(struct spool_hdr))
		one_file(data, size);
	return 0;
}
