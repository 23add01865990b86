#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kind of file that code is run from: whole stacks with the right names."""
import os
import platform
import shutil
import struct

from cases import HERE, Cases, need, only
from chance import least

cases = Cases()
CHAIN = "_start * main outer middle leaf"
# on arm64 musl's _start leaves no trace on the stack
MUSL = ("_start" if platform.machine() == "x86_64" else "[stack~ends:~no_row]") + " * main outer middle leaf"
GUESSED = ("_start * [caller~guessed] main [caller~guessed] outer [caller~guessed]"
           if platform.machine() == "x86_64" else "[stack~ends:~no_row]") + " middle leaf"
LIBRARY = "_start * main stay lib_run lib_outer lib_leaf"


def plain(t, name, *flags, **more):
    t.start(t.build(name, "plain.c", *flags, **more), name)


# --- how it was linked ---------------------------------------------------------

@cases.case("pie", CHAIN)
def pie(t, name):
    """position independent"""
    plain(t, name, "-fPIE", "-pie")


@cases.case("no-pie", CHAIN)
def no_pie(t, name):
    """at a fixed address"""
    plain(t, name, "-fno-pie", "-no-pie")


@cases.case("static", CHAIN)
def static(t, name):
    """static, at a fixed address"""
    plain(t, name, "-static", "-fno-pie", "-no-pie")


@cases.case("static-pie", CHAIN)
def static_pie(t, name):
    """static, position independent"""
    plain(t, name, "-static-pie", "-fPIE")


@cases.case("musl", MUSL)
def musl(t, name):
    """musl, dynamic"""
    plain(t, name, cc="musl-gcc")


@cases.case("musl-static", MUSL)
def musl_static(t, name):
    """musl, static"""
    plain(t, name, "-static", cc="musl-gcc")


@cases.case("based", LIBRARY)
def based(t, name):
    """a library linked to an address, as if prelinked"""
    lib = t.build("based.so", "library.c", "-shared", "-fPIC",
                  "-Wl,-Ttext-segment=0x7e0000000000")
    t.start(t.build("loads", "loads.c"), name, lib)


@cases.case("segments", CHAIN)
def segments(t, name):
    """several executable segments"""
    plain(t, name, "-fno-pie", "-no-pie",
          '-DFAR_1=__attribute__((section(".far_1")))',
          '-DFAR_2=__attribute__((section(".far_2")))',
          "-Wl,--section-start=.far_1=0x600000", "-Wl,--section-start=.far_2=0x30000000")


@cases.case("one-segment", CHAIN)
def one_segment(t, name):
    """headers, code and data for reading in one segment"""
    plain(t, name, "-Wl,-z,noseparate-code")


@cases.case("gold", CHAIN)
def gold(t, name):
    """linked by gold"""
    t.can("ld.gold", "--version")
    plain(t, name, "-fuse-ld=gold")


@cases.case("by-clang", CHAIN)
def by_clang(t, name):
    """compiled by clang"""
    plain(t, name, cc="clang")


@cases.case("no-search", CHAIN)
def no_search_table(t, name):
    """.eh_frame without its search table"""
    plain(t, name, "-Wl,--no-eh-frame-hdr")


@cases.case("gaps", CHAIN)
def gaps(t, name):
    """gaps of 100 KiB without a row"""
    plain(t, name, "-DGAP=102400")


@cases.case("wide-gaps", CHAIN)
def wide_gaps(t, name):
    """gaps of 3 MiB without a row"""
    plain(t, name, "-DGAP=3145728")


@cases.case("big", "_start * main big *")
def big(t, name):
    """a function of 2.5 MiB"""
    t.start(t.build(name, "big.c"), name)


# --- what it says of itself --------------------------------------------------------

def drop_sections(path):
    """No section headers: e_shoff, e_shnum, e_shstrndx (System V ABI, 4)."""
    with open(path, "r+b") as f:
        f.seek(0x28)
        f.write(struct.pack("<Q", 0))
        f.seek(0x3c)
        f.write(struct.pack("<HH", 0, 0))


@cases.case("no-sections", CHAIN)
def no_sections(t, name):
    """without section headers"""
    exe = t.build(name, "plain.c", "-rdynamic")
    drop_sections(exe)
    t.start(exe, name)


@cases.case("stripped", "* main outer middle leaf")
def stripped(t, name):
    """stripped, names from .dynsym"""
    plain(t, name, "-rdynamic", "-s")


@cases.case("debug-frame", CHAIN)
def debug_frame(t, name):
    """CFI in .debug_frame alone"""
    plain(t, name, "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-g")


@cases.case("debug-gz", CHAIN)
def debug_gz(t, name):
    """CFI in a compressed .debug_frame alone"""
    plain(t, name, "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-g", "-gz=zlib")


@cases.case("frame-pointer", CHAIN)
def frame_pointer(t, name):
    """no CFI, but frame pointers"""
    plain(t, name, "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
          "-fno-omit-frame-pointer")


@cases.case("nothing", GUESSED)
def nothing(t, name):
    """no CFI, no frame pointers: the caller of a leaf; on x86-64 the others are guessed"""
    plain(t, name, "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
          "-fomit-frame-pointer")


@cases.case("nothing-zero", GUESSED)
def nothing_zero(t, name):
    """the same with 0 where a frame pointer would be: no end of the stack"""
    only("x86_64")
    plain(t, name, "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
          "-fomit-frame-pointer", "-ffixed-rbp", "-DZERO")


# --- where it lies ---------------------------------------------------------------------

@cases.case("deleted", CHAIN)
def deleted(t, name):
    """deleted while it runs"""
    plain(t, name)
    os.unlink(t.path(name))


