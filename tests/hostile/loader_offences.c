// SPDX-License-Identifier: Apache-2.0
/*
 * A hub in an attacker's hand, against the real trifold-loaderd: whatever it
 * sends, loaderd neither crashes nor hangs, writes nothing where it must not,
 * and goes on sampling; and every offence is counted.  Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/table.h"
#include "common/clock.h"
#include "ipc/sealed.h"
#include "tests/hostile/lying_hub.h"
#include "tests/unit/harness.h"

#define AT(slab, i)	((uint32_t)(slab) << SLAB_SHIFT | (i))
#define SLABS_LIMIT	(RULE_SLABS + 1 + BUDGET_MIB * 5 / 4)

static uint64_t last_id;

/* --- what it says ------------------------------------------------------------------ */

static const struct file_key nobody = { .ino = 1, .size = 2, .dev = 3 };

static void want_slab(uint32_t slab)
{
	struct msg_slab m = { .slab = slab };

	lying_send(MSG_SLAB_WANTED, 0, &m, sizeof(m), NULL, 0, -1);
}

static void drop_slab(uint32_t slab)
{
	struct msg_slab m = { .slab = slab };

	lying_send(MSG_SLAB_DROP, 0, &m, sizeof(m), NULL, 0, -1);
}

/* --- offences ------------------------------------------------------------------------ */

static void slab_beyond_all(void)
{
	want_slab(SLABS_MAX);
}

static void slab_far_beyond(void)
{
	want_slab(0xffffffff);
}

/* Memory without end. */
static void slabs_over_budget(void)
{
	for (uint32_t i = 1; i <= SLABS_LIMIT; i++)
		want_slab(SLABS_MAX - i);
}

static void drop_rules(void)
{
	drop_slab(0);
}

static void drop_what_is_not_there(void)
{
	drop_slab(500);
}

static void drop_beyond_slabs(void)
{
	drop_slab(0xffffffff);
}

static void drop_twice(void)
{
	want_slab(2);
	drop_slab(2);
	drop_slab(2);
}

static void second_hello(void)
{
	struct msg_hello_hub hello = { .record_version = REC_VERSION };

	lying_send(MSG_HELLO_HUB, 0, &hello, sizeof(hello), NULL, 0, -1);
}

static void descriptor_unasked(void)
{
	struct file_key m = nobody;

	lying_send(MSG_DROP, 0, &m, sizeof(m), NULL, 0, 0);
}

static void memory_of_less(void)
{
	struct msg_wanted m = { .process.tgid = 1 };

	lying_send(MSG_MEM_WANTED, 0, &m, sizeof(m) - 1, NULL, 0, -1);
}

static void memory_given(void)
{
	lying_send(MSG_WANTED_FILE, 0, NULL, 0, NULL, 0, 0);
}

static void not_for_loaderd(void)
{
	struct msg_job m = { .exe = 1 };

	lying_send(MSG_JOB, 0, &m, sizeof(m), NULL, 0, 0);
}

static void not_from_a_hub(void)
{
	lying_send(MSG_BYE, 0, NULL, 0, NULL, 0, -1);
}

static void too_short(void)
{
	lying_send(MSG_ENTRY, 0, &nobody, sizeof(nobody), NULL, 0, -1);
}

static void no_message_at_all(void)
{
	CHECK(send(lying.conn.fd, "x", 1, MSG_NOSIGNAL) == 1);
}

static const struct offence {
	const char *name;
	void (*commit)(void);
} offences[] = {
#define OFFENCE(f)	{ #f, f }
	OFFENCE(slab_beyond_all), OFFENCE(slab_far_beyond),
	OFFENCE(slabs_over_budget),
	OFFENCE(drop_rules), OFFENCE(drop_what_is_not_there),
	OFFENCE(drop_beyond_slabs), OFFENCE(drop_twice),
	OFFENCE(second_hello),
	OFFENCE(descriptor_unasked), OFFENCE(memory_of_less),
	OFFENCE(memory_given), OFFENCE(not_for_loaderd),
	OFFENCE(not_from_a_hub), OFFENCE(too_short),
	OFFENCE(no_message_at_all),
};
#define OFFENCES	(sizeof(offences) / sizeof(offences[0]))

