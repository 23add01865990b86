/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_file - the debug file with a stripped file's names, lines and rules
 *
 * A file without .symtab may have a separate debug file; one with .symtab has its
 * names itself, but its lines may be there.  The worker asks for it by build ID
 * (MSG_DEBUG_WANTED): the hub has it, or loaderd's opener looks for it, below the root
 * of a process that any user may have started.  A debug file must not name other
 * users' code: it is used only if it belongs to root or to the owner of the
 * executable, all users may read it, and it has the same build ID.  One from a
 * server (DEBUG_SERVER) only needs the build ID.  Otherwise names may be in the
 * file's .gnu_debugdata (elf/debugdata.h), and .fd is -1.
 */
#ifndef SYMBOLIZERD_WORKER_DEBUG_FILE_H
#define SYMBOLIZERD_WORKER_DEBUG_FILE_H

#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"

struct debug_file {
	struct elf_file elf;	/* f->debug, if there is one */
	int fd;			/* -1: no separate file */
};

/* Find f's debug file; if there is one, f->debug points to it until
 * debug_file_close().  c: to the hub; parts: enum job_part, what is wanted of it, 0:
 * lines; done has f's build ID, and gets .debug.  Waits at most a second. */
void debug_file_find(struct debug_file *d, struct elf_file *f, struct conn *c,
		     uint32_t parts, struct msg_job_done *done);
/* Does f have a build ID or a link by which to ask? */
bool debug_file_may_be(const struct elf_file *f, const struct msg_job_done *done);

/*
 * The file that dwz moved parts of the DWARF to, from f or from f->debug: a descriptor,
 * or -1.  The conditions are those of a debug file, and the build ID must be the same.
 * Only to be called if debug_file_find() got an answer or was not called, since a late
 * answer would be taken for this one.  Waits at most a second.
 */
int debug_file_alternate(const struct elf_file *f, struct conn *c);
/*
 * The package with f's split DWARF (.dwp), beside it or where its debug file may be: a
 * descriptor, or -1.  Its owner must be one that a debug file may have; the ID of a
 * unit says whether it belongs to f.  Called once, after the others.  Waits at most a
 * second.
 */
int debug_file_package(const struct elf_file *f, struct conn *c);
void debug_file_close(struct debug_file *d, struct elf_file *f);

#endif /* SYMBOLIZERD_WORKER_DEBUG_FILE_H */
