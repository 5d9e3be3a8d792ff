"""What tests of Keras layers and models are written with: `tensorflow.python.keras.testing_utils` and `keras_parameterized`."""

import unittest

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode
from everflow.keras.testing import layer_checks, models, modes

L, keras = tf.keras.layers, tf.keras
KINDS = ["sequential", "functional", "subclass", "subclass_custom_build"]


def test_data_lies_around_a_point_of_each_class():
    (x, y), (x_test, y_test) = models.get_test_data(20, 5, (3,), 2, random_seed=1)
    assert x.shape == (20, 3) and x_test.shape == (5, 3) and x.dtype == np.float32
    assert set(y) == {0, 1} and y_test.shape == (5,)
    np.random.seed(1)
    points = 4 * np.random.random((2, 3))
    assert (np.random.randint(0, 2, size=25) == np.concatenate([y, y_test])).all()
    for label in (0, 1):
        np.testing.assert_allclose(x[y == label].mean(0), points[label], atol=0.2)
        assert 0.02 < x[y == label].std(0).mean() < 0.2
    again = models.get_test_data(20, 5, (3,), 2, random_seed=1)
    np.testing.assert_array_equal(again[1][0], x_test)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("classes", "activation"), [(1, "sigmoid"), (3, "softmax")])
def test_small_models_of_each_kind(kind, classes, activation):
    with modes.model_type_scope(kind):
        model = models.get_small_mlp(4, classes, input_dim=5)
    out = model(tf.ones((2, 5)))
    assert out.shape.as_list() == [2, classes]
    layers = [layer for layer in (model.all_layers if kind == "subclass_custom_build" else model.layers) if isinstance(layer, L.Dense)]
    assert [layer.units for layer in layers] == [4, classes]
    assert [layer.activation.__name__ for layer in layers] == ["relu", activation]
    assert model.built and type(model) is {"sequential": keras.Sequential, "functional": keras.Model}.get(kind, type(model))
    assert model.count_params() == 4 * 5 + 4 + 4 * classes + classes


