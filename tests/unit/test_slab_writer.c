// SPDX-License-Identifier: Apache-2.0
/*
 * Tables into slabs, and messages in their order: what waits for a slab holds back all
 * that is behind it, and nothing is written elsewhere than it should.
 */
#include "symbolizerd/hub/slab_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/message.h"
#include "ipc/sealed.h"
#include "symbolizerd/tables/out.h"
#include "tests/unit/harness.h"

#define AT(slab, i)	((uint32_t)(slab) << SLAB_SHIFT | (i))

static struct slab_writer w;
static struct { unsigned int type; uint64_t id; uint32_t slab; } said[64];
static uint32_t n_said;
static struct slab_copy *slabs[SLABS_MAX];

static void on_send(void *ctx, unsigned int type, uint64_t id, const void *payload,
		    size_t len)
{
	const struct msg_slab *m = payload;

	CHECK(ctx == &w && n_said < 64);
	said[n_said].type = type;
	said[n_said].id = id;
	said[n_said++].slab = len == sizeof(*m) ? m->slab : 0;
}

static int new_slab(uint32_t slab)
{
	int fd = memfd_create("slab", MFD_ALLOW_SEALING);

	CHECK(!ftruncate(fd, sizeof(struct slab_copy)));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
	slabs[slab] = mmap(NULL, sizeof(*slabs[slab]), PROT_READ, MAP_SHARED, fd, 0);
	CHECK(slabs[slab] != MAP_FAILED);
	return fd;
}

static void give(uint32_t slab)
{
	CHECK(slab_writer_take(&w, slab, new_slab(slab)));
	CHECK_EQ(slab_writer_go(&w), 0);
}

static void setup(void)
{
	slab_writer_init(&w, on_send, &w);
	n_said = 0;
	give(0);
}

/* Runs, and as many elements as they bring, each of which begins with salt. */
static int install(uint64_t id, const struct table_run *run, uint32_t n, uint32_t salt)
{
	static union element elements[4 * SLAB_ELEMENTS];
	struct msg_entry entry = { .entry.exe = 7 };
	size_t own = 0;

	for (uint32_t i = 0; i < n; i++)
		own += run[i].from == TABLE_RUN_NEW ? run[i].n : 0;
	for (size_t i = 0; i < own; i++)
		elements[i].row[0].low = (uint16_t)salt;
	return slab_writer_install(&w, id, &entry, n, sealed_make("runs", (struct iovec[]){
		{ (void *)run, n * sizeof(*run) }, { elements, own * sizeof(*elements) },
	}, 2));
}

static uint32_t word(uint32_t pos)
{
	return slabs[pos >> SLAB_SHIFT]->element[pos & (SLAB_ELEMENTS - 1)].row[0].low;
}

TEST(writer_writes_where_it_should_and_then_says_so)
{
	struct table_run run[] = {
		{ AT(0, 5), 1, TABLE_RUN_NEW, 0 }, { AT(2, 0), 3, TABLE_RUN_NEW, 0 },
		{ AT(3, SLAB_ELEMENTS - 2), 2, TABLE_RUN_NEW, 0 },
	};
	struct table_run copy[] = { { AT(2, 100), 2, AT(3, SLAB_ELEMENTS - 2), 0 },
				    { AT(2, 101), 2, AT(2, 100), 0 } };

	setup();
	give(2);
	give(3);
	CHECK_EQ(install(9, run, 3, 77), 0);
	CHECK_EQ(n_said, 1);
	CHECK(said[0].type == MSG_ENTRY && said[0].id == 9);
	CHECK(!word(AT(0, 4)) && word(AT(0, 5)) == 77 && !word(AT(0, 6)));
	CHECK(word(AT(2, 2)) == 77 && !word(AT(2, 3)));
	CHECK(!word(AT(3, SLAB_ELEMENTS - 3)) && word(AT(3, SLAB_ELEMENTS - 1)) == 77);
	CHECK_EQ(install(10, copy, 2, 0), 0);
	CHECK(!word(AT(2, 99)) && word(AT(2, 102)) == 77 && !word(AT(2, 103)));
	for (uint32_t i = 0; i < SLABS_MAX; i++)
		CHECK(!w.at[i]);		/* nothing stays mapped */
	slab_writer_reset(&w);
}

