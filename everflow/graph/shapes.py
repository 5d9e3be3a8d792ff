"""Static shapes.

Inside, a shape is a plain tuple of sizes, with None for a size that is not known, or None itself when not even the rank
is known. `TensorShape` and `Dimension` are what programs see; the functions at the end are for shape rules, work on the
tuples, and word their errors as TensorFlow's shape functions do.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from everflow.api import internal, public
from everflow.graph.dtypes import DType

Dims = tuple[int | None, ...] | None

_v2_tensorshape = False


@public("enable_v2_tensorshape")
def enable_v2_tensorshape() -> None:
    """From now on, indexing and iterating over a `TensorShape` gives ints and None instead of `Dimension`s."""
    global _v2_tensorshape
    _v2_tensorshape = True


@public("disable_v2_tensorshape")
def disable_v2_tensorshape() -> None:
    """From now on, indexing and iterating over a `TensorShape` gives `Dimension`s."""
    global _v2_tensorshape
    _v2_tensorshape = False


def _size(value: Any) -> int | None:
    """What a user's value means as the size of a dimension."""
    if value is None or (type(value) is int and value >= 0):
        return value
    if isinstance(value, Dimension):
        return value._value
    if isinstance(value, DType):
        raise TypeError(f"Cannot convert {value} to Dimension")
    size = int(value)
    if not isinstance(value, (str, bytes)) and size != value:
        raise ValueError(f"Ambiguous dimension: {value}")
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def _arithmetic(compute: Callable[[int, int], int]) -> tuple[Callable, Callable]:
    """An operator of `Dimension` and its reflected form; an unknown size on either side makes the result unknown."""

    def apply(left: Any, right: Any) -> Any:
        try:
            left, right = _size(left), _size(right)
        except (TypeError, ValueError):
            return NotImplemented
        return Dimension(None if left is None or right is None else compute(left, right))

    return apply, lambda self, other: apply(other, self)


def _comparison(compare: Callable[[int, int], bool]) -> Callable:
    """An ordering of `Dimension`s; None when a side is unknown."""

    def apply(self: Dimension, other: Any) -> bool | None:
        left, right = self._value, _size(other)
        return None if left is None or right is None else compare(left, right)

    return apply


@public("Dimension")
class Dimension:
    """The size of one dimension of a tensor: a number, or unknown."""

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self._value = _size(value)

    @property
    def value(self) -> int | None:
        """The size as a number, or None."""
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __eq__(self, other: Any) -> Any:
        try:
            size = _size(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if self._value is None or size is None else self._value == size

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        return equal if equal is None or equal is NotImplemented else not equal

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]

    __index__ = __int__

    def __reduce__(self) -> Any:
        return Dimension, (self._value,)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both could be the same size."""
        size = _size(other)
        return self._value is None or size is None or self._value == size

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError if the two can't be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """What is known of both together."""
        self.assert_is_compatible_with(other)
        return Dimension(other if self._value is None else self._value)

    __add__, __radd__ = _arithmetic(operator.add)
    __sub__, __rsub__ = _arithmetic(operator.sub)
    __mul__, __rmul__ = _arithmetic(operator.mul)
    __floordiv__, __rfloordiv__ = _arithmetic(operator.floordiv)
    __mod__, __rmod__ = _arithmetic(operator.mod)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)

    # Python 2 programs divide with `/`.
    def __div__(self, other: Any) -> Any:
        return self // other

    def __rdiv__(self, other: Any) -> Any:
        return other // self

    def __truediv__(self, other: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please use // instead")

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please use // instead")


def _dims(value: Any) -> Dims:
    """What a user's value means as a shape: None, a size, sizes, a `TensorShape` or its proto."""
    if value is None:
        return None
    if isinstance(value, TensorShape):
        return value._tuple
    if isinstance(value, (str, bytes)):
        raise TypeError(f"A string has ambiguous TensorShape, please wrap in a list or convert to an int: {value!s}")
    # A TensorShapeProto, known by its field: only who made one has protobuf loaded.
    if hasattr(value, "unknown_rank"):
        return None if value.unknown_rank else tuple(None if d.size == -1 else _size(d.size) for d in value.dim)
    try:
        sizes = iter(value)
    except TypeError:
        return (_size(value),)
    return tuple(_size(size) for size in sizes)


