// SPDX-License-Identifier: Apache-2.0
#include "loaderd/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "loaderd/bpf.h"
#include "loaderd/store.h"

static int sampling_open_event(const struct sampling *s, uint32_t cpu, uint32_t type,
			       uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.freq = 1,
		.sample_freq = s->frequency,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1, .exclude_idle = type == PERF_TYPE_SOFTWARE,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Sample one more CPU.  0 or -errno. */
static int sampling_attach(struct sampling *s, uint32_t cpu)
{
	int r, fd = -1;

	if (!s->no_cycles)
		fd = sampling_open_event(s, cpu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	s->hardware = fd >= 0;
	if (fd < 0)
		fd = sampling_open_event(s, cpu, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, s->prog_fd) < 0 ||
	    (s->enabled && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)) {
		r = -errno;
		close(fd);
		return r;
	}
	s->event[cpu] = (struct cpu_event){ .fd = fd, .hardware = s->hardware };
	s->n++;
	return 0;
}

static void sampling_detach(struct sampling *s, struct cpu_event *e)
{
	if (!e->fd)
		return;
	close(e->fd);
	e->fd = 0;
	s->n--;
}

/*
 * Count for how long an event has counted in the gap since the last look at it.  False: it
 * counts no more, so the gap is not counted.  The kernel takes its events from a CPU that
 * goes, as all but one do while the machine sleeps, and gives none back.
 */
static bool sampling_look(struct sampling *s, struct cpu_event *e, uint64_t gap)
{
	struct event_times last = e->times, again;
	uint64_t enabled, running;

	if (read(e->fd, &e->times, sizeof(e->times)) != sizeof(e->times))
		return false;
	enabled = e->times.enabled - last.enabled;
	running = e->times.running - last.running;
	/* each look takes cycles of its CPU */
	if (running > gap / 2 && e->times.value == last.value) {
		s->no_cycles = true;
		return false;
	}
	if (enabled < gap - gap / 8 && read(e->fd, &again, sizeof(again)) > 0 &&
	    again.enabled == e->times.enabled)
		return false;
	s->covered_ns += running;
	/* the CPU's counters had others to serve */
	s->missed_ns += enabled - running;
	return true;
}

/* Open the event of a CPU anew, if it has none that counts.  changed: it may have come.
 * 0 or -errno. */
static int sampling_check(struct sampling *s, uint32_t cpu, bool changed, uint64_t gap)
{
	struct cpu_event *e = &s->event[cpu];
	int r;

	if (!e->fd && !changed)
		return 0;
	if (e->fd && (!s->enabled || sampling_look(s, e, gap)))
		return 0;
	sampling_detach(s, e);
	s->stale = true;
	r = sampling_attach(s, cpu);
	if (r == -ENODEV)	/* offline */
		return 0;
	if (s->enabled)
		s->missed_ns += gap;
	return r;
}

/*
 * Vary the distance of samples, for each CPU on its own, by up to a fifth: otherwise what
 * runs in step with sampling is sampled always, or never.  Every other time it is varied
 * by the complement, so that two seconds have as many samples as they should.  0.47 Hz
 * more make up for the sample that was due next, since the clock starts anew.
 */
static void sampling_vary(struct sampling *s)
{
	s->random = ~s->random;
	if (s->random & 1 && getrandom(&s->random, sizeof(s->random), 0) > 0)
		s->random |= 1;
	for (uint32_t i = 0; i < s->cpus; i++) {
		uint64_t part = s->random * (2 * i + 1) >> 32;
		uint64_t mhz = s->frequency * (800 + (400 * part >> 32)) + 470;
		/* cpu-cycles: Hz; cpu-clock: ns between samples */
		uint64_t value = 1000 * NSEC_PER_SEC / mhz;

		if (s->event[i].hardware)
			value = mhz / 1000;
		if (s->event[i].fd)
			ioctl(s->event[i].fd, PERF_EVENT_IOC_PERIOD, &value);
	}
}

/* systemd has descriptors of its own, also of events that we closed.  The map of what events
 * run goes with them: it is emptied when nobody has a descriptor of it any more. */
static void sampling_store(struct sampling *s)
{
	store_remove(EVENT_NAME);
	for (uint32_t i = 0; i < s->cpus; i++) {
		if (s->event[i].fd)
			store_put(EVENT_NAME, s->event[i].fd);
	}
	store_put(EVENT_NAME, s->programs_fd);
	s->stale = false;
}

int sampling_refresh(struct sampling *s)
{
	char list[sizeof(s->list)] = "";
	uint64_t gap = now_ns() - s->looked_ns;
	int r, failed = 0;
	bool changed;

	if (pread(s->online_fd, list, sizeof(list) - 1, 0) <= 0)
		return -EIO;
	changed = strcmp(list, s->list);
	s->looked_ns += gap;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
		r = sampling_check(s, cpu, changed, gap);
		if (r)
			failed = r;
	}
	if (s->stale && s->enabled)
		sampling_store(s);
	sampling_vary(s);
	s->list[0] = '\0';
	if (!failed)
		strcpy(s->list, list);
	return failed;
}

int sampling_open(struct sampling *s, const struct bpf *b, uint32_t frequency)
{
	*s = (struct sampling){
		.prog_fd = b->sample_fd, .programs_fd = b->programs_fd,
		.frequency = frequency, .cpus = b->cpus < CPUS_MAX ? b->cpus : CPUS_MAX,
	};
	s->online_fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	if (s->online_fd < 0)
		return -errno;
	return sampling_refresh(s);
}

void sampling_former(struct sampling *s)
{
	int fd = store_get(EVENT_NAME, 0);

	while (fd >= 0 && s->n < CPUS_MAX) {
		s->event[s->n].fd = fd;
		sampling_look(s, &s->event[s->n], 0);
		s->n++;
		fd = store_get(EVENT_NAME, fd + 1);
	}
	s->cpus = s->n;
}

void sampling_enable(struct sampling *s)
{
	s->looked_ns = now_ns();
	for (uint32_t i = 0; i < s->cpus; i++) {
		if (s->event[i].fd && ioctl(s->event[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			log_err("cannot enable a perf event: %s", strerror(errno));
	}
	s->enabled = true;
	sampling_store(s);
}

void sampling_stop(struct sampling *s)
{
	store_remove(EVENT_NAME);
	for (uint32_t i = 0; i < s->cpus; i++) {
		if (!s->event[i].fd)
			continue;
		/* it would go on until systemd closes its own descriptor, too */
		ioctl(s->event[i].fd, PERF_EVENT_IOC_DISABLE, 0);
		sampling_look(s, &s->event[i], 0);
		sampling_detach(s, &s->event[i]);
	}
}
