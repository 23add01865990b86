/* SPDX-License-Identifier: Apache-2.0 */
/* sudo_caller - the user who called sudo */
#ifndef CLI_CONFIG_SUDO_CALLER_H
#define CLI_CONFIG_SUDO_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user who called sudo, if that was not root. `sudo_uid` and `sudo_gid` are
 * the texts of SUDO_UID and SUDO_GID, or NULL. */
bool sudo_caller(const char *sudo_uid, const char *sudo_gid, uid_t *uid,
		 gid_t *gid);

/* Where root was asked by sudo, keep only the rights of the user who called it, for
 * good: files that are opened from now on are opened as that user.  Else nothing.
 * 0, or -errno after a line in the log. */
int sudo_caller_become(void);

#endif /* CLI_CONFIG_SUDO_CALLER_H */
