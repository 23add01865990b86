// SPDX-License-Identifier: Apache-2.0
/* From a request to a file at the hub, with a real map `files`, beside a
 * make-believe opener and hub.  Needs root. */
#include "tests/unit/make_believe_opener.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "common/clock.h"

static void setup(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	LIBBPF_OPTS(bpf_map_create_opts, inner, .map_flags = BPF_F_MMAPABLE);

	if (geteuid() != 0) {
		printf("# needs root\n");
		exit(TEST_SKIP);
	}
	opts.inner_map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", 4, 64,
					   SLAB_ELEMENTS, &inner);
	entries = (struct entries){
		.bpf = &bpf, .hub = &hub, .stats = &stats };
	bpf.files_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "files", sizeof(struct file_key),
				      sizeof(struct file_entry), FILES, NULL);
	CHECK(bpf.files_fd >= 0);
	elements_init(&entries.elements,
		      bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "slabs", 4, 4,
				     SLABS_MAX, &opts), opts.inner_map_fd, 1 << 20);
	requests = (struct requests){ .entries = &entries, .opener = &opener };
	requests_ready(&requests, true);
}

/* --- what happens ------------------------------------------------------------------ */

static struct request_file request_for(uint64_t ino)
{
	return (struct request_file){
		.kind = REQUEST_FILE, .process.tgid = 7, .ask = FILE_ASK,
		.key = { .ino = ino, .size = 1, .magic = TMPFS_MAGIC } };
}

static bool entry_of(uint64_t ino, struct file_entry *ret)
{
	struct file_key key = request_for(ino).key;

	return entries_get(&entries, &key, ret) == 0;
}

static void want(uint64_t ino, bool listed)
{
	struct request_file r = request_for(ino);

	requests_add(&requests, &r, listed);
}

static void open_answer(uint64_t id, bool opened)
{
	struct msg m = { .hdr = {
		.type = opened ? MSG_OPENED : MSG_OPEN_FAILED, .id = id,
		.len = opened ? 0 : sizeof(struct msg_open_failed) } };

	if (opened) {
		m.fds[m.nfds++] = memfd_create("file", MFD_CLOEXEC);
		CHECK_EQ(ftruncate(m.fds[0], 4096), 0);
	}
	requests_opened(&requests, &m);
}

/* A sample has met the file, and the opener opens it. */
static void meet(uint64_t ino)
{
	uint32_t before = hub_has[MSG_EXE];

	want(ino, false);
	CHECK_EQ(asked.key.ino, ino);
	open_answer(asked_id, true);
	CHECK_EQ(hub_has[MSG_EXE], before + 1);
	CHECK_EQ(exe.key.ino, ino);
}

static int hub_says(enum msg_type type, const struct file_key *key, struct file_entry entry)
{
	struct msg m = { .hdr = { .type = type } };
	struct msg_entry *e = (void *)m.buf;

	e->key = *key;
	e->entry = entry;
	return entries_message(&entries, &m);
}

/* --- tests ---------------------------------------------------------------------------- */

TEST(request_becomes_a_file_at_the_hub)
{
	struct file_entry e;

	setup();
	CHECK(requests_idle(&requests));
	want(5, false);
	CHECK(!requests_idle(&requests));
	CHECK(!entry_of(5, &e));	/* not before the kernel has spoken */
	open_answer(asked_id, true);
	CHECK_EQ(exe.key.ino, 5);
	CHECK_EQ(exe.process.tgid, 7);
	CHECK_EQ(exe.no_room, 0);
	CHECK(exe_id);
	CHECK(entry_of(5, &e));
	CHECK_EQ(e.exe, EXE_NONE);
	CHECK_EQ(e.state, FILE_PENDING);
	CHECK(!requests_idle(&requests));
	asked.key.ino = 0;
	want(5, false);			/* it is known: nobody is asked */
	CHECK_EQ(asked.key.ino, 0);
	requests_answered(&requests);
	CHECK(requests_idle(&requests));
	CHECK_EQ(stats.file_requests, 2);
}

