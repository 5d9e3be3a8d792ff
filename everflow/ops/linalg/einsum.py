"""Contractions: tensordot and einsum, written as transposes, reshapes and one matrix product for each pair of tensors; and the op
Einsum, which contracts at once (`tf.einsum` builds the smaller ops)."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.errors import OpError, invalid_argument
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op


@public("tensordot", "linalg.tensordot")
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """The sum of products over the given axes of two tensors: a number of axes at a's end and b's start, or a list for each."""
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        axes_a, axes_b = _contracted_axes(a, axes)
        rows, free_a, known_a = _as_matrix(a, axes_a, axes_first=False)
        columns, free_b, known_b = _as_matrix(b, axes_b, axes_first=True)
        product = tf.matmul(rows, columns)
        if isinstance(free_a, list) and isinstance(free_b, list):
            return tf.reshape(product, free_a + free_b, name=scope)
        free_a, free_b = (convert_to_tensor(f, dtype=tf.int32) for f in (free_a, free_b))
        product = tf.reshape(product, tf.concat([free_a, free_b], 0), name=scope)
        if known_a is not None and known_b is not None:
            product.set_shape(known_a + known_b)
        return product


def _contracted_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if a.dims is None:
            rank = tf.rank(a)
            return tf.range(rank - axes, rank), tf.range(axes)
        rank = len(a.dims)
        if axes > rank:
            raise ValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
        return list(range(rank - axes, rank)), list(range(axes))
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            raise ValueError("'axes' must be an integer or have length 2.")
        of_a, of_b = ([side] if isinstance(side, int) else side for side in axes)
        if len(of_a) != len(of_b):
            raise ValueError(f"Different number of contraction axes 'a' and 'b', {len(of_a)} != {len(of_b)}.")
        return of_a, of_b
    axes = convert_to_tensor(axes, name="axes", dtype=tf.int32)
    return axes[0], axes[1]


def _as_matrix(t: Tensor, axes: Any, axes_first: bool) -> tuple[Any, Any, Any]:
    """A tensor as a matrix of free by contracted axes (or the other way round), its free sizes, and those known before running."""
    listed = isinstance(axes, (list, tuple))
    known: Any = None
    free: Any
    if listed and t.dims is not None:
        dims = t.dims
        axes = [i if i >= 0 else i + len(dims) for i in axes]
        free = [i for i in range(len(dims)) if i not in axes]
        known = [dims[i] for i in free]
        if shapes.is_fully_defined(dims):
            sizes: Any = math.prod(known), math.prod(dims[i] for i in axes)
            order = [*axes, *free] if axes_first else [*free, *axes]
            return tf.reshape(tf.transpose(t, order), sizes[::-1] if axes_first else sizes), known, known
        axes = convert_to_tensor(axes, dtype=tf.int32, name="axes")
        free = convert_to_tensor(free, dtype=tf.int32, name="free")
        shape = tf.shape(t)
    else:
        shape, rank = tf.shape(t), tf.rank(t)
        axes = convert_to_tensor(axes, dtype=tf.int32, name="axes")
        axes = tf.where(axes >= 0, axes, axes + rank)
        free, _ = tf.setdiff1d(tf.range(rank), axes)
    free_sizes, axes_sizes = tf.gather(shape, free), tf.gather(shape, axes)
    rows, columns = tf.reduce_prod(free_sizes), tf.reduce_prod(axes_sizes)
    if axes_first:
        order, sizes = tf.concat([axes, free], 0), tf.stack([columns, rows])
    else:
        order, sizes = tf.concat([free, axes], 0), tf.stack([rows, columns])
    return tf.reshape(tf.transpose(t, order), sizes), free_sizes, known


@public("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Sums of products by index letters: `einsum("ij,jk->ik", a, b)` is a matrix product."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError("invalid keyword arguments for this function: " + ", ".join(sorted(kwargs)))
    with name_scope(name, "einsum", [equation, inputs]):
        values = [convert_to_tensor(v, name="input") for v in inputs]
        terms, result = _parse(equation, values)
        if result is None:
            return tf.trace(values[0])
        if any(sum(label in term for term in terms) > 2 and label not in result for label in set("".join(terms))):
            return _by_broadcasting(values, terms, result)
        product, labels = values[0], terms[0]
        for value, term in zip(values[1:], terms[1:]):
            product, labels = _pairwise(product, labels, value, term, (set(labels) & set(term)) - set(result))
        return _arranged(product, labels, result, equation)


def _arranged(t: Any, labels: str, result: str, equation: str) -> Any:
    """Sums over the labels that the result lacks, and brings the others into its order."""
    left_over = [i for i, label in enumerate(labels) if label not in result]
    if left_over:
        t = tf.reduce_sum(t, axis=left_over)
        labels = "".join(label for label in labels if label in result)
    if len(labels) != len(result) or set(labels) != set(result):
        raise ValueError(f"Invalid equation: {equation}")
    return _transposed(t, [labels.index(label) for label in result])


def _parse(equation: str, inputs: list[Any]) -> tuple[list[str], str | None]:
    """The letters of each input and of the result; `...` becomes letters that are not in use. No result stands for a trace."""
    equation = equation.replace(" ", "")
    match = re.match("^([a-zA-Z,.]+)(->[a-zA-Z.]*)?$", equation)
    if not match:
        raise ValueError(f"Indices have incorrect format: {equation}")
    terms = match.group(1).split(",")
    result = match.group(2)[2:] if match.group(2) else None
    if len(inputs) != len(terms):
        raise ValueError(f'Got {len(inputs)} arguments for equation "{equation}", expecting {len(terms)}')
    spread = ""
    if "..." in equation:
        counts = [_ellipsis_size(term, value) for term, value in zip(terms, inputs)]
        spare = [c for c in string.ascii_letters if c not in equation]
        # Shapes that `...` stands for are aligned at their ends.
        spread = "".join(spare[len(spare) - max(counts) :])
        terms = [term.replace("...", spread[len(spread) - n :]) for term, n in zip(terms, counts)]
        result = result and result.replace("...", spread)
    if result is None and len(terms) == 1 and _reads_backwards(terms[0]):
        return terms, None
    for term in terms:
        if "." in term or len(set(term)) != len(term):
            raise ValueError(f"Subscript not supported: an axis appears more than once: {term}")
    if result is None:
        every = "".join(terms)
        once = sorted(c for c in set(every) if every.count(c) == 1 and c not in spread)
        result = spread + "".join(once)
    return terms, result


def _reads_backwards(term: str) -> bool:
    """Whether labels are mirrored, as in `ii`. TensorFlow takes the trace of such a tensor's last two axes, whatever its rank."""
    return len(set(term)) < len(term) and term == term[::-1] and max(map(term.count, term)) == 2


