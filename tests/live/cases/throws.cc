// SPDX-License-Identifier: Apache-2.0
/* throws NAME: exceptions, three calls deep. */
extern "C" {
#include "busy.h"

LINK void thrower(void);
LINK void passes(void);
LINK void catches(void);
}

void thrower(void)
{
	throw 1;
}

void passes(void)
{
	thrower();
	sink = sink + 1;
}

void catches(void)
{
	try {
		passes();
	} catch (int i) {
		sink = sink + i;
	}
	sink = sink + 1;	/* or __cxa_end_catch() is a tail call */
}

int main(int argc, char **argv)
{
	if (argc > 1)
		be_called(argv[1]);
	for (;;)
		catches();
}
