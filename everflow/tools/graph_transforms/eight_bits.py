"""quantize_nodes: a graph that computes in eight bits wherever there are ops that do; and ranges found once and for all."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import everflow as tf
from everflow.errors import invalid_argument
from everflow.io import gfile
from everflow.tools.graph_transforms.convolutions import is_plain
from everflow.tools.graph_transforms.nodes import merge_duplicate_nodes, rewired, sort_by_execution_order
from everflow.tools.graph_transforms.table import Told, const, consumers, made, node_of, said, transform, with_nodes, without_unused

_FLOAT = tf.float32.as_datatype_enum


class _Range(NamedTuple):
    """A quantized tensor and the two that say which floats it stands for."""

    bits: str
    low: str
    high: str

    @classmethod
    def of(cls, name: str) -> _Range:
        return cls(name + ":0", name + ":1", name + ":2")


def _ranges_last(inputs: list[str], ranges: list[_Range]) -> list[str]:
    return inputs + [end for r in ranges for end in (r.low, r.high)]


def _lows_then_highs(inputs: list[str], ranges: list[_Range]) -> list[str]:
    return inputs + [r.low for r in ranges] + [r.high for r in ranges]


def _each_with_its_range(inputs: list[str], ranges: list[_Range]) -> list[str]:
    return [name for r in ranges for name in r]


class _Form(NamedTuple):
    """How an op is written in eight bits: the attributes of types, those that stay, which inputs are numbers, and where ranges go."""

    types: tuple[str, ...]
    stays: tuple[str, ...] = ()
    numbers: Callable[[Any], range] = lambda node: range(len(node.input))
    order: Callable[[list[str], list[_Range]], list[str]] = _ranges_last
    # The attribute of the type of results that have 32 bits, if they have.
    wide: str | None = None


def _first(node: Any) -> range:
    return range(1)


_POOLING = _Form(("T",), ("ksize", "strides", "padding"))
_FORMS = {
    "Add": _Form(("T1", "T2"), wide="Toutput"),
    "AvgPool": _POOLING,
    "BatchNormWithGlobalNormalization": _Form(
        ("Tinput",), ("variance_epsilon", "scale_after_normalization"), order=_each_with_its_range, wide="out_type"
    ),
    "BiasAdd": _Form(("T1", "T2"), wide="out_type"),
    "Concat": _Form(("T",), ("N",), numbers=lambda node: range(1, len(node.input)), order=_lows_then_highs),
    "Conv2D": _Form(("Tinput", "Tfilter"), ("strides", "padding"), wide="out_type"),
    "MatMul": _Form(("T1", "T2"), ("transpose_a", "transpose_b"), wide="Toutput"),
    "MaxPool": _POOLING,
    "Mul": _Form(("T1", "T2"), wide="Toutput"),
    "Relu": _Form(("Tinput",)),
    "Relu6": _Form(("Tinput",)),
    "Reshape": _Form(("T",), ("Tshape",), numbers=_first),
    "ResizeBilinear": _Form(("T",), ("align_corners", "half_pixel_centers"), numbers=_first),
}
# What may come before or after rounding: results are among the numbers that were rounded, or between them.
_MONOTONE = frozenset(("Relu", "Relu6", "MaxPool", "AvgPool"))


@transform
def quantize_nodes(graph: Any, told: Told) -> Any:
    """Computes in eight bits what there are ops for; floats are found again under the names that they had.

    `input_min` and `input_max` have placeholders fed with eight bits of that range; `fallback_min` and `fallback_max` are the range of
    results that is else found while the graph runs."""
    ends = [told.one(name) for name in ("input_min", "input_max")]
    if None not in ends:
        graph = _with_eight_bit_placeholders(graph, *map(float, ends))
    graph = sort_by_execution_order(_hoisted(graph, told), told)
    return merge_duplicate_nodes(_Rewriting(graph, told).result(), told)


def _with_eight_bit_placeholders(graph: Any, low: float, high: float) -> Any:
    fed = {node.name for node in graph.node if node.op == "Placeholder" and said(node, "dtype").type == _FLOAT}

    def change(given: str) -> str:
        return node_of(given) + "_eightbit/dequantize" if node_of(given) in fed and not given.startswith("^") else given

    nodes: list[Any] = []
    for node in rewired(graph, graph.node, change).node:
        nodes.append(node)
        if node.name in fed:
            node.attr["dtype"].type = tf.quint8.as_datatype_enum
            start = node.name + "_eightbit/"
            nodes += [const(start + "min", np.float32(low)), const(start + "max", np.float32(high))]
            nodes.append(_floats(start + "dequantize", _Range(node.name, start + "min", start + "max")))
    return with_nodes(graph, nodes)


def _hoisted(graph: Any, told: Told) -> Any:
    """Has numbers rounded before ops that keep their order, so that what computes them can give eight bits at once."""
    by_name = {node.name: node for node in graph.node}
    uses = consumers(graph)
    changed: dict[str, list[Any]] = {}
    for fake in graph.node:
        if fake.op != "FakeQuantWithMinMaxVars":
            continue
        above: list[Any] = []
        node = by_name.get(fake.input[0])
        while node is not None and node.op in _MONOTONE and uses[node.name] == 1 and node.name not in told.kept and len(node.input) == 1:
            above.append(node)
            node = by_name.get(node.input[0])
        if not above:
            continue
        early = made(fake.op, fake.name + "_hoisted", [above[-1].input[0], *fake.input[1:]], fake, fake.attr)
        changed[fake.name] = [early]
        for node in above:
            name = fake.name if node is above[0] else node.name
            changed[node.name] = [made(node.op, name, [early.name] if node is above[-1] else node.input, node, node.attr)]
    return with_nodes(graph, [made for node in graph.node for made in changed.get(node.name, [node])])


def _floats(name: str, of: _Range) -> Any:
    return made("Dequantize", name, of, T=tf.quint8, mode="MIN_FIRST")


class _Rewriting:
    """Goes through a graph in the order of execution, and knows of which tensors there are eight bits."""

    def __init__(self, graph: Any, told: Told) -> None:
        self._graph, self._told = graph, told
        self._uses = consumers(graph)
        self._nodes: list[Any] = []
        self._eight: dict[str, _Range] = {}
        self._wide: dict[str, _Range] = {}
        ends = [told.one(name) for name in ("fallback_min", "fallback_max")]
        self._fallback = None if None in ends else [np.float32(end) for end in ends]

    def result(self) -> Any:
        for node in self._graph.node:
            if node.op == "FakeQuantWithMinMaxVars" and said(node, "num_bits").i in (0, 8):
                self._round(node)
            elif _can_be_quantized(node):
                self._quantize(node)
            else:
                if node.op == "Dequantize" and said(node, "T").type == tf.quint8.as_datatype_enum and said(node, "mode").s == b"MIN_FIRST":
                    self._eight[node.name] = _Range(*node.input[:3])
                self._nodes.append(node)
        return with_nodes(self._graph, self._without_leftovers())

    def _quantize(self, node: Any) -> None:
        form = _FORMS[node.op]
        given = [name for name in node.input if not name.startswith("^")]
        waits = node.input[len(given) :]
        numbers = form.numbers(with_inputs := made(node.op, node.name, given))
        ranges = [self._eight_bits(node.name, given[i]) for i in numbers]
        inputs = list(with_inputs.input)
        for i, found in zip(numbers, ranges):
            inputs[i] = found.bits
        quantized = made("Quantized" + node.op, node.name + "/eightbit", [*form.order(inputs, ranges), *waits], node, form.stays)
        quantized.device = node.device
        for key in form.types:
            quantized.attr[key].type = tf.quint8.as_datatype_enum
        self._nodes.append(quantized)
        found = _Range.of(quantized.name)
        if form.wide is not None:
            quantized.attr[form.wide].type = tf.qint32.as_datatype_enum
            self._wide[node.name] = found
            found = self._narrowed(quantized.name + "/requantize", found, self._range_of(quantized.name))
        self._eight[node.name] = found
        self._nodes.append(_floats(node.name, found))

    def _range_of(self, name: str) -> Iterable[str]:
        """The range of a result of 32 bits: what was said, or what is found when the graph runs."""
        if self._fallback is None:
            self._nodes.append(made("RequantizationRange", name + "/requant_range", _Range.of(name), Tinput=tf.qint32))
            return (name + "/requant_range:0", name + "/requant_range:1")
        ends = [const(f"{name}/fallback_{end}", value) for end, value in zip(("min", "max"), self._fallback)]
        self._nodes += ends
        return [end.name for end in ends]

    def _narrowed(self, name: str, wide: _Range, ends: Iterable[str]) -> _Range:
        self._nodes.append(made("Requantize", name, [*wide, *ends], Tinput=tf.qint32, out_type=tf.quint8))
        return _Range.of(name)

    def _round(self, node: Any) -> None:
        """Rounds to a range that the graph says."""
        start, ends = node.name + "_eightbit/", node.input[1:3]
        wide = self._wide.get(node.input[0])
        if wide is None:
            self._nodes.append(made("QuantizeV2", start + "quantize", [node.input[0], *ends], T=tf.qint32, mode="MIN_FIRST"))
            wide = _Range.of(start + "quantize")
        self._eight[node.name] = self._narrowed(start + "requantize", wide, ends)
        self._nodes.append(_floats(node.name, self._eight[node.name]))

    def _eight_bits(self, asking: str, name: str) -> _Range:
        """A tensor in eight bits, with the range of what it holds if it is not there yet."""
        name = name.removesuffix(":0")
        if name not in self._eight:
            start = f"{asking}_eightbit/{name.replace(':', '__port__')}/"
            flat, waits = start + "reshape", ["^" + node_of(name)]
            for dims, value in (("reshape_dims", -1), ("reduction_dims", 0)):
                self._nodes.append(const(start + dims, np.array([value], np.int32)))
                self._nodes[-1].input.extend(waits)
            self._nodes.append(made("Reshape", flat, [name, start + "reshape_dims"], T=tf.float32))
            for op in ("Min", "Max"):
                self._nodes.append(made(op, start + op.lower(), [flat, start + "reduction_dims"], T=tf.float32, keep_dims=False))
            self._nodes.append(made("QuantizeV2", start + "quantize", [name, start + "min", start + "max"], T=tf.quint8, mode="MIN_FIRST"))
            self._eight[name] = _Range.of(start + "quantize")
        return self._eight[name]

    def _without_leftovers(self) -> list[Any]:
        """Leaves out floats of 32 bits' results that only rounding used, and then what nobody uses of what was made here."""
        rounded = {node.input[0] for node in self._graph.node if node.op == "FakeQuantWithMinMaxVars"}
        ours = {node.name for node in self._nodes} - {node.name for node in self._graph.node}
        ours |= {name for name in rounded if name in self._wide and self._uses[name] == 1}
        return without_unused(self._graph, self._nodes, ours - self._told.kept)


