// SPDX-License-Identifier: Apache-2.0
/* big NAME: a function of 320 KiB that calls from its middle. */
#include "busy.h"

#define CODE __asm__ volatile(".rept 40000\nadd $1, %0\n.endr" : "+r"(x))

LINK static void leaf(void)
{
	spin();
}

LINK static void big(void)
{
	volatile unsigned long pad[5] = { sink };
	unsigned long x = sink;

	for (int i = 0; i < 8; i++)
		CODE;
	leaf();
	for (int i = 0; i < 8; i++)
		CODE;
	sink += pad[0] + x;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		be_called(argv[1]);
	for (;;)
		big();
}
