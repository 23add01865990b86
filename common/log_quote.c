// SPDX-License-Identifier: Apache-2.0
#include "common/log_quote.h"

#include <stdbool.h>
#include <stdio.h>

const char *log_quote(const char *s, size_t len, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		bool plain = c >= ' ' && c <= '~' && c != '\\';

		if (size < (plain ? 2 : 5) || n > size - (plain ? 2 : 5))
			break;
		if (plain)
			out[n++] = (char)c;
		else
			n += (size_t)snprintf(out + n, size - n, "\\x%02x", c);
	}
	if (size)
		out[n] = '\0';
	return out;
}
