// SPDX-License-Identifier: Apache-2.0
/* Exports what a perl does that is not known yet, and burns CPU time in its loop. */
#include <stdint.h>
#include <stdio.h>

const char PL_version = 98, PL_subversion = 1;
uint32_t PL_thr_key;
volatile unsigned long sum;

__attribute__((noinline)) void burn(void)
{
	for (int i = 0; i < 1000; i++)
		sum += i;
}

__attribute__((noinline)) int Perl_runops_standard(void)
{
	for (;;)
		burn();
	return 0;
}

int main(void)
{
	return Perl_runops_standard();
}
