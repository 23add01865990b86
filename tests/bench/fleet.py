#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet - what a Collector takes for many hosts

usage: fleet.py [--hosts N,N...] [--interval S] [--seconds S]
                [--limit-mib N] [--cores N] [--away] COLLECTOR REQUEST...

Runs a Collector (the path of a binary that has otlp, memory_limiter, otlp_http and debug, as
tests/live/collector/run.sh builds one) with docs/recipes/gateway.yaml, and N simulated
agents that send it the given requests in turn, compressed by gzip, each on a connection of
its own, one in each interval, at a time of its own.  A request: a recording of as many
seconds as the interval has, `trifold record --frequency 19 --duration 5 --output x.otlp`.

Three ways, one after the other: receive (into its log), forward as it is, forward with gzip,
both to a server of this program that answers 200; and with --away, to one that is not there.
For each: CPU time of the Collector for a request that it took, and when forwarding, sent on;
how many hosts a core bears at most (half of it is to be planned), the most resident memory,
refusals, and the slowest answers.  Refusals cost CPU time, too, which counts for the others:
a measurement has few.  Bounded: --seconds for each way and number of hosts, and as long again
for what the Collector has queued; at most 5,000 hosts.
"""
import argparse
import asyncio
import gzip
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GATEWAY = os.path.join(ROOT, "docs", "recipes", "gateway.yaml")
RECEIVE = """
exporters:
  debug:
    verbosity: basic
service:
  pipelines:
    profiles:
      receivers: [otlp]
      processors: [memory_limiter]
      exporters: [debug]
"""
TICKS = os.sysconf("SC_CLK_TCK")
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


async def read_message(reader):
    """The first line of an HTTP message, and its body's length; it has a Content-Length or chunks."""
    head = await reader.readuntil(b"\r\n\r\n")
    length, chunked = 0, False
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        if name.lower() == b"transfer-encoding":
            chunked = b"chunked" in value
    while chunked:
        size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
        await reader.readexactly(size + 2)
        length += size
        chunked = size > 0
    else:
        if length and b"chunked" not in head:
            await reader.readexactly(length)
    return head.split(b"\r\n", 1)[0], length


class Backend:
    """Takes everything."""

    def __init__(self):
        self.requests = self.bytes = 0

    async def serve(self, reader, writer):
        try:
            while True:
                _, n = await read_message(reader)
                self.requests += 1
                self.bytes += n
                writer.write(OK)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()


class Fleet:
    def __init__(self, port, bodies, hosts, interval):
        self.port, self.bodies, self.hosts, self.interval = port, bodies, hosts, interval
        self.status, self.took, self.late = {}, [], 0

    def request(self, n):
        body = self.bodies[n % len(self.bodies)]
        return (b"POST /v1development/profiles HTTP/1.1\r\nHost: c\r\n"
                b"Content-Type: application/x-protobuf\r\nContent-Encoding: gzip\r\n"
                b"Content-Length: %d\r\n\r\n" % len(body)) + body

    async def agent(self, i, start, end):
        due = start + self.interval * i / self.hosts
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        n = i
        while due < end:
            await asyncio.sleep(max(0, due - time.monotonic()))
            t = time.monotonic()
            writer.write(self.request(n))
            line, _ = await read_message(reader)
            code = int(line.split()[1])
            self.status[code] = self.status.get(code, 0) + 1
            self.took.append(time.monotonic() - t)
            self.late += t - due > self.interval / 2
            due, n = due + self.interval, n + 1
        writer.close()

    async def run(self, seconds):
        start = time.monotonic() + 1
        await asyncio.gather(*(self.agent(i, start, start + seconds) for i in range(self.hosts)))


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        v = f.read().rpartition(")")[2].split()
    return (int(v[11]) + int(v[12])) / TICKS


def most_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024


async def up(port):
    for _ in range(300):
        try:
            _, w = await asyncio.open_connection("127.0.0.1", port)
            w.close()
            return
        except OSError:
            await asyncio.sleep(0.1)
    sys.exit("fleet: the Collector does not listen")


async def end(p):
    """It sends what it has queued, for which the backend must run; where that is away, not for long."""
    p.terminate()
    for _ in range(100):
        if p.poll() is not None:
            return
        await asyncio.sleep(0.1)
    p.kill()
    p.wait()


