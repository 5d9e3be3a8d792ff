"""Callbacks that end training or change its learning rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.keras.backend.session import get_value, set_value
from everflow.keras.callbacks.base import Callback
from everflow.platform import logging as tf_logging


def is_maximized(monitor: str, mode: str) -> bool:
    """Whether more of a metric is better: as the mode says, or as its name does."""
    if mode in ("min", "max"):
        return mode == "max"
    return "acc" in monitor or monitor.startswith("fmeasure")


@public("keras.callbacks.EarlyStopping")
@internal("keras.callbacks.EarlyStopping")
class EarlyStopping(Callback):
    """Ends training where a metric no longer gets better."""

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: Any = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__()
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.min_delta = abs(min_delta)
        self.wait = 0
        self.stopped_epoch = 0
        self.restore_best_weights = restore_best_weights
        self.best_weights: Any = None
        if mode not in ("auto", "min", "max"):
            tf_logging.warning("EarlyStopping mode %s is unknown, fallback to auto mode.", mode)
            mode = "auto"
        self.monitor_op: Any = np.greater if mode == "max" or mode == "auto" and "acc" in monitor else np.less
        if self.monitor_op is np.less:
            self.min_delta *= -1
        self.best: Any = None

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        self.best = self.baseline if self.baseline is not None else np.inf if self.monitor_op is np.less else -np.inf

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        current = self.get_monitor_value(logs)
        if current is None:
            return
        if self.monitor_op(current - self.min_delta, self.best):
            self.best = current
            self.wait = 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.restore_best_weights:
                if self.verbose > 0:
                    print("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs: dict[str, Any] | None) -> Any:
        """The value of the metric that is watched."""
        logs = logs or {}
        found = logs.get(self.monitor)
        if found is None:
            tf_logging.warning(
                "Early stopping conditioned on metric `%s` which is not available. Available metrics are: %s",
                self.monitor,
                ",".join(list(logs)),
            )
        return found


@public("keras.callbacks.LearningRateScheduler")
@internal("keras.callbacks.LearningRateScheduler")
class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch to what a function says."""

    def __init__(self, schedule: Any, verbose: int = 0) -> None:
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        try:
            rate = self.schedule(epoch, float(get_value(self.model.optimizer.lr)))
        except TypeError:
            # An older form, without the rate of the epoch before.
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError('The output of the "schedule" function should be float.')
        set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if logs is not None:
            logs["lr"] = get_value(self.model.optimizer.lr)


@public("keras.callbacks.ReduceLROnPlateau")
@internal("keras.callbacks.ReduceLROnPlateau")
class ReduceLROnPlateau(Callback):
    """Reduces the learning rate where a metric no longer gets better."""

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        if "epsilon" in kwargs:
            min_delta = kwargs.pop("epsilon")
            tf_logging.warning("`epsilon` argument is deprecated and will be removed, use `min_delta` instead.")
        self.monitor = monitor
        self.factor = factor
        self.min_lr = min_lr
        self.min_delta = min_delta
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.cooldown_counter = 0
        self.wait = 0
        self.best: Any = 0
        self.mode = mode
        self.monitor_op: Any = None
        self._reset()

    def _reset(self) -> None:
        if self.mode not in ("auto", "min", "max"):
            tf_logging.warning("Learning Rate Plateau Reducing mode %s is unknown, fallback to auto mode.", self.mode)
            self.mode = "auto"
        if self.mode == "min" or self.mode == "auto" and "acc" not in self.monitor:
            self.monitor_op = lambda a, b: np.less(a, b - self.min_delta)
            self.best = np.inf
        else:
            self.monitor_op = lambda a, b: np.greater(a, b + self.min_delta)
            self.best = -np.inf
        self.cooldown_counter = 0
        self.wait = 0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._reset()

    def in_cooldown(self) -> bool:
        """Whether the rate was reduced just before."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        logs = logs or {}
        logs["lr"] = get_value(self.model.optimizer.lr)
        current = logs.get(self.monitor)
        if current is None:
            tf_logging.warning(
                "Reduce LR on plateau conditioned on metric `%s` which is not available. Available metrics are: %s",
                self.monitor,
                ",".join(list(logs)),
            )
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                old = float(get_value(self.model.optimizer.lr))
                if old > self.min_lr:
                    new = max(old * self.factor, self.min_lr)
                    set_value(self.model.optimizer.lr, new)
                    if self.verbose > 0:
                        print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {new}.")
                    self.cooldown_counter = self.cooldown
                    self.wait = 0
