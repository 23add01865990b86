/* SPDX-License-Identifier: Apache-2.0 */
/* sudo_caller - the user who called sudo */
#ifndef CLI_RECORD_SUDO_CALLER_H
#define CLI_RECORD_SUDO_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user who called sudo, if that was not root. `sudo_uid` and `sudo_gid` are
 * the texts of SUDO_UID and SUDO_GID, or NULL. */
bool sudo_caller(const char *sudo_uid, const char *sudo_gid, uid_t *uid,
		 gid_t *gid);

#endif /* CLI_RECORD_SUDO_CALLER_H */
