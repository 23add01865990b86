// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/cgroup.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEX64	"0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
#define OTHER	"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define HEX32	"0a1b2c3d4e5f60718293a4b5c6d7e8f9"
#define POD	"pod1234abcd_12ab_34cd_56ef_1234567890ab"

static const struct {
	const char *path, *id;
} cases[] = {
	/* docker: cgroupfs and systemd drivers */
	{ "/docker/" HEX64, HEX64 },
	{ "/system.slice/docker-" HEX64 ".scope", HEX64 },
	{ "/system.slice/docker-" HEX64 ".scope/init.scope", HEX64 },
	/* Kubernetes with containerd, cri-o, docker */
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-" POD
	  ".slice/cri-containerd-" HEX64 ".scope", HEX64 },
	{ "/kubepods.slice/kubepods-" POD ".slice/crio-" HEX64 ".scope",
	  HEX64 },
	{ "/kubepods/besteffort/" POD "/" HEX64, HEX64 },
	{ "/kubepods-burstable-" POD ".slice:cri-containerd:" HEX64, HEX64 },
	/* podman, with and without root */
	{ "/machine.slice/libpod-" HEX64 ".scope", HEX64 },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-"
	  HEX64 ".scope/container", HEX64 },
	/* ECS, on EC2 and on Fargate */
	{ "/ecs/" HEX32 "/" HEX64, HEX64 },
	{ "/ecs/" HEX32 "/" HEX32 "-1234567890", HEX32 "-1234567890" },
	/* one in the other: the inner one */
	{ "/docker/" OTHER "/docker/" HEX64, HEX64 },
	{ "/docker/" OTHER "/kubepods/" POD "/" HEX64 "/x", HEX64 },
	/* engines that are services, and what a user's systemd starts */
	{ "/system.slice/containerd.service/kubepods-burstable-" POD ".slice:cri-containerd:"
	  HEX64, HEX64 },
	{ "/system.slice/k3s-agent.service/kubepods-" POD ".slice:cri-containerd:" HEX64, HEX64 },
	{ "/system.slice/snap.docker.dockerd.service/docker/" HEX64, HEX64 },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/docker.service/" HEX64, HEX64 },
	{ "/docker/" OTHER "/system.slice/containerd.service/x:cri-containerd:" HEX64, HEX64 },
	/* no engine's: whoever runs that service may have made it */
	{ "/machine.slice/systemd-nspawn@web.service/payload/system.slice/docker-" HEX64 ".scope",
	  HEX64 },
	{ "/system.slice/foo.service/" HEX64, NULL },
	{ "/system.slice/foo.service/" HEX64 "/nginx.service", NULL },
	{ "/system.slice/foo.service/docker-" HEX64 ".scope", NULL },
	{ "/system.slice/foo.service/libpod-payload-" HEX64, NULL },
	{ "/system.slice/foo.service/docker.service/" HEX64, NULL },
	{ "/system.slice/foo.service/user@1000.service/" HEX64, NULL },
	{ "/system.slice/snap.dockerish.x.service/" HEX64, NULL },
	{ "/system.slice/xdocker.service/" HEX64, NULL },
	{ "/docker/" HEX64 "/system.slice/foo.service/" OTHER, HEX64 },
	/* first levels missing */
	{ HEX64, HEX64 },
	/* no container */
	{ "/", NULL },
	{ "", NULL },
	{ "/init.scope", NULL },
	{ "/system.slice/ssh.service", NULL },
	{ "/system.slice/system-getty.slice/getty@tty1.service", NULL },
	{ "/user.slice/user-1000.slice/session-3.scope", NULL },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/"
	  "app-firefox-0123456789abcdef0123456789abcdef.scope", NULL },
	{ "/machine.slice/libpod-conmon-" HEX64 ".scope", NULL },
	{ "/kubepods.slice/kubepods-" POD ".slice", NULL },
	{ "/ecs/" HEX32, NULL },
	{ "/docker/" HEX64 "0", NULL },
	{ "/docker/0a1b2c3d4e5f6071", NULL },
	{ "/docker/X" HEX64, NULL },
	{ "/ecs/" HEX32 "-12x", NULL },
	{ "/ecs/" HEX32 "-", NULL },
	{ "/docker-.scope/docker-", NULL },
};

