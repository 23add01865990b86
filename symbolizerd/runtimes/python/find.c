// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/python/find.h"

#include "bpf/python.h"
#include "symbolizerd/elf/elf_symbols.h"
#include "symbolizerd/runtimes/python/offsets.h"
#include "symbolizerd/runtimes/python/tail.h"

enum {
	RUNTIME, LOOP, VERSION, SINCE_3_10, SINCE_3_9, SINCE_3_8, INTERPRETERS,
	THREAD, SYMBOLS
};

/* _PyRuntime: 3.7 and later, the loop: 3.6.  Py_Version: 3.11 and later.  The
 * others came with the versions named: "New in version" in the C API's manual. */
static const char *const exported[SYMBOLS] = {
	[RUNTIME] = "_PyRuntime",
	[LOOP] = "_PyEval_EvalFrameDefault",
	[VERSION] = "Py_Version",
	[SINCE_3_10] = "PyModule_AddObjectRef",
	[SINCE_3_9] = "PyObject_CallNoArgs",
	[SINCE_3_8] = "PyCode_NewWithPosOnlyArgs",
	[INTERPRETERS] = "PyInterpreterState_Head",
	[THREAD] = "PyGILState_GetThisThreadState",
};

#define TAIL_MINOR_MIN	14

/* The loop's other part (code.h), if it has a name. */
static const char *const cold[] = { "_PyEval_EvalFrameDefault.cold" };

/* The value of Py_Version: PY_VERSION_HEX (patchlevel.h), 0x030b02f0. */
static uint32_t python_hex(const struct elf_file *f, uint64_t at)
{
	uint64_t v;

	if (!elf_file_get(f, at, &v, sizeof(v)) || v >> 24 != 3)
		return 0;
	return v >> 16 & 0xff;
}

static uint32_t python_minor(const struct elf_file *f, const Elf64_Sym *s)
{
	if (s[VERSION].st_value)
		return python_hex(f, s[VERSION].st_value);
	if (s[SINCE_3_10].st_value)
		return 10;
	if (s[SINCE_3_9].st_value)
		return 9;
	if (s[SINCE_3_8].st_value)
		return 8;
	return 7;
}

static void python_add_loop(struct python_file *p, uint64_t start, uint64_t end)
{
	if (start && start < end && p->n_loops < PYTHON_LOOPS)
		p->loop[p->n_loops++] = (struct code_span){ start, end };
}

static void python_find_loops(const struct elf_file *f, const Elf64_Sym *s,
			      struct python_file *p)
{
	struct code_span other;
	Elf64_Sym c;

	python_add_loop(p, s->st_value, s->st_value + s->st_size);
	elf_symbols_find(f, ".", cold, 1, &c);
	if (c.st_value)
		python_add_loop(p, c.st_value, c.st_value + c.st_size);
	else if (p->n_loops && code_other_part(f, &p->loop[0], &other))
		python_add_loop(p, other.start, other.end);
}

/* The list of interpreters of 3.6 is a variable that is not exported. */
static void python_find_3_6(const struct elf_file *f, const Elf64_Sym *s,
			    struct python_file *p)
{
	p->minor = 6;
	if (code_returns(f, s[INTERPRETERS].st_value, &p->root))
		p->layout = 6;
}

static void python_find_root(const struct elf_file *f, const Elf64_Sym *s,
			     struct python_file *p)
{
	p->minor = python_minor(f, s);
	p->root = s[RUNTIME].st_value;
	if (p->minor >= OFFSETS_MINOR_MIN)
		p->layout = offsets_layout(f, p->root, p->minor,
					   &p->free_threaded);
	else if (p->minor >= 7)
		p->layout = p->minor;
	if (s[THREAD].st_value)
		code_returns_tls(f, s[THREAD].st_value, &p->thread_at);
}

bool python_find_in(const struct elf_file *f, struct python_file *ret)
{
	Elf64_Sym s[SYMBOLS];

	*ret = (struct python_file){ 0 };
	if (!elf_symbols_may_have(f, exported[LOOP]))
		return false;
	elf_symbols_find(f, ".dyn", exported, SYMBOLS, s);
	if (!s[LOOP].st_value ||
	    (!s[RUNTIME].st_value && !s[INTERPRETERS].st_value))
		return false;
	if (s[RUNTIME].st_value)
		python_find_root(f, s, ret);
	else
		python_find_3_6(f, s, ret);
	python_find_loops(f, &s[LOOP], ret);
	if (ret->n_loops && ret->minor >= TAIL_MINOR_MIN)
		ret->n_parts = tail_parts(f, &ret->loop[0], ret->part, PYTHON_PARTS);
	return true;
}
