// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/lying_hub.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/sealed.h"
#include "tests/unit/harness.h"

struct lying lying = { .samples = -1 };

static char dir[] = "/tmp/loader.XXXXXX", sock[64];
static int listener = -1;

static void lying_cleanup(void)
{
	if (lying.loaderd > 0)
		kill(lying.loaderd, SIGKILL);
	if (lying.busy > 0)
		kill(lying.busy, SIGKILL);
	unlink(sock);
	rmdir(dir);
}

/* Nobody reads what we say, or it was enough. */
static void lying_ends(int sig)
{
	lying_cleanup();
	_exit(128 + sig);
}

static void lying_listen(void)
{
	static const int ends[] = { SIGPIPE, SIGINT, SIGTERM, SIGHUP };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	CHECK(mkdtemp(dir) && chmod(dir, 0755) == 0);
	atexit(lying_cleanup);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		signal(ends[i], lying_ends);
	snprintf(sock, sizeof(sock), "%s/hub", dir);
	strcpy(addr.sun_path, sock);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	CHECK(bind(listener, (struct sockaddr *)&addr, sizeof(addr)) == 0 &&
	      listen(listener, 4) == 0 && chmod(sock, 0666) == 0);
}

pid_t lying_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		_exit(1);
	return pid;
}

void lying_start(void)
{
	static char beside[4096], hub[128];
	ssize_t n;

	if (geteuid() != 0) {
		printf("# needs root\n");
		exit(TEST_SKIP);
	}
	n = readlink("/proc/self/exe", beside, sizeof(beside) - 32);
	CHECK(n > 0);
	*strrchr(beside, '/') = '\0';
	strcat(beside, "/../bin/trifold-loaderd");
	lying_listen();
	lying.busy = lying_child();
	while (lying.busy == 0)
		;		/* so that there is something to sample */
	lying.loaderd = fork();
	if (lying.loaderd == 0) {
		snprintf(hub, sizeof(hub), "--hub=%s", sock);
		execl(beside, "trifold-loaderd", hub, "--hub-uid=0", "--uid=65533", "--gid=65533",
		      "--opener-uid=65532", "--frequency=99", "--table-budget=1", NULL);
		_exit(127);
	}
}

void lying_samples(void)
{
	static uint64_t data[SAMPLES_BYTES / 8];
	ssize_t got;

	while ((got = recv(lying.samples, data, sizeof(data),
			   MSG_DONTWAIT | MSG_TRUNC)) > 0) {
		CHECK((size_t)got <= sizeof(data));
		for (ssize_t at = 0; at < got;) {
			const struct trace_rec *r = (void *)&data[at / 8];

			CHECK(r->len >= 8 && r->len % 8 == 0 &&
			      r->len <= got - at);
			lying.n_samples += r->kind == REC_SAMPLE;
			if (r->kind == REC_SAMPLE &&
			    r->process.tgid == (uint32_t)lying.busy)
				lying.busy_is = r->process;
			at += r->len;
		}
	}
}

/* The last word of loaderd, and what BPF had counted by then. */
static void lying_stats(const struct msg *m)
{
	memcpy(&lying.stats, m->buf, sizeof(lying.stats));
	for (int i = 0; i < BPF_COUNTS; i++) {
		CHECK_EQ(lying.stats.bpf[i], 0);
		for (uint32_t cpu = 0; cpu < lying.cpus; cpu++)
			lying.stats.bpf[i] += lying.counts[cpu].n[i];
	}
}

