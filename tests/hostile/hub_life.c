// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the real symbolizerd with a make-believe loaderd and exporterd: does a
 * batch say what the records said, and do the accounts balance whoever dies?
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/table.h"
#include "common/clock.h"
#include "ipc/sealed.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/harness.h"

static struct place place;

/* A symbol that the symbolizer must find again in this very file. */
int hub_test_marker(int x);
__attribute__((__noinline__)) int hub_test_marker(int x)
{
	return x * 7 + 1;
}

/* --- what a batch says ----------------------------------------------------------- */

static const char *str(const struct batch *b, uint32_t i)
{
	static char bufs[4][256];
	static unsigned int turn;
	char *buf = bufs[turn++ % 4];
	size_t len;
	const char *s = batch_str(b, i, &len);

	snprintf(buf, sizeof(bufs[0]), "%.*s", (int)len, s);
	return buf;
}

static const struct batch_frame *frame(const struct batch *b, uint32_t i)
{
	const struct batch_stack *st = &b->stacks[b->samples[0].stack];

	NEED(i < st->n);
	return &b->frames[b->stack_frames[st->first + i]];
}

static const char *function(const struct batch *b, uint32_t i)
{
	return str(b, b->functions[frame(b, i)->function].name);
}

static const char *exe(const struct batch *b, uint32_t i)
{
	return str(b, b->exes[frame(b, i)->exe].path);
}

/* The file offset of an address of this program, from its own mappings. */
static uint64_t file_offset(const void *addr)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, stop, off, a = (unsigned long)addr;
	char line[512];

	NEED(f != NULL);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &stop, &off) == 3 &&
		    a >= start && a < stop) {
			fclose(f);
			return a - start + off;
		}
	}
	NEED(!"the address is mapped");
	return 0;
}

static void say_container(struct fake_loader *l)
{
	struct msg_cgroup m = { .request = {
		.kind = REQUEST_CGROUP, .pieces = 3, .cgroup_id = 99,
		.piece = { "docker-0123456789abcdef0123456789abcdef01234567",
			   "89abcdef0123456789abcdef.scope", "system.slice" },
	} };

	NEED(conn_send(&l->conn, MSG_CGROUP, 0, &m, sizeof(m), NULL, 0, NULL,
		       0) == 0);
}

static const struct file_key self_key = { .ino = 17, .size = 4242, .dev = 9 };

static void send_known_frames(struct fake_loader *l, uint64_t place_of_marker)
{
	uint64_t w[7 + KEY_WORDS] = {
		FRAME_WORD(FRAME_KERNEL, 1, 16),
		FRAME_WORD(FRAME_KERNEL, 2, 32),
		FRAME_WORD(FRAME_NATIVE, EXE_FIRST, place_of_marker),
		FRAME_FILE_WORD(place_of_marker),
	};

	memcpy(&w[4], &self_key, sizeof(self_key));
	w[4 + KEY_WORDS] = FRAME_WORD(FRAME_NATIVE, EXE_VDSO, 64);
	w[5 + KEY_WORDS] = FRAME_ANON_WORD(0x7f1234567890);
	w[6 + KEY_WORDS] = FRAME_WORD(FRAME_CUT, 0, 0);
	loader_ksym(l, 1, "do_syscall_64");
	loader_ksym(l, 2, "ext4_map_blocks [ext4]");
	loader_sample(l, record(2, 5 + KEY_WORDS), w);
}

