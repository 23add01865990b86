// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the real symbolizerd: when is a file visited for lines of code?  The file is this
 * program.
 */
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/harness.h"

#define FILE_ID	2	/* of the question about it */

static const struct file_key key = { .ino = 77, .size = 4242, .dev = 9 };
static struct place place;
static struct fake_loader l;
static struct conn status;
static struct status st;
static uint32_t number;		/* of the file; 0: not yet */

/* Where the code of this program begins in its file: it comes first. */
static int code_of(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			*(uint64_t *)ret = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr -
					   info->dlpi_phdr[i].p_offset;
	}
	return 1;
}

static uint64_t offset_of(void (*fn)(void))
{
	uint64_t at = 0;

	dl_iterate_phdr(code_of, &at);
	return (uint64_t)fn - at;
}

static void send_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	NEED(fd >= 0);
	loader_exe(&l, FILE_ID, &key, "/usr/bin/x", fd);
	close(fd);
}

/* What the hub has for loaderd and for its client. */
static void serve(void)
{
	struct pollfd p[] = { { l.conn.fd, POLLIN, 0 }, { status.fd, POLLIN, 0 } };
	struct msg_entry e;
	struct msg m;

	NEED(poll(p, 2, 100) >= 0);
	while (!conn_recv(&status, &m)) {
		if (m.hdr.type == MSG_STATUS)
			memcpy(&st, m.buf, sizeof(st));
		msg_close_fds(&m);
	}
	if (conn_recv(&l.conn, &m))
		return;
	msg_close_fds(&m);
	if (loader_slab(&l.conn, &m) || m.hdr.type != MSG_ENTRY)
		return;
	memcpy(&e, m.buf, sizeof(e));
	if (memcmp(&e.key, &key, sizeof(key)))
		return;
	number = e.entry.exe;
	if (e.entry.state & FILE_ASK)
		send_file();
}

static void serve_until_visits(uint64_t n)
{
	uint64_t end = now_ns() + 4 * WAIT_MS * NSEC_PER_MSEC;

	while (st.hub.line_visits < n) {
		NEED(now_ns() < end);
		serve();
	}
	NEED(st.hub.line_visits == n);
}

static void serve_seconds(uint64_t n)
{
	uint64_t end = now_ns() + n * NSEC_PER_SEC;

	while (now_ns() < end)
		serve();
}

static void sample(void (*fn)(void))
{
	uint64_t word = FRAME_WORD(FRAME_NATIVE, number, offset_of(fn));

	loader_sample(&l, record(0, 1), &word);
	loader_say_stats(&l);
}

static void begin(bool late)
{
	place = (struct place){ .lines = "50", .always_on = late };
	l = (struct fake_loader){ 0 };
	memset(&st, 0, sizeof(st));
	number = 0;
	hub_begin(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	send_file();
	while (!number)
		serve();
}

static void end(void)
{
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == 0);
	loader_drop(&l);
}

TEST(a_place_is_read_at_its_first_sample)
{
	begin(false);
	sample(serve);
	serve_until_visits(1);
	end();
}

TEST(late_it_is_at_its_second_unless_somebody_watches)
{
	struct msg_subscribe m = { .batch_version = BATCH_VERSION, .batches = 1 };
	struct conn watcher;

	begin(true);
	sample(serve);
	serve_seconds(6);
	NEED(st.hub.line_visits == 0);
	sample(serve);
	serve_until_visits(1);
	sample(send_file);
	serve_seconds(6);
	NEED(st.hub.line_visits == 1);
	status_connect(&watcher, &place);
	NEED(conn_send(&watcher, MSG_SUBSCRIBE, 0, &m, sizeof(m), NULL, 0, NULL, 0) == 0);
	serve_until_visits(2);
	conn_close(&watcher);
	end();
}