/* --- tests ------------------------------------------------------------------------------- */

static void loader_starts_and_samples(void)
{
	lying_start();
	lying_connect();
	CHECK_EQ(lying.n_known, 1);	/* the vDSO */
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, 0);
	CHECK_EQ(lying.stats.slabs, 1);
}

static void say_entry(const struct file_key *key, const struct file_entry *entry)
{
	struct msg_entry m = { *key, *entry };

	lying_send(MSG_ENTRY, 0, &m, sizeof(m), NULL, 0, -1);
}

/* What is allowed is not an offence: write, drop, write again; it is another slab then. */
static void loader_takes_what_is_right(void)
{
	lying_slab(2)[5].rule[0].cfa_off = 7;
	say_entry(&nobody, &(struct file_entry){ .exe = 5 });
	want_slab(2);		/* it is there */
	drop_slab(2);
	lying_settle();
	CHECK_EQ(lying_slab(2)[5].rule[0].cfa_off, 0);
	lying_slab(0)[1].rule[0].cfa_off = 3;
	lying_slab(1)[7].rule[0].cfa_off = 3;
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, 0);
	CHECK_EQ(lying.stats.slabs, 3);
	CHECK_EQ(lying.stats.entry_unknown, 1);
}

/* A slab can be written, and nothing beside it; and is never code. */
static void loader_gives_a_slab_and_nothing_else(void)
{
	struct msg_slab want = { .slab = 2 };
	size_t size = sizeof(struct slab_copy);
	struct msg m;

	lying_send(MSG_SLAB_WANTED, 0, &want, sizeof(want), NULL, 0, -1);
	lying_expect(&m, MSG_SLAB);
	CHECK(mmap(NULL, size + 4096, PROT_READ, MAP_SHARED, m.fds[0], 0) == MAP_FAILED);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, m.fds[0], (off_t)size) == MAP_FAILED);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, m.fds[0], -4096) == MAP_FAILED);
	CHECK(mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, m.fds[0], 0) == MAP_FAILED);
	msg_close_fds(&m);
	lying_goes_on();
}

static void loader_ends_the_connection_at_every_offence(void)
{
	struct msg m;
	int r;

	for (size_t i = 0; i < OFFENCES; i++) {
		printf("# %s\n", offences[i].name);
		offences[i].commit();
		while ((r = lying_next(&m)) == 0)
			msg_close_fds(&m);
		CHECK_EQ(r, -EPIPE);
		lying_disconnect();
		lying_connect();
	}
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, OFFENCES);
	CHECK(lying.stats.slabs > RULE_SLABS && lying.stats.slabs <= SLABS_LIMIT);
}

/* Slabs that are there when a hub ends are told to the next one, which can drop
 * them. */
static void loader_tells_what_is_there(void)
{
	uint32_t n = 0;
	struct msg m;

	lying_slab(2)[40].rule[0].cfa_off = 12;
	lying_settle();
	lying_disconnect();
	lying_accept();
	for (lying_expect(&m, MSG_SLAB); m.hdr.type == MSG_SLAB; n++) {
		uint32_t slab = ((struct msg_slab *)m.buf)->slab;
		const struct slab_copy *c = mmap(NULL, sizeof(*c), PROT_READ, MAP_SHARED,
						 m.fds[0], 0);

		CHECK(c != MAP_FAILED);
		CHECK_EQ(c->element[40].rule[0].cfa_off, slab == 2 ? 12 : 0);
		munmap((void *)c, sizeof(*c));
		msg_close_fds(&m);
		if (slab >= RULE_SLABS)
			drop_slab(slab);
		do {
			CHECK(lying_next(&m) == 0);
		} while (m.hdr.type != MSG_SLAB && m.hdr.type != MSG_KNOWN);
	}
	msg_close_fds(&m);
	CHECK(n > RULE_SLABS && n <= SLABS_LIMIT);
	lying_settle();
	lying_goes_on();
	CHECK_EQ(lying.stats.slabs, RULE_SLABS);
	CHECK_EQ(lying.stats.offences, OFFENCES);
}

