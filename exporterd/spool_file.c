// SPDX-License-Identifier: Apache-2.0
#include "exporterd/spool_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#define SUFFIX	".batch"

void spool_name_write(const struct spool_name *name, char ret[SPOOL_NAME_SIZE])
{
	snprintf(ret, SPOOL_NAME_SIZE, "%016" PRIx64 "-%08x-%08x" SUFFIX,
		 name->id, name->first, name->n);
}

/* n digits of s. */
static bool spool_file_hex(const char *s, int n, uint64_t *ret)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++) {
		if (s[i] >= '0' && s[i] <= '9')
			v = v << 4 | (uint64_t)(s[i] - '0');
		else if (s[i] >= 'a' && s[i] <= 'f')
			v = v << 4 | (uint64_t)(s[i] - 'a' + 10);
		else
			return false;
	}
	*ret = v;
	return true;
}

int spool_name_read(const char *s, struct spool_name *ret)
{
	uint64_t id, first, n;

	if (strnlen(s, SPOOL_NAME_SIZE) != SPOOL_NAME_SIZE - 1 ||
	    s[16] != '-' || s[25] != '-' || strcmp(s + 34, SUFFIX) ||
	    !spool_file_hex(s, 16, &id) || !spool_file_hex(s + 17, 8, &first) ||
	    !spool_file_hex(s + 26, 8, &n) || n == 0)
		return -EINVAL;
	*ret = (struct spool_name){ id, (uint32_t)first, (uint32_t)n };
	return 0;
}

uint64_t spool_hash(const struct spool_hdr *hdr, const void *batch)
{
	uint64_t seed = XXH3_64bits(hdr, offsetof(struct spool_hdr, hash));

	return XXH3_64bits_withSeed(batch, hdr->bytes, seed);
}

int spool_file_check(const void *data, size_t len,
		     const struct spool_name *name, struct batch *ret)
{
	const struct spool_hdr *hdr = data;
	uint32_t events;
	struct batch b;

	if (len < SPOOL_FILE_MIN || hdr->magic != SPOOL_MAGIC ||
	    hdr->version != SPOOL_VERSION || hdr->id != name->id ||
	    hdr->bytes != len - sizeof(*hdr) ||
	    hdr->hash != spool_hash(hdr, hdr + 1) ||
	    batch_open(hdr + 1, hdr->bytes, &b) < 0)
		return -EPROTO;
	events = batch_n(&b, BATCH_TIMES);
	if (hdr->samples != events || name->first >= events || name->n == 0 ||
	    name->n != events - name->first)
		return -EPROTO;
	*ret = b;
	return 0;
}
