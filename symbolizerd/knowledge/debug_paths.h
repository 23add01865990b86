/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_paths - by which names a debug file may lie on a host
 *
 * GDB's manual, 18.3 "Debugging Information in Separate Files": by build ID, then by the
 * name in .gnu_debuglink beside the executable, in .debug there, and below the
 * executable's directory in /usr/lib/debug.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_DEBUG_PATHS_H
#define SYMBOLIZERD_KNOWLEDGE_DEBUG_PATHS_H

#include "ipc/message_hub.h"
#include "symbolizerd/knowledge/debug_files.h"

/* Fill in q->paths.  id->len 0: it has no build ID; exe: where the executable lies, NULL:
 * unknown; link: "" without.  Names for which there is no room are left out. */
void debug_paths_set(struct msg_wanted *q, const struct build_id *id, const char *exe,
		     const char *link);

/* Likewise, of the alternate file that dwz made for one or several debug files: by its
 * build ID, then below DEBUG_ALTERNATES.  name: in there, "": not known. */
void debug_paths_alternate(struct msg_wanted *q, const struct build_id *id, const char *name);

/* Likewise, of the package with its split DWARF: beside the executable, and where the
 * debug file may be of this name, "": it has none. */
void debug_paths_package(struct msg_wanted *q, const char *exe, const char *link);

#endif /* SYMBOLIZERD_KNOWLEDGE_DEBUG_PATHS_H */
