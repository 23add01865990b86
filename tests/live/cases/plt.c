// SPDX-License-Identifier: Apache-2.0
/* plt NAME: calls a function of a library that does nothing. */
#include "busy.h"

void lib_quick(void);

LINK static void calls(void)
{
	for (int i = 0; i < 1000; i++)
		lib_quick();
	sink++;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		be_called(argv[1]);
	for (;;)
		calls();
}
