// SPDX-License-Identifier: Apache-2.0
#include "cli/record/container_name.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/record/container_json.h"
#include "tests/unit/harness.h"

#define A	"0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
#define B	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C	"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

/* The order and the neighbours that dockerd writes. */
static const char docker[] =
	"{\"StreamConfig\":{},\"State\":{\"Running\":true,\"Pid\":4711,\"Error\":"
	"\"\"},\"ID\":\"" A "\",\"Args\":[\"-c\",\"\\\"Name\\\":\\\"/no\\\"\"],"
	"\"Config\":{\"Hostname\":\"x\",\"Name\":\"/inner\",\"Env\":[\"Name\"]},"
	"\"LogPath\":\"\",\"Name\":\"/web\",\"Driver\":\"overlay2\",\"OS\":"
	"\"linux\",\"MountPoints\":{\"/d\":{\"Name\":\"/volume\"}}}\n";

/* As podman 4.3.1 wrote it, and a second one. */
static const char podman[] =
	"[{\"id\":\"" B "\",\"names\":[\"db\"],\"image\":\"" C "\",\"layer\":\""
	C "\",\"metadata\":\"{\\\"image-name\\\":\\\"localhost/cr:1\\\",\\\"name"
	"\\\":\\\"db\\\",\\\"created-at\\\":1795396727}\",\"created\":"
	"\"2026-11-23T01:18:47.443370048Z\",\"flags\":{\"MountLabel\":\"\","
	"\"names\":[\"inner\"]}},{\"names\":[\"cache\",\"web\"],\"flags\":null,"
	"\"id\":\"" A "\"}]";

/* In memory of exact size, so that the sanitizer sees a read beyond it. */
static bool of_docker(const char *text, size_t len, const char *name)
{
	char *copy = malloc(len ? len : 1);
	bool r;

	memcpy(copy, text, len);
	r = container_json_docker(copy, len, name);
	free(copy);
	return r;
}

static const char *of_podman(const char *text, size_t len, const char *name)
{
	static char id[CONTAINER_JSON_ID + 1];
	char *copy = malloc(len ? len : 1);
	bool r;

	memcpy(copy, text, len);
	r = container_json_podman(copy, len, name, id);
	free(copy);
	CHECK(!r || container_json_is_id(id, strlen(id)));
	return r ? id : "";
}

#define DOCKER(s, name)	of_docker(s, strlen(s), name)
#define PODMAN(s, name)	of_podman(s, strlen(s), name)

TEST(the_name_in_dockers_file)
{
	static const char *const not[] = {
		"", "{}", "[]", "\"Name\"", "[\"Name\",\"/web\"]",
		"{\"Name\":\"web\"}", "{\"Name\":\"/web2\"}", "{\"Name\":1}",
		"{\"Name\":[\"/web\"]}", "{\"name\":\"/web\"}",
		"{\"Name\":\"/web\"", "{\"Name\":\"/web\"]", "{\"Name\":\"/web\"}}",
		"{\"Name\":\"/web\"}{}", "{\"Name\":\"/web\"} x",
		"{\"Name\":\"/web\n\"}", "{\"Name\":\"/w\\u0065b\"}",
		"{\"Name\":\"/web\",\"Name\":\"/db\"}", "x{\"Name\":\"/web\"}",
	};

	CHECK(DOCKER(docker, "web"));
	CHECK(!DOCKER(docker, "no") && !DOCKER(docker, "inner"));
	CHECK(!DOCKER(docker, "volume") && !DOCKER(docker, "we"));
	CHECK(DOCKER(" {\n \"Name\" :\t\"/web\" ,\r\"a\":[{}]}\n", "web"));
	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++)
		CHECK(!DOCKER(not[i], "web"));
}

