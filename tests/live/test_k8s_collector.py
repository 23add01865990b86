#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Collector's configurations of packaging/kubernetes/collector, in the real Collector
(tests/live/collector): profiles pass, and get the names that they should.  The API
server is one of ours, which knows one pod: what a real one answers is not tried."""
import json
import os
import socket
import subprocess
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import otlp_make
from live import ROOT, Skip, Suite, scratch, wait_for

suite = Suite()
CONFIGS = os.path.join(ROOT, "packaging", "kubernetes", "collector")
CACHE = os.environ.get("COLLECTOR_CACHE", os.path.join(ROOT, "build", "collector"))
BINARY = os.path.join(CACHE, "dist", "otelcol-trifold-test")
GATE = "--feature-gates=service.profilesSupport"
ID = "c0ffee" + "0" * 58
POD = {
    "metadata": {"name": "web-7d9c-x2", "namespace": "shop", "uid": "275ecb36-5aa8-4c2a-9c47-d8bb681b9aff",
                 "creationTimestamp": "2026-01-01T00:00:00Z", "resourceVersion": "1",
                 "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web",
                                      "uid": "475ecb36-5aa8-4c2a-9c47-d8bb681b9aff", "controller": True}]},
    "spec": {"nodeName": "node1", "containers": [{"name": "front", "image": "shop/front:3"}]},
    "status": {"phase": "Running", "podIP": "10.1.2.3", "startTime": "2026-01-01T00:00:00Z",
               "containerStatuses": [{"name": "front", "containerID": f"containerd://{ID}",
                                      "image": "shop/front:3", "imageID": "", "ready": True,
                                      "restartCount": 0, "state": {"running": {}}, "lastState": {}}]},
}
# of the file that is delivered: where it listens, where it sends, how it asks
CHANGED = """
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:{port}
exporters:
  file:
    path: {out}
    flush_interval: 100ms
service:
  pipelines:
    profiles:
      exporters: [file]
"""
ASKED = """
processors:
  k8sattributes:
    auth_type: kubeConfig
    wait_for_metadata: true
"""
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: test
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
clusters: [{{name: test, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: test, user: {{}}}}]
"""


class ApiServer(BaseHTTPRequestHandler):
    """Lists: one pod, nothing else; watches: nothing ever changes."""
    protocol_version = "HTTP/1.1"
    ended = threading.Event()
    asked = set()

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        self.asked.add(path)
        if "sendInitialEvents" in query:	# clients then list and watch
            self.answer(422, {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                              "reason": "Invalid", "code": 422})
        elif "watch=" in query:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.end_headers()
            self.ended.wait(60)
            self.close_connection = True
        else:
            pods = [POD] if path.endswith("/pods") else []
            kind = {"pods": "PodList"}.get(path.rsplit("/", 1)[1], "List")
            self.answer(200, {"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": "2"},
                              "items": pods})


def collector(config, tmp, port, *more, **env):
    """The running Collector, with the delivered file and what a test must change."""
    changed = os.path.join(tmp, "changed.yaml")
    with open(changed, "w", encoding="utf-8") as f:
        f.write(CHANGED.format(port=port, out=os.path.join(tmp, "out")) + "".join(more))
    args = ["--config", os.path.join(CONFIGS, config), "--config", changed, GATE]
    env = {**os.environ, "BACKEND": "127.0.0.1:1", **env}
    subprocess.run([BINARY, "validate", *args[:2], GATE], env=env, check=True, timeout=60)
    return subprocess.Popen([BINARY, *args], env=env, stderr=open(os.path.join(tmp, "log"), "wb"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def send(port, pid, **resource):
    body = otlp_make.request([10**18], [["leaf", "main"]], pid=pid, **resource)
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1development/profiles", data=body,
                                     headers={"Content-Type": "application/x-protobuf"})
    try:
        return urllib.request.urlopen(request, timeout=10).status == 200
    except OSError:
        return False


def plain(strings, attribute):
    """(key, value); the Collector's file has both in a table of strings."""
    key = attribute.get("key") or strings[attribute["keyStrindex"]]
    kind, value = next(iter(attribute["value"].items()))
    return key, strings[value] if kind == "stringValueStrindex" else value


def resources(tmp):
    """[{key: value}] of the resources that came through."""
    found = []
    with open(os.path.join(tmp, "out"), encoding="utf-8") as f:
        # the last line may be under way
        for line in (json.loads(x) for x in f if x.endswith("\n")):
            for r in line["resourceProfiles"]:
                assert r["scopeProfiles"][0]["profiles"], "a resource without a profile"
                found.append(dict(plain(line["dictionary"]["stringTable"], a)
                                  for a in r["resource"]["attributes"]))
    return found


def through(config, tmp, sent, *more, **env):
    """What becomes of the attributes of each of sent."""
    if not os.access(BINARY, os.X_OK):
        raise Skip("no collector was built")
    port = free_port()
    p = collector(config, tmp, port, *more, **env)
    try:
        # all else is lost before it listens
        assert wait_for(lambda: send(port, **sent[0]) or p.poll() is not None)
        for attributes in sent[1:]:
            assert send(port, **attributes)
        assert wait_for(lambda: os.path.exists(os.path.join(tmp, "out")) and len(resources(tmp)) == len(sent))
        return resources(tmp)
    finally:
        p.terminate()
        p.wait(30)
        with open(os.path.join(tmp, "log"), encoding="utf-8", errors="replace") as f:
            print("".join(f"# {line}" for line in f.readlines()[-5:]), end="")


@suite.test
def pods_by_container_id():
    """k8sattributes: a container's profile gets its pod's names, another one passes as it is"""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ApiServer)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with scratch() as tmp:
            config = os.path.join(tmp, "kubeconfig")
            with open(config, "w", encoding="utf-8") as f:
                f.write(KUBECONFIG.format(port=server.server_port))
            got = through("k8sattributes.yaml", tmp, [
                {"container.id": ID, "pid": 1}, {"pid": 2},
                {"container.id": "f" * 64, "pid": 3}], ASKED, KUBECONFIG=config)
    finally:
        ApiServer.ended.set()
        server.shutdown()
    assert "/api/v1/pods" in ApiServer.asked, ApiServer.asked
    by_pid = {str(r["process.pid"]): r for r in got}
    assert by_pid["1"]["container.id"] == ID
    for key, value in (("k8s.namespace.name", "shop"), ("k8s.pod.name", "web-7d9c-x2"),
                       ("k8s.pod.uid", POD["metadata"]["uid"]), ("k8s.container.name", "front"),
                       ("k8s.daemonset.name", "web"), ("k8s.node.name", "node1")):
        assert by_pid["1"].get(key) == value, by_pid["1"]
    for other in ("2", "3"):
        assert not any(k.startswith("k8s.") for k in by_pid[other]), by_pid[other]


@suite.test
def node_by_downward_api():
    """without the API server: what the DaemonSet says passes, and the cluster's name comes"""
    with scratch() as tmp:
        got = through("node.yaml", tmp, [{"k8s.node.name": "node1", "container.id": ID, "pid": 1}], CLUSTER="east")
    assert got[0]["k8s.node.name"] == "node1" and got[0]["container.id"] == ID, got
    assert got[0]["k8s.cluster.name"] == "east", got


suite.run()
