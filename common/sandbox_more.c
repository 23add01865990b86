// SPDX-License-Identifier: Apache-2.0
#include "common/sandbox_more.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/landlock.h; Documentation/userspace-api/landlock.rst */
#ifndef __NR_landlock_add_rule
#define __NR_landlock_add_rule	445
#endif
#define LL_WRITE_FILE	(1ULL << 1)
#define LL_READ_FILE	(1ULL << 2)
#define LL_READ_DIR	(1ULL << 3)
#define LL_REMOVE_FILE	(1ULL << 5)
#define LL_MAKE_REG	(1ULL << 8)

struct ll_beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

static int allow_reading(int ruleset, const char *path)
{
	struct ll_beneath rule = { LL_READ_FILE, -1 };
	struct stat st;
	int r;

	rule.fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.fd < 0)
		return errno == ENOENT ? 0 : -1;
	if (fstat(rule.fd, &st) == 0 && S_ISDIR(st.st_mode))
		rule.allowed |= LL_READ_DIR;
	r = (int)syscall(__NR_landlock_add_rule, ruleset, 1, &rule, 0);
	close(rule.fd);
	return r;
}

struct ll_files {
	const char *const *paths;
	const int *dirs;
	int n;
};

static int allow_all(int ruleset, const void *ctx)
{
	const struct ll_files *f = ctx;
	struct ll_beneath rule = {
		LL_WRITE_FILE | LL_READ_FILE | LL_READ_DIR | LL_REMOVE_FILE |
		LL_MAKE_REG, -1,
	};
	int r = 0;

	for (int i = 0; i < f->n && r == 0; i++) {
		rule.fd = f->dirs[i];
		if (rule.fd >= 0)
			r = (int)syscall(__NR_landlock_add_rule, ruleset, 1, &rule, 0);
	}
	for (const char *const *p = f->paths; *p && r == 0; p++)
		r = allow_reading(ruleset, *p);
	return r;
}

int sandbox_landlock_files(const char *const *paths, const int *dirs, int n)
{
	const struct ll_files files = { paths, dirs, n };

	return sandbox_landlock(true, allow_all, &files);
}

int sandbox_landlock_read(const char *const *paths)
{
	return sandbox_landlock_files(paths, NULL, 0);
}
