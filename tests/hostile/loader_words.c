// SPDX-License-Identifier: Apache-2.0
/*
 * A hub in an attacker's hand reads a process's memory by its tables: the real
 * trifold-loaderd, a target whose memory is full of marked words, rules that
 * find return addresses anywhere in it, new ones all the time, and that say that it
 * is in the loop of an interpreter, which it has not.  Nothing that the hub gets has
 * such a word, and what it learns of the target are places in its executable
 * mappings.  tests/unit/test_words.c does so with far more
 * rules.  Needs root.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/count.h"
#include "bpf/frame.h"
#include "bpf/python.h"
#include "bpf/runtime.h"
#include "bpf/stop.h"
#include "common/clock.h"
#include "ipc/sealed.h"
#include "tests/hostile/lying_hub.h"
#include "tests/unit/any_rule.h"
#include "tests/unit/harness.h"

#define SECONDS		8
#define AGAIN_NS	(10 * NSEC_PER_MSEC)	/* new rules: as often as samples */
#define RULES		512
#define FACTS		RULES
#define PAGES		256			/* of every file: 16 MiB */
#define RULES_AT	0u
#define TABLE_AT	((uint32_t)RULE_SLABS << SLAB_SHIFT)
#define FILES		1024
#define MAPPINGS	64

/* --- the target ------------------------------------------------------------------------ */

static uint64_t heap[1 << 17];
static pid_t target;

static void target_ended(void)
{
	if (target > 0)
		kill(target, SIGKILL);
}

/* Words that must not leave, and some that lead on. */
static uint64_t target_word(const uint64_t *stack)
{
	switch (below(4)) {
	case 0:
		return (uintptr_t)target_word + below(256);
	case 1:
		return (uintptr_t)(stack + below(4096));
	default:
		return marked_word();
	}
}

static _Noreturn void target_main(int ready)
{
	volatile uint64_t stack[4096];

	for (size_t i = 0; i < sizeof(heap) / 8; i++)
		heap[i] = target_word((uint64_t *)stack);
	for (size_t i = 0; i < sizeof(stack) / 8; i++)
		stack[i] = target_word((uint64_t *)stack);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (size_t i = 0;; i++)
		stack[0] += heap[i % (sizeof(heap) / 8)] ^ stack[i % (sizeof(stack) / 8)];
}

static void target_start(void)
{
	int ready[2];
	char byte;

	CHECK(pipe(ready) == 0);
	target = lying_child();
	if (target == 0)
		target_main(ready[1]);
	atexit(target_ended);
	CHECK(read(ready[0], &byte, 1) == 1);
}

/* Its executable mappings, but [vsyscall], of which the kernel keeps no mapping. */
static struct mapped {
	uint64_t start, end, off;
	char path[256];
} mapped[MAPPINGS];
static int n_mapped;

static void target_read_maps(void)
{
	char name[32], line[512], mode[8];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", target);
	f = fopen(name, "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		struct mapped m = { 0 };

		CHECK(sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &m.start, &m.end,
			     mode, &m.off, m.path) >= 4);
		if (mode[2] != 'x' || !strcmp(m.path, "[vsyscall]"))
			continue;
		CHECK(n_mapped < MAPPINGS);
		mapped[n_mapped++] = m;
	}
	fclose(f);
	CHECK(n_mapped > 1);
}

/* --- what the hub does -------------------------------------------------------------------- */

static struct met {
	struct file_key key;
	char path[256];
} met[FILES];			/* by number */
static uint32_t n_met = EXE_FIRST;

static void met_file(const struct msg *m)
{
	const struct msg_exe *exe = (const void *)m->buf;
	/* each has its own way to read memory */
	uint32_t runtime = below(2) ? RUNTIME_PYTHON : 1 + below(RUNTIME__MAX - 1);
	struct msg_entry e = { .key = exe->key, .entry = {
		.exe = n_met, .dir = TABLE_AT, .pages = PAGES, .state = FILE_TABLE,
		.runtime = (uint8_t)runtime,
	} };
	size_t len = m->hdr.len - sizeof(*exe);

	CHECK(n_met < FILES);
	met[n_met].key = exe->key;
	memcpy(met[n_met].path, exe + 1, len < 256 ? len : 255);
	n_met++;
	lying_send(MSG_ENTRY, m->hdr.id, &e, sizeof(e), NULL, 0, -1);
}

