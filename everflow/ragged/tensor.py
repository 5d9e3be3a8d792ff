"""RaggedTensor: values cut into rows that may differ in length."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor, default_session
from everflow.graph.type_spec import CompositeTensor
from everflow.ragged.partitions import checked, lengths_to_splits, row_splits_to_segment_ids, rowids_to_splits, to_partition
from everflow.ragged.values import RaggedTensorValue
from everflow.runtime.fetches import EXPANSIONS, Expansion

# What rows may be counted in.
_INTEGERS = (dtypes.int32, dtypes.int64)


@public("RaggedTensor")
@internal("ops.ragged.ragged_tensor.RaggedTensor")
class RaggedTensor(CompositeTensor):
    """`values` (a tensor, or a ragged one for rows of rows) cut into rows at `row_splits`."""

    __array_priority__ = 100

    def __init__(
        self,
        values: Any,
        row_splits: Any,
        cached_row_lengths: Any = None,
        cached_value_rowids: Any = None,
        cached_nrows: Any = None,
        internal: bool = False,
    ) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., RaggedTensor.from_row_lengths())"
            )
        if not isinstance(row_splits, Tensor):
            raise TypeError(f"Row-partitioning argument must be a Tensor, got {row_splits!r}")
        if not isinstance(values, (RaggedTensor, Tensor)):
            raise TypeError(f"values must be a Tensor or RaggedTensor, got {values!r}")
        values.shape.with_rank_at_least(1)
        row_splits.shape.assert_has_rank(1)
        if row_splits.dtype not in _INTEGERS:
            raise ValueError("Row-partitioning argument must be int32 or int64")
        if row_splits.dims is None:
            row_splits.set_shape([None])
        for cached in (cached_row_lengths, cached_value_rowids, cached_nrows):
            if cached is not None and not isinstance(cached, Tensor):
                raise TypeError("Cached value must be a Tensor or None.")
            if cached is not None and cached.dtype not in _INTEGERS:
                raise TypeError("Cached value must be int32 or int64.")
        self._values, self._row_splits = values, row_splits
        self._cached_row_lengths = cached_row_lengths
        self._cached_value_rowids = cached_value_rowids
        self._cached_nrows = cached_nrows

    # -- made from values and a partition of them

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Each value with the number of its row."""
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values, value_rowids = _values_and(values, value_rowids, "value_rowids")
            value_rowids.shape.assert_has_rank(1)
            if nrows is None:
                last = known(value_rowids)
                nrows = (int(last[-1]) + 1 if len(last) else 0) if last is not None else None
                if nrows is None:
                    nrows = tf.concat([value_rowids[-1:], [-1]], axis=0)[0] + 1
                    count = None
                else:
                    count = nrows
                    nrows = convert_to_tensor(nrows, value_rowids.dtype, "nrows")
            else:
                nrows = convert_to_tensor(nrows, value_rowids.dtype, "nrows")
                count = known(nrows)
                if count is not None:
                    _check_rows(count, value_rowids)
            nrows.shape.assert_has_rank(0)
            if values.shape.rank is not None and value_rowids.dims is not None:
                values.shape[:1].assert_is_compatible_with(value_rowids.shape)
            if validate:
                value_rowids, nrows = checked("from_value_rowids", values, rowids=value_rowids, nrows=nrows)
            splits = rowids_to_splits(value_rowids, nrows)
            if count is not None:
                splits.set_shape([int(count) + 1])
            return cls(values, splits, cached_value_rowids=value_rowids, cached_nrows=nrows, internal=True)

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        """Where each row starts, and where the last one ends."""
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values, row_splits = _values_and(values, row_splits, "row_splits")
            row_splits.shape.assert_has_rank(1)
            if validate:
                (row_splits,) = checked("from_row_splits", values, splits=row_splits)
            return cls(values, row_splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        """How long each row is."""
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values, row_lengths = _values_and(values, row_lengths, "row_lengths")
            row_lengths.shape.assert_has_rank(1)
            if validate:
                (row_lengths,) = checked("from_row_lengths", values, lengths=row_lengths)
            return cls(values, lengths_to_splits(row_lengths), cached_row_lengths=row_lengths, internal=True)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        """Where each row starts."""
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, row_starts = _values_and(values, row_starts, "row_starts")
            row_starts.shape.assert_has_rank(1)
            if validate:
                (row_starts,) = checked("from_row_starts", values, starts=row_starts)
            return cls(values, tf.concat([row_starts, [row_count(values, row_starts.dtype)]], axis=0), internal=True)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        """Where each row ends."""
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values, row_limits = _values_and(values, row_limits, "row_limits")
            row_limits.shape.assert_has_rank(1)
            if validate:
                (row_limits,) = checked("from_row_limits", values, limits=row_limits)
            return cls(values, tf.concat([tf.zeros([1], row_limits.dtype), row_limits], axis=0), internal=True)

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values: Any, nested_value_rowids: Any, nested_nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows of rows: the outermost row numbers first."""
        if isinstance(nested_value_rowids, Tensor):
            raise TypeError("nested_value_rowids must be a list of Tensors")
        if isinstance(nested_nrows, Tensor):
            raise TypeError("nested_nrows must be a list of Tensors")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        elif len(nested_nrows) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values, *nested_value_rowids, *nested_nrows]):
            found = flat_values
            for rowids, nrows in reversed(list(zip(nested_value_rowids, nested_nrows))):
                found = cls.from_value_rowids(found, rowids, nrows, validate=validate)
            return found

    @classmethod
    def from_nested_row_splits(cls, flat_values: Any, nested_row_splits: Any, name: str | None = None, validate: bool = True) -> Any:
        """Rows of rows: the outermost splits first."""
        if isinstance(nested_row_splits, Tensor):
            raise TypeError("nested_row_splits must be a list of Tensors")
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            found = flat_values
            for splits in reversed(nested_row_splits):
                found = cls.from_row_splits(found, splits, validate=validate)
            return found

    @classmethod
    def from_nested_row_lengths(cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None, validate: bool = True) -> Any:
        """Rows of rows: the outermost lengths first."""
        if isinstance(nested_row_lengths, Tensor):
            raise TypeError("nested_row_lengths must be a list of Tensors")
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
            found = flat_values
            for lengths in reversed(nested_row_lengths):
                found = cls.from_row_lengths(found, lengths, validate=validate)
            return found

    # -- other kinds of tensors

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: dtypes.DTypeLike = dtypes.int64,
    ) -> Any:
        """The rows of a dense tensor, without what is beyond `lengths` or with `padding` taken off their ends."""
        from everflow.ragged.conversions import from_tensor

        return from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype, name)

    @classmethod
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: dtypes.DTypeLike = dtypes.int64) -> RaggedTensor:
        """The rows of a sparse matrix whose values stand side by side from the left."""
        from everflow.ragged.conversions import from_sparse

        return from_sparse(st_input, name, row_splits_dtype)

    def to_tensor(self, default_value: Any = None, name: str | None = None) -> Tensor:
        """A dense tensor in which short rows are filled up."""
        from everflow.ragged.conversions import to_tensor

        return to_tensor(self, default_value, name)

    def to_sparse(self, name: str | None = None) -> Any:
        """The same values as a sparse tensor."""
        from everflow.ragged.conversions import to_sparse

        return to_sparse(self, name)

    @classmethod
    def _from_variant(
        cls, variant: Any, dtype: dtypes.DTypeLike, output_ragged_rank: int, input_ragged_rank: int | None = None, name: str | None = None
    ) -> Any:
        from everflow.ragged.conversions import from_variant

        return from_variant(variant, dtype, output_ragged_rank, input_ragged_rank, name)

    def _to_variant(self, batched_input: bool = False, name: str | None = None) -> Tensor:
        from everflow.ragged.conversions import to_variant

        return to_variant(self, batched_input, name)

    # -- parts

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape; rows have no length of their own."""
        dims = self._row_splits.dims
        nrows = None if dims is None or dims[0] is None else dims[0] - 1
        return shapes.TensorShape([nrows, None]).concatenate(self._values.shape[1:])

    def get_shape(self) -> shapes.TensorShape:
        """The same as `shape`."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are ragged."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def values(self) -> Any:
        """The rows one after the other."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Where each row starts in `values`, and where the last one ends."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        found = self._values
        while isinstance(found, RaggedTensor):
            found = found.values
        return found

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row of each value."""
        if self._cached_value_rowids is not None:
            return self._cached_value_rowids
        with name_scope(name, "RaggedValueRowIds", [self]):
            return row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row of each value, for all ragged dimensions."""
        with name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(rt.value_rowids() for rt in self._levels())

    def nrows(self, out_type: dtypes.DTypeLike | None = None, name: str | None = None) -> Tensor:
        """How many rows there are."""
        kind = dtypes.as_dtype(self._row_splits.dtype if out_type is None else out_type)
        if self._cached_nrows is None:
            with name_scope(name, "RaggedNRows", [self]):
                return tf.shape(self._row_splits, out_type=kind)[0] - 1
        return tf.cast(self._cached_nrows, kind)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where each row starts."""
        with name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where each row ends."""
        with name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows along an axis: ragged themselves where that is an inner one."""
        if axis == 1 and self._cached_row_lengths is not None:
            return self._cached_row_lengths
        with name_scope(name, "RaggedRowLengths", [self]):
            inner = wrapped_axis(axis, self.shape.ndims) - 1
            if inner < 0:
                return self.nrows()
            if inner == 0:
                ends, starts = self._row_splits[1:], self._row_splits[:-1]
                return ends - starts
            return self.with_values(_lengths(self._values, inner, self._row_splits.dtype))

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The lengths of the rows of all ragged dimensions."""
        with name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(rt.row_lengths() for rt in self._levels())

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: dtypes.DTypeLike | None = None) -> Tensor:
        """The shape of the smallest dense tensor that holds all rows, or its sizes along `axis`."""
        out_type = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self, axis]):
            if isinstance(axis, int) and axis == 0:
                return tf.cast(self.nrows(), out_type)
            if isinstance(axis, int) and axis == 1:
                return tf.cast(tf.maximum(tf.reduce_max(self.row_lengths()), 0), out_type)
            longest = [tf.maximum(tf.reduce_max(lengths), 0) for lengths in self.nested_row_lengths()]
            shape = tf.concat([tf.stack([self.nrows(), *longest]), tf.shape(self.flat_values, out_type=self._row_splits.dtype)[1:]], axis=0)
            shape = tf.cast(shape, out_type)
            return shape if axis is None else tf.gather(shape, axis)

    def _levels(self) -> list[RaggedTensor]:
        found: list[RaggedTensor] = []
        level: Any = self
        while isinstance(level, RaggedTensor):
            found.append(level)
            level = level.values
        return found

    # -- changed parts

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values."""
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if not isinstance(new_values, RaggedTensor) or new_values.row_splits.dtype == self._row_splits.dtype:
            known_parts = (self._cached_row_lengths, self._cached_value_rowids, self._cached_nrows)
            return RaggedTensor(new_values, self._row_splits, *known_parts, internal=True)
        if not AUTO_CAST:
            raise ValueError(
                "self and new_values have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
                "convert them to compatible dtypes."
            )
        rows, inner = (rt.with_row_splits_dtype(dtypes.int64) for rt in (self, new_values))
        return rows.with_values(inner)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of rows of other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: dtypes.DTypeLike) -> RaggedTensor:
        """The same rows, with splits of another integer type."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in _INTEGERS:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == dtype:
            return self
        values = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values

        def cast(t: Any) -> Any:
            return None if t is None else tf.cast(t, dtype)

        return RaggedTensor(
            values,
            tf.cast(self._row_splits, dtype),
            cast(self._cached_row_lengths),
            cast(self._cached_value_rowids),
            cast(self._cached_nrows),
            internal=True,
        )

    # -- values

    def _is_eager(self) -> bool:
        return all(t.is_eager for t in (self.flat_values, *self.nested_row_splits))

    def _eager_value(self) -> RaggedTensorValue:
        return RaggedTensorValue.from_nested_row_splits(
            self.flat_values.numpy(),  # type: ignore[attr-defined]
            [np.asarray(s.numpy()) for s in self.nested_row_splits],
        )  # type: ignore[attr-defined]

    def to_list(self) -> list[Any]:
        """Nested lists of Python values; in eager mode only."""
        if not self._is_eager():
            raise ValueError(
                "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor first "
                "and then use RaggedTensorValue.to_list()."
            )
        return self._eager_value().to_list()

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        """Computes the ragged tensor; a RaggedTensorValue."""
        return default_session(self._row_splits.graph, session, "evaluate tensor", "eval").run(self, feed_dict)

    def __repr__(self) -> str:
        if self._is_eager():
            return f"<tf.RaggedTensor {self.to_list()}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __getitem__(self, key: Any) -> Any:
        from everflow.ragged.getitem import ragged_tensor_getitem

        return ragged_tensor_getitem(self, key)

    # -- as a composite of tensors

    @property
    def _type_spec(self) -> Any:
        from everflow.ragged.spec import RaggedTensorSpec

        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        from everflow.ragged.spec import RaggedTensorSpec

        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    @property
    def op(self) -> Any:
        """The operation that makes the innermost values."""
        return self.flat_values.op

    @property
    def graph(self) -> Any:
        """The graph of the tensors."""
        return self._row_splits.graph


