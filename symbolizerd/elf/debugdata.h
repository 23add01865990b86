/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugdata - the ELF file inside of an ELF file: .gnu_debugdata
 *
 * Fedora's and RHEL's stripped files have the .symtab of functions that are not in
 * .dynsym in a section of their own: another ELF file, compressed as one stream of xz
 * ("MiniDebugInfo", GDB's manual, 18.4).  It is hostile as the rest of the file is:
 * what it costs is bounded and in proportion to it, as for compressed sections.
 */
#ifndef SYMBOLIZERD_ELF_DEBUGDATA_H
#define SYMBOLIZERD_ELF_DEBUGDATA_H

#include "symbolizerd/elf/elf_file.h"

#define DEBUGDATA_PACKED_MAX	(16u << 20)
#define DEBUGDATA_MAX		(64u << 20)	/* uncompressed; ELF_INFLATE_* too */
/* Of the decoder: its dictionary.  xz -6 (rpm's default) takes 8 MiB, -9 64 MiB. */
#define DEBUGDATA_DECODER_MAX	(80u << 20)

/* JOB_OK: *ret is what is inside of f, to be closed.  Else a verdict, and nothing is
 * to be closed; JOB_NOT_ELF: f has none. */
int debugdata_open(const struct elf_file *f, struct elf_file *ret);

#endif /* SYMBOLIZERD_ELF_DEBUGDATA_H */
