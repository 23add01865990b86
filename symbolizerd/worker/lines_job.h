/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_job - functions and lines around some offsets of a file, from its DWARF
 *
 * Opening a file is dear, and a function is met at several places: so all of the function
 * is decoded that has an offset.
 *
 * The DWARF is in the file or in its debug file, and parts of it may be in the
 * alternate file of either (debug_file.h).  It is read through a mapping
 * (symbols/dwarf_places.h): if the file shrinks meanwhile, the visit fails.
 */
#ifndef SYMBOLIZERD_WORKER_LINES_JOB_H
#define SYMBOLIZERD_WORKER_LINES_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/line_codes.h"

/* Approximate limits of a visit: the rest is left for another one. */
#define LINES_JOB_NS	300000000ULL	/* CPU time of the worker */
#define LINES_JOB_BYTES	(256u << 20)

/* Set .lines of done if a visit for lines may find some: the file has DWARF, or the debug
 * file that was found for it; or it has .symtab, so that no debug file was looked for,
 * and there may be one (JOB_DEBUG_LINES). */
void lines_job_may_be(const struct elf_file *f, struct msg_job_done *done);

/* Add the code around n offsets of file fd; of those that are in none, nothing is known,
 * unless the visit ended before them (line_codes_stop()).  c: to the hub, for
 * debug file, alternate file and package.  JOB_OK or a verdict; JOB_NO_NAMES: there is
 * no debug file after JOB_DEBUG_LINES. */
int lines_job(struct conn *c, int fd, const uint64_t *offsets, uint32_t n,
	      struct line_codes_build *codes);

#endif /* SYMBOLIZERD_WORKER_LINES_JOB_H */
