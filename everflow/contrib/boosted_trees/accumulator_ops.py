"""Ops that add up gradients and hessians by partition, feature and dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.contrib.boosted_trees.stamped import Kernel, Stamped, handle, is_made, number
from everflow.errors import invalid_argument
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import scalar


class Sums(Stamped):
    """Gradients and hessians, in rows that keys name: partition, dimension, feature, in that order."""

    kind = "accumulated statistics"

    def __init__(self, gradient_shape: tuple[int, ...] = (), hessian_shape: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.gradient_shape, self.hessian_shape = gradient_shape, hessian_shape
        self.clear()

    def clear(self) -> None:
        """Starts again."""
        self.updates = 0
        self.keys = np.zeros((0, 3), np.int64)
        self.gradients = np.zeros((0, *self.gradient_shape), np.float32)
        self.hessians = np.zeros((0, *self.hessian_shape), np.float32)

    def add(self, partitions: Any, features: Any, gradients: Any, hessians: Any) -> None:
        """Adds rows to those of the same keys."""
        features, gradients, hessians = (np.asarray(t.cpu().numpy()) for t in (features, gradients, hessians))
        for name, given, shape in (("Gradients", gradients, self.gradient_shape), ("Hessian", hessians, self.hessian_shape)):
            if given.shape[1:] != shape:
                found, wanted = (str(list(s)).replace(" ", "") for s in (given.shape[1:], shape))
                raise invalid_argument(f"{name} dimensions must match: {found}, {wanted}")
        self.updates += 1
        keys = np.stack([partitions.cpu().numpy().astype(np.int64), features[:, 1], features[:, 0]], axis=1)
        unique, places = np.unique(np.concatenate([self.keys, keys]), axis=0, return_inverse=True)
        places = places.reshape(-1)
        self.gradients = _summed(len(unique), places, np.concatenate([self.gradients, gradients]))
        self.hessians = _summed(len(unique), places, np.concatenate([self.hessians, hessians]))
        self.keys = unique

    def outputs(self) -> tuple[Any, Any, Any, Any]:
        """(Partitions, features with their dimensions, gradients, hessians), in the order of keys."""
        return (
            torch.from_numpy(self.keys[:, 0].astype(np.int32)),
            torch.from_numpy(np.ascontiguousarray(self.keys[:, [2, 1]])),
            torch.from_numpy(self.gradients.copy()),
            torch.from_numpy(self.hessians.copy()),
        )


def _summed(count: int, places: Any, rows: Any) -> Any:
    sums = np.zeros((count, *rows.shape[1:]), np.float32)
    np.add.at(sums, places, rows)
    return sums


def _create(node: Node) -> Kernel:
    def run(sums: Sums, stamp: Any, *shapes: Any) -> Any:
        with sums.lock:
            if sums.stamp is None:
                if shapes:
                    sums.gradient_shape, sums.hessian_shape = (tuple(shape.tolist()) for shape in shapes)
                sums.clear()
                sums.stamp = int(stamp)
        return ()

    return run


def _add(node: Node) -> Kernel:
    count = node.attr("num_resource_handles")

    def run(*given: Any) -> Any:
        handles, stamp, rest = given[:count], int(given[count]), given[count + 1 :]
        for i, sums in enumerate(handles):
            with sums.made().lock:
                # What comes too late is dropped.
                if sums.stamp == stamp:
                    sums.add(*rest[i::count])
        return ()

    return run


def _flush(node: Node) -> Kernel:
    def run(sums: Sums, stamp: Any, next_stamp: Any) -> Any:
        with sums.made().lock:
            sums.check(stamp, next_stamp)
            flushed = (number(sums.updates), *sums.outputs())
            sums.clear()
            sums.stamp = int(next_stamp)
        return flushed

    return run


def _serialize(node: Node) -> Kernel:
    def run(sums: Sums) -> Any:
        with sums.made().lock:
            return (number(sums.stamp or 0), number(sums.updates), *sums.outputs())

    return run


def _deserialize(node: Node) -> Kernel:
    def run(sums: Sums, stamp: Any, updates: Any, *rows: Any) -> Any:
        with sums.made().lock:
            sums.clear()
            sums.stamp = int(stamp)
            sums.add(*rows)
            sums.updates = int(updates)
        return ()

    return run


def _summary(node: Node) -> Kernel:
    def run(partitions: Any, features: Any, gradients: Any, hessians: Any) -> Any:
        sums = Sums(tuple(gradients.shape[1:]), tuple(hessians.shape[1:]))
        sums.add(partitions, features, gradients, hessians)
        return sums.outputs()

    return run


def _rows(kind: str) -> list[Any]:
    per_row = (None,) if kind == "Scalar" else None
    return [(None,), (None, 2), per_row, per_row]


def _no_shapes(o: Operation) -> list[Any]:
    return []


def _of_kind(kind: str) -> None:
    prefix = f"StatsAccumulator{kind}"
    op(prefix + "ResourceHandleOp", kernel=handle(Sums, f"statistics {kind}"), shape=scalar)
    op(prefix + "IsInitialized", kernel=is_made, shape=scalar)
    op("Create" + prefix, kernel=_create, shape=_no_shapes, writes=True)
    op(prefix + "Add", kernel=_add, shape=_no_shapes, writes=True)
    op(prefix + "Flush", kernel=_flush, shape=lambda o: [(), *_rows(kind)], writes=True)
    op(prefix + "Serialize", kernel=_serialize, shape=lambda o: [(), (), *_rows(kind)])
    op(prefix + "Deserialize", kernel=_deserialize, shape=_no_shapes, writes=True)
    op(prefix + "MakeSummary", kernel=_summary, shape=lambda o: _rows(kind))


_of_kind("Scalar")
_of_kind("Tensor")
