# SPDX-License-Identifier: Apache-2.0
"""`trifold names` against llvm-symbolizer and eu-addr2line, address by address.

An answer is a list of places, innermost first: (function, file, line).  Names are those of
the file, not demangled, without their versions; files are compared after normalizing.  Where
ours is not llvm-symbolizer's, eu-addr2line is asked, and the rest is judged by what the file
says (names_elf.py).  cause() names each difference; what it cannot is UNEXPLAINED.
"""
import collections
import os
import random
import re
import shutil
import subprocess

from live import TRIFOLD
from names_elf import FUNC, IFUNC, NOTYPE, Elf, debug_of, plain

UNEXPLAINED = "UNEXPLAINED"
LLVM = next((w for w in ("llvm-symbolizer", *(f"llvm-symbolizer-{v}" for v in range(21, 12, -1)))
             if shutil.which(w)), None)
EU = shutil.which("eu-addr2line")


def run(command, addresses):
    """Standard output, for these addresses on standard input."""
    r = subprocess.run(command, input="".join(f"{a:#x}\n" for a in addresses), text=True,
                       capture_output=True, errors="surrogateescape")
    # eu-addr2line's status says that an address has no line
    if r.returncode and command[0] != EU:
        raise RuntimeError(f"{command[0]}: {r.returncode}: {r.stderr.strip()[-200:]}")
    return r.stdout


def place(name, file="", line=0):
    return "?" if name in ("??", "?") else plain(name), "" if file == "??" else file, line


def split_line(text):
    """FILE:LINE, and what eu-addr2line has after it."""
    m = re.match(r"(.*?):(\d+)(?::\d+)?(?: \(.*\))?$", text, re.S)
    return (m[1], int(m[2])) if m else (text, 0)


def ours(path, addresses, debug=None):
    out = run([TRIFOLD, "names", path, "-", "--mangled", *(["--debug", debug] if debug else [])],
              addresses)
    answers, more = [], False
    for line in out.splitlines():
        words = line.split("\t")
        if not more:
            answers.append([])
        answers[-1].append(place(words[1], *split_line(words[2] if len(words) > 2 else "")))
        more = words[-1] == "(inlined)"
    return answers


def llvm(path, addresses):
    out = run([LLVM, "--obj=" + path, "--inlines", "--functions=linkage", "--no-demangle"],
              addresses)
    answers = []
    for block in out.split("\n\n")[:len(addresses)]:
        lines = block.split("\n")
        answers.append([place(lines[i], *split_line(lines[i + 1]))
                        for i in range(0, len(lines) - 1, 2)])
    return answers


def elfutils(path, addresses):
    out = run([EU, "-e", path, "-i", "-f", "-a"], addresses)
    answers = []
    lines = out.splitlines()
    i = 0
    while i < len(lines):
        if re.match(r"0x[0-9a-f]{16}$", lines[i]):
            answers.append([])
            i += 1
        name = re.sub(r" inlined at .* in .*$", "", lines[i])
        answers[-1].append(place(name, *split_line(lines[i + 1])))
        i += 2
    return answers


# --- what is alike -----------------------------------------------------------------

def normal(answer):
    return [(name, os.path.normpath(file) if file else "", line) for name, file, line in answer]


# --- functions ---------------------------------------------------------------------

