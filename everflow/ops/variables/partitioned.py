"""Partitioned variables: a large variable kept as several, cut along one axis, and functions that say how to cut."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from everflow import api
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import constant, register_tensor_conversion_function
from everflow.graph.scopes import control_dependencies, name_scope
from everflow.graph.shapes import TensorShape, as_shape
from everflow.graph.tensor import Tensor
from everflow.ops.variables.variables import Variable


@internal("ops.variable_scope._PartitionInfo")
class PartitionInfo:
    """Which part of a partitioned variable an initializer is asked for."""

    def __init__(self, full_shape: Any, var_offset: Any) -> None:
        if not isinstance(full_shape, (list, tuple)):
            raise TypeError(f"`full_shape` must be a sequence (like tuple or list) instead of {type(full_shape).__name__}")
        if not isinstance(var_offset, (list, tuple)):
            raise TypeError(f"`var_offset` must be a sequence (like tuple or list) instead of {type(var_offset).__name__}")
        if len(var_offset) != len(full_shape):
            raise ValueError(
                f"Expected equal length, but `var_offset` is of length {len(var_offset)} while full_shape is of length {len(full_shape)}."
            )
        for offset, size in zip(var_offset, full_shape):
            if offset < 0 or offset >= size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                    f"var_offset={var_offset}, full_shape={full_shape}"
                )
        self._full_shape = full_shape
        self._var_offset = var_offset

    @property
    def full_shape(self) -> Any:
        """The shape of the whole variable."""
        return self._full_shape

    @property
    def var_offset(self) -> Any:
        """Where the part begins, along each axis."""
        return self._var_offset

    def single_offset(self, shape: Any) -> int:
        """Where a part of this shape begins along the axis that is cut."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Any) -> int | None:
        """The axis that is cut, or None where the part is the whole."""
        if not isinstance(shape, (tuple, list)):
            raise TypeError(f"`shape` must be a sequence (like tuple or list) instead of {type(shape).__name__}")
        if len(shape) != len(self.full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while "
                f"self.full_shape={self.full_shape} is of length {len(self.full_shape)}."
            )
        for i, (length, offset, size) in enumerate(zip(shape, self.var_offset, self.full_shape)):
            if offset + length > size:
                raise ValueError(
                    f"With self.var_offset={self.var_offset}, a partition of shape={shape} would exceed "
                    f"self.full_shape={self.full_shape} in dimension {i}."
                )
        found = None
        for i, (length, size) in enumerate(zip(shape, self.full_shape)):
            if length == size:
                continue
            if found is not None:
                raise ValueError(
                    f"Cannot use single_slice_dim() with shape={shape} and self.full_shape={self.full_shape} since "
                    f"slice dim could be either dimension {i} or {found}."
                )
            found = i
        return found


