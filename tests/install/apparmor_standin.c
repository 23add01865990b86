// SPDX-License-Identifier: Apache-2.0
/*
 * apparmor_standin - a taken-over daemon, but as root with all capabilities
 *
 *   apparmor_standin LABEL [MAY...]
 *
 * Takes the label of a daemon ("-": none) and tries what no daemon may do, each in a
 * process of its own.  Prints "NAME: done" or "NAME: refused (ERROR)".  Exit status 0
 * if all was refused, with EACCES or EPERM, but for the names MAY, which have to work;
 * without a label all has to work.  Neither seccomp nor namespaces, Landlock or file
 * permissions are in its way: AppArmor alone decides.  OTHER in the environment: the PID
 * of a daemon with another label.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_OF_ANOTHER	"/run/standin.there"

static pid_t helper;	/* sleeps, without a label */
static pid_t other;	/* a daemon with another label */
static int port;	/* of loopback; somebody listens */

static int opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : close(fd);
}

static int opens_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return opens(path, O_RDONLY);
}

static int unix_connect(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

static int inet_connect(int type)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

static int is_fd(int fd)
{
	return fd < 0 ? -1 : 0;
}

static int do_shadow(void) { return opens("/etc/shadow", O_RDONLY); }
static int do_passwd(void) { return opens("/etc/passwd", O_RDONLY); }
static int do_words(void) { return opens("/run/trifold-config/loaderd", O_RDONLY); }
static int do_resolv(void) { return opens("/etc/resolv.conf", O_RDONLY); }
static int do_config(void) { return opens("/etc/trifold/trifold.conf", O_RDONLY); }
static int do_config_write(void) { return opens("/etc/trifold/trifold.conf", O_WRONLY); }
static int do_program_write(void) { return opens("/usr/bin/trifold", O_WRONLY); }
static int do_make(void) { return opens("/run/standin.new", O_WRONLY | O_CREAT); }
static int do_spool(void) { return opens("/var/lib/trifold-exporterd/x", O_WRONLY | O_CREAT); }
static int do_cache(void) { return opens("/var/cache/trifold-exporterd/x", O_WRONLY | O_CREAT); }
static int do_unlink(void) { return unlink(FILE_OF_ANOTHER); }
static int do_link(void) { return link("/etc/passwd", "/etc/standin.link"); }
static int do_mkdir(void) { return mkdir("/run/standin.dir", 0700); }
static int do_disk(void) { return opens("/dev/nvme0n1", O_RDONLY); }
static int do_policy(void) { return opens("/sys/kernel/security/apparmor/.remove", O_WRONLY); }
static int do_sysctl(void) { return opens("/proc/sys/kernel/core_pattern", O_WRONLY); }

static int do_exec(void)
{
	execl("/bin/true", "true", (char *)NULL);
	return -1;
}

static int do_shell(void)
{
	execl("/bin/sh", "sh", "-c", ":", (char *)NULL);
	return -1;
}

static int do_leave(void)
{
	static const char to[] = "changeprofile unconfined";
	int fd = open("/proc/self/attr/current", O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, to, sizeof(to) - 1) < 0 ? -1 : 0;
}

static int do_tcp(void) { return inet_connect(SOCK_STREAM); }
static int do_udp(void) { return inet_connect(SOCK_DGRAM); }
static int do_raw(void) { return is_fd(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)); }
static int do_packet(void) { return is_fd(socket(AF_PACKET, SOCK_RAW, 0)); }
static int do_netlink(void) { return is_fd(socket(AF_NETLINK, SOCK_RAW, 0)); }
static int do_loader_socket(void) { return unix_connect("/run/trifold/loader.sock"); }
static int do_export_socket(void) { return unix_connect("/run/trifold/export.sock"); }
static int do_status_socket(void) { return unix_connect("/run/trifold/status.sock"); }

static int do_port_80(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(80) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -1 : bind(fd, (struct sockaddr *)&at, sizeof(at));
}

static int do_trace(void)
{
	return (int)ptrace(PTRACE_SEIZE, helper, 0, 0);
}

static int do_trace_daemon(void)
{
	return (int)ptrace(PTRACE_SEIZE, other, 0, 0);
}

static int do_memory(void) { return opens_of(1, "mem"); }
static int do_daemon_memory(void) { return opens_of(other, "mem"); }
static int do_environ(void) { return opens_of(1, "environ"); }
static int do_maps(void) { return opens_of(helper, "maps"); }
static int do_kill(void) { return kill(helper, SIGURG); }
static int do_kill_daemon(void) { return kill(other, SIGURG); }
static int do_kill_init(void) { return kill(1, SIGURG); }

