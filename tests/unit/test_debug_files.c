// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/debug_files.h"
#include "tests/unit/harness.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define S	1000000000ULL

static struct executables x;
static struct debug_files d;
static uint32_t asked, missing, missing_useless, asked_number;
static struct build_id question;
static int may_ask;
static bool server_busy;

static int on_ask(void *ctx, uint32_t number, const struct build_id *id)
{
	(void)ctx;
	asked++;
	asked_number = number;
	question = *id;
	return may_ask;
}

static bool on_missing(void *ctx, const struct build_id *id, uint32_t owner, bool useless)
{
	(void)ctx;
	(void)owner;
	CHECK(id->len >= 2);
	missing++;
	missing_useless += useless;
	return !server_busy;
}

static const struct debug_files_ops ops = { on_ask, on_missing };

/* Of executables with this many kinds of build IDs. */
static struct build_id id_of(uint8_t which)
{
	return (struct build_id){ .len = 4, .bytes = { 0xab, 0x0c, 0xff, which } };
}

/* Number n, of this owner, whose worker said this. */
static struct executable *add(uint32_t n, uint8_t which, uint32_t owner, uint32_t debug)
{
	struct file_key key = { .ino = n, .size = 100, .dev = 7 };
	struct msg_job_done done = { .build_id_len = 4, .debug = debug };
	struct build_id id = id_of(which);
	uint32_t i = executables_mention(&x, &key, 1);
	struct executable *e = executables_get(&x, i);

	memcpy(done.build_id, id.bytes, id.len);
	CHECK_EQ(executables_assign(&x, n, i, "/bin/x", 6, true), 0);
	CHECK(executable_known(e, &done));
	e->owner = owner;
	e->named = true;
	return e;
}

static void setup(void)
{
	debug_files_fini(&d);
	executables_fini(&x);
	executables_init(&x, 9);
	debug_files_init(&d);
	d.ops = &ops;
	asked = missing = missing_useless = 0;
	may_ask = 0;
	server_busy = false;
}

/* A file of this process's user. */
static int file(void)
{
	return memfd_create("debug", 0);
}

static bool is_closed(int fd)
{
	struct stat st;

	return fstat(fd, &st) != 0;
}

TEST(debug_file_that_comes_later_leads_to_a_new_visit)
{
	struct executable *mine, *other, *whole;
	struct build_id id = id_of(1);

	setup();
	mine = add(1, 1, geteuid(), JOB_DEBUG_MISSING);
	other = add(2, 2, geteuid(), JOB_DEBUG_MISSING);
	whole = add(3, 1, geteuid(), JOB_DEBUG_OWN);
	CHECK(!executable_want(mine, 0x1000, 5));
	CHECK_EQ(debug_files_found(&d, &x, &id, file(), DEBUG_LOCAL, S), 1);
	CHECK(mine->renew && !other->renew && !whole->renew);
	CHECK(executable_want(mine, 0x1000, 6) && mine->wanted);
	CHECK(debug_files_get(&d, &id, geteuid(), S));
	id = id_of(2);
	CHECK(!debug_files_get(&d, &id, geteuid(), S));
	/* it was read */
	mine->debug = JOB_DEBUG_FILE;
	executable_named(mine, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096,
			 &(struct symbol_index){ 0 });
	CHECK(!mine->renew && mine->named && !executable_want(mine, 0x1000, 7));
	setup();
}

TEST(debug_file_of_no_use_is_not_read_twice)
{
	struct build_id id = id_of(1);
	int fd = file(), again = dup(fd), once_more = dup(fd);
	struct executable *e;

	setup();
	e = add(1, 1, geteuid(), JOB_DEBUG_MISSING);
	CHECK_EQ(debug_files_found(&d, &x, &id, fd, DEBUG_LOCAL, S), 1);
	/* the worker did not believe it */
	executable_named(e, NULL, 0, &(struct symbol_index){ 0 });
	CHECK_EQ(debug_files_found(&d, &x, &id, again, DEBUG_LOCAL, 2 * S), 0);
	CHECK(!e->renew && is_closed(again) && !is_closed(fd));
	/* another content of it may be of use */
	CHECK_EQ(ftruncate(fd, 4096), 0);
	CHECK_EQ(debug_files_found(&d, &x, &id, once_more, DEBUG_LOCAL, 3 * S), 1);
	CHECK(e->renew && is_closed(fd));
	setup();
}