/* Entries that point anywhere, for all keys there are, and rubbish behind them. */
static void loader_outlives_any_entry(void)
{
	struct msg_entry mad = { .entry = {
		.exe = 0xffffffff, .dir = 0xffffffff, .pages = 0xffffffff,
		.state = 0xff, .runtime = 0xff, .pad = 0xffff,
	} };
	const struct file_entry lost = { .exe = 5, .dir = AT(2, 0), .pages = 100000,
					 .state = FILE_TABLE };
	uint32_t x = 1;

	/* first known ones */
	lying_disconnect();
	lying_connect();
	printf("# %u files known\n", lying.n_known);
	CHECK(lying.n_known > 2);
	for (uint32_t i = 0; i < lying.n_known; i++) {
		mad.key = lying.known[i].key;
		lying_send(MSG_ENTRY, 0, &mad, sizeof(mad), NULL, 0, -1);
	}
	lying_goes_on();
	for (uint32_t slab = 0; slab < 3; slab++) {
		uint32_t *to = (void *)lying_slab(slab);	/* where rules lie, too */

		for (size_t i = 0; i < sizeof(struct slab_copy) / 4; i++) {
			x ^= x << 13, x ^= x >> 17, x ^= x << 5;
			to[i] = x;
		}
		for (uint32_t i = 0; i < lying.n_known; i++)
			say_entry(&lying.known[i].key, &lost);
	}
	lying_goes_on();
	/* and where all of them point is nothing any more */
	drop_slab(2);
	lying_settle();
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, OFFENCES);
	for (uint32_t i = 0; i < lying.n_known; i++) {
		struct file_key drop = lying.known[i].key;

		lying_send(MSG_DROP, 0, &drop, sizeof(drop), NULL, 0, -1);
	}
	lying_settle();
	lying_goes_on();
}

/* What became of the question for a process's memory: 0 and the descriptor, or
 * the reason. */
static uint32_t memory_of(struct process_id process, int *fd)
{
	struct msg_wanted q = { .process = process };
	struct msg_open_failed failed = { 0 };
	struct msg m;

	lying_send(MSG_MEM_WANTED, ++last_id, &q, sizeof(q), NULL, 0, -1);
	do {
		CHECK(lying_next(&m) == 0);
		if (m.hdr.type != MSG_WANTED_FILE &&
		    m.hdr.type != MSG_WANTED_NONE)
			msg_close_fds(&m);
	} while (m.hdr.type != MSG_WANTED_FILE &&
		 m.hdr.type != MSG_WANTED_NONE);
	CHECK_EQ(m.hdr.id, last_id);
	memcpy(&failed, m.buf, m.hdr.len);
	CHECK_EQ(failed.error != 0, m.hdr.type == MSG_WANTED_NONE);
	*fd = m.nfds ? m.fds[0] : -1;
	return failed.error;
}

