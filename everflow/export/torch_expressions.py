"""What ops are in torch's words. A text is filled with the inputs; a function gets the node and returns the expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.export.program import Node
from everflow.export.tidying import opening
from everflow.export.values import CannotExpress, Value, literal, torch_type

EXPRESSIONS: dict[str, str | Callable[[Node], Any]] = {
    "Abs": "torch.abs({0})",
    "Acos": "torch.acos({0})",
    "Acosh": "torch.acosh({0})",
    "Asin": "torch.asin({0})",
    "Asinh": "torch.asinh({0})",
    "Atan": "torch.atan({0})",
    "Atan2": "torch.atan2({0}, {1})",
    "Atanh": "torch.atanh({0})",
    "Ceil": "torch.ceil({0})",
    "Cos": "torch.cos({0})",
    "Cosh": "torch.cosh({0})",
    "Digamma": "torch.digamma({0})",
    "Erf": "torch.erf({0})",
    "Erfc": "torch.erfc({0})",
    "Exp": "torch.exp({0})",
    "Expm1": "torch.expm1({0})",
    "Floor": "torch.floor({0})",
    "IsFinite": "torch.isfinite({0})",
    "IsInf": "torch.isinf({0})",
    "IsNan": "torch.isnan({0})",
    "Lgamma": "torch.lgamma({0})",
    "Log": "torch.log({0})",
    "Log1p": "torch.log1p({0})",
    "Neg": "-{0}",
    "Reciprocal": "1 / {0}",
    "Inv": "1 / {0}",
    "Rint": "torch.round({0})",
    "Round": "torch.round({0})",
    "Rsqrt": "torch.rsqrt({0})",
    "Sigmoid": "torch.sigmoid({0})",
    "Sign": "torch.sign({0})",
    "Sin": "torch.sin({0})",
    "Sinh": "torch.sinh({0})",
    "Sqrt": "torch.sqrt({0})",
    "Square": "torch.square({0})",
    "Tan": "torch.tan({0})",
    "Tanh": "torch.tanh({0})",
    "Elu": "F.elu({0})",
    "Relu": "torch.relu({0})",
    "Relu6": "torch.clamp({0}, 0, 6)",
    "Selu": "F.selu({0})",
    "Softplus": "F.softplus({0})",
    "Softsign": "F.softsign({0})",
    "Softmax": "torch.softmax({0}, -1)",
    "LogSoftmax": "torch.log_softmax({0}, -1)",
    "L2Loss": "torch.sum(torch.square({0})) / 2",
    "LogicalNot": "~{0}",
    "LogicalAnd": "{0} & {1}",
    "LogicalOr": "{0} | {1}",
    "Maximum": "torch.maximum({0}, {1})",
    "Minimum": "torch.minimum({0}, {1})",
    "SquaredDifference": "torch.square({0} - {1})",
    "FloorMod": "torch.remainder({0}, {1})",
    "Mod": "torch.fmod({0}, {1})",
    "TruncateMod": "torch.fmod({0}, {1})",
    "TruncateDiv": 'torch.div({0}, {1}, rounding_mode="trunc")',
    "ClipByValue": "torch.clamp({0}, {1}, {2})",
    "ZerosLike": "torch.zeros_like({0})",
    "OnesLike": "torch.ones_like({0})",
    "SelectV2": "torch.where({0}, {1}, {2})",
    "Where": "torch.nonzero({0})",
    "InvertPermutation": "torch.argsort({0}).to({0}.dtype)",
    "MatrixInverse": "torch.linalg.inv({0})",
}


def expresses(*types: str) -> Callable[[Callable[[Node], Any]], Callable[[Node], Any]]:
    """Says what ops of these types are."""

    def note(express: Callable[[Node], Any]) -> Callable[[Node], Any]:
        EXPRESSIONS.update(dict.fromkeys(types, express))
        return express

    return note


def _arithmetic(sign: str) -> Callable[[Node], Any]:
    def express(n: Node) -> Any:
        kinds = {n.kind(0), n.kind(1)}
        if "int" in kinds and kinds <= {"int", "constant"} and sign in ("+", "-", "*", "//"):
            return n.value(f"({n.integer(0)} {sign} {n.integer(1)})", "int")
        return f"{n.operand(0)} {sign} {n.operand(1)}"

    return express


for _type, _sign in {
    "Add": "+",
    "AddV2": "+",
    "Sub": "-",
    "Mul": "*",
    "RealDiv": "/",
    "FloorDiv": "//",
    "Less": "<",
    "LessEqual": "<=",
    "Greater": ">",
    "GreaterEqual": ">=",
    "Equal": "==",
    "NotEqual": "!=",
}.items():
    EXPRESSIONS[_type] = _arithmetic(_sign)


@expresses("Div")
def _div(n: Node) -> Any:
    return EXPRESSIONS["TruncateDiv"].format(*n.all()) if n.dtype().is_integer else f"{n.operand(0)} / {n.operand(1)}"  # type: ignore


@expresses("Pow")
def _pow(n: Node) -> str:
    return f"torch.pow({n.operand(0)}, {n.operand(1)})"


@expresses("DivNoNan")
def _div_no_nan(n: Node) -> str:
    return n.call("no_nan_division", *n.all())


@expresses("AddN", "AccumulateNV2")
def _add_n(n: Node) -> str:
    return " + ".join(n.all())


@expresses("LeakyRelu")
def _leaky_relu(n: Node) -> str:
    return f"F.leaky_relu({n.t()}, {n.attr('alpha'):.8g})"


@expresses("Cast")
def _cast(n: Node) -> str:
    return f"{n.t()}.to({torch_type(n.attr('DstT'))})"


@expresses("Select")
def _select(n: Node) -> str:
    return n.call("select", *n.all())


# -- sums and their kin


def _axes(n: Node) -> str:
    axes = n.constant(1)
    if axes is None:
        return n.ints(1)
    found = axes.reshape(-1).tolist()
    return repr(tuple(found)) if len(found) != 1 else repr(found[0])


_OF_INTS = {"Sum": "sum", "Max": "max", "Min": "min"}


def _reduction(function: str) -> Callable[[Node], Any]:
    def express(n: Node) -> Any:
        axes = n.constant(1)
        if axes is not None and axes.size == 0:
            return n.values[0]
        if n.kind(0) == "ints" and n.op.type in _OF_INTS and not n.attr("keep_dims"):
            return n.value(f"{_OF_INTS[n.op.type]}({n.ints(0)})", "int")
        x = n.t()
        keep = ", keepdim=True" if n.attr("keep_dims") else ""
        # Sums of small integers are 64 bits long in torch.
        kind = f", dtype={torch_type(n.dtype())}" if n.op.type == "Sum" and n.dtype().is_integer else ""
        return f"{function}({x}, dim={_axes(n)}{keep}{kind})"

    return express


EXPRESSIONS.update(
    {
        "Sum": _reduction("torch.sum"),
        "Mean": _reduction("torch.mean"),
        "Max": _reduction("torch.amax"),
        "Min": _reduction("torch.amin"),
        "All": _reduction("torch.all"),
        "Any": _reduction("torch.any"),
    }
)


@expresses("Prod")
def _prod(n: Node) -> Any:
    if n.kind(0) == "ints" and not n.attr("keep_dims"):
        return n.value(f"math.prod({n.ints(0)})", "int")
    axes = n.constant(1)
    return n.call("product", n.t(), n.ints(1) if axes is None else axes.reshape(-1).tolist(), n.attr("keep_dims"))


@expresses("ArgMax", "ArgMin")
def _arg(n: Node) -> str:
    kind = "" if n.attr("output_type").name == "int64" else f".to({torch_type(n.attr('output_type'))})"
    return f"torch.{n.op.type.lower()}({n.t()}, {n.integer(1)}){kind}"


@expresses("TopKV2", "TopK")
def _top(n: Node) -> str:
    k = n.integer(1) if len(n) > 1 else n.attr("k")
    names = [n.program.names.new(n.op.name) for _ in range(2)]
    n.program.line(f"{', '.join(names)} = torch.topk({n.t()}, {k}, sorted={n.attr('sorted')})")
    return f"{names[0]}, {names[1]}.to(torch.int32)"


@expresses("Cumsum")
def _cumsum(n: Node) -> str:
    return n.call("cumulated", n.t(), n.integer(1), n.attr("exclusive"), n.attr("reverse"))


# -- products


@expresses("MatMul")
def _matmul(n: Node) -> str:
    a, b = (f"{n.t(i)}.T" if n.attr(name) else n.t(i) for i, name in enumerate(("transpose_a", "transpose_b")))
    return f"{a} @ {b}"


@expresses("BatchMatMul", "BatchMatMulV2")
def _batch_matmul(n: Node) -> str:
    a, b = (f"{n.t(i)}.mH" if n.attr(name) else n.t(i) for i, name in enumerate(("adj_x", "adj_y")))
    return f"{a} @ {b}"


# -- parts and shapes; shapes are lists of plain numbers


@expresses("Shape")
def _shape(n: Node) -> Value:
    return n.value(f"list({n.t()}.shape)", "ints")


@expresses("Size")
def _size(n: Node) -> Value:
    return n.value(f"{n.t()}.numel()", "int")


@expresses("Rank")
def _rank(n: Node) -> Value:
    return n.value(f"{n.t()}.dim()", "int")


@expresses("Reshape")
def _reshape(n: Node) -> str:
    return f"{n.t()}.reshape({_unpacked(n.ints(1))})"


def _unpacked(ints: str) -> str:
    """A list of ints as arguments, where it is written as a list."""
    return ints[1:-1] if ints[0] == "[" and len(ints) > 2 and opening(ints) == 0 else ints


@expresses("ExpandDims")
def _expand_dims(n: Node) -> Any:
    if n.kind() == "int":
        return n.value(f"[{n.integer(0)}]", "ints")
    return f"{n.t()}.unsqueeze({n.integer(1)})"


@expresses("Squeeze")
def _squeeze(n: Node) -> str:
    axes = n.attr("squeeze_dims")
    return f"{n.t()}.squeeze({tuple(axes) if axes else ''})"


@expresses("Transpose")
def _transpose(n: Node) -> str:
    return f"{n.t()}.permute({_unpacked(n.ints(1))})"


@expresses("ConcatV2", "Concat")
def _concat(n: Node) -> Any:
    last = len(n) - 1
    parts, axis = (range(last), last) if n.op.type == "ConcatV2" else (range(1, last + 1), 0)
    kinds = {n.kind(i) for i in parts}
    if "ints" in kinds and kinds <= {"ints", "constant"}:
        return n.value(f"({' + '.join(n.ints(i) for i in parts)})", "ints")
    return f"torch.cat([{', '.join(n.t(i) for i in parts)}], {n.integer(axis)})"


@expresses("Pack")
def _pack(n: Node) -> Any:
    kinds = {n.kind(i) for i in range(len(n))}
    if "int" in kinds and kinds <= {"int", "constant"}:
        return n.value(f"[{', '.join(n.integer(i) for i in range(len(n)))}]", "ints")
    return f"torch.stack([{', '.join(n.all())}], {n.attr('axis')})"


@expresses("Unpack")
def _unpack(n: Node) -> str:
    return f"{n.t()}.unbind({n.attr('axis')})" + ("[0]" if n.attr("num") == 1 else "")


@expresses("Split")
def _split(n: Node) -> str:
    count = n.attr("num_split")
    return n.t(1) if count == 1 else f"torch.tensor_split({n.t(1)}, {count}, {n.integer(0)})"


@expresses("SplitV")
def _split_v(n: Node) -> str:
    sizes = n.constant(1)
    if sizes is None or (sizes < 0).any():
        raise CannotExpress("sizes that are not known")
    return f"torch.split({n.t()}, {sizes.tolist()}, {n.integer(2)})" + ("[0]" if sizes.size == 1 else "")


@expresses("StridedSlice")
def _strided_slice(n: Node) -> Any:
    begin, end, strides = (n.constant(i) for i in (1, 2, 3))
    if strides is None:
        raise CannotExpress("strides that are not known")
    masks = {name: n.attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}

    def at(i: int, known: Any, index: int) -> str:
        return str(int(known[i])) if known is not None else f"{n.ints(index)}[{i}]"

    texts, backwards = [], []
    for i, step in enumerate(strides.tolist()):

        def says(mask: str, i: int = i) -> bool:
            return bool(masks[mask] >> i & 1)

        if says("ellipsis"):
            texts.append("...")
        elif says("new_axis"):
            texts.append("None")
        elif says("shrink_axis"):
            texts.append(at(i, begin, 1))
        else:
            start, stop = "" if says("begin") else at(i, begin, 1), "" if says("end") else at(i, end, 2)
            if step < 0:
                backwards.append((i, start, stop, step))
                texts.append(":")
            else:
                texts.append(f"{'' if start == '0' else start}:{stop}" + (f":{step}" if step != 1 else ""))
    if n.kind(0) == "ints" and len(texts) == 1 and not backwards:
        source = n.ints(0)
        source = source[5:-1] if source.startswith("list(") and source.endswith(".shape)") and masks["shrink_axis"] else source
        return n.value(f"{source}[{texts[0]}]", "int" if masks["shrink_axis"] else "ints")
    if backwards and (masks["shrink_axis"] or masks["new_axis"] or masks["ellipsis"]):
        raise CannotExpress("negative strides beside other changes")
    x = n.t()
    for axis, start, stop, step in backwards:
        x = n.call("every_nth", x, axis, start or "None", stop or "None", step)
    while texts and texts[-1] == ":":
        texts.pop()
    return f"{x}[{', '.join(texts)}]" if texts else x


@expresses("Slice")
def _slice(n: Node) -> str:
    begin, size = n.constant(1), n.constant(2)
    rank = n.rank() if begin is None else len(begin)
    if rank is None:
        raise CannotExpress("a rank that is not known")
    texts = []
    for i in range(rank):
        start = str(int(begin[i])) if begin is not None else f"{n.ints(1)}[{i}]"
        if size is not None and size[i] == -1:
            texts.append(f"{start}:")
        elif size is not None and begin is not None:
            texts.append(f"{start}:{int(begin[i]) + int(size[i])}")
        elif size is not None:
            texts.append(f"{start}:{start} + {int(size[i])}")
        else:
            raise CannotExpress("sizes that are not known")
    return f"{n.t()}[{', '.join(texts)}]"


@expresses("GatherV2", "Gather", "ResourceGather")
def _gather(n: Node) -> Any:
    axis = n.integer(2) if len(n) > 2 else "0"
    if n.op.type != "Gather" and n.attr("batch_dims"):
        raise CannotExpress("batch dimensions")
    if n.kind(0) == "ints" and n.rank(1) == 0:
        return n.value(f"{n.ints(0)}[{n.integer(1)}]", "int")
    if axis == "0" and n.rank() == 2 and n.dtype().is_floating:
        return f"F.embedding({n.t(1)}, {n.t()})"
    return n.call("taken", n.t(), n.t(1), axis)


@expresses("GatherNd", "ResourceGatherNd")
def _gather_nd(n: Node) -> str:
    return n.call("taken_at", n.t(), n.t(1))


@expresses("ScatterNd")
def _scatter_nd(n: Node) -> str:
    return n.call("scattered", n.t(0), n.t(1), n.ints(2))


@expresses("DynamicPartition")
def _dynamic_partition(n: Node) -> str:
    count = n.attr("num_partitions")
    parts = [f"{n.t()}[{n.t(1)} == {i}]" for i in range(count)]
    return ", ".join(parts)


@expresses("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(n: Node) -> str:
    half = len(n) // 2
    return n.call("stitched", f"[{', '.join(n.all(0, half))}]", f"[{', '.join(n.all(half))}]")


@expresses("Fill")
def _fill(n: Node) -> str:
    kind = torch_type(n.op.outputs[0].dtype)
    if n.kind(1) == "constant":
        return f"torch.full({n.ints(0)}, {literal(n.constant(1)[()])}, dtype={kind})"
    return f"{n.t(1)}.expand({n.ints(0)})"


@expresses("BroadcastTo")
def _broadcast_to(n: Node) -> str:
    return f"{n.t()}.expand({n.ints(1)})"


@expresses("Tile")
def _tile(n: Node) -> str:
    return f"{n.t()}.repeat({_unpacked(n.ints(1))})"


@expresses("Range")
def _range(n: Node) -> str:
    return f"torch.arange({', '.join(n.number(i) for i in range(3))}, dtype={torch_type(n.op.outputs[0].dtype)})"


@expresses("OneHot")
def _one_hot(n: Node) -> str:
    return n.call("one_hot", n.t(0), n.integer(1), n.t(2), n.t(3), n.attr("axis"))


@expresses("ReverseV2")
def _reverse(n: Node) -> str:
    return f"torch.flip({n.t()}, {n.ints(1)})"


@expresses("ReverseSequence")
def _reverse_sequence(n: Node) -> str:
    return n.call("reversed_parts", n.t(), n.t(1), n.attr("seq_dim"), n.attr("batch_dim"))


@expresses("Pad", "PadV2")
def _pad(n: Node) -> str:
    value = [] if len(n) < 3 else [n.number(2)]
    return n.call("padded", n.t(), n.ints(1), *value)


@expresses("MirrorPad")
def _mirror_pad(n: Node) -> str:
    return n.call("mirrored", n.t(), n.ints(1), n.attr("mode") == "REFLECT")
