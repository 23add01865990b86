// SPDX-License-Identifier: Apache-2.0
#include "loaderd/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"

static int open_event(const struct sampling *s, int cpu, bool hardware)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = hardware ? PERF_COUNT_HW_CPU_CYCLES :
				     PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = s->frequency,
		.disabled = 1,
		.exclude_idle = !hardware,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static int sampling_attach(struct sampling *s, int cpu)
{
	int r, fd = open_event(s, cpu, true);

	s->hardware = fd >= 0;
	if (fd < 0)
		fd = open_event(s, cpu, false);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, s->prog_fd) < 0 ||
	    (s->enabled && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)) {
		r = -errno;
		close(fd);
		return r;
	}
	s->event[cpu] = fd;
	s->n++;
	return 0;
}

static void detach(struct sampling *s, int cpu)
{
	close(s->event[cpu]);
	s->event[cpu] = -1;
	s->n--;
}

/* A list of CPUs as the kernel writes it, "0-3,8": mark them in online. */
static void parse_list(const char *p, uint8_t *online)
{
	while (*p >= '0' && *p <= '9') {
		char *end;
		unsigned long a = strtoul(p, &end, 10), b = a;

		if (*end == '-')
			b = strtoul(end + 1, &end, 10);
		for (; a <= b && a < CPUS_MAX; a++)
			online[a] = 1;
		p = *end == ',' ? end + 1 : end;
	}
}

int sampling_refresh(struct sampling *s)
{
	uint8_t online[CPUS_MAX] = { 0 };
	char list[CPUS_MAX];
	ssize_t n = pread(s->online_fd, list, sizeof(list) - 1, 0);
	int r, failed = 0;

	if (n <= 0)
		return -EIO;
	list[n] = '\0';
	parse_list(list, online);
	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (s->event[cpu] >= 0 && !online[cpu])
			detach(s, cpu);
		r = s->event[cpu] < 0 && online[cpu] ?
			sampling_attach(s, cpu) : 0;
		failed = r ? r : failed;
	}
	return failed;
}

int sampling_open(struct sampling *s, int prog_fd, uint32_t frequency)
{
	*s = (struct sampling){ .prog_fd = prog_fd, .frequency = frequency };
	memset(s->event, -1, sizeof(s->event));
	s->online_fd = open("/sys/devices/system/cpu/online",
			    O_RDONLY | O_CLOEXEC);
	if (s->online_fd < 0)
		return -errno;
	return sampling_refresh(s);
}

void sampling_enable(struct sampling *s)
{
	for (int cpu = 0; cpu < CPUS_MAX && !s->enabled; cpu++) {
		if (s->event[cpu] >= 0 &&
		    ioctl(s->event[cpu], PERF_EVENT_IOC_ENABLE, 0) < 0)
			log_err("perf event of CPU %d: %s", cpu,
				strerror(errno));
	}
	s->enabled = true;
}

void sampling_stop(struct sampling *s)
{
	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (s->event[cpu] >= 0)
			detach(s, cpu);
	}
}
