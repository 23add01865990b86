// SPDX-License-Identifier: Apache-2.0
#include "cli/status/doctor.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/harness.h"

static char root[] = "/tmp/trifold-doctor-XXXXXX";
static struct doctor_host h;
static struct finding f;

/* A file below the root, with the directories before it. */
static const char *place(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	unlink(path);
	return path;
}

static void put(const char *name, const void *data, size_t n)
{
	FILE *to = fopen(place(name), "w");

	CHECK(to && fwrite(data, 1, n, to) == n && !fclose(to));
}

#define PUT(name, text)	put(name, text, sizeof(text) - 1)

static void good(void)
{
	static const char btf[] = "\x9f\xeb..\0bpf_mem_alloc\0bpf_rdonly_cast";

	if (strstr(root, "XXXXXX"))
		CHECK(mkdtemp(root));
	h = (struct doctor_host){ .root = root, .is_root = true, .landlock = 4 };
	put("/sys/kernel/btf/vmlinux", btf, sizeof(btf));
	PUT("/proc/sys/kernel/osrelease", "6.1.0-test\n");
	PUT("/proc/sys/kernel/perf_event_paranoid", "3\n");
	PUT("/proc/sys/kernel/seccomp/actions_avail", "kill_process allow\n");
	PUT("/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
	PUT("/proc/self/mountinfo", "1 0 0:1 / /c rw - cgroup2 c rw\n");
	PUT("/sys/kernel/security/lockdown", "[none] integrity\n");
	PUT("/sys/kernel/security/lsm", "capability,apparmor\n");
	PUT("/proc/self/attr/current", "unconfined\n");
	CHECK(!symlink("pid:[4026531836]", place("/proc/self/ns/pid")));
	CHECK(!symlink("user:[4026531837]", place("/proc/self/ns/user")));
	doctor_btf(&h);
}

static enum check_state state(const char *name)
{
	for (size_t i = 0; i < doctor_n_checks; i++) {
		if (!strcmp(doctor_checks[i].name, name)) {
			f = (struct finding){ .state = CHECK_OK };
			doctor_checks[i].fn(&h, &f);
			return f.state;
		}
	}
	CHECK(!"no such check");
	return CHECK_NO;
}

TEST(doctor_is_content_with_a_good_host)
{
	good();
	for (size_t i = 0; i < doctor_n_checks; i++)
		CHECK_EQ(state(doctor_checks[i].name), CHECK_OK);
}

TEST(doctor_asks_for_root)
{
	good();
	h.is_root = false;
	h.ring = h.cycles = -EPERM;
	CHECK_EQ(state("capabilities"), CHECK_UNKNOWN);
	CHECK_EQ(state("bpf"), CHECK_UNKNOWN);
	CHECK_EQ(state("perf"), CHECK_UNKNOWN);
	CHECK_EQ(state("runtime"), CHECK_UNKNOWN);
	CHECK(strstr(f.remedy, "sudo trifold doctor"));
}

TEST(doctor_judges_what_was_tried)
{
	good();
	h.ring = -EPERM;
	CHECK_EQ(state("bpf"), CHECK_NO);
	h.cycles = -ENOENT;
	CHECK_EQ(state("perf"), CHECK_LESS);
	h.clock = -EACCES;
	CHECK_EQ(state("perf"), CHECK_NO);
	h.landlock = -ENOSYS;
	CHECK_EQ(state("landlock"), CHECK_LESS);
	h.daemons = -ENOENT;
	CHECK_EQ(state("programs"), CHECK_NO);
	h.run = -EROFS;
	CHECK_EQ(state("runtime"), CHECK_NO);
	h.names[BTF_MEM_ALLOC] = false;
	CHECK_EQ(state("file_map"), CHECK_LESS);
	PUT("/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
	CHECK_EQ(state("capabilities"), CHECK_NO);
	h.names[BTF_MAP_MEMORY] = true;
	CHECK_EQ(state("memlock"), CHECK_NO);
	h.memlock = true;
	CHECK_EQ(state("memlock"), CHECK_OK);
}

TEST(doctor_says_what_debuginfod_does_and_costs)
{
	struct doctor_debuginfod *d = &h.debuginfod;

	good();
	CHECK_EQ(state("debuginfod"), CHECK_OK);
	CHECK(!strncmp(f.text, "off ", 4));
	*d = (struct doctor_debuginfod){ .servers = 2, .file_mib = 128, .cache_mib = 7,
					 .cache = "/var/cache/x" };
	CHECK_EQ(state("debuginfod"), CHECK_OK);
	CHECK(strstr(f.text, "2 servers") && strstr(f.text, "not tried") &&
	      strstr(f.text, "up to 7 MiB in /var/cache/x"));
	d->cache_mib = 0;
	CHECK_EQ(state("debuginfod"), CHECK_OK);
	CHECK(strstr(f.text, "up to 384 MiB of memory"));
	/* nothing was asked yet */
	d->counted = true;
	CHECK_EQ(state("debuginfod"), CHECK_OK);
	CHECK(strstr(f.text, "not tried"));
	d->requests = d->failed = 3;
	CHECK_EQ(state("debuginfod"), CHECK_LESS);
	CHECK(f.cost && f.remedy && strstr(f.text, "3 of 3 requests failed"));
	d->not_found = 1;
	CHECK_EQ(state("debuginfod"), CHECK_OK);
	CHECK(strstr(f.text, "3 requests to servers: 0 files, 1 without one, 3 failed"));
	*d = (struct doctor_debuginfod){ .config = -EINVAL };
	CHECK_EQ(state("debuginfod"), CHECK_UNKNOWN);
}

TEST(doctor_says_what_delivered_means)
{
	struct doctor_export *e = &h.export;

	good();
	CHECK_EQ(state("export"), CHECK_OK);
	CHECK(strstr(f.text, "nothing is sent"));
	e->receivers = 1;
	CHECK_EQ(state("export"), CHECK_OK);
	CHECK(strstr(f.text, "1 receiver;") && strstr(f.text, "0.161") &&
	      strstr(f.text, "docs/RECIPES.md"));
	e->refused = 7;
	CHECK_EQ(state("export"), CHECK_LESS);
	CHECK(f.cost && f.remedy && strstr(f.text, "any of 7 samples"));
	e->delivered = 1;
	CHECK_EQ(state("export"), CHECK_OK);
	/* what is not known is not "no receiver" */
	*e = (struct doctor_export){ 0 };
	h.debuginfod = (struct doctor_debuginfod){ .config = -EINVAL };
	CHECK_EQ(state("export"), CHECK_UNKNOWN);
	h.debuginfod.counted = true;
	CHECK_EQ(state("export"), CHECK_OK);
}

TEST(doctor_judges_files)
{
	good();
	PUT("/sys/kernel/security/lockdown", "none [confidentiality]\n");
	CHECK_EQ(state("lockdown"), CHECK_OK);
	h.names[BTF_RDONLY_CAST] = false;
	CHECK_EQ(state("lockdown"), CHECK_NO);
	CHECK_EQ(state("rdonly_cast"), CHECK_LESS);
	PUT("/proc/self/attr/current", "docker-default (enforce)\n");
	CHECK_EQ(state("lsm"), CHECK_LESS);
	PUT("/proc/self/mountinfo", "1 0 0:1 / /c rw - cgroup c rw\n");
	CHECK_EQ(state("cgroups"), CHECK_LESS);
	PUT("/proc/sys/kernel/seccomp/actions_avail", "");
	CHECK_EQ(state("seccomp"), CHECK_NO);
	CHECK(!symlink("pid:[1]", place("/proc/self/ns/pid")));
	CHECK_EQ(state("namespaces"), CHECK_LESS);
	CHECK(!symlink("user:[1]", place("/proc/self/ns/user")));
	CHECK_EQ(state("namespaces"), CHECK_NO);
}

static void fill(const char *data, size_t n)
{
	static const char *const names[] = {
		"/sys/kernel/btf/vmlinux", "/proc/sys/kernel/osrelease",
		"/proc/sys/kernel/perf_event_paranoid",
		"/proc/sys/kernel/seccomp/actions_avail", "/proc/self/status",
		"/proc/self/mountinfo", "/sys/kernel/security/lockdown",
		"/sys/kernel/security/lsm", "/proc/self/attr/current",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		put(names[i], data, n);
	doctor_btf(&h);
	CHECK(h.btf != 0);
	for (size_t i = 0; i < doctor_n_checks; i++)
		state(doctor_checks[i].name);
	CHECK(state("btf") == CHECK_NO && state("seccomp") == CHECK_NO);
	CHECK_EQ(state("capabilities"), CHECK_UNKNOWN);
}

TEST(doctor_survives_hostile_files)
{
	static char huge[200000];

	good();
	fill("", 0);
	memset(huge, '9', sizeof(huge));
	fill(huge, sizeof(huge));
	memset(huge, 0xff, sizeof(huge));
	fill(huge, sizeof(huge));
	memset(huge, 0, sizeof(huge));
	fill(huge, sizeof(huge));
}

TEST(doctor_status_tells)
{
	CHECK_EQ(doctor_status(CHECK_OK), 0);
	CHECK_EQ(doctor_status(CHECK_UNKNOWN), 1);
	CHECK_EQ(doctor_status(CHECK_LESS), 1);
	CHECK_EQ(doctor_status(CHECK_NO), 3);
}

__attribute__((destructor)) static void clean(void)
{
	char command[64];

	if (strstr(root, "XXXXXX"))
		return;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		printf("# %s stays\n", root);
}
