"""Inputs that are fed, linear models by dual ascent, recurrent models, towers and exports; values are those of TensorFlow 1.15.5."""

import collections
import tempfile

import numpy as np
import pytest
from frames import DataFrame, Series
from plain import computed, plain

import everflow as tf
from everflow import internals

est, con, fc = tf.estimator, tf.contrib.estimator, tf.feature_column
feeding, canned, util, sdca, tables, rnn, outputs = (
    internals.module(f"tensorflow_estimator.python.estimator.{name}")
    for name in (
        "inputs.queues.feeding_functions",
        "canned.linear",
        "util",
        "canned.linear_optimizer.python.utils.sdca_ops",
        "canned.linear_optimizer.python.utils.sharded_mutable_dense_hashtable",
        "canned.rnn",
        "export.export_output",
    )
)
towers = internals.module("contrib.estimator.python.estimator.replicate_model_fn")
old_rnn = internals.module("contrib.estimator.python.estimator.rnn")


def evaluated(fetches, feeds=None):
    variables = [*tf.global_variables(), *tf.local_variables()]
    with tf.Session() as session:
        session.run([[v.initializer for v in variables], tf.tables_initializer()])
        return plain(session.run(fetches, feeds))


def fed(function, times=3):
    """What a function feeds, by the names of the placeholders; the name of the error that ends it."""
    found = []
    for _ in range(times):
        try:
            found.append({k: plain(np.asarray(v)) for k, v in function().items()})
        except (tf.errors.OutOfRangeError, KeyError, ValueError) as error:
            return [*found, type(error).__name__]
    return found


def counted(*rows):
    return lambda: iter(rows)


def queued(data, times=3, **kwargs):
    queue = feeding._enqueue_data(data, 10, **kwargs)
    batch = queue.dequeue_up_to(2)
    found = []
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            for _ in range(times):
                found.append(plain(session.run(batch)))
        except tf.errors.OutOfRangeError:
            found.append("end")
        coordinator.request_stop()
        session.run(queue.close(cancel_pending_enqueues=True))
        coordinator.join(threads, stop_grace_period_secs=5)
    return found


def frame(**columns):
    return DataFrame(columns, index=[10, 11, 12])


