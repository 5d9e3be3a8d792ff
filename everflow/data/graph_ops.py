"""Datasets as GraphDefs: what a pipeline is made of, written down so that another place can build it again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.data.dataset import DatasetSource, DatasetV2
from everflow.data.elements import text
from everflow.data.streams import Stream, dataset_op
from everflow.errors import failed_precondition, invalid_argument, unimplemented
from everflow.graph import attrs as attr_values
from everflow.graph import dtypes, opdefs
from everflow.graph.functions import with_called
from everflow.graph.graph import Graph
from everflow.graph.importer import import_graph_def
from everflow.graph.tensor_proto import make_tensor_proto
from everflow.graph.wire import PRODUCER
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import scalar
from everflow.proto import graph_pb2
from everflow.values.tensors import to_numpy

# Ops that are stateful by definition, but do the same wherever they run, or only call functions, which are looked at themselves.
REPEATABLE = {"Assert", "If", "PartitionedCall", "Placeholder", "Print", "PrintV2", "StatefulPartitionedCall", "While", "Case"}


class _Description:
    """A GraphDef under way."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self.graph = graph_pb2.GraphDef()
        self.graph.versions.producer = PRODUCER
        self.allowed = REPEATABLE | set(allowed)
        self.names: dict[int, str] = {}

    def _node(self, op_type: str, inputs: list[str]) -> Any:
        return self.graph.node.add(name=f"{op_type}/_{len(self.graph.node)}", op=op_type, input=inputs)

    def constant(self, value: Any, dtype: dtypes.DType, wanted_by: str) -> str:
        """A tensor's value."""
        if not hasattr(value, "numel") and not (hasattr(value, "dtype") and dtype is dtypes.string):
            raise unimplemented(f"{wanted_by} holds a {dtype.name}, which can't be written into a graph.")
        array = to_numpy(value, dtype) if dtype is not dtypes.string else value
        node = self._node("Const", [])
        node.attr["dtype"].type = dtype.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(make_tensor_proto(array, dtype, shape=tuple(array.shape)))
        return node.name

    def stream(self, stream: Stream) -> str:
        """A pipeline, from its sources on."""
        if stream.made_by is None or stream.op_type in ("NonSerializableDataset", "ExperimentalNonSerializableDataset"):
            kind = (stream.op_type or type(stream).__name__).removeprefix("Experimental")
            raise unimplemented(f"{kind}Op::Dataset does not support serialization.")
        known = self.names.get(id(stream))
        if known is not None:
            return known
        stream.check_describable()
        node, values = stream.made_by
        for value in node.attrs.values():
            for v in value if isinstance(value, list) else (value,):
                if isinstance(v, attr_values.FunctionName):
                    self._function(node.context.library(v.name))
        inputs = []
        for value, given in zip(values, node.inputs):
            inputs.append(self.stream(value) if isinstance(value, Stream) else self.constant(value, given.dtype, node.type))
        made = self._node(node.type, inputs)
        definition = opdefs.find(node.type)
        assert definition is not None
        for name, value in node.attrs.items():
            if name in definition.attrs:
                made.attr[name].CopyFrom(attr_values.to_proto(value, definition.attrs[name].type))
        self.names[id(stream)] = made.name
        return made.name

    def _function(self, entry: Any) -> None:
        library = self.graph.library
        known = {f.signature.name for f in library.function}
        for name, called in with_called([entry]).items():
            for operation in called.graph.get_operations():
                kind = operation.type
                is_dataset = kind.endswith(("Dataset", "DatasetV2")) or kind.startswith("LookupTable")
                if operation.op_def_.is_stateful and not is_dataset and kind not in self.allowed:
                    raise failed_precondition(f"{kind} is stateful.")
            if name not in known:
                library.function.add().CopyFrom(called.definition)


def described(stream: Stream, allowed: Iterable[str] = ()) -> bytes:
    """A pipeline as a serialized GraphDef, whose `_Retval` node is the dataset. `allowed`: stateful ops that functions may have."""
    description = _Description(allowed)
    last = description.stream(stream)
    returned = description.graph.node.add(name="dataset", op="_Retval", input=[last])
    returned.attr["T"].type = dtypes.variant.as_datatype_enum
    returned.attr["index"].i = 0
    return description.graph.SerializeToString(deterministic=True)


def _to_graph(node: Node) -> Callable[..., Any]:
    allowed = [n.decode() if isinstance(n, bytes) else n for n in node.attr("stateful_whitelist")]
    return lambda stream: text(described(stream, allowed))


op("DatasetToGraph", kernel=_to_graph, shape=scalar)


@dataset_op("DatasetFromGraph")
def _from_graph(node: Node) -> Callable[..., Stream]:
    def make(serialized: Any) -> Stream:
        from google.protobuf.message import DecodeError

        try:
            graph_def = graph_pb2.GraphDef.FromString(serialized.item())
        except DecodeError:
            raise invalid_argument("Could not parse the graph of a dataset.") from None
        returned = [n for n in graph_def.node if n.op == "_Retval"]
        if not returned:
            raise invalid_argument("Failed to find a _Retval op in the given dataset")
        name = returned[0].input[0]
        graph_def.node.remove(returned[0])
        graph = Graph()
        with graph.as_default():
            found = import_graph_def(graph_def, return_elements=[name if ":" in name else name + ":0"], name="")
        # Its functions are those of its graph; all else is shared.
        place = copy.copy(node.context)
        place.graph, place._functions, place._elsewhere = graph, {}, {}
        return place.step(found, [], []).call()[0]

    return make


class _RemoteDataset(DatasetSource):
    """A pipeline built on a device from its graph."""

    def __init__(self, graph_def: Any, device: Any, element_spec: Any) -> None:
        self._structure = element_spec
        with tf.device(device):
            super().__init__(apply("DatasetFromGraph", graph_def))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.experimental.ops.distribute.replicate")
def replicate(dataset: Any, devices: list[str]) -> dict[str, Any]:
    """{device: dataset}: the same pipeline on each device."""
    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    variant = dataset._variant_tensor
    if len(devices) == 1 and devices[0] == variant.device:
        return {devices[0]: dataset}
    with tf.device(variant.device):
        dataset = dataset._apply_options()
        allowed = dataset.options().experimental_stateful_whitelist
        graph_def = dataset._as_serialized_graph(stateful_whitelist=allowed)
    return {device: _RemoteDataset(graph_def, device, dataset.element_spec) for device in devices}
