"""Training for TPUs: optimizers across shards, variables that are read as bfloat16, checkpoints in the background."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.platform import logging
from everflow.tpu.replication import cross_replica_sum, get_tpu_context
from everflow.train.hooks_saving import CheckpointSaverHook
from everflow.train.optimizer import Optimizer


@public("tpu.CrossShardOptimizer", "contrib.tpu.CrossShardOptimizer")
class CrossShardOptimizer(Optimizer):
    """Sums the gradients of all shards before another optimizer applies them."""

    def __init__(self, opt: Any, reduction: str = "weighted_mean", name: str = "CrossShardOptimizer", group_assignment: Any = None) -> None:
        if reduction not in (tf.losses.Reduction.SUM, tf.losses.Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(use_locking=False, name=name)
        self._opt, self._reduction, self._group_assignment = opt, reduction, group_assignment

    def _group_size(self, shards: int) -> int:
        """How many shards are summed over."""
        if self._group_assignment is None:
            return shards
        sizes = {len(group) for group in self._group_assignment}
        if len(sizes) != 1 or sum(len(group) for group in self._group_assignment) != shards:
            raise ValueError(f"All {shards} shards must be in groups of the same size: {self._group_assignment}")
        return sizes.pop()

    def compute_gradients(self, loss: Any, var_list: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """The gradients of this shard: of its share of the loss where the mean of all is wanted."""
        shards = get_tpu_context().number_of_shards
        if shards is None:
            logging.warning("CrossShardOptimizer should be used within a tpu_shard_context, but got unset number_of_shards. Assuming 1.")
            shards = 1
        size = self._group_size(shards)
        if size > 1 and self._reduction == tf.losses.Reduction.MEAN:
            loss = loss * (1.0 / size)
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Applies the sums of the gradients of all shards."""
        summed = [
            (None if gradient is None else cross_replica_sum(gradient, self._group_assignment), variable)
            for gradient, variable in grads_and_vars
        ]
        return self._opt.apply_gradients(summed, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the other optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The slots of the other optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        """The variables of the other optimizer."""
        return self._opt.variables()


def _as_bfloat16(getter: Any, name: str, shape: Any = None, dtype: Any = tf.float32, *args: Any, **kwargs: Any) -> Any:
    """Variables of bfloat16 are kept as float32, and read as what was asked for."""
    if dtype != tf.bfloat16:
        return getter(name, shape, dtype, *args, **kwargs)
    return tf.cast(getter(name, shape, tf.float32, *args, **kwargs), tf.bfloat16)


@public("tpu.bfloat16_scope", "contrib.tpu.bfloat16_scope")
@contextlib.contextmanager
def bfloat16_scope() -> Iterator[Any]:
    """Within the block, `tf.get_variable` of bfloat16 makes a float32 variable and reads it as bfloat16."""
    with tf.variable_scope("", custom_getter=_as_bfloat16) as scope:
        yield scope


@public("contrib.tpu.AsyncCheckpointSaverHook")
class AsyncCheckpointSaverHook(CheckpointSaverHook):
    """Saves checkpoints as tf.train.CheckpointSaverHook, in a thread of its own; the end of the session waits for it."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Any = None,
    ) -> None:
        super().__init__(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold, listeners)
        self._saving: threading.Thread | None = None
        self._failure: BaseException | None = None

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Saves the first checkpoint."""
        super().after_create_session(session, coord)
        self._finish()

    def _save(self, session: Any, step: int) -> bool:
        self._finish()
        plain = super()._save

        def save() -> None:
            try:
                plain(session, step)
            except BaseException as failure:
                self._failure = failure

        self._saving = threading.Thread(target=save)
        self._saving.start()
        return False

    def _finish(self) -> None:
        if self._saving is not None:
            self._saving.join()
            self._saving = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def end(self, session: Any) -> None:
        """Saves the last checkpoint and waits for it."""
        super().end(session)
        self._finish()


@public("contrib.tpu.export_estimator_savedmodel")
def export_estimator_savedmodel(
    estimator: Any,
    export_dir_base: str,
    serving_input_receiver_fn: Any,
    assets_extra: Any = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> Any:
    """Exports a TPUEstimator's model for serving without a TPU."""
    return estimator.export_saved_model(export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path)
