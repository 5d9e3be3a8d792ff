"""Heads of sequences, models of version 2, exports of several modes, strategies, and mistakes; values are those of TensorFlow 1.15.5."""

import os
import tempfile

import numpy as np
import pytest
from plain import plain

import everflow as tf
from everflow import internals

est, con, fc, v2 = tf.estimator, tf.contrib.estimator, tf.feature_column, tf.compat.v2.estimator
sequential, kmeans, running, rnn = (
    internals.module(f"tensorflow_estimator.python.estimator.{name}")
    for name in ("head.sequential_head", "canned.kmeans", "estimator", "canned.rnn")
)


def evaluated(fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        return plain(session.run(fetches))


def wrapped(head=None, columns=None, mask="m"):
    return sequential.SequentialHeadWrapper(head or v2.BinaryClassHead(name="h"), mask, columns)


FEATURES = {"m": [[1, 1, 0], [1, 0, 0]], "w": [[1.0, 2.0, 9.0], [3.0, 9.0, 9.0]]}


def features():
    return {k: tf.constant(v) for k, v in FEATURES.items()}


def sequence(mode="eval", head=None, columns=("w",)):
    logits = tf.constant([[[1.0], [-1.0], [5.0]], [[2.0], [7.0], [8.0]]])
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 1, 0], [2, 3]) if mode != "infer" else None
    made = wrapped(head or v2.BinaryClassHead(weight_column="w"), columns)
    spec = made.create_estimator_spec(features(), mode, logits, labels=labels, train_op_fn=lambda loss: tf.no_op())
    metrics = spec.eval_metric_ops or {}
    return evaluated(
        [spec.loss if spec.loss is not None else tf.constant(0), {k: v for k, v in spec.predictions.items() if k != "all_class_ids"}]
    ) + [sorted(metrics)]


def numbers():
    x = {"x": tf.constant([[1.0], [2.0], [3.0], [4.0]])}
    return tf.data.Dataset.from_tensors((x, tf.constant([[0], [0], [1], [1]]))).repeat()


def reals():
    return numbers().map(lambda f, l: (f, tf.cast(l, tf.float32) * 2.5))


def weights(made, data=numbers, steps=2):
    made.train(data, steps=steps)
    return {
        n: plain(made.get_variable_value(n), 4) for n in sorted(made.get_variable_names()) if "global_step" not in n and "iter" not in n
    }


X = [fc.numeric_column("x")]


def folder():
    return tempfile.mkdtemp()


def one(model_dir=None, **kwargs):
    """w times x, in any mode."""

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", initializer=2.0)
        y = tf.reshape(features["x"] * w, [-1])
        if mode == "infer":
            exported = {"serving_default": est.export.PredictOutput({"y": y})}
            return est.EstimatorSpec(mode, predictions={"y": y}, export_outputs=exported)
        loss = tf.reduce_mean(tf.square(y - tf.reshape(tf.cast(labels, tf.float32), [-1])))
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, predictions={"y": y}, loss=loss, train_op=train, eval_metric_ops={"m": tf.metrics.mean(y)})

    return est.Estimator(model_fn, model_dir=model_dir or folder(), **kwargs)


def receive():
    x = tf.placeholder(tf.float32, [None, 1])
    return est.export.ServingInputReceiver({"x": x}, {"x": x})


def supervised():
    x, y = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
    return internals.module("tensorflow_estimator.python.estimator.export.export").SupervisedInputReceiver({"x": x}, y, {"x": x, "y": y})


def exported(**receivers):
    """The tags and signatures of what was exported."""
    e = one()
    e.train(numbers, steps=1)
    extra = os.path.join(folder(), "extra")
    with open(extra, "w") as out:
        out.write("hello")
    path = e.experimental_export_all_saved_models(folder(), receivers, assets_extra={"a/b.txt": extra}).decode()
    proto = internals.module("core.protobuf.saved_model_pb2").SavedModel()
    with open(os.path.join(path, "saved_model.pb"), "rb") as source:
        proto.ParseFromString(source.read())
    graphs = {
        "+".join(g.meta_info_def.tags): {k: [sorted(s.inputs), sorted(s.outputs)] for k, s in g.signature_def.items() if k[0] != "_"}
        for g in proto.meta_graphs
    }
    with open(os.path.join(path, "assets.extra", "a", "b.txt")) as found:
        return [graphs, found.read()]


