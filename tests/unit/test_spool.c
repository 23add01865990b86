// SPDX-License-Identifier: Apache-2.0
#include "exporterd/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/sealed.h"
#include "tests/unit/harness.h"
#include "tests/unit/spool_sample.h"

#define MIB	(1ULL << 20)

static struct spool spool;
static char dir[64];
static uint64_t lost[BATCH__OUTCOMES], last_lost;

static void on_lost(void *arg, uint64_t id, uint64_t samples,
		    enum batch_outcome o)
{
	CHECK(arg == &spool && !spool_has(&spool, id));
	lost[o] += samples;
	last_lost = id;
}

static void start(uint64_t max_bytes)
{
	memset(lost, 0, sizeof(lost));
	spool_init(&spool, on_lost, &spool);
	CHECK_EQ(spool_open(&spool, dir, max_bytes), 0);
	spool_scan(&spool);
}

static void begin(uint64_t max_bytes)
{
	snprintf(dir, sizeof(dir), "/tmp/trifold-spool-XXXXXX");
	CHECK(mkdtemp(dir));
	start(max_bytes);
}

static int put(uint64_t id, uint32_t events)
{
	size_t len;
	void *data = sample_batch(1000000, events, &len);
	struct batch b;
	int r;

	CHECK_EQ(batch_open(data, len, &b), 0);
	r = spool_put(&spool, id, &b);
	free(data);
	return r;
}

/* The next batch has this id, and these events of it wait. */
static void next(uint64_t id, uint32_t first, uint32_t n)
{
	struct spool_name name = { 0 };
	int fd = spool_next(&spool, &name);
	const void *data;
	struct batch b;
	size_t len;

	CHECK(fd >= 0);
	CHECK_EQ(name.id, id);
	CHECK_EQ(name.first, first);
	CHECK_EQ(name.n, n);
	CHECK_EQ(sealed_map(fd, sizeof(struct batch_hdr), BATCH_BYTES_MAX,
			    &data, &len), 0);
	CHECK_EQ(batch_open(data, len, &b), 0);
	CHECK_EQ(batch_n(&b, BATCH_TIMES), first + n);
	close(fd);
}

static void next_none(void)
{
	struct spool_name name;

	CHECK_EQ((uint64_t)spool_next(&spool, &name), (uint64_t)-ENOENT);
}

static struct exporter_stats stats(void)
{
	struct exporter_stats s = { 0 };

	spool_stats(&spool, &s);
	return s;
}

/* Names in the directory, removed when they are counted. */
static unsigned int files(bool remove)
{
	DIR *d = opendir(dir);
	unsigned int n = 0;

	CHECK(d);
	for (struct dirent *e; (e = readdir(d));) {
		n += e->d_name[0] != '.';
		if (remove && e->d_name[0] != '.')
			CHECK_EQ(unlinkat(dirfd(d), e->d_name, 0), 0);
	}
	closedir(d);
	return n;
}

static void end(unsigned int want)
{
	CHECK_EQ(files(true), want);
	spool_fini(&spool);
	CHECK_EQ(rmdir(dir), 0);
}

static const char *path_of(uint64_t id, uint32_t first, uint32_t n)
{
	const struct spool_name name = { id, first, n };
	static char path[128];
	char s[SPOOL_NAME_SIZE];

	spool_name_write(&name, s);
	snprintf(path, sizeof(path), "%s/%s", dir, s);
	return path;
}

static const char *beside(void)
{
	static char path[80];

	snprintf(path, sizeof(path), "%s-link", dir);
	return path;
}

TEST(spool_that_is_not_there_takes_nothing)
{
	spool_init(&spool, on_lost, &spool);
	spool_scan(&spool);
	CHECK_EQ((uint64_t)put(1, 3), (uint64_t)-ENOENT);
	next_none();
	spool_done(&spool, 1, 3);
	CHECK(!spool_has(&spool, 1));
	CHECK_EQ(stats().spool_errors, 0);
	spool_fini(&spool);
}

TEST(spool_gives_the_oldest_first_and_forgets_what_is_done)
{
	begin(MIB);
	for (uint64_t id = 5; id < 9; id++)
		CHECK_EQ(put(id, (uint32_t)id), 0);
	CHECK_EQ(put(2, 2), 0);			/* a clock that was set back */
	CHECK_EQ((uint64_t)put(6, 6), (uint64_t)-EEXIST);
	CHECK_EQ(files(false), 5);
	CHECK_EQ(stats().spool_samples, 28);
	CHECK_EQ(stats().spool_written, 5);
	next(2, 0, 2);
	next(5, 0, 5);
	CHECK_EQ(spool.waiting, 21);
	spool_done(&spool, 5, 5);
	spool_done(&spool, 5, 5);		/* nothing */
	spool_done(&spool, 77, 5);
	CHECK(!spool_has(&spool, 5) && spool_has(&spool, 6));
	CHECK_EQ(files(false), 4);
	next(6, 0, 6);
	next(7, 0, 7);
	next(8, 0, 8);
	next_none();
	CHECK_EQ(stats().spool_samples, 23);
	for (uint64_t id = 2; id < 9; id++)
		spool_done(&spool, id, id);
	CHECK_EQ(stats().spool_bytes, 0);
	end(0);
}

