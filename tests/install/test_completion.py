#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completions have what `trifold` takes, and shells complete it.

First each file of packaging/completion/ is compared with --help: commands,
options, and what the value of each is.  Then bash, zsh and fish, on a terminal,
read their file and a function `trifold` that shows its words; a line is typed,
with the TAB key.  No root.
Usage: test_completion.py [BUILD-DIR]
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRIFOLD = os.path.join(os.path.abspath(sys.argv[1]) if sys.argv[1:] else
                       os.path.join(ROOT, "build"), "bin", "trifold")

# typed, with \t for the key, and what the command is then given
LINES = (
    ("trifold re\t", "record"),
    ("trifold rec\t--du\t7", "record --duration 7"),
    ("trifold record --fo\tsp\t", "record --format speedscope"),
    ("trifold record --format=sp\t", "record --format=speedscope"),
    ("trifold record --output some\t", "record --output some file.folded"),
    ("trifold diff some\tdir\tin\t", "diff some file.folded dir/inner.folded"),
    ("trifold table --a\t10", "table --at 10"),
    ("trifold record -- trifold-m\tsome\t", "record -- trifold-made-up some file.folded"),
    ("trifold completion z\t", "completion zsh"),
    ("trifold rec\t--frequency \t97", "record --frequency 97"),
    ("trifold recorde\t", "recorde"),
)


def say(*args):
    return subprocess.run([TRIFOLD, *args], check=True, capture_output=True, text=True).stdout


def helped_options(command):
    """{option: "flag", "file", "value", or the words to choose from}, as --help has them."""
    options = {}
    for name, value, text in re.findall(r"^  --([a-z-]+)(?: (\S+))?(?: +(.*))?$",
                                        say(command, "--help"), re.M):
        words = re.sub(r" \(.*?\)", "", text).replace(" or ", ", ").replace(", ", " ")
        options[name] = ("flag" if not value else "file" if value == "FILE" else
                         value.replace("|", " ") if "|" in value else
                         words if value in ("FORMAT", "VIEW") else "value")
    return options


def bash_options(text):
    values = {}
    for names, does in re.findall(r"^\t(--[^)]+)\)\n\t\t(\S.*?)$", text, re.M):
        words = re.match("_trifold_words '(.*)'", does)
        for name in re.findall("--([a-z-]+)", names):
            values[name] = words[1] if words else \
                "file" if does == "_trifold_files" else "value"
    commands = re.search("_trifold_words '([^']*) --help --version'", text)[1].split()
    return {c: {o: values.get(o, "flag") for o in re.findall("--([a-z-]+)", options)}
            for c, options in re.findall(r"^\t'(\S+) -?'\*\) _trifold_words '(-[^']*)'", text,
                                         re.M)}, commands


def zsh_options(text):
    found = {}
    for name, spec in re.findall(r"^\tlocal (\w+)='(.*)'$", text, re.M):
        text = text.replace("$" + name, f"'{spec}'")
    for commands, block in re.findall(r"^\t([a-z |-]+)\)\n(\t\t_arguments.*?)\n\t\t;;", text,
                                      re.M | re.S):
        options = {}
        for name, value, action in re.findall(r"'--([a-z-]+)(=?)\[[^\]]*\](?::[^:]+:([^']*))?'",
                                              block):
            options[name] = ("flag" if not value else action.strip("()") if "(" in action else
                             "file" if action == "_files" else "value")
        found.update((c, options) for c in commands.split(" | "))
    return found, re.findall(r"^\t\t'([a-z-]+):", text, re.M)


def fish_options(text):
    found = {}
    for commands, name, does in re.findall(
            r"^complete -c trifold -n '__trifold_in ([a-z -]+)' -l ([a-z-]+) (.*)$", text, re.M):
        words = re.search("-x -a '([^']*)'", does)
        for c in commands.split():
            found.setdefault(c, {})[name] = words[1] if words else \
                "file" if "-r -F " in does else "value" if "-x " in does else "flag"
    return found, re.findall(r"-n __trifold_first -a (\S+)", text)


