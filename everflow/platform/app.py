"""`tf.app.run`: parses the flags and calls the program's `main`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from absl import app, flags

from everflow.api import internal, public
from everflow.platform import logging

internal("platform.app")(sys.modules[__name__])


def _parse_known(argv: list[str]) -> list[str]:
    """Flags that nobody defined stay in the arguments that `main` gets."""
    return flags.FLAGS(argv, known_only=True)


@public("app.run")
def run(main: Callable[..., Any] | None = None, argv: list[str] | None = None) -> None:
    """Runs `main` (by default that of the program) with the arguments left over, and exits with what it returns."""
    # absl puts a handler of its own on the root logger; ours must be there first to be there at all.
    logging.get_logger()
    app.run(main=main or sys.modules["__main__"].main, argv=argv, flags_parser=_parse_known)
