// SPDX-License-Identifier: Apache-2.0
/*
 * verifier - how much of each BPF program does this kernel's verifier look at?
 *
 * usage: verifier [all]
 *
 * Loads what loaderd loads, as it does, without a filter and any runtime, then with each
 * runtime alone, and with all; "all": that with each kind of filter.  The kernel says how many instructions it followed, and refuses a program
 * beyond a million.  That number is the same each time; a small change of a program
 * can multiply it.  So each has a budget here, far below what is refused.  TAP; root.
 */
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/runtime.h"
#include "loaderd/bpf.h"
#include "loaderd/variant.h"

#define LOG_STATS	4	/* BPF_LOG_STATS: the last line of the log alone */

#define WALK_NONE	160000	/* without a runtime; each has its own in bpf/runtimes.def */

static const struct walked {
	const char *name;
	uint32_t number, flags, thousands;
} walked[] = {
#define RUNTIME(number, id, name, flags, verify, ...)	{ #name, number, flags, verify },
#include "bpf/runtimes.def"
};

/* A quarter to a half more than the most that docs/KERNELS.md has of any kernel; at least 100. */
static const struct budget {
	const char *name;
	unsigned int insns;
} budgets[] = {
	{ "walk", WALK_NONE }, { "sample", 100 }, { "executed", 16500 }, { "identify", 14500 },
	{ "list_files", 20000 }, { "modules_changed", 100 }, { "name_symbol", 100 },
};

#define N	(sizeof(budgets) / sizeof(*budgets))

static unsigned int said[N];
static char log_text[1 << 20];	/* each call of a global function is a line of it meanwhile */

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

static const char *const filters[] = { "all", "pid", "below", "cgroup" };

static int judge(const char *filter, const char *with, const char *name, unsigned int insns,
		 unsigned int budget)
{
	bool good = insns && insns <= budget;

	printf("# filter %s, %s: %s: the verifier followed %u instructions, its budget is %u\n",
	       filter, with, name, insns, budget);
	printf("%s - filter %s, %s: %s is within its budget of instructions to verify\n",
	       good ? "ok" : "not ok", filter, with, name);
	return !good;
}

static uint64_t in_force;	/* runtimes that walk() has */

/* walk() with these runtimes. */
static int use(struct bpf *b, const char *filter, const char *with, uint64_t runtimes,
	       unsigned int budget)
{
	int r;

	said[0] = 0;
	r = variant_use(b->skel, &in_force, runtimes | 1);
	if (r)
		printf("# %s\n", strerror(-r));
	return judge(filter, with, budgets[0].name, said[0], budget);
}

static int use_each(struct bpf *b, const char *filter)
{
	unsigned int budget = WALK_NONE;
	int failed = 0;
	uint64_t all = 0;

	for (size_t i = 0; i < sizeof(walked) / sizeof(*walked); i++) {
		const struct walked *w = &walked[i];

		if (!(w->flags & RUNTIME_WALKS))
			continue;
		failed |= use(b, filter, w->name, 1ULL << w->number,
			      WALK_NONE + w->thousands * 1000);
		budget += w->thousands * 1000;
		all |= 1ULL << w->number;
	}
	return failed | use(b, filter, "all runtimes", all, budget);
}

/* In a process of its own: it is loaded once. */
static int load_with(const struct task_filter *filter)
{
	static struct bpf bpf;
	int failed = 0, r = bpf_load(&bpf, 97, filter);

	if (r) {
		printf("not ok - filter %s: loads: %s\n", filters[filter->kind], strerror(-r));
		return 1;
	}
	for (size_t i = 0; i < N; i++)
		failed |= judge(filters[filter->kind], "no runtime", budgets[i].name, said[i],
				budgets[i].insns);
	failed |= use_each(&bpf, filters[filter->kind]);
	fflush(stdout);
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
