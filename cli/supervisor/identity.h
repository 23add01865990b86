/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity - under which uids the processes run
 *
 * The users trifold-symbolizerd, trifold-exporterd, trifold-loaderd,
 * trifold-opener and trifold-viewer where they exist.  Otherwise ids that own
 * nothing, from the range that nothing uses (0x70000000..0x7fffffff, systemd's
 * UIDS-GIDS.md: above those of containers, and never given to a service): no user
 * and no group has them, and no process runs under such a uid.
 *
 * Somebody else may begin to use them later.  But a user cannot bring that about:
 * nobody becomes another uid without root, or newuidmap(1) and a range of
 * /etc/subuid, where these ids must not be.  Therefore they are looked for once, so that
 * two trifolds, or one and a container that does not keep to its range, are apart.
 */
#ifndef CLI_SUPERVISOR_IDENTITY_H
#define CLI_SUPERVISOR_IDENTITY_H

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

/* 0, or -EAGAIN after a line on standard error. */
int identity_find(struct identities *ret);

#endif /* CLI_SUPERVISOR_IDENTITY_H */
