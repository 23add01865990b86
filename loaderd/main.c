// SPDX-License-Identifier: Apache-2.0
/*
 * trifold-loaderd - loads the BPF programs and owns every map
 *
 * Started as root; afterwards CAP_BPF and CAP_PERFMON under a uid of its own
 * (confine.h).  Therefore: parses nothing that a profiled process can write,
 * opens no path that it was handed, and believes symbolizerd only as far as
 * msg_check() and tables.c reach.
 */
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cost.h"
#include "common/log.h"
#include "common/service.h"
#include "ipc/sealed.h"
#include "loaderd/bpf.h"
#include "loaderd/confine.h"
#include "loaderd/debug.h"
#include "loaderd/drain.h"
#include "loaderd/files.h"
#include "loaderd/hub_link.h"
#include "loaderd/sampling.h"

#define DRAIN_MS	250	/* the ring holds a second's samples and more, and
				 * wakes us when three quarters are full */
#define BEGIN_NS	(250 * NSEC_PER_MSEC)	/* the first samples wait for tables */
#define CGROUP_PATH	(CGROUP_LEVELS * CGROUP_NAME)

struct options {
	uid_t uid, opener_uid, hub_uid;
	gid_t gid;
	const char *hub;
	uint32_t frequency;
	uint32_t idle_s;
	uint64_t table_budget;
	int nice;
	bool debug;
	struct task_filter filter;
};

struct loaderd {
	struct options opt;
	struct evloop loop;
	struct ev_source tick, term, requests_src, ring_src, opener_src;
	struct bpf bpf;
	struct opener opener;
	struct tables tables;
	struct files files;
	struct debug debug;
	struct ksyms ksyms;
	struct drain drain;
	struct sampling sampling;
	struct hub_link hub;
	struct loader_stats stats;
	struct ring_buffer *requests;
	int vdso_fd;
	int statm;
	uint64_t second_ns;
	uint64_t connected_ns;	/* first met symbolizerd; 0: not yet */
};

static struct loaderd self;

/* --- from BPF ---------------------------------------------------------------- */

static void cgroup_request(struct loaderd *l, const struct request_cgroup *n)
{
	struct msg_cgroup m = { .cgroup_id = n->cgroup_id };
	char path[CGROUP_PATH];

	if (n->levels > CGROUP_LEVELS)
		return;
	for (uint32_t i = n->levels; i-- > 0; ) {
		size_t len = strnlen(n->name[i], CGROUP_NAME - 1);

		path[m.path_len++] = '/';
		memcpy(path + m.path_len, n->name[i], len);
		m.path_len += len;
	}
	if (!hub_link_send(&l->hub, MSG_CGROUP, &m, sizeof(m), path, m.path_len, -1))
		bpf_cgroup_known(&l->bpf, n->cgroup_id);
}

static void on_listed(void *ctx, const struct request_file *n)
{
	files_request(&((struct loaderd *)ctx)->files, n, true);
}

/* Who has one file that is not known may have others, and may end soon. */
static void file_request(struct loaderd *l, const struct request_file *n)
{
	files_request(&l->files, n, false);
	bpf_list(&l->bpf, n->tgid, on_listed, l);
}

static int on_request(void *ctx, void *data, size_t len)
{
	const uint32_t *kind = data;

	if (len == sizeof(struct request_file) && *kind == REQUEST_FILE)
		file_request(ctx, data);
	else if (len == sizeof(struct request_cgroup) && *kind == REQUEST_CGROUP)
		cgroup_request(ctx, data);
	return 0;
}

static int on_requests(struct ev_source *src, uint32_t events)
{
	(void)src;
	(void)events;
	ring_buffer__consume(self.requests);
	return 0;
}

static int loaderd_drain(struct loaderd *l)
{
	int r = drain_run(&l->drain);

	if (l->drain.written)
		hub_link_wake(&l->hub);
	l->drain.written = 0;
	return r < 0 ? r : 0;
}

static int on_ring(struct ev_source *src, uint32_t events)
{
	(void)src;
	(void)events;
	return loaderd_drain(&self);
}

/* --- from the opener and from symbolizerd -------------------------------------- */

static int on_opener(struct ev_source *src, uint32_t events)
{
	struct msg m;
	int r;

	(void)src;
	(void)events;
	while ((r = conn_recv(&self.opener.conn, &m)) == 0) {
		if (m.hdr.id & DEBUG_ID)
			debug_opened(&self.debug, &m);
		else
			files_opened(&self.files, &m);
	}
	if (r == -EAGAIN)
		return 0;
	log_err("the opener is gone: %s", r > 0 ? msg_verdict_name(r) :
						  strerror(-r));
	return -EPIPE;
}

