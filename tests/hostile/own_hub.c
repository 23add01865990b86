// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/own_hub.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/table.h"
#include "common/clock.h"
#include "common/log.h"
#include "ipc/sealed.h"
#include "symbolizerd/worker/confine.h"
#include "symbolizerd/worker/zygote.h"

struct place own_place;
struct hub own_hub;

bool own_job_file(struct conn *c, int fd, struct msg_job *job, int *file)
{
	struct msg m;
	int r;

	conn_init(c, fd, PEER_HUB, CONN_READY);
	while ((r = conn_recv(c, &m)) == -EAGAIN)
		poll(NULL, 0, 1);
	if (r)
		return false;
	memcpy(job, m.buf, sizeof(*job));
	*file = m.fds[0];
	return true;
}

bool own_job(struct conn *c, int fd, struct msg_job *job)
{
	int file;

	return own_job_file(c, fd, job, &file);
}

char own_ask_debug(struct conn *c, const struct msg_job_done *done)
{
	struct msg_wanted q = { .build_id_len = done->build_id_len };
	char says = 0;
	struct msg m;
	int r;

	memcpy(q.build_id, done->build_id, done->build_id_len);
	if (conn_send(c, MSG_DEBUG_WANTED, 0, &q, sizeof(q), NULL, 0, NULL, 0))
		return 0;
	while ((r = conn_recv(c, &m)) == -EAGAIN)
		poll(NULL, 0, 1);
	if (r || m.hdr.type != MSG_WANTED_FILE || pread(m.fds[0], &says, 1, 0) != 1)
		return 0;
	return says;
}

int own_table(void)
{
	struct table_hdr hdr = { .magic = TABLE_MAGIC, .n_rules = 2,
				 .pages = 1 };
	struct unwind_rule rules[2] = { [RULE_END].cfa = CFA_END };
	union element dir = { .dir[0].rule_before = RULE_END };
	struct iovec parts[] = { { &hdr, sizeof(hdr) },
				 { rules, sizeof(rules) },
				 { &dir, sizeof(dir) } };

	return sealed_make("table", parts, 3);
}

int own_symbols_called(const char name[7])
{
	struct symbols_hdr hdr = {
		.magic = SYMBOLS_MAGIC, .n = 1, .name_bytes = 8,
	};
	struct symbol s = { .start = OWN_MARK, .size = 16, .name = 1 };
	char names[8] = "";
	struct iovec parts[] = { { &hdr, sizeof(hdr) }, { &s, sizeof(s) },
				 { names, sizeof(names) } };

	memcpy(names + 1, name, 7);
	return sealed_make("symbols", parts, 3);
}

int own_symbols(void)
{
	return own_symbols_called("marked");
}

static int be_hub(void (*adjust)(struct hub *hub))
{
	uid_t uid = getuid() == 0 ? OTHER_ID : (uid_t)-1;
	struct hub_config config = {
		.statm = -1, .cpu_share = HUB_CPU_SHARE, .cpus = 1, .always_on = true,
		.loader_uid = getuid(), .exporter_uid = getuid(),
		.viewer_uid = getuid(),
		.interval_ns = NSEC_PER_SEC,
		.job_deadline_ns = OWN_DEADLINE_NS,
	};
	struct hub_sockets sockets = {
		own_place.fds[0], own_place.fds[1], own_place.fds[2], -1,
	};
	struct zygote_ends zygote;

	log_init("hub", false);
	confine_namespaces();
	if (zygote_start(uid, (gid_t)uid, -1, &zygote) < 0 ||
	    hub_init(&own_hub, &config, &sockets, &zygote) < 0)
		return 1;
	confine_hub(uid, (gid_t)uid);
	if (adjust)
		adjust(&own_hub);
	if (hub_run(&own_hub) < 0)
		return 1;
	hub_fini(&own_hub);
	return 0;
}

void own_begin(struct conn *status, struct fake_loader *l,
	       void (*adjust)(struct hub *hub))
{
	pid_t pid;

	place_make(&own_place);
	for (int i = 0; i < 3; i++)
		NEED(fcntl(own_place.fds[i], F_SETFL, O_NONBLOCK) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(be_hub(adjust));
	hub_started(&own_place, pid);
	status_connect(status, &own_place);
	*l = (struct fake_loader){ 0 };
	loader_connect(l, &own_place);
	loader_hello(l);
}

void own_end(struct conn *status, struct fake_loader *l, struct status *last)
{
	loader_bye(l);
	hub_end(&own_place, status, last);
	loader_drop(l);
}

static struct file_key own_key(uint32_t id)
{
	return (struct file_key){ .ino = id, .size = 2 };
}

void own_send_file(struct fake_loader *l, uint32_t id, const void *bytes,
		   size_t n, uid_t uid)
{
	struct file_key key = own_key(id);
	int fd = memfd_create("file", MFD_CLOEXEC);

	NEED(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	NEED(uid == getuid() || fchown(fd, uid, (gid_t)-1) == 0);
	loader_exe(l, id, &key, "/some/file", fd);
	close(fd);
}

void own_sample_file(struct fake_loader *l, uint32_t id)
{
	struct file_key key = own_key(id);

	loader_sample_file(l, &key, OWN_MARK + 4);
}

uint32_t own_expect_table(struct fake_loader *l, uint32_t id)
{
	struct file_key key = own_key(id);
	struct file_entry e;

	NEED(loader_settled(l, &key, &e) == TABLE_CAME);
	NEED(e.state == FILE_TABLE && e.pages == 1);
	return e.exe;
}

void own_expect_none(struct fake_loader *l, uint32_t id)
{
	struct file_key key = own_key(id);
	struct file_entry e;

	NEED(loader_settled(l, &key, &e) == MSG_ENTRY);
	NEED(e.state == FILE_BARE && e.pages == 0);
}
