"""The loops over epochs and batches: a step runs on each batch, and callbacks hear of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from everflow.keras.callbacks.base import PREDICT, TEST, TRAIN, CallbackList, configure_callbacks, make_logs, name_outputs
from everflow.keras.callbacks.basics import ProgbarLogger, RunProgress
from everflow.keras.training.results import MetricsAggregator, OutputsAggregator

Step = Callable[[list[Any]], list[Any]]


def fit(
    model: Any,
    train: Step,
    batches: Any,
    test: Step | None,
    validation: Any,
    epochs: int,
    verbose: int,
    callbacks: Any,
    initial_epoch: int,
    validation_freq: Any,
) -> Any:
    """Trains for some epochs, with validation where there are batches for it; returns the history."""
    found = _configured(model, TRAIN, batches, verbose, callbacks, epochs, do_validation=validation is not None)
    batches.epochs = epochs
    if verbose and batches.number and not batches.from_generator:
        print(_train_message(batches, validation))
    found.run(TRAIN, "begin")
    try:
        for epoch in range(initial_epoch, epochs):
            model.reset_metrics()
            found.on_epoch_begin(epoch)
            logs = _trained(model, train, batches, found)
            if logs is None:
                break
            if validation is not None and should_validate(validation_freq, epoch) and not model.stop_training:
                found.run(TEST, "begin")
                name_outputs(logs, model.metrics_names, _tested(model, test, validation, found), prefix="val_")
                found.run(TEST, "end")
            found.on_epoch_end(epoch, logs)
            if model.stop_training or batches.is_exhausted:
                break
    except BaseException:
        found.abandon()
        raise
    finally:
        batches.close()
        if validation is not None:
            validation.close()
    found.run(TRAIN, "end")
    return model.history


def evaluate(model: Any, test: Step, batches: Any, verbose: int, callbacks: Any) -> Any:
    """The loss and metrics over all data."""
    found, bar = _observed(model, TEST, batches, verbose, callbacks)
    found.run(TEST, "begin")
    try:
        results = _tested(model, test, batches, found)
    finally:
        batches.close()
    if bar is not None:
        bar.on_epoch_end(0, make_logs(model, {}, results, TEST))
    found.run(TEST, "end")
    return results[0] if len(results) == 1 else results


def predict(model: Any, step: Step, batches: Any, verbose: int, callbacks: Any) -> Any:
    """The outputs for all data."""
    found, bar = _observed(model, PREDICT, batches, verbose, callbacks)
    found.run(PREDICT, "begin")
    aggregator = OutputsAggregator(batches.uses_steps, batches.samples)
    start = 0
    try:
        for outputs, size in _each_batch(PREDICT, step, batches, found):
            if start == 0:
                aggregator.create(outputs)
            aggregator.aggregate(outputs, start, start + size)
            start += size
    finally:
        batches.close()
    aggregator.finalize()
    if bar is not None:
        bar.on_epoch_end(0, {})
    found.run(PREDICT, "end")
    results = aggregator.results
    if not results:
        raise ValueError("There was no data to predict for.")
    return results[0] if len(results) == 1 else results


def should_validate(frequency: Any, epoch: int) -> bool:
    """Whether an epoch (counted from 0) ends with validation."""
    number = epoch + 1
    if isinstance(frequency, int):
        if frequency < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return number % frequency == 0
    if not isinstance(frequency, (list, tuple, set, range)):
        raise ValueError(
            f"`validation_freq` must be an Integer or `collections_abc.Container` (e.g. list, tuple, etc.). Received type "
            f"`{type(frequency)}`."
        )
    return number in frequency


# One pass over the data


def _trained(model: Any, step: Step, batches: Any, callbacks: CallbackList) -> dict[str, Any] | None:
    """What an epoch of training says, or None where there was nothing left to train on."""
    aggregator = MetricsAggregator()
    # The same for all batches, and not free to find out.
    names = model.metrics_names
    for outputs, size in _each_batch(TRAIN, step, batches, callbacks, names):
        aggregator.add(outputs, size)
        if model.stop_training:
            break
    if not aggregator.number:
        return None
    if batches.uses_steps and callbacks.params.get("steps") is None:
        callbacks.params["steps"] = batches.number
    return name_outputs({}, names, aggregator.results())


def _tested(model: Any, step: Any, batches: Any, callbacks: CallbackList) -> list[Any]:
    model.reset_metrics()
    aggregator = MetricsAggregator()
    for outputs, size in _each_batch(TEST, step, batches, callbacks, model.metrics_names):
        aggregator.add(outputs, size)
    return aggregator.results()


def _each_batch(
    mode: str, step: Step, batches: Any, callbacks: CallbackList, names: list[str] | None = None
) -> Iterator[tuple[list[Any], int]]:
    """(what the step says, how much it counts) of each batch; callbacks that look at batches are called before and after."""
    watched = callbacks.watches(mode)
    for batch, (arrays, size) in enumerate(batches.epoch()):
        if not watched:
            yield step(arrays), size
            continue
        logs: dict[str, Any] = {"batch": batch, "size": size}
        callbacks.batch(mode, "begin", batch, logs)
        outputs = step(arrays)
        callbacks.batch(mode, "end", batch, name_outputs(logs, names, outputs) if names else {**logs, "outputs": outputs})
        yield outputs, size


# Who watches


def _configured(model: Any, mode: str, batches: Any, verbose: int, callbacks: Any, epochs: int = 1, do_validation: bool = False) -> Any:
    by_steps = batches.uses_steps
    return configure_callbacks(
        callbacks,
        model,
        do_validation=do_validation,
        batch_size=batches.batch_size,
        epochs=epochs,
        samples=batches.samples,
        steps_per_epoch=batches.number if by_steps else None,
        verbose=verbose,
        count_mode="steps" if by_steps else "samples",
        mode=mode,
    )


def _observed(model: Any, mode: str, batches: Any, verbose: int, callbacks: Any) -> tuple[CallbackList, Any]:
    """(the list of callbacks, the progress bar among them) of a run without training."""
    found = _configured(model, mode, batches, verbose, callbacks)
    if verbose != 1 or any(isinstance(c, ProgbarLogger) for c in found):
        return found, None
    bar = RunProgress("steps" if batches.uses_steps else "samples", stateful_metrics=model.metrics_names[1:] if mode == TEST else None)
    found.append(bar)
    bar.set_model(model)
    bar.set_params(found.params)
    return found, bar


def _train_message(batches: Any, validation: Any) -> str:
    kind = "steps" if batches.from_dataset else "samples"
    shown = f"Train on {batches.number} {kind}"
    if validation is not None and validation.number:
        shown += f", validate on {validation.number} {kind}"
    return shown
