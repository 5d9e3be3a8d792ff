"""Callbacks that end training or change its learning rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.keras.backend.session import get_value, set_value
from everflow.keras.callbacks.base import Callback
from everflow.platform import logging as tf_logging


def is_maximized(monitor: str, mode: str) -> bool:
    """Whether more of a metric is better: as the mode says, or as its name does."""
    if mode in ("min", "max"):
        return mode == "max"
    return "acc" in monitor or monitor.startswith("fmeasure")


class _Watching(Callback):
    """Watches a metric that should get better, and counts the epochs in which it does not."""

    monitor: str
    verbose: int
    patience: int
    min_delta: float
    monitor_op: Any
    best: Any = None
    wait = 0

    def _watch(self, mode: str, called: str) -> bool:
        """Sees to it that the mode is known; whether it wants more of the metric."""
        if mode not in ("auto", "min", "max"):
            tf_logging.warning(f"{called} mode %s is unknown, fallback to auto mode.", mode)
            mode = "auto"
        return mode == "max" or mode == "auto" and "acc" in self.monitor

    def _seen(self, logs: dict[str, Any], purpose: str) -> Any:
        """The metric after an epoch, with a warning where there is none."""
        if logs.get(self.monitor) is None:
            words = f"{purpose} conditioned on metric `%s` which is not available. Available metrics are: %s"
            tf_logging.warning(words, self.monitor, ",".join(logs))
        return logs.get(self.monitor)


@public("keras.callbacks.EarlyStopping")
@internal("keras.callbacks.EarlyStopping")
class EarlyStopping(_Watching):
    """Ends training where a metric no longer gets better."""

    baseline: Any
    restore_best_weights: bool
    best_weights: Any
    stopped_epoch: int

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
        given = arguments(locals())
        super().__init__()
        del given["mode"]
        vars(self).update(given, wait=0, stopped_epoch=0, best_weights=None)
        self.monitor_op = np.greater if self._watch(mode, "EarlyStopping") else np.less
        # A change counts where the metric without it would be better still.
        self.min_delta = abs(min_delta) if self.monitor_op is np.greater else -abs(min_delta)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        worst = -np.inf if self.monitor_op is np.greater else np.inf
        vars(self).update(wait=0, stopped_epoch=0, best=worst if self.baseline is None else self.baseline)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        current = self.get_monitor_value(logs)
        if current is None:
            return
        better = self.monitor_op(current - self.min_delta, self.best)
        self.wait = 0 if better else self.wait + 1
        if better:
            self.best = current
            self.best_weights = self.model.get_weights() if self.restore_best_weights else None
        elif self.wait >= self.patience:
            self._stop(epoch)

    def _stop(self, epoch: int) -> None:
        self.stopped_epoch, self.model.stop_training = epoch, True
        if not self.restore_best_weights:
            return
        if self.verbose > 0:
            print("Restoring model weights from the end of the best epoch.")
        self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs: dict[str, Any] | None) -> Any:
        """The value of the metric that is watched."""
        return self._seen(logs or {}, "Early stopping")


@public("keras.callbacks.LearningRateScheduler")
@internal("keras.callbacks.LearningRateScheduler")
class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch to what a function says."""

    def __init__(self, schedule: Any, verbose: int = 0) -> None:
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        optimizer = self.model.optimizer
        if not hasattr(optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        rate = self._scheduled(epoch, float(get_value(optimizer.lr)))
        set_value(optimizer.lr, rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}.")

    def _scheduled(self, epoch: int, before: float) -> Any:
        try:
            rate = self.schedule(epoch, before)
        except TypeError:
            # An older form, without the rate of the epoch before.
            rate = self.schedule(epoch)
        if isinstance(rate, (float, np.float32)):
            return rate
        raise ValueError('The output of the "schedule" function should be float.')

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if logs is not None:
            logs["lr"] = get_value(self.model.optimizer.lr)


@public("keras.callbacks.ReduceLROnPlateau")
@internal("keras.callbacks.ReduceLROnPlateau")
class ReduceLROnPlateau(_Watching):
    """Reduces the learning rate where a metric no longer gets better."""

    factor: float
    cooldown: int
    cooldown_counter: int
    min_lr: float
    mode: str

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
        given = arguments(locals())
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        if "epsilon" in kwargs:
            tf_logging.warning("`epsilon` argument is deprecated and will be removed, use `min_delta` instead.")
            given["min_delta"] = kwargs["epsilon"]
        vars(self).update({name: value for name, value in given.items() if name not in kwargs})
        self._reset()

    def _reset(self) -> None:
        more = self._watch(self.mode, "Learning Rate Plateau Reducing")
        if self.mode not in ("min", "max"):
            self.mode = "auto"
        sign, compare = (1, np.greater) if more else (-1, np.less)
        self.monitor_op = lambda value, best: compare(value, best + sign * self.min_delta)
        vars(self).update(best=-sign * np.inf, cooldown_counter=0, wait=0)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._reset()

    def in_cooldown(self) -> bool:
        """Whether the rate was reduced just before."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        logs = logs or {}
        logs["lr"] = get_value(self.model.optimizer.lr)
        current = self._seen(logs, "Reduce LR on plateau")
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter, self.wait = self.cooldown_counter - 1, 0
        if self.monitor_op(current, self.best):
            self.best, self.wait = current, 0
            return
        self.wait += not self.in_cooldown()
        if 0 < self.wait >= self.patience:
            self._reduce(epoch)

    def _reduce(self, epoch: int) -> None:
        rate = self.model.optimizer.lr
        before = float(get_value(rate))
        if before <= self.min_lr:
            return
        after = max(before * self.factor, self.min_lr)
        set_value(rate, after)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {after}.")
        vars(self).update(cooldown_counter=self.cooldown, wait=0)