TEST(container_ids_of_real_paths)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = strlen(cases[i].path), n = 0;
		/* exact heap copy: no NUL to stop at */
		char *copy = malloc(len ? len : 1);
		const char *id;

		CHECK(copy != NULL);
		memcpy(copy, cases[i].path, len);
		id = container_id(copy, len, &n);
		if (!id != !cases[i].id)
			printf("# %s\n", cases[i].path);
		CHECK(!id == !cases[i].id);
		if (id) {
			CHECK_EQ(n, strlen(cases[i].id));
			CHECK(!memcmp(id, cases[i].id, n));
		}
		free(copy);
	}
}

TEST(cgroups_find_what_was_set)
{
	struct cgroups c;

	cgroups_init(&c, 7);
	CHECK(!strcmp(cgroups_container(&c, 1), ""));
	for (uint64_t id = 1000; id > 0; id--)
		CHECK_EQ(cgroups_set(&c, id * 3, "/x.service", 10), 0);
	CHECK_EQ(cgroups_set(&c, 30, "/docker/" HEX64, 72), 0);
	CHECK(!strcmp(cgroups_container(&c, 30), HEX64));
	CHECK(!strcmp(cgroups_container(&c, 33), ""));
	CHECK_EQ(owner_cache_used(&c.known), 1000);
	CHECK_EQ(cgroups_set(&c, 30, "/y", 2), 0);
	CHECK(!strcmp(cgroups_container(&c, 30), ""));
	cgroups_fini(&c);
}

TEST(cgroups_of_services)
{
	static const struct {
		const char *path, *unit;
	} v[] = {
		{ "/system.slice/nginx.service", "nginx" },
		{ "/system.slice/system-getty.slice/getty@tty1.service",
		  "getty@tty1" },
		{ "/system.slice/docker.service/inner/most", "docker" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/"
		  "sync.service", "user@1000/sync" },
		/* what looks like another's */
		{ "/user.slice/user-1000.slice/user@1000.service/system.slice/nginx.service",
		  "user@1000/nginx" },
		{ "/user.slice/user-1000.slice/user@1000.service/a.service/nginx.service",
		  "user@1000/a" },
		{ "/user.slice/user-1000.slice/user@1000.service", "user@1000" },
		{ "/user.slice/user-1000.slice/user@1000.service/init.scope", "" },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" HEX64
		  ".scope/nginx.service", "user@1000/nginx" },
		{ "/system.slice/app.service/nginx.service", "app" },
		{ "/system.slice/app.service/x.scope/nginx.service", "app" },
		{ "/lxc.payload.web/system.slice/nginx.service", "lxc.payload.web/nginx" },
		{ "/machine.slice/machine-x.scope/payload/system.slice/a.service/b",
		  "machine-x.scope/a" },
		{ "/machine.slice/machine-x.scope/a.service/b.scope", "machine-x.scope/a" },
		/* the same in a container */
		{ "/lxc.payload.web/user.slice/user-1000.slice/user@1000.service/app.slice/"
		  "nginx.service", "lxc.payload.web/user@1000/nginx" },
		{ "/lxc.payload.web/system.slice/app.service/nginx.service",
		  "lxc.payload.web/app" },
		{ "/lxc.payload.web/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-"
		  HEX64 ".scope/nginx.service", "user@1000/nginx" },
		{ "/lxc/101/ns/system.slice/nginx.service", "lxc/101/ns/nginx" },
		{ "/machine.slice/machine-x.scope/payload/system.slice/machine-y.scope/payload/"
		  "system.slice/nginx.service", "machine-x.scope/machine-y.scope/nginx" },
		{ "/docker/" HEX64 "/user.slice/user-1000.slice/user@1000.service/app.slice/"
		  "nginx.service", "user@1000/nginx" },
		{ "/docker/" HEX64 "/user.slice/user-1000.slice/user@1000.service", "user@1000" },
		{ "/docker/" HEX64 "/system.slice/app.service/nginx.service", "app" },
		{ "/docker/" HEX64 "/system.slice/app.service/x.scope/nginx.service", "app" },
		{ "/docker/" HEX64 "/a.service", "a" },
		{ "/docker/" HEX64 "/a.service/b.service", "a" },
		{ "/docker/" HEX64 "/x.scope/a.service", "x.scope/a" },
		{ "/machine.slice/libpod-" HEX64 ".scope/container/system.slice/a.service", "a" },
		{ "/system.slice/docker-" HEX64 ".scope/a.service", "a" },
		/* an ID that a service made */
		{ "/system.slice/foo.service/" HEX64 "/nginx.service", "foo" },
		{ "/system.slice/foo.service/libpod-payload-" HEX64 "/system.slice/nginx.service",
		  "foo" },
		{ "/docker/" HEX64 "/system.slice/foo.service/" OTHER "/nginx.service", "foo" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/"
		  "app-firefox-1.scope", "" },
		{ "/user.slice/user-1000.slice/session-3.scope", "" },
		{ "/system.slice/docker-" HEX64 ".scope", "" },
		{ "/system.slice/docker-" HEX64 ".scope/system.slice/a.service",
		  "a" },
		{ "/system.slice/containerd.service/kubepods-" POD
		  ".slice:cri-containerd:" HEX64, "" },
		{ "/system.slice/snap.docker.dockerd.service/docker/" HEX64 "/x", "" },
		{ "/docker/" HEX64 "/system.slice/a.service", "a" },
		{ "/docker/" HEX64 "/user.slice/x.scope", "" },
		{ "/.service", "" }, { "/.service/x", "" }, { "/", "" },
		{ "", "" }, { "/service", "" }, { "/x.serviced", "" },
		{ "/x.service/", "x" }, { "x.service", "" },
		{ "/" HEX64 ".service", HEX64 }, { "/x" HEX64 ".service", "" },
	};
	struct cgroups c;

	cgroups_init(&c, 7);
	for (uint64_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		char *copy = malloc(strlen(v[i].path) + 1);

		memcpy(copy, v[i].path, strlen(v[i].path));
		CHECK_EQ(cgroups_set(&c, i + 1, copy, strlen(v[i].path)), 0);
		free(copy);
		if (strcmp(cgroups_unit(&c, i + 1), v[i].unit))
			printf("# %s: %s\n", v[i].path, cgroups_unit(&c, i + 1));
		CHECK(!strcmp(cgroups_unit(&c, i + 1), v[i].unit));
	}
	CHECK(!strcmp(cgroups_unit(&c, 100), ""));
	CHECK_EQ(cgroups_set(&c, 100, "/a\0b/c.service", 14), 0);
	CHECK(!strcmp(cgroups_unit(&c, 100), ""));
	cgroups_fini(&c);
}

