# SPDX-License-Identifier: Apache-2.0
"""adversary - an ordinary user attacks while a program of root's is profiled

A row is an attack.  The program of root's burns CPU in a known chain of
functions all the time; its samples are judged in a window without the attack and in
one with it, of the same recording: how many there are for each second of CPU time
that it got (others compete for CPUs, that is no attack), and how many are whole.
A fresh copy of it starts in the middle of the attack and must be known, too.
"""
import collections
import contextlib
import json
import os
import shutil
import signal
import subprocess
import time

from accounts import Watcher
from live import (ROOT, TRIFOLD, Skip, compile_c, ends_with_us, has_chain, not_less, parent_of, pids_of,
                  ran_and_stolen, rate_not_less, say, scratch, timed, wait_for, with_stolen)

USER = 12345
HZ = 499
CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]
LEARN = 3		# s until tables are there
ENOUGH = 0.5		# s of CPU time that a control has in a window
SOURCES = os.path.join(ROOT, "tests", "hostile", "adversary")
CAPS = {"trifold-loaderd": 64, "trifold-symbolizerd": 512, "trifold-exporterd": 128}	# MiB resident

# command: a program of SOURCES and its arguments; DIR: a directory of the
# attacker's, FUSE: a device that he may open.  within: words before it.
# memory: MiB that a cgroup of its own allows; beside: arguments of the same program
# as root.  alone: it has no file in common with others.  (Who holds the lock of a page of libc
# may wait for a CPU behind 2,000 others; a new program that wants the page waits, too,
# 90 s and more on one CPU, whatever its priority.)  proof: judges what the attack itself did,
# of the account, his samples and the recording.  lines: the others have DWARF.
# settle: s from the attack's start until it counts.
Attack = collections.namedtuple("Attack", "name command seconds fresh within memory beside alone proof lines settle",
                                defaults=(4, True, "", 0, "", False, None, False, 1))
GUESSES = 8		# of a sample: GUESSES_MAX of bpf/frame.h
LINES_SHARE = 0.02	# of one CPU: limits.lines_share
LINES_START = 0.8	# s of CPU time, besides: source_lines.h
VISIT = 4 * 2.5		# s that visits may have beyond: four of a user, which are killed after 2


def guessed(_account, his, _out):
    """Nearly all of his stacks have as many guesses as there may be."""
    most = sum(sum(name == "[caller guessed]" for name in f) == GUESSES for f in his)
    say(f"{most} of {len(his)} stacks have {GUESSES} guesses")
    assert most > 0.9 * len(his) > 90


def with_line(out, name):
    """Of the samples of a program in chain_10, those that know a line; how many there are."""
    with open(out, encoding="utf-8") as f:
        threads = json.load(f)["threads"]
    known = total = 0
    for t in threads:
        if not t["processName"].startswith(name + " "):
            continue
        lines = [f[4] if t["stringTable"][f[0]].startswith("chain_10") else 0 for f in t["frameTable"]["data"]]
        frame = [lines[f] for _, f in t["stackTable"]["data"]]
        known += sum(bool(frame[s]) for s, *_ in t["samples"]["data"] if frame[s] != 0)
        total += sum(frame[s] != 0 for s, *_ in t["samples"]["data"])
    return known, total


def lines_shared(account, _his, out):
    """The others have their lines, and the share for lines is kept: but one visit that ran on."""
    used, seconds = account["hub.line_cpu_ns"] / 1e9, account.uptime / 1e9
    known, total = with_line(out, "fresh")
    say(f"lines: {account['hub.line_visits']} visits, {account['hub.line_answers']} answered, "
        f"{account['hub.line_put_off']} put off, {account['hub.line_deaths']} workers lost, {used:.1f} s in {seconds:.0f} s; "
        f"the fresh one has lines in {known} of {total} samples")
    assert account["hub.line_visits"] > 2, "nothing was asked for"
    assert used <= LINES_SHARE * seconds + LINES_START + VISIT, "more than the share"
    assert known > 0.9 * total > 0, "the fresh one has no lines"


