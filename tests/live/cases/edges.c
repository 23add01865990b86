// SPDX-License-Identifier: Apache-2.0
/* edges NAME: calls LOOP() of edges.S for ever. */
#include "busy.h"

void LOOP(void);

LINK static void outer(void)
{
	volatile unsigned long pad[5] = { sink };

	LOOP();
	sink += pad[0];
}

int main(int argc, char **argv)
{
	if (argc > 1)
		be_called(argv[1]);
	for (;;)
		outer();
}
