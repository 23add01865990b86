// SPDX-License-Identifier: Apache-2.0
#include "exporterd/download.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/read_all.h"
#include "ipc/sealed.h"

#define USER_AGENT	"trifold"	/* no version: only build IDs leave the host */
#define NOTE_MAX	65536		/* bytes of the body of an error */

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	8U	/* linux/memfd.h, 6.3 */
#endif

/* --- storing the body --------------------------------------------------------- */

static int download_memory(void)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("debuginfo", flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("debuginfo", flags);
	if (fd < 0)
		return -errno;
	return fd;
}

static void download_drop(struct download *d)
{
	if (d->cached)
		debug_cache_give_up(d->cache);
	d->cached = false;
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

/* Copy what has come from the cache into the memfd.  0 or -errno. */
static int download_copy(struct download *d)
{
	static char part[65536];
	uint64_t left = d->bytes;

	while (left) {
		size_t want = left < sizeof(part) ? left : sizeof(part);
		ssize_t n = read(d->cache->read_fd, part, want);
		int r;

		if (n <= 0)
			return -EIO;
		r = write_all(d->fd, part, (size_t)n);
		if (r)
			return r;
		left -= (uint64_t)n;
	}
	return 0;
}

/* The disk failed: continue in memory.  0 or -errno. */
static int download_to_memory(struct download *d)
{
	int r;

	d->fd = download_memory();
	r = d->fd;
	if (d->fd >= 0)
		r = download_copy(d);
	debug_cache_give_up(d->cache);
	d->cached = false;
	return r;
}

/* 0 or -errno. */
static int download_put(struct download *d, const void *data, size_t len)
{
	int r = 0;

	if (!d->cached && d->fd < 0) {
		d->cached = debug_cache_begin(d->cache) == 0;
		if (!d->cached)
			d->fd = download_memory();
	}
	if (d->cached && debug_cache_write(d->cache, data, len) == 0)
		return 0;
	if (d->cached)
		r = download_to_memory(d);
	if (d->fd < 0)
		return d->fd;
	if (r)
		return r;
	return write_all(d->fd, data, len);
}

/* The complete file: sealed memory, or of the cache and only to read.  A descriptor,
 * the caller's, or -errno. */
static int download_take(struct download *d)
{
	int fd;

	if (d->cached && debug_cache_sync(d->cache) < 0 && download_to_memory(d) < 0)
		return -EIO;
	if (d->cached) {
		d->cached = false;
		return debug_cache_keep(d->cache, &d->what);
	}
	if (fcntl(d->fd, F_ADD_SEALS, SEALED_SEALS | F_SEAL_SEAL) < 0)
		return -errno;
	fd = d->fd;
	d->fd = -1;
	return fd;
}

/* --- the answer ----------------------------------------------------------------- */

/* The body of an error is read and dropped, so that the connection can be used again. */
static size_t download_on_body(char *data, size_t size, size_t n, void *arg)
{
	struct download *d = arg;
	size_t len = size * n;
	uint64_t max = NOTE_MAX;
	long status = 0;

	curl_easy_getinfo(d->curl.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200)
		max = d->max;
	d->large = len > max - d->bytes;
	if (d->large)
		return 0;
	d->failed = status == 200 && download_put(d, data, len) < 0;
	if (d->failed)
		return 0;
	d->bytes += len;
	return len;
}

/* *fd: of a complete file. */
static enum download_end download_judge(struct download *d, CURLcode code, long status, int *fd)
{
	if (status == 200) {
		if (d->failed || d->large || code == CURLE_FILESIZE_EXCEEDED)
			return DOWNLOAD_TOO_MUCH;
		if (code || !d->bytes)
			return DOWNLOAD_SPOILT;
		*fd = download_take(d);
		if (*fd < 0)
			return DOWNLOAD_SPOILT;
		return DOWNLOAD_FOUND;
	}
	if (!code && (status == 404 || status == 410))
		return DOWNLOAD_NOT_THERE;
	return DOWNLOAD_REFUSED;
}

static const char *download_why(const struct download *d, CURLcode code)
{
	if (d->failed)
		return "no memory for it";
	if (d->large)
		return "too large";
	if (d->curl.error[0])
		return d->curl.error;
	if (code)
		return curl_easy_strerror(code);
	return "not a debug file";
}

static void download_on_done(void *arg, CURLcode code)
{
	struct download *d = arg;
	struct download_result r = { .fd = -1 };
	curl_off_t wait = 0;

	curl_easy_getinfo(d->curl.easy, CURLINFO_RESPONSE_CODE, &r.status);
	curl_easy_getinfo(d->curl.easy, CURLINFO_RETRY_AFTER, &wait);
	r.end = download_judge(d, code, r.status, &r.fd);
	r.error = download_why(d, code);
	if (r.status == 200)
		r.bytes = d->bytes;
	if (wait > 0)
		r.retry_after_s = (uint64_t)wait;
	download_drop(d);
	d->done(d->arg, &r);
}

#define SET(option, value)						\
	do {								\
		if (curl_easy_setopt(d->curl.easy, option, value) != CURLE_OK) \
			return false;					\
	} while (0)

static bool download_set(struct download *d, unsigned int timeout_s)
{
	SET(CURLOPT_HTTPGET, 1L);
	SET(CURLOPT_USERAGENT, USER_AGENT);
	SET(CURLOPT_MAXREDIRS, (long)DOWNLOAD_REDIRECTS);
#if LIBCURL_VERSION_NUM >= 0x075500
	SET(CURLOPT_REDIR_PROTOCOLS_STR, "https");
#else
	SET(CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTPS);
#endif
	SET(CURLOPT_CONNECTTIMEOUT, (long)DOWNLOAD_CONNECT_S);
	SET(CURLOPT_TIMEOUT, (long)timeout_s);
	SET(CURLOPT_LOW_SPEED_LIMIT, (long)DOWNLOAD_SLOW_BYTES);
	SET(CURLOPT_LOW_SPEED_TIME, 1L + timeout_s / DOWNLOAD_SLOW_PART);
	SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)d->max);
	SET(CURLOPT_WRITEFUNCTION, download_on_body);
	SET(CURLOPT_WRITEDATA, d);
	return true;
}

int download_init(struct download *d, struct evloop *loop, struct debug_cache *cache,
		  uint64_t max, unsigned int timeout_s,
		  void (*done)(void *arg, const struct download_result *r),
		  void *arg)
{
	int r;

	*d = (struct download){
		.cache = cache, .fd = -1, .max = max, .done = done, .arg = arg,
	};
	r = curl_loop_init(&d->curl, loop, download_on_done, d);
	if (r < 0)
		return r;
	if (!download_set(d, timeout_s))
		return -EINVAL;
	return 0;
}

void download_cancel(struct download *d)
{
	curl_loop_cancel(&d->curl);
	download_drop(d);
}

void download_fini(struct download *d)
{
	download_cancel(d);
	curl_loop_fini(&d->curl);
}

int download_start(struct download *d, const char *url, const struct msg_debuginfo_wanted *what)
{
	if (d->curl.busy)
		return -EBUSY;
	if (!curl_loop_rules(&d->curl, url) ||
	    curl_easy_setopt(d->curl.easy, CURLOPT_FOLLOWLOCATION, 1L))
		return -EIO;
	d->bytes = 0;
	d->large = d->failed = false;
	d->what = *what;
	return curl_loop_start(&d->curl);
}
