"""What the ops of a network do to receptive fields: kernel, stride and padding along the two axes of images."""

from __future__ import annotations

from typing import Any, NamedTuple

from everflow.api import public
from everflow.graph.tensor_proto import make_ndarray

UNCHANGED = frozenset(
    (
        "Add",
        "AddN",
        "AddV2",
        "BiasAdd",
        "Cast",
        "Ceil",
        "Concat",
        "ConcatV2",
        "Const",
        "Floor",
        "FusedBatchNorm",
        "FusedBatchNormV2",
        "FusedBatchNormV3",
        "Identity",
        "Log",
        "Mul",
        "Pow",
        "RealDiv",
        "Relu",
        "Relu6",
        "Round",
        "Rsqrt",
        "Softplus",
        "Sub",
        "VariableV2",
        "LRN",
        "GreaterEqual",
        "Max",
        "Elu",
        "Selu",
        "Sigmoid",
        "Tanh",
        "Sqrt",
        "Square",
        "StopGradient",
        "Maximum",
        "Minimum",
        "Neg",
        "Placeholder",
        "ReadVariableOp",
        "VarHandleOp",
        "LeakyRelu",
        "Exp",
    )
)
WINDOWS = frozenset(("Conv2D", "DepthwiseConv2dNative", "MaxPool", "AvgPool"))


class Window(NamedTuple):
    """(vertical, horizontal) kernel, stride, padding before the image, and on both sides of it; a padding is None where the image's size
    decides it."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int | None, int | None]
    total_padding: tuple[int | None, int | None]

    def output_size(self, size: Any) -> list[int | None]:
        """The [height, width] that is left of an image's."""
        sides = zip(size, self.total_padding, self.kernel, self.stride)
        return [None if n is None or more is None else -(-(n + more - kernel + 1) // stride) for n, more, kernel, stride in sides]


SAME_PLACE = Window((1, 1), (1, 1), (0, 0), (0, 0))


def window_of(node: Any, nodes: dict[str, Any], input_size: Any = None) -> Window:
    """What a node of a GraphDef does; ValueError where that is not known. `input_size` is the (height, width) it gets, if known."""
    if node.op in UNCHANGED:
        return SAME_PLACE
    if node.op == "Pad":
        return _of_pad(node, nodes)
    if node.op == "MaxPoolV2":
        return _window(node, _constant(node.input[1], nodes), _constant(node.input[2], nodes), input_size)
    if not is_known(node):
        raise ValueError(f"Unknown layer for operation '{node.name}': {node.op}")
    strides = list(node.attr["strides"].list.i)
    if node.op in ("MaxPool", "AvgPool"):
        return _window(node, list(node.attr["ksize"].list.i), strides, input_size)
    return _of_convolution(node, nodes, strides, input_size)


def is_known(node: Any) -> bool:
    """Whether it is known what a node does."""
    return node.op in UNCHANGED or node.op in WINDOWS or node.op in ("Pad", "MaxPoolV2")


def _axes(node: Any) -> tuple[int, int]:
    return (2, 3) if node.attr["data_format"].s == b"NCHW" else (1, 2)


def _of_convolution(node: Any, nodes: dict[str, Any], strides: list[int], input_size: Any) -> Window:
    rows, columns = _kernel_shape(node.input[1], nodes)[:2]
    sizes = [1, 1, 1, 1]
    dilations = list(node.attr["dilations"].list.i) or [1, 1, 1, 1]
    for axis, size in zip(_axes(node), (rows, columns)):
        sizes[axis] = (size - 1) * dilations[axis] + 1
    return _window(node, sizes, strides, input_size)


def _kernel_shape(name: str, nodes: dict[str, Any]) -> list[int]:
    """The shape of a kernel: of a constant, or of the variable that is read."""
    node = nodes[_node_name(name)]
    while node.op not in ("Const", "VariableV2", "VarHandleOp", "Placeholder", "Variable"):
        if not node.input:
            raise ValueError(f"The kernel '{name}' has no known shape")
        node = nodes[_node_name(node.input[0])]
    if node.op == "Const":
        return [d.size for d in node.attr["value"].tensor.tensor_shape.dim]
    return [d.size for d in node.attr["shape"].shape.dim]


def _constant(name: str, nodes: dict[str, Any]) -> list[int]:
    node = nodes[_node_name(name)]
    while node.op == "Identity":
        node = nodes[_node_name(node.input[0])]
    if node.op != "Const":
        raise ValueError(f"'{name}' should be a constant, and is a {node.op}")
    return make_ndarray(node.attr["value"].tensor).tolist()


def _of_pad(node: Any, nodes: dict[str, Any]) -> Window:
    paddings: Any = _constant(node.input[1], nodes)
    if len(paddings) != 4:
        raise ValueError(f"Pad '{node.name}' is not one of images")
    # Images are padded where the channels are not.
    rows, columns = (1, 2) if paddings[3] == [0, 0] else (2, 3)
    above, left = paddings[rows], paddings[columns]
    return Window((1, 1), (1, 1), (above[0], left[0]), (sum(above), sum(left)))


def _window(node: Any, sizes: list[int], strides: list[int], input_size: Any) -> Window:
    axes = _axes(node)
    kernel, stride = (tuple(values[a] for a in axes) for values in (sizes, strides))
    kind = node.attr["padding"].s.decode()
    if kind == "VALID":
        totals = [{0}, {0}]
    elif kind == "SAME":
        totals = [_same_paddings(*sides) for sides in zip(kernel, stride, input_size or (None, None))]
    else:
        raise ValueError(f"Invalid padding operation {kind} of '{node.name}'")
    vertical, horizontal = totals
    before = _only({n // 2 for n in vertical}), _only({n // 2 for n in horizontal})
    return Window((kernel[0], kernel[1]), (stride[0], stride[1]), before, (_only(vertical), _only(horizontal)))


def _same_paddings(kernel: int, stride: int, size: int | None) -> set[int]:
    """What may be added on both sides of an image."""
    rests = range(stride) if size is None else [size % stride]
    return {max(kernel - (rest or stride), 0) for rest in rests}


def _only(found: set[int]) -> int | None:
    return next(iter(found)) if len(found) == 1 else None


@public("contrib.receptive_field.python.util.parse_layer_parameters.get_layer_params")
def get_layer_params(node: Any, name_to_node: dict[str, Any], input_resolution: Any = None, force: bool = False) -> tuple[int | None, ...]:
    """Kernel, stride, padding before and padding on both sides of a node, each horizontal before vertical; None instead of an error for
    nodes of other kinds if `force`."""
    if force and not is_known(node):
        return (None,) * 8
    return tuple(values[axis] for values in window_of(node, name_to_node, input_resolution) for axis in (1, 0))


def _node_name(name: str) -> str:
    return name.removeprefix("^").partition(":")[0]
