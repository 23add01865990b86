/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading_name - a method's name as in Java's sources
 *
 * From HotSpot's strings: the class by its path, the method, its descriptor (JVMS
 * 4.3.3).  All are foreign: what is not understood is left out.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_READING_NAME_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_READING_NAME_H

#include "symbolizerd/runtimes/reading.h"

/*
 * name: "a.b.C.method"; full: "a.b.C.method(int, java.lang.String[])", with "..." for
 * parameters that are missing in a descriptor that was cut; "" without a descriptor.
 * What distinguishes a class from others of this run alone is left out (ipc/short_method.h).
 */
void java_name(char name[TEXT_NAME_MAX], char full[TEXT_FULL_MAX],
	       const char *class, const char *method, const char *descriptor);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_READING_NAME_H */
