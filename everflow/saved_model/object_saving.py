"""tf.saved_model.save: trackable objects with their variables, files and functions, as a SavedModel."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.compat import as_str
from everflow.eager.functions import ConcreteFunction, TracedFunction
from everflow.graph import shapes
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import constant
from everflow.graph.functions import LibraryFunction
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.scopes import control_dependencies, device
from everflow.graph.stacks import get_default_graph
from everflow.graph.trackable import Trackable
from everflow.ops.core.registry import apply
from everflow.ops.variables.resource_variables import BaseResourceVariable, copy_to_graph_uninitialized
from everflow.platform.identity import ObjectIdentityDictionary
from everflow.proto import saved_model_pb2
from everflow.saved_model import assets, constants, revived_structures, revived_types
from everflow.saved_model.builder import write_saved_model
from everflow.saved_model.function_protos import serialize_bare_concrete_function, serialize_concrete_function, serialize_function
from everflow.saved_model.object_views import AugmentedGraphView, CapturedConstant, SaveableView, library_of
from everflow.saved_model.signature_maps import canonicalize_signatures, create_signature_map, find_function_to_export
from everflow.saved_model.signatures import build_signature_def, op_signature_def
from everflow.saved_model.structures import StructureCoder
from everflow.saved_model.tensor_infos import build_tensor_info_internal, get_or_create_variables_dir, get_variables_path
from everflow.train.metagraphs.exporting import create_meta_graph_def
from everflow.train.tracking.autotracking import CapturableResource, TrackableAsset
from everflow.train.tracking.checkpoint import TrackableSaver
from everflow.train.tracking.device_saver import MultiDeviceSaver

# Imported for what it registers.
_REGISTERED = revived_structures


@public("saved_model.save", "saved_model.experimental.save", "compat.v2.saved_model.save")
@internal("saved_model.save.save")
def save(obj: Any, export_dir: Any, signatures: Any = None) -> None:
    """Writes a trackable object as a SavedModel.

    `signatures`: functions for those who run the model without this program, one or a dictionary of them: concrete functions, or
    `tf.function`s with an `input_signature`. Where none are given, the object's only such function is taken.
    """
    if get_default_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to the outer eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    folder = as_str(export_dir.__fspath__() if hasattr(export_dir, "__fspath__") else export_dir)
    view = AugmentedGraphView(obj)
    if signatures is None:
        signatures = find_function_to_export(view.list_functions(obj))
    functions = canonicalize_signatures(signatures)
    view.set_signatures(create_signature_map(functions))
    saved_model = saved_model_pb2.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
    export = _Export(SaveableView(view))
    export.describe(saved_model.meta_graphs.add(), functions)
    get_or_create_variables_dir(folder)
    TrackableSaver(view).save(get_variables_path(folder))
    assets.copy_assets_to_destination_dir(export.files, folder)
    write_saved_model(saved_model, folder)


class _Export:
    """The graph of a SavedModel: copies of variables and resources, and calls of functions on them."""

    def __init__(self, objects: SaveableView) -> None:
        self.objects = objects
        self.graph = Graph()
        # {variable: its copy}, and {tensor that functions capture: function that makes what stands for it}.
        self.copies = ObjectIdentityDictionary()
        self.mapped = ObjectIdentityDictionary()
        self.files: dict[str, str] = {}
        self.asset_defs: list[Any] = []
        self.asset_numbers = ObjectIdentityDictionary()
        self.asset_initializers: list[Operation] = []
        with self.graph.as_default():
            for node in objects.trackables:
                self._copy(node)
            for value in objects.constants(self.mapped):
                with device("/cpu:0"):
                    made = constant(value.value, dtype=value.tensor.dtype.base_dtype)
                value.operation = made.op.name
                self.mapped[value.tensor] = made

    def _copy(self, node: Any) -> None:
        number = self.objects.node_ids[node]
        if isinstance(node, BaseResourceVariable):
            self.copies[node] = copied = copy_to_graph_uninitialized(node)
            self.mapped[node.handle], self.objects.node_ids[node.handle] = copied.handle, number
        elif isinstance(node, TrackableAsset):
            self._copy_asset(node)
            self.objects.node_ids[node.asset_path] = number
        elif isinstance(node, CapturableResource):
            with device(node._resource_device):
                self.mapped[node.resource_handle] = node._create_resource()
            self.objects.node_ids[node.resource_handle] = number

    def _copy_asset(self, node: TrackableAsset) -> None:
        """Files are where the model is read: a variable has the path, once the reader has told it."""
        path = _path_of(node)
        name = assets.get_asset_filename_to_add(path, self.files)
        self.files[name] = path
        given = tf.placeholder("string", [], name="asset_path_initializer")
        # The collections of the graph are not for it: it is no variable of the program.
        kept = tf.Variable(given, trainable=False, use_resource=True, collections=[], validate_shape=False)
        self.asset_initializers.append(kept.initializer)
        self.mapped[node.asset_path] = kept
        self.asset_numbers[node] = len(self.asset_defs)
        self.asset_defs.append((name, given.name))

    # -- the MetaGraph

    def describe(self, proto: Any, signatures: dict[str, ConcreteFunction]) -> None:
        """Fills a MetaGraphDef in."""
        with self.graph.as_default():
            library = library_of(self.objects.concretes)
            self.graph._functions.update(library)
            initialize = self._initializer()
            definitions = {key: self._signature(key, function) for key, function in sorted(signatures.items())}
            saveables = self.objects.view.frozen_saveable_objects(object_map=self.copies, to_graph=self.graph)
            saver_def = MultiDeviceSaver(saveables).to_proto()
            self.graph.add_to_collection(constants.MAIN_OP_KEY, initialize)
            graph_def = self.graph.as_graph_def(add_shapes=True)
            # Functions that nothing in the graph calls are attributes of objects.
            there = {function.signature.name for function in graph_def.library.function}
            graph_def.library.function.extend(entry.definition for name, entry in library.items() if name not in there)
            proto.CopyFrom(
                create_meta_graph_def(
                    graph_def=graph_def,
                    saver_def=saver_def,
                    graph=self.graph,
                    collection_list=[constants.MAIN_OP_KEY],
                    strip_default_attrs=True,
                )
            )
        proto.meta_info_def.tags.append(constants.SERVING)
        for name, tensor in self.asset_defs:
            asset = proto.asset_file_def.add(filename=name)
            asset.tensor_info.name = tensor
        for key, definition in definitions.items():
            proto.signature_def[key].CopyFrom(definition)
        proto.signature_def[constants.INIT_OP_SIGNATURE_KEY].CopyFrom(op_signature_def(initialize, constants.INIT_OP_SIGNATURE_KEY))
        for function in proto.graph_def.library.function:
            _tell_shapes(function, self.graph._functions[function.signature.name])
        self._describe_objects(proto.object_graph_def)

    def _initializer(self) -> Operation:
        calls: list[Any] = list(self.asset_initializers)
        with control_dependencies(self.asset_initializers):
            for node in self.objects.trackables:
                if isinstance(node, CapturableResource):
                    function = self.objects.view.list_functions(node)["_initialize"]
                    results = self._call(function.get_concrete_function(), [])
                    calls.extend(t.op for t in results[:1])
        with control_dependencies(calls):
            return apply("NoOp")

    def _call(self, function: ConcreteFunction, arguments: list[Any]) -> list[Any]:
        captured = [self._captured(function, t) for t in function.captured_inputs]
        stateful = any(op.op_def_.is_stateful and op.type != "Placeholder" for op in function.graph.get_operations())
        types = [t.dtype.base_dtype for t in function.outputs]
        found = apply(
            "StatefulPartitionedCall" if stateful else "PartitionedCall",
            [*arguments, *captured],
            Tout=types,
            f=FunctionName(function.function_name),
        )
        if isinstance(found, Operation):
            return []
        for t, inside in zip(found, function.outputs):
            t.dims = inside.dims
        return found

    def _captured(self, function: ConcreteFunction, tensor: Any) -> Any:
        if tensor not in self.mapped:
            # The message tells which function it is.
            serialize_concrete_function(function, self.objects.node_ids, StructureCoder())
        found = self.mapped[tensor]
        return found.read_value() if isinstance(found, BaseResourceVariable) else found

    def _signature(self, key: str, function: ConcreteFunction) -> Any:
        arguments = {
            name: tf.placeholder(t.dtype, t.shape, name=f"{key}_{name}") for name, t in zip(function._arg_keywords, function.inputs)
        }
        results = nest.pack_sequence_as(function.structured_outputs, self._call(function, list(arguments.values())))
        return build_signature_def(
            {name: build_tensor_info_internal(t) for name, t in arguments.items()},
            {name: build_tensor_info_internal(t) for name, t in results.items()},
            constants.PREDICT_METHOD_NAME,
        )

    # -- the objects

    def _describe_objects(self, proto: Any) -> None:
        objects, coder = self.objects, StructureCoder()
        for concrete in objects.concretes:
            proto.concrete_functions[concrete.function_name].CopyFrom(serialize_concrete_function(concrete, objects.node_ids, coder))
        for node in objects.nodes:
            described = proto.nodes.add()
            for name, number in objects.children(node):
                described.children.add(node_id=number, local_name=name)
            described.slot_variables.extend(objects.slots.get(node, ()))
            self._describe(node, described)

    def _describe(self, node: Any, proto: Any) -> None:
        if isinstance(node, TrackableAsset):
            proto.asset.asset_file_def_index = self.asset_numbers[node]
            proto.asset.SetInParent()
        elif isinstance(node, BaseResourceVariable):
            variable = proto.variable
            variable.name = node.name.removesuffix(":0")
            variable.trainable = bool(node.trainable)
            variable.dtype = node.dtype.base_dtype.as_datatype_enum
            variable.synchronization = node.synchronization.value
            variable.aggregation = node.aggregation.value
            variable.shape.CopyFrom(node.shape.as_proto())
        elif isinstance(node, ConcreteFunction):
            proto.bare_concrete_function.CopyFrom(serialize_bare_concrete_function(node))
        elif isinstance(node, TracedFunction):
            proto.function.CopyFrom(serialize_function(node))
        elif isinstance(node, CapturedConstant):
            proto.constant.operation = node.operation
        elif isinstance(node, CapturableResource):
            proto.resource.device = node._resource_device or ""
            proto.resource.SetInParent()
        else:
            registered = revived_types.serialize(node)
            if registered is not None:
                proto.user_object.CopyFrom(registered)
            else:
                proto.user_object.identifier = node._object_identifier
                proto.user_object.version.producer = proto.user_object.version.min_consumer = 1
                proto.user_object.metadata = node._tracking_metadata


def _path_of(node: TrackableAsset) -> str:
    path = node.asset_path
    if path.is_eager:
        return as_str(path.numpy())
    return assets.asset_path_from_tensor(path)


def _tell_shapes(definition: Any, entry: LibraryFunction) -> None:
    """Readers know the shapes of a function's arguments from an attribute of the function."""
    if "_input_shapes" not in definition.attr:
        told = definition.attr["_input_shapes"].list
        told.SetInParent()
        for t in entry.graph.inputs:
            told.shape.add().CopyFrom(shapes.to_proto(t.dims))
