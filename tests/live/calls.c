// SPDX-License-Identifier: Apache-2.0
/*
 * calls - the system calls of all processes that have a seccomp filter
 *
 * usage: calls FILTERS [NR:ARG...]	(root; runs until standard input ends)
 *
 * Looks at threads with more than FILTERS filters, and for a call of number NR
 * at its argument ARG (0 to 4).  Says "ready", and then, each once,
 *	filter PID DEPTH COMM INSNS	before the first call of a process with
 *					DEPTH filters: the newest of them, each
 *					instruction in 16 hexadecimal digits
 *	call PID DEPTH NR ARGUMENT	in hexadecimal; 0 if not asked for
 *	dropped N			at the end
 */
#include "tests/live/calls.h"

#include <bpf/libbpf.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/live/calls.skel.h"

static int on_event(void *ctx, void *data, size_t len)
{
	const struct calls_filter *f = data;
	const struct calls_call *c = data;

	(void)ctx;
	if (len == sizeof(*c)) {
		printf("call %u:%llu %u %u %x\n", c->tgid, c->start_ns, c->depth,
		       c->nr, c->arg);
		return 0;
	}
	printf("filter %u:%llu %u %.*s ", f->tgid, f->start_ns, f->depth,
	       CALLS_COMM, f->comm);
	for (unsigned int i = 0; i < f->n; i++)
		printf("%016llx", (unsigned long long)f->insn[i]);
	putchar('\n');
	return 0;
}

static void watch(struct calls *skel, char **argv)
{
	unsigned int nr, arg;

	skel->bss->depth_before = (unsigned int)atoi(argv[1]);
	for (argv += 2; *argv; argv++) {
		if (sscanf(*argv, "%u:%u", &nr, &arg) != 2 || nr >= CALLS_NR ||
		    arg > 4) {
			fprintf(stderr, "calls: %s?\n", *argv);
			exit(2);
		}
		skel->bss->watched[nr] = (unsigned char)(arg + 1);
	}
}

int main(int argc, char **argv)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct calls *skel;
	struct ring_buffer *ring;
	struct pollfd fds[2];

	if (argc < 2)
		return 2;
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skel = calls__open_and_load();
	if (!skel)
		return 1;
	watch(skel, argv);
	ring = ring_buffer__new(bpf_map__fd(skel->maps.out), on_event, NULL, NULL);
	if (!ring || calls__attach(skel))
		return 1;
	puts("ready");
	fflush(stdout);
	fds[0] = (struct pollfd){ .fd = 0, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = ring_buffer__epoll_fd(ring), .events = POLLIN };
	while (poll(fds, 2, -1) > 0 && !fds[0].revents)
		ring_buffer__consume(ring);
	ring_buffer__consume(ring);
	printf("dropped %llu\n", (unsigned long long)skel->bss->dropped);
	ring_buffer__free(ring);
	calls__destroy(skel);
	return 0;
}
