"""Axes: names, sizes and labels of a tensor's dimensions, and the order in which axes of several tensors stand."""

from __future__ import annotations

import collections
import contextlib
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public

HOME = "contrib.labeled_tensor."
BELOW = "contrib.labeled_tensor.python.ops."


@internal(BELOW + "_typecheck.Error")
class TypeCheckError(TypeError):
    """An argument is of no type that is allowed."""


@public(HOME + "AxisOrderError")
class AxisOrderError(ValueError):
    """Axes can't be brought into one order."""


@public(HOME + "Axis")
class Axis:
    """A dimension with a name: of some size, or with a label for each place."""

    __slots__ = ("_labels", "_name", "_value")

    def __init__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeCheckError(f"The name of an axis must be a string, not {name!r}.")
        self._name = name
        self._labels: dict[Hashable, int] | None = None
        if isinstance(value, (np.ndarray, list, tuple, range)):
            labels = tuple(value.tolist() if isinstance(value, np.ndarray) else value)
            self._labels = {}
            for place, label in enumerate(labels):
                if self._labels.setdefault(label, place) != place:
                    raise ValueError(f"Tick labels must be unique, but found duplicates: {labels}")
            self._value: Any = labels
        else:
            self._value = value if isinstance(value, tf.Dimension) else tf.Dimension(value)

    @property
    def name(self) -> str:
        """What the axis is called."""
        return self._name

    @property
    def value(self) -> Any:
        """Its labels, a tuple, or its size, a tf.Dimension."""
        return self._value

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """Its labels; None where it has none."""
        return None if self._labels is None else self._value

    @property
    def size(self) -> int | None:
        """How long it is; None where that is unknown."""
        return self._value.value if self._labels is None else len(self._value)

    @property
    def dimension(self) -> Any:
        """How long it is, as a tf.Dimension."""
        return self._value if self._labels is None else tf.Dimension(len(self._value))

    def index(self, value: Any) -> int:
        """The place of a label."""
        if self._labels is None:
            raise ValueError("Axis does not have tick labels")
        return self._labels[value]

    def __repr__(self) -> str:
        shown = repr(list(self._value)) if self._labels is not None and len(self._value) <= 10 else repr(self._value)
        if self._labels is not None and len(self._value) > 10:
            shown = f"[{', '.join(map(repr, self._value[:3]))}, ...]"
        return f"Axis({self._name!r}, {shown})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Axis) or self.name != other.name or self.size != other.size:
            return False
        return self.labels == other.labels

    def __hash__(self) -> int:
        return hash((self.name, self.size, self.labels))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __len__(self) -> int:
        size = self.size
        if size is None:
            raise ValueError(f"axis {self.name!r} has unknown length")
        return size


@public(HOME + "as_axis")
def as_axis(axis_data: Any) -> Axis:
    """An axis from one, or from a pair of name and value."""
    return axis_data if isinstance(axis_data, Axis) else Axis(*axis_data)


@public(HOME + "Axes")
class Axes(Mapping[str, Axis]):
    """The axes of a tensor, by name and in order."""

    __slots__ = ("_axes",)

    def __init__(self, axes: Iterable[Any]) -> None:
        if not isinstance(axes, Iterable) or isinstance(axes, str):
            raise TypeCheckError(
                f"{axes!r} is not of allowed type List(Union(labeled_tensor.Axis, Tuple(str, Union(Union(numpy.ndarray, range, list, "
                "tuple), Optional(Union(tensorflow.Dimension, int))))))"
            )
        found = [as_axis(axis) for axis in (axes.values() if isinstance(axes, Axes) else axes)]
        self._axes = collections.OrderedDict((axis.name, axis) for axis in found)
        if len(self._axes) != len(found):
            repeated = [name for name, count in collections.Counter(axis.name for axis in found).items() if count > 1]
            raise ValueError(f"Duplicate axis names: {repeated}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    def __len__(self) -> int:
        return len(self._axes)

    def __getitem__(self, name: str) -> Axis:
        return self._axes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._axes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axes) and list(self.values()) == list(other.values())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(tuple(self._axes.values()))

    def __repr__(self) -> str:
        return f"Axes([{', '.join(shown(axis) for axis in self.values())}])"

    def remove(self, axis_name: str) -> Axes:
        """The axes without one."""
        if axis_name not in self:
            raise KeyError(axis_name)
        return Axes([axis for axis in self.values() if axis.name != axis_name])


def shown(axis: Axis) -> str:
    """An axis as a pair of name and value."""
    return f"({axis.name!r}, {repr(axis)[len(f'Axis({axis.name!r}, ') : -1]})"


@internal(BELOW + "core.concat_axes")
def concat_axes(axes: list[Axis]) -> Axis:
    """One axis after the other: with labels where all have some."""
    if not axes:
        raise ValueError("axes must not be empty")
    for axis in axes:
        if not isinstance(axis, Axis):
            raise TypeCheckError(f"{axis!r} is not of allowed type labeled_tensor.Axis")
    names = {axis.name for axis in axes}
    if len(names) > 1:
        raise ValueError(f"axes do not all have the same name: {names!r}")
    if all(axis.labels is not None for axis in axes):
        return Axis(axes[0].name, [label for axis in axes for label in axis.labels or ()])
    sizes = [axis.size for axis in axes]
    return Axis(axes[0].name, None if None in sizes else sum(size or 0 for size in sizes))


class _Orders(threading.local):
    order: list[str] | None = None


_orders = _Orders()


@internal(BELOW + "core.get_axis_order")
def get_axis_order() -> list[str] | None:
    """The order of axes in force; None where there is none."""
    return _orders.order


@public(HOME + "axis_order_scope")
@contextlib.contextmanager
def axis_order_scope(axis_order: list[str] | None = None) -> Iterator[None]:
    """Within the block, results have their axes in this order."""
    before, _orders.order = _orders.order, axis_order
    try:
        yield
    finally:
        _orders.order = before


def order_in_force(axis_order: list[str] | None) -> list[str]:
    """The order given, or the one in force; AxisOrderError where there is neither."""
    found = axis_order if axis_order is not None else get_axis_order()
    if found is None:
        raise AxisOrderError("an explicit axis order must be provided with the axis_order argument or by using an axis_order_scope")
    return found


@internal(BELOW + "core._find_consistent_ordering")
def consistent_order(a: list[str], b: list[str]) -> list[str] | None:
    """Names of both lists in an order that agrees with both, those of the first in front where either goes; None if there is none."""
    first, second = list(a), list(b)
    merged: list[str] = []
    while first and second:
        if first[0] == second[0]:
            merged.append(first.pop(0))
            second.pop(0)
        elif first[0] not in second:
            merged.append(first.pop(0))
        elif second[0] not in first:
            merged.append(second.pop(0))
        else:
            return None
    return merged + first + second
