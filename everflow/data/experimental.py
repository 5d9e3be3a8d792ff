"""Transformations to give to `dataset.apply`: tf.data.experimental and tf.contrib.data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.data import nesting, structure
from everflow.data.dataset import DatasetV1Adapter, DatasetV2, UnaryDataset, UnaryUnchangedStructureDataset, scalar
from everflow.data.functions import StructuredFunctionWrapper, make_known
from everflow.data.padding import optional_param_to_tensor, partial_shape_to_tensor
from everflow.data.reducing import settled_state
from everflow.data.seeding import get_seed
from everflow.data.sources import RandomDatasetV2
from everflow.data.transformations import FilterDataset, InterleaveDataset, MapDataset, static_batch_size
from everflow.graph import dtypes, shapes
from everflow.graph.constants import constant_value_as_shape
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensorSpec
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.ops.core.registry import apply

Transformation = Callable[[Any], Any]


class _MapAndBatchDataset(UnaryDataset):
    """A function of each element, stacked."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        batch_size: Any,
        num_parallel_calls: Any,
        drop_remainder: Any,
        use_legacy_function: bool = False,
    ) -> None:
        self._map_func = StructuredFunctionWrapper(
            map_func, "tf.data.experimental.map_and_batch()", dataset=input_dataset, use_legacy_function=use_legacy_function
        )
        self._batch_size = scalar(batch_size, dtypes.int64, "batch_size")
        self._num_parallel_calls = scalar(num_parallel_calls, dtypes.int64, "num_parallel_calls")
        self._drop_remainder = scalar(drop_remainder, dtypes.bool, "drop_remainder")
        size = static_batch_size(self._batch_size, self._drop_remainder)
        self._structure = nesting.map_structure(lambda spec: spec._batch(size), self._map_func.output_structure)
        super().__init__(
            input_dataset,
            apply(
                "MapAndBatchDataset",
                input_dataset._variant_tensor,
                self._map_func.function.captured_inputs,
                self._batch_size,
                self._num_parallel_calls,
                self._drop_remainder,
                f=self._map_func.function,
                preserve_cardinality=True,
                **self._flat_structure,
            ),
        )

    def _functions(self) -> list[Any]:
        return [self._map_func]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


def _map_and_batch(
    map_func: Callable[..., Any], batch_size: Any, num_parallel_batches: Any, drop_remainder: Any, num_parallel_calls: Any, is_legacy: bool
) -> Transformation:
    if num_parallel_batches is None and num_parallel_calls is None:
        num_parallel_calls = batch_size
    elif num_parallel_batches is not None and num_parallel_calls is None:
        num_parallel_calls = batch_size * num_parallel_batches
    elif num_parallel_batches is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.")
    return lambda dataset: _MapAndBatchDataset(dataset, map_func, batch_size, num_parallel_calls, drop_remainder, is_legacy)


@public("data.experimental.map_and_batch", "contrib.data.map_and_batch")
def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """A function of each element, stacked."""
    return _map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls, False)


@public("data.experimental.map_and_batch_with_legacy_function")
def map_and_batch_with_legacy_function(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """A function, made with Defun, of each element, stacked."""
    return _map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls, True)


class _DenseToSparseBatchDataset(UnaryDataset):
    """Dense elements as the rows of sparse tensors."""

    def __init__(self, input_dataset: Any, batch_size: Any, row_shape: Any) -> None:
        spec = input_dataset.element_spec
        if not isinstance(spec, TensorSpec):
            raise TypeError(
                f"DenseToSparseDataset requires an input whose elements have a single component, whereas the input has {spec!r}."
            )
        self._row_shape = row_shape
        row = partial_shape_to_tensor(row_shape)
        known = constant_value_as_shape(row) if isinstance(row_shape, Tensor) else shapes.as_shape(row_shape)
        self._structure = SparseTensorSpec(shapes.TensorShape([None]).concatenate(known), spec.dtype)
        super().__init__(
            input_dataset,
            apply(
                "DenseToSparseBatchDataset",
                input_dataset._variant_tensor,
                scalar(batch_size, dtypes.int64, "batch_size"),
                row,
                **self._flat_structure,
            ),
        )

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@public("data.experimental.dense_to_sparse_batch", "contrib.data.dense_to_sparse_batch")
def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """Elements of different sizes as the rows of sparse tensors."""
    return lambda dataset: _DenseToSparseBatchDataset(dataset, batch_size, row_shape)


