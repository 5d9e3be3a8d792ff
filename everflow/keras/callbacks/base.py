"""Callback, and the list that calls all callbacks of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from everflow.api import internal, public

TRAIN, TEST, PREDICT = "train", "test", "predict"


@internal("keras.utils.mode_keys.ModeKeys")
class ModeKeys:
    """What a model is run for."""

    TRAIN = TRAIN
    TEST = TEST
    PREDICT = PREDICT


def is_chief_of(model: Any) -> bool:
    """Whether this process is the one that writes, where several train a model together."""
    strategy = getattr(model, "_distribution_strategy", None)
    return strategy is None or not strategy._in_multi_worker_mode() or strategy.extended.should_checkpoint


@public("keras.callbacks.Callback")
@internal("keras.callbacks.Callback")
class Callback:
    """Base of callbacks: each method is called at a point of training, evaluation or prediction."""

    def __init__(self) -> None:
        self.validation_data: Any = None
        self.model: Any = None
        self.params: dict[str, Any] = {}
        self._chief_worker_only: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """What the run was told."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """The model that is run."""
        self.model = model

    def on_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """The same as `on_train_batch_begin`."""

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """The same as `on_train_batch_end`."""

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Before an epoch of training."""

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """After an epoch, with its losses and metrics."""

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of training."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of training."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of evaluation."""

    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of evaluation."""

    def on_predict_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of prediction."""

    def on_predict_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of prediction."""

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before training."""

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """After training."""

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before evaluation."""

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        """After evaluation."""

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before prediction."""

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """After prediction."""

    def _abandon(self) -> None:
        """After a run that failed: gives back what was taken for it."""


def _overrides(callback: Any, *names: str) -> bool:
    return any(getattr(type(callback), n, None) is not getattr(Callback, n) for n in names)


@internal("keras.callbacks.CallbackList")
class CallbackList:
    """Calls all callbacks of a run."""

    def __init__(self, callbacks: Any = None, queue_length: int = 10) -> None:
        self.callbacks = list(callbacks or [])
        self.queue_length = queue_length
        self.params: dict[str, Any] = {}
        self.model: Any = None
        self._find()

    def _find(self) -> None:
        """Which callbacks look at batches: the others need no call for each."""
        self._of_batches = {
            (mode, hook): [
                getattr(c, f"on_{mode}_batch_{hook}")
                for c in self.callbacks
                if not isinstance(c, Callback)
                or _overrides(c, f"on_{mode}_batch_{hook}", *([f"on_batch_{hook}"] if mode == TRAIN else []))
                or f"on_{mode}_batch_{hook}" in vars(c)
                or f"on_batch_{hook}" in vars(c)
            ]
            for mode in (TRAIN, TEST, PREDICT)
            for hook in ("begin", "end")
        }

    def append(self, callback: Any) -> None:
        """Adds a callback."""
        self.callbacks.append(callback)
        self._find()

    def set_params(self, params: dict[str, Any]) -> None:
        """Tells all what the run was told."""
        self.params = params
        for c in self.callbacks:
            c.set_params(params)

    def set_model(self, model: Any) -> None:
        """Tells all the model."""
        self.model = model
        for c in self.callbacks:
            c.set_model(model)

    def watches(self, mode: str) -> bool:
        """Whether a callback looks at the batches of a mode."""
        return bool(self._of_batches[mode, "begin"] or self._of_batches[mode, "end"])

    def batch(self, mode: str, hook: str, batch: int, logs: dict[str, Any] | None) -> None:
        """Before or after a step."""
        for call in self._of_batches[mode, hook]:
            call(batch, logs)

    def run(self, mode: str, hook: str, logs: dict[str, Any] | None = None) -> None:
        """Before or after a run."""
        for c in self.callbacks:
            getattr(c, f"on_{mode}_{hook}")(logs)

    def abandon(self) -> None:
        """After a run that failed."""
        for c in self.callbacks:
            if isinstance(c, Callback):
                c._abandon()

    _call_begin_hook = lambda self, mode: self.run(mode, "begin")
    _call_end_hook = lambda self, mode: self.run(mode, "end")

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Before an epoch."""
        for c in self.callbacks:
            c.on_epoch_begin(epoch, logs or {})

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """After an epoch."""
        for c in self.callbacks:
            c.on_epoch_end(epoch, logs if logs is not None else {})

    def on_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of training."""
        self.batch(TRAIN, "begin", batch, logs or {})

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of training."""
        self.batch(TRAIN, "end", batch, logs or {})

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of training."""
        self.batch(TRAIN, "begin", batch, logs or {})

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of training."""
        self.batch(TRAIN, "end", batch, logs or {})

    def on_test_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of evaluation."""
        self.batch(TEST, "begin", batch, logs or {})

    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of evaluation."""
        self.batch(TEST, "end", batch, logs or {})

    def on_predict_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of prediction."""
        self.batch(PREDICT, "begin", batch, logs or {})

    def on_predict_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of prediction."""
        self.batch(PREDICT, "end", batch, logs or {})

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before training."""
        self.run(TRAIN, "begin", logs)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """After training."""
        self.run(TRAIN, "end", logs)

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before evaluation."""
        self.run(TEST, "begin", logs)

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        """After evaluation."""
        self.run(TEST, "end", logs)

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before prediction."""
        self.run(PREDICT, "begin", logs)

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """After prediction."""
        self.run(PREDICT, "end", logs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.callbacks)


@internal("keras.callbacks.make_logs")
def make_logs(model: Any, logs: dict[str, Any], outputs: Any, mode: str, prefix: str = "") -> dict[str, Any]:
    """The losses and metrics of a step, by name."""
    if mode in (TRAIN, TEST):
        name_outputs(logs, model.metrics_names, outputs, prefix)
    else:
        logs["outputs"] = outputs
    return logs


def name_outputs(logs: dict[str, Any], names: list[str], outputs: Any, prefix: str = "") -> dict[str, Any]:
    """Adds the losses and metrics of a step to logs."""
    for name, value in zip(names, outputs):
        logs[prefix + name] = value
    return logs


@internal("keras.callbacks.configure_callbacks")
def configure_callbacks(
    callbacks: Any,
    model: Any,
    do_validation: bool = False,
    batch_size: Any = None,
    epochs: Any = None,
    steps_per_epoch: Any = None,
    samples: Any = None,
    verbose: int = 1,
    count_mode: str = "steps",
    mode: str = TRAIN,
) -> CallbackList:
    """The list of a run's callbacks; training has a history among them."""
    from everflow.keras.callbacks.basics import BaseLogger, History, ProgbarLogger

    if isinstance(callbacks, CallbackList):
        return callbacks
    found = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
    if mode == TRAIN:
        model.history = History()
        found = [BaseLogger(), *found, model.history]
        if verbose:
            found.append(ProgbarLogger(count_mode, stateful_metrics=model.metrics_names[1:]))
    made = CallbackList(found if is_chief_of(model) else [c for c in found if not getattr(c, "_chief_worker_only", None)])
    made.set_model(model)
    set_callback_parameters(made, model, do_validation, batch_size, epochs, steps_per_epoch, samples, verbose, mode)
    model.stop_training = False
    return made


@internal("keras.callbacks.set_callback_parameters")
def set_callback_parameters(
    callback_list: CallbackList,
    model: Any,
    do_validation: bool = False,
    batch_size: Any = None,
    epochs: Any = None,
    steps_per_epoch: Any = None,
    samples: Any = None,
    verbose: int = 1,
    mode: str = TRAIN,
) -> None:
    """Tells callbacks what the run was told."""
    for c in callback_list:
        if hasattr(c, "stateful_metrics") and type(c).__name__ == "BaseLogger":
            c.stateful_metrics = set(model.metrics_names[1:])
    metrics = []
    if mode != PREDICT:
        metrics = list(model.metrics_names)
        if do_validation:
            metrics += ["val_" + n for n in model.metrics_names]
    callback_list.set_params(
        {
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": steps_per_epoch,
            "samples": samples,
            "verbose": verbose,
            "do_validation": do_validation,
            "metrics": metrics,
        }
    )


@contextlib.contextmanager
def running(callbacks: CallbackList, mode: str) -> Iterator[None]:
    """Around a run."""
    callbacks.run(mode, "begin")
    yield
    callbacks.run(mode, "end")
