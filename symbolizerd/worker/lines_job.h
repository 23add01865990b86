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
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/frame_names_build.h"

/* Of a visit, more or less: what is left then is for another one. */
#define LINES_JOB_NS	300000000ULL	/* CPU time of the worker */
#define LINES_JOB_BYTES	(256u << 20)

/* Has the file DWARF, or the debug file that was found for it? */
bool lines_job_any(const struct elf_file *f);

/* Add the places at n offsets of file fd to names; nothing is known of those that are
 * left out, unless the visit ended before them (frame_names_stop()).  c: to the hub, for the debug file.  JOB_OK or a verdict. */
int lines_job(struct conn *c, int fd, const uint64_t *offsets, uint32_t n,
	      struct frame_names_build *names);

#endif /* SYMBOLIZERD_WORKER_LINES_JOB_H */
