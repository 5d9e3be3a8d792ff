"""Candidate samplers: classes to compare the true ones with, drawn by known probabilities."""

from __future__ import annotations

import bisect
import itertools
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.philox import Philox, PhiloxWords

# What TensorFlow sets aside of the random stream for each number: four words make one of these.
RESULTS_PER_SAMPLE = 2048 // 4


def below(n: int, draw: Callable[[], int], bits: int) -> int:
    """An integer in [0, n), all with the same probability."""
    if n & (n - 1) == 0:
        return draw() & (n - 1)
    skewed = ((1 << bits) - 1) % n + 1
    while True:
        found = draw()
        if found >= skewed:
            return found % n


class Uniform:
    """All classes alike."""

    def __init__(self, size: int) -> None:
        self.size = size

    def sample(self, words: PhiloxWords) -> int:
        return below(self.size, words.uint64, 64)

    def probability(self, value: int) -> float:
        return 1.0 / self.size


class LogUniform:
    """Low classes are frequent, as words are that are sorted by frequency (Zipf)."""

    def __init__(self, size: int) -> None:
        self.size, self.log_size = size, math.log1p(size)

    def sample(self, words: PhiloxWords) -> int:
        return (int(math.exp(words.uniform() * self.log_size)) - 1) % self.size

    def probability(self, value: int) -> float:
        return math.log((value + 2.0) / (value + 1.0)) / self.log_size


class LearnedUnigram:
    """Classes as frequent as they have been seen so far, each once to begin with."""

    def __init__(self, size: int) -> None:
        self.weights = [1] * size
        self.total = size

    def sample(self, words: PhiloxWords) -> int:
        wanted = below(self.total, words.uint32, 32)
        return bisect.bisect_right(list(itertools.accumulate(self.weights)), wanted)

    def probability(self, value: int) -> float:
        return self.weights[value] / self.total

    def update(self, values: list[int]) -> None:
        for value in values:
            if 0 <= value < len(self.weights):
                self.weights[value] += 1
                self.total += 1


class FixedUnigram:
    """Classes with given weights, drawn by the alias method: a class a bucket, with one other class to fill it up."""

    def __init__(self, weights: list[float]) -> None:
        self.weights, self.total = weights, sum(weights)
        n = len(weights)
        share = [w * n / self.total for w in weights]
        self.other = list(range(n))
        low = [i for i in range(n) if share[i] < 1.0]
        high = [i for i in range(n) if share[i] >= 1.0]
        while high and low:
            small, large = low.pop(), high.pop()
            self.other[small] = large
            share[large] -= 1.0 - share[small]
            (low if share[large] < 1.0 else high).append(large)
        for i in (*high, *low):
            share[i] = 1.0
        self.share = share

    def sample(self, words: PhiloxWords) -> int:
        where = (words.uint32() & 0x7FFFFF) / (1 << 23)
        bucket = below(len(self.weights), words.uint32, 32)
        return bucket if where < self.share[bucket] else self.other[bucket]

    def probability(self, value: int) -> float:
        return self.weights[value] / self.total if 0 <= value < len(self.weights) else 0.0


def _fixed_weights(node: Node) -> list[float]:
    """The weights of the op's vocabulary file or list, distorted, of this shard, after the reserved ids."""
    file, unigrams, size = node.attr("vocab_file"), node.attr("unigrams"), node.attr("range_max")
    if not file and not unigrams:
        raise invalid_argument("Must provide either vocab_file or unigrams.")
    if file and unigrams:
        raise invalid_argument("Must only provide one of vocab_file and unigrams.")
    if file:
        with open(file, encoding="utf-8") as lines:
            unigrams = [float(line.rsplit(",", 1)[-1]) for line in lines if line.strip()]
    reserved, shards, shard = node.attr("num_reserved_ids"), node.attr("num_shards"), node.attr("shard")
    if not 0 <= shard < shards:
        raise invalid_argument(f"shard {shard} is out of range of num_shards {shards}")
    distortion = node.attr("distortion")
    every = [0.0] * reserved + [float(np.float32(w) ** np.float32(distortion)) for w in unigrams]
    weights = [w for i, w in enumerate(every) if i % shards == shard]
    if len(weights) != size:
        raise invalid_argument(f"range_max is {size}, but the vocabulary has {len(weights)} entries")
    return weights


def _expected_count(probability: float, count: int, tries: int) -> float:
    """How often a class is expected among the samples, where it took this many tries to find them."""
    # Each step is rounded to float32, as in TensorFlow.
    p = np.float32(probability)
    if tries == count:
        return float(p * np.float32(count))
    return -math.expm1(np.float32(tries) * np.float32(math.log1p(-p)))


