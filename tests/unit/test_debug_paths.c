// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/debug_paths.h"
#include "tests/unit/harness.h"

#include <string.h>

static const struct build_id id = { .len = 3, .bytes = { 0xab, 0x0c, 0xff } }, none;
static struct msg_wanted q;

/* The n-th path, or "". */
static const char *path(int n)
{
	const char *p = q.paths;

	CHECK(!q.paths[sizeof(q.paths) - 1]);
	while (n-- && *p)
		p += strlen(p) + 1;
	return p;
}

static void set(const struct build_id *i, const char *exe, const char *link)
{
	memset(&q, 'x', sizeof(q));
	debug_paths_set(&q, i, exe, link);
}

TEST(debug_paths_are_in_gdbs_order)
{
	set(&id, "/usr/bin/prog", "prog.debug");
	CHECK_STR(path(0), "/usr/lib/debug/.build-id/ab/0cff.debug");
	CHECK_STR(path(1), "/usr/bin/prog.debug");
	CHECK_STR(path(2), "/usr/bin/.debug/prog.debug");
	CHECK_STR(path(3), "/usr/lib/debug/usr/bin/prog.debug");
	CHECK_STR(path(4), "");
	set(&none, "/prog", "a.debug");
	CHECK_STR(path(0), "/a.debug");
	CHECK_STR(path(1), "/.debug/a.debug");
	CHECK_STR(path(2), "/usr/lib/debug/a.debug");
	CHECK_STR(path(3), "");
}

TEST(debug_paths_without_a_link)
{
	set(&id, "/usr/bin/prog", "");
	CHECK_STR(path(0), "/usr/lib/debug/.build-id/ab/0cff.debug");
	CHECK_STR(path(1), "");
	set(&id, NULL, "prog.debug");
	CHECK_STR(path(1), "");
	set(&id, "[vdso]", "prog.debug");
	CHECK_STR(path(1), "");
	set(&none, NULL, "");
	CHECK_STR(path(0), "");
}

TEST(debug_paths_of_a_link_that_is_none)
{
	static const char *const bad[] = {
		".debug", "x", "shadow", "../../etc/shadow", "a/b.debug", "/etc/x.debug",
		"x.debugs",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK(!msg_debug_link(bad[i]));
		set(&id, "/usr/bin/prog", bad[i]);
		CHECK_STR(path(1), "");
	}
	CHECK(msg_debug_link("x.debug"));
}

TEST(debug_paths_of_an_alternate_file)
{
	static const char *const bad[] = { "/etc/passwd", "..", "../x", "a/../../x", "a/.." };

	memset(&q, 'x', sizeof(q));
	debug_paths_alternate(&q, &id, "x86_64-linux-gnu/foo.debug");
	CHECK_STR(path(0), "/usr/lib/debug/.build-id/ab/0cff.debug");
	CHECK_STR(path(1), "/usr/lib/debug/.dwz/x86_64-linux-gnu/foo.debug");
	CHECK_STR(path(2), "");
	debug_paths_alternate(&q, &id, "foo-1.0-1.fc39.x86_64");
	CHECK_STR(path(1), "/usr/lib/debug/.dwz/foo-1.0-1.fc39.x86_64");
	CHECK_STR(path(2), "");
	debug_paths_alternate(&q, &id, "");
	CHECK_STR(path(0), "/usr/lib/debug/.build-id/ab/0cff.debug");
	CHECK_STR(path(1), "");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK(!msg_debug_alternate(bad[i]));
		debug_paths_alternate(&q, &id, bad[i]);
		CHECK_STR(path(1), "");
	}
}

TEST(debug_paths_of_a_package)
{
	memset(&q, 'x', sizeof(q));
	debug_paths_package(&q, "/usr/bin/prog", "");
	CHECK_STR(path(0), "/usr/bin/prog.dwp");
	CHECK_STR(path(1), "");
	debug_paths_package(&q, "/usr/bin/prog", "p.debug");
	CHECK_STR(path(0), "/usr/bin/prog.dwp");
	CHECK_STR(path(1), "/usr/bin/p.debug.dwp");
	CHECK_STR(path(2), "/usr/bin/.debug/p.debug.dwp");
	CHECK_STR(path(3), "/usr/lib/debug/usr/bin/p.debug.dwp");
	CHECK_STR(path(4), "");
	debug_paths_package(&q, "/usr/bin/prog", "../p.debug");
	CHECK_STR(path(1), "");
	debug_paths_package(&q, "prog", "p.debug");
	CHECK_STR(path(0), "");
	debug_paths_package(&q, NULL, "p.debug");
	CHECK_STR(path(0), "");
}

/* What has no room is left out; what is there is whole. */
TEST(debug_paths_that_are_long)
{
	char exe[1200];

	for (size_t n = 1; n < sizeof(exe) - 8; n++) {
		memset(exe, 'd', sizeof(exe));
		exe[0] = exe[n] = '/';
		strcpy(exe + n + 1, "prog");
		set(&id, exe, "prog.debug");
		for (int i = 0; *path(i); i++) {
			size_t len = strlen(path(i));

			CHECK(len > 6 && !strcmp(path(i) + len - 6, ".debug"));
		}
		CHECK_STR(path(0), "/usr/lib/debug/.build-id/ab/0cff.debug");
	}
}
