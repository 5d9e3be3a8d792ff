"""Queues as they are at run time. An element is a tuple of run-time values, one for each component."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from typing import Any

import numpy as np

from everflow._native import fill_bits
from everflow.errors import OpError, cancelled, invalid_argument, out_of_range
from everflow.graph import dtypes, shapes
from everflow.lazy import torch
from everflow.values.philox import Philox
from everflow.values.tensors import is_numeric, torch_dtype
from everflow.values.texts import text_array
from everflow.values.waiting import Waited

Element = tuple[Any, ...]


class _Attempt:
    """What a thread waits for. It has a condition of its own, so that the thread sleeps until all of it is done."""

    def __init__(self, lock: Any) -> None:
        self.done = False
        self.error: OpError | None = None
        self.woken = threading.Condition(lock)

    def finish(self, error: OpError | None = None) -> None:
        self.done, self.error = True, error or self.error
        self.woken.notify()


class _Enqueue(_Attempt):
    """Elements on their way in."""

    def __init__(self, lock: Any, elements: list[Element]) -> None:
        super().__init__(lock)
        self.waiting = deque(elements)


class Pending:
    """Elements that wait for room while their step goes on. Where the step fails, they stay out."""

    def __init__(self, queue: Queue, attempt: _Enqueue) -> None:
        self._queue, self._attempt = queue, attempt

    def finish(self) -> None:
        """Waits until all are in."""
        queue, attempt = self._queue, self._attempt
        with queue.condition:
            try:
                queue.wait(lambda: attempt.done, "Enqueue operation was cancelled", attempt.woken)
            except BaseException:
                queue.withdraw(attempt)
                raise
            if attempt.error is not None:
                raise attempt.error

    def __del__(self) -> None:
        with self._queue.condition:
            if not self._attempt.done:
                self._queue.withdraw(self._attempt)


class _Dequeue(_Attempt):
    """Elements on their way out: some may be taken while others are still missing."""

    def __init__(self, lock: Any, count: int, is_up_to: bool) -> None:
        super().__init__(lock)
        self.count = count
        self.is_up_to = is_up_to
        self.taken: list[Element] = []

    @property
    def missing(self) -> int:
        return self.count - len(self.taken)


class Queue(Waited):
    """First in, first out. Those who wait are served in the order in which they came."""

    kind = "FIFOQueue"

    def __init__(self, context: Any, name: str, types: list[dtypes.DType], dims: list[Any], capacity: int) -> None:
        super().__init__(context)
        self.name = name
        self.types = types
        self.dims = dims
        self.capacity = capacity if capacity >= 0 else 2**31 - 1
        self.closed = False
        self.enqueues: deque[_Enqueue] = deque()
        self.dequeues: deque[_Dequeue] = deque()
        self._clear()

    # -- where elements are kept

    def _clear(self) -> None:
        self.elements: Any = deque()

    def _add(self, element: Element) -> None:
        self.elements.append(element)

    def _take(self) -> Element:
        return self.elements.popleft()

    def _put_back(self, elements: list[Element]) -> None:
        self.elements.extendleft(reversed(elements))

    def _ready(self, missing: int) -> int:
        """How many elements may be taken, where so many are asked for."""
        return min(len(self.elements), missing)

    # -- what ops do

    def read(self) -> Any:
        """What a fetch of a queue that is a reference shows."""
        return text_array([b"localhost", self.name.encode()], (2,))

    def size(self) -> int:
        return len(self.elements)

    def enqueue(self, elements: list[Element]) -> None:
        """Adds elements one after the other, waiting for room."""
        pending = self.begin_enqueue(elements)
        if pending is not None:
            pending.finish()

    def begin_enqueue(self, elements: list[Element]) -> Pending | None:
        """Adds elements as far as there is room; what is left comes in as others leave. `finish` of what this returns waits for it."""
        with self.condition:
            if self.closed:
                raise cancelled(f"{self.kind} '{self.name}' is closed.")
            if not self.enqueues and len(self.elements) + len(elements) <= self.capacity:
                for element in elements:
                    self._add(element)
                if self.dequeues:
                    self._advance()
                return None
            attempt = _Enqueue(self.lock, elements)
            self.enqueues.append(attempt)
            self._advance()
            return Pending(self, attempt)

    def withdraw(self, attempt: _Enqueue) -> None:
        """Lets elements come in no more."""
        if attempt in self.enqueues:
            self.enqueues.remove(attempt)
            self._advance()

    def dequeue(self, count: int, is_up_to: bool = False) -> list[Element]:
        """Takes so many elements, waiting for those that are missing."""
        with self.condition:
            if not self.dequeues and self._ready(count) == count:
                found = [self._take() for _ in range(count)]
                if self.enqueues:
                    self._advance()
                return found
            attempt = _Dequeue(self.lock, count, is_up_to)
            self.dequeues.append(attempt)
            self._advance()
            try:
                self.wait(lambda: attempt.done, "Dequeue operation was cancelled", attempt.woken)
            except BaseException:
                self.dequeues.remove(attempt)
                self._put_back(attempt.taken)
                self._advance()
                raise
            if attempt.error is not None:
                raise attempt.error
            return attempt.taken

    def close(self, cancels_enqueues: bool) -> None:
        """Takes no more elements; those that wait to come in may still, unless they are cancelled."""
        with self.condition:
            self.closed = True
            if cancels_enqueues:
                for attempt in self.enqueues:
                    attempt.finish(cancelled("Enqueue operation was cancelled"))
                self.enqueues.clear()
            self._advance()

    def wake(self) -> None:
        with self.lock:
            super().wake()
            for attempt in (*self.enqueues, *self.dequeues):
                attempt.woken.notify()

    def _advance(self) -> None:
        while self._serve_enqueues() or self._serve_dequeues():
            pass

    def _serve_enqueues(self) -> bool:
        moved = False
        while self.enqueues:
            attempt = self.enqueues[0]
            while attempt.waiting and len(self.elements) < self.capacity:
                self._add(attempt.waiting.popleft())
                moved = True
            if attempt.waiting:
                break
            attempt.finish()
            self.enqueues.popleft()
            moved = True
        return moved

    def _serve_dequeues(self) -> bool:
        moved = False
        while self.dequeues:
            attempt = self.dequeues[0]
            size = len(self.elements)
            if self.closed and size < attempt.missing and not self._settle(attempt, size):
                break
            if attempt.error is None:
                for _ in range(self._ready(attempt.missing)):
                    attempt.taken.append(self._take())
                    moved = True
                if attempt.missing:
                    break
            attempt.finish()
            self.dequeues.popleft()
            moved = True
        return moved

    def _settle(self, attempt: _Dequeue, size: int) -> bool:
        """What becomes of a request that a closed queue can't fulfil: fewer elements, an error, or (False) waiting."""
        missing = attempt.missing
        self._put_back(attempt.taken)
        attempt.taken = []
        if attempt.is_up_to and self.elements:
            attempt.count = min(attempt.count, len(self.elements))
            return True
        if attempt.is_up_to and self.enqueues:
            return False
        attempt.error = out_of_range(
            f"{self.kind} '{self.name}' is closed and has insufficient elements (requested {missing}, current size {size})"
        )
        return True

    # -- elements from and to tensors

    def check(self, position: int, shape: Any, expected: Any) -> None:
        """Refuses a component of another shape."""
        if expected is not None and not shapes.is_compatible(tuple(shape), expected):
            raise invalid_argument(
                f"Shape mismatch in tuple component {position}. Expected {shapes.describe(expected)}, got {shapes.describe(tuple(shape))}"
            )

    def element_of(self, components: Any) -> list[Element]:
        """One element of components; copies, because the queue keeps them."""
        for i, (value, dims) in enumerate(zip(components, self.dims)):
            self.check(i, value.shape, dims)
        return [tuple([copy_of(value) for value in components])]

    def elements_of(self, components: Any) -> list[Element]:
        """An element for each row of the components."""
        count = components[0].shape[0]
        for i, (value, dims) in enumerate(zip(components, self.dims)):
            expected = (count, *([None] * (len(value.shape) - 1) if dims is None else dims))
            self.check(i, value.shape, expected)
        rows = []
        for value in components:
            kept = copy_of(value)
            rows.append(list(kept.unbind(0)) if hasattr(kept, "unbind") else [item_of(kept, k) for k in range(count)])
        return list(zip(*rows))

    def batch_of(self, elements: list[Element]) -> tuple[Any, ...]:
        """The components of several elements, stacked."""
        if not elements:
            return tuple(empty_batch(dims, dtype) for dims, dtype in zip(self.dims, self.types))
        return tuple(stacked(column, dtype) for column, dtype in zip(zip(*elements), self.types))

    @property
    def can_batch(self) -> bool:
        """Whether elements can be stacked: all their shapes are known."""
        return all(dims is not None for dims in self.dims)


