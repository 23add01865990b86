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

static int open_event(const struct sampling *s, uint32_t cpu, bool hardware)
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

static int event_enable(int fd)
{
	store_put(EVENT_NAME, fd);
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

static int sampling_attach(struct sampling *s, uint32_t cpu)
{
	int r, fd = open_event(s, cpu, true);

	s->hardware = fd >= 0;
	if (fd < 0)
		fd = open_event(s, cpu, false);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, s->prog_fd) < 0 ||
	    (s->enabled && event_enable(fd) < 0)) {
		r = -errno;
		close(fd);
		return r;
	}
	s->event[s->n++] = fd;
	return 0;
}

/*
 * Other distances of samples until the next second, each CPU its own, within a fifth: or
 * what does something in step with us is sampled always, or never.  Each second time it
 * is the complement, so that two seconds have as many samples as they should; 0.47 Hz
 * more are for the sample that was on its way, since the clock begins anew.
 */
static void sampling_vary(struct sampling *s)
{
	s->random = ~s->random;
	if (s->random & 1 && getrandom(&s->random, sizeof(s->random), 0) > 0)
		s->random |= 1;
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t part = s->random * (2 * i + 1) >> 32;
		uint64_t mhz = s->frequency * (800 + (400 * part >> 32)) + 470;
		uint64_t value = s->hardware ? mhz / 1000 : 1000 * NSEC_PER_SEC / mhz;

		ioctl(s->event[i], PERF_EVENT_IOC_PERIOD, &value);
	}
}

/* Where CPUs came or went, all events are opened anew. */
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
		failed = r && r != -ENODEV ? r : failed;	/* -ENODEV: offline */
	}
	strcpy(s->list, failed ? "" : list);
	return failed;
}

int sampling_open(struct sampling *s, int prog_fd, uint32_t cpus, uint32_t frequency)
{
	*s = (struct sampling){
		.prog_fd = prog_fd, .frequency = frequency,
		.cpus = cpus < CPUS_MAX ? cpus : CPUS_MAX,
	};
	s->online_fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	return s->online_fd < 0 ? -errno : sampling_refresh(s);
}

void sampling_former(struct sampling *s)
{
	for (int fd = store_get(EVENT_NAME, 0); fd >= 0 && s->n < CPUS_MAX;
	     fd = store_get(EVENT_NAME, fd + 1))
		s->event[s->n++] = fd;
}

void sampling_enable(struct sampling *s)
{
	for (uint32_t i = 0; i < s->n && !s->enabled; i++) {
		if (event_enable(s->event[i]) < 0)
			log_err("a perf event: %s", strerror(errno));
	}
	s->enabled = true;
}

void sampling_stop(struct sampling *s)
{
	if (s->n)
		store_remove(EVENT_NAME);
	while (s->n) {
		/* systemd may close its own later */
		ioctl(s->event[--s->n], PERF_EVENT_IOC_DISABLE, 0);
		close(s->event[s->n]);
	}
}
