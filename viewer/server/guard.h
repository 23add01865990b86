/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard - which requests are answered
 *
 * Any page in a browser of this machine can send requests to loopback.  So Host must be
 * a name of loopback with the server's port (a name that was rebound to 127.0.0.1
 * differs), Origin, if there is one, must be the server's, and Sec-Fetch-Site must not
 * name another site (Fetch Metadata Request Headers, W3C, section 2.4).  In addition
 * the key is required.
 */
#ifndef VIEWER_SERVER_GUARD_H
#define VIEWER_SERVER_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/page_key.h"

/* "localhost", "127.0.0.1" or "[::1]" and this port. */
bool guard_host(const char *host, uint16_t port);
/* "http://" and one of these. */
bool guard_origin(const char *origin, uint16_t port);
/* "same-origin" or "none". */
bool guard_site(const char *site);
/* "Bearer KEY", compared in a time that does not depend on what is right. */
bool guard_key(const char *authorization, const char key[PAGE_KEY_LEN]);

#endif /* VIEWER_SERVER_GUARD_H */
