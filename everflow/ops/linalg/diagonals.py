"""Diagonals and bands of matrices: diag, matrix_diag, matrix_set_diag, matrix_band_part, eye."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import OpError, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.families import moving
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.platform.dispatch import add_dispatch_support

Kernel = Callable[..., Any]


def _diag(node: Node) -> Kernel:
    def run(x: Any) -> Any:
        if not x.ndim:
            raise invalid_argument("Input must be at least rank 1, got 0")
        return torch.diag_embed(x.reshape(-1)).reshape((*x.shape, *x.shape))

    return run


def _diag_shape(o: Operation) -> Any:
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 1)
    return None if dims is None else dims + dims


def _diag_part(node: Node) -> Kernel:
    def run(x: Any) -> Any:
        if x.ndim % 2:
            raise invalid_argument(f"The rank of the tensor should be {' ' * 41}even and positive, got shape {shown(x.shape)}")
        half = x.ndim // 2
        for i in range(half):
            if x.shape[i] != x.shape[i + half]:
                raise invalid_argument(f"Invalid shape {shown(x.shape)}: dimensions {i} and {i + half} do not match.")
        size = int(np.prod(x.shape[:half]))
        return x.reshape(size, size).diagonal().reshape(x.shape[:half])

    return run


def _diag_part_shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    if dims is None:
        return None
    if len(dims) % 2 or not dims:
        raise ValueError(f"Input must have even and non-zero rank, input rank is {len(dims)}")
    half = len(dims) // 2
    return tuple(shapes.merge_size(a, b) for a, b in zip(dims[:half], dims[half:]))


op("Diag", kernel=_diag, shape=_diag_shape, gradient=lambda o, dy: tensor_diag_part(dy))
op("DiagPart", kernel=_diag_part, shape=_diag_part_shape, gradient=lambda o, dy: tensor_diag(dy), view=True)


@public("diag", "linalg.tensor_diag")
def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor of twice the rank that is zero but for its diagonal."""
    return apply("Diag", diagonal, name=name)


@public("diag_part", "linalg.tensor_diag_part")
def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """The diagonal of a tensor whose dimensions come twice."""
    return apply("DiagPart", input, name=name)


def _at_least(x: Any, rank: int, what: str) -> None:
    if x.ndim < rank:
        raise invalid_argument(f"{what} must be at least {rank}-dim, received shape: {shown(x.shape)}")


def _band_of(k: Any) -> tuple[int, int]:
    """The lowest and highest diagonal that k names."""
    found = k.reshape(-1).tolist()
    if len(found) not in (1, 2):
        raise invalid_argument(f"diag_index must have only one or two elements, received {len(found)} elements.")
    low, high = found[0], found[-1]
    if low > high:
        raise invalid_argument(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def _length(rows: int, columns: int, k: int) -> int:
    return min(rows + min(k, 0), columns - max(k, 0))


def _matrix_diag(node: Node) -> Kernel:
    def simple(x: Any) -> Any:
        _at_least(x, 1, "diagonal")
        return torch.diag_embed(x)

    def run(x: Any, k: Any, num_rows: Any, num_cols: Any, padding: Any) -> Any:
        low, high = _band_of(k)
        _at_least(x, 1 if low == high else 2, "diagonal")
        longest = x.shape[-1]
        bands = 1 if low == high else x.shape[-2]
        if bands != high - low + 1:
            raise invalid_argument(
                "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range."
            )
        least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
        rows, columns = int(num_rows), int(num_cols)
        if rows == -1 and columns == -1:
            rows = columns = max(least_rows, least_columns)
        elif rows == -1:
            rows = least_rows
        elif columns == -1:
            columns = least_columns
        if rows < least_rows:
            raise invalid_argument("The number of rows is too small.")
        if columns < least_columns:
            raise invalid_argument("The number of columns is too small.")
        if rows != least_rows and columns != least_columns:
            raise invalid_argument("The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.")
        lead = x.shape[:-1] if low == high else x.shape[:-2]
        found = padding.expand((*lead, rows, columns)).clone()
        _set_band(found, x, low, high)
        return found

    return simple if len(node.inputs) == 1 else run


def _set_band(into: Any, diagonals: Any, low: int, high: int) -> None:
    """Writes diagonals, the highest first, each from the start of its row."""
    rows, columns = into.shape[-2:]
    for i, k in enumerate(range(high, low - 1, -1)):
        length = _length(rows, columns, k)
        one = diagonals if low == high else diagonals[..., i, :]
        into.diagonal(k, -2, -1).copy_(one[..., :length])


def _matrix_diag_shape(o: Operation) -> Any:
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 1)
    if len(o.inputs) == 1:
        return None if dims is None else (*dims, dims[-1])
    k, rows, columns = (known(t) for t in o.inputs[1:4])
    if dims is None or k is None:
        return None
    low, high = int(k.reshape(-1)[0]), int(k.reshape(-1)[-1])
    if low > high:
        raise ValueError("lower_diag_index is greater than upper_diag_index")
    lead = dims[:-1] if low == high else dims[:-2]
    if dims[-1] is None or rows is None or columns is None:
        return (*lead, None, None)
    least_rows, least_columns = dims[-1] - min(high, 0), dims[-1] + max(low, 0)
    r, c = int(rows), int(columns)
    if r == -1 and c == -1:
        r = c = max(least_rows, least_columns)
    r, c = least_rows if r == -1 else r, least_columns if c == -1 else c
    if r < least_rows:
        raise ValueError("num_rows is too small")
    if c < least_columns:
        raise ValueError("num_cols is too small.")
    if r != least_rows and c != least_columns:
        raise ValueError(
            "num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and the length of the "
            f"given diagonals.\nnum_rows = {r} != min_num_rows = {least_rows}, num_cols = {c} != min_num_cols = "
            f"{least_columns}"
        )
    return (*lead, r, c)


