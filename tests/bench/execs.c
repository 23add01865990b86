// SPDX-License-Identifier: Apache-2.0
/*
 * execs - what the sampler's executed() costs at each exec of a known program
 *
 * usage: execs [EXECS [PROGRAM...]]
 *
 * Loads the sampler, makes the programs known, without tables, and executes them in turn,
 * without arguments.  Prints what kernel.bpf_stats_enabled says of all execs of this machine
 * meanwhile: first of such as follow each other at once, then of such before each of which
 * the caches were filled with something else.  Nothing is sampled.  Root.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaderd/bpf.h"

#include "bpf/sampler.skel.h"

#define COLD_BYTES	(8u << 20)

static struct bpf bpf;
static char cold[COLD_BYTES];

static void die(const char *what, int r)
{
	fprintf(stderr, "%s: %s\n", what, strerror(r < 0 ? -r : r));
	exit(1);
}

static void make_known(const char *path)
{
	static struct file_entry entry = { .exe = EXE_FIRST, .state = FILE_BARE };
	struct file_key key;
	void *page;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path, errno);
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		die(path, errno);
	if (bpf_identify(&bpf, page, &key) < 0)
		die(path, ENOENT);
	if (bpf_map_update_elem(bpf.files_fd, &key, &entry, BPF_ANY))
		die("files", errno);
	entry.exe++;
	munmap(page, 4096);
	close(fd);
}

static void execute(const char *path, int null)
{
	static char *const no_environment[] = { NULL };
	char *const argv[] = { (char *)(uintptr_t)path, NULL };
	posix_spawn_file_actions_t to;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&to);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_adddup2(&to, null, fd);
	r = posix_spawn(&pid, path, &to, NULL, argv, no_environment);
	if (r)
		die(path, r);
	posix_spawn_file_actions_destroy(&to);
	waitpid(pid, NULL, 0);
}

/* By the kernel: all runs until now. */
static struct bpf_prog_info kernel_says(void)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(bpf.skel->progs.executed), &info, &len))
		die("bpf_obj_get_info_by_fd", errno);
	return info;
}

static void measure(const char *const *programs, int n, int execs, int null, bool flush)
{
	struct bpf_prog_info before = kernel_says(), after;
	uint64_t runs;

	for (int i = 0; i < execs; i++) {
		if (flush)
			memset(cold, i, sizeof(cold));
		execute(programs[i % n], null);
	}
	after = kernel_says();
	runs = after.run_cnt - before.run_cnt;
	printf("executed(), caches %s: %llu runs, %.0f ns each\n", flush ? "cold" : "warm",
	       (unsigned long long)runs,
	       (double)(after.run_time_ns - before.run_time_ns) / (double)(runs + !runs));
}

int main(int argc, char **argv)
{
	static const char *const usual[] = { "/bin/true", "/bin/sh", "/bin/cat", "/usr/bin/env" };
	const struct task_filter everything = { .kind = FILTER_ALL };
	int execs = argc > 1 ? atoi(argv[1]) : 2000;
	const char *const *programs = argc > 2 ? (const char *const *)argv + 2 : usual;
	int n = argc > 2 ? argc - 2 : 4, null, stats, r;

	libbpf_set_print(NULL);
	r = bpf_load(&bpf, 19, &everything);
	if (r)
		die("bpf_load", r);
	for (int i = 0; i < n; i++)
		make_known(programs[i]);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	measure(programs, n, execs, null, false);
	measure(programs, n, execs, null, true);
	close(stats);
	return 0;
}