/* Begin when the tables of what runs now are there, or soon anyway. */
static void loaderd_begin(struct loaderd *l)
{
	if (l->connected_ns && !l->sampling.enabled &&
	    (files_idle(&l->files) ||
	     now_ns() - l->connected_ns > BEGIN_NS))
		sampling_enable(&l->sampling);
}

static void on_table(void *ctx, uint32_t exe, int fd)
{
	files_table(&((struct loaderd *)ctx)->files, exe, fd);
	loaderd_begin(ctx);
}

static void loaderd_on_debug(void *ctx, const struct msg_debug_wanted *m)
{
	struct loaderd *l = ctx;

	debug_wanted(&l->debug, m, files_tgid(&l->files, m->exe));
}

static void list_all(struct loaderd *l)
{
	int r = bpf_list(&l->bpf, 0, on_listed, l);

	if (r)
		log_debug("no list of mappings (%s): samples alone ask",
			  strerror(-r));
}

static void on_connected(void *ctx, bool yes)
{
	struct loaderd *l = ctx;

	drain_to(&l->drain, yes ? &l->hub.ring : NULL);
	files_connected(&l->files, yes);
	if (!yes)
		return;
	bpf_forget_asked(&l->bpf);
	files_add_vdso(&l->files, l->vdso_fd);
	list_all(l);
	if (!l->connected_ns)
		l->connected_ns = now_ns();
	loaderd_begin(l);
}

static int send_exe(void *ctx, uint32_t exe, const struct file_key *key,
		    const char *path, size_t len, int fd)
{
	struct msg_exe m = { .exe = exe, .path_len = len, .key = *key };

	return hub_link_send(&((struct loaderd *)ctx)->hub, MSG_EXE, &m, sizeof(m),
			path, len, fd);
}

static int exe_dropped(void *ctx, uint32_t exe)
{
	struct msg_exe_dropped m = { .exe = exe };

	return hub_link_send(&((struct loaderd *)ctx)->hub, MSG_EXE_DROPPED, &m,
			sizeof(m), NULL, 0, -1);
}

static void on_mapped(void *ctx, const struct request_file *n)
{
	files_mapped(&((struct loaderd *)ctx)->files, &n->key);
}

static void list_mapped(void *ctx)
{
	bpf_list(&((struct loaderd *)ctx)->bpf, 0, on_mapped, ctx);
}

static int identify(void *ctx, const void *addr, struct file_key *ret)
{
	return bpf_identify(&((struct loaderd *)ctx)->bpf, addr, ret);
}

static const struct hub_link_ops hub_link_ops = { on_connected, on_table,
					loaderd_on_debug };
static const struct files_ops files_ops = {
	send_exe, exe_dropped, list_mapped, identify,
};

/* --- time ------------------------------------------------------------------------ */

static void report(struct loaderd *l)
{
	struct loader_stats *s = &l->stats;
	struct cost cost;

	bpf_sum(&l->bpf, s->bpf);
	s->table_rows = l->tables.rows;
	s->table_bytes = l->tables.elements * sizeof(union element);
	s->rules = l->tables.n_rules;
	s->slabs = l->tables.n_slabs;
	s->ksyms = l->ksyms.n;
	s->cpus = l->sampling.n;
	s->hub_connects = l->hub.connects;
	s->offences = l->hub.offences;
	s->map_bytes = l->bpf.map_bytes +
		       s->slabs * SLAB_ELEMENTS * sizeof(union element);
	s->opener_cpu_ns = l->opener.shared->cpu_ns;
	s->opener_rss_bytes = l->opener.shared->rss_bytes;
	s->open_stuck = l->opener.shared->stuck;
	cost_read(l->statm, &cost);
	s->cpu_ns = cost.cpu_ns;
	s->rss_bytes = cost.rss_bytes;
	hub_link_send(&l->hub, MSG_LOADER_STATS, s, sizeof(*s), NULL, 0, -1);
}

static int loaderd_on_tick(struct ev_source *src, uint32_t events)
{
	struct loaderd *l = &self;
	uint64_t now = now_ns(), expired;
	int r;

	(void)events;
	if (read(src->fd, &expired, sizeof(expired)) < 0)
		return 0;
	r = loaderd_drain(l);
	hub_link_tick(&l->hub, now);
	loaderd_begin(l);
	if (files_list_again(&l->files))
		list_all(l);
	if (now - l->second_ns < NSEC_PER_SEC)
		return r;
	l->second_ns = now;
	files_tick(&l->files, now);
	debug_tick(&l->debug, now);
	ksyms_refresh(&l->ksyms, now);
	sampling_refresh(&l->sampling);
	report(l);
	service_alive();
	return r;
}

static int on_term(struct ev_source *src, uint32_t events)
{
	(void)src;
	(void)events;
	evloop_stop(&self.loop);
	return 0;
}

