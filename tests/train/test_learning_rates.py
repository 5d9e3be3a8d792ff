"""Learning rates as functions of the step."""

import math

import pytest

import everflow as tf


def rates(build, steps):
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.int64, [])
        rate = build(step)
        return [session.run(rate, {step: s}) for s in steps]


STEPS = (0, 3, 10, 11, 25)
train = tf.train


@pytest.mark.parametrize(
    "build, formula",
    [
        (lambda s: train.exponential_decay(0.1, s, 10, 0.9), lambda s: 0.1 * 0.9 ** (s / 10)),
        (lambda s: train.exponential_decay(0.1, s, 10, 0.9, staircase=True), lambda s: 0.1 * 0.9 ** (s // 10)),
        (lambda s: train.natural_exp_decay(0.1, s, 10, 0.9), lambda s: 0.1 * math.exp(-0.9 * s / 10)),
        (lambda s: train.inverse_time_decay(0.1, s, 10, 0.9), lambda s: 0.1 / (1 + 0.9 * s / 10)),
        (lambda s: train.inverse_time_decay(0.1, s, 10, 0.9, staircase=True), lambda s: 0.1 / (1 + 0.9 * (s // 10))),
        (lambda s: train.polynomial_decay(0.1, s, 10, 0.01, power=2.0), lambda s: 0.09 * (1 - min(s, 10) / 10) ** 2 + 0.01),
        (
            lambda s: train.polynomial_decay(0.1, s, 10, 0.01, cycle=True),
            lambda s: 0.09 * (1 - s / (10 * max(1, math.ceil(s / 10)))) + 0.01,
        ),
        (
            lambda s: train.cosine_decay(0.1, s, 10, alpha=0.2),
            lambda s: 0.1 * (0.8 * 0.5 * (1 + math.cos(math.pi * min(s, 10) / 10)) + 0.2),
        ),
        (lambda s: train.cosine_decay_restarts(0.1, s, 10, t_mul=1.0), lambda s: 0.05 * (1 + math.cos(math.pi * (s % 10) / 10))),
        (
            lambda s: train.cosine_decay_restarts(0.1, s, 10),
            lambda s: 0.05 * (1 + math.cos(math.pi * (s / 10 if s < 10 else (s - 10) / 20))),
        ),
        (
            lambda s: train.linear_cosine_decay(0.1, s, 10),
            lambda s: 0.1 * ((10 - min(s, 10)) / 10 * 0.5 * (1 + math.cos(math.pi * min(s, 10) / 10)) + 0.001),
        ),
        (lambda s: train.piecewise_constant(s, [3, 10], [1.0, 0.5, 0.1]), lambda s: 1.0 if s <= 3 else 0.5 if s <= 10 else 0.1),
    ],
)
def test_rates_follow_the_formula(build, formula):
    assert rates(build, STEPS) == pytest.approx([formula(s) for s in STEPS], rel=1e-5)


def test_noise_fades():
    def build(step):
        tf.set_random_seed(1)
        return train.noisy_linear_cosine_decay(1.0, step, 1000, initial_variance=1.0, variance_decay=2.0)

    early, late = rates(build, [0] * 20), rates(build, [500] * 20)
    assert max(early) - min(early) > 20 * (max(late) - min(late))


@pytest.mark.parametrize(
    "boundaries, values, problem",
    [
        ([1, 2], [1.0, 2.0], "The length of boundaries should be 1 less than the length of values"),
        ([1.5, 2], [1.0, 2.0, 3.0], "must have the same dtype as x"),
        ([1, 2], [1.0, 2.0, 3], "Values must have elements all with the same dtype"),
    ],
)
def test_bad_pieces(boundaries, values, problem):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=problem):
        train.piecewise_constant(tf.constant(1), boundaries, values)


def test_names():
    with tf.Graph().as_default():
        step = tf.constant(1)
        assert train.exponential_decay(0.1, step, 10, 0.9).name == "ExponentialDecay:0"
        assert train.polynomial_decay(0.1, step, 10, name="rate").name == "rate:0"


def test_keras_schedules_have_a_configuration():
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    config = schedule.get_config()
    assert config == {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5, "staircase": False, "name": None}
    assert type(schedule).from_config(config).get_config() == config


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda step: tf.train.exponential_decay(0.1, step, 3, 0.96), (0.09864848, 0.096)),
        (lambda step: tf.train.piecewise_constant(step, [2, 4], [1.0, 2.0, 3.0]), (1.0, 2.0)),
        (lambda step: tf.train.polynomial_decay(0.1, step, 3), (0.0667, 0.0001)),
        (lambda step: tf.train.cosine_decay(0.1, step, 3), (0.075, 0.0)),
    ],
)
def test_rates_follow_the_step_in_eager_mode(make, expected, eager):
    step = tf.Variable(1)
    rate = make(step)
    first = rate().numpy()
    step.assign(3)
    assert (first, rate().numpy()) == pytest.approx(expected)


def test_an_optimizer_asks_for_the_rate_at_each_step(eager):
    step, v = tf.Variable(0), tf.Variable(10.0)
    optimizer = tf.train.GradientDescentOptimizer(tf.train.exponential_decay(1.0, step, 1, 0.5))
    seen = []
    for _ in range(3):
        optimizer.minimize(lambda: 1.0 * v, global_step=step)
        seen.append(v.numpy())
    assert seen == [9, 8.5, 8.25]