static void check_known_frames(const struct batch *b, uint64_t marker)
{
	static const uint8_t no_id[FILE_ID_LEN];

	NEED(b->stacks[b->samples[0].stack].n == 7);
	NEED(!strcmp(function(b, 0), "do_syscall_64"));
	NEED(!strcmp(exe(b, 0), "[kernel]"));
	NEED(frame(b, 0)->address == 16);
	NEED(!strcmp(function(b, 1), "ext4_map_blocks"));
	NEED(!strcmp(exe(b, 1), "[ext4]"));
	NEED(frame(b, 1)->kind == BATCH_FRAME_KERNEL);
	for (uint32_t i = 2; i < 4; i++) {
		NEED(!strcmp(function(b, i), "hub_test_marker"));
		NEED(!strcmp(exe(b, i), "/opt/marker"));
		NEED(frame(b, i)->kind == BATCH_FRAME_NATIVE);
		NEED(frame(b, i)->address == marker);
		NEED(memcmp(b->exes[frame(b, i)->exe].file_id, no_id,
			    sizeof(no_id)) != 0);
	}
	NEED(!strcmp(exe(b, 4), "[vdso]"));
	NEED(frame(b, 5)->kind == BATCH_FRAME_UNKNOWN);
	NEED(frame(b, 5)->address == 0x7f1234567890);
	NEED(frame(b, 6)->kind == BATCH_FRAME_CUT);
}

static void check_process(const struct batch *b)
{
	const struct batch_sample *s = &b->samples[0];
	const struct batch_resource *r = &b->resources[s->resource];
	const struct batch_attr *a = &b->attrs[s->attr];
	uint64_t real = clock_ns(CLOCK_REALTIME);
	uint64_t boot = clock_ns(CLOCK_BOOTTIME);

	NEED(s->stop == STOP_COMPLETE);
	NEED(r->pid == 4711 && !r->kernel);
	NEED(!strcmp(str(b, r->exe_path), "/opt/marker"));
	NEED(!strcmp(str(b, r->exe_name), "marker"));
	NEED(strlen(str(b, r->container_id)) == 64);
	NEED(!strcmp(str(b, r->comm), "worker/1"));
	NEED(a->tid == 4712 && a->cpu == 1);
	NEED(!strcmp(str(b, a->thread_name), "worker/1"));
	NEED(real - b->times[s->first] < 60 * NSEC_PER_SEC);
	/* one second after boot, give or take the clocks' reading */
	NEED(real - boot + NSEC_PER_SEC - r->start_ns + NSEC_PER_SEC / 10 <
	     NSEC_PER_SEC / 5);
	NEED(b->hdr->frequency == 20);
}

TEST(hub_turns_records_into_a_batch)
{
	uint64_t marker = file_offset((const void *)(uintptr_t)hub_test_marker);
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;
	struct msg m;

	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	say_container(&l);
	send_known_frames(&l, marker);
	loader_say_stats(&l);	/* the sample comes first: one visit */
	loader_exe(&l, 5, &self_key, "/opt/marker", self);
	do {	/* first that it takes long */
		expect(&l.conn, MSG_ENTRY, &m);
	} while (!((const struct msg_entry *)m.buf)->entry.pages);
	exporter_batch(&exporter, &b);
	NEED(b.msg.samples == 1);
	check_known_frames(&b.b, marker);
	check_process(&b.b);
	exporter_done(&exporter, b.id, 1, BATCH_DELIVERED);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.totals.outcomes.samples[BATCH_DELIVERED] == 1);
	NEED(st.hub.worker_jobs == 1 && st.hub.worker_deaths == 0);
	NEED(st.hub.offences == 0);
	NEED(account_now(&st).difference == 0);
	NEED(account_now(&st).under_way == 0);
	NEED(account_now(&st).taken == 1);
	loader_drop(&l);
}

static bool has_loader(const struct status *st, uint64_t yes)
{
	return st->loader_up == yes;
}

TEST(hub_says_how_samples_are_taken)
{
	struct fake_loader l = { .partial = true };
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	status_until(&status, &st, has_loader, 0);
	NEED(st.frequency == 0 && !st.partial && st.interval_ms % 1000 == 0 &&
	     st.interval_ms);
	loader_connect(&l, &place);
	loader_hello(&l);
	status_until(&status, &st, has_loader, 1);
	NEED(st.frequency == 20 && st.partial == 1);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.frequency == 0 && !st.partial);
	loader_drop(&l);
}

