"""Layers without variables: dropout, masks, activations, shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.shapes import TensorShape
from everflow.keras import regularizers
from everflow.keras.backend.learning_phase import learning_phase
from everflow.keras.backend.session import track_variable
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer, map_shapes
from everflow.keras.serialization import has_arg
from everflow.keras.shape_methods import of_tuples
from everflow.keras.window_arithmetic import normalize_data_format
from everflow.runtime.smart_conditionals import smart_cond


@public("keras.layers.Masking")
class Masking(ConfiguredLayer):
    """Masks the time steps in which all features have one value."""

    def __init__(self, mask_value: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(locals())
        self.supports_masking = self._compute_output_and_mask_jointly = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        kept = tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        outputs = inputs * tf.cast(kept, inputs.dtype)
        outputs._keras_mask = tf.squeeze(kept, axis=-1)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


@public("keras.layers.Dropout")
class Dropout(ConfiguredLayer):
    """Sets a part of the inputs to zero while training."""

    def __init__(self, rate: Any, noise_shape: Any = None, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(locals())
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        sizes = tf.shape(inputs)
        return tf.convert_to_tensor([sizes[i] if value is None else value for i, value in enumerate(self.noise_shape)])

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        return smart_cond(
            learning_phase() if training is None else training,
            lambda: tf.nn.dropout(inputs, rate=self.rate, seed=self.seed, noise_shape=self._get_noise_shape(inputs)),
            lambda: tf.identity(inputs),
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


@public("keras.layers.SpatialDropout1D")
class SpatialDropout1D(Dropout):
    """Sets whole channels of sequences to zero while training."""

    def __init__(self, rate: Any, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs: Any) -> Any:
        sizes = tf.shape(inputs)
        return (sizes[0], 1, sizes[2])


class _SpatialDropout(Dropout):
    """Sets whole channels to zero, wherever the data format has them."""

    _rank = 4

    def __init__(self, rate: Any, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank)

    def _get_noise_shape(self, inputs: Any) -> Any:
        sizes = tf.shape(inputs)
        ones = (1,) * (self._rank - 2)
        if self.data_format == "channels_first":
            return (sizes[0], sizes[1], *ones)
        return (sizes[0], *ones, sizes[self._rank - 1])


@public("keras.layers.SpatialDropout2D")
class SpatialDropout2D(_SpatialDropout):
    """Sets whole channels of images to zero while training."""


@public("keras.layers.SpatialDropout3D")
class SpatialDropout3D(_SpatialDropout):
    """Sets whole channels of volumes to zero while training."""

    _rank = 5


@public("keras.layers.Activation")
class Activation(ConfiguredLayer):
    """An activation function as a layer."""

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(locals())
        self.supports_masking = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


@public("keras.layers.Reshape")
class Reshape(ConfiguredLayer):
    """Gives each element of the batch another shape."""

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep({"target_shape": tuple(target_shape)})

    def _fixed(self, input_shape: Any, output_shape: Any) -> list[Any]:
        """The output shape with the size that -1 stands for."""
        known, unknown = 1, None
        found = list(output_shape)
        for i, size in enumerate(found):
            if size < 0:
                if unknown is not None:
                    raise ValueError("Can only specify one unknown dimension.")
                unknown = i
            else:
                known *= size
        total = int(np.prod(input_shape, dtype=int))
        if unknown is not None:
            if known == 0 or total % known:
                raise ValueError("total size of new array must be unchanged")
            found[unknown] = total // known
        elif total != known:
            raise ValueError("total size of new array must be unchanged")
        return found

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        if None in sizes[1:]:
            return TensorShape([sizes[0], *(s if s != -1 else None for s in self.target_shape)])
        return TensorShape([sizes[0], *self._fixed(sizes[1:], self.target_shape)])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.reshape(inputs, (tf.shape(inputs)[0], *self.target_shape))


@public("keras.layers.Permute")
class Permute(ConfiguredLayer):
    """Reorders the axes after the first, which are counted from one."""

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        rank = len(dims) + 1
        if set(dims) != set(range(1, rank)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in `dims` must be consecutive and start from 1."
            )
        self._keep({"dims": tuple(dims)})
        self.input_spec = InputSpec(ndim=rank)

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], *(sizes[d] for d in self.dims)])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.transpose(inputs, perm=(0, *self.dims))


@public("keras.layers.Flatten")
class Flatten(ConfiguredLayer):
    """All axes but the first as one."""

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep({"data_format": normalize_data_format(data_format)})
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = tf.transpose(inputs, perm=[0, *range(2, rank), 1])
        batch = inputs.shape.as_list()[0] if rank is not None else None
        outputs = tf.reshape(inputs, (batch if batch is not None else tf.shape(inputs)[0], -1))
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        if not sizes:
            raise ValueError("Cannot flatten a scalar.")
        rest = TensorShape(sizes[1:]).num_elements()
        return TensorShape([sizes[0], rest])


@public("keras.layers.RepeatVector")
class RepeatVector(ConfiguredLayer):
    """Each vector n times, along a new axis."""

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(locals())
        self.input_spec = InputSpec(ndim=2)

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], self.n, sizes[1]])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.tile(tf.expand_dims(inputs, 1), tf.stack([1, self.n, 1]))


@public("keras.layers.ActivityRegularization")
class ActivityRegularization(ConfiguredLayer):
    """Adds a penalty on its inputs to the loss."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self._keep(locals())
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


