// SPDX-License-Identifier: Apache-2.0
/*
 * tables - what unwind tables cost: bytes a row, time and memory to build one
 *
 * usage: tables FILE...	(a list on standard input, if there is none)
 *
 * Builds each file's table in a process of its own.  Prints the largest files,
 * the slowest and the hungriest, and sums; beside ours, what the same rows would
 * take in two other layouts (struct sizes and map kinds as of their sources):
 *
 * - OpenTelemetry's profiler (support/ebpf/types.h, execinfomanager/manager.go):
 *   rows of 4 bytes in an ARRAY, whose elements the kernel rounds up to 8
 *   bytes, of the next power of two, at least 256; 48 bytes a 64 KiB page.
 * - lightswitch (src/bpf/profiler.h): rows of 8 bytes, 72 bytes a page.
 *
 * Their own ways to make fewer rows of a file (both have some, as we do) are
 * not counted.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/table.h"
#include "common/clock.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/unwind/build.h"

struct result {
	bool done;
	uint64_t size, rows, rules, pages, bytes, ns;
	uint64_t peak;		/* bytes resident above what the result takes */
};

static struct result *shared;
static struct result sum, slowest, hungriest;
static char slow_path[4096], hungry_path[4096];
static uint64_t files, theirs_otel, theirs_lightswitch;

static uint64_t resident(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (uint64_t)ru.ru_maxrss << 10;
}

static void build(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t before = resident(), t0 = now_ns();
	const struct table_hdr *h;
	struct elf_file f;
	void *data;
	size_t len;

	if (fd < 0 || elf_file_open(&f, fd) ||
	    unwind_build(&f, runtimes_rows, &data, &len))
		_exit(0);
	shared->ns = now_ns() - t0;
	shared->peak = resident() - before;
	shared->peak -= shared->peak < len ? shared->peak : len;
	h = data;
	shared->size = f.size;
	shared->rows = h->n_rows;
	shared->rules = h->n_rules;
	shared->pages = h->pages;
	shared->bytes = (h->n_elements + (h->pages + 7) / 8) *
			(uint64_t)sizeof(union element);
	shared->done = true;
	_exit(0);
}

static void add(const char *path, const struct result *r)
{
	uint64_t room = 256;

	while (room < r->rows)
		room *= 2;
	files++;
	theirs_otel += 8 * room + 48 * r->pages;
	theirs_lightswitch += 8 * r->rows + 72 * r->pages;
	sum.size += r->size;
	sum.rows += r->rows;
	sum.bytes += r->bytes;
	sum.ns += r->ns;
	if (r->ns > slowest.ns) {
		slowest = *r;
		snprintf(slow_path, sizeof(slow_path), "%s", path);
	}
	if (r->peak > hungriest.peak) {
		hungriest = *r;
		snprintf(hungry_path, sizeof(hungry_path), "%s", path);
	}
	if (r->size > 32u << 20)
		printf("%s: %.0f MB, %" PRIu64 " rows, %" PRIu64 " rules, "
		       "%.2f bytes a row, %.1f ms, peak %.1f MiB\n", path,
		       r->size / 1e6, r->rows, r->rules,
		       (double)r->bytes / (r->rows ? r->rows : 1), r->ns / 1e6,
		       r->peak / 1048576.0);
}

static void one(const char *path)
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (pid == 0)
		build(path);
	waitpid(pid, NULL, 0);
	if (shared->done && shared->pages)
		add(path, shared);
}

int main(int argc, char **argv)
{
	char line[4096];

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (int i = 1; i < argc; i++)
		one(argv[i]);
	while (argc == 1 && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		one(line);
	}
	if (!sum.rows)
		return 1;
	printf("%" PRIu64 " files, %.0f MB: %" PRIu64 " rows, %.1f MiB, %.3f bytes "
	       "a row; %.2f ms a MB of file\n", files, sum.size / 1e6, sum.rows,
	       sum.bytes / 1048576.0, (double)sum.bytes / sum.rows,
	       sum.ns / (double)sum.size);
	printf("the same rows: OpenTelemetry's layout %.2f bytes a row, "
	       "lightswitch's %.2f\n", (double)theirs_otel / sum.rows,
	       (double)theirs_lightswitch / sum.rows);
	printf("slowest: %s, %.0f MB, %.1f ms\n", slow_path, slowest.size / 1e6,
	       slowest.ns / 1e6);
	printf("hungriest: %s, %.0f MB, %.1f MiB above its result\n",
	       hungry_path, hungriest.size / 1e6, hungriest.peak / 1048576.0);
	return 0;
}
