"""`everflow COMMAND ...`: finds the command and hands it the rest of the line."""

from __future__ import annotations

import importlib
import sys

from everflow.about import version

# What --help says of each command; the module everflow.cli.<command> holds its main(arguments).
COMMANDS = {
    "alias": "let plain `python` find Everflow as TensorFlow",
    "client": "ask a model server",
    "demo": "train a network that reads handwritten digits",
    "export": "write a model as a PyTorch module",
    "launch": "run a distributed program, with a process for each task",
    "ops": "list the ops of TensorFlow, and what Everflow has of each",
    "profile": "run a program and show where its time goes",
    "records": "show what is in record files (TFRecord)",
    "run": "run a TensorFlow program with Everflow",
    "serve": "serve models over gRPC and REST",
    "tfdbg": "look at the tensors that a debugged run dumped",
}

# Programs of TensorFlow, under the names that they have there: command(arguments) of everflow.tools.<name>.
TOOLS = {
    "freeze_graph": "make one file of a graph and a checkpoint",
    "inspect_checkpoint": "show what is in a checkpoint",
    "optimize_for_inference": "make a frozen graph leaner",
    "saved_model_cli": "show what is in a SavedModel, and run it",
    "strip_unused": "leave of a graph what lies between some nodes",
    "transform_graph": "change a graph: fold constants, strip nodes, compute in eight bits",
}


def help_text() -> str:
    every = {**COMMANDS, **TOOLS}
    width = max(map(len, every))
    lines = [f"  {name:<{width}}  {summary}" for name, summary in every.items()]
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
    if command in TOOLS:
        return importlib.import_module(f"everflow.tools.{command}").command(rest)
    if command not in COMMANDS:
        known = ", ".join([*COMMANDS, *TOOLS])
        print(f"everflow: there is no command '{command}' (the commands are: {known})", file=sys.stderr)
        return 2
    return importlib.import_module(f"everflow.cli.{command}").main(rest)