TEST(request_for_another_file_by_now)
{
	struct file_entry e;

	setup();
	really_else = true;
	want(5, false);
	really = asked.key;
	really.ctime_ns++;
	open_answer(asked_id, true);
	CHECK_EQ(hub_has[MSG_EXE], 0);
	CHECK(!entry_of(5, &e));
	CHECK_EQ(stats.key_mismatch, 1);
	want(6, false);
	open_answer(asked_id, false);
	CHECK(!entry_of(6, &e));
	CHECK_EQ(stats.open_failed, 1);
	CHECK(requests_idle(&requests));
}

TEST(request_on_a_file_system_that_may_not_answer)
{
	struct request_file r = request_for(5);

	setup();
	r.key.magic = FUSE_SUPER_MAGIC;
	requests_add(&requests, &r, false);
	CHECK(requests_idle(&requests));
	CHECK_EQ(stats.fs_refused, 1);
}

TEST(requests_of_samples_go_first)
{
	setup();
	want(1, true);
	want(2, true);
	want(3, true);
	want(4, false);
	want(4, false);
	CHECK_EQ(asked.key.ino, 1);
	open_answer(asked_id, true);
	CHECK_EQ(asked.key.ino, 4);
	/* then what runs now, rather than what has run for long */
	open_answer(asked_id, true);
	CHECK_EQ(asked.key.ino, 3);
	open_answer(asked_id, true);
	CHECK_EQ(asked.key.ino, 2);
}

TEST(requests_wait_for_a_hub)
{
	setup();
	requests_ready(&requests, false);
	want(1, false);
	CHECK_EQ(asked.key.ino, 0);
	requests_ready(&requests, true);
	CHECK_EQ(asked.key.ino, 1);
}

TEST(requests_wait_for_answers)
{
	setup();
	for (uint64_t ino = 1; ino <= EXE_AHEAD; ino++)
		meet(ino);
	want(100, false);
	CHECK_EQ(asked.key.ino, EXE_AHEAD);
	requests_answered(&requests);
	CHECK_EQ(asked.key.ino, 100);
	/* more answers than questions are a lie, and of no use */
	for (int i = 0; i < 1000; i++)
		requests_answered(&requests);
	CHECK_EQ(requests.unanswered, 0);
}

TEST(request_that_the_hub_cannot_take_is_made_again)
{
	struct file_entry e;

	setup();
	hub_error = -EAGAIN;
	want(5, false);
	open_answer(asked_id, true);
	CHECK(entry_of(5, &e));
	CHECK_EQ(e.state, FILE_PENDING | FILE_ASK);
	CHECK(requests_idle(&requests));
	hub_error = 0;
	meet(5);
	CHECK(entry_of(5, &e));
	CHECK_EQ(e.state, FILE_PENDING);
}

TEST(request_for_the_hosts_path)
{
	struct file_entry e = { .exe = 9, .state = FILE_BARE | FILE_ASK_HOST };
	struct request_file r = request_for(5);

	setup();
	meet(5);
	CHECK(!exe.host && !exe.begins);
	CHECK_EQ(hub_says(MSG_ENTRY, &r.key, e), 0);
	asked.key.ino = 0;
	want(5, false);			/* by a mount that says nothing */
	CHECK_EQ(asked.key.ino, 0);
	r.ask |= FILE_ASK_HOST;
	r.kind = REQUEST_EXEC;
	requests_add(&requests, &r, false);
	CHECK_EQ(asked.key.ino, 5);
	on_host = 1;			/* the kernel's word of what was opened */
	open_answer(asked_id, true);
	CHECK_EQ(exe.key.ino, 5);
	CHECK(exe.host == 1 && exe.begins == 1);
	CHECK(entry_of(5, &e));
	CHECK_EQ(e.state, FILE_BARE | FILE_ASK_HOST);	/* until the hub says */
	on_host = 0;
}

