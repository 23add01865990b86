// SPDX-License-Identifier: Apache-2.0
/*
 * plt NAME [WHERE]: calls a function of a library that does nothing.
 * WHERE: entry: faults for ever in its entry of the PLT, as that reads the GOT;
 * first: in the PLT's first entry, with what the function's own has pushed;
 * leaf: calls one that burns.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "busy.h"

void lib_quick(void), lib_leaf(void);
extern char _GLOBAL_OFFSET_TABLE_[];

LINK static void calls(void)
{
	for (int i = 0; i < 1000; i++)
		lib_quick();
	sink++;
}

LINK static void calls_leaf(void)
{
	lib_leaf();
	sink++;
}

/* Behind the entry's jump through the GOT: there it pushes a number. */
LINK static void calls_unbound(void)
{
	__asm__ volatile("call lib_quick@PLT+6" : : : "memory");
	sink++;
}

/* For ever, and not with sink: that may be in the GOT's page. */
LINK static void in_handler(void)
{
	for (volatile unsigned long n = 0;; n++)
		;
}

static void handler(int sig)
{
	in_handler();
	sink += sig;
}

static void hide_got(void)
{
	unsigned long size = sysconf(_SC_PAGESIZE);
	char *page = (char *)((unsigned long)_GLOBAL_OFFSET_TABLE_ & -size);

	signal(SIGSEGV, handler);
	mprotect(page, 2 * size, PROT_NONE);	/* it may lie astride of two */
}

int main(int argc, char **argv)
{
	int where = argc > 2 ? argv[2][0] : 0;

	if (argc > 1)
		be_called(argv[1]);
	while (where == 'l')
		calls_leaf();
	calls();	/* bound from now on */
	if (where)
		hide_got();
	if (where == 'f')
		calls_unbound();
	for (;;)
		calls();
}
