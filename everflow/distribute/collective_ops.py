"""Ops that reduce, gather and broadcast between the workers of a cluster, and between the devices of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from everflow.api import internal
from everflow.distribute.collective_group import MERGED, ProcessGroup, process_group
from everflow.errors import failed_precondition, invalid_argument
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, fused_op, op
from everflow.ops.core.shape_rules import from_attr, same_as_input
from everflow.values.tensors import torch_dtype

COLLECTIVES = "ops.collective_ops."


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _meets(attrs: dict[str, Any]) -> Any:
    return None if attrs["group_size"] == 1 else (attrs["group_key"], attrs["instance_key"])


class _Members:
    """Those members of a collective that run in one step of this process, each on a device of its own. There may be more, with as many
    members each in other processes."""

    def __init__(self, node: Node) -> None:
        self.context = node.context
        self.nodes: list[Node] = node.attrs.get("members", [node])
        self.size: int = node.attr("group_size")
        self.instance = node.attr("instance_key")
        if any(n.attr("group_size") != self.size for n in self.nodes) or self.size % len(self.nodes):
            sizes = ", ".join(str(n.attr("group_size")) for n in self.nodes)
            raise invalid_argument(f"{len(self.nodes)} members meet in collective {self.instance}, and say that they are {sizes}")
        self.processes = self.size // len(self.nodes)

    def group(self) -> ProcessGroup:
        """The processes."""
        return process_group(self.processes, self.context, len(self.nodes))

    def check(self, values: Sequence[torch.Tensor], shape: Callable[[torch.Tensor], list[int]]) -> None:
        """`shape`: of the result, by what a member gives."""
        expected = [shape(value) for value in values]
        for node, its in zip(self.nodes, expected):
            other = next((found for found in expected if found != its), None)
            if other is not None:
                where = self.context.placer.device_of(node.op)
                raise invalid_argument(
                    f"Shape mismatch in the collective instance {self.instance}. Op at device {where} expected shape {its} but another "
                    f"member in the group expected shape {other}. This is likely due to different input shapes at different members of the "
                    "collective op."
                )
        kinds = {value.dtype for value in values}
        if len(kinds) > 1:
            raise invalid_argument(f"The members of the collective instance {self.instance} have values of different types")

    def handed_out(self, result: torch.Tensor, devices: Sequence[torch.device]) -> Any:
        """The result, in memory of its own for each member."""
        if len(devices) == 1:
            return result
        return (result, *(result.to(device, copy=True) for device in devices[1:]))


def _reduce(node: Node) -> Callable[..., Any]:
    members, is_mean = _Members(node), _text(node.attr("final_op")) == "Div"
    merge = _text(node.attr("merge_op"))

    def reduce(*values: torch.Tensor) -> Any:
        members.check(values, lambda value: list(value.shape))
        total, *others = values
        for value in others:
            total = MERGED[merge](total, value.to(total.device))
        if members.processes > 1:
            total = members.group().reduced(total, merge)
        if is_mean:
            total = total / members.size if total.is_floating_point() else torch.div(total, members.size, rounding_mode="trunc")
        return members.handed_out(total, [value.device for value in values])

    return reduce


def _gather(node: Node) -> Callable[..., Any]:
    members = _Members(node)

    def gather(*values: torch.Tensor) -> Any:
        members.check(values, lambda value: [value.shape[0] * members.size, *value.shape[1:]])
        whole = torch.cat([value.to(values[0].device) for value in values]) if len(values) > 1 else values[0]
        if members.processes > 1:
            whole = members.group().gathered(whole)
        return members.handed_out(whole, [value.device for value in values])

    return gather


def _broadcast(node: Node) -> Callable[..., Any]:
    """What one member sends. It may be in another process, where others add zeros to it."""
    members = _Members(node)
    sends = [n.type == "CollectiveBcastSend" for n in members.nodes]
    if sum(sends) > 1:
        raise invalid_argument(f"{sum(sends)} members send in the collective instance {members.instance}")
    kinds = {(n.attr("T"), tuple(n.attr("shape"))) for n in members.nodes}
    if len(kinds) > 1:
        raise invalid_argument(
            f"Shape mismatch in the collective instance {members.instance}: {' and '.join(str(list(s)) for _, s in kinds)}"
        )
    ((kind, dims),) = kinds

    def broadcast(*sent: torch.Tensor) -> Any:
        value = sent[0] if sent else torch.zeros(dims, dtype=torch_dtype(kind))
        if members.processes > 1:
            value = members.group().broadcast(value, bool(sent))
        elif not sent:
            raise failed_precondition(f"Nobody sends in the collective instance {members.instance}")
        return members.handed_out(value, [value.device] * len(sends))

    return broadcast


def _collective(name: str, meeting: str, kernel: Callable[[Node], Any], shape: Any) -> None:
    op(name, kernel=kernel, shape=shape, meets=_meets, meeting=meeting, view=True)


fused_op("_CollectiveReduces", kernel=_reduce, view=True)
fused_op("_CollectiveGathers", kernel=_gather, view=True)
fused_op("_CollectiveBroadcasts", kernel=_broadcast, view=True)
_collective("CollectiveReduce", "_CollectiveReduces", _reduce, same_as_input)
_collective("CollectiveGather", "_CollectiveGathers", _gather, from_attr())
_collective("CollectiveBcastSend", "_CollectiveBroadcasts", _broadcast, same_as_input)
_collective("CollectiveBcastRecv", "_CollectiveBroadcasts", _broadcast, from_attr())


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
