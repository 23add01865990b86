// SPDX-License-Identifier: Apache-2.0
/*
 * Which files are known, in a real BPF map and with real tables, beside a
 * make-believe opener and symbolizerd.  Needs root.
 */
#include "loaderd/files.h"
#include "tests/unit/harness.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/sealed.h"

#define IDLE_S	5
#define FILES	24	/* room in the map */

/* --- the others --------------------------------------------------------------- */

static struct files files;
static struct tables tables;
static struct loader_stats stats;
static struct opener opener;
static struct request_file asked;	/* by the opener */
static uint64_t asked_id;
static uint32_t sent, dropped[64], n_dropped;
static bool refuse_dropped;
static struct file_key mapped[FILES];
static uint32_t n_mapped;

int opener_ask(struct opener *o, uint64_t id, const struct request_file *need)
{
	(void)o;
	asked = *need;
	asked_id = id;
	return 0;
}

void opener_kill(struct opener *o)
{
	(void)o;
}

static int send_exe(void *ctx, uint32_t exe, const struct file_key *key,
		    const char *path, size_t len, int fd)
{
	(void)ctx, (void)key, (void)path, (void)len, (void)fd;
	sent = exe;
	return 0;
}

static int drop_exe(void *ctx, uint32_t exe)
{
	(void)ctx;
	if (refuse_dropped)
		return -EAGAIN;
	CHECK(n_dropped < 64);
	dropped[n_dropped++] = exe;
	return 0;
}

static void list(void *ctx)
{
	(void)ctx;
	for (uint32_t i = 0; i < n_mapped; i++)
		files_mapped(&files, &mapped[i]);
}

static int identify(void *ctx, const void *addr, struct file_key *ret)
{
	(void)ctx, (void)addr;
	*ret = asked.key;
	return 0;
}

static const struct files_ops ops = { send_exe, drop_exe, list, identify };

static void setup(uint64_t budget)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	LIBBPF_OPTS(bpf_map_create_opts, inner, .map_flags = BPF_F_MMAPABLE);
	int map;

	if (geteuid() != 0) {
		printf("# needs root\n");
		exit(TEST_SKIP);
	}
	opts.inner_map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", 4, 64,
					   SLAB_ELEMENTS, &inner);
	CHECK(tables_init(&tables, bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS,
						  "slabs", 4, 4, SLABS_MAX,
						  &opts),
			  opts.inner_map_fd, budget) == 0);
	map = bpf_map_create(BPF_MAP_TYPE_HASH, "files",
			     sizeof(struct file_key), sizeof(struct file_entry),
			     FILES, NULL);
	CHECK(map >= 0);
	stats = (struct loader_stats){ 0 };
	n_dropped = n_mapped = 0;
	refuse_dropped = false;
	CHECK_EQ(files_init(&files, map, &tables, &opener, &stats, IDLE_S,
			    &ops, NULL), 0);
	files_connected(&files, true);
}

/* --- what happens ------------------------------------------------------------- */

static struct file_key key_of(uint64_t ino)
{
	return (struct file_key){ .ino = ino, .size = 1, .magic = TMPFS_MAGIC };
}

static bool entry_of(uint64_t ino, struct file_entry *ret)
{
	struct file_key key = key_of(ino);

	return !bpf_map_lookup_elem(files.map_fd, &key, ret);
}

/* A sample has met the file; the opener opens it. */
static uint32_t meet(uint64_t ino)
{
	struct request_file need = { .kind = REQUEST_FILE, .key = key_of(ino) };
	struct msg m = {
		.hdr = { .type = MSG_OPENED }, .nfds = 1,
		.fds = { memfd_create("file", MFD_CLOEXEC) },
	};

	CHECK_EQ(ftruncate(m.fds[0], 4096), 0);
	sent = 0;
	files_request(&files, &need, false);
	CHECK(files.opening && asked.key.ino == ino);
	m.hdr.id = asked_id;
	files_opened(&files, &m);
	CHECK(sent >= EXE_FIRST);
	return sent;
}

/* The table of one page with n elements of rows; cfa_off tells it apart. */
static void answer(uint32_t exe, uint32_t n, int32_t cfa_off)
{
	static union element e[300];
	struct table_hdr h = { .magic = TABLE_MAGIC, .n_rules = 3, .pages = 1 };
	struct unwind_rule rules[3] = {
		[RULE_END] = { .cfa = CFA_END },
		{ .cfa = CFA_SP, .cfa_off = cfa_off },
	};
	union element dir = { .dir[0].n = n };
	struct iovec parts[] = {
		{ &h, sizeof(h) }, { rules, sizeof(rules) },
		{ &dir, sizeof(dir) },
		{ e, (n + (n + INDEX_FANOUT - 1) / INDEX_FANOUT) * sizeof(*e) },
	};
	int fd;

	h.n_elements = parts[3].iov_len / sizeof(*e);
	h.n_rows = n * ELEMENT_ROWS;
	fd = sealed_make("table", parts, 4);
	CHECK(fd >= 0);
	files_table(&files, exe, fd);
	close(fd);
}

