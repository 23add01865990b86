// SPDX-License-Identifier: Apache-2.0
/*
 * docs/SECURITY.md has what confine() leaves to each process: its section between
 * two marks is made from the same data here.  Runs in the repository's root, as
 * make does.  When it differs, this test prints it.
 */
#include "cli/config/confine.h"
#include "exporterd/confinement.h"
#include "loaderd/confine.h"
#include "symbolizerd/worker/confine.h"
#include "tests/unit/harness.h"
#include "viewer/server/confine.h"

#include <linux/capability.h>
#include <signal.h>

#define N(a)	(sizeof(a) / sizeof((a)[0]))
#define BEGIN	"<!-- confinement: unit/confinement -->\n\n"
#define END	"\n<!-- end of confinement -->"

static const struct confinement *const processes[] = {
	&confinement_loaderd, &confinement_opener, &confinement_hub, &confinement_zygote,
	&confinement_worker, &confinement_exporterd, &confinement_viewer,
	&confinement_front_reading, &confinement_front, &confinement_recorder,
	&confinement_reader, &confinement_display,
};

#define NAMED(capability)	{ CAP(capability), #capability }
static const struct { uint64_t bit; const char *name; } caps[] = {
	NAMED(BPF), NAMED(PERFMON), NAMED(SYS_PTRACE), NAMED(DAC_READ_SEARCH),
	NAMED(CHECKPOINT_RESTORE), NAMED(NET_BIND_SERVICE),
};

static void write_root(FILE *f, const struct confinement *c)
{
	CHECK(!(c->namespaces & ~(NEW_ROOT | CLONE_NEWNET)));
	if (!c->namespaces)
		fputs("the host's", f);
	else if (c->namespaces & CLONE_NEWNET)
		fputs("empty, no network", f);
	else
		fputs("empty", f);
}

static void write_caps(FILE *f, const struct confinement *c)
{
	const char *comma = "";
	uint64_t left = c->caps;

	for (size_t i = 0; i < N(caps); i++) {
		if (!(left & caps[i].bit))
			continue;
		fprintf(f, "%s%s", comma, caps[i].name);
		left &= ~caps[i].bit;
		comma = ", ";
	}
	CHECK_EQ(left, 0);
	if (!c->caps)
		fputs("none", f);
}

static void write_size(FILE *f, uint64_t bytes, const char *what)
{
	CHECK(what != NULL);
	if (bytes % (1ULL << 30) == 0)
		fprintf(f, "; %llu GiB of %s", (unsigned long long)bytes >> 30, what);
	else
		fprintf(f, "; %llu MiB of %s", (unsigned long long)bytes >> 20, what);
}

static const struct sandbox_limit *limit_of(const struct confinement *c, int what)
{
	for (const struct sandbox_limit *l = c->limits; l->what; l++) {
		CHECK(l < c->limits + SANDBOX_LIMITS - 1);
		if (l->what == what + 1)
			return l;
	}
	return NULL;
}

static void write_limits(FILE *f, const struct confinement *c)
{
	static const struct { int what; const char *size, *none; } names[] = {
		{ RLIMIT_AS, "addresses", NULL }, { RLIMIT_DATA, "data", NULL },
		{ RLIMIT_FSIZE, "a file", "no byte of a file" },
		{ RLIMIT_NPROC, NULL, "no process" },
		{ RLIMIT_MEMLOCK, NULL, "no locked memory" },
	};
	const struct sandbox_limit *cpu = limit_of(c, RLIMIT_CPU);

	if (!limit_of(c, RLIMIT_NOFILE)) {
		CHECK_EQ(c->limits[0].what, 0);
		fputs("as they were", f);
		return;
	}
	CHECK_EQ(limit_of(c, RLIMIT_CORE)->max, 0);
	CHECK_EQ(limit_of(c, RLIMIT_MSGQUEUE)->max, 0);
	CHECK_EQ(limit_of(c, RLIMIT_STACK)->max, 1 << 20);
	fprintf(f, "%u descriptors", (unsigned int)limit_of(c, RLIMIT_NOFILE)->max);
	for (size_t i = 0; i < N(names); i++) {
		const struct sandbox_limit *l = limit_of(c, names[i].what);

		if (l && l->max)
			write_size(f, l->max, names[i].size);
		else if (l)
			fprintf(f, "; %s", names[i].none);
	}
	if (cpu)
		fprintf(f, "; %u s of CPU time", (unsigned int)cpu->max);
}

