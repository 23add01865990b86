/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opener - opens files of other processes, for main, in processes of its own
 *
 * Main asks for one mapping at a time: /proc/TGID/map_files/START-END, and for
 * what the hub needs (struct opener).  The opener answers with a descriptor of a
 * regular file on a file system that it trusts and the path it has there, or
 * with an errno.  An open may hang in a hostile file system all the same, so the
 * opener can be killed: its parent, the respawner, which does nothing else, forks
 * another one and does not wait for the old.  All hold CAP_SYS_PTRACE,
 * CAP_CHECKPOINT_RESTORE and CAP_DAC_READ_SEARCH under a non-root uid; main holds
 * none of them.
 */
#ifndef LOADERD_OPENER_H
#define LOADERD_OPENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/conn.h"
#include "ipc/message_loader.h"

/* Whose memory nobody gets: executables whose names begin so. */
#define MEM_DENIED							\
	"trifold", "ssh-agent", "gpg-agent", "scdaemon", "pinentry",	\
	"gnome-keyring", "kwallet", "keepass", "krb5kdc", "polkit-agent"

/*
 * What is sent on .conn is answered there by MSG_OPENED or MSG_OPEN_FAILED with
 * the same id.  MSG_OPEN (struct request_file): a mapping.  MSG_DEBUG_WANTED: the
 * debug file of a build ID, below the root of a process, or below ours; only what
 * everybody may reach and read; no overlay: what lies beneath that is not known.
 * Who owns it is for symbolizerd to judge.  MSG_MEM_WANTED: /proc/TGID/mem for
 * reading, of no process that keeps keys, is ours, or is not dumpable; whether it
 * is the one that began at start_ns is for the caller to see.  MSG_PERF_MAP_WANTED:
 * /tmp/perf-NS_TGID.map below the root of a process, if it is a file of the process's
 * user, without another link, and nothing was mounted over it; likewise.
 */
struct opener {
	struct conn conn;	/* to the opener, whichever lives */
	int control;		/* to the respawner: a byte kills the opener */
	pid_t respawner;
	struct opener_stats *shared;	/* a page that main reads */
};

/*
 * Fork the respawner, confined under uid and gid ((uid_t)-1: stay).  To be called
 * as root, before main confines itself.  0 or -errno.
 */
int opener_start(struct opener *o, uid_t uid, gid_t gid);

/*
 * Is this file system's magic one of those of the local kernel, whose files can
 * be mapped, unmapped and closed without anybody's consent?  Not FUSE, NFS,
 * 9p ..., which may never answer.
 */
bool opener_trusts(uint32_t magic);

/* Kill the present opener; a new one takes its place. */
void opener_kill(struct opener *o);

/* End both and wait for them. */
void opener_stop(struct opener *o);

#endif /* LOADERD_OPENER_H */
