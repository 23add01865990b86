# SPDX-License-Identifier: Apache-2.0
"""filters - what seccomp filters let through, and which of it is used

tests/live/calls tells of each confined process its filter, as the kernel has it,
and the system calls that pass.  A rule is (number, value): value is what the
argument in ASKED must be, as (mask, value), or None for any.
"""
import collections
import ctypes
import os
import subprocess
import threading

from live import ROOT, wait_for

HELPER = os.path.join(ROOT, "build", "live", "calls")

# The argument that our filters look at.
ASKED = {"clone": 0, "dup3": 2, "fcntl": 1, "getsockopt": 2, "ioctl": 1, "kill": 1, "madvise": 2, "mmap": 2,
         "mprotect": 2, "newfstatat": 3, "open": 1, "openat": 2, "prctl": 0, "prlimit64": 0,
         "renameat2": 4, "setpriority": 2, "socket": 0, "socketpair": 0, "statx": 2, "unlinkat": 2,
         "utimensat": 1}

# linux/audit.h, linux/bpf_common.h, linux/seccomp.h
ARCHES = {"x86_64": 0xc000003e, "aarch64": 0xc00000b7}
LOAD, AND, JUMP, RETURN = 0x20, 0x54, 0x05, 0x06
TESTS = {0x15: int.__eq__, 0x25: int.__gt__, 0x35: int.__ge__}
ALLOW = 0x7fff0000
FIRST_ARGUMENT, NUMBERS = 16, 512

LIBSECCOMP = ctypes.CDLL("libseccomp.so.2")
LIBSECCOMP.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p
LIBC = ctypes.CDLL(None)


def number(name):
    return LIBSECCOMP.seccomp_syscall_resolve_name(name.encode())


def name_of(nr):
    at = LIBSECCOMP.seccomp_syscall_resolve_num_arch(0, nr)
    try:
        return ctypes.string_at(at).decode() if at else str(nr)
    finally:
        LIBC.free(ctypes.c_void_p(at))


def instructions(text):
    """[(code, jt, jf, k)] of what tests/live/calls prints."""
    for i in range(0, len(text), 16):
        n = int(text[i:i + 16], 16)
        yield n & 0xffff, n >> 16 & 0xff, n >> 24 & 0xff, n >> 32


class Filter:
    """A classic BPF program, walked for each number with all that its arguments can be."""

    def __init__(self, text):
        self.program = list(instructions(text))
        self.arch = ARCHES[os.uname().machine]
        self.rules = {(name_of(nr), rule) for nr in range(NUMBERS) for rule in self.walk(nr)}

    def walk(self, nr):
        """The ways to ALLOW: what each wants of the argument that is asked for."""
        asked = ASKED.get(name_of(nr))
        todo, found = [(0, 0, ())], set()
        while todo:
            pc, a, wanted = todo.pop()
            code, yes, no, k = self.program[pc]
            pc += 1
            if code == LOAD:
                todo.append((pc, {0: nr, 4: self.arch}.get(k, (k, 0xffffffff)), wanted))
            elif code == AND:
                if isinstance(a, tuple):
                    a = (a[0], a[1] & k) if a[1] & k else 0
                else:
                    a &= k
                todo.append((pc, a, wanted))
            elif code == JUMP:
                todo.append((pc + k, a, wanted))
            elif code in TESTS and not isinstance(a, tuple):
                todo.append((pc + (yes if TESTS[code](a, k) else no), a, wanted))
            elif code == 0x15:
                todo.append((pc + no, a, wanted))
                if all(w[0] != a or w[1] == k for w in wanted):
                    todo.append((pc + yes, a, wanted + ((a, k),)))
            elif code == RETURN:
                if k == ALLOW:
                    found.add(self.condition(nr, asked, wanted))
            else:
                raise AssertionError(f"an instruction {code:#x} at {pc - 1}")
        return found

    @staticmethod
    def condition(nr, asked, wanted):
        """(mask, value) of the lower half of the argument asked for; None: any."""
        place = FIRST_ARGUMENT + 8 * (-9 if asked is None else asked)
        mine = [(mask, k) for (at, mask), k in wanted if at == place]
        assert mine or not wanted, f"{name_of(nr)}: ASKED should say which argument is looked at"
        assert len(mine) <= 1, f"{name_of(nr)}: {mine}"
        return mine[0] if mine else None


class Observer:
    """From with to its end; then roles[name] has .rules and .used."""

    class Role:
        def __init__(self):
            self.rules, self.used, self.pids = set(), set(), set()

    def __init__(self, role_of):
        """role_of(comm, depth, calls): the name of a process; calls: what its filter allows"""
        self.role_of = role_of
        self.filters, self.roles = {}, collections.defaultdict(self.Role)
        self.at = {}		# (pid, depth): role
        self.end = None		# events that were lost

    def __enter__(self):
        with open("/proc/self/status", encoding="utf-8") as f:
            depth = next((line.split()[1] for line in f if line.startswith("Seccomp_filters:")), "0")
        asked = [f"{number(name)}:{arg}" for name, arg in ASKED.items() if number(name) >= 0]
        self.depth = int(depth)
        self.p = subprocess.Popen([HELPER, depth, *asked], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        assert self.p.stdout.readline() == "ready\n", "tests/live/calls does not start"
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.p.stdin.close()
        self.thread.join(60)
        self.p.wait(60)
        self.judge()

    def read(self):
        self.lines = [line.rstrip("\n").split(" ") for line in self.p.stdout]

    def judge(self):
        for kind, *words in self.lines:
            if kind == "filter":
                self.on_filter(words[0], int(words[1]), words[2], words[3])
        for kind, *words in self.lines:
            if kind == "call":
                self.on_call(words[0], int(words[1]), int(words[2]), int(words[3], 16))
            elif kind == "dropped":
                self.end = int(words[0])

    def on_filter(self, pid, depth, comm, text):
        """pid: number and start time of the process."""
        if not comm.startswith("trifold"):
            return
        assert text, "the kernel does not keep filters"
        if text not in self.filters:
            self.filters[text] = Filter(text)
        rules = self.filters[text].rules
        name = self.role_of(comm, depth - self.depth, {call for call, _ in rules})
        self.roles[name].rules |= rules
        self.roles[name].pids.add(pid)
        self.at[pid, depth] = name

    def on_call(self, pid, depth, nr, value):
        """All filters have let it pass: a worker's, and below it the zygote's."""
        while (pid, depth) in self.at:
            self.use(self.at[pid, depth], name_of(nr), value)
            depth -= 1

    def use(self, name, call, value):
        role = self.roles[name]
        hit = {r for r in role.rules if r[0] == call and (not r[1] or value & r[1][0] == r[1][1])}
        assert hit, f"{name} called {call} ({value:#x}), which its filter refuses"
        role.used |= hit
