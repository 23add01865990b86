# SPDX-License-Identifier: Apache-2.0
"""Ten services that seldom run, beside programs with large symbol tables that come and go:
what test_names_stay.py and long_names_stay.py share."""
import contextlib
import json
import os
import signal
import subprocess
import time

from accounts import Watcher
from live import TRIFOLD, compile_c, ends_with_us, folded, say, scratch, timed, wait_for
from loads import numbered

SERVICES = 10
SYMBOLS = 120000	# of a large table: an index of 6 MB, eleven of which are more than the idle ones may have
BURST = 60		# ms of CPU time
INTERVAL = 2		# s
FIRST, SECOND, THIRD = "only_%08d", "second", "third"


def large(tmp):
    """A program with a large symbol table, to be copied: its bytes."""
    source, out = os.path.join(tmp, "large.s"), os.path.join(tmp, "large")
    names = (f"a_function_of_a_large_program_{i:06d}" for i in range(SYMBOLS))
    with open(source, "w", encoding="ascii") as f:
        f.write(".text\n")
        f.writelines(f".type {n},%function\n{n}:.skip 16\n.size {n},16\n" for n in names)
        f.write('.section .note.GNU-stack,"",%progbits\n')
    compile_c("quiet.c", out, "-fomit-frame-pointer", "-Wl,--build-id", source)
    os.unlink(source)
    with open(out, "rb") as f:
        return f.read()


def copies(exe, tmp, name, n):
    """So many programs of this one, each another one: their paths."""
    with open(exe, "rb") as f:
        template = f.read()
    paths = [os.path.join(tmp, f"{name}{i}") for i in range(n)]
    for i, path in enumerate(paths):
        numbered(template, path, i)
    return paths


class Services:
    """Programs that run when they are told to."""

    def __init__(self, paths, before=ends_with_us):
        self.all = [subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                     preexec_fn=before) for path in paths]

    def run(self, which, ms=BURST):
        """Each for so long in this function, one after the other."""
        for p in self.all:
            p.stdin.write(f"{which} {ms}\n")
            p.stdin.flush()
            assert p.stdout.readline() == "done\n"

    def end(self):
        for p in self.all:
            p.kill()
            p.communicate()


@contextlib.contextmanager
def services(paths, **more):
    s = Services(paths, **more)
    try:
        yield s
    finally:
        s.end()


@contextlib.contextmanager
def profiling(tmp, out, hz=199):
    """trifold run, until it has ended."""
    with open(os.path.join(tmp, "said"), "w+", encoding="utf-8") as said:
        p = subprocess.Popen([TRIFOLD, "run", "--frequency", str(hz), "--interval", str(INTERVAL), "--no-page",
                              "--output", out], stdout=subprocess.DEVNULL, stderr=said, preexec_fn=ends_with_us)
        try:
            wait_for(lambda: p.poll() is not None or (status() or {"hub.batches": 0})["hub.batches"] > 0)
            yield
        finally:
            p.send_signal(signal.SIGINT)
            p.wait(120)
            said.seek(0)
            text = said.read()
    say(text.strip())
    assert p.returncode == 0, text


def status():
    return Watcher.once()


def read():
    """All that samples have met is read."""
    a = status()
    return a and not a["hub.exes_waiting"]


def come_and_go(tmp, template, numbers):
    """Programs with large tables, one after the other, each gone when it has run."""
    for i in numbers:
        path = os.path.join(tmp, f"large{i}")
        numbered(template, path, i)
        subprocess.run([path, str(BURST)], check=True)
        os.unlink(path)


def idle(intervals):
    time.sleep(intervals * INTERVAL)


def bursts(out):
    """{service: [(s, its frames)] in order of time}."""
    with open(out, encoding="utf-8") as f:
        begin = json.load(f)["meta"]["startTime"] / 1000
    found = {}
    for ms, frames in sorted(timed(out)):
        if frames[0].startswith("quiet"):
            found.setdefault(frames[0], []).append((begin + ms / 1000, frames))
    return found


def bare(service, frames):
    return any(f.startswith(f"{service}+0x") for f in frames)


def judge(out, phases):
    """phases: [(s when it began, function, samples without names that are allowed or None: any)]."""
    found, failed = bursts(out), []
    assert len(found) == SERVICES, found.keys()
    for service, samples in sorted(found.items()):
        for at, (begin, function, allowed) in enumerate(phases):
            end = phases[at + 1][0] if at + 1 < len(phases) else float("inf")
            mine = [f for t, f in samples if begin <= t < end]
            name = function % int(service[5:]) if "%" in function else function
            named = sum(name in f for f in mine)
            without = sum(bare(service, f) for f in mine)
            if not named or (allowed is not None and without > allowed):
                failed.append(f"{service}, phase {at}: {name} in {named} of {len(mine)} samples, {without} without names")
    for line in failed:
        say(line)
    assert not failed, failed[0]


