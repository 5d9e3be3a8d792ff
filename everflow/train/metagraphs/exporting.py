"""From a graph to a MetaGraphDef."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message

from everflow import versions
from everflow.api import internal, public
from everflow.compat import as_bytes, as_str
from everflow.eager.context import executing_eagerly
from everflow.graph import attrs as attr_values
from everflow.graph import opdefs
from everflow.graph.collection_protos import get_to_proto_function
from everflow.graph.graph import Graph
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import strip_name_scope
from everflow.graph.stacks import get_default_graph
from everflow.graph.wire import op_def_proto, versions_proto
from everflow.io import file_io
from everflow.platform import logging
from everflow.train.metagraphs.files import write_graph

UNBOUND_PREFIX = internal("framework.meta_graph._UNBOUND_INPUT_PREFIX")("$unbound_inputs_")
SAVE_AND_RESTORE_OPS = internal("framework.meta_graph.SAVE_AND_RESTORE_OPS")(
    [
        "SaveV2",
        "Save",
        "SaveSlice",
        "LegacySave",
        "LegacySaveSlice",
        "RestoreV2",
        "Restore",
        "RestoreSlice",
        "LegacyRestore",
        "LegacyRestoreSlice",
    ]
)
_WITHOUT_EAGER = "Exporting/importing meta graphs is not supported when Eager Execution is enabled."


def refuse_eager() -> None:
    """Raises where there is no graph to speak of."""
    if executing_eagerly() and not get_default_graph().building_function:
        raise ValueError(_WITHOUT_EAGER)


def _in_scope(name: Any, export_scope: str | None, exclude: Callable[[str], bool] | None) -> bool:
    try:
        name = name if isinstance(name, str) else name.name
    except AttributeError:
        # Items without a name (numbers, protos) belong to no scope.
        return True
    if exclude is not None and exclude(name):
        return False
    return not export_scope or name.startswith((export_scope, UNBOUND_PREFIX))


def _exclusion(exclude_nodes: Any) -> Callable[[str], bool] | None:
    if not exclude_nodes:
        return None
    if callable(exclude_nodes):
        return exclude_nodes
    names = frozenset(exclude_nodes)
    return lambda name: name.partition(":")[0].lstrip("^") in names


@internal("framework.meta_graph._node_def")
def scoped_node_def(from_node_def: Any, export_scope: str | None, unbound_inputs: list[str], clear_devices: bool = False) -> Any:
    """A node as it is within the scope that is exported; inputs from outside are noted as unbound."""
    from everflow.proto import node_def_pb2

    node = node_def_pb2.NodeDef()
    node.CopyFrom(from_node_def)
    node.name = strip_name_scope(from_node_def.name, export_scope)
    del node.input[:]
    for name in from_node_def.input:
        if not export_scope or name.lstrip("^").startswith(export_scope):
            node.input.append(strip_name_scope(name, export_scope))
        else:
            # A control input from outside stays one.
            mark = "^" if name.startswith("^") else ""
            node.input.append(mark + UNBOUND_PREFIX + name.removeprefix("^"))
            unbound_inputs.append(node.input[-1])
    if clear_devices:
        node.device = ""
    if export_scope and "_class" in node.attr:
        groups = [as_str(group) for group in from_node_def.attr["_class"].list.s]
        kept = [group for group in groups if group.split("@")[-1].startswith(export_scope)]
        del node.attr["_class"].list.s[:]
        node.attr["_class"].list.s.extend(as_bytes(strip_name_scope(group, export_scope)) for group in kept)
        if not kept:
            del node.attr["_class"]
    return node


@internal("framework.meta_graph._get_kind_name")
def kind_name(item: Any) -> str:
    """Which list of a CollectionDef an item goes into."""
    if isinstance(item, (str, bytes)):
        return "bytes_list"
    if isinstance(item, int):
        return "int64_list"
    if isinstance(item, float):
        return "float_list"
    from google.protobuf.any_pb2 import Any as AnyProto

    return "any_list" if isinstance(item, AnyProto) else "node_list"


@internal("framework.meta_graph.add_collection_def")
def add_collection_def(
    meta_graph_def: Any,
    key: Any,
    graph: Graph | None = None,
    export_scope: str | None = None,
    exclude_nodes: Any = None,
    override_contents: Any = None,
) -> None:
    """Adds a collection; one whose items can't be written is left out with a warning."""
    if graph is not None and not hasattr(graph, "get_collection_ref"):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    if not isinstance(key, str):
        logging.warning("Only collections with string type keys will be serialized. This key has %s", type(key))
        return
    graph = graph or get_default_graph()
    exclude = _exclusion(exclude_nodes)
    items = override_contents or graph.get_collection_ref(key)
    items = [item for item in items if _in_scope(item, export_scope, exclude)]
    if not items:
        return
    try:
        collection = meta_graph_def.collection_def[key]
        to_proto = get_to_proto_function(key)
        if to_proto is not None:
            collection.bytes_list.SetInParent()
            for item in items:
                proto = to_proto(item, export_scope=export_scope)
                if proto is not None:
                    collection.bytes_list.value.append(proto.SerializeToString())
            return
        kind = kind_name(items[0])
        if kind == "node_list":
            for item in items:
                if not export_scope or item.name.startswith(export_scope):
                    collection.node_list.value.append(strip_name_scope(item.name, export_scope))
        elif kind == "bytes_list":
            collection.bytes_list.value.extend(as_bytes(item) for item in items)
        else:
            getattr(collection, kind).value.extend(items)
    except Exception as error:
        # Items are the user's: what can't be written is said, not guessed at.
        logging.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the items don't match field type in "
            "CollectionDef. Note this is a warning and probably safe to ignore.\n%s",
            key,
            error,
        )
        del meta_graph_def.collection_def[key]


