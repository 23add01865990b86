// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/folded_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/number.h"
#include "profile/formats/folded.h"

static uint64_t folded_hash_name(const struct folded_tree *t, const char *s,
				 size_t len)
{
	return XXH3_64bits_withSeed(s, len, t->seed);
}

static const char *folded_read_name_text(const struct folded_tree *t,
					 uint32_t name)
{
	return (const char *)t->text.data + t->names[name].at;
}

int folded_init(struct folded_tree *t)
{
	*t = (struct folded_tree){ .seed = hash_seed() };
	if (!array_reserve(&t->nodes, &t->nodes_cap, 1))
		return -ENOMEM;
	t->nodes[0] = (struct folded_node){
		.child = INDEX_NONE, .sibling = INDEX_NONE,
	};
	return 0;
}

void folded_fini(struct folded_tree *t)
{
	free(t->names);
	free(t->nodes);
	free(t->text.data);
	free(t->without.data);
	hash_free(&t->names_set);
	hash_free(&t->nodes_set);
}

/* The number of this name, added if need be; NONE: no memory. */
static uint32_t folded_read_name_of(struct folded_tree *t, const char *s,
				    size_t len)
{
	struct hash_table *set = &t->names_set;
	uint64_t hash = folded_hash_name(t, s, len);
	size_t start = t->text.len;
	uint32_t n = set->n;

	for (struct hash_slot *at = hash_find(set, hash); at;
	     at = hash_next(set, at)) {
		uint32_t i = hash_index(at);

		if (t->names[i].len == len &&
		    !memcmp(folded_read_name_text(t, i), s, len))
			return i;
	}
	/* never NULL, so that an empty name is bytes like any other */
	buffer_add(&t->text, s, len);
	buffer_add(&t->text, "", 1);
	if (t->text.failed ||
	    !array_reserve(&t->names, &t->names_cap, n + 1) ||
	    !hash_add(set, hash, n))
		return INDEX_NONE;
	t->names[n] = (struct folded_name){ start, (uint32_t)len };
	return n;
}

/* The child of parent with this name, added if need be; NONE: no memory. */
static uint32_t folded_read_child_of(struct folded_tree *t, uint32_t parent,
				     uint32_t name)
{
	struct hash_table *set = &t->nodes_set;
	uint64_t hash = hash_pair(t->seed, parent, name);
	uint32_t added = set->n + 1;

	if (name == INDEX_NONE)
		return INDEX_NONE;
	for (struct hash_slot *at = hash_find(set, hash); at;
	     at = hash_next(set, at)) {
		const struct folded_node *n = &t->nodes[hash_index(at)];

		if (n->parent == parent && n->name == name)
			return hash_index(at);
	}
	if (!array_reserve(&t->nodes, &t->nodes_cap, added + 1) ||
	    !hash_add(set, hash, added))
		return INDEX_NONE;
	t->nodes[added] = (struct folded_node){
		.name = name, .parent = parent, .child = INDEX_NONE,
		.sibling = t->nodes[parent].child,
	};
	t->nodes[parent].child = added;
	return added;
}

#define MARK_LEN	4		/* of "_[k]" */

static size_t folded_read_mark(const char *s, size_t len)
{
	const char *end = s + len - MARK_LEN;

	if (len > MARK_LEN && end[0] == '_' && end[1] == '[' && end[3] == ']')
		return MARK_LEN;
	return 0;
}

/* The offset of " (file.c:12)" in a name without its mark; 0: it has none. */
static size_t folded_read_line_at(const char *s, size_t len)
{
	size_t i = len, digits;

	if (!i || s[--i] != ')')
		return 0;
	for (digits = i; i && s[i - 1] >= '0' && s[i - 1] <= '9'; i--)
		;
	if (i == digits || !i || s[--i] != ':')
		return 0;
	while (i && s[i - 1] != '(' && s[i - 1] != ')')
		i--;
	if (i > 2 && s[i - 1] == '(' && s[i - 2] == ' ' && s[i] != ':')
		return i - 2;
	return 0;
}

/* The part of a frame's name that counts; notes whether it has a line. */
static uint32_t folded_read_frame(struct folded_tree *t, unsigned int side,
				  const char *s, size_t len)
{
	size_t mark = folded_read_mark(s, len);
	size_t at = folded_read_line_at(s, len - mark);

	if (!at)
		return folded_read_name_of(t, s, len);
	t->lines[side] = true;
	if (!t->functions)
		return folded_read_name_of(t, s, len);
	t->without.len = 0;
	buffer_add(&t->without, s, at);
	buffer_add(&t->without, s + len - mark, mark);
	if (t->without.failed)
		return INDEX_NONE;
	return folded_read_name_of(t, (const char *)t->without.data,
				   t->without.len);
}

