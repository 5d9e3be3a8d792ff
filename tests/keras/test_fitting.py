"""fit, evaluate and predict: batches, callbacks, validation, and what is refused."""

import csv
import json

import numpy as np
import pytest

import everflow as tf

L = tf.keras.layers
X = np.arange(10, dtype=np.float32).reshape(10, 1)
Y = 2 * X


def linear(rate=0.0, kernel=1.0, **kwargs):
    """A model that multiplies with its only weight."""
    model = tf.keras.Sequential(
        [L.Dense(1, use_bias=False, kernel_initializer=tf.keras.initializers.Constant(kernel), input_shape=(1,), name="d")]
    )
    model.compile(tf.keras.optimizers.SGD(rate), "mse", **kwargs)
    return model


def noting(calls):
    """A callback that writes down what is called."""
    hooks = [
        f"{when}_{hook}"
        for when in ("train", "test", "predict", "train_batch", "test_batch", "predict_batch", "epoch")
        for hook in ("begin", "end")
    ]
    made = {
        f"on_{hook}": lambda self, *args, hook=hook, **_: calls.append((hook, *[a for a in args if isinstance(a, int)])) for hook in hooks
    }
    return type("Noting", (tf.keras.callbacks.Callback,), made)()


def test_callbacks_are_called_in_order():
    calls = []
    notes = noting(calls)
    linear().fit(X[:4], Y[:4], batch_size=3, epochs=2, verbose=0, callbacks=[notes], validation_data=(X[:1], Y[:1]), validation_freq=2)
    steps = [("train_batch_begin", 0), ("train_batch_end", 0), ("train_batch_begin", 1), ("train_batch_end", 1)]
    test = [("test_begin",), ("test_batch_begin", 0), ("test_batch_end", 0), ("test_end",)]
    assert calls == [
        ("train_begin",),
        ("epoch_begin", 0),
        *steps,
        ("epoch_end", 0),
        ("epoch_begin", 1),
        *steps,
        *test,
        ("epoch_end", 1),
        ("train_end",),
    ]
    calls.clear()
    linear().predict(X[:3], batch_size=2, callbacks=[notes])
    assert [c[0] for c in calls] == ["predict_begin", *["predict_batch_begin", "predict_batch_end"] * 2, "predict_end"]
    calls.clear()
    linear().evaluate(X[:3], Y[:3], batch_size=2, verbose=0, callbacks=[notes])
    assert [c[0] for c in calls] == ["test_begin", *["test_batch_begin", "test_batch_end"] * 2, "test_end"]


def test_history_holds_means_over_samples():
    history = linear(metrics=["mae"]).fit(X, Y, batch_size=4, epochs=3, initial_epoch=1, verbose=0, validation_split=0.3, shuffle=False)
    assert history.epoch == [1, 2]
    np.testing.assert_allclose(history.history["loss"], [np.mean(X[:7] ** 2)] * 2, rtol=1e-5)
    np.testing.assert_allclose(history.history["val_loss"], [np.mean(X[7:] ** 2)] * 2, rtol=1e-5)
    assert history.params["metrics"] == ["loss", "mean_absolute_error", "val_loss", "val_mean_absolute_error"]
    assert (history.params["samples"], history.params["batch_size"], history.params["epochs"]) == (7, 4, 3)


def test_a_step_follows_the_gradient():
    model = linear(rate=0.1, kernel=1.0)
    loss = model.train_on_batch(np.array([[2.0]]), np.array([[4.0]]))
    np.testing.assert_allclose(loss, 4.0)
    np.testing.assert_allclose(model.get_weights()[0], [[1.8]], rtol=1e-6)
    np.testing.assert_allclose(model.test_on_batch(np.array([[2.0]]), np.array([[4.0]])), 0.16, rtol=1e-4)
    np.testing.assert_allclose(model.predict_on_batch(np.array([[2.0]])), [[3.6]], rtol=1e-6)


def test_weights_of_classes_and_samples_scale_losses():
    x, y = np.array([[1.0], [2.0]]), np.array([[0.0], [1.0]])
    each = (x - y).ravel() ** 2
    np.testing.assert_allclose(linear().train_on_batch(x, y, class_weight={0: 3.0, 1: 0.5}), np.mean(each * [3, 0.5]), rtol=1e-6)
    np.testing.assert_allclose(linear().train_on_batch(x, y, sample_weight=np.array([3.0, 0.5])), np.mean(each * [3, 0.5]), rtol=1e-6)
    model = linear(weighted_metrics=["mae"])
    np.testing.assert_allclose(
        model.evaluate(x, y, sample_weight=np.array([3.0, 1.0]), verbose=0), [np.mean(each * [3, 1]), 1.0], rtol=1e-5
    )
    # Without weights all samples count the same again.
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0), [1.0, 1.0], rtol=1e-5)


