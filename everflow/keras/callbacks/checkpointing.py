"""The callback that saves a model while it trains."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.keras.callbacks.adjusting import is_maximized
from everflow.keras.callbacks.base import Callback, is_chief_of
from everflow.platform import logging as tf_logging


@public("keras.callbacks.ModelCheckpoint")
@internal("keras.callbacks.ModelCheckpoint")
class ModelCheckpoint(Callback):
    """Saves the model, or its weights, after epochs or after a number of samples."""

    def __init__(
        self,
        filepath: str,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        **kwargs: Any,
    ) -> None:
        super().__init__()
        # All workers save, since they may have to agree on what; those that are not the chief do so where nobody looks.
        self._chief_worker_only = False
        self.monitor = monitor
        self.verbose = verbose
        self.filepath = filepath
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.epochs_since_last_save = 0
        self._samples_seen_since_last_saving = 0
        self._current_epoch = 0
        self.load_weights_on_restart = kwargs.pop("load_weights_on_restart", False)
        self.period = kwargs.pop("period", 1)
        if self.period != 1:
            tf_logging.warning(
                "`period` argument is deprecated. Please use `save_freq` to specify the frequency in number of samples seen."
            )
        if mode not in ("auto", "min", "max"):
            tf_logging.warning("ModelCheckpoint mode %s is unknown, fallback to auto mode.", mode)
            mode = "auto"
        self.monitor_op: Any = np.greater if is_maximized(monitor, mode) else np.less
        self.best = -np.inf if self.monitor_op is np.greater else np.inf
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")

    def set_model(self, model: Any) -> None:
        self.model = model
        # A model that has no data form of its own can only have its weights saved.
        if not self.save_weights_only and not model._is_graph_network and type(model).__name__ != "Sequential":
            self.save_weights_only = True

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        if self.load_weights_on_restart:
            self._load_newest()

    def _load_newest(self) -> None:
        newest = self._get_most_recently_modified_file_matching_pattern(self.filepath)
        if newest is not None and (os.path.exists(newest) or os.path.exists(newest + ".index")):
            try:
                self.model.load_weights(newest)
            except (OSError, ValueError) as e:
                raise ValueError(f"Error loading file from {newest}. Reason: {e}") from e

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        if not isinstance(self.save_freq, int):
            return
        logs = logs or {}
        self._samples_seen_since_last_saving += logs.get("size", 1)
        if self._samples_seen_since_last_saving >= self.save_freq:
            self._samples_seen_since_last_saving = 0
            self._save_model(self._current_epoch, logs)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._current_epoch = epoch

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch" and self.epochs_since_last_save >= self.period:
            self._save_model(epoch=epoch, logs=logs)

    def _save_model(self, epoch: int, logs: dict[str, Any] | None) -> None:
        logs = logs or {}
        self.epochs_since_last_save = 0
        path = self._get_file_path(epoch, logs)
        if self.save_best_only:
            current = logs.get(self.monitor)
            if current is None:
                tf_logging.warning("Can save best model only with %s available, skipping.", self.monitor)
                return
            if not self.monitor_op(current, self.best):
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1:05d}: {self.monitor} did not improve from {self.best:0.5f}")
                return
            if self.verbose > 0:
                print(f"\nEpoch {epoch + 1:05d}: {self.monitor} improved from {self.best:0.5f} to {current:0.5f}, saving model to {path}")
            self.best = current
        elif self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: saving model to {path}")
        if is_chief_of(self.model):
            self._write(path)
            return
        with tempfile.TemporaryDirectory() as folder:
            self._write(os.path.join(folder, os.path.basename(path)))

    def _write(self, path: str) -> None:
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)

    def _get_file_path(self, epoch: int, logs: dict[str, Any] | None) -> str:
        return self.filepath.format(epoch=epoch + 1, **(logs or {}))

    def _get_most_recently_modified_file_matching_pattern(self, pattern: str) -> Any:
        """The newest file whose name fits a pattern with {fields}."""
        folder, base = os.path.dirname(pattern), os.path.basename(pattern)
        wanted = re.compile("^" + re.sub(r"\\{.*?\\}", ".*", re.escape(base)) + "$")
        # A checkpoint is several files: what they are called together stands in the file `checkpoint`.
        checkpoint = tf.train.latest_checkpoint(folder)
        if checkpoint is not None and wanted.match(os.path.basename(checkpoint)):
            return checkpoint
        best: Any = None
        if os.path.isdir(folder):
            for name in sorted(os.listdir(folder)):
                full = os.path.join(folder, name)
                if wanted.match(name) and (best is None or (os.path.getmtime(full), full) >= best[0]):
                    best = ((os.path.getmtime(full), full), full)
        return best[1] if best is not None else None