TEST(request_keeps_what_the_hub_has_said)
{
	struct file_key key = request_for(5).key;
	struct file_entry e = { .exe = 9, .dir = 1, .pages = 2,
				.state = FILE_TABLE | FILE_ASK };

	setup();
	meet(5);
	CHECK_EQ(hub_says(MSG_ENTRY, &key, e), 0);
	meet(5);
	CHECK(entry_of(5, &e));
	CHECK_EQ(e.exe, 9);
	CHECK_EQ(e.pages, 2);
	CHECK_EQ(e.state, FILE_TABLE);
}

TEST(request_without_room)
{
	struct file_entry e;

	setup();
	for (uint64_t ino = 1; ino <= FILES; ino++) {
		meet(ino);
		requests_answered(&requests);
		CHECK_EQ(exe.no_room, 0);
	}
	meet(100);
	CHECK_EQ(exe.no_room, 1);
	CHECK(!entry_of(100, &e));
	CHECK_EQ(hub_says(MSG_DROP, &(struct file_key){ .ino = 3, .size = 1,
			  .magic = TMPFS_MAGIC }, e), 0);
	meet(100);
	CHECK_EQ(exe.no_room, 0);
	CHECK(entry_of(100, &e));
}

static uint32_t user;		/* of the requests below */

static void want_of(uint32_t tgid, uint64_t ino, bool listed)
{
	struct request_file r = { .kind = REQUEST_FILE, .uid = user, .process.tgid = tgid };

	r.key = (struct file_key){ .ino = ino, .magic = EXT4_SUPER_MAGIC };
	requests_add(&requests, &r, listed);
}

TEST(request_that_hangs_is_given_up)
{
	uint64_t late;

	setup();
	want(1, false);
	late = asked_id;
	want_of(8, 2, false);
	requests_tick(&requests, now_ns());
	CHECK_EQ(killed, 0);
	requests_tick(&requests, now_ns() + 2 * NSEC_PER_SEC);
	CHECK_EQ(killed, 1);
	CHECK_EQ(stats.open_killed, 1);
	CHECK_EQ(asked.key.ino, 2);
	open_answer(late, true);	/* it is for nobody */
	CHECK_EQ(hub_has[MSG_EXE], 0);
	open_answer(asked_id, true);
	CHECK_EQ(exe.key.ino, 2);
}

/* No mapping of a process is opened for a while after one hung; nor of a user with four. */
TEST(who_has_openers_hang_waits)
{
	uint64_t at = now_ns();

	setup();
	user = 3 * OWNER_UIDS;		/* subordinate uids are one owner */
	for (uint64_t i = 0; i < HANGS_USER; i++, user++) {
		want_of(100 + i, 1 + i, false);
		CHECK_EQ(asked.key.ino, 1 + i);
		at += 2 * NSEC_PER_SEC;
		requests_tick(&requests, at);
		want_of(100 + i, 20, false);
		CHECK(requests_idle(&requests));
	}
	want_of(201, 51, true);
	CHECK_EQ(stats.open_failed, HANGS_USER + 1);
	user = 1001;			/* others do not */
	want_of(202, 52, false);
	CHECK_EQ(asked.key.ino, 52);
	open_answer(asked_id, false);
	user = 3 * OWNER_UIDS;	/* a minute later */
	for (int i = 0; i < HANGS_MAX; i++)
		requests.hang[i].end_ns = 1;
	want_of(100, 53, false);
	CHECK_EQ(asked.key.ino, 53);
	open_answer(asked_id, false);
	opener_stats.stuck = HANGS_STUCK;	/* ... and those openers have not ended */
	want_of(203, 54, false);
	CHECK_EQ(asked.key.ino, 53);
	opener_stats.stuck = 0;
	user = 0;
}

