"""tf.saved_model.load_v2: the objects of a SavedModel, with functions that can be called."""

from __future__ import annotations

import os
from typing import Any

from everflow.api import internal, public
from everflow.compat import as_str
from everflow.eager.context import executing_eagerly
from everflow.errors import data_loss
from everflow.graph import dtypes, tensor_proto
from everflow.graph.convert import constant
from everflow.graph.keys import GraphKeys
from everflow.graph.malformed import well_formed
from everflow.graph.scopes import add_to_collection, device, init_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.graph.trackable import Trackable
from everflow.ops.variables.resource_variables import BaseResourceVariable, UninitializedVariable
from everflow.ops.variables.variables import VariableAggregation, VariableSynchronization
from everflow.saved_model import assets, revived_structures, revived_types, signature_maps
from everflow.saved_model.loader import parse_saved_model
from everflow.saved_model.restored_functions import FunctionLibrary, RestoredFunction
from everflow.saved_model.session_models import load_session_model
from everflow.saved_model.tensor_infos import get_variables_path
from everflow.train.tracking.autotracking import AutoTrackable, CapturableResource, TrackableAsset, TrackableResource
from everflow.train.tracking.checkpoint import TrackableSaver
from everflow.train.tracking.graph_view import ObjectGraphView
from everflow.train.tracking.positions import CheckpointPosition

# Imported for what they register.
_REGISTERED = (revived_structures, signature_maps)


@public("saved_model.load_v2", "compat.v2.saved_model.load")
@internal("saved_model.load.load")
def load(export_dir: Any, tags: Any = None) -> Any:
    """The root object of a SavedModel. Models that a session wrote have their signatures as functions, and `prune`.

    `tags`: those of the graph to take, where there are several.
    """
    return load_with(Loader, export_dir, tags)


def load_with(loader: type[Loader], export_dir: Any, tags: Any) -> Any:
    """The same, with objects as a loader makes them."""
    folder = as_str(os.fspath(export_dir) if hasattr(export_dir, "__fspath__") else export_dir)
    if isinstance(tags, str):
        tags = [tags]
    saved_model = parse_saved_model(folder)
    graphs = saved_model.meta_graphs
    if len(graphs) == 1 and graphs[0].HasField("object_graph_def"):
        meta_graph = graphs[0]
        if tags is not None and set(tags) != set(meta_graph.meta_info_def.tags):
            raise ValueError(
                f"The SavedModel at {export_dir} has one MetaGraph with tags {list(meta_graph.meta_info_def.tags)}, but got an "
                f"incompatible argument tags={tags} to tf.saved_model.load. You may omit it, pass 'None', or pass matching tags."
            )
        with init_scope(), well_formed():
            root = loader(meta_graph, folder).get(0)
        if isinstance(root, Loader.base):
            root.tensorflow_version = meta_graph.meta_info_def.tensorflow_version
            root.tensorflow_git_version = meta_graph.meta_info_def.tensorflow_git_version
        return root
    with init_scope():
        return load_session_model(folder, saved_model, tags)


class RestoredResource(TrackableResource):
    """A resource whose functions say how it is made and filled."""

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        names = ("_create_resource", "_initialize", "_destroy_resource")
        return {name: vars(self)[name] for name in names if name in vars(self)}


class _RestoredObject(AutoTrackable):
    """An object of a kind that is not known here: what hung on it hangs on it again."""


def _set_attribute(obj: Any, name: str, value: Any) -> None:
    if not isinstance(obj, AutoTrackable) and isinstance(value, Trackable):
        obj._track_trackable(value, name, overwrite=True)
    setattr(obj, name, value)


def _call_attribute(instance: Any, *args: Any, **kwargs: Any) -> Any:
    return vars(instance)["__call__"](*args, **kwargs)


