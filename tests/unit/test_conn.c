// SPDX-License-Identifier: Apache-2.0
/*
 * Over real sockets: what arrives, what does not, and that no descriptor is
 * ever left over.
 */
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "tests/unit/harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	CHECK(dir != NULL);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

struct pair {
	struct conn hub;	/* at the hub's side: loaderd is the peer */
	struct conn loader;
};

static struct pair make_pair(void)
{
	struct pair p = { 0 };
	int fds[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == 0);
	conn_init(&p.hub, fds[0], PEER_LOADERD, CONN_READY);
	conn_init(&p.loader, fds[1], PEER_HUB, CONN_READY);
	return p;
}

static void end_pair(struct pair *p)
{
	conn_close(&p->hub);
	conn_close(&p->loader);
	conn_close(&p->hub);
}

/* Send bytes and n descriptors as no honest peer would. */
static void send_raw(int fd, const void *data, size_t len, unsigned int n)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(64 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)data, len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[64];

	CHECK(n <= 64);
	for (unsigned int i = 0; i < n; i++)
		fds[i] = 2;
	if (n) {
		mh.msg_control = &control;
		mh.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, n * sizeof(int));
	}
	CHECK_EQ(sendmsg(fd, &mh, MSG_NOSIGNAL), len);
}

TEST(conn_carries_payload_tail_and_descriptors)
{
	struct msg_exe exe = { .process.tgid = 5, .key.ino = 99 };
	struct pair p = make_pair();
	int before = open_fds(), fd = 2;
	struct msg m;

	CHECK_EQ(conn_send(&p.loader, MSG_EXE, 42, &exe, sizeof(exe), "/bin",
			   4, &fd, 1), 0);
	CHECK_EQ(conn_recv(&p.hub, &m), 0);
	CHECK_EQ(m.hdr.type, MSG_EXE);
	CHECK_EQ(m.hdr.id, 42);
	CHECK_EQ(m.hdr.len, sizeof(exe) + 4);
	CHECK(!memcmp(m.buf, &exe, sizeof(exe)));
	CHECK(!memcmp(m.buf + sizeof(exe), "/bin", 4));
	CHECK_EQ(m.nfds, 1);
	CHECK(fcntl(m.fds[0], F_GETFD) & FD_CLOEXEC);
	fd = msg_take_fd(&m, 0);
	CHECK(fd >= 0);
	CHECK_EQ(msg_take_fd(&m, 0), -1);
	CHECK_EQ(msg_take_fd(&m, 1), -1);
	msg_close_fds(&m);
	CHECK(fcntl(fd, F_GETFD) >= 0);		/* taken: not closed */
	close(fd);
	CHECK_EQ(open_fds(), before);
	CHECK_EQ(conn_recv(&p.hub, &m), -EAGAIN);
	end_pair(&p);
}

TEST(conn_closes_what_is_not_taken)
{
	static const struct msg_hello_loader hello = { .cpus = 1 };
	struct pair p = make_pair();
	int before = open_fds(), fds[2] = { 0, 1 }, fd;
	struct msg m;

	p.hub.state = CONN_NEW;
	CHECK_EQ(conn_send(&p.loader, MSG_HELLO_LOADER, 1, &hello, sizeof(hello),
			   NULL, 0, fds, 2), 0);
	CHECK_EQ(conn_recv(&p.hub, &m), 0);
	CHECK_EQ(m.nfds, 2);
	CHECK_EQ(open_fds(), before + 2);
	fd = msg_take_fd(&m, 1);
	msg_close_fds(&m);
	CHECK_EQ(open_fds(), before + 1);
	close(fd);
	end_pair(&p);
}

