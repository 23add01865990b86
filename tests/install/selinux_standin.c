// SPDX-License-Identifier: Apache-2.0
/*
 * Tries all that some domain of trifold must not do, as root with every capability,
 * and writes a line "NAME ERROR" for each: what the kernel said, "ok" if nothing.
 * long_selinux.sh runs it in each domain, and once without one.  No attempt does
 * harm where it succeeds.  Whom to signal and to trace is a line at the end of this
 * program's file: "PIDS loaderd symbolizerd exporterd".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LAST	64	/* bytes, in which the line with PIDs is */

static int pids[3];	/* loaderd, symbolizerd, exporterd */

static int said(long r)
{
	return r < 0 ? errno : 0;
}

static int done(int fd)
{
	int r = said(fd);

	if (fd >= 0)
		close(fd);
	return r;
}

/* --- files */

static int reads(const char *path)
{
	return done(open(path, O_RDONLY | O_CLOEXEC));
}

static int writes(const char *path)
{
	return done(open(path, O_WRONLY | O_CLOEXEC));
}

static int makes(const char *path)
{
	int r = done(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

	if (!r)
		unlink(path);
	return r;
}

static int makes_dir(const char *path)
{
	int r = said(mkdir(path, 0700));

	if (!r)
		rmdir(path);
	return r;
}

/* --- sockets */

static int socket_of(const char *arg)
{
	static const struct { const char *name; int family, type, protocol; } all[] = {
		{ "tcp", AF_INET, SOCK_STREAM, 0 }, { "udp", AF_INET, SOCK_DGRAM, 0 },
		{ "raw", AF_INET, SOCK_RAW, IPPROTO_ICMP }, { "packet", AF_PACKET, SOCK_RAW, 0 },
		{ "route", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE },
		{ "audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!strcmp(all[i].name, arg))
			return done(socket(all[i].family, all[i].type, all[i].protocol));
	}
	abort();
}

/* Nobody need listen there: that is not a refusal by the policy. */
static int connects_port(const char *port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), r;

	if (fd < 0)
		return errno;
	r = said(connect(fd, (struct sockaddr *)&a, sizeof(a)));
	close(fd);
	return r == ECONNREFUSED ? 0 : r;
}

static int listens_port(const char *port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), r;

	if (fd < 0)
		return errno;
	r = said(bind(fd, (struct sockaddr *)&a, sizeof(a)));
	r = r ? r : said(listen(fd, 1));
	close(fd);
	return r;
}

static int connects(const char *path, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0), r;

	if (fd < 0)
		return errno;
	strncpy(a.sun_path, path, sizeof(a.sun_path) - 1);
	r = said(connect(fd, (struct sockaddr *)&a, sizeof(a)));
	close(fd);
	return r == EAGAIN ? 0 : r;
}

static int connects_ours(const char *path)
{
	return connects(path, SOCK_SEQPACKET);
}

static int connects_stream(const char *path)
{
	return connects(path, SOCK_STREAM);
}

/* --- the kernel */

static int makes_map(const char *arg)
{
	union bpf_attr a = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4,
		.max_entries = 1,
	};

	(void)arg;
	return done((int)syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof(a)));
}

static int opens_event(const char *arg)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};

	(void)arg;
	return done((int)syscall(SYS_perf_event_open, &a, -1, 0, -1, 0));
}

static int mounts(const char *path)
{
	int r = said(mount("none", path, "tmpfs", 0, NULL));

	if (!r)
		umount(path);
	return r;
}

/* Nothing that is a module: the kernel says so to whom it lets load one. */
static int loads_module(const char *arg)
{
	int r = said(syscall(SYS_init_module, arg, strlen(arg), ""));

	return r == ENOEXEC ? 0 : r;
}

static int logs(const char *arg)
{
	char c[256];

	(void)arg;
	return said(klogctl(3 /* SYSLOG_ACTION_READ_ALL */, c, sizeof(c)));
}