/* A list that is longer than the queue is asked for again, while it helps. */
TEST(requests_want_the_rest_of_a_long_list)
{
	setup();
	meet(1);
	CHECK(!requests_list_again(&requests));
	for (uint32_t i = 0; i < REQUESTS_MAX + 2; i++)
		want_of(100 + i / 64, 1000 + i, true);
	CHECK(!requests_list_again(&requests));
	for (int i = 0; i < REQUESTS_MAX + 1; i++)
		open_answer(asked_id, false);
	CHECK(!requests.listed.n);
	CHECK(requests_list_again(&requests));
	CHECK(!requests_list_again(&requests));
	requests.list_more = true;	/* but nothing was learnt from it */
	CHECK(!requests_list_again(&requests));
	CHECK(!requests_idle(&requests));
	requests.list_useful = true;	/* while the hub has many, a list is put off */
	requests.unanswered = EXE_AHEAD;
	CHECK(!requests_list_again(&requests));
	requests.unanswered--;
	CHECK(requests_list_again(&requests));
}

/* Of a list, who runs comes first, then the newest. */
TEST(requests_of_a_list_begin_with_who_runs)
{
	static const uint32_t order[] = { 1, 4, 2, 6, 5, 3 };

	setup();
	for (uint32_t i = 1; i <= 6; i++) {
		struct request_file r = {
			.kind = REQUEST_FILE, .process.tgid = i, .runs = i % 2 == 0 && i < 6,
			.key = { .ino = i, .magic = EXT4_SUPER_MAGIC } };

		requests_add(&requests, &r, true);
	}
	for (int i = 0; i < 6; i++) {
		CHECK_EQ(asked.process.tgid, order[i]);	/* the first one waits for nobody */
		open_answer(asked_id, false);
	}
}

/* A process with many files leaves room for others, and a user with many processes for
 * other users. */
TEST(requests_of_a_process_and_of_a_user_have_a_share_of_each_queue)
{
	for (int listed = 0; listed < 2; listed++) {
		uint32_t share = listed ? 32 * REQUESTS_SHARE : REQUESTS_SHARE;
		struct request_queue *q;
		uint64_t ino = 1000, refused;

		setup();
		q = listed ? &requests.listed : &requests.asked;
		want_of(1, 1, listed);		/* with the opener */
		for (int i = 0; i < REQUESTS_MAX; i++)
			want_of(77, ino++, listed);
		CHECK_EQ(q->n, share);
		want_of(78, ino++, listed);
		CHECK_EQ(q->n, share + 1);
		CHECK_EQ(q->request[share].process.tgid, 78);
		open_answer(asked_id, false);	/* the next one leaves room */
		CHECK_EQ(asked.process.tgid, listed ? 78 : 77);
		want_of(77, ino++, listed);
		want_of(77, ino++, listed);
		CHECK_EQ(q->n, listed ? share : share + 1);
		for (uint32_t tgid = 79; tgid < 79 + REQUESTS_USER; tgid++)
			want_of(tgid, ino++, listed);
		CHECK_EQ(q->n, REQUESTS_USER);
		user = 1000;			/* who has a part of his own */
		want_of(2, ino++, listed);
		CHECK_EQ(q->n, REQUESTS_USER + 1);
		for (uint32_t tgid = 3; tgid < 3 + REQUESTS_USER; tgid++)
			want_of(tgid, ino++, listed);
		CHECK_EQ(q->n, REQUESTS_MAX);
		refused = stats.requests_full;
		user = 1001;
		want_of(2000, ino++, listed);
		CHECK_EQ(q->n, REQUESTS_MAX);
		CHECK_EQ(stats.requests_full, refused + !listed);
		CHECK(!listed || requests.list_more);
		user = 0;
	}
}

/* Who runs a file first may be gone before it is open: two wait, whoever asks. */
TEST(request_of_a_second_process_for_the_same_file)
{
	setup();
	want_of(1, 1, false);		/* with the opener */
	for (uint32_t tgid = 77; tgid < 87; tgid++)
		want_of(tgid, 5, false);
	want_of(77, 5, false);
	CHECK_EQ(requests.asked.n, 2);
	open_answer(asked_id, true);
	open_answer(asked_id, false);
	CHECK(asked.process.tgid == 78 && asked.key.ino == 5);
	open_answer(asked_id, true);
	CHECK_EQ(exe.process.tgid, 78);
}

