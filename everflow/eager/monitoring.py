"""Counters, gauges and samplers by which a program tells what it does."""

from __future__ import annotations

import bisect
import itertools
import threading
from abc import ABC, abstractmethod
from typing import Any

from everflow.api import internal
from everflow.errors import AlreadyExistsError, InvalidArgumentError
from everflow.proto import summary_pb2

_names: set[str] = set()
_lock = threading.Lock()


class Cell:
    """One number, text or truth value, that many threads may change."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._lock = threading.Lock()

    def value(self) -> Any:
        """What it holds."""
        return self._value

    def set(self, value: Any) -> None:
        """Puts a value in the place of the last one."""
        self._value = value

    def increase_by(self, value: int) -> None:
        """Adds to it."""
        with self._lock:
            self._value += value


class SamplerCell:
    """Counts of numbers, by size."""

    def __init__(self, limits: list[float]) -> None:
        self._limits = limits
        self._counts = [0.0] * len(limits)
        self._lock = threading.Lock()
        self._summary = summary_pb2.HistogramProto()

    def add(self, value: float) -> None:
        """Counts a number."""
        with self._lock:
            found = self._summary
            found.min = value if not found.num else min(found.min, value)
            found.max = value if not found.num else max(found.max, value)
            found.num += 1
            found.sum += value
            found.sum_squares += value * value
            self._counts[bisect.bisect_right(self._limits[:-1], value)] += 1

    def value(self) -> Any:
        """The counts as a histogram."""
        found = summary_pb2.HistogramProto()
        found.CopyFrom(self._summary)
        found.bucket_limit.extend(self._limits)
        found.bucket.extend(self._counts)
        return found


class Metric(ABC):
    """A cell for each combination of labels. A name may be given once for each kind of metric."""

    def __init__(self, name: str, description: str, *labels: str) -> None:
        with _lock:
            key = f"{type(self).__name__}:{name}"
            if key in _names:
                raise AlreadyExistsError(None, None, f"Another metric with the same name already exists: {name}")
            _names.add(key)
        self._key = key
        self._labels = labels
        self._cells: dict[tuple[Any, ...], Any] = {}

    def __del__(self) -> None:
        _names.discard(getattr(self, "_key", ""))

    @abstractmethod
    def _new_cell(self) -> Any:
        """A cell that nothing was put into."""

    def get_cell(self, *labels: Any) -> Any:
        """The cell for some labels."""
        if len(labels) != len(self._labels):
            raise InvalidArgumentError(None, None, f"The number of labels is {len(labels)} where {len(self._labels)} were declared.")
        with _lock:
            if labels not in self._cells:
                self._cells[labels] = self._new_cell()
            return self._cells[labels]


@internal("eager.monitoring.Counter")
class Counter(Metric):
    """Numbers that grow."""

    def _new_cell(self) -> Cell:
        return Cell(0)


@internal("eager.monitoring.IntGauge")
class IntGauge(Metric):
    """Numbers that go up and down."""

    def _new_cell(self) -> Cell:
        return Cell(0)


@internal("eager.monitoring.StringGauge")
class StringGauge(Metric):
    """Texts."""

    def _new_cell(self) -> Cell:
        return Cell("")


@internal("eager.monitoring.BoolGauge")
class BoolGauge(Metric):
    """Truth values."""

    def _new_cell(self) -> Cell:
        return Cell(False)


@internal("eager.monitoring.ExponentialBuckets")
class ExponentialBuckets:
    """Limits of which each is so many times the one before; the last has none."""

    def __init__(self, scale: float, growth_factor: float, bucket_count: int) -> None:
        powers = itertools.accumulate([growth_factor] * (bucket_count - 1), lambda x, y: x * y, initial=1.0)
        self.limits = [*(scale * p for p in powers), 1.7976931348623157e308]


@internal("eager.monitoring.Sampler")
class Sampler(Metric):
    """Distributions of numbers."""

    def __init__(self, name: str, buckets: ExponentialBuckets, description: str, *labels: str) -> None:
        self._limits = buckets.limits
        super().__init__(name, description, *labels)

    def _new_cell(self) -> SamplerCell:
        return SamplerCell(self._limits)
