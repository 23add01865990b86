// SPDX-License-Identifier: Apache-2.0
/*
 * The sampler's VMA walker against mappings that this program knows, while
 * other threads map, unmap, protect and move others next to them.
 *
 * usage: vma_churn still|churn|many OBJECT [SECONDS|MAPPINGS]
 *
 * still: every line of /proc/self/maps (and PROCMAP_QUERY where the kernel has
 * it), first and last address and the ones beside.  churn: stable mappings
 * between churned arenas, and addresses in these.  many: so many mappings,
 * each asked.  Exit status 1: an answer was wrong; 77: cannot run here.
 */
#include "tests/live/vma.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096ul
#define FILES		4
#define ARENAS		6	/* churned; between them, stable mappings */
#define GRID		(4 * PAGE)	/* all borders in an arena are on it */
#define ARENA		(64 * GRID)
#define FILE_BASE	(1ul << 32)	/* off in file k: k * FILE_BASE + place */
#define CHURNERS	3
#define MANY_STEP	7	/* pages between offsets: nothing merges */

static struct vma_run *run;
static int prog_fd;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

/* --- asking ---------------------------------------------------------------- */

static void load(const char *path)
{
	struct bpf_object *o = bpf_object__open_file(path, NULL);
	struct bpf_program *p;
	struct bpf_map *bss;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (!o || bpf_object__load(o))
		die(path);
	p = bpf_object__find_program_by_name(o, "ask_all");
	prog_fd = p ? bpf_program__fd(p) : -1;
	bss = bpf_object__find_map_by_name(o, ".bss");
	if (!bss || bpf_map__value_size(bss) != sizeof(*run))
		die(".bss");
	run = mmap(NULL, (sizeof(*run) + PAGE - 1) / PAGE * PAGE,
		   PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(bss), 0);
	if (prog_fd < 0 || run == MAP_FAILED)
		die("ask_all");
}

/* All of run->ask[].addr. */
static void ask(void)
{
	uint64_t args[12] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args,
		    .ctx_size_in = sizeof(args));

	if (bpf_prog_test_run_opts(prog_fd, &opts) || opts.retval != 1)
		die("test_run");
}

static struct vma_ask *ask_one(uint64_t addr)
{
	for (int i = 0; i < ASKS; i++)
		run->ask[i].addr = addr;
	ask();
	return &run->ask[0];
}

static uint64_t rnd_state = 88172645463325252ull;

static uint64_t rnd_of(uint64_t *s, uint64_t below)
{
	*s ^= *s << 13, *s ^= *s >> 7, *s ^= *s << 17;
	return (*s >> 16) % below;
}

static uint64_t rnd(uint64_t below)
{
	return rnd_of(&rnd_state, below);
}

static void show(const char *what, const struct vma_ask *a)
{
	printf("# %s: %llx in %llx-%llx off %llx ino %llu%s%s\n", what,
	       (long long)a->addr, (long long)a->start, (long long)a->end,
	       (long long)a->off, (long long)a->key.ino,
	       a->found ? "" : " not found", a->busy ? " busy" : "");
}

/* --- truth ------------------------------------------------------------------ */

struct truth {
	uint64_t start, end, off, ino;
	uint32_t major, minor;
	bool exec;
};

static bool next_line(FILE *f, struct truth *t)
{
	char line[1024], perms[5];
	unsigned long v[4];

	if (!fgets(line, sizeof(line), f) ||
	    sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &v[0], &v[1], perms,
		   &v[2], &t->major, &t->minor, &v[3]) != 7)
		return false;
	t->start = v[0], t->end = v[1], t->off = v[2], t->ino = v[3];
	t->exec = perms[2] == 'x';
	return true;
}

/* Overlay and btrfs show other numbers in /proc than the inode has. */
static bool plain_fs(const struct file_key *k)
{
	return k->magic != 0x794c7630 && k->magic != 0x9123683e;
}

static bool agrees(const struct vma_ask *a, const struct truth *t)
{
	if (!a->found || a->start != t->start || a->end != t->end ||
	    a->exec != t->exec || a->has_file != (t->ino != 0))
		return false;
	return !a->has_file ||
	       (a->off == t->off &&
		(!plain_fs(&a->key) ||
		 (a->key.ino == t->ino && a->key.dev >> 20 == t->major &&
		  (a->key.dev & 0xfffff) == t->minor)));
}