/* --- start and end ------------------------------------------------------------------ */

/* The kernel's own image, the same in every process. */
static int vdso_image(void)
{
	const Elf64_Ehdr *e = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct iovec image = { (void *)e, 0 };

	if (!e)
		return -ENOENT;
	image.iov_len = e->e_shoff + (size_t)e->e_shentsize * e->e_shnum;
	return sealed_make("vdso", &image, 1);
}

/* The walker must see our own code where the kernel says it is. */
static void check_own(void *ctx, const struct request_file *n)
{
	int *wrong = ctx;
	struct file_key key;

	if (n->tgid != (uint32_t)getpid())
		return;
	if (bpf_identify(&self.bpf, (const void *)n->start, &key) ||
	    memcmp(&key, &n->key, sizeof(key)))
		*wrong = 1;
}

static int self_check(struct loaderd *l)
{
	struct file_key key;
	int wrong = 0;

	if (bpf_identify(&l->bpf, (const void *)self_check, &key))
		wrong = 1;
	if (bpf_list(&l->bpf, 0, check_own, &wrong) && l->bpf.can_list)
		wrong = 1;
	if (!wrong)
		return 0;
	log_err("this kernel's mappings are not where trifold looks for them; "
		"please report `uname -r`");
	return -ENOTSUP;
}

static int setup_bpf(struct loaderd *l)
{
	int r = bpf_load(&l->bpf, l->opt.frequency, &l->opt.filter);

	if (r) {
		log_err("cannot load the BPF programs: %s (is this kernel 5.10 "
			"or newer, 6.2 under lockdown=confidentiality, with "
			"/sys/kernel/btf/vmlinux? `sudo trifold doctor` looks)",
			strerror(-r));
		return r;
	}
	r = self_check(l);
	if (!r)
		r = tables_init(&l->tables, bpf_slabs_fd(&l->bpf),
				bpf_slab0_fd(&l->bpf), l->opt.table_budget);
	if (!r)
		r = files_init(&l->files, bpf_files_fd(&l->bpf), &l->tables,
			       &l->opener, &l->stats, l->opt.idle_s, &files_ops,
			       l);
	l->ksyms.bpf = &l->bpf;
	if (!r)
		r = drain_init(&l->drain, bpf_ring_fd(&l->bpf), &l->ksyms,
			       &l->stats);
	if (r)
		return r;
	l->requests = ring_buffer__new(bpf_requests_fd(&l->bpf), on_request, l, NULL);
	return l->requests ? 0 : -errno;
}

static int loaderd_add(struct loaderd *l, struct ev_source *src, int fd,
		       int (*fn)(struct ev_source *, uint32_t))
{
	*src = (struct ev_source){ fd, fn };
	return fd < 0 ? -errno : evloop_add(&l->loop, src, EPOLLIN);
}

static int setup_loop(struct loaderd *l)
{
	struct itimerspec it = {
		.it_interval.tv_nsec = DRAIN_MS * NSEC_PER_MSEC,
		.it_value.tv_nsec = 1,
	};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	sigset_t set;
	int r;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	timerfd_settime(timer, 0, &it, NULL);
	r = evloop_init(&l->loop);
	if (!r)
		r = loaderd_add(l, &l->tick, timer, loaderd_on_tick);
	if (!r)
		r = loaderd_add(l, &l->term, signalfd(-1, &set, SFD_CLOEXEC),
				on_term);
	if (!r)
		r = loaderd_add(l, &l->requests_src, bpf_requests_fd(&l->bpf),
				on_requests);
	if (!r)
		r = loaderd_add(l, &l->ring_src, bpf_ring_fd(&l->bpf), on_ring);
	if (!r)
		r = loaderd_add(l, &l->opener_src, l->opener.conn.fd,
				on_opener);
	return r;
}

/* What BPF took must be ours to the last record before we say goodbye. */
static void loaderd_finish(struct loaderd *l)
{
	service_stopping();
	sampling_stop(&l->sampling);
	while (drain_run(&l->drain) > 0)
		;
	hub_link_wake(&l->hub);
	report(l);
	hub_link_bye(&l->hub);
	evloop_del(&l->loop, &l->opener_src);
	opener_stop(&l->opener);
}

static uint64_t loaderd_number(const char *s, uint64_t min, uint64_t max)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || *end || end == s || v < min || v > max) {
		log_err("'%s' is not a number from %" PRIu64 " to %" PRIu64, s,
			min, max);
		exit(2);
	}
	return v;
}

/* One more of this kind; of processes there may be several. */
static void add_filter(struct task_filter *o, enum filter_kind kind, uint64_t id)
{
	if (o->n == FILTER_MAX || (o->n && (kind != FILTER_PID || o->kind != kind))) {
		log_err("too many of --filter-pid, --filter-below, --filter-cgroup");
		exit(2);
	}
	o->kind = kind;
	o->id[o->n++] = id;
}

