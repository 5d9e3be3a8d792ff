"""Menus of the debugger's screens, whose items stand for commands."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.debug.cli.rich_text import BELOW, RichLine, RichTextLines

# Where annotations of a text hold the menu that is shown above it.
MAIN_MENU_KEY = "mm:"
internal(BELOW + "MAIN_MENU_KEY")(MAIN_MENU_KEY)


@internal(BELOW + "MenuItem")
class MenuItem:
    """What can be clicked: a caption, and the command that it stands for. Also serves as a link in a line."""

    def __init__(self, caption: str | None, content: str | None, enabled: bool = True) -> None:
        self._caption, self._content, self._enabled = caption, content, enabled

    @property
    def caption(self) -> str | None:
        return self._caption

    @property
    def content(self) -> str | None:
        return self._content

    def is_enabled(self) -> bool:
        return self._enabled

    def disable(self) -> None:
        self._enabled = False

    def enable(self) -> None:
        self._enabled = True


def _as_list(attributes: Any) -> list[Any]:
    return attributes if isinstance(attributes, list) else [attributes] if attributes else []


@internal(BELOW + "Menu")
class Menu:
    """Items in a row."""

    def __init__(self, name: str | None = None) -> None:
        self._name = name
        self._items: list[MenuItem] = []

    def append(self, item: MenuItem) -> None:
        self._items.append(item)

    def insert(self, index: int, item: MenuItem) -> None:
        self._items.insert(index, item)

    def num_items(self) -> int:
        return len(self._items)

    def captions(self) -> list[str | None]:
        return [item.caption for item in self._items]

    def caption_to_item(self, caption: str) -> MenuItem:
        """The item with this caption; LookupError if there is none."""
        for item in self._items:
            if item.caption == caption:
                return item
        raise LookupError(f'There is no menu item with the caption "{caption}"')

    def format_as_single_line(
        self, prefix: str | None = None, divider: str = " | ", enabled_item_attrs: Any = None, disabled_item_attrs: Any = None
    ) -> RichTextLines:
        """The menu as one line, in which enabled items are links."""
        line = RichLine(prefix or "")
        for item in self._items:
            attributes = [item, *_as_list(enabled_item_attrs)] if item.is_enabled() else _as_list(disabled_item_attrs)
            line += RichLine(item.caption or "", attributes)
            line += divider
        return RichTextLines([line.text], {0: line.font_attr_segs} if line.font_attr_segs else None)
