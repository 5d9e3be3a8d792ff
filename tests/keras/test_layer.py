"""The layer that tf.layers, cells and tf.keras share."""

import numpy as np
import pytest

import everflow as tf
from running import run


class Scale(tf.keras.layers.Layer):
    """Multiplies by a learned vector."""

    def build(self, input_shape):
        self.factor = self.add_weight("factor", shape=input_shape[-1:], initializer="ones", regularizer=tf.keras.regularizers.l2(0.5))

    def call(self, inputs):
        return inputs * self.factor


def test_a_layer_builds_its_variables_at_the_first_call():
    layer, x = Scale(), tf.ones([2, 3])
    assert not layer.built
    y = layer(x)
    assert layer(x).shape.as_list() == [2, 3]
    assert [v.name for v in layer.weights] == ["scale/factor:0"]
    assert layer.dtype == "float32"
    assert layer.count_params() == 3
    np.testing.assert_array_equal(run(y), np.ones([2, 3]))


def test_names_are_unique_in_a_graph():
    assert [Scale().name, Scale().name, Scale(name="own").name] == ["scale", "scale_1", "own"]
    with tf.Graph().as_default():
        assert Scale().name == "scale"


def test_penalties_on_weights_are_losses():
    layer = Scale()
    layer(tf.ones([2, 3]))
    assert len(layer.losses) == 1
    assert run(layer.losses[0]) == pytest.approx(1.5)
    assert layer.get_losses_for(tf.ones([2, 3])) == []
    assert len(layer.get_losses_for(None)) == 1


def test_losses_and_updates_belong_to_the_inputs_they_follow_from():
    x, other = tf.ones([2, 3]), tf.ones([2, 3])
    layer = tf.keras.layers.BatchNormalization()
    layer(x, training=True)
    assert len(layer.get_updates_for(x)) == 2
    assert layer.get_updates_for(other) == []
    assert layer.get_updates_for(None) == []


def test_layers_and_variables_are_found_through_attributes():
    class Pair(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.parts = [Scale(), Scale()]
            self.named = {"last": Scale()}
            self.extra = tf.Variable(1.0, name="extra")
            self.counter = tf.Variable(1.0, trainable=False, name="counter")

        def call(self, inputs):
            for part in self.parts:
                inputs = part(inputs)
            return self.named["last"](inputs) * self.extra

    pair = Pair()
    pair(tf.ones([1, 2]))
    names = [v.name for v in pair.weights]
    assert names == ["extra:0", "pair/scale/factor:0", "pair/scale_1/factor:0", "pair/scale_2/factor:0", "counter:0"]
    assert [v.name for v in pair.trainable_weights] == names[:-1]
    assert len(pair.losses) == 3
    pair.trainable = False
    assert pair.trainable_weights == []
    assert len(pair.non_trainable_weights) == 5
    del pair.extra
    assert "extra:0" not in [v.name for v in pair.weights]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"ndim": 3}, "expected ndim=3, found ndim=2"),
        ({"min_ndim": 3}, "expected min_ndim=3"),
        ({"max_ndim": 1}, "expected max_ndim=1"),
        ({"axes": {-1: 5}}, "expected axis -1 of input shape to have value 5"),
        ({"dtype": "int32"}, "expected dtype=int32"),
        ({"shape": (None, 5)}, r"expected shape=\(None, 5\)"),
    ],
)
def test_inputs_must_be_what_a_layer_expects(spec, problem):
    layer = Scale()
    layer.input_spec = tf.keras.layers.InputSpec(**spec)
    with pytest.raises(ValueError, match=problem):
        layer(tf.ones([2, 3]))


