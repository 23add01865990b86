// SPDX-License-Identifier: Apache-2.0
/*
 * costly - what a sample costs in BPF whose process makes it as dear as it can be
 *
 * usage: costly [hotspot|python|signals|mappings [SECONDS]]
 *
 * The layouts of tests/unit/costly_memory.h, which tests/unit/test_sample_cost.c counts, in a
 * process that is sampled; and one of which each frame is in a mapping of its own.  Prints the program's own run time for its samples.  Root; x86-64.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/host.h"

#include "bpf/hotspot_read.bpf.h"
#include "bpf/python_read.bpf.h"
#include "loaderd/bpf.h"
#include "loaderd/sampling.h"
#include "loaderd/variant.h"
#include "tests/live/install_table.h"
#include "tests/unit/costly_memory.h"

#define HZ		19
#define SAMPLES_MAX	100000
#define SPIN		0xfeeb		/* jmp to itself */

static struct bpf bpf;
static struct installer installer;
static struct costly costly;
static uint32_t run_ns[SAMPLES_MAX], n_samples, words, stop;
static pid_t child;

/* What the headers above would read of another process. */
long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	(void)dst, (void)size, (void)src;
	return -EFAULT;
}

static void die(const char *what, int r)
{
	fprintf(stderr, "%s: %s\n", what, strerror(r < 0 ? -r : r));
	exit(1);
}

#define MAPPINGS	1100
#define MAPPINGS_AT	(COSTLY + 512 * MIB)

/* Pages of no file, each between two of a file, which are looked at, too: is it text that was
 * moved (bpf/resolve.bpf.h)? */
static struct costly costly_mappings(void)
{
	struct costly c = { RUNTIME_NONE, 0, FILE_AT, MAPPINGS_AT + PAGE + 8, OBJECTS,
			    OBJECTS + 64 };
	int fd = memfd_create("pages", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, PAGE) ||
	    mmap((void *)MAPPINGS_AT, 2 * PAGE * MAPPINGS, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		die("mappings", errno);
	for (uint64_t i = 0; i < MAPPINGS; i++) {
		uint64_t *pair = (uint64_t *)(c.fp + 16 * i);

		if (mmap((void *)(MAPPINGS_AT + 2 * PAGE * i), PAGE, PROT_READ,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			die("mappings", errno);
		pair[0] = (uint64_t)(pair + 2);
		pair[1] = MAPPINGS_AT + 2 * PAGE * (i + 1) + PAGE + 8;
	}
	return c;
}

static void make(const char *kind)
{
	costly_map();
	if (!strcmp(kind, "python"))
		costly = costly_python(14 + PYTHON_FREE_THREADED, (uintptr_t)pthread_self());
	else if (!strcmp(kind, "signals"))
		costly = costly_signals();
	else if (!strcmp(kind, "mappings"))
		costly = costly_mappings();
	else
		costly = costly_hotspot(17);
}

/* A file at FILE_AT, of which the sampler knows the table. */
static void map_file(void)
{
	int fd = memfd_create("costly", MFD_CLOEXEC);
	struct file_entry entry;
	struct file_key key;
	void *table;
	size_t len;
	int r;

	if (fd < 0 || ftruncate(fd, FILE_BYTES) ||
	    mmap((void *)FILE_AT, FILE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		die("memfd", errno);
	memset((void *)FILE_AT, 0x90, FILE_BYTES);
	*(volatile uint16_t *)costly.pc = SPIN;
	r = bpf_identify(&bpf, (void *)FILE_AT, &key);
	if (r < 0)
		die("bpf_identify", r);
	table = costly_table(&costly, &len);
	r = installer_put(&installer, &key, EXE_FIRST, table, len);
	if (r)
		die("installer_put", r);
	free(table);
	if (bpf_map_lookup_elem(bpf.files_fd, &key, &entry))
		die("the file's entry", errno);
	entry.runtime = (__u8)costly.runtime;
	if (bpf_map_update_elem(bpf.files_fd, &key, &entry, BPF_ANY))
		die("the file's entry", errno);
}

static int on_record(void *ctx, void *data, size_t len)
{
	const struct trace_rec *r = data;

	(void)ctx, (void)len;
	if (r->process.tgid != (uint32_t)child || n_samples == SAMPLES_MAX)
		return 0;
	run_ns[n_samples++] = r->run_ns;
	words = r->n_user;
	stop = r->stop;
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void stand(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef __x86_64__
	__asm__ volatile("mov %0, %%rsp\n\tmov %1, %%rbp\n\tjmp *%2"
			 :: "a"(costly.sp), "d"(costly.fp), "c"(costly.pc) : "memory");
#endif
	die("this machine has no such layout", ENOSYS);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "hotspot";
	int seconds = argc > 2 ? atoi(argv[2]) : 3;
	const struct task_filter everything = { .kind = FILTER_ALL };
	struct sampling sampling;
	struct ring_buffer *rb;
	int r;

	libbpf_set_print(NULL);
	r = bpf_load(&bpf, HZ, &everything);
	if (!r)
		r = variant_use(bpf.skel, &(uint64_t){ 0 }, ~0ULL);
	if (r)
		die("bpf_load", r);
	r = installer_init(&installer, bpf.files_fd, bpf_map_fd(&bpf, "slabs"),
			   bpf_map_fd(&bpf, "slab0"), 64u << 20);
	if (r)
		die("installer_init", r);
	make(kind);
	map_file();
	child = fork();
	if (!child)
		stand();
	rb = ring_buffer__new(bpf_map_fd(&bpf, "ring"), on_record, NULL, NULL);
	r = sampling_open(&sampling, &bpf, HZ);
	if (r)
		die("sampling_open", r);
	sampling_enable(&sampling);
	for (time_t end = time(NULL) + seconds; time(NULL) < end; ) {
		usleep(50000);
		ring_buffer__consume(rb);
	}
	sampling_stop(&sampling);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (!n_samples)
		die("no samples", 0);
	qsort(run_ns, n_samples, sizeof(*run_ns), compare);
	printf("%s: %u samples of %u words, stop %u: median %u us, 90th %u, most %u\n", kind,
	       n_samples, words, stop, run_ns[n_samples / 2] / 1000,
	       run_ns[n_samples * 9ull / 10] / 1000, run_ns[n_samples - 1] / 1000);
	return 0;
}
