// SPDX-License-Identifier: Apache-2.0
/*
 * trifold-loaderd - loads the BPF programs and owns every map
 *
 * Started as root; afterwards CAP_BPF and CAP_PERFMON under a uid of its own
 * (confine.h).  Therefore: parses nothing that a profiled process can write,
 * opens no path that it was handed, and believes symbolizerd only as far as
 * msg_check(), elements.c and entries.c reach.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/service.h"
#include "loaderd/bpf.h"
#include "loaderd/confine.h"
#include "loaderd/drain.h"
#include "loaderd/entries.h"
#include "loaderd/requests.h"
#include "loaderd/hub_link.h"
#include "loaderd/sampling.h"
#include "loaderd/store.h"

#define DRAIN_MS	250	/* the ring holds seconds of samples, and wakes us
				 * when three quarters are full */
#define QUIET_MS	5000	/* when nothing comes: then it wakes us at once */
#define REQUESTS_TURN	64	/* then samples are taken again */
#define LISTING_NS	(50 * NSEC_PER_MSEC)	/* in a second: 5 % of a CPU */
#define FINISH_NS	NSEC_PER_SEC	/* symbolizerd takes the last samples */
#define BEGIN_NS	(2 * NSEC_PER_SEC)	/* the first sample waits for tables */

struct loaderd {
	struct bpf bpf;
	struct opener opener;
	struct entries entries;
	struct requests requests;
	struct ksyms ksyms;
	struct drain drain;
	struct sampling sampling, former;	/* a dead loaderd's goes on until ours begins */
	struct hub_link hub;
	struct loader_stats stats;
	struct ring_buffer *sample_ring, *request_ring;	/* of BPF */
	bool blind;		/* the walker did not see our own mappings */
	bool busy;		/* something came since the last report, or is due */
	uint64_t tick_ns, second_ns, listing_ns;	/* the last: listed so long
							 * in this second */
	uint32_t handled;	/* requests of BPF */
	uint64_t ready_ns;	/* first sent files to symbolizerd; 0: not yet */
	bool ready;		/* it has the tables of what runs, or had the time */
};

static volatile sig_atomic_t ended;

/* --- arguments -------------------------------------------------------------------- */

#define ID_MAX		(UINT32_MAX - 1)

enum { UID, GID, OPENER_UID, HUB_UID, FREQUENCY, TABLE_MIB, IDLE_S, VERBOSE };

static struct argument {
	const char *name;
	uint64_t min, max, value;	/* max 0: takes no value, is 1 if given */
	enum filter_kind filter;	/* each value is another ID */
} arguments[] = {
	[UID] = { "--uid", 1, ID_MAX, UINT32_MAX, 0 },
	[GID] = { "--gid", 1, ID_MAX, UINT32_MAX, 0 },
	[OPENER_UID] = { "--opener-uid", 1, ID_MAX, UINT32_MAX, 0 },
	[HUB_UID] = { "--hub-uid", 0, ID_MAX, UINT32_MAX, 0 },
	[FREQUENCY] = { "--frequency", 1, 10000, 19, 0 },
	[TABLE_MIB] = { "--table-budget", 1, 4096, 256, 0 },
	[IDLE_S] = { "--idle", 1, 604800, 600, 0 },
	[VERBOSE] = { "--debug", 0, 0, 0, 0 },
	{ "--filter-pid", 1, INT32_MAX, 0, FILTER_PID },
	{ "--filter-below", 2, INT32_MAX, 0, FILTER_BELOW },
	{ "--filter-cgroup", 1, UINT64_MAX - 1, 0, FILTER_CGROUP },
	{ NULL, 0, 0, 0, 0 },
};
static const char *hub_path;
static struct task_filter filter;

#define ARG(which)	(arguments[which].value)

static _Noreturn void usage(const char *what)
{
	log_err("%s: missing, unknown or out of range: trifold-loaderd(8) has all arguments", what);
	exit(2);
}

static void argument_set(struct argument *a, const char *s)
{
	char *end = NULL;

	/* too large a number is UINT64_MAX */
	a->value = s && *s >= '0' && *s <= '9' ? strtoull(s, &end, 10) : 0;
	if (!end || *end || a->value < a->min || a->value > a->max)
		usage(a->name);
	if (!a->filter)
		return;
	/* of processes there may be several */
	if (filter.n == FILTER_MAX ||
	    (filter.n && (a->filter != FILTER_PID || filter.kind != a->filter)))
		usage("a filter more");
	filter.kind = a->filter;
	filter.id[filter.n++] = a->value;
}

