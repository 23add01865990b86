// SPDX-License-Identifier: Apache-2.0
/*
 * The filter twice: in children, by what kills them; and the program that the
 * kernel gets, interpreted here, over numbers and arguments.
 */
#include "common/sandbox.h"
#include "tests/unit/child.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N(a)	(sizeof(a) / sizeof((a)[0]))

/* --- seccomp, for real ------------------------------------------------------ */

static const struct sandbox_rule own_rules[] = {
	YES(getpriority), WHEN(socket, 0, INT, AF_UNIX),
	WHEN(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	WHEN(ioctl, 1, INT, 0x2400), FAIL(uname, EBUSY), YES(newfstatat),
	{ .nr = -1 },
};

static const struct confinement base_only, with_own = { .rules = { RULES(own_rules, NULL) } };

static void filter_base(void)
{
	sandbox_quiet(0);
	sandbox_seccomp(&base_only);
}

static void filter_own(void)
{
	sandbox_quiet(0);
	sandbox_seccomp(&with_own);
}

#define KILLED(name, call)						\
	static void name(void)						\
	{								\
		filter_base();						\
		(void)(call);						\
	}
KILLED(do_execve, syscall(SYS_execve, "/bin/true", NULL, NULL))
KILLED(do_fork, syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))
KILLED(do_ptrace, syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0))
KILLED(do_bpf, syscall(SYS_bpf, 0, NULL, 0))
KILLED(do_perf, syscall(SYS_perf_event_open, NULL, 0, 0, -1, 0))
KILLED(do_writev, syscall(SYS_process_vm_writev, getpid(), NULL, 0, NULL, 0, 0))
KILLED(do_kill, syscall(SYS_kill, getpid(), 0))
KILLED(do_connect, syscall(SYS_connect, -1, NULL, 0))
KILLED(do_unshare, syscall(SYS_unshare, 0))
KILLED(do_uring, syscall(425 /* io_uring_setup */, 1, NULL))
KILLED(do_getfd, syscall(438 /* pidfd_getfd */, -1, -1, 0))
KILLED(do_mmap, syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
KILLED(do_mprotect, syscall(SYS_mprotect, 4096, 4096, PROT_EXEC))
KILLED(do_ioctl, syscall(SYS_ioctl, 2, 0x5412 /* TIOCSTI */, ""))
KILLED(do_prctl, syscall(SYS_prctl, PR_SET_DUMPABLE, 1))
KILLED(do_memfd, syscall(SYS_memfd_create, "x", 0))

TEST(seccomp_kills_what_nobody_needs)
{
	void (*const fns[])(void) = {
		do_execve, do_fork, do_ptrace, do_bpf, do_perf, do_writev,
		do_kill, do_connect, do_unshare, do_uring, do_getfd, do_mmap,
		do_mprotect, do_ioctl, do_prctl, do_memfd,
	};

	for (size_t i = 0; i < N(fns); i++) {
		int status = fate(fns[i]);

		printf("# forbidden call %zu: status %#x\n", i, status);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	}
}

static void libc_tries(void)
{
	struct stat st;

	filter_base();
	MUST(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY) < 0 &&
	     errno == EACCES);
	MUST(syscall(SYS_newfstatat, AT_FDCWD, "/", &st, 0) < 0 &&
	     errno == EACCES);
	MUST(syscall(SYS_newfstatat, 2, "", &st, AT_EMPTY_PATH) == 0);
	MUST(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0) < 0 &&
	     errno == EACCES);
	MUST(syscall(SYS_readlinkat, AT_FDCWD, "/", "", 0) < 0 &&
	     errno == EACCES);
	MUST(syscall(435 /* clone3 */, NULL, 0) < 0 && errno == ENOSYS);
	MUST(syscall(SYS_ioctl, 2, 0x5401 /* TCGETS */, NULL) < 0 &&
	     errno == ENOTTY);
	MUST(syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) > 0);
	MUST(syscall(SYS_getpid) > 0);
	MUST(syscall(SYS_fcntl, 2, F_GETFL) >= 0);
	MUST(syscall(SYS_sched_yield) < 0 && errno == ENOSYS);
}

TEST(seccomp_lets_a_c_library_live)
{
	CHECK_EQ(fate(libc_tries), 0);
}

static void own_allowed(void)
{
	struct stat st;

	filter_own();
	MUST(syscall(SYS_getpriority, 0, 0) > 0);
	MUST(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY) >= 0);
	MUST(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0) >= 0);
	MUST(syscall(SYS_newfstatat, AT_FDCWD, "/", &st, 0) == 0);
	MUST(syscall(SYS_uname, NULL) < 0 && errno == EBUSY);
	/* a rule more on the same argument: the base's answer stays */
	MUST(syscall(SYS_ioctl, 2, 0x5401 /* TCGETS */, NULL) < 0 &&
	     errno == ENOTTY);
	MUST(syscall(SYS_ioctl, 2, 0x2400, NULL) < 0 && errno == ENOTTY);
	/* not named: as in the base */
	MUST(syscall(SYS_readlinkat, AT_FDCWD, "/", "", 0) < 0 &&
	     errno == EACCES);
}

