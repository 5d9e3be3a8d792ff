"""The files that a SavedModel takes with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.compat import as_str
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.scopes import add_to_collection, prepend_name_scope
from everflow.graph.tensor import Tensor
from everflow.io import gfile
from everflow.io.file_io import filecmp
from everflow.platform import logging
from everflow.proto import meta_graph_pb2
from everflow.saved_model import constants
from everflow.saved_model.tensor_infos import get_assets_dir, get_or_create_assets_dir


@internal("saved_model.builder_impl._asset_path_from_tensor")
def asset_path_from_tensor(path_tensor: Any) -> str:
    """The path that a constant holds."""
    if not isinstance(path_tensor, Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if path_tensor.op.type != "Const":
        raise TypeError("Asset path tensor must be of type constant.")
    if path_tensor.dtype is not dtypes.string:
        raise TypeError("Asset path tensor must be of dtype string.")
    value = known(path_tensor)
    if value is None or value.size != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    return as_str(value.reshape(-1)[0])


@internal("saved_model.builder_impl.get_asset_filename_to_add")
def get_asset_filename_to_add(asset_filepath: str, asset_filename_map: dict[str, str]) -> str:
    """The name of a file in the SavedModel: its own, or a numbered one where another file has it."""
    name = os.path.basename(asset_filepath)
    other = asset_filename_map.get(name, asset_filepath)
    if other == asset_filepath or filecmp(other, asset_filepath):
        return name
    return unique_asset_filename(name, asset_filename_map)


@internal("saved_model.builder_impl._get_unique_asset_filename")
def unique_asset_filename(asset_filename: str, asset_filename_map: dict[str, str]) -> str:
    """A name that no file has yet."""
    number = 1
    while (name := f"{asset_filename}_{number}") in asset_filename_map:
        number += 1
    return name


@internal("saved_model.builder_impl._maybe_save_assets")
def maybe_save_assets(write_fn: Callable[[str, Any], None], assets_to_add: Any = None) -> dict[str, str]:
    """Notes the assets with `write_fn(name, tensor)`; returns {name: path}."""
    found: dict[str, str] = {}
    if assets_to_add is None:
        logging.info("No assets to save.")
        return found
    for tensor in assets_to_add:
        path = asset_path_from_tensor(tensor)
        if not path:
            raise ValueError(f"Invalid asset filepath tensor {tensor}")
        name = get_asset_filename_to_add(path, found)
        write_fn(name, tensor)
        found[name] = path
    logging.info("Assets added to graph.")
    return found


@internal("saved_model.builder_impl._add_asset_to_metagraph")
def add_asset_to_metagraph(meta_graph_def: Any, asset_filename: str, asset_tensor: Any) -> None:
    """Notes an asset in a MetaGraph."""
    asset = meta_graph_def.asset_file_def.add()
    asset.filename = asset_filename
    asset.tensor_info.name = asset_tensor.name


@internal("saved_model.builder_impl._add_asset_to_collection")
def add_asset_to_collection(asset_filename: str, asset_tensor: Any) -> None:
    """Notes an asset in a collection of the default graph."""
    from google.protobuf.any_pb2 import Any as AnyProto

    asset = meta_graph_pb2.AssetFileDef(filename=asset_filename)
    asset.tensor_info.name = asset_tensor.name
    packed = AnyProto()
    packed.Pack(asset)
    add_to_collection(constants.ASSETS_KEY, packed)


@internal("saved_model.builder_impl.copy_assets_to_destination_dir")
def copy_assets_to_destination_dir(asset_filename_map: dict[str, str], destination_dir: Any) -> None:
    """Copies files into a SavedModel."""
    folder = get_or_create_assets_dir(destination_dir)
    for name, path in asset_filename_map.items():
        target = os.path.join(folder, name)
        if not gfile.file_exists(target):
            gfile.copy(path, target)
    logging.info("Assets written to: %s", folder)


def _asset_protos(meta_graph_def: Any) -> list[Any]:
    found: list[Any] = list(meta_graph_def.asset_file_def)
    if not found and constants.ASSETS_KEY in meta_graph_def.collection_def:
        for packed in meta_graph_def.collection_def[constants.ASSETS_KEY].any_list.value:
            asset = meta_graph_pb2.AssetFileDef()
            packed.Unpack(asset)
            found.append(asset)
    return found


def get_asset_files(export_dir: Any, meta_graph_def: Any) -> list[str]:
    """The paths of a model's files, in the order in which it lists them."""
    folder = get_assets_dir(export_dir)
    found = []
    for asset in _asset_protos(meta_graph_def):
        inside = os.path.normpath(asset.filename)
        # A model that someone else made must not reach other files.
        if not asset.filename or "\0" in inside or os.path.isabs(inside) or inside.split(os.sep)[0] == os.pardir:
            raise invalid_argument(f"Asset {asset.filename!r} is not in the folder of its SavedModel")
        path = os.path.join(folder, asset.filename)
        if os.path.islink(path) and not _is_below(os.path.realpath(path), os.path.realpath(as_str(export_dir))):
            raise invalid_argument(f"Asset {asset.filename!r} is a link that leads out of the folder of its SavedModel")
        found.append(path)
    return found


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


@internal("saved_model.loader_impl.get_asset_tensors")
def get_asset_tensors(export_dir: Any, meta_graph_def_to_load: Any, import_scope: str | None = None) -> dict[str, str]:
    """{name of a tensor: path of its file here}, to be fed when the model is initialized."""
    paths = get_asset_files(export_dir, meta_graph_def_to_load)
    return {
        prepend_name_scope(asset.tensor_info.name, import_scope): path for asset, path in zip(_asset_protos(meta_graph_def_to_load), paths)
    }
