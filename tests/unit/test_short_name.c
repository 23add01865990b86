// SPDX-License-Identifier: Apache-2.0
#include "ipc/short_name.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/harness.h"

static bool is_as(const char *name, enum name_form form, const char *want)
{
	char buf[SHORT_NAME_MAX];
	size_t n;
	const char *s = short_name(name, strlen(name), form, buf, &n);
	bool ok = n == strlen(want) && !memcmp(s, want, n);

	if (!ok)
		printf("# %s\n#  is %.*s\n#  not %s\n", name, (int)n, s, want);
	return ok;
}

static bool is(const char *name, bool demangled, const char *want)
{
	return is_as(name, demangled ? NAME_DEMANGLED : NAME_SYMBOL, want);
}

TEST(parameters_qualifiers_and_arguments_go)
{
	CHECK(is("a::f(int)", true, "a::f"));
	CHECK(is("a::f() const", true, "a::f"));
	CHECK(is("a::f() const &", true, "a::f"));
	CHECK(is("a::f(std::vector<int, std::allocator<int> >&&)", true, "a::f"));
	CHECK(is("a<int>::f(int)", true, "a<...>::f"));
	CHECK(is("a<b<int>, (c)1>::d<(e)2>", true, "a<...>::d<...>"));
	CHECK(is("boost::mpl<A<((3)>(2))> >::test()", true,
		 "boost::mpl<...>::test"));
	CHECK(is("f(void (*)(int), int)", true, "f"));
	CHECK(is("(anonymous namespace)::f(int)", true,
		 "(anonymous namespace)::f"));
	CHECK(is("f[abi:cxx11]()", true, "f[abi:cxx11]"));
	CHECK(is("f(int) [clone .cold]", true, "f"));
	CHECK(is("f [clone .part.0]", true, "f"));
	CHECK(is("main", true, "main"));
	CHECK(is("", true, ""));
}

/* What DWARF calls inlined functions that have no linkage name. */
TEST(arguments_go_of_names_that_nobody_mangled)
{
	CHECK(is("sort<a<b>, c>", false, "sort<...>"));
	CHECK(is("operator()<int*, int>", false, "operator()<...>"));
	CHECK(is("call_once<fn() -> i32, ()>", false, "call_once<...>"));
	CHECK(is("f<g()::<lambda(const h&)> >", false, "f<...>"));
	CHECK(is("f<int>.part.0", false, "f<...>"));
	/* these stand for themselves */
	CHECK(is("f.<locals>.<lambda>", false, "f.<locals>.<lambda>"));
	CHECK(is("<module>", false, "<module>"));
	CHECK(is("<anonymous>", false, "<anonymous>"));
	CHECK(is("a->", false, "a->"));
	CHECK(is(">", false, ">"));
	CHECK(is("f>>>", false, "f>>>"));
	CHECK(is("f(int)", false, "f(int)"));
	CHECK(is("f<int>(int)", false, "f<int>(int)"));
}

TEST(return_types_go)
{
	CHECK(is("void a::f<int>(int)", true, "a::f<...>"));
	CHECK(is("unsigned long f<a<b c>, d>(e f)", true, "f<...>"));
	CHECK(is("std::map<int, char const*>& a::f<int>()", true, "a::f<...>"));
	CHECK(is("char const* const& f<char>(char)", true, "f<...>"));
	CHECK(is("decltype ({parm#1}+{parm#1}) foo<int>(int)", true,
		 "foo<...>"));
	CHECK(is("void (anonymous namespace)::f<int>(int)", true,
		 "(anonymous namespace)::f<...>"));
	/* of a function that returns a function: left alone */
	CHECK(is("void (*foo<int>(int))(char)", true,
		 "void (*foo<int>(int))(char)"));
	/* what looks like one */
	CHECK(is("non-virtual thunk to A::f(int)", true,
		 "non-virtual thunk to A::f"));
	CHECK(is("virtual thunk to a::f<int>(int)", true,
		 "virtual thunk to a::f<...>"));
	CHECK(is("guard variable for f<int>(int)::x", true,
		 "guard variable for f<...>::x"));
}

