"""What user interfaces of the debugger have in common: commands, completion, settings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.debug.cli import command_parser
from everflow.debug.cli.commands import CommandHandlerRegistry, Handler
from everflow.debug.cli.completion import TabCompletionRegistry
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.rich_text import RichTextLines

internal("debug.cli.base_ui")(sys.modules[__name__])


class BaseUI:
    """Reads commands and shows what their handlers answer, until one of them leaves."""

    CLI_PROMPT = "tfdbg> "
    CLI_EXIT_COMMANDS = ["exit", "quit"]
    ERROR_MESSAGE_PREFIX = "ERROR: "
    INFO_MESSAGE_PREFIX = "INFO: "

    def __init__(self, on_ui_exit: Callable[[], Any] | None = None, config: CLIConfig | None = None) -> None:
        self._on_ui_exit = on_ui_exit
        self._config = config or CLIConfig()
        self._command_handler_registry = CommandHandlerRegistry()
        self._tab_completion_registry = TabCompletionRegistry()
        # The words that may stand first; no command precedes them.
        self._tab_completion_registry.register_tab_comp_context(
            [""], [*self.CLI_EXIT_COMMANDS, CommandHandlerRegistry.HELP_COMMAND, *CommandHandlerRegistry.HELP_COMMAND_ALIASES]
        )
        parser = argparse.ArgumentParser(description="Show or change settings of the command line.", usage=argparse.SUPPRESS)
        verbs = parser.add_subparsers(dest="verb")
        change = verbs.add_parser("set", help="Change a setting.")
        change.add_argument("property_name", help="Which setting.")
        change.add_argument("property_value", help="Its new value.")
        verbs.add_parser("show", help="Show all settings; so does the command alone.")
        self._config_argparser = parser
        self.register_command_handler("config", self._config_command_handler, parser.format_help(), prefix_aliases=["cfg"])

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        self._command_handler_registry.set_help_intro(help_intro)

    def register_command_handler(self, prefix: str, handler: Handler, help_info: str, prefix_aliases: list[str] | None = None) -> None:
        """Adds a command; its name and aliases are completed by the tab key from now on."""
        self._command_handler_registry.register_command_handler(prefix, handler, help_info, prefix_aliases=prefix_aliases)
        self._tab_completion_registry.extend_comp_items("", [prefix, *(prefix_aliases or ())])

    def register_tab_comp_context(self, *args: Any, **kwargs: Any) -> None:
        self._tab_completion_registry.register_tab_comp_context(*args, **kwargs)

    @property
    def config(self) -> CLIConfig:
        return self._config

    def run_ui(
        self, init_command: str | None = None, title: str | None = None, title_color: str | None = None, enable_mouse_on_start: bool = True
    ) -> Any:
        """Runs until a command leaves, and returns the token that it left with."""
        raise NotImplementedError("run_ui() is not implemented in BaseUI")

    def _parse_command(self, command: str) -> tuple[str, list[str], str | None]:
        """The name of a command, its arguments, and the file that its output is to be written to (or None)."""
        words = command_parser.parse_command(command.strip())
        if not words:
            return "", [], None
        words, output_file_path = command_parser.extract_output_file_path(words)
        return (words[0] if words else ""), words[1:], output_file_path

    def _analyze_tab_complete_input(self, text: str) -> tuple[str, str, str]:
        """For a line of which a word is to be completed: the command it belongs to, the beginning of the word, and all before it."""
        text = text.lstrip()
        if " " not in text.rstrip() and not text.endswith(" "):
            return "", text, ""
        before, space, prefix = text.rpartition(" ")
        return text.split(" ", 1)[0], prefix, before + space

    def _config_command_handler(self, args: list[str], screen_info: dict[str, Any] | None = None) -> RichTextLines:
        parsed = self._config_argparser.parse_args(args)
        if parsed.verb != "set":
            return self._config.summarize()
        self._config.set(parsed.property_name, parsed.property_value)
        return self._config.summarize(highlight=parsed.property_name)
