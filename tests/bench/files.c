// SPDX-License-Identifier: Apache-2.0
/*
 * What files cost: N of the machine's programs and libraries are given to the real
 * symbolizerd, and K of them are sampled.  No BPF.
 *	FILES=N SAMPLED=K [DIR=PATH] build/bench/files
 * Or what files that come and go leave: two new ones a second are read, sampled at three
 * places, and not mapped any more.
 *	CHURN=SECONDS FILES=N [DIR=PATH] build/bench/files
 * Or what source lines cost: a library with a debug file is sampled 40 times a second, at two
 * of its places each time; of PLACES (1,000) place i is met 1/i as often as the first.
 * LATE=1: as `trifold run`, else as `trifold record`.  The places lie in SPOTS pieces of 256
 * bytes, as those of hot functions do; else anywhere.
 *	LINES=SECONDS [LATE=1] [FILE=PATH] [PLACES=N] [SPOTS=N] [SHARE=PERCENT] build/bench/files
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/harness.h"

#define FILES	1000
#define QUIET_NS	(2500 * NSEC_PER_MSEC)	/* until it is done */

static struct {
	char path[512];
	uint32_t number;
} files[FILES];
static uint32_t n_files;

static bool is_elf(const char *path)
{
	char b[SELFMAG] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool yes = fd >= 0 && read(fd, b, SELFMAG) == SELFMAG &&
		   !memcmp(b, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return yes;
}

/* Every fourth ELF file, by name, until there are n. */
static void find_files(const char *dir, uint32_t n)
{
	struct dirent **list;
	int all = scandir(dir, &list, NULL, alphasort);
	uint32_t seen = 0;

	for (int i = 0; i < all && n_files < n; i++) {
		char *path = files[n_files].path;

		snprintf(path, sizeof(files[0].path), "%s/%s", dir,
			 list[i]->d_name);
		if (is_elf(path) && seen++ % 4 == 0)
			n_files++;
	}
}

static struct file_key key_of(uint32_t i)
{
	return (struct file_key){ .ino = i + 1, .size = 4242, .dev = 9 };
}

static void send_file(struct fake_loader *l, uint32_t i)
{
	struct file_key key = key_of(i);
	int fd = open(files[i].path, O_RDONLY | O_CLOEXEC);

	NEED(fd >= 0);
	loader_exe(l, i + 1, &key, files[i].path, fd);
	close(fd);
}

/* One message of the hub; files that have a number and a table, or none. */
static void take(struct fake_loader *l, bool *settled, uint32_t *left,
		 uint32_t *answers)
{
	struct pollfd p = { l->conn.fd, POLLIN, 0 };
	struct msg_open_failed none = { .error = 2 };
	struct msg_entry e;
	struct msg m;
	uint64_t i;

	if (poll(&p, 1, 100) != 1 || conn_recv(&l->conn, &m))
		return;
	msg_close_fds(&m);
	memcpy(&e, m.buf, sizeof(e));
	if (m.hdr.type == MSG_DEBUG_WANTED)
		NEED(!conn_send(&l->conn, MSG_WANTED_NONE, m.hdr.id, &none,
				sizeof(none), NULL, 0, NULL, 0));
	if (loader_slab(&l->conn, &m) || m.hdr.type != MSG_ENTRY)
		return;
	i = e.key.ino - 1;
	if (i >= n_files)		/* the vDSO */
		return;
	*answers += m.hdr.id != 0;
	files[i].number = e.entry.exe;
	if (e.entry.state == FILE_PENDING)
		return;
	*left -= !settled[i];
	settled[i] = true;
}

static void sample(struct fake_loader *l, uint32_t i)
{
	uint64_t word = FRAME_WORD(FRAME_NATIVE, files[i].number, 0x1040);

	loader_sample(l, record(0, 1), &word);
}

static uint32_t descriptors(pid_t pid)
{
	char path[64];
	struct dirent **list;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	n = scandir(path, &list, NULL, NULL);
	return n > 2 ? (uint32_t)n - 2 : 0;
}

static void give_files(struct fake_loader *l)
{
	bool settled[FILES] = { false };
	uint32_t left = n_files, answers = 0, sent = 0;
	uint64_t end = now_ns() + 120 * NSEC_PER_SEC;

	while (left) {
		NEED(now_ns() < end);
		while (sent < n_files && sent < answers + EXE_AHEAD)
			send_file(l, sent++);
		take(l, settled, &left, &answers);
	}
}

/* What it costs, once nothing happens any more. */
static void show(struct fake_loader *l, struct conn *status, pid_t hub,
		 const char *what)
{
	bool settled[FILES] = { false };
	uint32_t left = n_files, answers = 0;
	uint64_t quiet = now_ns(), cpu = 0;
	struct status st = { 0 };
	struct msg m;

	while (now_ns() - quiet < QUIET_NS) {
		take(l, settled, &left, &answers);
		while (!conn_recv(status, &m)) {
			if (m.hdr.type == MSG_STATUS)
				memcpy(&st, m.buf, sizeof(st));
			msg_close_fds(&m);
		}
		if (st.hub.worker_cpu_ns != cpu || st.hub.exes_waiting)
			quiet = now_ns();
		cpu = st.hub.worker_cpu_ns;
	}
	printf("%s: workers %u ms in %u jobs, at most %u KiB each; hub for files %u ms, %u KiB, descriptors %u\n",
	       what, (unsigned int)(cpu / NSEC_PER_MSEC),
	       (unsigned int)st.hub.worker_jobs, (unsigned int)(st.hub.worker_rss_bytes >> 10),
	       (unsigned int)(st.hub.files_cpu_ns / NSEC_PER_MSEC),
	       (unsigned int)(st.hub.rss_bytes >> 10), descriptors(hub));
}

/* --- files that come and go ------------------------------------------------------ */

/* KiB of the hub's indices that are whole, and how many. */
static uint32_t whole_indices(pid_t pid, uint32_t *n)
{
	unsigned long from, to, bytes = 0;
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	NEED(f != NULL);
	for (*n = 0; fgets(line, sizeof(line), f);) {
		if (!strstr(line, "/memfd:symbols") || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		bytes += to - from;
		++*n;
	}
	fclose(f);
	return (uint32_t)(bytes >> 10);
}

static void churn_one(struct fake_loader *l, uint32_t n)
{
	uint32_t number = n + 2;
	struct file_key key = { .ino = n + 1, .size = 4242, .dev = 9 };
	const char *path = files[n % n_files].path;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	NEED(fd >= 0);
	loader_exe(l, n + 1, &key, path, fd);
	close(fd);
	for (uint64_t at = 0x1040; at < 0x4000; at += 0x1000) {
		uint64_t word = FRAME_WORD(FRAME_NATIVE, number, at);

		loader_sample(l, record(0, 1), &word);
	}
}

static void churn_answer(struct fake_loader *l)
{
	struct msg_open_failed none = { .error = 2 };
	struct pollfd p = { l->conn.fd, POLLIN, 0 };
	struct msg m;

	while (poll(&p, 1, 100) == 1 && !conn_recv(&l->conn, &m)) {
		msg_close_fds(&m);
		if (m.hdr.type == MSG_DEBUG_WANTED)
			NEED(!conn_send(&l->conn, MSG_WANTED_NONE, m.hdr.id, &none,
					sizeof(none), NULL, 0, NULL, 0));
		loader_slab(&l->conn, &m);
	}
}

static void churn(struct fake_loader *l, struct conn *status, pid_t hub, uint32_t seconds)
{
	uint64_t start = now_ns(), at = start;
	struct status st = { 0 };
	struct msg m;
	uint32_t n;

	for (uint32_t i = 0; i < 2 * seconds; i++) {
		churn_one(l, i);
		for (at += NSEC_PER_SEC / 2; now_ns() < at;)
			churn_answer(l);
		while (!conn_recv(status, &m)) {
			if (m.hdr.type == MSG_STATUS)
				memcpy(&st, m.buf, sizeof(st));
			msg_close_fds(&m);
		}
		if (i % 60 == 59)
			printf("%u s: %u files, %u KiB whole", i / 2 + 1, i + 1, whole_indices(hub, &n)),
			printf(" in %u, hub %u KiB, %u jobs\n", n, (unsigned int)(st.hub.rss_bytes >> 10),
			       (unsigned int)st.hub.worker_jobs);
		fflush(stdout);
	}
}

/* --- source lines ------------------------------------------------------------------ */

#define LINES_HZ	40	/* two CPUs at 20 Hz */
#define LINES_FRAMES	2
#define LINES_STEP	20	/* seconds of a row that is printed */
#define PLACES_MAX	65536
#define SPOT_BYTES	256

static struct {
	uint64_t at[PLACES_MAX];	/* file offsets */
	double sum[PLACES_MAX];		/* of the weights of this place and those before */
	uint32_t n;
	uint64_t random;
} places;

/* The same in each run. */
static uint64_t places_random(void)
{
	places.random = places.random * 6364136223846793005ULL + 1442695040888963407ULL;
	return places.random >> 32;
}

/* So many bytes after a random place. */
static uint64_t places_beside(uint64_t size, uint32_t spots, uint32_t i)
{
	uint64_t at;

	if (!spots)
		return places_random() % size;
	/* the same for all of a spot */
	at = (uint64_t)(i % spots + 1) * 0x9e3779b97f4a7c15ULL >> 20;
	return at % (size - SPOT_BYTES) + places_random() % SPOT_BYTES;
}

/* Places in the code of a file. */
static void places_make(const char *path, uint32_t n, uint32_t spots)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr p = { 0 };
	Elf64_Ehdr e;

	NEED(fd >= 0 && n > 0 && n <= PLACES_MAX);
	NEED(pread(fd, &e, sizeof(e), 0) == (ssize_t)sizeof(e));
	for (int i = 0; i < e.e_phnum && !(p.p_type == PT_LOAD && p.p_flags & PF_X); i++)
		NEED(pread(fd, &p, sizeof(p), (off_t)(e.e_phoff + i * sizeof(p))) > 0);
	close(fd);
	NEED(p.p_filesz > SPOT_BYTES);
	for (places.n = 0; places.n < n; places.n++) {
		double before = places.n ? places.sum[places.n - 1] : 0;

		places.at[places.n] = p.p_offset + places_beside(p.p_filesz, spots, places.n);
		places.sum[places.n] = before + 1.0 / (places.n + 1);
	}
}

static uint64_t places_draw(void)
{
	double x = (double)places_random() / 4294967296.0 * places.sum[places.n - 1];
	uint32_t low = 0, high = places.n - 1;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (places.sum[mid] > x)
			high = mid;
		else
			low = mid + 1;
	}
	return places.at[low];
}

