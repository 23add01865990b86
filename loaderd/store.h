/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store - descriptors that outlive this loaderd
 *
 * systemd keeps them and hands them to the next one: sd_pid_notify_with_fds(3)
 * (FDSTORE=1), sd_listen_fds(3) (LISTEN_FDNAMES); they are closed when the unit is
 * stopped.  One of them has the name STORE_LAYOUT, a checksum of the layouts of what is in
 * the maps (layout.mk): if it is missing, the others are of no use.  Without systemd there
 * is no store, and all this does nothing.
 */
#ifndef LOADERD_STORE_H
#define LOADERD_STORE_H

/* The first descriptor of this name, from number `from` on; or -1. */
int store_get(const char *name, int from);

/* Keep fd, which is borrowed.  Several may have one name. */
void store_put(const char *name, int fd);

/* Keep none of this name any longer. */
void store_remove(const char *name);

/* Close all that was handed over, and keep none of it any longer. */
void store_clear(void);

#endif /* LOADERD_STORE_H */