/* As BPF reads the levels of a path; what does not fit is missing. */
static void request_of(struct request_cgroup *r, const char *path)
{
	const char *end = path + strlen(path);

	*r = (struct request_cgroup){ .kind = REQUEST_CGROUP, .cgroup_id = 7 };
	while (end > path) {
		const char *slash = memrchr(path, '/', (size_t)(end - path));
		const char *s = slash + 1;
		bool full = true;

		while (full && r->pieces < CGROUP_PIECES) {
			size_t n = (size_t)(end - s);

			full = n >= CGROUP_PIECE - 1;
			if (full)
				n = CGROUP_PIECE - 1;
			memcpy(r->piece[r->pieces], s, n);
			r->pieces++;
			s += n;
		}
		end = slash;
	}
}

static const char *container_of(const char *path)
{
	static struct cgroups c;
	static bool begun;
	struct request_cgroup r;

	if (!begun)
		cgroups_init(&c, 7);
	begun = true;
	request_of(&r, path);
	CHECK_EQ(cgroups_add(&c, &r), 0);
	return cgroups_container(&c, 7);
}

#define BELOW8	"/1/2/3/4/5/6/7/8"

TEST(cgroups_of_every_length)
{
	char path[300] = "/docker/" HEX64 "/";
	struct request_cgroup r;
	struct cgroups c;

	cgroups_init(&c, 7);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].path[0] == '/')
			CHECK_STR(container_of(cases[i].path), cases[i].id ? cases[i].id : "");
	}
	CHECK_STR(container_of("/system.slice/containerd.service/kubepods-burstable-" POD
			       ".slice:cri-containerd:" HEX64), HEX64);
	/* a name as long as a piece or several, and as long as names can be */
	for (size_t n = 1; n <= 200; n++) {
		memset(path + 73, 'x', n);
		path[73 + n] = '\0';
		CHECK_STR(container_of(path), HEX64);
	}
	/* deep below; beyond the limit, also with a part of the ID */
	CHECK_STR(container_of("/docker/" HEX64 BELOW8 BELOW8 BELOW8 "/1/2/3/4"), HEX64);
	CHECK_STR(container_of("/docker/" HEX64 BELOW8 BELOW8 BELOW8 "/1/2/3/4/5/6/7"), "");
	CHECK_STR(container_of("/docker/" HEX64 BELOW8 BELOW8 BELOW8 BELOW8), "");
	/* what is missing may be a service that made it */
	CHECK_STR(container_of("/system.slice/foo.service" BELOW8 BELOW8 BELOW8 "/1/2/3/4/5/6/" HEX64),
		  "");
	request_of(&r, "/a/b");
	r.pieces = CGROUP_PIECES + 1;
	CHECK_EQ(cgroups_add(&c, &r), -EPROTO);
	r.pieces = 1;
	memset(r.piece[0], 'x', CGROUP_PIECE);
	CHECK_EQ(cgroups_add(&c, &r), -EPROTO);
	r.pieces = CGROUP_PIECES;
	memset(r.piece, 0, sizeof(r.piece));
	CHECK_EQ(cgroups_add(&c, &r), 0);
	cgroups_fini(&c);
}

