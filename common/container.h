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
 *
 * systemd names a service's cgroup after its unit, NAME.service, below slices alone; what
 * lies below belongs to it, whatever it is called: that is made by the service.  Only root
 * makes what lies outside of a service.  So the path is judged from the root on, and in a
 * container from there on once more.
 *
 * An ID below a service counts only if that is an engine's, by its name (docker, containerd,
 * cri-o, kubelet, k3s and such, their snaps), or if a user's systemd is above: what this one
 * starts, podman for example, makes IDs.  So podman's libpod-payload-ID below the service that
 * runs it (Quadlet) is that service, and no container.  A user and a container's root can
 * make any ID: it proves not who somebody is.
 */
#ifndef COMMON_CONTAINER_H
#define COMMON_CONTAINER_H

#include <stddef.h>

#define CONTAINER_ID_MAX	64

/* The ID within path (borrowed from it) and its length; NULL: there is none. */
const char *container_id(const char *path, size_t len, size_t *ret);

/*
 * The first service of a whole path, in ret, NUL-terminated; its length, 0: none, or it does
 * not fit.  "nginx": one of the system's systemd, or of that of the container whose ID the path
 * has.  Before the name goes, with a slash:
 *   "user@1000/nginx"		each user whose own systemd started it, or its container;
 *   "x.scope/nginx"		each level that is neither a slice nor a service (containers
 *				without an ID, of LXC or nspawn).  Below a scope or an ID of
 *				these only scopes: others are the engine's ("payload").
 * No component of a path has a slash: outside of containers with an ID nobody can call his
 * service as another's; in one, nobody but its root.
 */
size_t cgroup_service(const char *path, size_t len, char *ret, size_t size);

#endif /* COMMON_CONTAINER_H */
