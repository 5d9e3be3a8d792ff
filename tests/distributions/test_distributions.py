"""tf.distributions against scipy, and the checks of their parameters."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats as stats

import everflow as tf
from running import run

D = tf.distributions


CONTINUOUS = [
    (lambda: D.Normal([1.0, -2.0], 2.0), stats.norm([1.0, -2.0], 2.0), [0.5, 3.0]),
    (lambda: D.Laplace([1.0, -2.0], 2.0), stats.laplace([1.0, -2.0], 2.0), [0.5, 3.0]),
    (lambda: D.Uniform([0.0, 1.0], [2.0, 4.0]), stats.uniform([0.0, 1.0], [2.0, 3.0]), [0.5, 3.0]),
    (lambda: D.Gamma([1.5, 3.0], 2.0), stats.gamma([1.5, 3.0], scale=0.5), [0.5, 3.0]),
    (lambda: D.Exponential([1.5, 3.0]), stats.expon(scale=[1 / 1.5, 1 / 3.0]), [0.5, 1.0]),
    (lambda: D.Beta([1.5, 3.0], [2.0, 2.5]), stats.beta([1.5, 3.0], [2.0, 2.5]), [0.25, 0.75]),
    (lambda: D.StudentT([3.5, 5.0], 1.0, 2.0), stats.t([3.5, 5.0], 1.0, 2.0), [0.5, -3.0]),
]


@pytest.mark.parametrize(("make", "expected", "x"), CONTINUOUS)
def test_densities_and_moments(make, expected, x):
    d = make()
    found = run([d.log_prob(x), d.prob(x), d.cdf(x), d.survival_function(x), d.mean(), d.variance(), d.stddev(), d.entropy()])
    wanted = [
        expected.logpdf(x),
        expected.pdf(x),
        expected.cdf(x),
        expected.sf(x),
        expected.mean(),
        expected.var(),
        expected.std(),
        expected.entropy(),
    ]
    for f, w in zip(found, wanted):
        np.testing.assert_allclose(f, np.broadcast_to(w, (2,)), rtol=2e-5)
    assert d.batch_shape == [2] and d.event_shape == []


@pytest.mark.parametrize("make", [c[0] for c in CONTINUOUS])
def test_samples_have_the_moments_and_gradients(make):
    d = make()
    drawn = d.sample(20000, seed=3)
    assert drawn.shape == [20000, 2] and d.reparameterization_type is D.FULLY_REPARAMETERIZED
    found, mean, deviation = run([drawn, d.mean(), d.stddev()])
    np.testing.assert_allclose(found.mean(0), mean, atol=5 * (deviation / np.sqrt(20000)).max())
    names = {D.Beta: "concentration1", D.Uniform: "high", D.Gamma: "rate", D.Exponential: "rate"}
    assert tf.gradients(drawn, getattr(d, names.get(type(d), "scale")))[0] is not None


def test_samples_are_those_of_tensorflow():
    tf.set_random_seed(1)
    np.testing.assert_allclose(
        run(D.Normal([0.0, 1.0], 2.0).sample(3, seed=5)),
        [[0.6738914847, 4.5495200157], [2.8376653194, 0.8902934193], [-0.9715291857, 0.0245566368]],
        rtol=1e-6,
    )
    assert run(D.Bernoulli(probs=[0.3, 0.6]).sample(3, seed=5)).tolist() == [[1, 1], [0, 1], [0, 0]]
    assert run(D.Categorical(logits=[[0.3, 0.6], [1.0, 2.0]]).sample(3, seed=5)).tolist() == [[1, 1], [1, 1], [0, 1]]
    assert run(D.DirichletMultinomial(4.0, [1.0, 2.0, 3.0]).sample(2, seed=5)).tolist() == [[3, 0, 1], [2, 1, 1]]
    np.testing.assert_allclose(run(D.Beta([1.0, 2.0], 3.0).sample(2, seed=5))[0], [0.60610348, 0.22087339], rtol=1e-5)


def test_bernoulli():
    d = D.Bernoulli(probs=[0.25, 0.5])
    np.testing.assert_allclose(run(d.prob([1, 0])), [0.25, 0.5], rtol=1e-6)
    np.testing.assert_allclose(run(d.entropy()), stats.bernoulli([0.25, 0.5]).entropy(), rtol=1e-6)
    np.testing.assert_allclose(run(d.logits), [np.log(1 / 3), 0.0], rtol=1e-6)
    assert run(D.Bernoulli(logits=[-1.0, 1.0]).mode()).tolist() == [0, 1]


def test_categorical():
    p = [0.2, 0.5, 0.3]
    d = D.Categorical(probs=p)
    np.testing.assert_allclose(run(d.log_prob([0, 1, 2])), np.log(p), rtol=1e-6)
    np.testing.assert_allclose(run(d.entropy()), stats.entropy(p), rtol=1e-6)
    assert run(d.mode()) == 1 and run(d.event_size) == 3
    with pytest.raises(NotImplementedError, match="mean is not implemented: Categorical"):
        d.mean()


def test_distributions_of_several_numbers():
    a, p = np.array([1.0, 2.0, 3.0]), np.array([0.2, 0.3, 0.5])
    dirichlet, expected = D.Dirichlet(a), stats.dirichlet(a)
    np.testing.assert_allclose(run(dirichlet.log_prob(p)), expected.logpdf(p), rtol=1e-6)
    np.testing.assert_allclose(run(dirichlet.entropy()), expected.entropy(), rtol=1e-6)
    np.testing.assert_allclose(run(dirichlet.covariance()), expected.cov(), rtol=1e-6)
    multinomial, expected = D.Multinomial(5.0, probs=p.astype(np.float32)), stats.multinomial(5, p)
    np.testing.assert_allclose(run(multinomial.prob([1.0, 2.0, 2.0])), expected.pmf([1, 2, 2]), rtol=1e-5)
    np.testing.assert_allclose(run(multinomial.covariance()), expected.cov(), rtol=1e-5)
    assert run(multinomial.sample(4, seed=1)).sum(-1).tolist() == [5.0] * 4
    both, expected = D.DirichletMultinomial(5.0, a.astype(np.float32)), stats.dirichlet_multinomial(a, 5)
    np.testing.assert_allclose(run(both.prob([1.0, 2.0, 2.0])), expected.pmf([1, 2, 2]), rtol=1e-5)
    np.testing.assert_allclose(run(both.covariance()), expected.cov(), rtol=1e-5)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (lambda: D.Normal(0.5, 1.5), lambda: D.Normal(-0.5, 2.0)),
        (lambda: D.Gamma(2.0, 1.5), lambda: D.Gamma(3.0, 2.0)),
        (lambda: D.Beta(2.0, 1.5), lambda: D.Beta(3.0, 2.0)),
        (lambda: D.Bernoulli(probs=0.3), lambda: D.Bernoulli(probs=0.6)),
        (lambda: D.Categorical(probs=[0.3, 0.7]), lambda: D.Categorical(probs=[0.6, 0.4])),
    ],
)
def test_divergence_is_the_mean_of_the_difference_of_log_probabilities(a, b):
    a, b = a(), b()
    x = a.sample(100000, seed=2)
    estimate, exact, cross = run([tf.reduce_mean(a.log_prob(x) - b.log_prob(x)), a.kl_divergence(b), a.cross_entropy(b)])
    np.testing.assert_allclose(estimate, exact, rtol=0.05)
    np.testing.assert_allclose(cross, exact + run(a.entropy()), rtol=1e-5)


def test_divergences_can_be_registered():
    class Mine(D.Normal):
        pass

    D.RegisterKL(Mine, D.Uniform)(lambda a, b, name=None: tf.constant(7.0))
    assert run(D.kl_divergence(Mine(0.0, 1.0), D.Uniform())) == 7.0
    with pytest.raises(ValueError, match="has already been registered"):
        D.RegisterKL(Mine, D.Uniform)(lambda a, b, name=None: None)
    with pytest.raises(NotImplementedError, match="distribution_a type Normal and distribution_b type Uniform"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Uniform())


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: D.Normal(0.0, -1.0, validate_args=True).mean(), tf.errors.InvalidArgumentError, "Condition x > 0"),
        (lambda: D.Bernoulli(probs=1.5, validate_args=True).mean(), tf.errors.InvalidArgumentError, "greater than 1"),
        (lambda: D.Bernoulli(probs=0.5, logits=0.0), ValueError, "Must pass probs or logits, but not both"),
        (lambda: D.Beta(1.0, 1.0, validate_args=True).log_prob(2.0), tf.errors.InvalidArgumentError, "must be less than `1`"),
        (lambda: D.Uniform(2.0, 1.0, validate_args=True).mean(), tf.errors.InvalidArgumentError, "low >= high"),
        (lambda: D.StudentT(1.0, 0.0, 1.0, allow_nan_stats=False).mean(), tf.errors.InvalidArgumentError, "mean not defined"),
        (lambda: D.Multinomial(3.5, probs=[0.3, 0.7], validate_args=True).mean(), tf.errors.InvalidArgumentError, "fractional"),
        (lambda: D.Normal(0.0, tf.constant(1.0, tf.float64)), ValueError, "must be of the same type"),
    ],
)
def test_parameters_are_checked(make, error, text):
    with pytest.raises(error, match=text):
        run(make())


def test_what_is_not_defined_is_nan():
    np.testing.assert_array_equal(run(D.StudentT([1.0, 2.0, 4.0], 0.0, 1.0).variance()), [np.nan, np.inf, 2.0])
    np.testing.assert_array_equal(run(D.Gamma([0.5, 3.0], 1.0).mode()), [np.nan, 2.0])


def test_copies_and_names():
    with tf.Graph().as_default():
        d = D.Normal(0.0, [1.0, 2.0])
        other = d.copy(loc=5.0)
        np.testing.assert_array_equal(run(other.mean()), [5.0, 5.0])
        assert d.name == "Normal/" and d.mean().name.startswith("Normal/mean/")
        assert str(d) == 'tfp.distributions.Normal("Normal/", batch_shape=(2,), event_shape=(), dtype=float32)'
    assert D.Normal.param_static_shapes([2, 3]) == {"loc": tf.TensorShape([2, 3]), "scale": tf.TensorShape([2, 3])}