/* The kernel's own answer for one address, where it gives one (6.11+). */
static int query(int fd, uint64_t addr, struct truth *ret)
{
#ifdef PROCMAP_QUERY
	struct procmap_query q = { .size = sizeof(q), .query_addr = addr };

	if (ioctl(fd, PROCMAP_QUERY, &q))
		return -errno;
	*ret = (struct truth){ q.vma_start, q.vma_end, q.vma_offset, q.inode,
			       q.dev_major, q.dev_minor,
			       q.vma_flags & PROCMAP_QUERY_VMA_EXECUTABLE };
	return 0;
#else
	struct {	/* include/uapi/linux/fs.h of Linux 6.11 */
		uint64_t size, query_flags, query_addr, start, end, flags;
		uint64_t page_size, offset, inode;
		uint32_t major, minor, name_size, build_id_size;
		uint64_t name, build_id;
	} q = { .size = sizeof(q), .query_addr = addr };

	if (ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, sizeof(q)), &q))
		return -errno;
	*ret = (struct truth){ q.start, q.end, q.offset, q.inode, q.major,
			       q.minor, q.flags & 4 };
	return 0;
#endif
}

/* --- still -------------------------------------------------------------------- */

static uint64_t check_line(int fd, const struct truth *t, uint64_t *wrong)
{
	uint64_t at[] = { t->start, t->end - 1, (t->start + t->end) / 2 };
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		struct truth k = *t;

		if (at[i] >> 47)
			continue;	/* [vsyscall] is no mapping */
		if (query(fd, at[i], &k) == -ENOENT ||
		    !agrees(ask_one(at[i]), t) || !agrees(&run->ask[0], &k)) {
			show("wrong", &run->ask[0]);
			++*wrong;
		}
		n++;
	}
	return n;
}

static uint64_t still(void)
{
	struct truth t, before = { 0 };
	FILE *f = fopen("/proc/self/maps", "r");
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	static struct truth all[4096];
	uint64_t n = 0, asked = 0, wrong = 0;

	while (n < 4096 && next_line(f, &t))
		all[n++] = t;
	for (uint64_t i = 0; i < n; i++) {
		asked += check_line(fd, &all[i], &wrong);
		if (before.end < all[i].start && !(all[i].start >> 47)) {
			asked++;
			wrong += ask_one(all[i].start - 1)->found;
		}
		before = all[i];
	}
	printf("# still: %lu mappings, %lu addresses, %lu wrong; the kernel %s\n",
	       n, asked, wrong, query(fd, (uintptr_t)still, &t) ?
	       "has no PROCMAP_QUERY" : "says the same by PROCMAP_QUERY");
	return wrong;
}

/* --- churn -------------------------------------------------------------------- */

static int file_fd[FILES];
static struct file_key file_key[FILES];
static char *arena[ARENAS];
static struct truth stable[ARENAS + 1];
static struct file_key stable_key[ARENAS + 1];
static atomic_bool stop;
static atomic_ulong ops;

static void *map_at(char *at, size_t len, int k, uint64_t off, int prot)
{
	void *p = mmap(at, len, prot, MAP_PRIVATE | MAP_FIXED |
		       (k < 0 ? MAP_ANONYMOUS : 0), k < 0 ? -1 : file_fd[k],
		       k < 0 ? 0 : k * FILE_BASE + off);

	if (p == MAP_FAILED && errno != ENOMEM)
		die("mmap");
	return p;
}

