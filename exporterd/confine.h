/* SPDX-License-Identifier: Apache-2.0 */
/* confine - exporterd gives up what it does not need */
#ifndef EXPORTERD_CONFINE_H
#define EXPORTERD_CONFINE_H

#include "exporterd/config.h"
#include "exporterd/debug_cache.h"
#include "exporterd/spool.h"

/*
 * Call once everything is initialised and before the first message is read.
 * Opens the spool and the cache of debug files, if cfg has them: as the user that
 * exporterd becomes.
 * A step that fails ends the process (common/sandbox.h).
 *
 * What exporterd can still do afterwards:
 *
 * - connect to any TCP or UDP port over IPv4 and IPv6, and bind to one (the
 *   resolver of glibc binds its netlink socket), but not listen or accept;
 * - connect to Unix sockets below the directories that are kept: the hub's,
 *   and systemd-resolved's where there is one;
 * - read the files listed in confine.c: certificates, host names, resolver
 *   configuration, the PEM files of the configuration.  Bound or opened once:
 *   a file that is replaced by rename is seen after a restart, the content of
 *   a kept directory at once;
 * - start threads of its own (curl's resolver), but no process and no program;
 * - with a spool, or a cache of debug files: make, read, rename and remove regular
 *   files in its directory, for itself alone (mode 0600), and make memfds; these with
 *   debuginfod servers, too;
 * - use the descriptors it has: the hub, the recorder, the log, the
 *   notification socket, the statm of its own in /proc.
 *
 * It holds no capability and cannot get one, is not dumpable, maps no
 * executable memory, and sees no /proc, no device and no other file to write.
 */
void exporter_confine(const struct exporter_config *cfg, struct spool *spool,
		      struct debug_cache *cache);

#endif /* EXPORTERD_CONFINE_H */
