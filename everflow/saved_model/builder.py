"""Writes SavedModels."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format

from everflow.api import internal, public
from everflow.compat import as_bytes, as_text
from everflow.graph.keys import GraphKeys
from everflow.graph.operation import Operation
from everflow.graph.scopes import add_to_collection, get_collection
from everflow.graph.tensor import Tensor
from everflow.io import file_io, gfile
from everflow.ops.variables.sets import saveable_objects
from everflow.platform import logging
from everflow.proto import saved_model_pb2
from everflow.saved_model import assets, constants
from everflow.saved_model.signatures import op_signature_def, predict_signature_def
from everflow.saved_model.tensor_infos import get_or_create_variables_dir, get_variables_path
from everflow.train.checkpoints.saver import Saver


def write_saved_model(saved_model: Any, export_dir: str, as_text: bool = False) -> bytes:
    """Writes a SavedModel proto; returns the path."""
    if not gfile.file_exists(export_dir):
        gfile.recursive_create_dir(export_dir)
    name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
    path = os.path.join(export_dir, name)
    content: Any = text_format.MessageToString(saved_model) if as_text else saved_model.SerializeToString(deterministic=True)
    file_io.atomic_write_string_to_file(path, content)
    logging.info("SavedModel written to: %s", path)
    return as_bytes(path)


@internal("saved_model.builder_impl._SavedModelBuilder", "saved_model.builder._SavedModelBuilder")
class _SavedModelBuilder:
    """Writes a SavedModel of one or more graphs. Init and train ops are kept as signatures."""

    def __init__(self, export_dir: Any) -> None:
        self._saved_model = saved_model_pb2.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._export_dir = as_text(os.fspath(export_dir) if hasattr(export_dir, "__fspath__") else export_dir)
        if gfile.file_exists(self._export_dir):
            if gfile.list_directory(self._export_dir):
                raise AssertionError(
                    "Export directory already exists, and isn't empty. Please choose a different export directory, or delete all the "
                    f"contents of the specified directory: {export_dir}"
                )
        else:
            gfile.recursive_create_dir(self._export_dir)
        self._has_saved_variables = False

    def _save_and_write_assets(self, meta_graph_def: Any, assets_list: Any = None) -> None:
        def note(name: str, tensor: Any) -> None:
            assets.add_asset_to_metagraph(meta_graph_def, name, tensor)

        found = assets.maybe_save_assets(note, assets_list)
        if not found:
            logging.info("No assets to write.")
            return
        assets.copy_assets_to_destination_dir(found, self._export_dir)

    def _tag_and_add_meta_graph(self, meta_graph_def: Any, tags: Any, signature_def_map: Any) -> None:
        for tag in tags:
            meta_graph_def.meta_info_def.tags.append(tag)
        for key, signature in (signature_def_map or {}).items():
            meta_graph_def.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.add().CopyFrom(meta_graph_def)

    def _validate_tensor_info(self, tensor_info: Any) -> None:
        if tensor_info is None:
            raise AssertionError("All TensorInfo protos used in the SignatureDefs must have the name and dtype fields set.")
        encoding = tensor_info.WhichOneof("encoding")
        if encoding is None:
            raise AssertionError(
                f"All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' fields (e.g., name or coo_sparse) set: "
                f"{tensor_info}"
            )
        if encoding == "composite_tensor":
            for component in tensor_info.composite_tensor.components:
                self._validate_tensor_info(component)
        elif tensor_info.dtype == 0:
            raise AssertionError(f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {tensor_info}")

    def _validate_signature_def_map(self, signature_def_map: Any) -> None:
        for signature in signature_def_map.values():
            for info in [*signature.inputs.values(), *signature.outputs.values()]:
                self._validate_tensor_info(info)
        for key, use in ((constants.INIT_OP_SIGNATURE_KEY, "initialization"), (constants.TRAIN_OP_SIGNATURE_KEY, "the train op")):
            if key in signature_def_map:
                raise KeyError(f'SignatureDef map key "{key}" is reserved for {use}. Please use a different key.')

    def _maybe_create_saver(self, saver: Any = None) -> Any:
        return saver or Saver(saveable_objects(), sharded=True, write_version=Saver.V2, allow_empty=True)

    def _check_variables_not_saved(self) -> None:
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` instead."
            )

    def _check_variables_saved(self) -> None:
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke `add_meta_graph_and_variables()` first."
            )

    def _save_variables(self, sess: Any, saver: Any) -> None:
        get_or_create_variables_dir(self._export_dir)
        saver.save(sess, get_variables_path(self._export_dir), write_meta_graph=False, write_state=False)

    def _signatures_with_ops(self, signature_def_map: Any, init_op: Any, train_op: Any) -> Any:
        """The signatures, checked, with those of the ops that initialize and train."""
        signatures = signature_def_map or {}
        self._validate_signature_def_map(signatures)
        _add_op_to_signature_def_map(signatures, init_op, constants.INIT_OP_SIGNATURE_KEY)
        _add_op_to_signature_def_map(signatures, train_op, constants.TRAIN_OP_SIGNATURE_KEY)
        return signatures

    def add_meta_graph(
        self,
        tags: Any,
        signature_def_map: Any = None,
        assets_list: Any = None,
        clear_devices: bool = False,
        init_op: Any = None,
        train_op: Any = None,
        saver: Any = None,
    ) -> None:
        """Adds the default graph, with the variables that were saved before."""
        self._check_variables_saved()
        signatures = self._signatures_with_ops(signature_def_map, init_op, train_op)
        saver = self._maybe_create_saver(saver)
        meta_graph_def = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=False)
        self._save_and_write_assets(meta_graph_def, assets_list)
        self._tag_and_add_meta_graph(meta_graph_def, tags, signatures)

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Any,
        signature_def_map: Any = None,
        assets_list: Any = None,
        clear_devices: bool = False,
        init_op: Any = None,
        train_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the session's graph and saves its variables."""
        self._check_variables_not_saved()
        signatures = self._signatures_with_ops(signature_def_map, init_op, train_op)
        saver = self._maybe_create_saver(saver)
        self._save_variables(sess, saver)
        meta_graph_def = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        self._save_and_write_assets(meta_graph_def, assets_list)
        self._tag_and_add_meta_graph(meta_graph_def, tags, signatures)
        self._has_saved_variables = True

    def save(self, as_text: bool = False) -> bytes:
        """Writes the SavedModel; returns its path."""
        return write_saved_model(self._saved_model, self._export_dir, as_text)


