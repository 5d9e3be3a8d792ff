"""The debugger's screen on a terminal: a pseudo terminal, at whose other end the test sits."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

import pytest

PROGRAM = """
import readline, sys
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.curses_ui import CursesUI
from everflow.debug.cli.rich_text import RichLine, RichTextLines, rich_text_lines_from_rich_line_list

def show(argv, screen_info=None):
    if argv == ["size"]:
        return RichTextLines(["width=%d;" % screen_info["cols"]])
    return rich_text_lines_from_rich_line_list([RichLine("crimson", "red"), RichLine("plain")])

ui = CursesUI(config=CLIConfig(sys.argv[1] + "/config"))
ui.register_command_handler("show", show, "Show.")
print("left:" + ui.run_ui(title="Heading"))
"""


class Terminal:
    """A program on a terminal of some size: what it wrote, and keys for it."""

    def __init__(self, home, rows, columns):
        self.written = b""
        self.process, self.end = pty.fork()
        if not self.process:
            known = {"TERM": "xterm", "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
            os.execve(sys.executable, [sys.executable, "-c", PROGRAM, str(home)], known)
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.end, keys)

    def until(self, text):
        """Waits until something is written; returns all that was, up to it."""
        deadline = time.monotonic() + 120
        while text not in self.written:
            assert time.monotonic() < deadline, self.written
            if select.select([self.end], [], [], 1)[0]:
                self.written += os.read(self.end, 65536)
        before, found, self.written = self.written.partition(text)
        return before + found

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


@pytest.fixture
def terminal(tmp_path):
    terminal = Terminal(tmp_path, 20, 70)
    yield terminal
    os.close(terminal.end)


def test_a_program_takes_the_terminal_and_gives_it_back(terminal):
    terminal.until(b"tfdbg>")
    terminal.until(b"Heading")
    terminal.type(b"shox\x7fw\r")
    shown = terminal.until(b"plain")
    # Red, as xterm writes it.
    assert b"\x1b[31mcrimson" in shown
    terminal.until(b"Mouse: ON")
    terminal.resize(15, 50)
    # All is drawn again.
    terminal.until(b"Heading")
    terminal.until(b"Mouse: ON")
    terminal.type(b"show size\r")
    terminal.until(b"width=48;")
    terminal.type(b"exit\r")
    left = terminal.until(b"left:explicit_user_exit")
    # Out of the alternate screen.
    assert b"\x1b[?1049l" in left
    assert terminal.status() == 0
