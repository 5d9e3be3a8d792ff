"""What `compile` is told of losses, weights, metrics and targets, and where `fit` finds its data; values are those of TensorFlow 1.15.5."""

import contextlib
import io

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

K, L, keras = tf.keras.backend, tf.keras.layers, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X = some(4, 2)
YA, YB = some(4, 1), np.eye(2, dtype=np.float32)[[0, 1, 1, 0]]


def two(a=1, b=2):
    """A model with two outputs."""
    x = keras.Input((2,), name="x")
    model = keras.Model(x, [L.Dense(a, name="a")(x), L.Dense(b, activation="softmax", name="b")(x)])
    model.set_weights([some(*w.shape) for w in model.get_weights()])
    return model


def judged(loss="mse", y=(YA, YB), weight=None, **kwargs):
    """The names of losses and metrics, and their values."""
    model = two()
    model.compile("sgd", loss, **kwargs)
    values = model.test_on_batch(X, list(y), sample_weight=weight)
    return [model.metrics_names, values]


def one(activation, units, loss, metrics, y):
    """Names and values of the metrics of a model with one output."""
    model = keras.Sequential([L.Dense(units, activation=activation, input_shape=(2,))])
    model.set_weights([some(*w.shape) for w in model.get_weights()])
    model.compile("sgd", loss, metrics)
    return dict(zip(model.metrics_names, np.reshape(model.test_on_batch(X, y), -1).tolist()))


def over_time(mode, weight, mask=False, **kwargs):
    """The loss of an output that has time steps."""
    layers = [L.Masking(input_shape=(3, 1))] if mask else []
    model = keras.Sequential([*layers, L.TimeDistributed(L.Dense(1, kernel_initializer="ones"), input_shape=(3, 1))])
    model.compile("sgd", "mse", sample_weight_mode=mode, **kwargs)
    return model.test_on_batch(np.floor(some(2, 3, 1) * 3), np.zeros((2, 3, 1)), sample_weight=weight)


def given_targets(targets, loss="mse"):
    model = two()
    model.compile("sgd", loss, target_tensors=targets)
    fed = [t.op.type for t in model._targets if t is not None] if hasattr(model, "_targets") else None
    return [fed, model.test_on_batch(X, None if fed and "Placeholder" not in fed else [YA, YB][: fed.count("Placeholder")])]


def compiled(loss="mse", **kwargs):
    return two().compile("sgd", loss, **kwargs)


def fitted(x=X, y=YA, shape=(2,), batch=None, **kwargs):
    """The history of a model with one weight for each input, what it learnt, and what was printed."""
    model = keras.Sequential([L.Dense(1, kernel_initializer="ones", use_bias=False, input_shape=shape, batch_size=batch)])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        history = model.fit(x, y, verbose=kwargs.pop("verbose", 0), **kwargs)
    return [history.history, model.get_weights(), printed.getvalue().splitlines()[:1]]