/* The first of the files that the hub wants, or none. */
static void lines_give(struct fake_loader *l, const struct msg *m)
{
	struct msg_open_failed none = { .error = ENOENT };
	struct msg_wanted q;
	int fd = -1;

	memcpy(&q, m->buf, sizeof(q));
	for (const char *p = q.paths; fd < 0 && *p; p += strlen(p) + 1)
		fd = open(p, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		NEED(!conn_send(&l->conn, MSG_WANTED_NONE, m->hdr.id, &none, sizeof(none), NULL, 0,
				NULL, 0));
		return;
	}
	NEED(!conn_send(&l->conn, MSG_WANTED_FILE, m->hdr.id, NULL, 0, NULL, 0, &fd, 1));
	close(fd);
}

/* What the hub has for loaderd. */
static void lines_answer(struct fake_loader *l, uint64_t until_ns)
{
	struct pollfd p = { l->conn.fd, POLLIN, 0 };
	struct msg_entry e;
	struct msg m;

	while (now_ns() < until_ns) {
		if (poll(&p, 1, 1) != 1 || conn_recv(&l->conn, &m))
			continue;
		msg_close_fds(&m);
		if (m.hdr.type == MSG_DEBUG_WANTED)
			lines_give(l, &m);
		if (loader_slab(&l->conn, &m) || m.hdr.type != MSG_ENTRY)
			continue;
		memcpy(&e, m.buf, sizeof(e));
		/* names are read, lines are wanted: it asks for the file */
		if (e.key.ino == 1 && e.entry.state & FILE_ASK)
			send_file(l, 0);
		if (e.key.ino == 1)
			files[0].number = e.entry.exe;
	}
}

