// SPDX-License-Identifier: Apache-2.0
/*
 * guess - how often is a return address right that a scan of the stack finds?
 *
 * usage: guess [-n STOPS] [-w WORDS] [-m FILE] COMMAND...
 *
 * Stops a program at random moments in which it runs, and walks its stack by
 * CFI (libdw): that is the truth.  Then says of one function, or with -m of a
 * whole file, that it has no CFI: its caller is looked for from its sp upwards.
 * What counts as one is check_names; the walk goes on by CFI from there, with
 * the registers as they are.  "to root": only what leads to the stack's outermost
 * frame is counted.  Of stacks that come to code which really has no CFI it says
 * how many reach the word that the program's first function pushed.
 * x86-64; main threads alone.
 */
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH		512
#define STACK		(1 << 20)
#define MAPS_MAX	20000
#define MODULES_MAX	600
#define REGS		17	/* DWARF's numbers */
#define SP		7
#define PC		16
#define NEAR		16384	/* as CALL_REACH, bpf/call.bpf.h */
#define ENTRY_REACH	256	/* bytes of its callees' frames */
#define MIDDLES		3	/* frames of a stack that are tried, but the innermost */

struct regs {
	uint64_t r[REGS];
};
enum chain_end { CHAIN_LOST, CHAIN_ROOT, CHAIN_NO_CFI };
struct chain {			/* .f[.n]: the one without CFI */
	struct regs f[DEPTH + 1];
	int n;
	enum chain_end end;
};
struct map {
	uint64_t start, end;
	int exec;
};
struct starts {			/* of a file's functions, by .eh_frame_hdr */
	Dwfl_Module *module;
	uint64_t *at;
	int n;
};

enum call_kind { CALL_NO, CALL_DIRECT, CALL_INDIRECT };
enum check { CHECK_ANY, CHECK_NEAR, CHECK_FIRST, CHECK_EXACT, CHECKS };
static const char *const check_names[CHECKS] = {
	"any call", "near or indirect call", "first call, if near or indirect",
	"direct call to its first byte",
};
struct sum {
	long cases, guessed, right;
};

static pid_t pid;
static Dwfl *dwfl;
static uint8_t stack[STACK];
static uint64_t stack_at, stack_len, entry;
static struct regs begin_at;
static struct map maps[MAPS_MAX];
static int n_maps, n_starts, words = 128;
static struct starts starts[MODULES_MAX];
static const char *module_name;
static long stops, whole, frames_seen, real_stacks, real_roots;
static struct sum any_frame[CHECKS][2], innermost[CHECKS][2], modules[CHECKS][2];
static long module_stacks, module_roots[CHECKS], module_right[CHECKS];

/* --- memory -------------------------------------------------------------- */

static int get(uint64_t at, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)at, n };

	if (at - stack_at < stack_len && stack_len - (at - stack_at) >= n) {
		memcpy(to, stack + (at - stack_at), n);
		return 0;
	}
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n ? 0 : -1;
}

static uint64_t word_at(uint64_t at)
{
	uint64_t w = 0;

	return get(at, &w, sizeof(w)) ? 0 : w;
}

/* Up to STACK bytes from sp on, at once. */
static void read_stack(uint64_t sp)
{
	stack_at = sp - 512;
	stack_len = 0;
	for (size_t n = STACK; n >= 4096 && !stack_len; n /= 2) {
		struct iovec here = { stack, n }, there = { (void *)stack_at, n };
		ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

		stack_len = got > 0 ? got : 0;
	}
}

static FILE *proc(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "r");
}

static void read_maps(void)
{
	char line[4096], mode[8];
	FILE *f = proc("maps");
	unsigned long start, end;

	n_maps = 0;
	while (f && n_maps < MAPS_MAX && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, mode) == 3)
			maps[n_maps++] = (struct map){ start, end, mode[2] == 'x' &&
						       !strstr(line, "[vsyscall]") };
	}
	if (f)
		fclose(f);
}