OTHER = ("-DOUTER=other_outer", "-DMIDDLE=other_middle", "-DLEAF=other_leaf")


@cases.case("replaced-old", CHAIN)
def replaced_old(t, name):
    """replaced while it runs: the old one"""
    shutil.copy(t.build("pie", "plain.c"), t.path("replaced"))
    t.start(t.path("replaced"), name)


@cases.case("replaced-new", "_start * main other_outer other_middle other_leaf")
def replaced_new(t, name):
    """replaced while it runs: the new one under the same name"""
    os.rename(t.build("other", "plain.c", *OTHER), t.path("replaced"))
    t.start(t.path("replaced"), name)


def swapped(case):
    a = case.matching("_start * main first stay lib_run lib_outer_a lib_leaf_a")
    b = case.matching("_start * main second stay lib_run lib_outer_b lib_leaf_b")
    assert a and b, f"{a} before, {b} after it was written over"
    assert a + b >= least(case.share, case.total()), f"names of the other: {a} + {b} of {case.total()}"


def swap(t, name, place):
    a = t.build("a.so", "library.c", "-shared", "-fPIC", "-DSUFFIX=_a")
    b = t.build("b.so", "library.c", "-shared", "-fPIC", "-DSUFFIX=_b")
    t.start(t.build("loads", "loads.c"), name, place, a, b, "2")


# Each time it is another file, whose table comes a little later.  To write it
# takes time, too (1 of 141).
@cases.case("rewritten", "_start * main * stay lib_run *", share=0.97, check=swapped,
            but=("[stack~ends:~*] lib_outer_* lib_leaf_*", 0.1))
def rewritten(t, name):
    """a library that is written over in place between two uses"""
    swap(t, name, t.path("swap.so"))


@cases.case("swapped", "_start * main * stay lib_run *", check=swapped)
def swapped_at(t, name):
    """two libraries in turn at the same address"""
    swap(t, name, "-")


@cases.case("dlopen", LIBRARY)
def dlopened(t, name):
    """a library by dlopen()"""
    t.start(t.build("loads", "loads.c"), name,
            t.build("lib.so", "library.c", "-shared", "-fPIC"))


@cases.case("memfd", CHAIN)
def memfd(t, name):
    """in a memfd"""
    fd = os.memfd_create("trifold-case")
    with open(t.build("pie", "plain.c"), "rb") as f:
        os.write(fd, f.read())
    t.start(f"/proc/self/fd/{fd}", name, pass_fds=[fd])
    os.close(fd)


def in_mounts(t, name, script, *args):
    """A mount namespace of its own, which ends with the program."""
    need("unshare")
    t.can("unshare", "--mount", "--propagation", "private", "mount", "-t", "tmpfs", "none", t.tmp)
    where = t.path(name + ".d")
    os.mkdir(where)
    t.start("unshare", "--mount", "--propagation", "private", "sh", "-euc",
            f"cd {where}; {script}", "sh", name, *args)


@cases.case("namespace", CHAIN)
def namespace(t, name):
    """in another mount namespace, on a tmpfs that only it has"""
    in_mounts(t, name, 'mount -t tmpfs none .; cp "$2" exe; exec ./exe "$1"',
              t.build("pie", "plain.c"))


@cases.case("bind", CHAIN)
def bind(t, name):
    """in a bind mount"""
    in_mounts(t, name, ': >exe; mount --bind "$2" exe; exec ./exe "$1"',
              t.build("no-pie", "plain.c"))


OVERLAY = ('mount -t tmpfs none .; mkdir upper work merged;'
           'mount -t overlay overlay -o lowerdir="$2",upperdir=upper,workdir=work merged;')


def on_overlay(t, name, script):
    with open("/proc/filesystems", encoding="ascii") as f:
        if "\toverlay\n" not in f.read():
            t.can("modprobe", "overlay")
    in_mounts(t, name, OVERLAY + script, lower(t))


def lower(t):
    os.makedirs(t.path("lower"), exist_ok=True)
    exe = os.path.join(t.path("lower"), "exe")
    if not os.path.exists(exe):
        shutil.copy(t.build("pie", "plain.c"), exe)
    return t.path("lower")


@cases.case("overlay-1", CHAIN)
def overlay_1(t, name):
    """on overlayfs, from the lower layer"""
    on_overlay(t, name, 'exec merged/exe "$1"')


@cases.case("overlay-2", CHAIN)
def overlay_2(t, name):
    """on overlayfs, a second one above the same lower layer"""
    on_overlay(t, name, 'exec merged/exe "$1"')


@cases.case("overlay-up", CHAIN)
def overlay_up(t, name):
    """on overlayfs, copied to the upper layer"""
    on_overlay(t, name, 'chmod 711 merged/exe; exec merged/exe "$1"')


@cases.case("chroot", CHAIN)
def in_chroot(t, name):
    """in a chroot that has nothing else"""
    root = t.path("root")
    os.mkdir(root)
    shutil.copy(t.build("static", "plain.c", "-static", "-fno-pie", "-no-pie"), root)
    t.start(need("chroot"), root, "/static", name)


# --- not for us --------------------------------------------------------------------------

@cases.case("compat", "[stack~ends:~compat] *", share=1)
def compat(t, name):
    """32 bit: recognised, not guessed at"""
    only("x86_64")
    t.can("as", "--32", os.path.join(HERE, "compat.s"), "-o", t.path("compat.o"))
    t.can("ld", "-m", "elf_i386", t.path("compat.o"), "-o", t.path(name))
    t.can("timeout", "0.1", t.path(name), code=124)
    t.start(t.path(name))


cases.run()
