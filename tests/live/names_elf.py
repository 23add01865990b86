# SPDX-License-Identifier: Apache-2.0
"""What an ELF file says of its functions, read apart from trifold: for names_agree.py."""
import bisect
import os
import struct

FUNC, OBJECT, NOTYPE, IFUNC = 2, 1, 0, 10


class Symbol:
    __slots__ = ("name", "at", "size", "kind", "local", "table", "section")

    def __init__(self, name, at, size, kind, local, table, section):
        self.name, self.at, self.size, self.kind = name, at, size, kind
        self.local, self.table, self.section = local, table, section

    def __repr__(self):
        kind = {FUNC: "func", OBJECT: "object", NOTYPE: "notype", IFUNC: "ifunc"}.get(self.kind)
        return (f"{self.name}@{self.at:#x}+{self.size:#x} {kind}"
                f"{' local' if self.local else ''} {self.table}")


class NotElf(Exception):
    pass


class Elf:
    """Segments, sections and symbols of a 64-bit little-endian file, and of its
    debug file (for .symtab, if the file has none)."""

    def __init__(self, path, debug=None):
        self.path, self.debug = path, debug
        self.raw = open(path, "rb")
        self.size = os.fstat(self.raw.fileno()).st_size
        h = self.raw.read(64)
        if len(h) < 64 or h[:6] != b"\x7fELF\x02\x01":
            raise NotElf(path)
        (self.type, self.machine, _, self.entry, phoff, shoff, _, _, phsize, phnum, shsize, shnum,
         shstr) = struct.unpack("<HHIQQQIHHHHHH", h[16:])
        if self.type not in (2, 3) or self.machine not in (62, 183):
            raise NotElf(path)
        self.code = []          # (vaddr, size) of executable segments, what of them is in the file
        for i in range(phnum):
            kind, flags, off, vaddr, _, filesz, _, _ = struct.unpack(
                "<IIQQQQQQ", self.at(phoff + i * phsize, 56))
            if kind == 1 and flags & 1 and filesz:
                self.code.append((vaddr, min(filesz, self.size - off)))
        self.sections = []
        for i in range(shnum if shoff else 0):
            name, kind, flags, addr, off, size, link, _, _, _ = struct.unpack(
                "<IIQQQQIIQQ", self.at(shoff + i * shsize, 64))
            self.sections.append([name, kind, flags, addr, off, size, link])
        if self.sections:
            names = self.at(*self.sections[shstr][4:6])
            for s in self.sections:
                s[0] = names[s[0]:names.index(b"\0", s[0])].decode()
        sections = [(s[3], s[5]) for s in self.sections if s[2] & 4 and s[1] != 8 and s[5]]
        self.code = sections or self.code
        self.go = any(s[0].endswith(".gopclntab") or s[0] in (".go.buildinfo", ".note.go.buildid")
                      for s in self.sections)
        self._symbols = self._go_tables = None
        self.data = set()       # names of what is not in code

    def at(self, off, n):
        self.raw.seek(off)
        return self.raw.read(n)

    def section(self, name):
        for s in self.sections:
            if s[0] == name and s[1] != 8:
                return s
        return None

    def section_of(self, vaddr):
        for s in self.sections:
            if s[2] & 2 and s[3] <= vaddr < s[3] + s[5]:
                return s[0]
        return None

    def build_id(self):
        s = self.section(".note.gnu.build-id")
        return self.at(s[4] + 16, s[5] - 16).hex() if s else None

    def _table(self, of, name, strings):
        table, text = of.section(name), of.section(strings)
        if not table or not text or table[2] & 0x800:
            return
        strs = of.at(*text[4:6])
        for st_name, info, _, shndx, value, size in struct.iter_unpack(
                "<IBBHQQ", of.at(table[4], table[5] // 24 * 24)):
            if not shndx or not st_name or info & 15 not in (FUNC, OBJECT, NOTYPE, IFUNC):
                continue
            text = strs[st_name:strs.index(b"\0", st_name)].decode(errors="replace")
            if any(v <= value < v + n for v, n in self.code):
                yield Symbol(text, value, size, info & 15, not info >> 4, name, shndx)
            else:
                self.data.add(plain(text))

    def symbols(self):
        """All in code, by address."""
        if self._symbols is None:
            own = list(self._table(self, ".symtab", ".strtab"))
            if not self.section(".symtab") and self.debug:
                own = list(self._table(Elf(self.debug), ".symtab", ".strtab"))
            own += self._table(self, ".dynsym", ".dynstr")
            self._symbols = sorted(own, key=lambda s: s.at)
            self._starts = [s.at for s in self._symbols]
        return self._symbols

    def go_tables(self):
        """All strings of .gopclntab that may be names."""
        if self._go_tables is None:
            s = self.section(".gopclntab") or self.section(".data.rel.ro.gopclntab")
            text = self.at(*s[4:6]) if s else b""
            self._go_tables = {t.decode(errors="replace") for t in text.split(b"\0")}
        return self._go_tables

    def over(self, vaddr, back=4000):
        """Symbols of a size that cover an address, those that begin last first."""
        all_ = self.symbols()
        i = bisect.bisect_right(self._starts, vaddr)
        return [s for s in reversed(all_[max(0, i - back):i]) if vaddr - s.at < s.size]

    def before(self, vaddr):
        """Those at the last address at or before this one that has any."""
        all_ = self.symbols()
        i = bisect.bisect_right(self._starts, vaddr)
        found = []
        while i and (not found or all_[i - 1].at == found[0].at):
            i -= 1
            found.append(all_[i])
        return found

    def named(self, name):
        return [s for s in self.symbols() if plain(s.name) == plain(name)]


def plain(name):
    """Without the version."""
    return name.split("@")[0] if not name.endswith("@plt") else name


def debug_of(elf, root="/usr/lib/debug"):
    """Its debug file by build ID, or None."""
    number = elf.build_id()
    path = number and f"{root}/.build-id/{number[:2]}/{number[2:]}.debug"
    return path if path and os.path.exists(path) else None
