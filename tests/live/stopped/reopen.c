// SPDX-License-Identifier: Apache-2.0
/*
 * reopen LIBRARY - stops itself: when it is ready; four times in main; three
 * times in a library that was switched out once, unmapped, and mapped at another
 * address.  Built with -DLIBRARY it is that library.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef LIBRARY
volatile int calls;

void through_library(void (*fn)(void));
void through_library(void (*fn)(void))
{
	fn();
	calls++;	/* no tail call */
}
#else
#define MAIN_STOPS	4

static void switched_out(void)
{
	usleep(1);
}

static void stops(void)
{
	raise(SIGSTOP);
}

static void *run_in(const char *path, void (*fn)(void), int times)
{
	void *lib = dlopen(path, RTLD_NOW), *sym;
	Dl_info info;

	sym = lib ? dlsym(lib, "through_library") : NULL;
	if (!sym || !dladdr(sym, &info)) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	for (int i = 0; i < times; i++)
		((void (*)(void (*)(void)))sym)(fn);
	dlclose(lib);
	return info.dli_fbase;
}

int main(int argc, char **argv)
{
	void *base;

	if (argc < 2)
		return 1;
	for (int i = 0; i < 1 + MAIN_STOPS; i++)
		stops();
	base = run_in(argv[1], switched_out, 1);
	/* not there again */
	if (mmap(base, 1, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) == MAP_FAILED)
		return 1;
	run_in(argv[1], stops, 3);
	return 0;
}
#endif
