#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each system call that a seccomp filter allows is one that its process makes.

trifold lives once with all that it can do, while BPF notes what passes each
filter (filters.py).  What every filter allows (the common rules of
common/sandbox.c) must be used by any process, all else by the process itself.
What is allowed and not used stands in UNUSED, or in SOMETIMES, with its reason.
"""
import contextlib
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from accounts import Watcher
from filters import HELPER, Observer
from live import (DAEMONS, ROOT, TRIFOLD, Skip, Suite, children_of, compile_c, exporter_uid, main_of,
                  pids_of, record, say, scratch, wait_for)
from loads import storm
from screen import Terminal
from viewer_page import Page

suite = Suite()
HERE = os.path.dirname(os.path.abspath(__file__))
ANY = "any"		# a rule of all processes

# (process, call, value of the argument in filters.ASKED or None): why it is allowed.
# Never made here:
UNUSED = {
    (ANY, "writev", None): "glibc's last words before it aborts",
    ("loaderd", "perf_event_open", None): "a CPU that comes later",
    ("loaderd", "ioctl", 0x40042408): "the same: PERF_EVENT_IOC_SET_BPF",
}
if os.uname().machine == "x86_64":
    UNUSED |= {
        (ANY, "epoll_pwait", None): "arm64 has no epoll_wait",
        ("opener", "readlinkat", None): "arm64 has no readlink",
        ("exporterd", "renameat2", 0): "riscv64 has no renameat",
    }

# It depends on this machine, or on the moment, whether they are made:
CLOCK = "where the vDSO cannot read the clock"
GLIBC, CURL = "one or the other, by glibc's version", "one or the other, by curl's version"
ADDRESSES = "getaddrinfo(), for a name with several addresses"
SOMETIMES = {
    (ANY, "fstat", None): GLIBC,
    (ANY, "newfstatat", 0x1000): GLIBC,
    (ANY, "sysinfo", None): "qsort() of glibc before 2.37",
    (ANY, "gettimeofday", None): CLOCK,
    (ANY, "time", None): CLOCK,
    ("top", "ioctl", 0x5403): GLIBC,
    ("top", "ioctl", 0x402c542c): GLIBC,
    ("zygote", "setpriority", 0): "a file is new when five seconds have passed",
    ("zygote", "kill", signal.SIGKILL): "a worker takes too long, or the hub has ended",
    ("opener", "kill", signal.SIGKILL): "an opener hangs",
    ("exporterd", "socketpair", None): CURL,
    ("exporterd", "eventfd2", None): CURL,
    ("exporterd", "socket", socket.AF_NETLINK): ADDRESSES,
    ("exporterd", "bind", None): ADDRESSES,
    ("exporterd", "socket", socket.AF_INET6): "this machine has no IPv6",
    ("exporterd", "ioctl", 0x541b): "FIONREAD: DNS answers",
    ("exporterd", "sendmmsg", None): "DNS is asked",
    ("exporterd", "uname", None): "DNS: resolv.conf has no domain",
    ("exporterd", "lseek", None): "stdio, in files of the resolver and certificates",
    ("exporterd", "gettid", None): "systemd's NSS modules",
    ("exporterd", "madvise", 102): "MADV_GUARD_INSTALL: a thread's stack, from glibc 2.42 on",
}


def role(comm, depth, calls):
    if comm.startswith("trifold-symbol"):
        return "worker" if depth == 2 else "zygote" if "wait4" in calls else "hub"
    if comm.startswith("trifold-loader"):
        return "loaderd"
    return {"trifold-exporte": "exporterd", "trifold": "top"}.get(comm, comm.partition("-")[2])


# --- a life -------------------------------------------------------------------------

class OnTerminal:
    """trifold, for which its standard output and error are a terminal."""

    def __init__(self, *args, **env):
        self.master, slave = pty.openpty()
        self.said = ""
        self.p = subprocess.Popen([TRIFOLD, *args], stdin=slave, stdout=slave, stderr=slave,
                                  env={**os.environ, **env}, start_new_session=True)
        os.close(slave)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        with contextlib.suppress(OSError):
            while True:
                self.said += os.read(self.master, 65536).decode(errors="replace")

    def hears(self, pattern):
        found = wait_for(lambda: re.search(pattern, self.said) or self.p.poll() is not None)
        assert found is not True, self.said
        return found

    def end(self):
        self.p.send_signal(signal.SIGINT)
        assert self.p.wait(60) == 0, self.said


def certificate(where):
    cert, key = f"{where}/cert.pem", f"{where}/key.pem"
    with contextlib.suppress(FileNotFoundError):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-keyout", key, "-out", cert], check=True, capture_output=True)
        os.chmod(cert, 0o644)
        return cert, key
    raise Skip("needs openssl")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_receiver(where, port, tls):
    return subprocess.Popen([sys.executable, f"{HERE}/receiver.py", "--dir", where, "--script", "200",
                             "--port", str(port), "--tls", *tls], stdin=subprocess.DEVNULL)


@contextlib.contextmanager
def stripped(tmp):
    """A program that runs, without names; they are in a debug file beside it."""
    exe = compile_c("chain.c", f"{tmp}/chain", "-g", "-fomit-frame-pointer", "-Wl,--build-id")
    subprocess.run(["objcopy", "--only-keep-debug", exe, exe + ".debug"], check=True)
    subprocess.run(["strip", "-s", exe], check=True)
    with subprocess.Popen([exe, "600"]) as p:
        try:
            yield p
        finally:
            p.kill()


def look_at_page(run):
    found = run.hears(r"http://127\.0\.0\.1:(\d+)/#key=([0-9a-f]{32})")
    page = Page(int(found.group(1)), found.group(2))
    wait_for(lambda: page.api("info")["samples"] > 50)
    assert page.ask("/")[0].status == 200
    assert page.download("pprof")


def look_at_top():
    t = Terminal([TRIFOLD, "top", "--view", "processes"])
    try:
        t.until("chain")
        t.resize(30, 120)
        t.key("?")
        t.until("callers and callees")
        t.key("q")
        assert t.wait() == 0
    finally:
        t.close()


def kill(name, pid):
    say(f"kill -9 {name} {pid}")
    os.kill(pid, signal.SIGKILL)


def kill_each():
    kill("opener", children_of(children_of(main_of("trifold-loaderd"))[0])[0])
    for name in ("trifold-exporterd", "trifold-viewer", "trifold-symbolizerd", "trifold-loaderd"):
        old = wait_for(lambda: main_of(name))
        kill(name, old)
        wait_for(lambda: main_of(name) not in (None, old))


def stop_and_go():
    """poll(2) goes on by restart_syscall."""
    pids = [pid for name in (*DAEMONS, "trifold") for pid in pids_of(name)]
    for sig in (signal.SIGSTOP, signal.SIGCONT):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sig)
        time.sleep(0.3)


def run_and_use(tmp):
    os.chmod(tmp, 0o755)
    spool, config, tls, port = f"{tmp}/spool", f"{tmp}/conf", certificate(tmp), free_port()
    os.mkdir(spool, 0o700)
    os.chown(spool, exporter_uid(), exporter_uid())
    with open(config, "w", encoding="utf-8") as f:
        f.write(f"[export]\nendpoint = https://localhost:{port}\nca = {tls[0]}\n"
                f"spool = {spool}\n")
    w = Watcher()
    run = OnTerminal("run", "--interval", "1", "--frequency", "97", "--config", config,
                     "--output", f"{tmp}/end.html")
    receiver = None
    try:
        look_at_page(run)
        record(f"{tmp}/a.folded", "--duration", "2")
        look_at_top()
        stop_and_go()
        wait_for(lambda: w.last["exporter.spool_batches"] > 2)
        kill("exporterd", wait_for(lambda: main_of("trifold-exporterd")))
        receiver = start_receiver(tmp, port, tls)
        wait_for(lambda: w.last.delivered() > 0 and not w.last["exporter.spool_batches"])
        run.p.send_signal(signal.SIGHUP)
        run.hears("Reloaded.")
        kill_each()
        mark = w.last.delivered()
        wait_for(lambda: w.last.delivered() > mark + 50)
        run.end()
    finally:
        if run.p.poll() is None:
            run.p.send_signal(signal.SIGINT)
            run.p.wait(60)
        if receiver:
            receiver.kill()		# this test's parent may ignore SIGINT
            receiver.wait()
        w.done = True
        w.join(6)


def live():
    """Once with all, once without a receiver that could be found, once for a command."""
    with scratch() as tmp, storm(), stripped(tmp):
        run_and_use(tmp)
        subprocess.run([TRIFOLD, "run", "--interval", "1", "--duration", "3", "--no-page",
                        "--endpoint", "http://no-such-name.invalid:4318"], capture_output=True,
                       timeout=60)
        record(f"{tmp}/b.folded", "--", "sleep", "2")
        look_at_top()


# --- what was used ---------------------------------------------------------------------

def sorted_rules(rules):
    return sorted(rules, key=lambda r: (r[0], r[1] or ()))


def shown(rule):
    return rule[0] + (f"({rule[1][1]:#x})" if rule[1] else "")


def unused(roles):
    """{(process, call, value)} of all rules that no call used."""
    common = roles["record"].rules		# it has no others
    used = set.union(*(r.used for r in roles.values()))
    left = {(ANY, *rule) for rule in common - used}
    for name, r in roles.items():
        say(f"{name}: {len(r.pids)} processes; used: " + " ".join(map(shown, sorted_rules(r.used))))
        left |= {(name, *rule) for rule in r.rules - common - r.used}
    return {(name, call, condition and condition[1]) for name, call, condition in left}


@suite.test
def every_call():
    """what a filter allows is used, or stands in UNUSED with its reason"""
    subprocess.run(["make", "-s", "-C", ROOT, HELPER[len(ROOT) + 1:]], check=True)
    with Observer(role) as o:
        live()
    assert o.end == 0, f"{o.end} calls were not told"
    want = {"loaderd", "opener", "hub", "zygote", "worker", "exporterd", "viewer", "front", "record", "top"}
    assert set(o.roles) == want, set(o.roles)
    left = unused(o.roles)
    surplus = left - set(UNUSED) - set(SOMETIMES)
    assert not surplus, f"allowed, and not needed: {sorted(surplus, key=str)}"
    gone = set(UNUSED) - left
    assert not gone, f"in UNUSED, but used or not allowed any more: {sorted(gone, key=str)}"
    allowed = {(name, call, value and value[1]) for name, r in o.roles.items() for call, value in r.rules}
    gone = {rule for rule in SOMETIMES if rule[0] != ANY} - allowed
    gone |= {r for r in SOMETIMES if r[0] == ANY and ("record", *r[1:]) not in allowed}
    assert not gone, f"in SOMETIMES, but not allowed any more: {sorted(gone, key=str)}"


suite.run()
