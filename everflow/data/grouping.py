"""Elements by key: windows, reductions, buckets of similar length, and resampling by class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.data import nesting, structure
from everflow.data.dataset import DatasetSpec, DatasetV2, UnaryDataset
from everflow.data.experimental import Transformation, sample_from_datasets, scan
from everflow.data.functions import StructuredFunctionWrapper, make_known
from everflow.data.reducing import settled_state
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.ops.core.registry import apply

KEY = TensorSpec([], dtypes.int64)


def _is_key(spec: Any) -> bool:
    return isinstance(spec, TensorSpec) and spec.is_compatible_with(KEY)


class _GroupByReducerDataset(UnaryDataset):
    """For each key, the end result of a reduction of its elements."""

    def __init__(self, input_dataset: DatasetV2, key_func: Any, init_func: Any, reduce_func: Any, finalize_func: Any) -> None:
        name = "tf.data.experimental.group_by_reducer()"
        self._key_func = StructuredFunctionWrapper(key_func, name, dataset=input_dataset)
        if not _is_key(self._key_func.output_structure):
            raise ValueError(
                "`key_func` must return a single tf.int64 tensor. Got type="
                f"{structure.legacy_types(self._key_func.output_structure)} and shape="
                f"{structure.legacy_shapes(self._key_func.output_structure)}"
            )
        self._init_func = StructuredFunctionWrapper(init_func, name, input_structure=KEY)

        def wrapped(state: Any) -> StructuredFunctionWrapper:
            return StructuredFunctionWrapper(reduce_func, name, input_structure=(state, input_dataset.element_spec), add_to_graph=False)

        self._reduce_func, state = settled_state(wrapped, self._init_func.output_structure, "reduce")
        make_known(self._reduce_func.function)
        self._finalize_func = StructuredFunctionWrapper(finalize_func, name, input_structure=state)
        key, init, reduce, finish = (f.function for f in self._functions())
        super().__init__(
            input_dataset,
            apply(
                "GroupByReducerDataset",
                input_dataset._variant_tensor,
                key.captured_inputs,
                init.captured_inputs,
                reduce.captured_inputs,
                finish.captured_inputs,
                key_func=key,
                init_func=init,
                reduce_func=reduce,
                finalize_func=finish,
                **self._flat_structure,
            ),
        )

    def _functions(self) -> list[Any]:
        return [self._key_func, self._init_func, self._reduce_func, self._finalize_func]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._finalize_func.output_structure


@public("data.experimental.group_by_reducer", "contrib.data.group_by_reducer")
def group_by_reducer(key_func: Callable[..., Any], reducer: Any) -> Transformation:
    """For each key, the end result of a Reducer over its elements."""
    return lambda dataset: _GroupByReducerDataset(dataset, key_func, reducer.init_func, reducer.reduce_func, reducer.finalize_func)


@public("data.experimental.Reducer", "contrib.data.Reducer")
class Reducer:
    """A reduction: `init_func` of a key, `reduce_func` of a state and an element, `finalize_func` of the last state."""

    def __init__(self, init_func: Callable[..., Any], reduce_func: Callable[..., Any], finalize_func: Callable[..., Any]) -> None:
        self._init_func, self._reduce_func, self._finalize_func = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """Makes the first state."""
        return self._init_func

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """Makes the next state."""
        return self._reduce_func

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """Makes the result."""
        return self._finalize_func


class _GroupByWindowDataset(UnaryDataset):
    """For each key, windows of elements, each reduced to a dataset."""

    def __init__(self, input_dataset: DatasetV2, key_func: Any, reduce_func: Any, window_size_func: Any) -> None:
        name = "tf.data.experimental.group_by_window()"

        def key_func_wrapper(*args: Any) -> Any:
            return convert_to_tensor(key_func(*args), dtype=dtypes.int64)

        self._key_func = StructuredFunctionWrapper(key_func_wrapper, name, dataset=input_dataset)
        if not _is_key(self._key_func.output_structure):
            raise ValueError("`key_func` must return a single tf.int64 scalar tensor.")
        self._reduce_func = StructuredFunctionWrapper(reduce_func, name, input_structure=(KEY, DatasetSpec(input_dataset.element_spec)))
        if not isinstance(self._reduce_func.output_structure, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        self._structure = self._reduce_func.output_structure._element_spec

        def window_size_func_wrapper(key: Any) -> Any:
            return convert_to_tensor(window_size_func(key), dtype=dtypes.int64)

        self._window_size_func = StructuredFunctionWrapper(window_size_func_wrapper, name, input_structure=KEY)
        if not _is_key(self._window_size_func.output_structure):
            raise ValueError("`window_size_func` must return a single tf.int64 scalar tensor.")
        key, reduce, size = (f.function for f in self._functions())
        super().__init__(
            input_dataset,
            apply(
                "GroupByWindowDataset",
                input_dataset._variant_tensor,
                key.captured_inputs,
                reduce.captured_inputs,
                size.captured_inputs,
                key_func=key,
                reduce_func=reduce,
                window_size_func=size,
                **self._flat_structure,
            ),
        )

    def _functions(self) -> list[Any]:
        return [self._key_func, self._reduce_func, self._window_size_func]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@public("data.experimental.group_by_window", "contrib.data.group_by_window")
def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None, window_size_func: Any = None
) -> Transformation:
    """For each key, windows of elements, each reduced to a dataset."""
    if (window_size is not None and window_size_func) or not (window_size is not None or window_size_func):
        raise ValueError("Must pass either window_size or window_size_func.")
    size_func = window_size_func if window_size is None else lambda _key: convert_to_tensor(window_size, dtype=dtypes.int64)
    return lambda dataset: _GroupByWindowDataset(dataset, key_func, reduce_func, size_func)


@public("data.experimental.bucket_by_sequence_length", "contrib.data.bucket_by_sequence_length")
def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Any,
    bucket_batch_sizes: Any,
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Batches of elements of similar length."""
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
    batch_sizes = convert_to_tensor(bucket_batch_sizes, dtype=dtypes.int64, name="bucket_by_seq_length")
    low = np.array([np.iinfo(np.int32).min, *bucket_boundaries], np.int32)
    high = np.array([*bucket_boundaries, np.iinfo(np.int32).max], np.int32)

    def element_to_bucket_id(*args: Any) -> Any:
        length = element_length_func(*args)
        inside = tf.logical_and(tf.less_equal(low, length), tf.less(length, high))
        return tf.reduce_min(tf.where(inside))

    def window_size_fn(bucket_id: Any) -> Any:
        return batch_sizes[bucket_id]

    def batching_fn(bucket_id: Any, grouped: Any) -> Any:
        batch_size = window_size_fn(bucket_id)
        if no_padding:
            return grouped.batch(batch_size, drop_remainder=drop_remainder)
        wanted = padded_shapes or structure.legacy_shapes(grouped.element_spec)
        if pad_to_bucket_boundary:
            error = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
            check = tf.assert_less(bucket_id, convert_to_tensor(len(bucket_batch_sizes) - 1, dtype=dtypes.int64), message=error)
            with tf.control_dependencies([check]):
                boundaries = convert_to_tensor(bucket_boundaries, dtype=dtypes.int64)
                wanted = _with_unknown_filled(wanted, boundaries[bucket_id] - 1)
        return grouped.padded_batch(batch_size, wanted, padding_values, drop_remainder=drop_remainder)

    return lambda dataset: dataset.apply(group_by_window(element_to_bucket_id, batching_fn, window_size_func=window_size_fn))


