"""TensorInfos, which say where a signature's inputs and outputs are in a graph, and the folders of a SavedModel."""

from __future__ import annotations

import os
from typing import Any

from everflow import api
from everflow.api import internal, public
from everflow.compat import as_text
from everflow.eager.context import executing_eagerly
from everflow.graph.graph import Graph
from everflow.graph.scopes import prepend_name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.stacks import get_default_graph
from everflow.io import gfile
from everflow.proto import meta_graph_pb2, struct_pb2, types_pb2
from everflow.saved_model import constants
from everflow.saved_model.structures import StructureCoder


@public("saved_model.build_tensor_info", "saved_model.utils.build_tensor_info")
def build_tensor_info(tensor: Any) -> Any:
    """The TensorInfo of a tensor, sparse tensor or other composite."""
    if executing_eagerly():
        raise RuntimeError("build_tensor_info is not supported in Eager mode.")
    return build_tensor_info_internal(tensor)


@internal("saved_model.utils_impl.build_tensor_info_internal")
def build_tensor_info_internal(tensor: Any) -> Any:
    """The same, in either mode."""
    if isinstance(tensor, SparseTensor):
        info = meta_graph_pb2.TensorInfo(dtype=tensor.dtype.as_datatype_enum)
        info.tensor_shape.CopyFrom(tensor.get_shape().as_proto())
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
        return info
    if hasattr(tensor, "_type_spec"):
        return _composite(tensor)
    info = meta_graph_pb2.TensorInfo(dtype=tensor.dtype.as_datatype_enum, name=tensor.name)
    info.tensor_shape.CopyFrom(tensor.get_shape().as_proto())
    return info


@internal("saved_model.utils_impl._build_composite_tensor_info_internal")
def _composite(tensor: Any) -> Any:
    spec = tensor._type_spec
    info = meta_graph_pb2.TensorInfo()
    info.composite_tensor.type_spec.CopyFrom(StructureCoder().encode_structure(spec).type_spec_value)
    for component in api.find("nest.flatten")(tensor, expand_composites=True):
        info.composite_tensor.components.add().CopyFrom(build_tensor_info_internal(component))
    return info


@internal("saved_model.utils_impl.build_tensor_info_from_op")
def build_tensor_info_from_op(op: Any) -> Any:
    """A TensorInfo that names an op."""
    info = meta_graph_pb2.TensorInfo(dtype=types_pb2.DT_INVALID, name=op.name)
    info.tensor_shape.unknown_rank = True
    return info


@public("saved_model.get_tensor_from_tensor_info", "saved_model.utils.get_tensor_from_tensor_info")
def get_tensor_from_tensor_info(tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None) -> Any:
    """The tensor (or composite) that a TensorInfo names in a graph."""
    graph = graph or get_default_graph()

    def tensor(name: str) -> Any:
        return graph.get_tensor_by_name(prepend_name_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        coo = tensor_info.coo_sparse
        return SparseTensor(tensor(coo.indices_tensor_name), tensor(coo.values_tensor_name), tensor(coo.dense_shape_tensor_name))
    if encoding == "composite_tensor":
        spec = StructureCoder().decode_proto(struct_pb2.StructuredValue(type_spec_value=tensor_info.composite_tensor.type_spec))
        components = [tensor(component.name) for component in tensor_info.composite_tensor.components]
        return api.find("nest.pack_sequence_as")(spec, components, expand_composites=True)
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


@internal("saved_model.utils_impl.get_element_from_tensor_info")
def get_element_from_tensor_info(tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None) -> Any:
    """The op or tensor that a TensorInfo names."""
    graph = graph or get_default_graph()
    return graph.as_graph_element(prepend_name_scope(tensor_info.name, import_scope))


# -- folders


@internal("saved_model.utils_impl.get_variables_dir")
def get_variables_dir(export_dir: Any) -> str:
    """Where a SavedModel's variables are."""
    return os.path.join(as_text(export_dir), constants.VARIABLES_DIRECTORY)


@internal("saved_model.utils_impl.get_or_create_variables_dir")
def get_or_create_variables_dir(export_dir: Any) -> str:
    """The same, made where it is not there."""
    folder = get_variables_dir(export_dir)
    if not gfile.file_exists(folder):
        gfile.recursive_create_dir(folder)
    return folder


@internal("saved_model.utils_impl.get_variables_path")
def get_variables_path(export_dir: Any) -> str:
    """The prefix of a SavedModel's checkpoint."""
    return os.path.join(get_variables_dir(export_dir), constants.VARIABLES_FILENAME)


@internal("saved_model.utils_impl.get_assets_dir")
def get_assets_dir(export_dir: Any) -> str:
    """Where a SavedModel's files are."""
    return os.path.join(as_text(export_dir), constants.ASSETS_DIRECTORY)


@internal("saved_model.utils_impl.get_or_create_assets_dir")
def get_or_create_assets_dir(export_dir: Any) -> str:
    """The same, made where it is not there."""
    folder = get_assets_dir(export_dir)
    if not gfile.file_exists(folder):
        gfile.recursive_create_dir(folder)
    return folder
