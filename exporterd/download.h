/* SPDX-License-Identifier: Apache-2.0 */
/*
 * download - one GET of a debug file at a time
 *
 * The body is written to the cache on disk (debug_cache.h) or, when that fails, to a
 * memfd.  It is not looked at, only HTTP status and size are, and not decompressed.
 * Redirects are followed to https only, DOWNLOAD_REDIRECTS times: certificates are
 * checked, so a server cannot lead exporterd to plain services of this host or of its
 * network.
 */
#ifndef EXPORTERD_DOWNLOAD_H
#define EXPORTERD_DOWNLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "exporterd/curl_loop.h"
#include "exporterd/debug_cache.h"

#define DOWNLOAD_REDIRECTS	3
#define DOWNLOAD_CONNECT_S	10
#define DOWNLOAD_SLOW_BYTES	1024	/* a second; if it is slower ... */
#define DOWNLOAD_SLOW_PART	3	/* ... for a third of the time, it is given up */

enum download_end {
	DOWNLOAD_FOUND = 0,
	DOWNLOAD_NOT_THERE,	/* 404, 410 */
	DOWNLOAD_TOO_MUCH,	/* it is too large, or there is no memory for it */
	DOWNLOAD_SPOILT,	/* it began, and was too slow or cut off */
	DOWNLOAD_REFUSED,	/* no answer, or any other one */
};

/* Valid during the callback only. */
struct download_result {
	enum download_end end;
	int fd;			/* FOUND: the callee's; of the cache to read, or sealed; else -1 */
	uint64_t bytes;		/* of the body of a 200 */
	uint64_t retry_after_s;	/* REFUSED: of the server's Retry-After; 0: none */
	long status;		/* 0: none */
	const char *error;	/* unless FOUND or NOT_THERE */
};

struct download {
	struct curl_loop curl;
	struct debug_cache *cache;
	struct msg_debuginfo_wanted what;
	bool cached;		/* it is written to the cache */
	int fd;			/* of the memfd; -1: none yet */
	uint64_t bytes, max;
	bool large, failed;	/* it ended early: too large, cannot be written */
	void (*done)(void *arg, const struct download_result *r);
	void *arg;
};

/* cache is borrowed.  max: bytes of a body; timeout_s: of the whole request.  done: as
 * in curl_loop_init().  0 or -errno; download_fini() accepts either. */
int download_init(struct download *d, struct evloop *loop, struct debug_cache *cache,
		  uint64_t max, unsigned int timeout_s,
		  void (*done)(void *arg, const struct download_result *r),
		  void *arg);
void download_fini(struct download *d);

/* Get the debug file of this build ID; url is copied.  Never calls done itself.  0 or
 * -errno. */
int download_start(struct download *d, const char *url, const struct msg_debuginfo_wanted *what);
void download_cancel(struct download *d);

#endif /* EXPORTERD_DOWNLOAD_H */
