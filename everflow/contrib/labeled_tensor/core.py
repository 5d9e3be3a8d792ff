"""LabeledTensor and what needs no more than its axes: slices, transposes, alignment, element-wise functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.labeled_tensor.axes import HOME, Axes, Axis, AxisOrderError, consistent_order, get_axis_order, order_in_force, shown
from everflow.graph.convert import convert_to_tensor


@public(HOME + "LabeledTensor")
class LabeledTensor:
    """A tensor with named axes; an axis is a name, a pair of name and size or labels, or an Axis."""

    def __init__(self, tensor: Any, axes: Any) -> None:
        tensor = convert_to_tensor(tensor)
        if tensor.shape.ndims is None:
            raise ValueError("The rank of a labeled tensor must be known.")
        given = list(axes.values() if isinstance(axes, Axes) else axes)
        sizes = list(tensor.shape.dims)
        if len(given) != len(sizes):
            raise ValueError(f"Tensor had {len(sizes)} axes, but {len(given)} were given: {given!r}")
        full = Axes([(axis, size) if isinstance(axis, str) else axis for axis, size in zip(given, sizes)])
        for axis, size in zip(full.values(), sizes):
            if axis.size is not None and size.value is not None and axis.size != size.value:
                raise ValueError(f"Axis {axis.name!r} has size {axis.size}, but the tensor's dimension has size {size.value}.")
        # An axis of unknown size has that of the tensor, and the other way round.
        tensor.set_shape([axis.size for axis in full.values()])
        self._axes = Axes([axis if axis.labels is not None else Axis(axis.name, s) for axis, s in zip(full.values(), tensor.shape.dims)])
        self._tensor = tensor

    @property
    def tensor(self) -> Any:
        """The tensor without names."""
        return self._tensor

    @property
    def axes(self) -> Axes:
        """Its axes."""
        return self._axes

    @property
    def name(self) -> str:
        """The name of the tensor."""
        return self._tensor.name

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return self._tensor.dtype

    @property
    def shape(self) -> Any:
        """Its static shape."""
        return self._tensor.shape

    def get_shape(self) -> Any:
        """Its static shape."""
        return self._tensor.get_shape()

    def _as_graph_element(self) -> Any:
        """What a session fetches."""
        return self._tensor

    def __repr__(self) -> str:
        axes = [shown(axis) for axis in self.axes.values()]
        listed = ",\n       ".join(axes)
        return f"<LabeledTensor '{self.tensor.name}' shape={self.shape} dtype={self.dtype.name}\n axes=[{listed}]>"

    def __getitem__(self, key: Any) -> LabeledTensor:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self.axes):
            raise ValueError(f"indexer {key!r} must have the same length as the Tensor rank ({len(self.axes)})")
        selection = {name: k for name, k in zip(self.axes, keys) if not (isinstance(k, slice) and k == slice(None))}
        return slice_function(self, selection)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabeledTensor) and self.tensor is other.tensor and self.axes == other.axes

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((id(self.tensor), self.axes))

    def __abs__(self) -> LabeledTensor:
        return UNARY["abs"](self)

    def __neg__(self) -> LabeledTensor:
        return UNARY["neg"](self)

    def __pos__(self) -> LabeledTensor:
        return self

    def __invert__(self) -> LabeledTensor:
        return UNARY["logical_not"](self)

    # `array + labeled` asks the labeled tensor.
    __array_priority__ = 100


def _as_tensor(value: LabeledTensor, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    if dtype is not None and dtype != value.dtype:
        raise ValueError(f"Tensor conversion requested dtype {dtype} for LabeledTensor with dtype {value.dtype}: {value!r}")
    return value.tensor


tf.register_tensor_conversion_function(LabeledTensor, _as_tensor)


@public(HOME + "convert_to_labeled_tensor")
def convert_to_labeled_tensor(value: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
    """A labeled tensor itself, or one without axes of a scalar."""
    if isinstance(value, LabeledTensor):
        found = value
    else:
        tensor = convert_to_tensor(value, dtype=dtype, name=name)
        if tensor.shape.ndims is None or tensor.shape.ndims > 0:
            raise ValueError(f"only scalar (rank 0) tensors can be converted to labeled tensors, but got {value!r}")
        found = LabeledTensor(tensor, [])
    if dtype is not None and found.dtype != tf.as_dtype(dtype):
        raise TypeError(f"expected tensor with dtype {dtype}, but got {found.dtype}")
    return found


@public(HOME + "identity")
def identity(labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
    """The tensor with its axes; see tf.identity."""
    with tf.name_scope(name, "lt_identity", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(tf.identity(lt.tensor, name=scope), lt.axes)


@public(HOME + "slice")
def slice_function(labeled_tensor: Any, selection: Mapping[str, Any], name: str | None = None) -> LabeledTensor:
    """Parts by place: `{"x": 3}` leaves the axis out, `{"x": slice(1, 4)}` keeps it with its labels."""
    with tf.name_scope(name, "lt_slice", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        keys = tuple(selection.get(axis, slice(None)) for axis in lt.axes)
        tensor = lt.tensor[keys] if keys else lt.tensor
        axes: list[Any] = []
        for axis, key in zip(lt.axes.values(), keys):
            if not isinstance(key, slice):
                continue
            if axis.labels is not None:
                axes.append(Axis(axis.name, axis.labels[key]))
            elif key == slice(None):
                axes.append(axis)
            else:
                axes.append(axis.name)
        return LabeledTensor(tf.identity(tensor, name=scope), axes)


@public(HOME + "transpose")
def transpose(labeled_tensor: Any, axis_order: Iterable[str] | None = None, name: str | None = None) -> LabeledTensor:
    """The axes in another order, the reverse one if none is given."""
    with tf.name_scope(name, "lt_transpose", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        before = list(lt.axes)
        order = before[::-1] if axis_order is None else list(axis_order)
        if sorted(before) != sorted(order):
            raise ValueError(f"The new axis order must have the same names as the original axes, but the new order is {order} while the "
                             f"original order is {before}")  # fmt: skip
        tensor = tf.transpose(lt.tensor, [before.index(axis) for axis in order], name=scope)
        return LabeledTensor(tensor, [lt.axes[axis] for axis in order])


@public(HOME + "expand_dims")
def expand_dims(labeled_tensor: Any, axes: Iterable[Any], name: str | None = None) -> LabeledTensor:
    """Adds axes of size 1: those among `axes` (names, or pairs of name and label) that the tensor does not have."""
    with tf.name_scope(name, "lt_expand", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        wanted = [axis if isinstance(axis, str) else axis[0] for axis in axes] if not isinstance(axes, (list, tuple)) else list(axes)
        names = [axis if isinstance(axis, str) else axis[0] for axis in wanted]
        kept = [n for n in names if n in lt.axes]
        if kept != list(lt.axes):
            raise AxisOrderError(f"Can't expand dims: axes {list(lt.axes)} are not in the same order in {names}")
        found: list[Any] = []
        sizes = []
        dynamic = tf.shape(lt.tensor) if not lt.shape.is_fully_defined() else None
        for axis, axis_name in zip(wanted, names):
            if axis_name in lt.axes:
                found.append(lt.axes[axis_name])
                place = list(lt.axes).index(axis_name)
                size = lt.axes[axis_name].size
                sizes.append(size if size is not None else dynamic[place])  # type: ignore[index]
            else:
                found.append(Axis(axis_name, 1) if isinstance(axis, str) else Axis(axis_name, [axis[1]]))
                sizes.append(1)
        return LabeledTensor(tf.reshape(lt.tensor, sizes, name=scope), found)


@public(HOME + "check_axis_order")
def check_axis_order(labeled_tensor: Any, axis_order: list[str] | None = None) -> None:
    """AxisOrderError unless the tensor's axes stand in this order."""
    lt = convert_to_labeled_tensor(labeled_tensor)
    order = order_in_force(axis_order)
    names = list(lt.axes)
    if missing := [n for n in names if n not in order]:
        raise AxisOrderError(f"{missing} not found in axis order {order!r}")
    if names != [n for n in order if n in names]:
        raise AxisOrderError(f"axes on {names} are not in the order {order!r}")


