// SPDX-License-Identifier: Apache-2.0
/*
 * A C program that has CPython in it: python_embed LIBPYTHON SCRIPT SECONDS MODE
 *
 *	main	the script's main() in the main thread
 *	thread	in a thread of C's that CPython has not met (PyGILState_Ensure())
 *
 * Without CPython's headers: what it needs of the C API is of simple types.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*initialize)(void);
static int (*run)(const char *);
static int (*ensure)(void);
static void (*release)(int);
static void *(*save)(void);

__attribute__((noinline)) static void c_calls(const char *text)
{
	if (run(text))
		exit(1);
	__asm__ volatile("");	/* no tail call */
}

static void *c_thread(void *text)
{
	int state = ensure();

	c_calls(text);
	release(state);
	return NULL;
}

static void *symbol(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return p;
}

int main(int argc, char **argv)
{
	void *lib = argc == 5 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	static char text[4096];
	pthread_t t;

	if (!lib) {
		fprintf(stderr, "usage, or %s\n", dlerror());
		return 1;
	}
	initialize = symbol(lib, "Py_Initialize");
	run = symbol(lib, "PyRun_SimpleString");
	ensure = symbol(lib, "PyGILState_Ensure");
	release = symbol(lib, "PyGILState_Release");
	save = symbol(lib, "PyEval_SaveThread");
	snprintf(text, sizeof(text), "import sys; sys.argv = ['', '%s', 'chain']; "
		 "exec(compile(open('%s').read(), '%s', 'exec'))",
		 argv[3], argv[2], argv[2]);
	initialize();
	if (!strcmp(argv[4], "main")) {
		c_calls(text);
		return 0;
	}
	save();
	if (pthread_create(&t, NULL, c_thread, text))
		return 1;
	return pthread_join(t, NULL);
}
