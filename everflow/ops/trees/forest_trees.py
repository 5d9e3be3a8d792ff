"""Single trees of forests behind handles: made of messages, asked for what their leaves say."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from everflow.compat import as_bytes
from everflow.errors import invalid_argument, not_found
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import scalar
from everflow.ops.trees.ensemble import leaf_values
from everflow.ops.trees.ensemble_ops import resource
from everflow.proto.tensorflow.core.kernels.boosted_trees import boosted_trees_pb2 as messages
from everflow.values.texts import text_array

Kernel = Callable[..., Any]


class ForestTree:
    """A tree; its message is None until it was made."""

    def __init__(self) -> None:
        self.message: Any = None
        self.lock = threading.RLock()

    @property
    def value(self) -> Any:
        """The same, as DestroyResourceOp asks for it."""
        return self.message

    def missing(self) -> str:
        """What to say when it was not made."""
        return "Resource of a forest's tree does not exist."

    def forget(self) -> None:
        """What destroying the resource does."""
        self.message = None

    def made(self) -> Any:
        """The message of a tree that was made."""
        if self.message is None:
            raise not_found(self.missing())
        return self.message

    def load(self, config: Any) -> None:
        """Becomes the tree of a serialized message."""
        try:
            self.message = messages.Tree.FromString(as_bytes(np.asarray(config, object).reshape(-1)[0]))
        except DecodeError:
            raise invalid_argument("Unable to parse tree config.") from None

    def leaf_of(self, row: Any) -> Any:
        """The leaf that a row of features ends in."""
        nodes = self.message.nodes
        node = nodes[0]
        while node.WhichOneof("node") == "dense_split":
            split = node.dense_split
            node = nodes[split.left_id if row[split.feature_id] <= split.threshold else split.right_id]
        if node.WhichOneof("node") != "leaf":
            raise invalid_argument("Trees of forests split by dense features only.")
        return node.leaf


def _create(node: Node) -> Kernel:
    def run(tree: ForestTree, config: Any) -> Any:
        with tree.lock:
            # Making one that is there already changes nothing.
            if tree.message is None:
                tree.load(config)
        return ()

    return run


def _deserialize(node: Node) -> Kernel:
    def run(tree: ForestTree, config: Any) -> Any:
        with tree.lock:
            tree.made()
            tree.load(config)
        return ()

    return run


def _predict(node: Node) -> Kernel:
    width = node.attr("logits_dimension")

    def run(tree: ForestTree, features: Any) -> Any:
        found = np.zeros((features.shape[0], width), np.float32)
        with tree.lock:
            # A tree without nodes has nothing to say.
            if tree.made().nodes:
                for i, row in enumerate(features.tolist()):
                    found[i] = leaf_values(tree.leaf_of(row), width)
        return torch.from_numpy(found)

    return run


def _predict_shape(o: Operation) -> Any:
    return shapes.with_rank(o.inputs[1].dims, 2)[0], o.attr("logits_dimension")


op("TensorForestTreeResourceHandleOp", kernel=resource("forest tree", ForestTree), shape=scalar, pure=True)
op("TensorForestTreeIsInitializedOp", kernel=lambda node: lambda tree: torch.tensor(tree.message is not None), shape=scalar)
op("TensorForestCreateTreeVariable", kernel=_create)
op("TensorForestTreeDeserialize", kernel=_deserialize)
op("TensorForestTreeSerialize", kernel=lambda node: lambda tree: text_array([tree.made().SerializeToString()], ()), shape=scalar)
op("TensorForestTreeSize", kernel=lambda node: lambda tree: torch.tensor(len(tree.made().nodes), dtype=torch.int32), shape=scalar)
op("TensorForestTreePredict", kernel=_predict, shape=_predict_shape)
