// SPDX-License-Identifier: Apache-2.0
/* The configuration in several files: which, in what order, who wins. */
#include "cli/config/config.h"
#include "cli/config/file.h"
#include "cli/config/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/harness.h"

static char top[64], vendor[80], admin[80], said[8192];
static struct config c;

static void say(const char *path, uint32_t line, bool warning, const char *text)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%s:%u%s %s\n", path + strlen(top) + 1,
		 line, warning ? "w" : "", text);
}

static const char *in(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in(name), "w");

	CHECK(f != NULL);
	CHECK(fputs(text, f) >= 0);
	CHECK_EQ(fclose(f), 0);
	CHECK_EQ(chmod(in(name), 0600), 0);
}

static void begin(void)
{
	snprintf(top, sizeof(top), "/tmp/trifold-places-XXXXXX");
	CHECK(mkdtemp(top) != NULL);
	snprintf(vendor, sizeof(vendor), "%s/lib", top);
	snprintf(admin, sizeof(admin), "%s/etc", top);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(mkdir(in((const char *[]){ "lib", "etc", "lib/trifold.conf.d",
						    "etc/trifold.conf.d" }[i]), 0755), 0);
}

static void end(void)
{
	char command[80];

	config_fini(&c);
	snprintf(command, sizeof(command), "rm -r %s", top);
	CHECK_EQ(system(command), 0);
}

static int load(void)
{
	config_fini(&c);
	said[0] = '\0';
	return config_load_below(&c, vendor, admin, NULL, say);
}

static const char *origin(enum config_id id)
{
	static char out[512];

	config_origin(&c, c.value, id, out, sizeof(out));
	return strncmp(out, top, strlen(top)) ? out : out + strlen(top) + 1;
}

TEST(config_is_made_of_all_files_by_name)
{
	begin();
	put("lib/trifold.conf", "[sampling]\nfrequency=1\n");
	put("lib/trifold.conf.d/20-b.conf", "[sampling]\nfrequency=20\n[tables]\nidle=20\n");
	put("etc/trifold.conf.d/10-a.conf", "[sampling]\nfrequency=10\n[tables]\nbudget=10\n");
	put("etc/trifold.conf.d/30-c.conf", "[tables]\nidle=30\n");
	put("etc/trifold.conf.d/40-d.conf~", "nonsense");
	put("etc/trifold.conf.d/.50-e.conf", "nonsense");
	CHECK_EQ(load(), 0);
	CHECK(geteuid() || !*said);	/* who is not root is told who owns the files */
	CHECK_EQ(c.n_files, 4);
	CHECK_STR(origin(KEY_FREQUENCY), "lib/trifold.conf.d/20-b.conf:2");
	CHECK_STR(origin(KEY_BUDGET), "etc/trifold.conf.d/10-a.conf:4");
	CHECK_STR(origin(KEY_IDLE), "etc/trifold.conf.d/30-c.conf:2");
	CHECK_EQ(config_number(&c, KEY_FREQUENCY), 20);
	/* the administrator's file takes the vendor's place */
	put("etc/trifold.conf", "[export]\nservice_name=\n");
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "etc/trifold.conf:2 service_name belongs in [resource]"));
	CHECK(!strstr(said, "lib/trifold.conf:"));
	CHECK_EQ(c.n_files, 4);
	end();
}

TEST(config_hides_files_of_the_vendor)
{
	begin();
	put("lib/trifold.conf.d/a.conf", "[sampling]\nfrequency=1\n");
	put("lib/trifold.conf.d/b.conf", "[sampling]\ninterval=2\n");
	put("etc/trifold.conf.d/a.conf", "[tables]\nbudget=3\n");
	CHECK_EQ(symlink("/dev/null", in("etc/trifold.conf.d/b.conf")), 0);
	CHECK_EQ(load(), 0);
	CHECK_EQ(c.n_files, 1);
	CHECK_STR(origin(KEY_FREQUENCY), "default");
	CHECK_STR(origin(KEY_INTERVAL), "default");
	CHECK_EQ(config_number(&c, KEY_BUDGET), 3);
	CHECK_EQ(symlink("/dev/null", in("etc/trifold.conf")), 0);
	put("lib/trifold.conf", "[sampling]\nfrequency=1\n");
	CHECK_EQ(load(), 0);
	CHECK_EQ(c.n_files, 1);
	/* a link to another place hides nothing */
	CHECK_EQ(symlink("/dev/null/x", in("etc/trifold.conf.d/c.conf")), 0);
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "etc/trifold.conf.d/c.conf:0 cannot be read: "));
	end();
}

