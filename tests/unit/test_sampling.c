// SPDX-License-Identifier: Apache-2.0
/*
 * loaderd/sampling.c over a made-up kernel: CPUs go and come, the kernel takes their
 * events, counters are shared or stand still, and rights are too few.
 */
#include "loaderd/sampling.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "common/clock.h"
#include "loaderd/bpf.h"
#include "tests/unit/harness.h"

#define CPUS	3
#define FD_FIRST	100
#define EVENTS	64
#define S	NSEC_PER_SEC

static struct fake_event {
	bool open, enabled, hardware;
	int cpu;		/* -1: the kernel has taken it away */
	uint64_t value, on, ran;
} events[EVENTS];

static struct fake_cpu {
	bool online;
	bool no_pmu;		/* has no counter of cycles */
	bool stands;		/* it has one, which does not count */
	uint64_t share;		/* of its counter that we get, percent */
} cpus[CPUS];

static int n_events, refuse;
static uint64_t mono;
static struct sampling s;

/* --- the kernel --------------------------------------------------------------- */

long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	va_list ap;
	int cpu;

	va_start(ap, number);
	attr = va_arg(ap, const struct perf_event_attr *);
	(void)va_arg(ap, int);
	cpu = va_arg(ap, int);
	va_end(ap);
	CHECK(cpu >= 0 && cpu < CPUS && n_events < EVENTS && attr->disabled);
	if (refuse)
		errno = refuse;
	else if (!cpus[cpu].online)
		errno = ENODEV;
	else if (attr->type == PERF_TYPE_HARDWARE && cpus[cpu].no_pmu)
		errno = ENOENT;
	else {
		events[n_events] = (struct fake_event){
			.open = true, .cpu = cpu, .hardware = attr->type == PERF_TYPE_HARDWARE,
		};
		return FD_FIRST + n_events++;
	}
	return -1;
}

static struct fake_event *event_of(int fd)
{
	CHECK(fd >= FD_FIRST && fd < FD_FIRST + n_events && events[fd - FD_FIRST].open);
	return &events[fd - FD_FIRST];
}

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct fake_event *e = event_of(fd);

	if (request == PERF_EVENT_IOC_ENABLE)
		e->enabled = true;
	else if (request == PERF_EVENT_IOC_DISABLE)
		e->enabled = false;
	return 0;
}

/* A look takes a microsecond; of that the CPU's counter takes notice, too. */
static void passes(uint64_t ns)
{
	mono += ns;
	for (int i = 0; i < n_events; i++) {
		struct fake_event *e = &events[i];
		uint64_t ran;

		if (!e->open || !e->enabled || e->cpu < 0)
			continue;
		ran = e->hardware ? ns * cpus[e->cpu].share / 100 : ns;
		e->on += ns;
		e->ran += ran;
		if (!e->hardware || !cpus[e->cpu].stands)
			e->value += ran;
	}
}

ssize_t __wrap_read(int fd, void *to, size_t len);
ssize_t __wrap_read(int fd, void *to, size_t len)
{
	struct fake_event *e = event_of(fd);
	const uint64_t v[] = { e->value, e->on, e->ran };

	CHECK_EQ(len, sizeof(v));
	memcpy(to, v, sizeof(v));
	passes(1000);
	return sizeof(v);
}

ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at)
{
	CHECK(fd == 50 && !at && len > CPUS);
	for (int i = 0; i < CPUS; i++)
		((char *)to)[i] = cpus[i].online ? '1' : '0';
	return CPUS;
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	(void)flags;
	CHECK_STR(path, "/sys/devices/system/cpu/online");
	return 50;
}

int __wrap_close(int fd);
int __wrap_close(int fd)
{
	if (fd >= 0)
		event_of(fd)->open = false;
	return 0;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	ts->tv_sec = (time_t)(mono / S);
	ts->tv_nsec = (long)(mono % S);
	return 0;
}

static void goes(int cpu)
{
	cpus[cpu].online = false;
	for (int i = 0; i < n_events; i++) {
		if (events[i].cpu == cpu)
			events[i].cpu = -1;
	}
}

/* --- what happens ------------------------------------------------------------- */

static const struct bpf bpf = { .sample_fd = 7, .programs_fd = -1, .cpus = CPUS };

static void begin(bool pmu)
{
	memset(events, 0, sizeof(events));
	n_events = refuse = 0;
	mono = 1000 * S;
	for (int i = 0; i < CPUS; i++)
		cpus[i] = (struct fake_cpu){ .online = true, .no_pmu = !pmu, .share = 100 };
	CHECK_EQ(sampling_open(&s, &bpf, 97), 0);
}

