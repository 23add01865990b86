// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/exporter_link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "ipc/batch.h"
#include "ipc/conn.h"
#include "ipc/sealed.h"

#define DEBUGINFO_BYTES_MAX	(512ULL << 20)

static int exporter_link_send_batch(struct exporter_link *x,
				    struct sent_batch *s)
{
	struct msg_batch m = { .bytes = s->bytes, .samples = s->events };

	return conn_send(&x->link.conn, MSG_BATCH, s->id, &m, sizeof(m), NULL,
			 0, &s->fd, 1);
}

void exporter_link_flush(struct exporter_link *x)
{
	struct sent_batch *s;
	int r = 0;

	if (exporter_link_ready(x)) {
		while (r == 0 && (s = batches_unsent(&x->link.k->batches))) {
			r = exporter_link_send_batch(x, s);
			s->sent = r == 0;
		}
		/* a broken connection shows itself when it is read */
		peer_link_want_write(&x->link, r == -EAGAIN);
	}
	loader_link_checkpoint(x->loader);
}

static bool exporter_link_plausible(const struct msg_hello_exporter *m)
{
	if (m->queued_samples >= LEDGER_COUNT_MAX / 16 || m->wants_status > 1 ||
	    m->spools > 1 || m->debuginfod > 1 || m->pad)
		return false;
	for (int i = 0; i < BATCH__OUTCOMES; i++) {
		if (m->unreported.samples[i] >= LEDGER_COUNT_MAX / 16)
			return false;
	}
	return true;
}

static int exporter_link_on_hello(struct exporter_link *x,
				  const struct msg *msg)
{
	struct msg_hello_hub hello = { .record_version = REC_VERSION };
	struct knowledge *k = x->link.k;
	struct msg_hello_exporter m;
	int r;

	memcpy(&m, msg->buf, sizeof(m));
	if (m.batch_version != BATCH_VERSION || !exporter_link_plausible(&m))
		return MSG_BAD_CONTENT;
	k->ledger.spools = m.spools;
	batches_hello(&k->batches, m.queued_samples, &m.unreported);
	k->presume_end_ns = 0;
	own_note_peer(&k->own, OWN_EXPORTER, x->link.conn.fd);
	x->wants_status = m.wants_status;
	x->debuginfod = x->servers && m.debuginfod;
	x->link.conn.state = CONN_READY;
	r = conn_send(&x->link.conn, MSG_HELLO_HUB, msg->hdr.id, &hello,
		      sizeof(hello), NULL, 0, NULL, 0);
	if (r == -EAGAIN)
		return MSG_BAD_STATE;	/* its buffer is full: it does not read */
	if (r < 0)
		return r;		/* it has gone */
	exporter_link_flush(x);
	return MSG_OK;
}

static int exporter_link_on_done(struct exporter_link *x,
				 const struct msg *msg)
{
	struct msg_batch_done m;

	memcpy(&m, msg->buf, sizeof(m));
	if (!batches_done(&x->link.k->batches, msg->hdr.id, m.outcome,
			  m.samples))
		return MSG_BAD_CONTENT;
	loader_link_checkpoint(x->loader);
	return MSG_OK;
}

/* --- debug files from servers -------------------------------------------------- */

static struct debuginfo_ask *exporter_link_ask(struct exporter_link *x, uint64_t id)
{
	for (int i = 0; i < DEBUGINFO_ASKS_MAX; i++) {
		if (x->asks[i].id == id)
			return &x->asks[i];
	}
	return NULL;
}

static bool exporter_link_asks_for(const struct exporter_link *x, const struct build_id *id)
{
	for (int i = 0; i < DEBUGINFO_ASKS_MAX; i++) {
		const struct debuginfo_ask *a = &x->asks[i];

		if (a->id && a->build_id.len == id->len &&
		    !memcmp(a->build_id.bytes, id->bytes, id->len))
			return true;
	}
	return false;
}

/* For a question of this owner; NULL: not now. */
static struct debuginfo_ask *exporter_link_free_ask(struct exporter_link *x, uint32_t owner)
{
	uint32_t own = 0, used = 0;

	for (int i = 0; i < DEBUGINFO_ASKS_MAX; i++) {
		if (!x->asks[i].id)
			continue;
		used++;
		if (x->asks[i].owner == owner)
			own++;
	}
	if (!debug_files_may_ask(own, used, DEBUGINFO_ASKS_MAX))
		return NULL;
	return exporter_link_ask(x, 0);
}

