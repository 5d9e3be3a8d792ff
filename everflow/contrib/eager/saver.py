"""tfe.Saver: variables saved by name while ops run at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.templates import make_template_internal
from everflow.train.checkpoints.reader import load_checkpoint
from everflow.train.checkpoints.saver import Saver as NamedSaver
from everflow.train.tracking.autotracking import AutoTrackable
from everflow.train.tracking.checkpoint import Checkpoint

public("contrib.eager.Checkpoint")(Checkpoint)
public("contrib.eager.Checkpointable")(AutoTrackable)
public("contrib.eager.make_template")(make_template_internal)


@public("contrib.eager.Saver")
class Saver:
    """Saves and restores a list of variables, or a dict of them by name."""

    def __init__(self, var_list: Any) -> None:
        self._saver = NamedSaver(var_list)

    def save(self, file_prefix: str, global_step: Any = None) -> str | None:
        """Writes a checkpoint; returns its path."""
        return self._saver.save(None, file_prefix, write_meta_graph=False, global_step=global_step)

    def restore(self, file_prefix: str) -> None:
        """Gives the variables the values of a checkpoint."""
        self._saver.restore(None, file_prefix)


@public("contrib.eager.get_optimizer_variables")
def get_optimizer_variables(optimizer: Any) -> list[Any]:
    """The variables that an optimizer made."""
    return optimizer.variables()


@public("contrib.eager.restore_variables_on_create")
@contextlib.contextmanager
def restore_variables_on_create(save_path: str, map_func: Callable[[str], str] | None = None) -> Iterator[None]:
    """Variables made in this block begin with the values that a checkpoint has under their names."""
    if map_func is not None and not callable(map_func):
        raise ValueError("map_func must be callable.")
    reader = load_checkpoint(save_path)
    known = reader.get_variable_to_shape_map()

    def creator(make: Callable[..., Any], **arguments: Any) -> Any:
        made = make(**arguments)
        name = made.name.rpartition(":")[0]
        name = map_func(name) if map_func is not None else name
        if name in known:
            made.assign(reader.get_tensor(name))
        return made

    with tf.variable_creator_scope(creator):
        yield
