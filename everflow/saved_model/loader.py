"""Reads SavedModels into sessions."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from everflow.api import internal, public
from everflow.compat import as_text
from everflow.errors import NotFoundError
from everflow.graph.graph import Graph
from everflow.graph.malformed import unreadable, well_formed
from everflow.graph.scopes import get_collection
from everflow.graph.stacks import get_default_graph
from everflow.io import file_io, gfile
from everflow.ops.variables.sets import saveable_objects
from everflow.platform import logging
from everflow.proto import saved_model_pb2
from everflow.saved_model import constants
from everflow.saved_model.assets import get_asset_tensors
from everflow.saved_model.signatures import load_op_from_signature_def
from everflow.saved_model.tensor_infos import get_variables_path
from everflow.train.checkpoints.saver import Saver
from everflow.train.metagraphs.importing import _import_meta_graph_with_return_elements


@internal("saved_model.loader_impl.parse_saved_model", "saved_model.loader_impl._parse_saved_model")
def parse_saved_model(export_dir: Any) -> Any:
    """The SavedModel proto in a folder."""
    folder = as_text(os.fspath(export_dir) if hasattr(export_dir, "__fspath__") else export_dir)
    saved_model = saved_model_pb2.SavedModel()
    binary = os.path.join(folder, constants.SAVED_MODEL_FILENAME_PB)
    if gfile.file_exists(binary):
        try:
            saved_model.ParseFromString(file_io.read_file_to_string(binary, binary_mode=True))
        except DecodeError as error:
            raise unreadable(binary, error) from None
        return saved_model
    text = os.path.join(folder, constants.SAVED_MODEL_FILENAME_PBTXT)
    if gfile.file_exists(text):
        try:
            return text_format.Merge(file_io.read_file_to_string(text), saved_model)
        except (text_format.ParseError, UnicodeDecodeError) as error:
            raise unreadable(text, error) from None
    raise OSError(
        f"SavedModel file does not exist at: {folder}/{{{constants.SAVED_MODEL_FILENAME_PBTXT}|{constants.SAVED_MODEL_FILENAME_PB}}}"
    )


@internal("saved_model.loader_impl._get_op_from_collection")
def op_from_collection(meta_graph_def: Any, op_key: str) -> Any:
    """The only op of a collection, in the default graph; None where the collection is not there."""
    collection = meta_graph_def.collection_def
    if op_key not in collection:
        return None
    names = collection[op_key].node_list.value
    if len(names) != 1:
        raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {names}")
    return get_default_graph().as_graph_element(names[0])


@internal("saved_model.loader_impl._get_op_from_signature_def")
def op_from_signature_def(meta_graph_def: Any, op_signature_key: str, import_scope: str | None) -> Any:
    """The op that a signature names; None where there is no such signature."""
    if op_signature_key not in meta_graph_def.signature_def:
        return None
    return load_op_from_signature_def(meta_graph_def.signature_def[op_signature_key], op_signature_key, import_scope)


@internal("saved_model.loader_impl._get_main_op_tensor")
def main_op_tensor(meta_graph_def_to_load: Any, init_op_key: str = constants.MAIN_OP_KEY) -> Any:
    """The op that a collection names as the one that initializes the model."""
    if init_op_key not in meta_graph_def_to_load.collection_def:
        return None
    names = meta_graph_def_to_load.collection_def[init_op_key].node_list.value
    if len(names) != 1:
        raise RuntimeError(f"Expected exactly one SavedModel main op. Found: {names}")
    # From the graph's collection: the import may have been below a scope.
    return get_collection(init_op_key)[0]


@internal("saved_model.loader_impl.get_init_op")
def get_init_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """What has to run when a model is loaded, or None."""
    for found in (
        lambda: op_from_signature_def(meta_graph_def, constants.INIT_OP_SIGNATURE_KEY, import_scope),
        lambda: main_op_tensor(meta_graph_def, constants.MAIN_OP_KEY),
        lambda: main_op_tensor(meta_graph_def, constants.LEGACY_INIT_OP_KEY),
    ):
        op = found()
        if op is not None:
            return op
    return None


@internal("saved_model.loader_impl.get_train_op")
def get_train_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """The train op of a model, or None."""
    op = op_from_signature_def(meta_graph_def, constants.TRAIN_OP_SIGNATURE_KEY, import_scope)
    return op_from_collection(meta_graph_def, constants.TRAIN_OP_KEY) if op is None else op


@public("saved_model.contains_saved_model", "saved_model.maybe_saved_model_directory", "saved_model.loader.maybe_saved_model_directory")
@internal("saved_model.loader_impl.maybe_saved_model_directory", "saved_model.loader_impl.contains_saved_model")
def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether a folder holds a SavedModel."""
    folder = os.fspath(export_dir) if hasattr(export_dir, "__fspath__") else export_dir
    return any(
        gfile.file_exists(os.path.join(as_text(folder), name))
        for name in (constants.SAVED_MODEL_FILENAME_PBTXT, constants.SAVED_MODEL_FILENAME_PB)
    )


