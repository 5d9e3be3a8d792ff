"""`everflow demo`: runs the program of everflow/demo/mnist.py."""

from __future__ import annotations

import pathlib

import everflow
from everflow.cli import run

PROGRAM = pathlib.Path(everflow.__file__).parent / "demo" / "mnist.py"


def main(arguments: list[str]) -> int | None:
    return run.main([str(PROGRAM), *arguments])