static void loaderd_parse(char **argv)
{
	while (*++argv) {
		struct argument *a = arguments;

		if (!strcmp(*argv, "--hub") && argv[1]) {
			hub_path = *++argv;
			continue;
		}
		while (a->name && strcmp(*argv, a->name))
			a++;
		if (!a->name)
			usage(*argv);
		if (!a->max)
			a->value = 1;
		else
			argument_set(a, *++argv);
	}
	if (!hub_path || ARG(HUB_UID) == UINT32_MAX)
		usage("--hub, --hub-uid");
}

/* --- from BPF ---------------------------------------------------------------- */

static void on_listed(void *ctx, const struct request_file *r)
{
	requests_add(&((struct loaderd *)ctx)->requests, r, true);
}

/* What a process maps, or (0) all do.  Where it fails, there was no time, or the
 * hub answers no more files for now, samples alone ask. */
static void loaderd_list(struct loaderd *l, uint32_t tgid)
{
	uint64_t begin = now_ns();

	if (l->listing_ns < LISTING_NS && l->requests.unanswered < EXE_AHEAD)
		(void)!bpf_list(&l->bpf, tgid, on_listed, l);
	else
		l->stats.lists_put_off++;
	l->listing_ns += now_ns() - begin;
}

static int on_request(void *ctx, void *data, size_t len)
{
	const struct request_cgroup *cgroup = data;
	const struct request_file *file = data;
	struct loaderd *l = ctx;

	if (len == sizeof(*file) && file->kind != REQUEST_CGROUP) {
		requests_add(&l->requests, file, false);
		/* who has one file that is not known may have others, and may
		 * end soon */
		if (file->kind == REQUEST_LIST)
			loaderd_list(l, file->tgid);
	} else if (len == sizeof(*cgroup) && cgroup->kind == REQUEST_CGROUP &&
		   !hub_link_send(&l->hub, MSG_CGROUP, 0, cgroup,
				  sizeof(*cgroup), NULL, 0, -1)) {
		bpf_cgroup_known(&l->bpf, cgroup->cgroup_id);
	}
	return ++l->handled % REQUESTS_TURN ? 0 : -EAGAIN;
}

/* Take from BPF's ring as many samples as symbolizerd's socket takes: libbpf stops behind
 * the record for which drain_record() says so, and drain.full is set.  What samples cost
 * is counted apart.  Returns how many there were, or -errno. */
static int loaderd_drain(struct loaderd *l)
{
	int r = -EAGAIN;

	l->stats.sampling_ns -= clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	ksyms_doubt(&l->ksyms, __atomic_exchange_n(l->bpf.modules, 0, __ATOMIC_RELAXED));
	while (r == -EAGAIN && !drain_flush(&l->drain))
		r = ring_buffer__consume(l->sample_ring);
	drain_flush(&l->drain);
	l->stats.sampling_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return r == -EAGAIN ? 0 : r;
}

/* --- from the opener and from symbolizerd -------------------------------------- */

static int on_opener(struct loaderd *l)
{
	struct msg m;
	int r = conn_recv(&l->opener.conn, &m);

	if (!r)
		requests_opened(&l->requests, &m);
	if (!r || r == -EAGAIN)
		return 0;
	log_err("the opener is gone (%d)", r);
	return -EPIPE;
}

/* What a successor says to the hub, should this be the last word. */
static void loaderd_leave(struct loaderd *l)
{
	bpf_map_update_elem(l->bpf.left_fd, &(uint32_t){ 0 }, &l->hub.hello, BPF_ANY);
}