/* A service that seldom runs: no sample met it while a server's file was at hand.  So it was
 * read without that, and is read with it when it comes again. */
TEST(debug_file_that_went_before_it_was_read_is_read_when_it_comes_again)
{
	struct build_id id = id_of(1);
	int fd = file(), again = dup(fd), useless = dup(fd);
	struct executable *e;

	setup();
	e = add(1, 1, geteuid(), JOB_DEBUG_MISSING);
	CHECK_EQ(debug_files_found(&d, &x, &id, fd, DEBUG_SERVER, S), 1);
	debug_files_tick(&d, &x, 1, 2 * S + DEBUG_SERVER_NS);
	CHECK(is_closed(fd) && e->renew);
	CHECK(!debug_files_get(&d, &id, e->owner, 3 * S + DEBUG_SERVER_NS));
	executable_missed_debug(e);
	executable_named(e, NULL, 0, &(struct symbol_index){ 0 });
	CHECK_EQ(debug_files_found(&d, &x, &id, again, DEBUG_SERVER, 4 * S + DEBUG_SERVER_NS), 1);
	CHECK(e->renew);
	/* now the worker has it */
	executable_named(e, NULL, 0, &(struct symbol_index){ 0 });
	executable_missed_debug(e);
	CHECK_EQ(debug_files_found(&d, &x, &id, useless, DEBUG_SERVER, 5 * S + DEBUG_SERVER_NS), 0);
	CHECK(!e->renew);
	setup();
}

TEST(debug_file_names_nothing_of_others)
{
	struct build_id id = id_of(1);
	struct executable *e;
	int fd = file();

	setup();
	if (geteuid() == 0)		/* root's count for all */
		CHECK_EQ(fchown(fd, 12345, 12345), 0);
	e = add(1, 1, geteuid() ? geteuid() + 1 : 5, JOB_DEBUG_MISSING);
	CHECK_EQ(debug_files_found(&d, &x, &id, fd, DEBUG_LOCAL, S), 0);
	CHECK(!e->renew && is_closed(fd) && !debug_files_get(&d, &id, e->owner, S));
	fd = file();
	if (geteuid() == 0)
		CHECK_EQ(fchown(fd, 12345, 12345), 0);
	CHECK_EQ(debug_files_found(&d, &x, &id, fd, DEBUG_SERVER, S), 1);
	CHECK(e->renew && debug_files_get(&d, &id, e->owner, S));
	setup();
}

TEST(debug_file_waits_for_the_worker_that_did_not_have_it)
{
	struct build_id id = id_of(1);
	struct executable *e;

	setup();
	e = add(1, 1, geteuid(), JOB_DEBUG_MISSING);
	e->jobs = 1;
	CHECK_EQ(debug_files_found(&d, &x, &id, file(), DEBUG_LOCAL, S), 0);
	debug_files_tick(&d, &x, 1, 2 * S);
	CHECK(!e->renew);
	e->jobs = 0;
	debug_files_tick(&d, &x, 1, 3 * S);
	CHECK(e->renew && !asked && !missing);
	setup();
}

