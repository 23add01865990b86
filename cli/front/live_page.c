// SPDX-License-Identifier: Apache-2.0
#include "cli/front/live_page.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"

static bool live_page_is_installed(const char *programs)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/trifold-viewer", programs);
	return access(path, X_OK) == 0;
}

static int live_page_open_sockets(struct live_page *p, const struct options *o)
{
	uint16_t port = LIVE_PAGE_PORT;
	int family = AF_UNSPEC, r;

	if (o->listen && listen_parse(o->listen, &family, &port)) {
		log_err("--listen %s: write PORT, or HOST:PORT with localhost, "
			"127.0.0.1 or [::1]: the page is for this host alone",
			o->listen);
		return -EINVAL;
	}
	r = listen_open(family, port, &p->sockets);
	p->elsewhere = r == -EADDRINUSE && !o->listen;
	if (p->elsewhere)
		r = listen_open(family, 0, &p->sockets);
	if (r)
		log_err("the live page cannot listen on port %u: %s: choose "
			"another by --listen PORT, or disable it by --no-page", port,
			strerror(-r));
	return r;
}

int live_page_open(struct live_page *p, const struct options *o,
		   const char *programs)
{
	int r;

	*p = (struct live_page){ .on = false };
	if (o->no_page)
		return 0;
	if (!live_page_is_installed(programs)) {
		log_warn("no live page: trifold-viewer is not in %s", programs);
		if (o->listen)
			return -ENOENT;
		return 0;
	}
	r = page_key_new(p->key);
	if (r == 0)
		r = live_page_open_sockets(p, o);
	if (r)
		return r;
	snprintf(p->viewer_env, sizeof(p->viewer_env), "TRIFOLD_VIEWER_KEY=%s",
		 p->key);
	p->on = true;
	return 0;
}

const char *live_page_address(const struct live_page *p, char out[80])
{
	snprintf(out, 80, "http://%s:%u/#key=%s", listen_host(&p->sockets),
		 p->sockets.port, p->key);
	return out;
}