/* Nobody maps the file with this number: until the hub drops it. */
static void loader_forget(struct fake_loader *l)
{
	uint8_t *bits = calloc(1, MAPPED_BYTES);
	struct iovec part = { bits, MAPPED_BYTES };
	int fd = sealed_make("mapped", &part, 1);
	struct msg m;

	NEED(bits && fd >= 0);
	expect(&l->conn, MSG_LIST, &m);
	/* its table is there, and was used: not before idle_s have passed */
	usleep(2500000);
	NEED(conn_send(&l->conn, MSG_MAPPED, 0, NULL, 0, NULL, 0, &fd, 1) == 0);
	expect(&l->conn, MSG_DROP, &m);
	NEED(!memcmp(m.buf, &self_key, sizeof(self_key)));
	loader_say_stats(l);	/* its grace is over */
	usleep(2500000);
	close(fd);
	free(bits);
}

/* A file that only this descriptor leads to. */
static int vanished_copy(void)
{
	static char buf[1 << 16];
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char path[] = "/tmp/hub-life-XXXXXX";
	int fd = mkstemp(path);
	ssize_t n;

	NEED(self >= 0 && fd >= 0 && unlink(path) == 0);
	while ((n = read(self, buf, sizeof(buf))) > 0)
		NEED(write(fd, buf, (size_t)n) == n);
	close(self);
	return fd;
}

/* A process and its file are gone when its first sample arrives. */
TEST(hub_names_what_is_gone)
{
	uint64_t marker = file_offset((const void *)(uintptr_t)hub_test_marker);
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, marker);
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	int copy = vanished_copy();
	struct fake_batch b;
	struct file_entry e;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_exe(&l, 5, &self_key, "/opt/marker", copy);
	close(copy);
	NEED(loader_answer(&l, 5, &e) == TABLE_CAME && e.exe == EXE_FIRST);
	status_until(&status, &st, has_jobs, 1);
	NEED(st.hub.worker_jobs == 1);
	loader_sample(&l, record(0, 1), &word);
	exporter_batch(&exporter, &b);
	NEED(!strcmp(function(&b.b, 0), "hub_test_marker"));
	exporter_done(&exporter, b.id, 1, BATCH_DELIVERED);
	batch_release(&b);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.hub.worker_jobs == 2 && st.hub.offences == 0);
	loader_drop(&l);
}

/* A number that means another file now must not rename what came before. */
TEST(hub_tells_two_meanings_of_a_number_apart)
{
	uint64_t marker = file_offset((const void *)(uintptr_t)hub_test_marker);
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, marker);
	struct file_key other_key = { .ino = 18, .size = 4242, .dev = 9 };
	struct fake_loader l = { .idle_s = 1 };
	struct conn exporter, status;
	struct fake_batch b;
	struct file_entry e;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	for (uint64_t i = 0; i < 2; i++) {
		loader_exe(&l, 1 + i, i ? &other_key : &self_key,
			   i ? "/opt/other" : "/opt/marker",
			   open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
		NEED(loader_answer(&l, 1 + i, &e) == TABLE_CAME);
		NEED(e.exe == EXE_FIRST);
		/* nobody wakes the hub for the last one */
		loader_sample(&l, record(0, 1), &word);
		if (i == 0) {
			status_until(&status, &st, has_jobs, 2);
			loader_forget(&l);
		}
	}
	for (int i = 0; i < 2; i++) {
		exporter_batch(&exporter, &b);
		NEED(b.msg.samples == 1);
		NEED(!strcmp(exe(&b.b, 0), i ? "/opt/other" : "/opt/marker"));
		NEED(!strcmp(function(&b.b, 0), "hub_test_marker"));
		if (i == 0)
			NEED(!strcmp(str(&b.b, b.b.resources[1].exe_path),
				     "/opt/marker"));
		exporter_done(&exporter, b.id, 1, BATCH_DELIVERED);
		batch_release(&b);
	}
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == 0);
	NEED(st.tables.forgotten == 1 && st.tables.exes == 2);
	NEED(st.tables.numbers == 1);
	NEED(account_now(&st).difference == 0);
	loader_drop(&l);
}

/* What the first hub installed is in slab 2; one entry makes no sense, and of
 * one table nobody knows whose it was. */
