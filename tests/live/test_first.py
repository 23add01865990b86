#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first samples have whole stacks: of a command, and of a host that is busy already."""
import contextlib
import os
import shutil
import signal
import subprocess
import time

from live import (LEARNING, TRIFOLD, Suite, children_of, compile_c, folded, main_of, record, say,
                  scratch, wait_for)

suite = Suite()

# a chain in a library of its own: without its table the stack is cut there
LIB = r"""
static volatile unsigned long n;
__attribute__((noinline)) void deep(int d)
{
	if (d)
		deep(d - 1);
	for (int i = 0; i < 20000; i++)
		n++;
}
"""
MAIN = r"""
#include <stdlib.h>
#include <time.h>
void deep(int d);
int main(int argc, char **argv)
{
	clock_t end = (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);

	while (clock() < end)
		deep(20);
	return argc == 0;
}
"""


@contextlib.contextmanager
def program():
    """A program and its library that have not run before."""
    with scratch() as tmp:
        for name, text in (("lib", LIB), ("main", MAIN)):
            with open(f"{tmp}/{name}.c", "w", encoding="utf-8") as f:
                f.write(text)
        compile_c(f"{tmp}/lib.c", f"{tmp}/libdeep.so", "-O1", "-shared", "-fPIC",
                  "-fomit-frame-pointer", "-fno-optimize-sibling-calls")
        compile_c(f"{tmp}/main.c", f"{tmp}/deep", "-O1", "-Wl,--no-as-needed",
                  f"{tmp}/libdeep.so", f"-Wl,-rpath,{tmp}")
        yield f"{tmp}/deep", tmp


@suite.test
def of_a_command():
    """a command, its libraries, too: read before it starts"""
    with program() as (prog, tmp):
        record(f"{tmp}/x.folded", "--", prog, "0.3")
        stacks = [(s, n) for s, n in folded(f"{tmp}/x.folded") if s[0] == "deep"]
    total = sum(n for _, n in stacks)
    cut = sum(n for s, n in stacks if any(x in s for x in LEARNING))
    chains = sum(n for s, n in stacks if "main" in s and "deep" in s)
    say(f"{cut} of {total} cut, {chains} with the whole chain")
    for s, n in stacks:
        if any(x in s for x in LEARNING):
            say((n, s))
    assert total > 100 and cut <= total / 50 and chains > 0.8 * total


PROGRAMS = 24	# on this many files, each with tens of thousands of rules


@contextlib.contextmanager
def running(tmp, sessions):
    """Copies of Python, which have not been read before, at work: in our session, or
    each in one of its own, as services are."""
    names = [f"copy{i}" for i in range(PROGRAMS)]
    with contextlib.ExitStack() as stack:
        for name in names:
            shutil.copy(os.path.realpath("/usr/bin/python3"), f"{tmp}/{name}")
            p = stack.enter_context(subprocess.Popen(
                [f"{tmp}/{name}", "-Sc", "while True: sum(range(1000))"],
                start_new_session=sessions))
            stack.callback(p.kill)
        yield set(names)


def of_what_runs_already(sessions):
    with scratch() as tmp, running(tmp, sessions) as names:
        text = record(f"{tmp}/x.folded", "--duration", "1", "--frequency", "499")
        stacks = [(s, n) for s, n in folded(f"{tmp}/x.folded") if s[0] in names]
    total = sum(n for _, n in stacks)
    cut = sum(n for s, n in stacks if set(LEARNING) & set(s))
    say(f"{cut} of {total} cut, {len({s[0] for s, _ in stacks})} programs")
    assert total > 200 and cut <= total / 10, (cut, total, text)


@suite.test
def of_one_session():
    """24 programs that run already: their tables are built before the clock starts"""
    of_what_runs_already(False)


@suite.test
def of_many_sessions():
    """the same with a session each, which the kernel may give equal shares"""
    of_what_runs_already(True)


def priorities(pid):
    """The nice values of a process and of its session's group, if there are groups."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        nice = int(f.read().rsplit(")", 1)[1].split()[16])
    try:
        with open(f"/proc/{pid}/autogroup", encoding="utf-8") as f:
            return nice, int(f.read().split()[-1])
    except OSError:
        return nice, None


def zygote():
    hub = main_of("trifold-symbolizerd")
    return next(iter(children_of(hub)), None) if hub else None


@suite.test
def priority_of_the_beginning():
    """loaderd and hub have more CPU time than others, workers only at first"""
    begin = time.monotonic()
    with scratch() as tmp, subprocess.Popen(
            [TRIFOLD, "record", "--output", f"{tmp}/x.folded", "--duration", "600"],
            stderr=subprocess.DEVNULL) as p:
        try:
            wait_for(lambda: zygote() and priorities(zygote())[0] == -10)
            first = priorities(zygote())
            shutil.copy(os.path.realpath("/usr/bin/python3"), f"{tmp}/later")
            while time.monotonic() - begin < 120 and priorities(zygote())[0]:
                subprocess.run([f"{tmp}/later", "-Sc", "sum(range(10000000))"], check=True)
                with open(f"{tmp}/later", "ab") as f:	# another file
                    f.write(b"\0")
            last, took = priorities(zygote()), time.monotonic() - begin
            others = [priorities(main_of(f"trifold-{d}")) for d in ("loaderd", "symbolizerd")]
        finally:
            p.send_signal(signal.SIGINT)
    say(f"workers {first}, after {took:.1f} s {last}; loaderd, hub {others}")
    groups = first[1] is not None
    assert first == (-10, -10 if groups else None) and last == (0, 0 if groups else None)
    assert set(others) == {first} and took > 3


suite.run()
