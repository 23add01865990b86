#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every version of every runtime that is here: its chain of functions is whole (tests/runtimes/*/versions)."""
import os
import tempfile

import versions
from chance import share_of
from live import Skip
from rows import Rows

rows = Rows({"pprof": [".pb.gz"]}, seconds=6, hz=499)
tmp = tempfile.TemporaryDirectory(prefix="trifold-test-versions-")
FEWEST = 20		# samples


def functions(frames):
    """Outermost first."""
    return [f.rpartition(" ")[0] or f for f in reversed(frames)]


def add(runtime, version, folder):
    def chain(t):
        if not version.exe:
            raise Skip(f"none at {version.where}")
        p = t.start(*version.words(folder))
        assert p.stdout.readline(), f"ended: {p.args}"
        yield
        stacks = [(functions(f), n) for labels, f, n in t.pprof()
                  if labels["pid"] == p.pid and labels.get("stack_end") not in ("no_table", "file_unknown")]
        share_of(f"{runtime} {version.name}", stacks, version.has, version.share, FEWEST)
    chain.__doc__ = f"{runtime} {version.name}: {version}"
    rows.test(chain)


for runtime in versions.runtimes():
    folder = os.path.join(tmp.name, runtime)
    os.mkdir(folder)
    if versions.here(runtime):
        versions.prepare(runtime, folder)
    for version in versions.table(runtime):
        add(runtime, version, folder)
rows.run()
