// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/symbolize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "ipc/short_name.h"
#include "symbolizerd/knowledge/record.h"
#include "symbolizerd/tables/vdso.h"

#define STACK_UNMADE	UINT32_MAX
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

/* Names of a function called name; system is NULL unless a worker demangled
 * that. */
static struct batch_function symbolize_names(struct pass *p, const char *name,
					     size_t len, const char *system)
{
	struct batch_function f = { 0 };
	char buf[SHORT_NAME_MAX];
	size_t n;
	const char *s = short_name(name, len, system, buf, &n);

	f.name = symbolize_intern(p, s, n);
	if (s != name || n != len)
		f.full_name = symbolize_intern(p, name, len);
	if (system)
		f.system_name = symbolize_intern(p, system, strlen(system));
	return f;
}

static uint32_t symbolize_named(struct pass *p, const char *name, size_t len)
{
	struct batch_function f = symbolize_names(p, name, len, NULL);

	return f.name ? batch_function(p->builder, &f) : 0;
}

static uint32_t symbolize_place(struct pass *p, const struct symbol_place *at)
{
	struct batch_function f = symbolize_names(p, at->name, strlen(at->name),
						  at->system);

	f.file = symbolize_intern(p, at->file, strlen(at->file));
	f.start_line = at->first_line;
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

static void symbolize_kernel(struct pass *p, uint64_t word,
			     struct batch_frame *f)
{
	const char *owner = "[kernel]", *name;
	size_t len = 0;

	name = ksym_find(p->ksyms, FRAME_NUMBER(word), &len, &owner);
	f->kind = BATCH_FRAME_KERNEL;
	f->address = FRAME_PLACE(word);
	f->exe = symbolize_exe_at(p, owner);
	if (name)
		f->function = symbolize_named(p, name, len);
}

/* What is here, the innermost first.  The outermost has the name that the index has,
 * whether or not its line is known by now. */
static uint32_t symbolize_places(struct pass *p, struct executable *e, uint64_t off,
				 struct symbol_place at[SYMBOL_DEPTH_MAX])
{
	uint32_t n = executable_places(e, off, p->interval, at), m;
	struct symbol_place outer = n ? at[n - 1] : (struct symbol_place){ .name = "" };

	if (!p->lines || n > 1 || (n && at[0].file[0]))
		return n;
	m = source_lines_find(p->lines, e, off, at);
	if (!m) {
		at[0] = outer;
		return n;
	}
	if (outer.name[0] || (outer.begin && !at[m - 1].name[0])) {
		at[m - 1].name = outer.name;
		at[m - 1].system = outer.system;
		at[m - 1].begin = outer.begin;
	}
	return m;
}

/* The outermost function goes before those inlined into it; f becomes the
 * innermost. */
static void symbolize_functions(struct pass *p, struct executable *e,
				struct batch_frame *f)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	uint32_t n = symbolize_places(p, e, f->address, at);

	while (n-- > 0) {
		uint32_t function = at[n].begin ?
				    symbolize_range(p, e, at[n].begin) :
				    symbolize_place(p, &at[n]);

		if (!function)
			return;
		if (f->function) {
			f->into = batch_frame(p->builder, f);
			f->inlined++;
			p->cost += COST_FRAME;
		}
		f->function = function;
		f->line = at[n].line;
	}
}

static void symbolize_file(struct pass *p, struct executable *e, uint64_t place,
			   struct batch_frame *f)
{
	f->kind = BATCH_FRAME_NATIVE;
	f->address = place;
	if (e)
		e->used = p->interval;
	if (!e || (!e->path && !vdso_is(&e->key)))
		return;
	f->kind = runtime_info(e->runtime)->code;
	f->exe = symbolize_exe_of(p, e);
	symbolize_functions(p, e, f);
}

static void symbolize_managed(struct pass *p, uint64_t word,
			      struct batch_frame *f)
{
	const struct managed_function *m = managed_find(p->managed,
							FRAME_NUMBER(word));
	uint32_t runtime = OUR_RUNTIME(word);
	struct batch_function b;

	f->kind = BATCH_FRAME_UNKNOWN;
	if (runtime < RUNTIME__MAX)
		f->kind = runtime_info(runtime)->managed;
	if (!m)
		return;
	b = symbolize_names(p, m->name, strlen(m->name), NULL);
	if (m->full[0])
		b.full_name = symbolize_intern(p, m->full, strlen(m->full));
	b.file = symbolize_intern(p, m->file, strlen(m->file));
	b.start_line = m->line;
	f->line = managed_line(m, OUR_AT(word));
	if (b.name)
		f->function = batch_function(p->builder, &b);
}

static void symbolize_anon(struct pass *p, uint64_t word, uint32_t space,
			   struct batch_frame *f)
{
	const struct jit_place *a = p->jit ? jit_find(p->jit, space, FRAME_ADDR(word)) : NULL;
	struct batch_function b;

	f->kind = BATCH_FRAME_UNKNOWN;
	f->address = FRAME_ADDR(word);
	if (!a || !a->name)
		return;
	f->kind = BATCH_FRAME_JIT;
	b = symbolize_names(p, a->name, strlen(a->name), NULL);
	b.file = symbolize_intern(p, a->file, strlen(a->file));
	f->line = a->line;
	if (b.name)
		f->function = batch_function(p->builder, &b);
}