MOUNTS = "unshare -Urm"
NAMESPACES = "unshare -Urmpf --kill-child"
QUICK = [
    Attack("mappings that change their sizes, all in one stack", "memory grow"),
    Attack("stacks that lead to themselves, down, nowhere, to memory that does not answer", "memory stacks"),
    Attack("code that changes and moves", "memory churn"),
    Attack("short processes, many at a time", "processes short 20000"),
    Attack("exec, again and again", "processes exec 4"),
    Attack("processes that die at any moment, each with files of its own", "processes lives"),
    Attack("new files, each run once and removed, as many as a user can make", "processes new DIR"),
    Attack("numbers of processes that are given again at once", "processes reuse", beside="turn"),
    Attack("2,000 processes that all fork", "processes bomb 2000", alone=True),
    Attack("names of 4,095 bytes, with what faces might misread", "processes names DIR"),
    Attack("ELF files with fields at their extremes", "files extreme 1 100000"),
    Attack("files that change while they are read", "files change DIR"),
    Attack("sections that want GiB, or never end", "bombs", within=MOUNTS),
    Attack("a file system that does not answer", "mute DIR FUSE", within=MOUNTS),
    Attack("other user, PID and mount namespaces", "processes short 500", within=NAMESPACES),
    Attack("stacks on which everything is guessed", "memory guesses", proof=guessed),
    Attack("DWARF that is slow to read", "dwarf 28", 6, proof=lines_shared, lines=True),
    Attack("little memory, few descriptors", "memory churn", within="prlimit --as=16777216 --nofile=8", memory=4),
]
LONG = [
    Attack("much DWARF that is slow to read", "dwarf 500", 15, proof=lines_shared, lines=True, settle=40),
    Attack("24 files that are slow to parse", "files slow 24", 20),
    Attack("200,000 mappings", "memory maps 200000", 15),
    Attack("65,536 mapped files", "memory files 65536", 25),
    Attack("10,000 threads", "processes threads 10000", 10),
    Attack("5,000 tiny executables", "processes tiny 5000 DIR", 25),
    Attack("ELF files with other fields at their extremes", "files extreme 2 100000", 30),
    Attack("sections that want GiB, for longer", "bombs", 30, within=MOUNTS),
]


def usual_priority():
    """In a child: that of any program.  Who watches is favoured."""
    ends_with_us()
    os.setpriority(os.PRIO_PROCESS, 0, 0)


def control_priority():
    """In a child: it gets CPU time even beside 2,000 others, and leaves some to trifold's programs."""
    ends_with_us()
    os.setpriority(os.PRIO_PROCESS, 0, -15)


def build(tmp, attack):
    name = attack.command.split()[0]
    flags = ["-mno-red-zone"] if os.uname().machine == "x86_64" else []
    if attack.alone:
        flags.append("-static")
    if name == "mute":
        flags.append("-s")	# its debug file is looked for
    subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-I", ROOT, "-pthread",
                    "-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer", *flags,
                    "-o", os.path.join(tmp, name), os.path.join(SOURCES, name + ".c"), "-lz"],
                   check=True)


def of_user():
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and owner(p) == USER]


def kill_all():
    """All of USER's in one call: forking does not get away."""
    pid = os.fork()
    if not pid:
        try:
            os.setresuid(USER, USER, USER)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def owner(pid):
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


@contextlib.contextmanager
def cgroup(mib):
    """A cgroup with so much memory; yields the file that takes who is in it."""
    v2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    top = "/sys/fs/cgroup" + ("" if v2 else "/memory")
    path = f"{top}/trifold-test-{os.getpid()}"
    if v2:
        with open(f"{top}/cgroup.subtree_control", "w", encoding="ascii") as f:
            f.write("+memory")
    try:
        os.mkdir(path)
    except OSError as e:
        raise Skip(f"no cgroup: {e}") from e
    try:
        with open(f"{path}/memory." + ("max" if v2 else "limit_in_bytes"), "w", encoding="ascii") as f:
            f.write(str(mib << 20))
        yield f"{path}/cgroup.procs"
    finally:
        wait_for(lambda: not open(f"{path}/cgroup.procs", encoding="ascii").read())
        os.rmdir(path)


LAST_PID = "/proc/sys/kernel/ns_last_pid"	# what the row with "turn" needs


def as_user(within):
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=-all",
            "--pdeathsig", "KILL", *within.split()]


def need(attack):
    if subprocess.run([*as_user(attack.within), "true"]).returncode:
        raise Skip(f"an ordinary user may not {attack.within} here")
    if attack.beside and not os.path.exists(LAST_PID):
        raise Skip(f"no {LAST_PID}")


def argv(tmp, own, attack):
    fuse = os.path.join(tmp, "fuse")
    if "FUSE" in attack.command:
        os.mknod(fuse, 0o20666, os.makedev(10, 229))
        os.chmod(fuse, 0o666)
    name, *args = attack.command.split()
    return [*as_user(attack.within), os.path.join(tmp, name),
            *({"DIR": own, "FUSE": fuse}.get(w, w) for w in args)]


