#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trifold unit-config and trifold-start: what the configuration says reaches a daemon,
what it must not say does not.  Needs root, for a mount namespace with directories and
users of its own; programs that print what they get stand for the daemons.
Usage: test_start.py [BUILD-DIR]"""
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "live"))
from live import Skip, tap  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
USERS = {"trifold-config": 60001, "trifold-loaderd": 60002, "trifold-symbolizerd": 60003,
         "trifold-exporterd": 60004, "trifold-viewer": 60005}
WORDS = "/run/trifold-config"
DAEMONS = ("loaderd", "symbolizerd", "exporterd", "viewer")
STAND_IN = """#!/bin/sh
printf '%s\\n' "$0" "$@"
env | sed 's/^/env /'
"""


def enter():
    """This process again, where it can mount what it likes."""
    if os.getuid():
        raise Skip("needs root")
    if os.environ.get("TEST_START_INSIDE"):
        return
    r = subprocess.run(["unshare", "-m", "--propagation", "private", sys.executable, *sys.argv],
                       env={**os.environ, "TEST_START_INSIDE": "1"})
    sys.exit(r.returncode)


def prepare(tmp):
    """Directories in place of /run, /etc/trifold and the vendor's, and users."""
    for name, place in (("run", "/run"), ("etc", "/etc/trifold"), ("lib", "/usr/lib/trifold")):
        os.mkdir(f"{tmp}/{name}")
        if os.path.isdir(place):
            subprocess.run(["mount", "--bind", f"{tmp}/{name}", place], check=True)
    # /etc/trifold need not be there: a layer over /etc has it
    if not os.path.isdir("/etc/trifold"):
        for d in ("up", "work"):
            os.mkdir(f"{tmp}/{d}")
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", f"{tmp}/up"], check=True)
        os.mkdir(f"{tmp}/up/u")
        os.mkdir(f"{tmp}/up/w")
        subprocess.run(["mount", "-t", "overlay", "overlay", "/etc", "-o",
                        f"lowerdir=/etc,upperdir={tmp}/up/u,workdir={tmp}/up/w"], check=True)
        os.mkdir("/etc/trifold")
    with open("/etc/passwd", encoding="utf-8") as f:
        passwd = [line for line in f if line.split(":")[0] not in USERS]
    passwd += [f"{n}:x:{i}:{i}::/:/usr/sbin/nologin\n" for n, i in USERS.items()]
    with open(f"{tmp}/passwd", "w", encoding="utf-8") as f:
        f.writelines(passwd)
    subprocess.run(["mount", "--bind", f"{tmp}/passwd", "/etc/passwd"], check=True)
    os.mkdir(WORDS)
    os.mkdir(f"{tmp}/bin")
    os.chmod(tmp, 0o755)
    shutil.copy(f"{BUILD}/bin/trifold-start", f"{tmp}/bin/")
    for d in DAEMONS:
        with open(f"{tmp}/bin/trifold-{d}", "w", encoding="utf-8") as f:
            f.write(STAND_IN)
        os.chmod(f"{tmp}/bin/trifold-{d}", 0o755)


def configure(text=None, **env):
    """unit-config as the user whom its unit has: status, what it said."""
    path = "/etc/trifold/trifold.conf"
    if text is not None:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o644)
    os.chown(WORDS, USERS["trifold-config"], USERS["trifold-config"])
    r = subprocess.run(["setpriv", f"--reuid={USERS['trifold-config']}", "--clear-groups",
                        f"{BUILD}/bin/trifold", "unit-config", WORDS], capture_output=True,
                       text=True, timeout=60, env={"PATH": os.environ["PATH"], **env})
    return r.returncode, r.stderr


def start(tmp, daemon, **env):
    """(status, arguments, {variable}, what it said) of trifold-start."""
    r = subprocess.run([f"{tmp}/bin/trifold-start", daemon], capture_output=True, text=True,
                       timeout=60, env={"PATH": "/bin", **env})
    lines = r.stdout.splitlines()
    got = dict(x[4:].split("=", 1) for x in lines if x.startswith("env "))
    return r.returncode, [x for x in lines if not x.startswith("env ")], got, r.stderr