TEST(conn_closes_surplus_descriptors)
{
	static const unsigned int counts[] = { 1, 2, 3, 4, 5, 12, 13, 14, 64 };
	struct msg_hdr bye = { MSG_VERSION, MSG_BYE, 0, 0 };
	struct pair p = make_pair();
	int before = open_fds();
	struct msg m;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		int r;

		send_raw(p.loader.fd, &bye, sizeof(bye), counts[i]);
		r = conn_recv(&p.hub, &m);
		CHECK(r == MSG_BAD_FDS || r == MSG_TRUNCATED);
		if (counts[i] <= MSG_FDS_MAX)
			CHECK_EQ(r, MSG_BAD_FDS);
		if (counts[i] == 64)
			CHECK_EQ(r, MSG_TRUNCATED);
		CHECK_EQ(m.nfds, 0);
		CHECK_EQ(open_fds(), before);
	}
	end_pair(&p);
}

TEST(conn_rejects_truncated_control_data)
{
	struct msg_hdr bye = { MSG_VERSION, MSG_BYE, 0, 0 };
	struct pair p = make_pair();
	int before = open_fds(), one = 1;
	struct msg m;

	/* credentials take their room: the fifth descriptor cannot fit */
	CHECK(setsockopt(p.hub.fd, SOL_SOCKET, SO_PASSCRED, &one,
			 sizeof(one)) == 0);
	send_raw(p.loader.fd, &bye, sizeof(bye), 5);
	CHECK_EQ(conn_recv(&p.hub, &m), MSG_TRUNCATED);
	CHECK_EQ(open_fds(), before);
	/* but the one more than allowed does fit, and is seen as such */
	send_raw(p.loader.fd, &bye, sizeof(bye), MSG_FDS_MAX + 1);
	CHECK_EQ(conn_recv(&p.hub, &m), MSG_BAD_FDS);
	CHECK_EQ(open_fds(), before);
	end_pair(&p);
}

TEST(conn_rejects_short_and_oversized_datagrams)
{
	static uint8_t big[sizeof(struct msg_hdr) + MSG_LEN_MAX + 1];
	struct pair p = make_pair();
	int before = open_fds();
	struct msg m;

	for (size_t len = 1; len < sizeof(struct msg_hdr); len++) {
		send_raw(p.loader.fd, big, len, 2);
		CHECK_EQ(conn_recv(&p.hub, &m), MSG_BAD_LEN);
	}
	send_raw(p.loader.fd, big, sizeof(big), 1);
	CHECK_EQ(conn_recv(&p.hub, &m), MSG_TRUNCATED);
	CHECK_EQ(open_fds(), before);
	end_pair(&p);
}

TEST(conn_judges_by_peer_and_state)
{
	struct msg_cgroup cgroup = { .request.cgroup_id = 3 };
	struct pair p = make_pair();
	struct msg m;

	p.hub.state = CONN_NEW;
	CHECK_EQ(conn_send(&p.loader, MSG_CGROUP, 1, &cgroup,
			   sizeof(cgroup), NULL, 0, NULL, 0), 0);
	CHECK_EQ(conn_recv(&p.hub, &m), MSG_BAD_STATE);
	p.hub.state = CONN_READY;
	p.hub.peer = PEER_EXPORTERD;
	CHECK_EQ(conn_send(&p.loader, MSG_CGROUP, 1, &cgroup,
			   sizeof(cgroup), NULL, 0, NULL, 0), 0);
	CHECK_EQ(conn_recv(&p.hub, &m), MSG_BAD_SENDER);
	end_pair(&p);
}

TEST(conn_end_of_peer_is_epipe)
{
	struct pair p = make_pair();
	int before = open_fds();
	struct msg m;

	/* an empty datagram looks like the end; its descriptor must not stay */
	send_raw(p.loader.fd, "", 0, 1);
	CHECK_EQ(conn_recv(&p.hub, &m), -EPIPE);
	CHECK_EQ(open_fds(), before);
	conn_close(&p.loader);
	CHECK_EQ(conn_recv(&p.hub, &m), -EPIPE);
	CHECK_EQ(conn_send(&p.hub, MSG_BYE, 0, NULL, 0, NULL, 0, NULL, 0),
		 -EPIPE);
	end_pair(&p);
}

