# SPDX-License-Identifier: Apache-2.0
"""What the cases of test_exporter*.sh have in common: the program between a hub
and receivers that are played.  The first argument is the build directory, more
are the names of cases."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import socket
import sys
import tempfile
import time

from fake_hub import Done, Hub, Recorder
import otlp_decoder
from live import Skip, tap, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
ROOT = os.getuid() == 0
NOBODY = 65534


def make_batch(events=20, processes=2, stacks=4, depth=10, name=10, span=100):
    # of a short time: after a failure batches come with gaps of up to that
    return subprocess.run([f"{BUILD}/live/make_batch", *map(str, (events, processes, stacks,
                                                                  depth, name, span))],
                          stdout=subprocess.PIPE, check=True).stdout


BATCH = make_batch()


@contextlib.contextmanager
def directory(name, mount=None):
    """A directory of exporterd's user, of this name; mount: a tmpfs with these options."""
    top = tempfile.mkdtemp(prefix=f"trifold-{name}-")
    os.chmod(top, 0o755)
    path = f"{top}/{name}"
    os.mkdir(path, 0o700)
    if mount and not ROOT:
        raise Skip("mounts need root")
    try:
        if mount:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=700,{mount}", "none", path],
                           check=True)
        if ROOT:
            os.chown(path, NOBODY, NOBODY)
        yield path
    finally:
        if mount:
            subprocess.run(["umount", path], check=False)
        shutil.rmtree(top)


class Receiver:
    """receiver.py, which keeps in its directory what comes."""

    def __init__(self, where, script="200", port=0, tls=None):
        self.dir = where
        args = [sys.executable, f"{HERE}/receiver.py", "--dir", where, "--script", script,
                "--port", str(port)]
        if tls:
            args += ["--tls", *tls]
        if os.path.exists(f"{where}/port"):
            os.unlink(f"{where}/port")
        self.proc = subprocess.Popen(args, stdin=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(f"{where}/port"))
        with open(f"{where}/port") as f:
            self.port = int(f.read())

    def requests(self):
        return requests_in(self.dir)


def requests_in(where):
    try:
        with open(f"{where}/requests.jsonl") as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


class Stage:
    """A hub, a receiver and exporterd between them."""

    def __init__(self, script="200", options=(), env=None, receiver=True, recorder=False,
                 hub_uid=None, tls=None, port=1, scheme="http", host="localhost", confined=True, first=True,
                 other=None):
        self.tmp = tempfile.TemporaryDirectory(prefix="trifold-test-")
        self.dir = self.tmp.name
        os.chmod(self.dir, 0o755)
        self.script, self.tls = script, tls
        self.procs = []
        os.mkdir(f"{self.dir}/hub")
        self.hub = Hub(f"{self.dir}/hub/export")
        self.recorder = Recorder() if recorder else None
        self.port = port
        if receiver:
            self.start_receiver()
        if other:       # of another_receiver(), which is to be there first
            self.another_receiver(*other)
        args = [f"{BUILD}/bin/trifold-exporterd", "--hub", self.hub.path, "--hub-uid",
                str(os.getuid() if hub_uid is None else hub_uid)]
        if "--no-network" not in options and first:
            args += ["--endpoint", f"{scheme}://{host}:{self.port}"]
        if ROOT and confined:
            args += ["--uid", str(NOBODY), "--gid", str(NOBODY)]
        fds = ()
        if recorder:
            fds = (self.recorder.theirs.fileno(),)
            args += ["--recorder-fd", str(fds[0])]
        # metrics are the business of exporter_metrics_cases.py
        clean = {"PATH": "/usr/bin:/bin", "OTEL_METRICS_EXPORTER": "none", **(env or {})}
        self.err = open(f"{self.dir}/log", "w+")
        self.how = dict(args=args + list(options), env=clean, pass_fds=fds,
                        stdin=subprocess.DEVNULL, stderr=self.err)
        self.run()
        if recorder:
            self.recorder.theirs.close()

    def run(self):
        """Starts exporterd, or another after it."""
        self.exporter = subprocess.Popen(**self.how)

    def kill(self):
        """kill -9, and the hub's end of its connection goes with it."""
        self.exporter.kill()
        self.exporter.wait()
        self.hub.drop()

    def start_receiver(self, port=0):
        self.receiver = Receiver(self.dir, self.script, port, self.tls)
        self.procs.append(self.receiver.proc)
        self.port = self.receiver.port

    def another_receiver(self, name, script="200", port=0, tls=None):
        os.makedirs(f"{self.dir}/{name}", exist_ok=True)
        r = Receiver(f"{self.dir}/{name}", script, port, tls)
        self.procs.append(r.proc)
        return r

    def requests(self):
        return requests_in(self.dir)

    def rests(self):
        """exporterd has done what it can for now: it sleeps, and goes on doing so, though others may have the CPU."""
        with open(f"/proc/{self.exporter.pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] == "S"

    def settle(self):
        """It has taken what was sent before."""
        quiet = 0
        while quiet < 6:
            assert self.exporter.poll() is None, self.log()
            quiet = quiet + 1 if self.rests() else 0
            time.sleep(0.05)

    def log(self):
        self.err.flush()
        with open(f"{self.dir}/log") as f:
            return f.read()

    def stop(self, seconds=60):
        """SIGTERM; returns how long it took to end, which it must do well."""
        start = time.time()
        self.exporter.send_signal(signal.SIGTERM)
        rc = self.exporter.wait(seconds)
        assert rc == 0, f"ended with {rc}"
        return time.time() - start

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        rc = self.exporter.poll()
        if rc is None:
            self.exporter.kill()
            self.exporter.wait()
        for p in self.procs:
            p.kill()
            p.wait()
        self.hub.go()
        if self.recorder:
            self.recorder.close()
        log = self.log()
        self.err.close()
        self.tmp.cleanup()
        if kind and kind is not Skip:
            print("# " + log.replace("\n", "\n# "))
        if rc and rc < 0 and not kind:
            raise AssertionError(f"exporterd was killed by signal {-rc}\n{log}")


def equal(got, want):
    assert got == want, f"got {got}, want {want}"


def outcomes(stage, script_outcomes, samples=20):
    """Send as many batches as there are outcomes, one after the other."""
    equal(stage.hub.accept(), (0, {}))
    for want in script_outcomes:
        ident = stage.hub.batch(BATCH, samples)
        equal(stage.hub.done(), Done(ident, samples, want))


CASES = []


def case(fn):
    CASES.append(fn)
    return fn


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def decoder():
    python, why = otlp_decoder.decoder()
    if why:
        raise Skip(why)
    return python


def check_events(stage, numbers, events, attributes=None):
    """Those requests keep every rule, have so many events together, and these
    attributes in every resource."""
    want = [x for k, v in (attributes or {}).items() for x in ("--attribute", f"{k}={v}")]
    r = subprocess.run([decoder(), f"{HERE}/otlp_check.py", *want,
                        *(f"{stage.dir}/{n:03}.body" for n in numbers)],
                       capture_output=True, text=True)
    print("# " + r.stdout.strip().replace("\n", "\n# "))
    equal(r.returncode, 0)
    assert f" events={events} " in r.stdout, "events"
    return r.stdout


def main():
    tap([(c.__name__, c) for c in CASES if len(sys.argv) < 3 or c.__name__ in sys.argv[2:]])