static int sets_clock(const char *arg)
{
	struct timespec t;

	(void)arg;
	clock_gettime(CLOCK_REALTIME, &t);
	return said(clock_settime(CLOCK_REALTIME, &t));
}

static int reboots(const char *arg)
{
	(void)arg;
	return said(reboot(RB_DISABLE_CAD));
}

static int unshares(const char *arg)
{
	(void)arg;
	return said(unshare(CLONE_NEWNS));
}

static int sets_groups(const char *arg)
{
	(void)arg;
	return said(setgroups(0, NULL));
}

static int adds_key(const char *arg)
{
	return said(syscall(SYS_add_key, "user", arg, "x", 1, -2 /* of this process */));
}

static int executes_memory(const char *arg)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	return p == MAP_FAILED ? errno : said(munmap(p, 4096));
}

/* --- processes */

/* What exec said comes through a pipe, which a new program closes. */
static int runs(const char *path)
{
	char *argv[] = { (char *)path, NULL };
	int said_by[2], r = 0;
	pid_t pid;

	if (pipe2(said_by, O_CLOEXEC) < 0)
		return errno;
	pid = fork();
	if (pid < 0)
		return errno;
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execv(path, argv);
		r = errno;
		_exit(write(said_by[1], &r, sizeof(r)) != sizeof(r));
	}
	close(said_by[1]);
	if (read(said_by[0], &r, sizeof(r)) < 0)
		r = errno;
	close(said_by[0]);
	waitpid(pid, NULL, 0);
	return r;
}

static int pid_of(const char *name)
{
	return pids[*name == 'l' ? 0 : *name == 's' ? 1 : 2];
}

static int signals(const char *name)
{
	return said(kill(pid_of(name), SIGCONT));
}

static int traces(const char *name)
{
	int r = said(ptrace(PTRACE_SEIZE, pid_of(name), 0, 0));

	if (!r) {
		ptrace(PTRACE_INTERRUPT, pid_of(name), 0, 0);
		waitpid(pid_of(name), NULL, __WALL);
		ptrace(PTRACE_DETACH, pid_of(name), 0, 0);
	}
	return r;
}

static int reads_memory(const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid_of(name));
	return reads(path);
}

