#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kind of moment at which a program can be interrupted: whole stacks."""
import os
import platform
import shutil

from cases import HERE, Cases, only
from chance import least

cases = Cases()


def moment(t, name, which, *flags):
    t.start(t.build("moments" + "".join(flags), "moments.c", *flags), name, which)


def simple(name, stack, which, what, *flags, machine=None, **more):
    def make(t, name):
        if machine:
            only(machine)
        moment(t, name, which, *flags)
    make.__doc__ = what
    cases.case(name, stack, **more)(make)


def some(stack, share=0.2):
    """Of the samples, this share at least has a stack like that, less what may be chance."""
    def check(case):
        n = case.matching(stack)
        assert n >= least(share, case.total()), f"{n} of {case.total()} are {stack}"
    return check


simple("system-call", "_start * main in_call *", "in_call", "in a system call",
       check=some("_start * main in_call * *_[k]"))
simple("vdso", "_start * main in_vdso *", "in_vdso", "in the vDSO")
simple("vfork", "_start * main in_vfork *", "in_vfork", "in vfork's child",
       check=some("_start * main in_vfork child leaf", 0.5))

# --- signals ---------------------------------------------------------------------

INTERRUPTED = "_start * main outer interrupted"


def named(t, name, exe):
    """A copy by this name: where the first thread sleeps, this is what the
    process is called by."""
    return shutil.copy(exe, t.path(name))


def signals(name, stack, how, what, deepest, *flags, cc="gcc", **more):
    def make(t, name):
        exe = t.build("signals-" + cc + "".join(flags), "signals.c", *flags, cc=cc)
        t.start(named(t, name, exe), name, how)
    make.__doc__ = what
    cases.case(name, stack + " *", check=some(f"{stack} {deepest}"), **more)(make)


signals("signal", INTERRUPTED, "plain", "in a signal handler", "* handler in_handler")
signals("nested", INTERRUPTED, "nested", "in a signal handler's signal handler",
        "* handler * second in_second")
signals("signal-static", INTERRUPTED, "plain", "the same with all names",
        "__restore_rt handler in_handler", "-static")
signals("fault", INTERRUPTED, "fault", "in the handler of a fault", "* handler in_handler")
signals("bad-call", INTERRUPTED, "bad-call", "in the handler of a call to nowhere",
        "* handler in_handler")
signals("alternate", INTERRUPTED, "alternate",
        "on an alternate stack below the thread's", "* handler in_handler")
signals("above", "* outer interrupted", "above",
        "on an alternate stack above the thread's", "* handler in_handler")

BARE = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-omit-frame-pointer")
signals("signal-fp", INTERRUPTED, "plain", "in a signal handler, by frame pointer",
        "* handler in_handler", *BARE)
signals("nested-fp", INTERRUPTED, "nested", "in two of them, by frame pointer",
        "* handler * second in_second", *BARE)
signals("alternate-fp", INTERRUPTED, "alternate",
        "on an alternate stack below, by frame pointer", "* handler in_handler", *BARE)
signals("above-fp", "* outer interrupted", "above",
        "on an alternate stack above, by frame pointer", "* handler in_handler", *BARE)
# on arm64 musl's _start leaves no trace on the stack
MUSL = ("_start" if platform.machine() == "x86_64" else "[stack~ends:~no_row]") + \
    " * main outer interrupted"
signals("musl", MUSL, "plain", "in a signal handler, musl", "* handler in_handler", cc="musl-gcc")
signals("musl-static", MUSL, "plain", "in a signal handler, static musl",
        "__restore_rt handler in_handler", "-static", cc="musl-gcc")

# --- the edges of functions ----------------------------------------------------------


def edges(name, loop, leaf, what, stack=None):
    def make(t, name):
        only("x86_64")
        t.start(t.build(name, "edges.c", "-DLOOP=" + loop, os.path.join(HERE, "edges.S")), name)
    make.__doc__ = what
    stack = stack or f"_start * main outer {loop}"
    cases.case(name, f"{stack} *", check=some(f"{stack} {leaf}"))(make)


edges("edge", "edge_loop", "edge_push", "first and last instructions")
edges("bare-edge", "bare_loop", "bare_push", "the same by frame pointer")
edges("expression", "expression_loop", "edge_push", "a CFA by an expression")
edges("constant", "constant_loop", "edge_push", "the same with a number pushed, as SBCL says it")
edges("elsewhere", "elsewhere_loop", "elsewhere edge_push",
      "a CFA on another stack, further down, as OCaml 5 says it")
