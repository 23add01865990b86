// SPDX-License-Identifier: Apache-2.0
/* A symbol's name, demangled and made short, as a worker and the hub do. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/short_name.h"
#include "symbolizerd/symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void shorten(const char *s, size_t len, enum name_form form)
{
	char buf[SHORT_NAME_MAX], again[SHORT_NAME_MAX];
	size_t n, m;
	const char *p = short_name(s, len, form, buf, &n);

	if (n > SHORT_NAME_MAX || (p != s && p != buf) || !n != !len)
		abort();
	short_name(p, n, NAME_SYMBOL, again, &m);
	if (m > (memchr(p, '<', n) ? SHORT_NAME_MAX : n))	/* "<T>" becomes "<...>" */
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[DEMANGLED_MAX + 1], *raw = malloc(size ? size : 1);
	size_t n;

	memcpy(raw, data, size);
	for (int form = 0; form < NAME__FORMS; form++)
		shorten(raw, size, form);
	n = demangle(raw, size, text);
	if (n > DEMANGLED_MAX || text[n])
		abort();
	if (n)
		shorten(text, n, NAME_DEMANGLED);
	free(raw);
	return 0;
}
