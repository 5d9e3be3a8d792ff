"""The loops over epochs and batches."""
from __future__ import annotations

from typing import Any

from everflow.keras.callbacks.base import PREDICT, TEST, TRAIN, configure_callbacks, make_logs, name_outputs
from everflow.keras.callbacks.basics import ProgbarLogger, RunProgress
from everflow.keras.training.results import MetricsAggregator, OutputsAggregator


def should_validate(frequency: Any, epoch: int) -> bool:
    """Whether an epoch (counted from 0) ends with validation."""
    number = epoch + 1
    if isinstance(frequency, int):
        if frequency < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return number % frequency == 0
    if not isinstance(frequency, (list, tuple, set, range)):
        raise ValueError(f"`validation_freq` must be an Integer or `collections_abc.Container` (e.g. list, tuple, etc.). Received type "
                         f"`{type(frequency)}`.")
    return number in frequency


def _train_message(source: Any, validation: Any) -> str:
    shown = f"Train on {source.number} {'steps' if source.uses_steps else 'samples'}"
    if validation is not None and validation.number:
        shown += f", validate on {validation.number} {'steps' if validation.uses_steps else 'samples'}"
    return shown


def fit(model: Any, source: Any, validation: Any, epochs: int, verbose: int, callbacks: Any, initial_epoch: int,
        validation_freq: Any) -> Any:
    """Trains for some epochs; returns the history."""
    run = model._step(TRAIN)
    if validation is not None:
        model._step(TEST)
    found = configure_callbacks(
        callbacks, model, do_validation=validation is not None, batch_size=source.batch_size, epochs=epochs,
        steps_per_epoch=source.number if source.uses_steps else None, samples=None if source.uses_steps else source.samples,
        verbose=verbose, count_mode="steps" if source.uses_steps else "samples", mode=TRAIN)
    source.epochs = epochs
    if verbose and source.number and not getattr(source, "from_generator", False):
        print(_train_message(source, validation))
    found.run(TRAIN, "begin")
    try:
        for epoch in range(initial_epoch, epochs):
            model.reset_metrics()
            found.on_epoch_begin(epoch)
            logs = _epoch(model, source, run, found)
            if logs is None:
                break
            if validation is not None and should_validate(validation_freq, epoch) and not model.stop_training:
                logs.update(_validated(model, validation, found))
            found.on_epoch_end(epoch, logs)
            if model.stop_training or getattr(source, "is_exhausted", False):
                break
    finally:
        source.close()
        if validation is not None:
            validation.close()
    found.run(TRAIN, "end")
    return model.history


def _epoch(model: Any, source: Any, run: Any, callbacks: Any) -> dict[str, Any] | None:
    """One pass over the data; what it says, or None where there was nothing left."""
    aggregator = MetricsAggregator()
    watched = callbacks.watches(TRAIN)
    # The same for all batches, and not free to find out.
    names = model.metrics_names
    batch = -1
    for batch, (arrays, size) in enumerate(source.epoch()):
        if watched:
            logs: dict[str, Any] = {"batch": batch, "size": size}
            callbacks.batch(TRAIN, "begin", batch, logs)
        outputs = run(arrays)
        aggregator.add(outputs, size)
        if watched:
            callbacks.batch(TRAIN, "end", batch, name_outputs(logs, names, outputs))
        if model.stop_training:
            break
    if batch < 0:
        return None
    if source.uses_steps and callbacks.params.get("steps") is None:
        callbacks.params["steps"] = source.steps
    return make_logs(model, {}, aggregator.results(), TRAIN)


def _validated(model: Any, validation: Any, callbacks: Any) -> dict[str, Any]:
    callbacks.run(TEST, "begin")
    results = _tested(model, validation, callbacks)
    callbacks.run(TEST, "end")
    return make_logs(model, {}, results, TRAIN, prefix="val_")


def _tested(model: Any, source: Any, callbacks: Any) -> list[Any]:
    model.reset_metrics()
    run = model._step(TEST)
    aggregator = MetricsAggregator()
    watched = callbacks.watches(TEST)
    names = model.metrics_names
    for batch, (arrays, size) in enumerate(source.epoch()):
        if watched:
            logs: dict[str, Any] = {"batch": batch, "size": size}
            callbacks.batch(TEST, "begin", batch, logs)
        outputs = run(arrays)
        aggregator.add(outputs, size)
        if watched:
            callbacks.batch(TEST, "end", batch, name_outputs(logs, names, outputs))
    return aggregator.results()


def _observed(model: Any, source: Any, verbose: int, callbacks: Any, mode: str) -> tuple[Any, Any]:
    """(the list of callbacks, the progress bar among them) of a run without training."""
    count_mode = "steps" if source.uses_steps else "samples"
    found = configure_callbacks(
        callbacks, model, batch_size=source.batch_size, epochs=1, steps_per_epoch=source.number if source.uses_steps else None,
        samples=None if source.uses_steps else source.samples, verbose=verbose, count_mode=count_mode, mode=mode)
    bar = None
    if verbose == 1 and not any(isinstance(c, ProgbarLogger) for c in found):
        bar = RunProgress(count_mode, stateful_metrics=model.metrics_names[1:] if mode == TEST else None)
        found.append(bar)
        bar.set_model(model)
        bar.set_params(found.params)
    return found, bar


def evaluate(model: Any, source: Any, verbose: int, callbacks: Any) -> Any:
    """The loss and metrics over all data."""
    found, bar = _observed(model, source, verbose, callbacks, TEST)
    found.run(TEST, "begin")
    try:
        results = _tested(model, source, found)
    finally:
        source.close()
    if bar is not None:
        bar.on_epoch_end(0, make_logs(model, {}, results, TEST))
    found.run(TEST, "end")
    return results[0] if len(results) == 1 else results


def predict(model: Any, source: Any, verbose: int, callbacks: Any) -> Any:
    """The outputs for all data."""
    run = model._step(PREDICT)
    found, bar = _observed(model, source, verbose, callbacks, PREDICT)
    aggregator = OutputsAggregator(source.uses_steps, None if source.uses_steps else source.samples)
    watched = found.watches(PREDICT)
    found.run(PREDICT, "begin")
    start = 0
    try:
        for batch, (arrays, size) in enumerate(source.epoch()):
            if watched:
                logs: dict[str, Any] = {"batch": batch, "size": size}
                found.batch(PREDICT, "begin", batch, logs)
            outputs = run(arrays)
            outputs = outputs if isinstance(outputs, list) else [outputs]
            if batch == 0:
                aggregator.create(outputs)
            aggregator.aggregate(outputs, start, start + size)
            start += size
            if watched:
                found.batch(PREDICT, "end", batch, make_logs(model, logs, outputs, PREDICT))
    finally:
        source.close()
    aggregator.finalize()
    if bar is not None:
        bar.on_epoch_end(0, {})
    found.run(PREDICT, "end")
    results = aggregator.results
    if not results:
        raise ValueError("There was no data to predict for.")
    return results[0] if len(results) == 1 else results