def from_pandas(y=None, times=3, **kwargs):
    x = frame(a=[1, 2, 3], b=["x", "y", "z"])
    made = est.inputs.pandas_input_fn(x, y, **dict(dict(batch_size=2, num_epochs=1, shuffle=False), **kwargs))()
    found = []
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        session.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            for _ in range(times):
                found.append(plain(session.run(made)))
        except tf.errors.OutOfRangeError:
            found.append("end")
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5, ignore_live_threads=True)
    return found


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: fed(feeding._ArrayFeedFn(["i", "a"], np.arange(6).reshape(3, 2), 2)),
            [{"i": [0, 1], "a": [[0, 1], [2, 3]]}, {"i": [2, 0], "a": [[4, 5], [0, 1]]}, {"i": [1, 2], "a": [[2, 3], [4, 5]]}],
        ),
        (
            lambda: fed(feeding._ArrayFeedFn(["i", "a"], np.arange(3), 2, num_epochs=1)),
            [{"i": [0, 1], "a": [0, 1]}, {"i": [2], "a": [2]}, "OutOfRangeError"],
        ),
        (
            lambda: fed(feeding._ArrayFeedFn(["i", "a"], np.arange(3), 2, num_epochs=2)),
            [{"i": [0, 1], "a": [0, 1]}, {"i": [2, 0], "a": [2, 0]}, {"i": [1, 2], "a": [1, 2]}],
        ),
        (lambda: fed(feeding._ArrayFeedFn(["i", "a"], np.arange(3), 5), 1), [{"i": [0, 1, 2, 0, 1], "a": [0, 1, 2, 0, 1]}]),
        (
            lambda: fed(feeding._ArrayFeedFn(["i", "a"], np.arange(9), 2, random_start=True, seed=3), 2),
            [{"i": [3, 4], "a": [3, 4]}, {"i": [5, 6], "a": [5, 6]}],
        ),
        (
            lambda: fed(
                feeding._OrderedDictNumpyFeedFn(
                    ["i", "a", "b"], collections.OrderedDict([("a", np.arange(3)), ("b", np.arange(3) * 10)]), 2, num_epochs=1
                )
            ),
            [{"i": [0, 1], "a": [0, 1], "b": [0, 10]}, {"i": [2], "a": [2], "b": [20]}, "OutOfRangeError"],
        ),
        (
            lambda: fed(feeding._PandasFeedFn(["i", "a", "b"], frame(a=[1, 2, 3], b=[1.5, 2.5, 3.5]), 2, num_epochs=1)),
            [{"a": [1, 2], "b": [1.5, 2.5], "i": [10, 11]}, {"a": [3], "b": [3.5], "i": [12]}, "OutOfRangeError"],
        ),
        (
            lambda: fed(feeding._GeneratorFeedFn(["a", "b"], counted({"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 6}), 2)),
            [{"a": [1], "b": [2]}, {"a": [3], "b": [4]}, {"a": [5], "b": [6]}],
        ),
        (
            lambda: fed(feeding._GeneratorFeedFn(["a"], counted({"a": 1}, {"a": 2}, {"a": 3}), 2, num_epochs=1)),
            [{"a": [1, 2]}, {"a": [3, 1]}, "OutOfRangeError"],
        ),
        (
            lambda: fed(feeding._GeneratorFeedFn(["a"], counted({"a": 1}, {"a": 2}, {"a": 3}), 2, num_epochs=2), 4),
            [{"a": [1, 2]}, {"a": [3, 1]}, {"a": [2, 3]}, {"a": [1, 2]}],
        ),
        (lambda: fed(feeding._GeneratorFeedFn(["a"], counted({"a": 1}, {"b": 2}), 2)), ["KeyError"]),
        (
            lambda: fed(feeding._GeneratorFeedFn(["a"], counted({"a": np.array([1])}, {"a": np.array([2, 3])}), 2, pad_value=-1), 1),
            [{"a": [[1, -1], [2, 3]]}],
        ),
        (lambda: feeding._pad_if_needed([np.array([1, 2]), np.array([3])], 9), [[1, 2], [3, 9]]),
        (lambda: feeding._pad_if_needed([np.array([1, 2]), np.array([3, 4])], 9), [[1, 2], [3, 4]]),
        (lambda: feeding._pad_if_needed([np.array([1.5]), np.array([])], 2.5).dtype.name, "float64"),
        (lambda: queued(np.arange(4).reshape(2, 2), num_epochs=1), [[[0, 1], [[0, 1], [2, 3]]], "end"]),
        (lambda: queued(np.arange(3), 4, num_epochs=2, enqueue_size=2), [[[0, 1], [0, 1]], [[2, 0], [2, 0]], [[1, 2], [1, 2]], "end"]),
        (
            lambda: queued(collections.OrderedDict([("a", np.arange(3)), ("b", np.array([b"x", b"y", b"z"]))]), num_epochs=1),
            [[[0, 1], [0, 1], [b"x", b"y"]], [[2], [2], [b"z"]], "end"],
        ),
        (lambda: queued(frame(a=[1, 2, 3], b=[1.5, 2.5, 3.5]), num_epochs=1), [[[10, 11], [1, 2], [1.5, 2.5]], [[12], [3], [3.5]], "end"]),
        (
            lambda: queued(counted(*({"a": np.int32(i), "b": np.array([i, 1.5])} for i in range(4))), num_epochs=1, enqueue_size=2),
            [[[0, 1], [[0.0, 1.5], [1.0, 1.5]]], [[2, 3], [[2.0, 1.5], [3.0, 1.5]]], [[0], [[0.0, 1.5]]]],
        ),
        (lambda: [t.name for t in feeding._enqueue_data(np.arange(3), 10).dtypes], ["int64", "int64"]),
        (lambda: [t.name for t in feeding._enqueue_data(frame(a=[1.5, 2, 3]), 10).dtypes], ["int64", "float64"]),
        (lambda: type(feeding._enqueue_data(np.arange(3), 10, shuffle=True)).__name__, "RandomShuffleQueue"),
        (lambda: type(feeding._enqueue_data(counted({"a": np.array([1])}), 10, pad_value=0)).__name__, "PaddingFIFOQueue"),
        (lambda: feeding._enqueue_data(np.arange(3), 8, shuffle=True).queue_ref.op.get_attr("min_after_dequeue"), 2),
        (lambda: feeding._enqueue_data(np.arange(3), 8, shuffle=True, min_after_dequeue=3).queue_ref.op.get_attr("min_after_dequeue"), 3),
        (lambda: feeding._enqueue_data(np.arange(3), 8, shuffle=True, seed=7).queue_ref.op.get_attr("seed2"), 7),
        (lambda: len(tf.get_collection("queue_runners")) if feeding._enqueue_data(np.arange(3), 8, num_threads=2) else 0, 1),
        (
            lambda: [t.op.name for t in tf.get_collection("summaries")] if feeding._enqueue_data(np.arange(3), 8, name="q") else 0,
            ["q/queue/q/fifo_queuefraction_over_0_of_8_full"],
        ),
        (lambda: from_pandas(), [{"a": [1, 2], "b": [b"x", b"y"]}, {"a": [3], "b": [b"z"]}, "end"]),
        (
            lambda: from_pandas(y=Series([7, 8, 9], index=[10, 11, 12])),
            [[{"a": [1, 2], "b": [b"x", b"y"]}, [7, 8]], [{"a": [3], "b": [b"z"]}, [9]], "end"],
        ),
        (
            lambda: from_pandas(y=DataFrame({"p": [7, 8, 9], "q": [1, 2, 3]}, index=[10, 11, 12])),
            [[{"a": [1, 2], "b": [b"x", b"y"]}, {"p": [7, 8], "q": [1, 2]}], [{"a": [3], "b": [b"z"]}, {"p": [9], "q": [3]}], "end"],
        ),
        (
            lambda: from_pandas(num_epochs=None),
            [{"a": [1, 2], "b": [b"x", b"y"]}, {"a": [3, 1], "b": [b"z", b"x"]}, {"a": [2, 3], "b": [b"y", b"z"]}],
        ),
        (
            lambda: from_pandas(num_epochs=2),
            [{"a": [1, 2], "b": [b"x", b"y"]}, {"a": [3, 1], "b": [b"z", b"x"]}, {"a": [2, 3], "b": [b"y", b"z"]}],
        ),
    ],
)
def test_arrays_frames_and_generators_are_fed_in_order(made, expected):
    assert plain(made()) == expected


def model(loss, l1=0.0, l2=1.0, shards=None, dense=True):
    column = sdca._SparseFeatureColumn([0, 0, 1, 2], [0, 2, 1, 2], [1.0, 2.0, 3.0, 0.5])
    sparse = tf.get_variable("s", [3], initializer=tf.zeros_initializer())
    examples = {
        "sparse_features": [column],
        "dense_features": [tf.constant([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]])] if dense else [],
        "example_labels": tf.constant([1.0, 0.0, 1.0]),
        "example_weights": tf.constant([1.0, 2.0, 1.0]),
        "example_ids": tf.constant(["a", "b", "c"]),
    }
    variables = {
        "sparse_features_weights": [sparse],
        "dense_features_weights": [tf.get_variable("d", [2], initializer=tf.zeros_initializer())] if dense else [],
    }
    options = {"symmetric_l1_regularization": l1, "symmetric_l2_regularization": l2, "num_table_shards": shards, "loss_type": loss}
    return sdca._SDCAModel(examples, variables, options), examples


def ascended(loss, passes=40, **kwargs):
    """Predictions, losses and weights after passes in whatever order, and whether there is no gap left."""
    made, examples = model(loss, **kwargs)
    step = tf.train.get_or_create_global_step()
    train = made.minimize(step)
    update = made.update_weights(train)
    found = [made.predictions(examples), made.unregularized_loss(examples), made.regularized_loss(examples)]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(passes):
            session.run(update)
        weights = np.concatenate([np.reshape(w, [-1]) for w in session.run([v for v in tf.trainable_variables() if v.op.name in "sd"])])
        gap = session.run(made.approximate_duality_gap())
        return plain([*session.run(found), weights, float(session.run(step)), float(abs(gap) < 0.01)], 4)


def table(shards, keys=(3, 4, 5)):
    made = tables._ShardedMutableDenseHashTable(tf.int64, tf.float32, [0.0, 0.5], -1, -2, num_shards=shards)
    keys = tf.constant(keys, tf.int64)
    with tf.Session() as session:
        session.run(made.insert(keys, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        found = session.run([made.lookup(tf.constant([5, 9, 3], tf.int64)), made.size()])
        return plain([*found, [len(k) for k in session.run(made.export_sharded()[0])]])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: ascended("logistic_loss"),
            [[0.8522, 0.1205, 0.874], 0.1378, 0.2606, [0.1478, -0.7229, 0.3586, 0.5257, 0.1806], 40.0, 1.0],
        ),
        (
            lambda: ascended("squared_loss"),
            [[0.9369, 0.008714, 0.9432], 0.0009198, 0.01499, [0.06311, -0.05228, 0.1546, 0.2335, 0.1656], 40.0, 1.0],
        ),
        (
            lambda: ascended("hinge_loss", passes=150),
            [[1.0, -1.0, 1.0], 0.0, 0.03389, [0.09091, -0.3715, 0.21, 0.2602, 0.1144], 150.0, 1.0],
        ),
        (
            lambda: ascended("smooth_hinge_loss"),
            [[0.9183, -0.942, 0.9443], 0.06335, 0.09297, [0.08166, -0.3483, 0.1911, 0.2486, 0.1029], 40.0, 1.0],
        ),
        (
            lambda: ascended("poisson_loss"),
            [[0.9576, 0.1131, 1.003], 0.5568, 0.6182, [0.04241, -0.6786, 0.08357, 0.03487, -0.1439], 40.0, 1.0],
        ),
        (
            lambda: ascended("logistic_loss", l1=0.2, l2=0.5),
            [[0.8303, 0.09796, 0.8903], 0.1271, 0.2906, [0.0, -0.7755, 0.3886, 0.5977, 0.1064], 40.0, 1.0],
        ),
        (
            lambda: ascended("squared_loss", l1=0.5, shards=2),
            [[0.7071, 0.07852, 0.854], 0.01493, 0.08428, [0.0, -0.0, 0.159, 0.232, 0.07852], 40.0, 1.0],
        ),
        (lambda: ascended("logistic_loss", dense=False), [[0.8034, 0.1139, 0.5751], 0.2535, 0.3626, [0.1966, -0.6837, 0.6056], 40.0, 1.0]),
    ],
)
def test_dual_ascent_finds_the_best_weights(made, expected):
    for found, wanted in zip(made(), expected):
        np.testing.assert_allclose(found, wanted, atol=0.01)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: table(1), [[[5.0, 6.0], [0.0, 0.5], [1.0, 2.0]], 3, [131072]]),
        (lambda: table(3), [[[5.0, 6.0], [0.0, 0.5], [1.0, 2.0]], 3, [131072, 131072, 131072]]),
    ],
)
def test_tables_have_parts(made, expected):
    assert made() == expected


