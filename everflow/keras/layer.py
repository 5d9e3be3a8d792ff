"""Layer: variables and a function of tensors. tf.layers, RNN cells and tf.keras build on this one class."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.autograph.conversion_api import tf_convert
from everflow.eager.context import executing_eagerly
from everflow.errors import OperatorNotAllowedInGraphError
from everflow.graph import dtypes
from everflow.graph.conversion_status import control_status_ctx
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.scopes import init_scope, is_eager_outside, name_scope
from everflow.graph.shapes import Dimension, TensorShape
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.keras.backend.learning_phase import known_phase
from everflow.keras.call_context import call_context
from everflow.keras.input_spec import InputSpec, assert_input_compatibility
from everflow.keras.layer_connections import LayerConnections
from everflow.keras.layer_results import LayerResults
from everflow.keras.layer_saving import LayerSaving
from everflow.keras.layer_variables import LayerVariables
from everflow.keras.mixed_precision.policy import plain_policy, policy_defaults_to_floatx, policy_for, with_input_dtype
from everflow.keras.naming import to_snake_case, unique_object_name
from everflow.keras.serialization import validate_kwargs
from everflow.keras.symbolic import graph_of_any
from everflow.keras.v2_dtypes import v2_dtype_behavior_enabled
from everflow.looks import own_module
from everflow.module import Module

_NOTHING = contextlib.nullcontext()
_KEYWORDS = ("input_shape", "batch_input_shape", "batch_size", "weights", "activity_regularizer", "autocast")


def _default(method: Any) -> Any:
    """Marks a method that subclasses may replace, so that it can be told whether they did."""
    method._is_default = True
    return method


@public("keras.layers.Layer")
@internal("keras.engine.base_layer.Layer")
class Layer(LayerVariables, LayerResults, LayerConnections, LayerSaving, Module):
    """Computes outputs from inputs; `build` makes the variables at the first call, `call` says what is computed.

    class Scale(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.factor = self.add_weight("factor", shape=input_shape[-1:], initializer="ones")

        def call(self, inputs):
            return inputs * self.factor
    """

    _is_layer = True
    _dynamic: bool
    _autocast: bool
    _dtype_defaulted_to_floatx: bool
    _input_spec: Any
    _use_resource_variables: bool
    supports_masking: bool
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(("_obj_reference_counts_dict", *Module._TF_MODULE_IGNORED_PROPERTIES))

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: dtypes.DTypeLike | None = None, dynamic: bool = False, **kwargs: Any
    ) -> None:
        validate_kwargs(kwargs, _KEYWORDS)
        # Past __setattr__: these lists are books, not things to be tracked.
        self.__dict__.update(
            _trainable=trainable,
            stateful=False,
            built=False,
            _input_spec=None,
            supports_masking=False,
            _activity_regularizer=kwargs.get("activity_regularizer"),
            _updates=[],
            _losses=[],
            _callable_losses=[],
            _eager_losses=[],
            _metrics=[],
            _inbound_nodes=[],
            _outbound_nodes=[],
            _dynamic=dynamic,
            _initial_weights=kwargs.get("weights"),
            _use_resource_variables=False,
        )
        for books in ("_layers", "_trainable_weights", "_non_trainable_weights"):
            self.__dict__.setdefault(books, [])
        self._init_set_name(name)
        self.__dict__.update(
            _dtype_policy=policy_for(dtype),
            _dtype_defaulted_to_floatx=dtype is None and policy_defaults_to_floatx(),
            _autocast=kwargs.get("autocast", v2_dtype_behavior_enabled()),
        )
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            self._batch_input_shape = (kwargs.get("batch_size"), *kwargs["input_shape"])

    # Names

    def _init_set_name(self, name: str | None, zero_based: bool = True) -> None:
        self.__dict__["_name"] = name or unique_object_name(to_snake_case(type(self).__name__), zero_based=zero_based)

    def _name_scope(self) -> str:
        return self.name

    @property
    def name(self) -> str:  # type: ignore[override]
        """The layer's name, unique in its graph unless it was given."""
        return self._name

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        """The name of the type of the layer's variables: as given, or that of its first input."""
        return self._dtype_policy.variable_dtype

    @property
    def _dtype(self) -> Any:  # type: ignore[override]
        return self._dtype_policy.variable_dtype

    @_dtype.setter
    def _dtype(self, dtype: Any) -> None:
        self.__dict__["_dtype_policy"] = plain_policy("infer" if dtype is None else dtypes.as_dtype(dtype).name)

    @property
    def _compute_dtype(self) -> Any:
        """The name of the type that the layer computes in."""
        return self._dtype_policy.compute_dtype

    @property
    def dynamic(self) -> bool:
        """Whether `call` must run as Python each time."""
        return self._dynamic

    @property
    def activity_regularizer(self) -> Any:
        """A penalty on the outputs."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Callable[..., Any] | None) -> None:
        self.__dict__["_activity_regularizer"] = regularizer

    @property
    def input_spec(self) -> Any:
        """What the inputs have to be."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {spec}")
        self.__dict__["_input_spec"] = value

    # What subclasses say

    @_default
    def build(self, input_shape: Any) -> None:
        """Makes the variables, given the shape of the inputs."""
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """The outputs for inputs."""
        return inputs

    @_default
    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs."""
        if self.supports_masking:
            return mask
        if any(part is not None for part in nest.flatten(mask)):
            raise TypeError(f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}")
        return None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs for a shape of inputs."""
        if not executing_eagerly():
            raise NotImplementedError
        return self._shape_in_scratch_graph(input_shape)

    def _shape_in_scratch_graph(self, input_shape: Any) -> Any:
        """The shape that calling the layer on placeholders gives."""
        self._build_for(input_shape)
        # As in a function, tensors that were computed at once may be taken.
        with FuncGraph("scratch").as_default():
            given = map_shapes(lambda s: tf.placeholder(self.dtype or "float32", s), input_shape)
            arguments = {"training": False} if self._call_takes("training") else {}
            return nest.map_structure(lambda t: t.shape, self(given, **arguments))

    def _build_for(self, input_shape: Any) -> None:
        if not self.built:
            self.build(input_shape)
            self.built = True

    def compute_output_signature(self, input_signature: Any) -> Any:
        """The TensorSpecs of the outputs for those of the inputs."""
        for spec in nest.flatten(input_signature):
            if not isinstance(spec, TensorSpec):
                raise TypeError(f"Only TensorSpec signature types are supported, but saw signature signature entry: {spec}.")
        shape = self.compute_output_shape(nest.map_structure(lambda s: s.shape, input_signature))
        dtype = self._compute_dtype or nest.flatten(input_signature)[0].dtype
        return map_shapes(lambda s: TensorSpec(dtype=dtype, shape=s), shape)

    @_default
    def get_config(self) -> dict[str, Any]:
        """The arguments that make a layer like this one."""
        parameters = [
            p for p in inspect.signature(type(self).__init__).parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        ]
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        if self.dynamic:
            config["dynamic"] = True
        others = [p.name for p in parameters if p.name not in ("self", "dynamic", *config)]
        if others and hasattr(self.get_config, "_is_default"):
            raise NotImplementedError("Layers with arguments in `__init__` must override `get_config`.")
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A layer with the given arguments."""
        return cls(**config)

    # Calls

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """An older form of calling the layer."""
        return self.__call__(inputs, *args, **kwargs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        context = call_context()
        if executing_eagerly() and (graph := graph_of_any(inputs)) is not None:
            # Eager programs too connect layers in a graph.
            with graph.as_default():
                return self.__call__(inputs, *args, **kwargs)
        if any(isinstance(x, (np.ndarray, float, int)) for x in nest.flatten(inputs)):
            inputs = nest.map_structure(_as_tensor, inputs)
        if not executing_eagerly() and not context.in_call:
            from everflow.keras.op_layers import create_keras_history, needs_keras_history

            if needs_keras_history(inputs):
                create_keras_history(inputs)
        if executing_eagerly() and not context.in_call:
            # Losses are those of the last call.
            self._clear_losses()
        mask = self._mask_for(inputs, args, kwargs)
        explicit = dict(kwargs)
        if mask is not None and self._call_takes("mask") and not self._was_passed("mask", args, kwargs):
            kwargs["mask"] = mask
        training = self._training_for(args, kwargs, context)
        with context.enter(self, inputs, build_graph=not executing_eagerly(), training=training):
            assert_input_compatibility(self.input_spec, inputs, self.name)
            with name_scope(self._name_scope()):
                self._maybe_build(inputs)
                if context.on_call is not None:
                    context.on_call(self, inputs, args, kwargs)
                with self._reading_variables():
                    outputs = self._outputs_of_call(self._maybe_cast_inputs(inputs), args, kwargs)
                if outputs is None:
                    raise ValueError(f"A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: {self.name}).")
                if not executing_eagerly():
                    outputs = self._connect(inputs, outputs, self._arguments_by_name(args, explicit))
                self._handle_activity_regularization(inputs, outputs)
                self._set_masks(inputs, outputs, mask)
        return outputs

    def _reading_variables(self) -> Any:
        """The block that `call` runs in: variables are read as the type that the layer computes in."""
        graph = get_default_graph()
        if not self._dtype_policy.should_cast_variables and graph._auto_cast_variable_read_dtype is None:
            return _NOTHING
        return graph._enable_auto_casting_variables(self._compute_dtype)

    def _maybe_cast_inputs(self, inputs: Any) -> Any:
        """The inputs as the layer computes, where it casts floats among them."""
        wanted = self._compute_dtype
        if not self._autocast or wanted is None or not dtypes.as_dtype(wanted).is_floating:
            return inputs

        def cast(x: Any) -> Any:
            if not isinstance(x, (Tensor, SparseTensor, tf.RaggedTensor)) or not x.dtype.is_floating or x.dtype.base_dtype.name == wanted:
                return x
            if self._dtype_defaulted_to_floatx:
                self._warn_about_input_casting(x.dtype.base_dtype)
            return tf.cast(x, wanted)

        return nest.map_structure(cast, inputs)

    def _warn_about_input_casting(self, dtype: Any) -> None:
        if not self.__dict__.get("_warned_of_cast"):
            self.__dict__["_warned_of_cast"] = True
            tf.logging.warn(
                f"Layer {self.name} is casting an input tensor from dtype {dtype.name} to the layer's dtype of {self._compute_dtype}, "
                "which is new behavior in TensorFlow 2.  The layer has dtype "
                f"{self._compute_dtype} because it's dtype defaults to floatx.\n\nPass dtype='{dtype.name}' to the layer for what "
                "TensorFlow 1 did, call `tf.keras.backend.set_floatx` for all layers, or pass autocast=False to the constructor of the "
                "base Layer in a layer of your own."
            )

    def _outputs_of_call(self, inputs: Any, args: Any, kwargs: Any) -> Any:
        if self.dynamic and not executing_eagerly():
            return self._symbolic_call(inputs)
        call = self.call
        if not executing_eagerly() and not own_module(type(self)).startswith("everflow."):
            # A program's own layer may branch and loop on tensors.
            call = tf_convert(self.call, control_status_ctx())
        try:
            return call(inputs, *args, **kwargs)
        except OperatorNotAllowedInGraphError as e:
            raise TypeError(
                "You are attempting to use Python control flow in a layer that was not declared to be dynamic. Pass `dynamic=True` to the "
                f'class constructor.\nEncountered error:\n"""\n{e}\n"""'
            ) from e

    def _symbolic_call(self, inputs: Any) -> Any:
        """What stands for the outputs of a layer that only runs at once, while a model is built."""
        shape = self.compute_output_shape(nest.map_structure(lambda x: x.shape, inputs))
        return map_shapes(lambda s: tf.placeholder(self._compute_dtype or "float32", s), shape)

    def _call_parameters(self) -> tuple[str, ...]:
        found = self.__dict__.get("_call_parameters_")
        if found is None:
            signature = inspect.signature(self.call)
            found = self.__dict__["_call_parameters_"] = tuple(
                p.name for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
            )
        return found

    def _further_call_args(self) -> list[str]:
        """What `call` can't do without, besides its inputs."""
        found = self.__dict__.get("_further_call_args_")
        if found is None:
            parameters = list(inspect.signature(self.call).parameters.values())[1:]
            named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            found = self.__dict__["_further_call_args_"] = [
                p.name for p in parameters if p.kind in named and p.default is p.empty and p.name != "training"
            ]
        return found

    def _call_takes(self, name: str) -> bool:
        return name in self._call_parameters()

    @property
    def _call_fn_args(self) -> list[str]:
        return list(self._call_parameters())

    @property
    def _expects_training_arg(self) -> bool:
        return self._call_takes("training")

    @property
    def _expects_mask_arg(self) -> bool:
        return self._call_takes("mask")

    def _arguments_by_name(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """What a call was given beside the inputs, by name."""
        return {**dict(zip(self._call_parameters()[1:], args)), **kwargs}

    def _was_passed(self, name: str, args: Any, kwargs: Any) -> bool:
        return name in kwargs or name in self._call_parameters()[1 : 1 + len(args)]

    def _training_for(self, args: Any, kwargs: Any, context: Any) -> Any:
        """Whether this call is for training: as it was told, or as the call around it was."""
        if self._was_passed("training", args, kwargs):
            value = self._arguments_by_name(args, kwargs)["training"]
            if value is not None or not self._call_takes("training"):
                if not self._call_takes("training"):
                    kwargs.pop("training", None)
                return value
        value = context.training
        if value is None:
            value = known_phase()
        if value is not None and self._call_takes("training"):
            kwargs["training"] = value
        return value

    def _mask_for(self, inputs: Any, args: Any, kwargs: Any) -> Any:
        if self._was_passed("mask", args, kwargs):
            return self._arguments_by_name(args, kwargs)["mask"]
        masks = nest.map_structure(lambda t: getattr(t, "_keras_mask", None), inputs)
        return None if all(m is None for m in nest.flatten(masks)) else masks

    def _set_masks(self, inputs: Any, outputs: Any, mask: Any) -> None:
        flat = nest.flatten(outputs)
        if getattr(self, "_compute_output_and_mask_jointly", False) or all(getattr(x, "_keras_mask", None) is not None for x in flat):
            return
        if not (self.supports_masking or not hasattr(self.compute_mask, "_is_default")):
            return
        masks = self.compute_mask(inputs, mask)
        found = [None] * len(flat) if masks is None else nest.flatten(masks)
        for tensor, m in zip(flat, found):
            tensor._keras_mask = m

    def _where_built(self) -> Any:
        lifted = getattr(self, "_keras_style", True) and not executing_eagerly() and is_eager_outside()
        return init_scope() if lifted else contextlib.nullcontext()

    def _maybe_build(self, inputs: Any) -> None:
        if self.built:
            return
        flat = nest.flatten(inputs)
        if flat and self._compute_dtype is None and hasattr(flat[0], "dtype"):
            self.__dict__["_dtype_policy"] = with_input_dtype(self._dtype_policy, flat[0].dtype.base_dtype)
        if not hasattr(self.build, "_is_default"):
            shapes = None
            if all(hasattr(x, "shape") for x in flat):
                shapes = nest.map_structure(lambda x: x.shape, inputs)
            # In eager programs `build` runs eagerly, where the layer is connected in a graph too: it may look at values.
            with self._where_built():
                self.build(shapes)
        # A program's own `build` need not say it.
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None


def _as_tensor(x: Any) -> Any:
    return convert_to_tensor(x) if isinstance(x, (np.ndarray, float, int)) else x


def map_shapes(function: Any, shape: Any) -> Any:
    """A function of each shape in a structure; a tuple or list of sizes is one shape."""
    is_sizes = isinstance(shape, (tuple, list)) and all(s is None or isinstance(s, (int, np.integer, Dimension)) for s in shape)
    if isinstance(shape, TensorShape) or is_sizes:
        return function(TensorShape(shape))
    if isinstance(shape, dict):
        return {k: map_shapes(function, v) for k, v in shape.items()}
    return type(shape)(map_shapes(function, s) for s in shape)
