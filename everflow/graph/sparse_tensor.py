"""SparseTensor: the elements that are not zero, with where they stand."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes, shapes
from everflow.graph.constants import constant_value_as_shape
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor, TensorLike, default_session
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import BatchableTypeSpec, CompositeTensor, register_type_spec_from_value_converter

SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
public("SparseTensorValue", "compat.v1.SparseTensorValue")(SparseTensorValue)


@public("SparseTensor", "sparse.SparseTensor")
@internal("framework.sparse_tensor.SparseTensor")
class SparseTensor(TensorLike, CompositeTensor):
    """`indices` [n, rank] says where the n `values` stand in a tensor of `dense_shape`."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            values = convert_to_tensor(values, name="values")
            dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        self._indices, self._values, self._dense_shape = indices, values, dense_shape
        two, one, rank = (t.get_shape() for t in (indices, values, dense_shape))
        two, one, rank = two.with_rank(2), one.with_rank(1), rank.with_rank(1)
        two.dims[0].assert_is_compatible_with(one.dims[0])
        two.dims[1].assert_is_compatible_with(rank.dims[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A sparse tensor of a SparseTensorValue."""
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def indices(self) -> Tensor:
        """Where the values stand, a row each."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The values."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the tensor, as a vector."""
        return self._dense_shape

    @property
    def op(self) -> Any:
        """The operation that makes the values."""
        return self._values.op

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def graph(self) -> Any:
        """The graph of the tensors."""
        return self._indices.graph

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape, as far as it is known."""
        return constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> shapes.TensorShape:
        """The static shape, as far as it is known."""
        return self.shape

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        """Computes the sparse tensor; a SparseTensorValue."""
        session = default_session(self.graph, session, "evaluate tensor", "eval")
        return SparseTensorValue(*session.run([self.indices, self.values, self.dense_shape], feed_dict))

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def __str__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"

    def __div__(self, y: Any) -> Any:
        return _operation("div", self, y)

    def __truediv__(self, y: Any) -> Any:
        return _operation("truediv", self, y)

    def __mul__(self, y: Any) -> Any:
        return _operation("mul", self, y)


def _operation(name: str, x: SparseTensor, y: Any) -> Any:
    """Arithmetic with a dense tensor, which is broadcast to the sparse one."""
    with name_scope(None, name, [x.indices, x.values, x.dense_shape, y]) as scope:
        y = convert_to_tensor(y, x.dtype.base_dtype, name="y")
        values = x.values
        if name == "truediv" and values.dtype.is_integer:
            exact = dtypes.float32 if values.dtype.size < 4 else dtypes.float64
            values, y = tf.cast(values, exact), tf.cast(y, exact)
        operation = tf.raw_ops.SparseDenseCwiseMul if name == "mul" else tf.raw_ops.SparseDenseCwiseDiv
        found = operation(sp_indices=x.indices, sp_values=values, sp_shape=x.dense_shape, dense=y, name=scope)
    return SparseTensor(x.indices, found, x.dense_shape)


@public("SparseTensorSpec")
@internal("framework.sparse_tensor.SparseTensorSpec")
class SparseTensorSpec(BatchableTypeSpec):
    """Sparse tensors of a shape and a dtype."""

    def __init__(self, shape: Any = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        self._shape = shapes.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def value_type(self) -> type:
        """Sparse tensors."""
        return SparseTensor

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The type of a sparse tensor."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            return cls(shapes.TensorShape(tuple(value.dense_shape)), dtypes.as_dtype(value.values.dtype))
        raise TypeError("Expected SparseTensor or SparseTensorValue")

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.ndims
        return [TensorSpec([None, rank], dtypes.int64), TensorSpec([None], self._dtype), TensorSpec([rank], dtypes.int64)]

    def _to_components(self, value: Any) -> list[Any]:
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> Any:
        if all(isinstance(c, np.ndarray) for c in components):
            return SparseTensorValue(*components)
        return SparseTensor(*components)

    # Between the ops of datasets a sparse tensor travels as one variant.

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return self._packed("SerializeSparse", value)

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        if self._shape.ndims is not None and self._shape.ndims < 1:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return self._packed("SerializeManySparse", value)

    def _packed(self, op_type: str, value: Any) -> list[Tensor]:
        value = SparseTensor.from_value(value)
        pack = getattr(tf.raw_ops, op_type)
        return [pack(sparse_indices=value.indices, sparse_values=value.values, sparse_shape=value.dense_shape, out_type=dtypes.variant)]

    def _from_compatible_tensor_list(self, tensor_list: list[Tensor]) -> SparseTensor:
        found = SparseTensor(*tf.raw_ops.DeserializeSparse(serialized_sparse=tensor_list[0], dtype=self._dtype))
        found.indices.set_shape([None, self._shape.ndims])
        found.dense_shape.set_shape([self._shape.ndims])
        return found

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(shapes.TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)


register_type_spec_from_value_converter(SparseTensorValue, SparseTensorSpec.from_value)


@public("data.experimental.SparseTensorStructure")
def sparse_tensor_structure(dtype: dtypes.DTypeLike, shape: Any) -> SparseTensorSpec:
    """The type of sparse tensors of a dtype and a shape, under its first name."""
    return SparseTensorSpec(shape, dtype)


@internal("framework.sparse_tensor.is_sparse")
def is_sparse(x: Any) -> bool:
    """Whether x is a sparse tensor or the value of one."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


@public("convert_to_tensor_or_sparse_tensor")
@internal("framework.sparse_tensor.convert_to_tensor_or_sparse_tensor")
def convert_to_tensor_or_sparse_tensor(value: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None) -> Any:
    """A sparse tensor as it is, anything else as a dense tensor."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if not is_sparse(value):
        return convert_to_tensor(value, dtype=wanted, name=name)
    found = value if isinstance(value, SparseTensor) else SparseTensor.from_value(value)
    if not (wanted is None or wanted.is_compatible_with(found.dtype)):
        raise RuntimeError(f"Sparse dtype: requested = {wanted.name}, actual = {found.dtype.name}")
    return found


@public("sparse_placeholder", "sparse.placeholder")
def sparse_placeholder(dtype: dtypes.DTypeLike, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor that must be fed."""
    placeholder = tf.placeholder
    shape_name = name + "/shape" if name is not None else None
    rank: Any = None
    if shape is None:
        dense_shape = placeholder(dtypes.int64, shape=[None], name=shape_name)
    elif isinstance(shape, Tensor):
        rank = shapes.Dimension(shape.dims[0]) if shape.dims else None
        dense_shape = shape
    else:
        rank = len(shape)
        sizes = [s.value if isinstance(s, shapes.Dimension) else s for s in shape]
        if any(s is None for s in sizes):
            dense_shape = placeholder(dtypes.int64, shape=[rank], name=shape_name)
        else:
            dense_shape = convert_to_tensor(sizes, dtypes.int64, name=shape_name)
    return SparseTensor(
        values=placeholder(dtype, shape=[None], name=name + "/values" if name is not None else None),
        indices=placeholder(dtypes.int64, shape=[None, rank], name=name + "/indices" if name is not None else None),
        dense_shape=dense_shape,
    )
