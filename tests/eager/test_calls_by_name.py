"""Ops by name, forward-mode derivatives, and functions with relaxed shapes, variables and values asked for at each call."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager import calls_by_name, forward, statuses

pytestmark = pytest.mark.usefixtures("eager")


def execute(name, count, inputs, *attrs):
    return calls_by_name.execute(name, count, inputs, attrs, None)


def test_an_op_runs_by_name():
    x = tf.constant([[0, 1, 2], [3, 4, 5]])
    parts = execute(b"Split", 3, [tf.constant(1), x], "num_split", 3, "T", 3)
    assert [p.numpy().tolist() for p in parts] == [[[0], [3]], [[1], [4]], [[2], [5]]]


@pytest.mark.parametrize(
    ("name", "attrs", "error", "message"),
    [
        ("NoSuchOp", (), tf.errors.NotFoundError, "Op type not registered 'NoSuchOp'"),
        ("Identity", ("T", 1, "nothing", 1), tf.errors.InvalidArgumentError, "has no attr named 'nothing'"),
        ("CheckNumerics", ("message", 1, "T", 1), tf.errors.InvalidArgumentError, "Expected string for argument 'message' not 1"),
        ("Squeeze", ("T", 1, "squeeze_dims", 0), tf.errors.InvalidArgumentError, "expecting a list for attr squeeze_dims, got int"),
    ],
)
def test_bad_calls_are_refused(name, attrs, error, message):
    with pytest.raises(error, match=message):
        execute(name, 1, [tf.constant([1.0])], *attrs)


def test_the_fast_path_says_what_went_wrong():
    x = tf.ones([2, 3])
    with pytest.raises(statuses.NotOkStatus, match="size-incompatible") as caught:
        calls_by_name.fast_path_execute(None, "", "MatMul", None, None, x, x, "transpose_a", False)
    assert caught.value.code == tf.errors.INVALID_ARGUMENT
    with tf.Graph().as_default():
        t = tf.ones([2, 2])
    with pytest.raises(calls_by_name.FallbackException, match="all inputs are not already EagerTensors"):
        calls_by_name.fast_path_execute(None, "", "MatMul", None, None, t, t)


def test_forward_mode_agrees_with_tapes_and_nests():
    x = tf.constant([0.5, 1.5])

    def f(v):
        return tf.reduce_prod(tf.tanh(v) ** 2)

    with forward.ForwardGradientAccumulator() as acc:
        acc.watch(x, tf.constant([1.0, 2.0]))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        slope = tape.gradient(y, x)
    along = acc.jvp(y)
    assert float(along) == pytest.approx(float(slope[0] + 2.0 * slope[1]), rel=1e-5)
    step = np.float32(1e-3)
    with tf.GradientTape() as tape:
        moved = tf.constant([0.5 + step, 1.5 + 2 * step])
        tape.watch(moved)
        z = f(moved)
    np.testing.assert_allclose(acc.jvp(slope).numpy(), (tape.gradient(z, moved) - slope).numpy() / step, rtol=0.05)
    assert acc.jvp(tf.constant(1.0)) is None


def test_shapes_are_relaxed_after_two_misses():
    seen = []

    @tf.function(experimental_relax_shapes=True)
    def f(x):
        seen.append(x.shape.as_list())
        return x + 1.0

    for size in (1, 2, 3, 4, 5):
        assert f(tf.zeros([size])).shape == [size]
    assert seen == [[1], [2], [None]]


def test_variables_are_arguments_like_any_other():
    @tf.contrib.eager.defun
    def add(v, x):
        v.assign_add(x)
        return v.read_value()

    first, second = tf.Variable(1.0), tf.Variable(10.0)
    one = tf.constant(1.0)
    assert [float(add(v, one)) for v in (first, second, first)] == [2.0, 11.0, 3.0]
    assert len(add._cache) == 1
    with tf.GradientTape() as tape:
        y = tf.contrib.eager.defun(lambda v: v * v)(second)
    assert float(tape.gradient(y, second)) == 22.0


def test_values_asked_for_at_each_call():
    value = 1.0

    @tf.function
    def f(x):
        return x + tf.get_default_graph().capture_call_time_value(lambda: value, tf.TensorSpec(None))

    assert float(f(2.0)) == 3.0
    value = 5.0
    assert float(f(2.0)) == 7.0
    value = 1
    with pytest.raises(ValueError, match="is not convertible to a tensor with dtype"):
        f(2.0)


def test_arguments_may_not_be_changed():
    @tf.function
    def f(items):
        items.append(1)
        return items[0]

    with pytest.raises(ValueError, match="should not modify structure of input arguments"):
        f([tf.constant(0.0)])


def test_devices_are_checked():
    with pytest.raises(ValueError, match="pu"), tf.device("pu:0"):
        pass
    if tf.contrib.eager.num_gpus() == 0:
        with pytest.raises(RuntimeError, match="unknown device"), tf.device("gpu:0"):
            pass
        tf.config.set_soft_device_placement(True)
        try:
            with tf.device("gpu:0"):
                assert float(tf.constant(1.0) + 1.0) == 2.0
        finally:
            tf.config.set_soft_device_placement(False)
