"""Streams in random order, drawn as TensorFlow draws: the same seeds give the same order."""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from everflow.data.elements import Element, stack
from everflow.data.source_ops import chosen_seeds, random_words
from everflow.data.streams import INFINITE, Cursor, Reading, Stream, UnaryStream, dataset_op, signature
from everflow.errors import invalid_argument
from everflow.ops.registry import op

# More rounds than this are not put into the buffer, however large it may be.
MOST_ROUNDS = 3


class SeedGenerator:
    """Gives each iterator over a shuffled stream seeds of its own, in a fixed sequence."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._words = random_words(*chosen_seeds(seed, seed2))
        self._lock = threading.Lock()
        self.drawn = 0

    def seeds(self) -> tuple[int, int]:
        """The seeds of the next iterator."""
        with self._lock:
            self.drawn += 2
            return self._words.uint32(), self._words.uint32()


class ShuffleStream(UnaryStream):
    """Elements drawn from a buffer that is refilled in order; `rounds` times over, without end for a negative number."""

    def __init__(self, source: Stream, types: Any, dims: Any, size: int, seeds: Callable[[], tuple[int, int]], rounds: int = 1,
                 first_seeds: tuple[int, int] | None = None) -> None:
        super().__init__(source, types, dims)
        self.size, self.seeds, self.rounds = size, seeds, rounds
        # The seeds from which each iterator's own follow, where it has some.
        self.first_seeds = first_seeds

    def repeated(self, times: int) -> ShuffleStream | None:
        """The stream that TensorFlow makes of shuffle and repeat together: one generator draws for all rounds."""
        if self.first_seeds is None or self.rounds != 1 or times == 0:
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
    """Rounds stand one after the other in the buffer; only elements of the first round are drawn, so that none
    of the next comes too early. Where the source can be read in any order, the buffer holds positions instead of elements."""

    def __init__(self, stream: ShuffleStream, reading: Reading) -> None:
        super().__init__(stream)
        self.shuffle: ShuffleStream = stream
        self.reading = reading
        self.table = stream.source.table()
        self.seeds: tuple[int, int] | None = None
        self.drawn = 0
        # Items by their number, counted from the beginning.
        self.buffer: dict[int, Any] = {}
        # For each round that is in the buffer: the numbers at which it starts and ends.
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
        buffer, parts = self.buffer, self.parts
        while not self.is_over and self.filled < size and (len(parts) <= MOST_ROUNDS or not self.filled):
            last = parts[-1]
            if self.table is not None and (count := min(size - self.filled, self.table.size - self.position)) > 0:
                buffer.update(zip(range(last[1], last[1] + count), range(self.position, self.position + count)))
                self.position += count
                last[1] += count
                self.filled += count
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
            buffer[last[1]] = item
            last[1] += 1
            self.filled += 1

    def _items(self, n: int) -> list[Any]:
        """The next n items in random order, or those that are left."""
        if self.seeds is None:
            self._start()
        parts, buffer, size = self.parts, self.buffer, self.shuffle.size
        last_position = self.table.size if self.table is not None else -1
        draw = self.words.uint32
        items: list[Any] = []
        while len(items) < n:
            if self.filled < size and not self.is_over:
                position, last = self.position, parts[-1]
                if position < last_position and self.filled == size - 1:
                    # The usual case, for speed: one out, one in.
                    buffer[last[1]] = position
                    self.position = position + 1
                    last[1] += 1
                    self.filled = size
                else:
                    self._refill()
            if not self.filled:
                break
            first = parts[0]
            while first[0] == first[1]:
                del parts[0]
                first = parts[0]
            start = first[0]
            chosen = start + draw() % (first[1] - start)
            self.drawn += 1
            item = buffer.pop(start)
            if chosen != start:
                buffer[chosen], item = item, buffer[chosen]
            first[0] = start + 1
            self.filled -= 1
            items.append(item)
        return items

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
            "seeds": None if self.seeds is None else list(self.seeds), "drawn": self.drawn,
            "buffer": [[k, v] for k, v in self.buffer.items()],
            "parts": [list(p) for p in self.parts], "filled": self.filled, "round": self.round, "is_over": self.is_over,
            "position": self.position, "source": None if self.source is None else self.source.save(),
        }

    def restore(self, state: Any) -> None:
        if state["seeds"] is not None:
            self.seeds = tuple(state["seeds"])
            self.words = random_words(*self.seeds)
            for _ in range(state["drawn"]):
                self.words.uint32()
        self.drawn, self.buffer = state["drawn"], {k: v for k, v in state["buffer"]}
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
def _shuffle(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    reshuffles = node.attr("reshuffle_each_iteration")

    def make(source: Stream, size: Any, seed: Any, seed2: Any) -> Stream:
        chosen = int(seed), int(seed2)
        if reshuffles:
            return ShuffleStream(source, types, dims, _buffer_size(size), SeedGenerator(*chosen).seeds, first_seeds=chosen)
        fixed = chosen_seeds(*chosen)
        return ShuffleStream(source, types, dims, _buffer_size(size), lambda: fixed)

    return make


@dataset_op("ShuffleDatasetV2")
def _shuffle_by_generator(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, size, generator: ShuffleStream(source, types, dims, _buffer_size(size), generator.seeds)


@dataset_op("ShuffleAndRepeatDataset")
def _shuffle_and_repeat(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, size: Any, seed: Any, seed2: Any, count: Any) -> Stream:
        fixed = chosen_seeds(int(seed), int(seed2))
        if int(count) == 0:
            raise invalid_argument("count must be greater than zero or equal to -1.")
        return ShuffleStream(source, types, dims, _buffer_size(size), lambda: fixed, int(count))

    return make


op("AnonymousRandomSeedGenerator", kernel=lambda node: lambda seed, seed2: (SeedGenerator(int(seed), int(seed2)), None),
   shape=lambda o: [(), ()])
op("DeleteRandomSeedGenerator", kernel=lambda node: lambda handle, deleter: None, shape=lambda o: [])

