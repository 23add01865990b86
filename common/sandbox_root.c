// SPDX-License-Identifier: Apache-2.0
#include "common/sandbox_more.h"

#include <cap-ng.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RW_FLAGS (MS_NOSUID | MS_NODEV | MS_NOEXEC)
#define RO_FLAGS (RW_FLAGS | MS_RDONLY)

/* Make the way to a file or directory below the current one. */
static int make_place(char *path, bool dir)
{
	for (char *p = path; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -1;
	}
	return dir ? mkdir(path, 0755) : mknod(path, S_IFREG | 0444, 0);
}

static int bind_path(const char *path, unsigned long flags)
{
	char place[PATH_MAX];
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	snprintf(place, sizeof(place), "%s", path + strspn(path, "/"));
	if (make_place(place, S_ISDIR(st.st_mode)) < 0 && errno != EEXIST)
		return -1;
	if (mount(path, place, NULL, MS_BIND, NULL) < 0)
		return -1;
	return mount(NULL, place, NULL, MS_REMOUNT | MS_BIND | flags, NULL);
}

/* An initramfs cannot be pivoted away; it is covered instead. */
static int enter_root(void)
{
	if (syscall(SYS_pivot_root, ".", ".") == 0)
		return umount2(".", MNT_DETACH);
	if (errno != EINVAL || mount(".", "/", NULL, MS_MOVE, NULL) < 0)
		return -1;
	return chroot(".");
}

int sandbox_namespaces_with(bool net, const char *const *keep,
			    const char *const *write)
{
	int flags = CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS;

	if (capng_get_caps_process() < 0)
		return sandbox_failed("capget");
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN))
		return 0;
	if (unshare(flags | (net ? CLONE_NEWNET : 0)) < 0)
		return sandbox_failed("unshare");
	/* /proc is nobody's wish to keep, so nothing wanted gets hidden */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "size=64k,mode=755") < 0 || chdir("/proc") < 0)
		return sandbox_failed("mounting an empty root");
	for (; keep && *keep; keep++) {
		if (bind_path(*keep, RO_FLAGS) < 0)
			return sandbox_failed(*keep);
	}
	for (; write && *write; write++) {
		if (bind_path(*write, RW_FLAGS) < 0)
			return sandbox_failed(*write);
	}
	if (enter_root() < 0 || chdir("/") < 0 ||
	    mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | RO_FLAGS, NULL) < 0)
		return sandbox_failed("changing the root");
	return 0;
}

int sandbox_namespaces(bool net, const char *const *keep)
{
	return sandbox_namespaces_with(net, keep, NULL);
}
