// SPDX-License-Identifier: Apache-2.0
#include "common/page_key.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int page_key_new(char key[PAGE_KEY_LEN + 1])
{
	unsigned char bytes[PAGE_KEY_LEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return errno ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(key + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

bool page_key_is(const char *s)
{
	return strlen(s) == PAGE_KEY_LEN &&
	       strspn(s, "0123456789abcdef") == PAGE_KEY_LEN;
}
