/* SPDX-License-Identifier: Apache-2.0 */
/*
 * download - one GET of a debug file at a time, to where nobody here looks at it
 *
 * What comes is written to the cache on disk (debug_cache.h), or, where that takes
 * nothing, to a memfd: HTTP status and size are all that counts.  A redirect is followed
 * to https alone, and DOWNLOAD_REDIRECTS times: certificates are checked, so a server
 * cannot lead exporterd to plain services of this host or of its network.  Nothing is
 * decompressed.
 */
#ifndef EXPORTERD_DOWNLOAD_H
#define EXPORTERD_DOWNLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "exporterd/curl_loop.h"
#include "exporterd/debug_cache.h"

#define DOWNLOAD_REDIRECTS	3
#define DOWNLOAD_CONNECT_S	10
#define DOWNLOAD_SLOW_BYTES	1024	/* a second, and slower ... */
#define DOWNLOAD_SLOW_PART	3	/* ... for a third of the time is given up */

enum download_end {
	DOWNLOAD_FOUND = 0,
	DOWNLOAD_NOT_THERE,	/* the server says so: 404, 410 */
	DOWNLOAD_TOO_MUCH,	/* it is too large, or there is no memory for it */
	DOWNLOAD_SPOILT,	/* it began to come, and was too slow or cut off */
	DOWNLOAD_REFUSED,	/* no answer, or another one */
};

/* Valid during the callback only. */
struct download_result {
	enum download_end end;
	int fd;			/* FOUND: the callee's; of the cache to read, or sealed; else -1 */
	uint64_t bytes;		/* that came; of a body that counts */
	uint64_t retry_after_s;	/* REFUSED: 0, or what the server says */
	long status;		/* 0: none */
	const char *error;	/* unless FOUND or NOT_THERE */
};

struct download {
	struct curl_loop curl;
	struct debug_cache *cache;
	struct msg_debuginfo_wanted what;
	bool cached;		/* it goes there */
	int fd;			/* of memory; -1: none yet */
	uint64_t bytes, max;
	bool large, failed;	/* why it was cut short */
	void (*done)(void *arg, const struct download_result *r);
	void *arg;
};

/* cache is borrowed.  max: bytes of a body; timeout_s: of all of it.  done: as of
 * curl_loop_init().  0 or -errno; download_fini() accepts either. */
int download_init(struct download *d, struct evloop *loop, struct debug_cache *cache,
		  uint64_t max, unsigned int timeout_s,
		  void (*done)(void *arg, const struct download_result *r),
		  void *arg);
void download_fini(struct download *d);

/* The debug file of this build ID; url is copied.  Never calls done itself.  0 or
 * -errno. */
int download_start(struct download *d, const char *url, const struct msg_debuginfo_wanted *what);
void download_cancel(struct download *d);

#endif /* EXPORTERD_DOWNLOAD_H */