def mirrored():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    config = est.RunConfig(train_distribute=strategy, eval_distribute=strategy, session_config=tf.ConfigProto(device_count={"CPU": 2}))
    e = one(config=config)
    e.train(numbers, steps=2)
    return [plain(e.get_variable_value("w")), plain(e.evaluate(numbers, steps=2))]


def clusters(distance="squared_euclidean", **kwargs):
    points = np.array([[0.0, 1.0], [0.0, 2.0], [5.0, 5.0], [6.0, 5.0]], np.float32)
    made = kmeans.KMeansClustering(
        2, folder(), initial_clusters=[[0.0, 1.0], [6.0, 5.0]], distance_metric=distance, use_mini_batch=False, **kwargs
    )

    def data():
        return tf.train.limit_epochs(tf.convert_to_tensor(points), num_epochs=1)

    for _ in range(2):
        made.train(data)
    return plain(
        [made.cluster_centers(), list(made.predict_cluster_index(data)), made.score(data), [list(t) for t in made.transform(data)]], 4
    )


def noted(**values):
    """What is written of an evaluation."""
    path = folder()
    running._write_dict_to_summary(path, values, 3)
    found = {}
    for name in os.listdir(path):
        for event in tf.train.summary_iterator(os.path.join(path, name)):
            for value in event.summary.value:
                found[value.tag] = value.simple_value if value.WhichOneof("value") == "simple_value" else value.WhichOneof("value")
    return found


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: sequence(),
            [
                3.1069,
                {
                    "logits": [[1.0], [-1.0], [2.0]],
                    "logistic": [[0.73106], [0.26894], [0.8808]],
                    "probabilities": [[0.26894, 0.73106], [0.73106, 0.26894], [0.1192, 0.8808]],
                    "class_ids": [[1], [0], [1]],
                    "classes": [[b"1"], [b"0"], [b"1"]],
                    "all_classes": [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]],
                },
                [
                    "accuracy",
                    "accuracy_baseline",
                    "auc",
                    "auc_precision_recall",
                    "average_loss",
                    "label/mean",
                    "precision",
                    "prediction/mean",
                    "recall",
                ],
            ],
        ),
        (
            lambda: sequence("train"),
            [
                3.1069,
                {
                    "logits": [[1.0], [-1.0], [2.0]],
                    "logistic": [[0.73106], [0.26894], [0.8808]],
                    "probabilities": [[0.26894, 0.73106], [0.73106, 0.26894], [0.1192, 0.8808]],
                    "class_ids": [[1], [0], [1]],
                    "classes": [[b"1"], [b"0"], [b"1"]],
                    "all_classes": [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]],
                },
                [],
            ],
        ),
        (
            lambda: sequence("infer"),
            [
                0,
                {
                    "logits": [[[1.0], [-1.0], [5.0]], [[2.0], [7.0], [8.0]]],
                    "logistic": [[[0.73106], [0.26894], [0.99331]], [[0.8808], [0.99909], [0.99966]]],
                    "probabilities": [
                        [[0.26894, 0.73106], [0.73106, 0.26894], [0.0066929, 0.99331]],
                        [[0.1192, 0.8808], [0.00091105, 0.99909], [0.00033535, 0.99966]],
                    ],
                    "class_ids": [[[1], [0], [1]], [[1], [1], [1]]],
                    "classes": [[[b"1"], [b"0"], [b"1"]], [[b"1"], [b"1"], [b"1"]]],
                    "all_classes": [[b"0", b"1"], [b"0", b"1"]],
                    "m": [[1, 1, 0], [1, 0, 0]],
                },
                [],
            ],
        ),
        (
            lambda: sequence(head=v2.BinaryClassHead(name="h"), columns=None),
            [
                1.2512,
                {
                    "logits": [[1.0], [-1.0], [2.0]],
                    "logistic": [[0.73106], [0.26894], [0.8808]],
                    "probabilities": [[0.26894, 0.73106], [0.73106, 0.26894], [0.1192, 0.8808]],
                    "class_ids": [[1], [0], [1]],
                    "classes": [[b"1"], [b"0"], [b"1"]],
                    "all_classes": [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]],
                },
                [
                    "accuracy/h",
                    "accuracy_baseline/h",
                    "auc/h",
                    "auc_precision_recall/h",
                    "average_loss/h",
                    "label/mean/h",
                    "precision/h",
                    "prediction/mean/h",
                    "recall/h",
                ],
            ],
        ),
        (
            lambda: [wrapped().name, wrapped().logits_dimension, wrapped().loss_reduction, wrapped(v2.BinaryClassHead()).name],
            ["h_sequential", 1, "sum_over_batch_size", None],
        ),
        (lambda: wrapped(columns="w").input_sequence_mask_key, "m"),
        (
            lambda: evaluated(sequential._flatten_tensor(tf.constant([[1, 2], [3, 4]]), tf.constant([[1, 0], [1, 1]]), tf.constant(3))),
            [[1], [3], [4]],
        ),
        (
            lambda: weights(v2.LinearClassifier(X, folder())),
            {
                "linear/linear_model/bias_weights": [-0.06206],
                "linear/linear_model/x/weights": [[0.2307]],
                "training/Ftrl/decay": 0.0,
                "training/Ftrl/l1_regularization_strength": 0.0,
                "training/Ftrl/l2_regularization_strength": 0.0,
                "training/Ftrl/learning_rate": 0.2,
                "training/Ftrl/learning_rate_power": -0.5,
                "training/Ftrl/linear/linear_model/bias_weights/accumulator": [0.1107],
                "training/Ftrl/linear/linear_model/bias_weights/linear": [0.1032],
                "training/Ftrl/linear/linear_model/x/weights/accumulator": [[0.3867]],
                "training/Ftrl/linear/linear_model/x/weights/linear": [[-0.7172]],
            },
        ),
        (
            lambda: weights(v2.LinearRegressor(X, folder()), reals),
            {
                "linear/linear_model/bias_weights": [0.2787],
                "linear/linear_model/x/weights": [[0.2954]],
                "training/Ftrl/decay": 0.0,
                "training/Ftrl/l1_regularization_strength": 0.0,
                "training/Ftrl/l2_regularization_strength": 0.0,
                "training/Ftrl/learning_rate": 0.2,
                "training/Ftrl/learning_rate_power": -0.5,
                "training/Ftrl/linear/linear_model/bias_weights/accumulator": [7.568],
                "training/Ftrl/linear/linear_model/bias_weights/linear": [-3.833],
                "training/Ftrl/linear/linear_model/x/weights/accumulator": [[99.32]],
                "training/Ftrl/linear/linear_model/x/weights/linear": [[-14.72]],
            },
        ),
        (
            lambda: weights(v2.LinearEstimator(v2.RegressionHead(), X, folder(), optimizer=tf.keras.optimizers.SGD(0.1)), reals),
            {
                "linear/linear_model/bias_weights": [0.0125],
                "linear/linear_model/x/weights": [[0.3125]],
                "training/SGD/decay": 0.0,
                "training/SGD/learning_rate": 0.1,
                "training/SGD/momentum": 0.0,
            },
        ),
        (
            lambda: weights(v2.LinearClassifier(X, folder(), n_classes=3)),
            {
                "linear/linear_model/bias_weights": [0.1933, 0.07264, -0.2143],
                "linear/linear_model/x/weights": [[-0.01795, 0.2515, -0.2643]],
                "training/Ftrl/decay": 0.0,
                "training/Ftrl/l1_regularization_strength": 0.0,
                "training/Ftrl/l2_regularization_strength": 0.0,
                "training/Ftrl/learning_rate": 0.2,
                "training/Ftrl/learning_rate_power": -0.5,
                "training/Ftrl/linear/linear_model/bias_weights/accumulator": [0.1704, 0.1291, 0.2398],
                "training/Ftrl/linear/linear_model/bias_weights/linear": [-0.399, -0.1305, 0.5247],
                "training/Ftrl/linear/linear_model/x/weights/accumulator": [[0.1099, 1.042, 0.934]],
                "training/Ftrl/linear/linear_model/x/weights/linear": [[0.02976, -1.284, 1.277]],
            },
        ),
        (
            lambda: weights(v2.BaselineClassifier(folder())),
            {
                "baseline/bias": [0.0],
                "training/Ftrl/baseline/bias/accumulator": [0.1],
                "training/Ftrl/baseline/bias/linear": [0.0],
                "training/Ftrl/decay": 0.0,
                "training/Ftrl/l1_regularization_strength": 0.0,
                "training/Ftrl/l2_regularization_strength": 0.0,
                "training/Ftrl/learning_rate": 0.3,
                "training/Ftrl/learning_rate_power": -0.5,
            },
        ),
        (
            lambda: weights(v2.BaselineRegressor(folder()), reals),
            {
                "baseline/bias": [0.4785],
                "training/Ftrl/baseline/bias/accumulator": [9.978],
                "training/Ftrl/baseline/bias/linear": [-5.039],
                "training/Ftrl/decay": 0.0,
                "training/Ftrl/l1_regularization_strength": 0.0,
                "training/Ftrl/l2_regularization_strength": 0.0,
                "training/Ftrl/learning_rate": 0.3,
                "training/Ftrl/learning_rate_power": -0.5,
            },
        ),
        (lambda: exported(infer=receive), [{"serve": {"serving_default": [["x"], ["y"]]}}, "hello"]),
        (
            lambda: exported(infer=receive, train=supervised, eval=supervised),
            [
                {
                    "train": {"train": [["x", "y"], ["loss", "metrics/m/update_op", "metrics/m/value", "predictions/y"]]},
                    "eval": {"eval": [["x", "y"], ["loss", "metrics/m/update_op", "metrics/m/value", "predictions/y"]]},
                    "serve": {"serving_default": [["x"], ["y"]]},
                },
                "hello",
            ],
        ),
        (lambda: mirrored(), [1.5098, {"loss": 12.311, "m": 3.7744, "global_step": 2}]),
        (lambda: clusters(), [[[0.0, 1.5], [5.5, 5.0]], [0, 0, 1, 1], 1.0, [[0.5, 6.801], [0.5, 6.265], [6.103, 0.5], [6.946, 0.5]]]),
        (lambda: clusters(relative_tolerance=0.5)[0], [[0.0, 1.5], [5.5, 5.0]]),
        (
            lambda: noted(a=1.5, b=np.float32(2.5), c=np.int64(7), d=4, e=np.array([1.0, 2.0])),
            {"a": 1.5, "b": 2.5, "c": 7.0, "d": 4.0, "e": "tensor"},
        ),
    ],
)
def test_values(made, expected):
    assert plain(made()) == expected


