// SPDX-License-Identifier: Apache-2.0
#include "cli/status/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/supervisor/program_table.h"
#include "common/number.h"

#define BIT(n)		(1ULL << (n))
#define SYS_RESOURCE	24	/* linux/capability.h */
#define SUDO		"run `sudo trifold doctor`"
/* linux/proc_ns.h: PROC_PID_INIT_INO, PROC_USER_INIT_INO */
#define PID_INIT	"pid:[4026531836]"
#define USER_INIT	"user:[4026531837]"

__attribute__((format(printf, 5, 6))) static void
doctor_checks_say(struct finding *f, enum check_state state, const char *cost,
		  const char *remedy, const char *fmt, ...)
{
	va_list ap;

	f->state = state;
	f->cost = cost;
	f->remedy = remedy;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

#define ok(f, ...) doctor_checks_say(f, CHECK_OK, NULL, NULL, __VA_ARGS__)
#define no_root(f)                                                             \
	doctor_checks_say(f, CHECK_UNKNOWN, NULL, SUDO, "unknown without root")

/* The first bytes of a file as a string.  Its length, or -errno. */
static int doctor_read_text(const struct doctor_host *h, const char *name,
			    char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "%s%s", h->root, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	buf[n < 0 ? 0 : n] = '\0';
	if (n < 0)
		n = -errno;
	close(fd);
	return (int)n;
}

/* The small number that is all of a line; INT_MIN if it is something else. */
static int doctor_checks_number(const struct doctor_host *h, const char *name)
{
	const char *end;
	char buf[16];
	bool minus;
	uint64_t v;

	if (doctor_read_text(h, name, buf, sizeof(buf)) <= 0)
		return INT_MIN;
	minus = *buf == '-';
	end = number_read(buf + minus, &v);
	if (!end || strcmp(end, "\n") || v > 99)
		return INT_MIN;
	if (minus)
		return -(int)v;
	return (int)v;
}

/* The capabilities of this process: proc_pid_status(5).  False: not known. */
static bool doctor_checks_caps(const struct doctor_host *h, uint64_t *ret)
{
	static const char key[] = "\nCapEff:\t";
	char buf[4096], *p;

	doctor_read_text(h, "/proc/self/status", buf, sizeof(buf));
	p = strstr(buf, key);
	if (!p)
		return false;
	p += strlen(key);
	p[strcspn(p, "\n")] = '\0';
	return strlen(p) == 16 && number_parse_hex(p, ret);
}

static void doctor_check_kernel(const struct doctor_host *h, struct finding *f)
{
	char buf[96];

	if (doctor_read_text(h, "/proc/sys/kernel/osrelease", buf,
			     sizeof(buf)) <= 0) {
		doctor_checks_say(f, CHECK_UNKNOWN, NULL, "mount /proc",
				  "cannot be read");
		return;
	}
	buf[strcspn(buf, "\n")] = '\0';
	ok(f, "Linux %s (features are probed, not taken from this)", buf);
}

static void doctor_check_btf(const struct doctor_host *h, struct finding *f)
{
	if (!h->btf)
		ok(f, "/sys/kernel/btf/vmlinux is there");
	else
		doctor_checks_say(
			f, CHECK_NO, "the BPF programs do not load",
			"a kernel with CONFIG_DEBUG_INFO_BTF=y, and /sys mounted",
			"/sys/kernel/btf/vmlinux: %s", strerror(-h->btf));
}

static void doctor_check_rights(const struct doctor_host *h, struct finding *f)
{
	/* DAC_READ_SEARCH, SETGID, SETUID, SETPCAP, SYS_PTRACE, PERFMON, BPF,
	 * CHECKPOINT_RESTORE */
	const uint64_t need = BIT(2) | BIT(6) | BIT(7) | BIT(8) | BIT(19) |
			      BIT(38) | BIT(39) | BIT(40);
	uint64_t caps;

	if (!h->is_root) {
		no_root(f);
		return;
	}
	if (!doctor_checks_caps(h, &caps)) {
		doctor_checks_say(f, CHECK_UNKNOWN, NULL, "mount /proc",
				  "/proc/self/status names no capabilities");
		return;
	}
	if ((caps & need) == need)
		ok(f, "root, with the capabilities that are needed");
	else
		doctor_checks_say(
			f, CHECK_NO, "loaderd cannot start",
			"run it outside of the container, or with --privileged",
			"root without capabilities %#llx",
			(unsigned long long)(need & ~caps));
}

static void doctor_check_bpf(const struct doctor_host *h, struct finding *f)
{
	int v = doctor_checks_number(
		h, "/proc/sys/kernel/unprivileged_bpf_disabled");
	char sysctl[64] = "";

	if (v >= 0)
		snprintf(sysctl, sizeof(sysctl),
			 "; unprivileged_bpf_disabled %d: does not concern root", v);
	if (!h->ring)
		ok(f, "bpf(2) makes a ring buffer%s", sysctl);
	else if (!h->is_root)
		no_root(f);
	else
		doctor_checks_say(
			f, CHECK_NO, "nothing can be sampled",
			h->ring == -EPERM
				? "give it CAP_BPF; look for a seccomp filter or container"
				: "Linux 5.10 or newer with CONFIG_BPF_SYSCALL=y",
			"bpf(2) makes no ring buffer: %s", strerror(-h->ring));
}

static void doctor_check_feature(const struct doctor_host *h, struct finding *f,
				 enum btf_name name, const char *yes, const char *no,
				 const char *cost, const char *remedy)
{
	if (h->btf)
		doctor_checks_say(f, CHECK_UNKNOWN, NULL, "see btf",
				  "unknown without BTF");
	else if (h->names[name])
		ok(f, "%s", yes);
	else
		doctor_checks_say(f, CHECK_LESS, cost, remedy, "%s", no);
}

static void doctor_check_file_map(const struct doctor_host *h,
				  struct finding *f)
{
	doctor_check_feature(h, f, BTF_MEM_ALLOC, "the map of files takes memory as it fills",
			     "no bpf_mem_alloc", "the map of files takes its memory at once",
			     "Linux 6.1 or newer");
}

static void doctor_check_rdonly_cast(const struct doctor_host *h,
				     struct finding *f)
{
	doctor_check_feature(h, f, BTF_RDONLY_CAST,
			     "mappings are read by plain loads",
			     "no bpf_rdonly_cast", "mappings are read by helper calls; does "
			     "not load under lockdown=confidentiality", "Linux 6.2 or newer");
}

static void doctor_checks_landlock(const struct doctor_host *h,
				   struct finding *f)
{
	if (h->landlock > 0)
		ok(f, "ABI %d", h->landlock);
	else
		doctor_checks_say(
			f, CHECK_LESS, "one layer of confinement less for the daemons",
			"Linux 5.13 or newer, and landlock in the boot parameter "
			"lsm=",
			"not available: %s", strerror(-h->landlock));
}

static void doctor_check_seccomp(const struct doctor_host *h, struct finding *f)
{
	char buf[256];

	doctor_read_text(h, "/proc/sys/kernel/seccomp/actions_avail", buf,
			 sizeof(buf));
	if (strstr(buf, "kill_process"))
		ok(f, "filters can be installed");
	else
		doctor_checks_say(
			f, CHECK_NO, "the daemons refuse to start",
			"a kernel with CONFIG_SECCOMP_FILTER=y", "no filters");
}

static void doctor_check_perf(const struct doctor_host *h, struct finding *f)
{
	int v = doctor_checks_number(h, "/proc/sys/kernel/perf_event_paranoid");
	char sysctl[64] = "";

	if (v != INT_MIN)
		snprintf(sysctl, sizeof(sysctl),
			 "; perf_event_paranoid %d: does not concern root", v);
	if (!h->cycles)
		ok(f, "samples by CPU cycles%s", sysctl);
	else if (!h->is_root)
		no_root(f);
	else if (!h->clock)
		doctor_checks_say(
			f, CHECK_LESS,
			"code that runs with interrupts off is not "
			"sampled where it is",
			"give the virtual machine a PMU",
			"no CPU cycles here: samples by the CPU clock%s",
			sysctl);
	else
		doctor_checks_say(
			f, CHECK_NO, "nothing can be sampled",
			"give it "
			"CAP_PERFMON; look for a seccomp filter or container",
			"perf_event_open: %s", strerror(-h->clock));
}

static void doctor_check_sysctls(const struct doctor_host *h, struct finding *f)
{
	int kptr = doctor_checks_number(h, "/proc/sys/kernel/kptr_restrict");
	int scope = doctor_checks_number(h,
					 "/proc/sys/kernel/yama/ptrace_scope");
	char a[16] = "unknown", b[16] = "absent";

	if (kptr >= 0)
		snprintf(a, sizeof(a), "%d", kptr);
	if (scope >= 0)
		snprintf(b, sizeof(b), "%d", scope);
	ok(f, "kptr_restrict %s, ptrace_scope %s: neither matters (names come "
	   "by BPF, files by map_files)", a, b);
}

static void doctor_check_lockdown(const struct doctor_host *h,
				  struct finding *f)
{
	char buf[128];
	int n = doctor_read_text(h, "/sys/kernel/security/lockdown", buf,
				 sizeof(buf));

	if (n == -EACCES)
		no_root(f);
	else if (n < 0)
		ok(f, "none (/sys/kernel/security/lockdown is not there)");
	else if (strstr(buf, "[none]") || strstr(buf, "[integrity]"))
		ok(f, "%s", strstr(buf, "[none]") ? "none" : "integrity");
	else if (!strstr(buf, "[confidentiality]"))
		doctor_checks_say(f, CHECK_UNKNOWN, NULL, NULL,
				  "not understood");
	else if (h->names[BTF_RDONLY_CAST])
		ok(f, "confidentiality: bpf_rdonly_cast helps");
	else
		doctor_checks_say(
			f, CHECK_NO, "the BPF programs do not load",
			"Linux 6.2 or newer, or boot with lockdown=integrity",
			"confidentiality, and no bpf_rdonly_cast");
}

static void doctor_check_lsm(const struct doctor_host *h, struct finding *f)
{
	char list[160], label[96];

	if (doctor_read_text(h, "/sys/kernel/security/lsm", list,
			     sizeof(list)) <= 0)
		snprintf(list, sizeof(list), "not told");
	list[strcspn(list, "\n")] = '\0';
	doctor_read_text(h, "/proc/self/attr/current", label, sizeof(label));
	label[strcspn(label, "\n")] = '\0';
	if (strstr(list, "apparmor") && *label && strcmp(label, "unconfined"))
		doctor_checks_say(f, CHECK_LESS,
				  "its profile may refuse bpf, perf or ptrace",
				  "run trifold unconfined",
				  "AppArmor confines: %s", label);
	else if (doctor_checks_number(h, "/sys/fs/selinux/enforce") == 1)
		ok(f, "%.100s; SELinux enforces (not tried: see `ausearch -m "
		   "avc` if a daemon does not start)", list);
	else
		ok(f, "%s", list);
}

/* Compare a link's text: -1: it cannot be read; else whether it is this. */
static int doctor_link_is(const struct doctor_host *h, const char *name,
			  const char *want)
{
	char path[PATH_MAX], text[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%s%s", h->root, name);
	n = readlink(path, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return !strcmp(text, want);
}

static void doctor_check_namespaces(const struct doctor_host *h,
				    struct finding *f)
{
	int pid = doctor_link_is(h, "/proc/self/ns/pid", PID_INIT);
	int user = doctor_link_is(h, "/proc/self/ns/user", USER_INIT);

	if (user == 0)
		doctor_checks_say(
			f, CHECK_NO, "its root has no rights on the kernel",
			"run it on the host itself, or in a container without "
			"user namespaces",
			"in a user namespace");
	else if (pid == 0)
		doctor_checks_say(f, CHECK_LESS,
				  "files of samples cannot be opened: stacks "
				  "end early, without names",
				  "run it on the host itself, or "
				  "in a container with --pid=host",
				  "PIDs here are not those of the host");
	else if (pid < 0 || user < 0)
		doctor_checks_say(f, CHECK_UNKNOWN, NULL, "mount /proc",
				  "cannot be read");
	else
		ok(f, "PIDs and users are those of the machine");
}

static void doctor_check_cgroups(const struct doctor_host *h, struct finding *f)
{
	char buf[32768];
	int n = doctor_read_text(h, "/proc/self/mountinfo", buf, sizeof(buf));

	if (n <= 0)
		doctor_checks_say(f, CHECK_UNKNOWN, NULL, "mount /proc",
				  "cannot be read");
	else if (!strstr(buf, " - cgroup2 "))
		doctor_checks_say(
			f, CHECK_LESS, "samples do not name their container",
			"boot with systemd.unified_cgroup_hierarchy=1",
			"no cgroup v2 is mounted");
	else if (strstr(buf, " - cgroup "))
		doctor_checks_say(
			f, CHECK_LESS,
			"containers that are in v1 cgroups only have "
			"no name",
			"boot with systemd.unified_cgroup_hierarchy=1",
			"cgroup v1 is mounted beside v2");
	else
		ok(f, "v2");
}

static void doctor_check_memlock(const struct doctor_host *h, struct finding *f)
{
	uint64_t caps = 0;

	if (h->btf) {
		doctor_checks_say(f, CHECK_UNKNOWN, NULL, "see btf",
				  "unknown without BTF");
		return;
	}
	doctor_checks_caps(h, &caps);
	if (!h->names[BTF_MAP_MEMORY])
		ok(f, "RLIMIT_MEMLOCK does not count for maps");
	else if (h->memlock || (caps & BIT(SYS_RESOURCE)))
		ok(f, "RLIMIT_MEMLOCK can be lifted");
	else if (!h->is_root)
		no_root(f);
	else
		doctor_checks_say(f, CHECK_NO, "maps are refused",
				  "`ulimit -l unlimited`, or CAP_SYS_RESOURCE",
				  "RLIMIT_MEMLOCK counts for maps and is low");
}

static void doctor_check_programs(const struct doctor_host *h,
				  struct finding *f)
{
	if (h->daemons)
		doctor_checks_say(f, CHECK_NO, "nothing can be started",
				  "install trifold, or build all of it: `make`",
				  "the daemons are not found");
	else
		ok(f, "daemons found; %d of %d users trifold-*, else reserved ids",
		   h->users, PROGRAM_DAEMONS + 1);	/* and the opener's */
}

static void doctor_check_runtime(const struct doctor_host *h, struct finding *f)
{
	if (!h->is_root)
		no_root(f);
	else if (h->run)
		doctor_checks_say(f, CHECK_NO, "there is no place for sockets",
				  "`mount -t tmpfs tmpfs /run`", "/run: %s",
				  strerror(-h->run));
	else
		ok(f, "/run can be written; %s", h->units ?
		   "systemd's units run trifold: see `trifold status`" : h->running ?
		   "a trifold runs: see `trifold status`" : "no trifold runs");
}

/* The resources that it takes, besides requests. */
static void doctor_checks_room(const struct doctor_debuginfod *d, char *ret, size_t size)
{
	/* files in memory (symbolizerd/knowledge/debug_files.h), and one that is
	 * received */
	uint32_t memory = 256 + d->file_mib;

	if (d->cache_mib)
		snprintf(ret, size, "up to %u MiB in %.80s", d->cache_mib, d->cache);
	else
		snprintf(ret, size, "no cache on disk: up to %u MiB of memory", memory);
}

static void doctor_checks_debuginfod(const struct doctor_host *h, struct finding *f)
{
	const struct doctor_debuginfod *d = &h->debuginfod;
	char room[160];

	doctor_checks_room(d, room, sizeof(room));
	if (d->config)
		doctor_checks_say(f, CHECK_UNKNOWN, NULL, "run `trifold check-config`",
				  "the configuration has mistakes");
	else if (d->counted && d->failed && !d->found && !d->not_found)
		doctor_checks_say(
			f, CHECK_LESS, "programs without symbols and debug file have no names",
			"see exporterd's messages in the log, and debuginfod_urls of [names]",
			"no server answers: %llu of %llu requests failed",
			(unsigned long long)d->failed, (unsigned long long)d->requests);
	else if (d->counted && (d->requests || d->cached))
		ok(f, "%llu requests to servers: %llu files, %llu without one, %llu failed; "
		   "%llu from the cache; %s", (unsigned long long)d->requests,
		   (unsigned long long)d->found, (unsigned long long)d->not_found,
		   (unsigned long long)d->failed, (unsigned long long)d->cached, room);
	else if (d->servers)
		ok(f, "%u server%s build IDs, 60 a minute (not tried: `trifold status` counts "
		   "their answers); %s", d->servers, d->servers == 1 ? " gets" : "s get", room);
	else
		ok(f, "off (debuginfod_urls of [names] is empty): no build ID leaves this host");
}

/* What becomes of samples behind a receiver, nothing here can know. */
static void doctor_checks_export(const struct doctor_host *h, struct finding *f)
{
	const struct doctor_export *e = &h->export;

	if (h->debuginfod.config && !h->debuginfod.counted)
		doctor_checks_say(f, CHECK_UNKNOWN, NULL, "run `trifold check-config`",
				  "the configuration has mistakes");
	else if (!e->receivers)
		ok(f, "no receiver is configured: nothing is sent");
	else if (e->refused && !e->delivered)
		doctor_checks_say(f, CHECK_LESS, "no profile arrives anywhere",
				  "see `trifold status` and exporterd's messages in the log",
				  "no receiver took any of %llu samples",
				  (unsigned long long)e->refused);
	else
		ok(f, "%u receiver%s; \"delivered\" means that it took them: a Collector of 0.161 or "
		   "later in front of Pyroscope or Parca loses all of it (docs/RECIPES.md)",
		   e->receivers, e->receivers == 1 ? "" : "s");
}

const struct check doctor_checks[] = {
	{ "kernel", doctor_check_kernel },
	{ "btf", doctor_check_btf },
	{ "capabilities", doctor_check_rights },
	{ "bpf", doctor_check_bpf },
	{ "file_map", doctor_check_file_map },
	{ "rdonly_cast", doctor_check_rdonly_cast },
	{ "memlock", doctor_check_memlock },
	{ "perf", doctor_check_perf },
	{ "sysctls", doctor_check_sysctls },
	{ "lockdown", doctor_check_lockdown },
	{ "lsm", doctor_check_lsm },
	{ "landlock", doctor_checks_landlock },
	{ "seccomp", doctor_check_seccomp },
	{ "namespaces", doctor_check_namespaces },
	{ "cgroups", doctor_check_cgroups },
	{ "programs", doctor_check_programs },
	{ "runtime", doctor_check_runtime },
	{ "debuginfod", doctor_checks_debuginfod },
	{ "export", doctor_checks_export },
};
const size_t doctor_n_checks = sizeof(doctor_checks) / sizeof(*doctor_checks);

int doctor_status(enum check_state worst)
{
	if (worst == CHECK_NO)
		return EXIT_CANNOT;
	if (worst == CHECK_OK)
		return 0;
	return EXIT_LESS;
}
