"""The commands that were given before, in this session and in earlier ones."""

from __future__ import annotations

import pathlib

from everflow.api import internal
from everflow.debug.cli.rich_text import BELOW


@internal(BELOW + "CommandHistory")
class CommandHistory:
    """The last commands, kept in a file as well. Where the file can't be read or written, the history is of this session only."""

    _HISTORY_FILE_NAME = ".tfdbg_history"

    def __init__(self, limit: int = 100, history_file_path: str | None = None) -> None:
        self._limit = limit
        self._history_file_path = history_file_path or self._get_default_history_file_path()
        self._commands: list[str] = []
        self._load_history_from_file()

    @classmethod
    def _get_default_history_file_path(cls) -> str:
        return str(pathlib.Path.home() / cls._HISTORY_FILE_NAME)

    def _load_history_from_file(self) -> None:
        file = pathlib.Path(self._history_file_path)
        try:
            known = [line.strip() for line in file.read_text().splitlines() if line.strip()]
            self._commands = known[-self._limit :]
            if len(known) > self._limit:
                file.write_text("".join(f"{command}\n" for command in self._commands))
        except OSError:
            pass

    def _add_command_to_history_file(self, command: str) -> None:
        try:
            with open(self._history_file_path, "a") as file:
                file.write(command + "\n")
        except OSError:
            pass

    def add_command(self, command: str) -> None:
        """Keeps a command, unless it is the one just given."""
        if not isinstance(command, str):
            raise TypeError("Attempt to enter non-str entry to command history")
        if self._commands[-1:] == [command]:
            return
        self._commands = [*self._commands, command][-self._limit :]
        self._add_command_to_history_file(command)

    def most_recent_n(self, n: int) -> list[str]:
        return self._commands[-n:]

    def lookup_prefix(self, prefix: str, n: int) -> list[str]:
        """The last n commands that start with a prefix."""
        return [command for command in self._commands if command.startswith(prefix)][-n:]