TEST(conn_unread_message_of_a_dead_peer_is_epipe_too)
{
	struct pair p = make_pair();
	struct msg m;

	CHECK_EQ(conn_send(&p.hub, MSG_BYE, 0, NULL, 0, NULL, 0, NULL, 0), 0);
	conn_close(&p.loader);		/* without reading it: ECONNRESET */
	CHECK_EQ(conn_recv(&p.hub, &m), -EPIPE);
	end_pair(&p);
}

TEST(conn_full_buffer_is_eagain)
{
	struct msg_cgroup cgroup = { .request.cgroup_id = 3 };
	struct pair p = make_pair();
	int r = 0, n = 0;

	while (r == 0 && n++ < 1000000)
		r = conn_send(&p.loader, MSG_CGROUP, 1, &cgroup,
			      sizeof(cgroup), NULL, 0, NULL, 0);
	CHECK_EQ(r, -EAGAIN);
	end_pair(&p);
}

TEST(conn_refuses_to_send_what_cannot_be_received)
{
	static const uint8_t buf[MSG_LEN_MAX + 1];
	int fds[MSG_FDS_MAX + 1] = { 0, 1, 2 };
	struct pair p = make_pair();

	CHECK_EQ(conn_send(&p.loader, MSG_EXE, 0, buf, sizeof(buf), NULL, 0,
			   NULL, 0), -EMSGSIZE);
	CHECK_EQ(conn_send(&p.loader, MSG_EXE, 0, buf, 1, buf, MSG_LEN_MAX,
			   NULL, 0), -EMSGSIZE);
	CHECK_EQ(conn_send(&p.loader, MSG_EXE, 0, buf, 1, buf, SIZE_MAX,
			   NULL, 0), -EMSGSIZE);
	CHECK_EQ(conn_send(&p.loader, MSG_EXE, 0, buf, 8, NULL, 0, fds,
			   MSG_FDS_MAX + 1), -EMSGSIZE);
	end_pair(&p);
}

/* --- who is there ---------------------------------------------------------- */

static int listen_at(char *path, size_t size)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	snprintf(path, size, "/tmp/trifold-conn-%d", (int)getpid());
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	unlink(path);
	CHECK(fd >= 0);
	CHECK(bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	CHECK(listen(fd, 4) == 0);
	return fd;
}

TEST(conn_connect_wants_credentials_first)
{
	struct msg_hello_hub hello = { .record_version = 1 };
	struct conn client, server = { 0 };
	int listener, before;
	char path[64];
	struct msg m;

	listener = listen_at(path, sizeof(path));
	CHECK_EQ(conn_accept(&server, listener, PEER_LOADERD, getuid(), false),
		 -EAGAIN);
	before = open_fds();
	CHECK_EQ(conn_connect(&client, path, PEER_HUB, getuid()), 0);
	CHECK_EQ(conn_accept(&server, listener, PEER_LOADERD, getuid(), false),
		 0);
	CHECK_EQ(conn_send(&server, MSG_HELLO_HUB, 0, &hello, sizeof(hello),
			   NULL, 0, NULL, 0), 0);
	CHECK_EQ(conn_recv(&client, &m), 0);
	CHECK(!client.want_cred);
	conn_close(&client);
	conn_close(&server);

	/* the same, but the one who answers is not who was expected */
	CHECK_EQ(conn_connect(&client, path, PEER_HUB, getuid() + 1), 0);
	CHECK_EQ(conn_accept(&server, listener, PEER_LOADERD, getuid(), false),
		 0);
	CHECK_EQ(conn_send(&server, MSG_HELLO_HUB, 0, &hello, sizeof(hello),
			   NULL, 0, NULL, 0), 0);
	CHECK_EQ(conn_recv(&client, &m), MSG_BAD_SENDER);
	conn_close(&client);
	conn_close(&server);
	CHECK_EQ(open_fds(), before);
	unlink(path);
}

