"""The debugger as a screen: output that scrolls, links and menus to click at, a history of screens, and a line for commands."""

from __future__ import annotations

import contextlib
import curses
import io
import sys
import threading
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.debug.cli import command_parser, tensor_format
from everflow.debug.cli.base_ui import BaseUI
from everflow.debug.cli.commands import EXPLICIT_USER_EXIT, CommandLineExit
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.curses_screen import CLICKS, COMMAND_ROWS, WHEEL_DOWN, WHEEL_UP, Rectangle, Terminal
from everflow.debug.cli.curses_widgets import CursesNavigationHistory
from everflow.debug.cli.history import CommandHistory
from everflow.debug.cli.menus import MAIN_MENU_KEY, MenuItem
from everflow.debug.cli.rich_text import (
    INIT_SCROLL_POS_KEY,
    REGEX_MATCH_LINES_KEY,
    RichLine,
    RichTextLines,
    Segment,
    regex_find,
    rich_text_lines_from_rich_line_list,
    wrap_rich_text_lines,
)

internal("debug.cli.curses_ui")(sys.modules[__name__])

_SCROLL_REFRESH = "refresh"
_SCROLL_UP = "up"
_SCROLL_DOWN = "down"
_SCROLL_UP_A_LINE = "up_a_line"
_SCROLL_DOWN_A_LINE = "down_a_line"
_SCROLL_HOME = "home"
_SCROLL_END = "end"
_SCROLL_TO_LINE_INDEX = "scroll_to_line_index"

_SCROLL_KEYS = {
    curses.KEY_NPAGE: _SCROLL_DOWN_A_LINE,
    curses.KEY_PPAGE: _SCROLL_UP_A_LINE,
    curses.KEY_HOME: _SCROLL_HOME,
    curses.KEY_END: _SCROLL_END,
}


def _get_command_from_line_attr_segs(mouse_x: int, attr_segs: list[Segment]) -> str | None:
    """The command of the link at a column, if there is one."""
    for begin, end, attributes in attr_segs:
        if begin <= mouse_x < end:
            for attribute in attributes if isinstance(attributes, list) else [attributes]:
                if isinstance(attribute, MenuItem):
                    return attribute.content
    return None


class ScrollBar:
    """A bar beside the output: buttons at its ends, and a block between them that shows how far down one is."""

    BASE_ATTR = "black_on_white"
    # What stands on the buttons, by the width of the bar.
    _CAPTIONS = {1: ("U", "D"), 2: ("UP", "DN"), 3: ("UP ", "DN ")}

    def __init__(self, min_x: int, min_y: int, max_x: int, max_y: int, scroll_position: int, output_num_rows: int) -> None:
        self._min_x, self._min_y, self._max_x, self._max_y = min_x, min_y, max_x, max_y
        self._scroll_position, self._output_num_rows = scroll_position, output_num_rows
        self._height = max_y - min_y + 1
        if self._height < 4:
            raise ValueError(f"Insufficient height for ScrollBar ({self._height})")

    def _block_y(self, screen_coord_sys: bool = False) -> int:
        """The row of the block, in the bar or on the screen."""
        share = self._scroll_position / (self._output_num_rows - 1)
        return int(share * (self._height - 3)) + 1 + (self._min_y if screen_coord_sys else 0)

    def layout(self) -> RichTextLines:
        """What the bar looks like; empty where there is nothing to scroll."""
        width = self._max_x - self._min_x + 1
        text = RichTextLines([" " * width for _ in range(self._height)])
        if self._output_num_rows > 1:
            up, down = self._CAPTIONS.get(width, (" UP ".ljust(width), "DOWN".ljust(width)))
            text.lines[0], text.lines[-1] = up, down
            for row in (0, self._block_y(), self._height - 1):
                text.font_attr_segs[row] = [(0, width, self.BASE_ATTR)]
        return text

    def get_click_command(self, mouse_y: int) -> str | None:
        """Where to scroll when a row of the screen is clicked; None for the block, and outside the bar."""
        if self._output_num_rows <= 1 or not self._min_y <= mouse_y <= self._max_y:
            return None
        if mouse_y == self._min_y:
            return _SCROLL_UP_A_LINE
        if mouse_y == self._max_y:
            return _SCROLL_DOWN_A_LINE
        block = self._block_y(screen_coord_sys=True)
        return None if mouse_y == block else _SCROLL_UP if mouse_y < block else _SCROLL_DOWN


