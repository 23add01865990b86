/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_files - the files of split DWARF that a file's names need, for `trifold names`
 *
 * A package has a name that is known beforehand.  .dwo files are named in the DWARF,
 * which only the confined parser reads: it asks for them over a socket.
 */
#ifndef CLI_SPLIT_FILES_H
#define CLI_SPLIT_FILES_H

/* Open the file's package, FILE.dwp: a descriptor, or -1 (not said). */
int split_files_package(const char *file);

/*
 * Start a process that opens the .dwo files of this program for who has the socket: a
 * datagram is a name and the compiler's directory, each with its NUL (symbolizerd/
 * show_split.h); the answer is a byte, with a descriptor if there is such a file.  It
 * opens regular files whose names end in .dwo, nothing else, and ends when the socket is
 * closed.  Returns that, or -1 (said).
 */
int split_files_serve(const char *program);

#endif /* CLI_SPLIT_FILES_H */
