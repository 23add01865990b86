/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugdata - the ELF file inside of an ELF file: .gnu_debugdata
 *
 * Stripped files of Fedora and RHEL keep the .symtab of functions that are not in
 * .dynsym in this section: another ELF file, compressed as one stream of xz
 * ("MiniDebugInfo", GDB's manual, 18.4).  It is as hostile as the rest of the file:
 * its cost is bounded and in proportion to its size, as for compressed sections.
 */
#ifndef SYMBOLIZERD_ELF_DEBUGDATA_H
#define SYMBOLIZERD_ELF_DEBUGDATA_H

#include "symbolizerd/elf/elf_file.h"

#define DEBUGDATA_PACKED_MAX	(16u << 20)
#define DEBUGDATA_MAX		(64u << 20)	/* uncompressed; ELF_INFLATE_* too */
/* Bytes of the decoder's dictionary.  xz -6 (rpm's default) takes 8 MiB, -9 64 MiB. */
#define DEBUGDATA_DECODER_MAX	(80u << 20)

/* Open the file inside of f.  JOB_OK, and the caller closes *ret; or a verdict, and
 * nothing is to be closed.  JOB_NOT_ELF: f has none. */
int debugdata_open(const struct elf_file *f, struct elf_file *ret);

#endif /* SYMBOLIZERD_ELF_DEBUGDATA_H */
