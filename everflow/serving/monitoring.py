"""Counts and times, as Prometheus text with TensorFlow Serving's names."""

from __future__ import annotations

import bisect
import itertools
import re
import threading
from collections.abc import Sequence
from typing import Any


def exponential(first: float, growth: float, count: int) -> list[float]:
    """Upper limits of buckets."""
    return [first * growth**i for i in range(count)]


class Metric:
    """A named value for each combination of labels."""

    kind = ""

    def __init__(self, name: str, labels: Sequence[str]) -> None:
        self.name = ":" + re.sub("[^a-zA-Z0-9_]", ":", name.strip("/"))
        self.labels = tuple(labels)
        self._lock = threading.Lock()
        REGISTRY.append(self)

    def _shown(self, values: tuple[str, ...], *more: str) -> str:
        pairs = [f'{name}="{_escaped(value)}"' for name, value in zip(self.labels, values)]
        inside = ",".join([*pairs, *more])
        return f"{{{inside}}}" if inside else ""

    def lines(self) -> list[str]:
        """Its lines in the text."""
        raise NotImplementedError


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


# Labels come from requests (names of models that there are) and from folders; so many combinations are kept of each.
MOST_LABELS = 10_000
REGISTRY: list[Metric] = []


class Counter(Metric):
    """What only grows."""

    kind = "counter"

    def __init__(self, name: str, labels: Sequence[str]) -> None:
        super().__init__(name, labels)
        self._values: dict[tuple[str, ...], int] = {}

    def add(self, *labels: str, by: int = 1) -> None:
        """Adds to the value for these labels."""
        with self._lock:
            if labels in self._values or len(self._values) < MOST_LABELS:
                self._values[labels] = self._values.get(labels, 0) + by

    def summary(self) -> list[tuple[list[str], int]]:
        """The labels and value of each."""
        with self._lock:
            return [(list(labels), value) for labels, value in self._values.items()]

    def value(self, *labels: str) -> int:
        """The value for these labels."""
        return self._values.get(labels, 0)

    def lines(self) -> list[str]:
        """Its lines in the text."""
        with self._lock:
            return [f"{self.name}{self._shown(labels)} {value}" for labels, value in self._values.items()]


class Histogram(Metric):
    """How values are spread."""

    kind = "histogram"

    def __init__(self, name: str, labels: Sequence[str], limits: list[float]) -> None:
        super().__init__(name, labels)
        self._limits = limits
        self._values: dict[tuple[str, ...], tuple[list[int], list[float]]] = {}

    def add(self, value: float, *labels: str) -> None:
        """Counts a value."""
        with self._lock:
            found = self._values.get(labels)
            if found is None:
                if len(self._values) >= MOST_LABELS:
                    return
                found = self._values[labels] = ([0] * (len(self._limits) + 1), [0.0])
            # A bucket holds what is less than its limit.
            found[0][bisect.bisect_right(self._limits, value)] += 1
            found[1][0] += value

    def summary(self) -> dict[str, Any]:
        """The limits of the buckets, and of each combination of labels the counts."""
        with self._lock:
            return {"limits": self._limits, "counts": [(list(labels), list(counts)) for labels, (counts, _) in self._values.items()]}

    def lines(self) -> list[str]:
        """Its lines in the text."""
        out = []
        with self._lock:
            for labels, (counts, (total,)) in self._values.items():
                sums = list(itertools.accumulate(counts))
                for limit, count in zip([*(f"{x:g}" for x in self._limits), "+Inf"], sums):
                    le = f'le="{limit}"'
                    out.append(f"{self.name}_bucket{self._shown(labels, le)} {count}")
                out.append(f"{self.name}_sum{self._shown(labels)} {total:.6g}")
                out.append(f"{self.name}_count{self._shown(labels)} {sums[-1]}")
        return out


_MICROSECONDS = exponential(10, 1.8, 33)

request_count = Counter("/tensorflow/serving/request_count", ("model_name", "status"))
request_latency = Histogram("/tensorflow/serving/request_latency", ("model_name", "API", "entrypoint"), _MICROSECONDS)
runtime_latency = Histogram("/tensorflow/serving/runtime_latency", ("model_name", "API", "runtime"), _MICROSECONDS)
example_counts = Histogram("/tensorflow/serving/request_example_counts", ("model_name",), exponential(1, 2, 15))
example_total = Counter("/tensorflow/serving/request_example_count_total", ("model_name",))
load_attempts = Counter("/tensorflow/cc/saved_model/load_attempt_count", ("model_path", "status"))
load_latency = Counter("/tensorflow/cc/saved_model/load_latency", ("model_path",))
warmup_latency = Histogram("/tensorflow/serving/model_warmup_latency", ("model_path", "status"), _MICROSECONDS)


def examples(model: str, count: int) -> None:
    """A request brought so many examples."""
    example_counts.add(count, model)
    example_total.add(model, by=count)


def loaded(path: str, status: str, seconds: float) -> None:
    """A model was loaded, or was not."""
    load_attempts.add(path, status)
    load_latency.add(path, by=round(seconds * 1e6))


def text() -> str:
    """All metrics in the text format of Prometheus."""
    lines = []
    for metric in REGISTRY:
        found = metric.lines()
        if found:
            lines += [f"# TYPE {metric.name} {metric.kind}", *found]
    return "\n".join(lines) + "\n"
