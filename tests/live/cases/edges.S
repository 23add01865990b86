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

/* as SBCL says it: *(rbp) + lit16 */
function constant_loop
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	push	%rbp
	lea	(%rsp), %rbp
	.cfi_escape 0x0f, 5, 0x76, 0, 0x06, 0x40, 0x22
	mov	$10000, %ecx
1:	call	edge_push
	dec	%ecx
	jnz	1b
	pop	%rbp
	.cfi_def_cfa rbp, 16
	pop	%rbp
	.cfi_restore rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	constant_loop, . - constant_loop

/* another function lies within it; most of it is after that */
function around_loop
	.cfi_startproc
	mov	$10000, %ecx
	jmp	1f
function within
	nop
	ret
	.size	within, . - within
1:	call	edge_push
	dec	%ecx
	jnz	1b
	ret
	.cfi_endproc
	.size	around_loop, . - around_loop

/* its return address is popped while it works: the CFA is rsp */
function popped_loop
	.cfi_startproc
	mov	$100000, %ecx
	pop	%rdx
	.cfi_def_cfa_offset 0
1:	dec	%ecx
	jnz	1b
	push	%rdx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	popped_loop, . - popped_loop

/* goes on on a stack further down, from which \to comes back up */
.macro downwards name, to
function \name
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register rbx
	lea	upper_end(%rip), %rsp
	call	\to
	mov	%rbx, %rsp
	.cfi_def_cfa_register rsp
	pop	%rbx
	.cfi_restore rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

/* the CFA is *(register + 8) + 8, further down */
.macro upwards name, register
function \name
	.cfi_startproc
	.ifc	\register, rbx
	.cfi_signal_frame
	.endif
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	lea	8(%rsp), %rax
	sub	$128, %rbx
	mov	%rax, 8(%rbx)
	mov	%rbx, %rsp
	.ifc	\register, rbx
	.cfi_escape 0x0f, 5, 0x73, 8, 0x06, 0x23, 8
	.else
	.cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 8
	.endif
	mov	$10000, %ecx
1:	call	edge_push
	dec	%ecx
	jnz	1b
	mov	8(%rbx), %rsp
	.cfi_def_cfa rsp, 8
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_restore rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

downwards elsewhere_loop, elsewhere
/* as a call of C in OCaml 5, which is marked as a signal's frame */
upwards elsewhere, rbx
downwards by_hand_loop, by_hand
upwards by_hand, rsp

/* A fiber, as boost.context makes it: what its function would return to is the end. */
function fiber_loop
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register rbx
	lea	upper_end(%rip), %rsp
	lea	fiber_finish(%rip), %rax
	push	%rax
	mov	$1, %ebp	# no frame pointer
	jmp	fiber
	.cfi_endproc
	.size	fiber_loop, . - fiber_loop

function fiber
	.cfi_startproc
1:	mov	$10000, %ecx
2:	call	edge_push
	dec	%ecx
	jnz	2b
	jmp	1b
	.cfi_endproc
	.size	fiber, . - fiber

	push	%rbp
	jmp	*%rbx
fiber_finish:
	xor	%rdi, %rdi
	call	_exit@PLT
	hlt

	.bss
	.balign	16
	.skip	65536
upper_end:
	.skip	64

	.text
/* As hand-written assembler is: no CFI, no frame pointer, rbp is used for data, and
 * below the return address lie registers and data. */
function guess_push
	push	%rbx
	push	%rbp
	sub	$64, %rsp
	mov	$1, %ebp
	movq	$0x1234, 8(%rsp)
	add	$64, %rsp
	pop	%rbp
	pop	%rbx
	ret
	.size	guess_push, . - guess_push

function guess_loop
	push	%rbp
	push	%r12
	push	%r13
	sub	$40, %rsp
	mov	$10000, %r12d
	mov	$3, %ebp
1:	call	guess_push
	dec	%r12d
	jnz	1b
	add	$40, %rsp
	pop	%r13
	pop	%r12
	pop	%rbp
	ret
	.size	guess_loop, . - guess_loop

/* The same above a return address of a call to elsewhere: nothing is guessed. */
function stale_loop
	push	%rbp
	lea	after_call(%rip), %rax
	push	%rax
	mov	$10000, %ecx
	mov	$3, %ebp
1:	dec	%ecx
	jnz	1b
	pop	%rax
	pop	%rbp
	ret
	call	after_call
after_call:
	.size	stale_loop, . - stale_loop

/* The same on a stack that leads to no root: what was guessed goes again. */
function rootless_loop
	push	%rbp
	mov	%rsp, %rax
	lea	rootless_stack+4032(%rip), %rsp
	mov	%rax, 48(%rsp)
	call	rootless_inner
	mov	48(%rsp), %rsp
	pop	%rbp
	ret
	.size	rootless_loop, . - rootless_loop

function rootless_inner
	push	%rbp
	mov	$10000, %ecx
	mov	$3, %ebp
1:	dec	%ecx
	jnz	1b
	pop	%rbp
	ret
	.size	rootless_inner, . - rootless_inner

	.bss
	.balign	16
rootless_stack:
	.zero	4096

	.section .note.GNU-stack, "", @progbits