def _matrix_diag_part(node: Node) -> Kernel:
    def simple(x: Any) -> Any:
        _at_least(x, 2, "input")
        return x.diagonal(0, -2, -1)

    def run(x: Any, k: Any, padding: Any) -> Any:
        _at_least(x, 2, "input")
        low, high = _band_of(k)
        rows, columns = x.shape[-2:]
        _check_band(low, high, rows, columns)
        longest = max(_length(rows, columns, i) for i in (low, high, *((0,) if low < 0 < high else ())))
        if low == high:
            return x.diagonal(low, -2, -1)
        found = padding.expand((*x.shape[:-2], high - low + 1, longest)).clone()
        for i, d in enumerate(range(high, low - 1, -1)):
            one = x.diagonal(d, -2, -1)
            found[..., i, : one.shape[-1]] = one
        return found

    return simple if len(node.inputs) == 1 else run


def _check_band(low: int, high: int, rows: int, columns: int) -> None:
    if not (-rows < low < columns or low == 0):
        raise invalid_argument(f"lower_diag_index is out of bound: {low}. It must be between {-rows} and {columns}")
    if not (-rows < high < columns or high == 0):
        raise invalid_argument(f"upper_diag_index is out of bound: {high} It must be between {-rows} and {columns}")


def _matrix_diag_part_shape(o: Operation) -> Any:
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 2)
    if dims is None:
        return None
    rows, columns = dims[-2:]
    if len(o.inputs) == 1:
        return (*dims[:-2], None if rows is None or columns is None else min(rows, columns))
    k = known(o.inputs[1])
    if k is None:
        return None
    low, high = int(k.reshape(-1)[0]), int(k.reshape(-1)[-1])
    if low > high:
        raise ValueError("lower_diag_index is greater than upper_diag_index")
    longest = None
    if rows is not None and columns is not None:
        try:
            _check_band(low, high, rows, columns)
        except OpError as e:
            raise ValueError(e.message) from None
        longest = max(_length(rows, columns, i) for i in (low, high, *((0,) if low < 0 < high else ())))
    return (*dims[:-2], longest) if low == high else (*dims[:-2], high - low + 1, longest)


def _matrix_set_diag(node: Node) -> Kernel:
    def run(x: Any, diagonal: Any, k: Any = None) -> Any:
        _at_least(x, 2, "input")
        _at_least(diagonal, 1, "diagonal")
        low, high = (0, 0) if k is None else _band_of(k)
        rows, columns = x.shape[-2:]
        _check_band(low, high, rows, columns)
        longest = max(_length(rows, columns, i) for i in (low, high, *((0,) if low < 0 < high else ())))
        wanted = (*x.shape[:-2], longest) if low == high else (*x.shape[:-2], high - low + 1, longest)
        if tuple(diagonal.shape) != wanted:
            raise invalid_argument(
                "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal "
                "to the longests diagonal in range [lower_diag_index:upper_diag_index].\nInput shape: "
                f"{shown(x.shape)}\nDiagonal shape: {shown(diagonal.shape)}\nExpected diagonal shape: "
                f"{shown(wanted)}"
            )
        found = x.clone()
        _set_band(found, diagonal, low, high)
        return found

    return run


