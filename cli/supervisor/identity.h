/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity - under which uids the processes run
 *
 * The users trifold-symbolizerd, trifold-exporterd, trifold-loaderd,
 * trifold-opener and trifold-viewer where they exist.  Otherwise ids that own
 * nothing: out of the range that systemd sets apart for services without a
 * user of their own (61184..65519, systemd's UIDS-GIDS.md), such that no user,
 * no group and no running process has them.
 */
#ifndef CLI_SUPERVISOR_IDENTITY_H
#define CLI_SUPERVISOR_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

enum identity {
	ID_HUB,
	ID_EXPORTER,
	ID_LOADER,
	ID_VIEWER,
	ID_OPENER,
	ID_RECORDER,		/* these two have no users of their own */
	ID_FRONT,
	ID__COUNT
};

struct identities {
	uid_t uid[ID__COUNT];
	gid_t gid[ID__COUNT];
};

/* 0, or -errno after a line in the log. */
int identity_find(struct identities *ret);

/* Who called sudo, if that was a user other than root.  `sudo_uid` and
 * `sudo_gid` are the texts of SUDO_UID and SUDO_GID, or NULL. */
bool identity_sudo(const char *sudo_uid, const char *sudo_gid, uid_t *uid,
		   gid_t *gid);

#endif /* CLI_SUPERVISOR_IDENTITY_H */
