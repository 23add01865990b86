# SPDX-License-Identifier: Apache-2.0
"""adversary - an ordinary user attacks while a program of root's is profiled

A row is an attack, each by another user.  One recording has them all, one after the
other, and before them a calm window.  A program of root's burns CPU in a known chain
of functions all the time; its samples are judged in the calm window and during each
attack: how many there are for each second of CPU time that it got (others compete for
CPUs, that is no attack), and how many are whole.  A fresh copy of it starts in the
middle of each attack and must be known, too.
"""
import collections
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time

from accounts import Watcher
from chance import least, rate_not_less, share_not_less
from formats import firefox_threads
from live import (ROOT, TRIFOLD, Skip, compile_c, ends_with_us, has_chain, leaving_nothing, parent_of, pids_of,
                  ran_and_stolen, say, scratch, tap, timed, wait_for, with_stolen)

USER = 12345		# of the first attack; the next one has the next
SEED = int(os.environ.get("SEED", time.time()))		# of behave.c
LIVES_S = int(os.environ.get("LIVES_S", 600))
HZ = 499
CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]
LEARN = 3		# s until tables are there
CALM = 10		# s without an attack
# Percent of one CPU for files where several attacks share a recording.  By default they have 2 s of CPU
# time at the start, and then 5 % (docs/SECURITY.md): together they would use up what each has alone.
CPU_SHARE = 30
ENOUGH = 0.5		# s of CPU time that a control has in a window
SOURCES = os.path.join(ROOT, "tests", "hostile", "adversary")
CAPS = {"trifold-loaderd": 64, "trifold-symbolizerd": 512, "trifold-exporterd": 128}	# MiB resident

# command: a program of SOURCES and its arguments; DIR: a directory of the attacking
# user's, FUSE: a device that the user may open.  within: words before it.
# memory: MiB that a cgroup of its own allows; beside: arguments of the same program
# as root.  alone: it has no file in common with others.  (A process that holds the lock of a
# page of libc may wait for a CPU with 2,000 others before it; a new program that needs the
# page waits, too, 90 s and more on one CPU, whatever its priority.)  proof: judges what the
# attack itself did, by its Result and the recording.  lines: the fresh copy has DWARF.
# settle: s from the attack's start until it counts.
Attack = collections.namedtuple("Attack", "name command seconds fresh within memory beside alone proof lines settle",
                                defaults=(4, True, "", 0, "", False, None, False, 1))
GUESSES = 8		# of a sample: GUESSES_MAX of bpf/frame.h
LINES_SHARE = 0.02	# of one CPU: limits.lines_share
LINES_START = 0.8	# s of CPU time, besides: source_lines.h
VISIT = 4 * 2.5		# s that visits may have beyond: four of a user, which are killed after 2


def guessed(result, _stage):
    """Nearly all stacks of the attack have as many guesses as there may be."""
    full = sum(sum(name == "[caller guessed]" for name in f) == GUESSES for f in result.own)
    say(f"{full} of {len(result.own)} stacks have {GUESSES} guesses")
    assert full >= least(0.9, len(result.own)) > 80


def with_line(out, name):
    """Of the last quarter of the samples of a program in chain_10, those that know a line; how many there are."""
    found = [(ms, stack[-1].line or 0) for t in firefox_threads(out) if t.process.startswith(name + " ")
             for ms, stack in t.samples if stack[-1].name.startswith("chain_10")]
    late = sorted(found)[len(found) * 3 // 4:]
    return sum(bool(line) for _, line in late), len(late)


def lines_shared(result, stage):
    """The fresh copy has its lines, and the share for lines is kept: but one visit that ran on."""
    used, seconds = result.more("hub.line_cpu_ns") / 1e9, result.seconds()
    known, total = with_line(stage.out, result.fresh_name)
    visits, answers, put_off, deaths = (result.more(f"hub.line_{x}") for x in ("visits", "answers", "put_off", "deaths"))
    say(f"lines: {visits} visits, {answers} answered, {put_off} put off, {deaths} workers lost, "
        f"{used:.1f} s in {seconds:.0f} s; {result.fresh_name} has lines in {known} of its last {total} samples")
    assert visits > 2, "nothing was asked for"
    assert used <= LINES_SHARE * seconds + LINES_START + VISIT, "more than the share"
    assert known > 0.9 * total > 0, "the fresh copy has no lines"


def opener_hung_once(result, _stage):
    """The process was sampled, its mappings hung an opener, and after that nothing of it was opened."""
    killed = result.more("loader.open_killed")
    say(f"{killed} openers killed")
    assert result.own, "no sample of the attack"
    assert killed == 1, killed


def names_stay_theirs(result, stage):
    """What the random processes call things is in no stack of another program."""
    mine, others = 0, set()
    for _, frames in stage.samples:
        lies = [f for f in frames[1:] if "bhv_" in f]
        mine += bool(lies)
        if lies and not re.match(r"(behave|exe|\d+|bhv_)", frames[0]):
            others.add((frames[0], lies[0]))
    say(f"{mine} stacks have names that they invented")
    assert not others, others


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
    Attack("a process whose mmap lock nobody gets", "mute DIR FUSE lock", within=MOUNTS, settle=4, proof=opener_hung_once),
    Attack("other user, PID and mount namespaces", "processes short 500", within=NAMESPACES),
    Attack("stacks on which everything is guessed", "memory guesses", proof=guessed),
    Attack("DWARF that is slow to read", "dwarf 28", 16, proof=lines_shared, lines=True),
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
    Attack(f"processes that do anything, by seed {SEED}", f"behave {SEED} DIR", LIVES_S, within=MOUNTS, proof=names_stay_theirs),
]


def usual_priority():
    """In a child: that of any program.  This test itself is favoured."""
    ends_with_us()
    os.setpriority(os.PRIO_PROCESS, 0, 0)


def control_priority():
    """In a child: it gets CPU time even beside 2,000 others, and leaves some to trifold's programs."""
    ends_with_us()
    os.setpriority(os.PRIO_PROCESS, 0, -15)


def executable(tmp, attack):
    """Where the attack's program is; one that has no file in common with others is not the others'."""
    return os.path.join(tmp, attack.command.split()[0] + ("-alone" if attack.alone else ""))


def build(path):
    name, _, alone = os.path.basename(path).partition("-")
    flags = ["-mno-red-zone"] if os.uname().machine == "x86_64" else []
    if alone:
        flags.append("-static")
    if name == "mute":
        flags.append("-s")	# its debug file is looked for
    subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-I", ROOT, "-pthread",
                    "-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer", *flags,
                    "-o", path, os.path.join(SOURCES, name + ".c"), "-lz"], check=True)


def of_user(uid):
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and owner(p) == uid]


def kill_all(uid):
    """All processes of this user in one call: forking does not get away."""
    pid = os.fork()
    if not pid:
        try:
            os.setresuid(uid, uid, uid)
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
    """A cgroup with so much memory; yields the file that takes the processes in it."""
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


def as_user(uid, within):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all",
            "--pdeathsig", "KILL", *within.split()]


def need(attack):
    if subprocess.run([*as_user(USER, attack.within), "true"]).returncode:
        raise Skip(f"an ordinary user may not {attack.within} here")
    if attack.beside and not os.path.exists(LAST_PID):
        raise Skip(f"no {LAST_PID}")


def argv(tmp, uid, own, attack):
    fuse = os.path.join(tmp, "fuse")
    if "FUSE" in attack.command and not os.path.exists(fuse):
        os.mknod(fuse, 0o20666, os.makedev(10, 229))
        os.chmod(fuse, 0o666)
    return [*as_user(uid, attack.within), executable(tmp, attack),
            *({"DIR": own, "FUSE": fuse}.get(w, w) for w in attack.command.split()[1:])]


