# SPDX-License-Identifier: Apache-2.0
"""units - hub and loaderd with the users and sockets that systemd's units give them"""
import json
import os
import socket
import subprocess

from live import BIN, TRIFOLD, ends_with_us

RUN = "/run/trifold"
HUB, LOADER, OPENER, EXPORTER, VIEWER = range(60011, 60016)
GROUP, MEMBER, OTHER, SECOND = 60020, 60021, 60022, 60023
SOCKETS = {"loader": (LOADER, LOADER, 0o600), "export": (EXPORTER, EXPORTER, 0o600),
           "status": (VIEWER, GROUP, 0o660)}


def listening():
    """The hub's sockets, as systemd passes them: {name: socket}"""
    os.mkdir(RUN, 0o755)
    found = {}
    for name, (uid, gid, mode) in SOCKETS.items():
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.bind(f"{RUN}/{name}.sock")
        os.chown(f"{RUN}/{name}.sock", uid, gid)
        os.chmod(f"{RUN}/{name}.sock", mode)
        s.listen(8)
        found[name] = s
    # in place of the user trifold-symbolizerd
    with open(f"{RUN}/lock", "w", encoding="ascii") as f:
        f.write(f"pid 1 hub-uid {HUB}\n")
    os.chmod(f"{RUN}/lock", 0o644)
    return found


def hub(sockets, *more):
    fds = [s.fileno() for s in sockets.values()]

    def child():
        ends_with_us()
        high = [os.dup2(fd, 100 + i) for i, fd in enumerate(fds)]
        for i, fd in enumerate(high):
            os.dup2(fd, 3 + i)
            os.set_inheritable(3 + i, True)
    names = ":".join(sockets)
    # its own number, as sd_listen_fds(3) wants it: of the shell that it was
    return subprocess.Popen(
        ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", f"{BIN}/trifold-symbolizerd", f"--uid={HUB}",
         f"--gid={HUB}", f"--loader-uid={LOADER}", f"--exporter-uid={EXPORTER}", f"--viewer-uid={VIEWER}",
         "--interval=1", *more], preexec_fn=child, close_fds=False, stdin=subprocess.DEVNULL,
        env={"LISTEN_FDS": "3", "LISTEN_FDNAMES": names, "PATH": os.environ["PATH"]})


def loaderd_words(frequency):
    return [f"{BIN}/trifold-loaderd", f"--uid={LOADER}", f"--gid={LOADER}", f"--opener-uid={OPENER}",
            f"--hub={RUN}/loader.sock", f"--hub-uid={HUB}", f"--frequency={frequency}"]


def loaderd():
    return subprocess.Popen(loaderd_words(99), preexec_fn=ends_with_us, stdin=subprocess.DEVNULL)


def close(sockets):
    for name, s in sockets.items():
        s.close()
        os.unlink(f"{RUN}/{name}.sock")
    os.unlink(f"{RUN}/lock")
    os.rmdir(RUN)


def account():
    """What `trifold status --json` says; {} while there is no hub."""
    r = subprocess.run([TRIFOLD, "status", "--json"], capture_output=True, text=True, timeout=120)
    return json.loads(r.stdout) if r.stdout else {}