static void tell_what_is_there(struct fake_loader *l)
{
	struct slab_copy *c = calloc(1, sizeof(*c));
	struct msg_entry known[] = {
		{ self_key, { .exe = 9, .dir = 2 << SLAB_SHIFT, .pages = 1,
			      .state = FILE_TABLE } },
		{ { .ino = 5 }, { .exe = 10, .dir = 2 << SLAB_SHIFT,
				  .pages = 1, .state = FILE_TABLE } },
		{ { .ino = 6 }, { .exe = 11, .state = FILE_BARE } },
		{ { .size = 1 }, { .exe = EXE_NONE } },	/* the vDSO */
	};
	int fd;

	NEED(c != NULL);
	c->element[0].dir[0].rule_before = RULE_END;
	for (uint32_t slab = 2; slab <= 5; slab += 3) {
		struct msg_slab m = { .slab = slab };

		fd = slab_memory(c);
		NEED(conn_send(&l->conn, MSG_SLAB, 0, &m, sizeof(m), NULL, 0,
			       &fd, 1) == 0);
		close(fd);
	}
	loader_known(l, known, 4);
	free(c);
}

TEST(hub_adopts_what_a_former_hub_left)
{
	uint64_t marker = file_offset((const void *)(uintptr_t)hub_test_marker);
	uint64_t word = FRAME_WORD(FRAME_NATIVE, 9, marker);
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct msg_slab slab;
	struct fake_batch b;
	struct msg_entry e;
	struct file_entry f;
	struct status st;
	struct msg m;

	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello_only(&l);
	tell_what_is_there(&l);
	/* its table stays; only its symbols and its path are to be read again */
	expect(&l.conn, MSG_ENTRY, &m);
	memcpy(&e, m.buf, sizeof(e));
	NEED(!memcmp(&e.key, &self_key, sizeof(self_key)));
	NEED(e.entry.state == (FILE_TABLE | FILE_ASK | FILE_ASK_HOST) &&
	     e.entry.exe == 9 && e.entry.dir == 2 << SLAB_SHIFT);
	expect(&l.conn, MSG_DROP, &m);
	memcpy(&e.key, m.buf, sizeof(e.key));
	NEED(e.key.ino == 5);
	/* nothing is in the other slab */
	expect(&l.conn, MSG_SLAB_DROP, &m);
	memcpy(&slab, m.buf, sizeof(slab));
	NEED(slab.slab == 5);
	/* the vDSO is not dropped, but read here */
	expect(&l.conn, MSG_ENTRY, &m);
	memcpy(&e, m.buf, sizeof(e));
	NEED(!e.key.ino && e.entry.exe == EXE_VDSO && !e.entry.pages);
	expect(&l.conn, MSG_ENTRY, &m);
	memcpy(&e, m.buf, sizeof(e));
	NEED(!e.key.ino && e.key.size == 1 && e.entry.exe == EXE_VDSO &&
	     e.entry.state == FILE_TABLE && e.entry.pages && !m.hdr.id);
	loader_exe(&l, 3, &self_key, "/opt/marker", self);
	NEED(loader_answer(&l, 3, &f) == TABLE_CAME);
	NEED(f.exe == 9 && f.state == FILE_TABLE && f.pages == 1);
	/* and its symbols, when a sample meets it */
	status_until(&status, &st, has_jobs, 1);
	NEED(st.hub.worker_jobs == 1);
	loader_sample(&l, record(0, 1), &word);
	exporter_batch(&exporter, &b);
	NEED(!strcmp(function(&b.b, 0), "hub_test_marker"));
	exporter_done(&exporter, b.id, 1, BATCH_DELIVERED);
	batch_release(&b);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == 0 && st.hub.worker_jobs == 2);
	NEED(st.tables.files == 2 && st.tables.tables == 2);
	loader_drop(&l);
}

/* --- deaths ------------------------------------------------------------------------ */

TEST(hub_sends_again_when_exporter_dies)
{
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;
	uint64_t id;

	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	exporter_batch(&exporter, &b);
	batch_release(&b);
	id = b.id;
	conn_close(&exporter);
	status_until(&status, &st, has_exporter_deaths, 1);
	exporter_connect(&exporter, &place, 0, NULL);
	exporter_batch(&exporter, &b);
	NEED(b.id == id && b.msg.samples == 2);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.totals.requeued == 2 && st.totals.handed == 2);
	NEED(account_now(&st).delivered == 2);
	NEED(account_now(&st).difference == 0);
	NEED(account_now(&st).under_way == 0);
	loader_drop(&l);
}