static struct executable *symbolize_by_key(const struct pass *p,
					   const uint64_t *words)
{
	struct file_key key;
	uint32_t i;

	memcpy(&key, words, sizeof(key));
	i = executables_find(p->exes, &key);
	return i == EXECUTABLE_NONE ? NULL : executables_get(p->exes, i);
}

static uint32_t symbolize_make_frame(struct pass *p, const uint64_t *words,
				     uint32_t space)
{
	struct batch_frame f = { 0 };
	uint64_t word = words[0];
	struct executable *e;

	p->unnamed = false;
	switch (FRAME_KIND(word)) {
	case FRAME_KERNEL:
		symbolize_kernel(p, word, &f);
		break;
	case FRAME_NATIVE:
		e = executables_number(p->exes, FRAME_NUMBER(word));
		symbolize_file(p, e, FRAME_PLACE(word), &f);
		if (!e && FRAME_NUMBER(word) == EXE_VDSO)
			f.exe = symbolize_exe_at(p, "[vdso]");
		break;
	case FRAME_FILE:
		symbolize_file(p, symbolize_by_key(p, words + 1),
			       FRAME_PLACE(word), &f);
		break;
	case FRAME_MANAGED:
		symbolize_managed(p, word, &f);
		break;
	case FRAME_ANON:
		symbolize_anon(p, word, space, &f);
		break;
	case FRAME_GUESS:
		f.kind = BATCH_FRAME_GUESS;
		f.address = FRAME_NUMBER(word);
		break;
	default:
		f.kind = BATCH_FRAME_CUT;
		break;
	}
	p->cost += COST_FRAME;
	if (frame_kind_class(f.kind) != FRAMES_MARK) {
		p->frames++;
		p->unsymbolized += !f.function || p->unnamed;
	}
	return batch_frame(p->builder, &f);
}

/* A word stands for the whole frame unless there are more behind it.  Processes
 * choose their addresses: the hash has a seed. */
static uint32_t symbolize_frame_of(struct pass *p, const uint64_t *words, uint32_t space)
{
	struct frame_memo *m = &p->memo;
	struct memo_frame made = { .word = words[0] };
	const struct hash_slot *s;
	uint64_t hash;

	if (FRAME_MORE(words[0]))
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

/* --- stacks ------------------------------------------------------------- */

/* A place that was not asked for when it came, since its file was not read then, is
 * asked for now. */
static bool symbolize_line_waits(const struct pass *p, struct executable *e, uint64_t off)
{
	if (!p->lines || !source_lines_of(p->lines, e))
		return false;
	source_lines_want(p->lines, e, off, p->interval, p->now_ns);
	return !executable_lines_unsure(e) && source_lines_wait(p->lines, e, off, p->now_ns);
}

static bool symbolize_frame_waits(const struct pass *p, const uint64_t *words,
				  uint32_t space)
{
	struct executable *e = NULL;

	if (FRAME_KIND(words[0]) == FRAME_ANON)
		return p->jit && jit_waits(p->jit, space, FRAME_ADDR(words[0]),
					   p->now_ns);
	if (FRAME_KIND(words[0]) == FRAME_MANAGED)
		return managed_waits(p->managed, FRAME_NUMBER(words[0]));
	if (FRAME_KIND(words[0]) == FRAME_FILE)
		e = symbolize_by_key(p, words + 1);
	else if (FRAME_KIND(words[0]) == FRAME_NATIVE)
		e = executables_number(p->exes, FRAME_NUMBER(words[0]));
	if (!e)
		return false;
	if (!e->named && !symbols_at(&e->few, FRAME_PLACE(words[0])) &&
	    (e->jobs > 0 ||
	     (e->wanted && (e->fd >= 0 || p->now_ns - e->wanted_ns < OPEN_NS))))
		return true;
	return symbolize_line_waits(p, e, FRAME_PLACE(words[0]));
}

bool pass_trace_waits(const struct pass *p, const struct trace *tr)
{
	size_t end = (size_t)tr->n_kernel + tr->n_user;

	for (size_t i = tr->n_kernel; i < end; i += frame_words(tr->words[i])) {
		if (symbolize_frame_waits(p, &tr->words[i], tr->space))
			return true;
	}
	return false;
}

uint32_t pass_stack(struct pass *p, struct trace *tr)
{
	static const uint64_t nothing[] = { FRAME_WORD(FRAME_CUT, 0, 0) };
	uint32_t frames[KERNEL_MAX + FRAMES_MAX + 1];
	size_t end = (size_t)tr->n_kernel + tr->n_user;
	uint32_t n = 0;

	if (tr->stamp == p->number && tr->stack != STACK_UNMADE)
		return tr->stack;
	for (size_t i = 0; i < end; i += frame_words(tr->words[i]))
		frames[n++] = symbolize_frame_of(p, &tr->words[i], tr->space);
	if (n == 0)		/* a stack must have a frame */
		frames[n++] = symbolize_frame_of(p, nothing, 0);
	p->cost += sizeof(struct batch_stack) + n * sizeof(frames[0]);
	tr->stack = batch_stack(p->builder, frames, n);
	tr->stamp = p->number;
	return tr->stack;
}
