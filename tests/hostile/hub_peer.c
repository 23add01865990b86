// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/hub_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/rules.h"
#include "ipc/sealed.h"
#include "tests/unit/harness.h"

static const char *const names[] = { "loader", "export", "status" };

void need(bool ok, const char *file, int line, const char *what)
{
	if (ok)
		return;
	printf("# %s:%d: %s\n", file, line, what);
	exit(1);
}

uid_t hub_uid(void)
{
	return getuid() == 0 ? OTHER_ID : getuid();
}

/* --- the hub ----------------------------------------------------------------- */

const char *place_path(const struct place *p, const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	return path;
}

void place_make(struct place *p)
{
	strcpy(p->dir, "/tmp/hub-test-XXXXXX");
	NEED(mkdtemp(p->dir) != NULL);
	for (int i = 0; i < 3; i++) {
		struct sockaddr_un a = { .sun_family = AF_UNIX };

		strcpy(a.sun_path, place_path(p, names[i]));
		p->fds[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		NEED(p->fds[i] >= 0);
		NEED(bind(p->fds[i], (struct sockaddr *)&a, sizeof(a)) == 0);
		NEED(chmod(a.sun_path, 0666) == 0);
		NEED(listen(p->fds[i], 8) == 0);
	}
	NEED(chmod(p->dir, 0755) == 0);
}

void place_remove(struct place *p)
{
	for (int i = 0; i < 3; i++) {
		close(p->fds[i]);
		unlink(place_path(p, names[i]));
	}
	rmdir(p->dir);
}

static void exec_hub(const struct place *p, const char *binary)
{
	const char *interval = p->interval ? p->interval : "1";
	const char *lines = p->lines ? p->lines : "0";
	const char *late = p->always_on ? "--always-on" : NULL;
	const char *const as_root[] = {
		binary, "--interval", interval, "--lines-share", lines, "--uid", "65534", "--gid", "65534",
		"--loader-uid", "0", "--exporter-uid", "0",
		"--viewer-uid", "65533", p->readers ? "--readers" : late,
		p->readers ? late : NULL, NULL,
	};
	const char *const as_user[] = {
		binary, "--interval", interval, "--lines-share", lines, late, NULL,
	};
	char pid[16];

	/* out of the way of 3, 4, 5 first */
	for (int i = 0; i < 3; i++)
		dup2(p->fds[i], 20 + i);
	for (int i = 0; i < 3; i++)
		dup2(20 + i, 3 + i);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "3", 1);
	setenv("LISTEN_FDNAMES", "loader:export:status", 1);
	execv(binary, (char *const *)(getuid() == 0 ? as_root : as_user));
	_exit(127);
}

static pid_t running;

/* No failed test leaves a hub behind. */
static void kill_hub(void)
{
	if (running > 0)
		kill(running, SIGKILL);
}

void hub_started(struct place *p, pid_t pid)
{
	NEED(pid > 0);
	if (!running)
		atexit(kill_hub);
	p->hub = running = pid;
}

static const char *find_binary(void)
{
	static char path[4096];
	char self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (getenv("SYMBOLIZERD"))
		return getenv("SYMBOLIZERD");
	NEED(n > 0);
	self[n] = '\0';
	snprintf(path, sizeof(path), "%s/../bin/trifold-symbolizerd",
		 dirname(self));
	return path;
}

