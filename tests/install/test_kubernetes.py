#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packaging/kubernetes, as far as it can be read here: that Kustomize makes it (if there is
a kubectl), and that files that say the same agree.  No cluster."""
import os
import shutil
import subprocess
import sys

import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
KUBERNETES = os.path.join(ROOT, "packaging", "kubernetes")
sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
from live import Skip, Suite        # noqa: E402

suite = Suite()


def read(path):
    with open(path, encoding="utf-8") as f:
        return list(yaml.safe_load_all(f))


def mib(text):
    return {"Mi": 1, "Gi": 1024}[text[-2:]] * int(text[:-2])


@suite.test
def parses():
    """every file is YAML; each object has its kind, version and name once"""
    seen = set()
    for where in (KUBERNETES, os.path.join(KUBERNETES, "gateway")):
        for name in yaml.safe_load(open(os.path.join(where, "kustomization.yaml"), encoding="utf-8"))["resources"]:
            for o in read(os.path.join(where, name)):
                key = (where, o["apiVersion"], o["kind"], o["metadata"]["name"])
                assert key not in seen, key
                seen.add(key)
    assert {k[2] for k in seen} >= {"DaemonSet", "Deployment", "NetworkPolicy", "Service"}, seen


@suite.test
def kustomize():
    """Kustomize makes both"""
    if not shutil.which("kubectl"):
        raise Skip("no kubectl")
    for where, kind in ((KUBERNETES, "DaemonSet"), (os.path.join(KUBERNETES, "gateway"), "Deployment")):
        r = subprocess.run(["kubectl", "kustomize", where], capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
        objects = list(yaml.safe_load_all(r.stdout))
        [pods] = [o for o in objects if o["kind"] == kind]
        names = {o["metadata"]["name"] for o in objects if o["kind"] == "ConfigMap"}
        used = {v["configMap"]["name"] for v in pods["spec"]["template"]["spec"]["volumes"] if "configMap" in v}
        assert used and used <= names, (used, names)


@suite.test
def names():
    """names may be asked for anywhere: a cache on the node is in no namespace"""
    for where in (KUBERNETES, os.path.join(KUBERNETES, "gateway")):
        [policy] = read(f"{where}/networkpolicy.yaml")
        [rule] = [r for r in policy["spec"]["egress"] if 53 in [p["port"] for p in r["ports"]]]
        assert "to" not in rule, rule
        assert {p["protocol"] for p in rule["ports"]} == {"UDP", "TCP"}, rule
        assert {p["port"] for p in rule["ports"]} == {53}, rule


@suite.test
def gateway():
    """the gateway has the configuration of docs/recipes, room for its limit, a port that is let in"""
    where = os.path.join(KUBERNETES, "gateway")
    [config], [recipe] = read(f"{where}/config.yaml"), read(f"{ROOT}/docs/recipes/gateway.yaml")
    assert config == recipe, "cp docs/recipes/gateway.yaml packaging/kubernetes/gateway/config.yaml"
    [container] = read(f"{where}/deployment.yaml")[0]["spec"]["template"]["spec"]["containers"]
    env = {e["name"]: e["value"] for e in container["env"]}
    # docs/FLEET.md: resident memory is up to 2.6 times the limit of the heap
    assert mib(container["resources"]["limits"]["memory"]) >= 2.6 * int(env["LIMIT_MIB"])
    assert env["GOMEMLIMIT"] == env["LIMIT_MIB"] + "MiB"
    port, metrics = (p["containerPort"] for p in container["ports"])
    [reader] = config["service"]["telemetry"]["metrics"]["readers"]
    assert reader["pull"]["exporter"]["prometheus"]["port"] == f"${{env:METRICS_PORT:-{metrics}}}", reader
    [policy], [service] = read(f"{where}/networkpolicy.yaml"), read(f"{where}/service.yaml")
    assert service["spec"]["ports"][0]["port"] == port
    assert [p["port"] for rule in policy["spec"]["ingress"] for p in rule["ports"]] == [port, metrics]
    [agents] = read(f"{KUBERNETES}/networkpolicy.yaml")
    assert port in [p["port"] for rule in agents["spec"]["egress"] for p in rule["ports"]]
    assert "ingress" not in agents["spec"], agents
    [namespace] = read(f"{where}/namespace.yaml")
    assert namespace["metadata"]["name"] in str(agents), "agents may not send to the gateway"


suite.run()