static void loaderd_parse(struct options *o, int argc, char **argv)
{
	static const struct option table[] = {
		{ "uid", 1, NULL, 'u' }, { "gid", 1, NULL, 'g' },
		{ "opener-uid", 1, NULL, 'o' }, { "hub", 1, NULL, 'h' },
		{ "hub-uid", 1, NULL, 'H' }, { "frequency", 1, NULL, 'f' },
		{ "table-budget", 1, NULL, 't' }, { "idle", 1, NULL, 'i' },
		{ "debug", 0, NULL, 'd' }, { "no-priority", 0, NULL, 'n' },
		{ "filter-pid", 1, NULL, 'P' }, { "filter-below", 1, NULL, 'B' },
		{ "filter-cgroup", 1, NULL, 'C' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	*o = (struct options){
		.uid = -1, .gid = -1, .opener_uid = -1, .hub_uid = -1,
		.frequency = 19, .table_budget = 256u << 20, .idle_s = 600,
		.nice = -10,
	};
	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (c) {
		case 'u':
			o->uid = loaderd_number(optarg, 1, UINT32_MAX - 1);
			break;
		case 'g':
			o->gid = loaderd_number(optarg, 1, UINT32_MAX - 1);
			break;
		case 'o':
			o->opener_uid = loaderd_number(optarg, 1,
						       UINT32_MAX - 1);
			break;
		case 'h': o->hub = optarg; break;
		case 'H':
			o->hub_uid = loaderd_number(optarg, 0, UINT32_MAX - 1);
			break;
		case 'f':
			o->frequency = loaderd_number(optarg, 1, 10000);
			break;
		case 't':
			o->table_budget = loaderd_number(optarg, 1, 4096) << 20;
			break;
		case 'i':
			o->idle_s = loaderd_number(optarg, 1, 604800);
			break;
		case 'd': o->debug = true; break;
		case 'n': o->nice = 0; break;
		case 'P':
			add_filter(&o->filter, FILTER_PID,
				 loaderd_number(optarg, 1, INT32_MAX));
			break;
		case 'B':
			add_filter(&o->filter, FILTER_BELOW,
				 loaderd_number(optarg, 2, INT32_MAX));
			break;
		case 'C':
			add_filter(&o->filter, FILTER_CGROUP,
				 loaderd_number(optarg, 1, UINT64_MAX));
			break;
		default: exit(2);
		}
	}
	if (optind < argc || !o->hub || o->hub_uid == (uid_t)-1) {
		log_err("usage: trifold-loaderd --hub PATH --hub-uid UID "
			"[--uid UID --gid GID] [--opener-uid UID] "
			"[--frequency HZ] [--table-budget MIB] "
			"[--idle SECONDS] [--no-priority] [--debug] "
			"[--filter-pid PID... | --filter-below PID | "
			"--filter-cgroup ID]");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct loaderd *l = &self;
	struct options *o = &l->opt;
	int r;

	log_init("trifold-loaderd", false);
	loaderd_parse(o, argc, argv);
	log_init("trifold-loaderd", o->debug);
	service_init();
	service_scrub_env();
	/* a need must be answered before who has it ends, on a busy host too */
	if (setpriority(PRIO_PROCESS, 0, o->nice) < 0)
		log_debug("priority: %s", strerror(errno));
	r = opener_start(&l->opener, o->opener_uid, o->gid);
	if (!r)
		r = setup_bpf(l);
	if (!r)
		r = setup_loop(l);
	if (r)
		return 1;
	l->statm = cost_open();
	l->stats.start_ns = clock_ns(CLOCK_REALTIME);
	l->vdso_fd = vdso_image();
	l->debug = (struct debug){ .opener = &l->opener, .hub = &l->hub };
	hub_link_init(&l->hub, &l->loop, o->hub, o->hub_uid, o->frequency, &hub_link_ops,
		 l);
	l->hub.partial = o->filter.n > 0;
	r = sampling_open(&l->sampling, bpf_sample_fd(&l->bpf), o->frequency);
	if (r) {
		log_err("cannot open perf events: %s (with "
			"kernel.perf_event_paranoid=3 root is needed)",
			strerror(-r));
		return 1;
	}
	if (confine_main(o->uid, o->gid))
		return 1;
	service_ready();
	log_info("sampling %u CPUs at %u Hz (%s)", l->sampling.n, o->frequency,
		 l->sampling.hardware ? "cpu-cycles" : "cpu-clock");
	r = evloop_run(&l->loop);
	loaderd_finish(l);
	return r ? 1 : 0;
}
