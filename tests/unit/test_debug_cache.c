// SPDX-License-Identifier: Apache-2.0
#include "exporterd/debug_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/harness.h"

static struct debug_cache cache;
static char dir[64], path[256];

static struct msg_debuginfo_wanted id_of(uint8_t last)
{
	struct msg_debuginfo_wanted w = { .build_id_len = 20 };

	w.build_id[0] = 0xab;
	w.build_id[19] = last;
	return w;
}

/* Its file. */
static const char *place(uint8_t last)
{
	snprintf(path, sizeof(path), "%s/ab%036d%02x", dir, 0, last);
	return path;
}

static const char *named(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static bool there(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

static void start(uint64_t max_bytes)
{
	debug_cache_init(&cache);
	debug_cache_open(&cache, dir, max_bytes, true);
	CHECK(cache.dir >= 0);
	debug_cache_scan(&cache);
}

static void again(uint64_t max_bytes)
{
	debug_cache_fini(&cache);
	start(max_bytes);
}

static void begin(uint64_t max_bytes)
{
	snprintf(dir, sizeof(dir), "/tmp/trifold-cache-XXXXXX");
	CHECK(mkdtemp(dir));
	start(max_bytes);
}

/* With that many files left. */
static void end(int files)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int n = 0;

	CHECK(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.' && !unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	CHECK_EQ(n, files);
	debug_cache_fini(&cache);
	CHECK_EQ(rmdir(dir), 0);
}

static void make(const char *where, size_t bytes)
{
	int fd = open(where, O_WRONLY | O_CREAT | O_EXCL, 0600);
	char zero[4096] = { 0 };

	CHECK(fd >= 0 && bytes <= sizeof(zero) && write(fd, zero, bytes) == (ssize_t)bytes);
	close(fd);
}

/* A file of so many letters; the one that keep() gives. */
static int put(uint8_t last, size_t bytes)
{
	struct msg_debuginfo_wanted w = id_of(last);
	bool before = there(place(last));	/* under that name */
	char text[65536];

	CHECK(bytes <= sizeof(text));
	memset(text, 'a' + last, bytes);
	CHECK_EQ(debug_cache_begin(&cache), 0);
	CHECK_EQ(debug_cache_write(&cache, text, bytes / 2), 0);
	CHECK(there(named("new.tmp")) && there(place(last)) == before);
	CHECK_EQ(debug_cache_write(&cache, text + bytes / 2, bytes - bytes / 2), 0);
	CHECK_EQ(debug_cache_sync(&cache), 0);
	return debug_cache_keep(&cache, &w);
}

static void put_close(uint8_t last, size_t bytes)
{
	int fd = put(last, bytes);

	CHECK(fd >= 0 && !close(fd));
}

/* That is what put() wrote, and it can only be read. */
static void check_file(int fd, uint8_t last, size_t bytes)
{
	char text[65536];

	CHECK(fd >= 0);
	CHECK_EQ(pread(fd, text, sizeof(text), 0), bytes);
	CHECK(text[0] == 'a' + last && text[bytes - 1] == 'a' + last);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	CHECK(write(fd, "x", 1) < 0 && ftruncate(fd, 0) < 0);
	close(fd);
}

static int get(uint8_t last)
{
	struct msg_debuginfo_wanted w = id_of(last);

	return debug_cache_get(&cache, &w);
}

TEST(file_is_there_when_it_is_whole_and_stays)
{
	begin(1 << 20);
	CHECK_EQ(get(1), -ENOENT);
	check_file(put(1, 1000), 1, 1000);
	check_file(get(1), 1, 1000);
	CHECK_EQ(get(2), -ENOENT);
	CHECK(!there(named("new.tmp")));
	again(1 << 20);
	check_file(get(1), 1, 1000);
	CHECK(cache.n == 1 && cache.bytes == 1000 && !cache.errors && !cache.refused);
	end(1);
}

TEST(what_a_crash_left_goes)
{
	begin(1 << 20);
	CHECK_EQ(debug_cache_begin(&cache), 0);
	CHECK_EQ(debug_cache_write(&cache, "x", 1), 0);
	close(cache.new_fd);		/* it died here */
	close(cache.read_fd);
	cache.new_fd = cache.read_fd = -1;
	CHECK(there(named("new.tmp")));
	again(1 << 20);
	CHECK(!there(named("new.tmp")) && cache.n == 0);
	/* so does one that was given up */
	CHECK_EQ(debug_cache_begin(&cache), 0);
	debug_cache_give_up(&cache);
	end(0);
}

TEST(least_recently_used_go_first_also_after_a_start)
{
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };

	begin(3000);
	for (uint8_t i = 0; i < 3; i++)
		put_close(i, 1000);
	close(get(0));
	put_close(3, 1000);
	CHECK(cache.n == 3 && cache.bytes == 3000 && cache.evicted == 1);
	CHECK_EQ(get(1), -ENOENT);
	CHECK(!there(place(1)) && there(place(0)));
	/* not used for long, and used again: that is in the file */
	CHECK(!utimensat(AT_FDCWD, place(0), old, 0) && !utimensat(AT_FDCWD, place(2), old, 0));
	again(3000);
	close(get(0));
	again(2000);
	CHECK(cache.n == 2 && !there(place(2)) && there(place(0)) && there(place(3)));
	/* one that is larger than all may be is handed out, and not kept */
	check_file(put(4, 2001), 4, 2001);
	CHECK(cache.n == 2 && cache.bytes == 2000);
	CHECK_EQ(get(4), -ENOENT);
	end(2);
}

TEST(files_are_so_many)
{
	begin(UINT64_MAX);
	for (uint32_t i = 0; i < DEBUG_CACHE_FILES_MAX + 5; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%016x", i);
		make(named(name), 1);
	}
	again(UINT64_MAX);
	CHECK_EQ(cache.n, DEBUG_CACHE_FILES_MAX - 1);
	put_close(1, 10);
	put_close(2, 10);
	CHECK_EQ(cache.n, DEBUG_CACHE_FILES_MAX);
	end(DEBUG_CACHE_FILES_MAX);
}

TEST(same_build_id_is_one_file)
{
	begin(1 << 20);
	put_close(1, 1000);
	check_file(put(1, 500), 1, 500);
	CHECK(cache.n == 1 && cache.bytes == 500);
	end(1);
}

TEST(what_was_of_no_use_goes_and_stays_with_those_who_have_it)
{
	struct msg_debuginfo_wanted w = id_of(1), other = id_of(2);
	int fd;

	begin(1 << 20);
	put_close(1, 1000);
	fd = get(1);
	debug_cache_drop(&cache, &other);
	debug_cache_drop(&cache, &w);
	CHECK_EQ(get(1), -ENOENT);
	CHECK(cache.n == 0 && cache.bytes == 0 && !there(place(1)));
	check_file(fd, 1, 1000);
	end(0);
}

TEST(what_is_not_ours_is_left_alone)
{
	static const char *const no[] = {
		"ab", "abcd", "0123456789abcde", "0123456789ABCDEF", "0123456789abcdeg",
		"0123456789abcdef.debug", "readme",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef00",
	};
	int n = (int)(sizeof(no) / sizeof(no[0]));

	begin(1 << 20);
	for (int i = 0; i < n; i++)
		make(named(no[i]), 1);
	CHECK_EQ(symlink("/etc/passwd", place(1)), 0);
	CHECK_EQ(mkfifo(place(2), 0600), 0);
	if (geteuid() == 0) {
		make(place(3), 10);
		CHECK_EQ(chown(path, 12345, 12345), 0);
	}
	again(1 << 20);
	CHECK_EQ(cache.refused, n + 2 + (geteuid() == 0));
	for (uint8_t i = 1; i < 4; i++)
		CHECK_EQ(get(i), -ENOENT);
	CHECK(cache.n == 0 && there(place(1)) && there(place(2)));
	/* a file of ours takes the place of a link; what that leads to stays */
	check_file(put(1, 100), 1, 100);
	check_file(get(1), 1, 100);
	CHECK(there("/etc/passwd") && !cache.errors);
	end(n + 2 + (geteuid() == 0));
}

TEST(what_was_changed_meanwhile_is_not_there)
{
	begin(1 << 20);
	for (uint8_t i = 0; i < 5; i++)
		put_close(i, 1000);
	CHECK_EQ(truncate(place(0), 999), 0);		/* short */
	CHECK(!unlink(place(1)));
	CHECK(!unlink(place(2)) && !symlink("/etc/passwd", place(2)));
	CHECK(!unlink(place(3)) && !mkfifo(place(3), 0600));
	for (uint8_t i = 0; i < 4; i++)
		CHECK_EQ(get(i), -ENOENT);
	CHECK_EQ(cache.errors, 4);
	CHECK(cache.n == 1 && cache.bytes == 1000 && !there(place(0)));
	check_file(put(0, 10), 0, 10);
	check_file(get(4), 4, 1000);
	end(4);
}

TEST(empty_file_is_none)
{
	begin(1 << 20);
	make(place(1), 0);	/* a file system that lost what was in it */
	again(1 << 20);
	CHECK_EQ(get(1), -ENOENT);
	CHECK(!there(place(1)));
	end(0);
}

TEST(directory_in_a_files_place_is_an_error_and_no_harm)
{
	begin(1 << 20);
	CHECK_EQ(mkdir(place(1), 0700), 0);
	check_file(put(1, 100), 1, 100);
	CHECK(cache.errors == 1 && cache.n == 0 && cache.bytes == 0 && cache.failing);
	CHECK_EQ(rmdir(place(1)), 0);
	put_close(1, 100);
	CHECK(cache.errors == 1 && cache.n == 1 && !cache.failing);
	end(1);
}

static void check_no_cache(bool asked)
{
	debug_cache_init(&cache);
	debug_cache_open(&cache, dir, 1 << 20, asked);
	CHECK_EQ(cache.dir, -1);
	debug_cache_scan(&cache);
	CHECK_EQ(get(1), -ENOENT);
	CHECK_EQ(debug_cache_begin(&cache), -ENOENT);
	debug_cache_fini(&cache);
}

TEST(directory_that_cannot_be_used_is_no_cache)
{
	int other;

	begin(1 << 20);
	other = cache.dir;		/* as another exporterd */
	check_no_cache(true);
	close(other);
	CHECK_EQ(chmod(dir, 0750), 0);
	check_no_cache(true);
	CHECK_EQ(chmod(dir, 0700), 0);
	if (geteuid() == 0) {
		CHECK_EQ(chown(dir, 12345, 12345), 0);
		check_no_cache(true);
	}
	CHECK_EQ(rmdir(dir), 0);
	check_no_cache(true);
	check_no_cache(false);
}

/* --- disks ---------------------------------------------------------------------- */

/* A tmpfs with these options on a directory, in a mount namespace of its own. */
static void with_mount(const char *options, void (*fn)(void))
{
	pid_t pid;
	int status;

	if (geteuid() != 0) {
		printf("# mounts need root\n");
		return;
	}
	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		snprintf(dir, sizeof(dir), "/tmp/trifold-cache-XXXXXX");
		CHECK(mkdtemp(dir) && !unshare(CLONE_NEWNS));
		CHECK(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
		CHECK(!mount("none", dir, "tmpfs", 0, options));
		start(1 << 30);
		fn();
		debug_cache_fini(&cache);
		CHECK(!umount(dir) && !rmdir(dir));
		fflush(NULL);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

static void on_full(void)
{
	char text[65536] = "what came", got[9];
	int r = 0;

	put_close(1, 65536);
	CHECK_EQ(debug_cache_begin(&cache), 0);
	for (int i = 0; i < 16 && r == 0; i++)
		r = debug_cache_write(&cache, text, sizeof(text));
	CHECK_EQ(r, -ENOSPC);
	CHECK(cache.errors == 1 && cache.failing);
	/* for the one who goes on in memory */
	CHECK(read(cache.read_fd, got, 9) == 9 && !memcmp(got, "what came", 9));
	debug_cache_give_up(&cache);
	check_file(get(1), 1, 65536);
	put_close(2, 65536);		/* there is room for it now */
	CHECK(cache.errors == 1 && !cache.failing);
}

TEST(full_disk_is_an_error)
{
	with_mount("size=512k,mode=700", on_full);
}

static void on_no_files(void)
{
	CHECK_EQ(debug_cache_begin(&cache), -ENOSPC);
	CHECK_EQ(cache.errors, 1);
}

TEST(disk_without_room_for_a_file_is_an_error)
{
	with_mount("nr_inodes=1,mode=700", on_no_files);
}

static void on_read_only(void)
{
	put_close(1, 100);
	CHECK(!mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, "mode=700"));
	CHECK_EQ(debug_cache_begin(&cache), -EROFS);
	check_file(get(1), 1, 100);
	/* the next one finds it so */
	debug_cache_fini(&cache);
	debug_cache_init(&cache);
	debug_cache_open(&cache, dir, 1 << 20, true);
	debug_cache_scan(&cache);
	CHECK(cache.dir == -1 && cache.errors == 1);
}

TEST(disk_that_became_read_only_is_an_error)
{
	with_mount("mode=700", on_read_only);
}
