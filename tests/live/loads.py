# SPDX-License-Identifier: Apache-2.0
"""loads - what the machine is busy with while trifold is judged

Each load is a context manager: everything it starts is a process group of its
own, killed at the end; its files live in a scratch directory.
"""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

from live import Skip, compile_c, ends_with_us, scratch

SMALL_C = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { int key; char name[32]; struct item *next; };
static struct item *add(struct item *head, int key, const char *name)
{
	struct item *i = malloc(sizeof(*i));
	i->key = key; snprintf(i->name, sizeof(i->name), "%s", name); i->next = head;
	return i;
}
int main(int argc, char **argv)
{
	struct item *head = NULL;
	for (int i = 0; i < argc; i++)
		head = add(head, i, argv[i]);
	for (; head; head = head->next)
		printf("%d %s\\n", head->key, head->name);
	return 0;
}
"""

JAVA = """
import java.util.*;
public class Load {
    static int work(int n) {
        Map<String, Integer> m = new HashMap<>();
        for (int i = 0; i < n; i++)
            m.merge("k" + (i % 977), i, Integer::sum);
        return m.values().stream().mapToInt(x -> x).sum();
    }
    public static void main(String[] a) {
        long s = 0;
        for (;;)
            s += work(20000);
    }
}
"""

PYTHON = """
import json
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
while True:
    fib(18)
    json.loads(json.dumps([{"a": i, "b": str(i)} for i in range(200)]))
"""

SQL = """
CREATE TABLE IF NOT EXISTS t(a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000)
INSERT OR REPLACE INTO t SELECT x, hex(randomblob(16)) FROM c;
SELECT count(*), max(b) FROM t WHERE b LIKE '%A%';
DELETE FROM t WHERE a % 3 = 0;
"""


@contextlib.contextmanager
def processes(commands, cwd):
    """Run shell commands, each in a session of its own; kill them at the end."""
    started = []
    try:
        for c in commands:
            started.append(subprocess.Popen(
                ["/bin/sh", "-c", c], cwd=cwd, start_new_session=True, preexec_fn=ends_with_us,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL))
        yield started
    finally:
        for p in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, signal.SIGKILL)
        for p in started:
            p.wait()


def need(*programs):
    for p in programs:
        if not shutil.which(p):
            raise Skip(f"no {p} here")


@contextlib.contextmanager
def idle():
    yield


@contextlib.contextmanager
def deep():
    """Two native programs, a known chain each, one for each of two CPUs."""
    with scratch() as tmp:
        exe = compile_c("deep.c", os.path.join(tmp, "deep"), "-fomit-frame-pointer")
        with processes([f"exec {exe} 40 36000"] * 2, tmp):
            yield


@contextlib.contextmanager
def python():
    """Two CPython programs, 61 calls of one function deep, one for each of two CPUs."""
    chain = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_chain.py")
    with scratch() as tmp:
        with processes([f"exec /usr/bin/python3 -S {chain} 36000 deep"] * 2, tmp):
            yield


@contextlib.contextmanager
def mixed():
    """Database, JVM, Python, compile job, shells, all together."""
    need("redis-server", "redis-benchmark", "sqlite3", "java", "gcc", "xz")
    with scratch() as tmp:
        write(tmp, "small.c", SMALL_C)
        write(tmp, "Load.java", JAVA)
        write(tmp, "load.py", PYTHON)
        write(tmp, "load.sql", SQL)
        port = 26379
        with processes([
                f"exec redis-server --port {port} --bind 127.0.0.1 --save '' --dir {tmp}",
                f"sleep 1; while :; do redis-benchmark -h 127.0.0.1 -p {port} -q -n 20000; done",
                "while :; do sqlite3 load.db < load.sql; done",
                "exec java Load.java",
                "exec python3 load.py",
                "while :; do gcc -O2 -c small.c -o small.o; done",
                "while :; do head -c 3000000 /dev/urandom | xz -1 -c >/dev/null; done",
                "while :; do for i in 1 2 3 4 5; do echo $i | sed s/1/2/ | wc -c; done; done",
        ], tmp):
            yield


@contextlib.contextmanager
def storm():
    """A compile storm: two loops of small gcc -c, one of /bin/true."""
    with scratch() as tmp:
        write(tmp, "small.c", SMALL_C)
        with processes([
                "while :; do gcc -O2 -c small.c -o a.o; done",
                "while :; do gcc -O2 -c small.c -o b.o; done",
                "while :; do /bin/true; done",
        ], tmp):
            yield


@contextlib.contextmanager
def drizzle():
    """Short lives with pauses: something to sample, a third of a CPU's time."""
    with processes(["while :; do /bin/sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'; sleep 0.02; done"], "/"):
        yield


def numbered(template, out, i):
    """A copy of an executable that is another one: a symbol and its build ID."""
    data = bytearray(template)
    at = data.find(b"only_XXXXXXXX")
    data[at:at + 13] = b"only_%08d" % i
    note = data.find(b"\x03\0\0\0GNU\0")
    data[note + 8:note + 12] = i.to_bytes(4, "little")
    with open(out, "wb") as f:
        f.write(data)
    os.chmod(out, 0o755)


@contextlib.contextmanager
def swarm(files=2000, processes_=5000, rate=1000, seconds=600, us=100):
    """Many executables, many processes of them, and so many execs a second.

    Each process calls its functions for so many microseconds, those that stay
    once a second.  Yields the driver: it prints "up" when all stay, and how many it
    started when its time is over."""
    with scratch() as tmp:
        exe = compile_c("swarm.c", os.path.join(tmp, "swarm"), "-fomit-frame-pointer")
        with open(exe, "rb") as f:
            template = f.read()
        for i in range(files):
            numbered(template, os.path.join(tmp, f"u{i}"), i)
        p = subprocess.Popen([exe, "drive", tmp, str(files), str(processes_), str(rate), str(seconds),
                              str(us)],
                             stdout=subprocess.PIPE, text=True, start_new_session=True,
                             preexec_fn=ends_with_us)
        try:
            assert p.stdout.readline() == "up\n"
            yield p
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, signal.SIGKILL)
            p.wait()
            p.stdout.close()


def write(tmp, name, text):
    with open(os.path.join(tmp, name), "w", encoding="utf-8") as f:
        f.write(text)


LOADS = {"idle": idle, "drizzle": drizzle, "deep": deep, "python": python, "mixed": mixed, "storm": storm, "swarm": swarm}

if __name__ == "__main__":
    # loads.py NAME SECONDS: a load alone, to try things beside it
    with LOADS[sys.argv[1]]():
        time.sleep(float(sys.argv[2]))
