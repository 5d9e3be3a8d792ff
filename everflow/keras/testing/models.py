"""Small models of every kind, and data to train them with."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.eager.context import executing_eagerly
from everflow.keras.testing.modes import get_model_type


@internal("keras.testing_utils.get_test_data")
def get_test_data(train_samples: int, test_samples: int, input_shape: Any, num_classes: int, random_seed: Any = None) -> Any:
    """(x, y) to train with and (x, y) to test with: noise around a point of each class."""
    if random_seed is not None:
        np.random.seed(random_seed)
    points = np.random.random((num_classes, *input_shape)) * (2 * num_classes)
    y = np.random.randint(0, num_classes, size=train_samples + test_samples)
    x = (points[y] + np.random.normal(scale=0.1, size=(len(y), *input_shape))).astype(np.float32)
    (train_x, test_x), (train_y, test_y) = (np.split(part, [train_samples]) for part in (x, y))
    return (train_x, train_y), (test_x, test_y)


def _dense_layers(num_hidden: int, num_classes: int) -> list[Any]:
    layers = tf.keras.layers
    last = 1 if num_classes == 1 else num_classes
    return [layers.Dense(num_hidden, activation="relu"), layers.Dense(last, activation="sigmoid" if num_classes == 1 else "softmax")]


@internal("keras.testing_utils.get_small_sequential_mlp")
def get_small_sequential_mlp(num_hidden: int, num_classes: int, input_dim: Any = None) -> Any:
    """Two dense layers, one after the other."""
    model = tf.keras.models.Sequential()
    first, last = _dense_layers(num_hidden, num_classes)
    model.add(tf.keras.layers.Dense(num_hidden, activation="relu", input_dim=input_dim) if input_dim else first)
    model.add(last)
    return model


@internal("keras.testing_utils.get_small_functional_mlp")
def get_small_functional_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """Two dense layers, connected."""
    inputs = tf.keras.Input(shape=(input_dim,))
    outputs = inputs
    for layer in _dense_layers(num_hidden, num_classes):
        outputs = layer(outputs)
    return tf.keras.Model(inputs, outputs)


@internal("keras.testing_utils.get_small_subclass_mlp")
def get_small_subclass_mlp(num_hidden: int, num_classes: int) -> Any:
    """Two dense layers that a model's own `call` uses."""
    return _in_order(_dense_layers(num_hidden, num_classes))


@internal("keras.testing_utils.get_small_subclass_mlp_with_custom_build")
def get_small_subclass_mlp_with_custom_build(num_hidden: int, num_classes: int) -> Any:
    """Two dense layers that a model's own `build` makes."""
    return _built_in_order(lambda: _dense_layers(num_hidden, num_classes))


@internal("keras.testing_utils.get_small_mlp")
def get_small_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """Two dense layers in a model of the kind that the test asks for."""
    kind = get_model_type()
    of_class = {"subclass": get_small_subclass_mlp, "subclass_custom_build": get_small_subclass_mlp_with_custom_build}
    if kind in of_class:
        return of_class[kind](num_hidden, num_classes)
    connected = {"sequential": get_small_sequential_mlp, "functional": get_small_functional_mlp}
    if kind not in connected:
        raise ValueError(f"Unknown model type {kind}")
    return connected[kind](num_hidden, num_classes, input_dim)


def _in_order(layers: Any, **kwargs: Any) -> Any:
    class InOrder(tf.keras.Model):  # type: ignore[misc]
        """Layers that `call` uses one after the other."""

        def __init__(self) -> None:
            inputs = kwargs.pop("inputs", None)
            super().__init__(**kwargs)
            for i, layer in enumerate(layers):
                setattr(self, f"layer_{i}", layer)
            self.num_layers = len(layers)
            if inputs is not None:
                self._set_inputs(inputs)

        def call(self, inputs: Any, **_: Any) -> Any:  # type: ignore[override]
            x = inputs
            for i in range(self.num_layers):
                x = getattr(self, f"layer_{i}")(x)
            return x

    return InOrder()