@public("saved_model.Builder", "saved_model.builder.SavedModelBuilder")
@internal("saved_model.builder_impl.SavedModelBuilder", "saved_model.builder.SavedModelBuilder")
class SavedModelBuilder(_SavedModelBuilder):
    """Writes a SavedModel: `builder.add_meta_graph_and_variables(sess, [tf.saved_model.SERVING], ...)`, then `builder.save()`."""

    def _add_collections(self, assets_collection: Any, main_op: Any, train_op: Any) -> None:
        self._save_and_write_assets(assets_collection)
        self._maybe_add_main_op(main_op)
        self._add_train_op(train_op)

    def _save_and_write_assets(self, assets_collection_to_add: Any = None) -> None:  # type: ignore[override]
        found = assets.maybe_save_assets(assets.add_asset_to_collection, assets_collection_to_add)
        if not found:
            logging.info("No assets to write.")
            return
        assets.copy_assets_to_destination_dir(found, self._export_dir)

    def _maybe_add_main_op(self, main_op: Any) -> None:
        if main_op is None:
            return
        if not isinstance(main_op, Operation):
            raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
        for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
            if get_collection(key):
                raise ValueError(f"Graph already contains one or more main ops under the collection {key}.")
        add_to_collection(constants.MAIN_OP_KEY, main_op)

    def _add_train_op(self, train_op: Any) -> None:
        if train_op is not None:
            if not isinstance(train_op, (Tensor, Operation)):
                raise TypeError(f"train_op needs to be a Tensor or Op: {train_op!r}")
            add_to_collection(constants.TRAIN_OP_KEY, train_op)

    def add_meta_graph(  # type: ignore[override]
        self,
        tags: Any,
        signature_def_map: Any = None,
        assets_collection: Any = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph, with the variables that were saved before."""
        self._check_variables_saved()
        signatures = signature_def_map or {}
        self._validate_signature_def_map(signatures)
        start = main_op if main_op is not None else legacy_init_op
        self._add_collections(assets_collection, start, None)
        export = self._maybe_create_saver(saver).export_meta_graph
        self._tag_and_add_meta_graph(export(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs), tags, signatures)

    def add_meta_graph_and_variables(  # type: ignore[override]
        self,
        sess: Any,
        tags: Any,
        signature_def_map: Any = None,
        assets_collection: Any = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the session's graph and saves its variables."""
        self._check_variables_not_saved()
        signature_def_map = signature_def_map or {}
        self._validate_signature_def_map(signature_def_map)
        self._add_collections(assets_collection, legacy_init_op if main_op is None else main_op, None)
        saver = self._maybe_create_saver(saver)
        self._save_variables(sess, saver)
        meta_graph_def = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        self._tag_and_add_meta_graph(meta_graph_def, tags, signature_def_map)
        self._has_saved_variables = True


@internal("saved_model.builder_impl._add_op_to_signature_def_map")
def _add_op_to_signature_def_map(signature_def_map: Any, op: Any, key: str) -> None:
    if op is not None:
        signature_def_map[key] = op_signature_def(op, key)


@public("saved_model.simple_save")
@internal("saved_model.simple_save.simple_save")
def simple_save(session: Any, export_dir: Any, inputs: Any, outputs: Any, legacy_init_op: Any = None) -> None:
    """Writes a SavedModel for serving, with one signature."""
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[constants.SERVING],
        signature_def_map={constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)},
        assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()
