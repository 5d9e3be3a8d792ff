"""Staging areas at run time: values that one step puts and a later one takes, in order or by key."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument, resource_exhausted
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import scalar
from everflow.values.resources import copied
from everflow.values.waiting import Waited

Kernel = Callable[..., Any]
_CANCELLED = "Operation was cancelled"


def _bytes_of(values: Any) -> int:
    return sum(v.nbytes for v in values if v is not None)


class Stage(Waited):
    """Tuples of values in the order in which they came."""

    def __init__(self, context: Any, capacity: int, memory_limit: int) -> None:
        super().__init__(context)
        self.capacity, self.memory_limit = capacity, memory_limit
        self.bytes = 0
        self.tuples: Any = deque()

    def _make_room(self, size: int) -> None:
        """Waits until a tuple of so many bytes may come in."""
        if self.memory_limit and size > self.memory_limit:
            raise resource_exhausted(
                f"Attempted to insert tensors with combined size of '{size}' bytes into Staging Area with a memory "
                f"limit of '{self.memory_limit}'."
            )
        self.wait(
            lambda: (
                not (self.capacity and self.size() >= self.capacity) and not (self.memory_limit and self.bytes + size > self.memory_limit)
            ),
            _CANCELLED,
        )
        self.bytes += size

    def size(self) -> int:
        return len(self.tuples)

    def put(self, values: Any) -> None:
        kept = tuple([copied(v) for v in values])
        with self.condition:
            self._make_room(_bytes_of(kept))
            self.tuples.append(kept)
            self.condition.notify_all()

    def get(self) -> Any:
        with self.condition:
            self.wait(lambda: bool(self.tuples), _CANCELLED)
            found = self.tuples.popleft()
            self.bytes -= _bytes_of(found)
            self.condition.notify_all()
            return found

    def peek(self, index: int) -> Any:
        with self.condition:
            self.wait(lambda: len(self.tuples) > index, _CANCELLED)
            return self.tuples[index]

    def clear(self) -> None:
        with self.condition:
            self.tuples.clear()
            self.bytes = 0
            self.condition.notify_all()


class KeyedStage(Stage):
    """Tuples by key. A tuple may be put, and taken, in parts; it counts when it is complete."""

    def __init__(self, context: Any, capacity: int, memory_limit: int, is_ordered: bool) -> None:
        super().__init__(context, capacity, memory_limit)
        self.is_ordered = is_ordered
        self.tuples: dict[int, list[Any]] = {}
        self.incomplete: dict[int, list[Any]] = {}

    def put_parts(self, key: int, indices: list[int], values: Any, width: int) -> None:
        """Adds components of a tuple that is complete when it has `width` of them."""
        self._check(indices, width)
        if len(indices) != len(values):
            raise invalid_argument(f"indices.shape({len(indices)}) != values.shape({len(values)})")
        kept = [copied(v) for v in values]
        with self.condition:
            parts = self.incomplete.get(key, [None] * width)
            for index in indices:
                if parts[index] is not None:
                    raise invalid_argument(f"The tensor for index '{index}' for key '{key}' was already initialized '{width}'.")
            size = _bytes_of(kept)
            is_last = sum(p is not None for p in parts) + len(indices) == width
            if is_last:
                self._make_room(size)
            else:
                self.bytes += size
            parts = self.incomplete.setdefault(key, parts)
            for index, value in zip(indices, kept):
                parts[index] = value
            if is_last:
                self.tuples[key] = self.incomplete.pop(key)
                self.condition.notify_all()

    @staticmethod
    def _check(indices: list[int], width: int) -> None:
        if not indices:
            raise invalid_argument("Empty indices")
        if any(a >= b for a, b in zip(indices, indices[1:])):
            raise invalid_argument("Indices are not strictly ordered")
        for index in indices:
            if not 0 <= index < width:
                raise invalid_argument(f"Index '{index}' for key was out of bounds '{width}'.")

    def _parts(self, key: int, indices: list[int], removes: bool) -> list[Any]:
        parts = self.tuples[key]
        self._check(indices, len(parts))
        for index in indices:
            if parts[index] is None:
                raise invalid_argument(f"Tensor at index '{index}' for key '{key}' has already been removed.")
        found = [parts[index] for index in indices]
        if removes:
            for index in indices:
                parts[index] = None
            self.bytes -= _bytes_of(found)
            if all(p is None for p in parts):
                del self.tuples[key]
            self.condition.notify_all()
        return found

    def get_parts(self, key: int, indices: list[int], removes: bool) -> list[Any]:
        with self.condition:
            self.wait(lambda: key in self.tuples, _CANCELLED)
            return self._parts(key, indices, removes)

    def get_any(self, indices: list[int]) -> tuple[int, list[Any]]:
        with self.condition:
            self.wait(lambda: bool(self.tuples), _CANCELLED)
            key = min(self.tuples) if self.is_ordered else next(iter(self.tuples))
            return key, self._parts(key, indices, True)

    def clear(self) -> None:
        with self.condition:
            self.incomplete.clear()
            super().clear()


def _stage(node: Node) -> Callable[[], Any]:
    key = node.attr("container"), "stage", node.attr("shared_name") or node.name
    limits = node.attr("capacity"), node.attr("memory_limit")
    return lambda: node.context.resources.get(*key, lambda: Stage(node.context, *limits))


def _keyed_stage(node: Node) -> Callable[[], Any]:
    is_ordered = node.type.startswith("Ordered")
    key = node.attr("container"), "ordered map stage" if is_ordered else "map stage", node.attr("shared_name") or node.name
    limits = node.attr("capacity"), node.attr("memory_limit")
    return lambda: node.context.resources.get(*key, lambda: KeyedStage(node.context, *limits, is_ordered))


def _results(values: Any) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _with(area: Callable[[Any], Callable[[], Any]], act: Callable[..., Any]) -> Callable[[Any], Kernel]:
    """A kernel that does something with its staging area."""

    def factory(node: Node) -> Kernel:
        found = area(node)
        return lambda *inputs: act(found(), *inputs)

    return factory


def _unknown(o: Operation) -> Any:
    return [None] * (len(o.attr("dtypes")) + ("NoKey" in o.type))


def _number(value: int) -> Any:
    return torch.tensor(value, dtype=torch.int32)


op("Stage", kernel=_with(_stage, lambda area, *values: area.put(values)), shape=lambda o: [], brings=True)
op("Unstage", kernel=_with(_stage, lambda area: _results(area.get())), shape=_unknown, waits=True)
op("StagePeek", kernel=_with(_stage, lambda area, index: _results(area.peek(int(index)))), shape=_unknown, waits=True)
op("StageSize", kernel=_with(_stage, lambda area: _number(area.size())), shape=scalar)
op("StageClear", kernel=_with(_stage, lambda area: area.clear()), shape=lambda o: [])


def _key(key: Any) -> int:
    if key.ndim:
        raise invalid_argument("key must be an int64 scalar")
    return int(key)


def _put_parts(node: Node) -> Kernel:
    area, width = _keyed_stage(node), len(node.attr("dtypes"))
    return lambda key, indices, *values: area().put_parts(_key(key), indices.tolist(), values, width)


def _take(area: KeyedStage, key: Any, indices: Any) -> Any:
    return _results(area.get_parts(_key(key), indices.tolist(), True))


def _look(area: KeyedStage, key: Any, indices: Any) -> Any:
    return _results(area.get_parts(_key(key), indices.tolist(), False))


def _take_any(area: KeyedStage, indices: Any) -> Any:
    key, found = area.get_any(indices.tolist())
    return torch.tensor(key), *found


for _prefix in ("", "Ordered"):
    op(_prefix + "MapStage", kernel=_put_parts, shape=lambda o: [], brings=True)
    op(_prefix + "MapUnstage", kernel=_with(_keyed_stage, _take), shape=_unknown, waits=True)
    op(_prefix + "MapPeek", kernel=_with(_keyed_stage, _look), shape=_unknown, waits=True)
    op(_prefix + "MapUnstageNoKey", kernel=_with(_keyed_stage, _take_any), shape=_unknown, waits=True)
    op(_prefix + "MapSize", kernel=_with(_keyed_stage, lambda area: _number(area.size())), shape=scalar)
    op(_prefix + "MapIncompleteSize", kernel=_with(_keyed_stage, lambda area: _number(len(area.incomplete))), shape=scalar)
    op(_prefix + "MapClear", kernel=_with(_keyed_stage, lambda area: area.clear()), shape=lambda o: [])