static int hub_message(struct loaderd *l, struct msg *m)
{
	int r;

	switch (m->hdr.type) {
	case MSG_HELLO_HUB:
		r = hub_link_hello(&l->hub, (const void *)m->buf);
		if (!r) {
			drain_to(&l->drain, l->hub.samples_fd);
			entries_connected(&l->entries);
		}
		return r;
	case MSG_CHECKPOINT:
		l->hub.hello.checkpoint = *(const struct msg_checkpoint *)m->buf;
		l->hub.hello.account = ACCOUNT_SAME;
		loaderd_leave(l);
		return 0;
	case MSG_DEBUG_WANTED: case MSG_MEM_WANTED: case MSG_PERF_MAP_WANTED:
		requests_asked(&l->requests, m);
		return 0;
	default:
		r = entries_message(&l->entries, m);
		if (!r && m->hdr.id)
			requests_answered(&l->requests);
		return r;
	}
}

/* One message: it may be 64 MiB to write. */
static void on_hub(struct loaderd *l)
{
	struct msg m;
	int r = l->hub.conn.fd < 0 ? -EAGAIN : conn_recv(&l->hub.conn, &m);

	if (!r) {
		r = hub_message(l, &m);
		msg_close_fds(&m);
	}
	if (!r || r == -EAGAIN)
		return;
	drain_to(&l->drain, -1);
	requests_ready(&l->requests, false);
	hub_link_close(&l->hub, r);
}

/* --- time ------------------------------------------------------------------------ */

static void report(struct loaderd *l)
{
	struct loader_stats *s = &l->stats;
	struct rusage used;

	s->ksyms = l->ksyms.n;
	s->cpus = l->sampling.enabled ? l->sampling.n : 0;
	s->hub_connects = l->hub.connects;
	s->offences = l->hub.offences;
	s->map_bytes = l->bpf.map_bytes +	/* with the first slab */
		       (l->entries.elements.n_slabs - 1) * SLAB_BYTES;
	s->opener = *l->opener.shared;
	s->opener.parent = (uint32_t)l->opener.respawner;
	s->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	getrusage(RUSAGE_SELF, &used);
	s->rss_bytes = (uint64_t)used.ru_maxrss * 1024;
	hub_link_send(&l->hub, MSG_LOADER_STATS, l->entries.settled, s,
		      sizeof(*s), NULL, 0, -1);
}

/* What BPF took must be the hub's to the last record before we say goodbye. */
static void loaderd_goodbye(struct loaderd *l)
{
	uint64_t begin = now_ns();

	while ((loaderd_drain(l) > 0 || l->drain.full) && now_ns() - begin < FINISH_NS)
		poll(&(struct pollfd){ l->drain.fd, POLLOUT, 0 }, 1, DRAIN_MS);
	drain_to(&l->drain, -1);	/* what is left now is counted as lost */
	loaderd_drain(l);
	report(l);
	requests_ready(&l->requests, false);
	hub_link_bye(&l->hub);
}

/* The former loaderd's program ends, and its account with its last sample.  Ours begins
 * at once: its tables stay. */
static void loaderd_take_over(struct loaderd *l)
{
	sampling_stop(&l->former);
	loaderd_goodbye(l);
	store_remove("counts");
	l->stats.drained = l->stats.forwarded = l->stats.no_hub = l->stats.bad_record = 0;
	l->hub.counts_fd = l->bpf.counts_fd;
	l->hub.hello.account = ACCOUNT_NEXT;
	loaderd_leave(l);
	hub_link_tick(&l->hub);
}

/* Tell a new hub what there is; then send it what is mapped, and begin when the
 * tables of that are there, or soon anyway. */
static void loaderd_begin(struct loaderd *l)
{
	entries_tell(&l->entries);
	if (!hub_link_up(&l->hub))
		return;
	if (l->entries.told && !l->requests.ready) {
		bpf_forget_asked(&l->bpf);
		requests_ready(&l->requests, true);
		loaderd_list(l, 0);
		if (!l->ready_ns)
			l->ready_ns = now_ns();
	}
	l->ready |= l->requests.ready && (requests_idle(&l->requests) ||
					  now_ns() - l->ready_ns > BEGIN_NS);
	if (l->sampling.enabled || !l->ready)
		return;
	if (l->hub.counts_fd != l->bpf.counts_fd) {
		loaderd_take_over(l);
	} else if (l->hub.hello.account != ACCOUNT_NEXT) {
		store_put("counts", l->bpf.counts_fd);
		sampling_enable(&l->sampling);
		report(l);	/* who waits for it begins to count */
	}
}

