"""From a MetaGraphDef to a graph with its collections, and a Saver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.compat import as_str
from everflow.graph import attrs as attr_values
from everflow.graph import opdefs
from everflow.graph.collection_protos import get_collection_proto_type, get_from_proto_function
from everflow.graph.graph import Graph
from everflow.graph.importer import import_graph_def
from everflow.graph.keys import GraphKeys
from everflow.graph.malformed import well_formed
from everflow.graph.scopes import prepend_name_scope, strip_name_scope
from everflow.graph.stacks import get_default_graph
from everflow.ops.variables.sets import saveable_objects
from everflow.platform import logging
from everflow.proto import meta_graph_pb2
from everflow.train.checkpoints.saver import Saver
from everflow.train.metagraphs.exporting import export_scoped_meta_graph, refuse_eager
from everflow.train.metagraphs.files import read_meta_graph_file

# Before variables had protos, these collections held names.
_ONCE_NAMES = internal("framework.meta_graph._COMPAT_COLLECTION_LIST")(
    [GraphKeys.LOCAL_VARIABLES, GraphKeys.MODEL_VARIABLES, GraphKeys.METRIC_VARIABLES]
)


@internal("framework.meta_graph.import_scoped_meta_graph")
def import_scoped_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Any = None,
    unbound_inputs_col_name: str = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> dict[str, Any]:
    """Adds a MetaGraph to a graph; returns {name in the MetaGraph: variable}."""
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, graph, import_scope, input_map, unbound_inputs_col_name, restore_collections_predicate
    )[0]


@internal("framework.meta_graph.import_scoped_meta_graph_with_return_elements")
def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Any = None,
    unbound_inputs_col_name: str = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: Any = None,
) -> tuple[dict[str, Any], Any]:
    """The same, and the elements that are asked for."""
    refuse_eager()
    if isinstance(meta_graph_or_file, meta_graph_pb2.MetaGraphDef):
        meta_graph_def = meta_graph_or_file
    else:
        meta_graph_def = read_meta_graph_file(meta_graph_or_file)
    _check_bound(meta_graph_def, unbound_inputs_col_name, input_map)
    graph = graph or get_default_graph()
    with graph.as_default():
        operators = meta_graph_def.meta_info_def.stripped_op_list if meta_graph_def.meta_info_def.HasField("stripped_op_list") else None
        graph_def = meta_graph_def.graph_def
        if clear_devices:
            for node in graph_def.node:
                node.device = ""
        _fill_defaults(graph_def)
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        elements = import_graph_def(
            graph_def, name=import_scope or scope, input_map=input_map, producer_op_list=operators, return_elements=return_elements
        )
        known: dict[bytes, Any] = {}
        for key in sorted(meta_graph_def.collection_def):
            if key != unbound_inputs_col_name and restore_collections_predicate(key):
                _restore_collection(graph, key, meta_graph_def.collection_def[key], scope, known)
        return {strip_name_scope(v.name, scope): v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)}, elements


def _fill_defaults(graph_def: Any) -> None:
    """Gives the nodes of the caller's MetaGraph, which may have been stripped of them, their default attributes."""
    defaults: dict[str, list[tuple[str, Any]]] = {}
    for node in graph_def.node:
        known = defaults.get(node.op)
        if known is None:
            definition = opdefs.find(node.op)
            known = defaults[node.op] = (
                []
                if definition is None
                else [(name, attr_values.to_proto(attr.default, attr.type)) for name, attr in definition.attrs.items() if attr.has_default]
            )
        for name, value in known:
            if name not in node.attr:
                node.attr[name].CopyFrom(value)


def _check_bound(meta_graph_def: Any, collection: str, input_map: Any) -> None:
    if not collection or collection not in meta_graph_def.collection_def:
        return
    names = meta_graph_def.collection_def[collection].bytes_list.value
    missing = [as_str(name) for name in names if as_str(name) not in (input_map or {})]
    if missing:
        raise ValueError(
            f"Graph contains unbound inputs: {', '.join(as_str(name) for name in names)}. Must provide these inputs through input_map."
        )