def _matrix_set_diag_shape(o: Operation) -> Any:
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 2)
    diagonal = shapes.with_rank_at_least(o.inputs[1].dims, 1)
    if dims is None:
        return None if diagonal is None or len(o.inputs) == 3 else (*diagonal[:-1], None, None)
    if len(o.inputs) == 2 and diagonal is not None:
        if len(diagonal) != len(dims) - 1:
            raise ValueError(f"Shape must be rank {len(dims) - 1} but is rank {len(diagonal)}")
        if dims[-1] is not None and dims[-2] is not None:
            smallest = min(dims[-2], dims[-1])
            if diagonal[-1] not in (None, smallest):
                raise ValueError(f"Dimensions must be equal, but are {smallest} and {diagonal[-1]}")
        lead: Any = shapes.merge(dims[:-2], diagonal[:-1])
        return (*lead, *dims[-2:])
    return dims


def _diag_part_gradient(o: Operation, dy: Any) -> Any:
    dims = o.inputs[0].dims
    if dims is not None and dims[-1] is not None and dims[-1] == dims[-2]:
        return matrix_diag(dy)
    return matrix_set_diag(tf.zeros_like(o.inputs[0]), dy)


def _diag_part_v2_gradient(o: Operation, dy: Any) -> Any:
    x, k = o.inputs[0], o.inputs[1]
    dims = x.dims
    if dims is not None and None not in dims[-2:]:
        found = apply("MatrixDiagV2", dy, k, dims[-2], dims[-1], tf.zeros([], dy.dtype))
    else:
        found = apply("MatrixSetDiagV2", tf.zeros_like(x), dy, k)
    return [found, None, None]


def _set_diag_gradient(o: Operation, dy: Any) -> Any:
    x, diagonal = o.inputs
    dims: Any = shapes.merge(x.dims, dy.dims)
    if dims is not None and None not in dims:
        smallest = (*dims[:-2], min(dims[-2:]))
        nothing = tf.zeros(smallest, dy.dtype)
    else:
        sizes, count = tf.shape(dy), tf.rank(dy)
        lead = tf.slice(sizes, [0], [count - 2])
        smallest = tf.reduce_min(tf.slice(sizes, [count - 2], [2]))
        nothing = tf.zeros(tf.concat([lead, [smallest]], 0), dy.dtype)
    return [matrix_set_diag(dy, nothing), matrix_diag_part(dy)]


def _set_diag_v2_gradient(o: Operation, dy: Any) -> Any:
    k = o.inputs[2]
    of_diagonal = apply("MatrixDiagPartV2", dy, k, tf.zeros([], dy.dtype))
    return [apply("MatrixSetDiagV2", dy, tf.zeros_like(of_diagonal), k), of_diagonal, None]


op("MatrixDiag", kernel=moving(_matrix_diag), shape=_matrix_diag_shape, gradient=lambda o, dy: matrix_diag_part(dy))
op(
    "MatrixDiagV2",
    kernel=moving(_matrix_diag, 0, 4),
    shape=_matrix_diag_shape,
    gradient=lambda o, dy: [apply("MatrixDiagPartV2", dy, o.inputs[1], tf.zeros([], dy.dtype)), None, None, None, None],
)
op("MatrixDiagPart", kernel=moving(_matrix_diag_part), shape=_matrix_diag_part_shape, gradient=_diag_part_gradient, view=True)
op("MatrixDiagPartV2", kernel=moving(_matrix_diag_part, 0, 2), shape=_matrix_diag_part_shape, gradient=_diag_part_v2_gradient, view=True)
op("MatrixSetDiag", kernel=moving(_matrix_set_diag, 0, 1), shape=_matrix_set_diag_shape, gradient=_set_diag_gradient)
op("MatrixSetDiagV2", kernel=moving(_matrix_set_diag, 0, 1), shape=_matrix_set_diag_shape, gradient=_set_diag_v2_gradient)
op("BatchMatrixDiag", kernel=_matrix_diag, shape=_matrix_diag_shape)
op("BatchMatrixDiagPart", kernel=_matrix_diag_part, shape=_matrix_diag_part_shape, view=True)
op("BatchMatrixSetDiag", kernel=moving(_matrix_set_diag, 0, 1), shape=_matrix_set_diag_shape)