static void loaderd_tick(struct loaderd *l, uint64_t now)
{
	int r;

	hub_link_tick(&l->hub);
	if (now - l->second_ns < NSEC_PER_SEC)
		return;
	/* what is settled says that all samples before it were sent */
	if (!l->drain.full)
		entries_tick(&l->entries);
	if (now / KSYMS_NS != l->second_ns / KSYMS_NS)
		l->ksyms.n = 0;
	r = sampling_refresh(&l->sampling);
	if (r)
		log_warn("a CPU cannot be sampled: %s", strerror(-r));
	report(l);
	service_alive();
	l->second_ns = now;
	l->listing_ns -= l->listing_ns < LISTING_NS ? l->listing_ns : LISTING_NS;
	if (requests_list_again(&l->requests))
		loaderd_list(l, 0);
	l->busy = requests_tick(&l->requests, now) || l->entries.settled != l->entries.handled;
}

/* Wait until there is something to do; do one of each, and drain the rings. */
static int loaderd_turn(struct loaderd *l)
{
	struct pollfd p[] = {
		{ ring_buffer__epoll_fd(l->sample_ring), POLLIN, 0 },
		{ l->opener.conn.fd, POLLIN, 0 },
		{ l->hub.conn.fd, POLLIN, 0 },
		{ ring_buffer__epoll_fd(l->request_ring), POLLIN, 0 },
	};
	bool quiet = !l->busy && l->sampling.enabled && l->drain.fd >= 0 && !l->drain.full;
	uint64_t now;
	int r;

	/* from here on a sample wakes us; one that came before does not */
	*l->bpf.wake = quiet;
	if (quiet)
		l->busy = loaderd_drain(l) > 0;

	if (hub_link_up(&l->hub) && !l->entries.told)
		p[2].events |= POLLOUT;
	/* without a hub they wait in the ring */
	if (l->drain.full || l->drain.fd < 0)
		p[0] = (struct pollfd){ l->drain.fd, POLLOUT, 0 };
	/* seconds of different lengths: sampling.h */
	r = quiet && !l->busy ? QUIET_MS : DRAIN_MS + (int)(l->sampling.random >> 58);
	r = poll(p, sizeof(p) / sizeof(p[0]), r);
	if (r < 0 && errno != EINTR)
		return -errno;
	l->busy |= r > 0;
	r = on_opener(l);
	ring_buffer__consume(l->request_ring);
	if (!r && l->drain.fd >= 0)
		r = loaderd_drain(l);
	if (r < 0)
		return r;
	l->busy |= r > 0;
	on_hub(l);
	loaderd_begin(l);
	now = now_ns();
	/* a second does not begin with a sample: sampling.h */
	if (quiet && l->busy)
		l->tick_ns = now;
	if (now - l->tick_ns >= DRAIN_MS * NSEC_PER_MSEC) {
		l->tick_ns = now;
		loaderd_tick(l, now);
	}
	return 0;
}

static void on_term(int sig)
{
	ended = sig;
}

/* --- start and end ------------------------------------------------------------------ */

/* The walker must see our own code where the kernel says it is. */
static void check_own(void *ctx, const struct request_file *n)
{
	struct loaderd *l = ctx;
	struct file_key key;

	if (n->tgid == (uint32_t)getpid() &&
	    (bpf_identify(&l->bpf, (const void *)n->start, &key) < 0 ||
	     memcmp(&key, &n->key, sizeof(key))))
		l->blind = true;
}

static int self_check(struct loaderd *l)
{
	struct file_key key;

	if (bpf_identify(&l->bpf, (const void *)self_check, &key) < 0 ||
	    (bpf_list(&l->bpf, 0, check_own, l) && l->bpf.can_list))
		l->blind = true;
	if (!l->blind)
		return 0;
	log_err("this kernel's mappings are not where trifold looks for them; please report `uname -r`");
	return -ENOTSUP;
}

