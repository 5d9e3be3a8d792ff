"""tf.ConditionalAccumulator and tf.SparseConditionalAccumulator."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.shapes import TensorShape
from everflow.ops.core.registry import apply


@public("ConditionalAccumulatorBase")
class ConditionalAccumulatorBase:
    """What accumulators of gradients have in common."""

    def __init__(self, dtype: dtypes.DTypeLike, shape: Any, accumulator_ref: Any) -> None:
        self._dtype = dtype
        self._shape = TensorShape(shape) if shape is not None else TensorShape(None)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Any:
        """The handle."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the op that makes it."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Any:
        """How many gradients are there."""
        return apply(self._prefix + "AccumulatorNumAccumulated", self._accumulator_ref, name=name or f"{self._name}_NumAccumulated")

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Any:
        """Sets the step before which gradients are stale."""
        step = tf.cast(convert_to_tensor(new_global_step), tf.int64)
        return apply(self._prefix + "AccumulatorSetGlobalStep", self._accumulator_ref, step, name=name)

    @property
    def _prefix(self) -> str:
        return "Resource" if self._accumulator_ref.dtype == dtypes.resource else ""


def _checked_reduction(reduction_type: str) -> str:
    if reduction_type not in ("MEAN", "SUM"):
        raise ValueError(f'Value for attr \'reduction_type\' of "{reduction_type}" is not in the list of allowed values: "MEAN", "SUM"')
    return reduction_type


@public("ConditionalAccumulator")
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Collects dense gradients and gives their mean or sum once there are enough."""

    def __init__(
        self,
        dtype: dtypes.DTypeLike,
        shape: Any = None,
        shared_name: Any = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = apply(
            "ResourceConditionalAccumulator",
            dtype=dtype,
            shape=TensorShape(shape),
            shared_name=shared_name,
            name=name,
            reduction_type=_checked_reduction(reduction_type),
        )
        super().__init__(dtypes.as_dtype(dtype), shape, handle)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """Adds a gradient, unless it is stale."""
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        step = tf.cast(convert_to_tensor(local_step), tf.int64)
        return apply("ResourceAccumulatorApplyGradient", self._accumulator_ref, step, grad, name=name)

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """The mean or sum of the gradients, once there are so many; the accumulator is then empty and a step further."""
        found = apply("ResourceAccumulatorTakeGradient", self._accumulator_ref, num_required, dtype=self._dtype, name=name)
        found.set_shape(self._shape)
        return found


@public("SparseConditionalAccumulator", "sparse.SparseConditionalAccumulator")
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Collects slices of gradients by index."""

    def __init__(
        self,
        dtype: dtypes.DTypeLike,
        shape: Any = None,
        shared_name: Any = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = apply(
            "SparseConditionalAccumulator",
            dtype=dtype,
            shape=TensorShape(shape),
            shared_name=shared_name,
            name=name,
            reduction_type=_checked_reduction(reduction_type),
        )
        super().__init__(dtypes.as_dtype(dtype), shape, handle)

    def apply_indexed_slices_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """Adds a gradient that is an IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices: Any, grad_values: Any, grad_shape: Any = None, local_step: Any = 0, name: str | None = None) -> Any:
        """Adds slices of a gradient, unless they are stale."""
        step = tf.cast(convert_to_tensor(local_step), tf.int64)
        return apply(
            "SparseAccumulatorApplyGradient",
            self._accumulator_ref,
            step,
            tf.cast(grad_indices, tf.int64),
            grad_values,
            tf.cast([] if grad_shape is None else grad_shape, tf.int64),
            has_known_shape=grad_shape is not None,
            dtype=self._dtype,
            name=name,
        )

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """The indices, values and shape of the mean or sum, once there are so many gradients."""
        return apply("SparseAccumulatorTakeGradient", self._accumulator_ref, num_required, dtype=self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """The same as an IndexedSlices."""
        found = self.take_grad(num_required, name)
        return IndexedSlices(indices=found.indices, values=found.values, dense_shape=found.shape)
