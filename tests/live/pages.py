# SPDX-License-Identifier: Apache-2.0
"""pages - take a process's pages of files out of its memory, as a host does that is short of memory"""
import contextlib
import ctypes
import errno
import os
import re
import shutil
import signal
import threading

from live import Skip, say, wait_for

SYS_process_madvise, MADV_PAGEOUT = 440, 21


class Piece(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("len", ctypes.c_size_t)]


def copy_on_disk(source, to):
    """A copy of a file whose pages can be taken: what is not on the disk cannot."""
    shutil.copy(source, to)
    with open(to, "rb") as f:
        os.fsync(f.fileno())
    return to


def resident(pid, ending=""):
    """How many bytes of files whose names end so a process has mapped that are in memory, but what it wrote there."""
    sign, n, counts = {"Rss:": 1, "Anonymous:": -1}, 0, False
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as smaps:
        for line in smaps:
            words = line.rstrip("\n").split(maxsplit=5)
            if re.match("[0-9a-f]+-[0-9a-f]+$", words[0]):
                counts = len(words) == 6 and words[5].startswith("/") and words[5].endswith(ending)
            elif counts and words[0] in sign:
                n += sign[words[0]] * int(words[1]) << 10
    return n


@contextlib.contextmanager
def going(pid, ending):
    """Meanwhile more than half of what is resident() goes."""
    before = resident(pid, ending)
    yield
    now = resident(pid, ending)
    say(f"{ending}: {before >> 10} KiB in memory, then {now >> 10}")
    assert now < before / 2, f"{ending} of {pid} is still in memory"


def page_out(pid, ending=""):
    """What a process maps of files whose names end so, but what it wrote there, and what others map.  How many bytes
    its mappings of them are."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd, n = os.pidfd_open(pid), 0
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.rstrip("\n").split(maxsplit=5)
            if len(words) < 6 or not words[5].startswith("/") or not words[5].endswith(ending):
                continue
            start, end = (int(x, 16) for x in words[0].split("-"))
            done = libc.syscall(SYS_process_madvise, fd, ctypes.byref(Piece(start, end - start)), 1, MADV_PAGEOUT, 0)
            assert done == end - start, os.strerror(ctypes.get_errno())
            n += done
    os.close(fd)
    return n


@contextlib.contextmanager
def paged_out(pids):
    """Meanwhile, again and again: what runs brings pages back, and those beside them."""
    over = threading.Event()

    def work():
        while not over.wait(0.2):
            for pid in pids:
                with contextlib.suppress(OSError, AssertionError):	# it changes its mappings, or has ended
                    page_out(pid)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class MemoryGroup:
    """A cgroup of its own whose memory is counted; with the second hierarchy or the first."""
    def __init__(self, name):
        self.path = next((p for p in (f"/sys/fs/cgroup/memory/{name}", f"/sys/fs/cgroup/{name}") if self.made(p)), None)
        if not self.path:
            raise Skip("no memory cgroup can be made whose memory can be taken back")

    @staticmethod
    def made(path):
        """Its parent must count memory already: that is not changed here."""
        try:
            os.mkdir(path)
        except OSError:
            return False
        if any(os.path.exists(f"{path}/{f}") for f in ("memory.reclaim", "memory.force_empty")):
            return True
        os.rmdir(path)
        return False

    def reclaim(self):
        """Take back what can be taken: what is in files, and is not dirty."""
        name, word = next((x for x in (("memory.reclaim", "4G"), ("memory.force_empty", "0"))
                           if os.path.exists(f"{self.path}/{x[0]}")))
        try:
            with open(f"{self.path}/{name}", "w", encoding="ascii") as f:
                f.write(word)
        except OSError as e:	# EAGAIN: it was less than that
            if e.errno != errno.EAGAIN:
                raise

    def remove(self):
        """And end what still runs in it."""
        with open(f"{self.path}/cgroup.procs", encoding="ascii") as f:
            for pid in f:
                os.kill(int(pid), signal.SIGKILL)
        wait_for(self.removed)

    def removed(self):
        with contextlib.suppress(OSError):	# EBUSY: one is ending
            os.rmdir(self.path)
        return not os.path.exists(self.path)
