# SPDX-License-Identifier: Apache-2.0
# 32 bit: as --32, ld -m elf_i386
	.globl	_start
_start:
	incl	%eax
	jmp	_start
