// SPDX-License-Identifier: Apache-2.0
/* What exporterd may not do, tried from inside: without a spool, with one, with debuginfod
 * servers, and with a cache of their files. */
#include <sys/mount.h>
#include <sys/stat.h>

#include "exporterd/confine.h"
#include "tests/hostile/forbidden.h"
#include "tests/unit/spool_sample.h"

static char dir[] = "/tmp/trifold-spool-XXXXXX";
static char outside[] = "/tmp/trifold-beside-XXXXXX";
static char hub[] = "/run/trifold-none/export";
static struct exporter_config cfg = {
	.hub = hub, .uid = TEST_UID, .gid = TEST_UID, .no_network = true,
	.spool_bytes = 1 << 20,
};
static struct spool spool;
static struct debug_cache cache;

static void on_lost(void *arg, uint64_t id, uint64_t samples,
		    enum batch_outcome o)
{
	(void)arg;
	(void)id;
	(void)samples;
	(void)o;
	_exit(4);
}

static int as_exporter(void)
{
	spool_init(&spool, on_lost, NULL);
	debug_cache_init(&cache);
	exporter_confine(&cfg, &spool, &cache);
	return 0;
}

static int as_spooler(void)
{
	cfg.spool = dir;
	return as_exporter();
}

static int as_asker(void)
{
	cfg.debuginfod.n = 1;
	return as_exporter();
}

static int as_cacher(void)
{
	cfg.debuginfod.cache = dir;
	cfg.debuginfod.cache_bytes = 1 << 20;
	return as_asker();
}

static long put(uint64_t id)
{
	size_t len;
	void *data = sample_batch(1000000, 10, &len);
	struct batch b;

	return batch_open(data, len, &b) ? -1 : spool_put(&spool, id, &b);
}

/* All that a spool does. */
static long do_spool(void)
{
	struct spool_name name;

	spool_scan(&spool);
	if (put(1) || put(2) || spool_next(&spool, &name) < 0 || name.id != 1)
		return -1;
	spool_done(&spool, 1, 4);
	spool_done(&spool, 1, 6);
	if (spool_next(&spool, &name) < 0 || name.id != 2 ||
	    spool_next(&spool, &name) != -ENOENT)
		return -1;
	spool_done(&spool, 2, 10);
	spool_scan(&spool);
	return spool.n || spool.errors || spool.refused ? -1 : 0;
}

/* All that a cache does. */
static long do_cache(void)
{
	const struct msg_debuginfo_wanted w = { .build_id_len = 8 };
	int fd;

	debug_cache_scan(&cache);
	if (debug_cache_begin(&cache) || debug_cache_write(&cache, "x", 1) ||
	    debug_cache_sync(&cache) || debug_cache_keep(&cache, &w) < 0)
		return -1;
	cache.v[0].touched_ns = 0;
	fd = debug_cache_get(&cache, &w);
	if (fd < 0 || !cache.v[0].touched_ns || write(fd, "x", 1) == 1)
		return -1;
	if (debug_cache_begin(&cache) || read(cache.read_fd, &fd, 1) != 0)
		return -1;
	debug_cache_give_up(&cache);
	debug_cache_drop(&cache, &w);
	debug_cache_scan(&cache);
	return cache.n || cache.errors || cache.refused ? -1 : 0;
}

/* The directory of the one that there is. */
static int own_dir(void)
{
	return spool.dir >= 0 ? spool.dir : cache.dir;
}

static long spool_file(int flags, mode_t mode)
{
	return openat(own_dir(), "x", flags, mode);
}

static long do_open_mode(void)
{
	return spool_file(O_WRONLY | O_CREAT | O_EXCL, 0644);
}

static long do_open_both(void)
{
	return spool_file(O_RDWR | O_CREAT | O_EXCL, 0600);
}

static long do_truncate(void)
{
	return spool_file(O_WRONLY | O_TRUNC, 0600);
}

static long do_directory(void)
{
	return mkdirat(own_dir(), "x", 0700);
}

static long do_link(void)
{
	return symlinkat("/", own_dir(), "x");
}

static long do_fifo(void)
{
	return mknodat(own_dir(), "x", S_IFIFO | 0600, 0);
}

static long do_mode(void)
{
	return fchmod(own_dir(), 0777);
}

static long do_leave(void)
{
	return openat(own_dir(), "..", O_RDONLY | O_DIRECTORY);
}

static long do_exchange(void)
{
	return syscall(SYS_renameat2, own_dir(), "x", own_dir(), "y", 2);
}

static long do_remove_directory(void)
{
	return unlinkat(own_dir(), ".", AT_REMOVEDIR);
}

static long do_beside(void)
{
	return open(outside, O_WRONLY | O_CREAT, 0600);
}

static long do_sync(void)
{
	return fsync(1);
}

static long do_memfd(void)
{
	return memfd_create("x", MFD_CLOEXEC);
}

static long do_unlink(void)
{
	return unlinkat(AT_FDCWD, outside, 0);
}

static long do_touch_by_name(void)
{
	return utimensat(own_dir(), "x", NULL, 0);
}

static void with_directory(const char *with, int (*become)(void), const char *needs,
			   long (*all)(void))
{
	static const struct {
		const char *what;
		long (*call)(void);
	} no[] = {
		{ "a file for others", do_open_mode },
		{ "a file to read and write", do_open_both },
		{ "truncating a file", do_truncate },
		{ "making a directory", do_directory },
		{ "making a link", do_link }, { "making a pipe", do_fifo },
		{ "changing a mode", do_mode },
		{ "the directory above", do_leave },
		{ "exchanging files", do_exchange },
		{ "removing the directory", do_remove_directory },
		{ "a file beside it", do_beside }, { "the time of a name", do_touch_by_name },
		{ "open a file", do_open }, { "fork", do_fork },
	};

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		refused(with, become, no[i].what, no[i].call);
	forbidden_common(with, become);
	allowed(with, become, needs, all);
}

int main(void)
{
	int fd;

	need_root();
	fd = mkdtemp(dir) ? mkstemp(outside) : -1;
	if (fd < 0 || chown(dir, TEST_UID, TEST_UID) < 0 ||
	    fchown(fd, TEST_UID, TEST_UID) < 0)
		return 1;
	close(fd);
	forbidden_common("exporterd", as_exporter);
	refused("exporterd", as_exporter, "open a file", do_open);
	refused("exporterd", as_exporter, "fork", do_fork);
	refused("without a spool", as_exporter, "sync", do_sync);
	refused("without a spool", as_exporter, "a memfd", do_memfd);
	refused("without a spool", as_exporter, "removing a file", do_unlink);
	refused("with debuginfod servers", as_asker, "sync", do_sync);
	refused("with debuginfod servers", as_asker, "open a file", do_open);
	refused("with debuginfod servers", as_asker, "removing a file", do_unlink);
	allowed("with debuginfod servers", as_asker, "a memfd", do_memfd);
	with_directory("with a spool", as_spooler, "all that a spool needs", do_spool);
	cfg.spool = NULL;
	with_directory("with a cache", as_cacher, "all that a cache needs", do_cache);
	unlink(outside);
	if (rmdir(dir) < 0)
		verdict(0, "with a spool", "an empty directory", "left");
	return finish();
}