def _ellipsis_size(term: str, value: Any) -> int:
    """How many axes `...` stands for in a term."""
    parts = term.split("...")
    if len(parts) == 1:
        return 0
    if len(parts) > 2:
        raise ValueError(f"Unable to resolve ellipsis. Excess number found: {len(parts) - 1}")
    if value.dims is None:
        raise ValueError("Unable to statically infer ellipsis axes.")
    return max(len(value.dims) - len("".join(parts)), 0)


def _transposed(t: Any, order: list[int]) -> Any:
    return t if order == list(range(len(order))) else tf.transpose(t, perm=order)


def _reshaped(t: Any, sizes: list[Any]) -> Any:
    if t.dims is not None and len(t.dims) == len(sizes) and all(not isinstance(n, Tensor) and n == d for n, d in zip(sizes, t.dims)):
        return t
    return tf.reshape(t, sizes)


def _sizes(t: Any) -> list[Any]:
    """The sizes of a tensor: numbers where they are known, tensors where they are not."""
    if t.dims is None:
        raise ValueError("Cannot take the length of shape with unknown rank.")
    if None not in t.dims:
        return list(t.dims)
    shape = tf.shape(t)
    return [shape[i] if d is None else d for i, d in enumerate(t.dims)]


def _total(sizes: list[Any]) -> Any:
    result: Any = 1
    for n in sizes:
        result = result * n
    return result


def _pairwise(a: Any, labels_a: str, b: Any, labels_b: str, summed: set[str]) -> tuple[Any, str]:
    """The product of two tensors, summed over the given labels, with the labels of the result."""
    for which, t, labels in (("t0", a, labels_a), ("t1", b, labels_b)):
        if t.dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        if len(t.dims) != len(labels):
            raise ValueError(f"Tensor {which} of rank {len(t.dims)} does not match einsum reduction of length {len(labels)}")
    both = "".join(sorted((set(labels_a) & set(labels_b)) - summed))
    only_a = "".join(sorted(set(labels_a) - set(labels_b)))
    only_b = "".join(sorted(set(labels_b) - set(labels_a)))
    inner = "".join(sorted(summed))
    a = _transposed(a, [labels_a.index(c) for c in both + only_a + inner])
    b = _transposed(b, [labels_b.index(c) for c in both + inner + only_b])
    if not summed:
        for _ in only_b:
            a = tf.expand_dims(a, -1)
        for _ in only_a:
            b = tf.expand_dims(b, len(both))
        return tf.multiply(a, b), both + only_a + only_b
    sizes_a = _sizes(a)
    rows, inner_size = _total(sizes_a[len(both) : len(both + only_a)]), _total(sizes_a[len(both + only_a) :])
    a = _reshaped(a, [*sizes_a[: len(both)], rows, inner_size])
    sizes_b = _sizes(b)
    columns = _total(sizes_b[len(both + inner) :])
    b = _reshaped(b, [*sizes_b[: len(both)], inner_size, columns])
    product = tf.matmul(a, b)
    return _reshaped(product, [*sizes_a[: len(both + only_a)], *sizes_b[len(both + inner) :]]), both + only_a + only_b


def _by_broadcasting(values: list[Any], terms: list[str], result: str) -> Any:
    """For labels that more than two tensors share: the product over all labels at once, then the sum. It needs room for all."""
    summed = sorted(set("".join(terms)) - set(result))
    labels = [*summed, *result]
    values = [_transposed(v, [term.index(c) for c in labels if c in term]) for v, term in zip(values, terms)]
    product: Any = 1
    for value in [_with_ones(v, [c in term for c in labels]) for v, term in zip(values, terms)]:
        product = product * value
    return tf.reduce_sum(product, list(range(len(summed))))


def _with_ones(t: Any, present: list[bool]) -> Any:
    """The tensor with axes of size 1 where a label is not present."""
    sizes = iter(_sizes(t))
    return tf.reshape(t, [next(sizes) if there else 1 for there in present])


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


def _einsum(node: Node) -> Callable[..., Any]:
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


def _shape(o: Operation) -> Any:
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
            rest = shapes.broadcast(rest, tensor.dims[len(before) : end])
    if rest and _REST not in output:
        raise ValueError("Output subscripts must contain ellipsis when inputs broadcast over them")
    before, dots, after = output.partition(_REST)
    return (*(sizes[c] for c in before), *(rest if dots else ()), *(sizes[c] for c in after))


op("Einsum", kernel=_einsum, shape=_shape)
