"""tf.contrib.text: pairs of words that stand near each other, to learn embeddings from (skip-grams)."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.io import gfile
from everflow.lazy import torch
from everflow.lookup.tables import InitializableLookupTableBase
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.nn.candidate_sampling import below
from everflow.values.philox import Philox, PhiloxWords

_OPS = "contrib.text.python.ops.skip_gram_ops"


def _pairs(node: Node) -> Callable[..., Any]:
    random = node.context.state(node, lambda: Philox(node.attr("seed"), node.attr("seed2")))

    def run(words: Any, fewest: Any, most: Any, start: Any, limit: Any, with_self: Any) -> Any:
        fewest, most, start, limit = int(fewest), int(most), int(start), int(limit)
        if fewest < 0 or most < 0:
            raise invalid_argument("Both min_skips and max_skips must be >= 0.")
        if fewest > most:
            raise invalid_argument("min_skips must be <= max_skips.")
        if start < 0 or limit < -1:
            raise invalid_argument(f"start must be >= 0 and limit >= -1, not {start} and {limit}.")
        end = len(words) if limit < 0 else min(start + limit, len(words))
        draws = PhiloxWords(*random.reserve((max(end - start, 0) + 3) // 4))
        tokens: list[int] = []
        labels: list[int] = []
        for i in range(start, end):
            reach = fewest + below(most - fewest + 1, draws.uint32, 32)
            near = [j for j in range(max(start, i - reach), min(i + reach + 1, end)) if j != i or bool(with_self)]
            tokens += [i] * len(near)
            labels += near
        # Words may be strings, in an array of numpy, or numbers, in a tensor.
        places = [np.asarray(found, np.int64) for found in (tokens, labels)]
        return tuple(words[place] if isinstance(words, np.ndarray) else words[torch.from_numpy(place)] for place in places)

    return run


def _shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 1)
    for t in o.inputs[1:]:
        shapes.with_rank(t.dims, 0)
    return [(None,), (None,)]


op("SkipGramGenerateCandidates", kernel=_pairs, shape=_shape, gradient=not_differentiable)


@internal(f"{_OPS}.skip_gram_sample")
def skip_gram_sample(
    input_tensor: Any,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    vocab_freq_table: Any = None,
    vocab_min_count: Any = None,
    vocab_subsampling: Any = None,
    corpus_size: Any = None,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Words, each beside each of its neighbours: those at most so many words away, a number that is drawn for each word.

    With a table of how frequent words are, rare ones are left out and frequent ones now and then."""
    if vocab_freq_table is None and (vocab_min_count is not None or vocab_subsampling is not None or corpus_size is not None):
        raise ValueError(
            f"vocab_freq_table is not provided, but vocab_min_count={vocab_min_count}, vocab_subsampling={vocab_subsampling}, or "
            f"corpus_size={corpus_size} is not None. These settings are useless without a vocab_freq_table."
        )
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(
            f"vocab_subsampling is {vocab_subsampling} while corpus_size is {corpus_size} - both must be provided in order for subsampling "
            "to work."
        )
    with name_scope(name, "skip_gram_sample", values=[input_tensor, min_skips, max_skips, start, limit]):
        input_tensor = _filter_input(input_tensor, vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed)
        seed1, seed2 = tf.random.get_seed(seed)
        pairs = apply(
            "SkipGramGenerateCandidates",
            input_tensor,
            min_skips,
            max_skips,
            start,
            limit,
            emit_self_as_target,
            seed=seed1 or 0,
            seed2=seed2 or 0,
        )
        if not batch_size:
            return pairs[0], pairs[1]
        tokens, labels = tf.train.batch(list(pairs), batch_size, capacity=batch_capacity or 100 * batch_size, enqueue_many=True)
        return tokens, labels


