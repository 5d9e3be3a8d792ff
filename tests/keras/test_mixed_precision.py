"""Policies: what layers compute in, what they keep their variables in, and how their losses are scaled."""

import numpy as np
import pytest

import everflow as tf
from everflow.keras.mixed_precision.autocast_variable import AutoCastVariable, create_autocast_variable
from everflow.keras.mixed_precision.policy import policy_scope
from everflow.keras.v2_dtypes import v2_dtype_behavior

mixed_precision = tf.keras.mixed_precision.experimental
Policy = mixed_precision.Policy


class Sum(tf.keras.layers.Layer):
    """Adds a variable, and notes the types that it sees."""

    def build(self, input_shape):
        self.v = self.add_weight("v", (), initializer="ones")
        self.count = self.add_weight("count", (), dtype=tf.int32, trainable=False)

    def call(self, inputs):
        self.seen = inputs.dtype.name, self.v.dtype.name, self.count.dtype.name
        return inputs + self.v


@pytest.mark.parametrize(
    ("name", "compute", "variable", "casts"),
    [
        ("float32", "float32", "float32", False),
        ("mixed_float16", "float16", "float32", True),
        ("mixed_bfloat16", "bfloat16", "float32", True),
        ("float16_with_float32_vars", "float16", "float32", True),
        ("infer", None, None, False),
        ("infer_float32_vars", None, "float32", True),
    ],
)
def test_a_policy_says_both_types(name, compute, variable, casts):
    policy = Policy(name)
    assert (policy.compute_dtype, policy.variable_dtype, policy.should_cast_variables) == (compute, variable, casts)


def test_only_mixed_float16_scales_losses_by_itself():
    assert Policy("mixed_float16").loss_scale.get_config()["initial_loss_scale"] == 32768
    assert Policy("mixed_bfloat16").loss_scale is None
    assert Policy("mixed_float16", loss_scale=None).loss_scale is None
    assert repr(Policy("float16", loss_scale=2)) == '<Policy "float16", loss_scale=FixedLossScale(2.0)>'


@pytest.mark.parametrize("name", ["xyz", "xyz_with_float32_vars", "", "mixed_float32"])
def test_policies_that_are_none_are_refused(name):
    with pytest.raises(ValueError, match=f"Cannot convert value {name} to a mixed precision Policy"):
        Policy(name)


def test_types_are_given_by_name():
    with pytest.raises(TypeError, match="must be a string, not a DType"):
        Policy(tf.float16)
    with pytest.raises(TypeError, match="must be a string, but got: 5"):
        Policy(5)
    with pytest.raises(TypeError, match="Cannot convert value 'mixed_float16' to a TensorFlow DType"):
        tf.keras.layers.Dense(2, dtype="mixed_float16")


def test_programs_of_version_1_wait_for_the_first_input():
    assert mixed_precision.global_policy().name == "infer"
    with pytest.raises(ValueError, match="can only be set to a non-infer policy in TensorFlow 2"):
        mixed_precision.set_policy("mixed_float16")
    layer = tf.keras.layers.Dense(2)
    layer(tf.ones([1, 2], tf.float64))
    assert layer.dtype == "float64"


def test_programs_of_version_2_compute_in_the_default_float():
    with v2_dtype_behavior(True):
        assert mixed_precision.global_policy().name == "float32"
        layer = tf.keras.layers.Dense(2)
        assert layer(tf.ones([1, 2], tf.float64)).dtype == tf.float32
        assert tf.keras.layers.Dense(2, dtype="float64")(tf.ones([1, 2])).dtype == tf.float64
        assert tf.keras.layers.Lambda(lambda x: x, autocast=False)(tf.ones([1], tf.float64)).dtype == tf.float64
        assert tf.keras.layers.Lambda(lambda x: x)(tf.ones([1], tf.int32)).dtype == tf.int32


def test_layers_compute_in_half_precision_with_variables_of_single():
    with v2_dtype_behavior(True), policy_scope("mixed_float16"):
        layer = Sum()
        outputs = layer(tf.ones([2]))
    assert layer.seen == ("float16", "float16", "int32")
    assert (outputs.dtype, layer.v.dtype, layer.dtype) == (tf.float16, tf.float32, "float32")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs).tolist() == [2, 2]
        assert session.run(layer.v).dtype == np.float32


def test_the_policy_may_be_given_to_one_layer():
    layer = tf.keras.layers.Dense(2, dtype=Policy("mixed_bfloat16"))
    assert layer(tf.ones([1, 2])).dtype == tf.bfloat16
    assert isinstance(layer.kernel, AutoCastVariable)
    assert layer.get_config()["dtype"] == "float32"


