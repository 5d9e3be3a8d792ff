"""Commands by their names: who handles each, and what `help` says of it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.debug.cli.rich_text import BELOW, RichTextLines
from everflow.versions import VERSION

HELP_INDENT = "  "
# What a user interface returns when it was left by `exit` rather than by a command that has an answer.
EXPLICIT_USER_EXIT = "explicit_user_exit"
internal(BELOW + "HELP_INDENT")(HELP_INDENT)
internal(BELOW + "EXPLICIT_USER_EXIT")(EXPLICIT_USER_EXIT)

# Takes the arguments and, as screen_info, the size of the screen.
Handler = Callable[..., RichTextLines | None]


@internal(BELOW + "CommandLineExit")
class CommandLineExit(Exception):
    """Raised by a handler to leave the user interface, which returns the token."""

    def __init__(self, exit_token: Any = None) -> None:
        super().__init__()
        self._exit_token = exit_token

    @property
    def exit_token(self) -> Any:
        return self._exit_token


@internal(BELOW + "get_tensorflow_version_lines")
def get_tensorflow_version_lines(include_dependency_versions: bool = False) -> RichTextLines:
    lines = [f"TensorFlow version: {VERSION}", ""]
    if include_dependency_versions:
        lines += ["Dependency version(s):", f"  numpy: {np.__version__}", ""]
    return RichTextLines(lines)


@internal(BELOW + "CommandHandlerRegistry")
class CommandHandlerRegistry:
    """Finds the handler of a command by its name (prefix) or an alias. `help` and `version` are there from the start."""

    HELP_COMMAND = "help"
    HELP_COMMAND_ALIASES = ["h"]
    VERSION_COMMAND = "version"
    VERSION_COMMAND_ALIASES = ["ver"]

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._aliases: dict[str, list[str]] = {}
        self._help: dict[str, str] = {}
        self._help_intro: RichTextLines | None = None
        self.register_command_handler(self.HELP_COMMAND, self._help_handler, "Print this help message.", self.HELP_COMMAND_ALIASES)
        self.register_command_handler(
            self.VERSION_COMMAND,
            self._version_handler,
            "Print the versions of TensorFlow and its key dependencies.",
            self.VERSION_COMMAND_ALIASES,
        )

    def register_command_handler(self, prefix: str, handler: Handler, help_info: str, prefix_aliases: list[str] | None = None) -> None:
        """Lets `handler(argv, screen_info=...)` answer a command; it returns RichTextLines or None."""
        aliases = list(prefix_aliases or ())
        if not prefix:
            raise ValueError("Empty command prefix")
        if prefix in self._handlers:
            raise ValueError(f'A handler is already registered for command prefix "{prefix}"')
        if not callable(handler):
            raise ValueError("handler is not callable")
        if not isinstance(help_info, str):
            raise ValueError("help_info is not a str")
        for alias in aliases:
            if self._resolve_prefix(alias):
                raise ValueError(f'The prefix alias "{alias}" clashes with existing prefixes or aliases.')
        self._handlers[prefix], self._aliases[prefix], self._help[prefix] = handler, aliases, help_info

    def _resolve_prefix(self, token: str) -> str | None:
        """The full name of a command, for it or an alias."""
        if token in self._handlers:
            return token
        return next((prefix for prefix, aliases in self._aliases.items() if token in aliases), None)

    def is_registered(self, prefix: str) -> bool:
        return self._resolve_prefix(prefix) is not None

    def dispatch_command(self, prefix: str, argv: list[str], screen_info: dict[str, Any] | None = None) -> RichTextLines | None:
        """Has a command answered. What goes wrong in its handler becomes text too, but for CommandLineExit."""
        if not prefix:
            raise ValueError("Prefix is empty")
        name = self._resolve_prefix(prefix)
        if name is None:
            raise ValueError(f'No handler is registered for command prefix "{prefix}"')
        handler = self._handlers[name]
        try:
            output = handler(argv, screen_info=screen_info)
        except CommandLineExit:
            raise
        except SystemExit:
            # argparse leaves that way.
            return RichTextLines([f"Syntax error for command: {prefix}", f'For help, do "help {prefix}"'])
        except BaseException as error:
            head = [f"Error occurred during handling of command: {prefix} {' '.join(argv)}:", f"{type(error)}: {error}", ""]
            return RichTextLines(head + traceback.format_exc().split("\n"))
        if output is not None and not isinstance(output, RichTextLines):
            raise ValueError(f"Return value from command handler {handler} is not None or a RichTextLines instance")
        return output

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        """What `help` says before it goes through the commands."""
        self._help_intro = help_intro

    def get_help(self, cmd_prefix: str | None = None) -> RichTextLines:
        """What is to say of one command, or of all in alphabetical order."""
        if cmd_prefix:
            return RichTextLines(self._get_help_for_command_prefix(cmd_prefix))
        text = RichTextLines([])
        if self._help_intro is not None:
            text.extend(self._help_intro)
        for prefix in sorted(self._handlers):
            text.extend(RichTextLines([*self._get_help_for_command_prefix(prefix), "", ""]))
        return text

    def _get_help_for_command_prefix(self, cmd_prefix: str) -> list[str]:
        name = self._resolve_prefix(cmd_prefix)
        if name is None:
            return [f'Invalid command prefix: "{cmd_prefix}"']
        aliases = [f"{HELP_INDENT}Aliases: {', '.join(self._aliases[name])}"] if self._aliases[name] else []
        return [name, *aliases, "", *(HELP_INDENT + line for line in self._help[name].split("\n"))]

    def _help_handler(self, args: list[str], screen_info: dict[str, Any] | None = None) -> RichTextLines:
        if len(args) > 1:
            return RichTextLines(["ERROR: help takes only 0 or 1 input argument."])
        return self.get_help(args[0] if args else None)

    def _version_handler(self, args: list[str], screen_info: dict[str, Any] | None = None) -> RichTextLines:
        return get_tensorflow_version_lines(include_dependency_versions=True)