def copy_of(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


def item_of(array: np.ndarray, k: int) -> np.ndarray:
    """A row of an array of strings; an array too where it is a single string."""
    row = array[k]
    if isinstance(row, np.ndarray):
        return row
    scalar = np.empty((), object)
    scalar[()] = row
    return scalar


def empty_batch(dims: Any, dtype: dtypes.DType) -> Any:
    shape = (0, *(d or 0 for d in dims))
    return torch.empty(shape, dtype=torch_dtype(dtype)) if is_numeric(dtype) else np.empty(shape, object)


def stacked(values: Any, dtype: dtypes.DType) -> Any:
    return torch.stack(values) if is_numeric(dtype) else np.stack(list(values))


class PaddingQueue(Queue):
    """First in, first out; elements that are stacked are padded to the largest."""

    kind = "PaddingFIFOQueue"

    def batch_of(self, elements: list[Element]) -> tuple[Any, ...]:
        if not elements:
            return super().batch_of(elements)
        found = []
        for column, dtype, dims in zip(zip(*elements), self.types, self.dims):
            if None not in dims:
                found.append(stacked(column, dtype))
                continue
            shape = (len(column), *(max(value.shape[k] for value in column) for k in range(len(dims))))
            if is_numeric(dtype):
                padded = torch.zeros(shape, dtype=column[0].dtype)
            else:
                padded = np.full(shape, b"", object)
            for i, value in enumerate(column):
                padded[(i, *(slice(size) for size in value.shape))] = value
            found.append(padded)
        return tuple(found)


class RandomQueue(Queue):
    """Elements leave in random order, and a number of them stays to choose from."""

    kind = "RandomShuffleQueue"

    def __init__(
        self, context: Any, name: str, types: list[dtypes.DType], dims: list[Any], capacity: int, stay: int, seed: int, seed2: int
    ) -> None:
        self.stay = stay
        self.seeds = seed, seed2
        self._words = _words(Philox(seed, seed2))
        super().__init__(context, name, types, dims, capacity)

    def _clear(self) -> None:
        self.elements = []

    def _take(self) -> Element:
        elements = self.elements
        chosen = next(self._words) % len(elements)
        element = elements[chosen]
        elements[chosen] = elements[-1]
        elements.pop()
        return element

    def _put_back(self, elements: list[Element]) -> None:
        self.elements.extend(elements)

    def _ready(self, missing: int) -> int:
        return max(min(len(self.elements) - (0 if self.closed else self.stay), missing), 0)


def _words(generator: Philox) -> Any:
    """The generator's numbers of 32 bits one by one."""
    block = np.empty(256, np.uint32)
    while True:
        fill_bits(block, *generator.reserve(block.size // 4), 1)
        yield from block.tolist()


class PrioritizedQueue(Queue):
    """The element with the smallest first component, an int64, leaves first."""

    kind = "PriorityQueue"

    def _clear(self) -> None:
        self.elements = []
        self._order = itertools.count()

    def _add(self, element: Element) -> None:
        heapq.heappush(self.elements, (element[0].item(), next(self._order), element))

    def _take(self) -> Element:
        return heapq.heappop(self.elements)[2]

    def _ready(self, missing: int) -> int:
        # What comes later may have to leave before what is here.
        return missing if len(self.elements) >= missing else 0

    def _put_back(self, elements: list[Element]) -> None:
        # Ahead of those that came later.
        for i, element in enumerate(elements):
            heapq.heappush(self.elements, (element[0].item(), i - (1 << 62), element))