/* Anything, or a return address in a word of the stack. */
static struct unwind_rule new_rule(void)
{
	if (below(2))
		return any_rule();
	return (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 8 * (1 + below(64)),
				     .ra_off = -8, .by_fp = below(2) ? RULE_LOOP : 0 };
}

/* A version of CPython, whose runtime lies somewhere in the target's heap. */
static struct unwind_rule new_facts(void)
{
	const struct mapped *m = &mapped[below(n_mapped)];
	uint64_t root = (uintptr_t)(heap + below(sizeof(heap) / 8)) - (m->start - m->off);

	return (struct unwind_rule){ .cfa = CFA_RUNTIME, .cfa_off = below(PYTHON_LAYOUTS),
				     .ra_off = (int32_t)root, .fp_off = root >> 32,
				     .aux = any_offset() };
}

/* Of place 0 it says where the runtime is, behind that it is as any page. */
static void new_first_page(union element *dir)
{
	union element *rows = dir + PAGES / 8;

	memset(rows, 0xff, sizeof(*rows));
	rows[0].index[0] = 0;
	for (int i = 0; i < ELEMENT_ROWS; i++)
		rows[1].row[i] = (struct unwind_row){ i < 2 ? i : PAD_LOW,
						      i ? dir[0].dir[0].rule_before : FACTS };
	dir[0].dir[0].first = TABLE_AT + PAGES / 8;
	dir[0].dir[0].n = 1;
}

/* Other rules, and other rules for each page. */
static void new_rules(void)
{
	union element *rules = lying_slab(RULES_AT >> SLAB_SHIFT) +
			       (RULES_AT & (SLAB_ELEMENTS - 1));
	union element *dir = lying_slab(TABLE_AT >> SLAB_SHIFT) +
			     (TABLE_AT & (SLAB_ELEMENTS - 1));

	for (int i = 0; i < RULES; i++)
		rules[i / 2].rule[i & 1] = new_rule();
	for (int i = 0; i < PAGES; i++)
		dir[i / 8].dir[i % 8].rule_before = below(RULES);
	rules[FACTS / 2].rule[FACTS & 1] = new_facts();
	new_first_page(dir);
}

/* --- what it gets -------------------------------------------------------------------------- */

static uint64_t n_samples, n_frames, n_refused, n_ruled;

static void no_mark(const void *data, size_t len)
{
	const uint32_t mark = MARK;

	CHECK(!memmem(data, len, &mark, sizeof(mark)));
}

/* A place in executable memory of this file; a trampoline's may be its end. */
static bool is_code(const char *path, uint64_t place)
{
	for (int i = 0; i < n_mapped; i++) {
		if (!strcmp(mapped[i].path, path) &&
		    place - mapped[i].off <= mapped[i].end - mapped[i].start)
			return true;
	}
	return false;
}

static const char *path_of_key(const struct file_key *key)
{
	for (uint32_t i = EXE_FIRST; i < n_met; i++) {
		if (!memcmp(&met[i].key, key, sizeof(*key)))
			return met[i].path;
	}
	return NULL;
}

