/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core - a core file in place of a process
 *
 * ELF, as Linux writes it (fs/binfmt_elf.c; core(5)): notes NT_PRSTATUS of each thread,
 * on arm64 with NT_ARM_TLS and NT_ARM_SYSTEM_CALL after it, NT_FILE, and a PT_LOAD of
 * each mapping.  All of it is foreign.  What memory is not in it, since it is as in its
 * file, is read from there.
 */
#ifndef SYMBOLIZERD_SNAPSHOT_CORE_H
#define SYMBOLIZERD_SNAPSHOT_CORE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "common/vector.h"
#include "symbolizerd/snapshot/snapshot.h"

#define CORE_NOTES_MAX	(16u << 20)	/* bytes */

struct core {
	int fd;				/* borrowed */
	uint64_t size;
	VECTOR(Elf64_Phdr) loads;	/* ascending */
	VECTOR(const char *) paths;	/* of files, by number; in .notes */
	uint8_t *notes;			/* owned */
};

/* Machine, files, mappings and threads into *s, which is empty.  0; -ENOEXEC: it is no
 * core file of a 64-bit process, or contradicts itself; or -errno.  core_fini() and
 * snapshot_fini() in any case. */
int core_open(struct core *c, int fd, struct snapshot *s);
void core_fini(struct core *c);

/* Len bytes of the process's memory, if they are in the core.  0 or -EFAULT. */
int core_memory(const struct core *c, uint64_t at, void *dst, size_t len);

#endif /* SYMBOLIZERD_SNAPSHOT_CORE_H */