@public("data.experimental.unbatch", "contrib.data.unbatch")
def unbatch() -> Transformation:
    """The elements of batches."""
    return lambda dataset: dataset.unbatch()


@public("contrib.data.batch_and_drop_remainder")
def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Batches of this size; what is left over at the end is left out."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


@public("contrib.data.padded_batch_and_drop_remainder")
def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> Transformation:
    """Padded batches of this size; what is left over at the end is left out."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


@public("contrib.data.assert_element_shape")
def assert_element_shape(expected_shapes: Any) -> Transformation:
    """The same elements, which must have these shapes."""

    def check(*element: Any) -> Any:
        flat = nesting.flatten(element)
        wanted = nesting.flatten(expected_shapes)
        for t, shape in zip(flat, wanted):
            t.shape.assert_is_compatible_with(shape)
        found = [_checked(t, shape) for t, shape in zip(flat, wanted)]
        packed = nesting.pack_sequence_as(element, found)
        return packed[0] if len(packed) == 1 else packed

    return lambda dataset: dataset.map(check)


def _checked(t: Any, shape: Any) -> Any:
    found = apply("EnsureShape", t, shape=shape)
    found.set_shape(shape)
    return found


class _ScanDataset(UnaryDataset):
    """A function of a state and each element."""

    def __init__(self, input_dataset: DatasetV2, initial_state: Any, scan_func: Callable[..., Any]) -> None:
        initial = structure.normalize_element(initial_state)

        def wrapped(state: Any) -> StructuredFunctionWrapper:
            function = StructuredFunctionWrapper(
                scan_func, "tf.data.experimental.scan()", input_structure=(state, input_dataset.element_spec), add_to_graph=False
            )
            if not (isinstance(function.output_structure, tuple) and len(function.output_structure) == 2):
                raise TypeError("The scan function must return a pair comprising the new state and the output value.")
            return function

        self._scan_func, state = settled_state(wrapped, structure.spec_of_element(initial), "scan")
        make_known(self._scan_func.function)
        self._structure = self._scan_func.output_structure[1]
        super().__init__(
            input_dataset,
            apply(
                "ScanDataset",
                input_dataset._variant_tensor,
                structure.to_tensor_list(state, initial),
                self._scan_func.function.captured_inputs,
                f=self._scan_func.function,
                preserve_cardinality=True,
                **self._flat_structure,
            ),
        )

    def _functions(self) -> list[Any]:
        return [self._scan_func]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@public("data.experimental.scan", "contrib.data.scan")
def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """A function of a state and each element, which gives the next state and what comes out."""
    return lambda dataset: _ScanDataset(dataset, initial_state, scan_func)


class _TakeWhileDataset(FilterDataset):
    """The elements before the first of which a function says False."""

    def __init__(self, input_dataset: DatasetV2, predicate: Callable[..., Any]) -> None:
        function = StructuredFunctionWrapper(predicate, "tf.data.experimental.take_while()", dataset=input_dataset)
        found = function.output_structure
        if not (isinstance(found, TensorSpec) and found.is_compatible_with(TensorSpec([], dtypes.bool))):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        self._predicate = function
        UnaryDataset.__init__(
            self,
            input_dataset,
            apply(
                "TakeWhileDataset",
                input_dataset._variant_tensor,
                function.function.captured_inputs,
                predicate=function.function,
                **input_dataset._flat_structure,
            ),
        )


@public("data.experimental.take_while")
def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before the first of which a function says False."""
    return lambda dataset: _TakeWhileDataset(dataset, predicate)


class _UniqueDataset(UnaryUnchangedStructureDataset):
    """Each element that was not there before."""

    def __init__(self, input_dataset: DatasetV2) -> None:
        if input_dataset.element_spec not in [
            TensorSpec(s, t)
            for t in (dtypes.int32, dtypes.int64, dtypes.string)
            for s in [getattr(input_dataset.element_spec, "shape", None)]
        ]:
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component."
            )
        super().__init__(input_dataset, apply("UniqueDataset", input_dataset._variant_tensor, **input_dataset._flat_structure))


@public("data.experimental.unique", "contrib.data.unique")
def unique() -> Transformation:
    """Each element that was not there before."""
    return lambda dataset: _UniqueDataset(dataset)


