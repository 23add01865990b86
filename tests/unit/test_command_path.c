// SPDX-License-Identifier: Apache-2.0
#include "cli/record/command_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/harness.h"

static char dir[] = "/tmp/command_path.XXXXXX";

static void make(const char *name, mode_t mode)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	close(open(path, O_CREAT | O_EXCL | O_WRONLY, mode));
}

static void remove_one(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	remove(path);
}

TEST(names_are_found_as_execvp_finds_them)
{
	char path[PATH_MAX], want[64], list[200], *was = strdup(getenv("PATH"));

	CHECK(mkdtemp(dir) != NULL);
	make("run", 0755);
	make("data", 0644);
	snprintf(want, sizeof(want), "%s/folder", dir);
	mkdir(want, 0755);
	snprintf(list, sizeof(list), "/nonexistent:%s:/usr/bin:/bin", dir);
	setenv("PATH", list, 1);
	snprintf(want, sizeof(want), "%s/run", dir);
	CHECK_EQ(command_path("run", path), 0);
	CHECK(!strcmp(path, want));
	CHECK_EQ(command_path(want, path), 0);
	CHECK(!strcmp(path, want));
	/* one that may not be run is passed by, but is not "nowhere" */
	CHECK_EQ(command_path("data", path), -EACCES);
	CHECK_EQ(command_path("folder", path), -EACCES);
	CHECK_EQ(command_path("/bin", path), -EACCES);
	make("sed", 0644);
	CHECK_EQ(command_path("sed", path), 0);
	CHECK(strstr(path, "bin/sed") != NULL);
	CHECK_EQ(command_path("no-such-command-here", path), -ENOENT);
	CHECK_EQ(command_path("/bin/sed/x", path), -ENOENT);
	CHECK_EQ(command_path("", path), -ENOENT);
	setenv("PATH", "", 1);
	CHECK_EQ(chdir(dir), 0);
	CHECK_EQ(command_path("run", path), 0);
	CHECK(!strcmp(path, "run"));
	unsetenv("PATH");
	CHECK_EQ(command_path("sed", path), 0);
	setenv("PATH", was, 1);
	free(was);
	CHECK_EQ(chdir("/"), 0);
	for (int i = 0; i < 4; i++)
		remove_one((const char *[]){ "run", "data", "folder", "sed" }[i]);
	CHECK_EQ(rmdir(dir), 0);
}

TEST(a_long_path_is_refused)
{
	static char name[PATH_MAX + 8];
	char path[PATH_MAX];

	memset(name, 'a', sizeof(name) - 1);
	CHECK_EQ(command_path(name, path), -ENOENT);
	name[0] = '/';
	CHECK_EQ(command_path(name, path), -ENAMETOOLONG);
}