void hub_exec(struct place *p)
{
	const char *binary = find_binary();
	pid_t pid;

	if (access(binary, X_OK) < 0) {
		printf("# %s is not there\n", binary);
		place_remove(p);
		exit(TEST_SKIP);
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		exec_hub(p, binary);
	hub_started(p, pid);
}

int hub_wait(struct place *p)
{
	uint64_t end = now_ns() + 20 * NSEC_PER_SEC;
	int status;

	while (now_ns() < end) {
		if (waitpid(p->hub, &status, WNOHANG) == p->hub) {
			running = -1;
			return status;
		}
		usleep(10000);
	}
	NEED(!"the hub ends");
	return -1;
}

void hub_begin(struct place *p)
{
	place_make(p);
	hub_exec(p);
}

void hub_end(struct place *p, struct conn *status, struct status *last)
{
	struct msg m;

	kill(p->hub, SIGTERM);
	NEED(hub_wait(p) == 0);
	while (status && conn_recv(status, &m) == 0)
		memcpy(last, m.buf, sizeof(*last));
	if (status)
		conn_close(status);
	place_remove(p);
}

/* --- messages ---------------------------------------------------------------- */

/* Messages that loaderd counts as settled: all that we have received. */
static uint64_t settled;

int slab_memory(const struct slab_copy *c)
{
	int fd = memfd_create("slab", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	NEED(fd >= 0 && write(fd, c, sizeof(*c)) == (ssize_t)sizeof(*c) &&
	     fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
	return fd;
}

bool loader_slab(struct conn *c, const struct msg *m)
{
	static const struct slab_copy none;
	int fd;

	if (m->hdr.type != MSG_SLAB_WANTED)
		return false;
	fd = slab_memory(&none);
	NEED(conn_send(c, MSG_SLAB, 0, m->buf, sizeof(struct msg_slab), NULL, 0, &fd, 1) == 0);
	close(fd);
	return true;
}

static bool is_counted(unsigned int type)
{
	return type == MSG_ENTRY || type == MSG_DROP ||
	       type == MSG_SLAB_DROP || type == MSG_LIST;
}

static int receive(struct conn *c, struct msg *m, uint64_t end)
{
	for (;;) {
		struct pollfd p = { .fd = c->fd, .events = POLLIN };
		uint64_t now = now_ns();
		int r = conn_recv(c, m);

		settled += !r && is_counted(m->hdr.type);
		if (!r && loader_slab(c, m))
			continue;
		if (r != -EAGAIN)
			return r;
		if (now >= end)
			return -ETIMEDOUT;
		poll(&p, 1, (int)((end - now) / NSEC_PER_MSEC) + 1);
	}
}

/* A question that came before the entry of a file, whose table waited for its slab. */
static struct msg early;

void expect(struct conn *c, unsigned int type, struct msg *m)
{
	uint64_t end = now_ns() + WAIT_MS * NSEC_PER_MSEC;

	if (early.hdr.type == type) {
		*m = early;
		early.hdr.type = 0;
		return;
	}
	for (;;) {
		int r = receive(c, m, end);

		if (r)
			printf("# waiting for %s: %d\n", msg_type_name(type),
			       r);
		NEED(r == 0);
		if (m->hdr.type == type)
			return;
		msg_close_fds(m);
	}
}

void expect_closed(struct conn *c)
{
	uint64_t end = now_ns() + WAIT_MS * NSEC_PER_MSEC;
	struct msg m;
	int r;

	while ((r = receive(c, &m, end)) == 0)
		msg_close_fds(&m);
	NEED(r == -EPIPE);
	conn_close(c);
}

static void send_msg(struct conn *c, unsigned int type, const void *p,
		     size_t len)
{
	NEED(conn_send(c, type, 0, p, len, NULL, 0, NULL, 0) == 0);
}

/* --- loaderd ------------------------------------------------------------------- */

void loader_connect(struct fake_loader *l, const struct place *p)
{
	int pair[2];

	NEED(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	l->samples = pair[0];
	l->hubs = pair[1];
	NEED(conn_connect(&l->conn, place_path(p, "loader"), PEER_HUB,
			  hub_uid()) == 0);
}

void loader_count(struct fake_loader *l)
{
	size_t size = LOADER_CPUS * sizeof(*l->counts);
	int fd = memfd_create("counts", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	NEED(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	NEED(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	l->counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	NEED(l->counts != MAP_FAILED);
	l->counts_fd = fd;
}

void loader_hello_only(struct fake_loader *l)
{
	struct msg_hello_loader m = {
		.table_budget = 64 << 20, .idle_s = l->idle_s ? l->idle_s : 600,
		.record_version = REC_VERSION,
		.frequency = 20,
		.account = l->kept_valid ? ACCOUNT_SAME : ACCOUNT_NEW, .partial = l->partial,
		.cpus = LOADER_CPUS,
	};
	struct msg got;
	int fds[2];

	if (!l->counts)
		loader_count(l);
	fds[0] = l->hubs;
	fds[1] = l->counts_fd;
	memcpy(&m.checkpoint, &l->kept, sizeof(m.checkpoint));
	NEED(conn_send(&l->conn, MSG_HELLO_LOADER, 7, &m, sizeof(m), NULL, 0,
		       fds, 2) == 0);
	close(l->hubs);
	l->hubs = -1;
	expect(&l->conn, MSG_HELLO_HUB, &got);
	NEED(got.hdr.id == 7);
	settled = 1;
	l->conn.state = CONN_READY;
	loader_keep_checkpoint(l);
}

void loader_known(struct fake_loader *l, const struct msg_entry *v, uint32_t n)
{
	static const struct msg_entry none;
	struct iovec part = { (void *)(n ? v : &none),
			      (n ? n : 1) * sizeof(*v) };
	struct msg_known m = { .n = n };
	int fd = sealed_make("known", &part, 1);

	NEED(fd >= 0);
	NEED(conn_send(&l->conn, MSG_KNOWN, 0, &m, sizeof(m), NULL, 0, &fd,
		       1) == 0);
	close(fd);
}

void loader_hello(struct fake_loader *l)
{
	loader_hello_only(l);
	loader_known(l, NULL, 0);
}

void loader_drop(struct fake_loader *l)
{
	conn_close(&l->conn);
	close(l->samples);
	if (l->hubs >= 0)
		close(l->hubs);
}

void loader_keep_checkpoint(struct fake_loader *l)
{
	struct msg m;

	expect(&l->conn, MSG_CHECKPOINT, &m);
	memcpy(&l->kept, m.buf, sizeof(l->kept));
	l->kept_valid = true;
}

void loader_put(struct fake_loader *l, const void *data, size_t len)
{
	NEED(send(l->samples, data, len, MSG_NOSIGNAL) == (ssize_t)len);
}

void loader_sample(struct fake_loader *l, struct trace_rec rec,
		   const uint64_t *words)
{
	uint64_t buf[REC_WORDS];
	size_t n = (size_t)rec.n_kernel + rec.n_user;

	rec.len = (uint32_t)(sizeof(rec) + n * 8);
	rec.kind = REC_SAMPLE;
	rec.version = REC_VERSION;
	if (!rec.time_ns)
		rec.time_ns = now_ns();
	memcpy(buf, &rec, sizeof(rec));
	memcpy((char *)buf + sizeof(rec), words, n * 8);
	loader_put(l, buf, rec.len);
	l->counts[rec.cpu % LOADER_CPUS].n[BPF_TAKEN]++;
	l->counts[rec.cpu % LOADER_CPUS].n[BPF_SENT]++;
	l->stats.drained++;
	l->stats.forwarded++;
}

struct trace_rec record(uint16_t n_kernel, uint16_t n_user)
{
	return (struct trace_rec){
		.stop = STOP_COMPLETE, .process = { NSEC_PER_SEC, 4711, 3 }, .tid = 4712,
		.cgroup_id = 99,
		.exe = EXE_FIRST, .n_kernel = n_kernel, .n_user = n_user, .cpu = 1,
		.comm = "worker/1",
	};
}

void loader_sample_file(struct fake_loader *l, const struct file_key *key,
			uint64_t off)
{
	uint64_t words[1 + KEY_WORDS] = { FRAME_FILE_WORD(off) };

	memcpy(&words[1], key, sizeof(*key));
	loader_sample(l, record(0, 1 + KEY_WORDS), words);
	loader_say_stats(l);	/* the hub takes samples first */
}

void two_samples(struct fake_loader *l)
{
	uint64_t words[] = { FRAME_WORD(FRAME_ANON, 0, 0x1234) };

	loader_sample(l, record(0, 1), words);
	loader_sample(l, record(0, 1), words);
}

void loader_ksym(struct fake_loader *l, uint32_t number, const char *name)
{
	struct ksym_rec k = {
		.len = sizeof(k), .kind = REC_KSYM, .number = number,
	};

	strncpy(k.name, name, sizeof(k.name) - 1);
	loader_put(l, &k, sizeof(k));
}

void loader_exe(struct fake_loader *l, uint64_t id,
		const struct file_key *key, const char *path, int fd)
{
	struct msg_exe m = {
		.process = { NSEC_PER_SEC, 4711, 3 }, .key = *key, .host = 1, .begins = l->begins,
	};

	NEED(conn_send(&l->conn, MSG_EXE, id, &m, sizeof(m), path, strlen(path),
		       &fd, 1) == 0);
}

/* The next message about a file, and what it makes of the entry. */
static void file_message(struct fake_loader *l, uint64_t end, struct msg *m,
			 struct file_entry *ret)
{
	const struct msg_entry *entry = (const void *)m->buf;

	do {
		NEED(receive(&l->conn, m, end) == 0);
		msg_close_fds(m);
		if (m->hdr.type == MSG_MEM_WANTED || m->hdr.type == MSG_DEBUG_WANTED)
			early = *m;
	} while (m->hdr.type != MSG_ENTRY && m->hdr.type != MSG_DROP);
	*ret = (struct file_entry){ 0 };
	if (m->hdr.type == MSG_ENTRY)
		*ret = entry->entry;
	if (ret->pages)
		m->hdr.type = TABLE_CAME;
}

unsigned int loader_settled(struct fake_loader *l, const struct file_key *key,
			    struct file_entry *ret)
{
	uint64_t end = now_ns() + 2 * WAIT_MS * NSEC_PER_MSEC;
	struct msg m;

	do {	/* the key comes first in all three */
		file_message(l, end, &m, ret);
	} while (memcmp(m.buf, key, sizeof(*key)) ||
		 (m.hdr.type == MSG_ENTRY && ret->state == FILE_PENDING));
	return m.hdr.type;
}

unsigned int loader_answer(struct fake_loader *l, uint64_t id,
			   struct file_entry *ret)
{
	uint64_t end = now_ns() + 2 * WAIT_MS * NSEC_PER_MSEC;
	struct msg m;

	do {
		file_message(l, end, &m, ret);
	} while (m.hdr.id != id);
	return m.hdr.type;
}

void loader_say_stats(struct fake_loader *l)
{
	struct msg_loader_stats m = { .stats = l->stats };

	NEED(conn_send(&l->conn, MSG_LOADER_STATS, settled, &m, sizeof(m), NULL,
		       0, NULL, 0) == 0);
}

void loader_bye(struct fake_loader *l)
{
	loader_say_stats(l);
	send_msg(&l->conn, MSG_BYE, NULL, 0);
}

/* --- exporterd ------------------------------------------------------------------ */

void exporter_connect(struct conn *c, const struct place *p, uint64_t queued,
		      const struct export_outcomes *unreported)
{
	struct msg_hello_exporter m = {
		.batch_version = BATCH_VERSION, .queued_samples = queued,
	};
	struct msg got;

	if (unreported)
		m.unreported = *unreported;
	NEED(conn_connect(c, place_path(p, "export"), PEER_HUB,
			  hub_uid()) == 0);
	send_msg(c, MSG_HELLO_EXPORTER, &m, sizeof(m));
	expect(c, MSG_HELLO_HUB, &got);
	c->state = CONN_READY;
}

void exporter_batch(struct conn *c, struct fake_batch *ret)
{
	struct msg m;

	expect(c, MSG_BATCH, &m);
	ret->id = m.hdr.id;
	memcpy(&ret->msg, m.buf, sizeof(ret->msg));
	NEED(sealed_map(m.fds[0], 64, BATCH_BYTES_MAX, &ret->map,
			&ret->len) == 0);
	NEED(ret->len == ret->msg.bytes);
	NEED(batch_open(ret->map, ret->len, &ret->b) == 0);
	NEED(batch_n(&ret->b, BATCH_TIMES) == ret->msg.samples);
	msg_close_fds(&m);
}

void batch_release(struct fake_batch *b)
{
	munmap((void *)b->map, b->len);
}

void exporter_done(struct conn *c, uint64_t id, uint64_t n, uint32_t outcome)
{
	struct msg_batch_done m = { .samples = n, .outcome = outcome };

	NEED(conn_send(c, MSG_BATCH_DONE, id, &m, sizeof(m), NULL, 0, NULL,
		       0) == 0);
}

/* --- status ---------------------------------------------------------------------- */

void status_connect(struct conn *c, const struct place *p)
{
	struct msg m;

	NEED(conn_connect(c, place_path(p, "status"), PEER_HUB,
			  hub_uid()) == 0);
	expect(c, MSG_HELLO_HUB, &m);
	c->state = CONN_READY;
}

void status_until(struct conn *c, struct status *ret,
		  bool (*ok)(const struct status *st, uint64_t arg),
		  uint64_t arg)
{
	uint64_t end = now_ns() + WAIT_MS * NSEC_PER_MSEC;
	struct msg m;

	do {
		NEED(now_ns() < end);
		expect(c, MSG_STATUS, &m);
		memcpy(ret, m.buf, sizeof(*ret));
	} while (!ok(ret, arg));
}

bool has_offences(const struct status *st, uint64_t n)
{
	return st->hub.offences >= n;
}

bool has_received(const struct status *st, uint64_t n)
{
	return st->totals.received >= n;
}

bool has_delivered(const struct status *st, uint64_t n)
{
	return st->totals.outcomes.samples[BATCH_DELIVERED] >= n;
}

bool has_exporter_deaths(const struct status *st, uint64_t n)
{
	return st->totals.exporter_deaths >= n;
}

bool has_jobs(const struct status *st, uint64_t n)
{
	return st->hub.worker_jobs >= n && st->hub.exes_waiting == 0;
}

bool loader_is_down(const struct status *st, uint64_t deaths)
{
	return !st->loader_up && st->totals.loader_deaths >= deaths;
}

struct account account_now(const struct status *st)
{
	struct account a;

	account_sum(st, &a);
	return a;
}
