// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/harness.h"

static size_t demangle_copy(const char *raw, size_t len,
			    char text[DEMANGLED_MAX + 1])
{
	char *copy = malloc(len ? len : 1);	/* the sanitizer sees its end */
	size_t n;

	memcpy(copy, raw, len);
	memset(text, 'x', DEMANGLED_MAX + 1);
	n = demangle(copy, len, text);
	free(copy);
	return n;
}

static bool is(const char *raw, const char *want)
{
	char text[DEMANGLED_MAX + 1];
	size_t n = demangle_copy(raw, strlen(raw), text);

	if (n == strlen(want) && !strcmp(text, want))
		return true;
	printf("# %s\n#  is %s\n", raw, n ? text : "not demangled");
	return false;
}

static bool is_none(const char *raw)
{
	char text[DEMANGLED_MAX + 1];

	return !demangle_copy(raw, strlen(raw), text) && !text[0];
}

TEST(cpp)
{
	CHECK(is("_ZN3foo3barEi", "foo::bar(int)"));
	CHECK(is("_ZNSt6vectorIiSaIiEE9push_backEOi",
		 "std::vector<int, std::allocator<int> >::push_back(int&&)"));
	CHECK(is("_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"));
	CHECK(is("_ZZ4mainENKUlT_E_clIiEEDaS_",
		 "auto main::{lambda(auto:1)#1}::operator()<int>(int) const"));
	CHECK(is("_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]"));
	CHECK(is("_ZN3foo3barEi@@VER_2", "foo::bar(int)"));
	CHECK(is("_Znwm@plt", "operator new(unsigned long)@plt"));
	CHECK(is("_Znwm@plt2", "operator new(unsigned long)"));
}

TEST(rust)
{
	CHECK(is("_ZN55_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..Drop$GT$"
		 "4drop17h0123456789abcdefE",
		 "<alloc::vec::Vec<T> as core::Drop>::drop"));
	CHECK(is("_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_",
		 "mycrate::main::{closure#0}"));
	CHECK(is("_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>"));
}

TEST(d)
{
	CHECK(is("_D3app3fooFiZv", "app.foo(int)"));
	CHECK(is("_Dmain", "D main"));
}

TEST(what_is_not_mangled)
{
	CHECK(is_none(""));
	CHECK(is_none("main"));
	CHECK(is_none("_start"));
	CHECK(is_none("_Z"));
	CHECK(is_none("_ZN"));
	CHECK(is_none("_Rust_is_not_this"));
	CHECK(is_none("_DYNAMIC"));
	CHECK(is_none("ZN3foo3barEi"));
	CHECK(is_none("@@V"));
}

/* --- hostile ------------------------------------------------------------------ */

