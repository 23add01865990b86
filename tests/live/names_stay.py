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
from live import TRIFOLD, compile_c, ends_with_us, say, scratch, timed, wait_for
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


class Services:
    """They run when they are told to."""

    def __init__(self, tmp):
        exe = compile_c("quiet.c", os.path.join(tmp, "template"), "-fomit-frame-pointer", "-Wl,--build-id")
        with open(exe, "rb") as f:
            template = f.read()
        self.all, self.known = [], {}
        for i in range(SERVICES):
            path = os.path.join(tmp, f"quiet{i}")
            numbered(template, path, i)
            self.all.append(subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                             preexec_fn=ends_with_us))

    def run(self, which):
        """Each for BURST ms in this function, one after the other."""
        for p in self.all:
            p.stdin.write(f"{which} {BURST}\n")
            p.stdin.flush()
            assert p.stdout.readline() == "done\n"

    def end(self):
        for p in self.all:
            p.kill()
            p.communicate()


@contextlib.contextmanager
def services(tmp):
    s = Services(tmp)
    try:
        yield s
    finally:
        s.end()


@contextlib.contextmanager
def profiling(tmp, out):
    """trifold run, until it has ended."""
    with open(os.path.join(tmp, "said"), "w+", encoding="utf-8") as said:
        p = subprocess.Popen([TRIFOLD, "run", "--frequency", "199", "--interval", str(INTERVAL), "--no-page",
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
        with services(tmp) as quiet, profiling(tmp, out):
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
