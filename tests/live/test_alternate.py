#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inlined calls whose names are in the file that `dwz -m` moved them to, or in a package of
split DWARF (.dwp); and such files of those who may not be believed, and broken ones."""
import os
import random
import re
import shutil
import subprocess

from chance import least
from debug import DEBUG, USER, as_user, make_debug_folder, new_build_id
from live import ROOT, Skip, say
from rows import Rows

rows = Rows({"pprof": [".pb.gz"]}, seconds=4, hz=997)
SOURCE = os.path.join(ROOT, "tests", "live", "cases", "inlined.c")
INNER = ["innermost", "middle", "outer"]


def run(*cmd):
    return subprocess.run(cmd, check=True, capture_output=True, text=True).stdout


def build_id(path):
    return re.search(r"Build ID: (\w+)", run("readelf", "-n", path)).group(1)


def by_id(path):
    """Where a package links it, below DEBUG."""
    return f".build-id/{build_id(path)[:2]}/{build_id(path)[2:]}.debug"


def content(path):
    with open(path, "rb") as f:
        return f.read()


class Program:
    """One of two whose common DWARF is in a file of dwz, which says that it is at `link`."""

    def __init__(self, tmp, name, link, *flags):
        self.name = name
        self.exe, twin = os.path.join(tmp, name), os.path.join(tmp, name + ".twin")
        self.alternate = os.path.join(tmp, name + ".dwz")
        for exe in (self.exe, twin):
            run("gcc", "-O2", "-g", f"-Wl,--build-id=0x{new_build_id()}", *flags, "-o", exe, SOURCE)
        self.whole = shutil.copy(self.exe, self.exe + ".whole")
        run("dwz", "-m", self.alternate, "-M", link, self.exe, twin)
        assert b"innermost" in content(self.alternate)

    def strip(self):
        """Its debug file."""
        run("objcopy", "--only-keep-debug", self.exe, self.exe + ".debug")
        run("strip", "-s", self.exe)
        assert b"innermost" not in content(self.exe + ".debug")
        return self.exe + ".debug"

    def chains(self):
        """All that llvm-symbolizer says of outer(), by the DWARF before dwz had it."""
        start, size = next((int(w[0], 16), int(w[1], 16)) for w in
                           map(str.split, run("nm", "-S", self.whole).splitlines())
                           if w[-1] == "outer")
        out = run("llvm-symbolizer", "--obj=" + self.whole, "--inlines", "--functions=linkage",
                  *(hex(at) for at in range(start, start + size)))
        chains = set()
        for answer in out.strip().split("\n\n"):
            lines = answer.splitlines()
            chains.add(tuple(f"{name} {place.rsplit(':', 1)[0]}"
                             for name, place in zip(lines[::2], lines[1::2])))
        return chains


def start(t, programs, files):
    """Run them where DEBUG holds these files, {name below it: path}, seen by them alone."""
    script = [f"mount -t tmpfs none {DEBUG}"]
    for name, path in files.items():
        at = os.path.join(DEBUG, name)
        script.append(f"mkdir -p {os.path.dirname(at)} && cp {path} {at}")
    script += [f"({p.exe} {p.name} &)" for p in programs]
    t.start("unshare", "-m", "--fork", "--pid", "--kill-child", "sh", "-ec",
            " && ".join(script) + "\nexec sleep 600", burning=len(programs))


def stacks_of(t, program):
    return [(f, n) for labels, f, n in t.pprof() if program.name in labels.values()]


def counts(chains, stacks):
    """Samples of outer(): all that have a line of code, and those with one of llvm-symbolizer's
    chains.  Without a line are those from before the file's lines were read: at most as many."""
    total = good = early = 0
    for frames, n in stacks:
        at = next((i for i, f in enumerate(frames) if f.startswith("outer ")), None)
        if at is None:
            continue
        if frames[at] == "outer :0":
            early += n
            continue
        total += n
        good += n * (tuple(frames[:at + 1]) in chains)
    say(f"{early} samples before there were lines")
    assert early <= total, (early, total)
    return total, good


