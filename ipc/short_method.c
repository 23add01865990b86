// SPDX-License-Identifier: Apache-2.0
#include "ipc/short_method.h"

#include <stdbool.h>
#include <string.h>

static bool short_method_separates(char c)
{
	return c == '.' || c == '/';
}

static bool short_method_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool short_method_hex(char c)
{
	return short_method_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The bytes of "+0x1234" or "/0x1234" at s, which distinguishes hidden classes; 0: it is
 * something else. */
static size_t short_method_address(const char *s, size_t len)
{
	size_t n = 3;

	if (len < n || (s[0] != '+' && s[0] != '/') || s[1] != '0' || s[2] != 'x')
		return 0;
	while (n < len && short_method_hex(s[n]))
		n++;
	if (n < len && !short_method_separates(s[n]))
		return 0;
	return n;
}

/* What classes are called that are numbered, after the whole of `before`, if that is not
 * "", or after a separator. */
static const struct short_method_numbered {
	const char *before, *name;
} short_method_numbered[] = {
	{ "", "$Proxy" },
	{ "", "GeneratedMethodAccessor" },
	{ "", "GeneratedConstructorAccessor" },
	{ "", "GeneratedSerializationConstructorAccessor" },
	{ "jdk", "proxy" },
};

/* Is the name of a numbered class at the end of the n bytes at s? */
static bool short_method_is_numbered(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof(short_method_numbered) / sizeof(*short_method_numbered); i++) {
		const struct short_method_numbered *x = &short_method_numbered[i];
		size_t name = strlen(x->name), before = strlen(x->before), rest;

		if (n < name || memcmp(s + n - name, x->name, name))
			continue;
		rest = n - name;
		if (rest && !short_method_separates(s[rest - 1]))
			continue;
		if (!before)
			return true;
		if (rest == before + 1 && !memcmp(s, x->before, before))
			return true;
	}
	return false;
}

/* The bytes of a number at s + i, which a class has that was made in this run; 0: the
 * digits there are the program's own. */
static size_t short_method_number(const char *s, size_t len, size_t i)
{
	static const char lambda[] = "$$Lambda";
	const size_t is = sizeof(lambda) - 1;
	size_t n = i;
	bool ours;

	if (s[i] == '$') {
		ours = i > is && !memcmp(s + i - is, lambda, is);
		n++;
	} else {
		ours = short_method_digit(s[i]) && short_method_is_numbered(s, i);
	}
	if (!ours || n == len || !short_method_digit(s[n]))
		return 0;
	while (n < len && short_method_digit(s[n]))
		n++;
	/* JDK 8 has a number for an address */
	if (s[i] == '$' && n + 1 < len && s[n] == '/' && short_method_digit(s[n + 1]) &&
	    !short_method_address(s + n, len - n)) {
		n++;
		while (n < len && short_method_digit(s[n]))
			n++;
	}
	if (n < len && !short_method_separates(s[n]) && !short_method_address(s + n, len - n))
		return 0;
	return n - i;
}

size_t short_method(const char *s, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		size_t gone = short_method_address(s + i, len - i);

		if (!gone)
			gone = short_method_number(s, len, i);
		if (gone) {
			i += gone;
			continue;
		}
		out[n] = s[i];
		n++;
		i++;
	}
	return n;
}

size_t short_method_parameters(const char *s, size_t len)
{
	const char *open;

	if (!len || s[len - 1] != ')')
		return len;
	open = memrchr(s, '(', len);
	/* "a.B.is whole (again)" is a method of Kotlin's */
	if (!open || open == s || open[-1] == ' ')
		return len;
	return (size_t)(open - s);
}