AUTO_CAST = False


def wrapped_axis(axis: int, ndims: int | None) -> int:
    """An axis counted from the front."""
    if ndims is not None:
        if 0 <= axis < ndims:
            return axis
        if -ndims <= axis < 0:
            return axis + ndims
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    if axis < 0:
        raise ValueError("axis may only be negative if ndims is statically known.")
    return axis


def _check_rows(nrows: Any, value_rowids: Tensor) -> None:
    if np.ndim(nrows):
        raise ValueError(f"Shape {shapes.TensorShape(np.shape(nrows))} must have rank 0")
    if nrows < 0:
        raise ValueError(f"Expected nrows >= 0; got {nrows}")
    ids = known(value_rowids)
    if ids is not None and ids.ndim == 1 and len(ids) and nrows < ids[-1] + 1:
        raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={nrows}, value_rowids[-1]={ids[-1]}")


def _lengths(values: Any, axis: int, dtype: dtypes.DType) -> Any:
    """The lengths of all that is along an axis of the values of rows."""
    if isinstance(values, RaggedTensor):
        return values.row_lengths(axis)
    shape = tf.shape(values, out_type=dtype)
    return tf.ones(shape[:axis], shape.dtype) * shape[axis]


def _values_and(values: Any, partition: Any, name: str) -> tuple[Any, Tensor]:
    """Values and what cuts them into rows, as tensors with row numbers of one type."""
    if isinstance(values, RaggedTensor):
        partition = to_partition(partition, name, values.row_splits.dtype)
        if values.row_splits.dtype != partition.dtype:
            if not AUTO_CAST:
                raise ValueError(
                    f"dtype mismatch: values has row_splits of {values.row_splits.dtype.name}, {name} is {partition.dtype.name}"
                )
            values, partition = values.with_row_splits_dtype(dtypes.int64), tf.cast(partition, dtypes.int64)
        return values, partition
    return convert_to_tensor(values, name="values"), to_partition(partition, name)