static void write_landlock(FILE *f, const struct confinement *c)
{
	static const char *const says[] = {
		[LANDLOCK_NOTHING] = "no file, no TCP",
		[LANDLOCK_FILES] = "its files, TCP", [LANDLOCK_NONE] = "none",
	};

	fputs(c->identity_inherited ? "its parent's" : says[c->landlock], f);
}

/* Each call that a table allows, once; an asterisk: with some arguments only. */
static void write_calls(FILE *f, const struct sandbox_rules *t)
{
	const char *comma = "";

	for (size_t i = 0; i < t->n; i++) {
		bool said = t->v[i].error != 0;
		char *name;

		for (size_t k = 0; k < i; k++) {
			if (t->v[k].nr == t->v[i].nr && !t->v[k].error)
				said = true;
		}
		if (said)
			continue;
		name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, t->v[i].nr);
		CHECK(name != NULL);
		fprintf(f, "%s%s%s", comma, name, t->v[i].conditions ? "\\*" : "");
		free(name);
		comma = ", ";
	}
}

static void write_all_calls(FILE *f, const struct confinement *c)
{
	if (c->any_call)
		fputs("any call", f);
	else if (!c->rules[0].n)
		fputs("none", f);
	for (size_t i = 0; i < SANDBOX_TABLES && c->rules[i].n; i++) {
		if (i)
			fputs("; ", f);
		if (c->rules[i].only)
			fprintf(f, "%s: ", c->rules[i].only);
		write_calls(f, &c->rules[i]);
	}
}

static void write_parent(FILE *f, const struct confinement *c)
{
	switch (c->deathsig) {
	case 0:
		fputs("nothing", f);
		break;
	case SIGTERM:
		fputs("SIGTERM", f);
		break;
	default:
		CHECK_EQ(c->deathsig, SIGKILL);
		fputs("SIGKILL", f);
	}
	if (c->may_be_unit)
		fputs(", not as a unit", f);
}

static char *expected(void)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	CHECK(f != NULL);
	fputs("| process | root | capabilities | limits | Landlock | its parent's end | "
	      "calls beyond `base_rules` |\n|---|---|---|---|---|---|---|\n", f);
	for (size_t i = 0; i < N(processes); i++) {
		fprintf(f, "| %s | ", processes[i]->process);
		write_root(f, processes[i]);
		fputs(" | ", f);
		write_caps(f, processes[i]);
		fputs(" | ", f);
		write_limits(f, processes[i]);
		fputs(" | ", f);
		write_landlock(f, processes[i]);
		fputs(" | ", f);
		write_parent(f, processes[i]);
		fputs(" | ", f);
		write_all_calls(f, processes[i]);
		fputs(" |\n", f);
	}
	CHECK_EQ(fclose(f), 0);
	return text;
}

TEST(confinement_is_what_the_document_says)
{
	static char doc[1 << 18];
	FILE *f = fopen("docs/SECURITY.md", "r");
	char *want = expected(), *begin, *end;
	size_t n;

	CHECK(f != NULL);
	n = fread(doc, 1, sizeof(doc) - 1, f);
	CHECK(n < sizeof(doc) - 1);
	fclose(f);
	begin = strstr(doc, BEGIN);
	end = strstr(doc, END);
	CHECK(begin && end && begin < end);
	begin += strlen(BEGIN);
	*end = '\0';
	if (strcmp(begin, want))
		printf("# the section of docs/SECURITY.md would be:\n%s", want);
	CHECK(!strcmp(begin, want));
	free(want);
}

/* Every table can be added, for every process, with all that it may have. */
TEST(confinement_makes_a_filter_for_each_process)
{
	for (size_t i = 0; i < N(processes); i++) {
		const struct sandbox_rule *all[SANDBOX_RULES_MAX];
		scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);

		CHECK(sandbox_rules(processes[i], all) < SANDBOX_RULES_MAX);
		CHECK_EQ(sandbox_fill_filter(ctx, processes[i]), 0);
		seccomp_release(ctx);
	}
	CHECK(sandbox_fill_filter(NULL, processes[0]) < 0);
}
