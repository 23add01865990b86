/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot_fds - descriptors and words between `trifold snapshot` and its reader */
#ifndef IPC_SNAPSHOT_FDS_H
#define IPC_SNAPSHOT_FDS_H

#define SNAPSHOT_FD_MEMORY	3
#define SNAPSHOT_FD_RESULT	4
#define SNAPSHOT_FD_FILES	5
#define SNAPSHOT_READ		"read\n"	/* sent after each walk */
#define SNAPSHOT_CORE		"core"	/* as the second word: from a core file */
#define SNAPSHOT_CORE_FILES	"core-files"	/* asks which files it names */
#define SNAPSHOT_MAPPED_MAX	4000		/* files */
#define SNAPSHOT_BYTES_MAX	(16u << 20)	/* of the result */

#endif /* IPC_SNAPSHOT_FDS_H */
