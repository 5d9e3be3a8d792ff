"""What stands around models: premade ones, files of data, pictures, scikit-learn."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode

keras = tf.keras


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    keras.backend.clear_session()
    if request.param == "eager":
        with eager_mode():
            yield
    else:
        with tf.Graph().as_default(), tf.Session():
            yield


def test_linear_models_learn_sums(mode):
    rng = np.random.RandomState(0)
    a, b = rng.rand(64, 2).astype(np.float32), rng.rand(64, 1).astype(np.float32)
    y = a @ [[1.0], [2.0]] + 3.0 * b + 0.5
    model = keras.experimental.LinearModel()
    model.compile(keras.optimizers.SGD(0.3), "mse")
    history = model.fit([a, b], y, epochs=30, batch_size=16, verbose=0).history["loss"]
    assert history[-1] < 0.05 * history[0] and [w.shape.as_list() for w in model.weights] == [[2, 1], [1, 1], [1]]
    again = keras.experimental.LinearModel.from_config(model.get_config())
    assert again.units == 1 and again.use_bias


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_each_part_of_a_wide_and_deep_model_has_its_optimizer(run_eagerly):
    keras.backend.clear_session()
    with eager_mode():
        linear = keras.experimental.LinearModel()
        deep = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
        model = keras.experimental.WideDeepModel(linear, deep)
        model.compile([keras.optimizers.SGD(0.0), keras.optimizers.SGD(0.1)], "mse", run_eagerly=run_eagerly)
        x, y = np.ones([4, 2], np.float32), np.full([4, 1], 9.0, np.float32)
        model.predict([x, x])
        before = [v.numpy() for v in linear.weights], [v.numpy() for v in deep.weights]
        model.fit([x, x], y, verbose=0)
        after = [v.numpy() for v in linear.weights], [v.numpy() for v in deep.weights]
    assert all((a == b).all() for a, b in zip(before[0], after[0]))
    assert any((a != b).any() for a, b in zip(before[1], after[1]))


def test_rows_of_files_stand_for_arrays(tmp_path):
    import h5py

    path = str(tmp_path / "m.h5")
    with h5py.File(path, "w") as f:
        f["d"] = np.arange(20.0).reshape(10, 2)
    rows = keras.utils.HDF5Matrix(path, "d", start=2, end=8, normalizer=lambda x: x + 1)
    assert (len(rows), rows.shape, rows.ndim, rows.size) == (6, (6, 2), 2, 12)
    assert rows[0].tolist() == [5.0, 6.0] and rows[[0, 2]].tolist() == [[5.0, 6.0], [9.0, 10.0]] and rows[4:].tolist()[-1] == [15.0, 16.0]
    for bad in (6, slice(0, 9), [0, 9]):
        with pytest.raises(IndexError):
            rows[bad]
    with tf.Graph().as_default(), tf.Session():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        assert len(model.fit(rows, np.ones([6, 1]), batch_size=2, epochs=2, shuffle="batch", verbose=0).history["loss"]) == 2


def test_sources_of_tensors(mode):
    a, b = keras.Input((2,)), keras.Input((2,))
    y = keras.layers.Dense(1)(keras.layers.Add()([a, b]))
    assert {id(t) for t in keras.utils.get_source_inputs(y)} == {id(a), id(b)}


def test_what_a_machine_lacks_is_said(mode):
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    with pytest.raises(ValueError, match=r"call `multi_gpu_model` with `gpus >= 2`"):
        keras.utils.multi_gpu_model(model, 1)
    with pytest.raises(ValueError, match="this machine only has"):
        keras.utils.multi_gpu_model(model, [7, 8])
    try:
        import pydot  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="You must install pydot and graphviz"):
            keras.utils.plot_model(model)


def build_classifier(units=4):
    model = keras.Sequential([keras.layers.Dense(units, activation="relu", input_shape=(2,)), keras.layers.Dense(3, activation="softmax")])
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    return model


def test_scikit_learn_sees_classifiers_and_regressors(mode):
    x, y = np.random.RandomState(0).rand(30, 2), np.array(["a", "b", "c"] * 10)
    classifier = keras.wrappers.scikit_learn.KerasClassifier(build_classifier, units=5, epochs=2, verbose=0)
    classifier.fit(x, y)
    assert set(classifier.predict(x)) <= {"a", "b", "c"} and classifier.predict_proba(x).shape == (30, 3)
    assert 0.0 <= classifier.score(x, y, verbose=0) <= 1.0 and classifier.get_params()["units"] == 5
    with pytest.raises(ValueError, match="wrong is not a legal parameter"):
        keras.wrappers.scikit_learn.KerasClassifier(build_classifier, wrong=1)

    def build():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        return model

    regressor = keras.wrappers.scikit_learn.KerasRegressor(build, verbose=0)
    regressor.fit(x, x.sum(axis=1))
    assert regressor.predict(x).shape == (30,) and regressor.score(x, x.sum(axis=1)) <= 0.0


def test_recurrent_layers_show_what_their_cells_have():
    with tf.Graph().as_default():
        layer = keras.layers.LSTM(3, dropout=0.25)
        assert layer.units == 3 and layer.dropout == 0.25 and isinstance(type(layer).units, property)


def test_kernels_of_theano_are_turned_round(mode):
    model = keras.Sequential(
        [keras.layers.Conv2D(2, (2, 3), input_shape=(5, 5, 1)), keras.layers.DepthwiseConv2D(2), keras.layers.Conv2DTranspose(1, 2)]
    )
    before = model.get_weights()
    keras.utils.convert_all_kernels_in_model(model)
    after = model.get_weights()
    turned = [0, 4]
    for i, (old, new) in enumerate(zip(before, after)):
        np.testing.assert_array_equal(new, old[::-1, ::-1] if i in turned else old)