def function_cause(elf, at, mine, theirs):
    """Why the name of the function that has an address of its own is not llvm-symbolizer's;
    None: it is."""
    if mine == theirs:
        return None
    section = elf.section_of(at) or ""
    over = elf.over(at)
    last = elf.before(at)
    covers = {plain(s.name): s for s in reversed(over)}
    unsized = {plain(s.name) for s in last if not s.size}
    if mine.endswith("@plt") or section.startswith((".plt", ".iplt")):
        return "stub of the PLT: ours f@plt or the section; theirs none, or the symbol before"
    if elf.go and (not over or go_plain(mine) == go_plain(theirs) or mine in elf.go_tables()):
        return "Go: ours as its own tables have it; theirs the symbol, or none"
    if mine in covers and theirs in covers:
        if covers[mine].at == covers[theirs].at:
            return "alias: another name of the same function"
        if covers[mine].at > covers[theirs].at:
            return "a function within another: ours the inner one"
    if mine in covers and theirs == "?":
        return "none in llvm-symbolizer: ours covers the address"
    if mine in covers and theirs in unsized:
        return "label within a function: ours the function"
    if mine in covers and theirs == mine.split(".")[0]:
        return "part of a function: ours its symbol (f.cold, f.part.0), theirs DWARF's (f)"
    if mine in unsized and theirs in unsized:
        return "alias: another name of the same function"
    if mine in unsized and theirs == "?":
        return "symbol without a size: ours reaches to the next one, theirs to nothing"
    if mine == "?" and theirs in unsized:
        return "symbol without a size: ours ends with its section, or after 4 KiB"
    if theirs in ("?", *unsized) and not elf.section(".symtab") and (
            mine == "main" or mine == "_start" and 0 <= at - elf.entry < 64):
        return "no symbol: ours _start and main of a stripped program, by its entry"
    if mine.startswith("!") and theirs == "?":
        return "no symbol: ours the function that the call frame information describes"
    if mine[0] in "!?" and theirs in elf.data:
        return "data: theirs a symbol of another section, without a size"
    if mine.startswith("!") and theirs in unsized:
        return "symbol without a size: ours a function that begins after it"
    return UNEXPLAINED


def go_plain(name):
    """Its tables have no type arguments and no ABI."""
    return re.sub(r"\[.*\]", "[...]", name).removesuffix(".abi0")


# --- lines -------------------------------------------------------------------------

def cause(elf, at, mine, theirs, eu):
    """None: both say the same.  Else why they do not."""
    mine, theirs = normal(mine), normal(theirs)
    if mine == theirs:
        return None
    why = function_cause(elf, at, mine[-1][0], theirs[-1][0])
    if why == UNEXPLAINED:
        return why
    mine[-1] = (theirs[-1][0], *mine[-1][1:])
    return why if mine == theirs else lines_cause(elf, at, mine, theirs, eu)


def lines_cause(elf, at, mine, theirs, eu):
    """The same of files, lines, and what is inlined."""
    if len(mine) == len(theirs) and all(
            m == t or (m[0] == t[0] and not m[2] and not t[2]) for m, t in zip(mine, theirs)):
        return ("no line: ours the file of the function's declaration, or none; theirs the one "
                "of the symbol table, or none")
    if elf.go and not any(line for _, _, line in theirs):
        return "Go: ours as its own tables have it; theirs the symbol, or none"
    if elf.go and [(go_plain(m[0]), *m[1:]) for m in mine] == [
            (go_plain(t[0]), *t[1:]) for t in theirs]:
        return "Go: type arguments, which its tables do not have"
    if elf.go and mine[0][1] == "<autogenerated>":
        return "Go: <autogenerated>"
    if [t for t in theirs if t[0] != "?"] == mine:
        return "inlined from a file of dwz that is not here, so without a name: ours leaves it out"
    if stale(elf, at, mine, theirs):
        return "row of the code before the function, of another unit: ours no line"
    eu = normal(eu())
    if eu[:-1] + [(mine[-1][0], *eu[-1][1:])] == mine:
        return f"{UNEXPLAINED}: {kind_of(mine, theirs)}, but as eu-addr2line, by the same library"
    return f"{UNEXPLAINED}: {kind_of(mine, theirs)}"


def stale(elf, at, mine, theirs):
    """Only our innermost line is missing, and theirs is also that of what stands before the
    function: the first bytes of a cold part have no row of their own."""
    over = elf.over(at)
    if not over or mine[1:] != theirs[1:] or mine[0][0] != theirs[0][0] or mine[0][2]:
        return False
    # padding may be between the two
    before = llvm(elf.path, range(over[0].at - 1, over[0].at - 17, -1))
    last = next((b for b in map(normal, before) if b[0][2]), None)
    return last and last[0][1:] == theirs[0][1:] and last[-1][0] != theirs[-1][0]


def kind_of(mine, theirs):
    """What differs."""
    if len(mine) != len(theirs):
        return "number of places"
    kinds = [k for i, k in enumerate(("function", "file", "line"))
             if any(m[i] != t[i] for m, t in zip(mine, theirs))]
    return " and ".join(kinds)


# --- a run -------------------------------------------------------------------------

class Tally:
    def __init__(self):
        self.n, self.same = 0, 0
        self.causes = collections.Counter()
        self.examples = collections.defaultdict(list)

    def add(self, path, at, why, *answers):
        self.n += 1
        if not why:
            self.same += 1
            return
        self.causes[why] += 1
        self.examples[why].append((path, at, *answers))

    def unexplained(self):
        return [(why, e) for why, es in self.examples.items() if why.startswith(UNEXPLAINED)
                for e in es]