def test_regularizers_see_variables_as_they_are_kept():
    with v2_dtype_behavior(True), policy_scope("mixed_float16"):
        layer = tf.keras.layers.Dense(2, kernel_regularizer="l2")
        layer(tf.ones([1, 2]))
        (loss,) = layer.losses
    assert loss.dtype == tf.float32


@pytest.mark.parametrize(
    "make",
    [
        lambda layers: layers.Conv2D(3, 2)(tf.ones([2, 4, 4, 2])),
        lambda layers: layers.LSTM(3)(tf.ones([2, 3, 2])),
        lambda layers: layers.GRU(3)(tf.ones([2, 3, 2])),
        lambda layers: layers.BatchNormalization()(tf.ones([2, 4, 4, 2]), training=True),
        lambda layers: layers.LayerNormalization()(tf.ones([2, 4])),
        lambda layers: layers.TimeDistributed(layers.Dense(2))(tf.ones([2, 3, 2])),
        lambda layers: layers.GaussianNoise(1.0)(tf.ones([2, 3]), training=True),
        lambda layers: layers.Attention()([tf.ones([2, 3, 4]), tf.ones([2, 3, 4])]),
    ],
)
def test_every_kind_of_layer_computes_in_half_precision(make):
    with v2_dtype_behavior(True), policy_scope("mixed_float16"):
        outputs = make(tf.keras.layers)
    assert outputs.dtype == tf.float16
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.isfinite(session.run(outputs).astype(np.float32)).all()


def test_both_directions_compute_in_the_type_of_their_variables():
    with v2_dtype_behavior(True), policy_scope("mixed_float16"):
        outputs = tf.keras.layers.Bidirectional(tf.keras.layers.SimpleRNN(2))(tf.ones([2, 3, 2]))
    assert outputs.dtype == tf.float32


def test_variables_are_written_as_they_are_kept():
    variable = create_autocast_variable(tf.Variable(1.0, use_resource=True))
    graph = tf.get_default_graph()
    with graph._enable_auto_casting_variables("float16"):
        assert (variable.dtype, variable.true_dtype) == (tf.float16, tf.float32)
        raised = variable.assign_add(2.0**-11)
        read = variable + 0.0
        with pytest.raises(ValueError, match="dtype float32 for Tensor with dtype float16"):
            variable.assign(tf.constant(1.0, tf.float16))
        assert repr(variable) == "<AutoCastVariable 'Variable:0' shape=() dtype=float16 true_dtype=float32>"
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(raised) == 1 + 2.0**-11
        assert session.run([read, variable]) == [1, np.float32(1 + 2.0**-11)]


def test_only_floats_and_variables_with_a_handle_are_cast():
    with pytest.raises(ValueError, match="must be a floating point variable but has type: int32"):
        AutoCastVariable(tf.Variable(1, use_resource=True))
    with pytest.raises(ValueError, match=r"must be of type tf\.ResourceVariable"):
        AutoCastVariable(tf.constant(1.0))


def test_functions_of_layers_read_as_the_layer_does(eager):
    class Traced(Sum):
        @tf.function
        def add(self, x, v):
            return x + v

        def call(self, inputs):
            return self.add(inputs, self.v)

    with policy_scope("infer_float32_vars"):
        assert Traced()(tf.ones([1], tf.float16)).numpy().tolist() == [2]


def test_models_scale_their_losses():
    with v2_dtype_behavior(True), policy_scope(Policy("mixed_float16", loss_scale=8.0)):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.5), "mse")
        assert model.optimizer.loss_scale.get_config() == {"loss_scale_value": 8.0}
        model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0)
    # The error is 1, so that its square has the gradient 2 by each weight.
    assert model.get_weights()[0].tolist() == [[0], [0]]
    with v2_dtype_behavior(True), policy_scope("mixed_float16"), pytest.raises(ValueError, match="must be an instance of tf.keras.optim"):
        tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))]).compile(tf.train.GradientDescentOptimizer(1.0), "mse")


def test_steps_at_once_scale_losses_too(eager):
    with v2_dtype_behavior(True), policy_scope(Policy("mixed_float16", loss_scale=8.0)):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.5), "mse", run_eagerly=True)
        model.train_on_batch(np.ones([4, 2], np.float32), np.ones([4, 1], np.float32))
    assert model.get_weights()[0].tolist() == [[0], [0]]