TEST(config_of_no_files_is_the_defaults)
{
	begin();
	CHECK_EQ(load(), 0);
	CHECK_EQ(c.n_files, 0);
	CHECK_STR(config_path(&c, 0), CONFIG_PATH_DEFAULT);
	CHECK_EQ(rmdir(in("lib/trifold.conf.d")), 0);
	CHECK_EQ(rmdir(in("etc/trifold.conf.d")), 0);
	CHECK_EQ(rmdir(in("lib")), 0);
	CHECK_EQ(rmdir(in("etc")), 0);
	CHECK_EQ(load(), 0);
	CHECK_STR(said, "");
	end();
}

TEST(config_takes_a_value_back_in_a_later_file)
{
	begin();
	put("etc/trifold.conf", "[export]\nendpoint=http://a\nheaders=x=y\n[sampling]\nfrequency=nine\n");
	put("etc/trifold.conf.d/a.conf", "[export]\nheaders=\n[sampling]\nfrequency=9\nfrequency=10\n");
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "etc/trifold.conf:5 frequency needs a number"));
	CHECK(strstr(said, "etc/trifold.conf.d/a.conf:5 frequency was set in line 4 already"));
	CHECK_EQ(c.mistakes, 2);
	CHECK_STR(c.value[KEY_HEADERS].text, "");
	CHECK_STR(origin(KEY_HEADERS), "default");
	CHECK_EQ(config_number(&c, KEY_FREQUENCY), 9);
	CHECK_STR(origin(KEY_ENDPOINT), "etc/trifold.conf:2");
	end();
}

TEST(config_adds_to_a_receiver_in_a_later_file)
{
	begin();
	put("lib/trifold.conf.d/a.conf", "[export \"x\"]\nendpoint=http://a\n");
	put("etc/trifold.conf.d/b.conf", "[export \"x\"]\nheaders=k=v\n[export \"y\"]\nca=/ca\n");
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "etc/trifold.conf.d/b.conf:3 [export \"y\"] needs an endpoint"));
	CHECK_EQ(c.n_more, 2);
	CHECK_STR(c.more[0].value[KEY_ENDPOINT].text, "http://a");
	CHECK_STR(c.more[0].value[KEY_HEADERS].text, "k=v");
	put("etc/trifold.conf.d/b.conf", "[export \"x\"]\nca=/ca\n[export \"x\"]\n");
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "b.conf:3 [export \"x\"] is in line 1 already"));
	end();
}

TEST(config_believes_no_directory_that_others_write)
{
	if (geteuid())
		return;
	begin();
	CHECK_EQ(chmod(in("etc/trifold.conf.d"), 0775), 0);
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "etc/trifold.conf.d:0 others than root may write it"));
	CHECK_EQ(chmod(in("etc/trifold.conf.d"), 0755), 0);
	CHECK_EQ(chown(in("etc/trifold.conf.d"), 12345, 0), 0);
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "etc/trifold.conf.d:0 it belongs to user 12345"));
	CHECK_EQ(chown(in("etc/trifold.conf.d"), 0, 0), 0);
	put("etc/trifold.conf.d/a.conf", "[sampling]\nfrequency=9\n");
	CHECK_EQ(chmod(in("etc/trifold.conf.d/a.conf"), 0620), 0);
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "etc/trifold.conf.d/a.conf:0 others than root may write it"));
	end();
}

TEST(config_limits_files_and_bytes)
{
	char name[64], *text = malloc(CONFIG_FILE_MAX + 1);

	CHECK(text != NULL);
	begin();
	memset(text, '#', CONFIG_FILE_MAX);
	for (size_t i = 80; i < CONFIG_FILE_MAX; i += 80)
		text[i] = '\n';
	text[CONFIG_FILE_MAX] = '\0';
	put("etc/trifold.conf", text);
	CHECK_EQ(load(), 0);
	put("etc/trifold.conf.d/a.conf", "[log]\n");
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "a.conf:0 the file is larger than 65536 bytes, together with"));
	CHECK_EQ(unlink(in("etc/trifold.conf")), 0);
	for (int i = 0; i < CONFIG_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "%s/trifold.conf.d/%02d.conf", i % 2 ? "lib" : "etc", i);
		put(name, "");
	}
	CHECK_EQ(load(), -EINVAL);
	CHECK(strstr(said, "one file too many"));
	free(text);
	end();
}
