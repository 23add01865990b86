/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_job - functions and lines at some offsets of a file, from its DWARF
 *
 * The DWARF is in the file, or else in its debug file, and parts of it may be in the
 * alternate file of either (debug_file.h).  It is read
 * through a mapping (symbols/dwarf_places.h): who shrinks the file has this visit fail.
 */
#ifndef SYMBOLIZERD_WORKER_LINES_JOB_H
#define SYMBOLIZERD_WORKER_LINES_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/frame_names.h"

/* Of a visit, more or less: what is left then is for another one. */
#define LINES_JOB_NS	300000000ULL	/* CPU time of the worker */
#define LINES_JOB_BYTES	(256u << 20)

/* Say in done whether a visit for lines is of use: the file has DWARF, or the debug file
 * that was found for it; or, if it has .symtab, so that none was looked for, a debug file
 * may be there (JOB_DEBUG_LINES). */
void lines_job_may_be(const struct elf_file *f, struct msg_job_done *done);

/* Add the places at n offsets of file fd to names; nothing is known of those that are
 * left out, unless the visit ended before them (frame_names_stop()).  c: to the hub, for
 * its debug file, alternate file and package.  JOB_OK or a verdict; JOB_NO_NAMES: it was
 * JOB_DEBUG_LINES, and there is none. */
int lines_job(struct conn *c, int fd, const uint64_t *offsets, uint32_t n,
	      struct frame_names_build *names);

#endif /* SYMBOLIZERD_WORKER_LINES_JOB_H */