TEST(operators_keep_their_signs)
{
	CHECK(is("A::operator<(A const&)", true, "A::operator<"));
	CHECK(is("A::operator<=>(A const&) const", true, "A::operator<=>"));
	CHECK(is("A::operator->()", true, "A::operator->"));
	CHECK(is("A::operator()(int)", true, "A::operator()"));
	CHECK(is("A::operator[](unsigned long)", true, "A::operator[]"));
	CHECK(is("A::operator,(A)", true, "A::operator,"));
	CHECK(is("A::operator bool()", true, "A::operator bool"));
	CHECK(is("A::operator unsigned long() const", true,
		 "A::operator unsigned long"));
	CHECK(is("A::operator std::vector<int, std::allocator<int> >()", true,
		 "A::operator std::vector<...>"));
	CHECK(is("operator new(unsigned long)", true, "operator new"));
	CHECK(is("operator\"\" _x(char)", true, "operator\"\" _x"));
	CHECK(is("std::ostream& operator<< <char, a<b> >(std::ostream&)", true,
		 "operator<<<...>"));
	CHECK(is("bool operator-<int>(A<int>, B)", true, "operator-<...>"));
	CHECK(is("a::my_operator<int>::f()", true, "a::my_operator<...>::f"));
	CHECK(is("f<&(A::operator>(B))>::g()", true, "f<...>::g"));
}

TEST(functions_within_functions)
{
	CHECK(is("main::{lambda(int)#1}::operator()(int) const", true,
		 "main::{lambda#1}::operator()"));
	CHECK(is("A::f(int, void)::{lambda()#1}::operator()() const", true,
		 "A::f::{lambda#1}::operator()"));
	CHECK(is("A::f(int) const::{lambda()#1}::operator()() const", true,
		 "A::f::{lambda#1}::operator()"));
	CHECK(is("auto main::{lambda(auto:1)#1}::operator()<int>(int) const",
		 true, "main::{lambda#1}::operator()<...>"));
	CHECK(is("f(int)::A::g()", true, "f::A::g"));
}

TEST(rust)
{
	CHECK(is("mycrate::main::{closure#0}", true,
		 "mycrate::main::{closure#0}"));
	CHECK(is("a::b::{{closure}}", true, "a::b::{{closure}}"));
	CHECK(is("<alloc::vec::Vec<T> as core::Drop>::drop", true,
		 "<alloc::vec::Vec<...> as core::Drop>::drop"));
	CHECK(is("core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>",
		 true, "core::ptr::drop_in_place<...>"));
	CHECK(is("std::mem::align_of::<usize>", true,
		 "std::mem::align_of::<...>"));
	CHECK(is("<F as core::ops::FnOnce<(A,)>>::call_once", true,
		 "<F as core::ops::FnOnce<...>>::call_once"));
	CHECK(is("<fn(u8) -> u8 as a::B>::c", true, "<fn(u8) -> u8 as a::B>::c"));
	CHECK(is("<[T]>::iter", true, "<[T]>::iter"));
	CHECK(is("<&mut [u8] as a::B<C>>::d::<E>", true,
		 "<&mut [u8] as a::B<...>>::d::<...>"));
	CHECK(is("a::b::h0123456789abcdef", true, "a::b"));
	CHECK(is("a::b::h0123456789abcdeg", true, "a::b::h0123456789abcdeg"));
	CHECK(is("::h0123456789abcdef", true, "::h0123456789abcdef"));
}

TEST(d)
{
	CHECK(is("app.foo(int)", true, "app.foo"));
	CHECK(is("app.main().bar()", true, "app.main.bar"));
	CHECK(is("std.format.write!(char, int).write(int)", true,
		 "std.format.write!(...).write"));
}

TEST(stubs_are_told_from_what_they_call)
{
	char name[SHORT_NAME_MAX + 9], want[SHORT_NAME_MAX + 1];

	CHECK(is("memcpy@plt", false, "memcpy@plt"));
	CHECK(is("operator new(unsigned long)@plt", true, "operator new@plt"));
	CHECK(is("void a::f<int>(int)@plt", true, "a::f<...>@plt"));
	CHECK(is("f.cold@@V@plt", false, "f@plt"));
	CHECK(is("@plt", false, "@plt"));
	CHECK(is("f@plt1", false, "f"));
	for (size_t len = SHORT_NAME_MAX - 6; len <= SHORT_NAME_MAX + 4; len++) {
		size_t n = len < SHORT_NAME_MAX - 4 ? len : SHORT_NAME_MAX - 4;

		memset(name, 'x', len);
		strcpy(name + len, "@plt");
		memset(want, 'x', n);
		strcpy(want + n, "@plt");
		CHECK(is(name, false, want));
	}
}