@pytest.mark.parametrize("source", ["arrays", "steps", "dataset", "generator", "sequence", "tensors"])
def test_every_source_gives_the_same_loss(source):
    class Halves(tf.keras.utils.Sequence):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return X[5 * i : 5 * i + 5], Y[5 * i : 5 * i + 5]

    def forever():
        while True:
            yield from (Halves()[0], Halves()[1])

    model = linear()
    found = {
        "arrays": lambda: model.evaluate(X, Y, verbose=0),
        "steps": lambda: model.evaluate(X, Y, steps=2, verbose=0),
        "dataset": lambda: model.evaluate(tf.data.Dataset.from_tensor_slices((X, Y)).batch(5), verbose=0, steps=2),
        "generator": lambda: model.evaluate_generator(forever(), steps=2),
        "sequence": lambda: model.evaluate_generator(Halves(), workers=2),
        "tensors": lambda: model.evaluate(tf.constant(X), tf.constant(Y), steps=1, verbose=0),
    }[source]()
    np.testing.assert_allclose(found, np.mean(X**2), rtol=1e-5)


def test_shuffling_keeps_samples_together_and_batches_may_stay_whole():
    seen = []
    model = linear()
    note = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append(float(logs["loss"])))
    np.random.seed(0)
    model.fit(X, Y, batch_size=1, verbose=0, callbacks=[note])
    assert seen != sorted(seen)
    np.testing.assert_allclose(sorted(seen), X.ravel() ** 2, rtol=1e-5)
    seen.clear()
    model.fit(X, Y, batch_size=5, verbose=0, shuffle="batch", callbacks=[note])
    np.testing.assert_allclose(sorted(seen), [np.mean(X[:5] ** 2), np.mean(X[5:] ** 2)], rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.fit(X, Y[:4]), "same number of samples"),
        (lambda m: m.fit(np.zeros((4, 2)), Y[:4]), r"expected d_input to have shape \(1,\)"),
        (lambda m: m.fit(X, Y, sample_weight=np.ones((3,))), "sample_weight"),
        (lambda m: m.fit(X, Y, validation_data=(X,)), "validation_data"),
        (lambda m: m.fit(X, Y, validation_freq=0, validation_data=(X, Y)), "less than 1"),
        (lambda m: m.fit(tf.data.Dataset.from_tensors((X, Y)), Y), "should not specify a target"),
        (lambda m: m.fit(tf.data.Dataset.from_tensors((X, Y)), batch_size=2), "`batch_size` argument must not be specified"),
        (lambda m: m.fit(tf.data.Dataset.from_tensors((X, Y)).repeat()), "steps_per_epoch"),
        (lambda m: m.fit(X, Y, class_weight={0: 1.0}), "must contain all classes"),
        (lambda m: m.fit(tf.constant(X), tf.constant(Y)), "steps_per_epoch"),
        (lambda m: m.fit({"wrong": X}, Y), "No data provided"),
        (lambda m: m.compile("sgd", {"x": "mse"}), "Unknown entr"),
        (lambda m: m.compile("sgd", ["mse", "mse"]), "one entry per model output"),
        (lambda m: m.compile("sgd", "mse", loss_weights=[1, 2]), "loss_weights"),
        (lambda m: m.compile("sgd", "mse", metrics={"x": "mae"}), "Unknown entr"),
        (lambda m: m.compile("sgd", "none"), "Unknown loss function"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(linear())


def test_models_must_be_compiled():
    model = tf.keras.Sequential([L.Dense(1, input_shape=(1,))])
    assert model.metrics_names == ["loss"]
    assert not hasattr(model, "loss")
    for call in (lambda: model.fit(X, Y), lambda: model.evaluate(X, Y), lambda: model.train_on_batch(X, Y)):
        with pytest.raises(RuntimeError, match="must compile your model"):
            call()
    assert model.predict(X).shape == (10, 1)


def test_early_stopping_goes_back_to_the_best():
    model = linear(rate=0.5)
    stop = tf.keras.callbacks.EarlyStopping("loss", patience=1, restore_best_weights=True)
    history = model.fit(np.array([[3.0]]), np.array([[0.0]]), epochs=10, verbose=0, callbacks=[stop])
    assert history.epoch == [0, 1]
    assert stop.stopped_epoch == 1
    assert stop.best == pytest.approx(9.0)


def test_rates_follow_plans_and_plateaus():
    model = linear(rate=0.4)
    plan = tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    history = model.fit(X[:1], Y[:1], epochs=3, verbose=0, callbacks=[plan])
    np.testing.assert_allclose(history.history["lr"], [0.2, 0.1, 0.05], rtol=1e-5)
    model = linear(rate=1e-30)
    plateau = tf.keras.callbacks.ReduceLROnPlateau("loss", factor=0.1, patience=2, min_lr=0)
    history = model.fit(X, Y, epochs=5, verbose=0, callbacks=[plateau])
    np.testing.assert_allclose(history.history["lr"], [1e-30, 1e-30, 1e-30, 1e-31, 1e-31], rtol=1e-4)
    with pytest.raises(ValueError, match="does not support a factor >= 1.0"):
        tf.keras.callbacks.ReduceLROnPlateau(factor=1.0)


def test_not_a_number_ends_training():
    history = linear().fit(
        np.array([[np.nan], [1.0]]),
        np.array([[0.0], [0.0]]),
        epochs=3,
        batch_size=1,
        verbose=0,
        callbacks=[tf.keras.callbacks.TerminateOnNaN()],
    )
    assert len(history.epoch) == 1


def test_checkpoints_and_logs_are_files(tmp_path):
    model = linear(rate=0.01)
    calls = [
        tf.keras.callbacks.CSVLogger(str(tmp_path / "log.csv")),
        tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "w{epoch}.h5"), save_weights_only=True),
        tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "best.h5"), "loss", save_best_only=True),
    ]
    history = model.fit(X, Y, epochs=2, verbose=0, callbacks=calls)
    with open(tmp_path / "log.csv") as f:
        rows = list(csv.DictReader(f))
    assert [r["epoch"] for r in rows] == ["0", "1"]
    np.testing.assert_allclose([float(r["loss"]) for r in rows], history.history["loss"], rtol=1e-6)
    again = linear()
    again.load_weights(str(tmp_path / "w2.h5"))
    np.testing.assert_allclose(again.get_weights()[0], model.get_weights()[0])
    best = tf.keras.models.load_model(str(tmp_path / "best.h5"))
    np.testing.assert_allclose(best.get_weights()[0], model.get_weights()[0])
    np.testing.assert_allclose(best.evaluate(X, Y, verbose=0), model.evaluate(X, Y, verbose=0), rtol=1e-6)
    assert json.loads(model.to_json())["config"]["layers"][0]["config"]["units"] == 1
    np.testing.assert_allclose(tf.keras.models.model_from_json(model.to_json()).predict(X[:2]), X[:2])


