import numpy as np
import pytest

import everflow as tf
from running import run

timeseries = tf.contrib.timeseries
BELOW = "tensorflow.contrib.timeseries.python.timeseries."
TIMES = np.arange(60)
VALUES = np.sin(TIMES / 5.0)


def reader():
    return timeseries.NumpyReader({"times": TIMES, "values": VALUES})


def internal(name):
    from everflow.internals import attribute, module

    path, _, last = name.rpartition(".")
    found = module("contrib.timeseries.python.timeseries." + path)
    return attribute(found.__everflow__, last) if hasattr(found, "__everflow__") else getattr(found, last)


def test_an_autoregressive_model_learns_evaluates_and_goes_on(tmp_path):
    regressor = timeseries.ARRegressor(
        periodicities=31,
        input_window_size=8,
        output_window_size=4,
        num_features=1,
        loss=timeseries.ARModel.SQUARED_LOSS,
        model_dir=str(tmp_path / "model"),
        config=tf.estimator.RunConfig(tf_random_seed=1),
    )
    inputs = timeseries.RandomWindowInputFn(reader(), window_size=12, batch_size=8)
    evaluation = timeseries.WholeDatasetInputFn(reader())
    regressor.train(inputs, steps=1)
    before = regressor.evaluate(evaluation, steps=1)
    regressor.train(inputs, steps=60)
    after = regressor.evaluate(evaluation, steps=1)
    assert after["loss"] < before["loss"] / 2
    assert after["mean"].shape == (1, 52, 1)
    prediction = next(regressor.predict(timeseries.predict_continuation_input_fn(after, steps=5)))
    assert prediction["times"].tolist() == [60, 61, 62, 63, 64]
    assert np.allclose(prediction["mean"][:, 0], np.sin(np.arange(60, 65) / 5.0), atol=0.6)


def test_an_exported_model_filters_and_predicts_what_the_estimator_does(tmp_path):
    regressor = timeseries.ARRegressor(
        periodicities=31, input_window_size=8, output_window_size=4, num_features=1, model_dir=str(tmp_path / "model")
    )
    regressor.train(timeseries.RandomWindowInputFn(reader(), window_size=12, batch_size=4), steps=3)
    evaluation = regressor.evaluate(timeseries.WholeDatasetInputFn(reader()), steps=1)
    expected = next(regressor.predict(timeseries.predict_continuation_input_fn(evaluation, steps=6)))
    folder = regressor.export_savedmodel(str(tmp_path / "export"), regressor.build_raw_serving_input_receiver_fn())
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], folder)
        served = timeseries.saved_model_utils
        state = served.cold_start_filter(signatures, session, {"times": TIMES, "values": VALUES})
        found = served.predict_continuation(state, signatures, session, steps=6)
    assert np.allclose(found["mean"][0], expected["mean"], atol=1e-5)


def test_a_structural_model_becomes_surer_of_a_line(tmp_path):
    line = timeseries.NumpyReader({"times": TIMES, "values": 2.0 * TIMES + 1})
    regressor = timeseries.StructuralEnsembleRegressor(
        periodicities=[],
        num_features=1,
        moving_average_order=1,
        model_dir=str(tmp_path / "model"),
        config=tf.estimator.RunConfig(tf_random_seed=1),
    )
    inputs = timeseries.WholeDatasetInputFn(line)
    regressor.train(inputs, steps=2)
    evaluation = regressor.evaluate(inputs, steps=1)
    prediction = next(regressor.predict(timeseries.predict_continuation_input_fn(evaluation, steps=2)))
    # After two steps, 1.15.5 says 117.8 and 119.6 where the line has 121 and 123; for other seeds up to one less.
    assert np.allclose(prediction["mean"][:, 0], [117.8, 119.6], atol=0.5)


def test_powers_of_matrices_are_those_of_numpy():
    matrix = np.array([[1.0, 0.5], [0.0, 0.9]], np.float32)
    powers = run(internal("math_utils.matrix_to_powers")(matrix, [0, 1, 5, 8]))
    assert np.allclose(powers, [np.linalg.matrix_power(matrix, n) for n in (0, 1, 5, 8)], atol=1e-5)
    sums = run(internal("math_utils.power_sums_tensor")(4, matrix, np.eye(2, dtype=np.float32)))
    expected = [np.zeros((2, 2))]
    for n in range(4):
        power = np.linalg.matrix_power(matrix, n)
        expected.append(expected[-1] + power @ power.T)
    assert np.allclose(sums, expected[: len(sums)], atol=1e-5)


def test_blocks_need_not_be_square():
    blocks = run(internal("math_utils.block_diagonal")([[[1.0]], [[2.0, 3.0]]]))
    assert blocks.tolist() == [[1, 0, 0], [0, 2, 3]]


def test_any_matrix_becomes_positive_definite():
    raw = np.array([[0.3, -2.0], [4.0, -1.0]], np.float32)
    assert (np.linalg.eigvalsh(run(internal("math_utils.sign_magnitude_positive_definite")(raw))) > 0).all()


def test_series_get_a_batch_and_a_feature_axis():
    features = timeseries.NumpyReader({"times": [1, 2], "values": [3.0, 4.0]})._features
    assert {key: value.shape for key, value in features.items()} == {"times": (1, 2), "values": (1, 2, 1)}
    with pytest.raises(ValueError, match="shapes prefixed by the shape of the times"):
        timeseries.NumpyReader({"times": [1, 2], "values": [3.0]})
    with pytest.raises(ValueError, match="only 60 records"):
        timeseries.RandomWindowInputFn(reader(), window_size=61, batch_size=1)
