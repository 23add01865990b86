// SPDX-License-Identifier: Apache-2.0
/*
 * The real symbolizerd, with a loaderd, an exporterd and a status client that
 * send each message wrong in every way: each costs its sender the connection,
 * counts as one offence, and does nothing else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/table.h"
#include "ipc/rules.h"
#include "tests/hostile/hub_peer.h"
#include "tests/hostile/mutants.h"
#include "tests/unit/harness.h"

static struct place place;

/* --- what is right ------------------------------------------------------------- */

static struct msg_exe exe = { .process.tgid = 4711 };
static struct msg_cgroup cgroup = { .request = { .kind = REQUEST_CGROUP } };
static struct msg_loader_stats stats;
static struct msg_open_failed none = { .error = 2 };
static struct msg_slab slab;
static struct msg_known known;
static struct msg_entry no_entry;
static struct slab_copy elements;
static uint8_t mapped[MAPPED_BYTES];
static struct msg_batch_done done;
static struct msg_exporter_stats exporter_stats;
static uint8_t debug_file[100];
static struct msg_debuginfo debuginfo = { sizeof(debug_file) };
static struct msg_subscribe subscribe = { BATCH_VERSION, 1 };
static struct msg_hello_exporter hello_exporter = {
	.batch_version = BATCH_VERSION,
};
static struct msg_hello_loader hello_loader = {
	.record_version = REC_VERSION, .frequency = 20, .idle_s = 600,
	.table_budget = 64 << 20, .cpus = LOADER_CPUS,
};

#define PLAIN(t, n, p)	{ .type = (t), .id = (n), .payload = &(p),	\
			  .len = sizeof(p) }
#define MEMORY(t, p, b)	{ .type = (t), .payload = &(p), .len = sizeof(p), \
			  .mem = &(b), .mem_len = sizeof(b) }
static const struct mutant of_loader[] = {
	PLAIN(MSG_EXE, 1, exe), PLAIN(MSG_CGROUP, 0, cgroup),
	{ .type = MSG_MAPPED, .mem = mapped, .mem_len = sizeof(mapped) },
	PLAIN(MSG_LOADER_STATS, 0, stats), { .type = MSG_BYE },
	PLAIN(MSG_WANTED_NONE, 7, none), { .type = MSG_WANTED_FILE, .id = 7 },
	{ .type = MSG_SLAB, .payload = &slab, .len = sizeof(slab), .mem = &elements,
	  .mem_len = sizeof(elements), .written = true },
	MEMORY(MSG_KNOWN, known, no_entry),
};
static const struct mutant of_exporter[] = {
	PLAIN(MSG_BATCH_DONE, 1, done),
	PLAIN(MSG_EXPORTER_STATS, 0, exporter_stats),
	MEMORY(MSG_DEBUGINFO, debuginfo, debug_file), { .type = MSG_DEBUGINFO_NONE, .id = 1 },
};
static const struct mutant of_status[] = {
	PLAIN(MSG_SUBSCRIBE, 0, subscribe),
};
static const struct mutant exporter_hello = PLAIN(MSG_HELLO_EXPORTER, 0,
						  hello_exporter);

/* --- who says it --------------------------------------------------------------- */

/* A connection and, of a loaderd, what belongs to it. */
struct peer_of {
	struct conn conn;
	struct fake_loader loader;
	bool is_loader;
};

static void loader_new(struct peer_of *p)
{
	*p = (struct peer_of){ .is_loader = true };
	loader_connect(&p->loader, &place);
	loader_count(&p->loader);
	p->conn = p->loader.conn;
}

static void loader_bare(struct peer_of *p)
{
	*p = (struct peer_of){ .is_loader = true };
	loader_connect(&p->loader, &place);
	loader_hello_only(&p->loader);
	p->conn = p->loader.conn;
}

static void loader_ready(struct peer_of *p)
{
	loader_bare(p);
	loader_known(&p->loader, NULL, 0);
}

static void exporter_new(struct peer_of *p)
{
	*p = (struct peer_of){ .is_loader = false };
	NEED(conn_connect(&p->conn, place_path(&place, "export"), PEER_HUB,
			  hub_uid()) == 0);
}

static void exporter_ready(struct peer_of *p)
{
	*p = (struct peer_of){ .is_loader = false };
	exporter_connect(&p->conn, &place, 0, NULL);
}

static void status_ready(struct peer_of *p)
{
	*p = (struct peer_of){ .is_loader = false };
	status_connect(&p->conn, &place);
}

/* The other end has closed; or we do. */
static void part(struct peer_of *p, bool refused)
{
	if (refused)
		expect_closed(&p->conn);
	else
		conn_close(&p->conn);
	p->loader.conn.fd = -1;
	if (!p->is_loader)
		return;
	loader_drop(&p->loader);
	close(p->loader.counts_fd);
}

struct side {
	const char *name;
	enum peer peer;
	const struct mutant *v;
	size_t n;
	void (*connect)(struct peer_of *p);
	void (*connect_new)(struct peer_of *p);	/* NULL: it need not say hello */
};
#define N(a)	(sizeof(a) / sizeof((a)[0]))
static const struct side sides[] = {
	{ "loaderd", PEER_LOADERD, of_loader, N(of_loader), loader_ready,
	  loader_new },
	{ "exporterd", PEER_EXPORTERD, of_exporter, N(of_exporter),
	  exporter_ready, exporter_new },
	{ "status client", PEER_STATUS, of_status, N(of_status), status_ready,
	  NULL },
};

