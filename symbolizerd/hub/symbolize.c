// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/symbolize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "ipc/short_name.h"
#include "symbolizerd/knowledge/record.h"
#include "symbolizerd/tables/vdso.h"

/* Estimates of a batch's bytes, beside names and paths. */
#define COST_FRAME	(sizeof(struct batch_frame) + \
			 sizeof(struct batch_function) + 16)
#define COST_EXE	(sizeof(struct batch_exe) + 128)

void pass_fini(struct pass *p)
{
	hash_free(&p->memo.by_word);
	free(p->memo.list.v);
	p->memo = (struct frame_memo){ 0 };
}

/* --- frames ------------------------------------------------------------- */

static uint32_t symbolize_intern(struct pass *p, const char *s, size_t len)
{
	p->cost += len;
	return batch_string(p->builder, s, len);
}

/* A function of this name and place, in a frame of this kind; full: with parameters, "":
 * as the name. */
static uint32_t symbolize_function(struct pass *p, const struct symbol_place *at,
				   uint32_t kind, const char *full)
{
	size_t len = strlen(at->name), n;
	struct batch_function f = { .start_line = at->first_line };
	char buf[SHORT_NAME_MAX];
	const char *s = short_name(at->name, len, frame_kind_form(kind, at->system), buf, &n);

	f.name = symbolize_intern(p, s, n);
	if (s != at->name || n != len)
		f.full_name = symbolize_intern(p, at->name, len);
	if (full[0])
		f.full_name = symbolize_intern(p, full, strlen(full));
	if (at->system)
		f.system_name = symbolize_intern(p, at->system, strlen(at->system));
	f.file = symbolize_intern(p, at->file, strlen(at->file));
	return f.name ? batch_function(p->builder, &f) : 0;
}

/* "file!0x1234": a function without a name, by its virtual address. */
static uint32_t symbolize_range(struct pass *p, const struct executable *e,
				uint64_t begin)
{
	const char *path = e->path ? e->path : "[vdso]", *slash;
	struct batch_function f = { .unnamed = 1 };
	char name[SHORT_NAME_MAX];
	int n;

	p->unnamed = true;
	slash = strrchr(path, '/');
	n = snprintf(name, sizeof(name), "%.512s!0x%llx",
		     slash ? slash + 1 : path, (unsigned long long)begin);
	f.name = symbolize_intern(p, name, (size_t)n);
	return batch_function(p->builder, &f);
}

static uint32_t symbolize_exe_at(struct pass *p, const char *path)
{
	struct batch_exe e = { .path = symbolize_intern(p, path,
							strlen(path)) };

	return batch_exe(p->builder, &e);
}

static uint32_t symbolize_exe_of(struct pass *p, struct executable *e)
{
	const char *path = vdso_is(&e->key) ? "[vdso]" : e->path;
	struct batch_exe b = { 0 };

	if (e->stamp == p->number)
		return e->batch_exe;
	e->used = p->interval;
	if (path)
		b.path = symbolize_intern(p, path, strlen(path));
	if (e->build_id[0])
		b.build_id = symbolize_intern(p, e->build_id,
					      strlen(e->build_id));
	b.runtime = e->runtime;
	if (e->runtime_id && runtime_info(e->runtime)->id_key[0])
		b.runtime_id = symbolize_intern(p, e->runtime_id,
						strlen(e->runtime_id));
	memcpy(b.file_id, e->file_id, sizeof(b.file_id));
	p->cost += COST_EXE;
	e->batch_exe = batch_exe(p->builder, &b);
	e->stamp = p->number;
	return e->batch_exe;
}

/* --- names -------------------------------------------------------------- */

struct pass_source {
	const struct name_source *ops;
	void *source;			/* NULL: there is none */
};