/* --- debug files -------------------------------------------------------------------------- */

static uint64_t want_debug(uint32_t number, char last)
{
	struct msg m = { .hdr = { .type = MSG_DEBUG_WANTED, .id = number,
				  .len = sizeof(struct msg_wanted) } };
	struct msg_wanted q = { .process.tgid = 12, .layer = 34, .paths = "/a.debug" };

	q.paths[sizeof(q.paths) - 1] = last;
	memcpy(m.buf, &q, sizeof(q));
	asked_id = 0;
	requests_asked(&requests, &m);
	return asked_id;
}

TEST(debug_file_is_passed_on)
{
	uint64_t id;

	setup();
	id = want_debug(77, 0);
	CHECK_EQ(asked_wanted.process.tgid, 12);
	CHECK_EQ(asked_wanted.layer, 34);
	CHECK_STR(asked_wanted.paths, "/a.debug");
	open_answer(id, true);
	CHECK_EQ(hub_has[MSG_WANTED_FILE], 1);
	CHECK_EQ(wanted_id, 77);
	open_answer(want_debug(78, 0), false);
	CHECK_EQ(hub_has[MSG_WANTED_NONE], 1);
	CHECK_EQ(wanted_id, 78);
}

TEST(debug_file_that_nobody_may_ask_for)
{
	setup();
	for (uint32_t i = 0; i < 4; i++) {	/* names without an end */
		CHECK_EQ(want_debug(i, 'a'), 0);
		CHECK_EQ(hub_has[MSG_WANTED_NONE], i + 1);
	}
	for (int i = 1; i < OPENS_MAX; i++)
		CHECK(want_debug(9, 0));
	CHECK(!want_debug(9, 0));	/* too many at a time */
	CHECK_EQ(hub_has[MSG_WANTED_NONE], 5);
	/* files are opened all the same */
	meet(5);
	/* and what hangs is answered */
	requests_tick(&requests, now_ns() + 2 * NSEC_PER_SEC);
	CHECK_EQ(hub_has[MSG_WANTED_NONE], 6);
	CHECK_EQ(killed, 1);
	CHECK(want_debug(9, 0));
}

/* The opener takes one question after the other: those behind the one in which it hangs are
 * the next opener's, and have its time. */
TEST(only_what_the_opener_works_on_hangs)
{
	uint64_t id[3], now = now_ns() + 2 * NSEC_PER_SEC;

	setup();
	for (uint32_t i = 0; i < 3; i++)
		id[i] = want_debug(i + 1, 0);
	open_answer(id[0], true);
	requests_tick(&requests, now);
	CHECK_EQ(wanted_error, ETIMEDOUT);
	CHECK(killed == 1 && hub_has[MSG_WANTED_NONE] == 1);
	requests_tick(&requests, now + NSEC_PER_SEC / 2);
	CHECK(killed == 1 && hub_has[MSG_WANTED_NONE] == 1);
	open_answer(id[1], true);	/* it is for nobody */
	CHECK_EQ(hub_has[MSG_WANTED_FILE], 1);
	open_answer(id[2], true);
	CHECK_EQ(hub_has[MSG_WANTED_FILE], 2);
	CHECK(!requests_tick(&requests, now + 9 * NSEC_PER_SEC));
	CHECK_EQ(killed, 1);
}

/* --- memory ---------------------------------------------------------------------------------- */

#define MEM_ID	0x123456789abcULL	/* of the hub's question */

static uint64_t want_process(enum msg_type type, uint32_t tgid, uint64_t start_ns)
{
	struct msg_wanted q = { .process = { start_ns, tgid, 4 }, .ns_tgid = 77 };
	struct msg m = { .hdr = { .type = type, .id = MEM_ID,
				  .len = sizeof(q) } };

	memcpy(m.buf, &q, sizeof(q));
	wanted_id = 0;
	asked_id = 0;
	requests_asked(&requests, &m);
	return asked_id;
}