def logits():
    return tf.constant([[1.0], [2.0]])


def specified(head, mode="train", labels=((1,), (0,)), **kwargs):
    return head.create_estimator_spec({"x": logits()}, mode, logits(), labels=tf.constant(labels), **kwargs)


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: wrapped(mask=3), TypeError, "`sequence_mask` column must be a string. Given type: <class 'int'>."),
        (lambda: wrapped(columns=3), TypeError, "`feature_columns` must be either a string or an iterable of strings got <class 'int'>"),
        (lambda: wrapped(columns=[3]), TypeError, "Column must a string. Given type: <class 'int'>."),
        (
            lambda: wrapped(v2.MultiHead([v2.BinaryClassHead(name="a")])),
            ValueError,
            "`MultiHead` is not supported with `SequentialHeadWrapper`.",
        ),
        (lambda: wrapped(mask="none").create_estimator_spec(features(), "infer", tf.zeros([2, 3, 1])), KeyError, "'none'"),
        (
            lambda: sequential._flatten_tensor(tf.constant([1]), tf.constant([1]), tf.constant(1)),
            ValueError,
            "Input tensor expected to have at least 2 dimensions, got 1 instead.",
        ),
        (lambda: specified(v2.BinaryClassHead()), ValueError, "train_op_fn and optimizer cannot both be None."),
        (
            lambda: specified(v2.BinaryClassHead(), train_op_fn=lambda l: l, optimizer=tf.keras.optimizers.SGD()),
            ValueError,
            "train_op_fn and optimizer cannot both be set.",
        ),
        (
            lambda: specified(v2.BinaryClassHead(), optimizer=3, trainable_variables=[]),
            ValueError,
            "The given optimizer is not a tf.keras.optimizers.Optimizer instance. Given: 3",
        ),
        (
            lambda: specified(v2.BinaryClassHead(), optimizer=tf.keras.optimizers.SGD()),
            ValueError,
            "trainable_variables cannot be None. Given None",
        ),
        (
            lambda: specified(v2.BinaryClassHead(), optimizer=tf.keras.optimizers.SGD(), trainable_variables=3),
            ValueError,
            "trainable_variables should be a list or a tuple. Given type: <class 'int'>.",
        ),
        (
            lambda: specified(v2.BinaryClassHead(), train_op_fn=lambda l: l, update_ops=3),
            ValueError,
            "update_ops should be a list or a tuple. Given type: <class 'int'>.",
        ),
        (
            lambda: v2.BinaryClassHead(loss_reduction="none such"),
            ValueError,
            "Invalid loss_reduction: none such. See `tf.losses.Reduction` for valid options.",
        ),
        (
            lambda: v2.BinaryClassHead(label_vocabulary="ab"),
            ValueError,
            "label_vocabulary should be a list or a tuple. Given type: <class 'str'>",
        ),
        (lambda: v2.BinaryClassHead(thresholds=[1.5]), ValueError, "thresholds not in (0, 1): ((1.5,),)."),
        (
            lambda: v2.MultiClassHead(3, label_vocabulary=["a"]),
            ValueError,
            '"label_vocabulary" does not have "n_classes" items. len(label_vocabulary)=1, n_classes=3,',
        ),
        (lambda: v2.MultiClassHead(2), ValueError, "n_classes must be > 2: 2."),
        (lambda: v2.MultiLabelHead(1), ValueError, "n_classes must be > 1 for multi-label classification. Given: 1"),
        (
            lambda: v2.MultiLabelHead(3, classes_for_class_based_metrics=[5]),
            ValueError,
            "All classes_for_class_based_metrics must be in range [0, 2]. Given: 5",
        ),
        (lambda: v2.RegressionHead(0), ValueError, "Invalid label_dimension 0."),
        (lambda: v2.BinaryClassHead(loss_fn=lambda a: a), ValueError, "loss_fn must contain argument: labels. Given arguments: ('a',)"),
        (lambda: v2.BinaryClassHead(loss_fn=lambda labels, logits, other: labels), ValueError, "loss_fn has unexpected args: ['other']"),
        (
            lambda: v2.BinaryClassHead().predictions(logits(), keys=["none"]),
            ValueError,
            "Prediction key must be in PredictionKeys, given: none.Valid prediction keys include",
        ),
        (lambda: specified(con.binary_classification_head()), ValueError, "train_op_fn and optimizer cannot both be None."),
        (
            lambda: specified(con.binary_classification_head(), train_op_fn=lambda l: l, optimizer=tf.train.AdamOptimizer()),
            ValueError,
            "train_op_fn and optimizer cannot both be set.",
        ),
        (
            lambda: specified(con.binary_classification_head(label_vocabulary=["a", "b"]), "eval"),
            TypeError,
            "Signature mismatch. Keys must be dtype <dtype: 'string'>, got <dtype: 'int32'>.",
        ),
        (lambda: con.binary_classification_head(loss_reduction="none such"), ValueError, "Invalid loss_reduction: none such"),
        (lambda: con.multi_class_head(2), ValueError, "n_classes must be > 2: 2."),
        (lambda: est.Estimator(None), ValueError, "model_fn must be provided to Estimator."),
        (lambda: est.Estimator(lambda labels: None), ValueError, "must include features"),
        (lambda: est.Estimator(lambda features, other: None), ValueError, "has following not"),
        (lambda: est.Estimator(lambda features: None, params={"a": 1}), ValueError, "does not include"),
        (lambda: one(config=3), ValueError, "config must be an instance of `RunConfig`, but provided 3."),
        (
            lambda: one(model_dir="a", config=est.RunConfig(model_dir="b")),
            ValueError,
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In",
        ),
        (lambda: one().train(numbers, steps=1, max_steps=1), ValueError, "Can not provide both steps and max_steps."),
        (lambda: one().train(numbers, steps=0), ValueError, "Must specify steps > 0, given: 0"),
        (lambda: one().train(numbers, max_steps=0), ValueError, "Must specify max_steps > 0, given: 0"),
        (lambda: one().train(numbers, hooks=[3]), TypeError, "Hooks must be a SessionRunHook, given: 3"),
        (
            lambda: one().train(numbers, steps=1, saving_listeners=[3]),
            TypeError,
            "saving_listeners must be a list of CheckpointSaverListener, given: 3",
        ),
        (lambda: one().evaluate(numbers, steps=0), ValueError, "Must specify steps > 0, given: 0"),
        (lambda: one().evaluate(numbers, hooks=[3]), TypeError, "Hooks must be a SessionRunHook, given: 3"),
        (lambda: one().export_saved_model(folder(), receive), ValueError, "Couldn't find trained model at "),
        (lambda: one().export_saved_model(folder(), None), ValueError, "An input_receiver_fn must be defined."),
        (lambda: kmeans.KMeansClustering(2, distance_metric="none"), ValueError, "Unsupported distance metric 'none'"),
        (lambda: kmeans.KMeansClustering(2, initial_clusters="none"), ValueError, "Unsupported initialization algorithm 'none'"),
        (
            lambda: v2.LinearClassifier(X, optimizer=v2.experimental.LinearSDCA("x"), n_classes=3),
            ValueError,
            "LinearSDCA cannot be used in a multi-class setting.",
        ),
        (
            lambda: v2.LinearRegressor(X, optimizer=v2.experimental.LinearSDCA("x"), label_dimension=2),
            ValueError,
            "LinearSDCA can only be used with one-dimensional label.",
        ),
        (
            lambda: v2.LinearClassifier(X, optimizer=v2.experimental.LinearSDCA("x"), sparse_combiner="mean"),
            ValueError,
            'sparse_combiner must be "sum" when optimizer is a LinearSDCA object.',
        ),
        (lambda: tf.keras.estimator.model_to_estimator(), ValueError, "Either `keras_model` or `keras_model_path` needs to be provided."),
        (
            lambda: tf.keras.estimator.model_to_estimator(tf.keras.Sequential(), "path"),
            ValueError,
            "Please specity either `keras_model` or `keras_model_path`, but not both.",
        ),
        (
            lambda: tf.keras.estimator.model_to_estimator(tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])),
            ValueError,
            "The given keras model has not been compiled yet. Please compile the model with",
        ),
        (lambda: est.WarmStartSettings(None), ValueError, "`ckpt_to_initialize_from` MUST be set in WarmStartSettings"),
        (lambda: est.EstimatorSpec("train", loss=tf.constant(1.0)), ValueError, "Missing train_op."),
        (lambda: est.EstimatorSpec("train", train_op=tf.no_op()), ValueError, "Missing loss."),
        (lambda: est.EstimatorSpec("infer"), ValueError, "Missing predictions."),
        (
            lambda: est.EstimatorSpec("eval", loss=tf.constant([1.0, 2.0])),
            ValueError,
            'Loss must be scalar, given: Tensor("Const:0", shape=(2,), dtype=float32)',
        ),
        (
            lambda: est.EstimatorSpec("eval", loss=tf.constant(1.0), eval_metric_ops={"a": 3}),
            TypeError,
            "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: 3 for key: a",
        ),
        (
            lambda: est.EstimatorSpec("infer", predictions=tf.constant(1), export_outputs={"a": 3}),
            TypeError,
            "Values in export_outputs must be ExportOutput objects. Given: {'a': 3}",
        ),
        (
            lambda: est.EstimatorSpec("train", loss=tf.constant(1.0), train_op=tf.no_op(), training_hooks=[3]),
            TypeError,
            "All hooks must be SessionRunHook instances, given: 3",
        ),
        (
            lambda: rnn.RNNClassifier(X, units=[2], rnn_cell_fn=lambda: None),
            ValueError,
            "units and cell_type must not be specified when using rnn_cell_fn",
        ),
        (
            lambda: rnn.RNNEstimator(v2.BinaryClassHead(), X, units=[2], return_sequences=True),
            ValueError,
            "Provided head must be a `_SequentialHead` object when `return_sequences` is set to True.",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        made()
    assert message in str(caught.value)