def outputs_of(spec_output, receivers):
    signature = spec_output.as_signature_def(receivers)
    return [signature.method_name, sorted(signature.inputs), sorted(signature.outputs)]


def metric():
    return tf.metrics.mean(tf.constant([1.0]))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: outputs_of(outputs.TrainOutput(tf.constant(1.0), {"p": tf.constant([1.0])}, {"m": metric()}), {"x": tf.constant(1)}),
            ["tensorflow/supervised/training", ["x"], ["loss", "metrics/m/update_op", "metrics/m/value", "predictions/p"]],
        ),
        (
            lambda: outputs_of(outputs.EvalOutput(tf.constant(1.0), tf.constant([1.0]), {"m": metric()}), {"x": tf.constant(1)}),
            ["tensorflow/supervised/eval", ["x"], ["loss", "metrics/m/update_op", "metrics/m/value", "predictions"]],
        ),
        (
            lambda: outputs_of(outputs.EvalOutput({"l": tf.constant(1.0)}, None, None), {"x": tf.constant(1)}),
            ["tensorflow/supervised/eval", ["x"], ["loss/l"]],
        ),
        (
            lambda: outputs_of(
                outputs.EvalOutput(tf.constant(1.0), {("a", "b"): tf.constant(1)}, {"m": (metric()[0], tf.no_op())}), {"x": tf.constant(1)}
            ),
            ["tensorflow/supervised/eval", ["x"], ["loss", "metrics/m/update_op", "metrics/m/value", "predictions/a/b"]],
        ),
        (
            lambda: outputs_of(outputs.PredictOutput({"p": tf.constant([1.0])}), {"x": tf.constant(1)}),
            ["tensorflow/serving/predict", ["x"], ["p"]],
        ),
        (
            lambda: outputs_of(outputs.PredictOutput(tf.constant([1.0])), {"x": tf.constant(1)}),
            ["tensorflow/serving/predict", ["x"], ["output"]],
        ),
        (
            lambda: outputs_of(outputs.ClassificationOutput(scores=tf.constant([1.0])), {"x": tf.constant("a")}),
            ["tensorflow/serving/classify", ["inputs"], ["scores"]],
        ),
        (
            lambda: outputs_of(outputs.ClassificationOutput(classes=tf.constant(["a"])), {"x": tf.constant("a")}),
            ["tensorflow/serving/classify", ["inputs"], ["classes"]],
        ),
        (
            lambda: outputs_of(outputs.RegressionOutput(tf.constant([1.0])), {"x": tf.constant("a")}),
            ["tensorflow/serving/regress", ["inputs"], ["outputs"]],
        ),
        (lambda: est.export.ServingInputReceiver(tf.constant(1), tf.constant("a"))[:2][0]["feature"].dtype, "int32"),
        (lambda: sorted(est.export.ServingInputReceiver({"f": tf.constant(1)}, tf.constant("a")).receiver_tensors), ["input"]),
        (
            lambda: {
                k: sorted(v)
                for k, v in est.export.ServingInputReceiver(
                    {"f": tf.constant(1)}, tf.constant("a"), {"o": tf.constant("b"), "p": {"q": tf.constant("c")}}
                ).receiver_tensors_alternatives.items()
            },
            {"o": ["input"], "p": ["q"]},
        ),
        (lambda: type(est.export.TensorServingInputReceiver(tf.constant(1), tf.constant("a")).features).__name__, "Tensor"),
        (
            lambda: sorted(est.export.build_raw_serving_input_receiver_fn({"a": tf.constant([[1, 2]])}, 3)().features["a"].shape.as_list()),
            [2, 3],
        ),
        (lambda: est.export.build_raw_serving_input_receiver_fn({"a": tf.constant([[1, 2]])})().features["a"].shape, [None, 2]),
        (
            lambda: est.export.build_parsing_serving_input_receiver_fn({"a": tf.FixedLenFeature([2], tf.int64)}, 4)().features["a"].shape,
            [4, 2],
        ),
        (
            lambda: sorted(
                est.experimental.build_raw_supervised_input_receiver_fn({"a": tf.constant([[1]])}, tf.constant([1.0]))().receiver_tensors
            ),
            ["a", "label"],
        ),
        (
            lambda: (
                est.experimental.build_raw_supervised_input_receiver_fn(
                    {"a": tf.constant([[1]])}, {"b": tf.constant([1.0, 2.0])}, default_batch_size=5
                )()
                .labels["b"]
                .shape
            ),
            [5],
        ),
    ],
)
def test_exports_name_what_goes_in_and_out(made, expected):
    assert computed(made()) == expected