static int executable(uint64_t at)
{
	int lo = 0, hi = n_maps;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (at >= maps[mid].end)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n_maps && at >= maps[lo].start && maps[lo].exec;
}

/* A field of /proc/PID/stat behind the name: 0 is the state. */
static uint64_t stat_field(int n, char *state)
{
	char line[2048] = "", *p;
	FILE *f = proc("stat");

	p = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	*state = p ? p[2] : 'X';
	for (int i = 0; p && i <= n; i++)
		p = strchr(p + 1, ' ');
	if (f)
		fclose(f);
	return p ? strtoull(p, NULL, 10) : 0;
}

/* --- unwinding by CFI, from any registers ----------------------------------- */

static pid_t on_thread(Dwfl *d, void *arg, void **thread)
{
	(void)d;
	(void)arg;
	if (*thread)
		return 0;
	*thread = &begin_at;
	return pid;
}

static bool on_memory(Dwfl *d, Dwarf_Addr at, Dwarf_Word *w, void *arg)
{
	(void)d;
	(void)arg;
	return !get(at, w, sizeof(*w));
}

static bool on_registers(Dwfl_Thread *t, void *arg)
{
	(void)arg;
	dwfl_thread_state_register_pc(t, begin_at.r[PC]);
	return dwfl_thread_state_registers(t, 0, REGS, begin_at.r);
}

static const Dwfl_Thread_Callbacks thread_calls = {
	.next_thread = on_thread,
	.memory_read = on_memory,
	.set_initial_registers = on_registers,
};

static int has_cfi(uint64_t pc)
{
	Dwfl_Module *m = dwfl_addrmodule(dwfl, pc);
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = m ? dwfl_module_eh_cfi(m, &bias) : NULL;
	Dwarf_Frame *frame = NULL;
	int ok = cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &frame);

	free(frame);
	return ok;
}

/* libdw would go on by frame pointers where no CFI is: not here. */
static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct chain *c = arg;
	struct regs *to = &c->f[c->n];
	Dwarf_Addr pc;
	bool exact;

	if (c->n == DEPTH || !dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	for (int i = 0; i < PC; i++) {
		Dwarf_Word v = 0;

		to->r[i] = dwfl_frame_reg(frame, i, &v) ? 0 : v;
	}
	to->r[PC] = pc - !exact;
	if (c->n && to->r[SP] <= c->f[c->n - 1].r[SP])
		return DWARF_CB_ABORT;
	if (!has_cfi(to->r[PC])) {
		c->end = CHAIN_NO_CFI;
		return DWARF_CB_ABORT;
	}
	c->n++;
	return DWARF_CB_OK;
}

static void walk(const struct regs *from, struct chain *c)
{
	c->n = 0;
	c->end = CHAIN_LOST;
	begin_at = *from;
	if (!dwfl_getthread_frames(dwfl, pid, on_frame, c) && c->n)
		c->end = CHAIN_ROOT;
}

/* --- functions ----------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The table of binutils: version 1, count udata4, entries datarel sdata4. */
static void read_starts(struct starts *s, const Elf_Data *d, uint64_t at)
{
	const uint8_t *p = d->d_buf;
	uint32_t n;
	int32_t off;

	if (d->d_size < 12 || p[2] != 0x03 || p[3] != 0x3b)
		return;
	memcpy(&n, p + 8, sizeof(n));
	if (12 + 8 * (uint64_t)n > d->d_size)
		return;
	s->at = malloc(8 * (n + 1ULL));
	for (uint32_t i = 0; s->at && i < n; i++) {
		memcpy(&off, p + 12 + 8ULL * i, sizeof(off));
		s->at[s->n++] = at + off;
	}
	if (s->n)
		qsort(s->at, s->n, sizeof(*s->at), by_value);
}

