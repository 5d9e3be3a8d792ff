"""SavedModels that a session wrote, as objects: their signatures are functions, their variables can be read and changed."""

from __future__ import annotations

import itertools
from typing import Any

from everflow import nest
from everflow.eager.concrete_functions import ConcreteFunction, TracedGraph
from everflow.eager.context import executing_eagerly
from everflow.eager.lift_to_graph import UnliftableError
from everflow.eager.wrap_function import VariableHolder, WrappedFunction
from everflow.errors import data_loss
from everflow.graph import dtypes, opdefs
from everflow.graph.convert import constant
from everflow.graph.importer import import_graph_def
from everflow.graph.keys import GraphKeys
from everflow.graph.malformed import well_formed
from everflow.graph.operation import Operation
from everflow.graph.scopes import add_to_collection, control_dependencies
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.variables.resource_variables import UninitializedVariable
from everflow.proto import variable_pb2
from everflow.saved_model import assets, constants
from everflow.saved_model.loader import no_such_graph
from everflow.saved_model.restored_functions import FunctionLibrary
from everflow.saved_model.signature_maps import create_signature_map
from everflow.saved_model.tensor_infos import get_tensor_from_tensor_info, get_variables_path
from everflow.train.tracking.autotracking import AutoTrackable, CapturableResource, TrackableAsset

_loads = itertools.count()
# Writers before this version said in collections only which variables are trained.
_TELLS_TRAINABLE = (1, 9)


class Initializer(CapturableResource):
    """What fills a model's tables and variables, from its files."""

    def __init__(self, function: Any, files: list[TrackableAsset]) -> None:
        super().__init__()
        self._function = function
        self._files = files

    def _create_resource(self) -> Any:
        # Nothing is captured of it: it is there to be initialized.
        return constant(1.0)

    def _initialize(self) -> Any:
        return self._function(*[file.asset_path for file in self._files])


def load_session_model(folder: str, saved_model: Any, tags: Any) -> AutoTrackable:
    """The object that stands for one graph of a SavedModel."""
    with well_formed():
        return _object(_Model(folder, _chosen(saved_model, tags)))


def _object(model: _Model) -> AutoTrackable:
    root = AutoTrackable()
    info = model.meta_graph.meta_info_def
    root.tensorflow_version, root.tensorflow_git_version = info.tensorflow_version, info.tensorflow_git_version
    root.variables = list(model.variables)
    root.asset_paths = model.files
    root.graph = model.whole.graph
    root.prune = model.whole.prune
    root.restore = model.restore
    root.initializer = model.initializer
    root.signatures = create_signature_map(model.signatures())
    return root


def _chosen(saved_model: Any, tags: Any) -> Any:
    graphs = saved_model.meta_graphs
    if tags is None:
        if len(graphs) != 1:
            raise ValueError(
                "Importing a SavedModel with tf.saved_model.load requires a 'tags=' argument if there is more than one MetaGraph. Got "
                f"'tags=None', but there are {len(graphs)} MetaGraphs in the SavedModel with tag sets "
                f"{[list(g.meta_info_def.tags) for g in graphs]}. Pass a 'tags=' argument to load this SavedModel."
            )
        return graphs[0]
    for graph in graphs:
        if set(graph.meta_info_def.tags) == set(tags):
            return graph
    raise no_such_graph(saved_model, tags)


