// SPDX-License-Identifier: Apache-2.0
#include "cli/status/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/config/libexec.h"
#include "cli/supervisor/program_table.h"
#include "cli/supervisor/runtime_dir.h"

#define BTF_MAX		(64u << 20)
#define BTF_MAGIC	0xeb9f		/* linux/btf.h */

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset	444
#endif

static int doctor_probe_done(long fd)
{
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

static int doctor_try_ring(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_RINGBUF;
	attr.max_entries = 1u << 16;	/* a multiple of any page size */
	return doctor_probe_done(
		syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static int doctor_try_perf(bool hardware)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = hardware ? PERF_COUNT_HW_CPU_CYCLES :
				     PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1, .sample_freq = FREQUENCY_DEFAULT, .disabled = 1,
	};

	return doctor_probe_done(syscall(SYS_perf_event_open, &attr, -1, 0, -1,
					 PERF_FLAG_FD_CLOEXEC));
}

static bool doctor_answers(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool yes;

	if (fd < 0)
		return false;
	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	yes = !connect(fd, (struct sockaddr *)&addr, sizeof(addr));
	close(fd);
	return yes;
}

static int doctor_count_users(void)
{
	int n = 0;

	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		if (getpwnam(program_table[i].name))
			n++;
	}
	if (getpwnam("trifold-opener"))
		n++;
	return n;
}

/* A whole word of the strings of a BTF: between two NUL bytes. */
static bool doctor_btf_has_name(const uint8_t *p, size_t n, const char *name)
{
	char word[40];
	size_t len = strlen(name) + 2;

	memset(word, 0, sizeof(word));
	memcpy(word + 1, name, len - 2);
	return memmem(p, n, word, len) != NULL;
}

/* Read the whole file, to be freed.  0 or -errno. */
static int doctor_read_btf(const char *path, uint8_t **ret, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;
	uint8_t *p;
	ssize_t got = 1;

	if (fd < 0)
		p = NULL;
	else
		p = malloc(BTF_MAX);
	if (!p)
		r = -errno;
	for (*n = 0; !r && got > 0 && *n < BTF_MAX; *n += (size_t)got) {
		got = read(fd, p + *n, BTF_MAX - *n);
		if (got < 0) {
			r = -errno;
			break;
		}
	}
	if (fd >= 0)
		close(fd);
	*ret = p;
	if (!r)
		return 0;
	free(p);
	*ret = NULL;
	return r;
}

void doctor_btf(struct doctor_host *h)
{
	static const char *const names[BTF__COUNT] = {
		"bpf_mem_alloc", "bpf_rdonly_cast", "bpf_map_memory",
	};
	char path[PATH_MAX];
	uint16_t magic = 0;
	uint8_t *p;
	size_t n;

	memset(h->names, 0, sizeof(h->names));
	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", h->root);
	h->btf = doctor_read_btf(path, &p, &n);
	if (h->btf)
		return;
	if (n >= sizeof(magic))
		memcpy(&magic, p, sizeof(magic));
	if (magic != BTF_MAGIC || n == BTF_MAX)
		h->btf = -EBADMSG;
	for (int i = 0; !h->btf && i < BTF__COUNT; i++)
		h->names[i] = doctor_btf_has_name(p, n, names[i]);
	free(p);
}

void doctor_probe(struct doctor_host *h, const char *libexec)
{
	struct rlimit rl = { 0, 0 };
	char dir[PATH_MAX];
	long abi;

	*h = (struct doctor_host){ .root = "", .is_root = geteuid() == 0 };
	doctor_btf(h);
	h->ring = doctor_try_ring();
	h->cycles = doctor_try_perf(true);
	h->clock = doctor_try_perf(false);
	abi = syscall(__NR_landlock_create_ruleset, NULL, 0, 1);
	if (abi < 0)
		h->landlock = -errno;
	else
		h->landlock = (int)abi;
	h->daemons = libexec_find(libexec, dir);
	h->users = doctor_count_users();
	if (access("/run", W_OK))
		h->run = -errno;
	else
		h->run = 0;
	getrlimit(RLIMIT_MEMLOCK, &rl);
	h->memlock = rl.rlim_cur == RLIM_INFINITY;
	h->running = doctor_answers(STATUS_SOCKET);
	h->units = h->running && access(LOCK_FILE, F_OK) < 0;	/* as running.h has it */
}
