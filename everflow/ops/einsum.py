"""The op Einsum, which contracts tensors by an equation at once. (`tf.einsum` itself builds smaller ops.)"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import OpError, invalid_argument
from everflow.graph import shapes
from everflow.lazy import torch
from everflow.ops.registry import op

_REST = "..."


def _parsed(equation: Any) -> tuple[list[str], str]:
    text = (equation.decode() if isinstance(equation, bytes) else equation).replace(" ", "")
    inputs, arrow, output = text.partition("->")
    if not arrow:
        raise invalid_argument(f"Expecting exactly one '->' in einsum equation: {text}")
    return inputs.split(","), output


def _rest_rank(labels: str, rank: int) -> int:
    """How many dimensions stand for the dots."""
    named = len(labels.replace(_REST, ""))
    if _REST in labels and rank >= named:
        return rank - named
    if rank != named:
        raise invalid_argument(f"Expected input to have rank {'at least ' if _REST in labels else ''}{named} but got: {rank}")
    return 0


def _einsum(node: Any) -> Callable[..., Any]:
    inputs, output = _parsed(node.attr("equation"))
    single = "".join(dict.fromkeys(output.replace(_REST, "")))
    doubled = len(single) != len(output.replace(_REST, ""))
    # Labels that come twice in the output lie on its diagonals, which are filled in afterwards.
    plain = output if not doubled else (_REST if _REST in output else "") + single
    equation = ",".join(inputs) + "->" + plain

    def run(*tensors: Any) -> Any:
        rests = [_rest_rank(labels, x.ndim) for labels, x in zip(inputs, tensors)]
        if any(rests) and _REST not in output:
            raise invalid_argument("Output subscripts must contain ellipsis when inputs broadcast over them")
        small = tensors[0].dtype in (torch.float16, torch.bfloat16)
        try:
            found = torch.einsum(equation, *[x.float() if small else x for x in tensors])
        except RuntimeError as e:
            raise invalid_argument(str(e).splitlines()[0]) from None
        found = found.to(tensors[0].dtype)
        return _on_diagonals(found, output, single) if doubled else found

    return run


def _on_diagonals(found: Any, output: str, single: str) -> Any:
    before, _, after = output.partition(_REST) if _REST in output else (output, "", "")
    rest = found.ndim - len(single)
    sizes = dict(zip(single, found.shape[rest:]))
    dims = [*(sizes[c] for c in before), *found.shape[:rest], *(sizes[c] for c in after)]
    out = found.new_zeros(dims)
    strides = out.stride()
    where = [*before, *range(rest), *after]
    steps = [sum(s for s, w in zip(strides, where) if w == label) for label in [*range(rest), *single]]
    out.as_strided(found.shape, steps).copy_(found)
    return out


def _shape(o: Any) -> Any:
    inputs, output = _parsed(o.attr("equation"))
    if len(inputs) != len(o.inputs):
        raise ValueError(f"Expected {len(inputs)} inputs for equation {o.attr('equation')!r} but got: {len(o.inputs)}")
    sizes: dict[str, int | None] = {}
    rest: Any = ()
    for labels, tensor in zip(inputs, o.inputs):
        if tensor.dims is None:
            return None
        try:
            count = _rest_rank(labels, len(tensor.dims))
        except OpError as e:
            raise ValueError(e.message) from None
        before, dots, after = labels.partition(_REST)
        end = len(before) + count
        for label, size in [*zip(before, tensor.dims), *zip(after, tensor.dims[end:])]:
            sizes[label] = shapes.merge_size(sizes.get(label), size)
        if dots:
            rest = shapes.broadcast(rest, tensor.dims[len(before):end])
    if rest and _REST not in output:
        raise ValueError("Output subscripts must contain ellipsis when inputs broadcast over them")
    before, dots, after = output.partition(_REST)
    return (*(sizes[c] for c in before), *(rest if dots else ()), *(sizes[c] for c in after))


op("Einsum", kernel=_einsum, shape=_shape)
