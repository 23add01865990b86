// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/hotspot/reading_name.h"

#include <stddef.h>
#include <string.h>

#include "ipc/short_method.h"

struct java_out {
	char *s;
	size_t len, max;	/* max: with the NUL */
};

static void java_put(struct java_out *o, const char *s, size_t n)
{
	if (n > o->max - 1 - o->len)
		n = o->max - 1 - o->len;
	memcpy(o->s + o->len, s, n);
	o->len += n;
	o->s[o->len] = '\0';
}

static void java_put_str(struct java_out *o, const char *s)
{
	java_put(o, s, strlen(s));
}

/* A class by its path, of n bytes. */
static void java_class(struct java_out *o, const char *s, size_t n)
{
	char class[TEXT_FULL_MAX];

	if (n > sizeof(class))
		n = sizeof(class);
	n = short_method(s, n, class);
	for (size_t i = 0; i < n; i++)
		java_put(o, class[i] == '/' ? "." : &class[i], 1);
}

static const char *java_primitive(char c)
{
	switch (c) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'Z':
		return "boolean";
	default:
		return NULL;
	}
}

/* The type at s.  Returns what follows it; NULL: not a type, or cut off. */
static const char *java_type(struct java_out *o, const char *s)
{
	size_t arrays = strspn(s, "["), n;

	s += arrays;
	if (*s == 'L') {
		s++;
		n = strcspn(s, ";)");
		if (s[n] != ';')
			return NULL;
		java_class(o, s, n);
		s += n + 1;
	} else {
		if (!java_primitive(*s))
			return NULL;
		java_put_str(o, java_primitive(*s));
		s++;
	}
	for (size_t i = 0; i < arrays; i++)
		java_put_str(o, "[]");
	return s;
}

void java_name(char name[TEXT_NAME_MAX], char full[TEXT_FULL_MAX],
	       const char *class, const char *method, const char *descriptor)
{
	struct java_out n = { name, 0, TEXT_NAME_MAX };
	struct java_out f = { full, 0, TEXT_FULL_MAX };
	const char *s = descriptor;

	full[0] = '\0';
	java_class(&n, class, strlen(class));
	java_put_str(&n, ".");
	java_put_str(&n, method);
	if (*s != '(')
		return;
	java_put(&f, name, n.len);
	java_put_str(&f, "(");
	for (s++; *s != ')';) {
		if (s != descriptor + 1)
			java_put_str(&f, ", ");
		s = java_type(&f, s);
		if (!s) {
			java_put_str(&f, "...");
			break;
		}
	}
	java_put_str(&f, ")");
}