edges("by-hand", "by_hand_loop", "by_hand edge_push",
      "the same by the stack pointer, as programs do that switch stacks by hand")
edges("around", "around_loop", "edge_push", "the rest of a function, after one that lies within it")
edges("popped", "popped_loop", "", "its return address popped: the CFA is the stack pointer")
edges("register", "register_loop", "edge_push", "a CFA by a callee-saved register")
edges("guess", "guess_loop", "[caller~guessed] guess_push",
      "assembler without CFI and frame pointer: its callers are guessed, and marked",
      "_start * main outer [caller~guessed] guess_loop")
edges("stale", "stale_loop", "", "the same below a return address of another call: not guessed",
      "[stack~ends:~no_row] stale_loop")
edges("rootless", "rootless_loop", "", "the same on a stack without a root: the guess goes again",
      "[stack~ends:~no_row] rootless_inner")


@cases.case("fiber", "fiber+0x* fiber *", check=some("fiber+0x* fiber edge_push"))
def fiber(t, name):
    """a fiber, whose function returns to code without CFI that ends the process"""
    only("x86_64")
    t.start(t.build(name, "edges.c", "-DLOOP=fiber_loop", os.path.join(HERE, "edges.S")), name)


def plt(name, what, *flags, where=(), stack="calls *", **env):
    def make(t, name):
        only("x86_64")
        lib = t.build("libquick.so", "library.c", "-shared", "-fPIC")
        exe = t.build("plt" + "".join(flags), "plt.c", "-Wl,-z,lazy", "-Wl,--no-as-needed", lib,
                      *flags)
        t.start(named(t, name, exe), name, *where, env=dict(os.environ, **env))
    make.__doc__ = what
    cases.case(name, f"_start * main {stack}")(make)


IBT = ("-fcf-protection=full", "-Wl,-z,ibtplt")
plt("plt", "around a lazy PLT", "-fcf-protection=none")
plt("plt-ibt", "around a PLT with branch protection", *IBT)
# How many samples of the former are in the PLT itself depends on the CPU; all of these are.
plt("entry", "in a PLT entry", "-fcf-protection=none", where=("entry",),
    stack="calls lib_quick@plt * handler in_handler")
plt("entry-ibt", "in a PLT entry with branch protection", *IBT, where=("entry",),
    stack="calls lib_quick@plt * handler in_handler")
plt("first-entry", "in a PLT's first entry", "-fcf-protection=none", where=("first",),
    stack="calls_unbound .plt * handler in_handler")
plt("resolver", "in the lazy resolver, each time", LD_BIND_NOT="1")
plt("resolver-ibt", "the same from a PLT with branch protection", *IBT, LD_BIND_NOT="1")