TEST(spool_is_found_again_with_its_progress)
{
	begin(MIB);
	CHECK_EQ(put(3, 10), 0);
	CHECK_EQ(put(4, 10), 0);
	next(3, 0, 10);
	spool_done(&spool, 3, 4);
	spool_done(&spool, 3, 1);
	CHECK(!access(path_of(3, 5, 5), F_OK));
	spool_fini(&spool);
	start(MIB);
	CHECK_EQ(spool.waiting, 15);
	CHECK_EQ((uint64_t)put(3, 10), (uint64_t)-EEXIST);
	next(3, 5, 5);
	next(4, 0, 10);
	next_none();
	CHECK_EQ(stats().spool_refused, 0);
	end(2);
}

TEST(spool_pushes_out_the_oldest_that_is_not_given)
{
	size_t len;
	uint64_t file;

	free(sample_batch(1000000, 100, &len));
	file = len + sizeof(struct spool_hdr);
	begin(3 * file + 1);
	for (uint64_t id = 1; id <= 3; id++)
		CHECK_EQ(put(id, 100), 0);
	next(1, 0, 100);
	CHECK_EQ(put(4, 100), 0);
	CHECK_EQ(last_lost, 2);
	CHECK_EQ(lost[BATCH_QUEUE_FULL], 100);
	CHECK_EQ(stats().spool_full, 100);
	CHECK_EQ(stats().spool_bytes, 3 * file);
	next(3, 0, 100);
	next(4, 0, 100);
	/* all are given, so there is no room; and one is larger than all */
	CHECK_EQ((uint64_t)put(5, 100), (uint64_t)-ENOSPC);
	CHECK_EQ((uint64_t)put(6, 10000), (uint64_t)-EFBIG);
	CHECK_EQ(stats().spool_errors, 2);
	spool_fini(&spool);
	/* with less room, what was left is too much */
	start(file);
	CHECK_EQ(lost[BATCH_QUEUE_FULL], 200);
	next(4, 0, 100);
	end(1);
}

TEST(spool_has_a_limit_of_files)
{
	begin(1024 * MIB);
	for (uint64_t id = 1; id <= SPOOL_FILES_MAX + 2; id++) {
		/* a made-up list: no disk is asked to sync 4,000 files */
		if (id < SPOOL_FILES_MAX) {
			int fd = open(path_of(id, 0, 1),
				      O_WRONLY | O_CREAT | O_EXCL, 0600);

			CHECK(fd >= 0 && write(fd, "12345678", 8) == 8);
			close(fd);
		} else if (id == SPOOL_FILES_MAX) {
			spool_fini(&spool);
			start(1024 * MIB);
			CHECK_EQ(spool.n, SPOOL_FILES_MAX - 1);
		}
		if (id >= SPOOL_FILES_MAX)
			CHECK_EQ(put(id, 1), 0);
	}
	CHECK_EQ(spool.n, SPOOL_FILES_MAX);
	CHECK_EQ(lost[BATCH_QUEUE_FULL], 2);
	CHECK(!spool_has(&spool, 2) && spool_has(&spool, 3));
	end(SPOOL_FILES_MAX);
}

/* As if it had been written so many seconds ago. */
static void age(uint64_t id, uint32_t n, int64_t seconds)
{
	struct timespec t[2];

	CHECK_EQ(clock_gettime(CLOCK_REALTIME, &t[0]), 0);
	t[0].tv_sec -= seconds;
	t[1] = t[0];
	CHECK_EQ(utimensat(AT_FDCWD, path_of(id, 0, n), t, 0), 0);
}

TEST(spool_gives_up_what_is_older_than_a_day)
{
	const int64_t day = SPOOL_AGE_NS / NSEC_PER_SEC;

	begin(MIB);
	for (uint64_t id = 1; id <= 3; id++)
		CHECK_EQ(put(id, (uint32_t)id + 2), 0);
	age(1, 3, day + 2);
	age(2, 4, day - 60);
	age(3, 5, -1000);	/* of a clock that was set back since */
	spool_fini(&spool);
	start(MIB);
	next(2, 0, 4);
	CHECK_EQ(lost[BATCH_GAVE_UP], 3);
	CHECK_EQ(stats().spool_old, 3);
	next(3, 0, 5);
	end(2);
}

