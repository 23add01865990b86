# SPDX-License-Identifier: Apache-2.0
"""Programs with full DWARF for names_agree.py: sources of tests/live/cases and made ones,
by each compiler, level and form of DWARF."""
import os
import random
import shutil
import subprocess

from live import ROOT

CASES = os.path.join(ROOT, "tests", "live", "cases")


def expression(rng, names, depth=0):
    if depth > 2 or rng.random() < 0.3:
        return rng.choice(names + [str(rng.randrange(1, 99))])
    a, b = (expression(rng, names, depth + 1) for _ in range(2))
    op = rng.choice("+-*^&|")
    gap = rng.choice([" ", " ", "\n\t\t "])
    return f"({a} {op}{gap}{b})"


def function(rng, i, callees, kind, unit):
    """A C function that loops, chooses and calls those before it."""
    text = [f"{kind}int f{unit}_{i}(int a, int b)", "{", "\tint c = a, d = b;", ""]
    for k in range(rng.randrange(2, 6)):
        what = rng.randrange(5)
        value = expression(rng, ["a", "b", "c", "d"])
        call = f"{rng.choice(callees)}(c, {value})" if callees else value
        if what == 0:
            text += [f"\tfor (int i{k} = 0; i{k} < (b & 15); i{k}++) {{", f"\t\tc += {call};",
                     f"\t\td ^= table[(c + i{k}) & 15];", "\t}"]
        elif what == 1:
            text += [f"\tif ({value} > c) {{", f"\t\tc = {call};", "\t} else {",
                     f"\t\td = {expression(rng, ['a', 'c'])};", "\t\tside(d);", "\t}"]
        elif what == 2:
            text += ["\tswitch (c & 7) {"]
            for j in range(5):
                text += [f"\tcase {j}:", f"\t\td += {expression(rng, ['a', 'c', 'd'])};",
                         rng.choice(["\t\tbreak;", "\t\tside(c);\n\t\tbreak;"])]
            text += ["\tdefault:", f"\t\tc -= {call};", "\t}"]
        elif what == 3:
            text += [f"\tif (__builtin_expect(c == {rng.randrange(99)}, 0))", "\t\tfails(c, d);"]
        else:
            text += [f"\tc = TWICE({value}) + {call};"]
    return "\n".join(text + ["\treturn c + d;", "}", ""])


def make_c(folder, units=4, functions=12, seed=1):
    """unitN.c and a header below folder, of which each inlines the header's functions."""
    rng = random.Random(seed)
    os.makedirs(os.path.join(folder, "inc"), exist_ok=True)
    with open(os.path.join(folder, "inc", "shared.h"), "w") as f:
        f.write("extern int table[16];\nvoid side(int);\n__attribute__((cold)) void fails(int, int);\n"
                "#define TWICE(x) ((x) + \\\n\t\t  (x))\n")
        for i in range(6):
            f.write(function(rng, i, [f"fh_{k}" for k in range(i)], "static inline ", "h"))
    for u in range(units):
        calls = [f"fh_{i}" for i in range(6)] + ([f"f{u - 1}_{i}" for i in range(functions)] if u else [])
        with open(os.path.join(folder, f"unit{u}.c"), "w") as f:
            f.write('#include "./inc/../inc/shared.h"\n')
            for name in calls[6:]:
                f.write(f"int {name}(int, int);\n")
            for i in range(functions):
                kind = "static " if i % 3 == 2 and i + 1 < functions else ""
                f.write(function(rng, i, calls + [f"f{u}_{k}" for k in range(i)], kind, u))
            f.write("#line 1000 \"made/by.y\"\n")
            f.write(f"int last{u}(int a)\n{{\n\treturn f{u}_0(a, table[a & 15]);\n}}\n")
    rename(folder, units, functions)
    with open(os.path.join(folder, "main.c"), "w") as f:
        f.write('#include "inc/shared.h"\n#include <stdio.h>\n#include <stdlib.h>\n'
                "int table[16] = { 1, 2, 3, 5, 7 };\n"
                "void side(int a)\n{\n\ttable[a & 15]++;\n}\n"
                "void fails(int a, int b)\n{\n\tprintf(\"%d %d\\n\", a, b);\n\tabort();\n}\n"
                f"int f{units - 1}_0(int, int);\n"
                f"int main(int n, char **v)\n{{\n\t(void)v;\n\treturn f{units - 1}_0(n, 3) & 1;\n}}\n")
    return [os.path.join(folder, n) for n in ["main.c"] + [f"unit{u}.c" for u in range(units)]]


def rename(folder, units, functions):
    """A later unit calls no static function of the one before: take the next one."""
    for u in range(1, units):
        path = os.path.join(folder, f"unit{u}.c")
        with open(path) as f:
            text = f.read()
        for i in range(2, functions - 1, 3):
            text = text.replace(f"f{u - 1}_{i}(", f"f{u - 1}_{i + 1}(")
        with open(path, "w") as f:
            f.write(text)


C_LEVELS = ("-O0", "-O1", "-O2", "-O3")


def c_programs(levels=C_LEVELS, versions=("4", "5")):
    """(name, compiler, options, language)"""
    for cc, cxx in ("gcc", "g++"), ("clang", "clang++"):
        for level in levels:
            for v in versions:
                yield f"{cc}-c{level}-dwarf{v}", cc, [level, f"-gdwarf-{v}"], "c"
                yield f"{cc}-cxx{level}-dwarf{v}", cxx, [level, f"-gdwarf-{v}", "-std=c++17"], "cc"
        lto = ["-flto"] + (["-fuse-ld=gold"] if cc == "clang" else [])
        for v in versions:
            yield f"{cc}-c-lto-dwarf{v}", cc, ["-O2", f"-gdwarf-{v}", *lto], "c"
            yield f"{cc}-cxx-lto-dwarf{v}", cxx, ["-O2", f"-gdwarf-{v}", "-std=c++17", *lto], "cc"
        yield f"{cc}-c-gz", cc, ["-O2", "-g", "-gz"], "c"
        yield f"{cc}-c-sections", cc, ["-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections"], "c"
        yield f"{cc}-c-static", cc, ["-O2", "-g", "-static"], "c"
        yield f"{cc}-c-types", cc, ["-O2", "-g", "-fdebug-types-section"], "c"


def other_programs():
    for level in "0", "3":
        for v in "4", "5":
            yield (f"rust-O{level}-dwarf{v}", "rustc",
                   ["-g", "-C", f"opt-level={level}", "-C", f"dwarf-version={v}"], "rs")
    yield "go", "go", ["build"], "go"
    for level in "-O0", "-O2":
        yield f"gdc{level}", "gdc", [level, "-g"], "d"


def build(folder, programs, c_sources):
    """(name, path or None, why not) of each."""
    sources = {"go": os.path.join(os.path.dirname(CASES), "go_chain.go")}
    for name, compiler, options, language in programs:
        if not shutil.which(compiler):
            yield name, None, f"no {compiler}"
            continue
        out = os.path.join(folder, name)
        # relative, as build systems do it
        source = ([os.path.relpath(s, folder) for s in c_sources] if language == "c" else
                  [sources.get(language, os.path.join(CASES, f"lines.{language}"))])
        r = subprocess.run([compiler, *options, "-o", out, *source], cwd=folder,
                           capture_output=True, text=True)
        yield name, out if r.returncode == 0 else None, r.stderr.strip()[-300:]
