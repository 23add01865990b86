// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int page_policy(char *out, size_t size)
{
	static const char before[] =
		"http-equiv=\"Content-Security-Policy\" content=\"";
	const char *s = memmem(live_html, live_html_len, before,
			       strlen(before)), *end;
	int n;

	if (!s)
		return -EINVAL;
	s += strlen(before);
	end = memchr(s, '"', live_html_len -
		     (size_t)(s - (const char *)live_html));
	if (!end || memchr(s, '\n', (size_t)(end - s)))
		return -EINVAL;
	n = snprintf(out, size, "%.*s; frame-ancestors 'none'", (int)(end - s),
		     s);
	return n > 0 && (size_t)n < size ? 0 : -EINVAL;
}