def check(program, chains, stacks, shown=True):
    total, good = counts(chains, stacks)
    inlined = sum(n for f, n in stacks if [x.split(" ")[0] for x in f[:3]] == INNER)
    say(f"{program.name}: {total} samples, {good} as llvm-symbolizer has them, {inlined} with "
        f"all inlined calls")
    for f, n in sorted(stacks, key=lambda x: -x[1])[:1]:
        say(f"{n} {' | '.join(f)}")
    assert total > 50
    if shown:
        assert good >= least(0.9, total) and inlined >= least(0.5, total)
    else:
        # the function that has an address of its own, and the line at hand
        assert inlined == 0 and any(f[0].startswith(f"outer {SOURCE}:") for f, _ in stacks)


def tools():
    if not all(map(shutil.which, ("dwz", "llvm-symbolizer"))):
        raise Skip("dwz or llvm-symbolizer is not installed")


@rows.test
def packaged(t):
    """names are found in the alternate file as Debian and Fedora install it"""
    tools()
    debian = Program(t.tmp, "debian", f"{DEBUG}/.dwz/x86_64-linux-gnu/both.debug")
    fedora = Program(t.tmp, "fedora", "../../../.dwz/both-1.0-1.fc39.x86_64", "-gdwarf-4")
    linked = Program(t.tmp, "linked", "both.dwz")
    whole = Program(t.tmp, "unstripped", f"{DEBUG}/.dwz/whole.debug")
    programs = [debian, fedora, linked, whole]
    files = {by_id(p.exe): p.strip() for p in programs[:3]}
    files[".dwz/x86_64-linux-gnu/both.debug"] = debian.alternate
    files[".dwz/both-1.0-1.fc39.x86_64"] = fedora.alternate
    files[by_id(linked.alternate)] = linked.alternate
    files[".dwz/whole.debug"] = whole.alternate
    start(t, programs, files)
    chains = {p: p.chains() for p in programs}
    yield
    for p in programs:
        check(p, chains[p], stacks_of(t, p))


@rows.test
def none(t):
    """without it, and with another's under its name, the other lines are shown"""
    tools()
    missing = Program(t.tmp, "missing", f"{DEBUG}/.dwz/missing.debug")
    wrong = Program(t.tmp, "wrong", f"{DEBUG}/.dwz/wrong.debug", "-gdwarf-4")
    files = {by_id(p.exe): p.strip() for p in (missing, wrong)}
    # its build ID alone is another's: so its debug file is what it was
    other = content(wrong.alternate).replace(bytes.fromhex(build_id(wrong.alternate)),
                                             bytes(20))
    with open(t.path("other"), "wb") as f:
        f.write(other)
    files[".dwz/wrong.debug"] = t.path("other")
    start(t, [missing, wrong], files)
    chains = {p: p.chains() for p in (missing, wrong)}
    yield
    for p in (missing, wrong):
        check(p, chains[p], stacks_of(t, p), shown=False)


def in_own_folder(script):
    """Words for a shell script as USER, in a DEBUG of the user's own."""
    return as_user(f"mount -t tmpfs none {DEBUG}; cd {DEBUG}; {script}")


def forge(path):
    """A copy whose names are others, of the same length."""
    forged = path + ".forged"
    with open(forged, "wb") as f:
        f.write(content(path).replace(b"innermost", b"evilermos").replace(b"middle", b"evildl"))
    os.chmod(forged, 0o644)
    return forged


def spoil(path):
    """Random bytes where the DWARF was."""
    for section in (".debug_info", ".debug_abbrev", ".debug_str", ".debug_line"):
        for name in section, section + ".dwo":
            size = [line.split() for line in run("readelf", "-SW", path).splitlines() if f" {name} " in line]
            if not size:
                continue
            with open(path + ".bytes", "wb") as f:
                f.write(random.randbytes(4096))
            run("objcopy", "--update-section", f"{name}={path}.bytes", path)
    return path