static int do_mount(void) { return mount("none", "/mnt", "tmpfs", 0, NULL); }
static int do_umount(void) { return umount2("/dev/mqueue", MNT_DETACH); }
static int do_bind(void) { return mount("/etc", "/mnt", NULL, MS_BIND, NULL); }
static int do_unshare(void) { return unshare(CLONE_NEWNS | CLONE_NEWNET); }
static int do_chroot(void) { return chroot("/run"); }
static int do_hostname(void) { return sethostname("standin", 7); }
static int do_setuid(void) { return setuid(1000); }
static int do_setgid(void) { return setgid(1000); }
static int do_chown(void) { return chown("/run/standin.owned", 1000, 1000); }
static int do_mknod(void) { return mknod("/run/standin.null", S_IFCHR | 0600, 0x103); }
static int do_nice(void) { return nice(-5) == -1 ? -1 : 0; }
static int do_log(void) { return klogctl(8, NULL, 7); }

static int do_bpf(void)
{
	union bpf_attr a = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
		.value_size = 8, .max_entries = 1 };

	return is_fd((int)syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof(a)));
}

static int do_perf(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK };

	return is_fd((int)syscall(SYS_perf_event_open, &a, -1, 0, -1, 0));
}

static int do_setns(void)
{
	int fd = open("/proc/1/ns/mnt", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : setns(fd, CLONE_NEWNS);
}

static const struct { const char *name; int (*run)(void); } attempts[] = {
#define TRY(name)	{ #name, do_ ## name }
	TRY(shadow), TRY(passwd), TRY(words), TRY(resolv), TRY(config), TRY(config_write),
	TRY(program_write), TRY(make), TRY(spool), TRY(cache), TRY(unlink), TRY(link), TRY(mkdir),
	TRY(disk), TRY(policy), TRY(sysctl), TRY(exec), TRY(shell), TRY(leave),
	TRY(tcp), TRY(udp), TRY(raw), TRY(packet), TRY(netlink), TRY(port_80),
	TRY(loader_socket), TRY(export_socket), TRY(status_socket),
	TRY(trace), TRY(trace_daemon), TRY(memory), TRY(daemon_memory), TRY(environ),
	TRY(maps), TRY(kill), TRY(kill_daemon), TRY(kill_init),
	TRY(mount), TRY(umount), TRY(bind), TRY(unshare), TRY(setns), TRY(chroot),
	TRY(hostname), TRY(setuid), TRY(setgid), TRY(chown), TRY(mknod), TRY(nice),
	TRY(log), TRY(bpf), TRY(perf),
};
#define N	(sizeof(attempts) / sizeof(attempts[0]))

static void child(int (*run)(void), const char *label)
{
	char text[256];
	int fd, n = snprintf(text, sizeof(text), "changeprofile %s", label);

	/* what it mounts goes with it */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(254);
	if (strcmp(label, "-")) {
		fd = open("/proc/self/attr/current", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, text, (size_t)n) != n)
			_exit(253);
		close(fd);
	}
	errno = 0;
	_exit(run() == 0 ? 0 : errno);
}

/* 0 or the errno of the attempt */
static int attempt(int i, const char *label)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		child(attempts[i].run, label);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 252;
	return WEXITSTATUS(status);
}

/* For each attempt anew: the file is unlinked by one, and so on. */
static void prepare(void)
{
	if (opens(FILE_OF_ANOTHER, O_WRONLY | O_CREAT) ||
	    opens("/run/standin.owned", O_WRONLY | O_CREAT) ||
	    (mkdir("/mnt", 0755) && errno != EEXIST))
		perror("prepare");
	unlink("/etc/standin.link");
	unlink("/run/standin.null");
	unlink("/run/standin.new");
	unlink("/var/lib/trifold-exporterd/x");
	unlink("/var/cache/trifold-exporterd/x");
	rmdir("/run/standin.dir");
}

static int listen_somewhere(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, 8) < 0 || getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		return -1;
	return ntohs(at.sin_port);
}

static int may(int argc, char **argv, const char *name)
{
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return 1;
	}
	return !strcmp(argv[1], "-");
}

int main(int argc, char **argv)
{
	const char *daemon = getenv("OTHER");
	char host[65] = "";
	int wrong = 0;

	if (argc < 2 || !daemon)
		return 2;
	other = atoi(daemon);
	port = listen_somewhere();
	gethostname(host, sizeof(host) - 1);
	helper = fork();
	if (helper == 0)
		for (;;)
			pause();
	for (size_t i = 0; i < N; i++) {
		int e, want = may(argc, argv, attempts[i].name);

		prepare();
		e = attempt((int)i, argv[1]);
		printf("%s%s: %s%s%s\n", (want ? e : e != EACCES && e != EPERM) ? "WRONG " : "",
		       attempts[i].name, e ? "refused (" : "done", e ? strerror(e) : "",
		       e ? ")" : "");
		wrong += want ? e != 0 : e != EACCES && e != EPERM;
	}
	prepare();
	unlink(FILE_OF_ANOTHER);
	unlink("/run/standin.owned");
	kill(helper, SIGKILL);
	if (sethostname(host, strlen(host)) < 0)
		perror("hostname");
	printf("# %s: %zu attempts, %d not as they should be\n", argv[1], N, wrong);
	return wrong != 0;
}