@contextlib.contextmanager
def attacking(tmp, attack):
    """Runs it as USER, in a directory of his; in the end all that is his is killed."""
    own = os.path.join(tmp, "own")
    os.mkdir(own)
    os.chown(own, USER, USER)
    assert not of_user(), f"somebody else is uid {USER}"
    with contextlib.ExitStack() as stack:
        command = argv(tmp, own, attack)
        if attack.memory:
            procs = stack.enter_context(cgroup(attack.memory))
            command = ["/bin/sh", "-c", f'echo $$ >{procs} && exec "$@"', "sh", *command]
        helper = attack.beside and subprocess.Popen(
            [os.path.join(tmp, attack.command.split()[0]), *attack.beside.split()],
            preexec_fn=ends_with_us)
        p = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL,
                             preexec_fn=usual_priority)
        try:
            yield p
        finally:
            if helper:
                helper.kill()
                helper.wait()

            def gone():
                kill_all()
                p.poll()
                return not of_user()
            wait_for(gone, 60)
            shutil.rmtree(os.fsencode(own))


def cpu_of(pid):
    """CPU time of a process so far, s."""
    with open(f"/proc/{pid}/schedstat") as f:
        return int(f.read().split()[0]) / 1e9


class Control:
    """A program of root's, burning CPU in chain_10; whose copy it is says its name."""

    def __init__(self, tmp, name):
        self.name = name
        exe = shutil.copy(os.path.join(tmp, "chain"), os.path.join(tmp, name))
        with open(exe, "ab") as f:
            f.write(name.encode())	# another file, with another content
        self.p = subprocess.Popen([exe, "600"], start_new_session=True, preexec_fn=control_priority)

    def cpu(self):
        return cpu_of(self.p.pid)


class Window:
    """A time within the recording, and the CPU time that a control got in it."""

    def __init__(self, control):
        self.control = control
        self.begin, self.used, self.host = time.time(), control.cpu(), ran_and_stolen()

    def got(self):
        """CPU time so far, s."""
        return self.control.cpu() - self.used

    def close(self):
        self.end = time.time()
        self.used = self.got()
        self.most = with_stolen(self.used, self.host, ran_and_stolen())
        return self

    def judge(self, samples, start, what):
        """(samples for each second of CPU time, at most and at least; share that is whole; samples).
        The clock of samples goes on for a part of what the host of a virtual machine took."""
        mine = [f for ms, f in samples if f and f[0] == self.control.name and
                self.begin <= start + ms / 1000 < self.end]
        whole = sum(has_chain(f, CHAIN) and f[1] == "_start" for f in mine)
        assert self.used >= ENOUGH, f"{what}: the control got no CPU: {self.used:.2f} s"
        most, least = len(mine) / self.used, len(mine) / self.most
        say(f"{what}: {len(mine)} samples in {self.used:.2f} to {self.most:.2f} s of CPU time: "
            f"{least:.1f} to {most:.1f} Hz, {100 * whole / max(1, len(mine)):.1f} % whole")
        return most, least, whole / max(1, len(mine)), len(mine)


OURS = ("trifold-loaderd", "trifold-symbolizerd", "trifold-exporterd")


def below(pid, top):
    while pid > 1 and pid != top:
        pid = parent_of(pid)
    return pid == top


def main_pids(top):
    """Of what `top` started the processes of ours by name, without their children:
    others on the machine may run their own."""
    found = {}
    for name in OURS:
        pids = pids_of(name)
        found[name] = next((p for p in pids if parent_of(p) not in pids and below(p, top)), None)
    return found


