#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold snapshot` of live processes: what it keeps, what it says, and that the
process runs on, whatever becomes of trifold."""
import contextlib
import gzip
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
import time

from live import BIN, ROOT, TRIFOLD, Skip, Suite, compile_c, say, scratch, wait_for

suite = Suite()
RECORDED = os.path.join(ROOT, "tests", "recordings", "recorded.py")
NOBODY = 65534
COUNTER = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile unsigned long n;
__attribute__((noinline)) static void burn_here(void) { for (;;) n++; }
static void *thread(void *arg) { burn_here(); return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	char secret[] = "a string on the stack";
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < 20; i++) pthread_create(&t, NULL, thread, NULL);
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "r");
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	}
	puts("ready");
	for (unsigned long was = 0;; was = n) {
		usleep(50000);
		printf("%s\n", n != was && *secret ? "runs" : "stands");
	}
}
"""


def snapshot(*args, **more):
    return subprocess.run([TRIFOLD, "snapshot", *map(str, args)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, **more)


def text_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        return f.read()


def state(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        status = f.read()
    return re.search(r"State:\t(.)", status).group(1), \
        int(re.search(r"TracerPid:\t(\d+)", status).group(1))


def at_rest(pid):
    """All of its threads sleep, and have not run since it was looked at last."""
    def seen():
        found = []
        for t in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{t}/status", encoding="utf-8") as f:
                found.append(re.findall(r"^(?:State|(?:non)?voluntary_ctxt_switches):\t(\S+)", f.read(), re.M))
        return found

    was = []

    def rests():
        was.append(seen())
        return all(s == "S" for s, *_ in was[-1]) and was[-1] in was[-2:-1]
    wait_for(rests)


class Running:
    """A program, from its first line of output on."""

    def __init__(self, *argv, **more):
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)

    def __enter__(self):
        line = self.p.stdout.readline()
        assert line == b"ready\n", line
        return self.p

    def __exit__(self, *_):
        self.p.kill()
        self.p.communicate()


def counter(directory, **more):
    source = os.path.join(directory, "counter.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(COUNTER)
    return compile_c(source, os.path.join(directory, "counter"), "-O2", "-pthread", **more)


def runs_on(p):
    """It counts, is not traced, and says so several times from now on."""
    os.set_blocking(p.stdout.fileno(), False)
    p.stdout.read()
    os.set_blocking(p.stdout.fileno(), True)
    lines = [p.stdout.readline() for _ in range(4)]
    assert lines[1:] == [b"runs\n"] * 3, lines
    assert state(p.pid)[1] == 0 and state(p.pid)[0] in "SR", state(p.pid)


@suite.test
def python():
    """of CPython: its functions and lines are in it; it is said what is; 0600"""
    with scratch() as tmp, Running(sys.executable, RECORDED) as p:
        out = os.path.join(tmp, "x.gz")
        at_rest(p.pid)
        r = snapshot(p.pid, "--yes", "--output", out)
        say(r.stdout + r.stderr)
        assert r.returncode == 0 and "strings of the program" in r.stdout, r
        assert re.search(r"\d+ bytes of the main thread's stack", r.stdout)
        assert stat.S_IMODE(os.stat(out).st_mode) == 0o600
        assert os.path.getsize(out) < 64 << 10
        text = text_of(out)
        # whose place the source says
        with open(RECORDED, encoding="utf-8") as f:
            line = next(i for i, s in enumerate(f, 1) if s == "    by_exec()\n")
        assert f"frame CPython {line} main {RECORDED}\n" in text
        assert re.search(r"^frame CPython \d+ (Thing\.)?__neg__ ", text, re.M)
        assert text.count("\nthread ") == 3 and "\nstop complete\n" in text
        assert p.poll() is None
        assert state(p.pid) == ("S", 0), state(p.pid)
        p.stdin.write(b"x")        # and it goes on to its end
        p.stdin.flush()
        assert p.wait(10) is not None


@suite.test
def threads_that_run():
    """of 21 threads that run: all are in it, and all run on"""
    with scratch() as tmp:
        exe, out = counter(tmp), os.path.join(tmp, "x.gz")
        with Running(exe) as p:
            for i in range(5):
                r = snapshot(p.pid, "--yes", "--output", f"{out}{i}")
                assert r.returncode == 0, r.stderr
                text = text_of(f"{out}{i}")
                assert text.count("\nthread ") == 21
                assert len(re.findall(r"^frame native \S+ burn_here$", text, re.M)) == 20 or \
                    len(re.findall(r"^frame native \S+ thread$", text, re.M)) == 20
                runs_on(p)


@suite.test
def many_files():
    """of a process with 40 files of code that are no ELF files, before those that are"""
    with scratch() as tmp:
        exe, out = counter(tmp), os.path.join(tmp, "x.gz")
        others = [os.path.join(tmp, f"other{i}") for i in range(40)]
        for path in others:
            with open(path, "w", encoding="utf-8") as f:
                f.write("no code\n")
        with Running(exe, *others) as p:
            r = snapshot(p.pid, "--yes", "--output", out)
            assert r.returncode == 0, r.stderr
            text = text_of(out)
            assert all(f" {os.path.basename(o)}\n" in text for o in others)
            # the C library was read, which comes behind all of these
            assert " usleep\n" in text and text.count("\nstop complete\n") == 21
            runs_on(p)


@suite.test
def asks_first():
    """without --yes it asks: no terminal, no, yes; it overwrites nothing"""
    with scratch() as tmp:
        exe, out = counter(tmp), os.path.join(tmp, "x.gz")
        with Running(exe) as p:
            r = snapshot(p.pid, "--output", out)
            assert r.returncode == 3 and "--yes" in r.stderr and not os.path.exists(out), r
            for answer, status in ((b"n\n", 3), (b"\n", 3), (b"y\n", 0)):
                lead, follow = pty.openpty()
                os.write(lead, answer)
                r = subprocess.run([TRIFOLD, "snapshot", str(p.pid), "--output", out],
                                   stdin=follow, capture_output=True, text=True)
                os.close(lead)
                os.close(follow)
                assert r.returncode == status and os.path.exists(out) == (status == 0), r
                assert f"Write this to {out}? [y/N]" in r.stdout
            before = os.stat(out)
            r = snapshot(p.pid, "--yes", "--output", out)
            assert r.returncode == 1 and "exists" in r.stderr, r
            assert os.stat(out).st_mtime_ns == before.st_mtime_ns
            os.symlink("/nowhere", os.path.join(tmp, "link"))
            r = snapshot(p.pid, "--yes", "--output", os.path.join(tmp, "link"))
            assert r.returncode == 1 and "exists" in r.stderr, r
            runs_on(p)


@suite.test
def stopped_before():
    """of a process that SIGSTOP has stopped: it stays stopped, and runs on at SIGCONT"""
    with scratch() as tmp:
        exe, out = counter(tmp), os.path.join(tmp, "x.gz")
        with Running(exe) as p:
            p.send_signal(signal.SIGSTOP)
            wait_for(lambda: state(p.pid)[0] == "T")
            r = snapshot(p.pid, "--yes", "--output", out)
            assert r.returncode == 0, r.stderr
            assert text_of(out).count("\nthread ") == 21
            # one that runs has threads that never stop
            wait_for(lambda: state(p.pid) == ("T", 0))
            p.send_signal(signal.SIGCONT)
            runs_on(p)


def frames(path):
    """Without the numbers of files, which have no order."""
    return [re.sub(r"native \w+\+", "native ", line) for line in text_of(path).splitlines()
            if line.startswith("frame ")]


@suite.test
def core_file():
    """of a core file: the frames are those of the process; below another root none are"""
    if not shutil.which("gcore"):
        raise Skip("no gcore")
    with scratch() as tmp, Running(sys.executable, RECORDED) as p:
        live, core = os.path.join(tmp, "live.gz"), os.path.join(tmp, "core")
        at_rest(p.pid)
        subprocess.run(["gcore", "-o", core, str(p.pid)], check=True, capture_output=True)
        r = snapshot(p.pid, "--yes", "--output", live)
        assert r.returncode == 0, r.stderr
        core = f"{core}.{p.pid}"
        r = snapshot(core, "--yes", "--output", core + ".gz")
        assert r.returncode == 0 and "stood still" not in r.stdout, r
        # gdb has the threads in another order
        assert sorted(frames(core + ".gz")) == sorted(frames(live)) and len(frames(live)) > 80
        # what it names is no file there: a pipe, whose writer waits for a reader
        pipe = tmp + os.path.realpath(sys.executable)
        os.makedirs(os.path.dirname(pipe))
        os.mkfifo(pipe)
        with subprocess.Popen(["sh", "-c", f"exec 3>{pipe}"]) as writer:
            r = snapshot(core, "--yes", "--root", tmp, "--output", core + ".none.gz")
            opened = writer.poll() is not None
            writer.kill()
        assert not opened
        assert r.returncode == 0 and "CPython" not in text_of(core + ".none.gz")
        r = snapshot(RECORDED, "--yes", "--output", core + ".not.gz")
        say(r.stderr)
        assert r.returncode == 1 and "no core file" in r.stderr, r
        assert not os.path.exists(core + ".not.gz")


def slow_reader(directory):
    """A directory of daemons whose reader never answers the second time."""
    for name in os.listdir(BIN):
        os.symlink(os.path.join(BIN, name), os.path.join(directory, name))
    reader = os.path.join(directory, "trifold-symbolizerd")
    os.unlink(reader)
    with open(reader, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\nsed -n '/^end$/q'; echo read; read -r line; exec sleep 60\n")
    os.chmod(reader, 0o755)


@suite.test
def killed_in_between():
    """trifold is killed, or its reader takes too long: the process runs on"""
    with scratch() as tmp:
        exe, daemons = counter(tmp), os.path.join(tmp, "bin")
        os.mkdir(daemons)
        slow_reader(daemons)
        for how in ("killed", "waits"):
            with Running(exe) as p:
                t = subprocess.Popen([TRIFOLD, "snapshot", str(p.pid), "--yes", "--libexec",
                                      daemons, "--output", os.path.join(tmp, "x.gz")],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     start_new_session=True)
                try:
                    # the second time it stands until there is an answer
                    def stands():
                        time.sleep(0.5)
                        return state(p.pid)[0] == "t"
                    wait_for(lambda: stands() and stands())
                    if how == "killed":
                        t.kill()
                    t.wait(60)
                finally:	# its reader has what it says open, too
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(t.pid, signal.SIGKILL)
                    said = t.communicate()[1].decode()
                runs_on(p)
                assert not os.path.exists(os.path.join(tmp, "x.gz"))
                if how == "waits":
                    assert t.returncode == 1 and "too long" in said, said


@suite.test
def errors_say_what_to_do():
    """no such process, no number, another user's, one that is traced, a 32-bit one"""
    with scratch() as tmp:
        for args, status, want in (((2 ** 22 + 5, "--yes"), 1, "there is no process"),
                                   (("x",), 2, "neither the PID of a process nor a file"),
                                   ((), 2, "needs the PID")):
            r = snapshot(*args)
            assert r.returncode == status and want in r.stderr, r
            assert len(r.stderr.splitlines()) == 1
        exe, own = counter(tmp), os.path.join(tmp, "own")
        os.chmod(tmp, 0o755)
        os.mkdir(own)
        os.chown(own, NOBODY, NOBODY)
        with Running(exe) as p:
            r = snapshot(p.pid, "--yes", user=NOBODY, group=NOBODY, extra_groups=[], cwd=own)
            say(r.stderr)
            assert r.returncode == 1 and "belongs to another user: use sudo" in r.stderr, r
            if shutil.which("strace"):
                traced(p)
            runs_on(p)
        compat(tmp)


def traced(p):
    s = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-p", str(p.pid)])
    try:
        wait_for(lambda: state(p.pid)[1])
        r = snapshot(p.pid, "--yes")
        say(r.stderr)
        assert r.returncode == 1 and f"traced by process {s.pid}" in r.stderr, r
    finally:
        s.send_signal(signal.SIGINT)
        s.wait()


def compat(tmp):
    source, exe = os.path.join(tmp, "i.s"), os.path.join(tmp, "i386")
    with open(source, "w", encoding="utf-8") as f:
        f.write(".globl _start\n_start: mov $29, %eax\nint $0x80\njmp _start\n")
    if os.uname().machine != "x86_64" or \
            subprocess.run(f"as --32 {source} -o {exe}.o && ld -m elf_i386 {exe}.o -o {exe}",
                           shell=True, capture_output=True).returncode:
        say("no 32-bit program can be made here")
        return
    try:
        p = subprocess.Popen([exe])
    except OSError:
        say("no 32-bit program runs here")
        return
    try:
        r = snapshot(p.pid, "--yes")
        say(r.stderr)
        assert r.returncode == 1 and "32-bit" in r.stderr, r
    finally:
        p.kill()
        p.wait()


@suite.test
def own_user():
    """a user's own process, without root, where the kernel allows it; the file is the user's"""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="utf-8") as f:
            scope = f.read().strip()
    except OSError:
        scope = "0"
    if scope != "0":
        raise Skip(f"kernel.yama.ptrace_scope is {scope}")
    with scratch() as tmp:
        exe, own = counter(tmp), os.path.join(tmp, "own")
        os.chmod(tmp, 0o755)
        os.mkdir(own)
        os.chown(own, NOBODY, NOBODY)
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        with Running(exe, **who) as p:
            r = snapshot(p.pid, "--yes", cwd=own, **who)
            say(r.stdout + r.stderr)
            out = os.path.join(own, f"trifold-snapshot-{p.pid}.gz")
            assert r.returncode == 0 and os.stat(out).st_uid == NOBODY, r
            text = text_of(out)
            assert text.count("\nthread ") == 21 and " usleep\n" in text
            runs_on(p)


@suite.test
def file_of_the_caller():
    """under sudo the file is opened as who called it: nothing is written where that user may not"""
    caller = {**os.environ, "SUDO_UID": "12345", "SUDO_GID": "12345"}
    with scratch() as tmp, Running(counter(tmp)) as p:
        os.chmod(tmp, 0o755)
        closed, open_to = os.path.join(tmp, "closed"), os.path.join(tmp, "open")
        os.mkdir(closed, 0o755)
        os.mkdir(open_to)
        os.chown(open_to, 12345, 12345)
        r = snapshot(p.pid, "--yes", "--output", os.path.join(closed, "x.gz"), env=caller)
        assert r.returncode == 1 and "Permission denied" in r.stderr, r
        assert not os.listdir(closed), os.listdir(closed)
        r = snapshot(p.pid, "--yes", "--output", os.path.join(open_to, "x.gz"), env=caller)
        assert r.returncode == 0, r
        st = os.stat(os.path.join(open_to, "x.gz"))
        assert (st.st_uid, st.st_gid, st.st_mode & 0o777) == (12345, 12345, 0o600), st
        runs_on(p)


VFORK = r"""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *thread(void *arg) { if (!vfork()) { sleep(30); _exit(0); } return arg; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, thread, NULL);
	usleep(200000);
	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	for (;;) { usleep(50000); puts("runs"); }
}
"""


@suite.test
def a_thread_that_does_not_stop():
    """a thread waits in vfork(2): an error after two seconds, and the process runs on"""
    with scratch() as tmp:
        source = os.path.join(tmp, "vfork.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(VFORK)
        with Running(compile_c(source, os.path.join(tmp, "vfork"), "-pthread"), start_new_session=True) as p:
            try:
                begin = time.time()
                r = snapshot(p.pid, "--yes", "--output", os.path.join(tmp, "x.gz"), timeout=25)
                say(f"{r.stderr}{time.time() - begin:.1f} s")
                assert r.returncode == 1 and "did not stop within 2 s" in r.stderr, r
                os.set_blocking(p.stdout.fileno(), False)
                p.stdout.read()
                wait_for(p.stdout.read)
            finally:
                os.killpg(p.pid, signal.SIGKILL)	# the child, too


# DIRECTORY: two file systems with the same numbers of inodes.  Maps a file of one as code and then has, at
# the path that maps(5) shows, a link to one of the other.
OTHER_FILE = r"""
import mmap, os, sys, time
mine, secret = (os.path.join(sys.argv[1], x) for x in ("a/mine", "b/secret"))
fd = os.open(mine, os.O_RDWR)
m = mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
assert os.stat(mine).st_ino == os.stat(secret).st_ino
os.unlink(mine)
os.symlink(secret, mine + " (deleted)")
print("ready", flush=True)
time.sleep(60)
"""


@suite.test
def another_file_of_that_number():
    """a process has, at the path of a file that it maps, another one of that number: it is not read"""
    with scratch() as tmp:
        for name in "ab":
            os.mkdir(os.path.join(tmp, name))
            subprocess.run(["mount", "-t", "tmpfs", "none", os.path.join(tmp, name)], check=True)
        try:
            with open(os.path.join(tmp, "a", "mine"), "wb") as f:
                f.write(bytes(4096))
            secret = shutil.copy(f"{BIN}/trifold", os.path.join(tmp, "b", "secret"))
            os.utime(secret, (1, 2))	# reading it changes the first
            with Running(sys.executable, "-c", OTHER_FILE, tmp) as p:
                r = snapshot(p.pid, "--yes", "--output", os.path.join(tmp, "x.gz"))
                assert r.returncode == 0, r
            assert os.stat(secret).st_atime == 1, "it was read"
        finally:
            for name in "ab":
                subprocess.run(["umount", "-l", os.path.join(tmp, name)], check=True)


@suite.test
def hostile_names():
    """a file whose name has a newline and escapes is one line, and the terminal gets none"""
    with scratch() as tmp:
        exe, out = counter(tmp), os.path.join(tmp, "x.gz")
        lie = os.path.join(tmp, "a\nthread 1\x1b[31m \xff")
        with open(lie, "wb") as f:
            f.write(b"\x7fELF" + b"\xff" * 8192)
        with Running(exe, lie) as p:
            r = snapshot(p.pid, "--yes", "--output", out)
            assert r.returncode == 0 and "\x1b" not in r.stdout + r.stderr, r
            text = text_of(out)
            assert text.count("\nthread ") == 21 and "\x1b" not in text
            # the kernel has escaped the newline for us already
            assert re.search(r"^file \w+ 0 - a\\x5c012thread 1\\x1b\[31m \\x", text, re.M)
            runs_on(p)


suite.run()
