"""Reads exports, and exports and SavedModels alike."""

from __future__ import annotations

import os
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.compat import as_str
from everflow.contrib.session_bundle import constants
from everflow.errors import invalid_argument
from everflow.io import gfile
from everflow.proto import manifest_pb2, types_pb2
from everflow.saved_model import constants as saved_model_constants
from everflow.saved_model.loader import load, maybe_saved_model_directory
from everflow.train.metagraphs.files import read_meta_graph_file
from everflow.train.metagraphs.importing import import_meta_graph


@public("contrib.session_bundle.session_bundle.maybe_session_bundle_dir")
def maybe_session_bundle_dir(export_dir: str) -> bool:
    """Whether a folder holds an export."""
    return gfile.file_exists(os.path.join(as_str(export_dir), constants.META_GRAPH))


@public("contrib.session_bundle.session_bundle.load_session_bundle_from_path")
def load_session_bundle_from_path(export_dir: str, target: str = "", config: Any = None, meta_graph_def: Any = None) -> tuple[Any, Any]:
    """(session with the graph and its variables, MetaGraphDef)."""
    folder = as_str(export_dir)
    if meta_graph_def is None:
        path = os.path.join(folder, constants.META_GRAPH)
        if not gfile.file_exists(path):
            raise RuntimeError(f"Expected meta graph file missing {path}")
        meta_graph_def = read_meta_graph_file(path)
    session = tf.Session(target, graph=None, config=config)
    saver = import_meta_graph(meta_graph_def)
    checkpoint = _checkpoint_in(folder)
    if saver is not None and checkpoint is not None:
        saver.restore(session, checkpoint)
    elif saver is not None and tf.global_variables():
        raise RuntimeError(f"Expected checkpoint file missing in {folder}: {constants.VARIABLES}, {constants.SHARDS} or {constants.INDEX}")
    collections = meta_graph_def.collection_def
    if constants.INIT_OP_KEY in collections:
        names = collections[constants.INIT_OP_KEY].node_list.value
        if len(names) != 1:
            raise RuntimeError(f"Expected exactly one serving init op in : {list(names)}")
        session.run(names[0], feed_dict=_asset_feeds(folder, collections))
    return session, meta_graph_def


def _checkpoint_in(folder: str) -> str | None:
    for name, prefix in ((constants.VARIABLES, constants.VARIABLES), (constants.INDEX, constants.VARIABLES)):
        if gfile.file_exists(os.path.join(folder, name)):
            return os.path.join(folder, prefix)
    return os.path.join(folder, constants.SHARDS) if gfile.get_matching_files(os.path.join(folder, constants.SHARDS)) else None


def _asset_feeds(folder: str, collections: Any) -> dict[str, str]:
    found = {}
    for packed in collections[constants.ASSETS_KEY].any_list.value if constants.ASSETS_KEY in collections else ():
        asset = manifest_pb2.AssetFile()
        packed.Unpack(asset)
        if os.path.basename(asset.filename) != asset.filename or asset.filename in ("", os.curdir, os.pardir):
            raise invalid_argument(f"Asset {asset.filename!r} is not in the folder of its export")
        found[asset.tensor_binding.tensor_name] = os.path.join(folder, constants.ASSETS_DIRECTORY, asset.filename)
    return found


@public("contrib.session_bundle.bundle_shim.load_session_bundle_or_saved_model_bundle_from_path")
def load_session_bundle_or_saved_model_bundle_from_path(
    export_dir: str, tags: Any = None, target: str = "", config: Any = None
) -> tuple[Any, Any]:
    """(session, MetaGraphDef) of a SavedModel or of an export, whose signatures are then there as a SavedModel has them."""
    if maybe_saved_model_directory(export_dir):
        session = tf.Session(target, graph=None, config=config)
        return session, load(session, tags or [saved_model_constants.SERVING], export_dir)
    if maybe_session_bundle_dir(export_dir):
        session, meta_graph_def = load_session_bundle_from_path(export_dir, target, config)
        _add_signature_defs(meta_graph_def)
        return session, meta_graph_def
    raise RuntimeError(f"SessionBundle or SavedModelBundle not found at specified export location: {export_dir}")


def _add_signature_defs(meta_graph_def: Any) -> None:
    signatures = manifest_pb2.Signatures()
    for packed in meta_graph_def.collection_def[constants.SIGNATURES_KEY].any_list.value[:1]:
        packed.Unpack(signatures)
    key = saved_model_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    kind = signatures.default_signature.WhichOneof("type")
    if kind == "regression_signature":
        told = meta_graph_def.signature_def[key]
        told.method_name = saved_model_constants.REGRESS_METHOD_NAME
        _bind(
            told.inputs[saved_model_constants.REGRESS_INPUTS], signatures.default_signature.regression_signature.input, types_pb2.DT_STRING
        )
        _bind(
            told.outputs[saved_model_constants.REGRESS_OUTPUTS],
            signatures.default_signature.regression_signature.output,
            types_pb2.DT_FLOAT,
        )
    elif kind == "classification_signature":
        told = meta_graph_def.signature_def[key]
        told.method_name = saved_model_constants.CLASSIFY_METHOD_NAME
        given = signatures.default_signature.classification_signature
        _bind(told.inputs[saved_model_constants.CLASSIFY_INPUTS], given.input, types_pb2.DT_STRING)
        if given.HasField("classes"):
            _bind(told.outputs[saved_model_constants.CLASSIFY_OUTPUT_CLASSES], given.classes, types_pb2.DT_STRING)
        if given.HasField("scores"):
            _bind(told.outputs[saved_model_constants.CLASSIFY_OUTPUT_SCORES], given.scores, types_pb2.DT_FLOAT)
    named = signatures.named_signatures
    if "inputs" in named and "outputs" in named:
        told = meta_graph_def.signature_def[key]
        if not told.method_name:
            told.method_name = saved_model_constants.PREDICT_METHOD_NAME
            for name, binding in named["inputs"].generic_signature.map.items():
                told.inputs[name].name = binding.tensor_name
            for name, binding in named["outputs"].generic_signature.map.items():
                told.outputs[name].name = binding.tensor_name


def _bind(info: Any, binding: Any, dtype: int) -> None:
    info.name = binding.tensor_name
    info.dtype = dtype