def resident(pid):
    try:
        with open(f"/proc/{pid}/status") as f:
            return next((int(x.split()[1]) // 1024 for x in f if x.startswith("VmRSS")), 0)
    except OSError:
        return 0


class Health(contextlib.AbstractContextManager):
    """What must hold of our processes during an attack."""

    def __init__(self, top):
        self.top = top

    def __enter__(self):
        wait_for(lambda: all(main_pids(self.top).values()))
        self.pids = main_pids(self.top)
        self.peak = {}
        return self

    def look(self, seconds, window):
        """For so long, and until the window's control got some CPU, if that takes at most 3 minutes."""
        begin = time.time()
        used = [self.cpu(), begin]
        while time.time() < begin + seconds or (window.got() < ENOUGH and time.time() < begin + 180):
            for name, pid in self.pids.items():
                self.peak[name] = max(self.peak.get(name, 0), resident(pid))
            workers = sum(resident(p) for p in pids_of(OURS[1])) - resident(self.pids[OURS[1]])
            self.peak["workers"] = max(self.peak.get("workers", 0), workers)
            time.sleep(0.25)
        used = 100 * (self.cpu() - used[0]) / (time.time() - used[1])
        begin = time.time()
        r = subprocess.run([TRIFOLD, "status", "--json"], capture_output=True, timeout=120)
        say(f"loaderd and hub: {used:.1f} % of a CPU; status took {time.time() - begin:.2f} s")
        assert r.returncode == 0, f"status: {r.stderr}"

    def cpu(self):
        return sum(cpu_of(self.pids[name]) for name in OURS[:2])

    def __exit__(self, kind, *_):
        if kind:
            return
        now = main_pids(self.top)
        assert now == self.pids, f"died: {self.pids}, now {now}"
        say(f"MiB at most: {self.peak}")
        for name, mib in self.peak.items():
            assert mib <= CAPS.get(name, 1024), f"{name}: {mib} MiB"


def start_recording(out):
    p = subprocess.Popen([TRIFOLD, "record", "--output", out, "--duration", "300",
                          "--frequency", str(HZ)],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         start_new_session=True, preexec_fn=usual_priority)
    wait_for(lambda: p.poll() is not None or Watcher.once())
    assert p.poll() is None, p.stderr.read()
    return p


def judge(attack, account, out, calm, under, late):
    with open(out, encoding="utf-8") as f:
        start = json.load(f)["meta"]["startTime"] / 1000
    samples = timed(out)
    _, rate, whole, n = calm.judge(samples, start, "without")
    assert n > 100, "too few samples: was the machine busy?"
    assert whole > 0.9, "the control is not whole even without an attack"
    rate_now, _, whole_now, n = under.judge(samples, start, "under attack")
    _, _, fresh, m = late.judge(samples, start, "fresh, under attack")
    his = [f for _, f in samples if f and f[0] == attack.command.split()[0]]
    say(f"his own program: {len(his)} samples, {max(map(len, his), default=0)} frames at most")
    say(f"taken {account.taken()}, delivered {account.delivered()}, lost {account.lost()}, "
        f"{account['hub.worker_deaths']} workers died, {account['loader.file_requests']} requests")
    assert account.missing() == 0, f"{account.missing()} samples are nowhere"
    rate_not_less(rate_now, rate, n, HZ)
    not_less("completeness", whole_now, whole, n)
    if attack.fresh:
        not_less("completeness of a fresh one", fresh, whole, m)
    if attack.proof:
        attack.proof(account, his, out)


def run(attack):
    need(attack)
    os.setpriority(os.PRIO_PROCESS, 0, -20)	# who watches, and what has no usual_priority()
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer", *(["-g"] if attack.lines else []))
        build(tmp, attack)
        out = os.path.join(tmp, "out.firefox.json")
        control = Control(tmp, "control")
        fresh = p = None
        watcher = Watcher()
        try:
            seconds = attack.seconds
            p = start_recording(out)
            with Health(p.pid) as health:
                time.sleep(LEARN)
                calm = Window(control)
                health.look(min(seconds, 8), calm)
                calm.close()
                with attacking(tmp, attack) as a:
                    time.sleep(attack.settle)
                    fresh = Control(tmp, "fresh")
                    under = Window(control)
                    health.look(seconds - 3, under)
                    wait_for(lambda: fresh.cpu() > ENOUGH, 180)	# its table has come by then
                    late = Window(fresh)
                    health.look(3, late)
                    if a.poll() == 77:
                        raise Skip("an ordinary user cannot do that here")
                    assert a.poll() is None, f"the attack ended by itself: {a.returncode}"
                    under.close()
                    late.close()
                assert p.poll() is None, p.stderr.read()
            p.send_signal(signal.SIGINT)
            err = p.communicate(timeout=60)[1]
            assert p.returncode == 0, err
            watcher.done = True
            watcher.join(6)
            assert not watcher.errors, watcher.errors
            judge(attack, watcher.last, out, calm, under, late)
        finally:
            watcher.done = True
            for q in (control.p, fresh and fresh.p):
                if q:
                    q.kill()
                    q.wait()
            if p and p.poll() is None:	# an assertion failed before
                p.send_signal(signal.SIGINT)
                p.communicate(timeout=60)