def _can_be_quantized(node: Any) -> bool:
    """Whether there is an op of eight bits that computes the same: on floats, channels last, without holes in filters."""
    return (
        node.op in _FORMS
        and said(node, "T").type == _FLOAT
        and is_plain(node)
        and not (node.op == "ResizeBilinear" and said(node, "half_pixel_centers").b)
    )


_LOGGED = re.compile(r";([^;]*)__print__;__requant_min_max:\[([^\]]*)\]\[([^\]]*)\]")


@transform
def freeze_requantization_ranges(graph: Any, told: Told) -> Any:
    """Takes the ranges of results from a log that the graph printed (`insert_logging`) instead of finding them in each run."""
    path = told.one("min_max_log_file")
    if not path:
        raise invalid_argument("You must pass a file name to min_max_log_file")
    found: dict[str, list[tuple[float, float]]] = {}
    with gfile.GFile(path) as log:
        for name, low, high in _LOGGED.findall(log.read()):
            try:
                found.setdefault(name, []).append((float(low), float(high)))
            except ValueError:
                continue
    if set(found) - {node.name for node in graph.node}:
        raise invalid_argument("Nodes were found in the log file that aren't present in the graph")
    shares = [float(told.one(name, 5)) / 100 for name in ("min_percentile", "max_percentile")]

    def frozen(node: Any) -> list[Any]:
        if node.op != "RequantizationRange" or node.name not in found:
            return [node]
        lows, highs = (sorted(ends) for ends in zip(*found[node.name]))
        last = len(lows) - 1
        low = lows[min(math.floor(len(lows) * shares[0] + 0.5), last)]
        high = highs[min(math.floor(len(highs) * (1 - shares[1]) + 0.5), last)]
        return [const(f"{node.name}/frozen_{end}", np.float32(number)) for end, number in (("min", low), ("max", high))]

    def change(given: str) -> str:
        name, _, port = given.partition(":")
        return f"{name}/frozen_{'max' if port == '1' else 'min'}:0" if name in found else given

    return rewired(graph, [made for node in graph.node for made in frozen(node)], change)