def test_text_and_sequences_become_numbers():
    P = tf.keras.preprocessing
    tokens = P.text.Tokenizer(num_words=3, oov_token="?")
    tokens.fit_on_texts(["a b a.", "A c"])
    assert tokens.word_index == {"?": 1, "a": 2, "b": 3, "c": 4}
    assert tokens.texts_to_sequences(["a b z"]) == [[2, 1, 1]]
    assert tokens.sequences_to_texts([[2, 1]]) == ["a ?"]
    assert tokens.texts_to_matrix(["a a b"], "count").tolist() == [[0, 1, 2]]
    assert P.sequence.pad_sequences([[1, 2, 3], [4]], maxlen=2).tolist() == [[2, 3], [0, 4]]
    assert P.sequence.pad_sequences([[1, 2, 3], [4]], maxlen=2, padding="post", truncating="post", value=9).tolist() == [[1, 2], [4, 9]]
    windows = P.sequence.TimeseriesGenerator(np.arange(6), np.arange(6), length=2, batch_size=2)
    assert len(windows) == 2
    assert windows[0][0].tolist() == [[0, 1], [1, 2]]
    assert windows[0][1].tolist() == [2, 3]
    assert P.text.text_to_word_sequence("Hi, you!") == ["hi", "you"]
    assert tf.keras.utils.to_categorical([0, 2]).tolist() == [[1, 0, 0], [0, 0, 1]]
    np.testing.assert_allclose(tf.keras.utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("how", ["fit", "train_on_batch", "predict"])
def test_models_without_an_input_shape_take_vectors_as_columns(how):
    x = np.arange(7.0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    if how == "predict":
        assert model.predict(x).shape == (7, 1)
    else:
        model.compile("sgd", "mse")
        getattr(model, how)(x, x)
    assert model.inputs[0].shape.as_list() == [None, 1] and model.layers[0].kernel.shape.as_list() == [1, 1]