TEST(the_names_in_podmans_file)
{
	static const char *const not[] = {
		"", "[]", "{}", "[[\"id\",\"" A "\",\"names\",\"web\"]]",
		"[{\"id\":\"" A "\"}]", "[{\"names\":[\"web\"]}]",
		"[{\"id\":\"" A "\"},{\"names\":[\"web\"]}]",
		"[{\"id\":\"" A "0\",\"names\":[\"web\"]}]",
		"[{\"id\":\"../../etc\",\"names\":[\"web\"]}]",
		"[{\"id\":\"" A "\",\"names\":\"web\"}]",
		"[{\"id\":\"" A "\",\"names\":{\"a\":\"web\"}}]",
		"[{\"id\":\"" A "\",\"names\":[[\"web\"]]}]",
		"{\"a\":{\"id\":\"" A "\",\"names\":[\"web\"]}}",
		"[{\"id\":\"" A "\",\"names\":[\"web\"]}",
		"[{\"id\":\"" A "\",\"names\":[\"web\"]}][]",
	};

	CHECK_STR(PODMAN(podman, "db"), B);
	CHECK_STR(PODMAN(podman, "web"), A);
	CHECK_STR(PODMAN(podman, "cache"), A);
	CHECK_STR(PODMAN(podman, "inner"), "");
	CHECK_STR(PODMAN(podman, "d"), "");
	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++)
		CHECK_STR(PODMAN(not[i], "web"), "");
}

TEST(a_file_that_is_cut_says_nothing)
{
	/* the newline behind it is not needed */
	for (size_t len = 0; len < strlen(docker) - 1; len++)
		CHECK(!of_docker(docker, len, "web"));
	for (size_t len = 0; len < strlen(podman); len++)
		CHECK_STR(of_podman(podman, len, "web"), "");
}

TEST(a_flipped_bit_gives_an_id_or_nothing)
{
	char copy[sizeof(docker) + sizeof(podman)];

	for (size_t bit = 0; bit < 8 * strlen(docker); bit++) {
		memcpy(copy, docker, sizeof(docker));
		copy[bit / 8] ^= (char)(1 << bit % 8);
		of_docker(copy, strlen(docker), "web");
	}
	for (size_t bit = 0; bit < 8 * strlen(podman); bit++) {
		memcpy(copy, podman, sizeof(podman));
		copy[bit / 8] ^= (char)(1 << bit % 8);
		of_podman(copy, strlen(podman), "web");	/* checks the ID */
	}
}

TEST(deep_brackets_are_refused)
{
	char text[400] = "{\"Name\":\"/web\",\"a\":";
	size_t len = strlen(text);

	for (size_t deep = 1; deep < 100; deep++) {
		memset(text + len, '[', deep);
		memset(text + len + deep, ']', deep);
		memcpy(text + len + 2 * deep, "}", 2);
		CHECK_EQ(DOCKER(text, "web"), deep < CONTAINER_JSON_DEPTH);
	}
}

/* --- the files of engines ------------------------------------------------------------ */

static char dir[64];
static int root;
static struct container_matches m;