def _has_bands() -> bool:
    """TensorFlow 1.15 takes the ops with `k` only where the program says that all readers of its graphs know them."""
    return tf.compat.forward_compatible(2019, 11, 30)


@public("matrix_diag", "linalg.diag")
def matrix_diag(diagonal: Any, name: str = "diag", k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0) -> Any:
    """Matrices with these diagonals and zeros elsewhere."""
    if _has_bands():
        if hasattr(diagonal, "dtype") and diagonal.dtype == dtypes.bool:
            padding_value = bool(padding_value)
        return apply("MatrixDiagV2", diagonal, k, num_rows, num_cols, padding_value, name=name)
    return apply("MatrixDiag", diagonal, name=name)


@public("matrix_diag_part", "linalg.diag_part")
@add_dispatch_support
def matrix_diag_part(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0) -> Any:
    """The diagonals of matrices."""
    if _has_bands():
        if hasattr(input, "dtype") and input.dtype == dtypes.bool:
            padding_value = bool(padding_value)
        return apply("MatrixDiagPartV2", input, k, padding_value, name=name)
    return apply("MatrixDiagPart", input, name=name)


@public("matrix_set_diag", "linalg.set_diag")
def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0) -> Any:
    """Matrices with other diagonals."""
    if _has_bands():
        return apply("MatrixSetDiagV2", input, diagonal, k, name=name)
    return apply("MatrixSetDiag", input, diagonal, name=name)


def _band_part(node: Node) -> Kernel:
    def run(x: Any, num_lower: Any, num_upper: Any) -> Any:
        _at_least(x, 2, "input")
        rows, columns = x.shape[-2:]
        lower, upper = int(num_lower), int(num_upper)
        if lower > rows:
            raise invalid_argument(f"num_lower must be negative or less or equal to number of rows ({rows}) got: {lower}")
        if upper > columns:
            raise invalid_argument(f"num_upper must be negative or less or equal to number of columns ({columns}) got: {upper}")
        offset = torch.arange(columns, device=x.device) - torch.arange(rows, device=x.device).unsqueeze(1)
        inside = torch.ones_like(offset, dtype=torch.bool)
        if lower >= 0:
            inside &= offset >= -lower
        if upper >= 0:
            inside &= offset <= upper
        return torch.where(inside, x, torch.zeros((), dtype=x.dtype, device=x.device))

    return run


op(
    "MatrixBandPart",
    kernel=_band_part,
    shape=same_as_input,
    gradient=lambda o, dy: [matrix_band_part(dy, o.inputs[1], o.inputs[2]), None, None],
)
op("BatchMatrixBandPart", kernel=_band_part, shape=same_as_input)


@public("matrix_band_part", "linalg.band_part")
def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """Matrices with zeros outside of a band around the diagonal; a negative width keeps that side whole."""
    return apply("MatrixBandPart", input, num_lower, num_upper, name=name)


@public("eye", "linalg.eye")
def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: dtypes.DTypeLike = dtypes.float32, name: str | None = None
) -> Any:
    """Identity matrices."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        square = num_columns is None
        lead = [] if batch_shape is None else batch_shape
        num_columns = num_rows if square else num_columns
        if isinstance(num_rows, tf.Tensor) or isinstance(num_columns, tf.Tensor):
            smallest = tf.minimum(num_rows, num_columns)
        else:
            if not isinstance(num_rows, (int, np.integer)) or not isinstance(num_columns, (int, np.integer)):
                raise TypeError("num_rows and num_columns must be positive integer values.")
            square = num_rows == num_columns
            smallest = min(num_rows, num_columns)
        if isinstance(lead, tf.Tensor) or isinstance(smallest, tf.Tensor):
            lead = convert_to_tensor(lead, name="shape", dtype=dtypes.int32)
            diagonal = tf.concat((lead, [smallest]), 0)
            whole = None if square else tf.concat((lead, [num_rows, num_columns]), 0)
        else:
            lead = list(lead) if not isinstance(lead, shapes.TensorShape) else lead.as_list()
            diagonal = [*lead, smallest]
            whole = None if square else [*lead, num_rows, num_columns]
        ones = tf.ones(diagonal, dtype)
        return matrix_diag(ones) if square else matrix_set_diag(tf.zeros(whole, dtype), ones)