def row_count(values: Any, dtype: dtypes.DTypeLike) -> Tensor:
    """How many rows (or elements) there are."""
    return values.nrows(out_type=dtype) if isinstance(values, RaggedTensor) else tf.shape(values, out_type=dtype)[0]


def from_value(
    value: RaggedTensorValue, dtype: dtypes.DTypeLike | None = None, preferred_dtype: dtypes.DTypeLike | None = None
) -> RaggedTensor:
    """A RaggedTensorValue as a ragged tensor of constants."""
    flat = convert_to_tensor(value.flat_values, dtype, "flat_values", preferred_dtype)
    return RaggedTensor.from_nested_row_splits(flat, value.nested_row_splits, validate=False)


@internal("ops.ragged.ragged_tensor.is_ragged")
def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor or the value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


@internal("ops.ragged.ragged_tensor.convert_to_tensor_or_ragged_tensor")
def convert_to_tensor_or_ragged_tensor(
    value: Any, dtype: dtypes.DTypeLike | None = None, preferred_dtype: dtypes.DTypeLike | None = None, name: str | None = None
) -> Any:
    """A ragged tensor as it is, anything else as a dense tensor."""
    if not is_ragged(value):
        return convert_to_tensor(value, dtype, name, preferred_dtype)
    if isinstance(value, RaggedTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for RaggedTensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
        return from_value(value, dtype, preferred_dtype)


@internal("ops.ragged.ragged_tensor.match_row_splits_dtypes")
def match_row_splits_dtypes(*tensors: Any, **kwargs: Any) -> Any:
    """The tensors, the ragged ones among them with splits of one type."""
    return_dtype = kwargs.pop("return_dtype", False)
    if kwargs:
        raise ValueError(f"Unexpected keyword args {kwargs}")
    kinds = {t.row_splits.dtype for t in tensors if isinstance(t, RaggedTensor)}
    if len(kinds) > 1:
        if not AUTO_CAST:
            raise ValueError(
                "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to convert "
                "them to compatible dtypes."
            )
        tensors = tuple(t.with_row_splits_dtype(dtypes.int64) if isinstance(t, RaggedTensor) else t for t in tensors)
    kind = dtypes.int32 if kinds == {dtypes.int32} else dtypes.int64
    return (kind, tensors) if return_dtype else tensors


def _register() -> None:
    """Ragged tensors are fetched and fed as the tensors they are made of."""

    def parts(x: Any) -> list[Any]:
        return [x.flat_values, *x.nested_row_splits]

    EXPANSIONS.append(
        Expansion(
            RaggedTensor,
            lambda x: (parts(x), lambda found: RaggedTensorValue.from_nested_row_splits(found[0], found[1:])),
            lambda x, value: list(zip(parts(x), parts(value))),
            parts,
        )
    )


_register()


def _load_operators() -> None:
    from everflow.ragged import operators

    assert operators


_load_operators()
