"""The callbacks of every run, and the one that is made of functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.keras.callbacks.base import Callback
from everflow.keras.progress import Progbar


@public("keras.callbacks.BaseLogger")
@internal("keras.callbacks.BaseLogger")
class BaseLogger(Callback):
    """Averages what batches say over an epoch; stateful metrics are taken as they are."""

    def __init__(self, stateful_metrics: Any = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())
        self.seen = 0
        self.totals: dict[str, Any] = {}

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.seen = 0
        self.totals = {}

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size * logs.get("num_steps", 1)
        for name, value in logs.items():
            if name in self.stateful_metrics:
                self.totals[name] = value
            else:
                self.totals[name] = self.totals.get(name, 0) + value * size

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if logs is None:
            return
        for name in self.params["metrics"]:
            if name in self.totals and name not in logs:
                logs[name] = self.totals[name] if name in self.stateful_metrics else self.totals[name] / self.seen


@public("keras.callbacks.History")
@internal("keras.callbacks.History")
class History(Callback):
    """What each epoch said, by name: what `fit` returns."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.epoch = []
        self.history = {}

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


@public("keras.callbacks.ProgbarLogger")
@internal("keras.callbacks.ProgbarLogger")
class ProgbarLogger(Callback):
    """Shows a progress bar for each epoch."""

    def __init__(self, count_mode: str = "samples", stateful_metrics: Any = None) -> None:
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or ())
        self.seen = 0
        self.target: Any = None
        self.verbose = 0
        self.epochs = 1
        self.progbar: Any = None
        self.log_values: list[Any] = []

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.verbose, self.epochs = self.params["verbose"], self.params["epochs"]

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.seen = 0
        self.target = self.params["steps"] if self.use_steps else self.params["samples"]
        if self.verbose and self.epochs > 1:
            print(f"Epoch {epoch + 1}/{self.epochs}")
        self._start()

    def _start(self) -> None:
        self.progbar = Progbar(
            target=self.target,
            verbose=self.verbose,
            stateful_metrics=self.stateful_metrics,
            unit_name="step" if self.use_steps else "sample",
        )

    def on_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        self.log_values = []

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        told = logs or {}
        each = 1 if self.use_steps else told.get("size", 0)
        self.seen += each * told.get("num_steps", 1)
        self._note(told)
        # The end of the epoch shows the last state.
        if self.target is None or self.seen < self.target:
            self._show()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._note(logs or {})
        if self.verbose and self.target is None:
            # The end is known now where it was not before.
            self.progbar.target = self.target = self.seen
        self._show()

    def _show(self) -> None:
        if self.verbose:
            self.progbar.update(self.seen, self.log_values)

    def _note(self, logs: dict[str, Any]) -> None:
        self.log_values.extend((name, logs[name]) for name in self.params["metrics"] if name in logs)


class RunProgress(ProgbarLogger):
    """Shows a progress bar for an evaluation or prediction, which is one epoch."""

    def _begin(self, logs: dict[str, Any] | None = None) -> None:
        self.verbose, self.epochs = self.params["verbose"], 1
        self.on_epoch_begin(0)

    on_test_begin = on_predict_begin = _begin
    on_test_batch_begin = on_predict_batch_begin = ProgbarLogger.on_batch_begin
    on_test_batch_end = on_predict_batch_end = ProgbarLogger.on_batch_end


@public("keras.callbacks.TerminateOnNaN")
@internal("keras.callbacks.TerminateOnNaN")
class TerminateOnNaN(Callback):
    """Ends training where the loss is no number."""

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and (np.isnan(loss) or np.isinf(loss)):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


@public("keras.callbacks.LambdaCallback")
@internal("keras.callbacks.LambdaCallback")
class LambdaCallback(Callback):
    """A callback made of functions."""

    def __init__(
        self,
        on_epoch_begin: Any = None,
        on_epoch_end: Any = None,
        on_batch_begin: Any = None,
        on_batch_end: Any = None,
        on_train_begin: Any = None,
        on_train_end: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.__dict__.update(kwargs)
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
        }
        self.__dict__.update({name: function for name, function in given.items() if function is not None})