async def sent_on(backend, accepted, seconds):
    """Wait for what is queued: its CPU time is part of what a request costs.  How many are left."""
    end_at = time.monotonic() + seconds
    while backend.requests < accepted and time.monotonic() < end_at:
        await asyncio.sleep(0.2)
    return accepted - min(backend.requests, accepted)


async def measure(o, how, hosts, bodies):
    backend, port = Backend(), free_port()
    server = await asyncio.start_server(backend.serve, "127.0.0.1", 0)
    there = server.sockets[0].getsockname()[1]
    if how == "away":
        there = free_port()
    env = dict(os.environ, LISTEN=f"127.0.0.1:{port}", GOMAXPROCS=str(o.cores), LIMIT_MIB=str(o.limit_mib),
               SPIKE_MIB=str(o.limit_mib // 4), GOMEMLIMIT=f"{o.limit_mib}MiB",
               BACKEND=f"http://127.0.0.1:{there}", METRICS_HOST="127.0.0.1", METRICS_PORT=str(free_port()),
               COMPRESSION="gzip" if how == "forward, gzip" else "none")
    with tempfile.TemporaryDirectory(prefix="trifold-fleet-") as tmp:
        args = [o.collector, "--feature-gates=service.profilesSupport", "--config", GATEWAY]
        if how == "receive":
            with open(f"{tmp}/receive.yaml", "w", encoding="ascii") as f:
                f.write(RECEIVE)
            args += ["--config", f"{tmp}/receive.yaml"]
        with open(f"{tmp}/log", "w", encoding="utf-8") as log:
            p = subprocess.Popen(args, env=env, stdout=log, stderr=log)
        try:
            await up(port)
            fleet = Fleet(port, bodies, hosts, o.interval)
            before = cpu_s(p.pid)
            await fleet.run(o.seconds)
            accepted, left = fleet.status.get(200, 0), 0
            if "forward" in how:
                left = await sent_on(backend, accepted, o.seconds)
            cpu, mib = cpu_s(p.pid) - before, most_mib(p.pid)
        finally:
            await end(p)
            server.close()
    sent = sum(fleet.status.values())
    each = cpu / max(1, accepted - left)
    took = sorted(fleet.took)
    print(f"{how:<14} {hosts:>6} {sent:>9} {1000 * each:>8.2f} {o.interval / each:>8.0f} "
          f"{100 * cpu / o.seconds / o.cores:>6.0f} {mib:>7.0f} {1000 * took[len(took) * 99 // 100]:>7.0f} "
          f"{sent - accepted:>8} {left:>6} {fleet.late:>6} {backend.bytes // max(1, backend.requests):>9}",
          flush=True)


async def run(o, bodies):
    for hosts in o.hosts:
        for how in ("receive", "forward", "forward, gzip", *(["away"] if o.away else [])):
            await measure(o, how, hosts, bodies)


def options():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--hosts", default="100,400", type=lambda s: [min(5000, int(n)) for n in s.split(",")])
    p.add_argument("--interval", default=5.0, type=float)
    p.add_argument("--seconds", default=20.0, type=float)
    p.add_argument("--limit-mib", default=512, type=int)
    p.add_argument("--cores", default=1, type=int)
    p.add_argument("--away", action="store_true")
    p.add_argument("collector")
    p.add_argument("requests", nargs="+")
    return p.parse_args()


def main():
    o = options()
    bodies = []
    for name in o.requests:
        with open(name, "rb") as f:
            bodies.append(f.read())
    raw = sum(map(len, bodies)) / len(bodies)
    bodies = [gzip.compress(b, 4) for b in bodies]
    size = sum(map(len, bodies)) / len(bodies)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(f"{len(bodies)} requests of {raw:.0f} bytes, {size:.0f} as gzip; every {o.interval:g} s: "
          f"{size * 86400 / o.interval / 1e6:.0f} MB a host and day; {o.cores} core(s), "
          f"limit_mib {o.limit_mib}, {o.seconds:g} s each")
    print("               hosts  requests  CPU ms/  hosts a   CPU  memory  99th %  refused  unsent  late  bytes to")
    print("                                 request     core     %     MiB      ms                        backend")
    asyncio.run(run(o, bodies))


main()
