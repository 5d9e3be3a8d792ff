"""Networks: layers that are made of layers, by connecting them or by a program's own `call`."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.distribute.strategy_context import get_strategy, has_strategy, in_cross_replica_context
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.graph.trackable import TrackableReference, no_automatic_dependency_tracking_scope
from everflow.keras.added_results import AddLoss, AddMetric
from everflow.keras.backend.graph import get_graph
from everflow.keras.backend.session import batch_get_value, batch_set_value
from everflow.keras.call_context import call_context
from everflow.keras.input_layer import InputLayer
from everflow.keras.layer import Layer, _default, map_shapes
from everflow.keras.layer_results import check_added_metric
from everflow.keras.layer_variables import check_weights, flat_layers, holds_weights
from everflow.keras.network_config import connections_config, network_from_config
from everflow.keras.network_order import ordered
from everflow.keras.node import KerasHistory, Node
from everflow.keras.op_layers import create_keras_history, needs_keras_history
from everflow.keras.saving import configs, files
from everflow.keras.summaries import print_summary
from everflow.ops.variables.variables import Variable

_WITH_WEIGHTS = "layer_with_weights-"


def _as_list(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


@internal("keras.engine.network.Network")
class Network(Layer):
    """`Network(inputs, outputs)` computes what connects the tensors; a subclass says what its `call` computes."""

    inputs: Any
    outputs: Any
    input_names: Any
    output_names: Any
    optimizer: Any
    _is_graph_network: bool
    _distribution_strategy: Any
    _input_layers: list[Any]
    _output_layers: list[Any]
    _nested_inputs: Any
    _nested_outputs: Any
    _nodes_by_depth: list[list[Any]]
    _network_nodes: set[str]
    _feed_inputs: Any = ()
    _feed_input_names: Any = ()
    # Outputs carry their masks when `call` is done.
    _compute_output_and_mask_jointly = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) == 2 or (len(args) == 1 and "outputs" in kwargs) or ("inputs" in kwargs and "outputs" in kwargs):
            self._init_graph_network(*args, **kwargs)
        else:
            self._init_subclassed(**kwargs)

    def _base_init(self, name: str | None = None, trainable: bool = True, **kwargs: Any) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._note(_is_graph_network=False, inputs=None, outputs=None, input_names=None, output_names=None, optimizer=None)
        # The strategy that the network's variables are spread by; a network that one replica makes is that replica's.
        self._note(_distribution_strategy=get_strategy() if has_strategy() and in_cross_replica_context() else None)

    def _note(self, **facts: Any) -> None:
        """Sets attributes that say something about the network: lists and layers in them are not parts of it for that."""
        with no_automatic_dependency_tracking_scope(self):
            for name, value in facts.items():
                setattr(self, name, value)

    def _init_subclassed(self, name: str | None = None, **kwargs: Any) -> None:
        self._base_init(name=name, **kwargs)

    def _init_graph_network(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        if needs_keras_history(outputs):
            with nest.flatten(outputs)[0].graph.as_default():
                create_keras_history(outputs)
        for t in nest.flatten([inputs, outputs]):
            if not hasattr(t, "_keras_history"):
                what = "inputs" if any(t is x for x in nest.flatten(inputs)) else "outputs"
                raise ValueError(
                    f"Output tensors to a {type(self).__name__} must be the output of a TensorFlow `Layer` (thus holding past layer "
                    f"metadata). Found: {t}"
                    if what == "outputs"
                    else f"Input tensors to a {type(self).__name__} must come from `tf.keras.Input`. Received: {t} (missing previous layer "
                    "metadata)."
                )
        unknown = set(kwargs) - {"trainable"}
        if unknown:
            raise TypeError(
                "Functional models may only specify `name` and `trainable` keyword arguments during initialization. Got an "
                f"unexpected argument: {unknown.pop()}"
            )
        given = nest.flatten(inputs)
        if len({id(t) for t in given}) != len(given):
            raise ValueError(f"The list of inputs passed to the model is redundant. All inputs should only appear once. Found: {inputs}")
        layers = [t._keras_history.layer for t in given]
        sizes = {shape[0] for layer in layers if (shape := getattr(layer, "_batch_input_shape", None))} - {None}
        if len(sizes) > 1:
            raise ValueError(f"The specified batch sizes of the Input Layers are incompatible. Found batch sizes: {sorted(sizes)}")
        self._base_init(name=name, **kwargs)
        self._note(
            _is_graph_network=True,
            # Inputs are what the layers inside say.
            _autocast=False,
            _nested_inputs=_unpacked(inputs),
            _nested_outputs=_unpacked(outputs),
            inputs=nest.flatten(inputs),
            outputs=nest.flatten(outputs),
        )
        self._connect_graph()
        self.built = True

    def _connect_graph(self) -> None:
        """Finds the layers between inputs and outputs, in the order in which they run."""
        order = ordered(self.inputs, self.outputs)
        refuse_legacy_layers(order.layers)
        before, after = [t._keras_history for t in self.inputs], [t._keras_history for t in self.outputs]
        fed = [(t, h.layer.name) for t, h in zip(self.inputs, before) if h.layer.is_placeholder]
        self._note(
            _input_coordinates=before,
            _input_layers=[h.layer for h in before],
            input_names=[h.layer.name for h in before],
            _output_coordinates=after,
            _output_layers=[h.layer for h in after],
            output_names=_told_apart([h.layer.name for h in after]),
            _feed_inputs=[t for t, _ in fed],
            _feed_input_names=[name for _, name in fed],
            _network_nodes=order.keys,
            _nodes_by_depth=order.nodes,
            _layers=[],
        )
        for layer in order.layers:
            self._hold_layer(layer)
            self._track_trackable(layer, name=f"layer-{len(self._layers) - 1}", overwrite=True)
        # The model itself stands behind its own outputs, where it is used as a layer.
        inputs = nest.pack_sequence_as(self._nested_inputs, self.inputs)
        layers, calls, places = (nest.map_structure(lambda t, f=f: getattr(t._keras_history, f), inputs) for f in KerasHistory._fields)
        Node(self, layers, calls, places, inputs, nest.pack_sequence_as(self._nested_outputs, self.outputs))

    def _insert_layers(self, layers: Any, nodes: Any = None) -> None:
        """Has the model hold and run further layers, whose inputs its own layers give."""
        refuse_legacy_layers(layers)
        for layer in layers:
            if not any(layer is known for known in self._layers):
                self._hold_layer(layer)
                self._track_trackable(layer, name=f"layer-{len(self._layers) - 1}", overwrite=True)
        for node in nodes if nodes is not None else [n for layer in layers for n in layer._inbound_nodes]:
            layer = node.outbound_layer
            self._nodes_by_depth.append([node])
            self._network_nodes.add(f"{layer.name}_ib-{layer._inbound_nodes.index(node)}")

    def _insert_result(self, layer: Any, tensor: Any) -> None:
        """Adds a layer that keeps a loss or metric, and the ops between the model and it."""
        with tensor.graph.as_default():
            create_keras_history(tensor)
            output = layer(tensor)
        held = {id(node) for nodes in self._nodes_by_depth for node in nodes}
        new = [n for nodes in ordered(self.inputs, [*self.outputs, output]).nodes for n in nodes if id(n) not in held]
        self._insert_layers(list(dict.fromkeys(n.outbound_layer for n in new)), new)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds loss tensors; a functional model holds those of its own tensors as layers."""
        for loss in nest.flatten(losses):
            if self._is_symbolic_result(loss):
                self._insert_result(AddLoss(unconditional=False), loss)
            else:
                super().add_loss(loss, inputs)

    def add_metric(self, value: Any, aggregation: Any = None, name: str | None = None) -> None:
        """Adds a tensor to watch; a functional model holds one of its own tensors as a layer."""
        if not self._is_symbolic_result(value):
            super().add_metric(value, aggregation, name)
        elif hasattr(value, "_metric_obj"):
            raise ValueError(
                "Using the result of calling a `Metric` object when calling `add_metric` on a Functional Model is not "
                "supported. Please pass the Tensor to monitor directly."
            )
        else:
            check_added_metric(aggregation, name)
            self._insert_result(AddMetric(aggregation, name), value)

    def _is_symbolic_result(self, value: Any) -> bool:
        """Whether a value was computed from tensors of this functional model, outside of any call."""
        return (
            self._is_graph_network
            and not call_context().in_call
            and isinstance(value, Tensor)
            and not value.is_eager
            and (hasattr(value, "_keras_history") or needs_keras_history(value))
        )

    # -- layers and weights

    @property
    def layers(self) -> list[Any]:
        """The layers, in the order of a model's summary."""
        return [layer for layer in flat_layers(self._layers) if isinstance(layer, Layer)]

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer by its name, or by its place."""
        layers = self.layers
        if index is not None:
            if index < len(layers):
                return layers[index]
            raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {len(layers)} layers.")
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        found = [layer for layer in layers if layer.name == name]
        if not found:
            raise ValueError(f"No such layer: {name}")
        return found[0]

    def __setattr__(self, name: str, value: Any) -> None:
        if "_is_graph_network" not in self.__dict__ and name not in self.__dict__ and _holds_state(value):
            raise RuntimeError(
                "It looks like you are subclassing `Model` and you forgot to call `super(YourClass, self).__init__()`. "
                "Always start with this line."
            )
        super().__setattr__(name, value)

    def _assert_weights_created(self) -> None:
        if not self.dynamic and not self._is_graph_network and "build" in type(self).__dict__ and not self.built:
            raise ValueError(
                f"Weights for model {self.name} have not yet been created. Weights are created when the Model is first called "
                "on inputs or `build()` is called with an `input_shape`."
            )

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that training changes."""
        self._assert_weights_created()
        return [] if not self.trainable else [w for layer in self._layers for w in layer.trainable_weights] + self._trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that training leaves alone."""
        self._assert_weights_created()
        if self.trainable:
            return [w for layer in self._layers for w in layer.non_trainable_weights] + self._non_trainable_weights
        return self._trainable_weights + [w for layer in self._layers for w in layer.weights] + self._non_trainable_weights

    @property
    def weights(self) -> list[Any]:
        """The variables of all layers, layer by layer."""
        self._assert_weights_created()
        return [w for layer in self._layers for w in layer.weights] + self._trainable_weights + self._non_trainable_weights

    def get_weights(self) -> list[Any]:
        """Their values."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Sets their values, in the same order."""
        variables = [weight for layer in self.layers for weight in layer.weights]
        check_weights(self.name, variables, weights)
        batch_set_value(list(zip(variables, weights)))

    @property
    def stateful(self) -> bool:
        """Whether a layer keeps state between batches."""
        return bool(self._stateful_layers())

    @stateful.setter
    def stateful(self, value: bool) -> None:
        """Follows from the layers."""

    def reset_states(self) -> None:
        """Resets the layers that keep state."""
        for layer in self._stateful_layers():
            if hasattr(layer, "reset_states"):
                layer.reset_states()

    def _stateful_layers(self) -> list[Any]:
        return [layer for layer in self.layers if getattr(layer, "stateful", False)]

    @property
    def state_updates(self) -> list[Any]:
        """The updates of layers that keep state."""
        return [update for layer in self._stateful_layers() for update in layer.updates]

    @property
    def dynamic(self) -> bool:
        """Whether a layer must run as Python."""
        return self._dynamic or any(layer.dynamic for layer in self.layers)

    @property  # type: ignore[misc]
    def input_spec(self) -> Any:  # type: ignore[override]
        """What the inputs have to be: where there are several, as many."""
        return [None] * len(self._input_layers) if self._is_graph_network and len(self._input_layers) > 1 else None

    @property
    def _input_layer_names(self) -> list[str]:
        return [layer.name for layer in self._input_layers]

    # -- calling

    @_default
    def build(self, input_shape: Any) -> None:
        """Makes the variables of a model whose `call` is its own, for inputs of a shape."""
        if self._is_graph_network:
            self.built = True
            return
        if input_shape is None:
            raise ValueError("Input shape must be defined when calling build on a model subclass network.")
        if not isinstance(input_shape, (tuple, list, tf.TensorShape)):
            raise ValueError(
                "Specified input shape is not one of the valid types. Please specify a batch input shape of type tuple or list of input "
                f"shapes. User provided input type: {type(input_shape)}"
            )
        self.built = True

        def place(shape: Any) -> Any:
            return tf.placeholder(self.dtype or "float32", shape)

        with get_graph().as_default():
            single = isinstance(input_shape, tf.TensorShape) or all(d is None or isinstance(d, (int, tf.Dimension)) for d in input_shape)
            given = place(input_shape) if single else [place(s) for s in input_shape]
            arguments = {"training": False} if self._call_takes("training") else {}
            if self._further_call_args():
                raise ValueError(
                    "Currently, you cannot build your model if it has positional or keyword arguments that are not inputs to the model, "
                    "but are required for its `call` method. Instead, in order to instantiate and build your model, `call` your model on "
                    "real tensor data with all expected call arguments."
                )
            try:
                self.call(given, **arguments)
            except (tf.errors.OpError, TypeError) as e:
                raise ValueError(
                    "You cannot build your model by calling `build` if your layers do not support float type inputs. Instead, in order to "
                    "instantiate and build your model, `call` your model on real tensor data (of the correct dtype)."
                ) from e

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:  # type: ignore[override]
        """Runs the layers on new inputs."""
        if not self._is_graph_network:
            raise NotImplementedError("When subclassing the `Model` class, you should implement a `call` method.")
        return self._run_layers(inputs, training, mask)

    def _run_layers(self, inputs: Any, training: Any, mask: Any) -> Any:
        given = nest.flatten(inputs)
        for t, m in zip(given, nest.flatten(mask) if mask is not None else ()):
            t._keras_mask = m
        known = {id(x): y for x, y in zip(self.inputs, given)}
        for nodes in self._nodes_by_depth:
            for node in nodes:
                layer = node.outbound_layer
                flat = nest.flatten(node.input_tensors)
                if isinstance(layer, InputLayer) or not all(id(t) in known for t in [*flat, *node.argument_tensors]):
                    continue
                arguments = nest.map_structure(lambda t, seen=known: seen.get(id(t), t), dict(node.arguments or {}))
                if training is not None and layer._call_takes("training") and arguments.get("training") is None:
                    arguments["training"] = training
                outputs = layer(nest.pack_sequence_as(node.input_tensors, [known[id(t)] for t in flat]), **arguments)
                known.update((id(x), y) for x, y in zip(nest.flatten(node.output_tensors), nest.flatten(outputs)))
        return nest.pack_sequence_as(self._nested_outputs, [known[id(t)] for t in self.outputs])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks of the outputs."""
        if not self._is_graph_network:
            return None
        return nest.map_structure(lambda t: getattr(t, "_keras_mask", None), self._run_layers(inputs, None, mask))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shapes of the outputs for shapes of inputs."""
        if not self._is_graph_network:
            return super().compute_output_shape(input_shape)
        known = {id(t): s for t, s in zip(self.inputs, _flat_shapes(input_shape))}
        for nodes in self._nodes_by_depth:
            for node in nodes:
                layer = node.outbound_layer
                flat = nest.flatten(node.input_tensors)
                if isinstance(layer, InputLayer) or not all(id(t) in known for t in flat):
                    continue
                given = nest.map_structure(lambda t, seen=known: seen[id(t)], node.input_tensors)
                shapes = _flat_shapes(layer.compute_output_shape(given))
                known.update((id(t), s) for t, s in zip(nest.flatten(node.output_tensors), shapes))
        return nest.map_structure(lambda t: known[id(t)], self._nested_outputs)

    # -- as data

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """Checkpoints know a layer by its place, and one with weights also by its place among those."""
        found: list[TrackableReference] = []
        with_weights = 0
        for reference in super()._checkpoint_dependencies:
            if (reference.name or "").startswith("layer-") and reference.ref.weights:
                found.append(TrackableReference(f"{_WITH_WEIGHTS}{with_weights}", reference.ref))
                with_weights += 1
            found.append(reference)
        return found

    def _lookup_dependency(self, name: str) -> Any:
        if name is not None and name.startswith(_WITH_WEIGHTS):
            return next((found.ref for found in self._checkpoint_dependencies if found.name == name), None)
        return super()._lookup_dependency(name)

    @property
    def _object_identifier(self) -> str:
        return "_tf_keras_network"

    def get_config(self) -> dict[str, Any]:
        """The layers and how they are connected."""
        if not self._is_graph_network:
            raise NotImplementedError
        return connections_config(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """A network as a config describes it."""
        return network_from_config(cls, config, custom_objects)

    def to_json(self, **kwargs: Any) -> str:
        """The network as JSON, without its weights."""
        return configs.to_json(self, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """The network as YAML, without its weights."""
        return configs.to_yaml(self, **kwargs)

    def save(
        self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, save_format: Any = None, signatures: Any = None
    ) -> None:
        """Saves all of it: layers, weights, and how it is trained."""
        files.save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def save_weights(self, filepath: Any, overwrite: bool = True, save_format: Any = None) -> None:
        """Saves the weights, as HDF5 or as a checkpoint."""
        files.save_weights(self, filepath, overwrite, save_format)

    def load_weights(self, filepath: Any, by_name: bool = False) -> Any:
        """Sets the weights to those of a file."""
        return files.load_weights(self, filepath, by_name)

    def summary(self, line_length: Any = None, positions: Any = None, print_fn: Any = None) -> None:
        """Prints a table of the layers."""
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or calling `fit()` with some data, or "
                "specify an `input_shape` argument in the first layer(s) for automatic build."
            )
        print_summary(self, line_length, positions, print_fn)


def refuse_legacy_layers(layers: Any) -> None:
    """Raises for layers of tf.layers, which keep their variables in other ways."""
    legacy = [layer for layer in layers if getattr(layer, "_is_legacy_layer", False)]
    if legacy:
        listed = "\n".join(f"  {layer}" for layer in legacy)
        raise TypeError(
            f"The following are legacy tf.layers.Layers:\n{listed}\nTo use keras as a framework (for instance using the Network, Model, or "
            "Sequential classes), please use the tf.keras.layers implementation instead. (Or, if writing custom layers, subclass from "
            "tf.keras.layers rather than tf.layers)"
        )


def _unpacked(structure: Any) -> Any:
    return structure[0] if isinstance(structure, (list, tuple)) and len(structure) == 1 else structure


def _told_apart(names: list[str]) -> list[str]:
    """Names of outputs: a layer's second output has a number at its end."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        found.append(f"{name}_{seen[name]}" if seen[name] else name)
    return found


def _holds_state(value: Any) -> bool:
    """Whether a value is made of layers and variables only."""
    flat = nest.flatten(value)
    return bool(flat) and all(isinstance(v, (Layer, Variable)) or holds_weights(v) for v in flat)


def _flat_shapes(shape: Any) -> list[TensorShape]:
    """The shapes of a structure, in order."""
    found: list[TensorShape] = []
    map_shapes(found.append, shape)
    return found