int lying_next(struct msg *m)
{
	uint64_t end = now_ns() + WAIT_MS * NSEC_PER_MSEC;
	struct pollfd p = { lying.conn.fd, POLLIN, 0 };
	int r;

	do {
		poll(&p, 1, 100);
		if (!lying.deaf)
			lying_samples();
		r = conn_recv(&lying.conn, m);
		if (!r && m->hdr.type == MSG_LOADER_STATS)
			lying_stats(m);
	} while (r == -EAGAIN && now_ns() < end);
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

void lying_expect(struct msg *m, unsigned int type)
{
	for (;;) {
		int r = lying_next(m);

		if (r)
			printf("# waiting for type %u: %s\n", type,
			       r < 0 ? strerror(-r) : msg_verdict_name(r));
		CHECK(r == 0);
		if (m->hdr.type == type)
			return;
		if (lying.skipped)
			lying.skipped(m);
		msg_close_fds(m);
	}
}

void lying_take_known(void)
{
	const void *data;
	struct msg m;
	size_t len;

	lying_expect(&m, MSG_KNOWN);
	lying.n_known = ((struct msg_known *)m.buf)->n;
	CHECK(sealed_map(m.fds[0], sizeof(*lying.known), SIZE_MAX / 2, &data,
			 &len) == 0);
	CHECK(len == (lying.n_known ? lying.n_known : 1) * sizeof(*lying.known));
	free(lying.known);
	lying.known = malloc(len);
	memcpy(lying.known, data, len);
	munmap((void *)data, len);
	msg_close_fds(&m);
}

static struct slab_copy *slabs[SLABS_MAX];

static void lying_unmap(uint32_t slab)
{
	if (slabs[slab])
		munmap(slabs[slab], sizeof(*slabs[slab]));
	slabs[slab] = NULL;
}

void lying_send(unsigned int type, uint64_t id, const void *payload,
		     size_t a, const void *tail, size_t b, int fd)
{
	struct pollfd p = { lying.conn.fd, POLLOUT, 0 };
	int r;

	do {
		poll(&p, 1, 100);
		r = conn_send(&lying.conn, type, id, payload, a, tail, b, &fd, fd >= 0);
	} while (r == -EAGAIN);
	lying.sent += type == MSG_ENTRY ||
		      type == MSG_DROP || type == MSG_SLAB_DROP ||
		      type == MSG_LIST;
	if (type == MSG_SLAB_DROP && ((const struct msg_slab *)payload)->slab < SLABS_MAX)
		lying_unmap(((const struct msg_slab *)payload)->slab);
	/* it may have closed already */
	CHECK(r == 0 || r == -EPIPE || r == -ECONNRESET);
}

union element *lying_slab(uint32_t slab)
{
	struct msg_slab want = { .slab = slab };
	struct msg m;

	if (!slabs[slab]) {
		lying_send(MSG_SLAB_WANTED, 0, &want, sizeof(want), NULL, 0, -1);
		lying_expect(&m, MSG_SLAB);
		CHECK_EQ(((struct msg_slab *)m.buf)->slab, slab);
		slabs[slab] = mmap(NULL, sizeof(*slabs[slab]), PROT_READ | PROT_WRITE,
				   MAP_SHARED, m.fds[0], 0);
		CHECK(slabs[slab] != MAP_FAILED);
		msg_close_fds(&m);
	}
	return slabs[slab]->element;
}

void lying_settle(void)
{
	struct msg m;

	do {
		lying_expect(&m, MSG_LOADER_STATS);
	} while (m.hdr.id < lying.sent);
	CHECK_EQ(m.hdr.id, lying.sent);
}

void lying_accept_only(void)
{
	struct pollfd p = { listener, POLLIN, 0 };
	struct msg_hello_loader l;
	struct msg m;

	CHECK(poll(&p, 1, WAIT_MS) == 1);
	conn_init(&lying.conn, accept(listener, NULL, NULL), PEER_LOADERD, CONN_NEW);
	lying_expect(&m, MSG_HELLO_LOADER);
	memcpy(&l, m.buf, sizeof(l));
	CHECK_EQ(l.table_budget, BUDGET_MIB << 20);
	lying.samples = m.fds[0];
	lying.counts_fd = m.fds[1];
	lying.cpus = l.cpus;
	lying.counts = mmap(NULL, l.cpus * sizeof(*lying.counts), PROT_READ,
			    MAP_SHARED, m.fds[1], 0);
	CHECK(lying.counts != MAP_FAILED);
	lying.conn.state = CONN_READY;
}

void lying_accept(void)
{
	struct msg_hello_hub hello = { .record_version = REC_VERSION };

	lying_accept_only();
	lying_send(MSG_HELLO_HUB, 0, &hello, sizeof(hello), NULL, 0, -1);
	lying.sent = 1;
}

void lying_connect(void)
{
	lying_accept();
	lying_take_known();
}

void lying_disconnect(void)
{
	conn_close(&lying.conn);
	close(lying.samples);
	close(lying.counts_fd);
	munmap((void *)lying.counts, lying.cpus * sizeof(*lying.counts));
	lying.samples = -1;
	for (uint32_t i = 0; i < SLABS_MAX; i++)
		lying_unmap(i);
}

void lying_goes_on(void)
{
	uint64_t taken, forwarded, samples;
	struct msg m;

	while (conn_recv(&lying.conn, &m) == 0)	/* what is old */
		msg_close_fds(&m);
	lying_expect(&m, MSG_LOADER_STATS);
	samples = lying.n_samples;
	taken = lying.stats.bpf[BPF_TAKEN];
	forwarded = lying.stats.forwarded;
	/* two reports may come at once */
	for (int i = 0; i < WAIT_MS / 1000 && (lying.stats.forwarded == forwarded ||
					       lying.stats.bpf[BPF_TAKEN] == taken); i++)
		lying_expect(&m, MSG_LOADER_STATS);
	CHECK(lying.stats.bpf[BPF_TAKEN] > taken && lying.stats.forwarded > forwarded);
	CHECK(lying.n_samples > samples);
	CHECK_EQ(waitpid(lying.loaderd, NULL, WNOHANG), 0);
}
