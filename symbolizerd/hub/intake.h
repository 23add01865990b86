/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake - a record from the trace ring becomes an event
 */
#ifndef SYMBOLIZERD_HUB_INTAKE_H
#define SYMBOLIZERD_HUB_INTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct knowledge;

/* Judge and book one record of len bytes, a copy aligned to 8.  False when it
 * makes no sense and is not even a sample. */
bool intake_record(struct knowledge *k, void *data, size_t len);

#endif /* SYMBOLIZERD_HUB_INTAKE_H */