TEST(spool_gives_up_damaged_files)
{
	int fd;

	begin(MIB);
	for (uint64_t id = 1; id <= 4; id++)
		CHECK_EQ(put(id, 3), 0);
	fd = open(path_of(1, 0, 3), O_WRONLY);
	CHECK(fd >= 0 && pwrite(fd, "\xff", 1, 100) == 1);
	close(fd);
	CHECK_EQ(truncate(path_of(2, 0, 3), 50), 0);
	CHECK_EQ(unlink(path_of(3, 0, 3)), 0);
	/* another batch's file, by a link */
	CHECK_EQ(symlink(path_of(4, 0, 3), beside()), 0);
	CHECK_EQ(rename(beside(), path_of(3, 0, 3)), 0);
	next(4, 0, 3);
	CHECK_EQ(lost[BATCH_GAVE_UP], 9);
	CHECK_EQ(stats().spool_damaged, 9);
	CHECK_EQ(stats().spool_samples, 3);
	end(1);
}

TEST(spool_removes_what_was_half_written)
{
	int fd;

	begin(MIB);
	spool_fini(&spool);
	snprintf(dir + strlen(dir), 10, "/new.tmp");
	fd = open(dir, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0);
	close(fd);
	dir[strlen(dir) - 8] = '\0';
	start(MIB);
	CHECK_EQ(files(false), 0);
	CHECK_EQ(put(1, 1), 0);
	end(1);
}

TEST(spool_opens_only_a_directory_of_its_own)
{
	struct spool other;

	begin(MIB);
	spool_init(&other, on_lost, &other);
	CHECK_EQ((uint64_t)spool_open(&other, dir, MIB), (uint64_t)-EBUSY);
	spool_fini(&spool);
	CHECK_EQ(chmod(dir, 0711), 0);
	CHECK_EQ((uint64_t)spool_open(&other, dir, MIB), (uint64_t)-EPERM);
	CHECK_EQ(chmod(dir, 0700), 0);
	CHECK_EQ((uint64_t)spool_open(&other, "/nonexistent", MIB),
		 (uint64_t)-ENOENT);
	CHECK_EQ(symlink("/", beside()), 0);
	CHECK(spool_open(&other, beside(), MIB) < 0);
	CHECK_EQ(unlink(beside()), 0);
	CHECK_EQ(symlink(dir, beside()), 0);
	CHECK_EQ(spool_open(&other, beside(), MIB), 0);
	spool_fini(&other);
	CHECK_EQ(unlink(beside()), 0);
	if (geteuid() == 0) {
		CHECK_EQ(chown(dir, 12345, 12345), 0);
		CHECK_EQ((uint64_t)spool_open(&other, dir, MIB),
			 (uint64_t)-EPERM);
	}
	CHECK_EQ(other.dir + 1, 0);
	CHECK_EQ(rmdir(dir), 0);
}

/* --- a disk of 64 KiB ----------------------------------------------------------- */

static void on_small_disk(void)
{
	uint64_t id = 0, fit;

	begin(MIB);
	spool_fini(&spool);
	CHECK_EQ(mount("none", dir, "tmpfs", 0, "size=64k,mode=700"), 0);
	start(MIB);
	while (put(++id, 500) == 0)
		CHECK(id < 100);
	fit = id - 1;
	CHECK(fit > 2);
	CHECK_EQ((uint64_t)put(id, 500), (uint64_t)-ENOSPC);
	CHECK_EQ(stats().spool_errors, 2);
	CHECK(spool.failing);
	/* nothing of it is left, and what was there is whole */
	CHECK_EQ(files(false), fit);
	next(1, 0, 500);
	spool_done(&spool, 1, 500);
	CHECK_EQ(put(id, 500), 0);
	CHECK(!spool.failing);
	for (uint64_t i = 2; i < id; i++)
		next(i, 0, 500);
	spool_fini(&spool);
	/* read-only: all stays, and nothing is given */
	CHECK_EQ(mount("none", dir, NULL, MS_REMOUNT | MS_RDONLY,
		       "size=64k"), 0);
	start(MIB);
	CHECK_EQ(spool.n, 0);
	next_none();
	CHECK_EQ((uint64_t)put(1, 1), (uint64_t)-EROFS);
	CHECK_EQ(files(false), fit);
	spool_fini(&spool);
	CHECK_EQ(umount(dir), 0);
	CHECK_EQ(rmdir(dir), 0);
}

TEST(spool_survives_a_disk_that_is_full_or_read_only)
{
	if (geteuid() || unshare(CLONE_NEWNS) < 0) {
		puts("# needs root to mount a small disk");
		return;
	}
	CHECK_EQ(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	on_small_disk();
}
