"""Parts of the debugger's screen that have a state of their own."""

from __future__ import annotations

import dataclasses
import sys

from everflow.api import internal
from everflow.debug.cli.menus import MenuItem
from everflow.debug.cli.rich_text import RichLine, RichTextLines, rich_text_lines_from_rich_line_list

internal("debug.cli.curses_widgets")(sys.modules[__name__])


@dataclasses.dataclass
class NavigationHistoryItem:
    """A command, what it printed, and how far down that was read."""

    command: str
    screen_output: RichTextLines
    scroll_position: int


class CursesNavigationHistory:
    """The screens that were shown, as pages in a browser: one can go back and, from there, forward."""

    BACK_ARROW_TEXT = "<--"
    FORWARD_ARROW_TEXT = "-->"

    def __init__(self, capacity: int) -> None:
        if capacity <= 0:
            raise ValueError(f"In valid capacity value: {capacity}")
        self._capacity = capacity
        self._items: list[NavigationHistoryItem] = []
        self._pointer = -1

    def add_item(self, command: str, screen_output: RichTextLines, scroll_position: int) -> None:
        """Shows a new screen; those one could have gone forward to are forgotten."""
        kept = [*self._items[: self._pointer + 1], NavigationHistoryItem(command, screen_output, scroll_position)]
        self._items = kept[-self._capacity :]
        self._pointer = len(self._items) - 1

    def update_scroll_position(self, new_scroll_position: int) -> None:
        self._current().scroll_position = new_scroll_position

    def size(self) -> int:
        return len(self._items)

    def pointer(self) -> int:
        return self._pointer

    def _current(self) -> NavigationHistoryItem:
        if not self._items:
            raise ValueError("Empty navigation history")
        return self._items[self._pointer]

    def can_go_back(self) -> bool:
        return self._pointer > 0

    def can_go_forward(self) -> bool:
        return self._pointer + 1 < len(self._items)

    def go_back(self) -> NavigationHistoryItem:
        """The screen before this one, or this one if it is the oldest."""
        self._pointer -= self.can_go_back()
        return self._current()

    def go_forward(self) -> NavigationHistoryItem:
        """The screen after this one, or this one if it is the latest."""
        self._pointer += self.can_go_forward()
        return self._current()

    def render(
        self,
        max_length: int,
        backward_command: str,
        forward_command: str,
        latest_command_attribute: str = "black_on_white",
        old_command_attribute: str = "magenta_on_white",
    ) -> RichTextLines:
        """A bar with arrows, which are links where one can go, and the command of this screen, cut at `max_length`."""
        back = MenuItem(None, backward_command) if self.can_go_back() else None
        forward = MenuItem(None, forward_command) if self.can_go_forward() else None
        bar = RichLine("| ") + RichLine(self.BACK_ARROW_TEXT, back) + " " + RichLine(self.FORWARD_ARROW_TEXT, forward)
        if self._items:
            steps = self._pointer + 1 - len(self._items)
            font = old_command_attribute if steps else latest_command_attribute
            bar += " | "
            if steps:
                bar += RichLine(f"({steps}) ", font)
            bar += RichLine(self._current().command[: max(max_length - len(bar), 0)], font)
        return rich_text_lines_from_rich_line_list([bar])