def small(optimizer=None):
    """A model function: w times x."""

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", initializer=2.0)
        y = features["x"] * w
        exported = {
            "serving_default": est.export.PredictOutput({"y": y}),
            "r": est.export.RegressionOutput(y),
            "c": est.export.ClassificationOutput(scores=y),
        }
        if mode == "infer":
            return est.EstimatorSpec(mode, predictions={"y": y}, export_outputs=exported)
        loss = tf.reduce_sum(tf.square(y - labels))
        made = optimizer() if optimizer else tf.train.GradientDescentOptimizer(0.01)
        train = made.minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, predictions={"y": y}, loss=loss, train_op=train, eval_metric_ops={"m": tf.metrics.mean(y)})

    return model_fn


def numbers(features=None):
    return tf.data.Dataset.from_tensors(({"x": tf.constant([1.0, 2.0, 3.0, 4.0])}, tf.constant([1.0, 1.0, 2.0, 2.0])))


def estimator(model_fn, **kwargs):
    return est.Estimator(model_fn, model_dir=tempfile.mkdtemp(), **kwargs)


def weight(e, steps=1):
    e.train(lambda: numbers().repeat(), steps=steps)
    return plain(e.get_variable_value("w"))


def replicated(reduction="weighted_sum", count=2, optimizer=None):
    return towers._replicate_model_fn_with_mode(
        small(lambda: towers.TowerOptimizer((optimizer or tf.train.GradientDescentOptimizer)(0.01))),
        loss_reduction=reduction,
        devices=[f"/cpu:{i}" for i in range(count)],
        mode=towers._VariableDistributionMode.SHARED_LOCAL_PARAMETER_SERVER,
    )


