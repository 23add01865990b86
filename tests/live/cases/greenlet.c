// SPDX-License-Identifier: Apache-2.0
/*
 * A stack as greenlet leaves it: a switch copies it back up to the function that the
 * greenlet began with, which has the name that it has there (TUserGreenlet.cpp).  Behind
 * it lies what others left: here, callers that never called it.  greenlet NAME
 */
#include <string.h>

#include "busy.h"

static char others[192];

LINK static void leaf(void)
{
	spin();
}

/* learn: keep what is behind this function; else put that there, and go on for ever. */
void bootstrap(int learn) __asm__("_ZN8greenlet12UserGreenlet15inner_bootstrapEP9_greenletP7_object");

LINK void bootstrap(int learn)
{
	char *behind = __builtin_dwarf_cfa();

	if (learn) {
		memcpy(others, behind, sizeof(others));
		return;
	}
	memcpy(behind, others, sizeof(others));
	for (;;)
		leaf();
}

LINK static void begins(int learn)
{
	bootstrap(learn);
	sink++;
}

LINK static void never(void)
{
	begins(1);
	sink++;
}

int main(int argc, char **argv)
{
	(void)argc;
	be_called(argv[1]);
	never();
	begins(0);
	return sink == 42;
}