/* Arenas with one stable mapping, one page, between each two. */
static void lay_out(void)
{
	char *base = mmap(NULL, ARENAS * (ARENA + PAGE), PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		die("arenas");
	for (int i = 0; i < FILES; i++) {
		file_fd[i] = memfd_create("churn", MFD_CLOEXEC);
		if (file_fd[i] < 0)
			die("memfd");
	}
	for (int i = 0; i < ARENAS; i++) {
		char *s = base + i * (ARENA + PAGE) + ARENA;

		arena[i] = base + i * (ARENA + PAGE);
		/* a place in the file that no arena has: merges with nothing */
		map_at(s, PAGE, i % FILES, 3 * ARENA + i * 2 * PAGE,
		       PROT_READ | PROT_EXEC);
		stable[i] = (struct truth){
			.start = (uintptr_t)s, .end = (uintptr_t)s + PAGE,
			.off = i % FILES * FILE_BASE + 3 * ARENA + i * 2 * PAGE,
			.exec = true,
		};
	}
}

static void know_stable(void)
{
	struct vma_ask *a = ask_one((uintptr_t)memcpy);	/* libc's text */
	struct stat st;

	stable[ARENAS] = (struct truth){ a->start, a->end, a->off,
					 .exec = true };
	stable_key[ARENAS] = a->key;
	for (int i = 0; i < ARENAS; i++) {
		a = ask_one(stable[i].start);
		stable_key[i] = file_key[i % FILES] = a->key;
		fstat(file_fd[i % FILES], &st);
		if (!a->found || a->key.ino != st.st_ino ||
		    a->key.size != (uint64_t)st.st_size ||
		    a->key.ctime != st.st_ctim.tv_sec ||
		    a->key.ctime_ns != st.st_ctim.tv_nsec ||
		    a->key.dev >> 20 != major(st.st_dev) ||
		    (a->key.dev & 0xfffff) != minor(st.st_dev)) {
			show("not what fstat says", a);
			exit(1);
		}
	}
}

static void churn_once(uint64_t *seed)
{
	int to = rnd_of(seed, ARENAS), from = rnd_of(seed, ARENAS);
	uint64_t at = rnd_of(seed, ARENA / GRID), k = rnd_of(seed, FILES + 1);
	uint64_t n = 1 + rnd_of(seed, ARENA / GRID - at < 8 ?
				      ARENA / GRID - at : 8);
	int prot = PROT_READ | (rnd_of(seed, 2) ? PROT_EXEC : PROT_WRITE);
	char *p = arena[to] + at * GRID;

	switch (rnd_of(seed, 8)) {
	case 0:
		munmap(p, n * GRID);
		break;
	case 1: case 2: case 3:
		mprotect(p, n * GRID, prot);
		break;
	case 4:		/* to the same place of another arena */
		if (from != to)
			mremap(arena[from] + at * GRID, n * GRID, n * GRID,
			       MREMAP_MAYMOVE | MREMAP_FIXED, p);
		break;
	default:
		map_at(p, n * GRID, k == FILES ? -1 : (int)k, at * GRID, prot);
	}
	atomic_fetch_add(&ops, 1);
}

static void *churner(void *arg)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull * (1 + (uintptr_t)arg);

	while (!atomic_load(&stop))
		churn_once(&seed);
	return NULL;
}

struct tally {
	uint64_t asked, right, missed, busy, busy_wrong, wrong, anon;
};

static void judge(struct tally *t, bool good, const struct vma_ask *a)
{
	t->asked++;
	if (!a->found) {
		t->missed++;
	} else if (a->busy) {
		t->busy++;
		t->busy_wrong += !good;
	} else if (good) {
		t->right++;
		t->anon += !a->has_file;
	} else if (t->wrong++ < 5) {
		show("wrong", a);
	}
}

static bool stable_right(const struct vma_ask *a, int i)
{
	return a->start == stable[i].start && a->end == stable[i].end &&
	       a->off == stable[i].off && a->has_file && a->exec &&
	       !memcmp(&a->key, &stable_key[i], sizeof(a->key));
}

/* One of the mappings that may ever be in arena i? */
static bool churn_right(const struct vma_ask *a, int i)
{
	uint64_t from = a->start - (uintptr_t)arena[i];
	uint64_t to = a->end - (uintptr_t)arena[i];

	if (!a->has_file)
		return from % GRID == 0 && to % GRID == 0 && to <= ARENA;
	for (int k = 0; k < FILES; k++) {
		if (!memcmp(&a->key, &file_key[k], sizeof(a->key)))
			return from % GRID == 0 && to % GRID == 0 &&
			       from < to && to <= ARENA &&
			       a->off == k * FILE_BASE + from;
	}
	return false;
}

static void choose(int which[ASKS])
{
	for (int i = 0; i < ASKS; i++) {
		int w = which[i] = rnd(2 * ARENAS + 1);

		run->ask[i].addr = w > ARENAS ?
			(uintptr_t)arena[w - ARENAS - 1] + rnd(ARENA) :
			stable[w].start + rnd(stable[w].end - stable[w].start);
	}
}

