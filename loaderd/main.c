// SPDX-License-Identifier: Apache-2.0
/*
 * trifold-loaderd - loads the BPF programs and owns every map
 *
 * Started as root; afterwards it has CAP_BPF and CAP_PERFMON under a uid of its own
 * (confine.h).  Therefore it parses nothing that a profiled process can write, opens no
 * path that it was handed, and trusts symbolizerd with nothing that msg_check(),
 * elements.c and entries.c do not check.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/service.h"
#include "loaderd/bpf.h"
#include "loaderd/confine.h"
#include "loaderd/drain.h"
#include "loaderd/entries.h"
#include "loaderd/hub_link.h"
#include "loaderd/requests.h"
#include "loaderd/sampling.h"
#include "loaderd/store.h"
#include "loaderd/variant.h"

#define DRAIN_MS	250	/* the ring holds seconds of samples, and wakes us
				 * when it is three quarters full */
#define QUIET_MS	5000	/* when nothing comes: the next sample wakes us */
#define REQUESTS_TURN	64	/* before samples are taken again */
#define LISTING_NS	(50 * NSEC_PER_MSEC)	/* in a second: 5 to 10 % of a CPU */
#define FINISH_NS	NSEC_PER_SEC	/* for symbolizerd to take the last samples */
#define BEGIN_NS	(2 * NSEC_PER_SEC)	/* the first sample waits for tables */

/* What the arguments say.  Members that a number sets have the type uint64_t. */
struct settings {
	uint64_t uid, gid, opener_uid, hub_uid;
	uint64_t frequency, table_mib, idle_s;
	bool debug;
	const char *hub_path;
	struct task_filter filter;
};

struct loaderd {
	struct settings set;
	struct bpf bpf;
	struct opener opener;
	struct entries entries;
	struct requests requests;
	struct ksyms ksyms;
	struct drain drain;
	struct sampling sampling;
	struct sampling former;	/* of a dead loaderd: it goes on until ours begins */
	struct hub_link hub;
	struct loader_stats stats;
	struct ring_buffer *sample_ring, *request_ring;	/* of BPF */
	bool root;		/* we were, at the start */
	bool failed;		/* the opener has ended */
	bool busy;		/* something came since the last report, or is due */
	uint64_t tick_ns, second_ns;	/* the last ones */
	uint64_t listing_ns;	/* so long mappings were listed: in this second, half as much
				 * in the one before, ... */
	uint32_t handled;	/* requests of BPF */
	uint64_t ready_ns;	/* when files were first sent to symbolizerd; 0: not yet */
	bool ready;		/* it has the tables of what runs, or had time enough */
};

static volatile sig_atomic_t ended;	/* by this signal, whose handler has no argument */

/* --- arguments -------------------------------------------------------------------- */

#define ID_MAX		(UINT32_MAX - 1)
#define SETS(member)	offsetof(struct settings, member)

/* Those that are a number. */
static const struct argument {
	const char *name;	/* with what stands before the number */
	uint64_t min, max;
	size_t member;		/* of struct settings */
	enum filter_kind filter;	/* instead: each number is another ID of this kind */
} arguments[] = {
	{ "--uid=", 1, ID_MAX, SETS(uid), 0 },
	{ "--gid=", 1, ID_MAX, SETS(gid), 0 },
	{ "--opener-uid=", 1, ID_MAX, SETS(opener_uid), 0 },
	{ "--hub-uid=", 0, ID_MAX, SETS(hub_uid), 0 },
	{ "--frequency=", 1, 10000, SETS(frequency), 0 },
	{ "--table-budget=", 1, 4096, SETS(table_mib), 0 },
	{ "--idle=", 1, 604800, SETS(idle_s), 0 },
	{ "--filter-pid=", 1, INT32_MAX, 0, FILTER_PID },
	{ "--filter-below=", 2, INT32_MAX, 0, FILTER_BELOW },
	{ "--filter-cgroup=", 1, UINT64_MAX - 1, 0, FILTER_CGROUP },
	{ NULL, 0, 0, 0, 0 },
};

