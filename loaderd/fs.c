// SPDX-License-Identifier: Apache-2.0
#include "loaderd/fs.h"

#include <linux/magic.h>
#include <stddef.h>

static const uint32_t trusted[] = {
	EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
	OVERLAYFS_SUPER_MAGIC, SQUASHFS_MAGIC, RAMFS_MAGIC, F2FS_SUPER_MAGIC,
	HUGETLBFS_MAGIC, 0xe0f5e1e2 /* erofs */, 0x2fc12fc1 /* zfs */,
	0xca451a4e /* bcachefs */,
};

bool fs_trusted(uint32_t magic)
{
	for (size_t i = 0; i < sizeof(trusted) / sizeof(*trusted); i++) {
		if (trusted[i] == magic)
			return true;
	}
	return false;
}