@internal("ops.variable_scope._call_partitioner")
def partitions_of(partitioner: Callable[..., Any], shape: TensorShape, dtype: dtypes.DTypeLike) -> Any:
    """What a partitioner says: into how many parts each axis is cut."""
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, but instead was {shape}.")
    if not shape.ndims:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    slicing = partitioner(shape=shape, dtype=dtype)
    if not isinstance(slicing, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {slicing}")
    if len(slicing) != shape.ndims:
        raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: {slicing} vs. {shape}")
    if any(p < 1 for p in slicing):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {slicing}")
    if sum(p > 1 for p in slicing) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {slicing}")
    return slicing


@internal("ops.variable_scope._get_slice_dim_and_num_slices")
def slice_axis_and_count(slicing: Any) -> tuple[int, int]:
    """The axis that is cut and into how many parts."""
    for axis, count in enumerate(slicing):
        if count > 1:
            return axis, count
    return 0, 1


@internal("ops.variable_scope._iter_slices")
def slices_along(full_shape: Any, num_slices: int, slice_dim: int) -> Iterator[tuple[list[int], list[int]]]:
    """(offset, shape) of each part; the first parts are one longer where the axis does not divide evenly."""
    size, extra = divmod(full_shape[slice_dim], num_slices)
    offset = [0] * len(full_shape)
    for i in range(num_slices):
        shape = list(full_shape)
        shape[slice_dim] = size + (i < extra)
        yield offset[:], shape
        offset[slice_dim] += shape[slice_dim]


@internal("ops.variables.PartitionedVariable")
class PartitionedVariable:
    """A list of variables that stand for one: used as a tensor, they are concatenated."""

    def __init__(self, name: str, shape: Any, dtype: dtypes.DTypeLike, variable_list: Any, partitions: Any) -> None:
        shape = as_shape(shape).as_list()
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(p >= 1 for p in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        for v in variable_list:
            if not isinstance(v, Variable):
                raise TypeError(f"{v} must be a Variable")
            if not v._get_save_slice_info():
                raise ValueError(f"All variables must have a save_slice_info available: {[part.name for part in variable_list]}")
            if len(shape) != len(partitions):
                raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
            if v._get_save_slice_info().full_shape != shape:
                raise ValueError(
                    f"All variables' full shapes must match shape: {shape}; but full shapes were: "
                    f"{[part._get_save_slice_info().full_shape for part in variable_list]}"
                )
        self._variable_list = sorted(variable_list, key=lambda v: v._get_save_slice_info().var_offset)
        self._name = name
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._partitions = partitions
        self._as_tensor: Tensor | None = None

    def __iter__(self) -> Any:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._variable_list)

    def _partition_axes(self) -> list[int]:
        return [i for i, p in enumerate(self._partitions) if p > 1] or [0]

    def _concat(self) -> Tensor:
        if len(self._variable_list) == 1:
            with name_scope(None):
                return api.find("identity")(self._variable_list[0], name=self._name)
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(
                f"Cannot concatenate along more than one dimension: {axes}.  Multi-axis partition concat is not supported"
            )
        with name_scope(self._name + "/ConcatPartitions/"):
            joined = api.find("concat")(self._variable_list, axes[0])
        with name_scope(None):
            return api.find("identity")(joined, name=self._name)

    def as_tensor(self) -> Tensor:
        """The parts, concatenated."""
        with control_dependencies(None):
            return self._concat()

    @property
    def name(self) -> str:
        """The name of the whole."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    _distribute_strategy = None

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> Any:
        return self._partitions

    def _changed(self, change: Callable[[Any, Any], Any], value: Any) -> list[Any]:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(
                f"Cannot do assign action along more than one dimension: {axes}.  Multi-axis partition assign action is not supported "
            )
        if isinstance(value, (list, PartitionedVariable)):
            parts = list(value)
            if len(parts) != len(self._variable_list):
                raise AssertionError(f"{len(parts)} values for {len(self._variable_list)} parts")
        else:
            sizes = constant([v.get_shape().as_list()[axes[0]] for v in self._variable_list])
            parts = api.find("split")(value, sizes, axis=axes[0])
        return [change(v, part) for v, part in zip(self._variable_list, parts)]

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list[Any]:
        """Assigns each part its part of the value."""
        return _finished(
            self._changed(lambda v, x: v.assign(x, use_locking=use_locking, name=name, read_value=read_value), value), read_value
        )

    def assign_add(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list[Any]:
        """Adds to each part its part of the value."""
        return _finished(
            self._changed(lambda v, x: v.assign_add(x, use_locking=use_locking, name=name, read_value=read_value), value), read_value
        )

    def assign_sub(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list[Any]:
        """Subtracts from each part its part of the value."""
        return _finished(
            self._changed(lambda v, x: v.assign_sub(x, use_locking=use_locking, name=name, read_value=read_value), value), read_value
        )


def _finished(done: list[Any], read_value: bool) -> list[Any]:
    return done if read_value else [d.op if isinstance(d, Tensor) else d for d in done]


def _to_tensor(variable: PartitionedVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(f"Incompatible type conversion requested to type {dtype.name!r} for variable of type {variable.dtype.name!r}")
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
    return variable.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)


@public("variable_axis_size_partitioner")
def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Callable[..., Any]:
    """A partitioner that keeps every part below a number of bytes."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: Any, dtype: dtypes.DTypeLike) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        dtype = dtypes.as_dtype(dtype)
        element = bytes_per_string_element if dtype.base_dtype == dtypes.string else dtype.size
        sizes: list[Any] = shape.as_list()
        partitions = [1] * len(sizes)
        slice_bytes = element * math.prod(sizes) // sizes[axis]
        slices_per_shard = max(1, math.floor(max_shard_bytes / slice_bytes))
        count = math.ceil(sizes[axis] / slices_per_shard)
        partitions[axis] = min(max_shards, count) if max_shards else count
        return partitions

    return partitioner


@public("min_max_variable_partitioner")
def min_max_variable_partitioner(
    max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
) -> Callable[..., Any]:
    """A partitioner that cuts into as many parts as allowed, none below a number of bytes."""

    def partitioner(shape: Any, dtype: dtypes.DTypeLike) -> list[int]:
        if axis >= len(shape):
            raise ValueError(f"Can not partition variable along axis {axis} when shape is only {shape}")
        dtype = dtypes.as_dtype(dtype)
        element = bytes_per_string_element if dtype.base_dtype == dtypes.string else dtype.size
        total = shape.num_elements() * element
        partitions = [1] * len(shape)
        partitions[axis] = max(1, min(shape.dims[axis].value, max_partitions, int(math.ceil(total / min_slice_size))))
        return partitions

    return partitioner


@public("fixed_size_partitioner")
def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Callable[..., Any]:
    """A partitioner that cuts into a fixed number of parts."""

    def partitioner(shape: Any, **_: Any) -> list[int]:
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, shape.dims[axis].value)
        return partitions

    return partitioner


@public("create_partitioned_variables")
def create_partitioned_variables(
    shape: Any,
    slicing: Any,
    initializer: Any,
    dtype: dtypes.DTypeLike = dtypes.float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """The parts of a variable that is cut as `slicing` says."""
    from everflow.ops.variables.variable_scope import partitioned_variable, variable_scope

    if len(shape) != len(slicing):
        raise ValueError(f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, slicing: {slicing}")
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        return partitioned_variable(
            name=None,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable,
            collections=collections,
            partitioner=lambda **_: slicing,
        )._get_variable_list()
