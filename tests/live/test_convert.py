#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold convert`: files by hand, without root; and a recording in every format."""
import gzip
import json
import os
import re
import subprocess

from formats import firefox_threads
from live import TRIFOLD, Suite, children_of, compile_c, folded, record, say, scratch, wait_for
from otlp_make import attribute, request

suite = Suite()
ENDINGS = (".html", ".folded", ".pb.gz", ".otlp", ".speedscope.json", ".firefox.json")


def convert(*args, status=0, first=()):
    r = subprocess.run([*first, TRIFOLD, "convert", *args], capture_output=True, text=True, timeout=120)
    assert r.returncode == status, f"{args}: status {r.returncode}, want {status}: {r.stderr}"
    assert r.stderr.count("\n") == 1, f"{args}: {r.stderr}"
    return r.stderr


def write(tmp, name, data):
    path = os.path.join(tmp, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


@suite.test
def folded_stacks():
    """folded stacks of any profiler become a page, pprof, folded again; not what needs times"""
    with scratch() as tmp:
        a = write(tmp, "a.folded", b"app;main;work 5\napp;main;read_[k] 2\n")
        said = convert(a, os.path.join(tmp, "b.folded"))
        assert "7 samples, 2 distinct stacks" in said, said
        assert sorted(folded(os.path.join(tmp, "b.folded"))) == sorted(folded(a))
        convert(a, os.path.join(tmp, "b.html"))
        with open(os.path.join(tmp, "b.html"), encoding="utf-8") as f:
            page = f.read()
        assert "1970" not in page and '"frequency":99,' in page
        convert(a, os.path.join(tmp, "b.html"), "--frequency", "50")
        with open(os.path.join(tmp, "b.html"), encoding="utf-8") as f:
            assert '"frequency":50,' in f.read()
        convert(a, os.path.join(tmp, "c"), "--format", "pprof", "--rate", "50")
        with gzip.open(os.path.join(tmp, "c")) as f:
            assert b"work" in f.read()
        for e in (".otlp", ".speedscope.json", ".firefox.json"):
            assert "no times" in convert(a, os.path.join(tmp, "b" + e), status=2)
            assert not os.path.exists(os.path.join(tmp, "b" + e))


@suite.test
def pipes():
    """"-" is standard input or output, also of record and diff; what it is, is seen in it"""
    with scratch() as tmp:
        stacks, other = b"app;main;work 5\n", request([10**18], [["work", "main"]])

        def piped(data, *args):
            r = subprocess.run([TRIFOLD, *args], input=data, capture_output=True, timeout=120, cwd=tmp)
            assert os.listdir(tmp) == [], os.listdir(tmp)
            return r.returncode, r.stdout, r.stderr.decode()

        assert piped(stacks, "convert", "-", "-", "--format", "folded")[:2] == (0, stacks)
        assert piped(other, "convert", "-", "-", "--format", "folded")[:2] == (0, b"prog;main;work 1\n")
        assert b"work" in gzip.decompress(piped(other, "convert", "-", "/dev/stdout", "--format", "pprof")[1])
        for data, why in ((gzip.compress(stacks), "compressed by gzip"), (gzip.compress(gzip.compress(other)), "compressed by gzip"),
                          (b"app;\x1b[1mwork 5\n", "a control character"), (b"\n\n" + stacks, None),
                          (b"\x0a\x03abc", "is not an OTLP request"), (b"\x12\x03abc", "is not an OTLP request")):
            for args in (("convert", "-", "-", "--format", "folded"), ("diff", "-", os.devnull)):
                status, out, said = piped(data, *args)
                if why:
                    assert status == 1 and out == b"" and why in said and "standard input" in said, (data, said)
                elif args[0] == "convert":
                    assert (status, out) == (0, stacks), said
        said = piped(stacks, "convert", "-", "-", "--format", "otlp")
        assert said[:2] == (1, b"") and "no times" in said[2], said
        said = piped(stacks, "convert", "-", "-")
        assert said[:2] == (2, b"") and "needs --format" in said[2], said
        a = write(tmp + "/..", f"{os.path.basename(tmp)}.folded", stacks)
        for data in (stacks, other):
            for sides in (("-", a), (a, "-")):
                status, out, said = piped(data, "diff", *sides, "--output", "-")
                assert status == 0 and b"app;main;work " in out, said
        os.unlink(a)
        assert piped(b"", "diff", "-", "-")[0] == 2
        status, out, said = piped(b"", "record", "--duration", "1", "--output", "-", "--format", "folded", "--rate", "499")
        assert status == 0 and "trifold: standard output: " in said and " -: " not in said, said
        assert all(re.fullmatch(rb".+ \d+", x) for x in out.splitlines()), out
        assert f": {sum(int(x.split()[-1]) for x in out.splitlines())} sample" in said, said
        status, out, said = piped(b"", "record", "--output", "-", "--format", "folded", "--", "true")
        assert status == 2 and out == b"" and "the command writes there too" in said, said
        # who has read enough of it has lost nothing; who has not read at all, all
        for reader, want in (("head -c 1", 0), ("exec <&-; sleep 4", 1)):
            r = subprocess.run(["bash", "-c", f"'{TRIFOLD}' record --duration 1 --output - --format html | ({reader}); "
                                "exit ${PIPESTATUS[0]}"], capture_output=True, text=True, timeout=120)
            assert r.returncode == want, r
            assert ("its reader closed it after " in r.stderr) == ("lost: no recording" not in r.stderr) == (want == 0), r.stderr
        status, out, said = piped(b"", "run", "--output", "-")
        assert status == 2 and "writes to a file, whose name ends in .html" in said and "--format" not in said, said
        # a terminal gets text only
        r = subprocess.run(["script", "-qec", f"{TRIFOLD} convert {write(tmp, 'x.folded', stacks)} - --format pprof", "/dev/null"],
                           capture_output=True, text=True, timeout=120)
        assert r.returncode == 1 and "is a terminal" in r.stdout, r


@suite.test
def large_counts():
    """microseconds or bytes of other profilers: each stack keeps its share; a mark, a fraction, two numbers"""
    with scratch() as tmp:
        a, b = (os.path.join(tmp, x) for x in ("a.folded", "b.folded"))
        write(tmp, "a.folded", b"\xef\xbb\xbfweb;parse 1200000\nweb;render 900000\n")
        convert(a, b)
        assert sorted(folded(b)) == [(["web", "parse"], 1200000), (["web", "render"], 900000)], folded(b)
        write(tmp, "a.folded", b"web;parse 6917529027641081856\nweb;render 2305843009213693951\n")
        r = subprocess.run([TRIFOLD, "convert", a, b], capture_output=True, text=True, timeout=120)
        assert r.returncode == 0 and "one written stands for" in r.stderr, r
        assert "samples than 64 MiB have room for" in r.stderr and "4194304" not in r.stderr, r
        found = dict((f[-1], n) for f, n in folded(b))
        assert abs(found["parse"] - 3 * found["render"]) <= 3, found
        write(tmp, "a.folded", b"a;b 3.5\n")
        assert "not whole" in convert(a, b, status=1)
        write(tmp, "a.folded", b"a;b 3 5\na;c 0 1\n")
        assert "two numbers" in convert(a, b, status=1)


@suite.test
def long_recordings():
    """an .otlp of 2,000,000 samples, more than the live page takes at once, is converted"""
    n = 2000000
    with scratch() as tmp:
        data = request([10**18 + i * 10**6 for i in range(n)], [["work", "main"], ["rest", "main"]])
        out = os.path.join(tmp, "b.folded")
        said = convert(write(tmp, "a.otlp", data), out)
        assert f"{n} samples, 2 distinct stacks" in said, said
        assert sorted(folded(out)) == [(["prog", "main", "rest"], n // 2), (["prog", "main", "work"], n // 2)], \
            folded(out)


@suite.test
def services():
    """the names of service, host and kernel stay what they were; without one a service has the program's"""
    said = {"service.name": "checkout", "host.name": "far", "os.version": "6.1.0-9"}
    with scratch() as tmp:
        for more, want in ((said, said), ({}, {"service.name": "prog"})):
            a = write(tmp, "a.otlp", request([10**18], [["work", "main"]], **more))
            convert(a, os.path.join(tmp, "b.otlp"))
            with open(os.path.join(tmp, "b.otlp"), "rb") as f:
                out = f.read()
            assert all(attribute(k, v) in out for k, v in want.items()), more
        a = write(tmp, "a.otlp", request([10**18], [["work", "main"]], **said))
        convert(a, os.path.join(tmp, "b.html"))
        with open(os.path.join(tmp, "b.html"), encoding="utf-8") as f:
            page = f.read()
        assert '"host":"far"' in page and '"kernel":"6.1.0-9"' in page


@suite.test
def mistakes():
    """what is no recording is refused in a line, and OUT stays as it was"""
    with scratch() as tmp:
        good = write(tmp, "good.folded", b"a;b 1\n")
        out = write(tmp, "out.html", b"old")
        assert "reads .folded and .otlp only" in convert(out, good, status=2)
        assert "two files" in convert(good, status=2)
        assert "no format has the ending" in convert(good, os.path.join(tmp, "x.png"), status=2)
        assert "No such file" in convert(os.path.join(tmp, "none.otlp"), out, status=1)
        bad = write(tmp, "bad.folded", b"a;b 1\na;b\n")
        assert f"{bad}:2: no whole number" in convert(bad, out, status=1)
        for i, data in enumerate((b"\xff" * 100, b"\x0a\x02\x0a\x00", b"")):
            bad = write(tmp, f"bad{i}.otlp", data)
            said = convert(bad, out, status=1)
            assert "is not an OTLP request" in said or "has no samples" in said, said
        big = write(tmp, "big.otlp", b"")
        os.truncate(big, (256 << 20) + 1)
        assert "too large" in convert(big, out, status=1)
        with open(out, "rb") as f:
            assert f.read() == b"old"
        assert sorted(os.listdir(tmp)) == sorted(["good.folded", "out.html", "bad.folded", "big.otlp"] +
                                                 [f"bad{i}.otlp" for i in range(3)])


def commands(source, other, out):
    """of both that read files of others: their arguments"""
    return (["convert", source, out], ["diff", source, other, "--output", out],
            ["diff", other, source, "--output", out])


@suite.test
def confined():
    """the process that reads FILE has a filter of its system calls, no capability, and is not root"""
    with scratch() as tmp:
        pipe, other = os.path.join(tmp, "x.folded"), write(tmp, "other.folded", b"a;b 1\n")
        os.mkfifo(pipe)
        for args in commands(pipe, other, os.path.join(tmp, "y.folded")):
            p = subprocess.Popen([TRIFOLD, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(pipe, "wb") as f:
                (pid,) = wait_for(lambda: children_of(p.pid))

                def status():
                    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as s:
                        return dict(line.rstrip("\n").split(":\t", 1) for line in s)
                wait_for(lambda: status()["Seccomp"] == "2")
                now = status()
                f.write(b"a;b 1\n")
            assert p.wait(60) == 0
            assert "0" not in now["Uid"].split() and now["NoNewPrivs"] == "1", now
            assert int(now["CapEff"], 16) == int(now["CapPrm"], 16) == 0, now


@suite.test
def of_the_caller():
    """under sudo both files are opened as who called it; a pipe that is there already is read"""
    caller = {**os.environ, "SUDO_UID": "12345", "SUDO_GID": "12345"}
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        mine, closed = os.path.join(tmp, "mine"), os.path.join(tmp, "closed")
        os.mkdir(mine)
        os.mkdir(closed)
        os.chown(mine, 12345, 12345)
        secret, source = write(closed, "a.folded", b"a;secret 1\n"), write(mine, "a.folded", b"a;b 1\n")
        os.chmod(closed, 0o755)
        os.chmod(secret, 0o600)
        os.chmod(source, 0o644)

        def run(args, **more):
            return subprocess.run([TRIFOLD, *args], env=caller, capture_output=True, text=True, timeout=120, **more)
        out = os.path.join(mine, "out.html")
        for args in commands(secret, source, out):
            r = run(args)
            assert r.returncode == 1 and "Permission denied" in r.stderr, r
        for args in commands(source, source, os.path.join(closed, "out.html")):
            r = run(args)
            assert r.returncode == 1 and "Permission denied" in r.stderr, r
        assert os.listdir(closed) == ["a.folded"] and os.listdir(mine) == ["a.folded"]
        for args in commands(source, source, out):
            r = run(args)
            assert r.returncode == 0, r
            st = os.stat(out)
            assert (st.st_uid, st.st_gid, st.st_mode & 0o777) == (12345, 12345, 0o600), st
            os.unlink(out)
        for path in ("-", "/dev/stdin", "/dev/fd/0"):
            for args in commands(path, source, out):
                r = run(args, input="a;b 1\n")
                assert r.returncode == 0, r


@suite.test
def a_long_command():
    """a command that is too long for the page ends with a whole character"""
    with scratch() as tmp:
        out = os.path.join(tmp, "x.html")
        for word in ("\u00e4" * 200, "x" + "\u00e4" * 200, "\U0001f600" * 100, "x" * 300):
            record(out, "--", "true", word, check=False)
            with open(out, encoding="utf-8") as f:
                command = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', f.read(), re.S)[1])["info"]["command"]
            assert f"true {word}".startswith(command) and 251 < len(command.encode()) < 256, command


@suite.test
def a_recording():
    """an .otlp recording in every format: the same stacks, times and threads"""
    with scratch() as tmp:
        exe = compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer")
        source = os.path.join(tmp, "x.otlp")
        said = record(source, "--frequency", "199", "--", "timeout", "2", exe, "60", check=False)
        n = int(re.search(r"x\.otlp: (\d+) samples", said)[1])
        for e in ENDINGS:
            said = convert(source, os.path.join(tmp, "y" + e))
            assert f"{n} samples" in said, said
        with open(os.path.join(tmp, "y.html"), encoding="utf-8") as f:
            assert '"frequency":199,' in f.read()
        stacks = folded(os.path.join(tmp, "y.folded"))
        say(f"{n} samples, {len(stacks)} stacks")
        assert sum(c for _, c in stacks) == n
        assert any(f[0] == "chain" and "main" in f and "chain_10" in f for f, _ in stacks)
        times = [ms for t in firefox_threads(os.path.join(tmp, "y.firefox.json")) for ms, _ in t.samples]
        assert len(times) == n and len(set(times)) > n / 2
        # once more: nothing else is lost
        convert(os.path.join(tmp, "y.otlp"), os.path.join(tmp, "z.folded"))
        assert sorted(folded(os.path.join(tmp, "z.folded"))) == sorted(stacks)
        # an ordinary user can do it, too
        os.chmod(source, 0o644)
        os.chmod(tmp, 0o777)
        convert(source, os.path.join(tmp, "nobody.html"),
                first=("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"))


suite.run()
