/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_id - what identifies a file wherever it is: file ID, build ID, notes
 */
#ifndef SYMBOLIZERD_ELF_FILE_ID_H
#define SYMBOLIZERD_ELF_FILE_ID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbolizerd/elf/elf_file.h"

/*
 * process.executable.build_id.htlhash of the OpenTelemetry semantic conventions
 * (1.44.0): the first 16 bytes of SHA-256 over the first 4096 bytes, the last
 * 4096 bytes, and the length as a big-endian 64-bit number.  0 or -errno.
 */
int file_id(int fd, uint64_t size, uint8_t ret[16]);

/* Descriptor of the GNU build ID note (at most max bytes); its length, 0 if
 * there is none. */
size_t file_build_id(const struct elf_file *f, uint8_t *ret, size_t max);

/* Copy the descriptor of the first note of this owner and type: in the section of
 * that name, otherwise in any segment of notes.  Its length, 0 if it is longer
 * than max; -1 if there is no such note. */
ssize_t file_note(const struct elf_file *f, const char *section,
		  const char *owner, uint32_t type, void *ret, size_t max);

#endif /* SYMBOLIZERD_ELF_FILE_ID_H */