def bare_library(name, what, *flags):
    def make(t, name):
        only("x86_64")
        lib = t.build("libbare.so", "library.c", "-shared", "-fPIC", "-fomit-frame-pointer",
                      "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
        exe = t.build(name, "plt.c", "-Wl,--no-as-needed", lib, *flags)
        t.start(exe, name, "leaf")
    make.__doc__ = f"a leaf without CFI and frame of a library, {what}"
    cases.case(name, "_start * main calls_leaf lib_leaf")(make)


bare_library("bare-plt", "called through a lazy PLT", "-fcf-protection=none", "-Wl,-z,lazy")
bare_library("bare-ibt", "called through a PLT with branch protection", *IBT)
bare_library("bare-now", "called through a PLT that is bound at the start", "-Wl,-z,now")
bare_library("bare-no-plt", "called without a PLT", "-fno-plt")

# --- stacks --------------------------------------------------------------------------

simple("realigned", "_start * main realigned leaf", "realigned", "a realigned stack")
simple("realign-all", "_start * main realigned leaf", "realigned",
       "every stack realigned", "-mstackrealign", machine="x86_64")


@cases.case("avx", "_start * main realigned leaf")
def avx(t, name):
    """realigned for AVX"""
    t.can("grep", "-qw", "avx2", "/proc/cpuinfo")
    moment(t, name, "realigned", "-mavx2", "-O3")


simple("alloca", "_start * main allocates leaf", "allocates", "alloca()")
simple("alloca-aligned", "_start * main allocates_aligned leaf", "allocates_aligned",
       "alloca() in a realigned stack")
simple("nested-fn", "_start * main nests apply inner* leaf", "nests", "a nested function")
# Once longjmp() has changed the stack nothing leads back: 6 % were there.  The
# function is called __longjmp where libc's debug file is installed.
simple("longjmp", "_start * main jumps *", "jumps", "longjmp()",
       but=("[stack~ends:~unsupported] *", 0.1))
simple("noreturn", "_start * main last never_returns leaf", "last",
       "a call that is a function's last instruction")
simple("fits", "_start * main fits " + "deeper " * 1001 + "leaf", "fits", "1,000 frames deep")
simple("too-deep", "[frames~missing] " + "deeper " * 1023 + "leaf", "deep",
       "1,100 frames deep: cut, and marked")


def thread(name, what, *flags, cc="gcc"):
    def make(t, name):
        exe = t.build("-".join(("moments", cc, *flags)), "moments.c", *flags, cc=cc)
        t.start(named(t, name, exe), name, "threads")
    make.__doc__ = what
    cases.case(name, "* thread_main leaf")(make)


@cases.case("new-threads", "* *")
def new_threads(t, name):
    """threads that begin and end all the time"""
    moment(t, name, "begins")


thread("thread", "a thread")
thread("thread-fp", "a thread, by frame pointer", *BARE)
thread("musl-thread", "a thread of musl", cc="musl-gcc")
simple("coroutine", "* *", "switches", "switches of context",
       check=some("* coroutine leaf"))


@cases.case("greenlet", "greenlet::UserGreenlet::inner_bootstrap leaf")
def greenlet(t, name):
    """a greenlet, behind whose first function lies what others left on the stack"""
    t.start(t.build("greenlet", "greenlet.c", "-rdynamic"), name)


@cases.case("split", "_start * main realigned leaf")
def split(t, name):
    """split stacks"""
    moment(t, name, "realigned", "-fsplit-stack")


# libgcc's uw_install_context() overwrites what _Unwind_RaiseException() saved
# with the handler's registers: until that has moved sp no CFI is true (gdb is
# lost there, too).  Of a program that does nothing but throw 2 % were there.
@cases.case("throws", "_start * main *", but=("[stack~ends:~*] catches _Unwind_RaiseException *", 0.04),
            check=some("_start * main catches passes thrower __cxa_throw *", 0.5))
def throws(t, name):
    """exceptions being thrown"""
    t.start(t.build(name, "throws.cc", cc="g++"), name)

# --- no owner ------------------------------------------------------------------------


def jit(name, stack, how, what):
    def make(t, name):
        only("x86_64")
        t.start(t.build("jit", "jit.c", "-fomit-frame-pointer"), name, how)
    make.__doc__ = what
    cases.case(name, stack)(make)


jit("jit", "_start * main outer [JIT~code,~no~names]", "loop", "code in anonymous memory")
jit("jit-memfd", "_start * main outer [JIT~code,~no~names]", "memfd", "code in a memfd, no ELF file")
jit("jit-callback", "_start * main outer [JIT~code,~no~names] called_back leaf", "callback",
    "called back by code in anonymous memory")
jit("jit-chain", "_start * main outer [JIT~code,~no~names] [JIT~code,~no~names] [JIT~code,~no~names] called_back leaf",
    "chain", "three frames in anonymous memory")
jit("jit-bare", "[stack~ends:~anonymous] [JIT~code,~no~names]", "bare",
    "anonymous memory without frame pointers ends the stack, and says so")
jit("jit-zero", "[stack~ends:~anonymous] [JIT~code,~no~names] called_back leaf", "zero",
    "the same with 0 where a frame pointer would be: no end of the stack")
jit("jit-memfd-zero", "[stack~ends:~anonymous] [JIT~code,~no~names] called_back leaf", "memfd-zero",
    "the same in a memfd")


def moved(name, how, what, *flags):
    def make(t, name):
        t.start(t.build("moved" + "".join(flags), "moved.c", "-fomit-frame-pointer", *flags), name, how)
    make.__doc__ = what
    cases.case(name, "_start * main outer middle leaf")(make)


moved("moved", "anonymous", "text that was copied to anonymous memory, as for huge pages")
moved("moved-file", "memfd", "the same in a file without a name")


@cases.case("exec-storm", "*", share=0.95)
def exec_storm(t, name):
    """between exec and the first instruction, and up to exit"""
    moment(t, "exec-parent", t.build(name, "true.c"))


cases.run()