def _checked(node: Node, true_classes: Any) -> None:
    if true_classes.dim() != 2:
        raise invalid_argument("true_classes must be a matrix")
    if true_classes.shape[1] != node.attr("num_true"):
        raise invalid_argument(f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {node.attr('num_true')}")


def _sampler(make: Callable[[Any], Any]) -> Callable[[Any], Callable[..., Any]]:
    def kernel(node: Node) -> Callable[..., Any]:
        count, unique, size = node.attr("num_sampled"), node.attr("unique"), node.attr("range_max")
        if unique and count > size:
            raise invalid_argument("Sampler's range is too small.")
        random, sampler, lock = node.context.state(
            node, lambda: (Philox(node.attr("seed"), node.attr("seed2")), make(node), threading.Lock())
        )

        def run(true_classes: Any) -> Any:
            _checked(node, true_classes)
            words = PhiloxWords(*random.reserve(RESULTS_PER_SAMPLE * count))
            wanted = true_classes.reshape(-1).tolist()
            with lock:
                found: dict[int, None] | list[int]
                if unique:
                    found, tries = {}, 0
                    while len(found) < count:
                        found[sampler.sample(words)] = None
                        tries += 1
                else:
                    found, tries = [sampler.sample(words) for _ in range(count)], count
                probability = sampler.probability
                of_true = [_expected_count(probability(v), count, tries) for v in wanted]
                of_sampled = [_expected_count(probability(v), count, tries) for v in found]
                if isinstance(sampler, LearnedUnigram):
                    sampler.update(wanted)
            return (
                torch.tensor(list(found), dtype=torch.int64),
                torch.tensor(of_true, dtype=torch.float32).reshape(true_classes.shape),
                torch.tensor(of_sampled, dtype=torch.float32),
            )

        return run

    return kernel


def _all(node: Node) -> Callable[..., Any]:
    count = node.attr("num_sampled")

    def run(true_classes: Any) -> Any:
        _checked(node, true_classes)
        return torch.arange(count), torch.ones(true_classes.shape), torch.ones(count)

    return run


def _sampler_shape(o: Operation) -> Any:
    count, num_true = o.attr("num_sampled"), o.attr("num_true")
    if count < 1:
        raise ValueError("num_sampled must be >= 1")
    if num_true < 1:
        raise ValueError("num_true must be >= 1")
    return [(count,), (shapes.with_rank(o.inputs[0].dims, 2)[0], num_true), (count,)]


for _name, _make in (
    ("UniformCandidateSampler", lambda node: Uniform(node.attr("range_max"))),
    ("LogUniformCandidateSampler", lambda node: LogUniform(node.attr("range_max"))),
    ("LearnedUnigramCandidateSampler", lambda node: LearnedUnigram(node.attr("range_max"))),
    ("ThreadUnsafeUnigramCandidateSampler", lambda node: LearnedUnigram(node.attr("range_max"))),
    ("FixedUnigramCandidateSampler", lambda node: FixedUnigram(_fixed_weights(node))),
):
    op(_name, kernel=_sampler(_make), shape=_sampler_shape, gradient=not_differentiable)
op("AllCandidateSampler", kernel=_all, shape=_sampler_shape, gradient=not_differentiable)


def _accidental_hits(node: Node) -> Callable[..., Any]:
    def run(true_classes: Any, sampled: Any) -> Any:
        if true_classes.dim() != 2 or true_classes.shape[1] != node.attr("num_true"):
            raise invalid_argument("true_candidates must be a batch_size * num_true matrix")
        if sampled.dim() != 1:
            raise invalid_argument("sampled_candidates must be a vector, which is typically an output from CandidateSampler")
        position = {candidate: i for i, candidate in enumerate(sampled.tolist())}
        hits = [(row, position[value]) for row, values in enumerate(true_classes.tolist()) for value in values if value in position]
        rows, ids = zip(*hits) if hits else ((), ())
        return (
            torch.tensor(rows, dtype=torch.int32),
            torch.tensor(ids, dtype=torch.int64),
            torch.full((len(rows),), -torch.finfo(torch.float32).max),
        )

    return run


def _accidental_hits_shape(o: Operation) -> Any:
    columns = shapes.with_rank(o.inputs[0].dims, 2)[1]
    shapes.merge_size(columns, o.attr("num_true"))
    shapes.with_rank(o.inputs[1].dims, 1)
    return [(None,)] * 3


op("ComputeAccidentalHits", kernel=_accidental_hits, shape=_accidental_hits_shape, gradient=not_differentiable)


def _apply(op_type: str, true_classes: Any, seed: int | None, name: str | None, **attrs: Any) -> Any:
    seed, seed2 = tf.get_seed(seed)
    return apply(op_type, true_classes, seed=seed or 0, seed2=seed2 or 0, name=name, **attrs)


@public("nn.uniform_candidate_sampler", "random.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None, name: str | None = None
) -> Any:
    """(candidates, expected counts of the true classes, and of the candidates), all classes being alike."""
    return _apply(
        "UniformCandidateSampler", true_classes, seed, name, num_true=num_true, num_sampled=num_sampled, unique=unique, range_max=range_max
    )


@public("nn.log_uniform_candidate_sampler", "random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None, name: str | None = None
) -> Any:
    """As uniform_candidate_sampler, for classes that are sorted by decreasing frequency."""
    return _apply(
        "LogUniformCandidateSampler",
        true_classes,
        seed,
        name,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
    )


@public("nn.learned_unigram_candidate_sampler", "random.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None, name: str | None = None
) -> Any:
    """As uniform_candidate_sampler, with frequencies learned from the true classes."""
    return _apply(
        "LearnedUnigramCandidateSampler",
        true_classes,
        seed,
        name,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
    )


@public("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """As uniform_candidate_sampler, with frequencies from a file or a list."""
    return _apply(
        "FixedUnigramCandidateSampler",
        true_classes,
        seed,
        name,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=list(unigrams),
    )


@public("nn.all_candidate_sampler", "random.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: int | None = None, name: str | None = None
) -> Any:
    """All classes, for tests."""
    return _apply("AllCandidateSampler", true_classes, seed, name, num_true=num_true, num_sampled=num_sampled, unique=unique)


@public("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: Any, sampled_candidates: Any, num_true: int, seed: int | None = None, name: str | None = None
) -> Any:
    """(rows, positions, weights) of the candidates that are true classes: added to logits, they rule these out."""
    seed, seed2 = tf.get_seed(seed)
    return apply("ComputeAccidentalHits", true_classes, sampled_candidates, num_true=num_true, seed=seed or 0, seed2=seed2 or 0, name=name)
