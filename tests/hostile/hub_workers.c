// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizerd with a worker that does what a taken-over one could: what the
 * file says decides.  The hub must stay alive, tell loaderd that there is no
 * table, put the file into quarantine, and go on with the next one.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/table.h"
#include "common/clock.h"
#include "common/log.h"
#include "ipc/sealed.h"
#include "symbolizerd/worker/confine.h"
#include "symbolizerd/hub/run.h"
#include "symbolizerd/worker/worker.h"
#include "symbolizerd/worker/zygote.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/harness.h"

#define MARK		0x1000	/* file offset of the good worker's symbol */
#define DEADLINE_NS	(5 * NSEC_PER_SEC)	/* of a worker in this hub */
#define LATE_NS		(4 * NSEC_PER_SEC)	/* a tick, on a busy machine */

/* --- the worker ------------------------------------------------------------ */

static int good_table(void)
{
	struct table_hdr hdr = { .magic = TABLE_MAGIC, .n_rules = 2,
				 .pages = 1 };
	struct unwind_rule rules[2] = { [RULE_END].cfa = CFA_END };
	union element dir = { .dir[0].rule_before = RULE_END };
	struct iovec parts[] = { { &hdr, sizeof(hdr) },
				 { rules, sizeof(rules) },
				 { &dir, sizeof(dir) } };

	return sealed_make("table", parts, 3);
}

static int good_symbols(void)
{
	struct symbols_hdr hdr = {
		.magic = SYMBOLS_MAGIC, .n = 1, .name_bytes = 8,
	};
	struct symbol s = { .start = MARK, .size = 16, .name = 1 };
	char names[8] = "\0marked";
	struct iovec parts[] = { { &hdr, sizeof(hdr) }, { &s, sizeof(s) },
				 { names, sizeof(names) } };

	return sealed_make("symbols", parts, 3);
}

static int loose_memory(void)
{
	int fd = memfd_create("loose", MFD_CLOEXEC);

	(void)!ftruncate(fd, 4096);
	return fd;
}

static int bad_symbols(void)
{
	char junk[64] = "junk";
	struct iovec part = { junk, sizeof(junk) };

	return sealed_make("symbols", &part, 1);
}

static void say_tables(struct conn *c, const struct msg_job_done *d, int table,
		       int symbols)
{
	int fds[] = { table, symbols };

	conn_send(c, MSG_JOB_DONE, 0, d, sizeof(*d), NULL, 0, fds, 2);
	close(fds[0]);
	close(fds[1]);
}

static void say(struct conn *c, const struct msg_job_done *d, int symbols)
{
	say_tables(c, d, good_table(), symbols);
}

static void fail(struct conn *c, uint32_t exe, uint32_t verdict)
{
	struct msg_job_failed m = { .exe = exe, .verdict = verdict };

	conn_send(c, MSG_JOB_FAILED, 0, &m, sizeof(m), NULL, 0, NULL, 0);
}

static void ask(struct conn *c, enum msg_type type, uint32_t len)
{
	struct msg_wanted m = { .build_id_len = len };

	conn_send(c, type, 0, &m, sizeof(m), NULL, 0, NULL, 0);
}

/* The type of the answer. */
static unsigned int answer_to(struct conn *c)
{
	struct msg m;
	int r;

	while ((r = conn_recv(c, &m)) == -EAGAIN)
		usleep(100);
	if (r)
		return 0;
	msg_close_fds(&m);
	return m.hdr.type;
}

/* What confinement must not allow: any success shows as a good answer. */
static bool escape(void)
{
	int sv[2];

	return open("/", O_RDONLY) >= 0 ||
	       open("/proc/self/mem", O_RDWR) >= 0 ||
	       socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ||
	       socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0;
}

