// SPDX-License-Identifier: Apache-2.0
/*
 * toy - an interpreter to add to trifold as an exercise (docs/HOWTO_ADD_RUNTIME.md)
 *
 * toy FILE runs the function `main` of FILE, whose lines are
 *
 *	def NAME	a function begins; it ends where the next one does
 *	call NAME	call a function; the loop goes on in it
 *	native NAME	call a C function, which calls NAME: with a loop of its own
 *	burn N		count to N
 *	say TEXT	print the rest of the line
 *	forever		go to the function's first line
 *
 * What a profiler must know: where the list of frames begins (toy_now), what a frame looks
 * like, which one a loop began with (.first), and how a function is told from other memory
 * (.type).
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_	32
#define LINES_MAX	64
#define FUNCTIONS_MAX	32

const char toy_version[] = "toy 1";

enum op { CALL, NATIVE, BURN, SAY, FOREVER };

struct code {
	enum op op;
	uint32_t line;
	long n;
	struct function *callee;
	char text[NAME_MAX_];
};

struct function {
	const char *type;	/* toy_version, of which each has the address */
	char name[NAME_MAX_];
	char file[64];
	uint32_t line;		/* of its def */
	uint32_t n;
	struct code code[LINES_MAX];
};

struct frame {
	struct frame *caller;
	struct function *function;
	uint64_t at;		/* index of the code that runs */
	uint64_t first;		/* 1: a loop began with this frame */
};

struct frame *toy_now;		/* the innermost frame */

static struct function functions[FUNCTIONS_MAX];
static size_t n_functions;
static const char *path;

static _Noreturn void fail(const char *what, const char *word)
{
	fprintf(stderr, "toy: %s: %s %s\n", path, what, word);
	exit(1);
}

static struct function *find(const char *name)
{
	for (size_t i = 0; i < n_functions; i++) {
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	}
	fail("no function", name);
}

/* --- running -------------------------------------------------------------------- */

static volatile long sink;

static void burn(long n)
{
	for (long i = 0; i < n; i++)
		sink += i ^ sink >> 3;
}

static void push(struct function *f, bool first)
{
	struct frame *new = calloc(1, sizeof(*new));

	if (!new)
		fail("no memory in", f->name);
	*new = (struct frame){ .caller = toy_now, .function = f, .first = first };
	toy_now = new;
}

static void pop(void)
{
	struct frame *old = toy_now;

	toy_now = old->caller;
	free(old);
}

void toy_loop(struct function *f);

/* C that calls the language. */
__attribute__((noinline)) void toy_native(struct function *f)
{
	toy_loop(f);
	sink++;		/* no tail call */
}

/* Run f, and what it calls, until it returns. */
__attribute__((noinline)) void toy_loop(struct function *f)
{
	push(f, true);
	for (;;) {
		struct frame *now = toy_now;
		struct code *c = &now->function->code[now->at];

		if (now->at >= now->function->n) {
			bool last = now->first;

			pop();
			if (last)
				return;
			toy_now->at++;
			continue;
		}
		switch (c->op) {
		case CALL:
			push(c->callee, false);
			continue;
		case NATIVE:
			toy_native(c->callee);
			break;
		case BURN:
			burn(c->n);
			break;
		case SAY:
			puts(c->text);
			fflush(stdout);
			break;
		case FOREVER:
			now->at = 0;
			continue;
		}
		now->at++;
	}
}

/* --- reading ---------------------------------------------------------------------- */

static void read_line(const char *word, const char *text, uint32_t line)
{
	static const char *const ops[] = { "call", "native", "burn", "say", "forever" };
	struct function *f = n_functions ? &functions[n_functions - 1] : NULL;
	struct code *c;

	if (!strcmp(word, "def")) {
		if (n_functions == FUNCTIONS_MAX)
			fail("too many functions at", text);
		f = &functions[n_functions++];
		f->type = toy_version;
		f->line = line;
		snprintf(f->name, sizeof(f->name), "%s", text);
		snprintf(f->file, sizeof(f->file), "%s", path);
		return;
	}
	if (!f || f->n == LINES_MAX)
		fail(f ? "too many lines in" : "no function before", f ? f->name : word);
	c = &f->code[f->n++];
	*c = (struct code){ .line = line, .n = atol(text) };
	snprintf(c->text, sizeof(c->text), "%s", text);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		if (!strcmp(word, ops[i])) {
			c->op = i;
			return;
		}
	}
	fail("unknown word", word);
}

int main(int argc, char **argv)
{
	char line[256], word[NAME_MAX_], text[NAME_MAX_];
	FILE *in;

	path = argc > 1 ? argv[1] : "";
	in = fopen(path, "r");
	if (!in)
		fail("cannot be read:", "give me a program");
	for (uint32_t n = 1; fgets(line, sizeof(line), in); n++) {
		text[0] = '\0';
		if (sscanf(line, "%31s %31[^\n]", word, text) > 0 && word[0] != '#')
			read_line(word, text, n);
	}
	fclose(in);
	for (size_t i = 0; i < n_functions; i++) {
		for (uint32_t k = 0; k < functions[i].n; k++) {
			struct code *c = &functions[i].code[k];

			if (c->op == CALL || c->op == NATIVE)
				c->callee = find(c->text);
		}
	}
	toy_loop(find("main"));
	return 0;
}