struct lines_seen {
	uint64_t frames, lines;
};

/* Frames of batches, and those with a line. */
static void lines_count(struct conn *exporter, struct lines_seen *ret)
{
	struct pollfd p = { exporter->fd, POLLIN, 0 };
	struct fake_batch b;

	while (poll(&p, 1, 0) == 1) {
		exporter_batch(exporter, &b);
		for (uint32_t i = 0; i < batch_n(&b.b, BATCH_SAMPLES); i++) {
			const struct batch_sample *s = &b.b.samples[i];
			const struct batch_stack *st = &b.b.stacks[s->stack];

			for (uint32_t k = st->first; k < st->first + st->n; k++) {
				const struct batch_frame *f = &b.b.frames[b.b.stack_frames[k]];

				ret->frames += s->n;
				if (f->line)
					ret->lines += s->n;
			}
		}
		exporter_done(exporter, b.id, b.msg.samples, BATCH_DELIVERED);
		batch_release(&b);
	}
}

static void lines_sample(struct fake_loader *l)
{
	uint64_t words[LINES_FRAMES];

	for (int i = 0; i < LINES_FRAMES; i++)
		words[i] = FRAME_WORD(FRAME_NATIVE, files[0].number, places_draw());
	loader_sample(l, record(0, LINES_FRAMES), words);
}

