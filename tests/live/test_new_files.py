#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""New files each time: cp, run, rm.  The program's first samples have whole stacks, too."""
import os
import sys

from chance import least
from live import Suite, compile_c, folded, record, say, scratch

suite = Suite()
FILES = 150
LIFE_MS = 50		# about one sample each: most are a file's first
HZ = 19
SHARE = 0.7		# it was 0.1 to 0.3 when a file's first sample asked for its table
RUN = """
import os, shutil, subprocess, sys
exe, tmp = sys.argv[1:3]
for i in range(int(sys.argv[3])):
    path = os.path.join(tmp, f"new-{i}")
    shutil.copy(exe, path)
    with open(path, "ab") as f:
        f.write(str(i).encode())
    subprocess.run([path, sys.argv[4]], check=True)
    os.remove(path)
"""


def is_whole(frames):
    return "main" in frames and not frames[1].startswith("[stack")


@suite.test
def first_samples():
    """files that are new each time: stacks are whole from the first sample on"""
    with scratch() as tmp:
        exe = compile_c("cases/brief.c", os.path.join(tmp, "brief"), "-fomit-frame-pointer")
        out = os.path.join(tmp, "out.folded")
        record(out, "--frequency", str(HZ), "--", sys.executable, "-c", RUN, exe, tmp, str(FILES), str(LIFE_MS))
        stacks = [(f, n) for f, n in folded(out) if f[0].startswith("new-")]
        total = sum(n for _, n in stacks)
        whole = sum(n for f, n in stacks if is_whole(f))
        programs = len({f[0] for f, _ in stacks})
        say(f"{whole} of {total} samples of {programs} programs are whole")
        for f, n in stacks:
            if not is_whole(f):
                say(f"{n} {';'.join(f)}")
        assert programs >= FILES / 5
        assert whole >= least(SHARE, total), f"{whole} of {total}"


suite.run()
