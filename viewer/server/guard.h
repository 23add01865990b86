/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard - which requests are answered
 *
 * Any page that a browser on this machine shows can send requests to loopback.
 * So Host must be a name of loopback with our port (a name rebound to
 * 127.0.0.1 has another), Origin, where there is one, must be ours, and
 * Sec-Fetch-Site must not say that another site asks (Fetch Metadata Request
 * Headers, W3C, section 2.4).  The key is asked for on top of that.
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