static uint32_t learn(uint64_t ino, uint32_t n)
{
	uint32_t exe = meet(ino);

	answer(exe, n, ino * 8);
	return exe;
}

/* BPF has seen a sample of this file then. */
static void use(uint64_t ino, uint32_t at_s)
{
	struct file_key key = key_of(ino);
	struct file_entry e;

	CHECK(entry_of(ino, &e));
	e.used_s = at_s;
	CHECK_EQ(bpf_map_update_elem(files.map_fd, &key, &e, BPF_EXIST), 0);
}

static uint64_t seconds(uint64_t s)
{
	return now_ns() + s * NSEC_PER_SEC;
}

/* --- tests -------------------------------------------------------------------- */

TEST(files_learn_a_table)
{
	struct file_entry e;
	uint32_t exe;

	setup(1 << 20);
	exe = meet(7);
	CHECK(entry_of(7, &e) && e.state == FILE_PENDING && e.exe == exe);
	answer(exe, 3, 8);
	CHECK(entry_of(7, &e) && e.state == FILE_TABLE && e.pages == 1);
	CHECK_EQ(stats.files, 1);
	CHECK_EQ(stats.tables, 1);
	CHECK_EQ(tables.n_rules, 3);
	CHECK(files_idle(&files));
}

TEST(files_unmapped_and_unused_are_forgotten)
{
	uint64_t at = seconds(IDLE_S + 1);
	struct file_entry e;

	setup(1 << 20);
	for (uint64_t ino = 1; ino <= 4; ino++)
		learn(ino, 2);
	mapped[n_mapped++] = key_of(2);
	use(3, at / NSEC_PER_SEC);
	refuse_dropped = true;
	files_tick(&files, at);		/* lists */
	files_tick(&files, at);		/* nobody listens */
	CHECK_EQ(stats.files, 4);
	refuse_dropped = false;
	files_tick(&files, at);
	CHECK_EQ(stats.files, 2);
	CHECK_EQ(stats.forgotten, 2);
	CHECK_EQ(n_dropped, 2);
	CHECK(!entry_of(1, &e) && entry_of(2, &e) && entry_of(3, &e) &&
	      !entry_of(4, &e));
	/* their space stays until no sample can be at it */
	CHECK_EQ(tables.n_rules, 2 + 4);
	files_tick(&files, seconds(2));
	CHECK_EQ(tables.n_rules, 2 + 2);
	CHECK_EQ(tables.elements, 2 * 4);
	CHECK_EQ(stats.tables, 2);
	n_mapped = 0;
	at += (IDLE_S + 1) * NSEC_PER_SEC;
	files_tick(&files, at);
	files_tick(&files, at);
	files_tick(&files, at);
	CHECK_EQ(stats.files, 0);
	CHECK_EQ(tables.elements, 0);
	CHECK_EQ(tables.n_rules, 2);
	CHECK_EQ(tables.rows, 0);
}

TEST(files_give_numbers_again_late)
{
	uint32_t a, b;

	setup(1 << 20);
	a = learn(1, 2);
	b = learn(2, 2);
	CHECK(a != b);
	files_tick(&files, seconds(IDLE_S + 1));
	files_tick(&files, seconds(IDLE_S + 1));
	CHECK_EQ(stats.files, 0);
	/* freed now; not given again before that was IDLE_S ago */
	files_tick(&files, now_ns());
	CHECK_EQ(learn(3, 2), b + 1);
	use(3, now_ns() / NSEC_PER_SEC + 2 * IDLE_S);
	files_tick(&files, seconds(2 * IDLE_S));
	CHECK_EQ(learn(4, 2), a);
	CHECK_EQ(learn(5, 2), b);
	CHECK_EQ(learn(6, 2), b + 2);
	CHECK_EQ(stats.exes, 6);
	CHECK_EQ(stats.numbers, 4);
}

TEST(files_answer_to_a_dropped_number_is_ignored)
{
	struct file_entry e;
	uint32_t exe;

	setup(1 << 20);
	exe = meet(1);
	files_connected(&files, false);	/* it will not be answered */
	files_tick(&files, seconds(IDLE_S + 1));
	files_tick(&files, seconds(IDLE_S + 1));
	CHECK(!entry_of(1, &e));
	answer(exe, 2, 8);
	CHECK_EQ(tables.elements, 0);
	CHECK_EQ(stats.tables, 0);
}

/* A list that is longer than the queue is asked for again, while it helps. */
TEST(files_want_the_rest_of_a_long_list)
{
	struct request_file need = { .kind = REQUEST_FILE };
	struct msg m = { .hdr = { .type = MSG_OPEN_FAILED } };

	setup(1 << 20);
	learn(1, 2);
	CHECK(!files_list_again(&files));
	for (uint64_t ino = 1000; ino < 1000 + REQUESTS_MAX + 2; ino++) {
		need.key = key_of(ino);
		files_request(&files, &need, true);
	}
	CHECK(!files_list_again(&files));
	for (int i = 0; i < REQUESTS_MAX + 1; i++) {
		m.hdr.id = asked_id;
		files_opened(&files, &m);
	}
	CHECK(!files.listed.n);
	CHECK(files_list_again(&files));
	CHECK(!files_list_again(&files));
	files.list_more = true;		/* but nothing was learnt from it */
	CHECK(!files_list_again(&files));
}