def towered(what, **kwargs):
    e = estimator(replicated(**kwargs), config=est.RunConfig(session_config=tf.ConfigProto(device_count={"CPU": 3})))
    found = [weight(e)]
    if "evaluate" in what:
        found.append(plain(e.evaluate(numbers)))
    if "predict" in what:
        found.append(plain(list(e.predict(numbers))))
    return found


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: towered("evaluate predict"),
            [1.14, {"loss": 10.228, "m": 2.85, "global_step": 1}, [{"y": 1.14}, {"y": 2.28}, {"y": 3.42}, {"y": 4.56}]],
        ),
        (lambda: towered("evaluate", reduction="weighted_mean"), [1.57, {"loss": 15.284, "m": 3.925, "global_step": 1}]),
        (lambda: towered("", count=1), [1.14]),
        (lambda: towered("", optimizer=tf.train.AdagradOptimizer), [1.99]),
        (
            lambda: [
                [plain(evaluated(f["x"])), plain(evaluated(l))]
                for f, l in zip(*towers._split_batch({"x": tf.constant([1, 2, 3, 4])}, tf.constant([5, 6, 7, 8]), 2, "/cpu:0"))
            ],
            [[[1, 2], [5, 6]], [[3, 4], [7, 8]]],
        ),
        (
            lambda: [
                evaluated(tf.sparse.to_dense(f["x"]))
                for f in towers._split_batch({"x": tf.SparseTensor([[0, 0], [3, 1]], [5, 6], [4, 2])}, None, 2, "/cpu:0")[0]
            ],
            [[[5, 0], [0, 0]], [[0, 0], [0, 6]]],
        ),
        (lambda: evaluated(towers._compute_sum_on_device([tf.constant(1.0), tf.constant(2.5)], "/cpu:0")), 3.5),
        (lambda: towers._compute_sum_on_device([tf.constant(1.0)], "/cpu:0", "total").op.name, "total"),
        (lambda: evaluated(towers._concat_tensor_dicts({"a": tf.constant([1])}, {"a": tf.constant([2, 3])})), {"a": [1, 2, 3]}),
        (lambda: weight(estimator(small(lambda: con.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.01), 5.0)))), 1.95),
        (lambda: weight(estimator(small(lambda: con.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.01), 500.0)))), 1.14),
        (lambda: con.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.01), 5.0).get_name(), "ClipByNormGradientDescent"),
        (lambda: forwarded("x"), {"y": 2.28, "x": 2.0}),
        (lambda: forwarded(None), {"y": 2.28, "x": 2.0}),
        (lambda: forwarded(["x"]), {"y": 2.28, "x": 2.0}),
        (lambda: more_metrics(), {"loss": 10.228, "m": 1.5, "twice": 5.7, "x": 4.0, "global_step": 1}),
    ],
)
def test_models_are_replicated_and_extended(made, expected):
    assert plain(made()) == expected