@public("contrib.util.ops_used_by_graph_def")
@internal("framework.meta_graph.ops_used_by_graph_def")
def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The names of the ops (and functions) that a graph uses, also inside the functions it calls."""
    functions = {f.signature.name: f for f in graph_def.library.function}
    used: set[str] = set()
    waiting: list[Any] = []

    def mark(op: str) -> None:
        if op not in used and op in functions:
            waiting.append(functions[op])
        used.add(op)

    for node in graph_def.node:
        mark(node.op)
    while waiting:
        for node in waiting.pop().node_def:
            mark(node.op)
    return [op for op in used if op not in functions]


@public("contrib.util.stripped_op_list_for_graph")
@internal("framework.meta_graph.stripped_op_list_for_graph")
def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """The definitions of the ops that a graph uses."""
    from everflow.proto import op_def_pb2

    found = op_def_pb2.OpList()
    for name in sorted(ops_used_by_graph_def(graph_def)):
        definition = opdefs.find(name)
        if definition is not None:
            found.op.append(op_def_proto(definition))
    return found


@internal("framework.meta_graph.strip_graph_default_valued_attrs")
def strip_graph_default_valued_attrs(meta_graph_def: Any) -> None:
    """Leaves out attributes that have their default, so that older readers, who lack them, can read the graph."""
    nodes: list[Any] = list(meta_graph_def.graph_def.node)
    for function in meta_graph_def.graph_def.library.function:
        nodes.extend(function.node_def)
    for node in nodes:
        definition = opdefs.find(node.op)
        if definition is None:
            continue
        for name, attr in definition.attrs.items():
            if attr.has_default and name in node.attr and node.attr[name] == attr_values.to_proto(attr.default, attr.type):
                del node.attr[name]
    meta_graph_def.meta_info_def.stripped_default_attrs = True


@internal("framework.meta_graph._find_extraneous_saver_nodes")
def extraneous_saver_nodes(graph_def: Any, saver_def: Any) -> set[str]:
    """The nodes of savers other than the one that is exported."""

    def scope_of(name: str) -> str:
        return name.rpartition("/")[0]

    kept = None if saver_def is None else scope_of(saver_def.filename_tensor_name)
    scopes = {scope_of(node.name) for node in graph_def.node if node.op in SAVE_AND_RESTORE_OPS} - {kept}
    found: set[str] = set()
    for scope in scopes:
        members = {node.name: node for node in graph_def.node if node.name.startswith(scope + "/")}
        edges: dict[str, set[str]] = {name: set() for name in members}
        for name, node in members.items():
            for source in node.input:
                source = source.lstrip("^").partition(":")[0]
                if source in members:
                    edges[name].add(source)
                    edges[source].add(name)
        waiting = [name for name, node in members.items() if node.op in SAVE_AND_RESTORE_OPS]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(edges[name])
    return found


@internal("framework.meta_graph.create_meta_graph_def")
def create_meta_graph_def(
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    exclude_nodes: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
) -> Any:
    """A MetaGraphDef of a graph (the default one unless given)."""
    from everflow.proto import meta_graph_pb2

    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    if graph_def is not None and not (isinstance(graph_def, Message) and graph_def.DESCRIPTOR.name == "GraphDef"):
        raise TypeError(f"graph_def must be of type GraphDef, not {type(graph_def)}")
    graph = graph or get_default_graph()
    meta_graph_def = meta_graph_pb2.MetaGraphDef()
    info = meta_graph_def.meta_info_def
    if meta_info_def is not None:
        info.MergeFrom(meta_info_def)
    info.tensorflow_version = versions.VERSION
    info.tensorflow_git_version = versions.GIT_VERSION
    meta_graph_def.graph_def.MergeFrom(graph.as_graph_def(add_shapes=True) if graph_def is None else graph_def)
    if len(info.stripped_op_list.op) == 0:
        info.stripped_op_list.MergeFrom(stripped_op_list_for_graph(meta_graph_def.graph_def))
    if strip_default_attrs:
        strip_graph_default_valued_attrs(meta_graph_def)
    if saver_def is not None:
        meta_graph_def.saver_def.MergeFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        add_collection_def(
            meta_graph_def,
            key,
            graph=graph,
            export_scope=export_scope,
            exclude_nodes=exclude_nodes,
            override_contents=[saver_def_holder(saver_def)]
            if clear_extraneous_savers and saver_def is not None and key == GraphKeys.SAVERS
            else None,
        )
    return meta_graph_def


def saver_def_holder(saver_def: Any) -> Any:
    """The saver of a SaverDef, to be the only one of its collection."""
    from everflow.train.checkpoints.saver import Saver

    return Saver(saver_def=saver_def)


@internal("framework.meta_graph.export_scoped_meta_graph")
def export_scoped_meta_graph(
    filename: Any = None,
    graph_def: Any = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str = "unbound_inputs",
    clear_devices: bool = False,
    saver_def: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """A MetaGraphDef of a graph or of one of its name scopes, and {name in it: variable}; written to a file where one is named."""
    from everflow.proto import graph_pb2

    refuse_eager()
    graph = graph or get_default_graph()
    excluded: Any = None
    unbound: list[str] = []
    if export_scope or clear_extraneous_savers or clear_devices:
        full = graph_def if graph_def is not None else graph.as_graph_def(add_shapes=True)
        excluded = extraneous_saver_nodes(full, saver_def) if clear_extraneous_savers else None
        scoped = graph_pb2.GraphDef()
        for node in full.node:
            if _in_scope(node.name, export_scope, _exclusion(excluded)):
                scoped.node.append(scoped_node_def(node, export_scope, unbound, clear_devices=clear_devices))
        scoped.versions.CopyFrom(full.versions if graph_def is not None else versions_proto(graph))
        scoped.library.CopyFrom(full.library)
        graph_def = scoped
        if unbound_inputs_col_name:
            # A second export from the same graph starts anew.
            graph.clear_collection(unbound_inputs_col_name)
            for name in dict.fromkeys(unbound):
                graph.add_to_collection(unbound_inputs_col_name, name)
    found: dict[str, Any] = {}
    for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=export_scope):
        if _in_scope(variable, export_scope, _exclusion(excluded)):
            found[strip_name_scope(variable.name, export_scope)] = variable
    meta_graph_def = create_meta_graph_def(
        graph_def=graph_def,
        graph=graph,
        export_scope=export_scope,
        exclude_nodes=excluded,
        saver_def=saver_def,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        **kwargs,
    )
    if filename:
        folder, name = os.path.split(filename)
        write_graph(meta_graph_def, folder, name, as_text=as_text)
        if save_debug_info:
            told = create_graph_debug_info_def([("", op) for op in graph.get_operations()])
            file_io.write_string_to_file(os.path.join(folder, os.path.splitext(name)[0] + ".debug"), told.SerializeToString())
    return meta_graph_def, found


@internal("framework.error_interpolation.create_graph_debug_info_def")
def create_graph_debug_info_def(operations: Any) -> Any:
    """Where operations were made, innermost calls first. They come as pairs: the function that they are in ("" for none), and they."""
    from everflow.proto import graph_debug_info_pb2

    made = graph_debug_info_pb2.GraphDebugInfo()
    numbers: dict[str, int] = {}
    for function, operation in operations:
        trace = made.traces[function + operation.name]
        for file, line, *_ in reversed(operation.traceback):
            trace.file_line_cols.add(file_index=numbers.setdefault(file, len(numbers)), line=line)
    made.files.extend(numbers)
    return made


@public("train.export_meta_graph")
@internal("training.saver.export_meta_graph")
def export_meta_graph(
    filename: Any = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """A MetaGraphDef of a graph (the default one unless given), written to a file where one is named."""
    refuse_eager()
    return export_scoped_meta_graph(
        filename=filename,
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        as_text=as_text,
        graph=graph,
        export_scope=export_scope,
        clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info,
        **kwargs,
    )[0]
