// SPDX-License-Identifier: Apache-2.0
/*
 * A chain of functions named as compilers of C++, Rust and D name them: the
 * labels are what those write, so that no such compiler is needed.
 */
#include "busy.h"

#define NAMED(f, label)							\
	__attribute__((noinline, used)) int f(int n) __asm__(label)

NAMED(cpp, "_ZN3app4workIiEEiSt6vectorIT_SaIS2_EE");
NAMED(closure, "_ZZN3app5startEvENKUlvE_clEv");
NAMED(legacy, "_ZN55_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..Drop$GT$"
	      "4drop17h0123456789abcdefE");
NAMED(v0, "_RINvCs123_4mine5alignjE");
NAMED(d, "_D3app3fooFiZv");
NAMED(clone, "plain.part.0");
NAMED(broken, "_ZN3appX");

#define CALL(from, to)							\
	int from(int n)							\
	{								\
		int r = to(n + 1);					\
									\
		__asm__ volatile("" : "+r"(r));	/* no tail call */	\
		return r;						\
	}

int cpp(int n)
{
	for (;;)
		spin();
	return n;
}

CALL(closure, cpp)
CALL(legacy, closure)
CALL(v0, legacy)
CALL(d, v0)
CALL(clone, d)
CALL(broken, clone)

int main(void)
{
	return broken(0) < 0;
}