static void misbehave(struct conn *c, char how, struct msg_job_done *d)
{
	switch (how) {
	case 'c':
		abort();
	case 'x':
		_exit(0);
	case 'k':
		kill(getppid(), SIGKILL);
		break;
	case 'F':
		if (fork() >= 0)
			break;
		return;
	case 'e':
		if (!escape())
			return;
		break;
	case 'w':
		d->exe++;
		break;
	case 'b':
		d->build_id_len = BUILD_ID_MAX + 1;
		break;
	case 'g':
		d->runtime = RUNTIME__MAX;
		break;
	case 'i':
		memset(d->runtime_id, 'x', sizeof(d->runtime_id));
		break;
	case 's':
		say(c, d, loose_memory());
		return;
	case 'm':
		say_tables(c, d, loose_memory(), good_symbols());
		return;
	case 'j':
		say(c, d, bad_symbols());
		return;
	case 'v':
		fail(c, d->exe, JOB_OK);
		return;
	case 'V':
		fail(c, d->exe, JOB__VERDICTS);
		return;
	case 'K':
		fail(c, d->exe, JOB_KILLED);
		return;
	case 'a':		/* for memory; for no debug file; twice */
		ask(c, MSG_MEM_WANTED, 20);
		return;
	case 'l':
		ask(c, MSG_DEBUG_WANTED, BUILD_ID_MAX + 1);
		return;
	case 'A':
		ask(c, MSG_DEBUG_WANTED, 20);
		ask(c, MSG_DEBUG_WANTED, 20);
		return;
	case 'q':		/* only with a debug file it is content */
		ask(c, MSG_DEBUG_WANTED, 20);
		if (answer_to(c) == MSG_WANTED_FILE)
			break;
		fail(c, d->exe, JOB_NOT_ELF);
		return;
	case 't':
		conn_send(c, MSG_BYE, 0, NULL, 0, NULL, 0, NULL, 0);
		return;
	case 'h':
		for (;;)
			usleep(100000);
	default:
		break;
	}
	say(c, d, good_symbols());
}

int worker_run(int fd)
{
	struct msg_job_done done = { .build_id_len = 2,
				     .build_id = { 0xab, 0xcd } };
	struct conn c;
	struct msg m;
	char how;
	int r;

	if (conn_init(&c, fd, PEER_HUB) < 0)
		return 1;
	c.state = CONN_READY;
	while ((r = conn_recv(&c, &m)) == -EAGAIN)
		usleep(100);
	if (r || pread(m.fds[0], &how, 1, 0) != 1)
		return 1;
	memcpy(&done.exe, m.buf, sizeof(done.exe));
	if (how == 'n')
		fail(&c, done.exe, JOB_NOT_ELF);
	else
		misbehave(&c, how, &done);
	if (how == '2')
		say(&c, &done, good_symbols());
	for (int i = 0; how == 'f' && i < 1000000; i++)
		fail(&c, done.exe, JOB_CORRUPT);
	return 0;
}

/* --- the hub ----------------------------------------------------------------- */

static struct place place;

static int be_hub(void)
{
	uid_t uid = getuid() == 0 ? OTHER_ID : (uid_t)-1;
	struct hub_config config = {
		.statm = -1,
		.loader_uid = getuid(), .exporter_uid = getuid(),
		.viewer_uid = getuid(),
		.interval_ns = NSEC_PER_SEC,
		.job_deadline_ns = DEADLINE_NS,
	};
	struct hub_sockets sockets = {
		place.fds[0], place.fds[1], place.fds[2],
	};
	struct zygote_ends zygote;
	struct hub hub;

	log_init("hub", false);
	if (confine_namespaces() < 0 ||
	    zygote_start(uid, (gid_t)uid, &zygote) < 0 ||
	    hub_init(&hub, &config, &sockets, &zygote) < 0 ||
	    confine_hub(uid, (gid_t)uid) < 0)
		return 1;
	if (hub_run(&hub) < 0)
		return 1;
	hub_fini(&hub);
	return 0;
}

