/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * file - files as BPF and user space name them: key, number, entry
 *
 * Shared by bpf/, loaderd/, symbolizerd/ and the tests: plain data, no
 * pointers, no implicit padding.
 */
#ifndef BPF_FILE_H
#define BPF_FILE_H

#include <linux/types.h>

#define KEY_WORDS	5		/* sizeof(struct file_key) / 8 */

/*
 * The identity of a file's content, read from the inode of a mapping.  It is only
 * compared with other keys that were read from mappings.
 */
struct file_key {
	__u64 ino;
	__u64 size;		/* bytes */
	__s64 ctime;		/* seconds; no user can set it */
	__u32 ctime_ns;		/* bit 31, a flag of multigrain stamps, is 0 */
	__u32 dev;		/* of the superblock, kernel encoding */
	__u32 generation;
	__u32 magic;		/* s_magic of the superblock */
};
_Static_assert(sizeof(struct file_key) == KEY_WORDS * 8, "file_key: layout");

/* The vDSO has no file: its key is {.ino = 0, .size = 1}, all else 0. */

/* Numbers of executables: 0 unknown, 1 the vDSO, then in the order of their requests. */
#define EXE_NONE	0
#define EXE_VDSO	1
#define EXE_FIRST	2
#define EXE_MAX		0xfffffULL	/* 20 bits, as in a frame's word */

/* Value of the map `files`; its key is a struct file_key. */
#define FILES_MAX	16384
struct file_entry {
	__u32 exe;		/* number, EXE_VDSO or more; EXE_NONE: the hub has
				 * given none yet */
	__u32 dir;		/* slab << SLAB_SHIFT | element of the directory */
	__u32 pages;		/* in the directory; 0: no table (yet) */
	__u8 state;		/* enum file_state; FILE_ASK* may be or'ed */
	__u8 runtime;		/* enum runtime; 0: needs no unwinder of its own */
	__u16 pad;
};
_Static_assert(sizeof(struct file_entry) == 16, "file_entry: layout");

enum file_state {
	FILE_PENDING = 0,	/* a worker is making its table */
	FILE_TABLE = 1,		/* pages is not 0 */
	FILE_BARE = 2,		/* has no unwind information at all */
	FILE_CODE = 3,		/* no ELF file and in no folder: memory for code of its
				 * process, as memory of no file */
	FILE_ASK = 4,		/* bit: BPF shall ask for it again, since the hub
				 * needs its descriptor */
	FILE_ASK_HOST = 8,	/* bit: ... for a mapping with a path of the host's */
};
#define FILE_STATE	3	/* without these bits */

#endif /* BPF_FILE_H */