TEST(hub_killed_loses_only_what_it_alone_had)
{
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;

	hub_begin(&place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	exporter_batch(&exporter, &b);
	while (l.kept.handed < 2)
		loader_keep_checkpoint(&l);
	kill(place.hub, SIGSTOP);
	two_samples(&l);		/* stay in the socket */
	kill(place.hub, SIGKILL);
	NEED(hub_wait(&place) == SIGKILL);
	loader_drop(&l);
	conn_close(&exporter);

	hub_exec(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_say_stats(&l);
	exporter_connect(&exporter, &place, 2, NULL);
	two_samples(&l);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	exporter_batch(&exporter, &b);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.totals.hub_deaths == 1);
	NEED(st.totals.lost_hub == 2);
	NEED(account_now(&st).taken == 6);
	NEED(account_now(&st).delivered == 4);
	NEED(account_now(&st).difference == 0);
	NEED(account_now(&st).under_way == 0);
	loader_drop(&l);
}

TEST(hub_restarted_alone_loses_nothing)
{
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;

	hub_begin(&place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	kill(place.hub, SIGTERM);	/* and loaderd does not say good-bye */
	exporter_batch(&exporter, &b);
	while (l.kept.handed < 2)
		loader_keep_checkpoint(&l);
	NEED(hub_wait(&place) == 0);
	loader_drop(&l);
	conn_close(&exporter);

	hub_exec(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	exporter_connect(&exporter, &place, 2, NULL);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	status_until(&status, &st, has_delivered, 2);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.totals.lost_hub == 0 && st.totals.requeued == 0);
	NEED(account_now(&st).taken == 2);
	NEED(account_now(&st).difference == 0);
	NEED(account_now(&st).under_way == 0);
	loader_drop(&l);
}

TEST(hub_outlives_loaderd)
{
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;
	uint64_t n = 0;

	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	loader_drop(&l);		/* without a word */
	status_until(&status, &st, loader_is_down, 1);
	l = (struct fake_loader){ 0 };
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	while (n < 4) {
		exporter_batch(&exporter, &b);
		exporter_done(&exporter, b.id, b.msg.samples, BATCH_DELIVERED);
		n += b.msg.samples;
		batch_release(&b);
	}
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.totals.loader_deaths == 1 && st.totals.former_taken == 2);
	NEED(account_now(&st).taken == 4 && account_now(&st).delivered == 4);
	NEED(account_now(&st).difference == 0);
	NEED(account_now(&st).under_way == 0);
	loader_drop(&l);
}

/* 20 taken: 2 came here, and of 1 loaderd had said that it was lost. */
TEST(hub_counts_what_died_with_loaderd)
{
	struct fake_loader l = { 0 };
	struct cpu_counts *counts;
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	counts = l.counts;
	two_samples(&l);
	counts[0].n[BPF_TAKEN] = counts[0].n[BPF_RING_FULL] = 1;
	loader_say_stats(&l);
	status_until(&status, &st, has_received, 2);
	NEED(account_now(&st).taken == 3 && account_now(&st).lost == 1);
	counts[0].n[BPF_TAKEN] = 6;
	loader_drop(&l);		/* without a word */
	status_until(&status, &st, loader_is_down, 1);
	NEED(st.totals.former_taken == 8 && st.totals.former_lost == 6);
	counts[1].n[BPF_TAKEN] = 14;	/* its programs run a little longer */
	l = (struct fake_loader){ 0 };
	loader_connect(&l, &place);
	loader_hello(&l);
	counts[1].n[BPF_TAKEN] = 99;	/* not its any more */
	two_samples(&l);
	status_until(&status, &st, has_received, 4);
	NEED(st.totals.former_taken == 20 && st.totals.former_lost == 18);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(account_now(&st).taken == 22 && account_now(&st).difference == 0);
	loader_drop(&l);
}

/* Or else a process is another one in each batch. */
TEST(hub_tells_the_same_start_each_time)
{
	struct conn exporter, status;
	struct fake_loader l = { 0 };
	struct fake_batch b[2];
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	for (int i = 0; i < 2; i++) {
		two_samples(&l);
		exporter_batch(&exporter, &b[i]);
		exporter_done(&exporter, b[i].id, 2, BATCH_DELIVERED);
	}
	NEED(b[0].b.resources[1].start_ns != 0);
	NEED(b[0].b.resources[1].start_ns == b[1].b.resources[1].start_ns);
	batch_release(&b[0]);
	batch_release(&b[1]);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	loader_drop(&l);
}

TEST(hub_without_exporter_gives_up_at_the_end)
{
	struct fake_loader l = { 0 };
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	status_until(&status, &st, has_received, 2);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(st.totals.outcomes.samples[BATCH_GAVE_UP] == 2);
	NEED(account_now(&st).difference == 0);
	NEED(account_now(&st).under_way == 0);
	loader_drop(&l);
}

static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%d", &child) != 1)
		child = 0;
	if (f)
		fclose(f);
	return child;
}

