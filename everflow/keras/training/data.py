"""From what programs give `fit`, `evaluate` and `predict` to the batches of a run."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from everflow import nest
from everflow.eager.context import executing_eagerly
from everflow.graph.tensor import Tensor
from everflow.keras.enqueuers import Sequence, is_generator_or_sequence
from everflow.keras.training import arrays
from everflow.keras.training.batches import (
    ArrayBatches,
    StreamBatches,
    dataset_batches,
    generator_batches,
    is_computed,
    iterator_batches,
    tensor_batches,
)
from everflow.keras.training.datasets import is_dataset, is_iterator, number_of_batches


class Workers(NamedTuple):
    """Who draws from a generator ahead of time."""

    number: int = 1
    use_multiprocessing: bool = False
    max_queue_size: int = 10


# Samples as lists of arrays


def standardized(
    model: Any, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, with_targets: bool = True, compares: bool = True
) -> list[Any]:
    """[arrays of inputs, of targets, of weights], as a step wants them; a model that knows too little of itself learns from `x`."""
    model._prepare_for(x, with_targets)
    shapes = None
    if model._is_graph_network:
        shapes = [_declared_shape(t) for t in model._feed_inputs]
    inputs = arrays.standardize_input_data(x, model._feed_input_names, shapes, check_batch_axis=False, exception_prefix="input")
    arrays.check_ragged_ranks(inputs, model._feed_inputs)
    if not with_targets:
        return inputs
    names = model._feed_output_names
    # Losses may broadcast: shapes are compared below, by the loss of each.
    targets = arrays.standardize_input_data(y, names, None, check_batch_axis=False, exception_prefix="target")
    if not model.run_eagerly and any(t is None for t in targets):
        missing = next(name for name, t in zip(names, targets) if t is None)
        raise ValueError(f'No data provided for "{missing}". Need data for each key in: {names}')
    weights = _weights(model, targets, sample_weight, class_weight)
    arrays.check_array_lengths(inputs, targets, weights)
    if compares and not model.run_eagerly:
        arrays.check_loss_and_target_compatibility(targets, model._feed_loss_fns, model._feed_output_shapes)
    if model.stateful and model._is_graph_network and inputs and inputs[0] is not None:
        _check_stateful_batch(model, inputs[0])
    return [*inputs, *targets, *weights]


def _declared_shape(tensor: Any) -> tuple[Any, ...] | None:
    """What an input's layer was told; of a composite the tensors themselves know less."""
    if not isinstance(tensor, Tensor) and (told := getattr(tensor._keras_history.layer, "_batch_input_shape", None)) is not None:
        return tuple(told)
    return tuple(tensor.shape.as_list()) if tensor.shape.rank is not None else None


def _check_stateful_batch(model: Any, x: Any) -> None:
    size = model.inputs[0].shape.as_list()[0]
    if size and hasattr(x, "shape") and x.shape[0] is not None and int(x.shape[0]) % size:
        raise ValueError(
            f"In a stateful network, you should only pass inputs with a number of samples that can be divided by the "
            f"batch size. Found: {x.shape[0]} samples"
        )


def _weights(model: Any, targets: list[Any], sample_weight: Any, class_weight: Any) -> list[Any]:
    """The weights of samples: for each output when layers run as Python, for those that are compared in a graph."""
    compiled = model._compiled
    compared = compiled.compared
    names = [e.output_name for e in compared]
    by_sample = arrays.standardize_sample_weights(sample_weight, names)
    by_class = arrays.standardize_class_weights(class_weight, names)
    if len(targets) != len(compared):
        targets = [None] * len(compared)
    found = {
        id(e): None if t is None or (w is c is e.sample_weight_mode is None) else arrays.standardize_weights(t, w, c, e.sample_weight_mode)
        for t, w, c, e in zip(targets, by_sample, by_class, compared)
    }
    if model.run_eagerly:
        return [found.get(id(e)) for e in compiled.endpoints]
    model._steps.use_sample_weights([found.get(id(e)) is not None for e in compiled.endpoints])
    return [found.get(id(e)) for e in compared]


# Batches