def same(shell, options_of):
    """Is it what --help says?"""
    with open(os.path.join(ROOT, "packaging/completion/trifold." + shell), encoding="ascii") as f:
        text = f.read()
    wrong = [] if say("completion", shell) == text else ["`trifold completion` writes another"]
    commands = re.findall(r"^  (\S+) +\S", say("--help"), re.M)
    got, listed = options_of(text)
    want = {c: helped_options(c) for c in commands}
    if listed != commands or set(got) != set(commands):
        wrong.append(f"commands are {listed} and {list(got)}, want {commands}")
    for c in commands:
        wrong += [f"{c} --{o}: {got.get(c, {}).get(o)!r}, want {want[c].get(o)!r}"
                  for o in sorted(set(got.get(c, {})) | set(want[c]))
                  if got.get(c, {}).get(o) != want[c].get(o)]
    for w in wrong:
        print(f"# {shell}: {w}")
    return not wrong


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, argv, env, cwd):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(cwd)
            os.execvpe(argv[0], argv, env)
        self.text = ""

    def read_until(self, word, seconds=60):
        end = time.time() + seconds
        while word not in self.text:
            if not select.select([self.fd], [], [], max(0, end - time.time()))[0]:
                raise AssertionError(f"no {word!r} in {self.text[-800:]!r}")
            self.text += os.read(self.fd, 65536).decode("utf-8", "replace")
        before, _, self.text = self.text.partition(word)
        return before

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


BASH_COMPLETION = "/usr/share/bash-completion/bash_completion"


def start(shell, tmp, helped):
    script = os.path.join(tmp, "script." + shell)
    with open(script, "wb") as f:
        f.write(subprocess.run([TRIFOLD, "completion", shell], check=True,
                               capture_output=True).stdout)
    env = {"PATH": os.path.join(tmp, "bin") + ":/usr/bin:/bin", "HOME": tmp, "TERM": "dumb",
           "LC_ALL": "C.UTF-8", "PS1": "$ ", "XDG_CONFIG_HOME": tmp, "XDG_DATA_HOME": tmp}
    argv = {"bash": ["bash", "--norc", "-i"], "zsh": ["zsh", "-f", "-i"],
            "fish": ["fish", "--no-config", "-i"]}[shell]
    t = Terminal(argv, env, os.path.join(tmp, "cwd"))
    if shell == "zsh":
        t.type("autoload -U compinit && compinit -u -D\n")
    if helped:
        t.type(f"source {BASH_COMPLETION}\n")
    if shell == "fish":
        t.type("function trifold; echo 'GO''T<'(string join ' ' -- $argv)'>'; end\n")
    else:
        t.type("""trifold() { printf 'GO''T<%s>\\n' "$*"; }\n""")
    t.type(f"source {script} && echo DO''NE0\n")
    said = t.read_until("DONE0")
    assert "rror" not in said and "unknown" not in said, said
    return t


def test(shell, helped):
    with tempfile.TemporaryDirectory(prefix="trifold-test-") as tmp:
        for d in ("cwd", "bin", "cwd/directory"):
            os.mkdir(os.path.join(tmp, d))
        for f in ("cwd/some file.folded", "cwd/directory/inner.folded", "bin/trifold-made-up"):
            open(os.path.join(tmp, f), "w").close()
        os.chmod(os.path.join(tmp, "bin/trifold-made-up"), 0o755)
        t = start(shell, tmp, helped)
        for typed, want in LINES:
            parts = typed.split("\t")
            for i, part in enumerate(parts):
                t.type(part + ("\t" if i + 1 < len(parts) else ""))
                time.sleep(0.3)     # a shell draws before it reads on
            t.type("\n")
            t.read_until("GOT<")
            got = t.read_until(">").replace("directory/", "dir/").rstrip()
            # zsh writes --name=value
            if got.replace("=", " ") != want.replace("=", " "):
                print(f"# {shell}: {typed!r} gave {got!r}, want {want!r}")
                return False
        t.type("exit\n")
        t.close()
    return True


def main():
    failed = 0
    for shell, options_of in (("bash", bash_options), ("zsh", zsh_options), ("fish", fish_options)):
        good = same(shell, options_of)
        failed += not good
        print(f"{'ok' if good else 'not ok'} - {shell}'s file has the commands and options of --help")
    for shell, helped in (("bash", False), ("bash", True), ("zsh", False), ("fish", False)):
        name = f"{shell} completes commands, options, formats and files"
        if helped:
            name += ", beside bash-completion"
        if not shutil.which(shell) or helped and not os.path.exists(BASH_COMPLETION):
            print(f"ok - {name} # SKIP no {shell}")
            continue
        try:
            good = test(shell, helped)
        except AssertionError as e:
            print("# " + str(e).replace("\n", "\n# "))
            good = False
        failed += not good
        print(f"{'ok' if good else 'not ok'} - {name}", flush=True)
    sys.exit(failed != 0)


main()
