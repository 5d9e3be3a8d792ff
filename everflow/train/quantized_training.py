"""Graphs that train as if they computed in few bits: what products and convolutions take is rounded to what the bits can hold.

Ranges are known of some activations; those of everything else follow the values by moving averages: variables that the first step sets.
"""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import InvalidArgumentError, NotFoundError, OutOfRangeError
from everflow.graph import opdefs
from everflow.proto import graph_pb2, node_def_pb2, types_pb2

_TARGETS = ("Conv2D", "MatMul")
# What has the range of its first input.
_LEAVES_RANGE = ("AvgPool", "AvgPool3D", "ConcatV2", "Identity", "MaxPool", "MaxPool3D", "Reshape")
# The signs and the ranges of activations; Relu's has no end that is known.
_RANGES: dict[str, tuple[bool, tuple[float, float] | None]] = {
    "Relu": (False, None),
    "Relu6": (False, (0.0, 6.0)),
    "Sigmoid": (False, (0.0, 1.0)),
    "Tanh": (True, (-1.0, 1.0)),
}
_DECAY = 0.999
_FLOAT = tf.float32.as_datatype_enum


def _parts(given: str) -> tuple[str, int]:
    """The node and the output that an input names."""
    name, _, number = given.partition(":")
    return name, int(number or 0)