bool exporter_link_debug_missing(struct exporter_link *x, const struct build_id *id,
				 uint32_t owner, bool useless)
{
	struct msg_debuginfo_wanted m = {
		.build_id_len = id->len, .useless = useless, .owner = owner,
	};
	struct debuginfo_ask *a;

	if (!exporter_link_ready(x))
		return false;
	if (!x->debuginfod || id->len < DEBUGINFO_ID_MIN || exporter_link_asks_for(x, id))
		return true;
	a = exporter_link_free_ask(x, owner);
	if (!a)
		return false;
	memcpy(m.build_id, id->bytes, id->len);
	if (conn_send(&x->link.conn, MSG_DEBUGINFO_WANTED, x->questions + 1, &m, sizeof(m),
		      NULL, 0, NULL, 0) < 0)
		return false;
	*a = (struct debuginfo_ask){ ++x->questions, owner, *id };
	return true;
}

/* A worker will read it, as any file: memory that cannot change any more, or a regular file that
 * is there to be read.  It has the size that it is said to have. */
static bool exporter_link_debug_fits(int fd, uint64_t bytes)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	return ((seals >= 0 && (seals & SEALED_SEALS) == SEALED_SEALS) ||
		(fcntl(fd, F_GETFL) & (O_ACCMODE | O_PATH)) == O_RDONLY) &&
	       !fstat(fd, &st) && S_ISREG(st.st_mode) && bytes &&
	       bytes <= DEBUGINFO_BYTES_MAX && (uint64_t)st.st_size == bytes;
}

static int exporter_link_on_debuginfo(struct exporter_link *x, struct msg *msg)
{
	struct debuginfo_ask *a = NULL;
	bool found = msg->hdr.type == MSG_DEBUGINFO;
	struct knowledge *k = x->link.k;
	struct msg_debuginfo m;

	if (msg->hdr.id)
		a = exporter_link_ask(x, msg->hdr.id);
	if (found) {
		memcpy(&m, msg->buf, sizeof(m));
		if (!exporter_link_debug_fits(msg->fds[0], m.bytes))
			return MSG_BAD_CONTENT;
	}
	if (a)
		a->id = 0;
	if (!a || !found)	/* an answer to nothing is of no use */
		return MSG_OK;
	debug_files_found(&k->debug_files, &k->exes, &a->build_id, msg_take_fd(msg, 0),
			  DEBUG_SERVER, now_ns());
	return MSG_OK;
}

static int exporter_link_handle(void *ctx, struct msg *msg)
{
	struct exporter_link *x = ctx;
	struct msg_exporter_stats stats;

	switch (msg->hdr.type) {
	case MSG_HELLO_EXPORTER:
		return exporter_link_on_hello(x, msg);
	case MSG_BATCH_DONE:
		return exporter_link_on_done(x, msg);
	case MSG_DEBUGINFO:
	case MSG_DEBUGINFO_NONE:
		return exporter_link_on_debuginfo(x, msg);
	case MSG_EXPORTER_STATS:
		memcpy(&stats, msg->buf, sizeof(stats));
		x->stats = stats.stats;
		return MSG_OK;
	default:
		return MSG_BAD_TYPE;
	}
}

static void exporter_link_writable(void *ctx)
{
	exporter_link_flush(ctx);
}

static void exporter_link_gone(void *ctx)
{
	struct exporter_link *x = ctx;

	if (!x->ending && exporter_link_ready(x))
		x->link.k->ledger.t.exporter_deaths++;
}

static void exporter_link_closed(void *ctx)
{
	struct exporter_link *x = ctx;

	memset(&x->stats, 0, sizeof(x->stats));
	memset(x->asks, 0, sizeof(x->asks));
	x->debuginfod = false;
}

static const struct peer_link_ops exporter_link_ops = {
	.name = "exporterd",
	.peer = PEER_EXPORTERD,
	.handle = exporter_link_handle,
	.writable = exporter_link_writable,
	.gone = exporter_link_gone,
	.closed = exporter_link_closed,
};

int exporter_link_init(struct exporter_link *x, struct evloop *loop,
		       struct knowledge *k, struct loader_link *loader,
		       uid_t uid, bool servers, int listener)
{
	*x = (struct exporter_link){ .loader = loader, .servers = servers };
	return peer_link_init(&x->link, loop, k, &exporter_link_ops, x, uid,
			      listener);
}

void exporter_link_stop_accepting(struct exporter_link *x)
{
	x->ending = true;
	peer_link_stop_accepting(&x->link);
}

void exporter_link_fini(struct exporter_link *x)
{
	peer_link_disconnect(&x->link);
}
