"""Writes exports."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.compat import as_bytes, as_str
from everflow.contrib.session_bundle import constants, versions
from everflow.graph.operation import Operation
from everflow.graph.scopes import add_to_collection
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.io import gfile
from everflow.proto import graph_pb2, manifest_pb2
from everflow.saved_model.assets import asset_path_from_tensor


@public("contrib.session_bundle.exporter.gfile_copy_callback")
def gfile_copy_callback(files_to_copy: dict[str, str], export_dir_path: str) -> None:
    """Copies files into an export: {path: name there}."""
    gfile.recursive_create_dir(export_dir_path)
    for path, name in files_to_copy.items():
        target = os.path.join(export_dir_path, name)
        if not gfile.file_exists(target):
            gfile.copy(path, target)


def _binding(tensor: Any) -> Any:
    return manifest_pb2.TensorBinding(tensor_name=tensor.name)


@public("contrib.session_bundle.exporter.regression_signature")
def regression_signature(input_tensor: Any, output_tensor: Any) -> Any:
    """A signature from examples to numbers."""
    signature = manifest_pb2.Signature()
    signature.regression_signature.input.CopyFrom(_binding(input_tensor))
    signature.regression_signature.output.CopyFrom(_binding(output_tensor))
    return signature


@public("contrib.session_bundle.exporter.classification_signature")
def classification_signature(input_tensor: Any, classes_tensor: Any = None, scores_tensor: Any = None) -> Any:
    """A signature from examples to classes, scores or both."""
    signature = manifest_pb2.Signature()
    signature.classification_signature.input.CopyFrom(_binding(input_tensor))
    if classes_tensor is not None:
        signature.classification_signature.classes.CopyFrom(_binding(classes_tensor))
    if scores_tensor is not None:
        signature.classification_signature.scores.CopyFrom(_binding(scores_tensor))
    return signature


@public("contrib.session_bundle.exporter.generic_signature")
def generic_signature(name_tensor_map: dict[str, Any]) -> Any:
    """Tensors under names of their own."""
    signature = manifest_pb2.Signature()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].CopyFrom(_binding(tensor))
    return signature


def _note(key: str, message: str | None) -> None:
    from google.protobuf.any_pb2 import Any as AnyProto

    packed = AnyProto()
    packed.Pack(message)
    add_to_collection(key, packed)


@public("contrib.session_bundle.exporter.Exporter")
class Exporter:
    """Exports a graph with the variables of a Saver: `init` once, then `export` for each version."""

    def __init__(self, saver: Any) -> None:
        # One of its own, which keeps no list of what it saved: exports are deleted, or kept, as a whole.
        saver_def = saver.as_saver_def()
        saver_def.ClearField("max_to_keep")
        self._saver = tf.train.Saver(saver_def=saver_def)
        self._has_init = False
        self._assets_to_copy: dict[str, str] = {}
        self._assets_callback: Callable[..., None] | None = None

    def init(
        self,
        graph_def: Any = None,
        init_op: Any = None,
        clear_devices: bool = False,
        default_graph_signature: Any = None,
        named_graph_signatures: Any = None,
        assets_collection: Any = None,
        assets_callback: Any = gfile_copy_callback,
    ) -> None:
        """Says what goes with the graph: an op that initializes it, signatures, files."""
        if self._has_init:
            raise RuntimeError("init should be called only once")
        self._has_init = True
        if graph_def is not None or clear_devices:
            kept = graph_pb2.GraphDef()
            kept.CopyFrom(get_default_graph().as_graph_def() if graph_def is None else graph_def)
            if clear_devices:
                for node in kept.node:
                    node.device = ""
            _note(constants.GRAPH_KEY, kept)
        if init_op is not None:
            if not isinstance(init_op, Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            add_to_collection(constants.INIT_OP_KEY, init_op)
        signatures = manifest_pb2.Signatures()
        if default_graph_signature is not None:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        _note(constants.SIGNATURES_KEY, signatures)
        self._assets_callback = assets_callback
        for tensor in assets_collection or ():
            path = self._file_path_value(tensor)
            asset = manifest_pb2.AssetFile(filename=os.path.basename(path))
            asset.tensor_binding.tensor_name = tensor.name
            self._assets_to_copy[path] = asset.filename
            _note(constants.ASSETS_KEY, asset)

    def _file_path_value(self, path_tensor: Any) -> str:
        if not isinstance(path_tensor, Tensor):
            raise TypeError(f"Asset path tensor {path_tensor} must be a Tensor.")
        return as_str(asset_path_from_tensor(path_tensor))

    def export(self, export_dir_base: str, global_step_tensor: Any, sess: Any = None, exports_to_keep: Any = None) -> bytes:
        """Writes a version, named after the global step; returns its folder. What `exports_to_keep` does not keep is deleted."""
        if not self._has_init:
            raise RuntimeError("init must be called first")
        session = sess or tf.get_default_session()
        version = constants.VERSION_FORMAT % int(tf.train.global_step(session, global_step_tensor))
        folder = os.path.join(as_str(export_dir_base), version)
        if gfile.file_exists(folder):
            raise RuntimeError(f"Overwriting exports can cause corruption and are not allowed. Duplicate export dir: {as_bytes(folder)!r}")
        # Readers look for whole numbers: they never see a version that is not complete.
        unfinished = folder + "-tmp"
        gfile.recursive_create_dir(unfinished)
        self._saver.save(session, os.path.join(unfinished, constants.VARIABLES), meta_graph_suffix="meta", write_meta_graph=False)
        if self._assets_callback is not None and self._assets_to_copy:
            self._assets_callback(self._assets_to_copy, os.path.join(unfinished, constants.ASSETS_DIRECTORY))
        self._saver.export_meta_graph(os.path.join(unfinished, constants.META_GRAPH))
        gfile.rename(unfinished, folder)
        if exports_to_keep is not None:
            for path in versions.negation(exports_to_keep)(versions.get_paths(as_str(export_dir_base), _version_of)):
                gfile.delete_recursively(path.path)
        return as_bytes(folder)


def _version_of(path: versions.Path) -> versions.Path | None:
    name = os.path.basename(path.path)
    return versions.Path(path.path, int(name)) if re.fullmatch(r"\d{8,}", name) else None
