"""InfeedQueue: what a host sends to the shards of a TPU computation, and along which dimensions it is split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.ops.core.registry import apply
from everflow.tpu.feeds import infeed_dequeue_tuple

DEFAULT_NUMBER_OF_SHARDS = 1
DEFAULT_SHARD_DIMENSION = 0
internal("tpu.tpu_sharding._DEFAULT_NUMBER_OF_SHARDS")(DEFAULT_NUMBER_OF_SHARDS)
internal("tpu.tpu_sharding._DEFAULT_SHARD_DIMENSION")(DEFAULT_SHARD_DIMENSION)


@internal("tpu.tpu_sharding.ShardingPolicy")
class ShardingPolicy:
    """How a tensor is split: into how many shards, along which dimension. What is frozen can't be changed."""

    def __init__(self) -> None:
        self._number_of_shards: int | None = None
        self._shard_dimension: Any = None
        self._frozen = False

    def __str__(self) -> str:
        if self.number_of_shards is None or self.shard_dimension is None:
            return "ShardingPolicy(unset)"
        return f"ShardingPolicy({self.number_of_shards} shards dimension {self.shard_dimension})"

    @property
    def number_of_shards(self) -> int | None:
        """How many shards there are."""
        return self._number_of_shards

    @property
    def shard_dimension(self) -> Any:
        """The dimension that is split."""
        return self._shard_dimension

    def set_number_of_shards(self, number_of_shards: int) -> None:
        """Says how many shards there are."""
        if self._frozen and self._number_of_shards != number_of_shards:
            frozen = f"it has been frozen to use {self._number_of_shards}"
            raise ValueError(f"Can't set sharding policy to use {number_of_shards} shards since {frozen}.")
        if number_of_shards <= 0:
            raise ValueError(f"Can't set sharding policy to use {number_of_shards} shards; value must be > 0")
        self._number_of_shards = number_of_shards

    def set_shard_dimension(self, shard_dimension: Any) -> None:
        """Says which dimension is split."""
        dimension = tf.Dimension(shard_dimension)
        if self._frozen and (self._shard_dimension is None or int(self._shard_dimension) != int(dimension)):
            raise ValueError(f"Can't set shard dimension to {shard_dimension} since it has been frozen to use {self._shard_dimension}.")
        self._shard_dimension = dimension

    def freeze(self) -> None:
        """Fixes the policy, with defaults for what was not said."""
        if self._number_of_shards is None:
            self.set_number_of_shards(DEFAULT_NUMBER_OF_SHARDS)
        if self._shard_dimension is None:
            self.set_shard_dimension(DEFAULT_SHARD_DIMENSION)
        self._frozen = True

    def merge(self, other: ShardingPolicy) -> None:
        """Takes over what another policy says."""
        for take, said in ((self.set_number_of_shards, other.number_of_shards), (self.set_shard_dimension, other.shard_dimension)):
            if said is not None:
                take(said)

    def _known(self) -> tuple[int, int]:
        if self._number_of_shards is None or self._shard_dimension is None:
            raise ValueError("The number of shards and the shard dimension must be set before shapes are sharded.")
        return self._number_of_shards, int(self._shard_dimension)

    def get_sharded_shape(self, shape: Any, shard_index: int | None = None) -> Any:
        """The shape of a shard of a tensor of some shape."""
        count, dimension = self._known()
        if shard_index is not None and not 0 <= shard_index < count:
            raise ValueError(f"Requested shard_index {shard_index}, but shard_index must be in [0,{count}).")
        sizes = tf.TensorShape(shape)
        if sizes.ndims is None:
            raise ValueError("Shape must be a specified shape not Unknown")
        if not sizes.ndims:
            return sizes
        whole = tf.dimension_value(sizes[dimension])
        if whole is None or whole % count:
            raise ValueError(f"shape {sizes.as_list()} cannot be sharded {count} ways along dimension {dimension}")
        return tf.TensorShape([whole // count if i == dimension else size for i, size in enumerate(sizes.as_list())])

    def get_unsharded_shape(self, shapes: Any) -> Any:
        """The shape of a tensor whose shards have some shapes."""
        count, dimension = self._known()
        if len(shapes) != count:
            raise ValueError(f"shapes is {shapes} but must be a list of length number_of_shards={count}")
        parts = [tf.TensorShape(shape) for shape in shapes]
        if any(part.ndims is None or not part.is_fully_defined() for part in parts):
            raise ValueError(f"shapes {shapes} must all be known")
        first: list[Any] = parts[0].as_list()
        if any(part.as_list() != first for part in parts):
            how = f"sharded {count} ways along dimension {dimension}"
            raise ValueError(f"sharded shapes {shapes} are not consistent shards of a full shape {how}")
        if not first:
            return parts[0]
        return tf.TensorShape([size * count if i == dimension else size for i, size in enumerate(first)])


@public("contrib.tpu.InfeedQueue")
@internal("tpu.tpu_feed.InfeedQueue")
class InfeedQueue:
    """A queue of tuples from a host to the shards of a TPU computation: types, shapes and policies of the elements, and its ops."""

    def __init__(
        self,
        number_of_tuple_elements: int | None = None,
        tuple_types: Any = None,
        tuple_shapes: Any = None,
        shard_dimensions: Any = None,
        name: str | None = None,
    ) -> None:
        known = next((len(v) for v in (tuple_types, tuple_shapes, shard_dimensions) if v is not None), None)
        count = number_of_tuple_elements or known
        if not count:
            raise ValueError("number of tuple elements cannot be inferred from InfeedQueue constructor")
        if count <= 0:
            raise ValueError(f"number_of_tuple_elements {count} must be > 0")
        self._name = name or "InfeedQueue"
        self._frozen = self._generated = False
        self._types: list[Any] | None = None
        self._shapes: list[Any] | None = None
        self._policies = [ShardingPolicy() for _ in range(count)]
        if tuple_types is not None:
            self.set_tuple_types(tuple_types)
        if tuple_shapes is not None:
            self.set_tuple_shapes(tuple_shapes)
        if shard_dimensions is not None:
            self.set_shard_dimensions(shard_dimensions)

    @property
    def number_of_tuple_elements(self) -> int:
        """How many tensors go together."""
        return len(self._policies)

    @property
    def tuple_types(self) -> list[Any] | None:
        """The types of the tensors."""
        return self._types

    @property
    def tuple_shapes(self) -> list[Any] | None:
        """The shapes of the tensors before they are split."""
        return self._shapes

    @property
    def sharding_policies(self) -> list[ShardingPolicy]:
        """How each tensor is split."""
        return self._policies

    @property
    def shard_dimensions(self) -> list[Any]:
        """The dimension along which each tensor is split."""
        return [policy.shard_dimension for policy in self._policies]

    @property
    def number_of_shards(self) -> int | None:
        """Into how many shards the tensors are split."""
        return self._policies[0].number_of_shards

    def _check(self, given: Any, what: str) -> None:
        if len(given) != self.number_of_tuple_elements:
            raise ValueError(f"{what} is {given}, but must be a list of length {self.number_of_tuple_elements}")

    def set_tuple_types(self, tuple_types: Any) -> None:
        """Says the types of the tensors."""
        self._check(tuple_types, "tuple_types")
        types = [tf.as_dtype(dtype) for dtype in tuple_types]
        if self._frozen and self._types != types:
            raise ValueError(
                "Trying to update InfeedQueue with frozen configuration with an incompatible type. "
                f"Frozen types are {self._types}, updated types are {types}"
            )
        self._types = types

    def set_tuple_shapes(self, tuple_shapes: Any) -> None:
        """Says the shapes of the tensors before they are split."""
        self._check(tuple_shapes, "tuple_shapes")
        shapes = [tf.TensorShape(shape) for shape in tuple_shapes]
        if self._frozen and [s.as_list() for s in self._shapes or ()] != [s.as_list() for s in shapes]:
            raise ValueError(
                "Trying to update InfeedQueue with frozen configuration with an incompatible shape. "
                f"Frozen shapes are {self._shapes}, updated shapes are {shapes}"
            )
        self._shapes = shapes
        self._validate()

    def set_shard_dimensions(self, shard_dimensions: Any) -> None:
        """Says along which dimension each tensor is split."""
        self._check(shard_dimensions, "shard_dimensions")
        for policy, dimension in zip(self._policies, shard_dimensions):
            policy.set_shard_dimension(dimension)
        self._validate()

    def set_number_of_shards(self, number_of_shards: int) -> None:
        """Says into how many shards tensors are split."""
        for policy in self._policies:
            policy.set_number_of_shards(number_of_shards)
        self._validate()

    def _validate(self) -> None:
        if self._shapes is not None and self.number_of_shards is not None:
            for policy, shape in zip(self._policies, self._shapes):
                if policy.shard_dimension is not None:
                    policy.get_sharded_shape(shape)

    def set_configuration_from_input_tensors(self, input_tensors: Any) -> None:
        """Takes types and shapes from tensors that are not split."""
        self._check(input_tensors, "input_tensors")
        self.set_tuple_shapes([tensor.shape for tensor in input_tensors])
        self.set_tuple_types([tensor.dtype for tensor in input_tensors])

    def set_configuration_from_sharded_input_tensors(self, input_tensors: Any) -> None:
        """Takes types, shapes and the number of shards from a list of tensors for each shard."""
        if not self._frozen:
            self._shapes = None
        for own in input_tensors:
            self._check(own, "input_tensors")
        for policy in self._policies:
            if policy.shard_dimension is None:
                policy.set_shard_dimension(DEFAULT_SHARD_DIMENSION)
        self.set_number_of_shards(len(input_tensors))
        shapes = [policy.get_unsharded_shape([own[i].shape for own in input_tensors]) for i, policy in enumerate(self._policies)]
        self.set_tuple_shapes(shapes)
        types = [tensor.dtype for tensor in input_tensors[0]]
        for own in input_tensors[1:]:
            if [tensor.dtype for tensor in own] != types:
                raise TypeError(f"types of the tuple elements of input_tensors {input_tensors} are not consistent")
        self.set_tuple_types(types)

    def freeze(self) -> None:
        """Fixes types, shapes and policies; all of them must be known."""
        self._frozen = True
        if self._types is None:
            raise ValueError("Can't freeze an InfeedQueue without setting all tuple types.")
        if self._shapes is None:
            raise ValueError("Can't freeze an InfeedQueue without setting all tuple shapes.")
        for policy in self._policies:
            policy.freeze()
        self._validate()

    def generate_dequeue_op(self, tpu_device: int = 0) -> Any:
        """The tensors of one shard, on the TPU."""
        self.freeze()
        if self._generated:
            raise ValueError("Can't generate two dequeue Ops from the same queue")
        self._generated = True
        shapes = [policy.get_sharded_shape(shape) for policy, shape in zip(self._policies, self._shapes or ())]
        return infeed_dequeue_tuple(self._types, shapes, name=self._name + "/dequeue")

    def generate_enqueue_ops(
        self,
        sharded_inputs: Any,
        tpu_ordinal_function: Callable[[int], int] | None = None,
        placement_function: Callable[[int], str] | None = None,
    ) -> list[Any]:
        """An op for each shard that sends its tensors."""
        self.set_configuration_from_sharded_input_tensors(sharded_inputs)
        self.freeze()
        found = []
        for shard, tensors in enumerate(sharded_inputs):
            with tf.device(placement_function(shard) if placement_function is not None else None):
                ordinal = tpu_ordinal_function(shard) if tpu_ordinal_function is not None else -1
                found.append(
                    apply(
                        "InfeedEnqueueTuple",
                        tensors,
                        shapes=[tensor.shape for tensor in tensors],
                        device_ordinal=ordinal,
                        name=f"{self._name}/enqueue/{shard}",
                    )
                )
        return found

    def split_inputs_and_generate_enqueue_ops(
        self,
        inputs: Any,
        device_assignment: Any = None,
        placement_function: Callable[[int], str] | None = None,
        tpu_ordinal_function: Callable[[int], int] | None = None,
    ) -> list[Any]:
        """Splits tensors by the policies and sends a part to each shard."""
        self.set_configuration_from_input_tensors(inputs)
        self.freeze()
        if device_assignment is not None:
            placement_function = placement_function or (lambda shard: device_assignment.host_device(replica=shard))
            tpu_ordinal_function = tpu_ordinal_function or (lambda shard: device_assignment.tpu_ordinal(replica=shard))
        count = self.number_of_shards or 1
        parts = [
            tf.split(tensor, count, axis=int(policy.shard_dimension)) if count > 1 else [tensor]
            for tensor, policy in zip(inputs, self._policies)
        ]
        return self.generate_enqueue_ops([list(own) for own in zip(*parts)], tpu_ordinal_function, placement_function)