@public(HOME + "impose_axis_order")
def impose_axis_order(labeled_tensor: Any, axis_order: list[str] | None = None, name: str | None = None) -> LabeledTensor:
    """The tensor with its axes in this order."""
    with tf.name_scope(name, "lt_impose_axis_order", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        order = order_in_force(axis_order)
        if missing := [n for n in lt.axes if n not in order]:
            raise AxisOrderError(f"{missing} not found in axis order {order!r}")
        return transpose(lt, [n for n in order if n in lt.axes], name=scope)


@public(HOME + "align")
def align(labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None) -> tuple[LabeledTensor, LabeledTensor, Axes]:
    """Both tensors with the axes of both, of size 1 where one lacks it, and the axes of what they broadcast to."""
    with tf.name_scope(name, "lt_align", [labeled_tensor_0, labeled_tensor_1]) as scope:
        a, b = convert_to_labeled_tensor(labeled_tensor_0), convert_to_labeled_tensor(labeled_tensor_1)
        for axis in a.axes:
            if axis in b.axes and a.axes[axis] != b.axes[axis]:
                raise ValueError(f"Mismatched {axis!r} axis on input tensors: {a.axes[axis]!r} and {b.axes[axis]!r}")
        order = get_axis_order()
        if order is not None:
            names = [n for n in order if n in a.axes or n in b.axes]
            if missing := [n for n in (*a.axes, *b.axes) if n not in order]:
                raise AxisOrderError(f"{missing} not found in axis order {order!r}")
            a, b = transpose(a, [n for n in order if n in a.axes]), transpose(b, [n for n in order if n in b.axes])
        else:
            found = consistent_order(list(a.axes), list(b.axes))
            if found is None:
                raise AxisOrderError(
                    f"No common axis order exists: {list(a.axes)!r} and {list(b.axes)!r}. Use transpose or an axis_order_scope."
                )
            names = found
        axes = Axes([a.axes[n] if n in a.axes else b.axes[n] for n in names])
        return expand_dims(a, names, name=scope + "0"), expand_dims(b, names, name=scope + "1"), axes


@public(HOME + "define_unary_op")
def define_unary_op(op_name: str, elementwise_function: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    """A function of one labeled tensor from one of tensors."""
    scope_name = f"lt_{op_name}"

    def op(labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
        with tf.name_scope(name, scope_name, [labeled_tensor]) as scope:
            lt = convert_to_labeled_tensor(labeled_tensor)
            return LabeledTensor(elementwise_function(lt.tensor, name=scope), lt.axes)

    op.__doc__ = f"Computes tf.{op_name} of each element of a labeled tensor."
    op.__name__ = op_name
    return op


@public(HOME + "define_binary_op")
def define_binary_op(op_name: str, elementwise_function: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    """A function of two labeled tensors, which are aligned, from one of tensors."""
    scope_name = f"lt_{op_name}"

    def op(labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None) -> LabeledTensor:
        with tf.name_scope(name, scope_name, [labeled_tensor_0, labeled_tensor_1]) as scope:
            a, b, axes = align(labeled_tensor_0, labeled_tensor_1)
            return LabeledTensor(elementwise_function(a.tensor, b.tensor, name=scope), axes)

    op.__doc__ = f"Computes tf.{op_name} of the elements of two labeled tensors with the same labels."
    op.__name__ = op_name
    return op


UNARY = {
    name: define_unary_op(name, function)
    for name, function in {
        "abs": tf.abs, "neg": tf.negative, "sign": tf.sign, "reciprocal": tf.reciprocal, "square": tf.square, "round": tf.round,
        "sqrt": tf.sqrt, "rsqrt": tf.rsqrt, "exp": tf.exp, "log": tf.log, "ceil": tf.ceil, "floor": tf.floor, "cos": tf.cos,
        "sin": tf.sin, "tan": tf.tan, "acos": tf.acos, "asin": tf.asin, "atan": tf.atan, "lgamma": tf.lgamma, "digamma": tf.digamma,
        "erf": tf.erf, "erfc": tf.erfc, "logical_not": tf.logical_not, "tanh": tf.tanh, "sigmoid": tf.sigmoid,
    }.items()
}  # fmt: skip
BINARY = {
    name: define_binary_op(name, function)
    for name, function in {
        "add": tf.add, "sub": tf.subtract, "mul": tf.multiply, "div": tf.div, "mod": tf.mod, "pow": tf.pow, "equal": tf.equal,
        "greater": tf.greater, "greater_equal": tf.greater_equal, "not_equal": tf.not_equal, "less": tf.less,
        "less_equal": tf.less_equal, "logical_and": tf.logical_and, "logical_or": tf.logical_or, "logical_xor": tf.logical_xor,
        "maximum": tf.maximum, "minimum": tf.minimum, "squared_difference": tf.squared_difference, "igamma": tf.igamma,
        "igammac": tf.igammac, "zeta": tf.zeta, "polygamma": tf.polygamma,
    }.items()
}  # fmt: skip
for _name, _function in (UNARY | BINARY).items():
    public(HOME + _name)(_function)


def _operator(name: str, reflected: bool) -> Callable[[Any, Any], LabeledTensor]:
    function = BINARY[name]
    return (lambda self, other: function(other, self)) if reflected else (lambda self, other: function(self, other))


_ARITHMETIC = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "div": "div", "mod": "mod", "pow": "pow", "and": "logical_and",
    "or": "logical_or", "xor": "logical_xor",
}  # fmt: skip
for _symbol, _name in _ARITHMETIC.items():
    setattr(LabeledTensor, f"__{_symbol}__", _operator(_name, False))
    setattr(LabeledTensor, f"__r{_symbol}__", _operator(_name, True))
for _symbol, _name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(LabeledTensor, f"__{_symbol}__", _operator(_name, False))