/* Many come and go: those that samples are in stay, of the others the latest. */
TEST(cgroups_in_use_stay_when_there_is_no_room)
{
	struct cgroups c;

	cgroups_init(&c, 7);
	CHECK_EQ(cgroups_set(&c, 1, "/system.slice/db.service", 24), 0);
	CHECK_EQ(cgroups_set(&c, 2, "/docker/" HEX64, 72), 0);
	for (uint64_t id = 10; id < 10 + 4 * CGROUPS_MAX; id++) {
		CHECK_EQ(cgroups_set(&c, id, "/docker/" HEX64, 72), 0);
		CHECK(owner_cache_used(&c.known) <= CGROUPS_MAX);
		if (id % 10000 == 0)
			CHECK(!strcmp(cgroups_unit(&c, 1), "db"));
	}
	CHECK(!strcmp(cgroups_unit(&c, 1), "db"));
	CHECK(!strcmp(cgroups_container(&c, 2), ""));
	CHECK(!strcmp(cgroups_container(&c, 10 + 3 * CGROUPS_MAX + 100), HEX64));
	CHECK_EQ(c.known.lost, 3 * CGROUPS_MAX + 2);
	/* it is told of again */
	CHECK_EQ(cgroups_set(&c, 2, "/docker/" HEX64, 72), 0);
	CHECK(!strcmp(cgroups_container(&c, 2), HEX64));
	cgroups_fini(&c);
}

/* A user who makes cgroups without end loses his own, however deep they are. */
TEST(cgroups_of_a_user_push_out_no_others)
{
	static const char slice[] = "/user.slice/user-1000.slice/user@1000.service/";
	char deep[300] = "/user.slice/user-1000.slice", path[80];
	struct request_cgroup r;
	struct cgroups c;

	cgroups_init(&c, 7);
	CHECK_EQ(cgroups_set(&c, 1, "/system.slice/db.service", 24), 0);
	CHECK_EQ(cgroups_set(&c, 2, "/user.slice/user-1001.slice/user@1001.service/a.service",
			     55), 0);
	for (uint64_t id = 10; id < 10 + 2 * CGROUPS_MAX; id++) {
		int n = snprintf(path, sizeof(path), "%s%u.service", slice, (unsigned int)id);

		CHECK_EQ(cgroups_set(&c, id, path, (size_t)n), 0);
	}
	for (int i = 0; i < CGROUPS_MAX; i++) {
		if (i < CGROUP_PIECES)
			strcat(deep, "/x");
		request_of(&r, deep);
		r.cgroup_id = 100000 + (uint64_t)i;
		CHECK_EQ(cgroups_add(&c, &r), 0);
	}
	/* where the beginning is missing, the end proves nothing */
	strcat(deep, "/nginx.service");
	request_of(&r, deep);
	r.cgroup_id = 3;
	CHECK_EQ(cgroups_add(&c, &r), 0);
	CHECK_STR(cgroups_unit(&c, 3), "");
	CHECK_STR(cgroups_unit(&c, 1), "db");
	CHECK(*cgroups_unit(&c, 2));
	cgroups_fini(&c);
}
