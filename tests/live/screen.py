# SPDX-License-Identifier: Apache-2.0
"""screen - a program on a pseudo-terminal, and what stands on its screen

Knows as much of a terminal (ECMA-48, xterm) as ncurses uses for TERM=xterm and
vt100.  What it does not know fails the test: it might be what a name smuggled in.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata

CSI = re.compile(rb"\x1b\[([?>]?)([0-9;]*)([@-~])")
IGNORED = (b"\x1b=", b"\x1b>", b"\x1b(B", b"\x1b)0", b"\x1b(0", b"\x1b)B", b"\x0f", b"\x0e", b"\x07")


class Screen:
    def __init__(self, rows=24, cols=80):
        self.raw = b""
        self.todo = b""
        self.alternate = False
        self.modes = set()
        self.size(rows, cols)

    def size(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.cells = [[" "] * cols for _ in range(rows)]
        self.y = self.x = self.top = 0
        self.bottom = rows - 1
        self.last = " "

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def feed(self, data):
        self.raw += data
        self.todo += data
        while self.todo and self.step():
            pass

    def step(self):
        s = self.todo
        for known in IGNORED:
            if s.startswith(known):
                self.todo = s[len(known):]
                return True
        m = CSI.match(s)
        if m:
            self.todo = s[m.end():]
            nums = [int(n) if n else 0 for n in m.group(2).split(b";")]
            self.control(m.group(1).decode(), nums, m.group(3).decode())
            return True
        if s[0] == 0x1b:
            two = {b"\x1bM": self.up, b"\x1b7": lambda: None, b"\x1b8": lambda: None,
                   b"\x1bD": self.down, b"\x1bc": lambda: None}
            if s[:2] in two:
                self.todo = s[2:]
                two[s[:2]]()
                return True
            if len(s) > 12:
                raise AssertionError(f"unknown sequence {s[:12]!r}")
            return False
        if s[0] < 0x20:
            self.todo = s[1:]
            self.c0(s[0])
            return True
        n = 1 if s[0] < 0x80 else 2 if s[0] < 0xe0 else 3 if s[0] < 0xf0 else 4
        if len(s) < n:
            return False
        self.todo = s[n:]
        c = s[:n].decode()
        assert unicodedata.category(c) not in ("Cc", "Cf"), f"control {c!r} on the screen"
        self.put(c)
        return True

    def put(self, c):
        wide = 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if self.x + wide > self.cols:
            self.x = 0
            self.down()
        self.cells[self.y][self.x] = c
        if wide == 2:
            self.cells[self.y][self.x + 1] = ""
        self.x += wide
        self.last = c

    def c0(self, c):
        if c == 13:
            self.x = 0
        elif c == 10:
            self.down()
        elif c == 8:
            self.x = max(0, self.x - 1)
        elif c == 9:
            self.x = min(self.cols - 1, self.x // 8 * 8 + 8)
        else:
            raise AssertionError(f"control \\x{c:02x} sent to the terminal")

    def down(self):
        if self.y == self.bottom:
            del self.cells[self.top]
            self.cells.insert(self.bottom, [" "] * self.cols)
        else:
            self.y = min(self.rows - 1, self.y + 1)

    def up(self):
        if self.y == self.top:
            del self.cells[self.bottom]
            self.cells.insert(self.top, [" "] * self.cols)
        else:
            self.y = max(0, self.y - 1)

    def blank(self, y, a, b):
        for x in range(max(a, 0), min(b, self.cols)):
            self.cells[y][x] = " "

    def control(self, kind, nums, final):
        n = max(nums[0], 1)
        if kind == "?":
            assert final in "hl", final
            for m in nums:
                self.mode(m, final == "h")
        elif final in "mt" or (kind == ">" and final == "c"):
            pass
        elif final in "hl":
            assert nums == [4], nums
        elif final in "Hf":
            self.y = min(n - 1, self.rows - 1)
            self.x = min(max(nums[1] if len(nums) > 1 else 1, 1) - 1, self.cols - 1)
        elif final in "ABCDGd":
            self.move(final, n)
        elif final == "J":
            for y in range(self.rows):
                if nums[0] == 2 or (y > self.y and nums[0] == 0) or (y < self.y and nums[0] == 1):
                    self.blank(y, 0, self.cols)
            self.erase_line(nums[0])
        elif final == "K":
            self.erase_line(nums[0])
        elif final == "X":
            self.blank(self.y, self.x, self.x + n)
        elif final == "P":
            row = self.cells[self.y]
            del row[self.x:self.x + n]
            row.extend([" "] * (self.cols - len(row)))
        elif final == "@":
            row = self.cells[self.y]
            row[self.x:self.x] = [" "] * n
            del row[self.cols:]
        elif final == "b":
            for _ in range(n):
                self.put(self.last)
        elif final == "r":
            # what was drawn for another size may still come
            self.bottom = min(nums[1] if len(nums) > 1 and nums[1] else self.rows, self.rows) - 1
            self.top = min(n - 1, self.bottom)
            self.y = self.x = 0
        elif final in "LMST":
            self.lines(final, n)
        else:
            raise AssertionError(f"unknown CSI {kind}{nums}{final}")

    def lines(self, final, n):
        for _ in range(n):
            top = self.y if final in "LM" else self.top
            if final in "LT":
                del self.cells[self.bottom]
                self.cells.insert(top, [" "] * self.cols)
            else:
                del self.cells[top]
                self.cells.insert(self.bottom, [" "] * self.cols)

    def erase_line(self, how):
        a, b = {0: (self.x, self.cols), 1: (0, self.x + 1), 2: (0, self.cols)}[how]
        self.blank(self.y, a, b)

    def move(self, final, n):
        if final in "AB":
            self.y += n if final == "B" else -n
        elif final in "CD":
            self.x += n if final == "C" else -n
        elif final == "G":
            self.x = n - 1
        else:
            self.y = n - 1
        self.y = min(max(self.y, 0), self.rows - 1)
        self.x = min(max(self.x, 0), self.cols - 1)

    def mode(self, m, on):
        (self.modes.add if on else self.modes.discard)(m)
        if m in (47, 1047, 1049):
            self.alternate = on


class Terminal:
    """A program on a terminal of its own; what it is started with stays there."""

    def __init__(self, argv, rows=24, cols=100, env=None, term="xterm"):
        self.screen = Screen(rows, cols)
        self.master, self.slave = pty.openpty()
        self.resize(rows, cols, False)
        self.before = termios.tcgetattr(self.slave)
        env = dict(env or os.environ, TERM=term, LC_ALL="C.UTF-8")
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.slave, fd)
            os.closerange(3, 64)
            os.execve(argv[0], argv, env)
        self.status = None

    def resize(self, rows, cols, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", rows, cols, 0, 0))
        if tell:
            self.screen.size(rows, cols)

    def key(self, text):
        os.write(self.master, text.encode())

    def pump(self, seconds=0.05):
        end = time.time() + seconds
        while True:
            r = select.select([self.master], [], [], max(0, end - time.time()))[0]
            if not r:
                return
            try:
                self.screen.feed(os.read(self.master, 65536))
            except OSError:
                return

    def until(self, what, seconds=120):
        """Wait until what (a regular expression or a function of the text) holds."""
        end = time.time() + seconds
        while time.time() < end:
            self.pump()
            text = self.screen.text()
            if what(text) if callable(what) else re.search(what, text, re.M):
                return text
            if self.ended():
                break
        raise AssertionError(f"never saw {what!r}; the screen:\n{self.screen.text()}")

    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait(self, seconds=120):
        end = time.time() + seconds
        while not self.ended():
            assert time.time() < end, f"does not end; the screen:\n{self.screen.text()}"
            self.pump()
        self.pump()
        return self.status

    def modes_are_as_before(self):
        after = termios.tcgetattr(self.slave)
        assert after == self.before, f"modes {after}, before {self.before}"
        assert not self.screen.alternate, "still on the alternate screen"
        assert 1 not in self.screen.modes, "cursor keys are still those of an application"
        assert 25 not in self.screen.modes or b"\x1b[?25h" in self.screen.raw

    def close(self):
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
        os.close(self.slave)
