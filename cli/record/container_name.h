/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_name - the IDs of containers that have a name
 *
 * No engine is asked: its socket is as good as root.  The files are read that
 * engines leave on disk for themselves; those of stopped containers are among
 * them.  They are root's, but what is in them comes from others, so there are
 * limits for everything, and a file counts only if it is a regular file, and
 * root's.
 *
 *   docker      /var/lib/docker/containers/ID/config.v2.json
 *   podman      /var/lib/containers/storage/DRIVER-containers/containers.json
 *               and volatile-containers.json (of --rm); root's containers with
 *               an image, not those of users and of --rootfs
 *   nerdctl     /var/lib/nerdctl/HASH/names/NAMESPACE/NAME, which holds the ID
 *               (nerdctl, docs/dir.md, at commit 254229b117eb)
 *   Kubernetes  /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, the name
 *               alone: that of the pod or the container is taken (kubernetes,
 *               pkg/kubelet/kuberuntime/legacy.go, at commit 16913111deb1)
 *
 * Where docker and podman write what: container_json.h.
 */
#ifndef CLI_RECORD_CONTAINER_NAME_H
#define CLI_RECORD_CONTAINER_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/container.h"

#define CONTAINER_MATCHES_MAX	64	/* then no more are found */
#define CONTAINER_NAME_MAX	253	/* a pod's: DNS subdomain, RFC 1123 */

struct container_match {
	char id[CONTAINER_ID_MAX + 1];
	char from[300];		/* "docker", "Kubernetes POD_NAMESPACE_NAME";
				 * printable, no space but that one */
};

struct container_matches {
	uint32_t n;
	struct container_match v[CONTAINER_MATCHES_MAX];
};

/* May that be a container's or pod's name?  Letters, digits, and behind the
 * first one "_.-" (moby, daemon/names, and podman alike; a pod's has fewer). */
bool container_name_is(const char *name);

/* All containers of that name, which container_name_is() has passed, by the
 * files below the directory `root`, "/" but in tests.  What cannot be read is
 * as if it were not there. */
void container_name_find(int root, const char *name,
			 struct container_matches *ret);

#endif /* CLI_RECORD_CONTAINER_NAME_H */
