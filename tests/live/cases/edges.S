/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are hardly more than their first and last instruction. */
	.text
	.macro	function name
	.globl	\name
	.type	\name, @function
\name:
	.endm

function edge_ret
	.cfi_startproc
	ret
	.cfi_endproc
	.size	edge_ret, . - edge_ret

function edge_push
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	push	%r12
	.cfi_def_cfa_offset 24
	.cfi_offset r12, -24
	pop	%r12
	.cfi_restore r12
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_restore rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	edge_push, . - edge_push

function edge_loop
	.cfi_startproc
	mov	$10000, %ecx
1:	call	edge_ret
	call	edge_push
	dec	%ecx
	jnz	1b
	ret
	.cfi_endproc
	.size	edge_loop, . - edge_loop

/* the same with frame pointers and without any CFI */
function bare_push
	push	%rbp
	mov	%rsp, %rbp
	pop	%rbp
	ret
	.size	bare_push, . - bare_push

function bare_loop
	push	%rbp
	mov	%rsp, %rbp
	mov	$10000, %ecx
1:	call	bare_push
	dec	%ecx
	jnz	1b
	pop	%rbp
	ret
	.size	bare_loop, . - bare_loop

/* the CFA is what the word at rsp + 8 says */
function expression_loop
	.cfi_startproc
	lea	8(%rsp), %rax
	sub	$0x68, %rsp
	.cfi_def_cfa_offset 0x70
	mov	%rax, 8(%rsp)
	.cfi_escape 0x0f, 3, 0x77, 8, 0x06
	mov	$10000, %ecx
1:	call	edge_push
	dec	%ecx
	jnz	1b
	add	$0x68, %rsp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	expression_loop, . - expression_loop

/* the CFA hangs on rbx, and rsp is somewhere else */
function register_loop
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register rbx
	sub	$0x1234, %rsp
	and	$-64, %rsp
	mov	$10000, %ecx
1:	call	edge_push
	dec	%ecx
	jnz	1b
	mov	%rbx, %rsp
	.cfi_def_cfa_register rsp
	pop	%rbx
	.cfi_restore rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	register_loop, . - register_loop

	.section .note.GNU-stack, "", @progbits