/* The sources of this kind of frame, in their order. */
static void symbolize_sources(const struct pass *p, uint32_t kind, struct pass_source ret[2])
{
	ret[0] = ret[1] = (struct pass_source){ NULL, NULL };
	switch (kind) {
	case FRAME_KERNEL:
		ret[0] = (struct pass_source){ &ksym_source, p->ksyms };
		break;
	case FRAME_NATIVE:
	case FRAME_FILE:
		ret[0] = (struct pass_source){ &executable_source, p->exes };
		ret[1] = (struct pass_source){ &source_lines_source, p->lines };
		break;
	case FRAME_MANAGED:
		ret[0] = (struct pass_source){ &managed_source, p->managed };
		break;
	case FRAME_ANON:
		ret[0] = (struct pass_source){ &jit_name_source, p->jit };
		break;
	}
}

static void symbolize_name(const struct pass *p, const struct frame_place *at,
			   struct frame_called *c)
{
	struct pass_source sources[2];

	c->n = 0;
	c->full = c->module = "";
	symbolize_sources(p, FRAME_KIND(at->words[0]), sources);
	for (int i = 0; i < 2; i++) {
		if (sources[i].source)
			sources[i].ops->name(sources[i].source, at, c);
	}
}

/* The file that a frame is in; NULL: none, or it is not known. */
static struct executable *symbolize_file_of(const struct pass *p, const uint64_t *words)
{
	struct file_key key;
	uint32_t i;

	if (FRAME_KIND(words[0]) == FRAME_NATIVE)
		return executables_number(p->exes, FRAME_NUMBER(words[0]));
	if (FRAME_KIND(words[0]) != FRAME_FILE)
		return NULL;
	memcpy(&key, words + 1, sizeof(key));
	i = executables_find(p->exes, &key);
	return i == EXECUTABLE_NONE ? NULL : executables_get(p->exes, i);
}

static struct frame_place symbolize_place_of(const struct pass *p, const uint64_t *words,
					     uint32_t space)
{
	return (struct frame_place){
		.words = words, .exe = symbolize_file_of(p, words), .space = space,
		.interval = p->interval, .time_ns = p->time_ns, .now_ns = p->now_ns,
	};
}

static bool symbolize_frame_waits(const struct pass *p, const struct trace *tr,
				  const uint64_t *words)
{
	struct frame_place at = symbolize_place_of(p, words, tr->space);
	struct pass_source sources[2];

	at.samples = tr->met;
	symbolize_sources(p, FRAME_KIND(words[0]), sources);
	for (int i = 0; i < 2; i++) {
		if (sources[i].source && sources[i].ops->waits &&
		    sources[i].ops->waits(sources[i].source, &at))
			return true;
	}
	return false;
}

/* The outermost function goes before those inlined into it; f becomes the
 * innermost. */
static void symbolize_functions(struct pass *p, const struct frame_place *at,
				const struct frame_called *c, struct batch_frame *f)
{
	for (uint32_t i = c->n; i-- > 0;) {
		const struct symbol_place *s = &c->at[i];
		uint32_t function;

		if (s->begin)
			function = symbolize_range(p, at->exe, s->begin);
		else
			function = symbolize_function(p, s, f->kind, i ? "" : c->full);
		if (!function)
			return;
		if (f->function) {
			f->into = batch_frame(p->builder, f);
			f->inlined++;
			p->cost += COST_FRAME;
		}
		f->function = function;
		f->line = s->line;
	}
}

/* --- frames ------------------------------------------------------------- */

/* Of a frame in a file. */
static void symbolize_file(struct pass *p, const struct frame_place *at, struct batch_frame *f)
{
	struct executable *e = at->exe;

	f->kind = BATCH_FRAME_NATIVE;
	f->address = FRAME_PLACE(at->words[0]);
	if (e)
		e->used = p->interval;
	if (e && (e->path || vdso_is(&e->key))) {
		f->kind = runtime_info(e->runtime)->code;
		f->exe = symbolize_exe_of(p, e);
	} else if (!e && FRAME_NUMBER(at->words[0]) == EXE_VDSO) {
		f->exe = symbolize_exe_at(p, "[vdso]");
	}
}