def words(daemon, data):
    path = f"{WORDS}/{daemon}"
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as f:
        f.write(data)


def value(args, option):
    return next(a for a in args if a.startswith(option + "=")).partition("=")[2]


def reaches(tmp):
    """the configuration reaches each daemon, and each knows the others' users"""
    headers = f"{tmp}/headers"
    with open(headers, "w", encoding="utf-8") as f:
        f.write("authorization=Bearer%20x\n")
    os.chmod(headers, 0o600)	# not for who reads the configuration
    status, said = configure("[sampling]\nfrequency = 97\ninterval = 7\n[page]\nkeep = 60\n[export]\n"
                             f"endpoint = http://h:1\nheaders_file = {headers}\n",
                             OTEL_SERVICE_NAME="a b", https_proxy="http://p")
    assert status == 0, said
    for d in DAEMONS:
        assert stat.S_IMODE(os.stat(f"{WORDS}/{d}").st_mode) == 0o644
    assert "Bearer" not in "".join(open(f"{WORDS}/{d}", encoding="utf-8").read() for d in DAEMONS)
    status, args, _, said = start(tmp, "loaderd")
    assert status == 0, said
    assert args[0].endswith("trifold-loaderd") and value(args, "--frequency") == "97", args
    assert value(args, "--hub-uid") == str(USERS["trifold-symbolizerd"])
    assert value(args, "--hub") == "/run/trifold/loader.sock"
    _, args, _, _ = start(tmp, "symbolizerd")
    assert value(args, "--interval") == "7"
    for who in ("loader", "exporter"):
        assert value(args, f"--{who}-uid") == str(USERS[f"trifold-{who}d"])
    assert value(args, "--viewer-uid") == str(USERS["trifold-viewer"])
    _, args, env, _ = start(tmp, "exporterd")
    assert env["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://h:1" and "--no-network" not in args
    assert env["OTEL_SERVICE_NAME"] == "a b" and env["https_proxy"] == "http://p"
    assert env["TRIFOLD_EXPORTER_HEADERS_FILE"] == headers
    _, args, _, _ = start(tmp, "viewer", LISTEN_FDS="1")
    assert value(args, "--keep") == "60" and value(args, "--listen-fd") == "3"


def defaults(tmp):
    """without a configuration and a receiver nothing is sent"""
    os.unlink("/etc/trifold/trifold.conf")
    status, said = configure()
    assert status == 0, said
    _, args, env, _ = start(tmp, "exporterd")
    assert "--no-network" in args and "OTEL_EXPORTER_OTLP_ENDPOINT" not in env


def mistakes_change_nothing(_):
    """a mistake or a secret in the configuration is named, and changes nothing"""
    assert configure("[sampling]\nfrequency = 97\n")[0] == 0
    for text, says in (("[sampling]\nfrequency = many\n", "trifold.conf:2"),
                       ("[export]\nendpoint = http://h\nheaders = a=b\n", "headers_file"),
                       ("[export]\nendpoint = http://u:p@h\n", "headers_file"),
                       ('[export "x"]\nendpoint = http://h\nheaders = a=b\n', "headers_file"),
                       ("[names]\ndebuginfod_urls = http://u:p@h\n", "trifold.conf:2: debuginfod_urls needs URLs without"),
                       ("[resource]\nattributes = docs=http://u:p@h\n",
                        "trifold.conf:2: the units take no password")):
        status, said = configure(text)
        assert status == 2 and says in said and "u:p" not in said, (text, status, said)
        with open(f"{WORDS}/loaderd", encoding="utf-8") as f:
            assert "--frequency=97\n" in f.read(), text


def secrets_of_variables(_):
    """headers and passwords of the environment are named, and no file has them: every user may read these"""
    assert configure("[sampling]\nfrequency = 97\n")[0] == 0
    for name, secret in (("https_proxy", "http://u:hush@proxy:3128"), ("HTTPS_PROXY", "u:hush@proxy:3128"),
                         ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=hush"),
                         ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "authorization=hush"),
                         ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=hush"), ("TRIFOLD_EXPORTER_HEADERS", "a=hush"),
                         ("TRIFOLD_EXPORTER_2_HEADERS", "a=hush"),
                         ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://u:hush@h:4318/v1/metrics"),
                         ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:hush@h:4318"),
                         ("DEBUGINFOD_URLS", "https://a.example/ https://u:hush@b.example/")):
        status, said = configure(**{name: secret})
        kept = "".join(open(f"{WORDS}/{d}", encoding="utf-8").read() for d in DAEMONS)
        assert status == 2 and f"{name}: the units take no" in said and "hush" not in said + kept, (name, status, said)
        assert "trifold.conf" not in said, said
        assert "--frequency=97\n" in kept
    public = {"https_proxy": "http://proxy:3128", "OTEL_RESOURCE_ATTRIBUTES": "owner=a@b.example",
              "DEBUGINFOD_URLS": "https://a.example/@x"}
    status, said = configure(**public)
    assert status == 0, said
    with open(f"{WORDS}/exporterd", encoding="utf-8") as f:
        kept = f.read()
    assert all(f"{k}={v}\n" in kept for k, v in public.items() if k != "DEBUGINFOD_URLS"), kept