@internal("saved_model.load.Loader")
class Loader:
    """Makes the objects of an object graph."""

    base = AutoTrackable

    def __init__(self, meta_graph: Any, folder: str) -> None:
        self._meta_graph = meta_graph
        self._proto = meta_graph.object_graph_def
        self._folder = folder
        self._library = FunctionLibrary(meta_graph.graph_def, meta_graph.meta_info_def.stripped_op_list)
        self._concretes: dict[str, Any] = {}
        self._assets = assets.get_asset_files(folder, meta_graph)
        self._constants = {node.name: node for node in meta_graph.graph_def.node if node.op == "Const"}
        self._nodes: list[Any] = []
        self._setters: list[Any] = []
        if not self._proto.nodes:
            raise data_loss(f"The SavedModel in {folder} has an object graph without objects.")
        for number, node in enumerate(self._proto.nodes):
            self._check_references(number, node)
        for node in self._proto.nodes:
            made, setter = self._recreate(node)
            self._nodes.append(made)
            self._setters.append(setter)
        self._recreate_slots()
        self._load_edges()
        for name in self._proto.concrete_functions:
            self.concrete(name)
        self._restore_checkpoint()
        self._initialize_resources()
        self._finish()

    def _finish(self) -> None:
        """What is left to do when all objects are whole."""

    def get(self, number: int) -> Any:
        """One of the objects."""
        return self._nodes[number]

    def _check_references(self, number: int, node: Any) -> None:
        targets = [c.node_id for c in node.children]
        targets += [n for s in node.slot_variables for n in (s.original_variable_node_id, s.slot_variable_node_id)]
        for target in targets:
            if not 0 <= target < len(self._proto.nodes):
                raise data_loss(f"Object {number} of the SavedModel in {self._folder} leads to object {target}, which is not there.")

    # -- each object

    def _recreate(self, proto: Any) -> tuple[Any, Any]:
        kind = proto.WhichOneof("kind")
        if kind == "variable":
            return _variable(proto.variable), setattr
        if kind == "asset":
            return self._asset(proto.asset.asset_file_def_index), _set_attribute
        if kind == "function":
            return self._function(proto.function), setattr
        if kind == "bare_concrete_function":
            return None, setattr
        if kind == "constant":
            return self._constant(proto.constant.operation), setattr
        if kind == "resource":
            return RestoredResource(device=proto.resource.device), _set_attribute
        if kind == "user_object":
            found = revived_types.deserialize(proto.user_object)
            if found is not None:
                return found
        # A class of its own: an object may be callable, which its class decides.
        return type("_UserObject", (_RestoredObject,), {})(), setattr

    def _asset(self, index: int) -> TrackableAsset:
        if not 0 <= index < len(self._assets):
            raise data_loss(f"The SavedModel in {self._folder} names file {index}, but lists only {len(self._assets)}.")
        return TrackableAsset(self._assets[index])

    def _constant(self, operation: str) -> Tensor:
        if operation not in self._constants:
            raise data_loss(f"The SavedModel in {self._folder} has no constant {operation!r}.")
        value = tensor_proto.make_ndarray(self._constants[operation].attr["value"].tensor)
        with device("/cpu:0"):
            return constant(value, dtype=dtypes.as_dtype(self._constants[operation].attr["dtype"].type))

    def _function(self, proto: Any) -> RestoredFunction:
        name = proto.concrete_functions[0] if proto.concrete_functions else "restored_function"
        return RestoredFunction(name.removeprefix("__inference_"), proto, self.concrete)

    def concrete(self, name: str) -> Any:
        """A traced body, with what it captured."""
        if name not in self._concretes:
            description = self._proto.concrete_functions[name]
            bound = []
            for number in description.bound_inputs:
                if not 0 <= number < len(self._nodes):
                    raise data_loss(f"Function {name!r} of the SavedModel in {self._folder} captures object {number}, which is not there.")
                bound.append(self._captured(number))
            objects = [self._nodes[n] for n in description.bound_inputs]
            variables = [o for o in objects if isinstance(o, BaseResourceVariable)]
            self._concretes[name] = self._library.concrete(name, description, bound, variables)
        return self._concretes[name]

    def _captured(self, number: int) -> Tensor:
        obj = self._nodes[number]
        if isinstance(obj, BaseResourceVariable):
            return obj.handle
        if isinstance(obj, TrackableAsset):
            return obj.asset_path
        if isinstance(obj, Tensor):
            return obj
        if isinstance(obj, CapturableResource):
            return obj.resource_handle
        raise data_loss(f"Object {number} of the SavedModel in {self._folder} is captured by a function, but is a {type(obj).__name__}.")

    # -- how they hang together

    def _recreate_slots(self) -> None:
        for number, proto in enumerate(self._proto.nodes):
            optimizer = self._nodes[number]
            if not hasattr(optimizer, "add_slot"):
                continue
            for slot in proto.slot_variables:
                self._nodes[slot.slot_variable_node_id] = optimizer.add_slot(
                    var=self._nodes[slot.original_variable_node_id], slot_name=slot.slot_name
                )

    def _load_edges(self) -> None:
        # The functions that make resources come first: other functions capture what they make.
        in_order = sorted(range(len(self._nodes)), key=lambda n: not isinstance(self._nodes[n], RestoredResource))
        for number in in_order:
            # Some writers hang on a function what it captured.
            if self._proto.nodes[number].WhichOneof("kind") in ("function", "bare_concrete_function", "constant"):
                continue
            obj, setter = self._nodes[number], self._setters[number]
            for child in self._proto.nodes[number].children:
                setter(obj, child.local_name, self._attribute(child.node_id))
                if child.local_name == "__call__" and not callable(obj):
                    type(obj).__call__ = _call_attribute

    def _attribute(self, number: int) -> Any:
        proto = self._proto.nodes[number]
        if proto.WhichOneof("kind") != "bare_concrete_function":
            return self._nodes[number]
        bare = proto.bare_concrete_function
        found = self.concrete(bare.concrete_function_name)
        found._arg_keywords = list(bare.argument_keywords)
        found._num_positional_args = bare.allowed_positional_arguments
        return found

    # -- values

    def _restore_checkpoint(self) -> None:
        path = get_variables_path(self._folder)
        saver = TrackableSaver(ObjectGraphView(self._nodes[0]))
        with device("/cpu:0"):
            saver._file_prefix_placeholder = constant(path)
        status = saver.restore(path)
        status.expect_partial()
        status.assert_existing_objects_matched()
        if executing_eagerly():
            return
        # In a graph restoring is what initializes a variable.
        checkpoint = status._checkpoint
        for number, obj in dict(checkpoint.object_by_proto_id).items():
            ops = CheckpointPosition(checkpoint=checkpoint, proto_id=number).restore_ops()
            if ops and isinstance(obj, BaseResourceVariable):
                obj._initializer_op = ops[0]

    def _initialize_resources(self) -> None:
        for obj in self._nodes:
            if isinstance(obj, CapturableResource):
                initialized = obj._initialize()
                if not executing_eagerly():
                    add_to_collection(GraphKeys.TABLE_INITIALIZERS, initialized.op)


def _variable(proto: Any) -> BaseResourceVariable:
    return UninitializedVariable(
        trainable=proto.trainable,
        name=proto.name or None,
        shape=TensorShape(proto.shape),
        dtype=dtypes.as_dtype(proto.dtype),
        synchronization=VariableSynchronization(proto.synchronization),
        aggregation=VariableAggregation(proto.aggregation),
    )