static void put(const char *path, const char *text)
{
	char command[900];
	FILE *f;

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", path);
	CHECK_EQ(system(command), 0);
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void enter(void)
{
	if (geteuid() != 0) {
		printf("# needs root\n");
		exit(TEST_SKIP);
	}
	snprintf(dir, sizeof(dir), "/tmp/trifold-names-%d", (int)getpid());
	CHECK_EQ(mkdir(dir, 0700), 0);
	CHECK_EQ(chdir(dir), 0);
	root = open(".", O_RDONLY | O_DIRECTORY);
	CHECK(root >= 0);
}

static void leave(void)
{
	close(root);
	CHECK_EQ(system("rm -rf \"$PWD\""), 0);
}

static uint32_t found(const char *name)
{
	container_name_find(root, name, &m);
	return m.n;
}

#define DOCKER_DIR	"var/lib/docker/containers/"
#define PODMAN_DIR	"var/lib/containers/storage/overlay-containers/"
#define NERDCTL_DIR	"var/lib/nerdctl/1935db59/names/"
#define LOGS		"var/log/containers/"

TEST(each_engine_is_looked_at)
{
	enter();
	CHECK_EQ(found("web"), 0);
	put(DOCKER_DIR A "/config.v2.json", docker);
	CHECK_EQ(found("web"), 1);
	CHECK_STR(m.v[0].id, A);
	CHECK_STR(m.v[0].from, "docker");
	put(PODMAN_DIR "containers.json", podman);
	CHECK_EQ(found("db"), 1);
	CHECK_STR(m.v[0].id, B);
	CHECK_STR(m.v[0].from, "podman");
	put(PODMAN_DIR "volatile-containers.json",
	    "[{\"id\":\"" C "\",\"names\":[\"short\"]}]");
	CHECK_EQ(found("short"), 1);
	CHECK_STR(m.v[0].id, C);
	put(NERDCTL_DIR "k8s.io/own", B);
	CHECK_EQ(found("own"), 1);
	CHECK_STR(m.v[0].id, B);
	CHECK_STR(m.v[0].from, "nerdctl k8s.io");
	put(LOGS "shop-7d4b.x_team-a_php-fpm-" C ".log", "");
	CHECK_EQ(symlink("/nowhere", LOGS "shop-7d4b.x_team-a_proxy-" B ".log"),
		 0);
	CHECK_EQ(found("php-fpm"), 1);
	CHECK_STR(m.v[0].id, C);
	CHECK_STR(m.v[0].from, "Kubernetes shop-7d4b.x_team-a_php-fpm");
	CHECK_EQ(found("shop-7d4b.x"), 2);
	CHECK_EQ(found("proxy"), 1);
	CHECK_EQ(found("team-a") + found("fpm") + found("shop"), 0);
	/* the same container once, different ones each */
	put(NERDCTL_DIR "default/web", A "\n");
	CHECK_EQ(found("web"), 1);
	put(NERDCTL_DIR "other/web", C);
	CHECK_EQ(found("web"), 2);
	leave();
}

TEST(what_is_not_an_engines_file_is_passed)
{
	char path[200];
	FILE *f;

	enter();
	put(DOCKER_DIR "x/config.v2.json", docker);	/* no ID */
	CHECK_EQ(found("web"), 0);
	put("elsewhere", docker);
	put(DOCKER_DIR A "/x", "");
	CHECK_EQ(symlink("../../../../../elsewhere",
			 DOCKER_DIR A "/config.v2.json"), 0);
	CHECK_EQ(found("web"), 0);
	CHECK_EQ(unlink(DOCKER_DIR A "/config.v2.json"), 0);
	CHECK_EQ(mkfifo(DOCKER_DIR A "/config.v2.json", 0600), 0);
	CHECK_EQ(found("web"), 0);	/* and does not wait */
	CHECK_EQ(unlink(DOCKER_DIR A "/config.v2.json"), 0);
	put(DOCKER_DIR A "/config.v2.json", docker);
	CHECK_EQ(found("web"), 1);
	CHECK_EQ(chown(DOCKER_DIR A "/config.v2.json", 1, 1), 0);
	CHECK_EQ(found("web"), 0);
	CHECK_EQ(chown(DOCKER_DIR A "/config.v2.json", 0, 0), 0);
	f = fopen(DOCKER_DIR A "/config.v2.json", "a");
	for (int i = 0; i < 1 << 20; i++)
		putc(' ', f);
	fclose(f);
	CHECK_EQ(found("web"), 0);	/* too long */
	put(NERDCTL_DIR "default/web", A "00");
	put(NERDCTL_DIR "none/web", "../../x");
	put(LOGS "web_default_x-" A "0.log", "");
	put(LOGS "web_default_x-" A ".txt", "");
	put(LOGS "web_default_-" A ".log", "");
	put(LOGS "web_default-" A ".log", "");
	put(LOGS "web__x-" A ".log", "");
	put(LOGS "_default_web-" A ".log", "");
	put(LOGS "web_default_\x1b[2J-" A ".log", "");
	put(LOGS "web-" A ".log", "");
	put(LOGS A ".log", "");
	CHECK_EQ(found("web"), 0);
	for (int i = 0; i < CONTAINER_MATCHES_MAX + 5; i++) {
		snprintf(path, sizeof(path), LOGS "web_n_c-%064x.log", i);
		put(path, "");
	}
	CHECK_EQ(found("web"), CONTAINER_MATCHES_MAX);
	leave();
}

TEST(names)
{
	char longest[CONTAINER_NAME_MAX + 2];

	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	CHECK(!container_name_is(longest));
	longest[CONTAINER_NAME_MAX] = '\0';
	CHECK(container_name_is(longest));
	CHECK(container_name_is("web") && container_name_is("A_b.c-1"));
	CHECK(!container_name_is("") && !container_name_is("..") &&
	      !container_name_is("-x") && !container_name_is("a/b") &&
	      !container_name_is("a b") && !container_name_is("a\n"));
}
