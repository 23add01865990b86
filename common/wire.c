// SPDX-License-Identifier: Apache-2.0
#include "common/wire.h"

#include <byteswap.h>
#include <string.h>

void wire_init(struct wire_in *in, const void *data, size_t len, bool swap)
{
	in->start = data;
	in->pos = data;
	in->end = in->start + len;
	in->swap = swap;
}

int wire_skip(struct wire_in *in, size_t len)
{
	if (wire_left(in) < len)
		return WIRE_SHORT;
	in->pos += len;
	return WIRE_OK;
}

int wire_get(struct wire_in *in, void *dst, size_t len)
{
	if (wire_left(in) < len)
		return WIRE_SHORT;
	if (len)
		memcpy(dst, in->pos, len);
	in->pos += len;
	return WIRE_OK;
}

int wire_get_u8(struct wire_in *in, uint8_t *ret)
{
	return wire_get(in, ret, sizeof(*ret));
}

#define DEFINE_GET(bits)						\
int wire_get_u##bits(struct wire_in *in, uint##bits##_t *ret)		\
{									\
	uint##bits##_t v;						\
	int r = wire_get(in, &v, sizeof(v));				\
									\
	if (r)								\
		return r;						\
	*ret = in->swap ? bswap_##bits(v) : v;				\
	return WIRE_OK;							\
}
DEFINE_GET(16)
DEFINE_GET(32)
DEFINE_GET(64)
#undef DEFINE_GET

int wire_get_uleb(struct wire_in *in, uint64_t *ret)
{
	const uint8_t *p = in->pos;
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		if (p == in->end)
			return WIRE_SHORT;
		byte = *p;
		p++;
		/* bit 63 is all that is left for the tenth byte */
		if (shift > 63 || (shift == 63 && (byte & 0x7e)))
			return WIRE_RANGE;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	in->pos = p;
	*ret = v;
	return WIRE_OK;
}

int wire_get_sleb(struct wire_in *in, int64_t *ret)
{
	const uint8_t *p = in->pos;
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		if (p == in->end)
			return WIRE_SHORT;
		byte = *p;
		p++;
		/* of the tenth byte only the sign is left: all 0 or all 1 */
		if (shift > 63 || (shift == 63 && (byte & 0x7f) != 0 &&
				   (byte & 0x7f) != 0x7f))
			return WIRE_RANGE;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		v |= ~0ULL << shift;
	in->pos = p;
	*ret = (int64_t)v;
	return WIRE_OK;
}

int wire_get_sub(struct wire_in *in, size_t len, struct wire_in *ret)
{
	if (wire_left(in) < len)
		return WIRE_SHORT;
	wire_init(ret, in->pos, len, in->swap);
	in->pos += len;
	return WIRE_OK;
}

int wire_get_cstr(struct wire_in *in, size_t max, const char **ret)
{
	size_t left = wire_left(in);
	const uint8_t *nul;

	if (left == 0)
		return WIRE_SHORT;
	nul = memchr(in->pos, '\0', left);
	if (!nul)
		return WIRE_SHORT;
	if ((size_t)(nul - in->pos) > max)
		return WIRE_RANGE;
	*ret = (const char *)in->pos;
	in->pos = nul + 1;
	return WIRE_OK;
}

int wire_done(const struct wire_in *in)
{
	return in->pos == in->end ? WIRE_OK : WIRE_TRAILING;
}
