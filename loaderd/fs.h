/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fs - which file systems answer for themselves
 *
 * Those of the local kernel, whose files can be mapped, unmapped and closed
 * without anybody's consent.  Not FUSE, NFS, 9p ..., which may never answer.
 */
#ifndef LOADERD_FS_H
#define LOADERD_FS_H

#include <stdbool.h>
#include <stdint.h>

/* magic: of a superblock, read by the kernel. */
bool fs_trusted(uint32_t magic);

#endif /* LOADERD_FS_H */