static void own_write(void)
{
	filter_own();
	syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY);
}

static void own_inet(void)
{
	filter_own();
	syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

TEST(seccomp_callers_rules_override_the_base)
{
	CHECK_EQ(fate(own_allowed), 0);
	CHECK_EQ(WTERMSIG(fate(own_write)), SIGSYS);
	CHECK_EQ(WTERMSIG(fate(own_inet)), SIGSYS);
}

/* --- seccomp: the program as the kernel gets it, interpreted ---------------- */

static struct sock_filter prog[4096];
static size_t prog_len;
static int export_fd = -1;	/* the filter goes there, not to the kernel */

int __real_seccomp_load(const scmp_filter_ctx ctx);
int __wrap_seccomp_load(const scmp_filter_ctx ctx);
int __wrap_seccomp_load(const scmp_filter_ctx ctx)
{
	return export_fd < 0 ? __real_seccomp_load(ctx) :
			       seccomp_export_bpf(ctx, export_fd);
}

static void load_prog(const struct sandbox_rule *rules, size_t n)
{
	const struct confinement c = { .rules = { { rules, n, NULL } } };
	int fd = memfd_create("filter", 0);
	ssize_t got;

	export_fd = fd;
	sandbox_seccomp(&c);
	export_fd = -1;
	got = pread(fd, prog, sizeof(prog), 0);
	CHECK(got > 0 && (size_t)got < sizeof(prog));
	prog_len = (size_t)got / sizeof(prog[0]);
	close(fd);
}

/* What is made once for many processes is what each would have loaded. */
TEST(a_program_made_beforehand_is_the_same)
{
	static struct sandbox_program p;

	load_prog(own_rules, N(own_rules));
	sandbox_program_make(&p, &with_own);
	CHECK_EQ(p.n, prog_len);
	CHECK(!memcmp(p.v, prog, prog_len * sizeof(prog[0])));
}

static struct sandbox_program made;

static void filter_made(void)
{
	sandbox_quiet(0);
	sandbox_program_load(&made);
}

static void made_allows(void)
{
	filter_made();
	syscall(SYS_getpriority, 0, 0);
}

static void made_refuses(void)
{
	filter_made();
	syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

static void made_of_nothing(void)
{
	made.n = 0;
	filter_made();
}

TEST(a_program_made_beforehand_holds)
{
	sandbox_program_make(&made, &with_own);
	CHECK_EQ(fate(made_allows), 0);
	CHECK_EQ(WTERMSIG(fate(made_refuses)), SIGSYS);
	/* what the kernel refuses ends the process, too */
	CHECK_EQ(WEXITSTATUS(fate(made_of_nothing)), 1);
}

static size_t jump(const struct sock_filter *f, uint32_t a)
{
	bool yes;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		return f->k;
	case BPF_JEQ:
		yes = a == f->k;
		break;
	case BPF_JGT:
		yes = a > f->k;
		break;
	case BPF_JGE:
		yes = a >= f->k;
		break;
	default:
		CHECK(BPF_OP(f->code) == BPF_JSET);
		yes = (a & f->k) != 0;
	}
	return yes ? f->jt : f->jf;
}

static uint32_t interpret(const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < prog_len; pc++) {
		const struct sock_filter *f = &prog[pc];

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			CHECK(f->code == (BPF_LD | BPF_W | BPF_ABS));
			CHECK(f->k % 4 == 0 && f->k < sizeof(*data));
			memcpy(&a, (const char *)data + f->k, 4);
			break;
		case BPF_ALU:
			CHECK(f->code == (BPF_ALU | BPF_AND | BPF_K));
			a &= f->k;
			break;
		case BPF_JMP:
			pc += jump(f, a);
			break;
		default:
			CHECK(f->code == (BPF_RET | BPF_K));
			return f->k;
		}
	}
	CHECK(!"the program ends without a verdict");
	return 0;
}

static struct seccomp_data call(int nr)
{
	struct seccomp_data data = { .nr = nr };

#if defined(__x86_64__)
	data.arch = AUDIT_ARCH_X86_64;
#else
	data.arch = AUDIT_ARCH_AARCH64;
#endif
	return data;
}

static uint32_t judge(int nr, int arg, uint64_t value)
{
	struct seccomp_data data = call(nr);

	/* what the rule does not look at must not matter */
	for (int i = 0; i < 6; i++)
		data.args[i] = 0xdeadbeefcafef00dULL;
	data.args[arg] = value;
	return interpret(&data);
}

#define DENY(e)	(SECCOMP_RET_ERRNO | (e))