class CursesUI(Terminal, BaseUI):
    """Shows what commands answer on the whole terminal. `/regex` searches it, `@1,2` goes to an element of a tensor."""

    CLI_TERMINATOR_KEY = 7
    CLI_TAB_KEY = ord("\t")
    BACKSPACE_KEY = ord("\b")
    CLI_CR_KEYS = [ord("\n"), ord("\r"), curses.KEY_ENTER]
    REGEX_SEARCH_PREFIX = "/"
    TENSOR_INDICES_NAVIGATION_PREFIX = "@"

    # Keys that the line of commands knows by other codes.
    _KEY_MAP = {127: curses.KEY_BACKSPACE, curses.KEY_DC: 4}

    _NAVIGATION_BACK_COMMAND = "prev"
    _NAVIGATION_FORWARD_COMMAND = "next"
    _UI_WAIT_MESSAGE = "Processing..."

    _ARRAY_INDICES_COLOR_PAIR = "black_on_white"
    _ERROR_TOAST_COLOR_PAIR = "red_on_white"
    _INFO_TOAST_COLOR_PAIR = "blue_on_white"
    _NAVIGATION_WARNING_COLOR_PAIR = "red_on_white"
    _SEARCH_HIGHLIGHT_FONT_ATTR = "black_on_white"
    _STATUS_BAR_COLOR_PAIR = "black_on_white"
    _UI_WAIT_COLOR_PAIR = "magenta_on_white"

    # A terminal belongs to one screen at a time.
    _single_instance_lock = threading.Lock()

    def __init__(self, on_ui_exit: Callable[[], Any] | None = None, config: CLIConfig | None = None) -> None:
        super().__init__(on_ui_exit=on_ui_exit, config=config)
        self.max_output_lines = 10000
        self._title_line: tuple[str, str | None] | None = None

        self._command_history_store = CommandHistory()
        self._active_command_history: list[str] = []
        self._command_pointer = 0
        self._pending_command = ""
        self._textbox_curr_terminator: int | None = None
        self._textbox_pending_command_changed = False
        self._clicked_command: str | None = None

        self._nav_history = CursesNavigationHistory(100)
        self._nav_bar: RichTextLines | None = None
        self._nav_bar_pad: Any = None
        self._main_menu: RichTextLines | None = None
        self._main_menu_pad: Any = None

        self._curr_unwrapped_output: RichTextLines | None = None
        self._curr_wrapped_output: RichTextLines | None = None
        self._wrapped_line_indices: list[int] = []
        self._output_pad: Any = None
        self._output_pad_row = 0
        self._output_num_rows = 0
        self._output_array_pointer_indices: dict[int, list[int] | None] | None = None
        self._scroll_info = ""
        self._search_rows: list[int] = []

        self.register_command_handler(
            "mouse", self._mouse_mode_command_handler, "Get or set the mouse mode of this CLI: (on|off)", prefix_aliases=["m"]
        )
        self.config.set_callback("mouse_mode", lambda config: self._set_mouse_enabled(config.get("mouse_mode")))

    # Where things stand on the screen.

    def _init_layout(self) -> None:
        self._title_row, self._nav_bar_row = 0, 1
        self._output_scroll_row = self._max_y - COMMAND_ROWS - 1
        self._toast_row = self._output_scroll_row - 1
        # The columns on the right are the scroll bar's.
        self._output_pad_screen_width = max(self._max_x - 2, 1)

    @property
    def _output_top_row(self) -> int:
        return self._nav_bar_row + (2 if self._main_menu is not None else 1)

    @property
    def _output_pad_screen_location(self) -> Rectangle:
        return Rectangle(self._output_top_row, 0, self._output_scroll_row - 1, self._output_pad_screen_width)

    @property
    def _output_pad_screen_height(self) -> int:
        """How far the last row of the output is from its first."""
        return max(self._output_pad_screen_location.bottom - self._output_top_row, 0)

    # Running.

    def run_ui(
        self, init_command: str | None = None, title: str | None = None, title_color: str | None = None, enable_mouse_on_start: bool = True
    ) -> Any:
        with CursesUI._single_instance_lock:
            self._screen_init()
            try:
                self._screen_refresh_size()
                self._init_layout()
                self._screen_launch(enable_mouse_on_start=enable_mouse_on_start)
                exit_token = self._dispatch_command(init_command) if init_command is not None else None
                if title is not None:
                    self._title(title, title_color=title_color)
                if exit_token is None:
                    exit_token = self._ui_loop()
            finally:
                self._screen_terminate()
        if self._on_ui_exit:
            self._on_ui_exit()
        return exit_token

    def get_help(self) -> RichTextLines:
        return self._command_handler_registry.get_help()

    def _ui_loop(self) -> Any:
        existing = ""
        while True:
            self._screen_create_command_textbox(existing)
            command, terminator, changed = self._get_user_command()
            existing = command
            if terminator == self.CLI_TAB_KEY:
                existing = self._tab_complete(command)
            elif terminator in (curses.KEY_UP, curses.KEY_DOWN):
                existing = self._from_history(command, changed, 1 if terminator == curses.KEY_UP else -1)
            elif terminator in (*self.CLI_CR_KEYS, curses.KEY_MOUSE):
                existing = ""
                self._active_command_history, self._command_pointer, self._pending_command = [], 0, ""
                exit_token = self._dispatch_command(command) if command else None
                if exit_token is not None:
                    return exit_token

    def _get_user_command(self) -> tuple[str, int | None, bool]:
        """What was typed, the key that ended it, and whether it differs from what stood there before."""
        self._textbox_curr_terminator, self._textbox_pending_command_changed, self._clicked_command = None, False, None
        typed = self._screen_get_user_command()
        command = self._clicked_command if self._clicked_command is not None else self._strip_terminator(typed)
        return command, self._textbox_curr_terminator, self._textbox_pending_command_changed

    def _strip_terminator(self, command: str | None) -> str:
        return (command or "").strip("\n\r\t")

    def _on_textbox_keypress(self, x: int) -> int:
        """Looks at a key before the line of commands does; returns the code that the line is to see, 0 for none."""
        if not isinstance(x, int):
            raise TypeError(f"Key validator expected type int, received type {type(x)}")
        if x in (*self.CLI_CR_KEYS, self.CLI_TAB_KEY, curses.KEY_UP, curses.KEY_DOWN):
            self._textbox_curr_terminator = x
            return self.CLI_TERMINATOR_KEY
        if x in _SCROLL_KEYS:
            self._scroll_output(_SCROLL_KEYS[x])
            return 0
        if x == curses.KEY_RESIZE:
            return self._on_resize()
        if x == curses.KEY_MOUSE and self._mouse_enabled:
            return self._on_mouse()
        self._textbox_pending_command_changed = True
        return self._KEY_MAP.get(x, x)

    def _on_resize(self) -> int:
        self._screen_refresh_size()
        self._init_layout()
        self._screen_create_command_window()
        self._redraw_output()
        self._textbox_curr_terminator = curses.KEY_RESIZE
        return self.CLI_TERMINATOR_KEY

    def _on_mouse(self) -> int:
        try:
            _, x, y, _, state = self._screen_getmouse()
        except curses.error:
            return 0
        if state & (WHEEL_UP | WHEEL_DOWN):
            self._scroll_output(_SCROLL_UP_A_LINE if state & WHEEL_UP else _SCROLL_DOWN_A_LINE)
        elif state & CLICKS and (command := self._fetch_hyperlink_command(x, y)):
            self._clicked_command, self._textbox_curr_terminator = command, curses.KEY_MOUSE
            return self.CLI_TERMINATOR_KEY
        return 0

    def _fetch_hyperlink_command(self, mouse_x: int, mouse_y: int) -> str | None:
        """The command of what was clicked. A click at the scroll bar scrolls."""
        wrapped = self._curr_wrapped_output
        if wrapped is None:
            return None
        place = self._output_pad_screen_location
        if mouse_x >= self._output_pad_screen_width:
            bar = self._scroll_bar()
            direction = bar.get_click_command(mouse_y) if bar is not None else None
            if direction is not None:
                self._scroll_output(direction)
            return None
        if mouse_y == self._nav_bar_row and self._nav_bar is not None:
            return _get_command_from_line_attr_segs(mouse_x, self._nav_bar.font_attr_segs.get(0, []))
        if mouse_y == self._nav_bar_row + 1 and self._main_menu is not None:
            return _get_command_from_line_attr_segs(mouse_x, self._main_menu.font_attr_segs.get(0, []))
        if place.top <= mouse_y <= place.bottom:
            return _get_command_from_line_attr_segs(mouse_x, wrapped.font_attr_segs.get(self._output_pad_row + mouse_y - place.top, []))
        return None

    def _from_history(self, command: str, changed: bool, step: int) -> str:
        """An older command (step 1) or a newer one (-1) that starts with what was typed."""
        if changed or not self._command_pointer:
            self._pending_command, self._command_pointer = command, 0
            self._active_command_history = self._command_history_store.lookup_prefix(command, 100)
        self._command_pointer = min(max(self._command_pointer + step, 0), len(self._active_command_history))
        return self._active_command_history[-self._command_pointer] if self._command_pointer else self._pending_command

    def _tab_complete(self, command_str: str) -> str:
        """What was typed, completed as far as there is no choice; where there is one, shows it."""
        context, prefix, before = self._analyze_tab_complete_input(command_str)
        candidates, common = self._tab_completion_registry.get_completions(context, prefix)
        if not candidates:
            self._display_candidates([])
            return command_str
        # With a single candidate there is no choice to show.
        self._display_candidates(candidates if len(candidates) > 1 else [])
        return before + (common or prefix)

    # Commands.

    def _dispatch_command(self, command: str) -> Any:
        """Answers one command; returns the token with which to leave, or None to go on."""
        if self._output_pad is not None:
            self._toast(self._UI_WAIT_MESSAGE, color=self._UI_WAIT_COLOR_PAIR)
        if command in self.CLI_EXIT_COMMANDS:
            return EXPLICIT_USER_EXIT
        self._command_history_store.add_command(command)
        if self._curr_unwrapped_output is not None:
            if command.startswith(self.REGEX_SEARCH_PREFIX):
                self._search(command.removeprefix(self.REGEX_SEARCH_PREFIX))
                return None
            if command.startswith(self.TENSOR_INDICES_NAVIGATION_PREFIX):
                self._go_to_element(command.removeprefix(self.TENSOR_INDICES_NAVIGATION_PREFIX).strip())
                return None
        try:
            prefix, arguments, output_file_path = self._parse_command(command)
        except SyntaxError as error:
            self._error_toast(str(error))
            return None
        if prefix in (self._NAVIGATION_BACK_COMMAND, self._NAVIGATION_FORWARD_COMMAND):
            self._navigate_screen_output(prefix)
            return None
        output: RichTextLines | None
        if self._command_handler_registry.is_registered(prefix):
            try:
                # argparse would write its complaints across the screen.
                with contextlib.redirect_stderr(io.StringIO()):
                    output = self._command_handler_registry.dispatch_command(
                        prefix, arguments, screen_info={"cols": self._output_pad_screen_width}
                    )
            except CommandLineExit as leave:
                return leave.exit_token if leave.exit_token is not None else EXPLICIT_USER_EXIT
        else:
            output = RichTextLines([f'{self.ERROR_MESSAGE_PREFIX}Invalid command prefix "{prefix}"'])
        if output is not None:
            self._nav_history.add_item(command, output, 0)
            self._display_output(output)
            if output_file_path:
                self._write(output, output_file_path)
        return None

    def _write(self, output: RichTextLines, path: str) -> None:
        try:
            output.write_to_file(path)
        except Exception:
            self._error_toast(f"Failed to write output to {path}")
        else:
            self._info_toast(f"Wrote output to {path}")

    def _search(self, regex: str) -> None:
        """Marks what a regular expression finds and goes to the first of it; without one, to the next line with something found."""
        assert self._curr_unwrapped_output is not None
        if not regex:
            following = [row for row in self._search_rows if row > self._output_pad_row]
            if following:
                self._scroll_output(_SCROLL_TO_LINE_INDEX, line_index=following[0])
            else:
                self._toast("Pattern not found", color=self._ERROR_TOAST_COLOR_PAIR)
            return
        try:
            self._display_output(self._curr_unwrapped_output, highlight_regex=regex)
        except ValueError as error:
            self._error_toast(str(error))

    def _go_to_element(self, indices: str) -> None:
        assert self._curr_wrapped_output is not None
        if not indices:
            self._error_toast("Empty indices.")
            return
        try:
            _, row, _, _ = tensor_format.locate_tensor_element(self._curr_wrapped_output, command_parser.parse_indices(indices))
        except (ValueError, AttributeError) as error:
            self._error_toast(str(error))
        else:
            self._scroll_output(_SCROLL_TO_LINE_INDEX, line_index=row)

    def _navigate_screen_output(self, command: str) -> None:
        """Goes to the screen before this one, or after it."""
        back = command == self._NAVIGATION_BACK_COMMAND
        if not (self._nav_history.can_go_back() if back else self._nav_history.can_go_forward()):
            end = "OLDEST" if back else "LATEST"
            self._toast(f"At the {end} in navigation history!", color=self._NAVIGATION_WARNING_COLOR_PAIR)
            return
        item = self._nav_history.go_back() if back else self._nav_history.go_forward()
        row = item.scroll_position
        self._display_output(item.screen_output)
        if row:
            self._scroll_output(_SCROLL_TO_LINE_INDEX, line_index=row)

    def _mouse_mode_command_handler(self, args: list[str], screen_info: dict[str, Any] | None = None) -> None:
        if len(args) > 1:
            self._error_toast("mouse_mode: syntax error")
            return
        if args and args[0].lower() not in ("on", "off", "1", "0"):
            self._error_toast(f"Invalid mouse mode: {args[0]}")
            return
        if args:
            self._set_mouse_enabled(args[0].lower() in ("on", "1"))
        self._info_toast(f"Mouse mode: {'on' if self._mouse_enabled else 'off'}")

    def _set_mouse_enabled(self, enabled: bool) -> None:
        if self._mouse_enabled != enabled:
            self._mouse_enabled = enabled
            self._screen_set_mousemask()
            self._redraw_output()

    # Showing.

    def _title(self, title: str, title_color: str | None = None) -> None:
        self._title_line = (title, title_color)
        self._screen_draw_text_line(self._title_row, f"--- {title} ".ljust(self._max_x, "-"), color=title_color)

    def _redraw_output(self) -> None:
        if self._title_line is not None:
            self._title(*self._title_line)
        if self._curr_unwrapped_output is not None:
            self._display_output(self._curr_unwrapped_output, is_refresh=True)

    def _display_lines(self, output: RichTextLines, min_num_rows: int, width: int | None = None) -> tuple[Any, int, int]:
        """A pad with some lines on it, how wide the longest is, and how many there are."""
        rows = max(output.num_lines(), min_num_rows, 1)
        pad = self._screen_new_output_pad(rows, width or self._output_pad_screen_width)
        for row, line in enumerate(output.lines):
            self._screen_add_line_to_output_pad(pad, row, line, color_segments=output.font_attr_segs.get(row))
        return pad, max(map(len, output.lines), default=0), output.num_lines()

    def _display_output(self, output: RichTextLines, is_refresh: bool = False, highlight_regex: str | None = None) -> None:
        """Shows a text from its first line (or where it wants to be seen from; or, again, from where it was)."""
        shown, found = output, None
        if highlight_regex:
            shown = regex_find(output, highlight_regex, self._SEARCH_HIGHLIGHT_FONT_ATTR)
            found = shown.annotations[REGEX_MATCH_LINES_KEY]
            if not found:
                self._toast("Pattern not found", color=self._ERROR_TOAST_COLOR_PAIR)
                return
        if shown.num_lines() > self.max_output_lines:
            shown = shown.slice(0, self.max_output_lines)
            shown.append(f"Output cut off at {self.max_output_lines} lines!", [(0, 14, "magenta")])
        wrapped, first_rows = wrap_rich_text_lines(shown, self._output_pad_screen_width)
        if not is_refresh:
            self._search_rows = []
            self._output_pad_row = (
                first_rows[min(max(output.annotations.get(INIT_SCROLL_POS_KEY, 0), 0), len(first_rows) - 1)] if first_rows else 0
            )
        if found:
            self._search_rows = [first_rows[line] for line in found if line < len(first_rows)]
            self._output_pad_row = self._search_rows[0] if self._search_rows else 0
        self._curr_unwrapped_output, self._curr_wrapped_output = output, wrapped
        self._output_num_rows = wrapped.num_lines()
        self._display_nav_bar()
        self._display_main_menu(output)
        # Enough rows that the last line can stand at the top.
        self._output_pad, _, _ = self._display_lines(wrapped, self._output_num_rows + self._output_pad_screen_height)
        self._scroll_output(_SCROLL_REFRESH)

    def _display_nav_bar(self) -> None:
        self._nav_bar = self._nav_history.render(
            self._output_pad_screen_width, self._NAVIGATION_BACK_COMMAND, self._NAVIGATION_FORWARD_COMMAND
        )
        self._nav_bar_pad, _, _ = self._display_lines(self._nav_bar, 1, self._max_x)

    def _display_main_menu(self, output: RichTextLines) -> None:
        menu = output.annotations.get(MAIN_MENU_KEY)
        self._main_menu = menu.format_as_single_line(prefix="| ", divider=" | ", enabled_item_attrs=["underline"]) if menu else None
        self._main_menu_pad = self._display_lines(self._main_menu, 1, self._max_x)[0] if self._main_menu is not None else None

    def _scroll_output(self, direction: str, line_index: int | None = None) -> None:
        """Moves the output, and draws all that depends on where it is."""
        page, last = self._output_pad_screen_height // 3, self._output_num_rows - 1
        rows = {
            _SCROLL_REFRESH: self._output_pad_row,
            _SCROLL_UP: self._output_pad_row - max(page, 1),
            _SCROLL_DOWN: self._output_pad_row + max(page, 1),
            _SCROLL_UP_A_LINE: self._output_pad_row - 1,
            _SCROLL_DOWN_A_LINE: self._output_pad_row + 1,
            _SCROLL_HOME: 0,
            _SCROLL_END: last,
            _SCROLL_TO_LINE_INDEX: line_index,
        }
        if direction not in rows:
            raise ValueError(f"Unsupported scroll mode: {direction}")
        row = rows[direction]
        if row is None:
            raise ValueError("line_index is required in order to scroll to a line")
        if self._output_pad is None:
            return
        self._output_pad_row = max(min(row, last), 0)
        if self._nav_history.size():
            self._nav_history.update_scroll_position(self._output_pad_row)
        self._screen_scroll_output_pad(self._output_pad, self._output_pad_row, 0, *self._output_pad_screen_location)
        self._screen_render_nav_bar()
        self._screen_render_menu_pad()
        self._screen_render_scroll_bar()
        self._show_array_indices()
        self._scroll_info = self._compile_ui_status_summary()
        self._screen_draw_text_line(self._output_scroll_row, self._scroll_info, color=self._STATUS_BAR_COLOR_PAIR)

    def _screen_render_nav_bar(self) -> None:
        if self._nav_bar_pad is not None:
            self._screen_scroll_output_pad(self._nav_bar_pad, 0, 0, self._nav_bar_row, 0, self._nav_bar_row, self._max_x - 1)

    def _screen_render_menu_pad(self) -> None:
        if self._main_menu_pad is not None:
            row = self._nav_bar_row + 1
            self._screen_scroll_output_pad(self._main_menu_pad, 0, 0, row, 0, row, self._max_x - 1)

    def _scroll_bar(self) -> ScrollBar | None:
        """The bar beside the output; none on a screen that is too low for it."""
        place = self._output_pad_screen_location
        if place.bottom - place.top < 3:
            return None
        return ScrollBar(place.right, place.top, self._max_x - 1, place.bottom, self._output_pad_row, self._output_num_rows)

    def _screen_render_scroll_bar(self) -> None:
        bar = self._scroll_bar()
        if bar is None or self._stdscr is None:
            return
        place, layout = self._output_pad_screen_location, bar.layout()
        pad, _, rows = self._display_lines(layout, 1)
        self._screen_scroll_output_pad(pad, 0, 0, place.top, place.right, place.top + rows - 1, self._max_x - 1)

    def _compile_ui_status_summary(self) -> str:
        """The line below the output: how much of it there is, where in a tensor one is, and whether the mouse is heard."""
        left = "---"
        last = self._output_num_rows - 1
        if last > 0:
            keys = "/".join(key for key, can in (("PgDn", self._output_pad_row < last), ("PgUp", self._output_pad_row > 0)) if can)
            left += f" Scroll ({keys}): {100 * self._output_pad_row / last:.2f}% "
        top, bottom = ((self._output_array_pointer_indices or {}).get(end) for end in (0, -1))
        if top or bottom:
            left += f"{self._format_indices(top)}-{self._format_indices(bottom)} "
        right = f" Mouse: {'ON' if self._mouse_enabled else 'OFF'} ---"
        return left + right.rjust(self._max_x - len(left), "-")

    def _show_array_indices(self) -> None:
        """Finds the indices of the tensor's elements at the top (0) and the bottom (-1) of the screen, and shows them there."""
        self._output_array_pointer_indices = None
        assert self._curr_wrapped_output is not None
        known = self._curr_wrapped_output.annotations
        if "tensor_metadata" in known:
            ends = {0: self._output_pad_row, -1: self._output_pad_row + self._output_pad_screen_height}
            self._output_array_pointer_indices = {end: self._indices_at(known.get(row)) for end, row in ends.items()}
            for end, indices in self._output_array_pointer_indices.items():
                if indices:
                    row = self._output_top_row + (self._output_pad_screen_height if end else 0)
                    self._toast(self._format_indices(indices), color=self._ARRAY_INDICES_COLOR_PAIR, line_index=row)

    def _indices_at(self, annotation: Any) -> list[int] | None:
        if not isinstance(annotation, dict):
            return None
        found = annotation.get(tensor_format.BEGIN_INDICES_KEY, annotation.get(tensor_format.OMITTED_INDICES_KEY))
        return list(found) if found is not None else None

    def _format_indices(self, indices: list[int] | None) -> str:
        return "[" + ",".join(map(str, indices)) + "]" if indices else ""

    def _display_candidates(self, candidates: list[str]) -> None:
        """Shows what the tab key may complete to, above the line below the output."""
        if self._output_pad is not None:
            self._scroll_output(_SCROLL_REFRESH)
        if not candidates:
            return
        line = RichLine("Candidates: ") + RichLine(" ".join(candidates), "yellow")
        wrapped, _ = wrap_rich_text_lines(rich_text_lines_from_rich_line_list([line]), self._output_pad_screen_width - 1)
        room = max((self._toast_row - self._output_top_row) // 2, 1)
        if wrapped.num_lines() > room:
            wrapped = wrapped.slice(0, room)
            wrapped.lines[-1] = wrapped.lines[-1][:-3] + "..."
        pad, _, rows = self._display_lines(wrapped, 1)
        self._screen_scroll_output_pad(pad, 0, 0, self._toast_row - rows + 1, 0, self._toast_row, self._output_pad_screen_width)

    def _toast(self, message: str, color: str | None = None, line_index: int | None = None) -> None:
        """Shows a message until something else is drawn there."""
        row = self._toast_row if line_index is None else line_index
        pad, width, _ = self._display_lines(RichTextLines([message], {0: [(0, len(message), color or "white")]}), 1)
        self._screen_scroll_output_pad(pad, 0, 0, row, 0, row, min(width, self._output_pad_screen_width))

    def _error_toast(self, message: str) -> None:
        self._toast(self.ERROR_MESSAGE_PREFIX + message, color=self._ERROR_TOAST_COLOR_PAIR)

    def _info_toast(self, message: str) -> None:
        self._toast(self.INFO_MESSAGE_PREFIX + message, color=self._INFO_TOAST_COLOR_PAIR)
