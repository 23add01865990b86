/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_files - the files that a command will run from, mapped beforehand
 *
 * loaderd reads what processes map.  A command that ends soon is gone before its
 * files are read, so the launcher maps them first, as the command itself will:
 * its program, for a script that of its "#!" line, and of a dynamic program the
 * ELF interpreter and the libraries that this one lists (ld.so --list).
 *
 * The launcher has the rights of the command, which it runs next, so reading and
 * running these files here gives their authors nothing new.
 */
#ifndef CLI_RECORD_COMMAND_FILES_H
#define CLI_RECORD_COMMAND_FILES_H

#define COMMAND_FILES_MAX	256	/* at most so many are mapped */

/* Map what the command argv[0] (looked for as execvp(3) does) needs, one page of
 * each, until this process ends.  What cannot be found or mapped is left out.
 * Returns how many files are mapped. */
unsigned int command_files_map(const char *name);

#endif /* CLI_RECORD_COMMAND_FILES_H */