def _with_unknown_filled(padded_shapes: Any, size: Any) -> Any:
    """The shapes, with this size where none is given."""

    def filled(shape: Any) -> Any:
        dims = shapes.as_shape(shape).as_dims() or ()
        return (
            tf.stack([size if n is None else convert_to_tensor(n, dtype=dtypes.int64) for n in dims])
            if dims
            else convert_to_tensor(np.zeros(0, np.int64))
        )

    return nesting.map_structure(filled, padded_shapes)


@public("data.experimental.rejection_resample", "contrib.data.rejection_resample")
def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: int | None = None
) -> Transformation:
    """Elements left out at random, so that classes come in given shares; each comes with its class."""

    def transform(dataset: Any) -> Any:
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        if initial_dist is None:
            initial_ds = _estimate(target.shape[0], classes)
            both = initial_ds.map(lambda initial: _acceptance(initial, target))
            acceptance_ds = both.map(lambda accept, prob: accept)
            original_ds = both.map(lambda accept, prob: prob)
            share = None
        else:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            initial_ds = DatasetV2.from_tensors(initial).repeat()
            acceptance, original = _acceptance(initial, target)
            acceptance_ds = DatasetV2.from_tensors(acceptance).repeat()
            original_ds = DatasetV2.from_tensors(original).repeat()
            share = _known_share(initial, target)
        filtered = _filtered(dataset, acceptance_ds, initial_ds, classes, seed)
        # What is drawn may also come from the original elements; where that is all or nothing, there is nothing to draw.
        zipped = DatasetV2.zip((classes, dataset))
        if share is not None and share in (0.0, 1.0):
            return zipped if share else filtered
        weights = original_ds.map(lambda prob: tf.stack([prob, 1.0 - prob]))
        return sample_from_datasets([zipped, filtered], weights, seed)

    return transform


