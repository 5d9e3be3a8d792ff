"""TF_Session: running graphs, whole or in part, of one's own or of SavedModels; devices and servers."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int64, c_uint64
from typing import Any

from google.protobuf.message import DecodeError

import everflow as tf
from everflow.c_api.boundary import (
    STATUS,
    I,
    N,
    P,
    S,
    array,
    c_function,
    content,
    copied_text,
    drop,
    fill,
    handle,
    held,
    kept_text,
    numbers,
    outputs,
    parsed,
    tensor,
    text,
    texts,
)
from everflow.c_api.graphs import CGraph
from everflow.errors import cancelled, invalid_argument, not_found, out_of_range
from everflow.graph.importer import extend_graph
from everflow.graph.tensor import Tensor
from everflow.proto import graph_pb2


class Options:
    """Where a session runs, and how."""

    def __init__(self) -> None:
        self.target = ""
        self.config: Any = None


class CSession:
    """A session and its graph."""

    def __init__(self, graph: CGraph, options: Any) -> None:
        given: Options = held(options)
        self.graph = graph
        self.session = tf.Session(given.target, graph.graph, given.config)
        self.is_closed = False

    def close(self) -> None:
        """Ends the session."""
        self.is_closed = True
        self.session.close()


def _open(session: Any) -> CSession:
    """The session of a handle, which must not be closed."""
    found: CSession = held(session)
    if found.is_closed:
        raise cancelled("Session has been closed.")
    return found


@c_function("TF_NewSessionOptions", result=P)
def new_options() -> int:
    """Options that say nothing."""
    return handle(Options())


@c_function("TF_SetTarget", P, S)
def set_target(options: Any, target: bytes) -> None:
    """The server to run on."""
    held(options).target = text(target)


@c_function("TF_SetConfig", P, P, N, STATUS)
def set_config(options: Any, proto: Any, size: int) -> None:
    """The ConfigProto."""
    held(options).config = parsed(tf.ConfigProto, ctypes.string_at(proto, size) if size else b"")


c_function("TF_DeleteSessionOptions", P)(drop)


@c_function("TF_NewSession", P, P, STATUS, result=P)
def new_session(graph: Any, options: Any) -> int:
    """A session of a graph."""
    return handle(CSession(held(graph), options))


@c_function("TF_LoadSessionFromSavedModel", P, P, S, P, I, P, P, STATUS, result=P)
def load_saved_model(options: Any, run_options: Any, folder: bytes, tags: Any, count: int, graph: Any, into: Any) -> int:
    """A session with a SavedModel, whose graph is added to an empty one."""
    target: CGraph = held(graph)
    made = CSession(target, options)
    try:
        with target.graph.as_default():
            meta_graph = tf.saved_model.loader.load(made.session, texts(tags, count), text(folder))
    except RuntimeError as error:
        made.session.close()
        raise tf.errors.NotFoundError(None, None, str(error)) from None
    except (OSError, tf.errors.OpError) as error:
        made.session.close()
        raise tf.errors.NotFoundError(None, None, str(getattr(error, "message", error))) from None
    fill(into, meta_graph)
    return handle(made)


@c_function("TF_CloseSession", P, STATUS)
def close_session(session: Any) -> None:
    """Ends a session; it can still be deleted."""
    held(session).close()


@c_function("TF_DeleteSession", P, STATUS)
def delete_session(session: Any) -> None:
    """Forgets a session."""
    held(session).close()
    drop(session)


def _run(session: Any, feeds: dict[Tensor, Any], fetches: list[Tensor], targets: list[Any], options: Any, metadata: Any) -> list[int]:
    """Runs, and returns the addresses of TF_Tensors."""
    given = parsed(tf.RunOptions, content(options)) if options else None
    told = tf.RunMetadata() if metadata else None
    found = session.run([*fetches, *targets], feeds, options=given, run_metadata=told)
    fill(metadata, told) if metadata else None
    return [tensor(value, t.dtype) for value, t in zip(found, fetches)]


def _put(addresses: Any, made: list[int]) -> None:
    target = ctypes.cast(addresses, POINTER(P))
    for i, address in enumerate(made):
        target[i] = address


def _fed(inputs: Any, values: Any, count: int) -> dict[Tensor, Any]:
    return dict(zip(outputs(inputs, count), (array(value) for value in numbers(P, values, count))))


def _operations(ops: Any, count: int) -> list[Any]:
    return [held(op).op for op in numbers(P, ops, count)]


@c_function("TF_SessionRun", P, P, P, P, I, P, P, I, P, I, P, STATUS)
def run(
    session: Any,
    options: Any,
    inputs: Any,
    values: Any,
    ninputs: int,
    wanted: Any,
    into: Any,
    nwanted: int,
    ops: Any,
    nops: int,
    metadata: Any,
) -> None:
    """One run."""
    found = _open(session)
    _put(into, _run(found.session, _fed(inputs, values, ninputs), outputs(wanted, nwanted), _operations(ops, nops), options, metadata))


@c_function("TF_SessionPRunSetup", P, P, I, P, I, P, I, P, STATUS)
def partial_setup(session: Any, inputs: Any, ninputs: int, wanted: Any, nwanted: int, ops: Any, nops: int, into: Any) -> None:
    """Begins a run that goes on in parts."""
    P.from_address(into).value = None
    made = _open(session).session.partial_run_setup([*outputs(wanted, nwanted), *_operations(ops, nops)], outputs(inputs, ninputs))
    P.from_address(into).value = copied_text(made)


@c_function("TF_SessionPRun", P, S, P, P, I, P, P, I, P, I, STATUS)
def partial_run(
    session: Any, name: bytes, inputs: Any, values: Any, ninputs: int, wanted: Any, into: Any, nwanted: int, ops: Any, nops: int
) -> None:
    """Goes on with a run."""
    fetches = outputs(wanted, nwanted)
    found = _open(session).session.partial_run(text(name), [*fetches, *_operations(ops, nops)], _fed(inputs, values, ninputs))
    _put(into, [tensor(value, t.dtype) for value, t in zip(found, fetches)])


# -- sessions that know operations by name


@c_function("TF_NewDeprecatedSession", P, STATUS, result=P)
def new_deprecated_session(options: Any) -> int:
    """A session with an empty graph of its own."""
    return handle(CSession(CGraph(), options))


c_function("TF_CloseDeprecatedSession", P, STATUS)(close_session)
c_function("TF_DeleteDeprecatedSession", P, STATUS)(delete_session)


@c_function("TF_Reset", P, P, I, STATUS)
def reset(options: Any, containers: Any, count: int) -> None:
    """Empties containers of a server."""
    given: Options = held(options)
    tf.Session.reset(given.target, texts(containers, count), given.config)


@c_function("TF_ExtendGraph", P, P, N, STATUS)
def extend(session: Any, proto: Any, size: int) -> None:
    """Adds the nodes of a GraphDef."""
    graph = _open(session).graph.graph
    try:
        graph_def = graph_pb2.GraphDef.FromString(ctypes.string_at(proto, size) if size else b"")
    except DecodeError:
        raise invalid_argument("Invalid GraphDef") from None
    for node in graph_def.node:
        if node.name in graph._by_name:
            said = "which was created by a previous call to Create or Extend in this session."
            raise invalid_argument(f"GraphDef argument to Extend includes node '{node.name}', {said}")
    extend_graph(graph, graph_def)


def _ready(session: Any) -> CSession:
    """The session of a handle, which must have a graph."""
    found = _open(session)
    if not found.graph.graph._by_name:
        raise invalid_argument("Session was not created with a graph before Run()!")
    return found


def _named(session: CSession, names: Any, count: int) -> list[Tensor]:
    found = []
    for name in texts(names, count):
        op_name, _, index = name.partition(":")
        op = session.graph.graph._by_name.get(op_name)
        if op is None or not (index or "0").isdigit():
            full = f"{op_name}:{index or 0}"
            raise invalid_argument(f"Tensor {full}, specified in either feed_devices or fetch_devices was not found in the Graph")
        number = int(index or 0)
        if number >= len(op.outputs):
            raise out_of_range(f"Node '{op.name}' (type: '{op.type}', num of outputs: {len(op.outputs)}) does not have output {number}")
        found.append(op.outputs[number])
    return found


def _named_operations(session: CSession, names: Any, count: int) -> list[Any]:
    known = session.graph.graph._by_name
    absent = [name for name in texts(names, count) if name not in known]
    if absent:
        raise not_found(f"PruneForTargets: Some target nodes not found: {''.join(name + ' ' for name in absent)}")
    return [known[name] for name in texts(names, count)]


@c_function("TF_Run", P, P, P, P, I, P, P, I, P, I, P, STATUS)
def run_by_name(
    session: Any,
    options: Any,
    names: Any,
    values: Any,
    ninputs: int,
    wanted: Any,
    into: Any,
    nwanted: int,
    ops: Any,
    nops: int,
    metadata: Any,
) -> None:
    """One run."""
    found = _ready(session)
    feeds = dict(zip(_named(found, names, ninputs), (array(value) for value in numbers(P, values, ninputs))))
    fetches, targets = _named(found, wanted, nwanted), _named_operations(found, ops, nops)
    if not fetches and not targets:
        raise invalid_argument("Must specify at least one target to fetch or execute.")
    _put(into, _run(found.session, feeds, fetches, targets, options, metadata))


@c_function("TF_PRunSetup", P, P, I, P, I, P, I, P, STATUS)
def partial_setup_by_name(session: Any, names: Any, ninputs: int, wanted: Any, nwanted: int, ops: Any, nops: int, into: Any) -> None:
    """Begins a run that goes on in parts."""
    P.from_address(into).value = None
    found = _ready(session)
    fetches = [*_named(found, wanted, nwanted), *_named_operations(found, ops, nops)]
    P.from_address(into).value = copied_text(found.session.partial_run_setup(fetches, _named(found, names, ninputs)))


@c_function("TF_PRun", P, S, P, P, I, P, P, I, P, I, STATUS)
def partial_run_by_name(
    session: Any, name: bytes, names: Any, values: Any, ninputs: int, wanted: Any, into: Any, nwanted: int, ops: Any, nops: int
) -> None:
    """Goes on with a run."""
    of = _ready(session)
    feeds = dict(zip(_named(of, names, ninputs), (array(value) for value in numbers(P, values, ninputs))))
    fetches = _named(of, wanted, nwanted)
    found = of.session.partial_run(text(name), [*fetches, *_named_operations(of, ops, nops)], feeds)
    _put(into, [tensor(value, t.dtype) for value, t in zip(found, fetches)])


# -- devices


class Devices:
    """A list of devices."""

    def __init__(self, devices: list[Any]) -> None:
        self.devices = devices

    def at(self, index: int) -> Any:
        """One of them."""
        if not 0 <= index < len(self.devices):
            raise invalid_argument("index out of bounds")
        return self.devices[index]


@c_function("TF_SessionListDevices", P, STATUS, result=P)
def list_devices(session: Any) -> int:
    """The devices of a session."""
    return handle(Devices(held(session).session.list_devices()))


c_function("TF_DeprecatedSessionListDevices", P, STATUS, result=P)(list_devices)
c_function("TF_DeleteDeviceList", P)(drop)


@c_function("TF_DeviceListCount", P, result=I)
def device_count(devices: Any) -> int:
    """How many there are."""
    return len(held(devices).devices)


@c_function("TF_DeviceListName", P, I, STATUS, result=P)
def device_name(devices: Any, index: int) -> int:
    """The name of one."""
    return kept_text(held(devices), f"name{index}", held(devices).at(index).name)


@c_function("TF_DeviceListType", P, I, STATUS, result=P)
def device_type(devices: Any, index: int) -> int:
    """What kind it is."""
    return kept_text(held(devices), f"type{index}", held(devices).at(index).device_type)


@c_function("TF_DeviceListMemoryBytes", P, I, STATUS, result=c_int64)
def device_memory(devices: Any, index: int) -> int:
    """How much memory it has."""
    return held(devices).at(index).memory_limit_bytes


@c_function("TF_DeviceListIncarnation", P, I, STATUS, result=c_uint64)
def device_incarnation(devices: Any, index: int) -> int:
    """A number that is another one when the device was started again."""
    return held(devices).at(index).incarnation


# -- servers


class CServer:
    """A server of a cluster."""

    def __init__(self, server_def: Any) -> None:
        self.server = tf.train.Server(server_def, start=False)


@c_function("TF_NewServer", P, N, STATUS, result=P)
def new_server(proto: Any, size: int) -> int:
    """A server by its ServerDef; it is not started."""
    return handle(CServer(parsed(tf.train.ServerDef, ctypes.string_at(proto, size) if size else b"")))


@c_function("TF_ServerStart", P, STATUS)
def start_server(server: Any) -> None:
    """Starts a server."""
    held(server).server.start()


@c_function("TF_ServerStop", P, STATUS)
def stop_server(server: Any) -> None:
    """Servers end with their process, as in TensorFlow."""
    held(server)
    raise tf.errors.UnimplementedError(None, None, "Clean shutdown is not currently implemented")


@c_function("TF_ServerJoin", P, STATUS)
def join_server(server: Any) -> None:
    """Waits for the end of a server."""
    held(server).server.join()


@c_function("TF_ServerTarget", P, result=P)
def server_target(server: Any) -> int:
    """What sessions connect to."""
    found: CServer = held(server)
    return kept_text(found, "target", found.server.target)


c_function("TF_DeleteServer", P)(drop)