@internal(f"{_OPS}.skip_gram_sample_with_text_vocab")
def skip_gram_sample_with_text_vocab(
    input_tensor: Any,
    vocab_freq_file: str,
    vocab_token_index: int = 0,
    vocab_token_dtype: dtypes.DTypeLike = dtypes.string,
    vocab_freq_index: int = 1,
    vocab_freq_dtype: dtypes.DTypeLike = dtypes.float64,
    vocab_delimiter: str = ",",
    vocab_min_count: Any = 0,
    vocab_subsampling: Any = None,
    corpus_size: Any = None,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The same with the frequencies in the columns of a file."""
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(f"vocab_token_index={vocab_token_index} and vocab_freq_index={vocab_freq_index} must both be >= 0.")
    if vocab_token_index == vocab_freq_index:
        raise ValueError(f"vocab_token_index and vocab_freq_index should be different, but are both {vocab_token_index}.")
    size, total = 0, 0.0
    with gfile.GFile(vocab_freq_file) as rows:
        for row in csv.reader(rows, delimiter=vocab_delimiter):
            if max(vocab_token_index, vocab_freq_index) >= len(row):
                raise ValueError(
                    f"Row in vocab file only has {len(row)} columns, so vocab_token_index={vocab_token_index} or "
                    f"vocab_freq_index={vocab_freq_index} is out of bounds. Row content: {row}"
                )
            count = tf.as_dtype(vocab_freq_dtype).as_numpy_dtype(row[vocab_freq_index])
            if count < 0:
                raise ValueError(f"Row in vocab file has negative frequency of {count}. Row content: {row}")
            size, total = size + 1, total + count
    if not corpus_size:
        corpus_size = total
    elif corpus_size < total:
        raise ValueError(
            f"`corpus_size`={corpus_size} must be greater than or equal to the sum of all the frequency counts ({total}) of "
            f"`vocab_freq_file` ({vocab_freq_file})."
        )
    initializer = tf.lookup.TextFileInitializer(
        vocab_freq_file,
        vocab_token_dtype,
        vocab_token_index,
        vocab_freq_dtype,
        vocab_freq_index,
        vocab_size=size,
        delimiter=vocab_delimiter,
    )
    # What is not in the file has a frequency of minus one.
    table = tf.contrib.lookup.HashTable(initializer, -1)
    return skip_gram_sample(
        input_tensor,
        min_skips,
        max_skips,
        start,
        limit,
        emit_self_as_target,
        table,
        vocab_min_count,
        vocab_subsampling,
        corpus_size if vocab_subsampling is not None else None,
        batch_size,
        batch_capacity,
        seed,
        name,
    )


@internal(f"{_OPS}._filter_input")
def _filter_input(
    input_tensor: Any, vocab_freq_table: Any, vocab_min_count: Any, vocab_subsampling: Any, corpus_size: Any, seed: int | None
) -> Any:
    """Words without those that are rare or unknown, and with frequent ones now and then."""
    if vocab_freq_table is None:
        return input_tensor
    if not isinstance(vocab_freq_table, InitializableLookupTableBase):
        raise ValueError(
            f"vocab_freq_table must be a subclass of InitializableLookupTableBase (such as HashTable) instead of type "
            f"{type(vocab_freq_table)}."
        )
    with name_scope("filter_vocab", values=[vocab_freq_table, input_tensor, vocab_min_count]):
        counts = vocab_freq_table.lookup(input_tensor)
        kept = tf.not_equal(counts, vocab_freq_table.default_value)
        if vocab_min_count is not None:
            kept = tf.logical_and(kept, tf.greater_equal(counts, tf.cast(vocab_min_count, counts.dtype)))
        input_tensor, counts = tf.boolean_mask(input_tensor, kept), tf.boolean_mask(counts, kept)
    if vocab_subsampling is None:
        return input_tensor
    if not 0 <= vocab_subsampling <= 1:
        raise ValueError(f"Invalid vocab_subsampling={vocab_subsampling} - it should be within range [0, 1].")
    with name_scope("subsample_vocab", values=[input_tensor, counts, vocab_subsampling]):
        size, counts, share = (tf.cast(value, tf.float64) for value in (corpus_size, counts, vocab_subsampling))
        # Mikolov and others, "Distributed Representations of Words and Phrases", as their program computes it.
        chance = (tf.sqrt(counts / (share * size)) + 1.0) * (share * size / counts)
        drawn = tf.random_uniform(tf.shape(counts), minval=0, maxval=1, dtype=tf.float64, seed=seed)
        return tf.boolean_mask(input_tensor, tf.less_equal(drawn, chance))
