# SPDX-License-Identifier: Apache-2.0
"""debug - programs, their debug files, and a user who has others, for tests"""
import os
import re
import subprocess

from live import compile_c

CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]
DEBUG = "/usr/lib/debug"
USER = 12345		# an ordinary one


def new_build_id():
    """A program's own: debug files are found by it, and other tests run at the same time."""
    return os.urandom(20).hex()


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


def as_user(script):
    """Words for a shell script as USER, root in a user and mount namespace of its own."""
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--pdeathsig", "KILL",
            "unshare", "-Urm", "sh", "-ec", script]