static bool folded_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The start of the word that ends at s + end. */
static size_t folded_word(const char *s, size_t end)
{
	while (end > 0 && !folded_is_blank(s[end - 1]))
		end--;
	return end;
}

/* Digits and a point. */
static bool folded_is_fraction(const char *s, size_t len)
{
	size_t digits = 0, points = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] >= '0' && s[i] <= '9')
			digits++;
		else if (s[i] == '.')
			points++;
		else
			return false;
	}
	return digits && points == 1;
}

/*
 * The number at the end of a line becomes *count, what is before it and its
 * blanks *len.  Returns what is wrong, or NULL.
 */
static const char *folded_split_count(const char *s, size_t *len,
				      uint64_t *count)
{
	size_t end = *len, i;
	uint64_t v = 0;

	for (i = end; i > 0 && s[i - 1] >= '0' && s[i - 1] <= '9'; i--)
		;
	if ((i == end || (i > 0 && !folded_is_blank(s[i - 1]))) &&
	    folded_is_fraction(s + folded_word(s, end), end - folded_word(s, end)))
		return "the number of samples is not whole";
	if (i == end)
		return "no whole number of samples at the end of the line";
	if (!number_span(s + i, end - i, FOLDED_SAMPLES_MAX, &v))
		return "more than 2^63 - 1 samples";
	if (i > 0 && !folded_is_blank(s[i - 1]))
		return "no blank before the number of samples";
	while (i > 0 && folded_is_blank(s[i - 1]))
		i--;
	if (!i)
		return "no stack before the number of samples";
	*len = i;
	*count = v;
	return NULL;
}

static const char *folded_check_bytes(const char *s, size_t len)
{
	if (len > FOLDED_LINE_MAX)
		return "longer than 1 MiB";
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return "a control character: not folded stacks";
	}
	return NULL;
}

/* Sets *what, or returns -ENOMEM. */
static int folded_read_line(struct folded_tree *t, unsigned int side,
			    const char *s, size_t len, const char **what)
{
	uint32_t at = 0, depth = 0, name;
	const char *end, *next;
	uint64_t count = 0;

	*what = folded_check_bytes(s, len);
	if (!*what)
		*what = folded_split_count(s, &len, &count);
	if (*what)
		return 0;
	if (count > FOLDED_SAMPLES_MAX - t->samples[side]) {
		*what = "more than 2^63 - 1 samples up to here";
		return 0;
	}
	for (end = s + len; s; s = next) {
		const char *semi = memchr(s, ';', (size_t)(end - s));
		size_t frame = (size_t)(end - s);

		next = NULL;
		if (semi) {
			frame = (size_t)(semi - s);
			next = semi + 1;
		}
		if (++depth > FOLDED_DEPTH_MAX)
			*what = "more than 4,096 frames";
		else if (t->nodes_set.n >= FOLDED_NODES_MAX)
			*what = "too many distinct stacks (4,194,304 frames)";
		if (*what)
			return 0;
		name = folded_read_frame(t, side, s, frame);
		at = folded_read_child_of(t, at, name);
		if (at == INDEX_NONE)
			return -ENOMEM;
	}
	t->nodes[at].self[side] += count;
	t->samples[side] += count;
	return 0;
}

static bool folded_is_digits(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len && s[i] >= '0' && s[i] <= '9')
		i++;
	return len && i == len;
}

/* Have two lines and more two numbers at their ends, and none has one?  So difffolded.pl
 * writes them, and `trifold diff --output x.folded`. */
static bool folded_has_pairs(const char *s, const char *end)
{
	size_t pairs = 0;

	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s), last, before;

		if (n && s[n - 1] == '\r')
			n--;
		last = folded_word(s, n);
		before = last;
		while (before && folded_is_blank(s[before - 1]))
			before--;
		if (n && (!folded_is_digits(s + last, n - last) ||
			  !folded_word(s, before) ||
			  !folded_is_digits(s + folded_word(s, before),
					    before - folded_word(s, before))))
			return false;
		if (n)
			pairs++;
		if (!nl)
			break;
		s = nl + 1;
	}
	return pairs > 1;
}

static int folded_read_mistake(struct folded_mistake *m, uint32_t line,
			       const char *what)
{
	*m = (struct folded_mistake){ line, what };
	return 1;
}