static void tell(const char *name, const struct tally *t)
{
	printf("# %s: %lu asked, %lu right (%lu of no file), not found %lu "
	       "(%.4f %%), busy %lu (%.4f %%, of them torn %lu), wrong %lu\n",
	       name, t->asked, t->right, t->anon, t->missed,
	       100.0 * t->missed / t->asked, t->busy,
	       100.0 * t->busy / t->asked, t->busy_wrong, t->wrong);
}

static uint64_t churn(unsigned int seconds)
{
	struct tally at_rest = { 0 }, moving = { 0 };
	time_t end = time(NULL) + seconds;
	pthread_t threads[CHURNERS];
	int which[ASKS];

	lay_out();
	know_stable();
	for (uintptr_t i = 0; i < CHURNERS; i++) {
		if (pthread_create(&threads[i], NULL, churner, (void *)i))
			die("thread");
	}
	while (time(NULL) < end) {
		choose(which);
		ask();
		for (int i = 0; i < ASKS; i++) {
			const struct vma_ask *a = &run->ask[i];

			if (which[i] <= ARENAS)
				judge(&at_rest, stable_right(a, which[i]), a);
			else
				judge(&moving, churn_right(a, which[i] -
							   ARENAS - 1), a);
		}
	}
	atomic_store(&stop, true);
	for (int i = 0; i < CHURNERS; i++)
		pthread_join(threads[i], NULL);
	printf("# churn: %lu calls of mmap, munmap, mprotect and mremap\n",
	       atomic_load(&ops));
	tell("stable mappings", &at_rest);
	tell("churned places", &moving);
	/* it must have been hard, and mostly answered */
	if (atomic_load(&ops) < 1000 || at_rest.right < at_rest.asked / 2)
		return 1;
	return at_rest.wrong + moving.wrong;
}

/* --- many ---------------------------------------------------------------------- */

static int by_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Ask for mapping i of all at places given by step; median ns a lookup. */
static double ask_many(char *base, uint64_t n, uint64_t step, uint64_t *wrong)
{
	uint64_t runs = n / ASKS + 1, i = 0;
	uint64_t *ns = calloc(runs, sizeof(*ns));
	double median;

	for (uint64_t r = 0; r < runs; r++) {
		uint64_t first = i;

		for (int k = 0; k < ASKS; k++, i = (i + step) % n)
			run->ask[k].addr = (uintptr_t)base + i * PAGE + r % PAGE;
		ask();
		ns[r] = run->ns;
		i = first;
		for (int k = 0; k < ASKS; k++, i = (i + step) % n) {
			const struct vma_ask *a = &run->ask[k];

			if (!a->found || a->busy ||
			    a->start != (uintptr_t)base + i * PAGE ||
			    a->end != a->start + PAGE ||
			    a->off != i * MANY_STEP * PAGE ||
			    memcmp(&a->key, &file_key[0], sizeof(a->key))) {
				if (++*wrong < 5)
					show("wrong", a);
			}
		}
	}
	qsort(ns, runs, sizeof(*ns), by_ns);
	median = (double)ns[runs / 2] / ASKS;
	free(ns);
	return median;
}

static uint64_t many(uint64_t n)
{
	char *base = mmap(NULL, n * PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	double in_order, scattered;
	uint64_t wrong = 0;

	file_fd[0] = memfd_create("many", MFD_CLOEXEC);
	for (uint64_t i = 0; i < n; i++) {
		if (mmap(base + i * PAGE, PAGE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, file_fd[0],
			 i * MANY_STEP * PAGE) == MAP_FAILED) {
			printf("# mapping %lu: %s\n", i, strerror(errno));
			exit(77);
		}
	}
	file_key[0] = ask_one((uintptr_t)base)->key;
	in_order = ask_many(base, n, 1, &wrong);
	scattered = ask_many(base, n, 7919, &wrong);
	printf("# many: %lu mappings, each asked twice, %lu wrong; median %.0f "
	       "ns a lookup in order, %.0f ns scattered\n", n, wrong, in_order,
	       scattered);
	return wrong;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, wrong;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3) {
		fprintf(stderr, "usage: vma_churn still|churn|many OBJECT [N]\n");
		return 2;
	}
	load(argv[2]);
	if (!strcmp(argv[1], "still"))
		wrong = still();
	else if (!strcmp(argv[1], "churn"))
		wrong = churn(n ? n : 5);
	else
		wrong = many(n ? n : 60000);
	return wrong != 0;
}
