/* SPDX-License-Identifier: Apache-2.0 */
/* vdso - code that the kernel maps into each process, from no file */
#ifndef SYMBOLIZERD_TABLES_VDSO_H
#define SYMBOLIZERD_TABLES_VDSO_H

#include <stdbool.h>
#include <string.h>

#include "bpf/file.h"

/* What stands for a file's key (bpf/file.h). */
#define VDSO_KEY	((struct file_key){ .size = 1 })

static inline bool vdso_is(const struct file_key *key)
{
	return !memcmp(key, &VDSO_KEY, sizeof(*key));
}

/* The vDSO as a sealed memfd: ours, which is the same in every process.  The
 * caller owns it; or -errno. */
int vdso_image(void);

#endif /* SYMBOLIZERD_TABLES_VDSO_H */
