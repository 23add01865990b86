#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold names`: its lines, its options, and what it refuses.  No BPF, no root."""
import os
import re
import subprocess

from live import TRIFOLD, say, scratch, tap

C = """
int a(int x) { return x + 1; }
int b(int x) { return a(x) * 3; }
int main(int n, char **v) { return b(n); }
"""
CC = """
namespace n { template <class T> struct s { T __attribute__((noinline)) f(T x) { return x + 1; } }; }
int main(int n, char **) { return n::s<int>().f(n); }
"""


def names(*args, status=0, **more):
    r = subprocess.run([TRIFOLD, "names", *args], capture_output=True, text=True, **more)
    assert r.returncode == status, (r.returncode, r.stderr)
    return r


def compiled(tmp, compiler, text, *options):
    source = os.path.join(tmp, "s.c" if compiler == "cc" else "s.cc")
    with open(source, "w") as f:
        f.write(text)
    exe = os.path.join(tmp, "exe")
    subprocess.run([compiler, "-O0", "-o", exe, source, *options], check=True)
    return exe


def nm(exe):
    out = subprocess.run(["nm", "-S", exe], capture_output=True, text=True, check=True).stdout
    return {m[2]: (int(m[0], 16), int(m[1], 16))
            for m in re.findall(r"^(\w{16}) (\w{16}) [tTwW] (\S+)$", out, re.M)}


def at_addresses():
    """a line for each address: as words, from standard input, and where nothing is"""
    with scratch() as tmp:
        exe = compiled(tmp, "cc", C)
        of = nm(exe)
        words = [f"{of['a'][0]:x}", f"{of['b'][0] + of['b'][1] - 1:#x}", "1"]
        want = [f"{of['a'][0]:#x}\ta", f"{of['b'][0] + of['b'][1] - 1:#x}\tb", "0x1\t?"]

        def functions(out):
            return ["\t".join(line.split("\t")[:2]) for line in out.splitlines()]
        assert functions(names(exe, *words).stdout) == want
        assert functions(names(exe, "-", input="\n".join(words) + "\n").stdout) == want
        assert names(exe, "-", input="\n \n").stdout == ""


def all_symbols():
    """without addresses: each function with its address and size, as nm has them"""
    with scratch() as tmp:
        exe = compiled(tmp, "cc", C)
        lines = [line.split("\t") for line in names(exe).stdout.splitlines()]
        shown = {name: (int(at, 16), int(size, 16)) for at, size, name in lines}
        for name in ("a", "b", "main"):
            assert shown[name] == nm(exe)[name], (name, shown)
        starts = [int(at, 16) for at, _, _ in lines]
        assert starts == sorted(starts)


def demangled():
    """C++ names as people write them, and with --mangled as the file has them"""
    with scratch() as tmp:
        exe = compiled(tmp, "c++", CC)
        at = nm(exe)["_ZN1n1sIiE1fEi"][0]
        for option, name in ((), "n::s<int>::f(int)"), (("--mangled",), "_ZN1n1sIiE1fEi"):
            out = names(exe, f"{at:x}", *option).stdout
            assert out.split("\n")[0].split("\t")[:2] == [f"{at:#x}", name], out


def without_symbols():
    """functions by DWARF, where a file has no symbol table: b() lies in no .dynsym"""
    with scratch() as tmp:
        exe = compiled(tmp, "cc", C, "-g")
        at = nm(exe)["b"][0]
        bare = exe + ".bare"
        subprocess.run(["llvm-objcopy", "--remove-section", ".symtab", "--remove-section",
                        ".strtab", exe, bare], check=True)
        sections = subprocess.run(["readelf", "-SW", bare], capture_output=True, text=True,
                                  check=True).stdout
        assert ".symtab" not in sections and ".debug_info" in sections, sections
        out = names(bare, f"{at:x}").stdout
        assert out.split("\t")[1] == "b" and out.rstrip().endswith("s.c:3"), out


def debug_file():
    """--debug: names of a stripped file, but not those of another file"""
    with scratch() as tmp:
        exe = compiled(tmp, "cc", C, "-Wl,--build-id")
        at, debug, other = nm(exe)["b"][0], exe + ".debug", exe + ".other"
        subprocess.run(["objcopy", "--only-keep-debug", exe, debug], check=True)
        subprocess.run(["strip", exe], check=True)
        bare = names(exe, f"{at:x}").stdout
        assert bare == f"{at:#x}\t!{at:#x}\n", bare
        assert names(exe, f"{at:x}", "--debug", debug).stdout.split("\n")[0].split("\t")[1] == "b"
        os.rename(debug, other)
        exe = compiled(tmp, "cc", C + "int c;", "-Wl,--build-id")
        r = names(exe, f"{at:x}", "--debug", other, status=1)
        assert "build ID" in r.stderr and not r.stdout, r.stderr


def nothing_for_terminals():
    """a hostile name cannot send controls to a terminal"""
    with scratch() as tmp:
        exe = compiled(tmp, "cc", "int aCONTROLb(void) { return 1; } " + C)
        with open(exe, "rb") as f:
            image = f.read()
        with open(exe, "wb") as f:
            f.write(image.replace(b"aCONTROLb", b"a\033[31m\t\\b"))
        out = names(exe).stdout
        assert "\ta\\x1b[31m\\x09\\x5cb\n" in out and "\033" not in out, out


def bad_files():
    """what has no names, or is no address, is an error that says so"""
    for args, status in (([__file__], 1), (["/dev/null"], 1), (["/nowhere"], 1), ([], 2),
                         (["/bin/sh", "xyz"], 2), (["/bin/sh", "1", "-"], 2),
                         (["/bin/sh", "--debug", "/nowhere"], 1)):
        r = names(*args, status=status, stdin=subprocess.DEVNULL)
        say(r.stderr.strip())
        assert not r.stdout and len(r.stderr.splitlines()) == 1
    r = names("/bin/sh", "-", status=2, input="\033xyz\n")
    assert "\\x1bxyz" in r.stderr and "\033" not in r.stderr


tap([(fn.__doc__, fn) for fn in (at_addresses, all_symbols, demangled, without_symbols, debug_file,
                                 nothing_for_terminals, bad_files)])
