"""Models like other models."""

from __future__ import annotations

from typing import Any

from everflow import nest
from everflow.api import internal, public
from everflow.keras.input_layer import Input, InputLayer
from everflow.keras.layer import Layer
from everflow.keras.metrics.base import clone_metric
from everflow.keras.model import Model
from everflow.keras.optimizers.first import TFOptimizer
from everflow.keras.sequential import Sequential


def _cloned(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


@public("keras.models.clone_model")
@internal("keras.models.clone_model")
def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """A model with layers like those of another, and weights of its own."""
    make = clone_function or _cloned
    if not callable(make):
        raise ValueError("Expected `layer_fn` argument to be a callable.")
    if isinstance(model, Sequential):
        return _clone_sequential(model, input_tensors, make)
    if not isinstance(model, Model):
        raise ValueError("Expected `model` argument to be a `Model` instance, got ", model)
    if not model._is_graph_network:
        raise ValueError("Expected `model` argument to be a functional `Model` instance, but got a subclass model instead.")
    return _clone_functional(model, input_tensors, make)


def _clone_sequential(model: Any, input_tensors: Any, make: Any) -> Any:
    layers = [make(layer) if not isinstance(layer, InputLayer) else layer for layer in model.layers]
    made = type(model)(layers=[], name=model.name) if type(model).__name__ == "Sequential" else type(model)(name=model.name)
    if input_tensors is not None:
        given = nest.flatten(input_tensors)
        if len(given) != 1:
            raise ValueError("To clone a `Sequential` model, we expect  at most one tensor as part of `input_tensors`.")
        x = given[0]
        made.add(x._keras_history.layer if hasattr(x, "_keras_history") else Input(tensor=x)._keras_history.layer)
    elif model._is_graph_network and model.inputs:
        source = model._input_layers[0]
        made.add(InputLayer(batch_input_shape=tuple(model.inputs[0].shape.as_list()), dtype=source.dtype, name=source.name))
    for layer in layers:
        made.add(layer)
    return made


def _clone_functional(model: Any, input_tensors: Any, make: Any) -> Any:
    clones: dict[int, Any] = {}
    tensors: dict[int, Any] = {}
    if input_tensors is None:
        for layer, t in zip(model._input_layers, model.inputs):
            made = Input(batch_shape=tuple(t.shape.as_list()), dtype=layer.dtype, sparse=layer.sparse, name=layer.name)
            tensors[id(t)] = made
            clones[id(layer)] = made._keras_history.layer
    else:
        for layer, t, given in zip(model._input_layers, model.inputs, nest.flatten(input_tensors)):
            if not hasattr(given, "_keras_history"):
                given = Input(tensor=given, name="input_wrapper_for_" + layer.name)
            tensors[id(t)] = given
            clones[id(layer)] = given._keras_history.layer
    for nodes in model._nodes_by_depth:
        for node in nodes:
            layer = node.outbound_layer
            if isinstance(layer, InputLayer):
                continue
            if id(layer) not in clones:
                clones[id(layer)] = make(layer)
                if not isinstance(clones[id(layer)], Layer):
                    raise ValueError(f"`clone_function` has to return layers; got {clones[id(layer)]}")
            flat = nest.flatten(node.input_tensors)
            if not all(id(t) in tensors for t in flat):
                continue
            given = nest.pack_sequence_as(node.input_tensors, [tensors[id(t)] for t in flat])
            outputs = clones[id(layer)](given, **(node.arguments or {}))
            tensors.update((id(x), y) for x, y in zip(nest.flatten(node.output_tensors), nest.flatten(outputs)))
    inputs = nest.pack_sequence_as(model._nested_inputs, [tensors[id(t)] for t in model.inputs])
    outputs = nest.pack_sequence_as(model._nested_outputs, [tensors[id(t)] for t in model.outputs])
    cls = type(model) if type(model).__init__ is Model.__init__ else Model
    return cls(inputs, outputs, name=model.name)


def optimizer_configs(model: Any) -> Any:
    """What makes optimizers like those of a model, read in the session that is the default now; None for those of tf.train."""
    if isinstance(model.optimizer, (list, tuple)):
        return [optimizer.get_config() for optimizer in model.optimizer]
    return None if isinstance(model.optimizer, TFOptimizer) else model.optimizer.get_config()


def compile_like(model: Any, clone: Any, configs: Any, step: Any, target_tensors: Any = None) -> None:
    """Compiles a clone as its model was, with optimizers of its own, whose steps a variable counts."""
    given = model.optimizer
    if configs is None:
        made: Any = TFOptimizer(given.optimizer, iterations=step)
    elif isinstance(configs, list):
        made = [type(optimizer).from_config(config) for optimizer, config in zip(given, configs)]
    else:
        made = type(given).from_config(configs)
    for optimizer in made if isinstance(made, list) else [made]:
        optimizer.iterations = step
    metrics, weighted = (nest.map_structure(clone_metric, asked) for asked in (model._compile_metrics, model._compile_weighted_metrics))
    clone.compile(
        made,
        model.loss,
        metrics=metrics,
        loss_weights=model.loss_weights,
        sample_weight_mode=model.sample_weight_mode,
        weighted_metrics=weighted,
        target_tensors=target_tensors,
    )
    clone._finish_compile(clone.outputs)
