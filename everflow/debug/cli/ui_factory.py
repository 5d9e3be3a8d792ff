"""Makes the user interface that was asked for, or one that this terminal has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.debug.cli.base_ui import BaseUI
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.readline_ui import ReadlineUI

UIS: dict[str, type[BaseUI]] = {"readline": ReadlineUI}
try:
    from everflow.debug.cli.curses_ui import CursesUI

    UIS["curses"] = CursesUI
except ImportError:
    # Windows has no curses.
    pass

internal("debug.cli.ui_factory")(sys.modules[__name__])

SUPPORTED_UI_TYPES = ["curses", "readline"]


def get_ui(
    ui_type: str, on_ui_exit: Callable[[], Any] | None = None, available_ui_types: list[str] | None = None, config: CLIConfig | None = None
) -> BaseUI:
    """The interface of this type ("curses" or "readline"). Where the terminal can't do it, another of those that are available."""
    available = list(available_ui_types or SUPPORTED_UI_TYPES)
    if ui_type not in available:
        raise ValueError(f"Invalid ui_type: '{ui_type}'")
    if (not sys.stdout.isatty() or ui_type not in UIS) and "readline" in available:
        ui_type = "readline"
    return UIS[ui_type](on_ui_exit=on_ui_exit, config=config)
