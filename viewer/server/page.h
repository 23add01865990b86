/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page - the live page, compiled in
 */
#ifndef VIEWER_SERVER_PAGE_H
#define VIEWER_SERVER_PAGE_H

#include <stddef.h>

/* made of viewer/live.html by viewer/viewer.mk */
extern const unsigned char live_html[];
extern const unsigned long live_html_len;

/*
 * Its Content-Security-Policy for a header: what the page's own <meta> says,
 * and what only a header can say (that no other page may frame it).  Returns
 * 0, or -EINVAL: the page has none, or it is too long.
 */
int page_policy(char *out, size_t size);

#endif /* VIEWER_SERVER_PAGE_H */