static void begin(struct conn *status, struct fake_loader *l)
{
	pid_t pid;

	place_make(&place);
	for (int i = 0; i < 3; i++)
		NEED(fcntl(place.fds[i], F_SETFL, O_NONBLOCK) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(be_hub());
	hub_started(&place, pid);
	status_connect(status, &place);
	*l = (struct fake_loader){ 0 };
	loader_connect(l, &place);
	loader_hello(l);
}

static void end(struct conn *status, struct fake_loader *l, struct status *st)
{
	loader_bye(l);
	hub_end(&place, status, st);
	loader_drop(l);
}

static void send_file(struct fake_loader *l, uint32_t id, char how)
{
	struct file_key key = { .ino = id, .size = 2 };
	int fd = memfd_create("file", MFD_CLOEXEC);

	NEED(fd >= 0 && write(fd, &how, 1) == 1);
	loader_exe(l, id, &key, "/some/file", fd);
	close(fd);
}

/* The number of the file. */
static uint32_t expect_table(struct fake_loader *l, uint32_t id)
{
	struct file_entry e;

	NEED(loader_answer(l, id, &e) == MSG_INSTALL);
	NEED(e.state == FILE_TABLE && e.pages == 1);
	return e.exe;
}

static void expect_none(struct fake_loader *l, uint32_t id)
{
	struct file_entry e;

	NEED(loader_answer(l, id, &e) == MSG_ENTRY);
	NEED(e.state == FILE_BARE && e.pages == 0);
}

TEST(hub_survives_bad_workers)
{
	static const char how[] = "cxkFwbgismjvVKtal";
	struct fake_loader l;
	struct conn status;
	struct status st;
	uint32_t n = 2;

	begin(&status, &l);
	for (size_t i = 0; how[i]; i++) {
		printf("# worker %c\n", how[i]);
		send_file(&l, n, how[i]);
		expect_none(&l, n);
		/* in quarantine now */
		send_file(&l, n, 'G');
		expect_none(&l, n++);
		send_file(&l, n, 'G');
		expect_table(&l, n++);
	}
	end(&status, &l, &st);
	NEED(st.hub.worker_deaths == sizeof(how) - 1);
	NEED(st.hub.exes_failed == sizeof(how) - 1);
	for (int i = 0; i < QUARANTINE_SHOWN; i++)
		NEED(!strcmp(st.quarantine.path[i], "/some/file"));
	NEED(st.hub.worker_jobs == 2 * (sizeof(how) - 1));
}

TEST(hub_passes_questions_for_debug_files_on)
{
	struct msg_open_failed none = { .error = ENOENT };
	struct msg_wanted wanted;
	struct fake_loader l;
	struct conn status;
	struct status st;
	struct msg m;
	int fd = memfd_create("debug", MFD_CLOEXEC);

	begin(&status, &l);
	/* of another, of nobody: not passed on */
	NEED(!conn_send(&l.conn, MSG_WANTED_NONE, 7, &none, sizeof(none), NULL,
			0, NULL, 0));
	send_file(&l, 2, 'q');
	expect(&l.conn, MSG_DEBUG_WANTED, &m);
	memcpy(&wanted, m.buf, sizeof(wanted));
	NEED(m.hdr.id == 2 && wanted.tgid == 4711);
	NEED(!conn_send(&l.conn, MSG_WANTED_NONE, 2, &none, sizeof(none), NULL,
			0, NULL, 0));
	expect_none(&l, 2);
	send_file(&l, 3, 'q');
	expect(&l.conn, MSG_DEBUG_WANTED, &m);
	NEED(m.hdr.id == 3);
	NEED(!conn_send(&l.conn, MSG_WANTED_FILE, 3, NULL, 0, NULL, 0, &fd, 1));
	NEED(expect_table(&l, 3) == 3);
	send_file(&l, 4, 'A');
	expect(&l.conn, MSG_DEBUG_WANTED, &m);
	expect_none(&l, 4);
	close(fd);
	end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 1);
	NEED(st.hub.offences == 1);
}

TEST(worker_cannot_open_or_connect)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	/* open and socket are refused; socketpair kills */
	send_file(&l, 2, 'e');
	expect_none(&l, 2);
	end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 1);
}

