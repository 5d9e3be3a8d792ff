"""What every layer has to do: keep its weights, say its shape, come back from its config, train and stand in a model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.keras.layer_serialization import deserialize
from everflow.keras.testing.modes import _settings
from everflow.keras.v2_dtypes import v2_dtype_behavior


def _random_input(shape: Any, dtype: str) -> Any:
    filled = [np.random.randint(1, 4) if size is None else size for size in shape]
    data = 10 * np.random.random(filled)
    return (data - 0.5 if dtype.startswith("float") else data).astype(dtype)


def _agree(expected: Any, found: Any) -> None:
    for wanted, size in zip(expected, found):
        if wanted is not None and wanted != size:
            raise AssertionError(f"The layer gives the shape {tuple(found)}, and said {tuple(expected)}.")


@internal("keras.testing_utils.layer_test")
def layer_test(
    layer_cls: Any,
    kwargs: Any = None,
    input_shape: Any = None,
    input_dtype: Any = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: Any = None,
    expected_output_shape: Any = None,
    validate_training: bool = True,
    adapt_data: Any = None,
) -> Any:
    """Checks a layer in every way; returns what it gave for the input."""
    if input_data is None:
        input_data = _random_input(input_shape, input_dtype or "float32")
    elif input_shape is None:
        input_shape = input_data.shape
    dtype = input_dtype or input_data.dtype
    dtype = getattr(dtype, "name", dtype)
    kwargs = kwargs or {}
    layer = layer_cls(**kwargs)
    layer.set_weights(layer.get_weights())
    layer = layer_cls(**{**kwargs, "weights": layer.get_weights()}) if "weights" in _parameters(layer_cls) else layer_cls(**kwargs)

    x = tf.keras.Input(shape=input_shape[1:], dtype=dtype)
    y = layer(x)
    wanted_dtype = expected_output_dtype or dtype
    if tf.as_dtype(tf.keras.backend.dtype(y)) != tf.as_dtype(wanted_dtype):
        raise AssertionError(f"{layer_cls.__name__} gives {tf.keras.backend.dtype(y)}, and not {wanted_dtype}.")
    model = tf.keras.Model(x, y)
    computed = tuple(layer.compute_output_shape(tf.TensorShape(input_shape)).as_list())
    signature = layer.compute_output_signature(tf.TensorSpec(shape=input_shape, dtype=dtype))
    actual = model.predict(input_data)
    _agree(computed, actual.shape)
    _agree(signature.shape.as_list(), actual.shape)
    if tf.as_dtype(signature.dtype) != tf.as_dtype(actual.dtype) and tf.as_dtype(signature.dtype) != tf.as_dtype(wanted_dtype):
        raise AssertionError(f"{layer_cls.__name__} says that it gives {signature.dtype}, and gives {actual.dtype}.")
    if expected_output is not None:
        np.testing.assert_allclose(actual, expected_output, rtol=2e-3, atol=1e-4)

    config = model.get_config()
    again = tf.keras.Model.from_config(config)
    if model.weights:
        again.set_weights(model.get_weights())
        np.testing.assert_allclose(again.predict(input_data), actual, rtol=1e-3, atol=1e-5)

    model = tf.keras.Model(x, layer(x))
    if validate_training:
        _train(model, input_data, actual)

    # In a Sequential model, and with a layer that came back from its config.
    layer = deserialize(
        {"class_name": layer_cls.__name__, "config": {**layer_cls(**kwargs).get_config(), "batch_input_shape": input_shape}},
        custom_objects={layer_cls.__name__: layer_cls},
    )
    model = tf.keras.Sequential([tf.keras.Input(shape=input_shape[1:], dtype=dtype), layer])
    found = model.predict(input_data)
    _agree(model.compute_output_shape(tf.TensorShape(input_shape)).as_list(), found.shape)
    if expected_output is not None:
        np.testing.assert_allclose(found, expected_output, rtol=2e-3, atol=1e-4)
    again = tf.keras.Sequential.from_config(model.get_config())
    if model.weights:
        again.set_weights(model.get_weights())
        np.testing.assert_allclose(again.predict(input_data), found, rtol=1e-3, atol=1e-5)
    return found


def _train(model: Any, x: Any, y: Any) -> None:
    model.compile(
        "rmsprop",
        "mse",
        weighted_metrics=["acc"],
        run_eagerly=_settings.run_eagerly and tf.executing_eagerly(),
        experimental_run_tf_function=bool(_settings.run_tf_function),
    )
    model.train_on_batch(x, y)


def _parameters(cls: Any) -> Any:
    return inspect.signature(cls).parameters


def _with_v2_dtypes(function: Any, enabled: bool) -> Any:
    @functools.wraps(function)
    def ran(*args: Any, **kwargs: Any) -> Any:
        with v2_dtype_behavior(enabled):
            return function(*args, **kwargs)

    return ran


@internal("keras.testing_utils.enable_v2_dtype_behavior")
def enable_v2_dtype_behavior(fn: Callable[..., Any]) -> Any:
    """A test in which layers are of the float type unless told otherwise."""
    return _with_v2_dtypes(fn, True)


@internal("keras.testing_utils.disable_v2_dtype_behavior")
def disable_v2_dtype_behavior(fn: Callable[..., Any]) -> Any:
    """A test in which layers are of the type of their inputs."""
    return _with_v2_dtypes(fn, False)
