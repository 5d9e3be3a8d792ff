"""Dumps written by hand, file by file, in TensorFlow's layout."""

import json

import numpy as np

from everflow.graph.tensor_proto import make_tensor_proto
from everflow.proto import event_pb2, graph_pb2

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
CPU_FOLDER = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"


def graph_def(nodes, device=CPU):
    """A GraphDef from lines such as `w = MatMul(a, b:1, ^c)`."""
    graph = graph_pb2.GraphDef()
    for line in nodes.strip().splitlines():
        name, _, call = line.strip().partition(" = ")
        op, _, inputs = call.rstrip(")").partition("(")
        graph.node.add(name=name, op=op, device=device, input=[i.strip() for i in inputs.split(",") if i.strip()])
    return graph


def write_tensor(root, name, value, folder=CPU_FOLDER):
    """Writes a file such as `scope/w_0_DebugIdentity_5` with a tensor; None is one that is not initialized."""
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    event = event_pb2.Event()
    tensor = event.summary.value.add().tensor
    if value is not None:
        found = make_tensor_proto(value)
        tensor.dtype = found.dtype
        tensor.tensor_shape.CopyFrom(found.tensor_shape)
        if found.string_val:
            tensor.string_val.extend(found.string_val)
        else:
            tensor.tensor_content = np.asarray(value).tobytes()
    path.write_bytes(event.SerializeToString())
    return path


def write_graph(root, graph, time=1, folder=CPU_FOLDER):
    """Writes a graph's file."""
    (root / folder).mkdir(parents=True, exist_ok=True)
    event = event_pb2.Event(graph_def=graph.SerializeToString())
    (root / folder / f"_tfdbg_graph_hash{time}_{time}").write_bytes(event.SerializeToString())


def write_message(root, name, message):
    """Writes a file with a text, or with what is then JSON."""
    event = event_pb2.Event()
    event.log_message.message = message if isinstance(message, str) else json.dumps(message)
    (root / name).write_bytes(event.SerializeToString())