@public("TensorShape")
class TensorShape:
    """The static shape of a tensor, known in full, in part or not at all."""

    __slots__ = ("_tuple", "__weakref__")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, dims: Any) -> None:
        self._tuple = _dims(dims)

    @classmethod
    def from_dims(cls, dims: Dims) -> TensorShape:
        """The shape with these sizes, taken as they are."""
        shape = object.__new__(cls)
        shape._tuple = dims
        return shape

    def as_dims(self) -> Dims:
        """The sizes as a tuple of int or None; None if the rank is unknown."""
        return self._tuple

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as `Dimension`s; None if the rank is unknown."""
        return None if self._tuple is None else [Dimension(size) for size in self._tuple]

    _dims = dims

    @property
    def _v2_behavior(self) -> bool:
        return _v2_tensorshape

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self._tuple is None else len(self._tuple)

    ndims = rank

    def __repr__(self) -> str:
        if self._tuple is None:
            return "TensorShape(None)"
        return f"TensorShape({list(self._tuple) if _v2_tensorshape else self.dims})"

    def __str__(self) -> str:
        if self._tuple is None:
            return "<unknown>"
        unknown = "None" if _v2_tensorshape else "?"
        sizes = [unknown if size is None else str(size) for size in self._tuple]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

    def __len__(self) -> int:
        if self._tuple is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._tuple)

    def __bool__(self) -> bool:
        return self._tuple is not None

    def __iter__(self) -> Iterator[Any]:
        if self._tuple is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._tuple) if _v2_tensorshape else map(Dimension, self._tuple)

    def __getitem__(self, key: Any) -> Any:
        if self._tuple is not None:
            if isinstance(key, slice):
                return TensorShape.from_dims(self._tuple[key])
            if not hasattr(key, "__index__"):
                raise TypeError(f"list indices must be integers or slices, not {type(key).__name__}")
            try:
                size = self._tuple[key]
            except IndexError:
                raise IndexError("list index out of range") from None
            return size if _v2_tensorshape else Dimension(size)
        if not isinstance(key, slice):
            return None if _v2_tensorshape else Dimension(None)
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        start = 0 if key.start is None else key.start
        if key.stop is None or key.stop < 0 or start < 0:
            return unknown_shape()
        return unknown_shape(rank=max(key.stop - start, 0))

    def num_elements(self) -> int | None:
        """How many elements a tensor of this shape has; None unless every size is known."""
        return num_elements(self._tuple)

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return is_fully_defined(self._tuple)

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless every size is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def merge_with(self, other: Any) -> TensorShape:
        """What is known of both together; ValueError if they contradict each other."""
        other = as_shape(other)
        if not is_compatible(self._tuple, other._tuple):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape.from_dims(merge(self._tuple, other._tuple))

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of this shape followed by those of the other."""
        other = _dims(other)
        return TensorShape.from_dims(None if self._tuple is None or other is None else self._tuple + other)

    __add__ = concatenate

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some tensor could have both shapes."""
        return is_compatible(self._tuple, _dims(other))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError if no tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The most that can be said of a tensor that has one of the two shapes."""
        mine, theirs = self._tuple, _dims(other)
        if mine is None or theirs is None or len(mine) != len(theirs):
            return unknown_shape()
        return TensorShape.from_dims(tuple(a if a == b else None for a, b in zip(mine, theirs)))

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError if the ranks are known and differ."""
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError if this shape is known to have another rank."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have the rank."""
        self.assert_has_rank(rank)
        return unknown_shape(rank=rank) if self._tuple is None else TensorShape.from_dims(self._tuple)

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have a lower rank."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have a higher rank."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def as_list(self) -> list[int | None]:
        """The sizes as a list of int or None."""
        if self._tuple is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._tuple)

    def as_proto(self) -> Any:
        """The shape as a `TensorShapeProto`."""
        return to_proto(self._tuple)

    def __eq__(self, other: Any) -> Any:
        try:
            theirs = _dims(other)
        except TypeError:
            return NotImplemented
        # Two unknown sizes are not known to be equal, except that a shape equals itself.
        return self._tuple is theirs or (is_fully_defined(self._tuple) and self._tuple == theirs)

    def __ne__(self, other: Any) -> Any:
        try:
            theirs = _dims(other)
        except TypeError:
            return NotImplemented
        if self._tuple is None or theirs is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == other

    def __reduce__(self) -> Any:
        return TensorShape, (self.dims,)


@internal("framework.tensor_shape.as_shape")
def as_shape(shape: Any) -> TensorShape:
    """The shape that a value means."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


@internal("framework.tensor_shape.as_dimension")
def as_dimension(value: Any) -> Dimension:
    """The dimension that a value means."""
    return value if isinstance(value, Dimension) else Dimension(value)


@internal("framework.tensor_shape.unknown_shape")
def unknown_shape(rank: int | None = None, **kwargs: Any) -> TensorShape:
    """A shape of which at most the rank is known."""
    if rank is None:
        rank = kwargs.pop("ndims", None)
    if kwargs:
        raise TypeError(f"Unknown argument: {next(iter(kwargs))}")
    return TensorShape.from_dims(None if rank is None else (None,) * rank)


@internal("framework.tensor_shape.scalar")
def scalar() -> TensorShape:
    """The shape of a single number."""
    return TensorShape.from_dims(())


@internal("framework.tensor_shape.vector")
def vector(length: Any) -> TensorShape:
    """The shape of a vector."""
    return TensorShape([length])


@internal("framework.tensor_shape.matrix")
def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape of a matrix."""
    return TensorShape([rows, cols])