static void lines_show(struct conn *status, uint32_t seconds, const struct lines_seen *seen,
		       uint64_t *visits, uint64_t *cpu)
{
	struct status st = { 0 };
	struct msg m;

	while (!conn_recv(status, &m)) {
		if (m.hdr.type == MSG_STATUS)
			memcpy(&st, m.buf, sizeof(st));
		msg_close_fds(&m);
	}
	printf("%3u s: %3u visits, %4u ms of workers for lines; of %5u frames %4.1f %% with a line; hub %u KiB\n",
	       seconds, (unsigned int)(st.hub.line_visits - *visits),
	       (unsigned int)((st.hub.line_cpu_ns - *cpu) / NSEC_PER_MSEC),
	       (unsigned int)seen->frames,
	       seen->frames ? 100.0 * (double)seen->lines / (double)seen->frames : 0.0,
	       (unsigned int)(st.hub.rss_bytes >> 10));
	fflush(stdout);
	*visits = st.hub.line_visits;
	*cpu = st.hub.line_cpu_ns;
}

TEST(what_lines_cost)
{
	const char *seconds = getenv("LINES"), *path = getenv("FILE"), *n = getenv("PLACES");
	const char *share = getenv("SHARE"), *spots = getenv("SPOTS");
	struct place place = { .interval = "5", .lines = share ? share : "2",
			       .always_on = getenv("LATE") };
	uint64_t at = now_ns(), visits = 0, cpu = 0;
	struct lines_seen seen = { 0 };
	struct fake_loader l = { 0 };
	struct conn status, exporter;
	struct status st;

	if (!seconds)
		return;
	if (!path)
		path = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	snprintf(files[0].path, sizeof(files[0].path), "%s", path);
	places_make(path, n ? (uint32_t)atoi(n) : 1000, spots ? (uint32_t)atoi(spots) : 0);
	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	send_file(&l, 0);
	while (!files[0].number)
		lines_answer(&l, now_ns() + NSEC_PER_SEC / LINES_HZ);
	for (uint32_t i = 1; i <= (uint32_t)atoi(seconds) * LINES_HZ; i++) {
		lines_sample(&l);
		at += NSEC_PER_SEC / LINES_HZ;
		lines_answer(&l, at);
		if (i % LINES_HZ == 0)
			loader_say_stats(&l);
		lines_count(&exporter, &seen);
		if (i % (LINES_STEP * LINES_HZ))
			continue;
		lines_show(&status, i / LINES_HZ, &seen, &visits, &cpu);
		seen = (struct lines_seen){ 0 };
	}
	conn_close(&exporter);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	loader_drop(&l);
}

TEST(what_files_cost)
{
	const char *n = getenv("FILES"), *k = getenv("SAMPLED");
	uint32_t files_n = n ? (uint32_t)atoi(n) : 100;
	uint32_t sampled = k ? (uint32_t)atoi(k) : 20;
	struct fake_loader l = { 0 };
	struct conn status;
	struct place place;
	struct status st;
	uint64_t start;

	if (getenv("LINES"))
		return;
	if (getenv("DIR")) {
		find_files(getenv("DIR"), files_n);
	} else {
		find_files("/usr/bin", files_n / 4);
		find_files("/usr/lib/x86_64-linux-gnu", files_n);
	}
	hub_begin(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	if (getenv("CHURN")) {
		churn(&l, &status, place.hub, (uint32_t)atoi(getenv("CHURN")));
		goto end;
	}
	start = now_ns();
	give_files(&l);
	printf("%u files have tables after %u ms\n", n_files,
	       (unsigned int)((now_ns() - start) / NSEC_PER_MSEC));
	show(&l, &status, place.hub, "tables");
	for (uint32_t i = 0; i < sampled && i < n_files; i++)
		sample(&l, i * (n_files / sampled));
	show(&l, &status, place.hub, "sampled");
end:
	loader_bye(&l);
	hub_end(&place, &status, &st);
	loader_drop(&l);
}