/* The memory of who is sampled, to read; of nobody else, and not too often. */
static void loader_gives_memory_of_whom_it_may(void)
{
	static const char secret[] = "what both have in their memory";
	char got[sizeof(secret)];
	struct process_id other;
	uint32_t reason = 0;
	int fd, n = 0;

	lying_goes_on();
	other = lying.busy_is;
	CHECK(other.start_ns);
	CHECK_EQ(memory_of(lying.busy_is, &fd), 0);
	CHECK(pread(fd, got, sizeof(got), (uintptr_t)secret) == sizeof(got));
	CHECK(!memcmp(got, secret, sizeof(secret)));
	CHECK(pwrite(fd, got, 1, (uintptr_t)secret) == -1);
	close(fd);
	other.start_ns++;
	CHECK_EQ(memory_of(other, &fd), ESRCH);
	other = lying.busy_is;
	other.exec_id++;
	CHECK_EQ(memory_of(other, &fd), ESRCH);
	other.tgid = (uint32_t)lying.loaderd;
	CHECK_EQ(memory_of(other, &fd), EPERM);
	other.tgid = 0x7fffffff;
	CHECK_EQ(memory_of(other, &fd), EPERM);
	for (; !reason && n < 1000; n++) {
		reason = memory_of(lying.busy_is, &fd);
		close(fd);
	}
	CHECK_EQ(reason, EAGAIN);
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, OFFENCES);
}

/* Faster than they can be answered, and no answer is read meanwhile. */
static void loader_outlives_floods(void)
{
	struct msg_wanted wanted = { .build_id_len = 0xffffffff };
	struct msg_entry entry = { .key = nobody };
	struct msg_wanted mem = { .process.tgid = (uint32_t)lying.busy };
	uint64_t unknown = lying.stats.entry_unknown;

	for (int i = 0; i < 50000; i++) {
		lying_send(MSG_ENTRY, 0, &entry, sizeof(entry), NULL, 0, -1);
		if (i % 10 == 0)
			lying_send(MSG_LIST, 0, NULL, 0, NULL, 0, -1);
		if (i % 10 == 2) {
			wanted.process.tgid = i;
			memset(wanted.paths, i & 1 ? 'x' : i, sizeof(wanted.paths));
			lying_send(MSG_DEBUG_WANTED, 0, &wanted, sizeof(wanted),
				 NULL, 0, -1);
			lying_send(i / 10 & 1 ? MSG_MEM_WANTED : MSG_PERF_MAP_WANTED, 0, &mem,
				   sizeof(mem), NULL, 0, -1);
		}
	}
	lying_settle();
	lying_goes_on();
	CHECK_EQ(lying.stats.entry_unknown, unknown + 50000);
	CHECK_EQ(lying.stats.offences, OFFENCES);
}

/* Nothing is read for a while: samples are lost and counted, nothing else. */
static void loader_outlives_a_hub_that_reads_nothing(void)
{
	struct msg m;

	for (int i = 0; i < 3; i++)
		lying_send(MSG_LIST, 0, NULL, 0, NULL, 0, -1);
	poll(NULL, 0, 3000);
	while (lying_next(&m) == 0 && m.hdr.type != MSG_MAPPED)
		msg_close_fds(&m);
	CHECK_EQ(m.hdr.type, MSG_MAPPED);
	msg_close_fds(&m);
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, OFFENCES);
	CHECK_EQ(lying.stats.bpf[BPF_TAKEN], lying.stats.bpf[BPF_SENT] +
				       lying.stats.bpf[BPF_RING_FULL]);
	CHECK(lying.stats.drained >= lying.stats.forwarded);
}

/* Not even by root, which this program is. */
static void loader_lets_nobody_write_what_bpf_counts(void)
{
	size_t size = lying.cpus * sizeof(*lying.counts);
	struct cpu_counts none = { .n = { 0 } };
	uint32_t zero = 0;
	union bpf_attr attr = {
		.map_fd = (uint32_t)lying.counts_fd,
		.key = (uintptr_t)&zero,
		.value = (uintptr_t)&none,
	};

	CHECK(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   lying.counts_fd, 0) == MAP_FAILED);
	CHECK_EQ(errno, EPERM);
	CHECK(mprotect((void *)lying.counts, size, PROT_READ | PROT_WRITE));
	CHECK_EQ(errno, EACCES);
	CHECK(mmap(NULL, size + 65536, PROT_READ, MAP_SHARED, lying.counts_fd,
		   0) == MAP_FAILED);
	CHECK(syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)));
	CHECK_EQ(errno, EPERM);
	CHECK(syscall(SYS_bpf, BPF_MAP_DELETE_ELEM, &attr, sizeof(attr)));
	CHECK(lying.counts[0].n[BPF_TAKEN] > 0);
	lying_goes_on();
}

