"""`everflow tfdbg`: looks at the tensors that a debugged run dumped."""

from __future__ import annotations

from everflow.debug.cli import offline_analyzer


def main(arguments: list[str]) -> int:
    return offline_analyzer.command(arguments, prog="everflow tfdbg")