static _Noreturn void loaderd_usage(const char *what)
{
	log_err("%s: missing, unknown or out of range: trifold-loaderd(8) has all arguments", what);
	exit(2);
}

static void loaderd_add_filter(struct task_filter *f, enum filter_kind kind, uint64_t id)
{
	/* several processes, or one of another kind */
	if (f->n == FILTER_MAX || (f->n && (kind != FILTER_PID || f->kind != kind)))
		loaderd_usage("more than one filter");
	f->kind = kind;
	f->id[f->n] = id;
	f->n++;
}

static void loaderd_set_number(struct settings *set, const char *word)
{
	const struct argument *a = arguments;
	const char *digits;
	char *end;
	uint64_t v;

	while (a->name && strncmp(word, a->name, strlen(a->name)))
		a++;
	if (!a->name)
		loaderd_usage(word);
	digits = word + strlen(a->name);
	/* it takes blanks and a sign, too; UINT64_MAX if it is too large */
	v = strtoull(digits, &end, 10);
	if (*digits < '0' || *digits > '9' || *end || v < a->min || v > a->max)
		loaderd_usage(word);
	if (a->filter)
		loaderd_add_filter(&set->filter, a->filter, v);
	else
		*(uint64_t *)((char *)set + a->member) = v;
}

static void loaderd_parse(struct settings *set, char **argv)
{
	for (; *argv; argv++) {
		if (!strcmp(*argv, "--debug"))
			set->debug = true;
		else if (!strncmp(*argv, "--hub=", strlen("--hub=")))
			set->hub_path = *argv + strlen("--hub=");
		else
			loaderd_set_number(set, *argv);
	}
	if (!set->hub_path || set->hub_uid == UINT32_MAX)
		loaderd_usage("--hub, --hub-uid");
}

/* --- from BPF ---------------------------------------------------------------- */

static void loaderd_listed(void *ctx, const struct request_file *r)
{
	requests_add(ctx, r, true);
}

/* List what a process maps, or what all do (LIST_ALL).  If that fails, if this second's time for
 * it is used up, or the hub takes no more files for now, only samples ask for files. */
static void loaderd_list(struct loaderd *l, uint32_t tgid)
{
	uint64_t begin = now_ns();

	if (l->listing_ns < LISTING_NS && l->requests.unanswered < EXE_AHEAD)
		(void)!bpf_list(&l->bpf, tgid, loaderd_listed, &l->requests);
	else
		l->stats.lists_put_off++;
	l->listing_ns += now_ns() - begin;
}

/* One that our own sampler wrote, or a former loaderd's with the same layouts. */
static int loaderd_request(void *ctx, void *data, __attribute__((unused)) size_t len)
{
	const struct request_cgroup *cgroup = data;
	const struct request_file *file = data;
	struct loaderd *l = ctx;

	if (file->kind == REQUEST_CGROUP) {
		if (!hub_link_send(&l->hub, MSG_CGROUP, 0, cgroup, sizeof(*cgroup), NULL, 0, -1))
			bpf_cgroup_known(&l->bpf, cgroup->cgroup_id);
	} else {
		requests_add(&l->requests, file, false);
		/* a process with one file that is not known may have others, and may
		 * end soon */
		if (file->kind == REQUEST_LIST)
			loaderd_list(l, file->process.tgid);
	}
	l->handled++;
	return l->handled % REQUESTS_TURN ? 0 : -EAGAIN;
}

/*
 * Take as many samples from BPF's ring as symbolizerd's socket takes.  When that is full,
 * drain_record() says so, libbpf stops after this record, and drain.full is set.  The CPU
 * time that samples cost is counted apart.  Was there any?
 */
