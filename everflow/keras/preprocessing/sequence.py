"""Sequences: padding, skip-grams and windows of time series."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from everflow.api import public
from everflow.keras.enqueuers import Sequence


@public("keras.preprocessing.sequence.pad_sequences")
def pad_sequences(
    sequences: Any, maxlen: Any = None, dtype: Any = "int32", padding: str = "pre", truncating: str = "pre", value: Any = 0.0
) -> Any:
    """Sequences of different lengths as one array, filled up or cut at the beginning ("pre") or the end ("post")."""
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    lengths = []
    for s in sequences:
        if not hasattr(s, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {s}")
        lengths.append(len(s))
    if maxlen is None:
        maxlen = max(lengths, default=0)
    inner = next((np.asarray(s).shape[1:] for s in sequences if len(s)), ())
    kind = np.dtype(dtype) if not isinstance(dtype, str) or dtype != "str" else np.dtype(object)
    if isinstance(value, str) and kind.kind != "O" and not np.issubdtype(kind, np.str_):
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set `dtype=object` for "
            "variable length strings."
        )
    found = np.full((len(sequences), maxlen, *inner), value, dtype=kind)
    for i, s in enumerate(sequences):
        if not len(s):
            continue
        if truncating == "pre":
            kept = s[-maxlen:]
        elif truncating == "post":
            kept = s[:maxlen]
        else:
            raise ValueError(f'Truncating type "{truncating}" not understood')
        kept = np.asarray(kept, dtype=kind)
        if kept.shape[1:] != inner:
            raise ValueError(f"Shape of sample {kept.shape[1:]} of sequence at position {i} is different from expected shape {inner}")
        if padding == "post":
            found[i, : len(kept)] = kept
        elif padding == "pre":
            found[i, -len(kept) :] = kept
        else:
            raise ValueError(f'Padding type "{padding}" not understood')
    return found


@public("keras.preprocessing.sequence.make_sampling_table")
def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Any:
    """How likely the word of each rank is to be drawn, frequent ones less so, after Zipf's law."""
    gamma = 0.577
    rank = np.arange(size)
    rank[0] = 1
    share = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    f = sampling_factor * share
    return np.minimum(1.0, f / np.sqrt(f))


@public("keras.preprocessing.sequence.skipgrams")
def skipgrams(
    sequence: Any,
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[Any], list[Any]]:
    """Pairs of words, labelled 1 where they stand near each other and 0 where the second was drawn."""
    couples: list[Any] = []
    labels: list[Any] = []
    for i, word in enumerate(sequence):
        if not word:
            continue
        if sampling_table is not None and sampling_table[word] < random.random():
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                couples.append([word, sequence[j]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        number = int(len(labels) * negative_samples)
        words = [c[0] for c in couples]
        random.shuffle(words)
        couples += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(number)]
        labels += [[1, 0] if categorical else 0] * number
    if shuffle:
        seed = random.randint(0, 10**7) if seed is None else seed
        for items in (couples, labels):
            random.seed(seed)
            random.shuffle(items)
    return couples, labels


@public("keras.preprocessing.sequence.TimeseriesGenerator")
class TimeseriesGenerator(Sequence):
    """Windows of a time series with what follows each, in batches."""

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: Any = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise ValueError(
                f"Data and targets have to be of same length. Data length is {len(data)} while target length is {len(targets)}"
            )
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as no part of the "
                "sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        return (self.end_index - self.start_index + self.batch_size * self.stride) // (self.batch_size * self.stride)

    def __getitem__(self, index: int) -> Any:
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            rows = np.arange(first, min(first + self.batch_size * self.stride, self.end_index + 1), self.stride)
        samples = np.array([self.data[row - self.length : row : self.sampling_rate] for row in rows])
        targets = np.array([self.targets[row] for row in rows])
        return (samples[:, ::-1, ...], targets) if self.reverse else (samples, targets)

    def get_config(self) -> dict[str, Any]:
        """The data and the arguments."""
        return {
            "data": _as_json(self.data, "Data"),
            "targets": _as_json(self.targets, "Targets"),
            "length": self.length,
            "sampling_rate": self.sampling_rate,
            "stride": self.stride,
            "start_index": self.start_index,
            "end_index": self.end_index,
            "shuffle": self.shuffle,
            "reverse": self.reverse,
            "batch_size": self.batch_size,
        }

    def to_json(self, **kwargs: Any) -> str:
        """The same as JSON."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def _as_json(values: Any, kind: str) -> str:
    values = values.tolist() if type(values).__module__ == np.__name__ else values
    try:
        return json.dumps(values)
    except TypeError as e:
        raise TypeError(f"{kind} not JSON Serializable:", values) from e
