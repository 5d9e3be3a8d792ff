"""Checkpoints by the names of their folders: `tf.train`'s functions, with the parameters that they had in contrib."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.train.checkpoints import initializing, reader

BELOW = "contrib.framework."


@public(BELOW + "load_checkpoint")
def load_checkpoint(filepattern: Any) -> Any:
    """A reader of a checkpoint, or of the latest one in a folder."""
    return reader.load_checkpoint(filepattern)


@public(BELOW + "load_variable")
def load_variable(checkpoint_dir: Any, name: str) -> Any:
    """The value of one variable of a checkpoint."""
    return reader.load_variable(checkpoint_dir, name)


@public(BELOW + "list_variables")
def list_variables(checkpoint_dir: Any) -> list[tuple[str, list[int]]]:
    """(name, shape) of each variable of a checkpoint, by name."""
    return reader.list_variables(checkpoint_dir)


@public(BELOW + "init_from_checkpoint")
def init_from_checkpoint(checkpoint_dir: Any, assignment_map: Any) -> None:
    """Makes values of a checkpoint the initial values of variables."""
    initializing.init_from_checkpoint(checkpoint_dir, assignment_map)
