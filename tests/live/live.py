# SPDX-License-Identifier: Apache-2.0
"""live - what the tests on live processes share (Python's own library only)

A test file makes a Suite, adds tests by decorator, and calls run(): TAP on
standard output, "# ..." for details.
"""
import bisect
import collections
import contextlib
import ctypes
import grp
import json
import os
import pwd
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

import formats

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BIN = os.path.join(ROOT, "build", "bin")
TRIFOLD = os.path.join(BIN, "trifold")
DAEMONS = ("trifold-loaderd", "trifold-symbolizerd", "trifold-exporterd", "trifold-viewer")
SUPERVISOR = "trifold-supervisor"
# Of tests/beside.py: all that this test started, and nothing else, is below this process.
TEST_ROOT = int(os.environ.get("TRIFOLD_TEST_ROOT", "0"))
USERS_FIRST = 0x60000000	# ids of trifold's users where exporter_uid() makes some


class Skip(Exception):
    pass


class Suite:
    def __init__(self):
        self.tests = []

    def test(self, fn):
        self.tests.append(fn)
        return fn

    def run(self):
        tap([(fn.__doc__ or fn.__name__, fn) for fn in self.tests], leaving_nothing)


def tap(tests, call=lambda fn: fn()):
    """Call each of (name, function), say how it went and what took longest, and exit.
    CASES=EXPRESSION calls those alone whose name it matches."""
    tests = [(name, fn) for name, fn in tests if re.search(os.environ.get("CASES", ""), name)]
    failed, took = not tests, []
    for i, (name, fn) in enumerate(tests, 1):
        began = time.monotonic()
        try:
            call(fn)
            print(f"ok {i} - {name}", flush=True)
        except Skip as why:
            print(f"ok {i} - {name} # SKIP {why}", flush=True)
        except Exception as e:  # a test that breaks has failed
            failed += 1
            why = f"{type(e).__name__}: {e}"
            print("# " + why.replace("\n", "\n# "))
            print(f"not ok {i} - {name}: {why.splitlines()[0][:200]}", flush=True)
        took.append((time.monotonic() - began, name))
    for seconds, name in sorted(took, reverse=True)[:5]:
        print(f"# took {seconds:.1f} s: {name}")
    print(f"1..{len(tests)}")
    sys.exit(failed != 0)


def leaving_nothing(fn):
    if os.getuid() != 0:
        raise Skip("needs root")
    before = leftovers()
    fn()
    nothing_more_than(before)


def say(text):
    print("# " + str(text).replace("\n", "\n# "), flush=True)


def pids_of(name):
    """Those that run a program of this name; of trifold's, those of this build."""
    found = []
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            with open(f"/proc/{pid}/stat", errors="replace") as f:
                stat = f.read()
            exe = os.readlink(f"/proc/{pid}/exe")
        except OSError:
            continue
        where, base = os.path.split(exe.replace(" (deleted)", ""))
        if base == name and ") Z " not in stat and (where == BIN or not name.startswith("trifold")):
            found.append(int(pid))
    return [p for p in found if is_ours(p)]


def is_ours(pid):
    """Below TEST_ROOT; without one everything is."""
    while TEST_ROOT and pid != TEST_ROOT:
        if pid <= 1:
            return False
        pid = parent_of(pid)
    return True


