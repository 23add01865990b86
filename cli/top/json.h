/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_json - a table as one line of JSON, for `trifold top --json`
 *
 * The keys are in docs/DOCTOR.md.  Strings are as the batches have them: foreign
 * bytes, escaped as JSON wants it.
 */
#ifndef CLI_TOP_JSON_H
#define CLI_TOP_JSON_H

#include <stdint.h>
#include <stdio.h>

#include "cli/top/plain.h"
#include "cli/top/state.h"

/* At most n rows.  0, -ENOMEM or -EIO. */
int top_json(const struct top_state *st, const struct top_head *head, uint32_t n,
	     FILE *to);

#endif /* CLI_TOP_JSON_H */