class _Rewrite:
    """A graph that grows nodes; `ranges` are the variables that follow values."""

    def __init__(self, graph: Any, num_bits: int) -> None:
        self.graph = graph_pb2.GraphDef()
        self.graph.CopyFrom(graph)
        self.by_name = {node.name: node for node in self.graph.node}
        self.num_bits = num_bits
        self.ranges: list[str] = []
        self._quantized: dict[str, str] = {}

    def check(self) -> None:
        for node in self.graph.node:
            if opdefs.find(node.op) is None:
                raise NotFoundError(None, None, f"Op type not registered '{node.op}'")
            for given in node.input:
                if _parts(given.removeprefix("^"))[0] not in self.by_name:
                    raise InvalidArgumentError(None, None, f"Node '{node.name}': Unknown input node '{given}'")

    def add(self, op: str, name: str, *inputs: str, **attrs: Any) -> str:
        """A new node; a type stands for DT_ numbers, a bool or an int for itself."""
        node = self.graph.node.add(name=name, op=op, input=inputs)
        for key, value in attrs.items():
            if isinstance(value, tf.DType):
                node.attr[key].type = value.as_datatype_enum
            elif isinstance(value, bool):
                node.attr[key].b = value
            elif isinstance(value, int):
                node.attr[key].i = value
            elif isinstance(value, bytes):
                node.attr[key].s = value
            elif isinstance(value, list):
                node.attr[key].list.type.extend(dtype.as_datatype_enum for dtype in value)
            elif isinstance(value, tuple):
                node.attr[key].shape.SetInParent()
            else:
                node.attr[key].tensor.CopyFrom(value)
        self.by_name[name] = node
        return name

    def constant(self, name: str, value: Any, dtype: Any = tf.float32, shape: Any = ()) -> str:
        return self.add("Const", name, dtype=dtype, value=tf.make_tensor_proto(value, dtype, shape))

    def quantize_inputs(self, node: Any) -> None:
        if (dtype := tf.as_dtype(node.attr["T"].type)) != tf.float32:
            shown = types_pb2.DataType.Name(dtype.as_datatype_enum)
            raise InvalidArgumentError(None, None, f"Inconsistent values for attr 'T' DT_FLOAT vs. {shown} at the inputs of '{node.name}'")
        for i, given in enumerate(node.input):
            if not given.startswith("^"):
                node.input[i] = self._rounded(given)

    def _rounded(self, given: str) -> str:
        if given not in self._quantized:
            source, number = _parts(given)
            start = f"{source}_{number}" if number else source
            signed, known = self._range_of(source)
            if known is None:
                low, high = self._followed(start, given)
            else:
                low, high = (self.constant(f"{start}/Input{end}", value) for end, value in zip(("Min", "Max"), known))
            self._quantized[given] = self.add(
                "QuantizeAndDequantizeV2",
                f"{start}/QuantizeAndDequantizeV2",
                *(given, low, high),
                T=tf.float32,
                signed_input=signed,
                num_bits=self.num_bits,
                range_given=True,
                round_mode=b"HALF_TO_EVEN",
                narrow_range=False,
            )
        return self._quantized[given]

    def _range_of(self, name: str) -> tuple[bool, tuple[float, float] | None]:
        node = self.by_name[name]
        while node.op in _LEAVES_RANGE and node.input:
            node = self.by_name[_parts(node.input[0])[0]]
        return _RANGES.get(node.op, (True, None))

    def _followed(self, start: str, given: str) -> tuple[str, str]:
        """Nodes that keep the moving averages of the least and the greatest value, and give them."""
        decay = self.constant(f"{start}/Decay", _DECAY)
        axes = f"{start}/ReductionAxes/"
        first = self.constant(axes + "RangeStart", 0, tf.int32)
        step = self.constant(axes + "RangeDelta", 1, tf.int32)
        rank = self.add("Rank", axes + "InputRank", given, T=tf.float32)
        all_axes = self.add("Range", axes + "ReductionAxes", first, rank, step, Tidx=tf.int32)
        ends = [self.add(end, f"{start}/{end}", given, all_axes, T=tf.float32, Tidx=tf.int32, keep_dims=False) for end in ("Min", "Max")]
        low, high = (self._average(end, decay) for end in ends)
        return low, high

    def _average(self, value: str, decay: str) -> str:
        """A variable that becomes the first value, and from then on moves towards each; what it has become."""
        variable = self.add("VariableV2", f"{value}/Variable", dtype=tf.float32, shape=(), container=b"", shared_name=b"")
        self.ranges.append(variable)
        ready = self.add("IsVariableInitialized", f"{value}/IsInitialized", variable, dtype=tf.float32)
        switch = self.add("Switch", f"{value}/Switch", value, ready, T=tf.float32)
        one = self.constant(f"{value}/EMA/OneConst", 1.0)
        rate = self.add("Sub", f"{value}/EMA/DecayComplement", one, decay, T=tf.float32)
        difference = self.add("Sub", f"{value}/EMA/ValueDiff", variable, f"{switch}:1", T=tf.float32)
        update = self.add("Mul", f"{value}/EMA/UpdateValue", difference, rate, T=tf.float32)
        moved = self.add("Sub", f"{value}/EMA/EMAValue", variable, update, T=tf.float32)
        merged = self.add("Merge", f"{value}/Merge", switch, moved, T=tf.float32, N=2)
        return self.add("Assign", f"{value}/AssignValue", variable, merged, T=tf.float32, validate_shape=True, use_locking=True)

    def save_ranges(self) -> None:
        """Has the first saver of the graph save and restore the new variables too."""
        saving = next((node for node in self.graph.node if node.op == "SaveV2"), None)
        if saving is None or not self.ranges:
            return
        start = saving.name.rpartition("/")[0]
        restoring = self.by_name[f"{start}/restore_all"]
        for what, more in ((saving.input[1], self.ranges), (saving.input[2], [""] * len(self.ranges))):
            held = self.by_name[_parts(what)[0]].attr["value"].tensor
            texts = [*tf.make_ndarray(held).tolist(), *(text.encode() for text in more)]
            held.CopyFrom(tf.make_tensor_proto(texts, tf.string))
        assigned = []
        for i, variable in enumerate(self.ranges):
            restore = f"{start}/RestoreV2/_{2 * i}_qt"
            names = self.constant(f"{restore}/tensor_names", [variable], tf.string, [1])
            slices = self.constant(f"{restore}/shape_and_slices", [""], tf.string, [1])
            self.add("RestoreV2", restore, saving.input[0], names, slices, dtypes=[tf.float32])
            assigned.append(
                self.add(
                    "Assign", f"{start}/Assign/_{2 * i + 1}_qt", variable, restore, T=tf.float32, validate_shape=True, use_locking=True
                )
            )
        restoring.input[:] = sorted([*restoring.input, *(f"^{name}" for name in assigned)])
        saved = node_def_pb2.NodeDef()
        saved.CopyFrom(saving)
        saved.device = ""
        saved.input.extend(self.ranges)
        saved.attr["dtypes"].list.type.extend([_FLOAT] * len(self.ranges))
        self.graph.node.remove(saving)
        self.graph.node.append(saved)


@public("train.do_quantize_training_on_graphdef")
@internal("pywrap_tensorflow_internal.do_quantize_training_on_graphdef", "pywrap_tensorflow.do_quantize_training_on_graphdef")
def do_quantize_training_on_graphdef(input_graph: Any, num_bits: int) -> Any:
    """A copy of a GraphDef in which products and convolutions take what `num_bits` bits can hold; gradients stay as they are."""
    graph = graph_pb2.GraphDef.FromString(input_graph.SerializeToString())
    if not 1 <= num_bits <= 63:
        raise OutOfRangeError(None, None, f"num_bits should be in range [1, 63] but is: {num_bits}")
    rewrite = _Rewrite(graph, num_bits)
    rewrite.check()
    for node in [*rewrite.graph.node]:
        if node.op in _TARGETS and not node.name.startswith("gradients"):
            rewrite.quantize_inputs(node)
    rewrite.save_ranges()
    return rewrite.graph
