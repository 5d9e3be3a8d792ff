"""tf.train.CheckpointManager: keeps some checkpoints of an object and deletes the others."""

from __future__ import annotations

import collections
import os
import sys
import time
from typing import Any

from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.errors import NotFoundError
from everflow.io import gfile
from everflow.platform import logging
from everflow.train.checkpoints.state import (
    checkpoint_exists,
    file_of,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    meta_graph_filename,
    remove_checkpoint,
    state_path,
    update_checkpoint_state,
    update_checkpoint_state_internal,
)
from everflow.train.tracking.restoring import get_session

# Programs replace this module's clock: it stands for TensorFlow's as a whole, so it has TensorFlow's names.
internal("training.checkpoint_management")(sys.modules[__name__])
_GetCheckpointFilename, _prefix_to_checkpoint_path, checkpoint_exists_internal = state_path, file_of, checkpoint_exists
__all__ = [
    "CheckpointManager",
    "checkpoint_exists",
    "generate_checkpoint_state_proto",
    "get_checkpoint_mtimes",
    "get_checkpoint_state",
    "latest_checkpoint",
    "meta_graph_filename",
    "remove_checkpoint",
    "update_checkpoint_state",
    "update_checkpoint_state_internal",
]


@public("train.CheckpointManager")
class CheckpointManager:
    """Numbers the checkpoints of a `tf.train.Checkpoint` in a folder and deletes old ones."""

    def __init__(
        self,
        checkpoint: Any,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_max_to_keep`, got {max_to_keep}.")
        self._checkpoint = checkpoint
        self._save_counter_assign: Any = None
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._directory = os.fspath(directory)
        self._checkpoint_prefix = os.path.join(self._directory, checkpoint_name)
        self._latest_checkpoint: str | None = None
        self._maybe_delete: collections.OrderedDict[str, float] = collections.OrderedDict()
        # When the last checkpoint was written that is kept for good: at first, when this manager was made.
        self._last_preserved_timestamp: float
        self._take_over(get_checkpoint_state(self._directory), time.time())

    def _take_over(self, known: Any, now: float) -> None:
        """What an earlier run left in the folder. Only what is known not to be kept for good may be deleted."""
        self._last_preserved_timestamp = now
        if known is None:
            return
        self._latest_checkpoint = known.model_checkpoint_path
        # Without times, it was not written by a manager.
        times = known.all_model_checkpoint_timestamps
        preserved = known.last_preserved_timestamp
        if now < preserved:
            logging.warning("time.time() returned a value %f seconds behind the last preserved checkpoint timestamp.", preserved - now)
            return
        self._last_preserved_timestamp = preserved
        for path, saved_at in zip(known.all_model_checkpoint_paths, times):
            if saved_at > preserved:
                self._maybe_delete[path] = saved_at

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the youngest checkpoint."""
        return self._latest_checkpoint

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that are managed, the oldest first; not those that are kept for good."""
        return list(self._maybe_delete)

    def _sweep(self) -> None:
        """Deletes what is too old, except for one checkpoint every few hours."""
        if not self._max_to_keep:
            return
        while len(self._maybe_delete) > self._max_to_keep:
            path, saved_at = self._maybe_delete.popitem(last=False)
            hours = self._keep_checkpoint_every_n_hours
            if hours and saved_at - hours * 3600.0 >= self._last_preserved_timestamp:
                self._last_preserved_timestamp = saved_at
                continue
            for pattern in (path + ".index", path + ".data-?????-of-?????"):
                for file in gfile.get_matching_files(pattern):
                    try:
                        gfile.delete_file(file)
                    except NotFoundError:
                        continue

    def _record_state(self) -> None:
        paths, times = list(self._maybe_delete), list(self._maybe_delete.values())
        update_checkpoint_state_internal(
            self._directory,
            model_checkpoint_path=self.latest_checkpoint or "",
            all_model_checkpoint_paths=paths,
            all_model_checkpoint_timestamps=times,
            last_preserved_timestamp=self._last_preserved_timestamp,
            save_relative_paths=True,
        )

    @property
    def _prefix(self) -> str:
        return self._checkpoint_prefix

    def save(self, checkpoint_number: Any = None) -> str:
        """Writes a checkpoint and deletes those that are too old; returns its prefix."""
        session: Any = None
        if executing_eagerly():
            self._checkpoint.save_counter.assign_add(1)
        else:
            session = get_session()
            if self._checkpoint._save_counter is None:
                session.run(self._checkpoint.save_counter.initializer)
            if self._save_counter_assign is None:
                self._save_counter_assign = self._checkpoint.save_counter.assign_add(1, read_value=False)
            session.run(self._save_counter_assign)
        if checkpoint_number is None:
            checkpoint_number = self._checkpoint.save_counter
        if not isinstance(checkpoint_number, int):
            checkpoint_number = checkpoint_number.numpy() if executing_eagerly() else session.run(checkpoint_number)
        path = self._checkpoint.write(f"{self._prefix}-{int(checkpoint_number)}")
        # A number that was used before is a checkpoint that was replaced.
        self._maybe_delete.pop(path, None)
        self._maybe_delete[path] = time.time()
        self._latest_checkpoint = path
        # The state before deleting: what it names is there at any moment.
        self._record_state()
        self._sweep()
        self._record_state()
        return path