static void side_connect(const struct side *s, unsigned int type,
			 struct peer_of *p)
{
	/* what a former hub has left comes before all others */
	if (type == MSG_SLAB || type == MSG_KNOWN)
		loader_bare(p);
	else
		s->connect(p);
}

/* --- tests ------------------------------------------------------------------------ */

/* Those that a worker sends to the hub over the same rule are another's. */
TEST(hub_has_a_message_of_each_type)
{
	for (size_t k = 0; k < N(sides); k++) {
		uint64_t types = 0;

		for (size_t i = 0; i < sides[k].n; i++)
			types |= 1ULL << sides[k].v[i].type;
		for (unsigned int t = 1; t < MSG__MAX; t++) {
			const struct msg_rule *r = msg_rule(t);
			bool sent = r->from & sides[k].peer &&
				    r->states & CONN_READY;

			/* loaderd's to its opener, exporterd's to a recorder */
			if (t == MSG_OPEN || t == MSG_DEBUG_WANTED ||
			    t == MSG_MEM_WANTED || t == MSG_PERF_MAP_WANTED || t == MSG_BATCH)
				sent = false;
			NEED((types >> t & 1) == sent);
		}
	}
}

static uint64_t all_mutations(const struct side *s, const struct mutant *m)
{
	uint64_t offences = 0;
	struct peer_of p;

	for (int how = MUT_NONE; how < MUTATIONS; how++) {
		side_connect(s, m->type, &p);
		if (!mutant_send(p.conn.fd, m, (enum mutation)how)) {
			part(&p, false);
			continue;
		}
		printf("# %s, %s: %s\n", s->name, msg_type_name(m->type),
		       mutation_name((enum mutation)how));
		part(&p, how != MUT_NONE);
		offences += how != MUT_NONE;
	}
	return offences;
}

TEST(hub_refuses_each_message_that_is_wrong)
{
	uint64_t offences = 0;
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	for (size_t k = 0; k < N(sides); k++) {
		for (size_t i = 0; i < sides[k].n; i++)
			offences += all_mutations(&sides[k], &sides[k].v[i]);
		status_until(&status, &st, has_offences, offences);
		NEED(st.hub.offences == offences);
	}
	hub_end(&place, &status, &st);
	printf("# %lu messages refused\n", offences);
	NEED(st.hub.offences == offences && account_now(&st).difference == 0);
}

TEST(hub_refuses_what_is_not_for_it)
{
	uint64_t offences = 0;
	struct conn status;
	struct status st;
	struct peer_of p;

	hub_begin(&place);
	status_connect(&status, &place);
	for (size_t k = 0; k < N(sides); k++) {
		for (unsigned int t = 0; t < MUTANT_TYPES; t++) {
			sides[k].connect(&p);
			if (!mutant_send_stranger(p.conn.fd, sides[k].peer,
						  CONN_READY, t)) {
				part(&p, false);
				continue;
			}
			printf("# %s, %s (%u)\n", sides[k].name,
			       msg_type_name(t), t);
			part(&p, true);
			offences++;
		}
	}
	status_until(&status, &st, has_offences, offences);
	hub_end(&place, &status, &st);
	printf("# %lu messages refused\n", offences);
	NEED(st.hub.offences == offences);
}

/* Before a hello there is nothing but a hello. */
TEST(hub_takes_nothing_before_a_hello)
{
	uint64_t offences = 0;
	struct conn status;
	struct status st;
	struct peer_of p;

	hub_begin(&place);
	status_connect(&status, &place);
	for (size_t k = 0; k < N(sides); k++) {
		for (size_t i = 0; sides[k].connect_new && i < sides[k].n; i++) {
			printf("# %s, %s\n", sides[k].name,
			       msg_type_name(sides[k].v[i].type));
			sides[k].connect_new(&p);
			NEED(mutant_send(p.conn.fd, &sides[k].v[i], MUT_NONE));
			part(&p, true);
			offences++;
		}
	}
	status_until(&status, &st, has_offences, offences);
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == offences);
}

static bool hello_mutant(enum mutation how, bool loader)
{
	struct mutant m = exporter_hello;
	struct peer_of p;
	bool sent;

	if (loader) {
		loader_new(&p);
		m = (struct mutant)PLAIN(MSG_HELLO_LOADER, 0, hello_loader);
		m.fds[0] = p.loader.hubs;
		m.fds[1] = p.loader.counts_fd;
	} else {
		exporter_new(&p);
	}
	sent = mutant_send(p.conn.fd, &m, how);
	if (sent)
		printf("# %s: %s\n", msg_type_name(m.type), mutation_name(how));
	part(&p, sent && how != MUT_NONE);
	return sent && how != MUT_NONE;
}

TEST(hub_refuses_each_hello_that_is_wrong)
{
	uint64_t offences = 0;
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	for (int how = MUT_NONE; how < MUT_MEM_UNSEALED; how++) {
		offences += hello_mutant((enum mutation)how, true);
		offences += hello_mutant((enum mutation)how, false);
	}
	status_until(&status, &st, has_offences, offences);
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == offences);
}