def batches_of(
    model: Any,
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    batch_size: Any = None,
    steps: Any = None,
    steps_name: str = "steps",
    shuffle: Any = False,
    workers: Workers = Workers(),
    with_targets: bool = True,
    anew: bool = False,
) -> Any:
    """The batches of some data; of a dataset that is read `anew` for each epoch even where steps say how much of it."""

    def prepare(batch: Any) -> list[Any]:
        return standardized(model, *_unpacked(batch, with_targets), class_weight, with_targets, compares=not of_dataset)

    if is_iterator(x):
        raise ValueError(
            "For performance reasons Keras `fit`, `evaluate` and`predict` accept tf.data `Datasets` as input but not iterators that "
            "have been manually generated from Datasets by users. Please directly pass in the original `Dataset` object instead of "
            "passing in `iter(dataset)`."
        )
    of_dataset = is_dataset(x)
    if of_dataset:
        _refuse(x, y, sample_weight)
        if batch_size is not None:
            raise ValueError(
                f"The `batch_size` argument must not be specified for the given input type. Received input: {x}, batch_size: {batch_size}"
            )
        steps, restarts = number_of_batches(x, steps, steps_name)
        return StreamBatches(dataset_batches(x), steps, prepare, restarts=restarts or anew, from_dataset=True)
    if is_generator_or_sequence(x):
        _refuse_beside_generator(y=(y, "targets as the second"), sample_weight=(sample_weight, "sample weights as the third"))
        if steps is None and isinstance(x, Sequence):
            steps = len(x)
        if steps is None and not executing_eagerly():
            raise ValueError(f"Please specify the number of steps via the `{steps_name}` argument.")
        return StreamBatches(generator_batches(x, *workers, bool(shuffle)), steps, prepare, from_generator=True)
    if has_symbolic(x) or has_symbolic(y):
        if steps is None and all(hasattr(part, "nested_row_splits") for part in nest.flatten(x)):
            # Ragged tensors are read once.
            steps = 1
        _require_steps(steps, steps_name)
        return StreamBatches(tensor_batches((x, y, sample_weight)), steps, prepare)
    everything = standardized(model, x, y, sample_weight, class_weight, with_targets)
    if all(part is None for part in everything):
        _require_steps(steps, steps_name)
        return _repeated([everything], steps)
    if steps is None:
        return ArrayBatches(everything, _fixed_size(model, batch_size), shuffle)
    return _stepped(everything, batch_size, steps)