def forwarded(keys):
    e = estimator(small())
    weight(e)
    return list(con.forward_features(e, keys).predict(numbers))[1]


def more_metrics():
    e = estimator(small())
    weight(e)

    def metric_fn(features, predictions, labels, config):
        return {"twice": tf.metrics.mean(predictions["y"] * 2), "x": tf.metrics.mean(features["x"] + labels), "m": tf.metrics.mean(labels)}

    return con.add_metrics(e, metric_fn).evaluate(numbers)


def steps():
    features = {"t": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]), "c": tf.constant([[1.0], [2.0]])}
    return tf.data.Dataset.from_tensors((features, tf.constant([[0], [1]])))


def recurrent(made, with_context=True, **kwargs):
    """What a recurrent model with the same small weights everywhere gives."""
    columns = dict(
        sequence_feature_columns=[tf.contrib.feature_column.sequence_numeric_column("t")],
        context_feature_columns=[tf.feature_column.numeric_column("c")] if with_context else None,
    )
    e = made(model_dir=tempfile.mkdtemp(), optimizer=tf.train.GradientDescentOptimizer(0.0), **columns, **kwargs)
    e.train(steps, steps=1)
    return {n: list(e.get_variable_value(n).shape) for n in sorted(e.get_variable_names())}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: recurrent(old_rnn.RNNClassifier, num_units=[2, 3]),
            {
                "global_step": [],
                "rnn/logits/dense/bias": [1],
                "rnn/logits/dense/kernel": [3, 1],
                "rnn/rnn/multi_rnn_cell/cell_0/basic_rnn_cell/bias": [2],
                "rnn/rnn/multi_rnn_cell/cell_0/basic_rnn_cell/kernel": [4, 2],
                "rnn/rnn/multi_rnn_cell/cell_1/basic_rnn_cell/bias": [3],
                "rnn/rnn/multi_rnn_cell/cell_1/basic_rnn_cell/kernel": [5, 3],
            },
        ),
        (
            lambda: recurrent(old_rnn.RNNClassifier, num_units=[2], cell_type="lstm"),
            {
                "global_step": [],
                "rnn/logits/dense/bias": [1],
                "rnn/logits/dense/kernel": [2, 1],
                "rnn/rnn/basic_lstm_cell/bias": [8],
                "rnn/rnn/basic_lstm_cell/kernel": [4, 8],
            },
        ),
        (
            lambda: recurrent(old_rnn.RNNClassifier, num_units=[2], cell_type="gru", with_context=False),
            {
                "global_step": [],
                "rnn/logits/dense/bias": [1],
                "rnn/logits/dense/kernel": [2, 1],
                "rnn/rnn/gru_cell/candidate/bias": [2],
                "rnn/rnn/gru_cell/candidate/kernel": [3, 2],
                "rnn/rnn/gru_cell/gates/bias": [4],
                "rnn/rnn/gru_cell/gates/kernel": [3, 4],
            },
        ),
        (
            lambda: recurrent(old_rnn.RNNClassifier, num_units=[2], n_classes=3),
            {
                "global_step": [],
                "rnn/logits/dense/bias": [3],
                "rnn/logits/dense/kernel": [2, 3],
                "rnn/rnn/basic_rnn_cell/bias": [2],
                "rnn/rnn/basic_rnn_cell/kernel": [4, 2],
            },
        ),
        (
            lambda: recurrent(old_rnn.RNNClassifier, rnn_cell_fn=lambda mode: tf.nn.rnn_cell.GRUCell(4)),
            {
                "global_step": [],
                "rnn/logits/dense/bias": [1],
                "rnn/logits/dense/kernel": [4, 1],
                "rnn/rnn/gru_cell/candidate/bias": [4],
                "rnn/rnn/gru_cell/candidate/kernel": [6, 4],
                "rnn/rnn/gru_cell/gates/bias": [8],
                "rnn/rnn/gru_cell/gates/kernel": [6, 8],
            },
        ),
        (
            lambda: recurrent(old_rnn.RNNEstimator, num_units=[2], head=con.regression_head()),
            {
                "global_step": [],
                "rnn/logits/dense/bias": [1],
                "rnn/logits/dense/kernel": [2, 1],
                "rnn/rnn/basic_rnn_cell/bias": [2],
                "rnn/rnn/basic_rnn_cell/kernel": [4, 2],
            },
        ),
    ],
)
def test_recurrent_models_have_these_variables(made, expected):
    assert made() == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: feeding._ArrayFeedFn(["i"], np.arange(3), 2), ValueError, "2 placeholders; got 1."),
        (lambda: feeding._GeneratorFeedFn(["i", "a"], counted({"a": 1}), 2), ValueError, "Expected 1 placeholders; got 2."),
        (
            lambda: feeding._enqueue_data([1, 2], 10),
            TypeError,
            "data must be either a numpy array or pandas DataFrame if pandas is installed; got list",
        ),
        (
            lambda: tf.contrib.training.FeedingQueueRunner(tf.FIFOQueue(1, tf.int32), [tf.no_op()], feed_fns=[]),
            ValueError,
            "If feed_fns is not None, it must have the same length as enqueue_ops.",
        ),
        (
            lambda: from_pandas(shuffle=None),
            ValueError,
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as",
        ),
        (lambda: from_pandas(y=Series([7, 8, 9])), ValueError, "Index for x and y are mismatched."),
        (
            lambda: from_pandas(y=Series([7, 8, 9], index=[10, 11, 12]), target_column="a"),
            ValueError,
            "Cannot use name a for target column: DataFrame already has a column with that name:",
        ),
        (lambda: from_pandas(target_column=3), TypeError, "target_column must be a string type"),
        (lambda: model("none"), ValueError, "('Unsupported loss_type: ', 'none')"),
        (lambda: model("squared_loss", l1=-1.0), ValueError, "symmetric_l1_regularization should be non-negative."),
        (lambda: model("squared_loss", l2=0.0), ValueError, "symmetric_l2_regularization should be positive."),
        (lambda: sdca._SDCAModel({}, {"a": 1}, {"b": 1}), ValueError, "examples, variables and options must all be specified."),
        (
            lambda: model("squared_loss")[0].unregularized_loss(
                {"example_labels": [1.0], "example_weights": [1.0], "sparse_features": (), "dense_features": []}
            ),
            ValueError,
            "sparse_features must be a list.",
        ),
        (lambda: outputs.EvalOutput("a", None, None), ValueError, "loss output value must be a Tensor; got a."),
        (lambda: outputs.PredictOutput({"a": 3}), ValueError, "Prediction output value must be a Tensor; got 3."),
        (lambda: outputs.ClassificationOutput(), ValueError, "At least one of scores and classes must be set."),
        (
            lambda: outputs.ClassificationOutput(scores=tf.constant(["a"])),
            ValueError,
            'Classification scores must be a float32 Tensor; got Tensor("Const:0", shape=(1,),',
        ),
        (
            lambda: outputs.ClassificationOutput(classes=tf.constant([1])),
            ValueError,
            'Classification classes must be a string Tensor; got Tensor("Const:0", shape=(1,),',
        ),
        (
            lambda: outputs.RegressionOutput(tf.constant(["a"])),
            ValueError,
            'Regression output value must be a float32 Tensor; got Tensor("Const:0", shape=(1,),',
        ),
        (
            lambda: outputs.RegressionOutput(tf.constant([1.0])).as_signature_def({"a": tf.constant("a"), "b": tf.constant("b")}),
            ValueError,
            "Regression input must be a single string Tensor; got {'a': <tf.Tensor 'Const_1:0'",
        ),
        (
            lambda: outputs.RegressionOutput(tf.constant([1.0])).as_signature_def({"a": tf.constant(1)}),
            ValueError,
            "Regression input must be a single string Tensor; got {'a': <tf.Tensor 'Const_1:0'",
        ),
        (lambda: est.export.ServingInputReceiver(None, tf.constant("a")), ValueError, "features must be defined."),
        (lambda: est.export.ServingInputReceiver({3: "a"}, tf.constant("a")), ValueError, "feature 3 must be a Tensor or SparseTensor."),
        (
            lambda: est.export.ServingInputReceiver({"a": tf.constant(1)}, {"b": 3}),
            ValueError,
            "receiver_tensor b must be a Tensor or SparseTensor.",
        ),
        (
            lambda: est.export.ServingInputReceiver({"a": tf.constant(1)}, tf.constant("a"), [1]),
            ValueError,
            "receiver_tensors_alternatives must be a dict: [1].",
        ),
        (
            lambda: est.export.TensorServingInputReceiver({"a": tf.constant(1)}, tf.constant("a")),
            ValueError,
            "feature must be a Tensor or SparseTensor.",
        ),
        (
            lambda: con.forward_features(estimator(small()), 3),
            TypeError,
            "keys should be either a string or a list of strings. Given: <class 'int'>",
        ),
        (
            lambda: con.forward_features(estimator(small()), [3]),
            TypeError,
            "All items in the given keys list should be a string. There exist an item with type:",
        ),
        (lambda: con.add_metrics(estimator(small()), lambda other: {}), ValueError, "has following not expected args"),
        (lambda: forwarded("z"), ValueError, 'keys should be exist in features. Key "z" is not in features dict. features dict has'),
        (
            lambda: old_rnn.RNNClassifier([], num_units=[2], rnn_cell_fn=lambda mode: None),
            ValueError,
            "num_units and cell_type must not be specified when using rnn_cell_fn",
        ),
        (
            lambda: towers._replicate_model_fn_with_mode(small(), loss_reduction="none"),
            ValueError,
            "Tower losses need to be reduced in some way, yet none reduction is specified.",
        ),
        (
            lambda: util.parse_input_fn_result(tf.data.Dataset.from_tensors((1, 2, 3))),
            ValueError,
            "input_fn should return (features, labels) as a len 2 tuple.",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        made()
    assert message in str(caught.value)


def test_in_eager_mode_a_spec_takes_values_of_no_graph(eager):
    spec = tf.estimator.EstimatorSpec("infer", predictions={"a": tf.constant(1.0)})
    assert float(spec.predictions["a"]) == 1.0
    assert tf.estimator.EstimatorSpec("train", loss=tf.constant(2.0), train_op=tf.constant(3.0)).loss.numpy() == 2.0
