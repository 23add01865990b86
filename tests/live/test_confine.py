#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each running process is, seen from outside (/proc/PID)."""
import contextlib
import os
import signal
import subprocess

from accounts import Watcher
from live import TRIFOLD, Suite, say, scratch, wait_for

suite = Suite()
CAPS = {"CAP_DAC_READ_SEARCH": 2, "CAP_SYS_PTRACE": 19, "CAP_PERFMON": 38, "CAP_BPF": 39,
        "CAP_CHECKPOINT_RESTORE": 40}
NAMESPACES = ("net", "mnt", "ipc", "uts")


def status(pid):
    with open(f"/proc/{pid}/status") as f:
        return dict(line.rstrip("\n").split(":", 1) for line in f)


def tree():
    """{pid: (comm, parent)} of every process."""
    out = {}
    for p in os.listdir("/proc"):
        if p.isdigit():
            try:
                with open(f"/proc/{p}/stat") as f:
                    head, _, tail = f.read().rpartition(")")
                out[int(p)] = (head.partition("(")[2], int(tail.split()[1]))
            except OSError:
                pass
    return out


def descendants(root):
    t, out = tree(), {}
    todo = [root]
    while todo:
        at = todo.pop()
        for pid, (comm, parent) in t.items():
            if parent == at:
                out[pid] = comm
                todo.append(pid)
    return out


def check(pid, comm, caps, new_ns, landlock_note=""):
    s = status(pid)
    want = sum(1 << CAPS[c] for c in caps)
    ids = set(s["Uid"].split() + s["Gid"].split())
    assert "0" not in ids, f"{comm}: ids {ids}"
    assert not s["Groups"].split(), f"{comm}: groups {s['Groups']}"
    for k in ("CapEff", "CapPrm"):
        assert int(s[k], 16) == want, f"{comm}: {k} {s[k]}, wanted {want:x}"
    for k in ("CapInh", "CapBnd", "CapAmb"):
        assert int(s[k], 16) == 0, f"{comm}: {k} {s[k]}"
    assert s["NoNewPrivs"].strip() == "1", f"{comm}: new privileges"
    assert s["Seccomp"].strip() == "2", f"{comm}: no seccomp filter"
    # not dumpable: /proc/PID belongs to root
    assert os.stat(f"/proc/{pid}/environ").st_uid == 0, f"{comm}: dumpable"
    for ns in NAMESPACES:
        mine, its = (os.readlink(f"/proc/{p}/ns/{ns}") for p in ("self", pid))
        assert (mine != its) == (ns in new_ns), f"{comm}: {ns} namespace"
    with open(f"/proc/{pid}/limits") as f:
        core = next(line for line in f if line.startswith("Max core"))
    assert core.split()[4:6] == ["0", "0"], f"{comm}: {core}"
    say(f"{comm}: uid {s['Uid'].split()[0]} caps {s['CapEff'].strip()} new namespaces {new_ns}")


def check_by_name(exe, comm, pid):
    all_ns = set(NAMESPACES)
    if exe == "trifold-loaderd" and comm == "trifold-opener":
        check(pid, comm, ["CAP_SYS_PTRACE", "CAP_CHECKPOINT_RESTORE", "CAP_DAC_READ_SEARCH"], set())
    elif exe == "trifold-loaderd":
        check(pid, comm, ["CAP_BPF", "CAP_PERFMON"], set())
    elif exe == "trifold-symbolizerd":
        check(pid, comm, [], all_ns)
        assert os.listdir(f"/proc/{pid}/root/") == [], f"{comm}: files in its root"
    elif comm == "trifold-front":
        check(pid, comm, [], set())
    elif exe == "trifold-exporterd":
        check(pid, comm, [], all_ns - {"net"})
    elif exe == "trifold-viewer":
        check(pid, comm, [], all_ns)
        # nothing but the directory of the hub's sockets
        root = f"/proc/{pid}/root"
        assert os.listdir(root) == ["run"], f"{comm}: files in its root"
        assert os.listdir(f"{root}/run") == ["trifold"], f"{comm}: files in /run"
        assert len(os.listdir(f"/proc/{pid}/task")) == 1, f"{comm}: threads"


def check_one(exe, comm, pid):
    """False: it ended meanwhile, as workers do."""
    try:
        check_by_name(exe, comm, pid)
    except (AssertionError, OSError, KeyError, StopIteration):
        with contextlib.suppress(OSError):
            if "State" in (s := status(pid)) and s["State"].split()[0] not in "XZ":
                raise
        return False
    return True


def uid_of(pid):
    """[its uid]; [] if it has ended"""
    with contextlib.suppress(OSError):
        return [status(pid)["Uid"].split()[0]]
    return []


@suite.test
def from_outside():
    """ids, capabilities, seccomp, namespaces of every process are as designed"""
    with scratch() as tmp:
        w = Watcher()
        p = subprocess.Popen([TRIFOLD, "run", "--output", os.path.join(tmp, "x.html")],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # an idle machine may give no sample in 20 s: give it something to do
            wait_for(lambda: sum(range(500000)) and w.last and w.last.taken() > 0)
            assert not w.errors, w.errors
            seen = descendants(p.pid)
            say(seen)
            by, ended = {}, []
            for pid, comm in seen.items():
                with contextlib.suppress(FileNotFoundError):    # a worker may have ended
                    exe = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
                    by.setdefault((exe, comm), []).append(pid)
            for (exe, comm), pids in by.items():
                for pid in pids:
                    if not check_one(exe, comm, pid):
                        ended.append(exe)
            # others live as long as trifold does
            assert set(ended) <= {"trifold-symbolizerd"} and len(by[("trifold-symbolizerd", "trifold-symboli")]) \
                - len(ended) >= 2, ended
            names = [exe for exe, _ in by]
            for exe in ("trifold-loaderd", "trifold-symbolizerd", "trifold-exporterd", "trifold-viewer"):
                assert exe in names, f"{exe} does not run"
            # no two daemons share a uid
            uids = {exe: {uid for (e, _), ps in by.items() if e == exe for pid in ps for uid in uid_of(pid)}
                    for exe in names if exe not in ("trifold", "trifold-supervisor")}
            flat = [u for us in uids.values() for u in us]
            assert len(flat) == len(set(flat)), f"shared uids: {uids}"
        finally:
            p.send_signal(signal.SIGINT)
            p.wait(60)
        w.done = True
        w.join(6)


suite.run()
