#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Members of a group read a trifold that runs as systemd's units have it; others do
not, and readers do not keep root out.  Hub and loaderd are started here, with sockets
as trifold-status.socket and its like make them."""
import contextlib
import json
import os
import socket
import subprocess

from live import TRIFOLD, Suite, ends_with_us, say, scratch, wait_for
from units import GROUP, MEMBER, OTHER, RUN, SECOND, close, hub, listening, loaderd

suite = Suite()


@contextlib.contextmanager
def running(*more):
    sockets, started = listening(), []
    try:
        started += [hub(sockets, *more), loaderd()]
        wait_for(lambda: status(0)[0] == 0 and json.loads(status(0, "--json")[1])["loaderd_up"])
        yield
    finally:
        for p in reversed(started):
            p.terminate()
            p.wait(30)
        close(sockets)


@contextlib.contextmanager
def busy():
    """A recording of an idle machine is empty, and top fails: "0 samples in 0.0 s at 0 Hz"."""
    p = subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"], preexec_fn=ends_with_us)
    try:
        yield
    finally:
        p.kill()
        p.wait()


def as_user(uid, *command, groups=(), **more):
    """(status, standard output, standard error)"""
    if uid:
        command = ["setpriv", f"--reuid={uid}", f"--regid={uid}",
                   f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups",
                   "--inh-caps=-all", *command]
    r = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
    return r.returncode, r.stdout, r.stderr


def status(uid, *more, groups=()):
    return as_user(uid, TRIFOLD, "status", *more, groups=groups)


def reader(uid=MEMBER):
    """A connection of the member's, which says nothing."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.setegid(GROUP)
    os.seteuid(uid)
    try:
        s.connect(f"{RUN}/status.sock")
    finally:
        os.seteuid(0)
        os.setegid(0)
    return s


def lives(s):
    """The hub has not closed it."""
    s.settimeout(2)
    try:
        return len(s.recv(65536)) > 0
    except (ConnectionResetError, TimeoutError, socket.timeout):
        return False


@suite.test
def member():
    """a member of the group reads status, top and a recording, without root"""
    with running("--readers"), scratch() as tmp, busy():
        os.chmod(tmp, 0o777)
        code, out, err = status(MEMBER, "--json", groups=[GROUP])
        assert code == 0, err
        assert json.loads(out)["loaderd_up"], out
        code, out, err = as_user(MEMBER, TRIFOLD, "top", "--once", "--duration", "3", groups=[GROUP])
        say(out.splitlines()[0] if out else err)
        assert code == 0 and "samples in" in out, (out, err)
        path = f"{tmp}/out.folded"
        code, out, err = as_user(MEMBER, TRIFOLD, "record", "--duration", "2", "--output", path,
                                 groups=[GROUP], cwd=tmp)
        say(err)
        assert code == 0, err
        st = os.stat(path)
        assert st.st_uid == MEMBER and st.st_mode & 0o777 == 0o600 and st.st_size


@suite.test
def nobody_else():
    """a user outside the group reads nothing, and is told which group may"""
    with running("--readers"):
        for command in (["status"], ["top", "--once"]):
            code, out, err = as_user(OTHER, TRIFOLD, *command)
            assert code == 1 and not out and "group trifold" in err, (command, out, err)


@suite.test
def not_without():
    """without --readers the hub refuses a member, too"""
    with running():
        code, out, _ = status(MEMBER, groups=[GROUP])
        assert code == 1 and not out
        assert status(0)[0] == 0


def command_of(uid, *command, **more):
    """Started, and in the group."""
    return subprocess.Popen(["setpriv", f"--reuid={uid}", f"--regid={uid}", f"--groups={GROUP}", "--inh-caps=-all",
                             TRIFOLD, *command], preexec_fn=ends_with_us, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


@suite.test
def members_share():
    """a member with all connections that one may have does not keep another member out"""
    with running("--readers"), scratch() as tmp, busy(), contextlib.ExitStack() as ends:
        os.chmod(tmp, 0o777)
        for i in range(2):	# both that may have batches at a time
            p = command_of(MEMBER, "record", "--duration", "600", "--output", f"{tmp}/{i}.folded", cwd=tmp)
            ends.callback(lambda p=p: (p.kill(), p.wait()))
        held = []	# and all other places
        wait_for(lambda: held.append(reader()) or not lives(held[-1]))
        say(f"the first member has {len(held) - 1} connections beside two recordings")
        for command in (["status"], ["top", "--once", "--duration", "3"]):
            code, out, err = as_user(SECOND, TRIFOLD, *command, groups=[GROUP])
            assert code == 0 and out, (command, out, err)
        code, _, err = status(0)
        assert code == 0, err
        for s in held:
            s.close()


@suite.test
def root_stays():
    """a member who takes all places, sends rubbish or reads nothing keeps no other out"""
    with running("--readers"), busy():
        held = [reader() for _ in range(20)]
        alive = [s for s in held if lives(s)]
        say(f"{len(alive)} of {len(held)} connections of a member stay")
        assert len(alive) == 4
        code, _, err = status(0)
        assert code == 0, err
        for s in alive[:2]:	# not in the protocol: its connection ends
            s.send(b"\xff" * 64)
            wait_for(lambda s=s: not lives(s))
        code, _, err = status(MEMBER, groups=[GROUP])
        assert code == 0, err
        code, out, err = as_user(0, TRIFOLD, "top", "--once", "--duration", "2")
        assert code == 0 and "samples in" in out, (out, err)
        for s in held:
            s.close()


suite.run()