/* A number as the ABI of C++ (upper case) and v0 of Rust have it, with "_". */
static char *number(char *p, unsigned int base, unsigned int n)
{
	static const char upper[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char both[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (n) {
		n--;
		if (n >= base)
			*p++ = (base == 36 ? upper : both)[n / base];
		*p++ = (base == 36 ? upper : both)[n % base];
	}
	*p++ = '_';
	*p = '\0';
	return p;
}

/* Each type is two of the one before: 2^60 of them. */
TEST(exponential_cpp)
{
	char raw[4096], text[DEMANGLED_MAX + 1];
	char *p = stpcpy(raw, "_Z1fSt4pairIiiE");

	for (unsigned int i = 1; i < 60; i++) {
		p = number(stpcpy(p, "S_IS"), 36, i);
		p = number(stpcpy(p, "S"), 36, i);
		p = stpcpy(p, "E");
	}
	CHECK_EQ(demangle_copy(raw, strlen(raw), text), DEMANGLED_MAX);
	CHECK(strstr(text, "f(std::pair<int, int>, std::pair<std::pair<int"));
}

TEST(exponential_rust)
{
	char raw[4096], text[DEMANGLED_MAX + 1];
	char *p = stpcpy(raw, "_RINvC1a1fTuuE");
	unsigned int at = 8;

	for (unsigned int i = 0; i < 60; i++) {
		unsigned int next = (unsigned int)(p - raw) - 2;

		p = number(stpcpy(p, "TB"), 62, at);
		p = number(stpcpy(p, "B"), 62, at);
		p = stpcpy(p, "E");
		at = next;
	}
	stpcpy(p, "E");
	CHECK_EQ(demangle_copy(raw, strlen(raw), text), DEMANGLED_MAX);
	CHECK(strstr(text, "a::f::<((), ()), (((), ()), ((), ()))"));
}

/* D's are made in memory: too many are not demangled. */
TEST(exponential_d)
{
	static const unsigned int times[] = { 1, 2, 3, 5, 10, 15, 20, 21, 22, 40, 59 };
	char raw[4096], text[DEMANGLED_MAX + 1];

	for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++) {
		unsigned int n = times[k];
		char *p = stpcpy(raw, "_D1a1fFPFiiZv"), *last = raw + 7;
		size_t len;

		for (unsigned int i = 0; i < n; i++) {
			char *here = p;

			p = stpcpy(p, "PF");
			for (int twice = 0; twice < 2; twice++) {
				*p = 'Q';
				p[1] = (char)('a' + (p - last));
				p += 2;
			}
			p = stpcpy(p, "Zv");
			last = here;
		}
		stpcpy(p, "Zv");
		len = demangle_copy(raw, strlen(raw), text);
		CHECK(n > 20 ? !len : len);
		if (n == 2)
			CHECK(strstr(text, "a.f(void(int, int) function, "
				     "void(void(int, int) function, "
				     "void(int, int) function) function, "));
	}
}

/* As deep as a name can be: libiberty gives up, the stack holds. */
TEST(deep_names)
{
	static const struct {
		const char *head, *part, *tail;
	} deep[] = {
		{ "_Z1f", "P", "i" }, { "_Z1f", "1aI", "i" },
		{ "_Z1fI", "X", "E" }, { "_Z1f", "PFv", "v" },
		{ "_ZN", "1a", "E" }, { "_Z", "Z1fvE", "1g" },
		{ "_RNv", "Nt", "C1a1b" }, { "_RINvC1a1f", "R", "uE" },
		{ "_RINvC1a1f", "INtC1a1b", "uE" }, { "_D1a1fF", "A", "iZv" },
		{ "_D1a1fF", "PF", "iZv" }, { "_D", "1a", "Fi" },
		{ "_D1a1fF", "H", "iZv" }, { "_D", "S1a", "Z" },
	};
	char raw[4 * DEMANGLED_MAX], text[DEMANGLED_MAX + 1];

	for (size_t i = 0; i < sizeof(deep) / sizeof(*deep); i++) {
		for (size_t len = 64; len < 3 * DEMANGLED_MAX; len *= 3) {
			char *p = stpcpy(raw, deep[i].head);

			while (p < raw + len)
				p = stpcpy(p, deep[i].part);
			stpcpy(p, deep[i].tail);
			CHECK(demangle_copy(raw, strlen(raw), text) <=
			      DEMANGLED_MAX);
		}
	}
}

TEST(every_truncation_and_flip)
{
	static const char *const names[] = {
		"_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKc.cold",
		"_ZN55_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..Drop$GT$"
		"4drop17h0123456789abcdefE",
		"_RNvXs_NtC7mycrate5crateINtB4_3FooTEENtNtC4core3fmt7Display3fmt",
		"_D3std6format__T15formattedWriteTSQBh5array__T8AppenderTAyaZQo"
		"TaTiZQBzFNaNfKQBuxAaiZk",
		"_D4core6thread8osthread6Thread5startMFNbNfZCQBkQBkQBkQBi",
	};
	char text[DEMANGLED_MAX + 1];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *copy = strdup(names[i]);
		size_t len = strlen(copy);

		for (size_t n = 0; n <= len; n++)
			CHECK(demangle_copy(copy, n, text) <= DEMANGLED_MAX);
		for (size_t bit = 0; bit < 8 * len; bit++) {
			copy[bit / 8] ^= 1 << bit % 8;
			CHECK(demangle_copy(copy, len, text) <= DEMANGLED_MAX);
			copy[bit / 8] ^= 1 << bit % 8;
		}
		free(copy);
	}
}

/* Output beyond the limit is cut, and libiberty is left there. */
TEST(long_names_are_cut)
{
	char raw[1024], text[DEMANGLED_MAX + 1];
	char *p = stpcpy(raw, "_Z1f90");

	memset(p, 'a', 90);
	p += 90;
	while (p < raw + 900)
		p = stpcpy(p, "S_");
	CHECK_EQ(demangle_copy(raw, strlen(raw), text), DEMANGLED_MAX);
	CHECK_EQ(strlen(text), DEMANGLED_MAX);
}
