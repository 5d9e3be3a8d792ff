"""Tensor: one output of an operation. It holds no value; a session computes it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from everflow.api import internal, public
from everflow.errors import OperatorNotAllowedInGraphError
from everflow.graph import dtypes, shapes
from everflow.graph.conversion_status import not_allowed
from everflow.graph.stacks import get_default_session

if TYPE_CHECKING:
    from everflow.graph.graph import Graph
    from everflow.graph.operation import Operation

Dims = "tuple[int | None, ...] | None"


@internal("framework.ops._TensorLike", "framework.tensor_like._TensorLike")
class TensorLike:
    """What can stand where a tensor is expected (tensors, sparse tensors, indexed slices)."""

    __slots__ = ()


@public("Tensor")
@internal("framework.ops.Tensor")
class Tensor(TensorLike):
    """An output of an operation. `dims` is its static shape: a tuple of int or None, or None for unknown rank."""

    __slots__ = ("__weakref__", "_consumers", "_uses", "dims", "dtype", "handle_data", "op", "value_index", "__dict__")
    OVERLOADABLE_OPERATORS: set[str] = set()
    __array_priority__ = 100
    _is_graph_tensor = True
    # Whether this is a value that is there already.
    is_eager = False
    # Tensors are equal where they are the same tensor.
    _USE_EQUALITY = False

    if TYPE_CHECKING:
        # For type checkers; OPERATORS below has them all.
        __add__: Any
        __radd__: Any
        __sub__: Any
        __rsub__: Any
        __mul__: Any
        __rmul__: Any
        __truediv__: Any
        __rtruediv__: Any
        __floordiv__: Any
        __mod__: Any
        __pow__: Any
        __matmul__: Any
        __lt__: Any
        __le__: Any
        __gt__: Any
        __ge__: Any
        __and__: Any
        __or__: Any
        __invert__: Any
        __neg__: Any
        __getitem__: Any
        # What only values have, that are there already.
        numpy: Any
        value: Any

    def __init__(self, op: Operation, value_index: int, dtype: dtypes.DTypeLike) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype = dtypes.as_dtype(dtype)
        self.dims: tuple[int | None, ...] | None = None
        self._consumers: list[Operation] = []
        self.handle_data: Any = None

    @property
    def graph(self) -> Graph:
        """The graph that holds this tensor."""
        return self.op.graph

    @property
    def name(self) -> str:
        """The operation's name, a colon, and which output this is."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def device(self) -> str:
        """The device on which the tensor is computed, or an empty string."""
        return self.op.device

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape, as far as it is known before running."""
        return shapes.TensorShape.from_dims(self.dims)

    def get_shape(self) -> shapes.TensorShape:
        """The same as `shape`."""
        return shapes.TensorShape.from_dims(self.dims)

    @property
    def _shape(self) -> shapes.TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Narrows the static shape with what the caller knows."""
        self.dims = shapes.merge(self.dims, shapes.as_shape(shape).as_dims())
        if self.graph._finalized:
            self.graph._changed()

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.dims is None else list(self.dims)

    def _rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self.dims

    def _as_tf_output(self) -> Tensor:
        # What programs hand to pywrap_tensorflow.
        return self

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input, each as often as it does."""
        return list(self._consumers)

    @property
    def _op(self) -> Any:
        return self.op

    @property
    def _dtype(self) -> Any:
        return self.dtype

    @property
    def _value_index(self) -> int:
        return self.value_index

    @property
    def _id(self) -> int:
        return id(self)

    def _as_node_def_input(self) -> str:
        return self.op.name if self.value_index == 0 else f"{self.op.name}:{self.value_index}"

    def _as_graph_element(self) -> Tensor:
        return self

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        """Computes this tensor in a session (the default one unless given)."""
        return default_session(self.graph, session, "evaluate tensor", "eval").run(self, feed_dict)

    def __str__(self) -> str:
        shape = "" if self.dims is None else f", shape={self.get_shape()}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}>"

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def experimental_ref(self) -> Any:
        """A hashable stand-in for this tensor."""
        from everflow.platform.identity import Reference

        return Reference(self)

    def __copy__(self) -> Tensor:
        cls = type(self)
        other = cls.__new__(cls)
        for slot in ("op", "value_index", "dtype", "dims", "_consumers", "handle_data"):
            setattr(other, slot, getattr(self, slot))
        other.__dict__.update(self.__dict__)
        return other

    def __iter__(self) -> Any:
        # A generator, because `in` hides what is raised before the first element is asked for.
        raise OperatorNotAllowedInGraphError(not_allowed("iterating over `tf.Tensor`"))
        yield

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(not_allowed("using a `tf.Tensor` as a Python `bool`"))

    __nonzero__ = __bool__

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array.")

    @staticmethod
    def _override_operator(operator: str, func: Callable[..., Any]) -> None:
        setattr(Tensor, operator, func)
        Tensor.OVERLOADABLE_OPERATORS.add(operator)


OPERATORS = (
    "__add__",
    "__radd__",
    "__sub__",
    "__rsub__",
    "__mul__",
    "__rmul__",
    "__div__",
    "__rdiv__",
    "__truediv__",
    "__rtruediv__",
    "__floordiv__",
    "__rfloordiv__",
    "__mod__",
    "__rmod__",
    "__pow__",
    "__rpow__",
    "__matmul__",
    "__rmatmul__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__and__",
    "__rand__",
    "__or__",
    "__ror__",
    "__xor__",
    "__rxor__",
    "__invert__",
    "__neg__",
    "__abs__",
    "__getitem__",
)


def _loads_operators(operator: str) -> Any:
    """Until an operator is first used, its method stands for loading the ops that define all of them."""

    def method(self: Tensor, *args: Any) -> Any:
        importlib.import_module("everflow.ops.core.operators")
        return getattr(type(self), operator)(self, *args)

    return method


for _operator in OPERATORS:
    Tensor._override_operator(_operator, _loads_operators(_operator))


def default_session(graph: Graph, session: Any, what: str, how: str) -> Any:
    """The session to use for `eval`/`run`, with TensorFlow's errors where there is none or it has another graph."""
    if session is not None:
        if session.graph is not graph:
            raise ValueError(f"Cannot use the given session to {what}: the tensor's graph is different from the session's graph.")
        return session
    session = get_default_session()
    if session is None:
        raise ValueError(
            f"Cannot {what} using `{how}()`: No default session is registered. Use `with sess.as_default()` or pass an explicit "
            f"session to `{how}(session=sess)`"
        )
    if session.graph is not graph:
        raise ValueError(
            f"Cannot use the default session to {what}: the tensor's graph is different from the session's graph. Pass an explicit "
            f"session to `{how}(session=sess)`."
        )
    return session