TEST(conn_credentials_and_descriptors_fit_together)
{
	struct msg_slab slab = { .slab = 3 };
	struct conn client, server = { 0 };
	int listener, fd = 2;
	char path[64];
	struct msg m;

	listener = listen_at(path, sizeof(path));
	CHECK_EQ(conn_connect(&client, path, PEER_HUB, getuid()), 0);
	CHECK_EQ(conn_accept(&server, listener, PEER_LOADERD, getuid(), false),
		 0);
	client.state = CONN_READY;
	client.peer = PEER_LOADERD;	/* no message of the hub has a descriptor */
	CHECK_EQ(conn_send(&server, MSG_SLAB, 0, &slab, sizeof(slab),
			   NULL, 0, &fd, 1), 0);
	CHECK_EQ(conn_recv(&client, &m), 0);
	CHECK_EQ(m.nfds, 1);
	msg_close_fds(&m);
	unlink(path);
}

TEST(conn_want_cred_refuses_a_message_without)
{
	struct msg_hello_hub hello = { .record_version = 1 };
	struct pair p = make_pair();
	struct msg m;

	p.loader.state = CONN_NEW;
	p.loader.want_cred = true;
	p.loader.cred_uid = getuid();
	CHECK_EQ(conn_send(&p.hub, MSG_HELLO_HUB, 0, &hello, sizeof(hello),
			   NULL, 0, NULL, 0), 0);
	CHECK_EQ(conn_recv(&p.loader, &m), MSG_BAD_SENDER);
	end_pair(&p);
}

TEST(conn_accept_refuses_other_uids)
{
	struct conn client, server = { .fd = -1 };
	int listener, before;
	char path[64];

	listener = listen_at(path, sizeof(path));
	before = open_fds();
	CHECK_EQ(conn_connect(&client, path, PEER_HUB, getuid()), 0);
	CHECK_EQ(conn_accept(&server, listener, PEER_LOADERD, getuid() + 1,
			     false), -EACCES);
	CHECK_EQ(server.fd, -1);
	conn_close(&client);
	CHECK_EQ(open_fds(), before);
	/* root may be let in whoever else is expected */
	CHECK_EQ(conn_connect(&client, path, PEER_HUB, getuid()), 0);
	CHECK_EQ(conn_accept(&server, listener, PEER_LOADERD, getuid() + 1,
			     true), getuid() == 0 ? 0 : -EACCES);
	unlink(path);
}

TEST(conn_connect_failure_leaves_nothing_open)
{
	struct conn c;
	char longer[200];
	int before = open_fds();

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	CHECK_EQ(conn_connect(&c, "/nonexistent/socket", PEER_HUB, 0), -ENOENT);
	CHECK_EQ(c.fd, -1);
	CHECK_EQ(conn_connect(&c, longer, PEER_HUB, 0), -ENAMETOOLONG);
	CHECK_EQ(c.fd, -1);
	CHECK_EQ(open_fds(), before);
}

/* --- every bit of a good message, flipped ---------------------------------- */

TEST(conn_survives_every_single_bit_flip)
{
	struct {
		struct msg_hdr hdr;
		struct msg_exe exe;
		char path[4];
	} __attribute__((packed)) sample = {
		.hdr = { MSG_VERSION, MSG_EXE, sizeof(struct msg_exe) + 4, 1 },
		.exe = { .process.tgid = 5 }, .path = "/bin",
	};
	uint8_t bytes[sizeof(sample)];
	struct pair p = make_pair();
	int before = open_fds();
	struct msg m;

	for (size_t bit = 0; bit < 8 * sizeof(sample); bit++) {
		int r;

		memcpy(bytes, &sample, sizeof(sample));
		bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
		send_raw(p.loader.fd, bytes, sizeof(bytes), 1);
		r = conn_recv(&p.hub, &m);
		/* version, type, len decide; the rest is the handler's */
		CHECK_EQ(r == 0, bit >= 8 * offsetof(struct msg_hdr, id));
		msg_close_fds(&m);
	}
	CHECK_EQ(open_fds(), before);
	end_pair(&p);
}