/* So many events that are open and count, one a CPU. */
static int counting(void)
{
	bool has[CPUS] = { false };
	int n = 0;

	for (int i = 0; i < n_events; i++) {
		const struct fake_event *e = &events[i];

		if (!e->open)
			continue;
		CHECK(e->cpu >= 0 && e->enabled && !has[e->cpu]);
		has[e->cpu] = true;
		n++;
	}
	CHECK_EQ(s.n, n);
	return n;
}

static bool about(uint64_t got, uint64_t want)
{
	return got + 100000 > want && got < want + 100000;
}

static void second(int failing)
{
	passes(S);
	CHECK_EQ(sampling_refresh(&s), failing);
}

TEST(time_is_counted_from_the_beginning_to_the_end)
{
	for (int pmu = 0; pmu < 2; pmu++) {
		begin(pmu);
		second(0);		/* nothing is sampled yet */
		sampling_enable(&s);
		CHECK_EQ(counting(), 3);
		for (int i = 0; i < 10; i++)
			second(0);
		CHECK(about(s.covered_ns, 30 * S));
		passes(S / 2);
		sampling_stop(&s);
		CHECK(about(s.covered_ns, 30 * S + 3 * S / 2));
		CHECK_EQ(s.missed_ns, 0);
		CHECK_EQ(n_events, 3);	/* none was opened anew */
	}
}

/* The machine slept, say: the list of CPUs is as it was, the kernel's events are gone. */
TEST(a_cpu_that_went_and_came_back_is_sampled_within_a_second)
{
	begin(false);
	sampling_enable(&s);
	second(0);
	passes(S / 4);
	goes(1);
	goes(2);
	cpus[1].online = cpus[2].online = true;
	passes(3 * S / 4);
	CHECK_EQ(sampling_refresh(&s), 0);
	CHECK_EQ(counting(), 3);
	CHECK(about(s.missed_ns, 2 * S));	/* at most: both as a whole */
	CHECK(about(s.covered_ns, 4 * S));
	second(0);
	CHECK(about(s.covered_ns, 7 * S) && about(s.missed_ns, 2 * S));
	CHECK_EQ(n_events, 5);		/* CPU 0 kept its own */
}

TEST(a_cpu_that_went_just_now_is_sampled_a_second_later)
{
	begin(false);
	sampling_enable(&s);
	passes(S - S / 16);
	goes(1);
	cpus[1].online = true;
	passes(S / 16);
	CHECK_EQ(sampling_refresh(&s), 0);
	second(0);
	CHECK_EQ(counting(), 3);
	CHECK(about(s.missed_ns, S));
}

TEST(time_without_a_cpu_is_nobodys)
{
	begin(false);
	goes(2);
	sampling_stop(&s);
	CHECK_EQ(sampling_open(&s, &bpf, 97), 0);	/* off at the start */
	sampling_enable(&s);
	CHECK_EQ(counting(), 2);
	for (int i = 0; i < 5; i++)
		second(0);
	goes(1);
	for (int i = 0; i < 5; i++)
		second(0);
	CHECK_EQ(counting(), 1);
	CHECK(about(s.covered_ns, 15 * S) && s.missed_ns == 0);
	cpus[1].online = cpus[2].online = true;
	second(0);
	CHECK_EQ(counting(), 3);
	CHECK(about(s.covered_ns, 16 * S) && about(s.missed_ns, 2 * S));
}

/* Others keep theirs; what is not sampled is counted until somebody may open it again. */
TEST(a_cpu_that_may_not_be_sampled_is_counted)
{
	begin(false);
	sampling_enable(&s);
	second(0);
	goes(2);
	cpus[2].online = true;
	refuse = EACCES;
	for (int i = 0; i < 5; i++)
		second(-EACCES);
	CHECK_EQ(counting(), 2);
	CHECK(about(s.covered_ns, 13 * S) && about(s.missed_ns, 5 * S));
	refuse = 0;
	second(0);
	CHECK_EQ(counting(), 3);
	second(0);
	CHECK(about(s.covered_ns, 18 * S) && about(s.missed_ns, 6 * S));
}

TEST(a_shared_counter_covers_a_part)
{
	begin(true);
	sampling_enable(&s);
	cpus[0].share = 25;
	for (int i = 0; i < 4; i++)
		second(0);
	CHECK(about(s.covered_ns, 9 * S) && about(s.missed_ns, 3 * S));
	CHECK_EQ(n_events, 3);
}

/* A virtual machine's, after it was moved. */
TEST(an_event_that_counts_no_cycles_gives_way_to_the_clock)
{
	begin(true);
	CHECK(s.event[1].hardware);
	sampling_enable(&s);
	second(0);
	cpus[1].stands = true;
	second(0);			/* it counted a little before */
	second(0);
	CHECK_EQ(counting(), 3);
	CHECK(s.event[0].hardware && !s.event[1].hardware);
	CHECK(about(s.missed_ns, S));
	second(0);
	CHECK(about(s.covered_ns + s.missed_ns, 12 * S));
}