def names_stay(files):
    """Services run, programs with large tables come and go, services run again: in what they did
    before, then in what is new."""
    phases = []
    with scratch() as tmp:
        out = os.path.join(tmp, "all.firefox.json")
        template = large(tmp)
        exe = compile_c("quiet.c", os.path.join(tmp, "template"), "-fomit-frame-pointer", "-Wl,--build-id")
        with services(copies(exe, tmp, "quiet", SERVICES)) as quiet, profiling(tmp, out):
            def phase(which, function, allowed):
                phases.append((time.time(), function, allowed))
                quiet.run(which)
                wait_for(read)

            # until the files are open and read, samples may have no names
            phase(0, FIRST, None)
            idle(1)
            phase(0, FIRST, 0)
            come_and_go(tmp, template, range(1000, 1000 + files))
            wait_for(read)
            idle(1)
            phase(0, FIRST, 0)
            phase(1, SECOND, None)
            idle(1)
            phase(1, SECOND, 0)
            phase(0, FIRST, 0)
            idle(1)
            last = status()
            say({k: v for k, v in last.v.items() if k.startswith("hub.symbols")})
        # else nothing was tried: the services' tables went early, and were read again
        assert last["hub.symbols_full"] > files // 2 and last["hub.symbols_again"] >= SERVICES
        assert not last["hub.symbols_lost"]
        judge(out, phases)


# --- a user who is in many functions -------------------------------------------------------

HOGS, FUNCTIONS, NAME = 6, 3000, 3900	# 11 MiB of names that samples meet, of each
USER = 12345
PASSES = 3
ROUNDS = 20


def hog(tmp):
    """A program that is in each of FUNCTIONS functions for a while: for so many passes."""
    source, out = os.path.join(tmp, "hog.c"), os.path.join(tmp, "hog")
    names = [f"in_{i:05d}_{'x' * (NAME - 9)}" for i in range(FUNCTIONS)]
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <stdio.h>\nstatic volatile unsigned long n;\n"
                "#define FUNCTION(name) __attribute__((noinline)) void name(void) "
                "{ for (int i = 0; i < 500000; i++) n += i; }\n")
        f.writelines(f"FUNCTION({n})\n" for n in ["only_XXXXXXXX"] + names)
        f.write("static void (*const all[])(void) = {" + ",".join(names) + "};\n"
                "int main(void) { int which, passes; while (scanf(\"%d %d\", &which, &passes) == 2) {\n"
                "while (passes-- > 0) for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) all[i]();\n"
                "only_XXXXXXXX(); puts(\"done\"); fflush(stdout); } return 0; }\n")
    subprocess.run(["gcc", "-O1", "-fomit-frame-pointer", "-Wl,--build-id", "-o", out, source], check=True)
    os.unlink(source)
    return out


@contextlib.contextmanager
def recording(out, programs):
    """What these do meanwhile, by the trifold that runs."""
    words = [w for p in programs.all for w in ("--pid", str(p.pid))]
    p = subprocess.Popen([TRIFOLD, "record", "--output", out, "--duration", "900", *words],
                         stderr=subprocess.PIPE, text=True, preexec_fn=ends_with_us)
    try:
        time.sleep(1)
        yield
    finally:
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=120)[1]
    assert p.returncode == 0, said


def named(out, name):
    """{program: (samples, of them without names)}"""
    found = {}
    for frames, n in folded(out):
        if frames[0].startswith(name) and not frames[-1].endswith("_[k]"):
            all_of, without = found.get(frames[0], (0, 0))
            found[frames[0]] = (all_of + n, without + n * bare(frames[0], frames))
    say(found)
    return found


def names_are_shared():
    """More names than there is room for, of one user: he loses his own, and has them again."""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        out = os.path.join(tmp, "seen.folded")
        exe = compile_c("quiet.c", os.path.join(tmp, "template"), "-fomit-frame-pointer", "-Wl,--build-id")
        his = copies(hog(tmp), tmp, "hog", HOGS)
        for path in his:
            os.chown(path, USER, USER)
        with services(copies(exe, tmp, "quiet", SERVICES)) as quiet, services(his) as hogs, \
                profiling(tmp, os.path.join(tmp, "all.folded"), 997):
            for i in range(3):
                quiet.run(0)
                wait_for(read)
                idle(1)
            before = status()["hub.symbols_lost"]
            for p in range(PASSES):
                hogs.run(0, 1)
                wait_for(read)
            # his whole tables go when nothing new was met for a while
            wait_for(lambda: status()["hub.symbols_lost"] > before, 300)
            say({k: v for k, v in status().v.items() if k.startswith("hub.symbols")})
            with recording(out, quiet):
                quiet.run(0)
                idle(2)
            found = named(out, "quiet")
            assert len(found) == SERVICES and not any(bad for _, bad in found.values()), found
            # what he lost comes back, as fast as his part of the share allows
            back = set()
            for _ in range(ROUNDS):
                hogs.run(0, 1)
                wait_for(read)
                with recording(out, hogs):
                    hogs.run(0, 1)
                    idle(2)
                back |= {name for name, (all_of, bad) in named(out, "hog").items() if bad * 10 < all_of}
                if len(back) == HOGS:
                    break
            assert len(back) == HOGS, back
            say({k: v for k, v in status().v.items() if k.startswith("hub.symbols")})