static uint64_t want_mem(uint32_t tgid, uint64_t start_ns)
{
	return want_process(MSG_MEM_WANTED, tgid, start_ns);
}

TEST(memory_is_passed_on)
{
	setup();
	n_mapped = 1;
	mapped[0] = (struct request_file){ .process = { 5, 9, 4 } };
	open_answer(want_mem(9, 5), true);
	CHECK_EQ(asked_wanted.process.tgid, 9);
	CHECK_EQ(hub_has[MSG_WANTED_FILE], 1);
	CHECK(wanted_id == MEM_ID && !wanted_error);
	open_answer(want_mem(9, 5), false);
	CHECK_EQ(hub_has[MSG_WANTED_NONE], 1);
	CHECK_EQ(wanted_id, MEM_ID);
}

/* The number is another process's by now; or nobody can say whose it is. */
TEST(memory_of_another_process)
{
	setup();
	n_mapped = 1;
	mapped[0] = (struct request_file){ .process = { 6, 9, 4 } };
	open_answer(want_mem(9, 5), true);
	CHECK_EQ(wanted_id, MEM_ID);
	CHECK_EQ(wanted_error, ESRCH);
	mapped[0] = (struct request_file){ .process = { 5, 10, 4 } };
	open_answer(want_mem(9, 5), true);
	CHECK_EQ(wanted_error, ESRCH);
	n_mapped = 0;
	wanted_error = 0;
	open_answer(want_mem(9, 5), true);
	CHECK_EQ(wanted_error, ESRCH);
	CHECK_EQ(hub_has[MSG_WANTED_NONE], 3);
	CHECK_EQ(hub_has[MSG_WANTED_FILE], 0);
}

TEST(memory_has_a_budget)
{
	setup();
	for (int i = 1; i < OPENS_MAX; i++)
		CHECK(want_mem(9, 5));
	CHECK(!want_mem(9, 5));		/* too many at a time */
	CHECK(!want_debug(1, 0));
	CHECK_EQ(wanted_error, EAGAIN);
	for (uint64_t s = 2; s < 2 * OPENS_MAX; s += 2)
		requests_tick(&requests, now_ns() + s * NSEC_PER_SEC);
	CHECK_EQ(wanted_error, ETIMEDOUT);
	CHECK_EQ(hub_has[MSG_WANTED_NONE], OPENS_MAX + 1);
	for (int i = 0; i < MEMS_A_SECOND; i++)
		open_answer(want_mem(9, 5), false);
	CHECK(!want_mem(9, 5));		/* too many a second */
	CHECK_EQ(wanted_error, EAGAIN);
	CHECK(want_debug(1, 0));
	requests_tick(&requests, now_ns());
	CHECK(want_mem(9, 5));
}

/* --- perf maps ------------------------------------------------------------------------------ */

static uint64_t want_map(uint32_t tgid, uint64_t start_ns)
{
	return want_process(MSG_PERF_MAP_WANTED, tgid, start_ns);
}

/* Another program by now: it may have another user, and other names. */
TEST(a_process_that_executed_a_program_is_another_one)
{
	static const enum msg_type types[] = { MSG_MEM_WANTED, MSG_PERF_MAP_WANTED };

	setup();
	n_mapped = 1;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		uint64_t id;

		mapped[0] = (struct request_file){ .process = { 5, 9, 4 }, .ns_tgid = 3,
						       .root_magic = ROOT_OURS };
		id = want_process(types[i], 9, 5);
		CHECK(id);
		mapped[0].process.exec_id = 5;
		wanted_error = 0;
		open_answer(id, true);
		CHECK_EQ(wanted_error, ESRCH);
	}
	CHECK_EQ(want_map(9, 5), 0);
	CHECK_EQ(hub_has[MSG_WANTED_FILE], 0);
}

