/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_main - trifold-symbolizerd --snapshot: the part of `trifold snapshot` that
 * reads what a process wrote
 *
 * Descriptors: 0 what the process has (snapshot/text.h), each time it stands still; 1
 * a line SNAPSHOT_READ after each walk, then what is in the snapshot, for people; 2
 * log; 3 the process's memory; 4 the snapshot, when descriptor 0 has ended; from 5 on
 * the files, by number.  It confines itself as a worker before it reads any of these.
 */
#ifndef SYMBOLIZERD_SNAPSHOT_MAIN_H
#define SYMBOLIZERD_SNAPSHOT_MAIN_H

#include <sys/types.h>

/*
 * words: how many files there are; behind that, if descriptor 3 is a core file,
 * SNAPSHOT_CORE, or SNAPSHOT_CORE_FILES: only say the paths of the files that it names,
 * each with a NUL behind it, in the order of their numbers.  Then descriptor 0 is not
 * read.  Returns the exit status.
 */
int snapshot_main(uid_t uid, gid_t gid, char *const *words, int n);

#endif /* SYMBOLIZERD_SNAPSHOT_MAIN_H */
