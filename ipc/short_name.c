// SPDX-License-Identifier: Apache-2.0
#include "ipc/short_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ipc/short_method.h"

#define NESTED_MAX	256	/* brackets within brackets that are left out */
#define NO_PLACE	SIZE_MAX
#define STUB_LEN	(sizeof(SHORT_NAME_STUB) - 1)

struct short_name {
	const char *s;
	size_t len, i;		/* what is read, and where */
	char *out;
	size_t n;
	size_t word;		/* in out: after the last space that may end a
				 * return type; NO_PLACE: none */
	unsigned int kept;	/* '<' that were written: <T as Trait> */
	bool full;		/* out is */
	bool args;		/* a '<' here begins arguments */
};

static bool short_name_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || (c & 0x80);
}

static void short_name_put(struct short_name *x, const char *s, size_t n)
{
	if (n > SHORT_NAME_MAX - x->n) {
		n = SHORT_NAME_MAX - x->n;
		x->full = true;
	}
	memcpy(x->out + x->n, s, n);
	x->n += n;
}

/* Does `what` begin here? */
static bool short_name_at(const struct short_name *x, const char *what)
{
	size_t n = strlen(what);

	return x->len - x->i >= n && !memcmp(x->s + x->i, what, n);
}

static char short_name_before(const struct short_name *x)
{
	return x->i ? x->s[x->i - 1] : '\0';
}

/* --- the end ---------------------------------------------------------------- */

static bool short_name_digits(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
	}
	return n;
}

/* Is this what a compiler appends, between dots?  numbered: a number follows. */
static bool short_name_appended(const char *s, size_t n, bool numbered)
{
	static const char *const words[] = {
		"cold", "localalias", "part", "constprop", "isra", "lto_priv",
		"llvm",
	};
	const size_t n_words = numbered ? sizeof(words) / sizeof(*words) : 2;

	for (size_t i = 0; i < n_words; i++) {
		if (n == strlen(words[i]) && !memcmp(s, words[i], n))
			return true;
	}
	return false;
}

/* Can a version be called so?  Linkers take any word; these are the signs of those that
 * libraries have. */
static bool short_name_is_version(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!short_name_letter(s[i]) && !memchr(".+-", s[i], 3))
			return false;
	}
	return len;
}

size_t short_name_unversioned(const char *s, size_t len)
{
	const char *at = len > 1 ? memrchr(s + 1, '@', len - 1) : NULL;
	size_t n;

	if (!at)
		return len;
	n = (size_t)(at - s);
	if (!short_name_is_version(at + 1, len - n - 1))
		return len;
	if (n > 1 && s[n - 1] == '@')
		n--;
	return n;
}

/* How much is left of a symbol's name without its version and what compilers append. */
static size_t short_name_stem(const char *s, size_t len, enum name_form form)
{
	size_t stem, end;

	if (form == NAME_GIVEN || form == NAME_METHOD)
		return len;
	if (form != NAME_NUMBERED)
		len = short_name_unversioned(s, len);
	stem = len;
	end = len;
	while (end > 1) {
		const char *dot = memrchr(s + 1, '.', end - 1);
		bool numbered = end != stem;
		size_t n;

		if (!dot)
			break;
		n = (size_t)(s + end - dot - 1);
		end = (size_t)(dot - s);
		if (form == NAME_NUMBERED && !numbered && !short_name_digits(dot + 1, n))
			break;	/* "main.cold" is a function */
		if (short_name_appended(dot + 1, n, numbered))
			stem = end;
		else if (numbered || !short_name_digits(dot + 1, n))
			break;
	}
	return stem;
}

/* "::h" and 16 hexadecimal digits are Rust's hash. */
static size_t short_name_hash(const char *s, size_t len)
{
	const size_t n = 3 + 16;

	if (len <= n || memcmp(s + len - n, "::h", 3))
		return len;
	for (size_t i = len - 16; i < len; i++) {
		if (!strchr("0123456789abcdef", s[i]) || !s[i])
			return len;
	}
	return len - n;
}

/* --- what is left out --------------------------------------------------------- */

/* The signs after "operator": how many bytes. */
static size_t short_name_signs(const char *s, size_t len)
{
	static const char *const signs[] = {	/* the longest first */
		"<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=",
		">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=",
		"/=", "%=", "^=", "&=", "|=", "<", ">", "=", "!", "&", "|",
		"+", "-", "*", "/", "%", "^", "~", ",",
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		size_t n = strlen(signs[i]);

		if (n <= len && !memcmp(s, signs[i], n))
			return n;
	}
	return 0;
}

