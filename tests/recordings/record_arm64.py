#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a recording of an arm64 CPython on another machine, by qemu's user mode:

  record_arm64.py NAME QEMU ROOT PYTHON CC

QEMU: qemu-aarch64-static; ROOT: a directory with the interpreter and its libraries, as
mmdebstrap --variant=extract --architectures=arm64 --include=python3.11 makes it;
PYTHON: its path there; CC: a cross compiler.

There is no ptrace in user mode: each thread says its own registers from a signal
handler (tell_registers.c) and then waits on at the same place.  The emulated memory is
that of the emulator, at the same addresses.  faulthandler says what the functions and
lines are, as in record.py; nobody but our walk says what the native frames are.
"""
import os
import signal
import struct
import subprocess
import sys
import time

import record

WORDS = 34
READER = os.path.join(record.ROOT, "build", "bin", "trifold-symbolizerd")


def exactly(fd, n):
    data = b""
    while len(data) < n:
        more = os.read(fd, n - len(data))
        assert more, "the program says no more"
        data += more
    return data


def told(pid, tid, fd):
    """(registers, thread pointer, mappings) of a thread."""
    os.kill(tid, 0)
    signal_thread(pid, tid, signal.SIGUSR2)
    words = struct.unpack(f"<{WORDS}Q", exactly(fd, 8 * WORDS))
    maps = exactly(fd, struct.unpack("<Q", exactly(fd, 8))[0]).decode()
    return words[:-1], words[-1], maps


def signal_thread(pid, tid, number):
    import ctypes
    tgkill = 234    # arch/x86/entry/syscalls/syscall_64.tbl
    assert os.uname().machine == "x86_64"
    assert not ctypes.CDLL(None).syscall(tgkill, pid, tid, number)


def described(maps, threads):
    """(text for the reader, paths of files of code in the order of their numbers)"""
    paths, rest, rows = [], [], []
    for line in maps.splitlines():
        words = line.split(None, 5)
        start, end = (int(w, 16) for w in words[0].split("-"))
        path = words[5] if len(words) > 5 and words[5].startswith("/") else None
        rows.append((start, end, words[1], int(words[2], 16), path,
                     words[5:6] == ["[stack]"], words[5:6] == ["[heap]"]))
        if path and "x" in words[1] and path not in paths:
            paths.append(path)
    for row in rows:
        if row[4] and row[4] not in paths + rest:
            rest.append(row[4])
    files = paths + rest
    text = ["trifold-snapshot 1", "machine aarch64", "stack 0", "vdso 0"]
    text += [f"file {i:x} 0 - {os.path.basename(f)}" for i, f in enumerate(files)]
    for start, end, perms, off, path, stack, heap in rows:
        flags = "-" + "x" * ("x" in perms) + "w" * ("w" in perms) + "s" * stack + "h" * heap
        text.append(f"map {start:x} {end:x} {off:x} {flags} "
                    f"{format(files.index(path), 'x') if path else '-'}")
    for tid, regs, tp in threads:
        text.append(f"thread {tid} user {tp:x} " + " ".join(f"{r:x}" for r in regs))
    return "\n".join(text + ["end", ""]), paths


def read(pid, text, paths):
    """What the reader of `trifold snapshot` makes of it (symbolizerd/snapshot_main.h)."""
    result = os.memfd_create("result")
    first = [os.open(f"/proc/{pid}/mem", os.O_RDONLY), result]
    fds = [os.dup(fd) for fd in first + [os.open(p, os.O_RDONLY) for p in paths]]
    above = [os.dup(fd) for fd in fds]

    def place():
        for i, fd in enumerate(above):
            os.dup2(fd, 200 + i)
        for i in range(len(above)):
            os.dup2(200 + i, 3 + i)

    who = ["--uid=1879048192", "--gid=1879048192"] if not os.getuid() else []
    subprocess.run([READER, "--snapshot", *who, str(len(paths))], input=text, text=True,
                   close_fds=False, preexec_fn=place, check=True)
    os.lseek(result, 0, os.SEEK_SET)
    return os.fdopen(result, "rb").read()


def main(name, qemu, root, python, cc):
    os.mkdir(record.PLACE)
    try:
        tell = os.path.join(record.PLACE, "tell.so")
        subprocess.run([cc, "-shared", "-fPIC", "-O2", "-nostdlib", "-o", tell,
                        os.path.join(record.HERE, "tell_registers.c")], check=True)
        with open(os.path.join(record.HERE, "recorded.py"), encoding="utf-8") as f, \
                open(os.path.join(record.PLACE, "recorded.py"), "w", encoding="utf-8") as to:
            to.write(f.read())
        out, to = os.pipe()
        os.dup2(to, 9)
        p = subprocess.Popen([qemu, "-L", root, "-E", f"LD_PRELOAD={tell}", root + python, "-E",
                              "-s", "recorded.py"] + ["x"] * 200, cwd=record.PLACE, env={},
                             pass_fds=(9,), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        try:
            assert p.stdout.readline() == b"ready\n"
            time.sleep(1)
            # the emulator has a thread of its own, which knows no such signal
            tids = [t for t in map(int, os.listdir(f"/proc/{p.pid}/task"))
                    if is_the_programs(p.pid, t)]
            threads, maps = [], ""
            for tid in sorted(tids, key=lambda t: t != p.pid):
                regs, tp, maps = told(p.pid, tid, out)
                threads.append((tid, regs, tp))
            time.sleep(0.5)
            packed = read(p.pid, *described(maps, threads))
            p.send_signal(signal.SIGUSR1)
            inside = record.by_faulthandler(p.stderr, len(threads))
        finally:
            p.kill()
            p.communicate()
        keep(name, packed, inside, p.pid)
    finally:
        record.Gone().close()


def is_the_programs(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8") as f:
        blocked = next(line for line in f if line.startswith("SigBlk:"))
    return not int(blocked.split()[1], 16) >> (signal.SIGUSR2 - 1) & 1


def keep(name, packed, inside, pid):
    import gzip
    lines = gzip.decompress(packed).decode().splitlines()
    snapshot = record.Snapshot(lines)
    for thread in snapshot.threads:
        # pthread_self() lies somewhat below the thread pointer
        stack = next(s for at, s in inside.items() if 0 <= thread["tp"] - at <= 4096)
        chain = record.same_python(thread, stack)
        if thread["tid"] == pid:
            assert chain == record.PYTHON_CHAIN, chain
        assert thread["stop"] == "complete", thread
    record.keep(name, lines, snapshot)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