static int setup_bpf(struct loaderd *l)
{
	int r;

	if (!ARG(VERBOSE))		/* an older kernel refuses the first tries */
		libbpf_set_print(NULL);
	if (store_get(STORE_LAYOUT, 0) < 0)
		store_clear();
	r = bpf_load(&l->bpf, ARG(FREQUENCY), &filter);
	if (r) {
		log_err("cannot load the BPF programs: %s (is this kernel 5.10 "
			"or newer, 6.2 under lockdown=confidentiality, with "
			"/sys/kernel/btf/vmlinux? `sudo trifold doctor` looks)",
			strerror(-r));
		return r;
	}
	if (self_check(l))
		return -ENOTSUP;
	elements_init(&l->entries.elements, l->bpf.slabs_fd, l->bpf.slab0_fd,
		      ARG(TABLE_MIB) << 20);
	sampling_former(&l->former);
	l->sample_ring = ring_buffer__new(l->bpf.ring_fd, drain_record, &l->drain, NULL);
	l->request_ring = ring_buffer__new(l->bpf.requests_fd, on_request, l, NULL);
	return l->sample_ring && l->request_ring ? 0 : -errno;
}

/* Who works with whom. */
static void setup_links(struct loaderd *l)
{
	struct msg_hello_loader left = { 0 };
	int counts = store_get("counts", 0);

	bpf_map_lookup_elem(l->bpf.left_fd, &(uint32_t){ 0 }, &left);
	l->ksyms.bpf = &l->bpf;
	l->drain.ksyms = &l->ksyms;
	l->drain.stats = &l->stats;
	l->drain.fd = -1;
	l->entries.bpf = &l->bpf;
	l->entries.hub = &l->hub;
	l->entries.stats = &l->stats;
	l->requests.entries = &l->entries;
	l->requests.opener = &l->opener;
	l->hub = (struct hub_link){
		.conn.fd = -1, .samples_fd = -1, .path = hub_path,
		.counts_fd = counts < 0 ? l->bpf.counts_fd : counts,
		.uid = ARG(HUB_UID), .hello = {
			.account = left.account, .checkpoint = left.checkpoint,
			.record_version = REC_VERSION,
			.frequency = ARG(FREQUENCY), .partial = filter.n > 0,
			.table_budget = ARG(TABLE_MIB) << 20,
			.idle_s = ARG(IDLE_S), .cpus = l->bpf.cpus,
		},
	};
}

static int setup(struct loaderd *l)
{
	int r = opener_start(&l->opener, ARG(OPENER_UID), ARG(GID)) ?: setup_bpf(l);

	if (r)
		return r;
	setup_links(l);
	l->stats.start_ns = clock_ns(CLOCK_REALTIME);
	r = sampling_open(&l->sampling, l->bpf.sample_fd, l->bpf.cpus, ARG(FREQUENCY));
	if (r)
		log_err("cannot open perf events: %s (kernel.perf_event_paranoid of 2 is enough; "
			"at 3 Debian's kernels want CAP_SYS_ADMIN)", strerror(-r));
	return r;
}

/* SIGUSR1: sampling goes on, for the next one to take over. */
static void loaderd_finish(struct loaderd *l)
{
	service_stopping();
	if (ended == SIGUSR1) {
		loaderd_drain(l);
		report(l);
	} else {
		sampling_stop(&l->former);
		sampling_stop(&l->sampling);
		loaderd_goodbye(l);
	}
	opener_stop(&l->opener);
}

int main(int argc, char **argv)
{
	int r = 0, group = getsid(0) == getpid() ? open("/proc/self/autogroup", O_WRONLY) : -1;
	static struct loaderd l;

	(void)argc;
	log_init("trifold-loaderd", false);
	loaderd_parse(argv);
	log_init("trifold-loaderd", ARG(VERBOSE));
	service_init();
	/* a request must be answered before who has it ends, on a busy host too; where
	 * the kernel groups tasks by session (sched(7)), ours has a nice value, too */
	if (setpriority(PRIO_PROCESS, 0, -10) < 0 || write(group, "-10", 3) < 0)
		log_debug("priority: %s", strerror(errno));
	close(group);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, on_term);
	signal(SIGINT, on_term);
	signal(SIGUSR1, on_term);
	if (setup(&l) || confine_main(ARG(UID), ARG(GID)))
		return 1;
	service_notify("READY=1\nSTATUS=samples for trifold-symbolizerd, as long as that runs");
	log_info("sampling %u CPUs at %u Hz (%s)", l.sampling.n, (unsigned int)ARG(FREQUENCY),
		 l.sampling.hardware ? "cpu-cycles" : "cpu-clock");
	while (!ended && !r)
		r = loaderd_turn(&l);
	loaderd_finish(&l);
	return r ? 1 : 0;
}