static void loader_ends_in_order(void)
{
	struct msg m;
	int status;

	kill(lying.loaderd, SIGTERM);
	lying_expect(&m, MSG_BYE);
	lying_disconnect();
	CHECK(waitpid(lying.loaderd, &status, 0) == lying.loaderd);
	lying.loaderd = 0;
	CHECK_EQ(status, 0);
	kill(lying.busy, SIGKILL);
	waitpid(lying.busy, NULL, 0);
	lying.busy = 0;
}

/* Messages go on, samples wait in BPF's ring, and nothing is lost. */
static void loader_keeps_samples_that_are_not_read(void)
{
	struct loader_stats begin, before;
	uint64_t read, sent;
	struct msg m;

	lying_expect(&m, MSG_LOADER_STATS);
	lying_samples();
	begin = lying.stats;
	read = lying.n_samples;
	lying.deaf = true;
	for (int i = 0; i < 60; i++) {
		before = lying.stats;
		lying_expect(&m, MSG_LOADER_STATS);
		if (i && lying.stats.forwarded == before.forwarded)
			break;
	}
	lying_expect(&m, MSG_LOADER_STATS);
	CHECK_EQ(lying.stats.forwarded, before.forwarded);
	CHECK_EQ(lying.stats.drained, before.drained);
	CHECK(lying.stats.bpf[BPF_SENT] > before.bpf[BPF_SENT]);
	/* nor does it turn without a pause */
	CHECK(lying.stats.cpu_ns - before.cpu_ns < NSEC_PER_SEC / 2);
	lying.deaf = false;
	lying_goes_on();
	lying_expect(&m, MSG_LOADER_STATS);
	lying_samples();
	sent = lying.stats.forwarded - begin.forwarded;
	read = lying.n_samples - read;
	printf("# %lu sent, %lu read\n", sent, read);
	/* after each of the two reports some more may have come */
	CHECK(read + 100 >= sent && read <= sent + 100);
	CHECK(lying.stats.forwarded > before.forwarded + 100);
	CHECK(lying.stats.bpf[BPF_SENT] - lying.stats.drained < 100);
	CHECK_EQ(lying.stats.bpf[BPF_RING_FULL], begin.bpf[BPF_RING_FULL]);
	CHECK_EQ(lying.stats.no_hub, begin.no_hub);
	CHECK_EQ(lying.stats.bad_record, 0);
}

/* One loaderd lives through all of it; a check that fails ends the program. */
int main(void)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} steps[] = {
#define STEP(f)	{ #f, f }
		STEP(loader_starts_and_samples),
		STEP(loader_takes_what_is_right),
		STEP(loader_gives_a_slab_and_nothing_else),
		STEP(loader_ends_the_connection_at_every_offence),
		STEP(loader_tells_what_is_there),
		STEP(loader_outlives_any_entry),
		STEP(loader_gives_memory_of_whom_it_may),
		STEP(loader_outlives_floods),
		STEP(loader_outlives_a_hub_that_reads_nothing),
		STEP(loader_keeps_samples_that_are_not_read),
		STEP(loader_lets_nobody_write_what_bpf_counts),
		STEP(loader_ends_in_order),
	};
	unsigned int n = sizeof(steps) / sizeof(steps[0]);

	setbuf(stdout, NULL);
	printf("1..%u\n", n);
	for (unsigned int i = 0; i < n; i++) {
		steps[i].fn();
		printf("ok %u - %s\n", i + 1, steps[i].name);
	}
	return 0;
}