static bool loaderd_drain(struct loaderd *l)
{
	int r = -EAGAIN;

	l->stats.sampling_ns -= clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	ksyms_doubt(&l->ksyms, __atomic_exchange_n(l->bpf.modules, 0, __ATOMIC_RELAXED));
	while (r == -EAGAIN && !drain_flush(&l->drain))
		r = ring_buffer__consume(l->sample_ring);
	drain_flush(&l->drain);
	l->stats.sampling_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return r > 0;
}

/* --- from the opener and from symbolizerd -------------------------------------- */

static void loaderd_hear_opener(struct loaderd *l)
{
	struct msg m;
	int r = conn_recv(&l->opener.conn, &m);

	if (!r) {
		requests_opened(&l->requests, &m);
	} else if (r != -EAGAIN) {
		log_err("the opener has ended (%d)", r);
		l->failed = true;
	}
}

/* Note our hello for a successor, which continues our account if we say nothing more. */
static void loaderd_leave(struct loaderd *l)
{
	bpf_map_update_elem(l->bpf.left_fd, &(uint32_t){ 0 }, &l->hub.hello, BPF_ANY);
}

static int loaderd_message(struct loaderd *l, struct msg *m)
{
	int r;

	switch (m->hdr.type) {
	case MSG_HELLO_HUB:
		hub_link_hello(&l->hub);
		drain_to(&l->drain, l->hub.samples_fd);
		entries_connected(&l->entries);
		return 0;
	case MSG_CHECKPOINT:
		l->hub.hello.checkpoint = *(const struct msg_checkpoint *)m->buf;
		l->hub.hello.account = ACCOUNT_SAME;
		loaderd_leave(l);
		return 0;
	case MSG_RUNTIMES:
		memcpy(&l->stats.runtimes_wanted, m->buf, sizeof(l->stats.runtimes_wanted));
		/* one that is not known is not worth a load */
		l->stats.variant_error = -variant_use(l->bpf.skel, &l->stats.runtimes, RUNTIMES_ALL &
						      l->stats.runtimes_wanted);
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

/* One message a turn: samples are taken in between. */
static void loaderd_hear_hub(struct loaderd *l)
{
	struct msg m;
	int r;

	if (l->hub.conn.fd < 0)
		return;
	r = conn_recv(&l->hub.conn, &m);
	if (!r) {
		r = loaderd_message(l, &m);
		msg_close_fds(&m);
	}
	if (!r || r == -EAGAIN)
		return;
	drain_to(&l->drain, -1);
	requests_ready(&l->requests, false);
	hub_link_close(&l->hub, r);
}

/* --- time ------------------------------------------------------------------------ */

static void loaderd_report(struct loaderd *l)
{
	struct loader_stats *s = &l->stats;
	struct rusage used;

	s->ksyms = l->ksyms.n;
	s->cpus = l->sampling.enabled ? l->sampling.n : 0;
	s->covered_ns = l->former.covered_ns + l->sampling.covered_ns;
	s->missed_ns = l->former.missed_ns + l->sampling.missed_ns;
	/* the first slab is in bpf.map_bytes */
	s->map_bytes = l->bpf.map_bytes + (l->entries.elements.n_slabs - 1) * SLAB_BYTES;
	s->opener = *l->opener.shared;
	s->opener.parent = (uint32_t)l->opener.respawner;
	s->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	getrusage(RUSAGE_SELF, &used);
	s->rss_bytes = (uint64_t)used.ru_maxrss * 1024;
	hub_link_send(&l->hub, MSG_LOADER_STATS, l->entries.settled, s, sizeof(*s), NULL, 0, -1);
}

/* The hub must have every record that BPF took before we say goodbye. */
static void loaderd_goodbye(struct loaderd *l)
{
	uint64_t begin = now_ns();

	while ((loaderd_drain(l) || l->drain.full) && now_ns() - begin < FINISH_NS)
		poll(&(struct pollfd){ l->drain.fd, POLLOUT, 0 }, 1, DRAIN_MS);
	/* what is left is counted as lost */
	drain_to(&l->drain, -1);
	loaderd_drain(l);
	loaderd_report(l);
	requests_ready(&l->requests, false);
	hub_link_bye(&l->hub);
}

/* End the former loaderd's program, and with its last sample its account.  Ours begins at
 * once, since the tables stay. */
static void loaderd_take_over(struct loaderd *l)
{
	sampling_stop(&l->former);
	loaderd_goodbye(l);
	store_remove("counts");
	l->former = (struct sampling){ 0 };
	memset(&l->stats, 0, offsetof(struct loader_stats, file_requests));	/* of samples */
	l->hub.counts_fd = l->bpf.counts_fd;
	l->hub.hello.account = ACCOUNT_NEXT;
	loaderd_leave(l);
	hub_link_tick(&l->hub);
}

/* Has symbolizerd the tables of what runs, or had it time enough to make them? */
static bool loaderd_is_ready(struct loaderd *l)
{
	if (!l->ready && l->requests.ready)
		l->ready = requests_idle(&l->requests) || now_ns() - l->ready_ns > BEGIN_NS;
	return l->ready;
}

/*
 * Tell a new hub what there is, then send it the files that are mapped; and begin to
 * sample when it is ready.  After a former loaderd that takes two connections: over the
 * first the hub gets the rest of the former one's account, whose counts are in the hello;
 * loaderd_take_over() ends it.  Over the second ours begins (ACCOUNT_NEXT), and when the
 * hub has left its first checkpoint for it (ACCOUNT_SAME), we sample.
 */
static void loaderd_begin(struct loaderd *l)
{
	if (!hub_link_up(&l->hub))
		return;
	entries_tell(&l->entries);
	if (l->entries.told && !l->requests.ready) {
		*l->bpf.asked_since = now_ns();
		requests_ready(&l->requests, true);
		loaderd_list(l, LIST_ALL);
		if (!l->ready_ns)
			l->ready_ns = now_ns();
	}
	if (l->sampling.enabled || !loaderd_is_ready(l))
		return;
	if (l->hub.counts_fd != l->bpf.counts_fd) {
		loaderd_take_over(l);
	} else if (l->hub.hello.account != ACCOUNT_NEXT) {
		store_put("counts", l->bpf.counts_fd);
		sampling_enable(&l->sampling);
		/* a recorder waits for it, and counts from here on */
		loaderd_report(l);
	}
}

static void loaderd_each_second(struct loaderd *l, uint64_t now)
{
	int r;

	/* a settled number means that all samples before it were sent */
	if (!l->drain.full)
		entries_tick(&l->entries);
	if (now / KSYMS_NS != l->second_ns / KSYMS_NS)
		l->ksyms.n = 0;
	r = sampling_refresh(&l->sampling);
	if (r)
		log_warn("a CPU cannot be sampled: %s", strerror(-r));
	/* who started us as root will do so again */
	if (r == -EACCES && l->root)
		ended = SIGTERM;
	loaderd_report(l);
	service_alive();
	l->second_ns = now;
	l->listing_ns /= 2;
	if (requests_list_again(&l->requests))
		loaderd_list(l, LIST_ALL);
	l->busy = requests_tick(&l->requests, now) || l->entries.settled != l->entries.handled;
}

static void loaderd_tick(struct loaderd *l, uint64_t now)
{
	if (now - l->tick_ns < DRAIN_MS * NSEC_PER_MSEC)
		return;
	l->tick_ns = now;
	hub_link_tick(&l->hub);
	if (now - l->second_ns >= NSEC_PER_SEC)
		loaderd_each_second(l, now);
}

/* Wait until there is something to do, or for the next tick; quiet: no tick is due until a
 * sample has come. */
static void loaderd_wait(struct loaderd *l, bool quiet)
{
	/* seconds of different lengths: sampling.h */
	int timeout = DRAIN_MS + (int)(l->sampling.random >> 58);
	struct pollfd p[] = {
		{ ring_buffer__epoll_fd(l->sample_ring), POLLIN, 0 },
		{ l->opener.conn.fd, POLLIN, 0 },
		{ l->hub.conn.fd, POLLIN, 0 },
		{ ring_buffer__epoll_fd(l->request_ring), POLLIN, 0 },
	};

	if (hub_link_up(&l->hub) && !l->entries.told)
		p[2].events |= POLLOUT;
	/* samples wait in the ring while there is no hub, or it takes none */
	if (l->drain.full || l->drain.fd < 0)
		p[0] = (struct pollfd){ l->drain.fd, POLLOUT, 0 };
	if (quiet && !l->busy)
		timeout = QUIET_MS;
	/* it fails for a signal, or while memory is short: then nothing has come */
	if (poll(p, sizeof(p) / sizeof(p[0]), timeout) > 0)
		l->busy = true;
}

/* Wait until there is something to do; do one of each, and drain the rings. */
static void loaderd_turn(struct loaderd *l)
{
	bool quiet = !l->busy && l->sampling.enabled && l->drain.fd >= 0 && !l->drain.full;
	uint64_t now;

	/* from here on a sample wakes us; one that came before does not */
	*l->bpf.wake = quiet;
	if (quiet)
		l->busy = loaderd_drain(l);
	loaderd_wait(l, quiet);
	loaderd_hear_opener(l);
	ring_buffer__consume(l->request_ring);
	if (l->drain.fd >= 0 && loaderd_drain(l))
		l->busy = true;
	loaderd_hear_hub(l);
	loaderd_begin(l);
	now = now_ns();
	/* a second does not begin with a sample: sampling.h */
	if (quiet && l->busy)
		l->tick_ns = now;
	loaderd_tick(l, now);
}

static void loaderd_on_signal(int sig)
{
	ended = sig;
}

/* --- start and end ------------------------------------------------------------------ */

static _Noreturn void loaderd_give_up(const char *what, int r)
{
	log_err("%s: %s", what, strerror(-r));
	exit(1);
}

/* The walker must see our own file where our code is. */
static void loaderd_self_check(struct loaderd *l)
{
	struct file_key key;
	struct stat self;

	if (bpf_identify(&l->bpf, (const void *)loaderd_self_check, &key) < 0 ||
	    stat("/proc/self/exe", &self) < 0 || key.size != (uint64_t)self.st_size)
		loaderd_give_up("this kernel's mappings are not where trifold looks for them; "
				"please report `uname -r`", -ENOTSUP);
}

static void loaderd_setup_bpf(struct loaderd *l)
{
	int r;

	/* an older kernel refuses the first tries */
	if (!l->set.debug)
		libbpf_set_print(NULL);
	if (store_get(STORE_LAYOUT, 0) < 0)
		store_clear();
	r = bpf_load(&l->bpf, l->set.frequency, &l->set.filter);
	if (r)
		loaderd_give_up("cannot load the BPF programs (is this kernel 5.10 or newer, 6.2 "
				"under lockdown=confidentiality, with /sys/kernel/btf/vmlinux? "
				"`sudo trifold doctor` looks)", r);
	loaderd_self_check(l);
	elements_init(&l->entries.elements, bpf_map_fd(&l->bpf, "slabs"),
		      bpf_map_fd(&l->bpf, "slab0"), l->set.table_mib << 20);
	sampling_former(&l->former);
	l->sample_ring = ring_buffer__new(bpf_map_fd(&l->bpf, "ring"), drain_record, &l->drain, NULL);
	l->request_ring = ring_buffer__new(bpf_map_fd(&l->bpf, "requests"), loaderd_request, l, NULL);
	if (!l->sample_ring || !l->request_ring)
		loaderd_give_up("cannot map the rings", -errno);
}

static void loaderd_setup_hub(struct loaderd *l)
{
	struct msg_hello_loader left = { 0 };

	bpf_map_lookup_elem(l->bpf.left_fd, &(uint32_t){ 0 }, &left);
	l->hub.path = l->set.hub_path;
	l->hub.uid = l->set.hub_uid;
	l->hub.hello = (struct msg_hello_loader){
		.account = left.account, .checkpoint = left.checkpoint,
		.record_version = REC_VERSION,
		.frequency = l->set.frequency, .partial = l->set.filter.n > 0,
		.table_budget = l->set.table_mib << 20,
		.idle_s = l->set.idle_s, .cpus = l->bpf.cpus,
	};
	/* the former loaderd's counts, if it left any, until we take over */
	l->hub.counts_fd = store_get("counts", 0);
	if (l->hub.counts_fd < 0)
		l->hub.counts_fd = l->bpf.counts_fd;
}

static void loaderd_setup(struct loaderd *l)
{
	int r = opener_start(&l->opener, l->set.opener_uid, l->set.gid);

	if (r)
		loaderd_give_up("cannot start the opener", r);
	loaderd_setup_bpf(l);
	loaderd_setup_hub(l);
	l->stats.start_ns = clock_ns(CLOCK_REALTIME);
	r = sampling_open(&l->sampling, &l->bpf, l->set.frequency);
	if (r)
		loaderd_give_up("cannot open perf events (kernel.perf_event_paranoid of 2 is "
				"enough; at 3 Debian's kernels want CAP_SYS_ADMIN)", r);
	malloc_trim(0);		/* of what libbpf needed to load programs */
}

/* A request must be answered before the process that it is about ends, on a busy host too.
 * Where the kernel groups tasks by session (sched(7)), ours gets the nice value, too. */
static void loaderd_raise_priority(void)
{
	int group = getsid(0) == getpid() ? open("/proc/self/autogroup", O_WRONLY) : -1;

	/* without it, it is only later */
	(void)!setpriority(PRIO_PROCESS, 0, -10);
	(void)!write(group, "-10", 3);
	close(group);
}

/* After SIGUSR1 sampling goes on, for the next loaderd to take over. */
static void loaderd_finish(struct loaderd *l)
{
	service_stopping();
	if (ended == SIGUSR1) {
		loaderd_drain(l);
		loaderd_report(l);
	} else {
		sampling_stop(&l->former);
		sampling_stop(&l->sampling);
		loaderd_goodbye(l);
	}
	opener_stop(&l->opener);
}

int main(__attribute__((unused)) int argc, char **argv)
{
	/* apart: what is not zero is in the file, and in memory with all around it */
	static struct ksym_range ranges[KSYM_RANGES];
	static struct loaderd l = {
		.set = {
			.uid = UINT32_MAX, .gid = UINT32_MAX, .opener_uid = UINT32_MAX,
			.hub_uid = UINT32_MAX, .frequency = 19, .table_mib = 256, .idle_s = 600,
		},
		/* which module works with which */
		.ksyms = { .bpf = &l.bpf, .range = ranges },
		.drain = { .ksyms = &l.ksyms, .stats = &l.stats, .fd = -1 },
		.entries = { .bpf = &l.bpf, .hub = &l.hub, .stats = &l.stats },
		.requests = { .entries = &l.entries, .opener = &l.opener },
		.hub = { .conn.fd = -1, .samples_fd = -1, .stats = &l.stats },
	};

	log_init("trifold-loaderd", false);
	loaderd_parse(&l.set, argv + 1);
	log_init("trifold-loaderd", l.set.debug);
	service_init();
	l.root = !geteuid();
	loaderd_raise_priority();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, loaderd_on_signal);
	signal(SIGINT, loaderd_on_signal);
	signal(SIGUSR1, loaderd_on_signal);
	loaderd_setup(&l);
	confine_main(l.set.uid, l.set.gid);
	service_notify("READY=1\nSTATUS=samples for trifold-symbolizerd while that runs");
	log_info("sampling %u CPUs at %u Hz (%s)", l.sampling.n, (unsigned int)l.set.frequency,
		 l.sampling.hardware ? "cpu-cycles" : "cpu-clock");
	while (!ended && !l.failed)
		loaderd_turn(&l);
	loaderd_finish(&l);
	return l.failed;
}
