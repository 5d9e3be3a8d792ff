"""`everflow COMMAND ...`: finds the command and hands it the rest of the line."""
from __future__ import annotations

import importlib
import sys

from everflow.about import version

# What --help says of each command; the module everflow.cli.<command> holds its main(arguments).
COMMANDS = {
    "ops": "list the ops of TensorFlow, and what Everflow has of each",
    "run": "run a TensorFlow program with Everflow",
}


def help_text() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            "usage: everflow [--version] [--help] COMMAND ...",
            "",
            "Run TensorFlow 1.x programs on today's Python.",
            "",
            "commands:",
            *lines,
            "",
            "`everflow COMMAND --help` tells more.",
        ]
    )


def main(arguments: list[str] | None = None) -> int | None:
    """Runs one command; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(help_text())
        return 0
    command, *rest = arguments
    if command in ("-V", "--version"):
        print(f"everflow {version}")
        return 0
    if command not in COMMANDS:
        known = ", ".join(COMMANDS)
        print(f"everflow: there is no command '{command}' (the commands are: {known})", file=sys.stderr)
        return 2
    return importlib.import_module(f"everflow.cli.{command}").main(rest)