/* What a frame is, besides its names. */
static void symbolize_kind(struct pass *p, const struct frame_place *at,
			   const struct frame_called *c, struct batch_frame *f)
{
	uint64_t word = at->words[0];
	uint32_t runtime = OUR_RUNTIME(word);

	switch (FRAME_KIND(word)) {
	case FRAME_KERNEL:
		f->kind = BATCH_FRAME_KERNEL;
		f->address = FRAME_PLACE(word);
		f->exe = symbolize_exe_at(p, c->module);
		break;
	case FRAME_NATIVE:
	case FRAME_FILE:
		symbolize_file(p, at, f);
		break;
	case FRAME_MANAGED:
		f->kind = BATCH_FRAME_UNKNOWN;
		if (runtime < RUNTIME__MAX)
			f->kind = runtime_info(runtime)->managed;
		break;
	case FRAME_ANON:
		f->kind = c->n ? BATCH_FRAME_JIT : BATCH_FRAME_UNKNOWN;
		f->address = FRAME_ADDR(word);
		break;
	case FRAME_GUESS:
		f->kind = BATCH_FRAME_GUESS;
		f->address = FRAME_NUMBER(word);
		break;
	default:
		f->kind = BATCH_FRAME_CUT;
		break;
	}
}

static uint32_t symbolize_make_frame(struct pass *p, const uint64_t *words,
				     uint32_t space)
{
	struct frame_place at = symbolize_place_of(p, words, space);
	struct frame_called called;
	struct batch_frame f = { 0 };

	p->unnamed = false;
	symbolize_name(p, &at, &called);
	symbolize_kind(p, &at, &called, &f);
	symbolize_functions(p, &at, &called, &f);
	p->cost += COST_FRAME;
	if (frame_kind_class(f.kind) != FRAMES_MARK) {
		p->frames++;
		if (!f.function || p->unnamed)
			p->unsymbolized++;
	}
	return batch_frame(p->builder, &f);
}

/* A word stands for the whole frame unless more follow it.  Processes
 * choose their addresses: the hash has a seed. */
static uint32_t symbolize_frame_of(struct pass *p, const uint64_t *words, uint32_t space)
{
	struct frame_memo *m = &p->memo;
	struct memo_frame made = { .word = words[0] };
	const struct hash_slot *s;
	uint64_t hash;

	if (FRAME_MORE(words[0]))
		return symbolize_make_frame(p, words, space);
	if (FRAME_KIND(words[0]) == FRAME_ANON && p->time_ns)
		return symbolize_make_frame(p, words, space);
	if (FRAME_KIND(words[0]) == FRAME_ANON)
		made.space = space;
	hash = XXH3_64bits_withSeed(words, sizeof(*words), p->exes->seed + made.space);
	s = hash_find(&m->by_word, hash);
	while (s && (m->list.v[hash_index(s)].word != words[0] ||
		     m->list.v[hash_index(s)].space != made.space))
		s = hash_next(&m->by_word, s);
	if (s)
		return m->list.v[hash_index(s)].frame;
	made.frame = symbolize_make_frame(p, words, space);
	/* without memory it is made again */
	if (vector_reserve(&m->list, 1) &&
	    hash_add(&m->by_word, hash, m->list.n))
		m->list.v[m->list.n++] = made;
	return made.frame;
}

/* --- what waits --------------------------------------------------------- */

bool pass_trace_waits(const struct pass *p, const struct trace *tr)
{
	size_t end = (size_t)tr->n_kernel + tr->n_user;
	bool waits = false;

	/* all are asked: those of files that are read count their samples */
	for (size_t i = tr->n_kernel; i < end; i += frame_words(tr->words[i])) {
		if (symbolize_frame_waits(p, tr, &tr->words[i]))
			waits = true;
	}
	return waits;
}

/* --- programs ------------------------------------------------------------ */

/* The outermost frames of a runtime in a trace: their words, the innermost first. */
struct outermost {
	uint32_t n;
	uint16_t word[SCRIPT_FRAMES];
};

static void symbolize_outer(struct outermost *o, size_t word)
{
	if (o->n == SCRIPT_FRAMES) {
		memmove(o->word, o->word + 1, sizeof(o->word) - sizeof(o->word[0]));
		o->n--;
	}
	o->word[o->n] = (uint16_t)word;
	o->n++;
}

