// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/loader_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/conn.h"
#include "ipc/runtimes.h"
#include "symbolizerd/hub/intake.h"
#include "symbolizerd/hub/interval.h"
#include "symbolizerd/knowledge/record.h"

#define RECORDS_MAX	65536u		/* handled in one go, and a datagram more */
#define FREQUENCY_MAX	1000000u	/* Hz */

#define loader_link_of(source, member)					\
	((struct loader_link *)((char *)(source) -			\
				offsetof(struct loader_link, member)))

/* --- counts of BPF ------------------------------------------------------------ */

static size_t loader_link_counts_bytes(uint32_t cpus)
{
	return cpus * sizeof(struct cpu_counts);
}

/* The kernel checks the length of a BPF map's mapping, but not a file's. */
static bool loader_link_counts_stay(int fd, size_t bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	return !S_ISREG(st.st_mode) ||
	       (seals >= 0 && (seals & F_SEAL_SHRINK) &&
		(uint64_t)st.st_size >= bytes);
}

/* Map what MSG_HELLO_LOADER brought; fd is borrowed.  0; -errno; or -EPROTO: an invalid
 * number, or memory that could shrink below the mapping. */
static int loader_link_map_counts(struct loader_counts *c, int fd, uint32_t cpus)
{
	size_t bytes = loader_link_counts_bytes(cpus);
	void *at;

	if (!cpus || cpus > COUNTS_CPUS_MAX || !loader_link_counts_stay(fd, bytes))
		return -EPROTO;
	at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	*c = (struct loader_counts){ at, cpus };
	return 0;
}

static void loader_link_unmap_counts(struct loader_counts *c)
{
	if (c->at)
		munmap((void *)c->at, loader_link_counts_bytes(c->cpus));
	*c = (struct loader_counts){ NULL, 0 };
}

/* --- samples --------------------------------------------------------------- */

/* Take the records of a datagram of n bytes, and count them.  MSG_OK, or
 * MSG_BAD_CONTENT: it is not whole records. */
static int loader_link_take(struct loader_link *l, size_t n, unsigned int *records)
{
	uint32_t len;

	for (size_t at = 0; at < n; at += len) {
		void *rec = (char *)l->datagram + at;

		if (n - at < 8)
			return MSG_BAD_CONTENT;
		memcpy(&len, rec, sizeof(len));
		if (len % 8 || len < 8 || len > n - at)
			return MSG_BAD_CONTENT;
		++*records;
		if (len <= RECORD_MAX && intake_record(l->link.k, rec, len))
			continue;
		l->link.k->stats.offences++;
		if (log_limited(&l->bad_log))
			log_warn("invalid record of %u bytes", len);
	}
	return MSG_OK;
}

static void loader_link_close_samples(struct loader_link *l)
{
	if (l->samples.fd >= 0) {
		evloop_del(l->link.loop, &l->samples);
		close(l->samples.fd);
	}
	l->samples.fd = -1;
}

/* Take what is in the socket: so many records.  MSG_OK, or an offence. */
static int loader_link_receive(struct loader_link *l, unsigned int *records)
{
	int r = MSG_OK;

	*records = 0;
	while (r == MSG_OK && *records < RECORDS_MAX) {
		ssize_t n = recv(l->samples.fd, l->datagram,
				 sizeof(l->datagram), MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n == 0 || (n < 0 && errno == ECONNRESET)) {
			/* loaderd is gone: the connection says so, too */
			loader_link_close_samples(l);
			break;
		}
		if (n < 0)
			r = MSG_BAD_FDS;
		else if ((size_t)n > sizeof(l->datagram))
			r = MSG_TRUNCATED;
		else
			r = loader_link_take(l, (size_t)n, records);
	}
	return r;
}

void loader_link_drain(struct loader_link *l)
{
	unsigned int records;
	int r;

	if (l->samples.fd < 0 || l->draining)
		return;
	l->draining = true;
	r = loader_link_receive(l, &records);
	l->draining = false;
	if (records)
		knowledge_heard(l->link.k);
	visits_ask(&l->link.k->managed.visits, false, now_ns());
	visits_ask(&l->link.k->jit.visits, false, now_ns());
	if (r == MSG_OK)
		return;
	loader_link_close_samples(l);
	peer_link_offence(&l->link, r);
}