TEST(appendices_go)
{
	CHECK(is("memcpy@@GLIBC_2.14", false, "memcpy"));
	CHECK(is("f@VER_1", false, "f"));
	CHECK(is("f.cold", false, "f"));
	CHECK(is("f.part.0", false, "f"));
	CHECK(is("f.constprop.0.isra.0", false, "f"));
	CHECK(is("f.lto_priv.0.cold@@V", false, "f"));
	CHECK(is("f.llvm.1234567", false, "f"));
	/* no appendix */
	CHECK(is("f.0", false, "f.0"));
	CHECK(is("main.part", false, "main.part"));
	CHECK(is("main.T.llvm", false, "main.T.llvm"));
	CHECK(is("f.part.0.cold", false, "f"));
	CHECK(is("f.localalias", false, "f"));
	CHECK(is(".cold", false, ".cold"));
	CHECK(is("@", false, "@"));
	CHECK(is("f.parts.0", false, "f.parts.0"));
	CHECK(is("main.main.func1.2", false, "main.main.func1.2"));
	/* not of a demangler: brackets are the name's own */
	CHECK(is("main.(*T).run", false, "main.(*T).run"));
	CHECK(is("net/http.f[go.shape.int]", false, "net/http.f[go.shape.int]"));
	CHECK(is("a(b)", false, "a(b)"));
}

