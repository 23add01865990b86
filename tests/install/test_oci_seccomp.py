#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The seccomp profiles for containers are what the daemons' own filters let through, and
what packaging/oci/seccomp.c lists for the start: nothing less, nothing else.  The filters
are compared as programs, as the kernel would get them, not as rules.
Usage: test_oci_seccomp.py [BUILD-DIR]"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
from filters import ASKED, Filter  # noqa: E402
from live import say, tap  # noqa: E402

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build"
PROCESSES = {"loaderd": 2, "symbolizerd": 3, "exporterd": 1}
ALLOW = "SCMP_ACT_ALLOW"
# what nobody needs, in no container
NEVER = {"ptrace", "process_vm_writev", "process_vm_readv", "mount", "umount2", "pivot_root", "chroot",
         "unshare", "setns", "init_module", "finit_module", "delete_module", "kexec_load", "reboot",
         "io_uring_setup", "userfaultfd", "keyctl", "add_key", "open_by_handle_at", "pidfd_getfd",
         "personality", "swapon", "execveat", "mknod", "mknodat", "clone3", "syslog", "acct"}
ONLY = {"bpf": {"loaderd"}, "perf_event_open": {"loaderd"}, "openat2": {"loaderd"},
        "sendmmsg": {"exporterd"}, "listen": {"symbolizerd"}}


def rules_of(entries):
    """{(call, (mask, value) or None)} of what they allow: the argument that is asked for alone."""
    found = set()
    for e in entries:
        if e["action"] != ALLOW:
            continue
        for name in e["names"]:
            args = [a for a in e.get("args", []) if a["index"] == ASKED.get(name)]
            assert bool(args) == bool(e.get("args")), f"{name}: ASKED should say which argument"
            assert all(a["op"] == "SCMP_CMP_MASKED_EQ" for a in args)
            low = [(a["value"] & 0xffffffff, a["valueTwo"] & 0xffffffff) for a in args]
            found.add((name, low[0] if low else None))
    return found


def covered(rule, rules):
    return rule in rules or (rule[0], None) in rules


def parts(daemon):
    """(its processes' filters, what is listed for the start)"""
    said = subprocess.run([f"{BUILD}/oci/seccomp", "--test", daemon], check=True,
                          capture_output=True, text=True).stdout.splitlines()
    return ([Filter(x.split(" ", 1)[1]).rules for x in said if x.startswith("filter ")],
            rules_of([json.loads(x.split(" ", 1)[1]) for x in said if x.startswith("start ")]))


def profile(daemon):
    with open(f"{BUILD}/oci/seccomp.d/{daemon}.json", encoding="utf-8") as f:
        return json.load(f)


def test_of(daemon):
    def test():
        filters, start = parts(daemon)
        own = set().union(*filters)
        has = rules_of(profile(daemon)["syscalls"])
        assert len(filters) == PROCESSES[daemon] and all(len(f) > 30 for f in filters)
        missing = {r for r in own | start if not covered(r, has)}
        more = {r for r in has if not covered(r, own | start)}
        say(f"{daemon}: {len(has)} rules; {len({r for r in has if not covered(r, own)})} of them "
            "are for the start alone")
        assert not missing, f"the profile lacks {sorted(missing, key=str)}"
        assert not more, f"the profile has more: {sorted(more, key=str)}"
        assert profile(daemon)["defaultAction"] == "SCMP_ACT_ERRNO"
    test.__doc__ = f"{daemon}'s profile is its filters and the listed calls of the start"
    return test


def limits():
    """no profile has what nobody needs; bpf(2) and its like are loaderd's"""
    for daemon in PROCESSES:
        allowed = {name for name, _ in rules_of(profile(daemon)["syscalls"])}
        assert not allowed & NEVER, f"{daemon}: {allowed & NEVER}"
        for call, who in ONLY.items():
            assert (call in allowed) == (daemon in who), f"{daemon}: {call}"
    families = {d: {v for n, v in rules_of(profile(d)["syscalls"]) if n == "socket"} for d in PROCESSES}
    for d in ("loaderd", "symbolizerd"):
        assert families[d] == {(0xffffffff, 1)}, f"{d}: {families[d]}"	# AF_UNIX


def main():
    subprocess.run(["make", "-s", "-C", ROOT, f"O={BUILD}", "oci-seccomp"], check=True, stdout=sys.stderr)
    tests = [test_of(d) for d in PROCESSES] + [limits]
    tap([(t.__doc__, t) for t in tests])


main()