def not_by_links(tmp):
    """nothing is written through a link that was there before"""
    victim = f"{tmp}/victim"
    with open(victim, "w", encoding="utf-8") as f:
        f.write("mine")
    os.chmod(victim, 0o666)
    for name in (".loaderd", "loaderd"):
        path = f"{WORDS}/{name}"
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(victim, path)
    assert configure("")[0] == 0
    with open(victim, encoding="utf-8") as f:
        assert f.read() == "mine"
    assert stat.S_ISREG(os.lstat(f"{WORDS}/loaderd").st_mode)


REFUSED = {
    "loaderd": [b"LD_PRELOAD=/tmp/x.so", b"PATH=/tmp", b"--hub=/tmp/x", b"--hub-uid=0", b"--uid=0",
                b"--opener-uid=0", b"--gid=0", b"--frequency", b"frequency=1", b"--output=/etc/passwd",
                b"", b"-", b"--debug=1", b"GLIBC_TUNABLES=x", b"OTEL_SERVICE_NAME=x"],
    "symbolizerd": [b"--loader-uid=0", b"--viewer-uid=1", b"--own=1", b"--show-table", b"LISTEN_FDS=9",
                    b"--loader-uid=1", b"--exporter-uid=1"],
    "exporterd": [b"--hub=/tmp/x", b"--recorder-fd=3", b"LD_AUDIT=/tmp/x", b"NOTIFY_SOCKET=/tmp/x",
                  b"CURL_CA_BUNDLE=/x"],
    "viewer": [b"--listen-fd=3", b"--hub=/x", b"--listen=4328"],
}


def refuses(tmp):
    """a word that is not on the list is refused, whoever wrote it"""
    for daemon, bad in REFUSED.items():
        for word in bad:
            words(daemon, b"--debug\n" + word + b"\n")
            status, args, _, said = start(tmp, daemon)
            assert status == 1 and not args and "list" in said, (daemon, word, status, args, said)


def refuses_files(tmp):
    """a file that is cut, too long, no file, a link, or holds NUL is refused, and none hangs"""
    whole = b"--frequency=97\n--table-budget=1\n"
    for n in range(1, len(whole)):
        words("loaderd", whole[:n])
        status, args, _, _ = start(tmp, "loaderd")
        assert (status == 0) == (whole[n - 1:n] == b"\n"), (n, status, args)
    for data in (b"--debug\0\n", b"--debug\n\0", b"--debug\n" * 12289, b"--debug\n" * 400):
        words("loaderd", data)
        assert start(tmp, "loaderd")[0] == 1, data[:20]
    path = f"{WORDS}/loaderd"
    os.unlink(path)
    assert start(tmp, "loaderd")[0] == 1
    os.mkfifo(path)
    assert start(tmp, "loaderd")[0] == 1
    os.unlink(path)
    os.symlink("/etc/hostname", path)
    assert start(tmp, "loaderd")[0] == 1
    os.unlink(path)