def test_a_sequential_model_may_learn_its_input_later():
    assert not models.get_small_sequential_mlp(4, 2).built
    assert models.get_small_sequential_mlp(4, 2, input_dim=3).input_shape == (None, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_layers(kind):
    with modes.model_type_scope(kind):
        model = models.get_model_from_layers([L.Dense(3), L.Dense(2)], input_shape=(4,), name="mine")
    assert model.name == "mine" and model(tf.ones((5, 4))).shape.as_list() == [5, 2]
    assert len(model.trainable_weights) == 4


def test_models_of_layers_take_types_and_kinds_of_tensors():
    with modes.model_type_scope("functional"):
        model = models.get_model_from_layers([L.Lambda(lambda x: x)], input_shape=(4,), input_dtype="int32")
        assert model.inputs[0].dtype == tf.int32
        with pytest.raises(ValueError, match="Cannot create a functional model from layers with no input shape."):
            models.get_model_from_layers([L.Dense(3)])
    with modes.model_type_scope("sequential"):
        model = models.get_model_from_layers([L.Lambda(lambda x: x)], input_shape=(4,), input_dtype="int32")
        assert model.inputs[0].dtype == tf.int32
        assert not models.get_model_from_layers([L.Dense(3)]).built
    with modes.model_type_scope("odd"):
        for make in (lambda: models.get_model_from_layers([], input_shape=(4,)), lambda: models.get_small_mlp(1, 1, 1)):
            with pytest.raises(ValueError, match="Unknown model type odd"):
                make()
        with pytest.raises(ValueError, match="Unknown model type odd"):
            models.get_multi_io_model([L.Dense(1)], [L.Dense(1)])


@pytest.mark.parametrize("kind", ["functional", "subclass"])
def test_models_of_branches(kind):
    def branch(size):
        return [keras.Input((3,)), L.Dense(size)]

    def shapes(model, x):
        found = model(x)
        return [t.shape.as_list() for t in (found if isinstance(found, list) else [found])]

    x = tf.ones((2, 3))
    with modes.model_type_scope(kind):
        assert shapes(models.get_multi_io_model(branch(4), branch(5)), [x, x]) == [[2, 4], [2, 5]]
        shared = models.get_multi_io_model([L.Dense(4)], [L.Dense(5)], shared_input_branch=[keras.Input((3,)), L.Dense(6)])
        assert shapes(shared, x) == [[2, 4], [2, 5]] and len(shared.weights) == 6
        joined = models.get_multi_io_model(branch(4), branch(5), shared_output_branch=[L.Concatenate(), L.Dense(2)])
        assert shapes(joined, [x, x]) == [[2, 2]] and len(joined.weights) == 6


@pytest.mark.parametrize("name", ["Adadelta", "Adagrad", "Adam", "Adamax", "Nadam", "RMSprop", "SGD", "Ftrl"])
def test_optimizers_by_name(name):
    made = models.get_v2_optimizer(name.lower(), learning_rate=0.3)
    assert type(made) is getattr(keras.optimizers, name) and made.get_config()["learning_rate"] == 0.3
    with pytest.raises(ValueError, match="Could not find requested v2 optimizer: lbfgs"):
        models.get_v2_optimizer("lbfgs")


def test_names_of_metric_variables_are_numbered_in_graphs_only():
    assert models.get_expected_metric_variable_names(["a", "b"], "_1") == ["a_1:0", "b_1:0"]
    assert models.get_expected_metric_variable_names(["a"]) == ["a:0"]
    with eager_mode():
        assert models.get_expected_metric_variable_names(["a"], "_1") == ["a:0"]


def test_settings_hold_within_their_blocks():
    for get, scope, name in (
        (modes.should_run_eagerly, modes.run_eagerly_scope, "should_run_eagerly"),
        (modes.should_run_tf_function, modes.experimental_run_tf_function_scope, "should_run_tf_function"),
    ):
        with pytest.raises(ValueError, match=rf"Cannot call `{name}\(\)` outside of a `{scope.__name__}"):
            get()
        with scope(True):
            assert not get()
            with eager_mode():
                assert get()
                with scope(False):
                    assert not get()
                assert get()
    with pytest.raises(ValueError, match=r"Cannot call `get_model_type\(\)` outside of a `model_type_scope"):
        modes.get_model_type()
    with modes.model_type_scope("a"):
        with modes.model_type_scope("b"):
            assert modes.get_model_type() == "b"
        assert modes.get_model_type() == "a"


def ran(case):
    """How many tests of a case ran, without `test_session`, and how many failed."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result.testsRun - 1, len(result.failures) + len(result.errors)


def names(case):
    return sorted(n for n in dir(case) if n.startswith("test_") and n not in ("test_session", "test_skip"))


def test_a_test_runs_in_every_mode():
    seen = []

    class Case(modes.TestCase):
        @modes.run_all_keras_modes
        def test_it(self):
            seen.append((tf.executing_eagerly(), modes._settings.run_eagerly, modes._settings.run_tf_function))

        @modes.run_all_keras_modes(always_skip_v1=True, always_skip_eager=True)
        def test_other(self):
            seen.append("other")

    assert ran(Case) == (6, 0)
    assert sorted(map(str, seen)) == sorted(
        map(str, [(True, False, True), (True, False, False), (False, False, False), (True, True, True), "other", "other"])
    )


def test_a_class_runs_with_every_kind_of_model_in_every_mode():
    seen = []

    @modes.run_with_all_model_types
    @modes.run_all_keras_modes
    class Case(modes.TestCase):
        def test_it(self):
            seen.append((modes.get_model_type(), modes.should_run_eagerly()))

        def helper(self):
            return 1

    assert ran(Case) == (12, 0)
    assert sorted(set(seen)) == [(k, e) for k in ("functional", "sequential", "subclass") for e in (False, True)]
    assert names(Case)[:2] == ["test_it_v1_session_functional", "test_it_v1_session_sequential"]


@pytest.mark.parametrize(("excluded", "left"), [("sequential", ["functional", "subclass"]), (["functional", "subclass"], ["sequential"])])
def test_kinds_of_models_can_be_left_out(excluded, left):
    seen = []

    class Case(modes.TestCase):
        @modes.run_with_all_model_types(exclude_models=excluded)
        def test_it(self):
            seen.append(modes.get_model_type())

    assert ran(Case) == (len(left), 0) and sorted(seen) == left


def test_a_case_leaves_no_models_behind():
    class Case(modes.TestCase):
        def test_it(self):
            keras.Input((1,), name="x")
            assert L.Dense(1).name == "dense"

        def test_that(self):
            assert L.Dense(1).name == "dense"

    assert ran(Case) == (2, 0)


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (L.Dense, {"kwargs": {"units": 2}, "input_shape": (3, 4)}),
        (
            L.Embedding,
            {
                "kwargs": {"input_dim": 20, "output_dim": 2},
                "input_shape": (3, 2),
                "input_dtype": "int32",
                "expected_output_dtype": "float32",
            },
        ),
        (L.Flatten, {"input_data": np.ones((2, 3, 4), np.float32), "expected_output": np.ones((2, 12))}),
    ],
)
def test_layers_that_do_what_they_must(cls, options):
    found = layer_checks.layer_test(cls, **options)
    assert found.dtype == np.float32


class Wrong(L.Layer):
    """A layer that says another shape than it gives."""

    def call(self, inputs):
        return tf.concat([inputs, inputs], 1)

    def compute_output_shape(self, input_shape):
        return tf.TensorShape(input_shape)


class Changing(L.Layer):
    """A layer that gives another type than it takes."""

    def call(self, inputs):
        return tf.cast(inputs, "int32")


@pytest.mark.parametrize(
    ("cls", "options", "text"),
    [
        (Wrong, {"input_shape": (3, 4)}, "gives the shape"),
        (Changing, {"input_shape": (3, 4)}, "gives int32, and not float32"),
        (L.Flatten, {"input_data": np.ones((2, 3), np.float32), "expected_output": np.zeros((2, 3))}, "Not equal"),
    ],
)
def test_layers_that_do_not_are_told(cls, options, text):
    with pytest.raises(AssertionError, match=text), keras.utils.custom_object_scope({cls.__name__: cls}):
        layer_checks.layer_test(cls, **options)
