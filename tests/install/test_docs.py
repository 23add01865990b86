#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What can be held of README.md and docs/: files and links that are named are
there, commands and options exist, dependencies are those of tests/deps.sh.

Usage: test_docs.py [BUILD-DIR]
"""
import glob
import os
import re
import subprocess
import sys

os.chdir(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
TRIFOLD = os.path.join(sys.argv[1] if sys.argv[1:] else "build", "bin", "trifold")
PLACES = r"(?:bpf|cli|common|docs|exporterd|ipc|loaderd|packaging|symbolizerd|tests|viewer)"
failed = 0


def check(name, wrong):
    global failed
    for w in sorted(set(wrong)):
        print("# " + w)
    print(f"{'not ok' if wrong else 'ok'} - {name}", flush=True)
    failed += bool(wrong)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def helps():
    """{command: its options}"""
    def say(*args):
        return subprocess.run([TRIFOLD, *args], capture_output=True, text=True, check=True).stdout

    names = re.findall(r"^  (\S+) +\S", say("--help"), re.M)
    return {c: set(re.findall(r"^  --([a-z-]+)", say(c, "--help"), re.M)) for c in names}


def main():
    texts = {p: read(p) for p in ["README.md"] + sorted(glob.glob("docs/*.md"))}
    check("files that are named are there", [
        f"{p}: {f}" for p, text in texts.items()
        for f in re.findall(rf"`({PLACES}/[\w./-]+)`", text)
        if "NAME" not in f and not os.path.exists(f) and f"Write `{f}`:" not in text])	# an exercise writes it
    check("links lead somewhere", [
        f"{p}: {to}" for p, text in texts.items()
        for to in re.findall(r"\]\(([^)#:]+)\)", text)
        if not os.path.exists(os.path.join(os.path.dirname(p), to))])
    known, wrong = helps(), []
    for p, text in texts.items():
        for c, rest in re.findall(r"trifold ([a-z-]+)((?: [^`\n#|]*)?)", text):
            if c not in known:
                continue            # "trifold has ..."
            for o in re.findall(r" --([a-z-]+)", rest.split(" -- ")[0]):
                if o not in known[c]:
                    wrong.append(f"{p}: trifold {c} has no --{o}")
    check("options that are named are options", wrong)
    deps = read("tests/deps.sh")
    check("docs/PACKAGING.md has every package that the build needs", [
        package for which in ("apt_build", "dnf_build")
        for package in re.search(which + '="([^"]*)"', deps)[1].split()
        if not re.search(rf"(?<![\w-]){re.escape(package)}(?![\w-])", texts["docs/PACKAGING.md"])])
    denied = re.search(r"#define MEM_DENIED(.*?[^\\])\n", read("loaderd/opener.h"), re.S)[1]
    check("docs/SECURITY.md names each program whose memory is never opened", [
        name for name in re.findall(r'"([^"]+)"', denied)
        if name != "trifold" and f"`{name}`" not in texts["docs/SECURITY.md"]])
    listed = re.search(r"executables whose names begin with(.*?); `install/test_docs`", texts["docs/SECURITY.md"], re.S)
    check("docs/SECURITY.md names no other such program", [
        name for name in re.findall(r"`([^`]+)`", listed[1]) if f'"{name}"' not in denied] if listed else ["no list"])
    check("docs/README.md leads to every page", [
        p for p in texts if p.startswith("docs/") and p != "docs/README.md" and
        os.path.basename(p) not in texts["docs/README.md"]])
    sys.exit(failed != 0)


main()