TEST(debug_files_are_asked_for_again)
{
	struct executable *e;

	setup();
	e = add(1, 1, geteuid(), JOB_DEBUG_INSIDE);
	add(2, 2, geteuid(), JOB_DEBUG_FILE);
	add(3, 3, geteuid(), JOB_DEBUG_OWN);
	debug_files_tick(&d, &x, 1, S);	/* its worker asked just now */
	CHECK_EQ(missing, 1);
	CHECK_EQ(asked, 0);
	debug_files_tick(&d, &x, 1, S + DEBUG_AGAIN_NS - 1);
	CHECK_EQ(missing + asked, 1);
	debug_files_tick(&d, &x, 1, S + DEBUG_AGAIN_NS);
	CHECK_EQ(asked, 1);
	CHECK_EQ(asked_number, 1);
	CHECK_EQ(question.len, 4);
	CHECK(question.bytes[0] == 0xab && question.bytes[1] == 0x0c &&
	      question.bytes[2] == 0xff && question.bytes[3] == 1);
	debug_files_answer(&d, &x, 1, -1, S + DEBUG_AGAIN_NS);
	CHECK_EQ(missing, 2);
	/* nobody waits for these */
	debug_files_answer(&d, &x, 1, -1, S + DEBUG_AGAIN_NS);
	debug_files_answer(&d, &x, 2, file(), S + DEBUG_AGAIN_NS);
	CHECK_EQ(missing, 2);
	debug_files_tick(&d, &x, 1, S + 2 * DEBUG_AGAIN_NS);
	CHECK_EQ(asked, 2);
	debug_files_answer(&d, &x, 1, file(), S + 2 * DEBUG_AGAIN_NS);
	CHECK(e->renew);
	CHECK_EQ(missing, 2);
	setup();
}

/* One that has its names: once a visit for its lines found nothing. */
TEST(debug_file_of_lines_alone_is_asked_for_again)
{
	struct build_id id = id_of(1);
	struct executable *e;

	setup();
	e = add(1, 1, geteuid(), JOB_DEBUG_LINES);
	debug_files_tick(&d, &x, 1, S);
	CHECK_EQ(missing + asked, 0);
	e->no_lines = e->lacks_dwarf = true;
	debug_files_tick(&d, &x, 1, 2 * S);
	CHECK(missing == 1 && !asked);
	debug_files_tick(&d, &x, 1, 2 * S + DEBUG_AGAIN_NS);
	CHECK_EQ(asked, 1);
	e->lines_id = 9;
	debug_files_answer(&d, &x, 1, file(), 2 * S + DEBUG_AGAIN_NS);
	CHECK(!e->renew && !e->no_lines && !e->lines_id);
	CHECK(debug_files_get(&d, &id, geteuid(), 2 * S + DEBUG_AGAIN_NS));
	setup();
}

static void wants(const struct executable *e, const struct build_id *id, uint32_t alternate)
{
	struct msg_wanted q = { .build_id_len = id->len, .alternate = alternate };

	memcpy(q.build_id, id->bytes, sizeof(q.build_id));
	debug_files_wants(&d, e, &q);
}

/* Its debug file is there, so it is only its lines that are asked for anew. */
TEST(alternate_file_comes_from_a_server)
{
	struct build_id id = id_of(9), other = id_of(8);
	struct executable *e, *second;

	setup();
	e = add(1, 1, geteuid(), JOB_DEBUG_FILE);
	second = add(2, 2, geteuid(), JOB_DEBUG_FILE);
	e->lines_id = 5;
	second->lines_id = 6;
	wants(e, &id, DEBUG_ALTERNATE);
	wants(e, &id, DEBUG_ALTERNATE);
	wants(e, &other, 0);		/* a debug file, and a package */
	wants(e, &other, DEBUG_PACKAGE);
	CHECK_EQ(d.turn, 1);
	wants(second, &other, DEBUG_ALTERNATE);
	debug_files_no_alternate(&d, 3, S);
	CHECK_EQ(missing, 0);
	server_busy = true;
	debug_files_no_alternate(&d, 1, S);
	server_busy = false;
	debug_files_no_alternate(&d, 1, S + 1);
	debug_files_no_alternate(&d, 1, S + DEBUG_AGAIN_NS);
	CHECK_EQ(missing, 2);
	debug_files_no_alternate(&d, 1, S + 1 + DEBUG_AGAIN_NS);
	CHECK_EQ(missing, 3);
	CHECK_EQ(debug_files_found(&d, &x, &id, file(), DEBUG_SERVER, S), 1);
	CHECK(!e->lines_id && !e->renew && second->lines_id == 6);
	CHECK(debug_files_get(&d, &id, geteuid(), S));
	/* once; and of another content the number says nothing */
	e->lines_id = 7;
	CHECK_EQ(debug_files_found(&d, &x, &id, file(), DEBUG_SERVER, S), 0);
	second->lines_id = 8;
	CHECK_EQ(debug_files_found(&d, &x, &other, file(), DEBUG_SERVER, S), 0);
	CHECK(second->lines_id == 8);
	setup();
}