int folded_read(struct folded_tree *t, unsigned int side, const char *bytes,
		size_t len, struct folded_mistake *m)
{
	const char *end = bytes + len, *s = bytes, *what = NULL;
	uint32_t line = 0;

	if (len > FOLDED_BYTES_MAX)
		return folded_read_mistake(m, 1,
					   "the file is larger than 256 MiB");
	if (len > 2 && !memcmp(bytes, "\x1f\x8b", 2))
		return folded_read_mistake(
			m, 1, "compressed by gzip: unpack it first (gzip -d)");
	if (len > 2 && !memcmp(bytes, "\xef\xbb\xbf", 3))
		s += 3;
	if (folded_has_pairs(s, end))
		return folded_read_mistake(
			m, 1, "two numbers at the end of each line, of two recordings: "
			"leave one of them");
	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const char *next = end;
		size_t n = (size_t)(end - s);

		if (nl) {
			next = nl + 1;
			n = (size_t)(nl - s);
		}
		line++;
		if (n && s[n - 1] == '\r')
			n--;
		if (n && folded_read_line(t, side, s, n, &what))
			return -ENOMEM;
		if (what)
			return folded_read_mistake(m, line, what);
		s = next;
	}
	if (!line)
		line = 1;
	if (!t->samples[side])
		return folded_read_mistake(m, line, "no samples in this file");
	return 0;
}

int folded_compare_names(const struct folded_tree *t, uint32_t name, uint32_t other)
{
	const struct folded_name *a = &t->names[name], *b = &t->names[other];
	uint32_t n = a->len;
	int r;

	if (b->len < n)
		n = b->len;
	r = memcmp(t->text.data + a->at, t->text.data + b->at, n);
	if (r)
		return r;
	if (a->len < b->len)
		return -1;
	return a->len > b->len;
}

static int folded_read_by_name(const void *pa, const void *pb, void *arg)
{
	return folded_compare_names(arg, *(const uint32_t *)pa, *(const uint32_t *)pb);
}

struct ranks {
	const struct folded_node *nodes;
	const uint32_t *rank;		/* of a name */
};

static int folded_read_by_rank_down(const void *pa, const void *pb, void *arg)
{
	const struct ranks *r = arg;
	uint32_t a = r->rank[r->nodes[*(const uint32_t *)pa].name];
	uint32_t b = r->rank[r->nodes[*(const uint32_t *)pb].name];

	if (a < b)
		return 1;
	if (a > b)
		return -1;
	return 0;
}

int folded_sort(struct folded_tree *t)
{
	uint32_t n_names = t->names_set.n, n = t->nodes_set.n;
	uint32_t *rank = calloc(n_names + 1, sizeof(*rank));
	uint32_t *order, most = n;	/* of the names, then of the nodes */
	struct ranks ranks = { t->nodes, rank };

	if (n_names > most)
		most = n_names;
	order = calloc(most + 1, sizeof(*order));
	if (!rank || !order) {
		free(rank);
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_names; i++)
		order[i] = i;
	qsort_r(order, n_names, sizeof(*order), folded_read_by_name, t);
	for (uint32_t i = 0; i < n_names; i++)
		rank[order[i]] = i;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i + 1;
	qsort_r(order, n, sizeof(*order), folded_read_by_rank_down, &ranks);
	/* from the last name to the first, each put at the head of its parent's
	 * list */
	for (uint32_t i = 0; i <= n; i++)
		t->nodes[i].child = INDEX_NONE;
	for (uint32_t i = 0; i < n; i++) {
		struct folded_node *node = &t->nodes[order[i]];

		node->sibling = t->nodes[node->parent].child;
		t->nodes[node->parent].child = order[i];
	}
	free(rank);
	free(order);
	return 0;
}

uint32_t folded_next(const struct folded_tree *t, uint32_t node,
		     uint32_t *depth)
{
	if (t->nodes[node].child != INDEX_NONE) {
		++*depth;
		return t->nodes[node].child;
	}
	while (node && t->nodes[node].sibling == INDEX_NONE) {
		node = t->nodes[node].parent;
		--*depth;
	}
	if (node)
		return t->nodes[node].sibling;
	return 0;
}

void folded_name(const struct folded_tree *t, uint32_t name, struct buffer *out)
{
	folded_text(out, folded_read_name_text(t, name), t->names[name].len);
}

/* --- writing, with both numbers ------------------------------------------- */

int folded_encode_pairs(const struct folded_tree *t, struct buffer *out)
{
	size_t ends[FOLDED_DEPTH_MAX + 1] = { 0 };
	struct buffer line = { 0 };
	uint32_t depth = 0, i = 0;
	int r;

	while ((i = folded_next(t, i, &depth))) {
		const struct folded_node *node = &t->nodes[i];

		line.len = ends[depth - 1];
		if (depth > 1)
			buffer_add(&line, ";", 1);
		folded_name(t, node->name, &line);
		ends[depth] = line.len;
		if (!node->self[0] && !node->self[1])
			continue;
		buffer_add(out, line.data, line.len);
		buffer_str(out, " ");
		buffer_num(out, node->self[0]);
		buffer_str(out, " ");
		buffer_num(out, node->self[1]);
		buffer_str(out, "\n");
	}
	if (line.failed || out->failed)
		r = -ENOMEM;
	else
		r = 0;
	free(line.data);
	return r;
}
