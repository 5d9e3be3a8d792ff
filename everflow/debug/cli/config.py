"""Settings of the command line, kept in a file."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.debug.cli.rich_text import RichLine, RichTextLines, rich_text_lines_from_rich_line_list
from everflow.io.gfile import GFile

_BOOLEANS = {**dict.fromkeys(("1", "t", "true", "y", "yes", "on"), True), **dict.fromkeys(("0", "f", "false", "n", "no", "off"), False)}


def _converted(value: Any, kind: type) -> Any:
    if kind is bool and isinstance(value, str):
        if value.lower() not in _BOOLEANS:
            raise ValueError(f"Invalid string value for bool type: {value}")
        return _BOOLEANS[value.lower()]
    return kind(value)


@internal("debug.cli.cli_config.CLIConfig")
class CLIConfig:
    """Named settings. A change is written to the file at once, and told to whoever asked to hear of it."""

    _CONFIG_FILE_NAME = ".tfdbg_config"
    _DEFAULT_CONFIG = [("graph_recursion_depth", 20), ("mouse_mode", True)]

    def __init__(self, config_file_path: str | None = None) -> None:
        self._config_file_path = config_file_path or self._default_config_file_path()
        self._config: dict[str, Any] = dict(self._DEFAULT_CONFIG)
        self._callbacks: dict[str, Callable[[CLIConfig], Any]] = {}
        self._load_from_file()
        self._save_to_file()

    def _default_config_file_path(self) -> str:
        return str(pathlib.Path.home() / self._CONFIG_FILE_NAME)

    def _load_from_file(self) -> None:
        """What is no JSON, as an empty file, changes nothing."""
        try:
            known = json.loads(pathlib.Path(self._config_file_path).read_text())
        except (OSError, ValueError):
            return
        if isinstance(known, dict):
            self._config.update(known)

    def _save_to_file(self) -> None:
        with GFile(self._config_file_path, "w") as file:
            file.write(json.dumps(self._config))

    def _check(self, property_name: str) -> None:
        if property_name not in self._config:
            raise KeyError(f"{property_name} is not a valid property name.")

    def get(self, property_name: str) -> Any:
        self._check(property_name)
        return self._config[property_name]

    def set(self, property_name: str, property_val: Any) -> None:
        """Changes a setting. The value is made one of the setting's type."""
        self._check(property_name)
        self._config[property_name] = _converted(property_val, type(self._config[property_name]))
        self._save_to_file()
        if property_name in self._callbacks:
            self._callbacks[property_name](self)

    def set_callback(self, property_name: str, callback: Callable[[CLIConfig], Any]) -> None:
        """Has `callback(config)` called whenever a setting is changed."""
        self._check(property_name)
        if not callable(callback):
            raise TypeError("The callback object provided is not callable.")
        self._callbacks[property_name] = callback

    def summarize(self, highlight: str | None = None) -> RichTextLines:
        """All settings, one of them emphasized."""
        lines = [RichLine("Command-line configuration:", "bold"), RichLine()]
        for name, value in self._config.items():
            font = "bold" if name == highlight else None
            lines.append(RichLine("  ") + RichLine(name, ["underline", font]) + ": " + RichLine(str(value), font))
        return rich_text_lines_from_rich_line_list(lines)
