#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a recording of a perl, as tests/recordings/record.py does of others: NAME.gz and NAME.expected there.

  record.py NAME [--thread] PERL [WORD...]

recorded.pl waits in calls of many kinds, of which caller() says sub and line; gdb says each native frame.  Only where
both agree with the snapshot something is written.  Root, or kernel.yama.ptrace_scope=0.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, *[".."] * 2, "recordings"))
from record import PLACE, Gone, Snapshot, by_gdb, keep, taken

LOOP = "Perl_runops_standard"


def truth(text, threads):
    """Of "sub\\nline sub\\nline ": [(sub, where it is)], of which the innermost waits."""
    words = text.replace("\n", " ").split()
    subs, lines = words[0::2], words[1::2]
    # a call's line is where its caller is
    found = list(zip(subs, [None, *lines]))
    return found if threads else found + [("main", lines[-1])]


def same_perl(thread, want):
    ours = [(name.rsplit(" ", 1)[0], line) for what, line, name in thread["frames"] if what == "Perl"]
    theirs = [(name, line if line else ours[0][1]) for name, line in want]
    assert ours == theirs, f"caller() has\n{theirs}\nwe\n{ours}"


def same_native(snapshot, thread, theirs):
    """Each native frame but those of the loop is gdb's, at the same byte."""
    todo = [pc for pc, name in theirs if name != LOOP]
    for what, where, _ in thread["frames"]:
        if what != "native":
            continue
        assert todo and where in (snapshot.place(todo[0]), snapshot.place(todo[0] + 1)), (where, snapshot.place(todo[0]))
        todo.pop(0)
    assert not todo, f"gdb has more: {todo}"


def no_include(lines):
    """Debian's perl leaves where it looks for modules on the stack, below what is read: that is no path of this
    machine, and no word of a frame."""
    for line in lines:
        if line.startswith("memory "):
            kind, at, hexed = line.split(" ")
            text = bytes.fromhex(hexed)
            text = re.sub(rb"/usr/local/lib/[!-~]*|/perl/5[.][0-9.]+", lambda m: b"x" * len(m.group()), text)
            line = f"{kind} {at} {text.hex()}"
        yield line


def perl(name, words, threads):
    os.mkdir(PLACE)
    with contextlib.closing(Gone()):
        shutil.copy(os.path.join(HERE, "recorded.pl"), PLACE)
        # words after the script: they lie between the outermost frame and strings
        p = subprocess.Popen([*words, "recorded.pl", "thread" if threads else "x", *["x"] * 200], cwd=PLACE,
                             env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            text = ""
            while not text.endswith("\nready\n"):
                said = p.stdout.readline().decode()
                assert said, "it has ended"
                text += said
            time.sleep(0.5)
            lines = taken(p.pid, os.path.join(PLACE, "x.gz"))
            snapshot = Snapshot(lines)
            outside = by_gdb(p.pid)
        finally:
            p.send_signal(signal.SIGKILL)
            p.communicate()
        ours = [t for t in snapshot.threads if any(what == "Perl" for what, _, _ in t["frames"])]
        waits = next(t for t in ours if any("stopped" in x for _, _, x in t["frames"]))
        same_perl(waits, truth(text.removesuffix("ready\n"), threads))
        for thread in snapshot.threads:
            same_native(snapshot, thread, outside[thread["tid"]])
        keep(name, list(no_include(lines)), snapshot)


def main():
    words = sys.argv[2:]
    if len(words) < 1:
        sys.exit(__doc__)
    threads = words[0] == "--thread"
    perl(sys.argv[1], words[threads:], threads)


if __name__ == "__main__":
    main()
