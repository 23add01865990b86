#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary user in a mount namespace decides what lies below /usr/lib/debug there,
and by which path a program of root's runs.  That must neither name root's functions
and files nor have a file opened that the user may not read."""
import ctypes
import os
import re
import subprocess

from accounts import until_known
from chance import least
from debug import DEBUG, USER, as_user, make_debug_folder, new_build_id
from live import ROOT, burns, ends_with_us, folded, leaving_nothing, say, scratch
from rows import Rows
from targets import recording, running

rows = Rows({"folded": [".folded"]}, seconds=4, hz=997)
LIFE = "600"		# s, if it is not ended
IN_OPEN = 0x20
libc = ctypes.CDLL(None, use_errno=True)


def build(tmp, name, prefix, build_id):
    """chain.c with its functions called prefix_1 ..., and that build ID: path."""
    with open(os.path.join(ROOT, "tests", "live", "chain.c"), encoding="utf-8") as f:
        text = f.read()
    source = os.path.join(tmp, name + ".c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(re.sub(r"\bchain_", prefix + "_", text))
    exe = os.path.join(tmp, name)
    subprocess.run(["gcc", "-O2", "-g", "-fomit-frame-pointer", "-o", exe, source,
                    f"-Wl,--build-id=0x{build_id}"], check=True)
    return exe


def build_stripped(tmp, name, build_id, owner=0):
    exe = build(tmp, name, "chain", build_id)
    subprocess.run(["strip", "-s", exe], check=True)
    os.chown(exe, owner, owner)
    return exe


def debug_file(exe, out):
    subprocess.run(["objcopy", "--only-keep-debug", exe, out], check=True)
    os.chmod(out, 0o644)


def with_debug(what, exe, build_id):
    """Where `what` is a command that makes the debug file $F, run exe."""
    where = f"{DEBUG}/.build-id/{build_id[:2]}"
    return as_user(f"mount -t tmpfs none {DEBUG}; mkdir -p {where}; F={where}/{build_id[2:]}.debug; "
                   f"{what}; exec {exe} {LIFE}")


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


def flat(stacks):
    return [f for f, n in stacks for _ in range(n)]


def hurt(stacks, what):
    return sum(any(what in frame for frame in s) for s in stacks)


def of(t, name):
    return [s for s in flat(t.folded("folded")) if s[0] == name]


@rows.test
def names(t):
    """the user's debug file names nothing of a program of root's, nowhere"""
    ident = new_build_id()
    forged = t.path("forged.debug")
    debug_file(build(t.tmp, "forger", "evil", ident), forged)
    exe = build_stripped(t.tmp, "victim", ident)
    t.start(*with_debug(f"cp {forged} $F", exe, ident))
    t.start(exe, LIFE)
    yield
    mine = of(t, "victim")
    named = hurt(flat(t.folded("folded")), "evil_")
    say(f"{len(mine)} samples, {named} with a name of the user's")
    assert len(mine) > 100 and not named


@rows.test
def media(t):
    """nor does one that belongs to root on media that somebody brought: those are mounted nosuid"""
    ident, at = new_build_id(), t.path("media")
    os.mkdir(at)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "nosuid,nodev,mode=755", "none", at], check=True)
    where = f"{at}/.build-id/{ident[:2]}"
    os.makedirs(where)
    debug_file(build(t.tmp, "bringer", "evil", ident), f"{where}/{ident[2:]}.debug")
    exe = build_stripped(t.tmp, "brought", ident)
    t.start(*as_user(f"mount --bind {at} {DEBUG}; exec {exe} {LIFE}"))
    t.start(exe, LIFE)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", at], check=True)
    mine = of(t, "brought")
    named = hurt(flat(t.folded("folded")), "evil_")
    say(f"{len(mine)} samples, {named} with a name of the media's")
    assert len(mine) > 100 and not named


@rows.test
def own_names(t):
    """the user's debug file does name a program of the user's"""
    ident = new_build_id()
    debug = t.path("own.debug")
    debug_file(build(t.tmp, "own-whole", "chain", ident), debug)
    t.start(*with_debug(f"cp {debug} $F", build_stripped(t.tmp, "own-names", ident, USER), ident))
    yield
    mine = of(t, "own-names")
    say(f"{len(mine)} samples, {hurt(mine, 'chain_10')} with names")
    assert len(mine) > 100 and hurt(mine, "chain_10") >= least(0.8, len(mine))


def by_path(exe, path):
    """Run exe as a path of the user's own below DEBUG."""
    return as_user(f"mount -t tmpfs none {DEBUG}; touch {path}; mount --bind {exe} {path}; exec {path} {LIFE}")


