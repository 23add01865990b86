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
#include "loaderd/store.h"

static int sampling_open_event(const struct sampling *s, uint32_t cpu, bool hardware)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = hardware ? PERF_COUNT_HW_CPU_CYCLES :
				     PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = s->frequency,
		.disabled = 1, .exclude_idle = !hardware,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int sampling_enable_event(int fd)
{
	store_put(EVENT_NAME, fd);
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* Sample one more CPU.  0 or -errno. */
static int sampling_attach(struct sampling *s, uint32_t cpu)
{
	int r, fd = sampling_open_event(s, cpu, true);

	s->hardware = fd >= 0;
	if (fd < 0)
		fd = sampling_open_event(s, cpu, false);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, s->prog_fd) < 0 ||
	    (s->enabled && sampling_enable_event(fd) < 0)) {
		r = -errno;
		close(fd);
		return r;
	}
	s->event[s->n] = fd;
	s->n++;
	return 0;
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
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t part = s->random * (2 * i + 1) >> 32;
		uint64_t mhz = s->frequency * (800 + (400 * part >> 32)) + 470;
		/* cpu-cycles: Hz; cpu-clock: ns between samples */
		uint64_t value = 1000 * NSEC_PER_SEC / mhz;

		if (s->hardware)
			value = mhz / 1000;
		ioctl(s->event[i], PERF_EVENT_IOC_PERIOD, &value);
	}
}

/* If CPUs came or went, all events are opened anew. */
int sampling_refresh(struct sampling *s)
{
	char list[sizeof(s->list)] = "";
	int r, failed = 0;

	if (pread(s->online_fd, list, sizeof(list) - 1, 0) <= 0)
		return -EIO;
	sampling_vary(s);
	if (!strcmp(list, s->list))
		return 0;
	sampling_stop(s);
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
		r = sampling_attach(s, cpu);
		if (r && r != -ENODEV)	/* -ENODEV: offline */
			failed = r;
	}
	s->list[0] = '\0';
	if (!failed)
		strcpy(s->list, list);
	return failed;
}

int sampling_open(struct sampling *s, int prog_fd, uint32_t cpus, uint32_t frequency)
{
	*s = (struct sampling){
		.prog_fd = prog_fd, .frequency = frequency,
		.cpus = cpus < CPUS_MAX ? cpus : CPUS_MAX,
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
		s->event[s->n] = fd;
		s->n++;
		fd = store_get(EVENT_NAME, fd + 1);
	}
}

void sampling_enable(struct sampling *s)
{
	if (s->enabled)
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		if (sampling_enable_event(s->event[i]) < 0)
			log_err("cannot enable a perf event: %s", strerror(errno));
	}
	s->enabled = true;
}

void sampling_stop(struct sampling *s)
{
	if (s->n)
		store_remove(EVENT_NAME);
	for (uint32_t i = 0; i < s->n; i++) {
		/* it would go on until systemd closes its own descriptor, too */
		ioctl(s->event[i], PERF_EVENT_IOC_DISABLE, 0);
		close(s->event[i]);
	}
	s->n = 0;
}