class Split:
    """A program whose inlined calls are in a package beside it."""

    def __init__(self, tmp, name):
        self.name, self.exe = name, os.path.join(tmp, name)
        subprocess.run(["gcc", "-O2", "-gdwarf-4", "-gsplit-dwarf", f"-Wl,--build-id=0x{new_build_id()}",
                        "-o", name, SOURCE], cwd=tmp, check=True)
        subprocess.run(["dwp", "-e", name, "-o", name + ".made"], cwd=tmp, check=True)
        assert b"innermost" in content(self.exe + ".made")


def names_of(t, program):
    """Samples, and those with a name that somebody invented, or with the inlined calls."""
    stacks = stacks_of(t, program)
    total = sum(n for _, n in stacks)
    evil = sum(n for f, n in stacks if any(x.startswith("evil") for x in f))
    inlined = sum(n for f, n in stacks if any(x.startswith("innermost ") for x in f))
    say(f"{program.name}: {total} samples, {evil} with invented names, {inlined} with inlined calls")
    assert total > 50
    return total, evil, inlined


def start_with_alternate(t, program):
    """As USER, with root's debug file of the program, and an alternate file that the user has forged."""
    at, debug = by_id(program.exe), program.strip()
    t.start(*in_own_folder(
        f"mkdir -p {os.path.dirname(at)} .dwz; touch {at}; mount --bind {debug} {at}; "
        f"cp {forge(program.alternate)} .dwz/{program.name}.debug; exec {program.exe} {program.name}"))


def of_user(program):
    os.chown(program.exe, USER, USER)
    return program


def only_its_own(t, roots, own):
    """A user's file names nothing of root's program, and does name the user's own."""
    assert not names_of(t, roots)[1]
    total, evil, _ = names_of(t, own)
    assert evil > total / 2, evil


@rows.test
def strangers_alternate(t):
    """an alternate file of a user's names nothing of root's program, and does name the user's own"""
    tools()
    roots, own = (Program(t.tmp, x, f"{DEBUG}/.dwz/{x}.debug") for x in ("roots-dwz", "own-dwz"))
    for p in roots, own:
        start_with_alternate(t, p)
    of_user(own)
    t.start(roots.exe, roots.name)
    yield
    only_its_own(t, roots, own)


@rows.test
def strangers_package(t):
    """nor does a package of split DWARF; one of root's does, and a user's the user's own"""
    if not shutil.which("dwp"):
        raise Skip("no dwp")
    good, roots, own = (Split(t.tmp, x) for x in ("good-dwp", "roots-dwp", "own-dwp"))
    shutil.copy(good.exe + ".made", good.exe + ".dwp")
    t.start(good.exe, good.name)
    for p in roots, of_user(own):
        t.start(*in_own_folder(
            f"touch {p.name}; mount --bind {p.exe} {p.name}; cp {forge(p.exe + '.made')} {p.name}.dwp; "
            f"exec {DEBUG}/{p.name} {p.name}"))
    t.start(roots.exe, roots.name)
    yield
    total, _, inlined = names_of(t, good)
    assert inlined > total / 2, inlined
    only_its_own(t, roots, own)


@rows.test
def broken(t):
    """alternate files and packages of random bytes cost their own program its inlined calls"""
    tools()
    dwz = Program(t.tmp, "broken-dwz", f"{DEBUG}/.dwz/broken.debug")
    start(t, [dwz], {by_id(dwz.exe): dwz.strip(), ".dwz/broken.debug": spoil(dwz.alternate)})
    dwp = Split(t.tmp, "broken-dwp")
    shutil.copy(spoil(dwp.exe + ".made"), dwp.exe + ".dwp")
    t.start(dwp.exe, dwp.name)
    yield
    for p in dwz, dwp:
        total, _, inlined = names_of(t, p)
        outer = sum(n for f, n in stacks_of(t, p) if any(x.startswith("outer ") for x in f))
        assert not inlined and outer >= least(0.8, total), (inlined, outer)


make_debug_folder()
rows.run()
