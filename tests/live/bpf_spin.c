// SPDX-License-Identifier: Apache-2.0
/*
 * bpf_spin - loads a BPF program of this name and runs it until it is ended
 *
 * usage: bpf_spin NAME
 *
 * The process is called as the program; its name in stacks is bpf_prog_TAG_NAME.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TURNS	20000

/* r0 = 0; r1 = TURNS; do r1 -= 1; while (r1); exit */
static const struct bpf_insn insns[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = TURNS },
	{ .code = BPF_ALU64 | BPF_SUB | BPF_K, .dst_reg = 1, .imm = 1 },
	{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 1, .off = -2, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static long bpf(int command, union bpf_attr *a)
{
	return syscall(SYS_bpf, command, a, sizeof(*a));
}

int main(int argc, char **argv)
{
	uint8_t packet[64] = { 0 };
	union bpf_attr load, run;
	long fd;

	if (argc != 2)
		return 2;
	memset(&load, 0, sizeof(load));
	load.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	load.insns = (uintptr_t)insns;
	load.insn_cnt = sizeof(insns) / sizeof(*insns);
	load.license = (uintptr_t)"GPL";
	strncpy(load.prog_name, argv[1], sizeof(load.prog_name) - 1);
	prctl(PR_SET_NAME, argv[1]);
	fd = bpf(BPF_PROG_LOAD, &load);
	if (fd < 0) {
		perror("BPF_PROG_LOAD");
		return 1;
	}
	for (;;) {
		memset(&run, 0, sizeof(run));
		run.test.prog_fd = (uint32_t)fd;
		run.test.data_in = (uintptr_t)packet;
		run.test.data_size_in = sizeof(packet);
		run.test.repeat = 1000;
		if (bpf(BPF_PROG_TEST_RUN, &run)) {
			perror("BPF_PROG_TEST_RUN");
			return 1;
		}
	}
}
