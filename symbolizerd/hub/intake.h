/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake - a record from loaderd becomes an event
 */
#ifndef SYMBOLIZERD_HUB_INTAKE_H
#define SYMBOLIZERD_HUB_INTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct knowledge;

/* Judge and book one record of len bytes, aligned to 8, which it may
 * change.  False: it is invalid, and not even a sample. */
bool intake_record(struct knowledge *k, void *data, size_t len);

#endif /* SYMBOLIZERD_HUB_INTAKE_H */