@public("keras.layers.Lambda")
class Lambda(Layer):
    """A function as a layer."""

    def __init__(self, function: Any, output_shape: Any = None, mask: Any = None, arguments: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.function = function
        self.arguments = arguments if arguments else {}
        self.supports_masking = mask is not None
        self.mask = mask
        self._output_shape = output_shape if output_shape is None or callable(output_shape) else tuple(output_shape)
        # By the name that the function gave: a variable is made at the first call only.
        self.__dict__["_made_variables"] = {}

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        if self._output_shape is None:
            return self._shape_in_scratch_graph(input_shape)
        if callable(self._output_shape):
            return self._output_shape(input_shape)
        batch: list[Any] = []
        map_shapes(lambda s: batch.append(s.as_list()[0]), input_shape)
        return map_shapes(lambda s: TensorShape([batch[0], *s.as_list()]), self._output_shape)

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:  # type: ignore[override]
        known = {"mask": mask, "training": training}
        asked_for = {name: value for name, value in known.items() if has_arg(self.function, name)}
        with tf.variable_creator_scope(self._variable):
            return self.function(inputs, **{**self.arguments, **asked_for})

    def _variable(self, make: Any, **kwargs: Any) -> Any:
        """A variable of the function, which belongs to the layer."""
        made, name = self.__dict__["_made_variables"], kwargs.get("name")
        if name not in made:
            made[name] = variable = make(**kwargs)
            (self._trainable_weights if variable.trainable else self._non_trainable_weights).append(variable)
            track_variable(variable)
        return made[name]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self) -> dict[str, Any]:
        from everflow.keras.function_code import described

        function, function_type, module = described(self.function)
        output_shape, output_shape_type, output_shape_module = (
            described(self._output_shape) if callable(self._output_shape) else (self._output_shape, "raw", None)
        )
        mask = {} if self.mask is None else dict(zip(("mask", "mask_type", "mask_module"), described(self.mask)))
        return {
            **super().get_config(),
            **mask,
            "function": function,
            "function_type": function_type,
            "module": module,
            "output_shape": output_shape,
            "output_shape_type": output_shape_type,
            "output_shape_module": output_shape_module,
            "arguments": self.arguments,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Lambda:
        from everflow.keras.function_code import found

        config = dict(config)
        config["function"] = found(config["function"], config.pop("function_type"), config.pop("module", None), custom_objects)
        kind, module = config.pop("output_shape_type"), config.pop("output_shape_module", None)
        if kind != "raw":
            config["output_shape"] = found(config["output_shape"], kind, module, custom_objects)
        if "mask" in config:
            config["mask"] = found(config["mask"], config.pop("mask_type"), config.pop("mask_module", None), custom_objects)
        arguments = config.get("arguments") or {}
        config["arguments"] = {
            k: np.array(v["value"]) if isinstance(v, dict) and v.get("type") == "ndarray" else v for k, v in arguments.items()
        }
        return cls(**config)
