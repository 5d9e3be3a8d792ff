"""Gradients packed together, so that few large tensors are reduced instead of many small ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.graph.scopes import device


class Packing:
    """Leaves tensors as they are."""

    def pack(self, tensors: Sequence[Any], where: str) -> list[Any]:
        """What is reduced in their place."""
        return list(tensors)

    def unpack(self, packed: Sequence[Any], where: str) -> list[Any]:
        """The tensors of what was reduced."""
        return list(packed)


def _joined(tensors: Sequence[Any]) -> Any:
    return tf.concat([tf.reshape(t, [-1]) for t in tensors], 0)


def _taken_apart(vector: Any, shapes: Sequence[Any], sizes: Sequence[Any]) -> list[Any]:
    parts = tf.split(vector, tf.stack(sizes), num=len(sizes)) if len(sizes) > 1 else [vector]
    return [tf.reshape(part, shape) for part, shape in zip(parts, shapes)]


class PackedGradients(Packing):
    """All tensors as one vector, which is cut into a number of packs."""

    def __init__(self, num_packs: int) -> None:
        self._num_packs = num_packs

    def pack(self, tensors: Sequence[Any], where: str) -> list[Any]:
        """The packs, all but the last of one size."""
        with device(where):
            self._shapes, self._sizes = [tf.shape(t) for t in tensors], [tf.size(t) for t in tensors]
            self._dtypes = [t.dtype for t in tensors]
            whole = _joined([tf.cast(t, self._dtypes[0]) for t in tensors])
            each = tf.size(whole) // self._num_packs
            sizes = [each] * (self._num_packs - 1)
            return tf.split(whole, tf.stack([*sizes, tf.size(whole) - each * (self._num_packs - 1)]), num=self._num_packs)

    def unpack(self, packed: Sequence[Any], where: str) -> list[Any]:
        """The tensors again."""
        with device(where):
            parts = _taken_apart(tf.concat(list(packed), 0), self._shapes, self._sizes)
            return [tf.cast(part, dtype) for part, dtype in zip(parts, self._dtypes)]


class SmallTensors(Packing):
    """Neighbours that are small, in groups; large tensors alone."""

    def __init__(self, max_bytes: int, max_group: int) -> None:
        self._max_bytes, self._max_group = max_bytes, max_group

    def pack(self, tensors: Sequence[Any], where: str) -> list[Any]:
        """Groups, then what was too large for them."""
        self._groups: list[list[int]] = []
        alone: list[list[int]] = []
        group: list[int] = []
        for i, tensor in enumerate(tensors):
            elements = tensor.shape.num_elements()
            if elements is None or elements * tensor.dtype.size > self._max_bytes or group and tensor.dtype != tensors[group[0]].dtype:
                alone.append([i])
                continue
            group.append(i)
            if len(group) == self._max_group:
                self._groups.append(group)
                group = []
        self._groups += ([group] if group else []) + alone
        self._shapes = [t.shape for t in tensors]
        with device(where):
            return [_joined([tensors[i] for i in group]) if len(group) > 1 else tensors[group[0]] for group in self._groups]

    def unpack(self, packed: Sequence[Any], where: str) -> list[Any]:
        """The tensors again."""
        found: dict[int, Any] = {}
        with device(where):
            for vector, group in zip(packed, self._groups):
                if len(group) == 1:
                    found[group[0]] = vector
                    continue
                shapes = [self._shapes[i] for i in group]
                found.update(zip(group, _taken_apart(vector, shapes, [shape.num_elements() for shape in shapes])))
        return [found[i] for i in range(len(found))]
