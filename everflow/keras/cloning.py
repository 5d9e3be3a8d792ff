"""Models like other models."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from everflow import nest
from everflow.api import internal, public
from everflow.keras.backend.values import placeholder
from everflow.keras.input_layer import Input, InputLayer
from everflow.keras.layer import Layer
from everflow.keras.metrics.base import clone_metric
from everflow.keras.model import Model
from everflow.keras.optimizers.first import TFOptimizer
from everflow.keras.sequential import Sequential
from everflow.keras.serialization import CustomObjectScope

MODELS = "keras.models."


@internal(MODELS + "_clone_layer")
def _cloned(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


@internal(MODELS + "share_weights")
def share_weights(layer: Any) -> Any:
    """The layer itself: a clone made of such layers has the weights of its model."""
    return layer


@public("keras.models.clone_model")
@internal("keras.models.clone_model")
def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """A model with layers like those of another, and weights of its own."""
    make = clone_function or _cloned
    return (_clone_sequential if isinstance(model, Sequential) else _clone_functional)(model, input_tensors, make)


@internal(MODELS + "_clone_sequential_model")
def _clone_sequential(model: Any, input_tensors: Any = None, layer_fn: Any = _cloned) -> Any:
    make = _checked(layer_fn)
    if not isinstance(model, Sequential):
        raise ValueError(f"Expected `model` argument to be a `Sequential` model instance, but got: {model}")
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


def _checked(make: Any) -> Any:
    if not callable(make):
        raise ValueError("Expected `layer_fn` argument to be a callable.")
    return make


@internal(MODELS + "_clone_functional_model")
def _clone_functional(model: Any, input_tensors: Any = None, layer_fn: Any = _cloned) -> Any:
    if not isinstance(model, Model):
        raise ValueError("Expected `model` argument to be a `Model` instance, got ", model)
    if isinstance(model, Sequential):
        raise ValueError("Expected `model` argument to be a functional `Model` instance, got a `Sequential` instance instead:", model)
    if not model._is_graph_network:
        raise ValueError("Expected `model` argument to be a functional `Model` instance, but got a subclass model instead.")
    make = _checked(layer_fn)
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


def compile_like(model: Any, clone: Any, configs: Any, step: Any, target_tensors: Any = None, settings: Any = None) -> None:
    """Compiles a clone as its model was, with optimizers of its own, whose steps a variable counts; `settings`: what the model was."""
    model = settings or model
    given = model.optimizer
    if configs is None:
        made: Any = TFOptimizer(given.optimizer, iterations=step)
    elif isinstance(configs, list):
        made = [type(optimizer).from_config(config) for optimizer, config in zip(given, configs)]
    else:
        made = type(given).from_config(configs)
    for optimizer in made if isinstance(made, list) else [made]:
        if step is not None:
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
    if clone.outputs:
        clone._finish_compile(clone.outputs)


def can_be_cloned(model: Any) -> bool:
    """Whether layers and their connections say all of a model: its `call` is not a program's own."""
    return model._is_graph_network or isinstance(model, Sequential)


def made_anew(layer: Any) -> Any:
    """A layer or model like this one, with weights of its own; a model with its own `call` keeps its other attributes."""
    if not isinstance(layer, Model):
        return _cloned(layer)
    if can_be_cloned(layer):
        return clone_model(layer)
    made = layer.__class__.__new__(layer.__class__)
    _begin_again(made, layer.name, vars(layer))
    return made


def _begin_again(model: Any, name: str, attributes: dict[str, Any]) -> None:
    """Gives a model of a program's own class the attributes of another, with layers of its own."""
    Model.__init__(model, name=name)
    known = set(vars(model))
    for key, value in attributes.items():
        if key in known or key.startswith(("_self_", KEPT)):
            continue
        if any(isinstance(item, Layer) for item in nest.flatten(value)):
            value = nest.map_structure(lambda item: made_anew(item) if isinstance(item, Layer) else item, value)
        setattr(model, key, value)


# Where a model that was reset in place keeps what it was.
KEPT = "_original_attributes_cache"


@internal(MODELS + "_in_place_subclassed_model_reset")
def reset_in_place(model: Any) -> None:
    """Lets a model with its own `call` start again, with new layers and not compiled; it can be restored."""
    if model._is_graph_network:
        raise AssertionError("Only models with their own `call` are reset in place.")
    before = dict(vars(model))
    before.pop(KEPT, None)
    vars(model).clear()
    _begin_again(model, before["_name"], before)
    vars(model)[KEPT] = before


@internal(MODELS + "in_place_subclassed_model_state_restoration")
def restore_in_place(model: Any) -> None:
    """Makes a model that was reset in place what it was."""
    if model._is_graph_network:
        raise AssertionError("Only models with their own `call` are reset in place.")
    before = vars(model).get(KEPT)
    if before is not None:
        vars(model).clear()
        vars(model).update(before)
    else:
        model.built = False


# How a model was compiled.
SETTINGS = ("optimizer", "loss", "loss_weights", "sample_weight_mode", "_compile_metrics", "_compile_weighted_metrics")


@internal(MODELS + "clone_and_build_model")
def clone_and_build_model(
    model: Any,
    input_tensors: Any = None,
    target_tensors: Any = None,
    custom_objects: Any = None,
    compile_clone: bool = True,
    in_place_reset: bool = False,
    optimizer_iterations: Any = None,
    optimizer_config: Any = None,
) -> Any:
    """A model like another, on tensors or placeholders, compiled as that one is; one with its own `call` is reset in place."""
    if compile_clone and not model.optimizer:
        raise ValueError("Error when cloning model: compile_clone was set to True, but the original model has not been compiled.")
    configs, settings = None, SimpleNamespace(**{name: getattr(model, name, None) for name in SETTINGS})
    if compile_clone:
        configs = optimizer_configs(model) if optimizer_config is None else optimizer_config
    if can_be_cloned(model):
        with CustomObjectScope(custom_objects or {}):
            clone = clone_model(model, input_tensors=input_tensors)
        if not clone.inputs and input_tensors is None and model.inputs:
            clone._set_inputs(placeholder(model.inputs[0].shape, dtype=model.inputs[0].dtype))
    elif not in_place_reset:
        raise ValueError(
            "This model is a subclassed model. Such a model cannot be cloned, but there is a workaround where the model is reset "
            "in-place. To use this, please set the argument `in_place_reset` to `True`. This will reset the attributes in the original "
            "model. To restore the attributes, call `in_place_subclassed_model_state_restoration(model)`."
        )
    else:
        reset_in_place(model)
        clone = model
        if input_tensors is not None:
            clone._set_inputs(input_tensors[0] if isinstance(input_tensors, (list, tuple)) and len(input_tensors) == 1 else input_tensors)
    if compile_clone:
        compile_like(model, clone, configs, optimizer_iterations, target_tensors, settings)
    return clone