/* The bytes of "operator" and its signs here; 0: none. */
static size_t short_name_is_operator(const struct short_name *x)
{
	static const char word[] = "operator";
	size_t n = strlen(word);

	if (!short_name_at(x, word) ||
	    short_name_letter(short_name_before(x)) ||
	    (x->len - x->i > n && short_name_letter(x->s[x->i + n])))
		return 0;
	n += short_name_signs(x->s + x->i + n, x->len - x->i - n);
	return n;
}

/* From a bracket to what follows its partner, or to the end. */
static void short_name_skip(struct short_name *x)
{
	char open[NESTED_MAX];
	size_t depth = 0, n;

	for (; x->i < x->len; x->i++) {
		char c = x->s[x->i];

		n = short_name_is_operator(x);
		if (n) {
			x->i += n - 1;
		} else if (short_name_at(x, "->")) {
			x->i++;
		} else if (c == '<' || c == '(') {
			if (depth == NESTED_MAX)
				break;
			open[depth] = c;
			depth++;
		} else if (c == ')' || (c == '>' && open[depth - 1] == '<')) {
			/* what is open within parentheses was a sign */
			while (c == ')' && depth && open[depth - 1] != '(')
				depth--;
			if (depth)
				depth--;
			if (!depth) {
				x->i++;
				return;
			}
		}
	}
	x->i = x->len;
}

/* Skip qualifiers after parameters.  True when the name goes on. */
static bool short_name_goes_on(struct short_name *x)
{
	static const char *const words[] = {
		" const", " volatile", " restrict", " noexcept", " &&", " &",
	};
	size_t i = 0;

	while (i < sizeof(words) / sizeof(*words)) {
		if (short_name_at(x, words[i])) {
			x->i += strlen(words[i]);
			i = 0;
		} else {
			i++;
		}
	}
	return short_name_at(x, "::") ||
	       (short_name_at(x, ".") && x->i + 1 < x->len &&
		short_name_letter(x->s[x->i + 1]));
}

/* Remove the return type, which only functions made of templates have; "virtual thunk to"
 * is none. */
static void short_name_no_return_type(struct short_name *x)
{
	size_t n = x->word;

	if (n == NO_PLACE || short_name_before(x) != '>' ||
	    (n >= 4 && !memcmp(x->out + n - 4, " to ", 4)) ||
	    (n >= 5 && !memcmp(x->out + n - 5, " for ", 5)))
		return;
	memmove(x->out, x->out + n, x->n - n);
	x->n -= n;
	x->word = NO_PLACE;
}

/* --- the whole ------------------------------------------------------------------ */

/* A '(' at the top.  False: the name ends here, or is not understood. */
static bool short_name_parameters(struct short_name *x, bool *odd)
{
	static const char anonymous[] = "(anonymous namespace)";
	char before = short_name_before(x);

	if (short_name_at(x, anonymous)) {
		short_name_put(x, anonymous, strlen(anonymous));
		x->i += strlen(anonymous);
		return true;
	}
	if (before == '!') {			/* of a template of D */
		short_name_put(x, "(...)", 5);
		short_name_skip(x);
		return true;
	}
	if (x->n >= 9 && before == ' ' &&
	    !memcmp(x->out + x->n - 9, "decltype ", 9)) {
		short_name_skip(x);
		return true;
	}
	if (before == ' ' || !x->n) {		/* void (*f<int>(int))(char) */
		*odd = true;
		return false;
	}
	short_name_no_return_type(x);
	short_name_skip(x);
	return short_name_goes_on(x);
}

/* {lambda(int)#1} without its parameters */
static void short_name_braces(struct short_name *x)
{
	unsigned int depth = 0;

	while (x->i < x->len) {
		char c = x->s[x->i];

		if (c == '(' || (c == '<' && short_name_letter(
						     short_name_before(x)))) {
			short_name_skip(x);
			continue;
		}
		short_name_put(x, &c, 1);
		x->i++;
		if (c == '{')
			depth++;
		if (c == '}')
			depth--;
		if (!depth)
			return;
	}
}

/* A '<': of arguments, or of <T as Trait>, which is written. */
static void short_name_angle(struct short_name *x)
{
	char before = short_name_before(x);

	if (x->args || short_name_letter(before) || before == ':' ||
	    (before && strchr(")]}", before))) {
		short_name_put(x, "<...>", 5);
		short_name_skip(x);
		return;
	}
	x->kept++;
	short_name_put(x, "<", 1);
	x->i++;
}

static void short_name_char(struct short_name *x)
{
	char c = x->s[x->i];

	if (short_name_at(x, "->")) {
		short_name_put(x, "->", 2);
		x->i += 2;
		return;
	}
	if (c == '>' && x->kept)
		x->kept--;
	short_name_put(x, &c, 1);
	x->i++;
	if (c == ' ' && !x->kept)
		x->word = x->n;
}

