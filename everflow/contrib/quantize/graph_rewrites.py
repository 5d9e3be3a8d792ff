"""The rewrites that programs ask for: for training, and for using what was trained."""

from __future__ import annotations

import re
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.contrib.quantize.folding import FoldBatchNorms
from everflow.contrib.quantize.layer_quantization import Quantize

BELOW = "contrib.quantize."
_HOME = "contrib.quantize.python.quantize_graph."
_TRAINING = re.compile(r"^(Resource)?(Sparse)?Apply[A-Z]\w*$")


@public(BELOW + "create_training_graph")
@internal(_HOME + "create_training_graph")
def create_training_graph(input_graph: Any = None, quant_delay: int = 0) -> None:
    """Rewrites a graph in place to train for 8 bits, from step `quant_delay` on; call it before the optimizer is asked to minimize."""
    _rewrite(input_graph, True, quant_delay=quant_delay)


@public(BELOW + "create_eval_graph")
@internal(_HOME + "create_eval_graph")
def create_eval_graph(input_graph: Any = None) -> None:
    """Rewrites a graph in place to compute as what was trained for 8 bits."""
    _rewrite(input_graph, False)


@public(BELOW + "experimental_create_training_graph")
@internal(_HOME + "experimental_create_training_graph")
def experimental_create_training_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_training_graph` for any number of bits; moving averages of normalizations may be frozen at a step."""
    _rewrite(input_graph, True, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay, scope)


@public(BELOW + "experimental_create_eval_graph")
@internal(_HOME + "experimental_create_eval_graph")
def experimental_create_eval_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_eval_graph` for any number of bits."""
    _rewrite(input_graph, False, weight_bits, activation_bits, symmetric, quant_delay, None, scope)


def _rewrite(
    graph: Any,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    graph = tf.get_default_graph() if graph is None else graph
    found = dict.fromkeys(op.type for op in graph.get_operations() if _TRAINING.match(op.type))
    if found:
        raise ValueError(f"Training op found in graph, exiting {{{', '.join(map(repr, found))}}}")
    with graph.as_default():
        FoldBatchNorms(graph, is_training, freeze_batch_norm_delay=freeze_bn_delay)
        Quantize(graph, is_training, weight_bits, activation_bits, symmetric, quant_delay=quant_delay, scope=scope)