class _IgnoreErrorsDataset(UnaryUnchangedStructureDataset):
    """The elements that can be made."""

    def __init__(self, input_dataset: DatasetV2) -> None:
        super().__init__(input_dataset, apply("IgnoreErrorsDataset", input_dataset._variant_tensor, **input_dataset._flat_structure))


@public("data.experimental.ignore_errors", "contrib.data.ignore_errors")
def ignore_errors() -> Transformation:
    """The elements that can be made; those that raise errors are left out."""
    return lambda dataset: _IgnoreErrorsDataset(dataset)


@public("data.experimental.enumerate_dataset", "contrib.data.enumerate_dataset")
def enumerate_dataset(start: int = 0) -> Transformation:
    """The elements with their numbers before them."""
    return lambda dataset: dataset.enumerate(start)


class _ShuffleAndRepeatDataset(UnaryUnchangedStructureDataset):
    """The elements in random order, again and again."""

    def __init__(self, input_dataset: DatasetV2, buffer_size: Any, count: Any = None, seed: int | None = None) -> None:
        size = scalar(buffer_size, dtypes.int64, "buffer_size")
        times = scalar(-1 if count is None else count, dtypes.int64, "count")
        one, two = get_seed(seed)
        super().__init__(
            input_dataset,
            apply("ShuffleAndRepeatDataset", input_dataset._variant_tensor, size, one, two, times, **input_dataset._flat_structure),
        )


@public("data.experimental.shuffle_and_repeat", "contrib.data.shuffle_and_repeat")
def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: int | None = None) -> Transformation:
    """The elements in random order, again and again, a new order each time."""
    return lambda dataset: _ShuffleAndRepeatDataset(dataset, buffer_size, count, seed)


class _SleepDataset(UnaryUnchangedStructureDataset):
    """Waits before each element."""

    def __init__(self, input_dataset: DatasetV2, sleep_microseconds: Any) -> None:
        super().__init__(
            input_dataset, apply("SleepDataset", input_dataset._variant_tensor, sleep_microseconds, **input_dataset._flat_structure)
        )


@internal("data.experimental.ops.sleep.sleep")
def sleep(sleep_microseconds: int) -> Transformation:
    """Waits before each element."""
    return lambda dataset: _SleepDataset(dataset, sleep_microseconds)


class _SlidingDataset(UnaryDataset):
    """Windows of neighbouring elements, stacked."""

    def __init__(self, input_dataset: DatasetV2, window_size: Any, window_shift: Any, window_stride: Any) -> None:
        self._structure = nesting.map_structure(lambda spec: spec._batch(None), input_dataset.element_spec)
        super().__init__(
            input_dataset,
            apply(
                "SlidingWindowDataset",
                input_dataset._variant_tensor,
                scalar(window_size, dtypes.int64, "window_size"),
                scalar(window_shift, dtypes.int64, "window_shift"),
                scalar(window_stride, dtypes.int64, "window_stride"),
                **self._flat_structure,
            ),
        )

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@public("contrib.data.sliding_window_batch")
def sliding_window_batch(window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1) -> Transformation:
    """Windows of neighbouring elements, stacked."""
    if stride is None and window_shift is None:
        window_shift = 1
    elif stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    elif stride is not None:
        window_shift = stride
    return lambda dataset: _SlidingDataset(dataset, window_size, window_shift, window_stride)


class _ParallelInterleaveDataset(InterleaveDataset):
    """Turns among datasets that threads read ahead."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        cycle_length: Any,
        block_length: Any,
        sloppy: Any,
        buffer_output_elements: Any,
        prefetch_input_elements: Any,
    ) -> None:
        self._given = sloppy, buffer_output_elements, prefetch_input_elements, block_length, cycle_length
        super().__init__(input_dataset, map_func, cycle_length, block_length)

    def _variant(self, input_dataset: DatasetV2) -> Any:
        sloppy, buffered, prefetched, block_length, cycle_length = self._given
        return apply(
            "ParallelInterleaveDataset",
            input_dataset._variant_tensor,
            self._map_func.function.captured_inputs,
            self._cycle_length,
            self._block_length,
            scalar(sloppy, dtypes.bool, "sloppy"),
            optional_param_to_tensor("buffer_output_elements", buffered, argument_default=2 * block_length),
            optional_param_to_tensor("prefetch_input_elements", prefetched, argument_default=2 * cycle_length),
            f=self._map_func.function,
            **self._flat_structure,
        )

    def _transformation_name(self) -> str:
        return "tf.data.experimental.parallel_interleave()"


internal("data.ops.readers.ParallelInterleaveDataset")(_ParallelInterleaveDataset)


@public("data.experimental.parallel_interleave", "contrib.data.parallel_interleave")
def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """Turns among datasets that threads read ahead; sloppy: whoever has something ready comes first."""
    return lambda dataset: _ParallelInterleaveDataset(
        dataset, map_func, cycle_length, block_length, sloppy, buffer_output_elements, prefetch_input_elements
    )


@public("contrib.data.sloppy_interleave")
def sloppy_interleave(map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1) -> Transformation:
    """Turns among datasets; whoever has something ready comes first."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


