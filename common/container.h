/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container - the container that a cgroup belongs to, by its path
 *
 * Container engines name a container's cgroup after its ID: 64 hexadecimal
 * digits, bare (docker, containerd and Kubernetes with the cgroupfs driver), or
 * between a prefix that names the engine and ".scope" (the systemd driver:
 * docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope), or
 * after two colons if a cgroupfs driver was given a systemd slice
 * (x.slice:cri-containerd:ID).  ECS with Fargate uses 32 digits, a dash and a
 * decimal number.  Of nested containers the innermost counts.
 */
#ifndef COMMON_CONTAINER_H
#define COMMON_CONTAINER_H

#include <stddef.h>

#define CONTAINER_ID_MAX	64

/* The ID within path (borrowed from it) and its length; NULL: there is none. */
const char *container_id(const char *path, size_t len, size_t *ret);

#endif /* COMMON_CONTAINER_H */
