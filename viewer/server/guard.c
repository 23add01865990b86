// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool guard_host(const char *host, uint16_t port)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	char want[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		/* browsers leave out port 80 */
		if (port == 80 && !strcasecmp(host, names[i]))
			return true;
		snprintf(want, sizeof(want), "%s:%u", names[i], port);
		if (!strcasecmp(host, want))
			return true;
	}
	return false;
}

bool guard_origin(const char *origin, uint16_t port)
{
	static const char scheme[] = "http://";

	return !strncmp(origin, scheme, strlen(scheme)) &&
	       guard_host(origin + strlen(scheme), port);
}

bool guard_site(const char *site)
{
	return !strcmp(site, "same-origin") || !strcmp(site, "none");
}

bool guard_key(const char *authorization, const char key[PAGE_KEY_LEN])
{
	static const char scheme[] = "Bearer ";
	const char *s = authorization + strlen(scheme);
	unsigned int differs = 0;

	if (strncasecmp(authorization, scheme, strlen(scheme)) ||
	    strlen(s) != PAGE_KEY_LEN)
		return false;
	for (size_t i = 0; i < PAGE_KEY_LEN; i++)
		differs |= (unsigned char)s[i] ^ (unsigned char)key[i];
	return differs == 0;
}