TEST(alternate_files_that_are_missing_are_bounded)
{
	struct build_id id = id_of(9);
	struct executable *e;

	setup();
	e = add(1, 1, geteuid(), JOB_DEBUG_FILE);
	for (uint32_t i = 1; i <= 2 * DEBUG_LACKING_MAX; i++) {
		e->lines_id = i;
		wants(e, &id, DEBUG_ALTERNATE);
	}
	debug_files_no_alternate(&d, 1, S);
	CHECK_EQ(missing, DEBUG_LACKING_MAX);
	CHECK_EQ(debug_files_found(&d, &x, &id, file(), DEBUG_SERVER, S), 1);
	setup();
}

TEST(missing_alternate_files_of_one_user_push_out_no_others)
{
	struct build_id id = id_of(9), his = id_of(8);
	struct executable *e, *hostile;

	setup();
	e = add(1, 1, 1, JOB_DEBUG_FILE);
	hostile = add(2, 2, 2, JOB_DEBUG_FILE);
	e->lines_id = 5;
	wants(e, &id, DEBUG_ALTERNATE);
	for (uint32_t i = 1; i <= 3 * DEBUG_LACKING_MAX; i++) {
		hostile->lines_id = 100 + i;
		wants(hostile, &his, DEBUG_ALTERNATE);
	}
	debug_files_no_alternate(&d, 1, S);
	CHECK_EQ(missing, 1);
	/* his oldest have gone, not his newest */
	for (uint32_t i = 0; i < DEBUG_LACKING_MAX; i++)
		CHECK(d.lacking[i].lines_id == 5 ||
		      d.lacking[i].lines_id > 100 + 2 * DEBUG_LACKING_MAX);
	setup();
}

TEST(debug_files_that_no_sample_meets_are_not_asked_for)
{
	setup();
	add(1, 1, geteuid(), JOB_DEBUG_MISSING);
	debug_files_tick(&d, &x, 1 + DEBUG_MET_INTERVALS, S);
	CHECK_EQ(missing + asked, 0);
	debug_files_tick(&d, &x, DEBUG_MET_INTERVALS, S);
	CHECK_EQ(missing, 1);
	setup();
}

TEST(debug_files_questions_are_few_at_a_time)
{
	uint64_t now = S;

	setup();
	for (uint32_t i = 1; i <= 200; i++)
		add(i, (uint8_t)i, i % 4, JOB_DEBUG_MISSING);
	for (int i = 0; i < 20; i++)
		debug_files_tick(&d, &x, 1, now);
	CHECK_EQ(missing, 200);
	now += DEBUG_AGAIN_NS;
	for (int i = 0; i < 4; i++)	/* no answer comes */
		debug_files_tick(&d, &x, 1, now);
	CHECK_EQ(asked, DEBUG_ASKS_MAX);
	for (int i = 0; i < 4; i++)
		debug_files_tick(&d, &x, 1, now + DEBUG_ANSWER_NS);
	CHECK_EQ(asked, 2 * DEBUG_ASKS_MAX);
	/* no loaderd */
	may_ask = -1;
	missing = 0;
	debug_files_tick(&d, &x, 1, now + 2 * DEBUG_ANSWER_NS);
	CHECK(asked > 2 * DEBUG_ASKS_MAX && missing == asked - 2 * DEBUG_ASKS_MAX);
	setup();
}

TEST(debug_files_are_let_go)
{
	struct build_id id = id_of(1);
	int first = -1, fd;

	setup();
	add(1, 1, geteuid(), JOB_DEBUG_MISSING);
	fd = file();
	CHECK_EQ(debug_files_found(&d, &x, &id, fd, DEBUG_LOCAL, S), 1);
	debug_files_tick(&d, &x, 1, S + DEBUG_LOCAL_NS - 1);
	CHECK(!is_closed(fd));
	debug_files_tick(&d, &x, 1, S + DEBUG_LOCAL_NS);
	CHECK(is_closed(fd) && !d.n);
	for (uint32_t i = 0; i <= DEBUG_FILES_MAX; i++) {
		id.bytes[0] = (uint8_t)i;
		fd = file();
		first = i ? first : fd;
		debug_files_found(&d, &x, &id, fd, DEBUG_SERVER, S + i);
	}
	CHECK_EQ(d.n, DEBUG_FILES_MAX);
	CHECK(is_closed(first) && !debug_files_get(&d, &(struct build_id){
		.len = 4, .bytes = { 0, 0x0c, 0xff, 1 } }, 0, S));
	CHECK(debug_files_get(&d, &id, 77, S + DEBUG_SERVER_NS));
	debug_files_tick(&d, &x, 1, S + 2 * DEBUG_SERVER_NS - 1);
	CHECK_EQ(d.n, 1);
	debug_files_tick(&d, &x, 1, S + 2 * DEBUG_SERVER_NS);
	CHECK_EQ(d.n, 0);
	setup();
}

