#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The configuration: what is refused and where, which source of a value wins,
and that reading it again loses nothing."""
import contextlib
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import time

from accounts import Watcher
from live import DAEMONS, ROOT, TRIFOLD, Suite, parent_of, pids_of, say, scratch, wait_for
from loads import drizzle, storm
from wire import below

suite = Suite()
SHIPPED = os.path.join(ROOT, "packaging", "trifold.conf")
PAGE = os.path.join(ROOT, "docs", "CONFIG.md")
# key: its variables, the first one wins; and a value for each source
PROFILES, GENERIC = "OTEL_EXPORTER_OTLP_PROFILES_", "OTEL_EXPORTER_OTLP_"
OTLP = {"endpoint": "ENDPOINT", "headers": "HEADERS", "timeout_ms": "TIMEOUT",
        "compression": "COMPRESSION", "ca": "CERTIFICATE",
        "client_certificate": "CLIENT_CERTIFICATE", "client_key": "CLIENT_KEY"}
FILE = {"headers_file": "TRIFOLD_EXPORTER_HEADERS_FILE", "names": "TRIFOLD_EXPORTER_NAMES",
        "guesses": "TRIFOLD_EXPORTER_GUESSES"}
OTHER = {"service_name": "OTEL_SERVICE_NAME", "attributes": "OTEL_RESOURCE_ATTRIBUTES",
         "only": "TRIFOLD_RESOURCE_ONLY"}
METRICS = {"exporter": "OTEL_METRICS_EXPORTER", "interval_ms": "OTEL_METRIC_EXPORT_INTERVAL"}


def clean_env(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
    return dict(env, **more)


def check(*args, env=None):
    r = subprocess.run([TRIFOLD, "check-config", *args], env=env or clean_env(),
                       capture_output=True, text=True, timeout=60)
    return r.returncode, r.stdout, r.stderr


def effective(path, env=None):
    """{key: (value, source)}"""
    status, out, err = check("--effective", path, env=env)
    assert status == 0, err
    return dict((m[0], m[1:]) for m in re.findall(r"^(\w+) = (.*)\t# (.*)$", out, re.M))


def write(path, text, mode=0o600):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


# --- the file ------------------------------------------------------------------

@suite.test
def shipped():
    """packaging/trifold.conf is the table of keys, and says the defaults"""
    status, out, _ = check("--defaults")
    with open(SHIPPED, encoding="utf-8") as f:
        assert status == 0 and out == f.read(), "trifold check-config --defaults > packaging/trifold.conf"
    plain = re.sub(r"^#(?=\w)", "", out, flags=re.M)
    keys = re.findall(r"^(\w+) =", plain, re.M)
    with scratch() as tmp:
        empty = effective(write(os.path.join(tmp, "empty"), ""))
        full = effective(write(os.path.join(tmp, "full"), plain))
    assert sorted(keys) == sorted(empty), (keys, empty)
    for k, (value, _) in empty.items():
        assert full[k][0] == value, (k, full[k], value)


@suite.test
def documented():
    """docs/CONFIG.md has a row for each key: default, option, variables"""
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    out = check("--defaults")[1]
    sections = re.split(r"^\[(\w+)\]$", out, flags=re.M)[1:]
    for section, body in zip(sections[::2], sections[1::2]):
        for note, key, default in re.findall(r"((?:^# .*\n)+)^#(\w+) = ?(.*)$", body, re.M):
            row = re.search(r"^\| `%s` \| `%s` \| (.*)$" % (section, key), page, re.M)
            assert row, f"no row of [{section}] {key}"
            cells = [c.strip() for c in row.group(1).split("|")]
            assert cells[0] == (f"`{default}`" if default else "none"), (key, cells)
            for word in re.findall(r"--[a-z-]+|OTEL_\w+", note.partition("# Overridden by")[2]):
                word = word.replace(GENERIC, "").replace("PROFILES_", "")
                assert f"`{word}`" in row.group(1), (key, word)


MISTAKES = """x = 1
[samplin]
whatever = 1
[sampling]
frequncy = 97
frequency = 97 # fast
interval = 10
interval = 11
budget = 3
[export]
endpoint = ftp://x
headers = secret
ca = foo.pem
client_key = /etc/passwd
nonsense
= 5
[resource
service_name = "x
""" + "endpoint = x\x01y\n"
SAID = {
    1: "write a [section] before", 2: "did you mean [sampling]?", 5: "did you mean frequency?",
    6: 'from 1 to 1000, not "97 # fast" (a comment needs a line of its own)',
    8: "set in line 7 already", 9: "budget belongs in [tables]", 11: "http://HOST:PORT",
    12: 'not "..."', 13: "full path", 14: "without client_certificate", 15: "key = value",
    16: "no key before", 17: "[name]", 18: "not closed", 19: "control character 0x01",
}


@suite.test
def mistakes():
    """every mistake is told with its line, and trifold run does not start"""
    with scratch() as tmp:
        path = write(os.path.join(tmp, "bad.conf"), MISTAKES)
        status, out, err = check(path)
        assert status == 2 and not out, (status, out)
        said = dict((int(n), t) for n, t in
                    re.findall(r"^%s:(\d+): (.*)$" % re.escape(path), err, re.M))
        assert sorted(said) == sorted(SAID), (sorted(said), sorted(SAID))
        for n, text in SAID.items():
            assert text in said[n], (n, said[n])
        assert "secret" not in err
        r = subprocess.run([TRIFOLD, "run", "--config", path, "--duration", "1"],
                           env=clean_env(), capture_output=True, text=True, timeout=60)
        assert r.returncode == 2 and f"{path}:5: [sampling] has no key frequncy" in r.stderr, r
        missing = os.path.join(tmp, "missing")
        for args in (["check-config", missing], ["run", "--config", missing, "--duration", "1"]):
            r = subprocess.run([TRIFOLD, *args], capture_output=True, text=True, timeout=60)
            assert r.returncode == 2 and "No such file" in r.stderr, r


@suite.test
def several_files():
    """files of /etc and /usr/lib, by name; check-config and run read them, --config its own alone"""
    script = """set -e
        mount -t tmpfs etc /etc
        mkdir -p /etc/trifold/trifold.conf.d $1/lib/trifold/trifold.conf.d $1/upper $1/work
        echo "[sampling]\nfrequency = 97" >/etc/trifold/trifold.conf
        echo "[tables]\nbudget = 20" >/etc/trifold/trifold.conf.d/20.conf
        echo "[tables]\nbudget = 10\nidle = 10" >$1/lib/trifold/trifold.conf.d/10.conf
        mount -t overlay -o lowerdir=$1/lib:/usr/lib lib /usr/lib
        "$2" check-config --effective
        "$2" check-config
        "$2" check-config /etc/trifold/trifold.conf.d/20.conf
        echo nonsense >/etc/trifold/trifold.conf.d/30.conf
        "$2" run --duration 1 || echo "status $?"
    """
    with scratch() as tmp:
        r = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", tmp, TRIFOLD], env=clean_env(),
                           capture_output=True, text=True, timeout=60)
    assert r.returncode == 0, r
    below_etc = "/etc/trifold/trifold.conf"
    for line in (f"frequency = 97\t# {below_etc}:2", f"budget = 20\t# {below_etc}.d/20.conf:2",
                 "idle = 10\t# /usr/lib/trifold/trifold.conf.d/10.conf:3"):
        assert line in r.stdout, (line, r.stdout)
    said = re.findall(r"^(/\S+): OK, (\d+) of", r.stdout, re.M)
    assert said == [(below_etc, "1"), ("/usr/lib/trifold/trifold.conf.d/10.conf", "1"),
                    (f"{below_etc}.d/20.conf", "1"), (f"{below_etc}.d/20.conf", "1")], said
    assert "status 2" in r.stdout and f"{below_etc}.d/30.conf:1: write" in r.stderr, r


@suite.test
def permissions():
    """a file that others than root may write is refused; a secret in the open is named"""
    with scratch() as tmp:
        path = os.path.join(tmp, "x.conf")
        for mode, owner, text in ((0o666, 0, "chmod go-w"), (0o620, 0, "chmod go-w"),
                                  (0o600, 12345, "chown root")):
            write(path, "[sampling]\n", mode)
            os.chown(path, owner, 0)
            for args in (["check-config", path], ["run", "--config", path, "--duration", "1"]):
                r = subprocess.run([TRIFOLD, *args], capture_output=True, text=True, timeout=60)
                assert r.returncode == 2 and text in r.stderr, (oct(mode), owner, r)
        os.chown(path, 0, 0)
        write(path, "[export]\nheaders = a=b\n", 0o644)
        status, _, err = check(path)
        assert status == 0 and f"{path}:2: warning: any user can read" in err, err
        os.chmod(path, 0o640)
        status, _, err = check(path)
        assert status == 0 and not err, err
        os.mkfifo(os.path.join(tmp, "fifo"), 0o600)
        for other in ("fifo", "."):
            assert check(os.path.join(tmp, other))[0] == 2


@suite.test
def sources():
    """for each key: variable of profiles, variable, file, default, in this order"""
    with scratch() as tmp:
        pem = {s: write(os.path.join(tmp, s), "") for s in ("file", "generic", "profiles")}

        def value(key, source):
            return {"endpoint": f"http://{source}:1", "headers": f"from={source}",
                    "timeout_ms": {"file": "1", "generic": "2", "profiles": "3"}[source],
                    "compression": "none", "names": "no", "guesses": "yes", "service_name": source, "exporter": "none",
                    "interval_ms": {"file": "1001", "generic": "1002"}.get(source),
                    "attributes": f"from={source}"}.get(key, pem[source])

        def shown(key, source):
            return "(hidden)" if key == "headers" else value(key, source)

        lines = ["[export]"] + [f"{k} = {value(k, 'file')}" for k in (*OTLP, *FILE)]
        lines += ["[resource]"] + [f"{k} = {value(k, 'file')}" for k in OTHER]
        lines += ["[metrics]"] + [f"{k} = {value(k, 'file')}" for k in METRICS]
        path = write(os.path.join(tmp, "x.conf"), "\n".join(lines) + "\n")
        got = effective(path)
        for key in (*OTLP, *FILE, *OTHER, *METRICS):
            n = [i for i, text in enumerate(lines, 1) if text.startswith(key + " ")][0]
            assert got[key] == (shown(key, "file"), f"{path}:{n}"), (key, got[key])
            name = {**FILE, **OTHER, **METRICS}.get(key) or GENERIC + OTLP[key]
            env = clean_env(**{name: value(key, "generic")})
            assert effective(path, env)[key] == (shown(key, "generic"), name)
            if key in OTLP:
                env[PROFILES + OTLP[key]] = value(key, "profiles")
                assert effective(path, env)[key] == (shown(key, "profiles"), PROFILES + OTLP[key])
            empty = clean_env(**{name: ""})
            assert effective(path, empty)[key][1] == f"{path}:{n}", "an empty variable is none"


# --- a trifold that runs ----------------------------------------------------------

class Receiver:
    def __init__(self, tmp, name, script="200"):
        self.dir = os.path.join(tmp, name)
        os.mkdir(self.dir)
        self.p = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/live/receiver.py"),
                                   "--dir", self.dir, "--script", script])
        wait_for(lambda: os.path.exists(os.path.join(self.dir, "port")))
        with open(os.path.join(self.dir, "port"), encoding="utf-8") as f:
            self.url = f"http://localhost:{f.read()}"

    def requests(self, signal_path="/v1development/profiles"):
        try:
            with open(os.path.join(self.dir, "requests.jsonl"), encoding="utf-8") as f:
                return [r for r in map(json.loads, f) if r["path"] == signal_path]
        except FileNotFoundError:
            return []

    def body(self, i):
        with open(os.path.join(self.dir, f"{i:03}.body"), "rb") as f:
            return f.read()

    def samples(self):
        """Of the requests that were accepted."""
        return [t for r in self.requests() if r["step"] == "200" for t in times(self.body(r["n"]))]

    def end(self):
        self.p.terminate()
        self.p.wait()


def times(data):
    """Time stamps in a request: resource_profiles, scope_profiles, profiles,
    samples, timestamps_unix_nano."""
    return [t for d in below(data, 1, 2, 2, 2, 5) for t in struct.unpack(f"<{len(d) // 8}Q", d)]


@contextlib.contextmanager
def receivers(tmp, **scripts):
    made = {name: Receiver(tmp, name, script) for name, script in scripts.items()}
    try:
        yield made
    finally:
        for r in made.values():
            r.end()


class Run:
    """trifold run on a configuration; .err is what it said, after end()."""

    def __init__(self, tmp, conf, *args, env=None):
        self.log = open(os.path.join(tmp, "err"), "w+", encoding="utf-8")
        self.p = subprocess.Popen([TRIFOLD, "run", "--config", conf, *args], env=env or clean_env(),
                                  cwd=tmp, stdout=subprocess.DEVNULL, stderr=self.log)

    def said(self):
        with open(self.log.name, encoding="utf-8") as f:
            return f.read()

    def daemons(self):
        """{name: pid}, without their own children."""
        found = {n: [p for p in pids_of(n) if parent_of(p) == self.p.pid] for n in DAEMONS}
        return {n: pids[0] for n, pids in found.items() if pids}

    def hup(self):
        n = self.said().count("Reloaded.") + self.said().count("stays as it was")
        self.p.send_signal(signal.SIGHUP)
        wait_for(lambda: self.said().count("Reloaded.") +
                 self.said().count("stays as it was") > n)

    def end(self):
        self.p.send_signal(signal.SIGINT)
        self.p.wait(timeout=60)
        err = self.said()
        self.log.close()
        assert self.p.returncode == 0, err
        assert re.search(r"\d+ samples?, .* lost", err) and "difference" not in err, err
        return err


def words(pid):
    """The command line of a process."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().decode().split("\0")
    return []


def one_run(tmp, conf, hears, *args, **env):
    """Run until `hears` has a request; returns it and its body."""
    before = len(hears.requests())
    run = Run(tmp, conf, *args, env=clean_env(**env))
    try:
        wait_for(lambda: len(hears.requests()) > before)
        argv = {name: words(pid) for name, pid in run.daemons().items()}
        if "trifold-viewer" in argv:
            argv["page"] = re.search(r"live page: http://127\.0\.0\.1:(\d+)/", run.said()).group(1)
        for name, w in argv.items():
            assert not any("hidden" in a for a in w), f"a secret is in the arguments of {name}"
    finally:
        run.end()
    r = hears.requests()[before]
    return dict(r["headers"]), hears.body(r["n"]), argv


@suite.test
def precedence():
    """a receiver sees: option over variable of profiles over variable over file"""
    with scratch() as tmp, receivers(tmp, a="200", b="200", c="200", d="200") as r, drizzle():
        path = write(os.path.join(tmp, "x.conf"), "\n".join((
            "[sampling]", "frequency = 47", "interval = 1", "[tables]", "budget = 64", "idle = 300",
            "[export]", "endpoint = " + r["a"].url, "headers = x-from=hidden-file",
            "compression = none", "timeout_ms = 7000",
            "[metrics]", "exporter = none", "[page]", "listen = 24328", "memory = 32", "keep = 600",
            "[resource]", "service_name = service-file", "attributes = at.tribute=value-file", "")))
        headers, body, argv = one_run(tmp, path, r["a"])
        assert headers["x-from"] == "hidden-file" and "Content-Encoding" not in headers, headers
        assert b"service-file" in body and b"value-file" in body
        loader, viewer = argv["trifold-loaderd"], argv["trifold-viewer"]
        for option, value in (("--frequency", "47"), ("--table-budget", "64"), ("--idle", "300")):
            assert f"{option}={value}" in loader, loader
        for option, value in (("--memory", "32"), ("--keep", "600")):
            assert f"{option}={value}" in viewer, viewer
        assert argv["page"] == "24328" and not r["a"].requests("/v1/metrics")

        generic = {GENERIC + "ENDPOINT": r["b"].url, GENERIC + "HEADERS": "x-from=hidden-generic",
                   GENERIC + "COMPRESSION": "gzip", "OTEL_SERVICE_NAME": "service-env",
                   "OTEL_RESOURCE_ATTRIBUTES": "at.tribute=value-env", "OTEL_METRICS_EXPORTER": "otlp"}
        headers, body, argv = one_run(tmp, path, r["b"], "--frequency", "53", "--listen", "24329",
                                      **generic)
        assert r["b"].requests("/v1/metrics")
        assert headers["x-from"] == "hidden-generic" and headers["Content-Encoding"] == "gzip", headers
        assert b"service-env" in body and b"value-env" in body
        loader = argv["trifold-loaderd"]
        assert "--frequency=53" in loader and argv["page"] == "24329", argv

        profiles = {PROFILES + "ENDPOINT": r["c"].url + "/v1development/profiles",
                    PROFILES + "HEADERS": "x-from=hidden-profiles", PROFILES + "COMPRESSION": "none"}
        headers, _, _ = one_run(tmp, path, r["c"], **generic, **profiles)
        assert headers["x-from"] == "hidden-profiles" and "Content-Encoding" not in headers, headers

        headers, _, argv = one_run(tmp, path, r["d"], "--endpoint", r["d"].url, "--no-page",
                                   **generic, **profiles)
        assert headers["x-from"] == "hidden-profiles" and "trifold-viewer" not in argv, argv
        assert len({len(x.requests()) == 0 for x in r.values()}) == 1
        say({name: len(x.requests()) for name, x in r.items()})


def conf_text(endpoint, frequency=97, more=""):
    return f"[sampling]\nfrequency = {frequency}\ninterval = 1\n[export]\nendpoint = {endpoint}\n{more}"


def account(w):
    w.done = True
    w.join(6)
    a = w.last
    say(f"taken {a.taken()}, delivered {a.delivered()}, lost {a.lost()}")
    assert not w.errors, w.errors
    assert a.missing() == 0 and not a.lost(), f"missing {a.missing()}, lost {a.lost()}"
    return a


@suite.test
def reload():
    """under load: another endpoint and frequency; every sample is at one of the two receivers"""
    with scratch() as tmp, receivers(tmp, a="200", b="200") as r, storm():
        w = Watcher()
        path = write(os.path.join(tmp, "x.conf"), conf_text(r["a"].url))
        run = Run(tmp, path)
        try:
            wait_for(lambda: len(r["a"].requests()) >= 2)
            before = run.daemons()

            # a mistake: nothing changes
            write(path, conf_text(r["b"].url, more="frequency = 1\n"))
            run.hup()
            assert f"{path}:6: frequency belongs in [sampling]" in run.said(), run.said()
            n = len(r["a"].requests())
            wait_for(lambda: len(r["a"].requests()) >= n + 2)
            assert not r["b"].requests() and before == run.daemons()

            write(path, conf_text(r["b"].url))
            run.hup()
            wait_for(lambda: len(r["b"].requests()) >= 2)
            n = len(r["a"].requests())
            now = run.daemons()
            assert {n for n in DAEMONS if now.get(n) != before.get(n)} == {"trifold-exporterd"}, (before, now)

            write(path, conf_text(r["b"].url, 53).replace("interval = 1", "interval = 2"))
            run.hup()
            assert "interval of [sampling] is \"2\" at the next start" in run.said(), run.said()
            assert "Reloaded. interval takes effect at the next start." in run.said(), run.said()
            wait_for(lambda: "--frequency=53" in words(run.daemons().get("trifold-loaderd")))
            at = len(r["b"].requests())
            wait_for(lambda: len(r["b"].requests()) >= at + 3)
            assert len(r["a"].requests()) == n, "A is still sent to"
        finally:
            err = run.end()
        a = account(w)
        got = {name: x.samples() for name, x in r.items()}
        at = sorted(sum(got.values(), []))
        pause = max(b - a for a, b in zip(at, at[1:])) / 1e6
        say(f"received: { {name: len(x) for name, x in got.items()} }; "
            f"{pause:.0f} ms without a sample, when loaderd was replaced")
        assert len(at) == a.delivered(), "twice, or not at all"
        assert pause < 20000
        assert "killed" not in err and "does not end" not in err, err


@suite.test
def reload_rescues():
    """away from a receiver that takes nothing: what waited for it goes to the other"""
    with scratch() as tmp, receivers(tmp, a="503", b="200") as r, drizzle():
        w = Watcher()
        path = write(os.path.join(tmp, "x.conf"), conf_text(r["a"].url))
        run = Run(tmp, path)
        try:
            wait_for(lambda: len(r["a"].requests()) >= 3)
            write(path, conf_text(r["b"].url))
            run.hup()
            wait_for(lambda: len(r["b"].requests()) >= 5)
        finally:
            run.end()
        a = account(w)
        assert len(r["b"].samples()) == a.delivered()


@suite.test
def more_receivers():
    """sections of a name are receivers of their own, at the start and by a reload"""
    with scratch() as tmp, receivers(tmp, a="200", b="200", c="200") as r, drizzle():
        w = Watcher()
        second = f'[export "second"]\nendpoint = {r["b"].url}\nheaders = x-from=hidden-b\n'
        path = write(os.path.join(tmp, "x.conf"), conf_text(r["a"].url, more="headers = x-from=hidden-a\n" + second))
        assert effective(path)["endpoint"] == (r["b"].url, f"{path}:8")
        run = Run(tmp, path)
        try:
            wait_for(lambda: r["a"].requests() and len(r["b"].requests()) >= 2)
            write(path, conf_text(r["a"].url, more=f'[export "third"]\nendpoint = {r["c"].url}\ncompression = none\n'))
            run.hup()
            for said in ('[export "second"] is gone now', '[export "third"] is there now'):
                assert said in run.said(), run.said()
            wait_for(lambda: len(r["c"].requests()) >= 2)
        finally:
            run.end()
        account(w)
        for name in "abc":
            got = {dict(q["headers"]).get("x-from") for q in r[name].requests()}
            assert got == {"a": {"hidden-a", None}, "b": {"hidden-b"}, "c": {None}}[name], (name, got)
        assert {dict(q["headers"]).get("Content-Encoding") for q in r["c"].requests()} == {None}


@contextlib.contextmanager
def on_terminal(tmp, *args, nohup=False):
    """trifold on a pseudo-terminal of its own: (pid, hears, close), hears(text): was it said?"""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(tmp)
        signal.signal(signal.SIGHUP, signal.SIG_IGN if nohup else signal.SIG_DFL)
        os.execve(TRIFOLD, [TRIFOLD, *args], clean_env())
    said = b""
    os.set_blocking(master, False)

    def hears(text):
        nonlocal said
        with contextlib.suppress(BlockingIOError):
            said += os.read(master, 65536)
        return text in said

    def close():
        nonlocal master
        if master >= 0:
            os.close(master)
        master = -1
    try:
        yield pid, hears, close
    finally:
        close()


def has_ended(pid):
    return os.waitpid(pid, os.WNOHANG) != (0, 0)


def ends(pid):
    try:
        wait_for(lambda: has_ended(pid))
    except AssertionError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


@suite.test
def terminal():
    """SIGHUP by a user reads again; the end of its terminal ends trifold"""
    with scratch() as tmp:
        path = write(os.path.join(tmp, "x.conf"), "")
        with on_terminal(tmp, "run", "--config", path) as (pid, hears, close):
            wait_for(lambda: hears(b"until Ctrl-C"))
            os.kill(pid, signal.SIGHUP)
            wait_for(lambda: hears(b"Reloaded."))
            time.sleep(0.5)
            assert not has_ended(pid)
            close()
            ends(pid)
        assert os.path.exists(os.path.join(tmp, "trifold.html"))


@suite.test
def nohup():
    """started by nohup, trifold outlives its terminal; run still reads again"""
    with scratch() as tmp:
        path = write(os.path.join(tmp, "x.conf"), "")
        for args in (("run", "--config", path), ("record", "--duration", "60")):
            with on_terminal(tmp, *args, nohup=True) as (pid, hears, close):
                wait_for(lambda: hears(b" samples"))
                if args[0] == "run":
                    os.kill(pid, signal.SIGHUP)
                    wait_for(lambda: hears(b"Reloaded."))
                close()
                time.sleep(1)
                alive = not has_ended(pid)
                if alive:
                    os.kill(pid, signal.SIGINT)
                    ends(pid)
                assert alive, f"trifold {args[0]} ended with its terminal"
            os.unlink(os.path.join(tmp, "trifold.html"))


suite.run()