TEST(hub_takes_one_answer_of_a_worker)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	send_file(&l, 2, '2');		/* answers twice */
	expect_table(&l, 2);
	send_file(&l, 3, 'f');		/* floods */
	expect_table(&l, 3);
	send_file(&l, 4, 'n');		/* knows that it cannot */
	expect_none(&l, 4);
	send_file(&l, 5, 'G');
	expect_table(&l, 5);
	end(&status, &l, &st);
	NEED(st.hub.offences == 2);
	NEED(st.hub.exes_failed == 0);
}

TEST(hub_kills_a_worker_that_hangs_and_works_on)
{
	struct fake_loader l;
	struct conn status;
	struct status st;
	uint64_t start = now_ns();

	begin(&status, &l);
	send_file(&l, 2, 'h');
	for (uint32_t i = 3; i < 50; i++)
		send_file(&l, i, 'G');
	for (uint32_t i = 3; i < 50; i++)
		expect_table(&l, i);
	/* it hangs all the while; its end comes neither sooner nor much later */
	NEED(now_ns() - start < DEADLINE_NS);
	expect_none(&l, 2);
	NEED(now_ns() - start >= DEADLINE_NS);
	NEED(now_ns() - start < DEADLINE_NS + LATE_NS);
	send_file(&l, 60, 'G');
	expect_table(&l, 60);
	end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 1 && st.hub.exes_failed == 1);
}

/* What finds no place shall be asked for again. */
TEST(hub_bounds_its_queue)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	send_file(&l, 2, 'h');
	send_file(&l, 3, 'h');
	usleep(200000);
	for (uint32_t i = 4; i < 4 + JOBS_MAX + 10; i++)
		send_file(&l, i, 'G');
	for (uint32_t i = 4 + JOBS_MAX; i < 4 + JOBS_MAX + 10; i++) {
		struct file_entry e;

		NEED(loader_answer(&l, i, &e) == MSG_ENTRY);
		NEED(e.state == (FILE_PENDING | FILE_ASK) && e.exe == i);
	}
	end(&status, &l, &st);
	NEED(st.hub.exes_waiting == JOBS_MAX + 2);
}

TEST(samples_wait_for_names)
{
	uint64_t words[] = { FRAME_WORD(FRAME_NATIVE, 4, MARK + 4) };
	struct trace_rec rec = { .stop = STOP_COMPLETE, .tgid = 1, .tid = 1,
				 .n_user = 1, .comm = "x" };
	struct conn exporter, status;
	struct fake_loader l;
	struct fake_batch b;
	struct status st;
	uint64_t start;
	size_t len;

	begin(&status, &l);
	start = now_ns();
	exporter_connect(&exporter, &place, 0, NULL);
	/* both workers hang: the third file waits; its sample is carried over, then
	 * delivered without a name */
	send_file(&l, 2, 'h');
	send_file(&l, 3, 'h');
	usleep(200000);
	send_file(&l, 7, 'G');
	loader_sample(&l, rec, words);
	exporter_batch(&exporter, &b);
	NEED(clock_ns(CLOCK_REALTIME) - b.b.times[0] > 3 * NSEC_PER_SEC / 2);
	NEED(b.b.frames[0].function == 0);
	NEED(!memcmp(batch_str(&b.b, b.b.exes[b.b.frames[0].exe].path, &len),
		     "/some/file", 10));
	batch_release(&b);
	NEED(now_ns() - start < DEADLINE_NS);
	/* once it is there it has one */
	expect_none(&l, 2);
	NEED(now_ns() - start >= DEADLINE_NS);
	expect_none(&l, 3);
	NEED(expect_table(&l, 7) == 4);
	loader_sample(&l, rec, words);
	exporter_batch(&exporter, &b);
	NEED(!memcmp(batch_str(&b.b, b.b.functions[
			b.b.frames[0].function].name, &len), "marked", 6));
	NEED(!memcmp(batch_str(&b.b, b.b.exes[b.b.frames[0].exe].build_id,
			       &len), "abcd", 4));
	end(&status, &l, &st);
}