def _restore_collection(graph: Graph, key: str, collection: Any, scope: str, known: dict[bytes, Any]) -> None:
    kind = collection.WhichOneof("kind")
    if kind is None:
        logging.error("Cannot identify data type for collection %s. Skipping.", key)
        return
    from_proto = get_from_proto_function(key)
    values = getattr(collection, kind).value
    if from_proto is not None and kind == "bytes_list":
        proto_type = get_collection_proto_type(key)
        is_variable = proto_type.DESCRIPTOR.name == "VariableDef"
        for value in values:
            if is_variable:
                # The same variable in two collections is one object.
                item = known.get(value)
                if item is None:
                    item = known[value] = from_proto(proto_type.FromString(value), import_scope=scope)
            else:
                item = from_proto(proto_type.FromString(value), import_scope=scope)
            if item is not None:
                graph.add_to_collection(key, item)
        return
    if key in _ONCE_NAMES:
        logging.warning(
            "The saved meta_graph is possibly from an older release:\n'%s' collection should be of type 'byte_list', but "
            "instead is of type '%s'.",
            key,
            kind,
        )
    for value in values:
        if kind == "node_list":
            graph.add_to_collection(key, graph.as_graph_element(prepend_name_scope(value, scope)))
        elif kind == "int64_list":
            graph.add_to_collection(key, int(value))
        elif kind == "bytes_list":
            graph.add_to_collection(key, _scoped_text(value, scope))
        else:
            graph.add_to_collection(key, value)


def _scoped_text(value: bytes, scope: str) -> Any:
    return prepend_name_scope(as_str(value), scope) if scope else value


@internal("framework.meta_graph.copy_scoped_meta_graph")
def copy_scoped_meta_graph(from_scope: str, to_scope: str, from_graph: Any = None, to_graph: Any = None) -> dict[str, Any]:
    """Copies what is in a name scope to another one, of the same or another graph."""
    from_graph = from_graph or get_default_graph()
    to_graph = to_graph or get_default_graph()
    if from_graph == to_graph and from_scope == to_scope:
        raise ValueError("'from_scope' and 'to_scope' need to be different when performing copy in the same graph.")
    meta_graph_def, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(meta_graph_def, graph=to_graph, import_scope=to_scope)


@public("train.import_meta_graph")
@internal("training.saver.import_meta_graph")
def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, **kwargs: Any) -> Any:
    """Adds a MetaGraph to the default graph; returns the Saver it was written with, or one of its variables, or None."""
    return _import_meta_graph_with_return_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


@internal("training.saver._import_meta_graph_with_return_elements")
def _import_meta_graph_with_return_elements(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, return_elements: Any = None, **kwargs: Any
) -> tuple[Any, Any]:
    refuse_eager()
    if isinstance(meta_graph_or_file, meta_graph_pb2.MetaGraphDef):
        meta_graph_def = meta_graph_or_file
    else:
        meta_graph_def = read_meta_graph_file(meta_graph_or_file)
    with well_formed():
        variables, elements = import_scoped_meta_graph_with_return_elements(
            meta_graph_def, clear_devices=clear_devices, import_scope=import_scope, return_elements=return_elements, **kwargs
        )
        return saver_of(meta_graph_def, import_scope, variables), elements


@internal("training.saver._create_saver_from_imported_meta_graph")
def saver_of(meta_graph_def: Any, import_scope: str | None, imported_vars: dict[str, Any]) -> Any:
    """The Saver of an imported MetaGraph."""
    if meta_graph_def.HasField("saver_def"):
        scope = import_scope
        if imported_vars:
            # The scope may have been made unique: a variable's name says what it became.
            key, variable = next(iter(imported_vars.items()))
            scope = variable.name[: -len(key)]
        return Saver(saver_def=meta_graph_def.saver_def, name=scope)
    if saveable_objects(scope=import_scope):
        return Saver()
    logging.info("Saver not created because there are no variables in the graph to restore")
    return None