/* What compilers and linkers append is no part of a name that they did not write. */
TEST(names_that_are_no_symbols_stay)
{
	static const char *const given[] = {
		"JS:*transform /app/node_modules/@babel/core/lib/transform.js:20:19",
		"LazyCompile:~render /app/node_modules/@vue/x.js:1:2", "closure@12-3::Invoke",
		"Stub:RegExp:a<b>", "main.cold", "main.part.0", "f@@V", "f@plt", "a.llvm.1",
		"TRACE_12::loop@x.lua:10", "f.localalias", "f.<locals>.<lambda>", "f(int)",
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
		CHECK(is_as(given[i], NAME_GIVEN, given[i]));
}

TEST(go_names_end_as_functions_do)
{
	CHECK(is_as("main.cold", NAME_NUMBERED, "main.cold"));
	CHECK(is_as("main.f.localalias", NAME_NUMBERED, "main.f.localalias"));
	CHECK(is_as("a.test/@v/b.f", NAME_NUMBERED, "a.test/@v/b.f"));
	CHECK(is_as("main.main.func1.2", NAME_NUMBERED, "main.main.func1.2"));
	/* of C: cgo's */
	CHECK(is_as("f.part.0", NAME_NUMBERED, "f"));
	CHECK(is_as("f.constprop.0.isra.0", NAME_NUMBERED, "f"));
	CHECK(is_as("void a::f<int>(int)", NAME_DEMANGLED, "a::f<...>"));
}

/* Crystal's names have an '@', which is before no version. */
TEST(a_version_is_a_word)
{
	CHECK(is("*A@B#c<Int32>:Nil", false, "*A@B#c<Int32>:Nil"));
	CHECK(is("*A@B#c<Int32>:Nil@@V_1.2", false, "*A@B#c<Int32>:Nil"));
	CHECK(is("f@", false, "f@"));
	CHECK(is("f@a b", false, "f@a b"));
	CHECK_EQ(short_name_unversioned("f@@V", 4), 1);
	CHECK_EQ(short_name_unversioned("f@V.1-2", 7), 1);
	CHECK_EQ(short_name_unversioned("@@V", 3), 1);
	CHECK_EQ(short_name_unversioned("f", 1), 1);
	CHECK_EQ(short_name_unversioned("", 0), 0);
}

TEST(java_names_are_the_same_in_each_run)
{
	CHECK(is_as("a.B.f(int, long)", NAME_METHOD, "a.B.f"));
	CHECK(is_as("a.B.is whole (again)", NAME_METHOD, "a.B.is whole (again)"));
	CHECK(is_as("a.B$$Lambda$14/0x0000000800c03000.run(int)", NAME_METHOD, "a.B$$Lambda.run"));
	CHECK(is_as("a.B$$Lambda$14.run", NAME_METHOD, "a.B$$Lambda.run"));
	CHECK(is_as("a.B$$Lambda$14+0x00007f00.run", NAME_METHOD, "a.B$$Lambda.run"));
	CHECK(is_as("a.B$$Lambda$14/1834188994.run", NAME_METHOD, "a.B$$Lambda.run"));
	CHECK(is_as("a/B$$Lambda$14/C.run", NAME_METHOD, "a/B$$Lambda/C.run"));
	CHECK(is_as("a.B$$Lambda/0x00007f00.run", NAME_METHOD, "a.B$$Lambda.run"));
	CHECK(is_as("a.LambdaForm$MH/0x0800.invoke", NAME_METHOD, "a.LambdaForm$MH.invoke"));
	CHECK(is_as("jdk.internal.reflect.GeneratedMethodAccessor7.invoke", NAME_METHOD,
		    "jdk.internal.reflect.GeneratedMethodAccessor.invoke"));
	CHECK(is_as("jdk.proxy2.$Proxy9.f(a)", NAME_METHOD, "jdk.proxy.$Proxy.f"));
	CHECK(is_as("$Proxy9.f", NAME_METHOD, "$Proxy.f"));
	/* the program's own */
	CHECK(is_as("a.B$1.f", NAME_METHOD, "a.B$1.f"));
	CHECK(is_as("a.B.lambda$f$0", NAME_METHOD, "a.B.lambda$f$0"));
	CHECK(is_as("a.B$$Lambda$14b.f", NAME_METHOD, "a.B$$Lambda$14b.f"));
	CHECK(is_as("a.B$Proxy9.f", NAME_METHOD, "a.B$Proxy9.f"));
	CHECK(is_as("a.jdk.proxy2.f", NAME_METHOD, "a.jdk.proxy2.f"));
	CHECK(is_as("+0x12", NAME_METHOD, "+0x12"));
	CHECK(is_as("a.B+0xyz.f", NAME_METHOD, "a.B+0xyz.f"));
}

TEST(long_ones_are_cut)
{
	char name[3 * SHORT_NAME_MAX], buf[SHORT_NAME_MAX];
	size_t n;

	for (int kind = 0; kind < NAME__FORMS; kind++) {
		memset(name, 'x', sizeof(name));
		CHECK(short_name(name, sizeof(name), kind, buf, &n) == buf);
		CHECK_EQ(n, SHORT_NAME_MAX);
		CHECK(!memcmp(buf + n - 4, "x...", 4));
	}
	CHECK(short_name(name, SHORT_NAME_MAX, NAME_SYMBOL, buf, &n) == name);
	CHECK_EQ(n, SHORT_NAME_MAX);
	/* not within a character */
	for (size_t shift = 0; shift < 3; shift++) {
		for (size_t i = 0; i < sizeof(name); i++)
			name[i] = "\xe2\x82\xac"[(i + shift) % 3];
		short_name(name, sizeof(name), NAME_DEMANGLED, buf, &n);
		CHECK(!memcmp(buf + n - 3, "...", 3));
		CHECK_EQ((uint8_t)buf[n - 4], 0xac);
	}
}

/* In memory of exact size, so that the sanitizer sees a read beyond it. */
static void each_length(const char *name)
{
	char buf[SHORT_NAME_MAX];
	size_t n;

	for (size_t len = 0; len <= strlen(name); len++) {
		char *copy = malloc(len ? len : 1);

		memcpy(copy, name, len);
		for (int form = 0; form < NAME__FORMS; form++) {
			short_name(copy, len, form, buf, &n);
			CHECK(n <= SHORT_NAME_MAX);
			CHECK(!len == !n);
		}
		free(copy);
	}
}

TEST(every_truncation_and_flip)
{
	static const char *const names[] = {
		"std::ostream& operator<< <char, a<b> >(std::ostream&) [clone .cold]",
		"<alloc::vec::Vec<T> as core::Drop>::drop::h0123456789abcdef",
		"A::f(int) const::{lambda(auto:1)#1}::operator()<(x)->y>() const",
		"std.format.write!(char, int).write(int)", "f.constprop.0@@GLIBC_2.34",
		"decltype ({parm#1}) foo<int>(int)", "jdk.proxy2.$Proxy1.f(a)",
		"a.B$$Lambda$14/0x0000000800c03000.run", "(((((<<<<{{{{>>>>)))))",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *copy = strdup(names[i]);

		each_length(copy);
		for (size_t bit = 0; bit < 8 * strlen(names[i]); bit++) {
			copy[bit / 8] ^= 1 << bit % 8;
			if (copy[bit / 8])
				each_length(copy);
			copy[bit / 8] ^= 1 << bit % 8;
		}
		free(copy);
	}
}

TEST(deep_brackets)
{
	static const char *const parts[] = { "a<", "(", "a(", "{", "<", "!(",
					     "operator", " ", ">", "a)" };
	char *name = malloc(20000), buf[SHORT_NAME_MAX];
	size_t n;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		name[0] = '\0';
		for (char *p = name; p < name + 19000;
		     p = stpcpy(p, parts[i]))
			;
		short_name(name, strlen(name), NAME_DEMANGLED, buf, &n);
		CHECK(n && n <= SHORT_NAME_MAX);
	}
	free(name);
}
