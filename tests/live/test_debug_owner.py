#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary user in a mount namespace of his own decides what lies below
/usr/lib/debug there, and by which path he runs a program of root's.  He must
neither name root's functions and files nor have a file opened that he could not
read himself."""
import ctypes
import os
import re
import subprocess

from live import ROOT, Suite, folded, record, say, scratch

suite = Suite()
USER = 12345
DEBUG = "/usr/lib/debug"
BUILD_ID = "deadbeef000102030405060708090a0b0c0d0e0f"
IN_OPEN = 0x20
libc = ctypes.CDLL(None, use_errno=True)


def build(tmp, name, prefix):
    """chain.c with its functions called prefix_1 ..., and BUILD_ID: path."""
    with open(os.path.join(ROOT, "tests", "live", "chain.c"), encoding="utf-8") as f:
        text = f.read()
    source = os.path.join(tmp, name + ".c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(re.sub(r"\bchain_", prefix + "_", text))
    exe = os.path.join(tmp, name)
    subprocess.run(["gcc", "-O2", "-g", "-fomit-frame-pointer", "-o", exe, source,
                    f"-Wl,--build-id=0x{BUILD_ID}"], check=True)
    return exe


def debug_file(exe, out):
    subprocess.run(["objcopy", "--only-keep-debug", exe, out], check=True)
    os.chmod(out, 0o644)


def as_user(script):
    """A shell script as USER, root in a user and mount namespace of his own."""
    return subprocess.Popen(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
                             "unshare", "-Urm", "sh", "-ec", script])


def with_debug(what, exe):
    """Where `what` is a command that makes the debug file $F, run exe."""
    where = f"{DEBUG}/.build-id/{BUILD_ID[:2]}"
    return (f"mount -t tmpfs none {DEBUG}; mkdir -p {where}; F={where}/{BUILD_ID[2:]}.debug; "
            f"{what}; exec {exe} 6")


class Opens:
    """Counts how often a file is opened (an O_PATH open is none)."""

    def __init__(self, path):
        self.fd = libc.inotify_init1(os.O_NONBLOCK)
        assert libc.inotify_add_watch(self.fd, path.encode(), IN_OPEN) >= 0

    def seen(self):
        try:
            return len(os.read(self.fd, 4096)) // 16
        except BlockingIOError:
            return 0
        finally:
            os.close(self.fd)


def profile(tmp, name):
    out = os.path.join(tmp, name + ".folded")
    record(out, "--duration", "4", "--frequency", "499")
    return [f for f, n in folded(out) for _ in range(n)]


def hurt(stacks, what):
    return sum(any(what in frame for frame in s) for s in stacks)


@suite.test
def names():
    """his debug file names nothing of a program of root's, nowhere"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        exe = build(tmp, "victim", "chain")
        forged = os.path.join(tmp, "forged.debug")
        debug_file(build(tmp, "forger", "evil"), forged)
        subprocess.run(["strip", "-s", exe], check=True)
        with as_user(with_debug(f"cp {forged} $F", exe)) as his, \
                subprocess.Popen([exe, "6"]) as roots:
            stacks = profile(tmp, "names")
            his.wait()
            roots.wait()
        mine = [s for s in stacks if s[0] == "victim"]
        say(f"{len(mine)} samples, {hurt(mine, 'evil_')} with a name of his")
        assert len(mine) > 100 and not hurt(stacks, "evil_")


@suite.test
def own_names():
    """his debug file does name a program of his own"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        exe = build(tmp, "his", "chain")
        debug = os.path.join(tmp, "his.debug")
        debug_file(exe, debug)
        subprocess.run(["strip", "-s", exe], check=True)
        os.chown(exe, USER, USER)
        with as_user(with_debug(f"cp {debug} $F", exe)) as his:
            stacks = profile(tmp, "own")
            his.wait()
        mine = [s for s in stacks if s[0] == "his"]
        say(f"{len(mine)} samples, {hurt(mine, 'chain_10')} with names")
        assert len(mine) > 100 and hurt(mine, "chain_10") > 0.8 * len(mine)


def by_path(exe, path):
    """Run exe as a path of his own below DEBUG."""
    return f"mount -t tmpfs none {DEBUG}; touch {path}; mount --bind {exe} {path}; exec {path} 10"


@suite.test
def paths():
    """the path by which he runs root's program is not shown when root runs it after him"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        exe = build(tmp, "victim", "chain")
        subprocess.run(["strip", "-s", exe], check=True)
        with as_user(by_path(exe, f"{DEBUG}/evil")) as his, \
                subprocess.Popen(["sh", "-c", f"sleep 5; exec {exe} 6"]) as roots:
            out = os.path.join(tmp, "paths.folded")
            record(out, "--duration", "10", "--frequency", "499")
            his.wait()
            roots.wait()
        stacks = [f for f, n in folded(out) for _ in range(n)]
        mine = [s for s in stacks if s[0] == "victim"]
        say(f"{len(mine)} samples of root's, {hurt(mine, 'victim!')} with its path, "
            f"{hurt(mine, 'evil')} with his; {hurt(stacks, 'evil')} in all")
        assert len(mine) > 100 and hurt(mine, "victim!") > 0.9 * len(mine)
        assert not hurt(mine, "evil")


@suite.test
def own_paths():
    """what only he has is shown by his path"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        exe = build(tmp, "his", "chain")
        subprocess.run(["strip", "-s", exe], check=True)
        os.chown(exe, USER, USER)
        with as_user(by_path(exe, f"{DEBUG}/own")) as his:
            stacks = profile(tmp, "own_paths")
            his.wait()
        mine = [s for s in stacks if s[0] == "own"]
        say(f"{len(mine)} samples, {hurt(mine, 'own!')} with his path")
        assert len(mine) > 100 and hurt(mine, "own!") > 0.9 * len(mine)


def opened(tmp, secret, make):
    exe = build(tmp, "his", "chain")
    subprocess.run(["strip", "-s", exe], check=True)
    os.chown(exe, USER, USER)
    watch = Opens(secret)
    with as_user(with_debug(make, exe)) as his:
        mine = [s for s in profile(tmp, "opened") if s[0] == "his"]
        his.wait()
    n = watch.seen()
    say(f"{len(mine)} samples, {n} opens")
    assert len(mine) > 100
    return n


@suite.test
def secrets():
    """a file that he may not read is not opened as his debug file"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        secret = os.path.join(tmp, "secret")
        debug_file(build(tmp, "any", "chain"), secret)
        os.chmod(secret, 0o640)
        assert opened(tmp, secret, f"touch $F; mount --bind {secret} $F") == 0


@suite.test
def locked():
    """nor one that he may read, in a folder that he may not enter"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        room = os.path.join(tmp, "room")
        os.mkdir(room, 0o700)
        secret = os.path.join(room, "secret")
        debug_file(build(tmp, "any", "chain"), secret)
        assert opened(tmp, secret, f"ln -s {secret} $F") == 0


@suite.test
def devices():
    """a device under that name is not opened"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        device = os.path.join(tmp, "device")
        os.mknod(device, 0o20666, os.makedev(1, 3))
        assert opened(tmp, device, f"touch $F; mount --bind {device} $F") == 0


@suite.test
def readable():
    """the watch itself works: a file that everybody may read is opened"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        plain = os.path.join(tmp, "plain")
        debug_file(build(tmp, "any", "chain"), plain)
        assert opened(tmp, plain, f"touch $F; mount --bind {plain} $F") > 0


os.makedirs(DEBUG, exist_ok=True)  # to mount on, as in other tests
suite.run()
