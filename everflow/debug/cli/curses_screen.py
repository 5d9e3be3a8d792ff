"""The terminal below the debugger's screen: what is drawn where, in which colours, and the keys that come back."""

from __future__ import annotations

import curses
import curses.textpad
import os
import signal
import threading
from typing import Any, NamedTuple

from everflow.debug.cli.menus import MenuItem
from everflow.debug.cli.rich_text import Segment

# Terminals that say of themselves only that they are an xterm, but have its colours.
_COLOR_READY_COLORTERMS = ["gnome-terminal", "xfce4-terminal"]
_COLOR_ENABLED_TERM = "xterm-256color"

_FONTS = {"bold": curses.A_BOLD, "underline": curses.A_UNDERLINE, "blink": curses.A_BLINK}
# Rows at the bottom in which commands are typed.
COMMAND_ROWS = 2
WHEEL_UP = curses.BUTTON4_PRESSED
# curses knows this button only since Python 3.10's ncurses 6.
WHEEL_DOWN = getattr(curses, "BUTTON5_PRESSED", 1 << 21)
CLICKS = curses.BUTTON1_CLICKED | curses.BUTTON1_RELEASED


def _take_sizes_from_readline() -> None:
    """Once imported, readline hears of new sizes of the terminal and keeps the first in the environment; curses then would do neither."""
    for name in ("LINES", "COLUMNS"):
        if name not in os.environ:
            os.unsetenv(name)
    # What Python knows of handlers says nothing of readline's.
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGWINCH) in (None, signal.SIG_DFL):
        signal.signal(signal.SIGWINCH, signal.SIG_DFL)


class Rectangle(NamedTuple):
    top: int
    left: int
    bottom: int
    right: int


