// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizerd has a share of CPU time for files.  A loaderd that says that it
 * used up the share stands for work of any kind: files are put off and counted,
 * none is lost, samples go on.  What exceeds another limit is counted, too.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/message_loader.h"
#include "symbolizerd/knowledge/cpu_share.h"
#include "symbolizerd/symbols/index_build.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/harness.h"

#define PAID_S		7	/* are paid for, beyond the start */
#define FILES		100	/* more than workers read at once */

static struct place place;
static struct conn status;
static struct fake_loader l;

/* CPU time, of which so many seconds bring as much. */
static uint64_t brought_ns(uint64_t seconds)
{
	uint64_t percent = (uint64_t)get_nprocs() * CPU_SHARE_DEFAULT * RECORDS_SHARE;

	return seconds * NSEC_PER_SEC / 100 * percent / 2;
}

static uint64_t all_ns(void)
{
	return brought_ns(CPU_SHARE_START * CPU_SHARE_NS / NSEC_PER_SEC + PAID_S);
}

static void begin(void)
{
	hub_begin(&place);
	status_connect(&status, &place);
	l = (struct fake_loader){ 0 };
	loader_connect(&l, &place);
	loader_hello(&l);
	l.stats.cpu_ns = NSEC_PER_SEC;
	loader_say_stats(&l);
}

static void use_up(void)
{
	l.stats.cpu_ns += all_ns();
	loader_say_stats(&l);
}

static void send_file(uint32_t id)
{
	struct file_key key = { .ino = id, .size = 2 };
	int fd = memfd_create("file", MFD_CLOEXEC);

	NEED(fd >= 0 && write(fd, "no", 2) == 2);
	loader_exe(&l, id, &key, "/some/file", fd);
	close(fd);
}

/* Files 1 to n, without a name and no ELF files, are code without a table, in any order:
 * two workers read them. */
static void expect_none(uint32_t n)
{
	uint64_t end = now_ns() + 30 * NSEC_PER_SEC;
	struct pollfd p = { l.conn.fd, POLLIN, 0 };
	bool seen[FILES + 1] = { false };
	struct msg_entry e;
	struct msg m;

	for (uint32_t left = n; left;) {
		NEED(now_ns() < end);
		poll(&p, 1, 100);
		if (conn_recv(&l.conn, &m))
			continue;
		msg_close_fds(&m);
		memcpy(&e, m.buf, sizeof(e));
		if (m.hdr.type != MSG_ENTRY || e.entry.state != FILE_CODE)
			continue;
		NEED(e.key.ino >= 1 && e.key.ino <= n);
		left -= !seen[e.key.ino];
		seen[e.key.ino] = true;
	}
}

static bool is_put_off(const struct status *st, uint64_t n)
{
	return st->hub.files_put_off >= n;
}

/* Is there no word of a file for so long? */
static bool is_silent(int ms)
{
	uint64_t end = now_ns() + (uint64_t)ms * NSEC_PER_MSEC;
	struct pollfd p = { l.conn.fd, POLLIN, 0 };
	struct msg m;

	while (now_ns() < end) {
		poll(&p, 1, 10);
		if (conn_recv(&l.conn, &m))
			continue;
		msg_close_fds(&m);
		if (m.hdr.type == MSG_ENTRY)
			return false;
	}
	return true;
}

TEST(files_beyond_the_share_come_later)
{
	uint64_t start, received;
	struct status st;

	begin();
	use_up();
	start = now_ns();
	for (uint32_t id = 1; id <= EXE_AHEAD; id++)
		send_file(id);
	status_until(&status, &st, is_put_off, EXE_AHEAD);
	NEED(st.hub.files_put_off == EXE_AHEAD);
	NEED(st.hub.files_cpu_ns >= all_ns());
	NEED(is_silent(1000));
	/* samples are not put off */
	received = st.totals.received;
	two_samples(&l);
	status_until(&status, &st, has_received, received + 2);
	NEED(st.hub.worker_jobs == 0 && st.hub.files_put_off == EXE_AHEAD);
	expect_none(EXE_AHEAD);
	printf("# after %u ms\n", (unsigned int)((now_ns() - start) / NSEC_PER_MSEC));
	/* the second before its last look may count, too */
	NEED(now_ns() - start >= (PAID_S - 1) * NSEC_PER_SEC);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.hub.worker_jobs == EXE_AHEAD && st.hub.offences == 0);
	loader_drop(&l);
}