def environment(tmp):
    """of the environment only systemd's own variables go on"""
    words("loaderd", b"--debug\n")
    kept = {"LISTEN_PID": "1", "LISTEN_FDS": "0", "NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "1",
            "WATCHDOG_PID": "1", "JOURNAL_STREAM": "1:2", "LISTEN_FDNAMES": "x"}
    _, _, env, _ = start(tmp, "loaderd", **kept, GLIBC_TUNABLES="x", OTEL_X="y", LD_BIND_NOW="1",
                         TRIFOLD_EXPORTER_SPOOL="/x")
    shown = {k: v for k, v in env.items() if k not in ("PWD", "SHLVL", "_", "OLDPWD")}
    assert shown == {**kept, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}, shown


def reload(tmp):
    """a reload ends the process whose arguments are others now, and no other"""
    starter = f"{tmp}/bin/trifold-start"
    shutil.copy("/bin/sleep", f"{tmp}/bin/real")
    with open(f"{tmp}/run.c", "w", encoding="utf-8") as f:
        f.write("#include <unistd.h>\nint main(void) { return pause(); }\n")
    subprocess.run(["gcc", "-o", f"{tmp}/bin/trifold-loaderd", f"{tmp}/run.c"], check=True)
    words("loaderd", b"--frequency=97\n")
    p = subprocess.Popen([starter, "loaderd"], env={})
    try:
        while b"97" not in open(f"/proc/{p.pid}/cmdline", "rb").read():
            pass
        assert subprocess.run([starter, "--reload", "loaderd", str(p.pid)]).returncode == 0
        assert p.poll() is None
        words("loaderd", b"--frequency=98\n")
        assert subprocess.run([starter, "--reload", "loaderd", str(p.pid)]).returncode == 0
        assert p.wait(60) == -signal.SIGUSR1
    finally:
        p.kill()
    for pid in ("0", "-1", "1", "x", ""):
        assert subprocess.run([starter, "--reload", "loaderd", pid]).returncode == 1, pid


def no_user(tmp):
    """without the users it says who makes them"""
    words("loaderd", b"")
    subprocess.run(["umount", "/etc/passwd"], check=True)
    with open("/etc/passwd", encoding="utf-8") as f:
        if "trifold-symbolizerd" in f.read():
            raise Skip("this machine has the users")
    status, _, _, said = start(tmp, "loaderd")
    assert status == 1 and "systemd-sysusers" in said, said


def usage(tmp):
    """another name is a mistake in use"""
    for args in ([], ["supervisor"], ["../x"], ["loaderd", "x"], ["--reload", "loaderd"]):
        assert subprocess.run([f"{tmp}/bin/trifold-start", *args],
                              capture_output=True).returncode == 2, args


TESTS = [reaches, defaults, mistakes_change_nothing, secrets_of_variables, not_by_links, refuses, refuses_files, environment,
         reload, usage, no_user]

if __name__ == "__main__":
    if os.getuid():
        print("ok 1 - trifold-start # SKIP needs root\n1..1")
        sys.exit(0)
    enter()
    top = tempfile.mkdtemp()
    try:
        prepare(top)
        tap([(t.__doc__, t) for t in TESTS], lambda t: t(top))
    finally:
        # what is mounted goes with the namespace; what lies below it must not be removed through it
        subprocess.run(["umount", "-l", "/etc/passwd", "/run", "/etc/trifold", "/etc", "/usr/lib/trifold",
                        f"{top}/up"], stderr=subprocess.DEVNULL)
        shutil.rmtree(top)
