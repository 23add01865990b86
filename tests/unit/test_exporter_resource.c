// SPDX-License-Identifier: Apache-2.0
#include "exporterd/resource.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tests/unit/harness.h"
#include "tests/unit/pairs_get.h"

#define ID	"0123456789abcdef0123456789abcdef"

static const char debian[] =
	"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"
	"NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n";

/* A root directory with these files; NULL: none. */
struct root {
	char dir[32];
};

static void put(struct root *root, const char *path, const char *text)
{
	char full[128];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root->dir, path);
	f = fopen(full, "w");
	CHECK(f);
	CHECK(fputs(text, f) >= 0);
	CHECK(fclose(f) == 0);
}

static void make(struct root *root)
{
	char full[128];

	strcpy(root->dir, "/tmp/trifold-test-XXXXXX");
	CHECK(mkdtemp(root->dir));
	for (const char *d = "/etc\0/usr\0/usr/lib\0/var\0/var/lib\0"
	     "/var/lib/dbus\0"; *d; d += strlen(d) + 1) {
		snprintf(full, sizeof(full), "%s%s", root->dir, d);
		CHECK(mkdir(full, 0755) == 0);
	}
}

static void drop(struct root *root)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root->dir);
	CHECK(system(command) == 0);
}

TEST(resource_says_which_host_and_system)
{
	struct resource p = { 0 };
	char description[512];
	struct root root;
	struct utsname u;

	make(&root);
	put(&root, "etc/machine-id", ID "\n");
	put(&root, "etc/os-release", debian);
	CHECK_EQ(resource_load(&p, root.dir), 0);
	CHECK(uname(&u) == 0);
	CHECK_STR(get(&p.pairs, "host.name"), u.nodename);
	CHECK_STR(get(&p.pairs, "host.id"), ID);
	CHECK_STR(get(&p.pairs, "os.type"), "linux");
	CHECK_STR(get(&p.pairs, "os.name"), "Debian GNU/Linux");
	CHECK_STR(get(&p.pairs, "os.version"), "12");
	snprintf(description, sizeof(description),
		 "Debian GNU/Linux 12 (bookworm), Linux %s", u.release);
	CHECK_STR(get(&p.pairs, "os.description"), description);
	CHECK_STR(get(&p.pairs, "telemetry.distro.name"), "trifold");
	if (strcmp(u.machine, "x86_64") == 0)
		CHECK_STR(get(&p.pairs, "host.arch"), "amd64");
	resource_fini(&p);
	drop(&root);
}

TEST(resource_looks_at_second_places)
{
	struct resource p = { 0 };
	struct root root;

	make(&root);
	put(&root, "etc/machine-id", "uninitialized\n");
	put(&root, "var/lib/dbus/machine-id", ID);
	put(&root, "usr/lib/os-release", "NAME=Other\n");
	CHECK_EQ(resource_load(&p, root.dir), 0);
	CHECK_STR(get(&p.pairs, "host.id"), ID);
	CHECK_STR(get(&p.pairs, "os.name"), "Other");
	CHECK_STR(get(&p.pairs, "os.version"), "(none)");
	CHECK_STR(get(&p.pairs, "os.description"), "(none)");
	resource_fini(&p);
	drop(&root);
}

TEST(resource_leaves_out_what_is_not_there)
{
	static const char *const bad[] = {
		"", "\n", "0123", ID "0\n", "0123456789ABCDEF0123456789ABCDEF\n",
		"00000000000000000000000000000000\n", " " ID,
	};
	struct resource p = { 0 };
	struct root root;

	make(&root);
	CHECK_EQ(resource_load(&p, root.dir), 0);
	CHECK_STR(get(&p.pairs, "host.id"), "(none)");
	CHECK_STR(get(&p.pairs, "os.name"), "(none)");
	CHECK_STR(get(&p.pairs, "os.type"), "linux");
	resource_fini(&p);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(&root, "etc/machine-id", bad[i]);
		CHECK_EQ(resource_load(&p, root.dir), 0);
		CHECK_STR(get(&p.pairs, "host.id"), "(none)");
		resource_fini(&p);
	}
	drop(&root);
}

TEST(resource_variables_win)
{
	struct resource p = { 0 };
	struct root root;

	make(&root);
	put(&root, "etc/machine-id", ID "\n");
	put(&root, "etc/os-release", debian);
	setenv("OTEL_RESOURCE_ATTRIBUTES",
	       "host.id=i-1234,os.description=mine,host.name=h,service.name=a,"
	       "telemetry.distro.name=other", 1);
	setenv("OTEL_SERVICE_NAME", "b", 1);
	CHECK_EQ(resource_load(&p, root.dir), 0);
	CHECK_STR(get(&p.pairs, "host.id"), "i-1234");
	CHECK_STR(get(&p.pairs, "os.description"), "mine");
	CHECK_STR(get(&p.pairs, "host.name"), "h");
	CHECK_STR(get(&p.pairs, "service.name"), "b");
	CHECK_STR(get(&p.pairs, "telemetry.distro.name"), "other");
	CHECK_STR(get(&p.pairs, "os.name"), "Debian GNU/Linux");
	resource_fini(&p);
	drop(&root);
}

