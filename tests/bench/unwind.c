// SPDX-License-Identifier: Apache-2.0
/*
 * unwind - what a sample costs in BPF, without the rest of trifold
 *
 * usage: unwind [DEPTH|real|cold [HZ [SECONDS]]]
 *
 * Loads the sampler, installs the tables of this program's own files, keeps
 * every CPU busy DEPTH calls below main (or: unwind_load.h), and reads the records:
 * medians of the program's own run time for complete stacks of its children; and,
 * by kernel.bpf_stats_enabled, the mean of all that was sampled meanwhile.  Root.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/table.h"
#include "loaderd/bpf.h"
#include "loaderd/sampling.h"
#include "loaderd/variant.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/unwind/build.h"
#include "tests/bench/unwind_load.h"
#include "tests/live/install_table.h"

#define SAMPLES_MAX	200000
#define CHILDREN_MAX	64

static struct bpf bpf;
static struct installer installer;
static pid_t children[CHILDREN_MAX];
static int n_children;
static uint32_t run_ns[SAMPLES_MAX], frames[SAMPLES_MAX], n_samples, n_other;

static void die(const char *what, int r)
{
	fprintf(stderr, "%s: %s\n", what, strerror(r < 0 ? -r : r));
	exit(1);
}

/* One of our own mappings: number it and install its table. */
static void install(void *ctx, const struct request_file *n)
{
	static uint32_t exe = EXE_FIRST;
	struct elf_file f;
	char path[96];
	void *data;
	size_t len;
	int fd, r;

	(void)ctx;
	if (!n->end)		/* the process itself */
		return;
	snprintf(path, sizeof(path), "/proc/self/map_files/%llx-%llx",
		 (unsigned long long)n->start, (unsigned long long)n->end);
	fd = open(path, O_RDONLY);
	if (fd < 0 || elf_file_open(&f, fd))
		die(path, errno);
	if (unwind_build(&f, runtimes_rows, &data, &len))
		die("unwind_build", EINVAL);
	r = installer_put(&installer, &n->key, exe++, data, len);
	if (r)
		die("installer_put", r);
	elf_file_close(&f);
	free(data);
	close(fd);
}

static int on_record(void *ctx, void *data, size_t len)
{
	const struct trace_rec *r = data;

	(void)ctx;
	(void)len;
	for (int i = 0; i < n_children; i++) {
		if (r->process.tgid != (uint32_t)children[i])
			continue;
		if (r->stop == STOP_COMPLETE && !r->n_kernel &&
		    n_samples < SAMPLES_MAX) {
			run_ns[n_samples] = r->run_ns;
			frames[n_samples++] = r->n_user;
		} else {
			n_other++;
		}
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void report(const char *load, int hz)
{
	uint64_t sum = 0;

	if (!n_samples) {
		printf("no complete samples\n");
		return;
	}
	qsort(run_ns, n_samples, sizeof(*run_ns), compare);
	qsort(frames, n_samples, sizeof(*frames), compare);
	for (uint32_t i = 0; i < n_samples; i++)
		sum += run_ns[i];
	printf("load %s, %d Hz: %u samples complete, %u not; frames %u; a sample: "
	       "median %u ns, mean %.0f, 10th %u, 90th %u; a frame: median %.0f ns\n",
	       load, hz, n_samples, n_other, frames[n_samples / 2],
	       run_ns[n_samples / 2], (double)sum / n_samples,
	       run_ns[n_samples / 10], run_ns[n_samples * 9ull / 10],
	       (double)run_ns[n_samples / 2] / frames[n_samples / 2]);
}

/* By the kernel: of all runs until now. */
static struct bpf_prog_info kernel_says(void)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf.sample_fd, &info, &len))
		die("bpf_obj_get_info_by_fd", errno);
	return info;
}

static void report_kernel(void)
{
	struct bpf_prog_info info = kernel_says();

	printf("by bpf_stats, all samples: %llu runs, %.0f ns each\n",
	       (unsigned long long)info.run_cnt,
	       (double)info.run_time_ns / (double)(info.run_cnt + !info.run_cnt));
}

static void start_children(enum load_kind kind, int depth)
{
	n_children = sysconf(_SC_NPROCESSORS_ONLN);
	if (n_children > CHILDREN_MAX)
		n_children = CHILDREN_MAX;
	for (int i = 0; i < n_children; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			load_run(kind, depth);
		}
	}
}

static enum load_kind kind_of(const char *name)
{
	if (!strcmp(name, "real"))
		return LOAD_REAL;
	return strcmp(name, "cold") ? LOAD_SMALL : LOAD_COLD;
}

int main(int argc, char **argv)
{
	const char *load = argc > 1 ? argv[1] : "40";
	int hz = argc > 2 ? atoi(argv[2]) : 997;
	int seconds = argc > 3 ? atoi(argv[3]) : 5;
	const struct task_filter everything = { .kind = FILTER_ALL };
	struct sampling sampling;
	struct ring_buffer *rb;
	int r, stats;

	libbpf_set_print(NULL);
	r = bpf_load(&bpf, hz, &everything);
	if (!r)		/* as on a host that has them all */
		r = variant_use(bpf.skel, &(uint64_t){ 0 }, ~0ULL);
	if (r)
		die("bpf_load", r);
	r = installer_init(&installer, bpf.files_fd, bpf_map_fd(&bpf, "slabs"),
			   bpf_map_fd(&bpf, "slab0"),
			   256u << 20);
	if (r)
		die("installer_init", r);
	if (bpf_list(&bpf, getpid(), install, NULL))
		die("bpf_list", errno);
	start_children(kind_of(load), atoi(load));
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	rb = ring_buffer__new(bpf_map_fd(&bpf, "ring"), on_record, NULL, NULL);
	r = sampling_open(&sampling, &bpf, hz);
	if (r)
		die("sampling_open", r);
	sampling_enable(&sampling);
	for (time_t end = time(NULL) + seconds; time(NULL) < end; ) {
		usleep(50000);
		ring_buffer__consume(rb);
	}
	sampling_stop(&sampling);
	for (int i = 0; i < n_children; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	report(load, hz);
	report_kernel();
	close(stats);
	return 0;
}
