/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opener - opens files of other processes for main, in two processes of its own
 *
 * Main asks for one mapping at a time (/proc/TGID/map_files/START-END), and for what
 * the hub needs (struct opener).  The opener answers with a descriptor of a regular
 * file on a file system that it trusts, and the path that the file has there; or with
 * an errno.  An open may still hang in a hostile file system, so the opener can be
 * killed: its parent, the respawner, which does nothing else, forks another one and
 * does not wait for the old one to end.  Both have CAP_SYS_PTRACE,
 * CAP_CHECKPOINT_RESTORE and CAP_DAC_READ_SEARCH under a non-root uid; main does not.
 */
#ifndef LOADERD_OPENER_H
#define LOADERD_OPENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/conn.h"
#include "ipc/message_loader.h"

/* The memory of these executables, by the beginning of the name, is never opened: they
 * are ours, keep keys, or are told passwords.  (`su` is too short for that; what a user
 * runs of it is not dumpable, and root is not asked for one.) */
#define MEM_DENIED							\
	"trifold", "ssh", "gpg", "scdaemon", "pinentry",		\
	"gnome-keyring", "kwallet", "keepass", "krb5kdc", "polkit",	\
	"pkexec", "sudo", "doas", "login", "passwd", "unix_chkpwd",	\
	"systemd-ask-pass", "systemd-tty-ask", "vault", "secret-tool",	\
	"dropbear", "sssd", "krb5_child", "kinit", "kadmin", "winbindd",	\
	"cryptsetup", "systemd-cryptset", "systemd-homed", "veracrypt",	\
	"bitwarden", "1password", "seahorse", "chpasswd", "newgrp",	\
	"gdm-session", "sddm-helper", "lightdm", "swaylock", "i3lock",	\
	"kscreenlocker", "xscreensaver", "wpa_supplicant", "charon",	\
	"openvpn"

/*
 * What is sent on .conn is answered there by MSG_OPENED or MSG_OPEN_FAILED with
 * the same id; any other message ends this opener, and another one takes its place.
 * MSG_OPEN (struct request_file): a mapping.
 * MSG_DEBUG_WANTED: the debug file of a build ID, below the root of a process or below
 * ours, if every user may reach and read it; in an overlay, or mounted nosuid, only if it is
 * in the layer that the question names.  Its owner is for symbolizerd to judge.
 * MSG_MEM_WANTED: /proc/TGID/mem for reading, unless the process keeps keys, is ours,
 * or is not dumpable.
 * MSG_PERF_MAP_WANTED: /tmp/perf-NS_TGID.map below the root of a process, if it belongs
 * to the process's user, has no other link, and nothing is mounted over it.  The caller
 * must check that the host's root made its mounts, and on what its root lies.
 * Of the last two the caller must check that it is still the same process.
 */
struct opener {
	struct conn conn;	/* to the present opener */
	int control;		/* to the respawner: a byte makes it kill the opener */
	pid_t respawner;
	struct opener_stats *shared;	/* a page that main reads */
};

/*
 * Fork the respawner, confined under uid and gid ((uid_t)-1: unchanged).  To be called
 * as root, before main confines itself.  0 or -errno.
 */
int opener_start(struct opener *o, uid_t uid, gid_t gid);

/*
 * Does the local kernel alone serve file systems with this magic, so that their files
 * can always be mapped, unmapped and closed?  Not FUSE, NFS, 9p ..., which may never
 * answer.  Of a root: ROOT_OURS, too.
 */
bool opener_trusts(uint32_t magic);

/* Kill the present opener; a new one takes its place. */
void opener_kill(struct opener *o);

/* End both and wait for them. */
void opener_stop(struct opener *o);

#endif /* LOADERD_OPENER_H */
