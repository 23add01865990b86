#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stubs have the names that objdump gives them.

Programs and libraries by each compiler and linker that is here, lazily bound and not,
with IBT or BTI and without: each <NAME@plt> of objdump is asked for.  No root.
Usage: test_stubs.py [BUILD-DIR]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRIFOLD = os.path.join(os.path.abspath(sys.argv[1]) if sys.argv[1:] else
                       os.path.join(ROOT, "build"), "bin", "trifold")
C = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *(*volatile held)(size_t) = malloc;
int main(int c, char **v)
{ char b[100]; memcpy(b, v[0], c * 3); puts(b); free(held(9)); return strcmp(b, v[0]); }
"""
CPP = """
#include <string>
#include <vector>
int main(int c, char **v)
{ std::vector<std::string> x; for (int i = 0; i < c; i++) x.push_back(v[i]); return x.size(); }
"""
SEARCH = ("-Wl,-z,lazy", "-Wl,-z,now")
# name, compiler, source, objdump, flags beside those of SEARCH
KINDS = [(f"{cc}{' ' if flags else ''}{' '.join(flags)}", cc, ending, dump, flags)
         for cc, ending, dump in (("gcc", "c", "objdump"), ("g++", "cc", "objdump"),
                                  ("clang", "c", "objdump"),
                                  ("aarch64-linux-gnu-gcc", "c", "aarch64-linux-gnu-objdump"))
         for flags in ((), ("-shared", "-fPIC"), ("-Wl,-z,ibtplt",), ("-fuse-ld=gold",),
                       ("-fuse-ld=lld",), ("-no-pie",), ("-Wl,-z,force-bti",
                                                         "-mbranch-protection=standard"))
         if cc != "g++" or "-Wl,-z,ibtplt" in flags or not flags]
counted = {}


def has_stubs(kind, tmp, bind):
    """None: it cannot be made here.  Else how many stubs, and which have another name."""
    name, cc, ending, dump, flags = kind
    if not shutil.which(cc) or not shutil.which(dump):
        return None
    source = os.path.join(tmp, f"a.{ending}")
    out = os.path.join(tmp, "out")
    if subprocess.run([cc, "-O1", bind, *flags, source, "-o", out], check=False,
                      capture_output=True).returncode:
        return None
    text = subprocess.run([dump, "-dC", out], capture_output=True, text=True,
                          check=True).stdout
    want = {int(m[1], 16): m[2] for m in
            re.finditer(r"^([0-9a-f]{16}) <(.*@plt)>:$", text, re.M)}
    return out, want


def names(path, addresses):
    """{address: name} as trifold says."""
    said = subprocess.run([TRIFOLD, "table", path, "--at", *(hex(a) for a in addresses)],
                          capture_output=True, text=True, check=True).stdout
    return {int(line.split()[0], 16): re.sub(r"^0x\S+( \w+=\S+)*( none| end)?( elsewhere)? ", "",
                                             line)
            for line in said.splitlines()}


def static_pie(tmp):
    """Stubs of IFUNCs in a static program, for which objdump has no name."""
    out = os.path.join(tmp, "static")
    if subprocess.run(["gcc", "-static-pie", os.path.join(tmp, "a.c"), "-o", out],
                      check=False, capture_output=True).returncode:
        return None
    head = subprocess.run(["readelf", "-SW", out], capture_output=True, text=True,
                          check=True).stdout
    m = re.search(r" \.plt +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) ", head)
    at, size = int(m[1], 16), int(m[2], 16)
    have = names(out, range(at + 16, at + size, 16))
    return have


def main():
    n, bad = 0, 0
    with tempfile.TemporaryDirectory(prefix="trifold-test-") as tmp:
        for ending, text in (("c", C), ("cc", CPP)):
            with open(os.path.join(tmp, f"a.{ending}"), "w", encoding="ascii") as f:
                f.write(text)
        total = 0
        for kind in KINDS:
            for bind in SEARCH:
                n += 1
                made = has_stubs(kind, tmp, bind)
                if not made:
                    print(f"ok {n} - {kind[0]} {bind} # not made here")
                    continue
                path, want = made
                have = names(path, want)
                wrong = [(hex(a), w, have.get(a)) for a, w in want.items()
                         if re.sub(r"@[A-Z]\w*[._\w]*@plt$", "@plt", w) != have.get(a)]
                total += len(want)
                bad += bool(wrong)
                print(f"# {len(want)} stubs {wrong[:3] if wrong else ''}")
                print(f"{'not ' if wrong else ''}ok {n} - {kind[0]} {bind}")
        n += 1
        have = static_pie(tmp)
        good = [x for x in have.values() if x.endswith("@plt")] if have else []
        ok = have is None or ("memcpy@plt" in good and len(good) == len(have))
        bad += not ok
        print(f"# {len(good)} stubs of {len(have or ())}")
        print(f"{'' if ok else 'not '}ok {n} - gcc -static-pie")
        n += 1
        bad += total < 20
        print(f"{'' if total >= 20 else 'not '}ok {n} - {total} stubs were compared")
    print(f"1..{n}")
    sys.exit(bad != 0)


main()
