// SPDX-License-Identifier: Apache-2.0
/*
 * No word of a target's memory leaves the kernel as what belongs to Perl, unless it is the text
 * of a name: the sampler's code on the host, over a memory full of other words, some of which
 * lead to Perl's objects.  The version and where to begin are an adversary's.
 */
#ifdef __aarch64__
#define __TARGET_ARCH_arm64
#endif
#include "bpf/host_kernel.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "bpf/sampler.bpf.c"
#pragma GCC diagnostic pop

#include <errno.h>

#include "tests/runtimes/perl/unit/perl_memory.h"
#include "tests/unit/any_rule.h"

#define BASE		0x7f0000000000ULL
#define SIZE		(192 * 1024)
#define OBJECTS		(48 * 1024)	/* at its begin */
#define ROUNDS		60
#define SAMPLES		1500		/* a round */
#define LOOPS		8		/* of a sample */

static char memory[SIZE];
static __u64 objects[64];
static __u32 n_objects;
static struct scratch state;
static struct cpu_counts counted;
static struct task_struct task;
static unsigned long n_frames, n_texts, n_begun, n_samples;

/* --- the kernel's ------------------------------------------------------------------- */

void *bpf_map_lookup_elem(void *map, const void *key)
{
	(void)key;
	if (map == &scratch_map)
		return &state;
	return map == &counts ? &counted : NULL;	/* no names were sent */
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	(void)map;
	(void)key;
	(void)value;
	(void)flags;
	return 0;
}

long bpf_map_delete_elem(void *map, const void *key)
{
	(void)map;
	(void)key;
	return 0;
}

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 off = (__u64)(uintptr_t)src - BASE;

	memset(dst, 0, size);
	if (off > SIZE || SIZE - off < size)
		return -EFAULT;
	memcpy(dst, memory + off, size);
	return 0;
}

long bpf_ringbuf_output(void *to, void *data, __u64 size, __u64 flags)
{
	(void)to;
	(void)data;
	(void)size;
	(void)flags;
	return 0;
}

__u64 bpf_ktime_get_ns(void)
{
	return 1;
}

__u64 bpf_get_current_pid_tgid(void)
{
	return 77ULL << 32 | 77;
}

__u64 bpf_get_current_uid_gid(void)
{
	return 0;
}

#include "tests/unit/idle_kernel.h"

/* --- the target's ------------------------------------------------------------------- */

static __u64 any_place(void)
{
	return BASE + 8 * below(SIZE / 8);
}

static __u64 any_word(void)
{
	switch (below(4)) {
	case 0:
		return any_place();
	case 1:
		return objects[below(n_objects)];
	default:
		return marked_word();
	}
}

static void add(__u64 object)
{
	CHECK(n_objects < sizeof(objects) / sizeof(*objects));
	objects[n_objects++] = object;
}

/* A sub of a kind, named or not. */
static __u64 any_sub(__u64 stash)
{
	if (below(2))
		return pl_sub_of(PERL_SV_CODE, pl_glob("x", stash, 0), 0, 0, any_word());
	return pl_sub("xxx", (__u32)below(1000));
}

static __u32 any_version(void)
{
	__u32 minor = PERL_MINOR_MIN + 2 * (__u32)below(7);

	return below(2) ? minor | PERL_THREADED : minor;
}

/* A thread in some calls; all that lies between them and behind is anything. */
static void make_thread(void)
{
	pl_begin(any_version(), memory, BASE, OBJECTS);
	n_objects = 0;
	add(pl.stash);
	add(pl_stash("xxxxxxxxx", 2));
	for (int i = 0; i < 8; i++) {
		__u64 cv = any_sub(objects[below(2)]), cop = pl_cop("/a/x", (__u32)below(9999));

		add(cv);
		add(cop);
		if (i % 3 == 2)
			add(pl_stack((__s32)below(11)));
		if (below(4))
			pl_call(cv, cop, below(2) ? PL_BACK : 0);
		else
			pl_context(PERL_CX_EVAL | (below(2) ? 0x20 : 0x40), cop, below(2) ? PL_BACK : 0);
	}
	add(pl.interp);
	add(pl.si);
	pl_runs(pl_cop("/a/x", 7));
	for (size_t i = pl.n; i + 8 <= SIZE; i += 8) {
		__u64 v = any_word();

		memcpy(memory + i, &v, sizeof(v));
	}
}

/* --- what leaves -------------------------------------------------------------------- */

/* Of texts that were made, or that the sampler says. */
static void check_text(const __u64 *w)
{
	const char *text = (const char *)(w + 1);

	n_texts++;
	for (__u32 i = 0; i < 8 * FRAME_MORE(*w); i++)
		CHECK(!text[i] || strchr("x_</asub.plmin(ev)", text[i]));
}

static void check_words(void)
{
	const __u32 mark = MARK;

	CHECK(state.n < REC_WORDS);
	CHECK(!memmem(state.words, 8 * state.n, &mark, sizeof(mark)));
	for (__u32 i = 0; i < state.n; i += 1 + FRAME_MORE(state.words[i])) {
		const __u64 *w = &state.words[i];

		if (FRAME_KIND(*w) == FRAME_TEXT) {
			check_text(w);
			continue;
		}
		CHECK_EQ(FRAME_KIND(*w), FRAME_MANAGED);
		CHECK_EQ(MANAGED_RUNTIME(*w), RUNTIME_PERL);
		CHECK(MANAGED_AT(*w) == MANAGED_AT_MAX || MANAGED_AT(*w) <= PERL_LINE_MAX);
		n_frames++;
	}
}

/* One loop, and the next steps of it. */
static void one_loop(struct perl_state *p)
{
	int said = STEP_MORE;

	perl_enter_loop(p, any_word());
	for (int i = 0; i < 64 && said == STEP_MORE; i++) {
		state.n = state.named_words = state.n_named = 0;
		said = perl_step();
		check_words();
	}
}

static void one_sample(void)
{
	struct perl_state *p = perl_state();
	__u64 root = below(4) ? any_place() : pl.interp;

	n_samples++;
	memset(p, 0, PERL_STATE_BEGIN);
	state.reads = 0;
	p->known = 1;
	p->version = below(3) ? pl.version : any_version();
	if (p->version & PERL_THREADED)
		perl_begin(p, root);
	else
		perl_begin_global(p, root + perl_layout(pl.version)->curcop,
				  below(2) ? root + perl_layout(pl.version)->curcop + 16 : any_place(),
				  any_place());
	n_begun += p->si != 0;
	for (int i = 0; i < LOOPS && p->si; i++)
		one_loop(p);
}

TEST(words_of_perl_are_names_or_none)
{
	for (int round = 0; round < ROUNDS; round++) {
		make_thread();
		for (int i = 0; i < SAMPLES; i++)
			one_sample();
	}
	printf("# %lu of %lu began, %lu frames, %lu texts\n", n_begun, n_samples, n_frames,
	       n_texts);
	CHECK(n_begun > n_samples / 20 && n_frames > 1000 && n_texts > 1000);
	CHECK(n_begun < n_samples / 2);
}
