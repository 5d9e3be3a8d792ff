"""Words and the words around them, as graphs of TensorFlow's first versions took them from a text to train word2vec."""

from __future__ import annotations

import collections
import itertools
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.io.gfile import GFile
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.values.texts import text_array

Kernel = Callable[..., Any]

# So many words are taken from the text at once, and so many pairs are made ahead.
SENTENCE = 1000
AHEAD = 3000


class Text:
    """The words of a file as numbers: 0 for the rare ones, then by how often they occur."""

    def __init__(self, path: str, rarest: int, window: int) -> None:
        with GFile(path, "rb") as file:
            words = file.read().split()
        if len(words) < window * 10:
            raise invalid_argument(f"The text file {path} contains too little data: {len(words)} words")
        counted = [(word, n) for word, n in collections.Counter(words).most_common() if n >= rarest]
        self.words = [b"UNK", *(word for word, _ in counted)]
        self.counts = [len(words) - sum(n for _, n in counted), *(n for _, n in counted)]
        number = {word: i for i, word in enumerate(self.words[1:], 1)}
        self.numbers = np.array([number.get(word, 0) for word in words], np.int32)


class Pairs:
    """A word and a word near it, again and again through the text. Frequent words are left out at random where that is asked for."""

    def __init__(self, text: Text, window: int, subsample: float) -> None:
        self.text, self.window = text, window
        self.epoch = self.words_processed = 0
        self.lock = threading.Lock()
        self._random = random.Random()
        # How likely a word is kept.
        scale = subsample * len(text.numbers)
        counts = np.maximum(text.counts, 1)
        self._kept = (np.sqrt(counts / scale) + 1) * scale / counts if subsample > 0 else None
        self._stream = self._pairs()
        self._ahead: collections.deque[tuple[int, int]] = collections.deque()

    def take(self, count: int) -> list[tuple[int, int]]:
        """The next pairs."""
        found: list[tuple[int, int]] = []
        while len(found) < count:
            if not self._ahead:
                self._ahead.extend(itertools.islice(self._stream, AHEAD))
            found.append(self._ahead.popleft())
        return found

    def _sentences(self) -> Iterator[list[int]]:
        words: list[int] = []
        while True:
            chunk = self.text.numbers
            if self._kept is not None:
                draws = np.random.default_rng(self._random.getrandbits(64)).random(len(chunk))
                chunk = chunk[draws <= self._kept[chunk]]
            words.extend(chunk.tolist())
            while len(words) >= SENTENCE:
                yield words[:SENTENCE]
                del words[:SENTENCE]
            self.epoch += 1

    def _pairs(self) -> Iterator[tuple[int, int]]:
        for sentence in self._sentences():
            for place, word in enumerate(sentence):
                self.words_processed += 1
                reach = self._random.randint(1, self.window)
                for other in range(max(0, place - reach), min(SENTENCE, place + reach + 1)):
                    if other != place:
                        yield word, sentence[other]


def _skipgram(node: Node) -> Kernel:
    window, count = node.attr("window_size"), node.attr("batch_size")

    def begin() -> Pairs:
        return Pairs(Text(node.attr("filename"), node.attr("min_count"), window), window, node.attr("subsample"))

    pairs = node.context.state(node, begin)
    words = text_array(pairs.text.words, (len(pairs.text.words),))
    counts = torch.tensor(pairs.text.counts, dtype=torch.int32)
    total = torch.tensor(len(pairs.text.numbers), dtype=torch.int64)

    def run() -> Any:
        with pairs.lock:
            found = torch.tensor(pairs.take(count), dtype=torch.int32).reshape(count, 2)
            so_far = torch.tensor(pairs.epoch, dtype=torch.int32), torch.tensor(pairs.words_processed, dtype=torch.int64)
        return words, counts, total, *so_far, found[:, 0].clone(), found[:, 1].clone()

    return run


def _train(node: Node) -> Kernel:
    """One step of word2vec for each pair: towards the word that was near, away from words drawn at random."""
    counts, negatives = node.attr("vocab_count"), node.attr("num_negative_samples")
    shares = np.cumsum(np.power(np.maximum(counts, 0.0), 0.75))
    random = np.random.default_rng()

    def run(w_in: Any, w_out: Any, examples: Any, labels: Any, rate: Any) -> Any:
        inside, outside = w_in.held(), w_out.held()
        if inside.dim() != 2:
            raise invalid_argument("Must be a matrix")
        if inside.shape != outside.shape:
            raise invalid_argument("w_in.shape == w_out.shape")
        if examples.dim() != 1:
            raise invalid_argument("Must be a vector")
        if examples.shape != labels.shape:
            raise invalid_argument("examples.shape == labels.shape")
        if rate.dim():
            raise invalid_argument("Must be a scalar")
        if inside.shape[0] != len(counts):
            raise invalid_argument(f"vocab_size mismatches: {inside.shape[0]} vs. {len(counts)}")
        for name, ids in (("examples", examples), ("labels", labels)):
            if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < len(counts):
                raise invalid_argument(f"{name} must be words of the vocabulary, which has {len(counts)}")
        drawn = np.searchsorted(shares, random.random((examples.numel(), negatives)) * shares[-1], side="right")
        with w_in.lock, w_out.lock:
            _descend(inside.numpy(), outside.numpy(), examples.tolist(), labels.tolist(), drawn, np.float32(float(rate)))
        return ()

    return run


def _descend(inside: Any, outside: Any, examples: list[int], labels: list[int], drawn: Any, rate: Any) -> None:
    for example, label, others in zip(examples, labels, drawn.tolist()):
        word = inside[example]
        near = outside[label]
        step = rate / (1 + np.exp(word @ near))
        change = step * near
        near += step * word
        for other in others:
            if other != label:
                far = outside[other]
                step = -rate / (1 + np.exp(-(word @ far)))
                change += step * far
                far += step * word
        word += change


op("Skipgram", kernel=_skipgram, shape=lambda o: [None] * 7)
op("NegTrain", kernel=_train, shape=lambda o: [], writes=True)
