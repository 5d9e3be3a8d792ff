"""Makes a frozen graph leaner: only what outputs need, no checks, batch normalization folded into convolutions."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.graph.dtypes import DTypeLike
from everflow.graph.graph_util import remove_training_nodes
from everflow.graph.tensor_proto import make_ndarray, make_tensor_proto
from everflow.platform import logging
from everflow.proto import attr_value_pb2, graph_pb2, node_def_pb2
from everflow.tools.graph_files import add_flag, read_proto, write_proto
from everflow.tools.strip_unused import strip_unused

internal("tools.optimize_for_inference")(sys.modules[__name__])

# Where the inputs of each normalization are, and what its epsilon is called.
_INPUTS = {
    "BatchNormWithGlobalNormalization": ("conv", "mean", "variance", "beta", "gamma"),
    "FusedBatchNorm": ("conv", "gamma", "beta", "mean", "variance"),
}
_INPUTS["FusedBatchNormV2"] = _INPUTS["FusedBatchNormV3"] = _INPUTS["FusedBatchNorm"]
_EPSILON = {"BatchNormWithGlobalNormalization": "variance_epsilon"}
INPUT_ORDER = internal("tools.optimize_for_inference_lib.INPUT_ORDER")(
    {
        "BatchNormWithGlobalNormalization": ["conv_op", "mean_op", "var_op", "beta_op", "gamma_op"],
        "FusedBatchNorm": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
    }
)
EPSILON_ATTR = internal("tools.optimize_for_inference_lib.EPSILON_ATTR")(
    {"BatchNormWithGlobalNormalization": "variance_epsilon", "FusedBatchNorm": "epsilon"}
)


@internal("tools.optimize_for_inference_lib.optimize_for_inference")
def optimize_for_inference(
    input_graph_def: Any,
    input_node_names: list[str],
    output_node_names: list[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
) -> Any:
    """The graph for inference."""
    ensure_graph_is_valid(input_graph_def)
    found = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    found = remove_training_nodes(found, output_node_names)
    found = fold_batch_norms(found)
    if not toco_compatible:
        found = fuse_resize_and_conv(found, output_node_names)
    ensure_graph_is_valid(found)
    return found


@internal("tools.optimize_for_inference_lib.ensure_graph_is_valid")
def ensure_graph_is_valid(graph_def: Any) -> None:
    """Raises where a name is there twice, or an input is not there."""
    names: set[str] = set()
    for node in graph_def.node:
        if node.name in names:
            raise ValueError("Duplicate node names detected for ", node.name)
        names.add(node.name)
    for node in graph_def.node:
        for source in node.input:
            if node_name_from_input(source) not in names:
                raise ValueError("Input for ", node.name, " not found: ", source)


@internal("tools.optimize_for_inference_lib.node_name_from_input")
def node_name_from_input(node_name: str) -> str:
    """The node that an input comes from."""
    return node_name.removeprefix("^").partition(":")[0]


@internal("tools.optimize_for_inference_lib.node_from_map")
def node_from_map(node_map: dict[str, Any], name: str) -> Any:
    """The node that an input comes from; ValueError where there is none."""
    stripped = node_name_from_input(name)
    if stripped not in node_map:
        raise ValueError(f"No node named '{name}' found in map.")
    return node_map[stripped]


@internal("tools.optimize_for_inference_lib.values_from_const")
def values_from_const(node_def: Any) -> np.ndarray:
    """The value of a constant."""
    if node_def.op != "Const":
        raise ValueError(f"Node named '{node_def.name}' should be a Const op for values_from_const.")
    return make_ndarray(node_def.attr["value"].tensor)


@internal("tools.optimize_for_inference_lib.scale_after_normalization")
def scale_after_normalization(node: Any) -> bool:
    """Whether a normalization uses its gamma."""
    return node.attr["scale_after_normalization"].b if node.op == "BatchNormWithGlobalNormalization" else True


def _constant(name: str, value: np.ndarray, dtype: DTypeLike) -> Any:
    node = node_def_pb2.NodeDef(op="Const", name=name)
    node.attr["dtype"].CopyFrom(dtype)
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, value.dtype.type, value.shape))
    return node


def _like(graph_def: Any, nodes: list[Any]) -> Any:
    found = graph_pb2.GraphDef()
    found.node.extend(nodes)
    for field in ("versions", "library"):
        if getattr(graph_def, field).ByteSize():
            getattr(found, field).CopyFrom(getattr(graph_def, field))
    return found


@internal("tools.optimize_for_inference_lib.fold_batch_norms")
def fold_batch_norms(input_graph_def: Any) -> Any:
    """Normalization by constants after a convolution with constant weights becomes other weights and a bias."""
    nodes: dict[str, Any] = {}
    for node in input_graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    gone: set[str] = set()
    new: list[Any] = []
    for node in input_graph_def.node:
        if node.op not in _INPUTS:
            continue
        place = {role: node_from_map(nodes, node.input[i]) for i, role in enumerate(_INPUTS[node.op])}
        convolution = place.pop("conv")
        if convolution.op not in ("Conv2D", "DepthwiseConv2dNative"):
            logging.warning("Didn't find expected Conv2D or DepthwiseConv2dNative input to '%s'", node.name)
            continue
        weights_node = node_from_map(nodes, convolution.input[1])
        if weights_node.op != "Const" or any(n.op != "Const" for n in place.values()):
            logging.warning("Didn't find expected constants as inputs of '%s' and '%s'", convolution.name, node.name)
            continue
        weights = values_from_const(weights_node)
        channels = weights.shape[3] if convolution.op == "Conv2D" else weights.shape[2] * weights.shape[3]
        # In double precision: the folded weights are rounded once.
        values = {role: values_from_const(n).astype(np.float64) for role, n in place.items()}
        if any(v.shape != (channels,) for v in values.values()):
            logging.warning("Incorrect shapes of the inputs of '%s', expected (%s,)", node.name, channels)
            continue
        epsilon = node.attr[_EPSILON.get(node.op, "epsilon")].f
        scale = 1.0 / np.sqrt(values["variance"] + epsilon)
        if scale_after_normalization(node):
            scale = scale * values["gamma"]
        offset = values["beta"] - values["mean"] * scale
        # A depthwise convolution gives channel k * multiplier + q of input channel k.
        scaled = weights * (scale if convolution.op == "Conv2D" else scale.reshape(weights.shape[2:]))
        dtype = weights_node.attr["dtype"]
        gone.update((node.name, weights_node.name, convolution.name))
        again = node_def_pb2.NodeDef()
        again.CopyFrom(convolution)
        bias = node_def_pb2.NodeDef(op="BiasAdd", name=node.name, input=[again.name, convolution.name + "_bn_offset"])
        bias.attr["T"].CopyFrom(convolution.attr["T"])
        bias.attr["data_format"].CopyFrom(convolution.attr["data_format"])
        new += [
            _constant(weights_node.name, scaled.astype(weights.dtype), dtype),
            again,
            _constant(convolution.name + "_bn_offset", offset.astype(weights.dtype), dtype),
            bias,
        ]
    kept = []
    for node in input_graph_def.node:
        if node.name not in gone:
            copied = node_def_pb2.NodeDef()
            copied.CopyFrom(node)
            kept.append(copied)
    return _like(input_graph_def, kept + new)


@internal("tools.optimize_for_inference_lib.fuse_resize_and_conv")
def fuse_resize_and_conv(input_graph_def: Any, output_node_names: list[str]) -> Any:
    """A resize or mirror padding before a convolution becomes part of it, where nothing else uses it."""
    nodes: dict[str, Any] = {}
    for node in input_graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    uses: dict[str, int] = dict.fromkeys(output_node_names, 1)
    for node in input_graph_def.node:
        for source in node.input:
            name = node_name_from_input(source)
            uses[name] = uses.get(name, 0) + 1
    gone: set[str] = set()
    new: list[Any] = []
    for convolution in input_graph_def.node:
        if convolution.op != "Conv2D":
            continue
        resize = pad = None
        source = node_from_map(nodes, convolution.input[0])
        if source.op == "MirrorPad":
            pad = source
            before = node_from_map(nodes, source.input[0])
            resize = before if before.op == "ResizeBilinear" else None
        elif source.op == "ResizeBilinear":
            resize = source
        if (pad is None and resize is None) or any(n is not None and uses[n.name] > 1 for n in (pad, resize)):
            continue
        gone.update(n.name for n in (convolution, pad, resize) if n is not None)
        first: Any = resize if resize is not None else pad
        inputs = [first.input[0]]
        if resize is not None:
            inputs.append(resize.input[1])
        if pad is not None:
            mode, paddings = pad.attr["mode"].s, pad.input[1]
        else:
            mode, paddings = b"REFLECT", convolution.name + "_dummy_paddings"
            new.append(_constant(paddings, np.zeros((4, 2), np.int32), _type_attr(3)))
        fused = node_def_pb2.NodeDef(
            op="FusedPadConv2D" if resize is None else "FusedResizeAndPadConv2D",
            name=convolution.name,
            input=[*inputs, paddings, convolution.input[1]],
        )
        fused.attr["T"].CopyFrom(convolution.attr["T"])
        if resize is not None:
            fused.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
        fused.attr["mode"].s = mode
        fused.attr["strides"].CopyFrom(convolution.attr["strides"])
        fused.attr["padding"].CopyFrom(convolution.attr["padding"])
        new.append(fused)
    return _like(input_graph_def, [node for node in input_graph_def.node if node.name not in gone] + new)


def _type_attr(number: int) -> Any:
    return attr_value_pb2.AttrValue(type=number)


def command(arguments: list[str]) -> int:
    """`everflow optimize_for_inference`."""
    parser = argparse.ArgumentParser(prog="optimize_for_inference", description=__doc__)
    parser.add_argument("--input", required=True, help="GraphDef file to read")
    parser.add_argument("--output", required=True, help="file to write")
    parser.add_argument("--input_names", default="", help="input nodes, comma separated")
    parser.add_argument("--output_names", default="", help="output nodes, comma separated")
    add_flag(parser, "--frozen_graph", True, "whether the input is binary; else it is text")
    parser.add_argument("--placeholder_type_enum", default="1", help="number of the placeholders' DataType, or one for each")
    add_flag(parser, "--toco_compatible", False, "whether to use only ops that TensorFlow Lite has")
    given = parser.parse_args(arguments)
    graph_def = read_proto(given.input, graph_pb2.GraphDef(), given.frozen_graph)
    types = [int(n) for n in given.placeholder_type_enum.split(",")]
    found = optimize_for_inference(
        graph_def, given.input_names.split(","), given.output_names.split(","), types if len(types) > 1 else types[0], given.toco_compatible
    )
    write_proto(given.output, found, given.frozen_graph)
    return 0


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
