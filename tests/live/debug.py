# SPDX-License-Identifier: Apache-2.0
"""debug - stripped programs and their debug files, for tests"""
import os
import re
import subprocess

from live import compile_c

CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]
DEBUG = "/usr/lib/debug"


def build_stripped(tmp, name, *flags):
    """A program without names, and its debug file: (path, build ID or None, debug file)."""
    exe = compile_c("chain.c", os.path.join(tmp, name), "-g", "-fomit-frame-pointer",
                    "-Wl,--build-id", *flags)
    debug = exe + ".debug"
    subprocess.run(["objcopy", "--only-keep-debug", exe, debug], check=True)
    subprocess.run(["strip", "-s", exe], check=True)
    notes = subprocess.run(["readelf", "-n", exe], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: (\w+)", notes)
    return exe, build_id and build_id.group(1), debug


def make_debug_folder():
    """DEBUG exists, so that something can be mounted there.  It stays: other tests mount there at the same time."""
    os.makedirs(DEBUG, exist_ok=True)