class Terminal:
    """All that touches the terminal; the rest of the interface works without one."""

    CLI_PROMPT: str
    _SCREEN_WIDTH_LIMIT = 220
    _FOREGROUND_COLORS = {
        "white": curses.COLOR_WHITE,
        "red": curses.COLOR_RED,
        "green": curses.COLOR_GREEN,
        "yellow": curses.COLOR_YELLOW,
        "blue": curses.COLOR_BLUE,
        "cyan": curses.COLOR_CYAN,
        "magenta": curses.COLOR_MAGENTA,
        "black": curses.COLOR_BLACK,
    }
    _BACKGROUND_COLORS = {"transparent": -1, "white": curses.COLOR_WHITE, "black": curses.COLOR_BLACK}

    _stdscr: Any = None
    _command_window: Any = None
    _command_textbox: Any = None
    _mouse_enabled = False
    _max_y = 0
    _max_x = 0

    def _on_textbox_keypress(self, x: int) -> int:
        raise NotImplementedError

    def _screen_init(self) -> None:
        if os.environ.get("TERM") == "xterm" and os.environ.get("COLORTERM") in _COLOR_READY_COLORTERMS:
            os.environ["TERM"] = _COLOR_ENABLED_TERM
        _take_sizes_from_readline()
        self._stdscr = curses.initscr()
        self._screen_color_init()

    def _screen_color_init(self) -> None:
        """Numbers a pair for each foreground on each background: "red_on_white", and "red" on the terminal's own."""
        self._color_pairs: dict[str, int] = {}
        try:
            curses.start_color()
            curses.use_default_colors()
        except curses.error:
            # A terminal without colours.
            return
        for foreground, front in self._FOREGROUND_COLORS.items():
            for background, back in self._BACKGROUND_COLORS.items():
                number = len(self._color_pairs) + 1
                if number >= curses.COLOR_PAIRS:
                    return
                curses.init_pair(number, front, back)
                name = foreground if background == "transparent" else f"{foreground}_on_{background}"
                self._color_pairs[name] = curses.color_pair(number)

    def _screen_attribute(self, attributes: Any) -> int:
        """What curses calls an attribute of a segment, or several; links look as the others beside them say."""
        found = curses.A_NORMAL
        several = attributes if isinstance(attributes, list) else [attributes]
        for attribute in several:
            if isinstance(attribute, MenuItem):
                found |= curses.A_UNDERLINE
            elif attribute in _FONTS:
                found |= _FONTS[attribute]
            elif attribute is not None:
                found |= self._color_pairs.get(attribute, curses.A_NORMAL)
        return found

    def _screen_refresh_size(self) -> None:
        self._max_y, width = self._stdscr.getmaxyx()
        self._max_x = min(width, self._SCREEN_WIDTH_LIMIT)

    def _screen_launch(self, enable_mouse_on_start: bool) -> None:
        curses.noecho()
        curses.cbreak()
        self._stdscr.keypad(True)
        self._mouse_enabled = enable_mouse_on_start
        self._screen_set_mousemask()
        self._screen_create_command_window()
        self._screen_refresh()

    def _screen_set_mousemask(self) -> None:
        if self._stdscr is not None:
            curses.mousemask(CLICKS | WHEEL_UP | WHEEL_DOWN if self._mouse_enabled else 0)

    def _screen_terminate(self) -> None:
        curses.mousemask(0)
        self._stdscr.keypad(False)
        curses.nocbreak()
        curses.echo()
        curses.endwin()
        self._stdscr = None

    def _screen_refresh(self) -> None:
        self._stdscr.refresh()

    def _screen_create_command_window(self) -> None:
        curses.curs_set(1)
        row = max(self._max_y - COMMAND_ROWS, 0)
        self._addstr(row, 0, self.CLI_PROMPT, curses.A_BOLD)
        width = max(self._max_x - len(self.CLI_PROMPT), 1)
        self._command_window = self._stdscr.derwin(COMMAND_ROWS, width, row, len(self.CLI_PROMPT))

    def _screen_create_command_textbox(self, existing_command: str | None = None) -> None:
        """Empties the line in which commands are typed, but for what is to stand there already."""
        self._command_window.erase()
        self._command_window.refresh()
        self._command_textbox = curses.textpad.Textbox(self._command_window, insert_mode=True)
        # Spaces at the end of a row are part of a command that goes on in the next.
        self._command_textbox.stripspaces = False
        self._command_window.move(0, 0)
        for character in existing_command or "":
            self._command_textbox.do_command(ord(character))
        self._command_window.refresh()

    def _screen_get_user_command(self) -> str | None:
        self._command_textbox.edit(validate=self._on_textbox_keypress)
        return self._screen_gather_textbox_str()

    def _screen_gather_textbox_str(self) -> str:
        return str(self._command_textbox.gather()).replace("\n", "").strip()

    def _screen_getmouse(self) -> tuple[int, int, int, int, int]:
        return curses.getmouse()

    def _addstr(self, *args: Any) -> None:
        # Writing into the last cell of a screen is an error to curses, though it does so.
        try:
            self._stdscr.addstr(*args)
        except curses.error:
            pass

    def _screen_draw_text_line(self, row: int, line: str, attr: int = curses.A_NORMAL, color: str | None = None) -> None:
        self._addstr(row, 0, line[: self._max_x].ljust(self._max_x), attr | self._screen_attribute(color))
        self._screen_refresh()

    def _screen_new_output_pad(self, rows: int, cols: int) -> Any:
        return curses.newpad(rows, cols)

    def _screen_add_line_to_output_pad(self, pad: Any, row: int, txt: str, color_segments: list[Segment] | None = None) -> None:
        pieces = [(0, len(txt), None), *(color_segments or ())]
        for begin, end, attribute in pieces:
            try:
                pad.addstr(row, begin, txt[begin:end], self._screen_attribute(attribute))
            except curses.error:
                pass

    def _screen_scroll_output_pad(
        self,
        pad: Any,
        viewport_top: int,
        viewport_left: int,
        screen_location_top: int,
        screen_location_left: int,
        screen_location_bottom: int,
        screen_location_right: int,
    ) -> None:
        """Shows the part of a pad that begins at the viewport's corner, at a place of the screen."""
        place = Rectangle(screen_location_top, screen_location_left, screen_location_bottom, screen_location_right)
        # A window may have become smaller than what is to be drawn.
        if place.top <= place.bottom < self._max_y:
            try:
                pad.refresh(viewport_top, viewport_left, *place)
            except curses.error:
                pass