def _known_share(initial: Any, target: Any) -> float | None:
    """The share of original elements, where it is known before running."""
    values = known(initial), known(target)
    if values[0] is None or values[1] is None:
        return None
    return float(np.min(values[1] / (values[0] + np.finfo(values[0].dtype).tiny)))


def _filtered(dataset: Any, acceptance_ds: Any, initial_ds: Any, classes: Any, seed: int | None) -> Any:
    """The elements that are kept, with their classes."""

    def warn(accept: Any, initial: Any) -> Any:
        rejected = tf.reduce_sum((1.0 - accept) * initial)
        return tf.cond(
            tf.less(rejected, 0.5),
            lambda: accept,
            lambda: tf.Print(
                accept, [rejected, initial, accept], message="Proportion of examples rejected by sampler is high: ", first_n=10
            ),
        )

    acceptance_ds = DatasetV2.zip((acceptance_ds, initial_ds)).map(warn)
    chances = DatasetV2.zip((classes, acceptance_ds, dataset)).map(lambda klass, accept, data: (klass, tf.gather(accept, klass), data))
    kept = chances.filter(lambda _klass, chance, _data: tf.less(tf.random_uniform([], seed=seed, dtype=chance.dtype), chance))
    return kept.map(lambda klass, _chance, data: (klass, data)).prefetch(3)


def _estimate(num_classes: Any, classes: Any, smoothing: int = 10) -> Any:
    """How often classes come, as far as it is known so far; a new estimate for each 32 elements."""
    size = shapes.dimension_value(num_classes)

    def update_estimate_and_tile(counts: Any, found: Any) -> Any:
        counts = tf.add(counts, tf.reduce_sum(tf.one_hot(found, size, dtype=dtypes.int64), 0))
        share = tf.cast(counts / tf.reduce_sum(counts), dtypes.float32)
        return counts, tf.tile(tf.expand_dims(share, 0), [32, 1])

    start = tf.fill([size], np.int64(smoothing))
    return classes.batch(32).apply(scan(start, update_estimate_and_tile)).unbatch()


def _acceptance(initial: Any, target: Any) -> tuple[Any, Any]:
    """With which probability an element of each class is kept, and with which an original one is taken instead."""
    tiny = np.finfo(initial.dtype.as_numpy_dtype).tiny
    ratio = target / (initial + tiny)
    most, least = tf.reduce_max(ratio), tf.reduce_min(ratio)
    return (ratio - least) / (most - least), least