static int loader_link_on_samples(struct ev_source *src, uint32_t events)
{
	(void)events;
	loader_link_drain(loader_link_of(src, samples));
	return 0;
}

static void loader_link_closed(void *ctx)
{
	struct loader_link *l = ctx;
	unsigned int unused;

	outbox_clear(&l->out);
	l->adopted = l->clogged = false;
	l->unanswered = 0;
	/* what is left in the socket was forwarded: it counts */
	if (l->samples.fd >= 0)
		(void)!loader_link_receive(l, &unused);
	loader_link_close_samples(l);
	ledger_loader_gone(&l->link.k->ledger);
}

/* --- what goes out --------------------------------------------------------- */

static void loader_link_flush(struct loader_link *l)
{
	int r;

	if (!peer_link_ready(&l->link))
		return;
	r = outbox_flush(&l->out, &l->link.conn);
	peer_link_want_write(&l->link, r == -EAGAIN);
}

/* Have the sampler loaded for other runtimes, if it is time. */
static void loader_link_runtimes(struct loader_link *l)
{
	struct msg_runtimes m;

	if (l->adopted && runtimes_wanted_ask(&l->runtimes, l->link.k->files.of_runtime,
					      l->unanswered > 1, now_ns(), &m.runtimes))
		loader_link_send(l, MSG_RUNTIMES, 0, &m, sizeof(m), NULL, 0, -1);
}

int loader_link_send(struct loader_link *l, unsigned int type, uint64_t id,
		     const void *payload, size_t a, const void *tail,
		     size_t b, int fd)
{
	int r;

	/* what walks a file is there before its entry, unless another was loaded a moment ago */
	if (type == MSG_ENTRY)
		loader_link_runtimes(l);
	if (id && l->unanswered)
		l->unanswered--;
	if (!peer_link_ready(&l->link) || l->clogged) {
		if (fd >= 0)
			close(fd);
		return -ENOTCONN;
	}
	r = outbox_put(&l->out, type, id, payload, a, tail, b, fd);
	if (r)
		l->clogged = true;
	else
		loader_link_flush(l);
	return r;
}

/* A message was lost, so loaderd's tables are not what we think.  It must connect
 * again and say what it has. */
static void loader_link_unclog(struct loader_link *l)
{
	if (!l->clogged)
		return;
	if (log_limited(&l->bad_log))
		log_warn("loaderd does not read its messages");
	peer_link_disconnect(&l->link);
}

void loader_link_checkpoint(struct loader_link *l)
{
	struct loader_stats unused;
	struct hub_totals t;

	if (!peer_link_ready(&l->link))
		return;
	ledger_view(&l->link.k->ledger, &t, &unused);
	if (!memcmp(&t, &l->told, sizeof(t)))
		return;
	if (conn_send(&l->link.conn, MSG_CHECKPOINT, 0, &t, sizeof(t), NULL, 0,
		      NULL, 0) == 0)
		l->told = t;
}

/* --- what comes in --------------------------------------------------------- */

/* Another loaderd: its numbers mean something else. */
static void loader_link_new_life(struct knowledge *k)
{
	interval_end(k, true);
	traces_clear(&k->traces);
	ksym_clear(&k->ksyms);
	executables_forget_numbers(&k->exes);
	processes_forget_numbers(&k->processes);
}

