/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded - one line a distinct stack: "process;outermost;...;leaf count"
 *
 * The form that flamegraph.pl and most viewers read.  Kernel frames end in
 * "_[k]"; with info->inlined, inlined calls in "_[i]".  With info->lines, the name of
 * each frame with a known line is followed by " (file.c:12)", before these.  In names,
 * ';' becomes ':', and control characters (C0, DEL, C1) become '?'.
 */
#ifndef PROFILE_FORMATS_FOLDED_H
#define PROFILE_FORMATS_FOLDED_H

#include "profile/profile.h"

/* 0 or -ENOMEM.  Of info, which may be NULL, only .lines and .inlined are used. */
int folded_encode(const struct batch *b, const struct profile_info *info,
		  struct buffer *out);

/* Append a name as in a line: UTF-8, with the replacements above. */
void folded_text(struct buffer *out, const char *s, size_t len);

#endif /* PROFILE_FORMATS_FOLDED_H */