/* Room for 128 KiB of elements, one part in sixteen kept free. */
TEST(files_evict_the_least_used_one_at_a_time)
{
	uint32_t now_s = now_ns() / NSEC_PER_SEC, n = 0;
	struct file_entry e;

	setup(128 << 10);
	while (tables.elements * 64 + 156 * 64 <= 128 << 10)
		learn(++n, 150);
	CHECK(n > 10);
	for (uint64_t ino = 1; ino <= n; ino++)
		use(ino, now_s - (ino == 5 ? 100 : ino == 3 ? 50 : 0));
	files_tick(&files, now_ns());
	CHECK_EQ(stats.evicted, 1);
	CHECK(!entry_of(5, &e) && entry_of(3, &e));
	files_tick(&files, now_ns());
	CHECK_EQ(stats.evicted, 1);
	files_tick(&files, seconds(2));
	CHECK_EQ(stats.tables, n - 1);
	learn(++n, 150);
	files_tick(&files, seconds(2));
	CHECK_EQ(stats.evicted, 2);
	CHECK(!entry_of(3, &e));
	CHECK_EQ(stats.table_full, 0);
}

/* Without headroom: one goes, and the new one is asked for again. */
TEST(files_make_room_for_what_does_not_fit)
{
	struct file_entry e;
	uint32_t exe;

	setup(30 << 10);
	learn(1, 200);
	exe = meet(2);
	answer(exe, 290, 16);
	CHECK(!entry_of(1, &e));
	CHECK(entry_of(2, &e) && e.state == FILE_PENDING);
	files_tick(&files, now_ns());	/* no room yet: not worth a try */
	CHECK(entry_of(2, &e) && e.state == FILE_PENDING);
	files_tick(&files, seconds(2));
	CHECK(entry_of(2, &e) && e.state == (FILE_PENDING | FILE_ASK));
	CHECK_EQ(meet(2), exe);
	answer(exe, 290, 16);
	CHECK(entry_of(2, &e) && e.state == FILE_TABLE);
	/* what is larger than all room drives nobody out */
	tables.budget = 16 << 10;
	answer(meet(3), 290, 24);
	CHECK(entry_of(3, &e) && e.state == FILE_BARE);
	CHECK(entry_of(2, &e) && e.state == FILE_TABLE);
	CHECK_EQ(stats.table_full, 1);
}

/* More at once than fits: who waits drives nobody else out. */
TEST(files_in_a_burst_evict_what_is_needed)
{
	uint32_t n = 0;

	setup(64 << 10);
	while (tables.elements * 64 + 60 * 64 <= 64 << 10)
		learn(++n, 50);
	CHECK(n > 10);
	for (int i = 0; i < 3; i++)
		answer(meet(200 + i), 50, 8);
	CHECK_EQ(stats.evicted, 1);
	files_tick(&files, seconds(2));
	answer(meet(200), 50, 8);
	CHECK_EQ(stats.tables + stats.evicted, n + 1);
	CHECK(stats.evicted <= 3);	/* and the headroom */
}

TEST(files_full_map_drops_the_least_used)
{
	uint32_t now_s = now_ns() / NSEC_PER_SEC;
	struct file_entry e;

	setup(1 << 20);
	for (uint64_t ino = 1; ino <= FILES; ino++) {
		learn(ino, 1);
		use(ino, now_s - (ino == 9 ? 9 : 0));
	}
	learn(100, 1);
	CHECK(entry_of(100, &e) && e.state == FILE_TABLE);
	CHECK(!entry_of(9, &e));
	CHECK_EQ(stats.files, FILES);
}

/* Many lives: numbers, space and rules stay bounded. */
TEST(files_come_and_go)
{
	uint64_t at = now_ns(), seed = 88172645463325252ULL;

	setup(256 << 10);
	for (uint64_t ino = 1; ino <= 2000; ino++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		learn(ino, 1 + seed % 250);
		at += NSEC_PER_SEC;
		n_dropped = 0;
		files_tick(&files, at);
		CHECK(tables.elements * 64 <= 256 << 10);
	}
	for (int i = 0; i < 3 * IDLE_S; i++)
		files_tick(&files, at += NSEC_PER_SEC);
	CHECK_EQ(stats.files, 0);
	CHECK_EQ(stats.tables, 0);
	CHECK_EQ(tables.elements, 0);
	CHECK_EQ(tables.n_rules, 2);
	CHECK_EQ(stats.exes, 2000);
	CHECK(stats.numbers < 100);
}
