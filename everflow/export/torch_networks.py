"""The ops of networks and of loops in torch's words."""

from __future__ import annotations

from typing import Any

from everflow.export.program import Node
from everflow.export.torch_expressions import EXPRESSIONS, expresses
from everflow.export.values import CannotExpress, Value
from everflow.graph.constants import known

__all__ = ["EXPRESSIONS"]


def _is_first(n: Node) -> bool:
    return n.attr("data_format").startswith("NC")


def _spatial(n: Node, name: str) -> list[int]:
    sizes = list(n.attr(name))
    found = sizes[2:] if _is_first(n) else sizes[1:-1]
    if len(found) != len(sizes) - 2 or (sizes[0], sizes[1] if _is_first(n) else sizes[-1]) != (1, 1):
        raise CannotExpress(f"{name} over the batch or the channels")
    return found


def _format(n: Node) -> list[str]:
    return ["channels_first=True"] if _is_first(n) else []


def _padding(n: Node) -> str:
    if n.attr("padding") not in ("SAME", "VALID"):
        raise CannotExpress("explicit padding")
    return f'"{n.attr("padding")}"'


@expresses("Conv2D", "Conv3D")
def _convolution(n: Node) -> str:
    return n.call("convolution", n.t(), n.t(1), _spatial(n, "strides"), _padding(n), _spatial(n, "dilations"), *_format(n))


@expresses("DepthwiseConv2dNative")
def _depthwise(n: Node) -> str:
    return n.call("depthwise_convolution", n.t(), n.t(1), _spatial(n, "strides"), _padding(n), _spatial(n, "dilations"), *_format(n))


@expresses("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _transposed(n: Node) -> str:
    if set(_spatial(n, "dilations")) != {1}:
        raise CannotExpress("dilations")
    return n.call("transposed_convolution", n.ints(0), n.t(1), n.t(2), _spatial(n, "strides"), _padding(n), *_format(n))


@expresses("MaxPool", "MaxPool3D")
def _max_pool(n: Node) -> str:
    return n.call("max_pool", n.t(), _spatial(n, "ksize"), _spatial(n, "strides"), _padding(n), *_format(n))


@expresses("AvgPool", "AvgPool3D")
def _average_pool(n: Node) -> str:
    return n.call("average_pool", n.t(), _spatial(n, "ksize"), _spatial(n, "strides"), _padding(n), *_format(n))


@expresses("BiasAdd", "BiasAddV1")
def _bias_add(n: Node) -> str:
    if n.op.type == "BiasAdd" and _is_first(n):
        return n.call("add_bias", n.t(), n.t(1))
    return f"{n.t()} + {n.t(1)}"


@expresses("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(n: Node) -> list[Value]:
    epsilon = f"{n.attr('epsilon'):.8g}"
    if n.attr("is_training"):
        text = n.call("normalized_by_batch", *n.all(0, 3), epsilon, *_format(n))
    else:
        text = n.call("normalized", *n.all(0, 5), epsilon, *_format(n))
    name = n.program.names.new(n.op.name)
    n.program.line(f"{name} = {text}")
    return [Value(name, "tensor", n.dtype()), *([] if n.attr("is_training") else n.values[3:5])]


@expresses("LRN")
def _lrn(n: Node) -> str:
    return n.call("local_response_normalization", n.t(), n.attr("depth_radius"), *(f"{n.attr(a):.8g}" for a in ("bias", "alpha", "beta")))


@expresses("ResizeBilinear", "ResizeNearestNeighbor")
def _resize(n: Node) -> str:
    return n.call("resized", n.t(), n.ints(1), n.op.type == "ResizeBilinear", n.attr("align_corners"), n.attr("half_pixel_centers"))


@expresses("SpaceToDepth", "DepthToSpace")
def _space_and_depth(n: Node) -> str:
    if n.attr("data_format") != "NHWC":
        raise CannotExpress(n.attr("data_format"))
    return n.call("space_to_depth" if n.op.type == "SpaceToDepth" else "depth_to_space", n.t(), n.attr("block_size"))


# -- lists of tensors: TensorArrays, whose items are replaced, and tensor lists, which are values


@expresses("TensorArrayV3")
def _tensor_array(n: Node) -> list[Value]:
    if n.attr("dynamic_size"):
        raise CannotExpress("a size that grows")
    name = n.program.names.new(n.attr("tensor_array_name") or n.op.name)
    n.program.line(f"{name} = [None] * {n.integer(0)}")
    return [Value(name, "array", t.dtype) for t in n.op.outputs]


def _counts_up(n: Node) -> bool:
    """Whether the second input is 0, 1, 2, ...: all that is in the array."""
    source = n.op.inputs[1].op
    if source.type != "Range":
        return False
    start, step = (known(source.inputs[i]) for i in (0, 2))
    return start is not None and step is not None and (int(start), int(step)) == (0, 1)


@expresses("TensorArrayWriteV3")
def _write(n: Node) -> Value:
    n.program.line(f"{n.t()}[{n.integer(1)}] = {n.t(2)}")
    return n.value(n.t(), "array")


@expresses("TensorArrayScatterV3")
def _scatter(n: Node) -> Value:
    if _counts_up(n):
        n.program.line(f"{n.t()}[:] = {n.t(2)}.unbind(0)")
    else:
        row = n.program.names.new("row")
        with n.program.block(f"for i, {row} in zip({n.ints(1)}, {n.t(2)}):"):
            n.program.line(f"{n.t()}[i] = {row}")
    return n.value(n.t(), "array")


@expresses("TensorArrayReadV3")
def _read(n: Node) -> str:
    return f"{n.t()}[{n.integer(1)}]"


@expresses("TensorArrayGatherV3")
def _gather(n: Node) -> str:
    return f"torch.stack({n.t()})" if _counts_up(n) else f"torch.stack([{n.t()}[i] for i in {n.ints(1)}])"


@expresses("TensorArraySizeV3")
def _array_size(n: Node) -> Value:
    return n.value(f"len({n.t()})", "int")


@expresses("TensorListReserve")
def _reserve(n: Node) -> str:
    return f"[None] * {n.integer(1)}"


@expresses("EmptyTensorList")
def _empty_list(n: Node) -> str:
    return "[]"


@expresses("TensorListFromTensor")
def _from_tensor(n: Node) -> str:
    return f"list({n.t()}.unbind(0))"


@expresses("TensorListSetItem")
def _set_item(n: Node) -> str:
    return n.call("with_item", n.t(), n.integer(1), n.t(2))


@expresses("TensorListGetItem")
def _get_item(n: Node) -> str:
    return f"{n.t()}[{n.integer(1)}]"


@expresses("TensorListPushBack")
def _push_back(n: Node) -> str:
    return f"{n.t()} + [{n.t(1)}]"


@expresses("TensorListStack")
def _stack(n: Node) -> str:
    return f"torch.stack({n.t()})"


@expresses("TensorListLength")
def _list_length(n: Node) -> Any:
    return n.value(f"len({n.t()})", "int")