TEST(os_release_is_read_as_a_shell_would)
{
	static const struct { const char *text, *want; } t[] = {
		{ "NAME=a", "a" }, { "NAME=\"a b\"\n", "a b" },
		{ "NAME='a \\b'\n", "a \\b" }, { "NAME=\"a\\\"b\\$\"", "a\"b$" },
		{ "NAME=a\nNAME=b\n", "b" }, { "X=1\r\nNAME=a\r\n", "a" },
		{ "# NAME=x\nNAME=a # not this\n", "a" },
		{ "XNAME=x", NULL }, { "NAMES=x", NULL }, { "NAME", NULL },
		{ "NAME=", NULL }, { "NAME=\"\"", NULL }, { "NAME=\"a", NULL },
		{ "NAME=\"a\\", NULL }, { "NAME=\"a\n\"", NULL }, { "", NULL },
		{ "NAME=123456789012345", "123456789012345" },
		{ "NAME=1234567890123456", NULL },
	};
	char out[16];

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		bool ok = os_release_value(t[i].text, "NAME", out, sizeof(out));

		if (ok != (t[i].want != NULL))
			printf("# %s\n", t[i].text);
		CHECK_EQ(ok, t[i].want != NULL);
		if (ok)
			CHECK_STR(out, t[i].want);
	}
}

TEST(os_release_survives_every_truncation_and_bit_flip)
{
	char out[16];

	for (size_t n = 0; n < sizeof(debian); n++) {
		char *copy = strndup(debian, n);

		CHECK(copy);
		(void)os_release_value(copy, "NAME", out, sizeof(out));
		(void)os_release_value(copy, "PRETTY_NAME", out, sizeof(out));
		free(copy);
	}
	for (size_t bit = 0; bit < 8 * (sizeof(debian) - 1); bit++) {
		char *copy = strdup(debian);

		CHECK(copy);
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		(void)os_release_value(copy, "NAME", out, sizeof(out));
		free(copy);
	}
}

TEST(resource_has_what_is_wanted)
{
	struct resource p = { 0 };
	struct otlp_how how;
	struct root root;
	struct utsname u;

	make(&root);
	put(&root, "/etc/os-release", debian);
	put(&root, "/etc/machine-id", ID "\n");
	setenv("TRIFOLD_RESOURCE_ONLY", "host.id, process.pid", 1);
	setenv("TRIFOLD_RESOURCE_PER", "host", 1);
	setenv("OTEL_RESOURCE_ATTRIBUTES", "team=a", 1);
	CHECK_EQ(resource_load(&p, root.dir), 0);
	CHECK_EQ(p.per, OTLP_PER_HOST);
	CHECK_STR(get(&p.pairs, "host.id"), ID);
	/* what is configured stays */
	CHECK_STR(get(&p.pairs, "team"), "a");
	CHECK_EQ(p.pairs.n, 2);
	how = resource_how(&p);
	CHECK_EQ(how.per, OTLP_PER_HOST);
	CHECK_STR(how.only[1], "process.pid");
	CHECK(!how.only[2]);
	/* it is not sent, but the host is named after it */
	CHECK_STR(get(&p.pairs, "host.name"), "(none)");
	CHECK(uname(&u) == 0);
	CHECK(how.host_name);
	CHECK_STR(how.host_name, u.nodename);
	resource_fini(&p);
	drop(&root);
}

TEST(resource_presets_are_defaults)
{
	struct resource p = { 0 };
	struct root root;

	make(&root);
	put(&root, "/etc/os-release", debian);
	setenv("TRIFOLD_RESOURCE_PRESET", "pyroscope", 1);
	CHECK_EQ(resource_load(&p, root.dir), 0);
	CHECK_EQ(p.per, OTLP_PER_SERVICE);
	CHECK_STR(get(&p.pairs, "os.type"), "(none)");
	CHECK(strcmp(get(&p.pairs, "host.name"), "(none)"));
	resource_fini(&p);
	p = (struct resource){ 0 };
	setenv("TRIFOLD_RESOURCE_PRESET", "collector", 1);
	setenv("TRIFOLD_RESOURCE_PER", "process", 1);
	CHECK_EQ(resource_load(&p, root.dir), 0);
	CHECK_EQ(p.per, OTLP_PER_PROCESS);
	CHECK_STR(resource_how(&p).only[3], "container.id");
	resource_fini(&p);
	drop(&root);
}

TEST(resource_refuses_what_is_none)
{
	static const char *const names[] = { "PRESET", "PER" };
	char many[200] = "";

	for (int i = 0; i < 33; i++)
		strcat(many, "a.b,");
	for (int i = 0; i < 3; i++) {
		struct resource p = { 0 };
		char name[40];

		snprintf(name, sizeof(name), "TRIFOLD_RESOURCE_%s", i < 2 ? names[i] : "ONLY");
		setenv(name, i < 2 ? "everything" : many, 1);
		CHECK_EQ(resource_load(&p, "/nowhere"), -EINVAL);
		resource_fini(&p);
		unsetenv(name);
	}
}
