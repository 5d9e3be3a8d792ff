"""Staging areas: values put by one step and taken by a later one, so that a step need not wait for its input."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import colocate_with, name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.stacks import get_default_graph
from everflow.ops.core.registry import apply
from everflow.ops.queues.queue_functions import as_name_list, as_type_list


@internal("ops.data_flow_ops.BaseStagingArea")
class BaseStagingArea:
    """What both kinds have in common."""

    def __init__(
        self, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None, capacity: int = 0, memory_limit: int = 0
    ) -> None:
        self._name = shared_name if shared_name is not None else get_default_graph().unique_name(type(self).__name__)
        self._dtypes = as_type_list(dtypes)
        if shapes is not None:
            if len(shapes) != len(self._dtypes):
                raise ValueError("StagingArea shapes must be the same length as dtypes")
            self._shapes = [TensorShape(s) for s in shapes]
        else:
            self._shapes = [TensorShape(None) for _ in self._dtypes]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = as_name_list(names, self._dtypes)
        self._capacity = capacity
        self._memory_limit = memory_limit
        # All ops of the area stand beside this one.
        with name_scope(f"{self._name}_root"):
            self._coloc_op = tf.no_op()

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtypes(self) -> Any:
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        return self._shapes

    @property
    def names(self) -> Any:
        return self._names

    @property
    def capacity(self) -> int:
        """How many elements there may be; any number if it is 0."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """How many bytes there may be; any number if it is 0."""
        return self._memory_limit

    def _apply(self, op_type: str, *inputs: Any, label: str | None, **attrs: Any) -> Any:
        with colocate_with(self._coloc_op):
            return apply(
                op_type,
                *inputs,
                dtypes=attrs.pop("dtypes", self._dtypes),
                shared_name=self._name,
                capacity=self._capacity,
                memory_limit=self._memory_limit,
                name=label,
                **attrs,
            )

    def _components(self, values: Any, indices: Any = None) -> tuple[list[Any], list[int]]:
        """What is put, as tensors, and which components they are."""
        if isinstance(values, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(values).issubset(self._names):
                raise ValueError(
                    f"Keys in dictionary to put do not match names of staging area. Dictionary: ({sorted(values)}), Queue: "
                    f"({sorted(self._names)})"
                )
            chosen = [(values[n], i) for i, n in enumerate(self._names) if n in values]
            values, indices = [v for v, _ in chosen], [i for _, i in chosen]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            if indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            if len(indices) != len(values):
                raise ValueError(f"Number of indices {indices} doesn't match number of values {values}")
            if not isinstance(values, (list, tuple)):
                values, indices = [values], [0]
        if len(values) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs {len(values)} vs {len(self._dtypes)}")
        tensors = []
        for value, i in zip(values, indices):
            dtype, shape = self._dtypes[i], self._shapes[i]
            if value.dtype != dtype:
                raise ValueError(f"Datatypes do not match. Received val.dtype {value.dtype} and dtype {dtype}")
            value.get_shape().assert_is_compatible_with(shape)
            tensors.append(convert_to_tensor(value, dtype, name=f"component_{i}"))
        return tensors, list(indices)

    def _here(self, tensors: list[Any]) -> list[Any]:
        """Values of another device are brought to that of the code that takes them."""
        if tf.no_op().device != self._coloc_op.device:
            return [tf.identity(t) for t in tensors]
        return tensors

    def _taken(self, tensors: list[Any], indices: list[int]) -> Any:
        tensors = self._here(tensors)
        for tensor, i in zip(tensors, indices):
            tensor.set_shape(self._shapes[i])
        return {self._names[i]: t for t, i in zip(tensors, indices)} if self._names else tensors


@public("contrib.staging.StagingArea")
@internal("ops.data_flow_ops.StagingArea")
class StagingArea(BaseStagingArea):
    """Elements leave in the order in which they came. Without a capacity, `put` never waits."""

    def put(self, values: Any, name: str | None = None) -> Any:
        """An op that adds an element."""
        with name_scope(name, f"{self._name}_put", values if isinstance(values, (list, tuple)) else None) as scope:
            if not isinstance(values, (list, tuple, dict)):
                values = [values]
            tensors, _ = self._components(values, list(range(len(values))))
            if len(tensors) != len(self._dtypes):
                raise ValueError(f"Unexpected number of inputs {len(tensors)} vs {len(self._dtypes)}")
            return self._apply("Stage", tensors, label=scope)

    def get(self, name: str | None = None) -> Any:
        """The element that has been there longest; waits where there is none."""
        found = self._apply("Unstage", label=name or f"{self._name}_get")
        return self._taken(found, list(range(len(found))))

    def peek(self, index: Any, name: str | None = None) -> Any:
        """The element at a place, which stays; waits until there is one."""
        found = self._apply("StagePeek", index, label=name or f"{self._name}_peek")
        return self._taken(found, list(range(len(found))))

    def size(self, name: str | None = None) -> Any:
        """How many elements there are."""
        return self._apply("StageSize", label=name or f"{self._name}_size")

    def clear(self, name: str | None = None) -> Any:
        """An op that removes all elements."""
        return self._apply("StageClear", label=name or f"{self._name}_clear")


@internal("ops.data_flow_ops.MapStagingArea")
class MapStagingArea(BaseStagingArea):
    """Elements by key. They can be put and taken component by component."""

    def __init__(
        self,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._kind = "OrderedMap" if ordered else "Map"

    def put(self, key: Any, vals: Any, indices: Any = None, name: str | None = None) -> Any:
        """An op that adds an element, or some of its components."""
        with name_scope(name, f"{self._name}_put") as scope:
            tensors, found = self._components(vals, indices)
            return self._apply(f"{self._kind}Stage", key, found, tensors, label=scope)

    def _chosen(self, indices: Any) -> list[int]:
        """The components that are asked for, by place or by name."""
        if indices is None:
            return list(range(len(self._dtypes)))
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"Invalid indices type {type(indices)}")
        if not indices:
            raise ValueError("Empty indices")
        kinds = {str if isinstance(i, str) else int if isinstance(i, int) else None for i in indices}
        if kinds == {int}:
            return list(indices)
        if kinds == {str}:
            if self._names is None:
                raise ValueError(f"String indices provided {indices}, but this Staging Area was not created with names.")
            try:
                return [self._names.index(n) for n in indices]
            except ValueError:
                raise ValueError(f"Named index not in Staging Area names {self._names}") from None
        raise TypeError(f"Mixed types in indices {indices}. May only be str or int")

    def _get(self, op_type: str, key: Any, indices: Any, name: str) -> Any:
        chosen = self._chosen(indices)
        found = self._apply(op_type, key, chosen, dtypes=[self._dtypes[i] for i in chosen], label=name)
        return self._taken(found, chosen)

    def get(self, key: Any = None, indices: Any = None, name: str | None = None) -> Any:
        """The key and the element of a key, or of any key; waits until there is one."""
        if key is not None:
            return key, self._get(f"{self._kind}Unstage", key, indices, name or f"{self._name}_get")
        chosen = self._chosen(indices)
        key, found = self._apply(
            f"{self._kind}UnstageNoKey", chosen, dtypes=[self._dtypes[i] for i in chosen], label=name or f"{self._name}_get_nokey"
        )
        return self._here([key])[0], self._taken(found, chosen)

    def peek(self, key: Any, indices: Any = None, name: str | None = None) -> Any:
        """The element of a key, which stays; waits until there is one."""
        return self._get(f"{self._kind}Peek", key, indices, name or f"{self._name}_pop")

    def size(self, name: str | None = None) -> Any:
        """How many complete elements there are."""
        return self._apply(f"{self._kind}Size", label=name or f"{self._name}_size")

    def incomplete_size(self, name: str | None = None) -> Any:
        """How many elements lack components."""
        return self._apply(f"{self._kind}IncompleteSize", label=name or f"{self._name}_incomplete_size")

    def clear(self, name: str | None = None) -> Any:
        """An op that removes all elements."""
        return self._apply(f"{self._kind}Clear", label=name or f"{self._name}_clear")