/* What the kernel saw with the mapping: the hub is told of that process, no other. */
TEST(a_file_is_of_the_process_whose_mapping_it_was)
{
	struct request_file r = request_for(5);

	setup();
	r.process = (struct process_id){ 7, 8, 9 };
	r.uid = 12345;
	requests_add(&requests, &r, false);
	open_answer(asked_id, true);
	CHECK(same_process(&exe.process, &r.process));
	CHECK_EQ(exe.uid, 12345);
}

/* Under the number that the kernel says, whatever the hub did; and what the process maps
 * is listed. */
TEST(perf_map_is_asked_for_by_the_number_of_its_namespace)
{
	setup();
	n_mapped = 2;
	mapped[0] = request_for(6);
	mapped[0].process = (struct process_id){ 6, 9, 4 };
	mapped[0].ns_tgid = 4;
	mapped[1] = request_for(5);
	mapped[1].process = (struct process_id){ 5, 9, 4 };
	mapped[1].ns_tgid = 3;
	mapped[1].root_magic = TMPFS_MAGIC;
	open_answer(want_map(9, 5), true);
	CHECK_EQ(asked_wanted.process.tgid, 9);
	CHECK_EQ(asked_wanted.ns_tgid, 3);
	CHECK_EQ(hub_has[MSG_WANTED_FILE], 1);
	CHECK(wanted_id == MEM_ID && !wanted_error);
}

/* Mounts that others made, and a root that may never answer: the opener is not asked. */
TEST(perf_map_below_a_root_that_may_hang)
{
	setup();
	n_mapped = 1;
	mapped[0] = (struct request_file){ .process = { 5, 9, 4 }, .ns_tgid = 3 };
	CHECK(!want_map(9, 5));
	mapped[0].root_magic = FUSE_SUPER_MAGIC;
	CHECK(!want_map(9, 5));
	CHECK_EQ(wanted_error, ESRCH);
	mapped[0].root_magic = ROOT_OURS;
	CHECK(want_map(9, 5));
}

TEST(perf_map_of_a_process_that_has_ended)
{
	uint64_t id;

	setup();
	CHECK_EQ(want_map(9, 5), 0);
	CHECK_EQ(wanted_error, ESRCH);
	/* it ends while its map is opened */
	n_mapped = 1;
	mapped[0] = (struct request_file){ .process = { 5, 9, 4 }, .ns_tgid = 3,
					   .root_magic = ROOT_OURS };
	id = want_map(9, 5);
	mapped[0].process.start_ns = 6;
	wanted_error = 0;
	open_answer(id, true);
	CHECK_EQ(wanted_error, ESRCH);
	CHECK_EQ(hub_has[MSG_WANTED_FILE], 0);
	/* questions that are refused count, too */
	for (int i = 2; i <= MEMS_A_SECOND; i++)
		CHECK_EQ(want_map(9, 5), 0);
	CHECK_EQ(wanted_error, EAGAIN);
}

/* --- what the hub says, and is told --------------------------------------------------------- */

TEST(entry_of_a_key_that_was_not_confirmed)
{
	struct file_key key = request_for(5).key;
	struct file_entry e = { .exe = 2 };

	setup();
	CHECK_EQ(hub_says(MSG_ENTRY, &key, e), 0);
	CHECK(!entry_of(5, &e));
	CHECK_EQ(hub_says(MSG_DROP, &key, e), 0);
	CHECK_EQ(stats.entry_unknown, 2);
	CHECK_EQ(hub_says(MSG_SLAB, &key, e), MSG_BAD_TYPE);
}

