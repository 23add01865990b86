#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual pages are well-formed and name what the programs take: each
option of each program, each key of the configuration, and none more.

Usage: test_manual.py [BUILD-DIR]
"""
import glob
import os
import re
import shutil
import subprocess
import sys

os.chdir(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
TRIFOLD = os.path.join(sys.argv[1] if sys.argv[1:] else "build", "bin", "trifold")
DAEMONS = {"trifold-loaderd": "loaderd", "trifold-symbolizerd": "symbolizerd",
           "trifold-exporterd": "exporterd", "trifold-viewer": "viewer/server"}
failed = 0


def say(*args):
    return subprocess.run([TRIFOLD, *args], capture_output=True, text=True, check=True).stdout


def check(name, got, want=None):
    """got and want are sets, or got is a list of what is wrong."""
    global failed
    wrong = got if want is None else \
        [f"not in the page: {x}" for x in sorted(want - got)] + \
        [f"in the page, and nowhere else: {x}" for x in sorted(got - want)]
    for w in wrong:
        print("# " + w)
    print(f"{'not ok' if wrong else 'ok'} - {name}", flush=True)
    failed += bool(wrong)


def pages():
    texts = {}
    for path in sorted(glob.glob("docs/man/*")):
        with open(path, encoding="ascii") as f:
            texts[os.path.basename(path)] = f.read()
    return texts


def words(part):
    """The words of a part of a page, as a reader sees them; of macros those of options,
    variables and literals."""
    found = []
    for line in part.splitlines():
        m = re.match(r"\.(?:It )?(?:Fl|Ql|Ev|Cm) (.*?)(?: \.)?$", line)
        if m:
            line = re.sub(r"^\\-", "--", m[1]).replace(" Ar ", " ")
        elif line.startswith("."):
            continue
        found += line.replace("\\&", "").replace("\\-", "-").replace("\\e", "\\").split()
    return found


def same(what, got, want):
    """One mistake, with the first word that differs, or none."""
    if got == want:
        return []
    n = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    return [f"{what}: '{' '.join(got[max(n - 5, 0):n + 5])}', the program says "
            f"'{' '.join(want[max(n - 5, 0):n + 5])}'"]


def options(text, prefix=""):
    """Options that a page describes: the heads of its lists."""
    heads = re.findall(r"^\.It (.*Fl .*)$", text, re.M)
    return {prefix + x for h in heads for x in re.findall(r"Fl \\-([a-z-]+)", h)}


def lint(name, text, texts):
    r = subprocess.run(["mandoc", "-T", "lint"], input=text, capture_output=True, text=True)
    wrong = []
    for line in (r.stdout + r.stderr).splitlines():
        # whether other packages' pages are installed here says nothing
        m = re.search(r"referenced manual not found: Xr (\S+) (\d)|outdated mandoc.db", line)
        if not m or m[1] and m[1].startswith("trifold") and f"{m[1]}.{m[2]}" not in texts:
            wrong.append(line)
    for page in re.findall(r"^\.Xr (trifold\S*) (\d)", text, re.M):
        if ".".join(page) not in texts:
            wrong.append(f"refers to {page}, which is not there")
    check(f"{name} is clean", wrong)


def typeset(name, text):
    """As man(1) shows it in a terminal of 80 columns."""
    r = subprocess.run(["groff", "-mandoc", "-Tutf8", "-ww", "-rLL=80n"], input=text,
                       capture_output=True, text=True)
    check(f"{name} has no warning of groff", r.stderr.splitlines())


def commands(text):
    """trifold.1 against --help."""
    names = re.findall(r"^  (\S+) +\S", say("--help"), re.M)
    part = text[text.index("\n.Sh COMMANDS"):text.index("\n.Sh ENVIRONMENT")]
    sections = {s.split("\n")[0]: s for s in part.split("\n.Ss ")[1:]}
    check("trifold.1 has every command", set(sections), set(names))
    wrong, known = [], {"version", "name"}
    for c in names:
        help_ = say(c, "--help")
        known |= set(re.findall(r"^  --([a-z-]+)", help_, re.M))
        wrong += same(c, words(sections.get(c, "").partition("\n")[2]), help_.split()[1:])
    check("trifold.1 has the words of each --help", wrong)
    mentioned = set(re.findall(r"\\-\\-([a-z][a-z-]*)|Fl \\-([a-z-]+)", text))
    check("trifold.1 mentions no other option", sorted({a or b for a, b in mentioned} - known))


def keys(text):
    """trifold.conf.5 against the file of defaults: meaning, default, and what overrides it."""
    want, section = {}, ""
    for block in say("check-config", "--defaults").split("\n\n")[1:]:
        m = re.match(r"\[(.+)\]$", block)
        section = m[1] if m else section
        m = re.match(r"((?:# .*\n)+)#([a-z_]+) =(.*)$", block)
        if not m:
            continue
        meaning, _, others = re.sub(r"^# ?", "", m[1], flags=re.M).partition("Overridden by ")
        item = [*meaning.split(), "Default:", *(m[3].split() or ["none."])]
        for other in others.rstrip(".\n").split():
            item += ["Option:" if other.startswith("--") else "Variable:", other.rstrip(",")]
        want[f"{section}: {m[2]}"] = item
    got = {f"{s.split(chr(10))[0]}: {k}": words(item)
           for s in text.split("\n.Ss ")[1:]
           for k, item in re.findall(r"^\.It Cm (\S+)\n(.*?)(?=^\.It |^\.El)", s, re.M | re.S)}
    check("trifold.conf.5 has every key", set(got), set(want))
    check("trifold.conf.5 has what is said of each", sum(
        (same(k, got.get(k, []), want[k]) for k in want), []))


def daemon(name, directory, text):
    want = set()
    for path in glob.glob(directory + "/*.c"):
        with open(path, encoding="utf-8") as f:
            source = f.read()
        # getopt_long()'s tables; loaderd, which is to be short, has its own
        want |= set(re.findall(
            r'\{ "([a-z-]+)", (?:[01]|no_argument|required_argument), NULL', source))
        want |= set(re.findall(
            r'(?:\{ |NUMBER\(|FLAG\(|strcmp\([^,]+, |strlen\()"--([a-z-]+)=?"', source))
    check(f"{name}.8 has every option", options(text), want)
    synopsis = text[text.index(".Sh SYNOPSIS"):text.index(".Sh DESCRIPTION")]
    check(f"{name}.8 has them in its synopsis",
          set(re.findall(r"Fl \\-([a-z-]+)", synopsis)), want)


def main():
    texts = pages()
    if shutil.which("mandoc"):
        for name, text in texts.items():
            lint(name, text, texts)
    else:
        print("ok - pages are clean # SKIP no mandoc")
    if shutil.which("groff"):
        for name, text in texts.items():
            typeset(name, text)
    else:
        print("ok - pages have no warning of groff # SKIP no groff")
    commands(texts["trifold.1"])
    keys(texts["trifold.conf.5"])
    built = {p for p in DAEMONS if os.path.exists(os.path.join(os.path.dirname(TRIFOLD), p))}
    check("every daemon has a page", sorted(built - {n[:-2] for n in texts}))
    for name in sorted(built):
        if name + ".8" in texts:
            daemon(name, DAEMONS[name], texts[name + ".8"])
    sys.exit(failed != 0)


main()