def test_masks_and_training_are_passed_on():
    seen = []

    class Inner(tf.keras.layers.Layer):
        def call(self, inputs, mask=None, training=None):
            seen.append((mask, training))
            return inputs + 1

    class Outer(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def call(self, inputs, training=None):
            return self.inner(inputs)

    x = tf.ones([2, 3])
    x._keras_mask = mask = tf.constant([True, False])
    Outer()(x, training=True)
    assert seen == [(mask, True)]
    dense = tf.keras.layers.Dense(2)
    assert dense(x)._keras_mask is mask
    with pytest.raises(TypeError, match="does not support masking"):
        Scale().compute_mask(x, mask)


def test_weights_are_read_and_set():
    layer = Scale()
    layer(tf.ones([1, 2]))
    with tf.Session().as_default() as session:
        session.run(tf.global_variables_initializer())
        layer.set_weights([np.array([2.0, 3.0])])
        np.testing.assert_array_equal(layer.get_weights()[0], [2.0, 3.0])
    with pytest.raises(ValueError, match="weight list of length 0"):
        layer.set_weights([])
    with pytest.raises(ValueError, match=r"shape \(2,\) not compatible"):
        layer.set_weights([np.zeros(3)])


def test_layers_are_made_from_their_configs():
    for layer in (
        tf.keras.layers.Dense(3, activation="relu", kernel_regularizer="l2", kernel_constraint="max_norm"),
        tf.keras.layers.Conv2D(3, 2, padding="same"),
        tf.keras.layers.BatchNormalization(momentum=0.5),
        tf.keras.layers.Dropout(0.25),
    ):
        config = layer.get_config()
        assert type(layer).from_config(config).get_config() == config
    again = tf.keras.layers.Lambda.from_config(tf.keras.layers.Lambda(lambda x: x + 1).get_config())
    assert run(again(tf.constant(1.0))) == 2.0
    with pytest.raises(NotImplementedError, match="must override"):

        class Own(tf.keras.layers.Layer):
            def __init__(self, size):
                super().__init__()

        Own(3).get_config()


def test_mistakes_are_named():
    with pytest.raises(TypeError, match="Keyword argument not understood"):
        tf.keras.layers.Layer(unknown=1)

    class Nothing(tf.keras.layers.Layer):
        def call(self, inputs):
            return None

    with pytest.raises(ValueError, match="not None"):
        Nothing()(tf.ones([1]))

    class AtOnce(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__(dynamic=True)

    with pytest.raises(NotImplementedError):
        AtOnce()(tf.constant(1.0))


def test_calls_branch_on_tensors():
    class Size(tf.keras.layers.Layer):
        def call(self, inputs):
            if inputs > 0:
                return inputs
            return -inputs

    assert [run(Size()(tf.constant(x))) for x in (2.0, -3.0)] == [2.0, 3.0]


def test_regularizers_constraints_and_activations_have_names():
    x = tf.constant([[3.0, 4.0]])
    assert run(tf.keras.regularizers.get("l1_l2")(x)) == pytest.approx(0.07 + 0.25)
    np.testing.assert_allclose(run(tf.keras.constraints.MaxNorm(1, axis=1)(x)), [[0.6, 0.8]], rtol=1e-5)
    np.testing.assert_allclose(run(tf.keras.constraints.get("non_neg")(-x)), [[0.0, 0.0]])
    np.testing.assert_allclose(run(tf.keras.activations.get("hard_sigmoid")(tf.constant([-3.0, 0.0, 1.0]))), [0.0, 0.5, 0.7], rtol=1e-6)
    np.testing.assert_allclose(run(tf.keras.activations.relu(tf.constant([-2.0, 1.0, 9.0]), 0.5, 6.0)), [-1.0, 1.0, 6.0])
    for module in (tf.keras.regularizers, tf.keras.constraints, tf.keras.activations, tf.keras.initializers):
        with pytest.raises(ValueError, match="[Uu]nknown"):
            module.get("no such thing")


def test_what_lists_hold_counts_once():
    class Twice(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.norm = tf.keras.layers.BatchNormalization()
            self.norms = [self.norm]
            self.by_name = {"norms": self.norms}

        def build(self, shape):
            self.kernels = [self.add_weight(f"kernel{i}", (2, 2)) for i in range(2)]
            super().build(shape)

        def call(self, x):
            return self.norm(x @ self.kernels[0] @ self.kernels[1])

    layer = Twice()
    layer(tf.zeros((1, 2)))
    kernels = [f"twice/kernel{i}:0" for i in range(2)]
    norm = [f"twice/batch_normalization/{name}:0" for name in ("gamma", "beta", "moving_mean", "moving_variance")]
    assert [w.name for w in layer.weights] == kernels + norm and len(layer.updates) == 2
    # As in TensorFlow, variables that `add_weight` made stay when their list is replaced.
    layer.kernels = []
    assert len(layer.weights) == 6


def test_a_model_lists_its_own_variables_after_those_of_its_layers():
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.own = tf.Variable(1.0, name="own")
            self.dense = [tf.keras.layers.Dense(1)]
            self.again = {"dense": self.dense}

        def call(self, x):
            return self.dense[0](x) * self.own

    model = Model()
    model(tf.zeros((1, 2)))
    dense = ["model/dense/kernel:0", "model/dense/bias:0"]
    assert [w.name for w in model.trainable_weights] == [*dense, *dense, "own:0"]
    assert [layer.name for layer in model.layers] == ["dense"]
    model.trainable = False
    assert [w.name for w in model.non_trainable_weights] == ["own:0", *dense, *dense]


class Scaled(tf.keras.layers.Layer):
    """Keeps what its weight was when it was built."""

    def build(self, shape):
        self.w = self.add_weight("w", [2], initializer="ones")
        self.seen = tf.keras.backend.batch_get_value([self.w * 3.0])[0]
        super().build(shape)

    def call(self, x):
        return x * self.w


def test_eager_programs_build_layers_eagerly_where_they_connect_them(eager):
    layer = Scaled()
    outputs = layer(tf.keras.Input([2]))
    assert not outputs.shape.is_fully_defined() and layer.seen.tolist() == [3, 3] and layer.w.name == "scaled/w:0"


def test_graphs_build_layers_in_the_graph():
    layer = Scaled()
    layer(tf.keras.Input([2]))
    assert layer.seen.tolist() == [3, 3] and layer.w.graph is tf.get_default_graph()


def test_what_an_assignment_returns_is_no_further_variable(eager):
    class Counting(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.count = tf.Variable(1.0)
            self.counted = self.count.assign_add(2.0)

    layer = Counting()
    layer.build((10, 10))
    assert layer.variables == [layer.count] and layer.counted.numpy() == 3


def test_the_shape_of_outputs_follows_from_tensors_that_a_layer_computed_at_once(eager):
    class Fixed(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.w = tf.ones((3, 4))

        def call(self, inputs):
            return tf.matmul(inputs, self.w)

    layer = Fixed()
    assert layer.compute_output_shape((None, 3)).as_list() == [None, 4] and layer.built
