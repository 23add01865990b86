#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py NAME CONSOLE: judge what a guest of tests/vm/init has sent; TAP."""
import base64
import gzip
import os
import re
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "live"))

from pprof import read_pprof

CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]
LOOP = "_PyEval_EvalFrameDefault"
FRAMES_MAX = 1024
SHARE = 0.95		# of a program's samples that must be whole
ENOUGH = 20		# samples of a program
LINE = re.compile(r" \([^()]*:\d+\)")
# what runs Java in the cgroup, or is its copy until its exec; busybox is "exe" where it runs its own programs
BESIDE_JAVA = {"java", "warm-java", "init", "sh", "exe", "sleep"}


class Guest:
    def __init__(self, console):
        with open(console, encoding="utf-8", errors="replace") as f:
            text = f.read().replace("\r", "")
        self.text = text
        try:
            lines = gzip.decompress(self.sent("folded")).decode()
        except (OSError, EOFError, zlib.error):
            lines = ""
        with open(console + ".folded", "w", encoding="utf-8") as f:
            f.write(lines)
        self.pprof = console + ".pb.gz"
        with open(self.pprof, "wb") as f:
            f.write(self.sent("pprof"))
        self.stacks = []
        for line in lines.splitlines():
            frames, _, n = line.rpartition(" ")
            self.stacks.append((frames.split(";"), int(n)))

    def sent(self, what):
        packed = re.search(rf"{what}: begin\n(.*?)\n{what}: end", self.text, re.S)
        try:
            return base64.b64decode(packed[1])
        except (TypeError, ValueError):
            return b""

    def said(self, pattern):
        return re.search(pattern, self.text, re.M)

    def of(self, comm):
        """Stacks of a program, [user frames root first], [kernel], count; without lines."""
        for f, n in self.stacks:
            f = [LINE.sub("", x) for x in f]
            if f[0].partition(" ")[0] == comm:  # behind it is what an interpreter runs
                yield ([x for x in f[1:] if not x.endswith("_[k]")],
                       [x[:-4] for x in f[1:] if x.endswith("_[k]")], n)


# functions of the programs, and what they call
OWN = re.compile(r"(main|read|clock_gettime|deeper|ask_time|wait_for_alarm|on_alarm)$|"
                 r"(chain|thread|handler)_")


def share(stacks, whole):
    """Enough samples, and nearly all whole."""
    total = good = 0
    bad = []
    for user, kernel, n in stacks:
        total += n
        if whole(user, kernel):
            good += n
        else:
            bad.append((n, user, kernel))
    assert total >= ENOUGH, f"{total} samples"
    if good < SHARE * total:
        for n, user, kernel in sorted(bad, key=lambda x: -x[0])[:5]:
            print(f"# {n} {';'.join(user)[:300]} | {';'.join(kernel)[:200]}")
        raise AssertionError(f"{good} of {total} samples are whole")
    return f"{good} of {total}"


def judge(guest, comm, whole):
    """Not counted: in the shell's copy, before exec, which .otlp files count as the
    program; in exec and exit, without a user stack; in the dynamic linker, before
    _start; from _start up in nothing but the C library, before main() and behind it."""
    def counts(user):
        return user and not user[0].startswith("ld-linux") and \
            not any(x.startswith("busybox") for x in user) and \
            (user[0] != "_start" or any(map(OWN.match, user)))

    return share([s for s in guest.of(comm) if counts(s[0])], whole)


def in_order(user, frames):
    """All of frames, others between them."""
    rest = iter(user)
    return all(f in rest for f in frames)


def rooted(user, *frames):
    """frames, in a row, above _start, with libc's own at most between."""
    if user[:1] != ["_start"] or frames[0] not in user[:4]:
        return False
    i = user.index(frames[0])
    return user[i:i + len(frames)] == list(frames)


def in_chain(user, _kernel):
    """In chain_10(), or on the way there."""
    inside = [x for x in user if x.startswith("chain_")]
    return rooted(user, "main", *inside) and \
        inside == CHAIN[1:1 + len(inside)] and \
        (len(inside) == 10 or user[-1] in CHAIN or "time" in user)


def ran(g):
    """record runs, all samples are accounted for, nothing is left behind"""
    assert g.said(r"^guest: record 0$"), "record failed"
    whole = g.said(r"^said: .*?(\d+ samples?), none lost; ")
    assert whole, "samples are missing"
    assert g.said(r"^guest: left 0 files 0 processes$"), "something is left"
    assert not g.said(r"^kernel: "), "the kernel complains"
    assert not g.said(r"^said(?!, CPUs:)[^:]*: .*; restarting in"), "a daemon died"
    assert g.said(r"release 5\.10") or not g.said(r"no list of mappings"), \
        "a program is missing"
    return whole[1]


def cpus(g):
    """a CPU that went and came back is sampled, and what was not is said"""
    if g.said(r"^guest: one CPU$"):
        return "one CPU"
    vain = g.said(r"^guest: in vain: .*$")
    assert not vain, vain[0]
    assert g.said(r"^guest: record of CPUs 0$"), "record failed"
    n = {p: int(g.said(rf"^guest: samples of {p} (\d+)$")[1]) for p in ("before", "again", "anew")}
    assert all(v >= ENOUGH for v in n.values()), n
    last = g.said(r"^said, CPUs: .* none lost.*CPU-seconds busy \(\d+ %\); ([\d.]+) CPU-seconds not sampled")
    assert last, "nothing is said about the time between"
    return f"{n}, {last[1]} CPU-seconds not sampled"


def confined(g):
    """the privileged and the parsing processes can do what they must alone"""
    for program in ("confine_loaderd", "confine_symbolizerd"):
        bad = re.findall(rf"^{program}: (not ok .*)$", g.text, re.M)
        assert not bad, "; ".join(bad)
        assert g.said(rf"^{program}: 1\.\.\d+$"), f"{program} did not end"
    return f"{len(re.findall('^confine_.*: ok ', g.text, re.M))} attempts"


def chain(g):
    """ten functions without frame pointers, from _start up"""
    return judge(g, "chain", in_chain)


def static(g):
    """the same in a static executable"""
    return judge(g, "static", in_chain)


def pac(g):
    """the same with signed return addresses"""
    return judge(g, "pac", in_chain)


def syscall(g):
    """in a system call, kernel frames by name on top of the chain"""
    named = sum(n for u, k, n in g.of("syscall")
                if rooted(u, *CHAIN, "read") and k and "vfs_read" in k and
                "[kernel]" not in k)
    assert named >= ENOUGH, f"only {named} samples show read() in the kernel"
    return judge(g, "syscall", lambda u, k: rooted(u, *CHAIN) or
                 in_chain(u, k)) + f", {named} with vfs_read"


def deep(g):
    """1,024 frames of a deeper stack, and the mark that it was cut"""
    return judge(g, "deep", lambda u, k: u[0] == "[frames missing]" and
                 len(u) == FRAMES_MAX + 1 and u[1] == "deeper")


def threads(g):
    """threads, from clone() up"""
    below = sum(n for u, k, n in g.of("threads")
                if u[2:4] == ["thread_main", "thread_work"])
    assert below >= ENOUGH, f"only {below} samples of threads"

    def whole(u, _):
        """A new thread begins within clone(), in the C library."""
        own = [i for i, f in enumerate(u) if not f.startswith("libc.so.6")]
        return rooted(u, "main") or not own or own[0] == 2 and u[2] == "thread_main"

    return judge(g, "threads", whole) + f", {below} below clone()"


def vdso(g):
    """through the vDSO"""
    inside = sum(n for u, k, n in g.of("vdso")
                 if rooted(u, "main", "ask_time", "clock_gettime") and
                 len(u) > u.index("clock_gettime") + 1)
    assert inside >= ENOUGH, f"only {inside} samples in the vDSO"
    return judge(g, "vdso", lambda u, k: rooted(u, "main", "ask_time")) + \
        f", {inside} in it"


def signal(g):
    """in a signal handler on a stack of its own"""
    inside = sum(n for u, k, n in g.of("signal")
                 if rooted(u, "main", "wait_for_alarm") and
                 u[-2:] == ["on_alarm", "handler_work"])
    assert inside >= ENOUGH, f"only {inside} samples in the handler"
    return judge(g, "signal", lambda u, k: rooted(u, "main", "wait_for_alarm")) \
        + f", {inside} in it"


def python(g):
    """CPython's functions, through C's"""
    # not the start, which imports modules
    ran = [s for s in g.of("python") if "by_sort" in s[0] or LOOP in s[0]]
    want = ["_start", "<module>", "main", "by_sort", "<lambda>", "method", "burn"]
    return share(ran, lambda u, k: LOOP not in u and in_order([x.split(".")[-1] for x in u], want))


INLINED = os.path.join(HERE, "..", "live", "cases", "inlined.c")


def lines(g):
    """lines and inlined calls, from DWARF"""
    with open(INLINED, encoding="utf-8") as f:
        at = {m[1]: i for i, text in enumerate(f, 1) for m in [re.search(r"LINE (\w+)", text)] if m}
    ran = [(" ".join(x for x in f if not x.endswith("_[k]")), n) for f, n in g.stacks
           if f[0] == "lines"]
    # main() may be without: a CPU that is emulated may use up the time for DWARF (lines_share),
    # and samples go without lines then
    chain = rf"main( \(inlined\.c:{at['main']}\))? outer \(inlined\.c:{at['outer']}\) " \
        rf"middle \(inlined\.c:{at['middle']}\)_\[i\] innermost \(inlined\.c:(\d+)\)_\[i\]$"
    found = [(re.search(chain, x), x, n) for x, n in ran if "inlined.c:" in x]
    # an instruction of the inlined middle() may be its own
    middle = rf"outer \(inlined\.c:{at['outer']}\) middle \(inlined\.c:\d+\)_\[i\]$"
    bad = [(n, x) for m, x, n in found if not m and "middle" in x and not re.search(middle, x)]
    good = sum(n for m, _, n in found if m)
    on_line = sum(n for m, _, n in found if m and int(m[2]) == at["innermost"])
    assert not bad, bad
    assert good >= ENOUGH / 2 and on_line, f"{good} samples, {on_line} on the loop's line"
    return f"{good} of {sum(n for _, n in ran)}, {on_line} on the line of the loop's body"


MODULES = ["alpha", "bravo", "gamma"]


def modules(g):
    """functions of kernel modules that are loaded while trifold runs, one in the other's place"""
    seen = {}
    # folded stacks do not say of which module a function is
    functions = {f.rpartition(" ")[0] for _, frames, _ in read_pprof(g.pprof) for f in frames}
    if g.said(r"guest: lockdown .*\[confidentiality\]"):
        return "lockdown takes none that is not signed"
    for name in MODULES:
        assert g.said(rf"module {name}_pq at "), f"{name}_pq was not loaded"
        # its first function may be gone when its samples come
        inside = [(u, k[k.index("do_one_initcall") + 2:], n) for u, k, n in g.of(f"busybox-{name}")
                  if "do_one_initcall" in k]
        seen[name] = sum(n for _, k, n in inside if any(x.startswith(f"{name}_") for x in k))
        wrong = ("[kernel]",) + tuple(f"{other}_" for other in MODULES if other != name)
        share(inside, lambda u, k: not any(x.startswith(wrong) for x in k))
        assert seen[name] >= ENOUGH, f"{seen[name]} samples of {name}_pq"
        bad = [f for f in functions if f.startswith(f"{name}_") and not f.endswith(f" [{name}_pq]")]
        assert not bad, f"not in {name}_pq: {bad}"
    places = re.findall(r"module (\w+) at (\S+)", g.text)
    return ", ".join(f"{n} in {m}_pq" for m, n in seen.items()) + \
        f", {len(set(places)) - len({at for _, at in places})} where another was"


def verified(g):
    """the verifier looks at no more of each BPF program than its budget"""
    bad = re.findall(r"^verifier: not ok - (.*)$", g.text, re.M)
    said = re.findall(r"^verifier: # filter all, (.*?): (\w+): the verifier followed (\d+)",
                      g.text, re.M)
    # each program without a runtime; one with all
    assert not bad and len(said) >= 8, f"{bad} of {said}"
    return ", ".join(f"{name} ({runtimes}) {n}" for runtimes, name, n in said)


JAVA = ["main", "start", "chain", "Work.method", "burn"]


def java(g):
    """HotSpot's methods, through C's"""
    if not g.said(r"^guest: Java ran$"):
        return "no jlink where the guest was made"
    # not the start, which loads classes
    ran = [([x.replace("HotspotLoad.", "").replace("HotspotLoad$", "") for x in u], k, n)
           for u, k, n in g.of("java") if "JavaMain" in u and any("Work.method" in x for x in u)]

    def whole(user, _):
        """burn() is inlined: at places where the VM cannot stop it is not told."""
        inside = user[user.index("[JVM stub]"):] if "[JVM stub]" in user else []
        return inside[1:5] == JAVA[:4] and inside[5:] in ([], ["burn"])

    return share(ran, whole)


def alone(g):
    """a command, a process and a cgroup are recorded without what is beside them"""
    # the command's own process is a copy of the launcher until its exec, which
    # takes a while here
    others = {f[0] for f, _ in g.stacks if f[0].startswith("trifold-")} - {"trifold-launch"}
    assert not others, f"beside the command: {others}"
    assert g.said(r"^guest: record of a cgroup 0$"), "record of a cgroup failed"
    seen = []
    for part, also in ("pid", set()), ("cgroup", BESIDE_JAVA):
        only = g.said(rf"^guest: only {part}: (.*)$")
        n = {name: int(count) for name, _, count in (x.rpartition(" ") for x in only[1].split(",") if x)} if only else {}
        # "java HotspotLoad", once the class is known
        assert {name.partition(" ")[0] for name in n} - also == {"inside"}, f"{part}: {n}"
        assert n["inside"] >= ENOUGH, f"{part}: {n}"
        seen.append(f"{part} {n['inside']} samples")
    return ", ".join(seen)


def main():
    name, console = sys.argv[1:3]
    guest = Guest(console)
    release = guest.said(r"guest: release (.*)$")
    failed = 0
    print(f"# {name}: {release[1] if release else 'did not come up'}")
    for test in (ran, cpus, confined, alone, chain, static, syscall, deep, threads, vdso, signal, python, java,
                 lines, modules, verified) + \
            ((pac,) if name.startswith("arm64") else ()):
        try:
            print(f"# {test.__name__}: {test(guest)}")
            print(f"ok - {name}: {test.__doc__.split(chr(10))[0]}")
        except AssertionError as why:
            failed = 1
            print(f"# {test.__name__}: {why}")
            print(f"not ok - {name}: {test.__doc__.split(chr(10))[0]}")
    if failed:
        for line in re.findall(r"^(?:said|kernel|guest): .*$", guest.text, re.M)[:60]:
            print(f"# {line}")
    sys.exit(failed)


main()