def _built_in_order(make: Any, **kwargs: Any) -> Any:
    class BuiltInOrder(tf.keras.Model):  # type: ignore[misc]
        """Layers that `build` makes."""

        def __init__(self) -> None:
            super().__init__(**kwargs)
            self.all_layers: Any = None

        def build(self, input_shape: Any) -> None:
            self.all_layers = list(make())
            self.built = True

        def call(self, inputs: Any, **_: Any) -> Any:  # type: ignore[override]
            x = inputs
            for layer in self.all_layers:
                x = layer(x)
            return x

    return BuiltInOrder()


@internal("keras.testing_utils.get_model_from_layers")
def get_model_from_layers(
    layers: Any,
    input_shape: Any = None,
    input_dtype: Any = None,
    name: str | None = None,
    input_ragged: Any = None,
    input_sparse: Any = None,
) -> Any:
    """A model of the kind that the test asks for, of layers that follow each other."""
    kind = get_model_type()
    described: dict[str, Any] = {"dtype": input_dtype, "ragged": bool(input_ragged), "sparse": bool(input_sparse)}
    if kind == "subclass":
        composite = input_ragged or input_sparse
        return _in_order(layers, name=name, inputs=tf.keras.Input(shape=input_shape, **described) if composite else None)
    if kind == "subclass_custom_build":
        return _built_in_order(lambda: layers, name=name)
    if kind == "sequential":
        first = [] if input_shape is None else [tf.keras.layers.InputLayer(input_shape=input_shape, **described)]
        return tf.keras.models.Sequential([*first, *layers], name=name)
    if kind != "functional":
        raise ValueError(f"Unknown model type {kind}")
    if input_shape is None:
        raise ValueError("Cannot create a functional model from layers with no input shape.")
    inputs = tf.keras.Input(shape=input_shape, **described)
    return tf.keras.Model(inputs, _through(layers, inputs), name=name)


def _through(layers: Any, x: Any) -> Any:
    for layer in layers:
        x = layer(x)
    return x


@internal("keras.testing_utils.get_multi_io_model")
def get_multi_io_model(branch_a: Any, branch_b: Any, shared_input_branch: Any = None, shared_output_branch: Any = None) -> Any:
    """A model of two branches, with several inputs or outputs, of the kind that the test asks for."""
    if shared_input_branch:
        inputs: Any = shared_input_branch[0]
        after_input, after_a, after_b = shared_input_branch[1:], branch_a, branch_b
    else:
        inputs, after_input, after_a, after_b = [branch_a[0], branch_b[0]], [], branch_a[1:], branch_b[1:]
    kind = get_model_type()
    if kind in ("subclass", "subclass_custom_build"):
        return _branches(after_input, after_a, after_b, shared_output_branch)
    if kind != "functional":
        raise ValueError(f"Unknown model type {kind}")
    a, b = [_through(after_input, inputs)] * 2 if shared_input_branch else inputs
    a, b = _through(after_a, a), _through(after_b, b)
    return tf.keras.Model(inputs, _through(shared_output_branch, [a, b]) if shared_output_branch else [a, b])


def _branches(before: Any, layers_a: Any, layers_b: Any, after: Any) -> Any:
    class Branches(tf.keras.Model):  # type: ignore[misc]
        """Two branches that `call` runs."""

        def __init__(self) -> None:
            super().__init__()
            self._before, self._a, self._b, self._after = list(before), list(layers_a), list(layers_b), list(after or [])

        def call(self, inputs: Any, **_: Any) -> Any:  # type: ignore[override]
            a, b = [_through(self._before, inputs)] * 2 if self._before else inputs
            a, b = _through(self._a, a), _through(self._b, b)
            return _through(self._after, [a, b]) if self._after else [a, b]

    return Branches()


@internal("keras.testing_utils.get_v2_optimizer")
def get_v2_optimizer(name: str, **kwargs: Any) -> Any:
    """An optimizer by its name."""
    names = {n.lower(): n for n in ("Adadelta", "Adagrad", "Adam", "Adamax", "Nadam", "RMSprop", "SGD", "Ftrl")}
    if name not in names:
        raise ValueError(f"Could not find requested v2 optimizer: {name}")
    return getattr(tf.keras.optimizers, names[name])(**kwargs)


@internal("keras.testing_utils.get_expected_metric_variable_names")
def get_expected_metric_variable_names(var_names: Any, name_suffix: str = "") -> list[str]:
    """What the variables of metrics are called: numbered in graphs only."""
    suffix = "" if executing_eagerly() else name_suffix
    return [f"{name}{suffix}:0" for name in var_names]