/* Into a domain where everything is allowed; who is there already stays. */
static int becomes(const char *attr)
{
	char to[128] = "";
	int fd = open("/proc/self/attr/current", O_RDONLY | O_CLOEXEC), r;

	if (fd < 0 || read(fd, to, sizeof(to) - 1) <= 0)
		return EINVAL;
	close(fd);
	if (!strstr(to, ":unconfined_t:"))
		strcpy(to, "system_u:system_r:initrc_t:s0");
	fd = open(attr, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	r = said(write(fd, to, strlen(to)));
	close(fd);
	return r;
}

static const struct {
	const char *name;
	int (*try)(const char *arg);
	const char *arg;
} attempts[] = {
	{ "read-shadow", reads, "/etc/shadow" },
	{ "read-passwd", reads, "/etc/passwd" },
	{ "read-home", reads, "/root/.bashrc" },
	{ "read-conf", reads, "/etc/trifold/trifold.conf" },
	{ "read-words", reads, "/run/trifold-config/loaderd" },
	{ "read-log", reads, "/var/log/dpkg.log" },
	{ "read-disk", reads, "/dev/nvme0n1" },
	{ "read-dev-mem", reads, "/dev/mem" },
	{ "read-init-environ", reads, "/proc/1/environ" },
	{ "read-init-mem", reads, "/proc/1/mem" },
	{ "read-loaderd-mem", reads_memory, "loaderd" },
	{ "read-exporterd-mem", reads_memory, "exporterd" },
	{ "write-core-pattern", writes, "/proc/sys/kernel/core_pattern" },
	{ "write-enforce", writes, "/sys/fs/selinux/enforce" },
	{ "write-policy", writes, "/sys/fs/selinux/load" },
	{ "write-kmsg", writes, "/dev/kmsg" },
	{ "write-conf", writes, "/etc/trifold/trifold.conf" },
	{ "write-program", writes, "/usr/libexec/trifold/trifold-supervisor" },
	{ "write-library", writes, "/usr/lib/x86_64-linux-gnu/libz.so.1" },
	{ "make-tmp", makes, "/tmp/standin" },
	{ "make-shm", makes, "/dev/shm/standin" },
	{ "make-etc", makes, "/etc/standin" },
	{ "make-conf", makes, "/etc/trifold/standin" },
	{ "make-run", makes, "/run/standin" },
	{ "make-words", makes, "/run/trifold-config/standin" },
	{ "make-beside-sockets", makes, "/run/trifold/standin" },
	{ "make-spool", makes, "/var/lib/trifold-exporterd/standin" },
	{ "make-cache", makes, "/var/cache/trifold-exporterd/standin" },
	{ "make-log", makes, "/var/log/standin" },
	{ "make-directory", makes_dir, "/run/standin.d" },
	{ "socket-tcp", socket_of, "tcp" },
	{ "socket-udp", socket_of, "udp" },
	{ "socket-raw", socket_of, "raw" },
	{ "socket-packet", socket_of, "packet" },
	{ "socket-route", socket_of, "route" },
	{ "socket-audit", socket_of, "audit" },
	{ "connect-4318", connects_port, "4318" },
	{ "connect-443", connects_port, "443" },
	{ "connect-22", connects_port, "22" },
	{ "connect-5432", connects_port, "5432" },
	{ "listen-4444", listens_port, "4444" },
	{ "hub-as-loaderd", connects_ours, "/run/trifold/loader.sock" },
	{ "hub-as-exporterd", connects_ours, "/run/trifold/export.sock" },
	{ "hub-as-reader", connects_ours, "/run/trifold/status.sock" },
	{ "systemd-private", connects_stream, "/run/systemd/private" },
	{ "bpf", makes_map, NULL },
	{ "perf-event", opens_event, NULL },
	{ "mount", mounts, "/mnt" },
	{ "module", loads_module, "no module" },
	{ "kernel-log", logs, NULL },
	{ "clock", sets_clock, NULL },
	{ "reboot", reboots, NULL },
	{ "namespace", unshares, NULL },
	{ "groups", sets_groups, NULL },
	{ "key", adds_key, "standin" },
	{ "execute-memory", executes_memory, NULL },
	{ "run-shell", runs, "/bin/sh" },
	{ "run-trifold", runs, "/usr/bin/trifold" },
	{ "signal-loaderd", signals, "loaderd" },
	{ "signal-symbolizerd", signals, "symbolizerd" },
	{ "signal-exporterd", signals, "exporterd" },
	{ "trace-symbolizerd", traces, "symbolizerd" },
	{ "domain-now", becomes, "/proc/self/attr/current" },
	{ "domain-at-exec", becomes, "/proc/self/attr/exec" },
};

static void learn_pids(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char last[LAST + 1] = "", *line;

	if (fd < 0 || lseek(fd, -LAST, SEEK_END) < 0 || read(fd, last, LAST) != LAST)
		exit(2);
	close(fd);
	for (int i = 0; i < LAST; i++)
		last[i] = last[i] ? last[i] : ' ';
	line = strstr(last, "PIDS ");
	if (!line || sscanf(line, "PIDS %d %d %d", &pids[0], &pids[1], &pids[2]) != 3)
		exit(3);
}

int main(void)
{
	int r;

	learn_pids();
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		r = attempts[i].try(attempts[i].arg);
		dprintf(2, "standin: %s %s\n", attempts[i].name, r ? strerrorname_np(r) : "ok");
	}
	dprintf(2, "standin: end\n");
	return 0;
}
