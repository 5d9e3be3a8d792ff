"""The debugger on a plain terminal: a prompt, with completion by the tab key."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.debug.cli.base_ui import BaseUI
from everflow.debug.cli.commands import EXPLICIT_USER_EXIT, CommandLineExit
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.rich_text import RichTextLines

try:
    import readline
except ImportError:
    # Windows has none; there the tab key completes nothing.
    readline = None  # type: ignore[assignment]

internal("debug.cli.readline_ui")(sys.modules[__name__])


class ReadlineUI(BaseUI):
    """Prints what commands answer, as plain text."""

    def __init__(self, on_ui_exit: Callable[[], Any] | None = None, config: CLIConfig | None = None) -> None:
        super().__init__(on_ui_exit=on_ui_exit, config=config)
        self._init_input()

    def _init_input(self) -> None:
        if readline is not None:
            # The whole line is completed, since names of tensors hold what readline takes for ends of words.
            readline.set_completer_delims("\n")
            readline.set_completer(self._readline_complete)
            readline.parse_and_bind("tab: complete")

    def _readline_complete(self, text: str, state: int) -> str | None:
        context, prefix, before = self._analyze_tab_complete_input(text)
        candidates, _ = self._tab_completion_registry.get_completions(context, prefix)
        return before + candidates[state] if candidates and state < len(candidates) else None

    def run_ui(
        self, init_command: str | None = None, title: str | None = None, title_color: str | None = None, enable_mouse_on_start: bool = True
    ) -> Any:
        if title:
            print(title)
        if init_command is not None:
            self._dispatch_command(init_command)
        exit_token = self._ui_loop()
        if self._on_ui_exit:
            self._on_ui_exit()
        return exit_token

    def _ui_loop(self) -> Any:
        while True:
            exit_token = self._dispatch_command(self._get_user_command())
            if exit_token is not None:
                return exit_token

    def _get_user_command(self) -> str:
        try:
            return input("\n" + self.CLI_PROMPT).strip()
        except EOFError:
            # Ctrl-D, or the end of a file of commands.
            print()
            return self.CLI_EXIT_COMMANDS[0]

    def _dispatch_command(self, command: str) -> Any:
        """Answers one command; returns the token with which to leave, or None to go on."""
        if command in self.CLI_EXIT_COMMANDS:
            return EXPLICIT_USER_EXIT
        try:
            prefix, arguments, output_file_path = self._parse_command(command)
        except SyntaxError as error:
            self._display_output(RichTextLines([self.ERROR_MESSAGE_PREFIX + str(error)]))
            return None
        output: RichTextLines | None
        if self._command_handler_registry.is_registered(prefix):
            try:
                output = self._command_handler_registry.dispatch_command(prefix, arguments, screen_info=None)
            except CommandLineExit as leave:
                return leave.exit_token if leave.exit_token is not None else EXPLICIT_USER_EXIT
        else:
            output = RichTextLines([f'{self.ERROR_MESSAGE_PREFIX}Invalid command prefix "{prefix}"'])
        if output is None:
            return None
        self._display_output(output)
        if output_file_path:
            try:
                output.write_to_file(output_file_path)
                print(f"{self.INFO_MESSAGE_PREFIX}Wrote output to {output_file_path}")
            except Exception as error:
                print(f"{self.ERROR_MESSAGE_PREFIX}Failed to write output to {output_file_path}: {error}")
        return None

    def _display_output(self, screen_output: RichTextLines) -> None:
        print("\n".join(screen_output.lines))
