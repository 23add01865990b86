/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded - one line a distinct stack: "process;outermost;...;leaf count"
 *
 * The form that flamegraph.pl and most viewers read.  Kernel frames end in
 * "_[k]"; with info->inlined, calls that were inlined in "_[i]".  With
 * info->lines, " (file.c:12)" stands behind the name of each frame of which the
 * line is known, before these.  In names, ';' becomes ':', and what ends or hides a line (control
 * characters: C0, DEL, C1) becomes '?'.
 */
#ifndef PROFILE_FORMATS_FOLDED_H
#define PROFILE_FORMATS_FOLDED_H

#include "profile/profile.h"

/* 0 or -ENOMEM.  Of info, which may be NULL, only .lines
 * and .inlined are used. */
int folded_encode(const struct batch *b, const struct profile_info *info,
		  struct buffer *out);

/* Append a name as it stands in a line: UTF-8, with what is said above. */
void folded_text(struct buffer *out, const char *s, size_t len);

#endif /* PROFILE_FORMATS_FOLDED_H */