@rows.test
def paths(_t):
    """the path by which the user runs root's program is not shown when root runs it later"""
    yield
    leaving_nothing(later)


def later():
    """root runs it while a recording knows it by the other path"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        exe = build_stripped(tmp, "victim", new_build_id())
        out = os.path.join(tmp, "paths.folded")
        with running(*by_path(exe, f"{DEBUG}/evil"), before=ends_with_us) as other, \
                recording(out, "--duration", "600", "--frequency", "499"):
            burns(2, other.pid)
            until_known()
            with running(exe, LIFE, before=ends_with_us) as roots:
                burns(2, roots.pid)
        stacks = flat(folded(out))
        mine = [s for s in stacks if s[0] == "victim"]
        say(f"{len(mine)} samples of root's, {hurt(mine, 'victim!')} with its path, "
            f"{hurt(mine, 'evil')} with the user's; {hurt(stacks, 'evil')} in all")
        assert len(mine) > 100 and hurt(mine, "victim!") >= least(0.9, len(mine))
        assert not hurt(mine, "evil")


@rows.test
def own_paths(t):
    """what only the user has is shown by the user's path"""
    t.start(*by_path(build_stripped(t.tmp, "of-user", new_build_id(), USER), f"{DEBUG}/own"))
    yield
    mine = of(t, "own")
    say(f"{len(mine)} samples, {hurt(mine, 'own!')} with the user's path")
    assert len(mine) > 100 and hurt(mine, "own!") >= least(0.9, len(mine))


def opened(t, name, secret, make, ident):
    """A row that yields: how often that file is opened while its program runs, whose debug file `make` makes."""
    exe = build_stripped(t.tmp, name, ident)
    watch = Opens(secret)
    t.start(*with_debug(make, exe, ident))
    yield
    mine, n = of(t, name), watch.seen()
    say(f"{len(mine)} samples, {n} opens")
    assert len(mine) > 100
    return n


@rows.test
def secrets(t):
    """a file that the user may not read is not opened as the user's debug file"""
    ident, secret = new_build_id(), t.path("secret")
    debug_file(build(t.tmp, "secret-whole", "chain", ident), secret)
    os.chmod(secret, 0o640)
    assert (yield from opened(t, "secrets", secret, f"touch $F; mount --bind {secret} $F", ident)) == 0


@rows.test
def locked(t):
    """nor one that the user may read, in a folder that the user may not enter"""
    ident, room = new_build_id(), t.path("room")
    os.mkdir(room, 0o700)
    secret = os.path.join(room, "secret")
    debug_file(build(t.tmp, "locked-whole", "chain", ident), secret)
    assert (yield from opened(t, "locked", secret, f"ln -s {secret} $F", ident)) == 0


@rows.test
def devices(t):
    """a device under that name is not opened"""
    device = t.path("device")
    os.mknod(device, 0o20666, os.makedev(1, 3))
    assert (yield from opened(t, "devices", device, f"touch $F; mount --bind {device} $F", new_build_id())) == 0


@rows.test
def magic(t):
    """nor one that everybody may read, by way of another process's root (the container sees the host's /proc)"""
    ident, plain = new_build_id(), t.path("magic-plain")
    debug_file(build(t.tmp, "magic-whole", "chain", ident), plain)
    assert (yield from opened(t, "magic", plain, f"ln -s /proc/{os.getpid()}/root{plain} $F", ident)) == 0


@rows.test
def readable(t):
    """the watch itself works: a file that everybody may read is opened"""
    ident, plain = new_build_id(), t.path("plain")
    debug_file(build(t.tmp, "plain-whole", "chain", ident), plain)
    assert (yield from opened(t, "readable", plain, f"touch $F; mount --bind {plain} $F", ident)) > 0


make_debug_folder()
rows.run()
