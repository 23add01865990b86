/* SPDX-License-Identifier: Apache-2.0 */
/* vdso - code that the kernel maps into each process without a file */
#ifndef SYMBOLIZERD_TABLES_VDSO_H
#define SYMBOLIZERD_TABLES_VDSO_H

#include <stdbool.h>
#include <string.h>

#include "bpf/file.h"

/* Used as the key of a file (bpf/file.h). */
#define VDSO_KEY	((struct file_key){ .size = 1 })

static inline bool vdso_is(const struct file_key *key)
{
	return !memcmp(key, &VDSO_KEY, sizeof(*key));
}

/* Our own vDSO, which is the same as in every process, as a sealed memfd that the
 * caller owns; or -errno. */
int vdso_image(void);

#endif /* SYMBOLIZERD_TABLES_VDSO_H */
