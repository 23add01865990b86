# SPDX-License-Identifier: Apache-2.0
"""versions - the versions of a runtime: where each comes from, and which are tested

tests/runtimes/NAME/versions has a line for each, of fields between bars:

    version | where | command | chain | share

where: patterns of paths, of which the first that is there is taken.  command: words of a program that says a line
when it burns CPU time, until it is killed; {exe} is that path, {tests} the folder of the live tests, {tmp} one where
tests/runtimes/NAME/prepare, if there is one, has put what the commands need.  chain: regular expressions of functions,
outermost first, of which others may be between; share: the part of all samples that has them.  '=': as the line before.

`make test` takes the first version that is here; ALL_VERSIONS=1, or the tier `long`, all of them.
"""
import glob
import os
import re
import shlex
import subprocess

from live import ROOT, Skip

FOLDER = os.path.join(ROOT, "tests", "runtimes")
LIVE = os.path.join(ROOT, "tests", "live")
FIELDS = 5


def found(patterns):
    """The first path of these patterns, as it is called there; None: there is none."""
    paths = (p for pattern in patterns.split() for p in sorted(glob.glob(os.path.expanduser(pattern))))
    return next((p for p in paths if os.access(p, os.X_OK)), None)


class Version:
    def __init__(self, name, where, command, chain, share):
        self.name, self.where, self.command = name, where, command
        self.chain, self.share = chain.split(), float(share)
        self.exe = found(where)

    def __str__(self):
        return " > ".join(re.sub(r"\\b|[\\\\^$]", "", want) for want in self.chain)

    def words(self, tmp):
        """Of its program."""
        return [w.format(exe=self.exe, tests=LIVE, tmp=tmp) for w in shlex.split(self.command)]

    def has(self, functions):
        """Is the chain in these functions, outermost first?"""
        rest = iter(functions)
        return all(any(re.search(want, x) for x in rest) for want in self.chain)


def table(runtime):
    """All versions of a runtime's table."""
    rows, last = [], None
    with open(os.path.join(FOLDER, runtime, "versions"), encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = [x.strip() for x in line.split("|")]
            assert len(fields) == FIELDS, f"{f.name}:{n}: {len(fields)} fields, not {FIELDS}"
            last = [b if a == "=" else a for a, b in zip(fields, last or fields)]
            rows.append(Version(*last))
    return rows


def here(runtime):
    """Those that are on this machine."""
    return [v for v in table(runtime) if v.exe]


def tested(runtime):
    """Those that a test takes."""
    able = here(runtime)
    if not able:
        raise Skip(f"no version of tests/runtimes/{runtime}/versions is here")
    return able if os.environ.get("ALL_VERSIONS") else able[:1]


def runtimes():
    """Those that have a table."""
    return sorted(n for n in os.listdir(FOLDER) if os.path.exists(os.path.join(FOLDER, n, "versions")))


def prepare(runtime, tmp):
    program = os.path.join(FOLDER, runtime, "prepare")
    if os.path.exists(program):
        subprocess.run([program, tmp], check=True)