static struct starts *starts_of(Dwfl_Module *m)
{
	struct starts *s = starts;
	Elf_Scn *scn = NULL;
	GElf_Addr bias;
	GElf_Shdr sh;
	size_t names;
	Elf *elf;

	while (s < starts + n_starts && s->module != m)
		s++;
	if (s < starts + n_starts || n_starts == MODULES_MAX)
		return s < starts + n_starts ? s : NULL;
	*s = (struct starts){ .module = m };
	n_starts++;
	elf = dwfl_module_getelf(m, &bias);
	if (!elf || elf_getshdrstrndx(elf, &names))
		return s;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
			elf_strptr(elf, names, sh.sh_name) : NULL;
		Elf_Data *d = elf_rawdata(scn, NULL);

		if (name && d && !strcmp(name, ".eh_frame_hdr"))
			read_starts(s, d, sh.sh_addr + bias);
	}
	return s;
}

/* Where the function at pc begins. */
static uint64_t start_of(uint64_t pc)
{
	Dwfl_Module *m = dwfl_addrmodule(dwfl, pc);
	const struct starts *s = m ? starts_of(m) : NULL;
	int lo = 0, hi = s ? s->n : 0;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (s->at[mid] <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? s->at[lo - 1] : 0;
}

/* --- calls (encodings: bpf/call.bpf.h) ------------------------------------------- */

static int is_indirect(const uint8_t *b, int behind)
{
	uint8_t mod = b[1] >> 6, sib = (b[1] & 7) == 4;
	int n = mod == 1 ? 1 : mod == 2 || (!mod && (b[1] & 7) == 5) ? 4 : 0;

	return b[0] == 0xff && (b[1] & 0x38) == 0x10 && behind == n + (mod != 3 && sib);
}

/* [endbr64;] [bnd] jmp *x(%rip): where a PLT's entry leads to; else itself */
static uint64_t behind_plt(uint64_t at)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t b[16];
	int32_t rel;
	int i;

	if (get(at, b, sizeof(b)))
		return at;
	i = memcmp(b, endbr, sizeof(endbr)) ? 0 : 4;
	i += b[i] == 0xf2;
	if (b[i] != 0xff || b[i + 1] != 0x25)
		return at;
	memcpy(&rel, b + i + 2, sizeof(rel));
	return word_at(at + i + 6 + (int64_t)rel);
}

static enum call_kind call_before(uint64_t ra, uint64_t *target)
{
	uint8_t b[8];
	int32_t rel;

	if (!executable(ra - 1) || get(ra - 8, b, sizeof(b)))
		return CALL_NO;
	memcpy(&rel, b + 4, sizeof(rel));
	*target = ra + (int64_t)rel;
	if (b[3] == 0xe8 && executable(*target)) {
		*target = behind_plt(*target);
		return CALL_DIRECT;
	}
	if (b[2] == 0xff && b[3] == 0x15) {	/* -fno-plt: through the GOT */
		*target = word_at(*target);
		return CALL_DIRECT;
	}
	return is_indirect(b + 6, 0) || is_indirect(b + 5, 1) || is_indirect(b + 4, 2) ||
	       is_indirect(b + 2, 4) || is_indirect(b + 1, 5) ? CALL_INDIRECT : CALL_NO;
}

/* Is w where pc's function returns to?  Less than 0: look no further. */
static int passes(enum check check, uint64_t w, uint64_t pc)
{
	uint64_t target = 0;
	enum call_kind kind = call_before(w, &target);
	int near = kind == CALL_INDIRECT || pc - target < NEAR;

	if (kind == CALL_NO)
		return 0;
	switch (check) {
	case CHECK_NEAR:
		return near;
	case CHECK_FIRST:
		return near ? 1 : -1;
	case CHECK_EXACT:
		return kind == CALL_DIRECT && target == start_of(pc);
	default:
		return 1;
	}
}

