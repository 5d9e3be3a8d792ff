"""Streams in random order, drawn as TensorFlow draws: the same seeds give the same order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from everflow.data.elements import Element, stack
from everflow.data.source_ops import chosen_seeds, random_words
from everflow.data.streams import INFINITE, Cursor, PerIterator, Reading, Stream, UnaryStream, dataset_op, signature
from everflow.errors import invalid_argument
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op

# More rounds than this are not put into the buffer, however large it may be.
MOST_ROUNDS = 3


class SeedGenerator:
    """Gives each iterator over a shuffled stream seeds of its own, in a fixed sequence."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._first = chosen_seeds(seed, seed2)
        self._words = random_words(*self._first)
        self._lock = threading.Lock()
        self.drawn = 0

    def seeds(self) -> tuple[int, int]:
        """The seeds of the next iterator."""
        with self._lock:
            self.drawn += 2
            return self._words.uint32(), self._words.uint32()

    __call__ = seeds

    def go_to(self, drawn: int) -> None:
        """Goes on after so many numbers."""
        with self._lock:
            self.drawn, self._words = drawn, random_words(*self._first)
            self._words.several(drawn)


class ShuffleStream(UnaryStream):
    """Elements drawn from a buffer that is refilled in order; `rounds` times over, without end for a negative number."""

    def __init__(
        self,
        source: Stream,
        types: Any,
        dims: Any,
        size: int,
        seeds: Callable[[], tuple[int, int]],
        rounds: int = 1,
        first_seeds: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(source, types, dims)
        self.size, self.seeds, self.rounds = size, seeds, rounds
        # The seeds from which each iterator's own follow, where it has some.
        self.first_seeds = first_seeds

    def repeated(self, times: int) -> ShuffleStream | None:
        """The stream that TensorFlow makes of shuffle and repeat together: one generator draws for all rounds."""
        if self.first_seeds is None or self.rounds != 1 or times in (0, 1):
            return None
        fixed = chosen_seeds(*self.first_seeds)
        return ShuffleStream(self.source, self.types, self.dims, self.size, lambda: fixed, times)

    def open(self, reading: Reading) -> Cursor:
        return _ShuffleCursor(self, reading)

    def count(self) -> int:
        n = self.source.count()
        if self.rounds < 0:
            return INFINITE if n > 0 else n
        return n if n < 0 else n * self.rounds


class _ShuffleCursor(Cursor):
    """The buffer is a ring. Rounds stand one after the other in it; only elements of the first round are drawn, so that none
    of the next comes too early. Where the source can be read in any order, the buffer holds positions instead of elements."""

    def __init__(self, stream: ShuffleStream, reading: Reading) -> None:
        super().__init__(stream)
        self.shuffle: ShuffleStream = stream
        self.reading = reading
        self.table = stream.source.table()
        self.seeds: tuple[int, int] | None = None
        self.drawn = 0
        # Random numbers that are ready, the next one last.
        self.draws: list[int] = []
        self.buffer: list[Any] = []
        # For each round that is in the buffer: where it starts and ends, counted from the beginning.
        self.parts: list[list[int]] = [[0, 0]]
        self.filled = 0
        self.round = 0
        self.is_over = False
        self.source: Cursor | None = None
        self.position = 0

    def _start(self) -> None:
        self.seeds = self.shuffle.seeds()
        self.words = random_words(*self.seeds)

    def _pull(self) -> Any:
        """The next item of this round, or None."""
        if self.table is not None:
            position = self.position
            if position == self.table.size:
                return None
            self.position = position + 1
            return position
        if self.source is None:
            self.source = self.shuffle.source.open(self.reading)
        return self.source.next()

    def _refill(self) -> None:
        size = self.shuffle.size
        parts = self.parts
        while not self.is_over and self.filled < size and (len(parts) <= MOST_ROUNDS or not self.filled):
            if self.table is not None and (count := min(size - self.filled, self.table.size - self.position)) > 0:
                for position in range(self.position, self.position + count):
                    self._put(position)
                self.position += count
                continue
            item = self._pull()
            if item is None:
                self.source, self.position = None, 0
                is_first = parts[-1][1] == 0
                self.round += 1
                rounds = self.shuffle.rounds
                # A source without elements is not asked again and again.
                self.is_over = 0 <= rounds <= self.round or (is_first and rounds < 0)
                end = parts[-1][1]
                if not self.is_over:
                    parts.append([end, end])
                continue
            self._put(item)

    def _put(self, item: Any) -> None:
        last = self.parts[-1]
        place = last[1] % self.shuffle.size
        if place == len(self.buffer):
            self.buffer.append(item)
        else:
            self.buffer[place] = item
        last[1] += 1
        self.filled += 1

    def _items(self, n: int) -> list[Any]:
        """The next n items in random order, or those that are left."""
        if self.seeds is None:
            self._start()
        parts, buffer, size, draws = self.parts, self.buffer, self.shuffle.size, self.draws
        items: list[Any] = []
        while len(items) < n:
            if not self.is_over and self.filled < size:
                self._refill()
            if not self.filled:
                break
            if not draws:
                draws.extend(self.words.several(1024)[::-1])
            if self.table is not None and self.filled == size and len(parts) == 1 and self.position < self.table.size:
                self._one_for_one(items, min(n - len(items), len(draws), self.table.size - self.position))
                continue
            first = parts[0]
            while first[0] == first[1]:
                del parts[0]
                first = parts[0]
            start = first[0]
            chosen = (start + draws.pop() % (first[1] - start)) % size
            self.drawn += 1
            place = start % size
            items.append(buffer[chosen])
            buffer[chosen] = buffer[place]
            buffer[place] = None
            first[0] = start + 1
            self.filled -= 1
        return items

    def _one_for_one(self, items: list[Any], count: int) -> None:
        """The usual case, for speed: the buffer is full, and each item that leaves it makes room for the next position."""
        first, buffer, size = self.parts[0], self.buffer, self.shuffle.size
        start, position = first[0], self.position
        draws = self.draws[: -count - 1 : -1]
        del self.draws[-count:]
        for draw in draws:
            place = start % size
            chosen = (start + draw % size) % size
            items.append(buffer[chosen])
            buffer[chosen] = buffer[place]
            buffer[place] = position
            position += 1
            start += 1
        first[0], self.position, self.drawn = start, position, self.drawn + count
        first[1] += count

    def next(self) -> Element | None:
        items = self._items(1)
        if not items:
            return None
        return items[0] if self.table is None else self.table.get(items[0])

    def rows(self, n: int) -> Element | None:
        items = self._items(n)
        if not items:
            return None
        return stack(items, self.shuffle.types) if self.table is None else self.table.gather(items)

    def save(self) -> Any:
        return {
            "seeds": None if self.seeds is None else list(self.seeds),
            "drawn": self.drawn,
            "buffer": list(self.buffer),
            "parts": [list(p) for p in self.parts],
            "filled": self.filled,
            "round": self.round,
            "is_over": self.is_over,
            "position": self.position,
            "source": None if self.source is None else self.source.save(),
        }

    def restore(self, state: Any) -> None:
        if state["seeds"] is not None:
            self.seeds = tuple(state["seeds"])
            self.words = random_words(*self.seeds)
            self.words.several(state["drawn"])
            self.draws = []
        self.drawn, self.buffer = state["drawn"], list(state["buffer"])
        self.parts = [list(p) for p in state["parts"]]
        self.filled, self.round, self.is_over, self.position = state["filled"], state["round"], state["is_over"], state["position"]
        self.source = None
        if state["source"] is not None:
            self.source = self.shuffle.source.open(self.reading)
            self.source.restore(state["source"])


def _buffer_size(value: Any) -> int:
    size = int(value)
    if size <= 0:
        raise invalid_argument("buffer_size must be greater than zero.")
    return size


@dataset_op("ShuffleDataset")
def _shuffle(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    reshuffles = node.attr("reshuffle_each_iteration")

    def make(source: Stream, size: Any, seed: Any, seed2: Any) -> Stream:
        chosen = int(seed), int(seed2)
        if reshuffles:
            seeds = PerIterator(lambda _: SeedGenerator(*chosen))
            return ShuffleStream(source, types, dims, _buffer_size(size), seeds, first_seeds=chosen)
        fixed = chosen_seeds(*chosen)
        return ShuffleStream(source, types, dims, _buffer_size(size), lambda: fixed)

    return make


@dataset_op("ShuffleDatasetV2")
def _shuffle_by_generator(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, size, generator: ShuffleStream(source, types, dims, _buffer_size(size), generator.seeds)


@dataset_op("ShuffleAndRepeatDataset")
def _shuffle_and_repeat(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, size: Any, seed: Any, seed2: Any, count: Any) -> Stream:
        fixed = chosen_seeds(int(seed), int(seed2))
        if int(count) == 0:
            raise invalid_argument("count must be greater than zero or equal to -1.")
        return ShuffleStream(source, types, dims, _buffer_size(size), lambda: fixed, int(count))

    return make


op(
    "AnonymousRandomSeedGenerator",
    kernel=lambda node: lambda seed, seed2: (SeedGenerator(int(seed), int(seed2)), None),
    shape=lambda o: [(), ()],
)
op("DeleteRandomSeedGenerator", kernel=lambda node: lambda handle, deleter: None, shape=lambda o: [])