class _Model:
    """A graph of a SavedModel with variables outside of it."""

    def __init__(self, folder: str, meta_graph: Any) -> None:
        self.folder, self.meta_graph = folder, meta_graph
        self.files = [TrackableAsset(path) for path in assets.get_asset_files(folder, meta_graph)]
        library = FunctionLibrary(meta_graph.graph_def, meta_graph.meta_info_def.stripped_op_list)
        graph_def = type(meta_graph.graph_def)()
        graph_def.CopyFrom(meta_graph.graph_def)
        graph_def.ClearField("library")
        library.adapt(graph_def.node)
        _isolate(graph_def.node, f"_load_{next(_loads)}")
        handles = self._make_variables(graph_def)
        graph = TracedGraph("saved_model", collections={})
        with graph.as_default():
            # Below a scope of their own: the model's nodes keep their names.
            with graph.name_scope("variables_outside"):
                inside = {name: graph.own(handle) for name, handle in handles.items()}
            import_graph_def(graph_def, name="", input_map=inside, producer_op_list=meta_graph.meta_info_def.stripped_op_list)
        for variable in self.variables:
            graph.watch_variable(variable)
        self.whole = WrappedFunction(graph, VariableHolder(share_variables=True))
        self._steps()
        self._initialize()

    def _make_variables(self, graph_def: Any) -> dict[str, Any]:
        """{name of a handle in the graph: handle of a variable outside}."""
        described = _variable_defs(self.meta_graph)
        self.variables: list[Any] = []
        found: dict[str, Any] = {}
        for node in graph_def.node:
            if node.op == "VarHandleOp":
                told, trainable = described.get(node.name + ":0", (None, False))
                variable = UninitializedVariable(
                    name=node.name,
                    shape=TensorShape(node.attr["shape"].shape),
                    dtype=dtypes.as_dtype(node.attr["dtype"].type),
                    trainable=trainable,
                )
                found[node.name + ":0"] = variable.handle
                if told is not None:
                    self.variables.append(variable)
                    order = list(described)
                    self.variables.sort(key=lambda v: order.index(v.name) if v.name in order else len(order))
        return found

    # -- initialization

    def _op(self, name: str) -> Operation:
        graph = self.whole.graph
        try:
            found = graph.as_graph_element(name)
        except (KeyError, ValueError) as error:
            raise data_loss(f"The SavedModel in {self.folder} has no {name!r}: {error}") from None
        return found.op if isinstance(found, Tensor) else found

    def _done(self, op: Operation) -> Tensor:
        """A tensor that is there once an op has run."""
        with self.whole.graph.as_default(), control_dependencies([op]):
            return apply("Identity", constant(1.0))

    def _steps(self) -> None:
        saver = self.meta_graph.saver_def
        self._restore = None
        if saver.restore_op_name:
            filename = self.whole.graph.as_graph_element(saver.filename_tensor_name)
            self._restore = self.whole.prune([filename], self._done(self._op(saver.restore_op_name)))
        name = _init_op_name(self.meta_graph)
        fed = [self.whole.graph.as_graph_element(n) for n in assets.get_asset_tensors(self.folder, self.meta_graph)]
        run = self._op(name) if name else self._no_op()
        self.initializer = Initializer(self.whole.prune(fed, self._done(run)), self.files)

    def _no_op(self) -> Operation:
        with self.whole.graph.as_default():
            return apply("NoOp")

    def restore(self, path: Any) -> Any:
        """Restores the variables from a checkpoint."""
        return self._restore(constant(path)) if self._restore is not None else None

    def _initialize(self) -> None:
        restored = self.restore(get_variables_path(self.folder))
        if executing_eagerly():
            self.initializer._initialize()
            return
        with control_dependencies([restored] if restored is not None else []):
            initialized = self.initializer._initialize().op
        # One op does it all, and each variable may ask for it.
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, initialized)
        for variable in self.variables:
            variable._initializer_op = initialized

    # -- signatures

    def signatures(self) -> dict[str, ConcreteFunction]:
        """{key: function from the tensors of its inputs, by name, to a dictionary of tensors}."""
        reserved = (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY)
        return {
            key: self._signature(key, definition)
            for key, definition in sorted(self.meta_graph.signature_def.items())
            if key not in reserved
        }

    def _signature(self, key: str, definition: Any) -> ConcreteFunction:
        graph = self.whole.graph
        names = sorted(definition.inputs)
        feeds = [get_tensor_from_tensor_info(definition.inputs[name], graph) for name in names]
        fetches = {name: get_tensor_from_tensor_info(info, graph) for name, info in definition.outputs.items()}
        try:
            pruned = self.whole.prune(feeds, fetches)
        except ValueError as error:
            raise UnliftableError(
                "A SavedModel signature needs an input for each placeholder the signature's outputs use. An output for signature "
                f"'{key}' depends on a placeholder which is not an input (i.e. the placeholder is not fed a value).\n\nUnable to lift "
                f"the outputs: {error}"
            ) from None
        function = ConcreteFunction(pruned.graph, pruned.structured_outputs)
        function._arg_keywords = [
            name if len(nest.flatten(feed, expand_composites=True)) == 1 else f"{name}_{i}"
            for name, feed in zip(names, feeds)
            for i, _ in enumerate(nest.flatten(feed, expand_composites=True))
        ]
        function._num_positional_args = int(len(function._arg_keywords) == 1)
        return function


def _isolate(nodes: Any, suffix: str) -> None:
    """Variables and tables of a model are its own: no other one may find them by name."""
    for node in nodes:
        definition = opdefs.find(node.op)
        if definition is not None and definition.is_stateful and "shared_name" in definition.attrs and node.op != "VarHandleOp":
            node.attr["shared_name"].s = (node.attr["shared_name"].s or node.name.encode()) + suffix.encode()


def _variable_defs(meta_graph: Any) -> dict[str, tuple[Any, bool]]:
    """{name of a variable: (its VariableDef, whether it is trained)}, global ones first."""
    collections = meta_graph.collection_def
    trained = set(collections[GraphKeys.TRAINABLE_VARIABLES].bytes_list.value) if GraphKeys.TRAINABLE_VARIABLES in collections else set()
    version = tuple(int(part) for part in meta_graph.meta_info_def.tensorflow_version.split(".")[:2] if part.isdigit())
    found: dict[str, tuple[Any, bool]] = {}
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for packed in collections[key].bytes_list.value if key in collections else ():
            proto = variable_pb2.VariableDef.FromString(packed)
            if proto.is_resource and proto.variable_name not in found:
                found[proto.variable_name] = (proto, proto.trainable if version >= _TELLS_TRAINABLE else packed in trained)
    return found


def _init_op_name(meta_graph: Any) -> str | None:
    key = constants.INIT_OP_SIGNATURE_KEY
    if key in meta_graph.signature_def:
        return meta_graph.signature_def[key].outputs[key].name
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if key in meta_graph.collection_def:
            names = meta_graph.collection_def[key].node_list.value
            if len(names) != 1:
                raise RuntimeError(f"Expected exactly one SavedModel main op. Found: {names}")
            return names[0]
    return None