/* The caller of at, by a scan of *left words; 0: none. */
static int scan(enum check check, const struct regs *at, int *left, struct regs *to)
{
	for (uint64_t sp = at->r[SP]; *left > 0; sp += 8, --*left) {
		uint64_t w = word_at(sp);
		int ok = passes(check, w, at->r[PC]);

		if (ok < 0)
			return 0;
		if (ok) {
			*to = *at;
			to->r[PC] = w - 1;
			to->r[SP] = sp + 8;
			return 1;
		}
	}
	return 0;
}

/* --- what is measured ------------------------------------------------------------- */

static int same(const struct regs *a, const struct regs *b)
{
	return a->r[PC] == b->r[PC] && a->r[SP] == b->r[SP];
}

static void add(struct sum *s, int guessed, int right)
{
	s->cases++;
	s->guessed += guessed;
	s->right += right;
}

/* The function of frame k is without CFI. */
static void without_function(const struct chain *truth, int k)
{
	static struct chain c;
	struct regs to;

	for (int i = 0; i < CHECKS; i++) {
		int left = words, found = scan(i, &truth->f[k], &left, &to);
		int right = found && same(&to, &truth->f[k + 1]), root = 0;

		if (found) {
			walk(&to, &c);
			root = c.end == CHAIN_ROOT;
		}
		add(&any_frame[i][0], found, right);
		add(&any_frame[i][1], root, root && right);
		if (k)
			continue;
		add(&innermost[i][0], found, right);
		add(&innermost[i][1], root, root && right);
	}
}

static int in_module(uint64_t pc)
{
	Dwfl_Module *m = dwfl_addrmodule(dwfl, pc);
	const char *name = m ? dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL) :
			   NULL;

	return name && strstr(name, module_name);
}

/* Which frame of the truth is it?  Its last where it is none. */
static int place_in(const struct chain *truth, const struct regs *r)
{
	int i = 0;

	while (i < truth->n - 1 && !same(&truth->f[i], r))
		i++;
	return i;
}

/* The file's functions are without CFI, but for the first one of the program. */
static void without_module(const struct chain *truth)
{
	static struct chain c;
	int k = 0;

	while (k < truth->n - 1 && !in_module(truth->f[k].r[PC]))
		k++;
	if (k == truth->n - 1)
		return;
	module_stacks++;
	for (int i = 0; i < CHECKS; i++) {
		struct regs at = truth->f[k], to;
		int left = words, guesses = 0, right = 0, root = 0, j;

		while (!root && scan(i, &at, &left, &to)) {
			j = place_in(truth, &at);
			guesses++;
			right += j < truth->n - 1 && same(&to, &truth->f[j + 1]);
			walk(&to, &c);
			for (j = 0; j < c.n && !in_module(c.f[j].r[PC]); j++)
				;
			root = j >= c.n - 1;
			if (root && c.end != CHAIN_ROOT)
				break;
			at = c.f[j];
		}
		root = root && c.end == CHAIN_ROOT;
		modules[i][0].guessed += guesses;
		modules[i][0].right += right;
		module_roots[i] += root;
		module_right[i] += root && guesses == right;
		if (root) {
			modules[i][1].guessed += guesses;
			modules[i][1].right += right;
		}
	}
}

/* Code that has none: does it lead to a root, or to the program's first function?
 * What that one called may have gone on by jumps, as musl's does: no matter where. */
static void without_cfi(const struct chain *truth)
{
	static struct chain c;
	struct regs at = truth->f[truth->n], to;
	uint64_t target;
	int left = words;

	real_stacks++;
	while (scan(CHECK_FIRST, &at, &left, &to) && to.r[SP] != entry) {
		walk(&to, &c);
		real_roots += c.end == CHAIN_ROOT;
		if (c.end != CHAIN_NO_CFI)
			return;
		at = c.f[c.n];
	}
	real_roots += entry - 8 - at.r[SP] <= ENTRY_REACH &&
		      call_before(word_at(entry - 8), &target) != CALL_NO;
}