TEST(server_that_is_busy_is_asked_again_soon)
{
	setup();
	server_busy = true;
	add(1, 1, geteuid(), JOB_DEBUG_MISSING);
	debug_files_tick(&d, &x, 1, S);
	debug_files_tick(&d, &x, 1, 2 * S);
	CHECK_EQ(missing, 2);
	server_busy = false;
	debug_files_tick(&d, &x, 1, 3 * S);
	debug_files_tick(&d, &x, 1, 4 * S);
	CHECK(missing == 3 && !asked);
	setup();
}

TEST(servers_file_of_no_use_goes)
{
	struct build_id id = id_of(1);
	struct executable *e;
	int fd = file();

	setup();
	e = add(1, 1, geteuid(), JOB_DEBUG_MISSING);
	CHECK_EQ(debug_files_found(&d, &x, &id, fd, DEBUG_SERVER, S), 1);
	debug_files_tick(&d, &x, 1, 2 * S);
	CHECK(!is_closed(fd));
	/* a worker read it, and it was not that one's */
	executable_named(e, NULL, 0, &(struct symbol_index){ 0 });
	debug_files_tick(&d, &x, 1, 3 * S);
	CHECK(is_closed(fd) && !e->renew);
	CHECK(missing == 1 && missing_useless == 1);
	setup();
}

/* When the opener has been asked again, and has none. */
TEST(servers_file_of_no_use_is_said_to_be)
{
	struct build_id id = id_of(1);
	struct executable *e;

	setup();
	e = add(1, 1, geteuid(), JOB_DEBUG_MISSING);
	debug_files_tick(&d, &x, 1, S);
	CHECK(missing == 1 && missing_useless == 0);
	CHECK_EQ(debug_files_found(&d, &x, &id, file(), DEBUG_SERVER, 2 * S), 1);
	executable_named(e, NULL, 0, &(struct symbol_index){ 0 });
	debug_files_tick(&d, &x, 1, S + DEBUG_AGAIN_NS);
	CHECK(asked == 1 && missing == 1 && d.n == 0);
	debug_files_answer(&d, &x, 1, -1, S + DEBUG_AGAIN_NS);
	CHECK(missing == 2 && missing_useless == 1);
	setup();
}

TEST(servers_file_that_served_one_is_not_taken_away_by_another)
{
	struct build_id id = id_of(1);
	struct executable *e;
	int fd = file();

	setup();
	add(1, 1, 1000, JOB_DEBUG_FILE);
	e = add(2, 1, 2000, JOB_DEBUG_MISSING);
	CHECK_EQ(debug_files_found(&d, &x, &id, fd, DEBUG_SERVER, S), 1);
	executable_named(e, NULL, 0, &(struct symbol_index){ 0 });
	debug_files_tick(&d, &x, 1, 2 * S);
	CHECK(!is_closed(fd) && missing_useless == 0);
	CHECK(debug_files_get(&d, &id, 1000, 3 * S));
	setup();
}

/* --- shares ---------------------------------------------------------------------- */

/* As exporter_link.c and exporterd: so many questions wait, and one a second is answered. */
static struct { uint32_t owner; uint8_t which; } line[16];
static uint32_t in_line;