@internal("data.experimental.ops.interleave_ops._DirectedInterleaveDataset")
class _DirectedInterleaveDataset(DatasetV2):
    """The next element of the dataset that a selector names."""

    def __init__(self, selector_input: Any, data_inputs: Any) -> None:
        self._selector_input = selector_input
        self._data_inputs = list(data_inputs)
        first = data_inputs[0].element_spec
        for other in data_inputs[1:]:
            if any(convert(first) != convert(other.element_spec) for convert in (structure.legacy_types, structure.legacy_classes)):
                raise TypeError("All datasets must have the same type and class.")
        spec = first
        for other in data_inputs[1:]:
            spec = nesting.map_structure(lambda a, b: a.most_specific_compatible_type(b), spec, other.element_spec)
        self._structure = spec
        super().__init__(
            apply(
                "DirectedInterleaveDataset",
                selector_input._variant_tensor,
                [d._variant_tensor for d in data_inputs],
                **self._flat_structure,
            )
        )

    def _inputs(self) -> list[Any]:
        return [self._selector_input, *self._data_inputs]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@public("data.experimental.choose_from_datasets", "contrib.data.choose_from_datasets")
def choose_from_datasets(datasets: Any, choice_dataset: Any) -> Any:
    """The next element of the dataset whose number comes next in `choice_dataset`."""
    if not structure.are_compatible(choice_dataset.element_spec, TensorSpec([], dtypes.int64)):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return DatasetV1Adapter(_DirectedInterleaveDataset(choice_dataset, datasets))


@public("data.experimental.sample_from_datasets", "contrib.data.sample_from_datasets")
def sample_from_datasets(datasets: Any, weights: Any = None, seed: int | None = None) -> Any:
    """Elements of datasets chosen at random, by weights that may themselves come from a dataset."""
    count = len(datasets)
    if not isinstance(weights, DatasetV2):
        if weights is None:
            logits: Any = [[1.0] * count]
        else:
            values = tf.convert_to_tensor(weights, name="weights")
            if values.dtype not in (dtypes.float32, dtypes.float64):
                raise TypeError("`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements.")
            if not values.shape.is_compatible_with([count]):
                raise ValueError("`weights` must be a vector of length `len(datasets)`.")
            logits = tf.expand_dims(tf.log(values, name="logits"), 0)
        if count == 1:
            return DatasetV1Adapter(datasets[0])

        def select_dataset_constant_logits(seed: int | None) -> Any:
            return tf.squeeze(apply("StatelessMultinomial", logits, 1, seed), axis=[0, 1])

        selector: Any = MapDataset(RandomDatasetV2(seed).batch(2), select_dataset_constant_logits, use_inter_op_parallelism=False)
    else:
        logits_dataset = weights.map(lambda *p: tf.log(p, name="logits"))

        def select_dataset_varying_logits(logits: Any, seed: int | None) -> Any:
            return tf.squeeze(apply("StatelessMultinomial", logits, 1, seed), axis=[0, 1])

        both = DatasetV2.zip((logits_dataset, RandomDatasetV2(seed).batch(2)))
        selector = both.map(select_dataset_varying_logits)
    return DatasetV1Adapter(_DirectedInterleaveDataset(selector, datasets))


@public("data.experimental.Counter", "contrib.data.Counter")
def counter(start: Any = 0, step: Any = 1, dtype: dtypes.DTypeLike = dtypes.int64) -> Any:
    """Numbers without end."""
    with name_scope("counter"):
        start = tf.convert_to_tensor(start, dtype=dtype, name="start")
        step = tf.convert_to_tensor(step, dtype=dtype, name="step")
        return DatasetV1Adapter(DatasetV2.from_tensors(0).repeat(None).apply(scan(start, lambda state, _: (state + step, state))))