@contextlib.contextmanager
def attacking(tmp, uid, attack):
    """Runs it as this user, in a directory of the user's; in the end all of the user's processes are killed."""
    own = os.path.join(tmp, "own")
    os.mkdir(own)
    os.chown(own, uid, uid)
    assert not of_user(uid), f"somebody else is uid {uid}"
    with contextlib.ExitStack() as stack:
        command = argv(tmp, uid, own, attack)
        if attack.memory:
            procs = stack.enter_context(cgroup(attack.memory))
            command = ["/bin/sh", "-c", f'echo $$ >{procs} && exec "$@"', "sh", *command]
        helper = attack.beside and subprocess.Popen([executable(tmp, attack), *attack.beside.split()],
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
                kill_all(uid)
                p.poll()
                return not of_user(uid)
            wait_for(gone, 60)
            shutil.rmtree(os.fsencode(own))


def cpu_of(pid):
    """CPU time of a process so far, s."""
    with open(f"/proc/{pid}/schedstat") as f:
        return int(f.read().split()[0]) / 1e9


class Control:
    """A program of root's, burning CPU in chain_10; each has a name of its own."""

    def __init__(self, tmp, name, source="chain"):
        self.name = name
        exe = shutil.copy(os.path.join(tmp, source), os.path.join(tmp, name))
        with open(exe, "ab") as f:
            f.write(name.encode())	# another file, with another content
        self.p = subprocess.Popen([exe, "7200"], start_new_session=True, preexec_fn=control_priority)

    def cpu(self):
        return cpu_of(self.p.pid)

    def end(self):
        self.p.kill()
        self.p.wait()


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

    def judge(self, samples, what):
        """Count its control's samples: n, whole; samples: [(time, frames)].  The clock of samples goes on for
        a part of what the host of a virtual machine took, so CPU time is `used` at least and `most` at most."""
        mine = [f for t, f in samples if f and f[0] == self.control.name and self.begin <= t < self.end]
        self.n, self.whole = len(mine), sum(has_chain(f, CHAIN) and f[1] == "_start" for f in mine)
        assert self.used >= ENOUGH, f"{what}: the control got no CPU: {self.used:.2f} s"
        say(f"{what}: {self.n} samples in {self.used:.2f} to {self.most:.2f} s of CPU time: "
            f"{self.n / self.most:.1f} to {self.n / self.used:.1f} Hz, {100 * self.whole / max(1, self.n):.1f} % whole")


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
    """What must hold of our processes meanwhile."""

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


def start_recording(tmp, out, limits):
    config = os.path.join(tmp, "trifold.conf")
    with open(config, "w", encoding="ascii") as f:
        f.write(f"[limits]\n{limits}")
    p = subprocess.Popen([TRIFOLD, "run", "--config", config, "--no-page", "--output", out, "--frequency", str(HZ)],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         start_new_session=True, preexec_fn=usual_priority)
    wait_for(lambda: p.poll() is not None or Watcher.once())
    assert p.poll() is None, p.stderr.read()
    return p


class Result:
    """What became of one attack."""

    def __init__(self, attack, number):
        self.attack, self.uid = attack, USER + number
        self.fresh_name = f"fresh-{number}"
        self.failure = None

    def more(self, counter):
        """What the account has more of since the attack began."""
        return self.after[counter] - self.before[counter]

    def seconds(self):
        return (self.after.uptime - self.before.uptime) / 1e9

    def run(self, tmp, stage):
        """Attack, beside a fresh copy of the control."""
        attack, fresh = self.attack, None
        need(attack)
        self.before = stage.watcher.last
        with Health(stage.p.pid) as health:
            try:
                with attacking(tmp, self.uid, attack) as a:
                    time.sleep(attack.settle)
                    fresh = Control(tmp, self.fresh_name, "chain-lines" if attack.lines else "chain")
                    self.under = Window(stage.control)
                    health.look(attack.seconds - 3, self.under)
                    wait_for(lambda: fresh.cpu() > ENOUGH, 180)	# its table has come by then
                    self.late = Window(fresh)
                    health.look(3, self.late)
                    if a.poll() == 77:
                        raise Skip("an ordinary user cannot do that here")
                    assert a.poll() is None, f"the attack ended by itself: {a.returncode}"
                    self.under.close()
                    self.late.close()
            finally:
                if fresh:
                    fresh.end()
        self.after = stage.watcher.last

    def judge(self, stage):
        if self.failure:
            raise self.failure
        calm, attack = stage.calm, self.attack
        self.under.judge(stage.samples, "under attack")
        self.late.judge(stage.samples, "fresh, under attack")
        name = os.path.basename(executable("", attack))
        self.own = [f for t, f in stage.samples if f and f[0] == name and self.under.begin <= t < self.under.end]
        say(f"the attack's own program: {len(self.own)} samples, {max(map(len, self.own), default=0)} frames at most")
        say(f"taken {self.after.taken() - self.before.taken()}, delivered "
            f"{self.after.delivered() - self.before.delivered()}, lost so far {self.after.lost()}, "
            f"{self.more('hub.worker_deaths')} workers died, {self.more('loader.file_requests')} requests")
        whole = calm.whole / calm.n
        rate_not_less("rate", (self.under.n, self.under.used), (calm.n, calm.most), HZ)
        share_not_less("completeness", self.under.whole, self.under.n, whole)
        if attack.fresh:
            share_not_less("completeness of a fresh one", self.late.whole, self.late.n, whole)
        if attack.proof:
            attack.proof(self, stage)


class Stage:
    """The recording, the control, and the attacks one after the other."""

    def __init__(self, attacks):
        self.results = [Result(a, i) for i, a in enumerate(attacks)]
        self.samples = None

    def make(self, tmp):
        os.chmod(tmp, 0o755)
        chain = ("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer")
        compile_c(*chain)
        compile_c("chain.c", os.path.join(tmp, "chain-lines"), "-fomit-frame-pointer", "-g")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(build, {executable(tmp, r.attack) for r in self.results}))

    def attack_all(self, tmp):
        time.sleep(LEARN)
        self.calm = Window(self.control)
        with Health(self.p.pid) as health:
            health.look(CALM, self.calm)
        self.calm.close()
        for r in self.results:
            assert self.p.poll() is None, self.p.stderr.read()
            say(r.attack.name)
            try:
                r.run(tmp, self)
            except Exception as e:	# its test says so; the others go on
                r.failure = e

    def record(self, tmp):
        self.p, self.watcher = None, Watcher()
        self.control = Control(tmp, "control")
        try:
            limits = f"cpu_share = {CPU_SHARE}\n" if len(self.results) > 1 else ""
            self.p = start_recording(tmp, self.out, limits)
            self.attack_all(tmp)
            self.p.send_signal(signal.SIGINT)
            err = self.p.communicate(timeout=120)[1]
            assert self.p.returncode == 0, err
            self.watcher.done = True
            self.watcher.join(6)
            assert not self.watcher.errors, self.watcher.errors
        finally:
            self.watcher.done = True
            self.control.end()
            if self.p and self.p.poll() is None:	# an assertion failed before
                self.p.send_signal(signal.SIGINT)
                self.p.communicate(timeout=60)

    def together(self, tmp):
        os.setpriority(os.PRIO_PROCESS, 0, -20)	# this test, and what has no usual_priority()
        self.out = os.path.join(tmp, "out.firefox.json")
        self.make(tmp)
        self.record(tmp)
        with open(self.out, encoding="utf-8") as f:
            start = json.load(f)["meta"]["startTime"] / 1000
        samples = [(start + ms / 1000, f) for ms, f in timed(self.out)]
        account = self.watcher.last
        say(f"taken {account.taken()}, delivered {account.delivered()}, lost {account.lost()}")
        assert account.missing() == 0, f"{account.missing()} samples are nowhere"
        self.calm.judge(samples, "without")
        assert self.calm.n > 100, "too few samples: was the machine busy?"
        assert self.calm.whole > 0.9 * self.calm.n, "the control is not whole even without an attack"
        self.samples = samples

    def rates(self):
        """In all windows together, whose number of samples is less by chance."""
        windows = [r.under for r in self.results if not r.failure]
        if not windows:
            raise Skip("no attack")
        n, used = sum(w.n for w in windows), sum(w.used for w in windows)
        say(f"{n} samples in {used:.1f} s under attack: {n / used:.1f} Hz")
        rate_not_less("rate", (n, used), (self.calm.n, self.calm.most), HZ)


def tests_of(stage, tmp):
    """A test for the recording, and one for each attack."""
    def judged(fn):
        def call():
            if stage.samples is None:
                raise Skip("no recording")
            fn()
        return call
    tests = [("one recording: a calm window, then all attacks; no sample is lost without a word",
              lambda: leaving_nothing(lambda: stage.together(tmp)))]
    tests += [(r.attack.name, judged(lambda r=r: r.judge(stage))) for r in stage.results]
    return tests + [("all attacks together: the control's rate", judged(stage.rates))]


def run(*groups):
    """Groups of attacks, with a recording each."""
    with contextlib.ExitStack() as stack:
        tests = []
        for attacks in groups:
            tests += tests_of(Stage(attacks), stack.enter_context(scratch()))
        tap(tests)
