"""Ops that reduce, gather and broadcast between the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from everflow.api import internal
from everflow.distribute.collective_group import process_group
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import from_attr, same_as_input
from everflow.values.tensors import torch_dtype

COLLECTIVES = "ops.collective_ops."


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _reduce(node: Node) -> Callable[..., Any]:
    size, merge, is_mean = node.attr("group_size"), _text(node.attr("merge_op")), _text(node.attr("final_op")) == "Div"

    def reduce(value: torch.Tensor) -> torch.Tensor:
        total = value if size == 1 else process_group(size, node.context).reduced(value, merge)
        if not is_mean:
            return total
        return total / size if total.is_floating_point() else torch.div(total, size, rounding_mode="trunc")

    return reduce


op("CollectiveReduce", kernel=_reduce, shape=same_as_input)


def _gather(node: Node) -> Callable[..., Any]:
    size = node.attr("group_size")
    return lambda value: value if size == 1 else process_group(size, node.context).gathered(value)


op("CollectiveGather", kernel=_gather, shape=from_attr())


def _send(node: Node) -> Callable[..., Any]:
    size = node.attr("group_size")
    return lambda value: value if size == 1 else process_group(size, node.context).broadcast(value, True)


op("CollectiveBcastSend", kernel=_send, shape=same_as_input)


def _receive(node: Node) -> Callable[..., Any]:
    size, dtype = node.attr("group_size"), torch_dtype(node.attr("T"))
    dims = tuple(node.attr("shape"))
    return lambda: process_group(size, node.context).broadcast(torch.zeros(dims, dtype=dtype), False)


op("CollectiveBcastRecv", kernel=_receive, shape=from_attr())


@internal(COLLECTIVES + "all_reduce")
def all_reduce(
    t: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: str,
    final_op: str,
    subdiv_offsets: Any = (0,),
    communication_hint: str = "auto",
) -> Any:
    """The tensors of all members, merged."""
    if group_size < 1:
        raise ValueError("Parameter group_size to all_reduce must be at least 1.")
    return apply(
        "CollectiveReduce",
        t,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        merge_op=merge_op,
        final_op=final_op,
        subdiv_offsets=list(subdiv_offsets),
        communication_hint=communication_hint.lower(),
    )


@internal(COLLECTIVES + "all_gather")
def all_gather(t: Any, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto") -> Any:
    """The tensors of all members, one below the other."""
    if group_size < 1:
        raise ValueError("Parameter group_size to all_gather must be at least 1.")
    dims = t.shape.as_list()
    whole = [None if dims[0] is None else dims[0] * group_size, *dims[1:]]
    return apply(
        "CollectiveGather",
        t,
        shape=whole,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(),
    )


@internal(COLLECTIVES + "broadcast_send")
def broadcast_send(
    t: Any, shape: Any, dtype: Any, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto"
) -> Any:
    """Sends a tensor to the other members."""
    if group_size <= 1:
        raise ValueError("Parameter group_size to broadcast_send must be at least 2.")
    if t.shape != shape:
        raise ValueError("Shape of broadcast_send tensor not equal to delcared shape")
    if t.dtype != dtype:
        raise ValueError("Type of broadcast_send tensor not equal to declared type")
    return apply(
        "CollectiveBcastSend",
        t,
        shape=shape,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(),
    )


@internal(COLLECTIVES + "broadcast_recv")
def broadcast_recv(shape: Any, dtype: Any, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto") -> Any:
    """The tensor that another member sends."""
    if group_size <= 1:
        raise ValueError("Parameter group_size to broadcast_send must be at least 2.")
    return apply(
        "CollectiveBcastRecv",
        shape=shape,
        T=dtype,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(),
    )