static void check_frame(const __u64 *w)
{
	uint32_t number = FRAME_NUMBER(*w);
	const char *path;
	bool found = false;

	switch (FRAME_KIND(*w)) {
	case FRAME_LOOP:	/* the same, where a rule says that it is an interpreter's */
	case FRAME_NATIVE:
		CHECK(number == EXE_VDSO || (number >= EXE_FIRST && number < n_met));
		CHECK(is_code(number == EXE_VDSO ? "[vdso]" : met[number].path,
			      FRAME_PLACE(*w)));
		break;
	case FRAME_FILE:	/* not met yet: no more is known of it */
		path = path_of_key((const void *)(w + 1));
		CHECK(!path || is_code(path, FRAME_PLACE(*w)));
		break;
	case FRAME_ANON:
		for (int i = 0; i < n_mapped; i++)
			found |= FRAME_ADDR(*w) >= mapped[i].start &&
				 FRAME_ADDR(*w) < mapped[i].end;
		CHECK(found);
		break;
	case FRAME_GUESS:	/* the caller behind it is judged as any frame */
		CHECK_EQ(*w, FRAME_GUESS_WORD(STOP_NO_ROW));
		break;
	default:		/* it has none of an interpreter */
		CHECK_EQ(*w, (uint64_t)FRAME_CUT << FRAME_KIND_SHIFT);
	}
}

/* Loops of an interpreter that rules spoke of. */
static uint64_t loops(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < lying.cpus; i++)
		n += lying.counts[i].n[BPF_MANAGED_NONE] + lying.counts[i].n[BPF_MANAGED];
	return n;
}

static void check_sample(const struct trace_rec *r)
{
	const __u64 *w = r->words + r->n_kernel, *end = w + r->n_user;
	uint32_t frames = 0;

	if (r->process.tgid != (uint32_t)target)
		return;
	for (; w < end; w += 1 + FRAME_MORE(*w)) {
		check_frame(w);
		frames++;
	}
	n_samples++;
	n_frames += frames;
	n_ruled += frames > 1;
	n_refused += r->stop == STOP_NO_MAPPING;
}

static void check_samples(void)
{
	static uint64_t data[SAMPLES_BYTES / 8];
	ssize_t got;

	while ((got = recv(lying.samples, data, sizeof(data), MSG_DONTWAIT)) > 0) {
		no_mark(data, (size_t)got);
		for (ssize_t at = 0; at < got;) {
			const struct trace_rec *r = (void *)&data[at / 8];

			if (r->kind == REC_SAMPLE)
				check_sample(r);
			at += r->len;
		}
	}
}

static void check_message(const struct msg *m)
{
	no_mark(m->buf, m->hdr.len);
	if (m->hdr.type == MSG_EXE)
		met_file(m);
}

static void check_messages(void)
{
	struct msg m;

	while (conn_recv(&lying.conn, &m) == 0) {
		check_message(&m);
		msg_close_fds(&m);
	}
	no_mark((const void *)lying.counts, lying.cpus * sizeof(*lying.counts));
}

static void loader_shows_no_word_but_addresses_of_code(void)
{
	uint64_t end, again = 0;

	target_start();
	target_read_maps();
	lying_start();
	lying.deaf = true;
	lying.skipped = check_message;	/* those before its first slab */
	lying_connect();
	lying_send(MSG_RUNTIMES, 0, &(struct msg_runtimes){ RUNTIMES_ALL },
		   sizeof(struct msg_runtimes), NULL, 0, -1);
	for (end = now_ns() + SECONDS * NSEC_PER_SEC; now_ns() < end; usleep(5000)) {
		if (now_ns() - again >= AGAIN_NS) {
			new_rules();
			again = now_ns();
		}
		check_messages();
		check_samples();
	}
	printf("# %lu samples with %lu frames; by rules in %lu, refused words in %lu\n",
	       n_samples, n_frames, n_ruled, n_refused);
	printf("# %lu times in the loop of an interpreter\n", loops());
	CHECK_EQ(waitpid(lying.loaderd, NULL, WNOHANG), 0);
	CHECK(loops() > 3);
	CHECK(n_samples > 30 && n_ruled > 3 && n_refused > 3);
}

int main(void)
{
	setbuf(stdout, NULL);
	printf("1..1\n");
	loader_shows_no_word_but_addresses_of_code();
	printf("ok 1 - loader_shows_no_word_but_addresses_of_code\n");
	return 0;
}