def _stepped(everything: list[Any], batch_size: Any, steps: int) -> StreamBatches:
    """Arrays in a number of steps: each takes all samples in a graph, and its share of them in eager mode."""
    if not executing_eagerly() or any(isinstance(part, Tensor) for part in everything):
        return _repeated([everything], steps)
    samples = next(int(part.shape[0]) for part in everything if part is not None)
    if batch_size is None and samples % steps:
        raise ValueError(
            f"The number of samples {samples} is not divisible by steps {steps}. Please change the number of steps to a value that can "
            "consume all the samples"
        )
    if batch_size is not None and samples < batch_size * steps:
        raise ValueError(
            f"Number of samples {samples} is less than samples required for specified batch_size {batch_size} and steps {steps}"
        )
    batches = ArrayBatches(everything, batch_size or samples // steps, False).epoch()
    return _repeated([batch for batch, _ in itertools.islice(batches, steps)], steps)


def validation_batches(model: Any, data: Any, batch_size: Any, steps: Any, workers: Workers) -> Any:
    """The batches of `validation_data`, or None."""
    if data is None or isinstance(data, (list, tuple)) and not len(data):
        return None
    if not isinstance(data, (list, tuple)):
        return batches_of(model, data, steps=steps, steps_name="validation_steps", workers=workers, anew=True)
    if len(data) not in (2, 3):
        raise ValueError(
            f"When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 items "
            f"(x_val, y_val, val_sample_weights), or alternatively it could be a dataset or a dataset or a dataset "
            f"iterator. However we received `validation_data={data}`"
        )
    x, y, sample_weight = (*data, None)[:3]
    return batches_of(
        model, x, y, sample_weight, batch_size=None if steps is not None else batch_size, steps=steps, steps_name="validation_steps"
    )


def split_batches(
    model: Any, x: Any, y: Any, sample_weight: Any, class_weight: Any, share: float, batch_size: Any, shuffle: Any
) -> tuple[ArrayBatches, ArrayBatches]:
    """(the batches of the first samples, those of the last ones, a share of all)."""
    if is_dataset(x):
        raise ValueError(
            "`validation_split` argument is not supported when input `x` is a dataset or a dataset iterator. "
            f"Received: x={x}, validation_split={share}"
        )
    if has_symbolic(x) or has_symbolic(y):
        raise ValueError("If your data is in the form of symbolic tensors, you cannot use `validation_split`.")
    if is_generator_or_sequence(x):
        raise ValueError("If your data is in the form of a Python generator, you cannot use `validation_split`.")
    everything = standardized(model, x, y, sample_weight, class_weight)
    samples = next(int(part.shape[0]) for part in everything if part is not None)
    at = int(samples * (1.0 - share))
    if at == 0 or at >= samples:
        raise ValueError(
            f"Training data contains {samples} samples, which is not sufficient to split it into a validation and "
            f"training set as specified by `validation_split={share}`. Either provide more data, or a different value for "
            "the `validation_split` argument."
        )
    cut = lambda places: [None if part is None else part[places] for part in everything]
    return ArrayBatches(cut(slice(0, at)), batch_size, shuffle), ArrayBatches(cut(slice(at, None)), batch_size, False)


def one_batch(
    model: Any, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, with_targets: bool = True
) -> list[Any]:
    """The arrays of a single step, from arrays, or from what gives arrays."""
    if is_dataset(x) or is_iterator(x):
        x, y, sample_weight = _unpacked(next(iter((dataset_batches if is_dataset(x) else iterator_batches)(x)())), with_targets)
    elif has_symbolic(x) or has_symbolic(y):
        x, y, sample_weight = next(iter(tensor_batches((x, y, sample_weight))()))
    return standardized(model, x, y, sample_weight, class_weight, with_targets)


def has_symbolic(x: Any) -> bool:
    """Whether a structure holds tensors or variables of a graph."""
    return any(map(is_computed, nest.flatten(x, expand_composites=True)))


def _unpacked(batch: Any, with_targets: bool) -> tuple[Any, Any, Any]:
    """(x, y, sample weights) of an element of a stream."""
    if not isinstance(batch, tuple) or hasattr(batch, "dense_shape"):
        if isinstance(batch, list) and with_targets and len(batch) in (2, 3):
            return (*batch, None)[:3]  # type: ignore[return-value]
        return batch, None, None
    if len(batch) in (1, 2, 3):
        return (*batch, None, None)[:3]  # type: ignore[return-value]
    raise ValueError(
        "Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or (input, target) or (input, target, "
        f"sample_weights). Received {batch}"
    )


def _refuse(x: Any, y: Any, sample_weight: Any) -> None:
    if y is not None:
        kind = "dataset or dataset iterator"
        raise ValueError(
            f"You passed a {kind} ({x}) as input `x` to your model. In that case, you should not specify a target (`y`) "
            f"argument, since the {kind} generates both input data and target data. Received: {y}"
        )
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` argument is not supported when input `x` is a dataset or a dataset iterator. Instead, you can provide "
            f"sample_weight as the third element of your dataset, i.e. (inputs, targets, sample_weight). Received: x={x}, "
            f"sample_weight={sample_weight}"
        )


def _refuse_beside_generator(**given: tuple[Any, str]) -> None:
    for name, (value, place) in given.items():
        if value is not None:
            raise ValueError(
                f"`{name}` argument is not supported when data isa generator or Sequence instance. Instead pass {place} element of the "
                "generator."
            )


def _require_steps(steps: Any, steps_name: str) -> None:
    if steps is None:
        raise ValueError(f"When using data tensors as input to a model, you should specify the `{steps_name}` argument.")


def _repeated(batches: list[Any], steps: int) -> StreamBatches:
    """The same batches, again and again."""
    return StreamBatches(lambda: itertools.cycle(batches), steps, lambda batch: batch)


def _fixed_size(model: Any, batch_size: Any) -> Any:
    """The size of batches that the first input demands, or the one that was asked for."""
    known = model.inputs[0].shape if model._is_graph_network and model.inputs else None
    fixed = known.as_list()[0] if known is not None and known.rank else None
    if fixed and batch_size is not None and batch_size != fixed:
        raise ValueError(
            f"The `batch_size` argument value {batch_size} is incompatible with the specified batch size of your Input Layer: {fixed}"
        )
    return fixed or batch_size
