/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_method - the parts of a Java name that are the same in each run
 *
 * HotSpot and the JDK's classes number the classes that they make while a program runs,
 * in the order in which it needs them:
 *
 *	a.B$$Lambda$14/0x0000000800c03000.run		a.B$$Lambda.run
 *	a.B$$Lambda/0x0000000800c03000.run		a.B$$Lambda.run
 *	a.B$$Lambda$14/1834188994.run			a.B$$Lambda.run
 *	java.lang.invoke.LambdaForm$MH+0x800c0.invoke	java.lang.invoke.LambdaForm$MH.invoke
 *	jdk.internal.reflect.GeneratedMethodAccessor7.invoke
 *						jdk.internal.reflect.GeneratedMethodAccessor.invoke
 *	jdk.proxy2.$Proxy9.run				jdk.proxy.$Proxy.run
 *
 * JDK 21 and later have no number after $$Lambda themselves.
 */
#ifndef IPC_SHORT_METHOD_H
#define IPC_SHORT_METHOD_H

#include <stddef.h>

/*
 * Write the name of a class, of len bytes, or of a class and its method, to out, which
 * has room for len bytes; the separators are '/' or '.'.  Returns how many were written.
 * The work is linear in len.
 */
size_t short_method(const char *s, size_t len, char *out);

/* How many of the len bytes of a name are before its parameters, "a.B.f(int, long)". */
size_t short_method_parameters(const char *s, size_t len);

#endif /* IPC_SHORT_METHOD_H */