/* Its signs; a space after them is before arguments or a type. */
static void short_name_put_operator(struct short_name *x, size_t n)
{
	size_t word = x->word;

	short_name_put(x, x->s + x->i, n);
	x->i += n;
	if (short_name_at(x, " <")) {
		x->i++;
	} else {
		while (x->i < x->len && !strchr("<(", x->s[x->i]))
			short_name_char(x);
	}
	x->word = word;
	x->args = true;
}

/* False: it is not understood. */
static bool short_name_parse(struct short_name *x)
{
	bool odd = false;
	size_t n;

	while (x->i < x->len && !x->full) {
		char c = x->s[x->i];

		n = short_name_is_operator(x);
		if (n) {
			short_name_put_operator(x, n);
			continue;
		}
		if (c == '(' && !x->kept) {
			if (!short_name_parameters(x, &odd))
				return !odd;
		} else if (c == '<') {
			short_name_angle(x);
		} else if (c == '{') {
			short_name_braces(x);
		} else if (short_name_at(x, " [clone ")) {
			return true;
		} else {
			short_name_char(x);
		}
		x->args = false;
	}
	return true;
}

/* Cut at a character, with "...". */
static size_t short_name_cut(char *buf)
{
	size_t n = SHORT_NAME_MAX - 3;

	while (n && (buf[n] & 0xc0) == 0x80)
		n--;
	memcpy(buf + n, "...", 3);
	return n + 3;
}

static const char *short_name_of(const char *s, size_t len, enum name_form form,
				 char buf[SHORT_NAME_MAX], size_t *ret_len)
{
	const bool demangled = form == NAME_DEMANGLED;
	struct short_name x = {
		.s = s, .len = short_name_stem(s, len, form), .out = buf,
		.word = NO_PLACE,
	};

	if (demangled)
		x.len = short_name_hash(s, x.len);
	if (!demangled || !short_name_parse(&x) || !x.n) {
		if (x.len <= SHORT_NAME_MAX) {
			*ret_len = x.len;
			return s;
		}
		memcpy(buf, s, SHORT_NAME_MAX);
		x.full = true;
	}
	*ret_len = x.full ? short_name_cut(buf) : x.n;
	return buf;
}

/* Append the end that distinguishes a stub from the function that it calls. */
static const char *short_name_stub(const char *s, size_t len, const char *name,
				   char buf[SHORT_NAME_MAX], size_t *ret_len)
{
	size_t n = *ret_len;

	if (name == s && n == len && len <= SHORT_NAME_MAX - STUB_LEN) {
		*ret_len = len + STUB_LEN;
		return s;
	}
	if (n > SHORT_NAME_MAX - STUB_LEN) {
		n = SHORT_NAME_MAX - STUB_LEN;
		while (n && (name[n] & 0xc0) == 0x80)
			n--;
	}
	memmove(buf, name, n);
	memcpy(buf + n, SHORT_NAME_STUB, STUB_LEN);
	*ret_len = n + STUB_LEN;
	return buf;
}

/* Does it end with arguments of a template, as DWARF writes names, "sort<int*>"?
 * Brackets after a dot, as in "f.<locals>.<lambda>", are no arguments. */
static bool short_name_has_arguments(const char *s, size_t len)
{
	size_t depth = 0;

	if (!len || s[len - 1] != '>')
		return false;
	for (size_t i = len - 1; i > 0; i--) {
		if (s[i] == '>' && s[i - 1] != '-')
			depth++;
		if (s[i] != '<' || !depth)
			continue;
		depth--;
		if (!depth)
			return short_name_letter(s[i - 1]) || s[i - 1] == ')';
	}
	return false;
}

static const char *short_name_method(const char *s, size_t len, char buf[SHORT_NAME_MAX],
				   size_t *ret_len)
{
	size_t whole = short_method_parameters(s, len);

	if (whole > SHORT_NAME_MAX)
		return short_name_of(s, whole, NAME_GIVEN, buf, ret_len);
	*ret_len = short_method(s, whole, buf);
	if (*ret_len && *ret_len != whole)
		return buf;
	*ret_len = whole;
	return s;
}

const char *short_name(const char *s, size_t len, enum name_form form,
		       char buf[SHORT_NAME_MAX], size_t *ret_len)
{
	const char *name;

	if (form == NAME_METHOD)
		return short_name_method(s, len, buf, ret_len);
	if (form == NAME_SYMBOL && short_name_has_arguments(s, short_name_stem(s, len, form)))
		form = NAME_DEMANGLED;
	if ((form != NAME_SYMBOL && form != NAME_DEMANGLED) || len <= STUB_LEN ||
	    memcmp(s + len - STUB_LEN, SHORT_NAME_STUB, STUB_LEN))
		return short_name_of(s, len, form, buf, ret_len);
	len -= STUB_LEN;
	name = short_name_of(s, len, form, buf, ret_len);
	return short_name_stub(s, len, name, buf, ret_len);
}