TEST(seccomp_filter_decides_by_argument_and_by_it_alone)
{
	const uint64_t high = 1ULL << 63 | 1ULL << 32;

	load_prog(NULL, 0);
	for (uint64_t prot = 0; prot < 8; prot++) {
		uint32_t want = prot & PROT_EXEC ? SECCOMP_RET_KILL_PROCESS :
			SECCOMP_RET_ALLOW;

		CHECK_EQ(judge(SYS_mmap, 2, prot), want);
		CHECK_EQ(judge(SYS_mprotect, 2, prot), want);
		CHECK_EQ(judge(SYS_mmap, 2, prot | high), want);
	}
	CHECK_EQ(judge(SYS_ioctl, 1, 0x5401), DENY(ENOTTY));
	CHECK_EQ(judge(SYS_ioctl, 1, 0x5401 | high), DENY(ENOTTY));
	CHECK_EQ(judge(SYS_ioctl, 1, 0x5402), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(judge(SYS_newfstatat, 3, 0x1000), SECCOMP_RET_ALLOW);
	CHECK_EQ(judge(SYS_newfstatat, 3, 0x1100), SECCOMP_RET_ALLOW);
	CHECK_EQ(judge(SYS_newfstatat, 3, 0x0100), DENY(EACCES));
	CHECK_EQ(judge(SYS_newfstatat, 3, high), DENY(EACCES));
	CHECK_EQ(judge(SYS_prctl, 0, PR_SET_NAME), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(judge(SYS_fcntl, 1, F_ADD_SEALS), SECCOMP_RET_ALLOW);
	CHECK_EQ(judge(SYS_fcntl, 1, F_SETOWN), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(judge(SYS_fcntl, 1, F_DUPFD), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(judge(SYS_madvise, 2, MADV_DONTNEED), SECCOMP_RET_ALLOW);
	CHECK_EQ(judge(SYS_madvise, 2, MADV_REMOVE),
		 SECCOMP_RET_KILL_PROCESS);
}

TEST(seccomp_filter_with_own_rules)
{
	load_prog(own_rules, N(own_rules));
	CHECK_EQ(judge(SYS_socket, 0, AF_UNIX), SECCOMP_RET_ALLOW);
	CHECK_EQ(judge(SYS_socket, 0, AF_INET), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(judge(SYS_openat, 2, O_RDONLY | O_CLOEXEC),
		 SECCOMP_RET_ALLOW);
	CHECK_EQ(judge(SYS_openat, 2, O_RDWR), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(judge(SYS_openat, 2, O_CREAT), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(judge(SYS_ioctl, 1, 0x5401), DENY(ENOTTY));
	CHECK_EQ(judge(SYS_ioctl, 1, 0x2400), SECCOMP_RET_ALLOW);
	CHECK_EQ(judge(SYS_ioctl, 1, 0x2401), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(judge(SYS_newfstatat, 3, 0), SECCOMP_RET_ALLOW);
	CHECK_EQ(judge(SYS_uname, 0, 0), DENY(EBUSY));
	CHECK_EQ(judge(SYS_getpriority, 0, 0), SECCOMP_RET_ALLOW);
}

/* Of all numbers there are, the base lets so many through. */
TEST(seccomp_filter_kills_every_other_number)
{
	static const int never[] = {
		SYS_execve, SYS_execveat, SYS_clone, SYS_ptrace, SYS_bpf,
		SYS_perf_event_open, SYS_process_vm_readv,
		SYS_process_vm_writev, SYS_kill, SYS_tkill, SYS_tgkill,
		SYS_connect, SYS_bind, SYS_listen, SYS_accept4, SYS_mount,
		SYS_unshare, SYS_setns, SYS_chroot, SYS_setuid, SYS_capset,
		SYS_unlinkat, SYS_renameat2, SYS_mkdirat, SYS_memfd_create,
		SYS_ftruncate, SYS_pwrite64, SYS_userfaultfd, SYS_keyctl, SYS_add_key,
		SYS_init_module, SYS_kexec_load, SYS_personality, SYS_seccomp,
		SYS_socketpair, SYS_setsockopt, SYS_wait4, SYS_prlimit64,
	};
	struct seccomp_data data;
	int allowed = 0;

	load_prog(NULL, 0);
	for (size_t i = 0; i < N(never); i++)
		CHECK_EQ(judge(never[i], 0, 0), SECCOMP_RET_KILL_PROCESS);
	for (int nr = 0; nr < 1024; nr++) {
		uint32_t r = judge(nr, 0, 0);

		CHECK(r == SECCOMP_RET_ALLOW || r == SECCOMP_RET_KILL_PROCESS ||
		      (r & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO);
		allowed += r == SECCOMP_RET_ALLOW;
		if (nr > 460)
			CHECK_EQ(r, SECCOMP_RET_KILL_PROCESS);
		/* the other ABIs of this machine */
		data = call(nr);
		data.arch = AUDIT_ARCH_I386;
		CHECK_EQ(interpret(&data), SECCOMP_RET_KILL_PROCESS);
		data = call(nr | 0x40000000);
		CHECK_EQ(interpret(&data), SECCOMP_RET_KILL_PROCESS);
	}
	CHECK(allowed > 30 && allowed < 70);
}
