// SPDX-License-Identifier: Apache-2.0
/*
 * symbols - what symbol indexes cost: bytes a symbol, time to build one
 *
 * usage: symbols [-l] FILE...	(a list on standard input, if there is none)
 *
 * Builds each file's index in a process of its own.  Prints for each: symbols (of
 * them functions without a name), bytes, bytes a symbol, of them those of names, of
 * what the file calls mangled ones, ms; then sums.  -l: each symbol instead, by file
 * offset.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"

struct result {
	uint64_t symbols, nameless, bytes, names, mangled, ns;
	bool done;
};

static struct result *shared, sum;
static uint64_t files;
static bool list;

static void list_all(const struct symbol_index *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		struct symbol_place at[SYMBOL_DEPTH_MAX];
		uint32_t n = symbols_places(x, x->symbols[i].start, at);

		printf("%" PRIx64 " %x %s%s%s\n", x->symbols[i].start, x->symbols[i].size,
		       n && at[n - 1].name[0] ? at[n - 1].name : "-",
		       n && at[n - 1].system ? "\t" : "",
		       n && at[n - 1].system ? at[n - 1].system : "");
	}
}

static void count(const struct symbol_index *x)
{
	shared->symbols = x->n;
	shared->names = x->name_bytes;
	for (uint32_t i = 0; i < x->n; i++) {
		struct symbol_place at[SYMBOL_DEPTH_MAX];
		uint32_t n = symbols_places(x, x->symbols[i].start, at);

		shared->nameless += n && !at[n - 1].name[0];
		shared->mangled += n && at[n - 1].system ? strlen(at[n - 1].system) + 1 : 0;
	}
}

static void build(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct symbol_index x;
	struct elf_file f;
	uint64_t t0 = now_ns();
	void *data;
	size_t len;

	if (fd < 0 || elf_file_open(&f, fd) || symbols_build(&f, runtimes_symbols, &data, &len))
		_exit(1);
	shared->ns = now_ns() - t0;
	if (symbols_open(data, len, &x))
		_exit(1);
	shared->bytes = len;
	count(&x);
	if (list)
		list_all(&x);
	shared->done = true;
	fflush(stdout);		/* exit() would set the list's offset back */
	_exit(0);
}

static void print(const char *what, const struct result *r)
{
	double n = r->symbols ? (double)r->symbols : 1;

	printf("%s: %" PRIu64 " symbols (%" PRIu64 " without a name), %.2f MiB, %.1f bytes a "
	       "symbol, names %.1f, of them mangled %.1f; %.2f ms\n", what, r->symbols,
	       r->nameless, r->bytes / 1048576.0, r->bytes / n, r->names / n, r->mangled / n,
	       r->ns / 1e6);
}

static void one(const char *path)
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		build(path);
	waitpid(pid, NULL, 0);
	if (!shared->done)
		return;
	if (!list)
		print(path, shared);
	files++;
	sum.symbols += shared->symbols;
	sum.nameless += shared->nameless;
	sum.bytes += shared->bytes;
	sum.names += shared->names;
	sum.mangled += shared->mangled;
	sum.ns += shared->ns;
}

int main(int argc, char **argv)
{
	int first = argc > 1 && !strcmp(argv[1], "-l") ? 2 : 1;
	char line[4096];

	list = first == 2;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (int i = first; i < argc; i++)
		one(argv[i]);
	while (argc == first && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		one(line);
	}
	snprintf(line, sizeof(line), "%" PRIu64 " files", files);
	if (!list)
		print(line, &sum);
	return files ? 0 : 1;
}
