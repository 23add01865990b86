// SPDX-License-Identifier: Apache-2.0
/*
 * verifier - how much of each BPF program does this kernel's verifier look at?
 *
 * usage: verifier [all]
 *
 * Loads what loaderd loads, as it does, without a filter; "all": with each kind of
 * filter.  The kernel says how many instructions it followed, and refuses a program
 * beyond a million.  That number is the same each time; a small change of a program
 * can multiply it.  So each has a budget here, far below what is refused.  TAP; root.
 */
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaderd/bpf.h"

#define LOG_STATS	4	/* BPF_LOG_STATS: the last line of the log alone */

/* A quarter to a half more than the most that docs/KERNELS.md has of any kernel; at least 100. */
static const struct budget {
	const char *name;
	unsigned int insns;
} budgets[] = {
	{ "walk", 350000 }, { "sample", 100 }, { "executed", 16500 }, { "identify", 14500 },
	{ "list_files", 20000 }, { "modules_changed", 100 }, { "name_symbol", 100 },
};

#define N	(sizeof(budgets) / sizeof(*budgets))

static unsigned int said[N];
static char log_text[1 << 16];

/* In the place of libbpf's own, which it calls for each program. */
int bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
		  const struct bpf_insn *insns, size_t n, const struct bpf_prog_load_opts *opts)
{
	__typeof__(bpf_prog_load) *load = (__typeof__(load))dlsym(RTLD_NEXT, "bpf_prog_load");
	struct bpf_prog_load_opts o = { 0 };
	const char *at;
	int fd;

	if (opts)
		memcpy(&o, opts, opts->sz < sizeof(o) ? opts->sz : sizeof(o));
	o.sz = sizeof(o);
	if (!o.log_level) {
		o.log_level = LOG_STATS;
		o.log_buf = log_text;
		o.log_size = sizeof(log_text);
	}
	fd = load(type, name, license, insns, n, &o);
	at = fd < 0 || !name ? NULL : strstr(log_text, "processed ");
	for (size_t i = 0; at && i < N; i++) {
		if (!strcmp(name, budgets[i].name))
			sscanf(at, "processed %u", &said[i]);
	}
	return fd;
}

/* In a process of its own: it is loaded once. */
static int load_with(const struct task_filter *filter)
{
	static const char *const filters[] = { "all", "pid", "below", "cgroup" };
	static struct bpf bpf;
	int failed = 0, r = bpf_load(&bpf, 97, filter);

	if (r) {
		printf("not ok - filter %s: loads: %s\n", filters[filter->kind], strerror(-r));
		return 1;
	}
	for (size_t i = 0; i < N; i++) {
		const struct budget *b = &budgets[i];
		bool good = said[i] && said[i] <= b->insns;

		printf("# filter %s: %s: the verifier followed %u instructions, its budget is %u\n",
		       filters[filter->kind], b->name, said[i], b->insns);
		failed |= !good;
		printf("%s - filter %s: %s is within its budget of instructions to verify\n",
		       good ? "ok" : "not ok", filters[filter->kind], b->name);
	}
	return failed;
}

int main(int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "all");
	int failed = 0, status;

	for (uint32_t kind = FILTER_ALL; kind < (all ? FILTER__MAX : FILTER_ALL + 1); kind++) {
		struct task_filter filter = { .kind = kind, .n = kind ? FILTER_MAX : 0 };
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid)
			return load_with(&filter);
		failed |= pid < 0 || waitpid(pid, &status, 0) != pid || status;
	}
	return failed;
}
