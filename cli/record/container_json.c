// SPDX-License-Identifier: Apache-2.0
#include "cli/record/container_json.h"

#include <stdint.h>
#include <string.h>

/* A string as written, without its quotes. */
struct container_text {
	const char *s;
	size_t len;
};

struct container_walk {
	const char *p, *end;
	unsigned int depth;	/* brackets that are open */
	uint64_t objects;	/* bit i: the one at depth i is '{' */
	struct container_text at[3];	/* the last keys at depths 1 and 2 */
};

enum container_event {
	JSON_END,		/* of a whole text */
	JSON_BROKEN,
	JSON_STRING,		/* a value */
	JSON_OPEN,		/* depth was raised */
	JSON_CLOSE,		/* depth was lowered */
};

bool container_json_is_id(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!s[i] || !strchr("0123456789abcdef", s[i]))
			return false;
	}
	return n == CONTAINER_JSON_ID;
}

static bool container_json_is(const struct container_text *a, const char *b,
			      size_t len)
{
	return a->len == len && !memcmp(a->s, b, len);
}

/* Read a string after its opening quote.  False: it does not end, or has control
 * characters. */
static bool container_json_take_string(struct container_walk *w,
				       struct container_text *ret)
{
	ret->s = w->p;
	for (; w->p < w->end && *w->p != '"'; w->p++) {
		if ((unsigned char)*w->p < 0x20)
			return false;
		if (*w->p == '\\' && ++w->p == w->end)
			return false;
	}
	if (w->p == w->end)
		return false;
	ret->len = (size_t)(w->p++ - ret->s);
	return true;
}

static void container_json_skip_space(struct container_walk *w)
{
	while (w->p < w->end && (*w->p == ' ' || *w->p == '\t' ||
				 *w->p == '\n' || *w->p == '\r'))
		w->p++;
}

/* Handle a bracket that was read. */
static enum container_event container_json_bracket(struct container_walk *w,
						   char c)
{
	bool object = c == '{' || c == '}';

	if (c == '{' || c == '[') {
		if (w->depth == CONTAINER_JSON_DEPTH)
			return JSON_BROKEN;
		w->objects &= ~(1ULL << w->depth);
		w->objects |= (uint64_t)object << w->depth++;
		return JSON_OPEN;
	}
	if (!w->depth || (w->objects >> --w->depth & 1) != object)
		return JSON_BROKEN;
	return JSON_CLOSE;
}

/* Handle a string, after its opening quote: a key if a colon follows. */
static enum container_event
container_json_string_or_key(struct container_walk *w,
			     struct container_text *ret)
{
	if (!w->depth || !container_json_take_string(w, ret))
		return JSON_BROKEN;
	container_json_skip_space(w);
	if (w->p == w->end || *w->p != ':')
		return JSON_STRING;
	if (!(w->objects >> (w->depth - 1) & 1))
		return JSON_BROKEN;
	if (w->depth < sizeof(w->at) / sizeof(w->at[0]))
		w->at[w->depth] = *ret;
	return JSON_END;	/* a key is no event */
}

/* Advance to the next event; numbers and literals are skipped. */
static enum container_event container_json_next(struct container_walk *w,
						struct container_text *ret)
{
	static const char other[] = "0123456789+-.eEtrufalsn,:";

	for (;;) {
		enum container_event e;
		char c;

		container_json_skip_space(w);
		if (w->p == w->end)
			return w->depth ? JSON_BROKEN : JSON_END;
		c = *w->p++;
		if (c == '"') {
			e = container_json_string_or_key(w, ret);
			if (e != JSON_END)
				return e;
		} else if (c && strchr("{}[]", c)) {
			return container_json_bracket(w, c);
		} else if (!w->depth || !c || !strchr(other, c)) {
			return JSON_BROKEN;
		}
	}
}

/* Enter the outermost bracket; false: it is another one. */
static bool container_json_begin(struct container_walk *w, const char *text,
				 size_t len, char c)
{
	struct container_text unused;

	*w = (struct container_walk){ .p = text, .end = text + len };
	return container_json_next(w, &unused) == JSON_OPEN && w->p[-1] == c;
}

bool container_json_docker(const char *text, size_t len, const char *name)
{
	struct container_text v = { 0 };
	struct container_walk w;
	enum container_event e;
	bool found = false;

	if (!container_json_begin(&w, text, len, '{'))
		return false;
	while ((e = container_json_next(&w, &v)) > JSON_BROKEN) {
		if (e == JSON_OPEN && w.depth == 1)
			return false;	/* a second text after the first */
		if (e == JSON_STRING && w.depth == 1 &&
		    container_json_is(&w.at[1], "Name", 4))
			found = v.len && *v.s == '/' &&
				strlen(name) == v.len - 1 &&
				!memcmp(v.s + 1, name, v.len - 1);
	}
	return e == JSON_END && found;
}

bool container_json_podman(const char *text, size_t len, const char *name,
			   char id[CONTAINER_JSON_ID + 1])
{
	struct container_text v = { 0 }, own = { 0 };
	bool named = false, found = false;
	struct container_walk w;
	enum container_event e;

	if (!container_json_begin(&w, text, len, '['))
		return false;
	while ((e = container_json_next(&w, &v)) > JSON_BROKEN) {
		if (e == JSON_OPEN && w.depth == 1)
			return false;
		if (e == JSON_OPEN && w.depth == 2) {
			own.len = 0;
			named = false;
			w.at[2].len = 0;
		} else if (e == JSON_STRING && w.depth == 2 &&
			   container_json_is(&w.at[2], "id", 2)) {
			own = v;
		} else if (e == JSON_STRING && w.depth == 3 &&
			   !(w.objects >> 2 & 1) &&
			   container_json_is(&w.at[2], "names", 5)) {
			named |= container_json_is(&v, name, strlen(name));
		} else if (e == JSON_CLOSE && w.depth == 1 && named && !found &&
			   container_json_is_id(own.s, own.len)) {
			memcpy(id, own.s, CONTAINER_JSON_ID);
			id[CONTAINER_JSON_ID] = '\0';
			found = true;
		}
	}
	return e == JSON_END && found;
}
