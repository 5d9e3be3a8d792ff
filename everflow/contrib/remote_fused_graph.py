"""tf.contrib.remote_fused_graph: a part of a graph that a device of its own runs, as one op. Here this process is that device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.proto.tensorflow.core.framework.remote_fused_graph_execute_info_pb2 import RemoteFusedGraphExecuteInfo
from everflow.values.tensors import from_numpy, to_numpy


@public("contrib.remote_fused_graph.remote_fused_graph_execute")
def remote_fused_graph_execute(
    inputs: Any,
    output_types: Any,
    graph_def: Any,
    graph_input_node_names: Any,
    graph_output_node_names: Any,
    executor_name: str,
    serialized_executor_parameters: bytes,
    default_graph_input_tensor_type_shapes: Any = None,
    default_graph_output_tensor_type_shapes: Any = None,
) -> Any:
    """The outputs of a GraphDef whose input nodes are given these tensors; whatever its executor is called, it runs here."""
    info = RemoteFusedGraphExecuteInfo(executor_name=executor_name, serialized_executor_parameters=serialized_executor_parameters)
    info.remote_graph.CopyFrom(graph_def)
    info.graph_input_node_name.extend(graph_input_node_names)
    info.graph_output_node_name.extend(graph_output_node_names)
    for field, described in (
        (info.default_graph_input_tensor_shape, default_graph_input_tensor_type_shapes),
        (info.default_graph_output_tensor_shape, default_graph_output_tensor_type_shapes),
    ):
        for dtype, shape in described or ():
            added = field.add(dtype=tf.as_dtype(dtype).as_datatype_enum)
            added.shape.CopyFrom(tf.TensorShape(shape).as_proto())
    return apply(
        "RemoteFusedGraphExecute", inputs, Toutputs=output_types, serialized_remote_fused_graph_execute_info=info.SerializeToString()
    )


def _execute(node: Node) -> Callable[..., Any]:
    info = RemoteFusedGraphExecuteInfo.FromString(
        node.attr("serialized_remote_fused_graph_execute_info").encode("utf-8", "surrogateescape")
    )
    types = [tf.as_dtype(dtype) for dtype in node.attr("Toutputs")]
    given = [tf.as_dtype(dtype) for dtype in node.attr("Tinputs")]
    if len(info.graph_input_node_name) != len(given) or len(info.graph_output_node_name) != len(types):
        raise invalid_argument(
            f"A remote graph with {len(info.graph_input_node_name)} inputs and {len(info.graph_output_node_name)} outputs was given "
            f"{len(given)} tensors and asked for {len(types)}"
        )
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(info.remote_graph, name="")
    session = tf.Session(graph=graph)
    feeds = [_tensor(name) for name in info.graph_input_node_name]
    fetches = [_tensor(name) for name in info.graph_output_node_name]

    def run(*values: Any) -> Any:
        arrays = [to_numpy(value, dtype) for value, dtype in zip(values, given)]
        found = session.run(fetches, dict(zip(feeds, arrays)))
        results = tuple(from_numpy(value, dtype) for value, dtype in zip(found, types))
        return results[0] if len(results) == 1 else results

    return run


def _tensor(name: str) -> str:
    return name if ":" in name else name + ":0"


op("RemoteFusedGraphExecute", kernel=_execute, shape=lambda o: [None] * len(o.outputs), gradient=not_differentiable)
