// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

bool guard_host(const char *host, uint16_t port)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	char want[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		/* of port 80 browsers do not speak */
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

bool guard_key(const char *authorization, const char key[GUARD_KEY_LEN])
{
	static const char scheme[] = "Bearer ";
	const char *s = authorization + strlen(scheme);
	unsigned int differs = 0;

	if (strncasecmp(authorization, scheme, strlen(scheme)) ||
	    strlen(s) != GUARD_KEY_LEN)
		return false;
	for (size_t i = 0; i < GUARD_KEY_LEN; i++)
		differs |= (unsigned char)s[i] ^ (unsigned char)key[i];
	return differs == 0;
}

int guard_new_key(char key[GUARD_KEY_LEN + 1])
{
	unsigned char bytes[GUARD_KEY_LEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return errno ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(key + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

bool guard_is_key(const char *s)
{
	return strlen(s) == GUARD_KEY_LEN &&
	       strspn(s, "0123456789abcdef") == GUARD_KEY_LEN;
}