def addresses_of(elf, n, rng, edges=0):
    """n random ones of its code, and as many at the edges of symbols."""
    sizes = [size for _, size in elf.code]
    found = [start + rng.randrange(size) for start, size in rng.choices(elf.code, sizes, k=n)]
    symbols = [s for s in elf.symbols() if s.kind in (FUNC, IFUNC, NOTYPE)] if edges else []
    for s in rng.choices(symbols, k=edges) if symbols else []:
        at = rng.choice((s.at, s.at + max(s.size, 1) - 1, s.at + s.size,
                         s.at + s.size + rng.randrange(1, 40)))
        if any(start <= at < start + size for start, size in elf.code):
            found.append(at)
    return sorted(found)


def compare(path, n, rng, tally, edges=0):
    elf = Elf(path)
    if not elf.code:
        return
    elf.debug = debug_of(elf)
    ask = addresses_of(elf, n, rng, edges)
    mine, theirs = ours(path, ask, elf.debug), llvm(path, ask)
    assert len(mine) == len(theirs) == len(ask), (path, len(mine), len(theirs), len(ask))
    differ = [a for a, m, t in zip(ask, mine, theirs) if normal(m) != normal(t)]
    known = {}

    def eu_of(at):
        if not known:
            known.update(zip(differ, elfutils(path, differ)))
        return known[at]

    for at, m, t in zip(ask, mine, theirs):
        why = cause(elf, at, m, t, lambda at=at: eu_of(at))
        tally.add(path, at, why, m, t, known.get(at))


# --- stubs ----------------------------------------------------------------------------

def stubs(path):
    """[(address, ours, what may be)] of the stubs of the PLT, by objdump; of an IFUNC it has
    the address, which has names, or none: then the section's name stands for it."""
    elf, labels = Elf(path), {}
    for section in elf.sections:
        if section[0].startswith(".plt"):
            out = subprocess.run(["objdump", "-d", "-j", section[0], path], capture_output=True,
                                 text=True, errors="surrogateescape").stdout
            labels.update((int(at, 16), label) for at, label in
                          re.findall(r"^([0-9a-f]{16}) <(.*)@plt>:$", out, re.M))

    def names(label):
        if label.startswith("*ABS*+0x"):
            return [plain(s.name) for s in elf.symbols() if s.at == int(label[8:], 16)]
        return [plain(label)]
    ask = sorted(labels)
    mine = ours(path, ask) if ask else []
    return [(at, m[-1][0], [n + "@plt" for n in names(labels[at])] or [elf.section_of(at)])
            for at, m in zip(ask, mine)]


# --- what to compare -------------------------------------------------------------------

MACHINE = ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/local")


def machine_files():
    """Executables and libraries below MACHINE, and what running processes map, each once."""
    found = {}
    for base in MACHINE:
        for folder, _, names in os.walk(base):
            for name in names:
                found_add(found, os.path.join(folder, name))
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/maps", errors="surrogateescape") as f:
                for line in f:
                    words = line.split(maxsplit=5)
                    if "x" in words[1] and len(words) > 5:
                        found_add(found, words[5].rstrip("\n"))
        except OSError:
            pass
    return sorted(found.values())


def found_add(found, path):
    if os.path.islink(path) or path.startswith("/usr/lib/debug/"):
        return
    try:
        st = os.stat(path)
        with open(path, "rb") as f:
            head = f.read(20)
    except OSError:
        return
    if head[:6] == b"\x7fELF\x02\x01" and head[16] in (2, 3) and head[18] in (62, 183):
        found.setdefault((st.st_dev, st.st_ino), path)


def report(tally, say, examples=2):
    """The table of causes, and for each some examples."""
    say(f"{tally.n} addresses: {tally.same} equal llvm-symbolizer's, {tally.n - tally.same} differ")
    for why, n in tally.causes.most_common():
        say(f"{n:7} {why}")
        every = len(tally.examples[why]) // examples or 1
        for path, at, mine, theirs, eu in tally.examples[why][::every][:examples]:
            say(f"        {path} {at:#x}\n          ours {mine}\n          llvm {theirs}" +
                (f"\n          eu   {eu}" if eu else ""))
