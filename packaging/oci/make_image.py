#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_image.py BUILD-DIR ARCHIVE: an OCI image of trifold's programs

The image has the programs, the shared libraries that they need, users, CA certificates,
licences, and nothing else: no shell, no package manager, no setuid program.  The
libraries and certificates are those of the machine that it is built on, whose processor
it is for.  Needs neither root nor a network nor a container engine: an image is a tar of
a tar and some JSON.  The same commit and the same libraries give the same bytes.
"""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBEXEC = "usr/libexec/trifold"
# Fixed, since a pod names its users by number: above those of systemd's containers and
# below 2^31, where nobody has any (compare cli/supervisor/identity.c).
USERS = {"trifold-config": 1900000001, "trifold-loaderd": 1900000002,
         "trifold-symbolizerd": 1900000003, "trifold-exporterd": 1900000004,
         "trifold-viewer": 1900000005}
# linux/capability.h: DAC_READ_SEARCH, SYS_PTRACE, PERFMON, BPF, CHECKPOINT_RESTORE
LOADERD_CAPABILITIES = (2, 19, 38, 39, 40)
# What programs open by themselves, beside what ldd names: see exporterd/confine.c.
LOADED_LATER = ("libgcc_s.so.1", "libnss_files.so.2", "libnss_dns.so.2")
FROM_HOST = ("/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/openssl.cnf")
MOUNT_POINTS = ("proc", "sys", "dev", "etc/trifold", "var/lib/trifold-exporterd",
                "var/cache/trifold-exporterd")
# Of an emptyDir, which is everybody's on Kubernetes; podman gives it the image's mode.
EVERYBODYS = ("run/trifold", "run/trifold-config", "run/trifold-loader", "run/trifold-export", "tmp")
PROFILES = ("loaderd", "symbolizerd", "exporterd")
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def capability_xattr(caps):
    """security.capability: permitted, and effective at once (VFS_CAP_REVISION_2)."""
    mask = sum(1 << c for c in caps)
    return struct.pack("<IIIII", 0x02000001, mask & 0xffffffff, 0, mask >> 32, 0)


class Tree:
    """The files of the image, as a tar whose bytes depend on its contents alone."""

    def __init__(self, date):
        self.date, self.entries = date, {}

    def add(self, path, kind, mode, data=b"", link="", xattr=None):
        parent = os.path.dirname(path)
        if parent and parent not in self.entries:
            self.add(parent, tarfile.DIRTYPE, 0o755)
        t = tarfile.TarInfo(path)
        t.type, t.mode, t.size, t.linkname, t.mtime = kind, mode, len(data), link, self.date
        if xattr:
            t.pax_headers["SCHILY.xattr.security.capability"] = xattr.decode("utf-8", "surrogateescape")
        self.entries[path] = (t, data)

    def file(self, path, data, mode=0o644, xattr=None):
        self.add(path, tarfile.REGTYPE, mode, data, xattr=xattr)

    def copy(self, path, source, mode=0o644):
        with open(source, "rb") as f:
            self.file(path, f.read(), mode)

    def tar(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in sorted(self.entries):
                t, data = self.entries[path]
                tar.addfile(t, io.BytesIO(data))
        return out.getvalue()


def stripped(program):
    """The program without what only a debugger reads."""
    copy = program + ".image"
    shutil.copyfile(program, copy)
    try:
        subprocess.run([os.environ.get("STRIP", "strip"), "--strip-unneeded", copy], check=True)
        with open(copy, "rb") as f:
            return f.read()
    finally:
        os.unlink(copy)


def libraries(programs):
    """Paths of all shared libraries, with the dynamic linker."""
    found = set()
    for p in programs:
        said = output("ldd", p)
        if "not found" in said:
            sys.exit(f"{p}: a library is missing:\n{said}")
        found |= set(re.findall(r"(/\S+) \(0x", said))
    folder = os.path.dirname(next(x for x in found if "/libc.so" in x))
    found |= {p for p in (f"{folder}/{n}" for n in LOADED_LATER) if os.path.exists(p)}
    return sorted(found)


def in_image(path):
    """/lib and /lib64 are links in it, as on every system with a merged /usr."""
    return re.sub(r"^/(lib|lib64)/", r"usr/\1/", path).lstrip("/")


def packages_of(files):
    """{package: paragraph of dpkg's status}, for licences and for scanners; {} without dpkg."""
    if not shutil.which("dpkg-query"):
        return {}
    paths = set()
    for f in map(os.path.realpath, files):
        paths |= {f, "/usr" + f, re.sub("^/usr", "", f)}	# dpkg may know it by another name
    r = subprocess.run(["dpkg-query", "-S", *sorted(paths)], capture_output=True, text=True, check=False)
    names = {line.split(": ")[0].split(":")[0] for line in r.stdout.splitlines()}
    if FROM_HOST[0] in files and os.path.exists(FROM_HOST[0]):	# which that package's scripts write
        names.add("ca-certificates")
    return {n: output("dpkg-query", "-s", n) for n in sorted(names)
            if os.path.exists(f"/usr/share/doc/{n}/copyright")}


def users(tree):
    passwd = ["root:x:0:0::/:/nonexistent"]
    group = ["root:x:0:", "trifold:x:1900000000:"]
    for name, number in USERS.items():
        passwd.append(f"{name}:x:{number}:{number}::/:/nonexistent")
        group.append(f"{name}:x:{number}:")
    tree.file("etc/passwd", "\n".join(passwd + [""]).encode())
    tree.file("etc/group", "\n".join(group + [""]).encode())
    tree.file("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n")


def fill(tree, build):
    programs = sorted(f"{build}/bin/{p}" for p in os.listdir(f"{build}/bin")
                      if re.fullmatch("trifold(-[a-z]+)?", p) and p != "trifold-supervisor")
    programs.append(f"{build}/oci/trifold-listen")
    libs = libraries(programs)
    for link in ("lib", "lib64"):
        tree.add(link, tarfile.SYMTYPE, 0o777, link=f"usr/{link}")
    for p in programs:
        name = os.path.basename(p)
        tree.file("usr/bin/trifold" if name == "trifold" else f"{LIBEXEC}/{name}", stripped(p), 0o755,
                  capability_xattr(LOADERD_CAPABILITIES) if name == "trifold-loaderd" else None)
    for lib in libs:
        tree.copy(in_image(lib), lib, stat.S_IMODE(os.stat(lib).st_mode) & 0o755)
    for f in FROM_HOST:
        if os.path.exists(f):
            tree.copy(f.lstrip("/"), f)
    for d in MOUNT_POINTS + EVERYBODYS:
        tree.add(d, tarfile.DIRTYPE, 0o1777 if d in EVERYBODYS else 0o755)
    for name in PROFILES:
        tree.copy(f"usr/share/trifold/seccomp/{name}.json", f"{build}/oci/seccomp.d/{name}.json")
    users(tree)
    for name, source in (("LICENSE", "LICENSE"), ("LICENSE.bpf", "bpf/LICENSE")):
        tree.copy(f"usr/share/doc/trifold/{name}", f"{ROOT}/{source}")
    for name, said in packages_of([*libs, *FROM_HOST]).items():
        tree.file(f"var/lib/dpkg/status.d/{name}", said.encode())
        tree.copy(f"usr/share/doc/{name}/copyright", f"/usr/share/doc/{name}/copyright")


class Archive:
    """An OCI image layout in a tar: image-layout.md of the image specification."""

    def __init__(self, path, date):
        self.tree, self.path = Tree(date), path

    def blob(self, kind, data, **more):
        digest = hashlib.sha256(data).hexdigest()
        self.tree.file(f"blobs/sha256/{digest}", data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}",
                "size": len(data), **more}

    def json(self, kind, what, **more):
        return self.blob(kind, json.dumps(what, sort_keys=True).encode(), **more)

    def write(self, layer, config, name):
        packed = gzip.compress(layer, 6, mtime=0)
        config["rootfs"] = {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "config": self.json("config.v1+json", config),
                    "layers": [self.blob("layer.v1.tar+gzip", packed)]}
        index = {"schemaVersion": 2, "manifests": [self.json(
            "manifest.v1+json", manifest, annotations={
                "org.opencontainers.image.ref.name": name, "io.containerd.image.name": name},
            platform={"architecture": config["architecture"], "os": "linux"})]}
        self.tree.file("index.json", json.dumps(index, sort_keys=True).encode())
        self.tree.file("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        with open(self.path + ".new", "wb") as f:
            f.write(self.tree.tar())
        os.rename(self.path + ".new", self.path)


def commit_date():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    r = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True,
                       text=True, check=False)
    return int(r.stdout) if r.returncode == 0 else 0


def main():
    build, path = sys.argv[1:]
    date = commit_date()
    with open(f"{ROOT}/profile/formats/otlp.h", encoding="utf-8") as f:
        version = re.search(r'TRIFOLD_VERSION\s+"(.*)"', f.read())[1]
    archive = Archive(path, date)
    tree = Tree(date)
    fill(tree, os.path.abspath(build))
    layer = tree.tar()
    archive.write(layer, {
        "architecture": ARCH[os.uname().machine], "os": "linux",
        "config": {"User": str(USERS["trifold-config"]), "Env": ["PATH=/usr/bin"],
                   "Cmd": ["/usr/bin/trifold", "--help"], "WorkingDir": "/",
                   "Labels": {"org.opencontainers.image.title": "trifold",
                              "org.opencontainers.image.version": version,
                              "org.opencontainers.image.licenses": "Apache-2.0 AND GPL-2.0-only"}},
        "history": [{"created_by": "packaging/oci/make_image.py"}]},
        f"localhost/trifold:{version}")
    print(f"{path}: localhost/trifold:{version}, {len(layer) >> 20} MiB of files")


if __name__ == "__main__":
    main()
