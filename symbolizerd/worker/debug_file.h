/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_file - what a stripped file's names, lines and rules are in
 *
 * A worker's file without .symtab may have a separate debug file; one with .symtab has
 * its names itself, but may have its lines there.  The worker asks
 * for it by build ID (MSG_DEBUG_WANTED): the hub has it at hand, or loaderd's opener
 * looks for it.  What comes was found below the root of a process that any user may
 * have started, and must not name the code of others: it counts only if it belongs
 * to root or to the owner of the executable, and all may read it, and has the same
 * build ID.  One from a server (DEBUG_SERVER) needs that only.  Else there may be
 * names in the file's .gnu_debugdata (elf/debugdata.h), and .fd is -1.
 */
#ifndef SYMBOLIZERD_WORKER_DEBUG_FILE_H
#define SYMBOLIZERD_WORKER_DEBUG_FILE_H

#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"

struct debug_file {
	struct elf_file elf;	/* f->debug, if there is one */
	int fd;			/* -1: it is none of its own, or there is none */
};

/* Find f's; if there is one, f->debug is it until debug_file_close().  c: to the
 * hub; parts: enum job_part, what it is for, 0: lines; done: has f's build ID, .debug is set.
 * Waits a second at most. */
void debug_file_find(struct debug_file *d, struct elf_file *f, struct conn *c,
		     uint32_t parts, struct msg_job_done *done);
/* Has f anything to ask by? */
bool debug_file_may_be(const struct elf_file *f, const struct msg_job_done *done);

/*
 * The file that dwz moved parts of the DWARF to, of f's or of that in f->debug: a
 * descriptor, or -1.  It counts as a debug file does, and always by its build ID.  To be
 * called when debug_file_find() had its answer, or was not called.  Waits a second at most.
 */
int debug_file_alternate(const struct elf_file *f, struct conn *c);
/*
 * The package with f's split DWARF (.dwp), beside it or where its debug file may be: a
 * descriptor, or -1.  It belongs to who a debug file may belong to; whether a unit of it
 * is f's is said by its ID.  To be called as the last, once.  Waits a second at most.
 */
int debug_file_package(const struct elf_file *f, struct conn *c);
void debug_file_close(struct debug_file *d, struct elf_file *f);

#endif /* SYMBOLIZERD_WORKER_DEBUG_FILE_H */