TEST(new_hub_is_told_what_there_is)
{
	struct file_entry e = { .exe = 30, .state = FILE_BARE };
	struct file_key key = request_for(2).key;

	setup();
	meet(1);
	meet(2);
	CHECK_EQ(hub_says(MSG_ENTRY, &key, e), 0);
	CHECK_EQ(elements_make(&entries.elements, 2), 0);
	entries_connected(&entries);
	hub_error = -EAGAIN;
	entries_tell(&entries);
	hub_error = 0;
	for (int i = 0; i < 5; i++)
		entries_tell(&entries);
	CHECK(entries.told);
	CHECK_EQ(hub_has[MSG_SLAB], 2);
	CHECK_EQ(hub_has[MSG_KNOWN], 1);
	CHECK_EQ(n_known, 3);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(known[i].entry.exe, known[i].key.ino == 2 ? 30 : 0);
	/* and at a loaderd that has nothing but the vDSO, whatever was said */
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(hub_says(MSG_DROP, &known[i].key, e), 0);
	entries_connected(&entries);
	for (int i = 0; i < 5; i++)
		entries_tell(&entries);
	CHECK_EQ(hub_has[MSG_KNOWN], 2);
	CHECK_EQ(n_known, 1);
	CHECK(!known[0].key.ino && known[0].key.size == 1);
	CHECK_EQ(known[0].entry.exe, EXE_NONE);
}

TEST(hub_is_told_what_is_mapped)
{
	struct file_entry e = { .exe = EXE_MAX, .state = FILE_BARE };
	struct file_key key = request_for(2).key;

	setup();
	meet(1);
	meet(2);
	CHECK_EQ(hub_says(MSG_ENTRY, &key, e), 0);
	key = request_for(1).key;
	e.exe = 0xffffffff;		/* no such number */
	CHECK_EQ(hub_says(MSG_ENTRY, &key, e), 0);
	for (n_mapped = 0; n_mapped < 3; n_mapped++)
		mapped[n_mapped] = request_for(1 + n_mapped);
	CHECK_EQ(hub_says(MSG_LIST, &key, e), 0);
	CHECK_EQ(hub_says(MSG_LIST, &key, e), 0);
	hub_error = -EAGAIN;
	entries_tick(&entries);
	hub_error = 0;
	entries_tick(&entries);
	entries_tick(&entries);
	CHECK_EQ(hub_has[MSG_MAPPED], 1);	/* once for both */
	for (uint32_t i = 0; i < MAPPED_BYTES / 8; i++)
		CHECK_EQ(bits[i], i == EXE_MAX / 64 ? 1ULL << (EXE_MAX % 64) :
						      0);
}

/* Each message about entries and tables that was no offence, and the hello. */
TEST(messages_of_a_hub_are_counted)
{
	struct file_entry e = { .state = FILE_BARE };
	struct file_key key = request_for(1).key;
	struct msg m = { .hdr = { .type = MSG_SLAB_DROP } };
	struct msg_slab *slab = (void *)m.buf;

	setup();
	entries_connected(&entries);
	CHECK_EQ(entries.handled, 1);
	CHECK_EQ(hub_says(MSG_ENTRY, &key, e), 0);	/* of no key */
	CHECK_EQ(hub_says(MSG_LIST, &key, e), 0);
	CHECK_EQ(hub_says(MSG_DROP, &key, e), 0);
	CHECK_EQ(entries.handled, 4);
	CHECK_EQ(elements_make(&entries.elements, 2), 0);
	entries_tick(&entries);
	CHECK_EQ(stats.slabs, 2);
	slab->slab = 2;
	CHECK_EQ(entries_message(&entries, &m), 0);
	CHECK_EQ(entries.handled, 5);
	CHECK_EQ(entries_message(&entries, &m), MSG_BAD_CONTENT);
	CHECK_EQ(entries.handled, 5);
	/* those before the last tick are settled */
	CHECK_EQ(entries.settled, 0);
	entries_tick(&entries);
	CHECK_EQ(stats.slabs, 1);
	CHECK_EQ(entries.settled, 4);
	entries_tick(&entries);
	CHECK_EQ(entries.settled, 5);
	entries_connected(&entries);
	CHECK_EQ(entries.handled, 1);
	CHECK_EQ(entries.settled, 0);
}
