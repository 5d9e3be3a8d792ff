"""Batch normalization."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.strategy_context import get_strategy, has_strategy
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import colocate_with, init_scope, name_scope
from everflow.graph.shapes import TensorShape
from everflow.keras.backend.graph import model_graph_around
from everflow.keras.backend.learning_phase import learning_phase
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer
from everflow.ops.variables.variables import Variable, VariableAggregation, VariableSynchronization
from everflow.runtime.smart_conditionals import smart_cond, smart_constant_value

# The bounds that batch renormalization may have: of the correction's factor, and of its offset.
_CLIPPINGS = ["rmax", "rmin", "dmax"]


def _checked_axes(given: Any, rank: int, shown_as: type = list) -> list[int]:
    """Axes counted from the first."""
    axes = [axis + rank if axis < 0 else axis for axis in ([given] if isinstance(given, int) else given)]
    for axis in axes:
        if not 0 <= axis < rank:
            raise ValueError(f"Invalid axis: {axis}")
    if len(axes) != len(set(axes)):
        raise ValueError(f"Duplicate axis: {shown_as(axes)}")
    return axes


@internal("keras.layers.normalization.BatchNormalizationBase")
class BatchNormalizationBase(ConfiguredLayer):
    """Brings each channel to mean zero and variance one, by the batch while training and by moving averages otherwise."""

    # The fused op divides by one less than the number of samples, the others by the number itself.
    _bessels_correction_test_only = True

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: Any = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        # A list of the program's may change.
        own = {**locals(), "axis": axis if isinstance(axis, int) else list(axis), "fused": fused is None or fused}
        if renorm:
            own["renorm_clipping"] = renorm_clipping or {}
            if not set(own["renorm_clipping"]) <= set(_CLIPPINGS):
                raise ValueError(f"renorm_clipping {renorm_clipping} contains keys not in {_CLIPPINGS}")
        self._keep(own, *(() if renorm else ("renorm_clipping", "renorm_momentum")))
        self._leave_out("fused", "adjustment", *(name for name in ("renorm", "virtual_batch_size") if not own[name]))
        self.supports_masking = True

    @property
    def _param_dtype(self) -> dtypes.DType:
        """The type of the statistics: half precision would lose them."""
        if self._compute_dtype in ("float16", "bfloat16"):
            return dtypes.float32
        return dtypes.as_dtype(self.dtype or "float32")

    # Building

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if shape.rank is None:
            raise ValueError("Input has undefined rank:", shape)
        rank = shape.rank
        self.axis = _checked_axes(self.axis, rank)
        if self.virtual_batch_size is not None:
            if self.virtual_batch_size <= 0:
                raise ValueError("virtual_batch_size must be a positive integer that divides the true batch size of the input Tensor")
            if self.adjustment is not None:
                raise ValueError("When using virtual_batch_size, adjustment cannot be specified")
        self.fused = bool(self.fused) and self._can_be_fused(rank)
        if self.fused:
            self._data_format = "NCHW" if list(self.axis) == [1] else "NHWC"
        sizes = {axis: shape.as_list()[axis] for axis in self.axis}
        if any(size is None for size in sizes.values()):
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", shape)
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        if len(sizes) == 1 and self.virtual_batch_size is None:
            parameters: tuple[Any, ...] = tuple(sizes.values())
        else:
            parameters = tuple(sizes.get(i, 1) for i in range(rank))
            if self.virtual_batch_size is not None:
                parameters = (*parameters[:1], 1, *parameters[1:])
                self.axis = [axis + 1 for axis in self.axis]
        self._add_parameters(parameters)
        # The statistics of parts could not be put together.
        scope = getattr(self, "_scope", None)
        partitioner = scope.partitioner if scope else None
        if scope:
            scope.set_partitioner(None)
        try:
            self._add_statistics(parameters)
        finally:
            if scope and partitioner:
                scope.set_partitioner(partitioner)
        self.built = True

    def _can_be_fused(self, rank: int) -> bool:
        plain = not self.renorm and self.virtual_batch_size is None and self.adjustment is None
        return plain and rank == 4 and list(self.axis) in ([1], [3])

    def _add_parameters(self, shape: Any) -> None:
        settings: dict[str, Any] = {"dtype": self._param_dtype, "experimental_autocast": False}
        for name, used, without in (("gamma", self.scale, 1.0), ("beta", self.center, 0.0)):
            setattr(self, name, self._weight(name, shape, **settings) if used else None)
            if self.fused and not used:
                setattr(self, f"_{name}_const", tf.constant(without, dtype=self._param_dtype, shape=shape))

    def _add_statistics(self, shape: Any) -> None:
        def statistic(name: str, initializer: Any) -> Any:
            return self.add_weight(
                name=name,
                shape=shape,
                dtype=self._param_dtype,
                initializer=initializer,
                synchronization=VariableSynchronization.ON_READ,
                trainable=False,
                aggregation=VariableAggregation.MEAN,
                experimental_autocast=False,
            )

        self.moving_mean = statistic("moving_mean", self.moving_mean_initializer)
        self.moving_variance = statistic("moving_variance", self.moving_variance_initializer)
        if self.renorm:

            def stddev_initializer(*args: Any, **kwargs: Any) -> Any:
                return tf.sqrt(self.moving_variance_initializer(*args, **kwargs))

            self.moving_stddev = statistic("moving_stddev", stddev_initializer)
            self.renorm_mean = statistic("renorm_mean", self.moving_mean_initializer)
            self.renorm_stddev = statistic("renorm_stddev", stddev_initializer)

    # Moving averages

    def _size_if_it_may_be_zero(self, inputs: Any) -> Any:
        """The size of a batch, where a strategy gives replicas that have no data left batches without rows; else None."""
        is_possible = has_strategy() and getattr(get_strategy().extended, "experimental_enable_get_next_as_optional", False)
        return tf.size(inputs) if is_possible else None

    def _assign_moving_average(self, variable: Any, value: Any, momentum: Any, inputs_size: Any = None) -> Any:
        with name_scope(None, "AssignMovingAvg", [variable, value, momentum]) as scope, colocate_with(variable):
            decay = convert_to_tensor(1.0 - momentum, name="decay")
            if decay.dtype != variable.dtype.base_dtype:
                decay = tf.cast(decay, variable.dtype.base_dtype)
            delta = (variable - tf.cast(value, variable.dtype.base_dtype)) * decay
            if inputs_size is not None:
                delta = tf.where(inputs_size > 0, delta, tf.zeros_like(delta))
            return tf.assign_sub(variable, delta, name=scope)

    def _assign_new_value(self, variable: Any, value: Any) -> Any:
        with name_scope(None, "AssignNewValue", [variable, value]) as scope, colocate_with(variable):
            return tf.assign(variable, value, name=scope)

    # Calls

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        training = self._get_training_value(training)
        if self.fused:
            return self._fused_batch_norm(inputs, training)
        if self.virtual_batch_size is None:
            return self._normalized(inputs, training)
        original = [-1, *inputs.shape.as_list()[1:]]
        inputs = tf.reshape(inputs, [self.virtual_batch_size, -1, *original[1:]])
        return tf.reshape(self._normalized(inputs, training), original)

    def _get_training_value(self, training: Any = None) -> Any:
        if training is None:
            training = learning_phase()
        return training.value() if isinstance(training, Variable) else training

    def _moments(self, inputs: Any, reduction_axes: Any, keep_dims: bool) -> tuple[Any, Any]:
        """The batch's mean and variance; subclasses put those of several processes together here."""
        return tf.nn.moments(inputs, reduction_axes, keep_dims=keep_dims)

    def _fused_batch_norm(self, inputs: Any, training: Any) -> Any:
        gamma = self.gamma if self.scale else self._gamma_const
        beta = self.beta if self.center else self._beta_const

        def by_batch() -> Any:
            return tf.nn.fused_batch_norm(inputs, gamma, beta, epsilon=self.epsilon, data_format=self._data_format)

        def by_averages() -> Any:
            return tf.nn.fused_batch_norm(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=self.moving_variance,
                epsilon=self.epsilon,
                is_training=False,
                data_format=self._data_format,
            )

        outputs, mean, variance = smart_cond(training, by_batch, by_averages)
        if not self._bessels_correction_test_only:
            samples = tf.cast(tf.size(inputs) / tf.size(variance), variance.dtype)
            variance = variance * ((samples - 1) / samples)
        is_training = smart_constant_value(training)
        if is_training is None:
            momentum = smart_cond(training, lambda: tf.constant(self.momentum), lambda: tf.constant(1.0))
        else:
            momentum = convert_to_tensor(self.momentum)
        if is_training is not False:
            size = self._size_if_it_may_be_zero(inputs)
            self.add_update(lambda: self._assign_moving_average(self.moving_mean, mean, momentum, size))
            self.add_update(lambda: self._assign_moving_average(self.moving_variance, variance, momentum, size))
        return outputs

    def _normalized(self, inputs: Any, training: Any) -> Any:
        shape = inputs.shape
        rank = len(shape)
        reduced = [i for i in range(rank) if i not in self.axis]
        if self.virtual_batch_size is not None:
            del reduced[1]
        broadcast_shape = [1] * rank
        broadcast_shape[self.axis[0]] = shape.as_list()[self.axis[0]]

        def broadcast(v: Any) -> Any:
            if v is not None and len(v.shape) != rank and reduced != list(range(rank - 1)):
                return tf.reshape(v, broadcast_shape)
            return v

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        is_training = smart_constant_value(training)
        if is_training is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment:
                adjusted_scale, adjusted_offset = self._adjustment(inputs, training)
                scale, offset = _after(adjusted_scale, adjusted_offset, scale, offset)
            keeps_dims = self.virtual_batch_size is not None or len(self.axis) > 1
            batch_mean, batch_variance = self._moments(tf.cast(inputs, self._param_dtype), reduced, keep_dims=keeps_dims)
            size = self._size_if_it_may_be_zero(inputs)
            if size is not None:
                batch_mean, batch_variance = (tf.where(size > 0, v, tf.zeros_like(v)) for v in (batch_mean, batch_variance))
            mean = smart_cond(training, lambda: batch_mean, lambda: convert_to_tensor(self.moving_mean))
            variance = smart_cond(training, lambda: batch_variance, lambda: convert_to_tensor(self.moving_variance))
            new_mean, new_variance = mean, variance
            if self.virtual_batch_size is not None:
                new_mean = tf.reduce_mean(mean, axis=1, keepdims=True)
                new_variance = tf.reduce_mean(variance, axis=1, keepdims=True)
            if self.renorm:
                r, d, new_mean, new_variance = self._renorm_correction_and_moments(new_mean, new_variance, training)
                r, d = broadcast(tf.stop_gradient(r, name="renorm_r")), broadcast(tf.stop_gradient(d, name="renorm_d"))
                scale, offset = _after(r, d, scale, offset)
            self._add_updates(new_mean, new_variance, training, size)
        mean, variance = tf.cast(mean, inputs.dtype), tf.cast(variance, inputs.dtype)
        offset = None if offset is None else tf.cast(offset, inputs.dtype)
        scale = None if scale is None else tf.cast(scale, inputs.dtype)
        outputs = tf.nn.batch_normalization(inputs, broadcast(mean), broadcast(variance), offset, scale, self.epsilon)
        outputs.set_shape(shape)
        return outputs

    def _adjustment(self, inputs: Any, training: Any) -> tuple[Any, Any]:
        scale, offset = self.adjustment(tf.shape(inputs))
        return (
            smart_cond(training, lambda: scale, lambda: tf.ones_like(scale)),
            smart_cond(training, lambda: offset, lambda: tf.zeros_like(offset)),
        )

    def _add_updates(self, mean: Any, variance: Any, training: Any, size: Any) -> None:
        def update_mean() -> Any:
            return smart_cond(
                training, lambda: self._assign_moving_average(self.moving_mean, mean, self.momentum, size), lambda: self.moving_mean
            )

        def new_variance() -> Any:
            if not self.renorm:
                return self._assign_moving_average(self.moving_variance, variance, self.momentum, size)
            # The average is of deviations; the variance follows from it.
            deviation = self._assign_moving_average(self.moving_stddev, tf.sqrt(variance + self.epsilon), self.momentum, size)
            return self._assign_new_value(self.moving_variance, tf.nn.relu(deviation * deviation - self.epsilon))

        def update_variance() -> Any:
            return smart_cond(training, new_variance, lambda: self.moving_variance)

        self.add_update(update_mean)
        self.add_update(update_variance)

    def _renorm_correction_and_moments(self, mean: Any, variance: Any, training: Any) -> tuple[Any, Any, Any, Any]:
        """The corrections r and d of batch renormalization, and the moments after its averages are updated."""
        deviation = tf.sqrt(variance + self.epsilon)
        known_mean = self.renorm_mean
        known_deviation = tf.maximum(self.renorm_stddev, tf.sqrt(self.epsilon))
        r = deviation / known_deviation
        d = (mean - known_mean) / known_deviation
        # The corrections come from the averages before this batch.
        with tf.control_dependencies([r, d]):
            mean, deviation = tf.identity(mean), tf.identity(deviation)
        rmin, rmax, dmax = (self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        if rmin is not None:
            r = tf.maximum(r, rmin)
        if rmax is not None:
            r = tf.minimum(r, rmax)
        if dmax is not None:
            d = tf.maximum(d, -dmax)
            d = tf.minimum(d, dmax)
        corrections = (r, d)
        r = smart_cond(training, lambda: corrections[0], lambda: tf.ones_like(corrections[0]))
        d = smart_cond(training, lambda: corrections[1], lambda: tf.zeros_like(corrections[1]))

        def updated(variable: Any, value: Any) -> Any:
            value = tf.identity(value)
            return smart_cond(
                training, lambda: self._assign_moving_average(variable, value, self.renorm_momentum), lambda: tf.identity(variable)
            )

        with tf.control_dependencies([updated(self.renorm_mean, mean), updated(self.renorm_stddev, deviation)]):
            return r, d, tf.identity(mean), tf.identity(variance)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


def _after(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    """One scale and offset for two in a row."""
    if then_scale is not None:
        scale = scale * then_scale
        offset = offset * then_scale
    if then_offset is not None:
        offset = offset + then_offset
    return scale, offset


@public("keras.layers.BatchNormalization")
class BatchNormalization(BatchNormalizationBase):
    """Brings each channel to mean zero and variance one."""


@public("compat.v2.keras.layers.BatchNormalization")
@internal("keras.layers.normalization_v2.BatchNormalization")
class BatchNormalizationV2(BatchNormalizationBase):
    """Brings each channel to mean zero and variance one; by moving averages where the layer is not trainable."""

    _USE_V2_BEHAVIOR = True
    _trainable_var: Any

    def __init__(self, axis: Any = -1, *args: Any, fused: Any = None, **kwargs: Any) -> None:
        super().__init__(axis, *args, **{**kwargs, "fused": fused})
        self._must_be_fused = bool(fused)
        if fused:
            self._check_that_it_can_be_fused()

    def _check_that_it_can_be_fused(self) -> None:
        if self.renorm:
            raise ValueError("Passing both fused=True and renorm=True is unsupported")
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        if len(axes) > 1 or axes[0] not in (-3, -1, 1, 3):
            raise ValueError("Passing fused=True is only supported when axis is 1 or 3")
        for name in ("virtual_batch_size", "adjustment"):
            if getattr(self, name) is not None:
                raise ValueError(f"Passing fused=True is unsupported when {name} is specified.")

    def _can_be_fused(self, rank: int) -> bool:
        if self._must_be_fused and rank != 4:
            raise ValueError("Batch normalization layers with fused=True only support 4D input tensors.")
        return super()._can_be_fused(rank)

    def _get_training_value(self, training: Any = None) -> Any:
        training = super()._get_training_value(training)
        training = bool(training) if isinstance(training, int) else training
        if training is False or model_graph_around() is None:
            return training if self.trainable else False
        # The graph of a model outlives a change of `trainable`, so it asks at each step.
        if "_trainable_var" not in self.__dict__:
            with init_scope():
                self.__dict__["_trainable_var"] = tf.Variable(self.trainable, trainable=False, name="trainable")
        return tf.logical_and(training, self._trainable_var)

    @property
    def trainable(self) -> bool:
        """Whether training changes the layer's variables, and normalizes by the batch."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        Layer.trainable.fset(self, value)  # type: ignore[attr-defined]
        if "_trainable_var" in self.__dict__:
            with init_scope():
                self._trainable_var.assign(value)


BatchNormalizationV2.__name__ = BatchNormalizationV2.__qualname__ = "BatchNormalization"


@public("keras.layers.LayerNormalization")
class LayerNormalization(ConfiguredLayer):
    """Brings each example to mean zero and variance one over some axes."""

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError("Expected an int or a list/tuple of ints for the argument 'axis', but received instead: %s" % axis)  # noqa: UP031
        self._keep({**locals(), "axis": axis if isinstance(axis, int) else list(axis)})
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if shape.rank is None:
            raise ValueError(f"Input shape {shape} has undefined rank.")
        self.axis = _checked_axes(self.axis, shape.rank, tuple)
        sizes = [shape.as_list()[axis] for axis in self.axis]
        for name, used in (("gamma", self.scale), ("beta", self.center)):
            setattr(self, name, self._weight(name, sizes) if used else None)
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        axes, rank = list(self.axis), len(inputs.shape)
        mean, variance = tf.nn.moments(inputs, axes, keep_dims=True)
        parameters = {"scale": self.gamma, "offset": self.beta}
        if axes != [rank - 1]:
            sizes = [size if axis in axes else 1 for axis, size in enumerate(inputs.shape.as_list())]
            parameters = {name: v if v is None or len(v.shape) == rank else tf.reshape(v, sizes) for name, v in parameters.items()}
        outputs = tf.nn.batch_normalization(inputs, mean, variance, variance_epsilon=self.epsilon, **parameters)
        outputs.set_shape(inputs.shape)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape
