"""tf.contrib.distributions: draws, densities and gradients are 1.15.5's."""

import inspect

import numpy as np
import pytest
import scipy.stats as stats

import everflow as tf
from everflow.contrib.distributions.sample_tests import DiscreteScalarDistributionTestHelpers
from everflow.contrib.distributions.shape import DistributionShape
from running import run

d = tf.contrib.distributions
b = d.bijectors
V = [1.0, 2.0]


def _diffeomixture():
    scales = [
        tf.linalg.LinearOperatorScaledIdentity(2, np.float32(1.1), is_positive_definite=True),
        tf.linalg.LinearOperatorDiag(np.float32([2.0, 0.5]), is_positive_definite=True),
    ]
    return d.VectorDiffeomixture([[0.0], [1.0]], [1.0], d.Normal(0.0, 1.0), loc=[None, np.float32([2.0, 3.0])], scale=scales)


def _chained(s=None):
    before = tf.concat([tf.zeros_like(s[..., :1]), s[..., :-1] * 0.5], -1)
    return d.Independent(d.Normal(before, 1.0), 1)


# What makes it, a value, and what 1.15.5 says: the first of three draws with seed 42, log_prob, the mean, and the gradient
# of log_prob in the first parameter.
CASES = {
    "Cauchy": (lambda: d.Cauchy(V, [1.0, 0.5]), V, [7.6191, 2.3116, 2.3347], [-1.1447, -0.45158], [np.nan, np.nan], [0]),
    "Logistic": (lambda: d.Logistic(V, [1.0, 0.5]), V, [3.9933, 2.3709, 2.3573], [-1.3863, -0.69315], [1, 2], [-0]),
    "HalfNormal": (lambda: d.HalfNormal(V), V, [0.28078, 0.2755, 0.67633], [-0.72579, -1.4189], [0.79788, 1.5958], [5.9605e-08]),
    "Binomial": (lambda: d.Binomial([4.0, 5.0], probs=[0.2, 0.7]), V, None, [-0.89257, -2.0227], [0.8, 3.5], [0.026856]),
    "NegativeBinomial": (
        lambda: d.NegativeBinomial([4.0, 5.0], probs=[0.2, 0.7]),
        V,
        [0, 10, 3],
        [-1.1157, -4.0252],
        [1, 11.667],
        [0.026856],
    ),
    "Geometric": (lambda: d.Geometric(probs=[0.2, 0.7]), V, [0, 0, 1], [-1.8326, -2.7646], [4, 0.42857], [3.75]),
    "Poisson": (lambda: d.Poisson([2.0, 3.0]), V, [2, 4, 3], [-1.3069, -1.4959], [2, 3], [-1]),
    "Chi2": (lambda: d.Chi2([2.0, 3.0]), V, [0.90055, 2.001, 9.5474], [-1.1931, -1.5724], [2, 3], [-0.11593]),
    "InverseGamma": (
        lambda: d.InverseGamma([3.0, 4.0], [1.0, 2.0]),
        V,
        [0.56961, 0.59425, 0.14127],
        [-1.6931, -3.4849],
        [0.5, 0.66667],
        [-0.92278],
    ),
    "Deterministic": (lambda: d.Deterministic(V), V, [1, 2, 1], [0, 0], [1, 2], None),
    "VectorDeterministic": (lambda: d.VectorDeterministic(V), V, [1, 2, 1], [0], [1, 2], None),
    "Kumaraswamy": (
        lambda: d.Kumaraswamy([2.0, 3.0], [1.5, 2.0]),
        [0.3, 0.6],
        [0.93189, 0.75597, 0.80789],
        [-0.15252, 0.52676],
        [0.58905, 0.64286],
        [2],
    ),
    "SinhArcsinh": (
        lambda: d.SinhArcsinh(V, [1.0, 0.5], skewness=0.3, tailweight=1.2),
        V,
        [1.02, 2.0717, 0.70018],
        [-0.789, -0.095852],
        None,
        [-0.60904],
    ),
    "VectorSinhArcsinhDiag": (
        lambda: d.VectorSinhArcsinhDiag(V, [1.0, 0.5], skewness=0.3, tailweight=1.2),
        V,
        [1.02, 2.0717, 0.70018],
        [-0.88485],
        None,
        [-0.60904],
    ),
    "MultivariateNormalDiag": (lambda: d.MultivariateNormalDiag(V, [1.0, 0.5]), V, [0.71922, 1.9311, 0.32367], [-1.1447], [1, 2], [0]),
    "MultivariateNormalDiagPlusLowRank": (
        lambda: d.MultivariateNormalDiagPlusLowRank(V, [1.0, 0.5], scale_perturb_factor=[[1.0], [0.3]]),
        V,
        [0.39712, 1.8345, -0.34529],
        [-1.9241],
        [1, 2],
        [0],
    ),
    "MultivariateNormalTriL": (
        lambda: d.MultivariateNormalTriL(V, [[1.0, 0], [0.3, 0.5]]),
        V,
        [0.71922, 1.8469, 0.32367],
        [-1.1447],
        [1, 2],
        [0],
    ),
    "MultivariateNormalFullCovariance": (
        lambda: d.MultivariateNormalFullCovariance(V, [[1.0, 0.3], [0.3, 0.5]]),
        V,
        [0.71922, 1.8276, 0.32367],
        [-1.3921],
        [1, 2],
        [0],
    ),
    "VectorExponentialDiag": (
        lambda: d.VectorExponentialDiag([0.1, 0.2], [1.0, 0.5]),
        V,
        [0.14891, 0.39474, 0.32901],
        [-3.8069],
        [1.1, 0.7],
        [1.1544],
    ),
    "VectorLaplaceDiag": (lambda: d.VectorLaplaceDiag([0.1, 0.2], [1.0, 0.5]), V, [2.4491, 0.41911, 0.99315], [-5.1931], [0.1, 0.2], [2]),
    "OneHotCategorical": (lambda: d.OneHotCategorical(probs=[0.1, 0.6, 0.3]), [0, 1, 0], [0, 1, 0], [-0.51083], None, [-0.1]),
    "RelaxedOneHotCategorical": (
        lambda: d.RelaxedOneHotCategorical(0.5, probs=[0.1, 0.6, 0.3]),
        [0.2, 0.7, 0.1],
        [0.50556, 0.28695, 0.20749],
        [-0.21631],
        None,
        [0.64496],
    ),
    "RelaxedBernoulli": (
        lambda: d.RelaxedBernoulli(0.5, probs=[0.1, 0.6]),
        [0.2, 0.7],
        [0.83092, 0.90844, 0.15711],
        [-0.76598, -0.51888],
        None,
        [0.31818],
    ),
    "Mixture": (
        lambda: d.Mixture(d.Categorical(probs=[0.3, 0.7]), [d.Normal(0.0, 1.0), d.Normal(3.0, 0.5)]),
        1.0,
        [2.5127, 3.0714, 3.6726],
        [-2.6203],
        [2.1],
        [0.69743],
    ),
    "MixtureStatic": (
        lambda: d.Mixture(d.Categorical(probs=[0.3, 0.7]), [d.Normal(0.0, 1.0), d.Normal(3.0, 0.5)], use_static_graph=True),
        1.0,
        [2.5127, 3.0714, 3.6726],
        [-2.6203],
        [2.1],
        [0.69743],
    ),
    "Independent": (lambda: d.Independent(d.Normal(V, [1.0, 0.5]), 1), V, [0.71922, 1.9311, 0.32367], [-1.1447], [1, 2], None),
    "BatchReshape": (
        lambda: d.BatchReshape(d.Normal(V, [1.0, 0.5]), [2, 1]),
        [[1.0], [2.0]],
        [0.71922, 1.9311, 0.32367],
        [-0.91894, -0.22579],
        [1, 2],
        None,
    ),
    "QuantizedDistribution": (
        lambda: d.QuantizedDistribution(d.Normal(V, [1.0, 2.0]), low=0.0, high=4.0),
        V,
        [1, 2, 1],
        [-1.0749, -1.6531],
        None,
        [-0.45986],
    ),
    "WishartCholesky": (
        lambda: d.WishartCholesky(4.0, [[1.0, 0], [0.3, 0.5]]),
        [[2.0, 0.5], [0.5, 1.0]],
        [2.417, 0.19936, 0.19936],
        [-2.9318],
        [4, 1.2],
        [0.050171],
    ),
    "WishartFull": (
        lambda: d.WishartFull(4.0, [[1.0, 0.3], [0.3, 0.5]]),
        [[2.0, 0.5], [0.5, 1.0]],
        [2.417, 0.051828, 0.051828],
        [-3.2343],
        [4, 1.2],
        [-0.19718],
    ),
    "PoissonLogNormal": (
        lambda: d.PoissonLogNormalQuadratureCompound([0.1, 0.2], [0.5, 0.3]),
        V,
        [2, 3, 3],
        [-1.9339, -1.7105],
        [3.4892, 3.5915],
        [-1.7126],
    ),
    "PoissonLogNormalGH": (
        lambda: d.PoissonLogNormalQuadratureCompound([0.1, 0.2], [0.5, 0.3], quadrature_fn=d.quadrature_scheme_lognormal_gauss_hermite),
        V,
        [0, 1, 0],
        [-1.1272, -1.5462],
        [1.2523, 1.2776],
        [-0.16671],
    ),
    "VectorDiffeomixture": (_diffeomixture, [[1.0, 2.0], [0.5, 3.0]], [0.61984, 1.4869, -0.027153], [-2.312, -4.5816], [1, 1.5], [2.4161]),
    "Transformed": (
        lambda: d.TransformedDistribution(d.Normal(V, [1.0, 0.5]), b.Exp()),
        V,
        [2.0528, 6.8973, 1.3822],
        [-1.4189, -4.3347],
        None,
        [-1],
    ),
    "TransformedEvent": (
        lambda: d.TransformedDistribution(
            d.Normal(V, [1.0, 0.5]), b.Affine(scale_tril=[[1.0, 0, 0], [1, 1, 0], [0.5, 0.5, 2]]), event_shape=[3]
        ),
        [[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]],
        [0.71922, 2.9261, 2.7607],
        [-3.45, -14.496],
        None,
        [0],
    ),
    "Autoregressive": (
        lambda: d.Autoregressive(_chained, sample0=tf.zeros([3])),
        [0.1, 0.2, 0.3],
        [-0.28078, -0.27814, -0.8154],
        [-2.7931],
        None,
        None,
    ),
    "Chi2WithAbsDf": (lambda: d.Chi2WithAbsDf([-2.0, 3.0]), V, [0.90055, 2.001, 9.5474], [-1.1931, -1.5724], [2, 3], [-0.11593]),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_tensorflow(name, session):
    make, value, sample, log_prob, mean, gradient = CASES[name]
    distribution = make()
    value = tf.constant(np.array(value, dtype=distribution.dtype.as_numpy_dtype))
    found = {"log_prob": distribution.log_prob(value)}
    if sample is not None:
        found["sample"] = distribution.sample(3, seed=42)
    if mean is not None:
        found["mean"] = distribution.mean()
    if gradient is not None:
        found["gradient"] = tf.gradients(found["log_prob"], distribution._graph_parents[:1])[0]
    wanted = {"sample": sample, "log_prob": log_prob, "mean": mean, "gradient": gradient}
    for what, values in session.run(found).items():
        first = np.ravel(values)[: len(wanted[what])]
        np.testing.assert_allclose(first, wanted[what], rtol=1e-4, atol=1e-6, err_msg=what)


# Each bijector with a point and the number of axes of an event there.
BIJECTORS = {
    "AffineScalar": (lambda: b.AffineScalar(1.0, [-2.0, 3.0]), [0.5, 2.0], 0),
    "Affine": (lambda: b.Affine([1.0, 2.0], scale_tril=[[1.0, 0.0], [0.5, 2.0]]), [0.5, 2.0], 1),
    "Affine of low rank": (lambda: b.Affine(scale_diag=[1.0, 2.0], scale_perturb_factor=[[1.0], [0.3]]), [0.5, 2.0], 1),
    "Chain": (lambda: b.Chain([b.Exp(), b.AffineScalar(0.1, 0.5)]), [0.5, 2.0], 1),
    "Exp": (lambda: b.Exp(), [0.5, 2.0], 0),
    "FillTriangular": (lambda: b.FillTriangular(), [0.5, 2.0, 3.0], 1),
    "Gumbel": (lambda: b.Gumbel(0.3, 1.5), [0.5, 2.0], 0),
    "Invert": (lambda: b.Invert(b.Exp()), [0.5, 2.0], 0),
    "Kumaraswamy": (lambda: b.Kumaraswamy(2.0, 1.5), [0.5, 0.2], 0),
    "Ordered": (lambda: b.Ordered(), [0.5, 2.0, 2.5], 1),
    "Permute": (lambda: b.Permute([2, 0, 1]), [0.5, 2.0, 3.0], 1),
    "PowerTransform": (lambda: b.PowerTransform(0.5), [0.5, 2.0], 0),
    "RealNVP": (lambda: b.RealNVP(1, lambda x, n: (x * 2.0, x * 0.3)), [[0.5, 2.0]], 1),
    "MaskedAutoregressiveFlow": (
        lambda: b.MaskedAutoregressiveFlow(lambda y: (tf.concat([y[..., :1] * 0, y[..., :1]], -1), y * [[0.0, 0.0]] + [[0.1, 0.2]])),
        [[0.5, 2.0]],
        1,
    ),
    "Sigmoid": (lambda: b.Sigmoid(), [0.5, 2.0], 0),
    "SinhArcsinh": (lambda: b.SinhArcsinh(0.3, 1.2), [0.5, 2.0], 0),
    "SoftmaxCentered": (lambda: b.SoftmaxCentered(), [0.5, 2.0], 1),
    "Softplus": (lambda: b.Softplus(0.7), [0.5, 2.0], 0),
    "Softsign": (lambda: b.Softsign(), [0.5, 2.0], 0),
    "Square": (lambda: b.Square(), [0.5, 2.0], 0),
}


@pytest.mark.parametrize("name", BIJECTORS)
def test_bijector_undoes_itself_and_knows_its_determinant(name, session):
    make, point, ndims = BIJECTORS[name]
    bijector = make()
    x = tf.constant(np.array(point, np.float32))
    y = bijector.forward(x)
    # Another tensor, so that nothing is remembered.
    back = bijector.inverse(tf.identity(y))
    determinant = bijector.forward_log_det_jacobian(x, event_ndims=ndims)
    there, again, stretch, narrow = session.run(
        [y, back, determinant, bijector.inverse_log_det_jacobian(tf.identity(y), event_ndims=max(ndims, bijector.inverse_min_event_ndims))]
    )
    np.testing.assert_allclose(again, np.array(point, np.float32), rtol=1e-4)
    np.testing.assert_allclose(stretch, -narrow, rtol=1e-3, atol=1e-5)
    if there.shape == again.shape:
        rows = [tf.gradients(tf.reshape(y, [-1])[i], x)[0] for i in range(there.size)]
        jacobian = np.array([np.ravel(r) for r in session.run(rows)])
        np.testing.assert_allclose(np.sum(stretch), np.log(abs(np.linalg.det(jacobian))), rtol=1e-3, atol=1e-4)


def test_results_of_a_bijector_are_remembered():
    bijector = b.Exp()
    x = tf.constant([1.0])
    y = bijector.forward(x)
    assert bijector.inverse(y) is x
    assert bijector.forward(x) is y


def test_absolute_value_has_two_points_for_each():
    left, right = b.AbsoluteValue().inverse([1.0, 2.0])
    assert run([left, right])[0].tolist() == [-1, -2]
    folded = d.TransformedDistribution(d.Normal(0.0, 1.0), b.AbsoluteValue())
    assert run(folded.prob(0.5)) == pytest.approx(2 * run(d.Normal(0.0, 1.0).prob(0.5)))
    with pytest.raises(NotImplementedError, match="not injective"):
        folded.cdf(1.0)


def test_conditions_reach_bijector_and_distribution():
    class Shift(b.ConditionalBijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, name="shift")

        def _forward(self, x, by):
            return x + by

        def _inverse(self, y, by):
            return y - by

        def _inverse_log_det_jacobian(self, y, by):
            return tf.constant(0.0)

    made = d.ConditionalTransformedDistribution(d.Normal(0.0, 1.0), Shift())
    same, moved = run([made.log_prob(3.0, bijector_kwargs={"by": 3.0}), d.Normal(0.0, 1.0).log_prob(0.0)])
    assert same == moved
    chain = b.Chain([Shift(), b.Exp()])
    assert run(chain._call_forward(0.0, "forward", shift={"by": 5.0})) == 6.0


@pytest.mark.parametrize("training", [True, False])
def test_batch_normalization_undoes_itself(training, session):
    bijector = b.BatchNormalization(tf.layers.BatchNormalization(epsilon=0.0, momentum=0.0), training=training)
    y = tf.constant([[1.0, 5.0], [3.0, 9.0]])
    x = bijector.inverse(y)
    session.run(tf.global_variables_initializer())
    normal = session.run(x)
    assert normal.tolist() == ([[-1, -1], [1, 1]] if training else [[1, 5], [3, 9]])
    stretch = session.run(bijector.inverse_log_det_jacobian(y, event_ndims=1))
    assert stretch == pytest.approx(-0.5 * np.log(1.0 * 4.0) if training else 0.0)


def test_masked_dense_sees_only_what_comes_before(session):
    x = tf.placeholder(tf.float32, [1, 3])
    shift, log_scale = b.masked_autoregressive_default_template([6])(x)
    session.run(tf.global_variables_initializer())
    one, other = (session.run([shift, log_scale], {x: [[1.0, 2.0, last]]}) for last in (3.0, 30.0))
    for before, after in zip(one, other):
        np.testing.assert_array_equal(before, after)
    changed = session.run(shift, {x: [[9.0, 2.0, 3.0]]})
    assert changed[0, 0] == one[0][0, 0]


def test_samples_have_statistics():
    assert run(d.percentile([1.0, 2.0, 3.0, 4.0], 60.0)) == 3.0
    assert run(d.percentile([1.0, 2.0, 3.0, 4.0], 60.0, interpolation="lower")) == 2.0
    assert run(d.percentile([[1.0, 5.0], [2.0, 7.0]], 100.0, axis=[0], keep_dims=True)).tolist() == [[2, 7]]
    with pytest.raises(ValueError, match="interpolation"):
        d.percentile([1.0], 50.0, interpolation="linear")
    wave = run(d.auto_correlation([1.0, -1.0, 1.0, -1.0], center=False))
    np.testing.assert_allclose(wave, [1, -1, 1, -1], atol=1e-6)


def test_moving_statistics_follow(session):
    mean, variance = tf.Variable(0.0), tf.Variable(0.0)
    update = d.assign_moving_mean_variance(mean, variance, 4.0, 0.5)
    session.run(tf.global_variables_initializer())
    session.run(update)
    assert session.run([mean, variance]) == [2.0, 4.0]
    logarithm = tf.Variable(np.log(2.0).astype(np.float32))
    moved = d.assign_log_moving_mean_exp(logarithm, np.log(6.0).astype(np.float32), 0.25)
    session.run(logarithm.initializer)
    assert session.run(moved) == pytest.approx(np.log(0.25 * 2 + 0.75 * 6))


def test_moving_statistics_are_floating_and_of_one_type():
    with pytest.raises(TypeError, match=r"mean_var.base_dtype\(int32\) does not have float type"):
        d.assign_moving_mean_variance(tf.Variable(0), tf.Variable(0.0), 4.0, 0.5)
    with pytest.raises(TypeError, match=r"mean_var.base_dtype\(float32\) != variance_var.base_dtype\(float64\)"):
        d.assign_moving_mean_variance(tf.Variable(0.0), tf.Variable(np.float64(0)), 4.0, 0.5)


def test_distributions_remember_what_they_were_made_of():
    halved = d.MultivariateNormalDiag([0.0, 1.0], scale_identity_multiplier=0.5, name="halved")
    assert halved.parameters == {
        "loc": [0.0, 1.0],
        "scale_diag": None,
        "scale_identity_multiplier": 0.5,
        "validate_args": False,
        "allow_nan_stats": True,
        "name": "halved",
    }
    wider = halved.copy(scale_identity_multiplier=2.0)
    assert run([halved.stddev(), wider.stddev()])[1].tolist() == [2, 2]
    # Not those of the gamma distribution that it is.
    assert d.Chi2(3.0).parameters == {"df": 3.0, "validate_args": False, "allow_nan_stats": True, "name": "Chi2"}
    assert d.VectorExponentialDiag([1.0]).copy(loc=[2.0]).parameters["loc"] == [2.0]


def test_constructors_show_and_check_their_arguments():
    assert inspect.getfullargspec(d.Chi2.__init__).args == ["self", "df", "validate_args", "allow_nan_stats", "name"]
    assert list(inspect.signature(d.Poisson).parameters) == ["rate", "log_rate", "validate_args", "allow_nan_stats", "name"]
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'df'"):
        d.Chi2()
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'dof'"):
        d.Chi2(3.0, dof=3.0)


def test_entropy_of_wishart_is_the_mean_of_minus_log_prob():
    wishart = d.WishartFull(7.0, [[2.0, 0.5], [0.5, 1.0]])
    said, seen = run([wishart.entropy(), -tf.reduce_mean(wishart.log_prob(wishart.sample(20000, seed=1)))])
    assert said == pytest.approx(seen, abs=0.05)
    assert said == pytest.approx(stats.wishart(7, [[2.0, 0.5], [0.5, 1.0]]).entropy(), rel=1e-5)


def test_variance_of_compound_counts_is_that_of_its_mixture():
    compound = d.PoissonLogNormalQuadratureCompound([0.3, 2.0], [0.5, 1.0])
    rates, weights, variance, deviation = run(
        [compound.distribution.rate, compound.mixture_distribution.probs, compound.variance(), compound.stddev()]
    )
    mean = (rates * weights).sum(-1)
    expected = mean + (weights * (rates - mean[:, None]) ** 2).sum(-1)
    np.testing.assert_allclose(variance, expected, rtol=1e-5)
    np.testing.assert_allclose(deviation, expected**0.5, rtol=1e-5)


def test_histograms_count_from_edge_to_edge():
    helpers = DiscreteScalarDistributionTestHelpers()
    counts, edges = run(helpers.histogram([0.0, 0.0, 1.0, 2.0, 2.0]))
    assert counts.tolist() == [2, 1, 2]
    assert edges.tolist() == [0, 1, 2]
    counts, edges = run(helpers.histogram([0.0, 0.5, 1.0, 2.0, 2.9], value_range=[0.0, 4.0], nbins=2))
    assert counts.tolist() == [3, 2]
    assert edges.tolist() == [0, 2]


def test_batches_are_reshaped_as_far_as_they_fit(session):
    shape = tf.placeholder(tf.int32, [2])
    reshaped = d.BatchReshape(d.Normal([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 1.0), shape, validate_args=True)
    assert session.run(reshaped.mean(), {shape: [3, -1]}).tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="At most one dimension can be unknown"):
        session.run(reshaped.mean(), {shape: [-1, -1]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shape sizes do not match"):
        session.run(reshaped.mean(), {shape: [4, -1]})


def test_conjugates_add_precisions():
    posterior = d.normal_conjugates_known_scale_posterior(d.Normal(0.0, 1.0), scale=1.0, s=tf.constant(6.0), n=2)
    assert run([posterior.loc, posterior.scale]) == pytest.approx([2.0, 3**-0.5])
    predictive = d.normal_conjugates_known_scale_predictive(d.Normal(0.0, 1.0), scale=1.0, s=tf.constant(6.0), n=2)
    assert run(predictive.scale) == pytest.approx((4 / 3) ** 0.5)


def test_seed_stream_gives_tensorflows_seeds():
    stream = d.SeedStream(1, salt="salt1")
    # Of 1.15.5.
    assert [stream() % 10**9, stream() % 10**9] == [604245961, 120892521]
    assert d.SeedStream(None, "a")() is None


def test_divergences_are_there():
    one, two = d.MultivariateNormalDiag([0.0, 0.0], [1.0, 1.0]), d.MultivariateNormalDiag([1.0, 0.0], [1.0, 1.0])
    assert run(d.kl_divergence(one, two)) == pytest.approx(0.5)
    assert run(d.kl_divergence(d.HalfNormal(1.0), d.HalfNormal(1.0))) == 0.0
    separate = [d.Independent(d.Normal([0.0, m], [1.0, 1.0]), 1) for m in (0.0, 1.0)]
    assert run(d.kl_divergence(*separate)) == pytest.approx(0.5)


def test_expectations_are_computed_by_sampling():
    monte_carlo = tf.contrib.bayesflow.monte_carlo
    normal = d.Normal(tf.constant(1.0), 1.0)
    samples = normal.sample(20000, seed=1)
    through, score = (monte_carlo.expectation(tf.square, samples, log_prob=normal.log_prob, use_reparametrization=u) for u in (True, False))
    gradients = [tf.gradients(e, normal.loc)[0] for e in (through, score)]
    values = run([through, score, *gradients])
    np.testing.assert_allclose(values, [2.0, 2.0, 2.0, 2.0], rtol=0.1)
    weighed = monte_carlo.expectation_importance_sampler(lambda x: x, d.Normal(0.5, 1.0).log_prob, d.Normal(0.0, 1.5), n=20000, seed=3)
    assert run(weighed) == pytest.approx(0.5, abs=0.05)


def test_bad_arguments_are_told():
    with pytest.raises(ValueError, match="base distribution not scalar"):
        d.TransformedDistribution(d.MultivariateNormalDiag([0.0, 0.0]), event_shape=[2])
    with pytest.raises(ValueError, match="cat.num_classes"):
        d.Mixture(d.Categorical(probs=[0.5, 0.5]), [d.Normal(0.0, 1.0)])
    with pytest.raises(ValueError, match="must match `distribution.batch_shape` size"):
        d.BatchReshape(d.Normal([0.0, 1.0], 1.0), [3])
    with pytest.raises(ValueError, match="cannot be less than dimension"):
        d.WishartFull(1.0, [[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(NotImplementedError, match="too few batch and event dims"):
        d.BatchReshape(d.Normal([0.0, 1.0], 1.0), [2, 1]).log_prob(0.0)
    with pytest.raises(ValueError, match="event_ndims .0. must be larger than"):
        b.SoftmaxCentered().forward_log_det_jacobian([1.0], event_ndims=0)


@pytest.mark.parametrize("known", [True, False])
def test_draws_are_gathered_behind_batch_and_event_and_put_back(known):
    x = np.arange(24.0).reshape(2, 3, 4)
    for batch, event in ((0, 0), (1, 0), (0, 1), (1, 1)):
        fed = [tf.placeholder_with_default(value, None) for value in (x, np.int32(batch), np.int32(event))]
        tensor, *sizes = (x, batch, event) if known else fed
        shape = DistributionShape(*sizes)
        matrices, sample = shape.make_batch_of_event_sample_matrices(tensor)
        back = shape.undo_make_batch_of_event_sample_matrices(matrices, sample)
        found, drawn, again = run([matrices, sample, back])
        inner = x.shape[3 - batch - event :]
        assert drawn.tolist() == list(x.shape[: 3 - batch - event])
        assert found.shape == (*([1] * (not batch)), *inner, *([1] * (not event)), drawn.prod())
        np.testing.assert_array_equal(again, x)


def test_numbers_of_dimensions_fit_the_tensor():
    with pytest.raises(ValueError, match=r"expected batch_ndims\(1\) \+ event_ndims\(1\) <= ndims\(1\)"):
        DistributionShape(1, 1).get_shape(np.ones(3))
    with pytest.raises(ValueError, match="cannot be negative"):
        DistributionShape(-1, 0)