TEST(jobs_beyond_the_share_come_later)
{
	struct status st;

	begin();
	for (uint32_t id = 1; id <= FILES; id++)
		send_file(id);
	use_up();
	status_until(&status, &st, is_put_off, 1);
	printf("# put off: %u jobs\n", (unsigned int)st.hub.files_put_off);
	expect_none(FILES);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.hub.worker_jobs == FILES && st.hub.offences == 0);
	loader_drop(&l);
}

/* What was put off for a former loaderd is nobody's. */
TEST(files_put_off_end_with_their_connection)
{
	struct status st;

	begin();
	use_up();
	for (uint32_t id = 1; id <= EXE_AHEAD; id++)
		send_file(id);
	status_until(&status, &st, is_put_off, EXE_AHEAD);
	loader_drop(&l);
	loader_connect(&l, &place);
	loader_hello(&l);
	send_file(1);
	expect_none(1);
	NEED(is_silent(1500));
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.hub.worker_jobs == 1 && st.hub.offences == 0);
	loader_drop(&l);
}

/* Its CFI says that it becomes a TiB. */
static int too_large(void)
{
	const Elf64_Chdr chdr = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = 1ULL << 40 };
	struct elf_image im;
	uint64_t at;

	image_init(&im, EM_X86_64);
	at = image_put(&im, &chdr, sizeof(chdr));
	image_segment(&im, PT_LOAD, PF_R | PF_X, 0, 0, 4096);
	image_section(&im, ".eh_frame", SHT_PROGBITS, at, at, sizeof(chdr))->sh_flags =
		SHF_COMPRESSED;
	image_finish(&im);
	return image_file(&im);
}

/* It has a table, but says that it has so many symbols. */
static int too_many_symbols(void)
{
	const uint64_t len = (SYMBOLS_MAX + 1ULL) * sizeof(Elf64_Sym);
	struct elf_image im;

	image_init(&im, EM_X86_64);
	image_segment(&im, PT_LOAD, PF_R | PF_X, 0, 0, 4096);
	image_section(&im, ".symtab", SHT_SYMTAB, 0, 0, len);
	image_section(&im, ".strtab", SHT_STRTAB, 0, 0, 3);
	image_finish(&im);
	return image_file(&im);
}

static bool is_too_large(const struct status *st, uint64_t n)
{
	return st->hub.too_large >= n;
}

TEST(files_and_stacks_beyond_a_limit_are_counted)
{
	struct file_key key = { .ino = 1, .size = 2 }, other = { .ino = 2, .size = 2 };
	int fd = too_large(), symbols = too_many_symbols();
	uint64_t words[KERNEL_MAX + 1];
	struct status st;

	begin();
	loader_exe(&l, 1, &key, "/some/file", fd);
	status_until(&status, &st, is_too_large, 1);
	loader_exe(&l, 2, &other, "/other/file", symbols);
	loader_sample_file(&l, &other, 16);
	status_until(&status, &st, is_too_large, 2);
	loader_ksym(&l, 7, "some");
	for (int i = 0; i < KERNEL_MAX; i++)
		words[i] = FRAME_WORD(FRAME_KERNEL, 7, 1);
	words[KERNEL_MAX] = FRAME_WORD(FRAME_ANON, 0, 0x1234);
	loader_sample(&l, record(KERNEL_MAX - 1, 1), words + 1);
	loader_sample(&l, record(KERNEL_MAX, 1), words);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.hub.too_large == 2 && st.hub.kernel_cut == 1 && st.hub.offences == 0);
	NEED(st.totals.received == 3 && st.totals.hub_bad == 0);
	loader_drop(&l);
	close(fd);
	close(symbols);
}
