// SPDX-License-Identifier: Apache-2.0
/*
 * What files cost: N of the machine's programs and libraries are given to the real
 * symbolizerd, and K of them are sampled.  No BPF.
 *	FILES=N SAMPLED=K [DIR=PATH] build/bench/files
 * Or what files that come and go leave: two new ones a second are read, sampled at three
 * places, and not mapped any more.
 *	CHURN=SECONDS FILES=N [DIR=PATH] build/bench/files
 */
#include <dirent.h>
#include <elf.h>
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
