// SPDX-License-Identifier: Apache-2.0
#include "common/number.h"

static const char *number_read_base(const char *s, unsigned int base,
				    uint64_t *ret)
{
	const char *begin = s;
	uint64_t v = 0;

	for (;; s++) {
		char c = (char)(*s | 0x20);	/* lower case; digits have it */
		unsigned int digit;

		if (*s >= '0' && *s <= '9')
			digit = (unsigned int)(*s - '0');
		else if (base == 16 && c >= 'a' && c <= 'f')
			digit = (unsigned int)(c - 'a') + 10;
		else
			break;
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return NULL;
	}
	if (s == begin)
		return NULL;
	*ret = v;
	return s;
}

const char *number_read(const char *s, uint64_t *ret)
{
	return number_read_base(s, 10, ret);
}

bool number_span(const char *s, size_t len, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned int digit = (unsigned char)s[i] - '0';

		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	if (len == 0 || v > max)
		return false;
	*ret = v;
	return true;
}

bool number_parse(const char *s, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t v;

	s = number_read(s, &v);
	if (!s || *s || v < min || v > max)
		return false;
	*ret = v;
	return true;
}

bool number_parse_hex(const char *s, uint64_t *ret)
{
	uint64_t v;

	if (s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	s = number_read_base(s, 16, &v);
	if (!s || *s)
		return false;
	*ret = v;
	return true;
}