def parent_of(pid):
    """0 if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as f:
            return int(f.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def children_of(pid):
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and parent_of(p) == pid]


def main_of(name):
    """The process that the supervisor started (its children have our name too)."""
    pids = pids_of(name)
    return next((p for p in pids if parent_of(p) not in (0, *pids)), None)


def exporter_uid():
    """As cli/supervisor/identity.c finds it.  Beside other tests, whose daemons may have the
    first free ids, trifold's users get ids of this test's own."""
    try:
        return pwd.getpwnam("trifold-exporterd").pw_uid
    except KeyError:
        pass
    if TEST_ROOT:
        add_users()
        return pwd.getpwnam("trifold-exporterd").pw_uid
    used = {p.pw_uid for p in pwd.getpwall()} | {g.gr_gid for g in grp.getgrall()}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            used.add(os.stat(f"/proc/{pid}").st_uid)
        except OSError:
            pass
    ids = range(0x70000000, 0x70000000 + 7)
    assert not used & set(ids)
    return ids[1]


def add_users():
    """Users of trifold's in /etc/passwd, as this test's mount namespace has it."""
    first = USERS_FIRST + 16 * TEST_ROOT
    roles = ("symbolizerd", "exporterd", "loaderd", "viewer", "opener")
    for path, line in (("/etc/passwd", "trifold-{0}:x:{1}:{1}::/:/bin/false\n"),
                       ("/etc/group", "trifold-{0}:x:{1}:\n")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as f:
            os.chmod(f.name, 0o644)
            f.write(text + "".join(line.format(role, first + i) for i, role in enumerate(roles)))
            f.flush()
            subprocess.run(["mount", "--bind", f.name, path], check=True)


def held(by):
    """BPF objects that a process holds for which by(pid) is true, also as maps of its programs: {("map", 17), ...}"""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if not by(int(pid)):
            continue
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    found |= bpf_objects_of(pid, fd)
    return found | maps_of({n for kind, n in found if kind == "prog"})


def maps_of(programs):
    """A program holds its maps, also where loaderd has others in their place."""
    out = subprocess.run([bpftool(), "--json", "prog", "show"], capture_output=True, text=True).stdout
    return {("map", m) for p in json.loads(out or "[]") if p["id"] in programs for m in p.get("map_ids", [])}


def bpf_objects_of(pid, fd):
    if "anon_inode:bpf" not in os.readlink(f"/proc/{pid}/fd/{fd}"):
        return set()
    with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as f:
        return {(kind, int(n)) for kind, n in re.findall(r"^(prog|map|link)_id:\s+(\d+)", f.read(), re.M)}


def bpf_objects():
    found = set()
    for kind in ("prog", "map", "link"):
        out = subprocess.run([bpftool(), kind, "show"], capture_output=True, text=True)
        found |= {(kind, int(n)) for n in re.findall(r"^(\d+):", out.stdout, re.M)}
    return found


def leftovers():
    """Processes, BPF objects and files of ours that exist now: as a set.  An object that no
    process holds is everybody's."""
    left = {(name, pid) for name in DAEMONS + (SUPERVISOR, "trifold") for pid in pids_of(name)}
    if os.path.exists("/run/trifold"):
        left.add(("/run/trifold", 0))
    # in this order: what another test makes meanwhile is in neither
    return left | bpf_objects() - (held(lambda pid: not is_ours(pid)) if TEST_ROOT else set())


def nothing_more_than(before, seconds=60):
    """The kernel frees maps and programs after a grace period, and those of another test may be on their way to
    its next loaderd, held by a socket: wait for it.  What has appeared and not gone away in all that time is
    left behind."""
    end = time.time() + seconds
    left = leftovers() - before
    while left:
        if time.time() > end:
            raise AssertionError(f"left behind: {sorted(left)}")
        time.sleep(0.2)
        left &= leftovers()


def bpftool():
    for p in ("/usr/sbin/bpftool", "/usr/bin/bpftool"):
        if os.path.exists(p):
            return p
    raise Skip("no bpftool")


def scratch():
    return tempfile.TemporaryDirectory(prefix="trifold-test-")


def compile_c(source, out, *flags):
    subprocess.run(["gcc", "-O2", *flags, "-o", out,
                    os.path.join(ROOT, "tests", "live", source)], check=True)
    return out


def record(output, *args, timeout=600, check=True):
    """trifold record to a file; returns what it said."""
    r = subprocess.run([TRIFOLD, "record", "--output", output, *args],
                       capture_output=True, text=True, timeout=timeout)
    if check:
        assert r.returncode == 0, f"record: {r.returncode}\n{r.stderr}"
    return r.stdout + r.stderr


def in_turn(pids, commands):
    """Words that run each of commands when the one before has ended well, or has had all the CPU
    time that prlimit(1) gave it; their numbers go to the file pids."""
    open(pids, "w").close()
    well = f"case $? in 0|{128 + signal.SIGXCPU}) ;; *) exit 1 ;; esac"
    lines = (f"{shlex.join(words)} & echo $! >>{shlex.quote(pids)}; wait $!; {well}\n"
             for words in commands)
    return ["sh", "-c", "".join(lines)]


def numbers(pids):
    """Of the commands of in_turn(), in their order."""
    with open(pids, encoding="ascii") as f:
        found = [int(line) for line in f]
    assert len(set(found)) == len(found), "a number was given again"
    return found