/* Takes over the socket; on failure it stays the message's. */
static int loader_link_open_samples(struct loader_link *l, struct msg *msg)
{
	char first;
	int r;

	/* is it a socket? */
	if (recv(msg->fds[0], &first, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	    errno != EAGAIN)
		return -errno;
	l->samples = (struct ev_source){ msg->fds[0], loader_link_on_samples };
	r = evloop_add(l->link.loop, &l->samples, EPOLLIN);
	if (r < 0)
		l->samples.fd = -1;
	else
		msg_take_fd(msg, 0);
	return r;
}

/* From here on the account is that of this loaderd, or not changed at all. */
static int loader_link_open_account(struct loader_link *l,
				    const struct msg_hello_loader *m,
				    int counts_fd)
{
	struct knowledge *k = l->link.k;
	struct loader_counts counts;
	struct hub_totals left;
	enum ledger_hello hello;

	if (loader_link_map_counts(&counts, counts_fd, m->cpus))
		return MSG_BAD_CONTENT;
	memcpy(&left, &m->checkpoint, sizeof(left));
	/* newer, if that hub was the last one */
	if (l->left_valid && l->left.received >= left.received &&
	    l->left.former_taken == left.former_taken)
		left = l->left;
	l->left_valid = false;
	hello = ledger_loader_hello(&k->ledger,
				    m->account == ACCOUNT_SAME ? &left : NULL);
	if (hello == HELLO_BAD) {
		loader_link_unmap_counts(&counts);
		return MSG_BAD_CONTENT;
	}
	ledger_loader_counts(&k->ledger, counts.at, counts.cpus);
	loader_link_unmap_counts(&l->counts);
	l->counts = counts;
	if (hello == HELLO_ANOTHER && m->account != ACCOUNT_NEXT)
		loader_link_new_life(k);
	return MSG_OK;
}

static int loader_link_welcome(struct loader_link *l, const struct msg *msg)
{
	struct msg_hello_hub m = { .record_version = REC_VERSION };
	int r;

	l->link.conn.state = CONN_READY;
	l->told = (struct hub_totals){ .received = UINT64_MAX };
	r = conn_send(&l->link.conn, MSG_HELLO_HUB, msg->hdr.id, &m, sizeof(m),
		      NULL, 0, NULL, 0);
	if (r == -EAGAIN)
		return MSG_BAD_STATE;	/* its buffer is full: it does not read */
	if (r < 0)
		return r;		/* it has gone */
	loader_link_checkpoint(l);
	return MSG_OK;
}

static int loader_link_on_hello(struct loader_link *l, struct msg *msg)
{
	struct knowledge *k = l->link.k;
	struct msg_hello_loader m;

	memcpy(&m, msg->buf, sizeof(m));
	l->connection++;
	runtimes_wanted_begin(&l->runtimes);
	if (m.record_version != REC_VERSION || m.frequency == 0 ||
	    m.frequency > FREQUENCY_MAX || m.account >= ACCOUNT__MAX ||
	    m.partial > 1 || m.idle_s == 0 ||
	    loader_link_open_samples(l, msg) < 0)
		return MSG_BAD_CONTENT;
	if (loader_link_open_account(l, &m, msg->fds[1]) != MSG_OK) {
		loader_link_close_samples(l);
		return MSG_BAD_CONTENT;
	}
	if (files_begin(&k->files, m.table_budget, m.idle_s,
			(uint32_t)(now_ns() / NSEC_PER_SEC)))
		return MSG_BAD_STATE;	/* no memory: it will connect again */
	if (k->ledger.presumed)
		k->presume_end_ns = now_ns() + LEDGER_PRESUME_NS;
	cpu_share_loader(&k->share, NULL);
	k->loader_ns = k->load_ns = 0;
	own_note_peer(&k->own, OWN_LOADER, l->link.conn.fd);
	k->frequency = m.frequency;
	k->partial = m.partial;
	return loader_link_welcome(l, msg);
}

static int loader_link_on_cgroup(struct loader_link *l, const struct msg *msg)
{
	struct msg_cgroup m;

	memcpy(&m, msg->buf, sizeof(m));
	if (cgroups_add(&l->link.k->cgroups, &m.request) == -EPROTO)
		return MSG_BAD_CONTENT;
	return MSG_OK;
}

/* Say which runtimes the kernel does not load. */
static void loader_link_refused(const struct loader_stats *s, uint64_t runtimes)
{
	for (uint32_t r = RUNTIME_NONE + 1; r < RUNTIME__MAX; r++) {
		if (runtimes >> r & 1)
			log_warn("the sampler cannot be loaded with %s (%s): its frames are missing; "
				 "tried again every ten minutes", runtime_info(r)->name,
				 s->variant_error ? strerror((int)(s->variant_error & 0xfff)) :
						    "loaderd does not know it");
	}
}

static int loader_link_on_stats(struct loader_link *l, const struct msg *msg)
{
	struct knowledge *k = l->link.k;
	struct msg_loader_stats m;
	bool sampled = k->ledger.last.cpus;
	bool loaded = l->runtimes.waiting;
	uint64_t now = now_ns();

	memcpy(&m, msg->buf, sizeof(m));
	loader_link_drain(l);
	loader_link_refused(&m.stats, runtimes_wanted_answer(&l->runtimes, &m.stats, now));
	/* to load the sampler is no work for files or names, and others bound how often it is done */
	if (loaded) {
		cpu_share_loader(&k->share, NULL);
		if (m.stats.cpu_ns > k->ledger.last.cpu_ns)
			k->load_ns += m.stats.cpu_ns - k->ledger.last.cpu_ns;
	}
	ledger_loader_stats(&k->ledger, &m.stats);
	cpu_share_loader(&k->share, &m.stats);
	own_note(&k->own, OWN_RESPAWNER, (pid_t)m.stats.opener.parent);
	own_note(&k->own, OWN_OPENER, (pid_t)m.stats.opener.pid);
	if (m.stats.cpus && !sampled) {
		if (l->sampled_ns)
			ledger_missed(&k->ledger, (now - l->sampled_ns) * m.stats.cpus);
		k->out->sampling(k->ctx);
	}
	if (m.stats.cpus || sampled)
		l->sampled_ns = now;
	if (!files_settled_to(&k->files, msg->hdr.id))
		return MSG_BAD_CONTENT;
	return MSG_OK;
}

static int loader_link_dispatch(struct loader_link *l, struct msg *msg)
{
	switch (msg->hdr.type) {
	case MSG_HELLO_LOADER:
		return loader_link_on_hello(l, msg);
	case MSG_EXE:
		l->unanswered++;
		return l->files(l->files_ctx, msg);
	case MSG_SLAB:
	case MSG_KNOWN:
	case MSG_MAPPED:
	case MSG_WANTED_FILE:
	case MSG_WANTED_NONE:
		return l->files(l->files_ctx, msg);
	case MSG_CGROUP:
		return loader_link_on_cgroup(l, msg);
	case MSG_LOADER_STATS:
		return loader_link_on_stats(l, msg);
	case MSG_BYE:
		loader_link_drain(l);
		ledger_loader_bye(&l->link.k->ledger);
		l->link.conn.state = CONN_ENDING;
		return MSG_OK;
	default:
		return MSG_BAD_TYPE;
	}
}

static int loader_link_handle(void *ctx, struct msg *msg)
{
	struct loader_link *l = ctx;
	int r = loader_link_dispatch(l, msg);

	if (msg->hdr.type == MSG_KNOWN)
		loader_link_runtimes(l);
	loader_link_unclog(l);
	return r;
}

static void loader_link_writable(void *ctx)
{
	loader_link_flush(ctx);
}

static const struct peer_link_ops loader_link_ops = {
	.name = "loaderd",
	.peer = PEER_LOADERD,
	.root_too = true,
	.handle = loader_link_handle,
	.writable = loader_link_writable,
	.closed = loader_link_closed,
};

/* --- the whole -------------------------------------------------------------- */

void loader_link_tick(struct loader_link *l)
{
	struct knowledge *k = l->link.k;
	uint64_t begin;

	loader_link_drain(l);
	begin = cpu_share_begin();
	files_tick(&k->files, (uint32_t)(now_ns() / NSEC_PER_SEC));
	loader_link_runtimes(l);
	loader_link_flush(l);
	cpu_share_end(&k->share, begin);
	loader_link_unclog(l);
	loader_link_checkpoint(l);
}

int loader_link_init(struct loader_link *l, struct evloop *loop,
		     struct knowledge *k, loader_files_fn files,
		     void *files_ctx, uid_t uid, int listener)
{
	*l = (struct loader_link){
		.files = files,
		.files_ctx = files_ctx,
		.samples.fd = -1,
	};
	return peer_link_init(&l->link, loop, k, &loader_link_ops, l, uid,
			      listener);
}

void loader_link_stop_accepting(struct loader_link *l)
{
	peer_link_stop_accepting(&l->link);
}

void loader_link_fini(struct loader_link *l)
{
	peer_link_disconnect(&l->link);
	loader_link_unmap_counts(&l->counts);
}
