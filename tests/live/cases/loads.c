// SPDX-License-Identifier: Apache-2.0
/*
 * loads NAME LIBRARY: dlopen()s it and stays in it.
 * loads NAME PLACE A B SECONDS: opens a copy of A at PLACE for SECONDS, writes B
 * over it, the same inode, opens it again, and so on.  PLACE is "-": A itself
 * and B itself, in turn, which must come to lie at one address.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	char buf[65536];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0) {
		if (write(out, buf, n) != n)
			exit(1);
	}
	close(in);
	close(out);
}

LINK static void stay(const char *path, int seconds)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*run)(void) = lib ? (void (*)(void))dlsym(lib, "lib_run") : NULL;
	static void (*before)(void);
	time_t end = time(NULL) + seconds;

	if (!run || (before && before != run))
		exit(1);
	before = run;
	while (!seconds || time(NULL) < end)
		run();
	dlclose(lib);
}

/* The library, or its copy. */
static const char *at(char **argv, int which)
{
	if (!strcmp(argv[2], "-"))
		return argv[which];
	copy(argv[which], argv[2]);
	return argv[2];
}

LINK static void first(char **argv)
{
	stay(at(argv, 3), atoi(argv[5]));
	sink++;
}

LINK static void second(char **argv)
{
	stay(at(argv, 4), atoi(argv[5]));
	sink++;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	be_called(argv[1]);
	if (argc < 6)
		stay(argv[2], 0);
	for (;;) {
		first(argv);
		second(argv);
	}
}