def seen(call, **kwargs):
    """What evaluate or predict say."""
    model = keras.Sequential([L.Dense(1, kernel_initializer="ones", input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae"], **kwargs)
    return call(model)


def dataset(*parts, size=2):
    return tf.data.Dataset.from_tensor_slices(parts if len(parts) > 1 else parts[0]).batch(size)


class Batches(keras.utils.Sequence):
    def __init__(self, *parts):
        self.parts = parts

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return tuple(p[2 * i : 2 * i + 2] for p in self.parts)


def forever(*parts):
    while True:
        yield from (Batches(*parts)[0], Batches(*parts)[1])


HEAVY = np.array([1.0, 0.0, 2.0, 0.5])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: judged("mse"), [["loss", "a_loss", "b_loss"], [1.207, 1.035, 0.1723]]),
        (lambda: judged(["mae", None], y=[YA]), [["loss", "a_loss"], [0.8897, 0.8897]]),
        (lambda: judged(("mae", "mse")), [["loss", "a_loss", "b_loss"], [1.062, 0.8897, 0.1723]]),
        (lambda: judged({"b": "categorical_crossentropy"}, y=[YB]), [["loss", "b_loss"], [0.518, 0.518]]),
        (
            lambda: judged({"a": "mse", "b": keras.losses.CategoricalCrossentropy(label_smoothing=0.5)}),
            [["loss", "a_loss", "b_loss"], [1.687, 1.035, 0.6519]],
        ),
        (
            lambda: judged([keras.losses.Huber(0.1), lambda t, p: K.sum(t * p, -1)]),
            [["loss", "a_loss", "b_loss"], [0.6996, 0.08397, 0.6157]],
        ),
        (lambda: judged(keras.losses.MeanSquaredError(reduction="sum")), [["loss", "a_loss", "b_loss"], [4.828, 4.139, 0.6892]]),
        (
            lambda: judged(keras.losses.MeanSquaredError(reduction="none")),
            [["loss", "a_loss", "b_loss"], [[0.8023, 0.5557, 3.024, 0.4455], 1.035, 0.1723]],
        ),
        (lambda: judged(loss_weights=[0.5, 3.0]), [["loss", "a_loss", "b_loss"], [1.034, 1.035, 0.1723]]),
        (lambda: judged(loss_weights={"b": 2.0}), [["loss", "a_loss", "b_loss"], [1.379, 1.035, 0.1723]]),
        (lambda: judged(weight={"a": HEAVY}), [["loss", "a_loss", "b_loss"], [1.791, 1.619, 0.1723]]),
        (
            lambda: judged(weight=[HEAVY, HEAVY[::-1]], weighted_metrics=["mae"], metrics=["mae"]),
            [
                [
                    "loss",
                    "a_loss",
                    "b_loss",
                    "a_mean_absolute_error",
                    "a_weighted_mean_absolute_error",
                    "b_mean_absolute_error",
                    "b_weighted_mean_absolute_error",
                ],
                [1.743, 1.619, 0.1233, 0.8897, 1.242, 0.3843, 0.3329],
            ],
        ),
        (
            lambda: judged(metrics=["mae", "acc"]),
            [
                ["loss", "a_loss", "b_loss", "a_mean_absolute_error", "a_acc", "b_mean_absolute_error", "b_acc"],
                [1.207, 1.035, 0.1723, 0.8897, 0.0, 0.3843, 0.5],
            ],
        ),
        (lambda: judged(metrics={"b": "accuracy"}), [["loss", "a_loss", "b_loss", "b_acc"], [1.207, 1.035, 0.1723, 0.5]]),
        (
            lambda: judged(metrics={"b": ["accuracy", "ce"], "a": [keras.metrics.RootMeanSquaredError()]}),
            [["loss", "a_loss", "b_loss", "a_root_mean_squared_error", "b_acc", "b_ce"], [1.207, 1.035, 0.1723, 1.017, 0.5, 0.518]],
        ),
        (
            lambda: judged(metrics=[["mae", "mse"], "accuracy"]),
            [
                ["loss", "a_loss", "b_loss", "a_mean_absolute_error", "a_mean_squared_error", "b_acc"],
                [1.207, 1.035, 0.1723, 0.8897, 1.035, 0.5],
            ],
        ),
        (
            lambda: judged(metrics=[[], ["accuracy"]], weighted_metrics={"a": "mae"}, weight=[HEAVY, None]),
            [["loss", "a_loss", "b_loss", "a_weighted_mean_absolute_error", "b_acc"], [1.791, 1.619, 0.1723, 1.242, 0.5]],
        ),
        (
            lambda: judged(metrics=[keras.metrics.MeanAbsoluteError(name="off"), keras.metrics.MeanAbsoluteError(name="off")]),
            [["loss", "a_loss", "b_loss", "a_off", "b_off"], [1.207, 1.035, 0.1723, 0.8897, 0.3843]],
        ),
        (
            lambda: judged({"a": "mse"}, y=[YA], metrics={"a": "mae", "b": "acc"}),
            [["loss", "a_loss", "a_mean_absolute_error"], [1.035, 1.035, 0.8897]],
        ),
        (lambda: one("sigmoid", 1, "mse", ["acc", "ce"], YB[:, :1]), {"loss": 0.1545, "acc": 0.75, "ce": 0.4946}),
        (lambda: one("sigmoid", 2, "binary_crossentropy", ["accuracy", "crossentropy"], YB), {"loss": 0.6443, "acc": 0.625, "ce": 0.6443}),
        (lambda: one("softmax", 2, "categorical_crossentropy", ["accuracy", "crossentropy"], YB), {"loss": 0.518, "acc": 0.5, "ce": 0.518}),
        (
            lambda: one("softmax", 2, "sparse_categorical_crossentropy", ["accuracy", "crossentropy"], YB[:, :1]),
            {"loss": 1.054, "acc": 0.5, "ce": 1.054},
        ),
        (lambda: one("softmax", 2, "mse", ["accuracy", "crossentropy"], YB), {"loss": 0.1723, "acc": 0.5, "ce": 0.518}),
        (lambda: one(None, 1, "mse", ["mae", keras.metrics.Mean(name="all")][:1], YA), {"loss": 1.035, "mean_absolute_error": 0.8897}),
        (lambda: over_time("temporal", np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])), 2.833),
        (lambda: over_time(["temporal"], np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])), 2.833),
        (lambda: over_time({"time_distributed": "temporal"}, None), 4.333),
        (lambda: over_time(None, np.array([1.0, 3.0])), 10.33),
        (lambda: over_time(None, None, mask=True, metrics=["mae"], weighted_metrics=["mae"]), [4.333, 2.5, 2.5]),
        (lambda: over_time("temporal", np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), mask=True, weighted_metrics=["mae"]), [2.833, 2.333]),
        (lambda: given_targets([tf.constant(YA), tf.constant(YB)]), [["Const", "Const"], [1.207, 1.035, 0.1723]]),
        (lambda: given_targets({"a": tf.constant(YA), "b": tf.constant(YB)}), [["Const", "Const"], [1.207, 1.035, 0.1723]]),
        (
            lambda: given_targets([tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 2])]),
            [["Placeholder", "Placeholder"], [1.207, 1.035, 0.1723]],
        ),
        (lambda: given_targets([]), [["Placeholder", "Placeholder"], [1.207, 1.035, 0.1723]]),
    ],
)
def test_losses_and_metrics_of_outputs(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: compiled("ce"), "ValueError: Unknown loss function:ce"),
        (lambda: compiled({"c": "mse"}), "ValueError: Unknown entries in loss dictionary: ['c']. Only expected following keys: ['a',"),
        (lambda: compiled(["mse"]), "ValueError: When passing a list as loss, it should have one entry per model outputs. The m"),
        (
            lambda: compiled(loss_weights={"c": 1.0}),
            "ValueError: Unknown entries in loss_weights dictionary: ['c']. Only expected following key",
        ),
        (
            lambda: compiled(loss_weights=[1.0]),
            "ValueError: When passing a list as loss_weights, it should have one entry per model output",
        ),
        (lambda: compiled(loss_weights=3.0), "TypeError: Could not interpret loss_weights argument: 3.0 - expected a list of dicts."),
        (
            lambda: compiled(metrics={"c": "mae"}),
            "ValueError: Unknown entries in metrics dictionary: ['c']. Only expected following keys: ['",
        ),
        (lambda: compiled(metrics=[["mae"]]), "ValueError: When passing a list of lists as `metrics`, it should have one entry per model "),
        (lambda: compiled(metrics="mae"), "TypeError: Type of `metrics` argument not understood. Expected a list or dictionary, found"),
        (lambda: compiled(metrics=["odd"]), "ValueError: Unknown metric function:odd"),
        (
            lambda: compiled(sample_weight_mode={"c": "temporal"}),
            "ValueError: Unknown entries in sample_weight_mode dictionary: ['c']. Only expected followi",
        ),
        (lambda: compiled(sample_weight_mode={"a": "temporal"}), "ValueError: Output bmissing from `_sample_weight_modes` dictionary"),
        (
            lambda: compiled(sample_weight_mode=["temporal"]),
            "ValueError: When passing a list as sample_weight_mode, it should have one entry per model ",
        ),
        (
            lambda: compiled(target_tensors={"c": tf.zeros((1,))}),
            "ValueError: Unknown entry in `target_tensors` dictionary: \"{'c'}\". Only expected the follo",
        ),
        (
            lambda: compiled(target_tensors=[tf.zeros((1,))]),
            "ValueError: When passing a list as `target_tensors`, it should have one entry per model ou",
        ),
        (lambda: compiled(target_tensors=3), "TypeError: ('Expected `target_tensors` to be a list or tuple or dict or a single tensor, b"),
        (lambda: compiled(run_eagerly=True), "ValueError: You can only set `run_eagerly=True` if eager execution is enabled."),
        (lambda: compiled(odd=3), "no error, but None"),
        (lambda: compiled({}), "ValueError: The model cannot be compiled because it has no loss to optimize."),
        (lambda: two().fit(X, [YA, YB]), "RuntimeError: You must compile your model before training/testing. Use `model.compile(opti"),
        (lambda: judged(y=[YA]), "ValueError: Error when checking model target: the list of Numpy arrays that you are passin"),
        (lambda: judged(weight=[HEAVY]), "ValueError: Provided `sample_weight` was a list of 1 elements, but the model has 2 outputs"),
        (lambda: fitted(nb_epoch=1, odd=2), "TypeError: Unrecognized keyword arguments: {'odd': 2}"),
        (
            lambda: fitted(batch_size=3, batch=2),
            "ValueError: The `batch_size` argument value 3 is incompatible with the specified batch siz",
        ),
        (
            lambda: fitted(tf.constant(X), tf.constant(YA), validation_split=0.5, steps_per_epoch=1),
            "ValueError: If your data is in the form of symbolic tensors, you cannot use `validation_sp",
        ),
        (
            lambda: fitted(dataset(X, YA), None, validation_split=0.5)[0],
            "ValueError: `validation_split` argument is not supported when input `x` is a dataset or a ",
        ),
        (
            lambda: fitted(Batches(X, YA), YA)[0],
            "ValueError: `y` argument is not supported when data isa generator or Sequence instance. In",
        ),
        (
            lambda: fitted(forever(X, YA), None, sample_weight=HEAVY, steps_per_epoch=1)[0],
            "ValueError: `sample_weight` argument is not supported when data isa generator or Sequence ",
        ),
        (
            lambda: fitted(validation_freq=2.5, validation_data=(X, YA)),
            "ValueError: `validation_freq` must be an Integer or `collections_abc.Container` (e.g. list",
        ),
        (
            lambda: fitted(tf.data.make_one_shot_iterator(dataset(X, YA)), None, steps_per_epoch=2),
            "ValueError: For performance reasons Keras `fit`, `evaluate` and`predict` accept tf.data `D",
        ),
        (
            lambda: fitted(dataset(X, YA), YA)[0],
            "ValueError: You passed a dataset or dataset iterator (<DatasetV1Adapter shapes: ((?, 2), (",
        ),
        (lambda: fitted(forever(X, YA), None), "ValueError: Please specify the number of steps via the `steps_per_epoch` argument."),
        (
            lambda: fitted(validation_data=(X,)),
            "ValueError: When passing a `validation_data` argument, it must contain either 2 items (x_v",
        ),
        (
            lambda: fitted(forever(X, YA, YA, YA), None, steps_per_epoch=1),
            "ValueError: Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or (in",
        ),
    ],
)
def test_what_cannot_be_compiled_or_fitted(wrong, expected):
    assert refused(wrong)[:90] == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: fitted(batch_size=2, steps_per_epoch=2), [{"loss": [1.736], "mean_absolute_error": [0.9043]}, [[[0.8025], [0.6803]]], []]),
        (
            lambda: fitted(dataset(X, YA, HEAVY), None, steps_per_epoch=2, verbose=1, validation_data=dataset(X, YA), validation_steps=1),
            [
                {"loss": [3.451], "mean_absolute_error": [0.9494], "val_loss": [0.09058], "val_mean_absolute_error": [0.2923]},
                [[[0.6156], [0.4325]]],
                ["Train on 2 steps, validate on 1 steps"],
            ],
        ),
        (lambda: fitted(verbose=1, validation_data=dataset(X, YA), validation_steps=1)[2], ["Train on 4 samples, validate on 1 samples"]),
        (
            lambda: fitted(epochs=2, shuffle=False, batch_size=3),
            [{"loss": [1.915, 1.422], "mean_absolute_error": [0.9525, 0.756]}, [[[0.7454], [0.5776]]], []],
        ),
        (
            lambda: fitted(epochs=2, shuffle=False, verbose=2),
            [{"loss": [1.925, 1.548], "mean_absolute_error": [0.978, 0.8306]}, [[[0.8025], [0.6803]]], ["Train on 4 samples"]],
        ),
        (
            lambda: fitted(shuffle=False, verbose=1, batch_size=2, validation_split=0.25),
            [
                {"loss": [2.401], "mean_absolute_error": [1.197], "val_loss": [0.0003728], "val_mean_absolute_error": [0.01931]},
                [[[0.5966], [0.4391]]],
                ["Train on 3 samples, validate on 1 samples"],
            ],
        ),
        (lambda: fitted(nb_epoch=3, shuffle=False)[0]["loss"], [1.925, 1.548, 1.26]),
        (lambda: fitted(shuffle=False, batch=2), [{"loss": [1.81], "mean_absolute_error": [0.9459]}, [[[0.7942], [0.67]]], []]),
        (
            lambda: fitted(steps_per_epoch=2, epochs=2, shuffle=False),
            [{"loss": [1.736, 1.15], "mean_absolute_error": [0.9043, 0.6762]}, [[[0.6523], [0.4352]]], []],
        ),
        (
            lambda: fitted(steps_per_epoch=3, verbose=2),
            [{"loss": [1.577], "mean_absolute_error": [0.8394]}, [[[0.7222], [0.5496]]], ["Train on 3 samples"]],
        ),
        (
            lambda: fitted(sample_weight=HEAVY, shuffle=False, batch_size=2),
            [{"loss": [3.451], "mean_absolute_error": [0.9494]}, [[[0.6156], [0.4325]]], []],
        ),
        (
            lambda: fitted(y=np.array([0, 1, 1, 0]), class_weight={0: 3.0, 1: 0.5}, shuffle=False),
            [{"loss": [1.56], "mean_absolute_error": [0.9963]}, [[[0.9633], [0.7913]]], []],
        ),
        (
            lambda: fitted(validation_data=(X[:2], YA[:2]), validation_freq=[2], epochs=3, shuffle=False)[0],
            {
                "loss": [1.925, 1.548, 1.26],
                "mean_absolute_error": [0.978, 0.8306, 0.7097],
                "val_loss": [0.164],
                "val_mean_absolute_error": [0.2941],
            },
        ),
        (
            lambda: fitted(validation_data=(X[:2], YA[:2], HEAVY[:2]), shuffle=False)[0],
            {"loss": [1.925], "mean_absolute_error": [0.978], "val_loss": [0.2436], "val_mean_absolute_error": [0.3935]},
        ),
        (
            lambda: fitted(validation_data=(X[:3], YA[:3]), batch_size=2, validation_steps=1, shuffle=False)[0],
            {"loss": [1.81], "mean_absolute_error": [0.9459], "val_loss": [1.651], "val_mean_absolute_error": [0.9138]},
        ),
        (
            lambda: fitted(validation_data=dataset(X, YA), validation_steps=1, shuffle=False)[0],
            {"loss": [1.925], "mean_absolute_error": [0.978], "val_loss": [0.2476], "val_mean_absolute_error": [0.3935]},
        ),
        (
            lambda: fitted(validation_split=0.3, batch_size=1, shuffle=False)[0],
            {"loss": [0.3719], "mean_absolute_error": [0.5152], "val_loss": [3.032], "val_mean_absolute_error": [1.304]},
        ),
        (
            lambda: fitted(validation_split=0.3, validation_data=(X, YA), shuffle=False)[0],
            {"loss": [1.925], "mean_absolute_error": [0.978], "val_loss": [1.548], "val_mean_absolute_error": [0.8306]},
        ),
        (
            lambda: fitted(dataset(X, YA), None, epochs=2, steps_per_epoch=1),
            [{"loss": [0.3759, 3.244], "mean_absolute_error": [0.5252, 1.367]}, [[[0.7942], [0.67]]], []],
        ),
        (lambda: fitted(Batches(X, YA), None, shuffle=False, workers=0)[0], {"loss": [1.81], "mean_absolute_error": [0.9459]}),
        (
            lambda: fitted(Batches(X, YA, HEAVY), None, shuffle=False, epochs=2)[0],
            {"loss": [3.451, 1.583], "mean_absolute_error": [0.9494, 0.5986]},
        ),
        (lambda: fitted(forever(X, YA), None, steps_per_epoch=3)[0], {"loss": [1.26], "mean_absolute_error": [0.7287]}),
        (
            lambda: fitted(forever(X, YA), None, steps_per_epoch=3, workers=0, epochs=2)[0],
            {"loss": [1.26, 1.299], "mean_absolute_error": [0.7287, 0.7596]},
        ),
        (lambda: fitted(tf.constant(X), tf.constant(YA), steps_per_epoch=2)[0], {"loss": [1.736], "mean_absolute_error": [0.9043]}),
        (lambda: fitted(initial_epoch=2, epochs=3, shuffle=False)[0], {"loss": [1.925], "mean_absolute_error": [0.978]}),
        (lambda: seen(lambda m: m.evaluate(X, YA, batch_size=3, verbose=0, sample_weight=HEAVY)), [3.629, 0.978]),
        (lambda: seen(lambda m: m.evaluate(X, YA, steps=2, verbose=0)), [1.925, 0.978]),
        (lambda: seen(lambda m: m.evaluate(dataset(X, YA), verbose=0, steps=1)), [0.3759, 0.5252]),
        (lambda: seen(lambda m: m.evaluate_generator(Batches(X, YA), steps=1)), [0.3759, 0.5252]),
        (lambda: seen(lambda m: m.predict(X, batch_size=3)), [[0.8415], [1.05], [-1.716], [0.3776]]),
        (lambda: seen(lambda m: m.predict(X, steps=2)), [[0.8415], [1.05], [-1.716], [0.3776], [0.8415], [1.05], [-1.716], [0.3776]]),
        (lambda: seen(lambda m: m.predict(dataset(X, size=3), steps=2)), [[0.8415], [1.05], [-1.716], [0.3776]]),
        (lambda: seen(lambda m: m.predict(dataset(X), steps=1)), [[0.8415], [1.05]]),
        (
            lambda: seen(lambda m: m.predict(tf.constant(X), steps=2)),
            [[0.8415], [1.05], [-1.716], [0.3776], [0.8415], [1.05], [-1.716], [0.3776]],
        ),
        (lambda: seen(lambda m: m.predict_generator(Batches(X))), [[0.8415], [1.05], [-1.716], [0.3776]]),
        (
            lambda: seen(lambda m: m.predict_generator(Batches(X, YA), steps=3, workers=0)),
            [[0.8415], [1.05], [-1.716], [0.3776], [0.8415], [1.05]],
        ),
        (lambda: seen(lambda m: m.predict_on_batch(X[:1])), [[0.8415]]),
        (
            lambda: seen(lambda m: [m.test_on_batch(X, YA), m.test_on_batch(X[:1], YA[:1], reset_metrics=False)]),
            [[1.925, 0.978], [0.7081, 0.8415]],
        ),
        (
            lambda: seen(lambda m: [m.train_on_batch(X, YA), m.train_on_batch(X[:1], YA[:1], reset_metrics=False)]),
            [[1.925, 0.978], [0.6952, 0.8338]],
        ),
        (
            lambda: seen(lambda m: m.train_on_batch(X, YA, sample_weight=HEAVY, class_weight=None), weighted_metrics=["mse"]),
            [3.629, 0.978, 4.148],
        ),
        (
            lambda: two().predict({"x": X}, batch_size=1),
            [[[0.7081], [0.1187], [-0.8069], [0.5528]], [[0.4514, 0.5486], [0.1827, 0.8173], [0.2806, 0.7194], [0.4746, 0.5254]]],
        ),
        (lambda: [v.shape for v in two().predict(np.zeros((3000, 2)), batch_size=2999)], [[3000, 1], [3000, 2]]),
    ],
)
def test_where_data_come_from(made, expected):
    assert plain(made(), 4) == expected