@public("saved_model.load", "saved_model.loader.load")
@internal("saved_model.loader_impl.load", "saved_model.loader.load")
def load(sess: Any, tags: Any, export_dir: Any, import_scope: str | None = None, **saver_kwargs: Any) -> Any:
    """Loads the graph with exactly these tags into a session; returns its MetaGraphDef."""
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


class NoSuchGraphError(NotFoundError, RuntimeError):
    """A SavedModel has no graph with the tags that were asked for."""


def no_such_graph(saved_model: Any, tags: Any) -> NoSuchGraphError:
    """The error that tells which tags there are."""
    available = [set(graph.meta_info_def.tags) for graph in saved_model.meta_graphs]
    return NoSuchGraphError(
        None,
        None,
        f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be found in SavedModel. To inspect available "
        f"tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`\navailable_tags: {available}",
    )


@internal("saved_model.loader_impl.SavedModelLoader")
class SavedModelLoader:
    """Loads a SavedModel, step by step where that is asked for."""

    def __init__(self, export_dir: Any) -> None:
        self._export_dir = export_dir
        self._variables_path = get_variables_path(export_dir)
        self._saved_model = parse_saved_model(export_dir)

    @property
    def export_dir(self) -> Any:
        """The folder."""
        return self._export_dir

    @property
    def variables_path(self) -> str:
        """The prefix of the checkpoint."""
        return self._variables_path

    @property
    def saved_model(self) -> Any:
        """The SavedModel proto."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Any) -> Any:
        """The MetaGraphDef with exactly these tags."""
        for meta_graph_def in self._saved_model.meta_graphs:
            if set(meta_graph_def.meta_info_def.tags) == set(tags):
                return meta_graph_def
        raise no_such_graph(self._saved_model, tags)

    def load_graph(self, graph: Graph, tags: Any, import_scope: str | None = None, **saver_kwargs: Any) -> Any:
        """Adds the graph to a graph; returns (saver, elements that were asked for)."""
        meta_graph_def = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            return _import_meta_graph_with_return_elements(meta_graph_def, import_scope=import_scope, **saver_kwargs)

    def restore_variables(self, sess: Any, saver: Any, import_scope: str | None = None) -> None:
        """Restores the variables into a session."""
        with sess.graph.as_default(), well_formed():
            if saver is None and not saveable_objects(scope=import_scope):
                logging.info("The specified SavedModel has no variables; no checkpoints were restored.")
            elif isinstance(saver, Saver):
                saver.restore(sess, self._variables_path)
            else:
                raise ValueError(
                    "No tf.train.Saver object was passed to the function `SavedModelLoader.restore_variables`. Since there are variables "
                    "in the graph, a saver is required."
                )

    def run_init_ops(self, sess: Any, tags: Any, import_scope: str | None = None) -> None:
        """Runs what initializes the model, fed with where its files are."""
        model = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default(), well_formed():
            files = get_asset_tensors(self._export_dir, model, import_scope)
            start = get_init_op(model, import_scope)
            if start is not None:
                sess.run([start], files)

    def load(self, sess: Any, tags: Any, import_scope: str | None = None, **saver_kwargs: Any) -> Any:
        """All of these."""
        graph = sess.graph
        with graph.as_default():
            variables_saver = self.load_graph(graph, tags, import_scope, **saver_kwargs)[0]
            self.restore_variables(sess, variables_saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)
