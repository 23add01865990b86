#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pod_of.py DIRECTORY NODE: the pod of the DaemonSet in DIRECTORY, as podman 4.3 takes it

`podman play kube` of that version knows no DaemonSet, no seccompProfile (but the
annotations that were before it), no spec.nodeName of the downward API and no hostPID
(`pidns` of containers.conf).  It starts init containers again and again where a pod is to
be restarted always, so here it is on failure.  All else is as Kubernetes gets it.
CONFIG in the environment: the file trifold.conf.  Prints YAML.
"""
import os
import sys

import yaml

ANNOTATION = "container.seccomp.security.alpha.kubernetes.io/"


def load(path):
    with open(path, encoding="utf-8") as f:
        return yaml.safe_load(f)


def adapt(container, node, annotations):
    """What podman does not know, in its words."""
    for env in container.get("env", []):
        ref = env.pop("valueFrom", None)
        if ref:
            assert ref == {"fieldRef": {"fieldPath": "spec.nodeName"}}, ref
            env["value"] = node
    for env in container.get("env", []):
        env["value"] = env["value"].replace("$(NODE_NAME)", node)
    profile = container["securityContext"].pop("seccompProfile")
    annotations[ANNOTATION + container["name"]] = (
        "runtime/default" if profile["type"] == "RuntimeDefault"
        else "localhost/" + os.path.basename(profile["localhostProfile"]))


def main():
    folder, node = sys.argv[1:]
    template = load(f"{folder}/daemonset.yaml")["spec"]["template"]
    spec, annotations = template["spec"], {}
    assert spec.pop("hostPID") is True
    assert spec.setdefault("restartPolicy", "Always") == "Always"
    spec["restartPolicy"] = "OnFailure"
    for c in spec["initContainers"] + spec["containers"]:
        adapt(c, node, annotations)
    with open(os.environ.get("CONFIG", f"{folder}/trifold.conf"), encoding="utf-8") as f:
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "trifold"},
                  "data": {"trifold.conf": f.read()}}
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {
        "name": "trifold", "labels": template["metadata"]["labels"], "annotations": annotations}}
    print(yaml.safe_dump_all([config, pod], sort_keys=False))


main()
