"""Moving averages."""

import numpy as np
import pytest

import everflow as tf
from everflow.train import moving_averages


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def use_resource(request):
    return request.param


def started():
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def test_a_variable_moves_towards_the_value(use_resource):
    v = tf.Variable([10.0, 11.0], use_resource=use_resource)
    update = moving_averages.assign_moving_average(v, [1.0, 2.0], 0.25, zero_debias=False)
    with started() as session:
        session.run(update)
        np.testing.assert_allclose(session.run(v), [10 * 0.25 + 1 * 0.75, 11 * 0.25 + 2 * 0.75])


def test_the_bias_of_starting_at_zero_is_removed():
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    value = tf.placeholder(tf.float32, [])
    update = moving_averages.assign_moving_average(v, value, 0.9)
    assert [x.name for x in tf.global_variables()] == ["v:0", "v/biased:0", "v/local_step:0"]
    with started() as session:
        total, weight = 0.0, 0.0
        for x in (3.0, -1.0, 4.0):
            total, weight = total * 0.9 + x * 0.1, weight * 0.9 + 0.1
            assert session.run(update, {value: x}) == pytest.approx(total / weight, rel=1e-5)


def test_weighted_averages():
    value, weight = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    average = moving_averages.weighted_moving_average(value, 0.5, weight)
    with started() as session:
        assert session.run(average, {value: 8.0, weight: 1.0}) == 8
        assert session.run(average, {value: 2.0, weight: 3.0}) == pytest.approx((8 * 0.25 + 2 * 1.5) / (0.25 + 1.5))


def test_averages_of_variables_start_with_their_values(use_resource):
    v = tf.Variable(10.0, name="v", use_resource=use_resource)
    average = tf.train.ExponentialMovingAverage(0.75)
    update = average.apply([v])
    shadow = average.average(v)
    assert shadow.name == "v/ExponentialMovingAverage:0" and average.average_name(v) == "v/ExponentialMovingAverage"
    assert tf.moving_average_variables() == [v]
    with started() as session:
        assert session.run(shadow) == 10
        session.run(v.assign(2.0))
        session.run(update)
        assert session.run(shadow) == pytest.approx(10 * 0.75 + 2 * 0.25)


def test_averages_of_tensors_start_at_zero(use_resource):
    v = tf.Variable(10.0, name="v", use_resource=use_resource)
    t = tf.multiply(v, 2.0, name="t")
    average = tf.train.ExponentialMovingAverage(0.75)
    update = average.apply([t])
    with started() as session:
        session.run(update)
        assert session.run(average.average(t)) == pytest.approx(20 * 0.25)


def test_the_number_of_updates_shortens_the_memory():
    v = tf.Variable(10.0)
    average = tf.train.ExponentialMovingAverage(0.99, num_updates=tf.constant(1))
    update = average.apply([v])
    with started() as session:
        session.run(v.assign(0.0))
        session.run(update)
        assert session.run(average.average(v)) == pytest.approx(10 * 2 / 11)


def test_only_floating_point_numbers_are_averaged():
    with pytest.raises(TypeError, match="The variables must be half, float, or double: v:0"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1, name="v")])


def test_what_to_restore():
    v = tf.Variable(1.0, name="v")
    w = tf.Variable(1.0, name="w", trainable=False)
    average = tf.train.ExponentialMovingAverage(0.9)
    assert average.variables_to_restore() == {"v/ExponentialMovingAverage": v, "w": w}