static enum script_answer symbolize_ask(const struct pass *p, const struct trace *tr,
					size_t word, char ret[SCRIPT_MAX])
{
	struct frame_place at = symbolize_place_of(p, &tr->words[word], tr->space);
	uint32_t runtime = OUR_RUNTIME(at.words[0]);
	const struct symbol_place *outer;
	struct frame_called called;

	symbolize_name(p, &at, &called);
	if (!called.n || runtime >= RUNTIME__MAX)
		return SCRIPT_NONE;
	outer = &called.at[called.n - 1];
	return script_of(runtime, outer->name, outer->file, ret);
}

/* The word of the frame that says which program runs; or TRACE_NO_SCRIPT. */
static uint16_t symbolize_script(const struct pass *p, const struct trace *tr)
{
	size_t end = (size_t)tr->n_kernel + tr->n_user;
	enum script_answer answer = SCRIPT_INNER;
	struct outermost outer = { 0 };
	char name[SCRIPT_MAX];
	uint32_t i;

	for (size_t k = tr->n_kernel; k < end; k += frame_words(tr->words[k])) {
		if (FRAME_KIND(tr->words[k]) == FRAME_MANAGED)
			symbolize_outer(&outer, k);
	}
	i = outer.n;
	while (i > 0 && answer == SCRIPT_INNER) {
		i--;
		answer = symbolize_ask(p, tr, outer.word[i], name);
	}
	return answer == SCRIPT_FOUND ? outer.word[i] : TRACE_NO_SCRIPT;
}

bool pass_script(const struct pass *p, const struct trace *tr, char ret[SCRIPT_MAX])
{
	return tr->script != TRACE_NO_SCRIPT &&
	       symbolize_ask(p, tr, tr->script, ret) == SCRIPT_FOUND;
}

/* --- stacks ------------------------------------------------------------- */

static uint32_t symbolize_stack(struct pass *p, const struct trace *tr)
{
	static const uint64_t nothing[] = { FRAME_WORD(FRAME_CUT, 0, 0) };
	uint32_t frames[KERNEL_MAX + FRAMES_MAX + 1];
	size_t end = (size_t)tr->n_kernel + tr->n_user;
	uint32_t n = 0;

	for (size_t i = 0; i < end; i += frame_words(tr->words[i]))
		frames[n++] = symbolize_frame_of(p, &tr->words[i], tr->space);
	if (n == 0)		/* a stack must have a frame */
		frames[n++] = symbolize_frame_of(p, nothing, 0);
	p->cost += sizeof(struct batch_stack) + n * sizeof(frames[0]);
	return batch_stack(p->builder, frames, n);
}

/* When code of its frames was used again last; 0: never. */
static uint64_t symbolize_former_ns(const struct pass *p, const struct trace *tr)
{
	size_t end = (size_t)tr->n_kernel + tr->n_user;
	uint64_t last = 0;

	if (!tr->space || !p->jit)
		return 0;
	for (size_t i = tr->n_kernel; i < end; i += frame_words(tr->words[i])) {
		uint64_t until = 0;

		if (FRAME_KIND(tr->words[i]) == FRAME_ANON)
			until = jit_was_until(p->jit, tr->space, FRAME_ADDR(tr->words[i]));
		if (until > last)
			last = until;
	}
	return last;
}

void pass_trace(const struct pass *p, struct trace *tr)
{
	if (tr->stamp == p->number)
		return;
	tr->stamp = p->number;
	tr->stack = TRACE_NO_STACK;
	tr->former_ns = symbolize_former_ns(p, tr);
	tr->waits = pass_trace_waits(p, tr);
	tr->met = 0;	/* also if it waits: or it would count again in the next pass */
	tr->script = symbolize_script(p, tr);
}

uint32_t pass_stack(struct pass *p, struct trace *tr, uint64_t time_ns)
{
	uint32_t former;

	pass_trace(p, tr);
	if (time_ns < tr->former_ns) {
		p->time_ns = time_ns;
		former = symbolize_stack(p, tr);
		p->time_ns = 0;
		return former;
	}
	if (tr->stack == TRACE_NO_STACK)
		tr->stack = symbolize_stack(p, tr);
	return tr->stack;
}
