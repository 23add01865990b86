// SPDX-License-Identifier: Apache-2.0
/* What loaderd's processes may not do any more, tried from inside. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/uio.h>

#include "loaderd/confine.h"
#include "tests/hostile/forbidden.h"

static int as_main(void)
{
	confine_main(TEST_UID, TEST_UID);
	return 0;
}

static int as_opener(void)
{
	confine_opener(TEST_UID, TEST_UID);
	return 0;
}

/* Root's own process: the opener may read it, and must not write it. */
static long open_mem_rw(void)
{
	return open("/proc/1/mem", O_RDWR);
}

/* Of the test itself: a process of root that is not the opener's child. */
static long open_maps(void)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", getppid());
	return open(path, O_RDONLY);
}

static long write_memory(void)
{
	struct iovec v = { (void *)"x", 1 };

	return syscall(SYS_process_vm_writev, 1, &v, 1, &v, 1, 0);
}

static long bpf_call(void)
{
	union bpf_attr attr = { 0 };

	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

int main(void)
{
	need_root();
	forbidden_common("loaderd main", as_main);
	refused("loaderd main", as_main, "fork", do_fork);
	refused("loaderd main", as_main, "open a file", do_open);
	refused("loaderd main", as_main, "network socket", do_inet);
	refused("loaderd main", as_main, "open maps of root's process", open_maps);

	forbidden_common("opener", as_opener);
	refused("opener", as_opener, "network socket", do_inet);
	refused("opener", as_opener, "Unix socket", do_unix);
	refused("opener", as_opener, "open for writing", do_create);
	refused("opener", as_opener, "/proc/1/mem for writing", open_mem_rw);
	refused("opener", as_opener, "process_vm_writev", write_memory);
	refused("opener", as_opener, "bpf", bpf_call);
	allowed("opener", as_opener, "open maps of root's process", open_maps);
	return finish();
}
