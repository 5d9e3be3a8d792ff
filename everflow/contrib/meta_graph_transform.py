"""tensorflow.contrib.meta_graph_transform: graph transforms for MetaGraphDefs, whose collections, savers and signatures follow.

`freeze_graph` is a transform here too: it needs a checkpoint, and leaves no saver. The others keep what initializes, saves and restores.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from typing import Any

import everflow as tf
from everflow import api
from everflow.api import internal
from everflow.graph.freezing import convert_variables_to_constants
from everflow.proto import meta_graph_pb2, saver_pb2, variable_pb2
from everflow.saved_model.constants import LEGACY_INIT_OP_KEY, MAIN_OP_KEY
from everflow.tools.graph_transforms.table import node_of

# Programs replace functions of this module and of that of the transforms: it stands for TensorFlow's as a whole.
internal("contrib.meta_graph_transform.meta_graph_transform")(sys.modules[__name__])
_TRANSFORMS: Any = api.namespace("tools.graph_transforms")

# {what they are for: names of the ops that initialize, save and restore}
Kept = dict[str, list[str]]

_KEYS = tf.GraphKeys
_VARIABLES = (
    _KEYS.GLOBAL_VARIABLES,
    _KEYS.TRAINABLE_VARIABLES,
    _KEYS.MOVING_AVERAGE_VARIABLES,
    _KEYS.LOCAL_VARIABLES,
    _KEYS.MODEL_VARIABLES,
)
_OPS = (
    _KEYS.TABLE_INITIALIZERS,
    _KEYS.INIT_OP,
    _KEYS.LOCAL_INIT_OP,
    _KEYS.READY_OP,
    _KEYS.READY_FOR_LOCAL_INIT_OP,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
)
_FREEZE, _SPARSIFY = "freeze_graph", "sparsify_gather"
# 1.15.5 spells it so.
_FILLED = "sparify_gather_init_op"


def meta_graph_transform(
    base_meta_graph_def: Any,
    input_names: list[str],
    output_names: list[str],
    transforms: list[str],
    tags: list[str],
    checkpoint_path: str | None = None,
) -> Any:
    """A MetaGraphDef with these tags, whose graph went through some transforms; what names ops that are gone is gone with them."""
    base = base_meta_graph_def
    made = meta_graph_pb2.MetaGraphDef()
    kept = _find_all_mandatory_retain_ops(base)
    graph_def, found = _do_transforms(base.graph_def, input_names, output_names, kept, transforms, base.saver_def, checkpoint_path)
    made.graph_def.CopyFrom(graph_def)
    made.meta_info_def.CopyFrom(base.meta_info_def)
    made.meta_info_def.tags[:] = tags
    left = {node.name for node in graph_def.node}
    removed = [node.name for node in base.graph_def.node if node.name not in left]
    for name in base.collection_def:
        _add_pruned_collection(base, made, name, removed)
    _add_new_inits_to_collection(made, found)
    if base.HasField("saver_def") and _FREEZE not in transforms:
        _add_pruned_saver(base, made, removed)
    for name in base.signature_def:
        _add_pruned_signature(base, made, name, removed)
    made.asset_file_def.extend(asset for asset in base.asset_file_def if not _is_removed(asset.tensor_info.name, removed))
    return made


def _find_all_mandatory_retain_ops(base_meta_graph_def: Any) -> Kept:
    collections = base_meta_graph_def.collection_def
    savers = [base_meta_graph_def.saver_def] if base_meta_graph_def.HasField("saver_def") else []
    savers += _protos(collections, _KEYS.SAVERS, saver_pb2.SaverDef)
    kept = {_KEYS.SAVERS: [name for s in savers for name in (s.filename_tensor_name, s.save_tensor_name, s.restore_op_name)]}
    for key in _VARIABLES:
        kept[key] = [variable.initializer_name for variable in _protos(collections, key, variable_pb2.VariableDef)]
    for key in _OPS:
        kept[key] = [*collections[key].node_list.value] if key in collections else []
    return {key: names for key, names in kept.items() if names}


def _protos(collections: Any, key: str, kind: Any) -> list[Any]:
    return [kind.FromString(value) for value in collections[key].bytes_list.value] if key in collections else []


def _do_transforms(
    graph_def: Any,
    input_names: list[str],
    output_names: list[str],
    initializer_names: Kept,
    transforms: list[str],
    saver_def: Any = None,
    checkpoint_path: str | None = None,
) -> tuple[Any, Kept]:
    """The graph after all transforms, and what of the ops to keep is there then."""
    waiting: list[str] = []

    def others() -> Any:
        done = _gtt_transforms(graph_def, input_names, output_names, initializer_names, waiting[:]) if waiting else graph_def
        waiting.clear()
        return done

    for transform in transforms:
        if transform == _FREEZE:
            graph_def, initializer_names = _freeze_transform(others(), output_names, initializer_names, saver_def, checkpoint_path)
        elif transform == _SPARSIFY:
            graph_def, initializer_names = _sparsify_gather_transform(
                others(), input_names, output_names, initializer_names, checkpoint_path
            )
        else:
            waiting.append(transform)
    return others(), initializer_names


def _gtt_transforms(graph_def: Any, input_names: list[str], output_names: list[str], initializer_names: Kept, transforms: list[str]) -> Any:
    kept = sorted(name for names in initializer_names.values() for name in names)
    return _TRANSFORMS.TransformGraph(graph_def, input_names, output_names + kept, transforms)


def _freeze_transform(
    graph_def: Any, output_names: list[str], initializer_names: Kept, saver_def: Any, checkpoint_path: str | None
) -> tuple[Any, Kept]:
    """What computes outputs and fills tables, with constants in the place of variables."""
    tables = initializer_names.get(_KEYS.TABLE_INITIALIZERS, [])
    shared = _get_shared_init_op(initializer_names)
    frozen = _freeze_graph_with_def_protos(graph_def, output_names, tables, shared, saver_def, checkpoint_path)
    left = {node.name for node in frozen.node}
    # Loaders look for both, also where there is nothing to do.
    for name in [*initializer_names.get(MAIN_OP_KEY, []), *initializer_names.get(LEGACY_INIT_OP_KEY, [])]:
        if name not in left:
            frozen.node.add(name=name, op="NoOp", input=["^" + table for table in tables])
    keys = (_KEYS.TABLE_INITIALIZERS, MAIN_OP_KEY, LEGACY_INIT_OP_KEY)
    return frozen, {key: names for key, names in initializer_names.items() if key in keys}


def _freeze_graph_with_def_protos(
    input_graph_def: Any,
    output_node_names: list[str],
    initializer_names: list[str],
    shared_init_op_name: str | None,
    input_saver_def: Any,
    input_checkpoint: str | None,
) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(input_graph_def, name="")
        tf.train.Saver(saver_def=input_saver_def).restore(session, input_checkpoint)
        wanted = [node_of(name) for name in output_node_names + initializer_names]
        frozen = convert_variables_to_constants(session, input_graph_def, wanted)
    _connect_to_shared_init_op(frozen, shared_init_op_name, initializer_names)
    return frozen


def _get_shared_init_op(initializer_names: Kept) -> str | None:
    """The op that whoever loads the model runs first, if there is one."""
    found = initializer_names.get(MAIN_OP_KEY) or initializer_names.get(LEGACY_INIT_OP_KEY)
    return found[0] if found else None


def _connect_to_shared_init_op(graph_def: Any, shared_init_op_name: str | None, nodes_to_connect: list[str]) -> None:
    """Has an op run others; a graph that lacks the op gets it."""
    if not nodes_to_connect or shared_init_op_name is None:
        return
    node = next((node for node in graph_def.node if node.name == shared_init_op_name), None)
    if node is None:
        node = graph_def.node.add(name=shared_init_op_name, op="NoOp")
    node.input.extend("^" + name for name in nodes_to_connect)


def _sparsify_gather_transform(
    graph_def: Any, input_names: list[str], output_names: list[str], initializer_names: Kept, checkpoint_path: str | None
) -> tuple[Any, Kept]:
    """Tables in the place of sparse columns; they are filled with the tables that were there."""
    checkpoint = f'input_checkpoint="{checkpoint_path}", ' if checkpoint_path else ""
    transform = f'{_SPARSIFY}({checkpoint}group_init_node="{_FILLED}")'
    sparse = _gtt_transforms(graph_def, input_names, output_names, initializer_names, [transform])
    fillings = []
    for node in [node for node in sparse.node if node.name == _FILLED]:
        fillings = [node_of(given) for given in node.input]
        sparse.node.remove(node)
    _connect_to_shared_init_op(sparse, _get_shared_init_op(initializer_names), fillings)
    left = {node.name for node in sparse.node}
    # Parts of a variable are saved by the name of the whole.
    removed = sorted({re.sub(r"/part_\d+$", "", node.name) for node in graph_def.node if node.name not in left})
    for node in sparse.node:
        if re.search(r"(^|/)(SaveV2|RestoreV2)(_\d+)?$", node.name):
            _clean_save_and_restore(sparse, node, removed)
    there = {key: [name for name in names if node_of(name) not in removed] for key, names in initializer_names.items()}
    tables = there.get(_KEYS.TABLE_INITIALIZERS, []) + fillings
    return sparse, {**there, **({_KEYS.TABLE_INITIALIZERS: tables} if tables else {})}


def _clean_save_and_restore(graph_def: Any, op: Any, removed_op_names: Collection[str]) -> None:
    """Has an op save or restore no variable that is gone."""
    lists = [node for node in graph_def.node if node.name in (op.name + "/tensor_names", op.name + "/shape_and_slices")]
    names: Any = next((node.attr["value"].tensor.string_val for node in lists if node.name.endswith("/tensor_names")), [])
    stay = [i for i, name in enumerate(names) if name.decode() not in removed_op_names]
    for node in lists:
        tensor = node.attr["value"].tensor
        tensor.string_val[:] = [tensor.string_val[i] for i in stay]
        tensor.tensor_shape.dim[0].size = len(stay)
        if "_output_shapes" in node.attr:
            node.attr["_output_shapes"].list.shape[0].dim[0].size = len(stay)
    op.attr["dtypes"].list.type[:] = [op.attr["dtypes"].list.type[i] for i in stay]
    if op.op == "RestoreV2":
        _renumber(graph_def, op.name, stay)


def _renumber(graph_def: Any, name: str, stay: list[int]) -> None:
    """Has those who take outputs of an op take the same ones, where only some stayed."""
    for node in graph_def.node:
        for i, given in enumerate(node.input):
            of, _, index = given.partition(":")
            if of == name and int(index or 0) in stay:
                node.input[i] = f"{name}:{stay.index(int(index or 0))}"


def _add_new_inits_to_collection(meta_graph_def: Any, updated_initializer_names: Kept) -> None:
    tables = updated_initializer_names.get(_KEYS.TABLE_INITIALIZERS, [])
    if tables:
        known = meta_graph_def.collection_def[_KEYS.TABLE_INITIALIZERS].node_list.value
        known.extend([name for name in tables if name not in known])


def _is_removed(tensor_name: str, removed_op_names: Collection[str]) -> bool:
    return tensor_name.partition(":")[0] in removed_op_names


def _is_removed_mentioned(text: Any, removed_op_names: Collection[str]) -> bool:
    """Whether something written, as text or as a serialized message, names an op that is gone."""
    return any(re.search(_mention(name.encode()), tf.compat.as_bytes(text)) for name in removed_op_names)


def _mention(name: bytes) -> bytes:
    """What finds a name that is not part of a longer one. In messages, also in those quoted in texts, its length stands before it."""
    lengths = re.escape(bytes([min(len(name), 127), min(len(name) + 2, 127)]))
    return rb"(?:(?<![\w./-])|(?<=[%s])|(?<=\\\d\d\d)|(?<=\\[a-z]))%s(?![\w./-])" % (lengths, re.escape(name))


def _add_pruned_collection(base_meta_graph_def: Any, meta_graph_def: Any, collection_name: str, removed_op_names: Collection[str]) -> None:
    base, made = base_meta_graph_def.collection_def[collection_name], meta_graph_def.collection_def[collection_name]
    made.CopyFrom(base)
    if base.HasField("node_list"):
        made.node_list.value[:] = [name for name in base.node_list.value if not _is_removed(name, removed_op_names)]
    elif base.HasField("bytes_list"):
        made.bytes_list.value[:] = [value for value in base.bytes_list.value if not _is_removed_mentioned(value, removed_op_names)]
    elif base.HasField("any_list"):
        del made.any_list.value[:]
        made.any_list.value.extend(any for any in base.any_list.value if not _is_removed_mentioned(any.value, removed_op_names))


def _add_pruned_saver(base_meta_graph_def: Any, meta_graph_def: Any, removed_op_names: Collection[str]) -> None:
    saver = base_meta_graph_def.saver_def
    for name in (saver.filename_tensor_name, saver.save_tensor_name, saver.restore_op_name):
        _check_tensor_not_removed(name, removed_op_names)
    meta_graph_def.saver_def.CopyFrom(saver)


def _check_tensor_not_removed(tensor_name: str, removed_op_names: Collection[str]) -> None:
    if not tensor_name:
        raise ValueError("Tensor name should not be empty")
    if _is_removed(tensor_name, removed_op_names):
        raise ValueError(f"Expected Tensor, but it was removed: {tensor_name}")


def _add_pruned_signature(base_meta_graph_def: Any, meta_graph_def: Any, signature_name: str, removed_op_names: Collection[str]) -> None:
    signature = base_meta_graph_def.signature_def[signature_name]
    infos = [*signature.inputs.values(), *signature.outputs.values()]
    sparse = [info.coo_sparse for info in infos if info.HasField("coo_sparse")]
    names = [info.name for info in infos if not info.HasField("coo_sparse")]
    names += [name for s in sparse for name in (s.values_tensor_name, s.indices_tensor_name, s.dense_shape_tensor_name)]
    if not any(_is_removed(name, removed_op_names) for name in names):
        meta_graph_def.signature_def[signature_name].CopyFrom(signature)
