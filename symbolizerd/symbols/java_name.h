/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_name - a method's name as in Java's sources
 *
 * From HotSpot's strings: the class by its path, the method, its descriptor (JVMS
 * 4.3.3).  All are foreign: what is not understood is left out.
 */
#ifndef SYMBOLIZERD_SYMBOLS_JAVA_NAME_H
#define SYMBOLIZERD_SYMBOLS_JAVA_NAME_H

/* With the NULs.  Names are UTF-8 of up to 366 bytes each (bpf/frame.h). */
#define JAVA_NAME_MAX	768
#define JAVA_FULL_MAX	2048

/*
 * name: "a.b.C.method"; full: "a.b.C.method(int, java.lang.String[])", with "..." for
 * parameters that are missing in a descriptor that was cut; "" without a descriptor.
 * What distinguishes a class from others of this run alone is left out (ipc/short_java.h).
 */
void java_name(char name[JAVA_NAME_MAX], char full[JAVA_FULL_MAX],
	       const char *class, const char *method, const char *descriptor);

#endif /* SYMBOLIZERD_SYMBOLS_JAVA_NAME_H */