static bool on_missing_line(void *ctx, const struct build_id *id, uint32_t owner, bool useless)
{
	uint32_t own = 0;

	(void)ctx;
	(void)useless;
	for (uint32_t i = 0; i < in_line; i++)
		own += line[i].owner == owner;
	if (!debug_files_may_ask(own, in_line, 16))
		return false;
	line[in_line].owner = owner;
	line[in_line++].which = id->bytes[3];
	missing++;
	return true;
}

/* How long a question of owner 7, who comes to this many owners with a thousand programs
 * each, has no answer; it is the first, or one that is asked again. */
static uint32_t line_wait(uint32_t owners, bool again)
{
	static const struct debug_files_ops with_line = { on_ask, on_missing_line };
	struct executable *mine;
	uint64_t now = S;
	uint32_t n = 1;

	setup();
	d.ops = &with_line;
	in_line = 0;
	for (uint32_t o = 0; o < owners; o++) {
		for (int i = 0; i < 1000; i++)
			add(n++, 1, 1000 + o, JOB_DEBUG_MISSING);
	}
	for (int i = 0; i < 100; i++, now += S) {
		debug_files_tick(&d, &x, 1, now);
		if (in_line)
			memmove(line, line + 1, --in_line * sizeof(line[0]));
	}
	mine = add(n, 2, 7, JOB_DEBUG_MISSING);
	mine->debug_asked_ns = again ? 1 : 0;
	for (uint32_t seconds = 1; seconds < 10000; seconds++, now += S) {
		debug_files_tick(&d, &x, 1, now);
		/* the opener has none, and says so at once */
		for (uint32_t i = 0; i < DEBUG_ASKS_MAX; i++) {
			if (d.asks[i].since_ns)
				debug_files_answer(&d, &x, d.asks[i].number, -1, now);
		}
		if (in_line && line[0].which == 2)
			return seconds;
		if (in_line)
			memmove(line, line + 1, --in_line * sizeof(line[0]));
	}
	return UINT32_MAX;
}

TEST(who_has_many_programs_does_not_keep_others_waiting)
{
	for (int again = 0; again < 2; again++) {
		for (uint32_t owners = 1; owners <= 5; owners++) {
			uint32_t s = line_wait(owners, again);

			printf("# %u owners with 1000 programs each: %u s\n", owners, s);
			/* it is looked at within 8 s; then 16 wait before it at most */
			CHECK(s <= 8 + 16);
			CHECK(owners > 1 || s <= 8 + 4);
		}
	}
	setup();
}

TEST(share_leaves_room_for_others)
{
	uint32_t n = 0;

	while (debug_files_may_ask(n, n, 16))
		n++;
	CHECK_EQ(n, 4);
	for (n = 0; debug_files_may_ask(n, n, DEBUG_ASKS_MAX);)
		n++;
	CHECK_EQ(n, 2);
	CHECK(debug_files_may_ask(0, 15, 16) && !debug_files_may_ask(0, 16, 16));
	CHECK(debug_files_may_ask(1, 11, 16) && !debug_files_may_ask(1, 12, 16));
}

TEST(servers_files_have_so_many_bytes_together)
{
	struct build_id id;
	int fd[5];

	setup();
	for (uint8_t i = 0; i < 5; i++) {
		id = id_of(i);
		fd[i] = file();
		CHECK_EQ(ftruncate(fd[i], (i == 4 ? 2 : 1) * (off_t)DEBUG_SERVER_BYTES / 4), 0);
		if (i == 3)		/* the first was used meanwhile */
			CHECK(debug_files_get(&d, &(struct build_id){ 4, { 0xab, 0x0c, 0xff } },
					      5, i * S + 1));
		debug_files_found(&d, &x, &id, fd[i], DEBUG_SERVER, i * S + 2);
	}
	CHECK(!is_closed(fd[0]) && is_closed(fd[1]) && is_closed(fd[2]) && !is_closed(fd[3]));
	/* one that is larger than all may be is there alone */
	id = id_of(9);
	fd[1] = file();
	CHECK_EQ(ftruncate(fd[1], (off_t)DEBUG_SERVER_BYTES * 2), 0);
	debug_files_found(&d, &x, &id, fd[1], DEBUG_SERVER, 9 * S);
	CHECK(d.n == 1 && is_closed(fd[0]) && is_closed(fd[4]) && !is_closed(fd[1]));
	setup();
}
