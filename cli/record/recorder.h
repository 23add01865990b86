/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder - collects batches and writes the output file
 *
 * Two processes, started as `trifold recorder` (internal) by the supervisor, with
 * one descriptor: a socket to the supervisor.
 *
 * - The file owner holds the output file, under the uid of the user who called
 *   sudo, so that no path of theirs is touched with root's rights.  It parses
 *   nothing, and renames the file into place when the writer is done.
 * - The writer, its child, holds that file, open for writing, and the socket.  It
 *   cannot open or connect, and is not root.
 *
 * Over the socket come struct record_msg, from the supervisor only: a new
 * connection to an exporterd (RECORD_FEED with one descriptor), and the end
 * (RECORD_END), at which the file is written.  A feed is a connection as of
 * ipc/conn.h: MSG_BATCH is answered with MSG_BATCH_DONE. A batch that arrives
 * twice, because exporterd died before it reported the first, is taken once.
 *
 * Beside a running trifold there is no feed: the supervisor says which samples
 * are wanted (RECORD_RANGE) and sends connections to symbolizerd (RECORD_WATCH
 * with one descriptor), and the writer answers by struct record_state, from
 * RECORD_RANGE on, whenever any of it changes.
 */
#ifndef CLI_RECORD_RECORDER_H
#define CLI_RECORD_RECORDER_H

#include <stdint.h>

#include "cli/config/options.h"
#include "profile/cut.h"
#include "profile/profile.h"

enum record_kind {
	RECORD_FEED = 1,
	RECORD_END = 2,
	RECORD_RANGE = 3,
	RECORD_WATCH = 4,
};

struct record_msg {
	uint32_t kind;
	uint32_t hub_uid;			/* RECORD_WATCH: uid of the peer */
	struct profile_account account;		/* RECORD_END */
	struct cut range;			/* RECORD_RANGE */
};

/* What it reports before READY=1: the number of its child, the writer. */
#define RECORDER_WRITER	"writer "

/* The subcommand.  Options: control_fd, output, format, frequency, command, part,
 * names, lines, inlined, no_placeholders, seal_uid (of the writer below a file
 * owner that is root).  The file owner becomes the user who called sudo, by SUDO_UID and
 * SUDO_GID. */
int recorder_run(const struct options *o);

#endif /* CLI_RECORD_RECORDER_H */
