// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>	/* Debian */
#else
#include <demangle.h>
#endif

#define STUB		"@plt"
#define OPTIONS		(DMGL_PARAMS | DMGL_ANSI)
/* In names of D, which are made in memory: nested references double the output, so 40
 * of them make some MiB at most. */
#define BACK_REFERENCES_MAX	40

struct demangled {
	char *text;
	size_t len;
	jmp_buf full;		/* libiberty cannot be told to stop */
};

/* A demangle_callbackref: the next piece of the name. */
static void demangle_put(const char *s, size_t n, void *arg)
{
	struct demangled *d = arg;
	size_t room = DEMANGLED_MAX - d->len, len = n < room ? n : room;

	if (!n)
		return;
	memcpy(d->text + d->len, s, len);
	d->len += len;
	if (n > room)
		longjmp(d->full, 1);
}

typedef int (*demangle_fn)(const char *mangled, int options,
			   demangle_callbackref callback, void *arg);

/* By a demangler that a jump out of the callback makes leak no more than, for Rust, the
 * characters of an identifier: a worker has one job. */
static size_t demangle_by(demangle_fn fn, const char *name, char *buf)
{
	struct demangled d = { .text = buf };

	if (setjmp(d.full))
		return DEMANGLED_MAX;
	if (!fn(name, OPTIONS, demangle_put, &d))
		return 0;
	return d.len;
}

static size_t demangle_d(const char *name, char *buf)
{
	unsigned int references = 0;
	char *text;
	size_t n;

	for (const char *p = strchr(name, 'Q'); p; p = strchr(p + 1, 'Q'))
		references++;
	if (references > BACK_REFERENCES_MAX)
		return 0;
	text = dlang_demangle(name, OPTIONS);
	if (!text)
		return 0;
	n = strnlen(text, DEMANGLED_MAX);
	memcpy(buf, text, n);
	free(text);
	return n;
}

size_t demangle(const char *raw, size_t len, char buf[DEMANGLED_MAX + 1])
{
	char name[DEMANGLED_MAX + 1];
	const char *at;
	bool stub = false;
	size_t n = 0;

	buf[0] = '\0';
	if (!len)
		return 0;
	at = memchr(raw, '@', len);
	if (at) {
		stub = len - (size_t)(at - raw) == sizeof(STUB) - 1 &&
		       !memcmp(at, STUB, sizeof(STUB) - 1);
		len = (size_t)(at - raw);
	}
	if (len < 3 || len > DEMANGLED_MAX || raw[0] != '_')
		return 0;
	memcpy(name, raw, len);
	name[len] = '\0';
	if (name[1] == 'Z' || name[1] == 'R')
		n = demangle_by(rust_demangle_callback, name, buf);
	if (!n && name[1] == 'Z')
		n = demangle_by(cplus_demangle_v3_callback, name, buf);
	else if (name[1] == 'D')
		n = demangle_d(name, buf);
	if (n && stub && n <= DEMANGLED_MAX - (sizeof(STUB) - 1)) {
		memcpy(buf + n, STUB, sizeof(STUB) - 1);
		n += sizeof(STUB) - 1;
	}
	buf[n] = '\0';
	return n;
}
