"""Tensors that a session keeps between runs, behind handles: tf.get_session_handle and its family."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.scopes import colocate_with, device
from everflow.graph.tensor import Tensor
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.resources import Resources
from everflow.values.tensors import to_numpy

KIND = "session tensor"
_PLACE = "/job:localhost/replica:0/task:0/device:CPU:0"
_numbers = itertools.count()


@internal("ops.session_ops.TensorHandle")
class TensorHandle:
    """What a run returns for a tensor that the session keeps. The session lets go of it when the handle dies."""

    def __init__(self, handle: Any, dtype: dtypes.DType, session: Any) -> None:
        self._handle = handle.decode() if isinstance(handle, bytes) else str(handle)
        self._dtype = dtype
        self._auto_gc_enabled = True
        self._resources: weakref.ref[Resources] = weakref.ref(session._context.resources)

    @property
    def handle(self) -> str:
        """The text to feed where a graph takes the handle."""
        return self._handle

    def __str__(self) -> str:
        return self._handle

    def __del__(self) -> None:
        if self._auto_gc_enabled:
            self._let_go()

    def _let_go(self) -> None:
        resources = self._resources()
        if resources is not None:
            resources.remove("", KIND, self._handle)

    def _kept_value(self) -> Any:
        """The run-time value."""
        resources = self._resources()
        found = None if resources is None else resources.find("", KIND, self._handle)
        if found is None:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")
        return found

    def eval(self) -> Any:
        """The value."""
        array = to_numpy(self._kept_value(), self._dtype)
        return array.copy() if array.ndim else array[()]

    def delete(self) -> None:
        """Makes the session let go of the tensor."""
        self._kept_value()
        self._auto_gc_enabled = False
        self._let_go()

    def get_raw_handle(self) -> str:
        """The text of the handle; from now on the tensor is kept until it is deleted."""
        self._auto_gc_enabled = False
        return self._handle


def _keep(node: Node) -> Callable[..., Any]:
    resources, name = node.context.resources, node.name

    def run(value: Any) -> Any:
        handle = f"{name};{next(_numbers)};{_PLACE}"
        resources.get("", KIND, handle, lambda: value)
        return np.array(handle.encode(), object)

    return run


def _kept(node: Node) -> Callable[..., Any]:
    resources = node.context.resources

    def run(handle: Any) -> Any:
        text = handle.item().decode()
        found = resources.find("", KIND, text)
        if found is None:
            raise invalid_argument(f"The tensor with handle '{text}' is not in the session store.")
        return found

    return run


def _forget(node: Node) -> Callable[..., Any]:
    resources = node.context.resources

    def run(handle: Any) -> None:
        text = handle.item().decode()
        if not resources.remove("", KIND, text):
            raise invalid_argument(f"Failed to delete a tensor with handle '{text}' in the session store.")

    return run


def _as_handle(tensor: Tensor, session: Any) -> Callable[[Any], TensorHandle]:
    kept = tensor.op.inputs[0].dtype.base_dtype
    return lambda value: TensorHandle(value[()], kept, session)


for _name in ("GetSessionHandle", "GetSessionHandleV2"):
    op(_name, kernel=_keep, shape=lambda o: (), gradient=not_differentiable, fetched=_as_handle)
op("GetSessionTensor", kernel=_kept, shape=lambda o: None, gradient=not_differentiable, view=True)
op("DeleteSessionTensor", kernel=_forget, gradient=not_differentiable)


@public("get_session_handle")
def get_session_handle(data: Any, name: str | None = None) -> Tensor:
    """A tensor whose value in a run is a TensorHandle: the session keeps the data behind it."""
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return apply("GetSessionHandle", data, name=name)


def _place_of(handle: Any) -> str:
    text = handle.decode() if isinstance(handle, bytes) else str(handle)
    parts = text.split(";")
    if len(parts) < 3:
        raise ValueError(f"Device name not found in handle: {text}")
    return parts[2]


@public("get_session_tensor")
def get_session_tensor(handle: Any, dtype: dtypes.DTypeLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """A placeholder for a handle, and the tensor that the session keeps behind it."""
    with device(_place_of(handle)):
        holder = tf.placeholder(dtypes.string)
        return holder, apply("GetSessionTensor", holder, dtype=dtype, name=name)


@public("delete_session_tensor")
def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Tensor, Any]:
    """A placeholder for a handle, and an operation that makes the session let go of the tensor behind it."""
    with device(_place_of(handle)):
        holder = tf.placeholder(dtypes.string)
        return holder, apply("DeleteSessionTensor", holder, name=name)