/* --- the program --------------------------------------------------------------------- */

/* What the process has mapped, if that changed. */
static int report(void)
{
	static char *no_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &no_path,
	};
	int before = n_maps;

	read_maps();
	if (dwfl && before == n_maps)
		return 0;
	dwfl_end(dwfl);
	while (n_starts)
		free(starts[--n_starts].at);
	dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin(dwfl);
	if (dwfl_linux_proc_report(dwfl, pid) || dwfl_report_end(dwfl, NULL, NULL))
		return -1;
	return dwfl_attach_state(dwfl, NULL, pid, &thread_calls, NULL) ? 0 : -1;
}

static void look(void)
{
	static struct chain truth;
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, pid, 0, &u))
		return;
	read_stack(u.rsp);
	if (report())
		return;
	stops++;
	walk(&(struct regs){ { u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp, u.r8,
			       u.r9, u.r10, u.r11, u.r12, u.r13, u.r14, u.r15, u.rip } }, &truth);
	if (truth.end == CHAIN_NO_CFI)
		without_cfi(&truth);
	if (truth.end != CHAIN_ROOT || truth.n < 2)
		return;
	whole++;
	frames_seen += truth.n;
	without_function(&truth, 0);
	for (int i = 0; i < MIDDLES && truth.n > 2; i++)
		without_function(&truth, 1 + (int)(random() % (truth.n - 2)));
	if (module_name)
		without_module(&truth);
}

/* 0: it has ended. */
static int stop_once(void)
{
	int status, ours;
	char state;

	usleep(200 + (unsigned int)(random() % 5000));
	entry = stat_field(25, &state);
	if (state != 'R')
		return state != 'Z' && state != 'X';
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
	    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 0;
	ours = status >> 16 == PTRACE_EVENT_STOP;
	if (ours)
		look();
	return !ptrace(PTRACE_DETACH, pid, 0, ours ? 0 : WSTOPSIG(status));
}

static void print_sum(const char *title, const struct sum *s, const char *more)
{
	printf("  %-12s%-9s", title, more);
	if (s->cases)
		printf(" guessed in %5.1f %% of %ld;", 100.0 * s->guessed / s->cases, s->cases);
	printf(" right %ld of %ld, %.2f %%\n", s->right, s->guessed,
	       s->guessed ? 100.0 * s->right / s->guessed : 0);
}

static void print_all(const char *program)
{
	static const char *const more[] = { "", "to root" };

	printf("%s: %ld stops, %ld whole stacks of %.1f frames\n", program, stops, whole,
	       whole ? (double)frames_seen / whole : 0);
	for (int i = 0; i < CHECKS && whole; i++) {
		printf(" %s\n", check_names[i]);
		for (int j = 0; j < 2; j++) {
			print_sum("any frame", &any_frame[i][j], more[j]);
			print_sum("innermost", &innermost[i][j], more[j]);
			if (module_name)
				print_sum("file", &modules[i][j], more[j]);
		}
		if (module_name)
			printf("  stacks      to root   %ld of %ld, all right %ld\n",
			       module_roots[i], module_stacks, module_right[i]);
	}
	if (real_stacks)
		printf(" no CFI: %ld stacks, %ld reach the first function\n", real_stacks,
		       real_roots);
}

int main(int argc, char **argv)
{
	int want = 300, o;

	while ((o = getopt(argc, argv, "+n:w:m:")) != -1) {
		if (o == 'n')
			want = atoi(optarg);
		else if (o == 'w')
			words = atoi(optarg);
		else if (o == 'm')
			module_name = optarg;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	pid = fork();
	if (!pid) {
		if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
			execvp(argv[optind], argv + optind);
		_exit(127);
	}
	usleep(30000);
	while (stops < want && stop_once())
		;
	kill(pid, SIGKILL);
	print_all(argv[optind]);
	return stops < want;
}