@public("dimension_value", "compat.dimension_value")
def dimension_value(dimension: Any) -> int | None:
    """The number in what indexing a shape gave, whichever version's behaviour is on."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


@public("dimension_at_index", "compat.dimension_at_index")
def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """One dimension of a shape as a `Dimension`, whichever version's behaviour is on."""
    return as_dimension(shape[index])


@internal("framework.common_shapes.broadcast_shape")
def broadcast_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two shapes broadcast to."""
    x, y = as_shape(shape_x), as_shape(shape_y)
    try:
        return TensorShape.from_dims(broadcast(x._tuple, y._tuple))
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: {x} and {y}") from None


@internal("framework.common_shapes.is_broadcast_compatible")
def is_broadcast_compatible(shape_x: Any, shape_y: Any) -> bool:
    """Whether two shapes could broadcast together; False if a rank is unknown."""
    x, y = _dims(shape_x), _dims(shape_y)
    if x is None or y is None:
        return False
    try:
        broadcast(x, y)
    except ValueError:
        return False
    return True


def is_fully_defined(dims: Dims) -> TypeGuard[tuple[int, ...]]:
    """Whether every size is known."""
    return dims is not None and None not in dims


def num_elements(dims: Dims) -> int | None:
    """How many elements these sizes make; None unless every size is known."""
    return None if dims is None or None in dims else math.prod(dims)  # type: ignore[arg-type]


def is_compatible(a: Dims, b: Dims) -> bool:
    """Whether some tensor could have both shapes."""
    if a is None or b is None or a == b:
        return True
    return len(a) == len(b) and all(x == y or x is None or y is None for x, y in zip(a, b))


def describe(dims: Dims) -> str:
    """The shape as shape functions print it: `[2,?]`, `<unknown>`."""
    return "<unknown>" if dims is None else f"[{','.join('?' if size is None else str(size) for size in dims)}]"


def is_within(dims: Dims, general: Dims) -> bool:
    """Whether all that is known of a general shape is known of a shape, too."""
    if general is None:
        return True
    return dims is not None and len(dims) == len(general) and all(g is None or d == g for d, g in zip(dims, general))


def merge_size(a: int | None, b: int | None) -> int | None:
    """What is known of a size from two sources; ValueError if they differ."""
    if a is None or a == b:
        return b
    if b is None:
        return a
    raise ValueError(f"Dimensions must be equal, but are {a} and {b}")


def merge(a: Dims, b: Dims) -> Dims:
    """What is known of a shape from two sources; ValueError if they contradict each other."""
    if b is None or a == b:
        return a
    if a is None:
        return b
    if len(a) != len(b):
        raise ValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    merged = []
    for i, (x, y) in enumerate(zip(a, b)):
        if x is not None and y is not None and x != y:
            raise ValueError(
                f"Dimension {i} in both shapes must be equal, but are {x} and {y}. Shapes are {describe(a)} and {describe(b)}."
            )
        merged.append(y if x is None else x)
    return tuple(merged)


def broadcast(a: Dims, b: Dims) -> Dims:
    """The shape that an elementwise op makes of two shapes."""
    if a is None or b is None:
        return None
    if a == b and None not in a:
        return a
    if len(a) < len(b):
        a = (1,) * (len(b) - len(a)) + a
    elif len(b) < len(a):
        b = (1,) * (len(a) - len(b)) + b
    result = []
    for x, y in zip(a, b):
        if x == y or y == 1:
            result.append(x)
        elif x == 1:
            result.append(y)
        elif x is None or y is None:
            # A size of 0 says nothing here: the unknown one may be 0 or 1, or the op fails.
            known = y if x is None else x
            result.append(known or None)
        else:
            raise ValueError(f"Dimensions must be equal, but are {x} and {y}")
    return tuple(result)


def with_rank(dims: Dims, rank: int) -> tuple:
    """The sizes, known to be this many."""
    if dims is None:
        return (None,) * rank
    if len(dims) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(dims)}")
    return dims


def with_rank_at_least(dims: Dims, rank: int) -> Dims:
    """The shape, unless it is known to have a lower rank."""
    if dims is not None and len(dims) < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {len(dims)}")
    return dims


def with_rank_at_most(dims: Dims, rank: int) -> Dims:
    """The shape, unless it is known to have a higher rank."""
    if dims is not None and len(dims) > rank:
        raise ValueError(f"Shape must be at most rank {rank} but is rank {len(dims)}")
    return dims


def to_proto(dims: Dims) -> Any:
    """The sizes as a `TensorShapeProto`."""
    from everflow.proto import tensor_shape_pb2

    proto = tensor_shape_pb2.TensorShapeProto()
    if dims is None:
        proto.unknown_rank = True
    else:
        for size in dims:
            proto.dim.add().size = -1 if size is None else size
    return proto


def from_proto(proto: Any) -> Dims:
    """The sizes in a `TensorShapeProto`."""
    return None if proto.unknown_rank else tuple(None if d.size < 0 else d.size for d in proto.dim)