def test_a_policy_and_the_graph_rewrite_exclude_each_other():
    enable = tf.train.experimental.enable_mixed_precision_graph_rewrite
    optimizer = enable(tf.keras.optimizers.SGD(1.0))
    try:
        with pytest.raises(ValueError, match="graph rewrite has already been enabled"):
            mixed_precision.set_policy("infer")
        with pytest.raises(ValueError, match="must not already be an instance of a LossScaleOptimizer"):
            enable(optimizer)
    finally:
        tf.train.experimental.disable_mixed_precision_graph_rewrite()
    with policy_scope("infer"), pytest.raises(ValueError, match="a keras mixed precision Policy has been set"):
        enable(tf.keras.optimizers.SGD(1.0))


@pytest.fixture
def two_processors(eager):
    """Two devices of the processor, for ops that run at once and for functions."""
    device = tf.config.experimental.list_physical_devices("CPU")[0]
    tf.config.experimental.set_virtual_device_configuration(device, [tf.config.experimental.VirtualDeviceConfiguration()] * 2)
    yield ["/cpu:0", "/cpu:1"]
    tf.config.experimental.set_virtual_device_configuration(device, [tf.config.experimental.VirtualDeviceConfiguration()])


def scaled_model(devices):
    """A model of ones on each of the devices, and the optimizer that scales its loss by 4 at first."""
    with tf.distribute.MirroredStrategy(devices).scope(), v2_dtype_behavior(True), policy_scope("mixed_float16"):
        inputs = tf.keras.Input((3,), dtype=tf.float16)
        outputs = tf.keras.layers.Dense(2, kernel_initializer="ones")(inputs)
        model = tf.keras.Model(inputs, tf.cast(outputs, tf.float32))
        scale = tf.train.experimental.DynamicLossScale(initial_loss_scale=4.0, increment_period=2)
        optimizer = mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.25), scale)
        model.compile(optimizer, "mse")
    return model, scale


# Errors of 3 have the gradient 3 by each weight (the mean is of two outputs); a step of 0.25 leaves 3 * 0.25 - 0.75 = 0.
@pytest.mark.parametrize("count", [1, 2])
def test_replicas_keep_copies_that_read_in_half_precision(two_processors, count):
    model, scale = scaled_model(two_processors[:count])
    assert [type(w).__name__ for w in model.weights] == ["AutoCastDistributedVariable"] * 2
    assert len(model.weights[0].values) == count
    data = tf.data.Dataset.from_tensor_slices((np.ones((8, 3), np.float16), np.zeros((8, 2), np.float32))).batch(4)
    assert model.fit(data, epochs=3, verbose=0).history["loss"] == [4.5, 0, 0]
    assert [w.tolist() for w in model.get_weights()] == [[[0.25, 0.25]] * 3, [-0.75, -0.75]]
    assert scale().numpy() == 32


def test_what_is_infinite_on_one_replica_stops_the_step_of_all(two_processors):
    model, scale = scaled_model(two_processors)
    targets = np.float32([[0, 0], [0, 0], [0, 0], [np.inf, 0]])
    model.train_on_batch(np.ones((4, 3), np.float16), targets)
    assert model.get_weights()[0].tolist() == [[1, 1]] * 3
    assert scale().numpy() == 2


def test_a_loss_that_is_added_stays_what_it_is(eager):
    with v2_dtype_behavior(True), policy_scope("float16"):
        inputs = tf.keras.Input((2,))
        outputs = tf.keras.layers.Dense(1)(inputs)
        model = tf.keras.Model(inputs, outputs)
        model.add_loss(tf.cast(outputs, "float32"))
        model.add_loss(tf.cast(outputs, "float64"))
        model.add_metric(tf.cast(outputs, "float32"), name="mean", aggregation="mean")
        assert [loss.dtype for loss in model.losses] == [tf.float32, tf.float64]
        assert [metric.dtype for metric in model.metrics] == ["float16"]


@pytest.mark.parametrize(("policy", "dtype"), [("float16", "float16"), ("mixed_float16", "float32"), ("float64", "float64")])
def test_metrics_count_in_what_a_policy_keeps_variables_in(policy, dtype):
    with v2_dtype_behavior(True), policy_scope(policy):
        for metric in (tf.keras.metrics.Mean(), tf.keras.metrics.MeanSquaredError(), tf.keras.metrics.AUC()):
            assert (metric.dtype, metric.weights[0].dtype.name) == (dtype, dtype)
        assert tf.keras.metrics.Mean(dtype=tf.float64).dtype == "float64"