def folded(path):
    """[(frames root first, count)] of a .folded file."""
    stacks = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            text, _, n = line.rstrip("\n").rpartition(" ")
            stacks.append((text.split(";"), int(n)))
    return stacks


def timed(path):
    """[(ms since the start, frames root first)] of a .firefox.json file, one for
    each sample; frames are called as in a .folded file."""
    samples = []
    for t in formats.firefox_threads(path):
        process = re.sub(r" ?\(pid \d+\)$", "", t.process)
        samples += [(ms, [process] + [f.name.replace(";", ":") + ("_[k]" if f.kind == "Kernel" else "")
                                      for f in stack]) for ms, stack in t.samples]
    return samples


# Ends of stacks that have met a file of which there is no table yet: loads.py's
# tests judge how soon there is one, the others judge what comes then.
LEARNING = ("[stack ends: no_table]", "[stack ends: file_unknown]")


def learned(stacks):
    """Of [(frames, count)] those that were taken when the tables were there: half at least."""
    found = [(f, n) for f, n in stacks if not set(LEARNING) & set(f)]
    early = sum(n for _, n in stacks) - sum(n for _, n in found)
    say(f"{early} samples before the tables were there")
    assert early <= sum(n for _, n in found), stacks
    return found


def has_chain(frames, chain):
    """The chain stands in frames, in a row."""
    n = len(chain)
    return any(frames[i:i + n] == chain for i in range(len(frames) - n + 1))


def ends_with_us():
    """In a child, before its exec: it is killed when the test is, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)	# PR_SET_PDEATHSIG


def ran_and_stolen():
    """Ticks that all CPUs ran programs, and that the host of this virtual machine took from them meanwhile."""
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system, _, _, _, _, steal = map(int, f.readline().split()[1:9])
    return user + nice + system, steal


def with_stolen(cpu, before, after):
    """CPU time by a process's account, as the clock of samples has it, which goes on when the host takes a CPU.
    before, after: ran_and_stolen()."""
    ran, stolen = (b - a for a, b in zip(before, after))
    return cpu * (1 + stolen / max(ran, 1))


def cpu_time(pid):
    """That a process has used, s."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def burns(seconds, *pids):
    """So much CPU time of each later: a busy machine gives it later, and it has as many samples."""
    until = [(pid, cpu_time(pid) + seconds) for pid in pids]
    wait_for(lambda: all(cpu_time(pid) >= at for pid, at in until), 300)


def has_ended(p):
    """Its number stays its own."""
    return os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def used_by_sessions():
    """{process that leads a session: CPU time that all of it has used, ended children too, s}"""
    used = collections.Counter()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", errors="replace") as f:
            stat = f.read().rpartition(")")[2].split()
            used[int(stat[3])] += sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")
    return used


def sessions_burn(seconds, needs, at_most=90):
    """For so many seconds by the clock, and until each program that has not ended, the first of its session, had so
    much CPU time with all below it: {program: s}."""
    begin, before = time.time(), used_by_sessions()

    def starved():
        now = used_by_sessions()
        return [p for p, need in needs.items() if not has_ended(p) and now[p.pid] - before[p.pid] < need]
    time.sleep(seconds)
    while starved() and time.time() < begin + at_most:
        time.sleep(0.2)
    say(f"recorded for {time.time() - begin:.1f} s")
    for p in starved():
        say(f"had too little CPU time: {p.args}"[:300])


class CpuLog:
    """The CPU time that a process used from one moment to another, s, with_stolen()."""
    def __init__(self, pid):
        self.at, self.used, self.host, self.pid = [], [], [], pid
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)

    def __enter__(self):
        self.thread.start()
        wait_for(lambda: self.at)
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def follow(self):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -15)	# of this thread
        while not self.over.wait(0.02):
            before, used, host, after = time.time(), cpu_time(self.pid), ran_and_stolen(), time.time()
            if after - before < 0.01:	# else it is not known when that was
                self.at.append(after)
                self.used.append(used)
                self.host.append(host)

    def between(self, begin, end):
        a, b = (bisect.bisect(self.at, t) - 1 for t in (begin, end))
        return with_stolen(self.used[b] - self.used[a], self.host[a], self.host[b])


def wait_for(what, seconds=120):
    """What `what` returns once that is true; how long only says when a test that fails does so."""
    end = time.time() + seconds
    while time.time() < end:
        v = what()
        if v:
            return v
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain")