TEST(writer_holds_back_all_that_is_behind)
{
	struct table_run run[] = { { AT(2, 0), 1, TABLE_RUN_NEW, 0 },
				   { AT(4, 0), 1, TABLE_RUN_NEW, 0 } };
	struct msg_slab drop = { .slab = 2 };
	struct file_key key = { .ino = 1 };

	setup();
	CHECK_EQ(install(1, run, 2, 5), 0);
	CHECK_EQ(slab_writer_put(&w, MSG_DROP, 0, &key, sizeof(key)), 0);
	CHECK_EQ(slab_writer_put(&w, MSG_SLAB_DROP, 0, &drop, sizeof(drop)), 0);
	CHECK_EQ(install(2, run, 1, 6), 0);
	/* each is asked for once */
	CHECK_EQ(n_said, 2);
	CHECK(said[0].type == MSG_SLAB_WANTED && said[0].slab == 2);
	CHECK(said[1].type == MSG_SLAB_WANTED && said[1].slab == 4);
	CHECK(slab_writer_asked(&w, 2) && !slab_writer_asked(&w, 3));
	give(4);
	CHECK_EQ(n_said, 2);
	give(2);
	CHECK_EQ(word(AT(2, 0)), 5);
	/* what is dropped is not written any more, but asked for again */
	CHECK_EQ(n_said, 6);
	CHECK(said[2].type == MSG_ENTRY && said[2].id == 1);
	CHECK(said[3].type == MSG_DROP && said[4].type == MSG_SLAB_DROP);
	CHECK(said[5].type == MSG_SLAB_WANTED && said[5].slab == 2);
	give(2);
	CHECK_EQ(n_said, 7);
	CHECK(said[6].type == MSG_ENTRY && said[6].id == 2 && word(AT(2, 0)) == 6);
	slab_writer_reset(&w);
}

TEST(writer_takes_no_slab_that_could_end_below_it)
{
	int fd;

	setup();
	CHECK(!slab_writer_take(&w, SLABS_MAX, 0));
	CHECK(!slab_writer_take(&w, 0xffffffff, 0));
	fd = new_slab(5);
	CHECK(!slab_writer_take(&w, 0, fd));	/* it has that one */
	close(fd);
	fd = memfd_create("slab", MFD_ALLOW_SEALING);
	CHECK(!ftruncate(fd, sizeof(struct slab_copy)));
	CHECK(!slab_writer_take(&w, 2, fd));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	CHECK(!slab_writer_take(&w, 2, fd));
	CHECK(!ftruncate(fd, sizeof(struct slab_copy) + 1));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
	CHECK(!slab_writer_take(&w, 2, fd));
	close(fd);
	fd = open("/dev/zero", O_RDWR);
	CHECK(!slab_writer_take(&w, 2, fd));
	close(fd);
	slab_writer_reset(&w);
}

TEST(writer_forgets_with_its_connection)
{
	struct table_run run = { AT(2, 0), 1, TABLE_RUN_NEW, 0 };

	setup();
	CHECK_EQ(install(1, &run, 1, 5), 0);
	slab_writer_reset(&w);
	CHECK(!w.waiting.first && !slab_writer_asked(&w, 2));
	give(2);
	CHECK_EQ(n_said, 1);
	CHECK_EQ(word(AT(2, 0)), 0);
	slab_writer_reset(&w);
}

/* A peer that does not read has a bound; what does not fit is closed. */
TEST(outbox_is_bounded)
{
	struct outbox o = { .n = 0 };
	uint64_t word = 5;
	int fd;

	for (int i = 0; i < OUTBOX_MAX; i++)
		CHECK_EQ(outbox_put(&o, 1, 2, &word, 8, NULL, 0, -1), 0);
	fd = dup(STDOUT_FILENO);
	CHECK_EQ(outbox_put(&o, 1, 2, &word, 8, NULL, 0, fd), -ENOBUFS);
	CHECK_EQ(o.n, OUTBOX_MAX);
	CHECK_EQ(fcntl(fd, F_GETFD), -1);
	outbox_pop(&o);
	CHECK_EQ(outbox_put(&o, 1, 2, &word, 8, NULL, 0, -1), 0);
	outbox_clear(&o);
	CHECK_EQ(o.n, 0);
}