TEST(hub_ends_with_its_zygote)
{
	struct conn status;
	pid_t zygote;
	int r;

	hub_begin(&place);
	status_connect(&status, &place);
	zygote = child_of(place.hub);
	if (zygote <= 0 || kill(zygote, SIGKILL) < 0) {
		hub_end(&place, NULL, NULL);
		exit(TEST_SKIP);
	}
	r = hub_wait(&place);
	NEED(WIFEXITED(r) && WEXITSTATUS(r) == 1);
	conn_close(&status);
	place_remove(&place);
}

TEST(zygote_ends_with_its_hub)
{
	struct conn status;
	pid_t zygote, r = 0;

	hub_begin(&place);
	status_connect(&status, &place);
	zygote = child_of(place.hub);
	/* its orphan is ours then: PID 1 may wait for it late */
	NEED(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	kill(place.hub, SIGKILL);
	NEED(hub_wait(&place) == SIGKILL);
	place_remove(&place);
	if (zygote <= 0)
		exit(TEST_SKIP);
	for (int i = 0; i < 500 && r == 0; i++) {
		r = waitpid(zygote, NULL, WNOHANG);
		usleep(20000);
	}
	NEED(r == zygote);
}

TEST(exporter_can_finish_batches_in_any_order)
{
	struct fake_batch a, b;
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	exporter_batch(&exporter, &a);
	two_samples(&l);
	exporter_batch(&exporter, &b);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	exporter_done(&exporter, a.id, 1, BATCH_DELIVERED);
	exporter_done(&exporter, a.id, 1, BATCH_REJECTED);
	status_until(&status, &st, has_delivered, 3);
	NEED(st.totals.outcomes.samples[BATCH_REJECTED] == 1);
	NEED(st.hub.outstanding == 0);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	loader_drop(&l);
}

/* exporterd sends the accounts as metrics, to the last. */
TEST(hub_tells_an_exporter_that_asks_how_things_stand)
{
	struct msg_hello_exporter hello = {
		.batch_version = BATCH_VERSION, .wants_status = 1,
	};
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;
	struct msg m;

	hub_begin(&place);
	status_connect(&status, &place);
	NEED(conn_connect(&exporter, place_path(&place, "export"), PEER_HUB,
			  hub_uid()) == 0);
	NEED(conn_send(&exporter, MSG_HELLO_EXPORTER, 0, &hello, sizeof(hello),
		       NULL, 0, NULL, 0) == 0);
	expect(&exporter, MSG_HELLO_HUB, &m);
	exporter.state = CONN_READY;
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	/* first: waiting for a status would skip it */
	exporter_batch(&exporter, &b);
	status_until(&exporter, &st, has_received, 2);
	NEED(st.exporter_up && st.loader_up);
	NEED(st.hub.start_ns && st.hub.cpu_ns && st.hub.rss_bytes);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	status_until(&exporter, &st, has_delivered, 2);
	conn_close(&exporter);
	loader_drop(&l);
}
