"""Configs, specs, heads, inputs and stopping of estimators; values are those of TensorFlow 1.15.5."""

import json
import os
import tempfile

import numpy as np
import pytest
from plain import computed, plain

import everflow as tf

est, con = tf.estimator, tf.contrib.estimator
fc = tf.feature_column


def config(tf_config=None, **kwargs):
    before = os.environ.get("TF_CONFIG")
    os.environ["TF_CONFIG"] = json.dumps(tf_config or {})
    try:
        return est.RunConfig(**kwargs)
    finally:
        if before is None:
            del os.environ["TF_CONFIG"]
        else:
            os.environ["TF_CONFIG"] = before


def place(tf_config):
    c = config(tf_config)
    return [
        c.master,
        c.evaluation_master,
        c.is_chief,
        c.num_ps_replicas,
        c.num_worker_replicas,
        c.task_type,
        c.task_id,
        c.global_id_in_cluster,
        list(c.session_config.device_filters),
        sorted(c.cluster_spec.as_dict()),
    ]


def cluster(kind, index, **jobs):
    return {
        "cluster": jobs or {"chief": ["h0:1"], "ps": ["h1:1", "h2:1"], "worker": ["h3:1", "h4:1"]},
        "task": {"type": kind, "index": index},
    }


def spec_facts(spec):
    updates = [v.updates if not isinstance(v, tuple) else v[1] for v in (spec.eval_metric_ops or {}).values()]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        session.run(updates)
        values = session.run(
            {
                "loss": spec.loss if spec.loss is not None else tf.constant(0),
                "predictions": spec.predictions or {},
                "metrics": {k: (v[0] if isinstance(v, tuple) else v.result()) for k, v in (spec.eval_metric_ops or {}).items()},
            }
        )
    return sorted((k, plain(sorted(v.items()) if isinstance(v, dict) else v, 4)) for k, v in values.items())


LOGITS = np.array([[1.0], [-2.0], [0.5]], np.float32)
THREE = np.array([[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]], np.float32)


def head(h, mode, logits, labels=None, features=None, **kwargs):
    return spec_facts(
        h.create_estimator_spec(
            features=features or {"x": tf.constant([[1.0]] * len(logits)), "w": tf.constant([[2.0]] + [[1.0]] * (len(logits) - 1))},
            mode=mode,
            logits=tf.constant(logits),
            labels=None
            if labels is None
            else ({k: tf.constant(v) for k, v in labels.items()} if isinstance(labels, dict) else tf.constant(labels)),
            train_op_fn=(lambda loss: tf.no_op()) if mode == "train" else None,
            **kwargs,
        )
    )


def exports(h, logits):
    outputs = h.create_estimator_spec(features={"x": tf.constant([[1.0]])}, mode="infer", logits=tf.constant(logits)).export_outputs
    return sorted((k, type(v).__name__) for k, v in outputs.items())


def signature(output, receivers):
    return sorted(
        (k, v.dtype, [d.size for d in v.tensor_shape.dim])
        for k, v in output.as_signature_def({n: tf.placeholder(tf.string, [None]) for n in receivers}).outputs.items()
    )


def everything(input_fn):
    with tf.Graph().as_default():
        tensors = input_fn()
        found = []
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                found.append(plain(session.run(tensors)))
        return found


def model_fn(features, labels, mode):
    return None


def estimator(**kwargs):
    return est.Estimator(lambda features, labels, mode: None, tempfile.mkdtemp(), **kwargs)


def built(make, labels, mode="train", features=None):
    e = make
    features = features or {"x": tf.constant([[1.0], [2.0], [3.0]]), "i": tf.constant([[0], [1], [0]])}
    tf.train.get_or_create_global_step()
    e._call_model_fn(features, None if labels is None else tf.constant(labels), mode, e.config)
    return [[v.op.name, v.shape] for v in tf.global_variables()]


def x():
    return fc.numeric_column("x")


def i():
    return fc.categorical_column_with_identity("i", 3)


def where():
    return tempfile.mkdtemp()


def spec(mode, **kwargs):
    return est.EstimatorSpec(mode, **kwargs)


def dense():
    return tf.constant([[1.0]])


def written(*losses):
    folder = where()
    writer = tf.summary.FileWriter(os.path.join(folder, "eval"))
    for step, loss in losses:
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=loss)]), step)
    writer.close()
    return folder


class Pretend:
    def __init__(self, folder):
        self.model_dir = folder
        self.config = est.RunConfig()

    def eval_dir(self):
        return os.path.join(self.model_dir, "eval")


def stops(make, *losses, **kwargs):
    hook = make(Pretend(written(*losses)), "loss", run_every_secs=None, run_every_steps=1, **kwargs)
    tf.train.get_or_create_global_step()
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        add = tf.assign_add(step, 1)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            n = 0
            while not session.should_stop() and n < 4:
                session.run(add)
                n += 1
        return n


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: config().save_checkpoints_secs, 600),
        (lambda: config().save_checkpoints_steps, None),
        (lambda: config(save_checkpoints_steps=5).save_checkpoints_secs, None),
        (lambda: config(save_checkpoints_secs=5).save_checkpoints_steps, None),
        (lambda: config(save_checkpoints_secs=None).save_checkpoints_steps, None),
        (
            lambda: [
                getattr(config(), n)
                for n in (
                    "model_dir",
                    "tf_random_seed",
                    "save_summary_steps",
                    "keep_checkpoint_max",
                    "keep_checkpoint_every_n_hours",
                    "log_step_count_steps",
                    "train_distribute",
                    "device_fn",
                    "protocol",
                    "eval_distribute",
                    "service",
                )
            ],
            [None, None, 100, 5, 10000, 100, None, None, None, None, None],
        ),
        (
            lambda: [
                getattr(config(), n)
                for n in (
                    "master",
                    "evaluation_master",
                    "is_chief",
                    "num_ps_replicas",
                    "num_worker_replicas",
                    "task_type",
                    "task_id",
                    "global_id_in_cluster",
                )
            ],
            ["", "", True, 0, 1, "worker", 0, 0],
        ),
        (lambda: config(tf_random_seed=3).replace(tf_random_seed=4).tf_random_seed, 4),
        (lambda: config(save_checkpoints_steps=3).replace(save_checkpoints_secs=4).save_checkpoints_steps, None),
        (lambda: config(save_checkpoints_secs=3).replace(save_checkpoints_steps=4).save_checkpoints_secs, None),
        (lambda: config(model_dir="a").replace(model_dir="b").model_dir, "b"),
        (lambda: config({"model_dir": "d"}).model_dir, "d"),
        (lambda: config({"model_dir": "d"}, model_dir="d").model_dir, "d"),
        (
            lambda: place(cluster("chief", 0)),
            ["grpc://h0:1", "", True, 2, 3, "chief", 0, 0, ["/job:ps", "/job:chief"], ["chief", "ps", "worker"]],
        ),
        (
            lambda: place(cluster("worker", 1)),
            ["grpc://h4:1", "", False, 2, 3, "worker", 1, 2, ["/job:ps", "/job:worker/task:1"], ["chief", "ps", "worker"]],
        ),
        (
            lambda: place(cluster("ps", 1)),
            [
                "grpc://h2:1",
                "",
                False,
                2,
                3,
                "ps",
                1,
                4,
                ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
                ["chief", "ps", "worker"],
            ],
        ),
        (
            lambda: place(cluster("master", 0, master=["h0:1"], ps=["h1:1"], worker=["h2:1"])),
            ["grpc://h0:1", "", True, 1, 2, "master", 0, 0, ["/job:ps", "/job:master"], ["master", "ps", "worker"]],
        ),
        (lambda: config({"service": {"a": 1}}).service, {"a": 1}),
    ],
)
def test_configs_say_where_and_how_an_estimator_runs(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: spec("train", loss=tf.constant(1.0), train_op=tf.no_op()).mode, "train"),
        (lambda: spec("train", loss=tf.constant([1.0]), train_op=tf.no_op()).loss.shape, []),
        (lambda: spec("eval", loss=tf.constant(1.0)).eval_metric_ops, {}),
        (lambda: spec("infer", predictions=dense()).predictions, [[1.0]]),
        (lambda: sorted(spec("infer", predictions={"a": dense()}).export_outputs or {}), ["serving_default"]),
        (
            lambda: (
                spec(
                    "infer", predictions={"a": dense()}, export_outputs={"e": est.export.PredictOutput({"a": dense()})}
                ).export_outputs.keys()
                >= {"e", "serving_default"}
            ),
            True,
        ),
    ],
)
def test_specs_are_checked(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: signature(est.export.PredictOutput(tf.constant([1.0])), ["a"]), [["output", 1, [1]]]),
        (
            lambda: signature(est.export.PredictOutput({"a": tf.constant([1.0]), "b": tf.constant(["x"])}), ["a"]),
            [["a", 1, [1]], ["b", 7, [1]]],
        ),
        (lambda: signature(est.export.RegressionOutput(tf.constant([1.0])), ["a"]), [["outputs", 1, [1]]]),
        (
            lambda: signature(est.export.ClassificationOutput(scores=tf.constant([[1.0]]), classes=tf.constant([["x"]])), ["a"]),
            [["classes", 7, [1, 1]], ["scores", 1, [1, 1]]],
        ),
        (lambda: signature(est.export.ClassificationOutput(classes=tf.constant([["x"]])), ["a"]), [["classes", 7, [1, 1]]]),
        (lambda: signature(est.export.ClassificationOutput(scores=tf.constant([[1.0]])), ["a"]), [["scores", 1, [1, 1]]]),
        (
            lambda: est.export.RegressionOutput(tf.constant([1.0])).as_signature_def({"a": tf.placeholder(tf.string, [None])}).method_name,
            "tensorflow/serving/regress",
        ),
        (
            lambda: est.export.PredictOutput(tf.constant([1.0])).as_signature_def({"a": tf.placeholder(tf.string, [None])}).method_name,
            "tensorflow/serving/predict",
        ),
    ],
)
def test_outputs_become_signatures(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: sorted(est.export.ServingInputReceiver({"a": dense()}, tf.placeholder(tf.string)).receiver_tensors), ["input"]),
        (lambda: sorted(est.export.ServingInputReceiver(dense(), tf.placeholder(tf.string)).features), ["feature"]),
        (lambda: est.export.TensorServingInputReceiver(dense(), tf.placeholder(tf.string)).features, [[1.0]]),
        (
            lambda: sorted(est.export.build_raw_serving_input_receiver_fn({"a": tf.placeholder(tf.float32, [5, 2], name="q")})().features),
            ["a"],
        ),
        (
            lambda: (
                est.export.build_raw_serving_input_receiver_fn({"a": tf.placeholder(tf.float32, [5, 2], name="q")})().features["a"].shape
            ),
            [None, 2],
        ),
        (
            lambda: (
                est.export.build_raw_serving_input_receiver_fn({"a": tf.placeholder(tf.float32, [5, 2], name="q")}, default_batch_size=3)()
                .features["a"]
                .shape
            ),
            [3, 2],
        ),
        (
            lambda: (
                est.export.build_raw_serving_input_receiver_fn({"a": tf.placeholder(tf.float32, [5, 2], name="q")})().features["a"].op.name
            ),
            "q_1",
        ),
        (
            lambda: est.export.build_parsing_serving_input_receiver_fn({"a": tf.FixedLenFeature([2], tf.float32)})().features["a"].shape,
            [None, 2],
        ),
        (
            lambda: (
                est.export.build_parsing_serving_input_receiver_fn({"a": tf.FixedLenFeature([2], tf.float32)}, 4)()
                .receiver_tensors["examples"]
                .shape
            ),
            [4],
        ),
        (
            lambda: (
                est.export.build_parsing_serving_input_receiver_fn({"a": tf.FixedLenFeature([2], tf.float32)})()
                .receiver_tensors["examples"]
                .op.name
            ),
            "input_example_tensor",
        ),
        (
            lambda: sorted(est.experimental.build_raw_supervised_input_receiver_fn({"a": dense()}, {"b": dense()})().receiver_tensors),
            ["a", "b"],
        ),
        (
            lambda: sorted(
                est.experimental.build_raw_supervised_input_receiver_fn(
                    tf.placeholder(tf.float32, [1]), tf.placeholder(tf.float32, [1])
                )().receiver_tensors
            ),
            ["input", "label"],
        ),
    ],
)
def test_receivers_hold_features(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: head(con.binary_classification_head(), "infer", LOGITS),
            [
                ["loss", 0],
                ["metrics", []],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"1"], [b"0"], [b"1"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(con.binary_classification_head(), "eval", LOGITS, [[1], [0], [0]]),
            [
                ["loss", 0.4714],
                [
                    "metrics",
                    [
                        ["accuracy", 0.6667],
                        ["accuracy_baseline", 0.6667],
                        ["auc", 1.0],
                        ["auc_precision_recall", 1.0],
                        ["average_loss", 0.4714],
                        ["label/mean", 0.3333],
                        ["precision", 0.5],
                        ["prediction/mean", 0.4909],
                        ["recall", 1.0],
                    ],
                ],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"1"], [b"0"], [b"1"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(con.binary_classification_head(), "train", LOGITS, [[1], [0], [0]]),
            [
                ["loss", 0.4714],
                ["metrics", []],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"1"], [b"0"], [b"1"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(con.binary_classification_head(weight_column="w", thresholds=[0.3]), "eval", LOGITS, [[1], [0], [0]]),
            [
                ["loss", 0.5758],
                [
                    "metrics",
                    [
                        ["accuracy", 0.75],
                        ["accuracy/positive_threshold_0.3", 0.75],
                        ["accuracy_baseline", 0.5],
                        ["auc", 1.0],
                        ["auc_precision_recall", 1.0],
                        ["average_loss", 0.4319],
                        ["label/mean", 0.5],
                        ["precision", 0.6667],
                        ["precision/positive_threshold_0.3", 0.6667],
                        ["prediction/mean", 0.5509],
                        ["recall", 1.0],
                        ["recall/positive_threshold_0.3", 1.0],
                    ],
                ],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"1"], [b"0"], [b"1"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(con.binary_classification_head(label_vocabulary=["n", "p"]), "eval", LOGITS, [["p"], ["n"], ["n"]]),
            [
                ["loss", 0.4714],
                [
                    "metrics",
                    [
                        ["accuracy", 0.6667],
                        ["accuracy_baseline", 0.6667],
                        ["auc", 1.0],
                        ["auc_precision_recall", 1.0],
                        ["average_loss", 0.4714],
                        ["label/mean", 0.3333],
                        ["precision", 0.5],
                        ["prediction/mean", 0.4909],
                        ["recall", 1.0],
                    ],
                ],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"n", b"p"], [b"n", b"p"], [b"n", b"p"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"p"], [b"n"], [b"p"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (lambda: head(con.binary_classification_head(loss_reduction="weighted_sum"), "eval", LOGITS, [[1], [0], [0]])[0], ["loss", 1.414]),
        (
            lambda: head(con.binary_classification_head(name="h"), "eval", LOGITS, [[1], [0], [0]]),
            [
                ["loss", 0.4714],
                [
                    "metrics",
                    [
                        ["accuracy/h", 0.6667],
                        ["accuracy_baseline/h", 0.6667],
                        ["auc/h", 1.0],
                        ["auc_precision_recall/h", 1.0],
                        ["average_loss/h", 0.4714],
                        ["label/mean/h", 0.3333],
                        ["precision/h", 0.5],
                        ["prediction/mean/h", 0.4909],
                        ["recall/h", 1.0],
                    ],
                ],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"1"], [b"0"], [b"1"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(con.multi_class_head(3), "infer", THREE),
            [
                ["loss", 0],
                ["metrics", []],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1, 2], [0, 1, 2]]],
                        ["all_classes", [[b"0", b"1", b"2"], [b"0", b"1", b"2"]]],
                        ["class_ids", [[0], [1]]],
                        ["classes", [[b"0"], [b"1"]]],
                        ["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]],
                        ["probabilities", [[0.6652, 0.2447, 0.09003], [0.09962, 0.7361, 0.1643]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(con.multi_class_head(3), "eval", THREE, [[0], [2]]),
            [
                ["loss", 1.107],
                ["metrics", [["accuracy", 0.5], ["average_loss", 1.107]]],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1, 2], [0, 1, 2]]],
                        ["all_classes", [[b"0", b"1", b"2"], [b"0", b"1", b"2"]]],
                        ["class_ids", [[0], [1]]],
                        ["classes", [[b"0"], [b"1"]]],
                        ["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]],
                        ["probabilities", [[0.6652, 0.2447, 0.09003], [0.09962, 0.7361, 0.1643]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(con.multi_class_head(3, label_vocabulary=["a", "b", "c"]), "eval", THREE, [["a"], ["c"]]),
            [
                ["loss", 1.107],
                ["metrics", [["accuracy", 0.5], ["average_loss", 1.107]]],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1, 2], [0, 1, 2]]],
                        ["all_classes", [[b"a", b"b", b"c"], [b"a", b"b", b"c"]]],
                        ["class_ids", [[0], [1]]],
                        ["classes", [[b"a"], [b"b"]]],
                        ["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]],
                        ["probabilities", [[0.6652, 0.2447, 0.09003], [0.09962, 0.7361, 0.1643]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(con.multi_class_head(3, weight_column="w"), "eval", THREE, [[0], [2]]),
            [
                ["loss", 1.311],
                ["metrics", [["accuracy", 0.6667], ["average_loss", 0.8739]]],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1, 2], [0, 1, 2]]],
                        ["all_classes", [[b"0", b"1", b"2"], [b"0", b"1", b"2"]]],
                        ["class_ids", [[0], [1]]],
                        ["classes", [[b"0"], [b"1"]]],
                        ["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]],
                        ["probabilities", [[0.6652, 0.2447, 0.09003], [0.09962, 0.7361, 0.1643]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(con.multi_label_head(3), "infer", THREE),
            [
                ["loss", 0],
                ["metrics", []],
                [
                    "predictions",
                    [["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]], ["probabilities", [[0.7311, 0.5, 0.2689], [0.5, 0.8808, 0.6225]]]],
                ],
            ],
        ),
        (
            lambda: head(con.multi_label_head(3, thresholds=[0.6]), "eval", THREE, [[1, 0, 1], [0, 1, 0]]),
            [
                ["loss", 0.6856],
                [
                    "metrics",
                    [
                        ["accuracy/positive_threshold_0.6", 0.6667],
                        ["auc", 0.6667],
                        ["auc_precision_recall", 0.8167],
                        ["average_loss", 0.6856],
                        ["precision/positive_threshold_0.6", 0.6667],
                        ["recall/positive_threshold_0.6", 0.6667],
                    ],
                ],
                [
                    "predictions",
                    [["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]], ["probabilities", [[0.7311, 0.5, 0.2689], [0.5, 0.8808, 0.6225]]]],
                ],
            ],
        ),
        (
            lambda: head(con.multi_label_head(3, classes_for_class_based_metrics=[0, 2]), "eval", THREE, [[1, 0, 1], [0, 1, 0]]),
            [
                ["loss", 0.6856],
                [
                    "metrics",
                    [
                        ["auc", 0.6667],
                        ["auc/class0", 1.0],
                        ["auc/class2", 1e-06],
                        ["auc_precision_recall", 0.8167],
                        ["auc_precision_recall/class0", 1.0],
                        ["auc_precision_recall/class2", 0.25],
                        ["average_loss", 0.6856],
                        ["probability_mean/class0", 0.6155],
                        ["probability_mean/class2", 0.4457],
                    ],
                ],
                [
                    "predictions",
                    [["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]], ["probabilities", [[0.7311, 0.5, 0.2689], [0.5, 0.8808, 0.6225]]]],
                ],
            ],
        ),
        (
            lambda: head(con.regression_head(), "infer", LOGITS),
            [["loss", 0], ["metrics", []], ["predictions", [["predictions", [[1.0], [-2.0], [0.5]]]]]],
        ),
        (
            lambda: head(con.regression_head(), "eval", LOGITS, [[1.0], [0.0], [0.0]]),
            [
                ["loss", 1.417],
                ["metrics", [["average_loss", 1.417], ["label/mean", 0.3333], ["prediction/mean", -0.1667]]],
                ["predictions", [["predictions", [[1.0], [-2.0], [0.5]]]]],
            ],
        ),
        (
            lambda: head(con.regression_head(label_dimension=3), "eval", THREE, [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
            [
                ["loss", 0.875],
                ["metrics", [["average_loss", 0.875], ["label/mean", 0.5], ["prediction/mean", 0.4167]]],
                ["predictions", [["predictions", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]]]],
            ],
        ),
        (
            lambda: head(con.regression_head(weight_column="w", inverse_link_fn=tf.exp), "eval", LOGITS, [[1.0], [0.0], [0.0]]),
            [
                ["loss", 1.417],
                ["metrics", [["average_loss", 1.062], ["label/mean", 0.5], ["prediction/mean", 1.805]]],
                ["predictions", [["logits", [[1.0], [-2.0], [0.5]]], ["predictions", [[2.718], [0.1353], [1.649]]]]],
            ],
        ),
        (
            lambda: head(con.poisson_regression_head(), "eval", LOGITS, [[1.0], [0.0], [2.0]]),
            [
                ["loss", 1.051],
                ["metrics", [["average_loss", 1.051], ["label/mean", 1.0], ["prediction/mean", 1.501]]],
                ["predictions", [["logits", [[1.0], [-2.0], [0.5]]], ["predictions", [[2.718], [0.1353], [1.649]]]]],
            ],
        ),
        (
            lambda: head(con.logistic_regression_head(), "eval", LOGITS, [[1.0], [0.0], [0.0]]),
            [
                ["loss", 0.4714],
                ["metrics", [["average_loss", 0.4714], ["label/mean", 0.3333], ["prediction/mean", 0.4909]]],
                ["predictions", [["logits", [[1.0], [-2.0], [0.5]]], ["predictions", [[0.7311], [0.1192], [0.6225]]]]],
            ],
        ),
        (
            lambda: exports(con.binary_classification_head(), LOGITS),
            [
                ["classification", "ClassificationOutput"],
                ["predict", "PredictOutput"],
                ["regression", "RegressionOutput"],
                ["serving_default", "ClassificationOutput"],
            ],
        ),
        (
            lambda: exports(con.multi_class_head(3), THREE),
            [["classification", "ClassificationOutput"], ["predict", "PredictOutput"], ["serving_default", "ClassificationOutput"]],
        ),
        (
            lambda: exports(con.multi_label_head(3), THREE),
            [["classification", "ClassificationOutput"], ["predict", "PredictOutput"], ["serving_default", "ClassificationOutput"]],
        ),
        (
            lambda: exports(con.regression_head(), LOGITS),
            [["predict", "PredictOutput"], ["regression", "RegressionOutput"], ["serving_default", "RegressionOutput"]],
        ),
        (
            lambda: exports(
                con.multi_head([con.regression_head(name="a"), con.multi_class_head(3, name="b")]),
                np.array([[1.0, 0.0, 1.0, 2.0]], np.float32),
            ),
            [
                ["a", "RegressionOutput"],
                ["a/predict", "PredictOutput"],
                ["a/regression", "RegressionOutput"],
                ["b", "ClassificationOutput"],
                ["b/classification", "ClassificationOutput"],
                ["b/predict", "PredictOutput"],
                ["predict", "PredictOutput"],
                ["serving_default", "RegressionOutput"],
            ],
        ),
        (
            lambda: head(
                con.multi_head([con.regression_head(name="a"), con.multi_class_head(3, name="b")], head_weights=[1.0, 2.0]),
                "eval",
                np.array([[1.0, 0.0, 1.0, 2.0]], np.float32),
                {"a": [[1.0]], "b": [[2]]},
            ),
            [
                ["loss", 0.8152],
                [
                    "metrics",
                    [
                        ["accuracy/b", 1.0],
                        ["average_loss/a", 0.0],
                        ["average_loss/b", 0.4076],
                        ["label/mean/a", 1.0],
                        ["loss/a", 0.0],
                        ["loss/b", 0.4076],
                        ["prediction/mean/a", 1.0],
                    ],
                ],
                [
                    "predictions",
                    [
                        [["a", "predictions"], [[1.0]]],
                        [["b", "all_class_ids"], [[0, 1, 2]]],
                        [["b", "all_classes"], [[b"0", b"1", b"2"]]],
                        [["b", "class_ids"], [[2]]],
                        [["b", "classes"], [[b"2"]]],
                        [["b", "logits"], [[0.0, 1.0, 2.0]]],
                        [["b", "probabilities"], [[0.09003, 0.2447, 0.6652]]],
                    ],
                ],
            ],
        ),
        (lambda: con.multi_head([con.regression_head(name="a"), con.multi_class_head(3, name="b")]).logits_dimension, 4),
        (
            lambda: [
                h.logits_dimension
                for h in [
                    con.binary_classification_head(),
                    con.multi_class_head(3),
                    con.multi_label_head(4),
                    con.regression_head(label_dimension=2),
                ]
            ],
            [1, 3, 4, 2],
        ),
    ],
)
def test_graph_heads_predict_and_measure(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: head(est.BinaryClassHead(), "infer", LOGITS),
            [
                ["loss", 0],
                ["metrics", []],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"1"], [b"0"], [b"1"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(est.BinaryClassHead(), "eval", LOGITS, [[1], [0], [0]]),
            [
                ["loss", 0.4714],
                [
                    "metrics",
                    [
                        ["accuracy", 0.6667],
                        ["accuracy_baseline", 0.6667],
                        ["auc", 1.0],
                        ["auc_precision_recall", 1.0],
                        ["average_loss", 0.4714],
                        ["label/mean", 0.3333],
                        ["precision", 0.5],
                        ["prediction/mean", 0.4909],
                        ["recall", 1.0],
                    ],
                ],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"1"], [b"0"], [b"1"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(est.BinaryClassHead(weight_column="w", thresholds=[0.3]), "eval", LOGITS, [[1], [0], [0]]),
            [
                ["loss", 0.5758],
                [
                    "metrics",
                    [
                        ["accuracy", 0.75],
                        ["accuracy/positive_threshold_0.3", 0.75],
                        ["accuracy_baseline", 0.5],
                        ["auc", 1.0],
                        ["auc_precision_recall", 1.0],
                        ["average_loss", 0.4319],
                        ["label/mean", 0.5],
                        ["precision", 0.6667],
                        ["precision/positive_threshold_0.3", 0.6667],
                        ["prediction/mean", 0.5509],
                        ["recall", 1.0],
                        ["recall/positive_threshold_0.3", 1.0],
                    ],
                ],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"0", b"1"], [b"0", b"1"], [b"0", b"1"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"1"], [b"0"], [b"1"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(est.BinaryClassHead(label_vocabulary=["n", "p"]), "eval", LOGITS, [["p"], ["n"], ["n"]]),
            [
                ["loss", 0.4714],
                [
                    "metrics",
                    [
                        ["accuracy", 0.6667],
                        ["accuracy_baseline", 0.6667],
                        ["auc", 1.0],
                        ["auc_precision_recall", 1.0],
                        ["average_loss", 0.4714],
                        ["label/mean", 0.3333],
                        ["precision", 0.5],
                        ["prediction/mean", 0.4909],
                        ["recall", 1.0],
                    ],
                ],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1], [0, 1], [0, 1]]],
                        ["all_classes", [[b"n", b"p"], [b"n", b"p"], [b"n", b"p"]]],
                        ["class_ids", [[1], [0], [1]]],
                        ["classes", [[b"p"], [b"n"], [b"p"]]],
                        ["logistic", [[0.7311], [0.1192], [0.6225]]],
                        ["logits", [[1.0], [-2.0], [0.5]]],
                        ["probabilities", [[0.2689, 0.7311], [0.8808, 0.1192], [0.3775, 0.6225]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(est.MultiClassHead(3), "infer", THREE),
            [
                ["loss", 0],
                ["metrics", []],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1, 2], [0, 1, 2]]],
                        ["all_classes", [[b"0", b"1", b"2"], [b"0", b"1", b"2"]]],
                        ["class_ids", [[0], [1]]],
                        ["classes", [[b"0"], [b"1"]]],
                        ["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]],
                        ["probabilities", [[0.6652, 0.2447, 0.09003], [0.09962, 0.7361, 0.1643]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(est.MultiClassHead(3), "eval", THREE, [[0], [2]]),
            [
                ["loss", 1.107],
                ["metrics", [["accuracy", 0.5], ["average_loss", 1.107]]],
                [
                    "predictions",
                    [
                        ["all_class_ids", [[0, 1, 2], [0, 1, 2]]],
                        ["all_classes", [[b"0", b"1", b"2"], [b"0", b"1", b"2"]]],
                        ["class_ids", [[0], [1]]],
                        ["classes", [[b"0"], [b"1"]]],
                        ["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]],
                        ["probabilities", [[0.6652, 0.2447, 0.09003], [0.09962, 0.7361, 0.1643]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(est.MultiLabelHead(3), "infer", THREE),
            [
                ["loss", 0],
                ["metrics", []],
                [
                    "predictions",
                    [["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]], ["probabilities", [[0.7311, 0.5, 0.2689], [0.5, 0.8808, 0.6225]]]],
                ],
            ],
        ),
        (
            lambda: head(
                est.MultiLabelHead(3, thresholds=[0.6], classes_for_class_based_metrics=[1]), "eval", THREE, [[1, 0, 1], [0, 1, 0]]
            ),
            [
                ["loss", 0.6856],
                [
                    "metrics",
                    [
                        ["accuracy/positive_threshold_0.6", 0.6667],
                        ["auc", 0.6667],
                        ["auc/class1", 1.0],
                        ["auc_precision_recall", 0.8177],
                        ["auc_precision_recall/class1", 1.0],
                        ["average_loss", 0.6856],
                        ["precision/positive_threshold_0.6", 0.6667],
                        ["probability_mean/class1", 0.6904],
                        ["recall/positive_threshold_0.6", 0.6667],
                    ],
                ],
                [
                    "predictions",
                    [["logits", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]], ["probabilities", [[0.7311, 0.5, 0.2689], [0.5, 0.8808, 0.6225]]]],
                ],
            ],
        ),
        (
            lambda: head(est.RegressionHead(), "infer", LOGITS),
            [["loss", 0], ["metrics", []], ["predictions", [["predictions", [[1.0], [-2.0], [0.5]]]]]],
        ),
        (
            lambda: head(est.RegressionHead(), "eval", LOGITS, [[1.0], [0.0], [0.0]]),
            [
                ["loss", 1.417],
                ["metrics", [["average_loss", 1.417], ["label/mean", 0.3333], ["prediction/mean", -0.1667]]],
                ["predictions", [["predictions", [[1.0], [-2.0], [0.5]]]]],
            ],
        ),
        (
            lambda: head(est.RegressionHead(label_dimension=3, weight_column="w"), "eval", THREE, [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
            [
                ["loss", 1.542],
                ["metrics", [["average_loss", 1.028], ["label/mean", 0.5556], ["prediction/mean", 0.2778]]],
                ["predictions", [["predictions", [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]]]],
            ],
        ),
        (
            lambda: head(est.PoissonRegressionHead(), "eval", LOGITS, [[1.0], [0.0], [2.0]]),
            [
                ["loss", 1.051],
                ["metrics", [["average_loss", 1.051], ["label/mean", 1.0], ["prediction/mean", 1.501]]],
                ["predictions", [["logits", [[1.0], [-2.0], [0.5]]], ["predictions", [[2.718], [0.1353], [1.649]]]]],
            ],
        ),
        (
            lambda: head(est.LogisticRegressionHead(), "eval", LOGITS, [[1.0], [0.0], [0.0]]),
            [
                ["loss", 0.4714],
                ["metrics", [["average_loss", 0.4714], ["label/mean", 0.3333], ["prediction/mean", 0.4909]]],
                ["predictions", [["logits", [[1.0], [-2.0], [0.5]]], ["predictions", [[0.7311], [0.1192], [0.6225]]]]],
            ],
        ),
        (
            lambda: head(
                est.MultiHead([est.RegressionHead(name="a"), est.MultiClassHead(3, name="b")], head_weights=[1.0, 2.0]),
                "eval",
                np.array([[1.0, 0.0, 1.0, 2.0]], np.float32),
                {"a": [[1.0]], "b": [[2]]},
            ),
            [
                ["loss", 0.8152],
                [
                    "metrics",
                    [
                        ["accuracy/b", 1.0],
                        ["average_loss/a", 0.0],
                        ["average_loss/b", 0.4076],
                        ["label/mean/a", 1.0],
                        ["loss/a", 0.0],
                        ["loss/b", 0.4076],
                        ["prediction/mean/a", 1.0],
                    ],
                ],
                [
                    "predictions",
                    [
                        [["a", "predictions"], [[1.0]]],
                        [["b", "all_class_ids"], [[0, 1, 2]]],
                        [["b", "all_classes"], [[b"0", b"1", b"2"]]],
                        [["b", "class_ids"], [[2]]],
                        [["b", "classes"], [[b"2"]]],
                        [["b", "logits"], [[0.0, 1.0, 2.0]]],
                        [["b", "probabilities"], [[0.09003, 0.2447, 0.6652]]],
                    ],
                ],
            ],
        ),
        (
            lambda: head(
                est.MultiHead([est.RegressionHead(name="a"), est.MultiClassHead(3, name="b")]),
                "infer",
                np.array([[1.0, 0.0, 1.0, 2.0]], np.float32),
            ),
            [
                ["loss", 0],
                ["metrics", []],
                [
                    "predictions",
                    [
                        [["a", "predictions"], [[1.0]]],
                        [["b", "all_class_ids"], [[0, 1, 2]]],
                        [["b", "all_classes"], [[b"0", b"1", b"2"]]],
                        [["b", "class_ids"], [[2]]],
                        [["b", "classes"], [[b"2"]]],
                        [["b", "logits"], [[0.0, 1.0, 2.0]]],
                        [["b", "probabilities"], [[0.09003, 0.2447, 0.6652]]],
                    ],
                ],
            ],
        ),
        (
            lambda: [
                h.logits_dimension
                for h in [
                    est.BinaryClassHead(),
                    est.MultiClassHead(3),
                    est.MultiLabelHead(4),
                    est.RegressionHead(label_dimension=2),
                    est.MultiHead([est.RegressionHead(name="a"), est.MultiClassHead(3, name="b")]),
                ]
            ],
            [1, 3, 4, 2, 4],
        ),
        (
            lambda: [
                h.name
                for h in [est.BinaryClassHead(name="n"), est.MultiHead([est.RegressionHead(name="a"), est.MultiClassHead(3, name="b")])]
            ],
            ["n", "a_b"],
        ),
        (
            lambda: [h.loss_reduction for h in [est.BinaryClassHead(), est.MultiClassHead(3), est.RegressionHead()]],
            ["sum_over_batch_size", "sum_over_batch_size", "sum_over_batch_size"],
        ),
    ],
)
def test_head_objects_predict_and_measure(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: everything(
                est.inputs.numpy_input_fn({"a": np.arange(5)}, np.arange(5) * 10, batch_size=2, num_epochs=1, shuffle=False)
            ),
            [[{"a": [0, 1]}, [0, 10]], [{"a": [2, 3]}, [20, 30]], [{"a": [4]}, [40]]],
        ),
        (lambda: everything(est.inputs.numpy_input_fn(np.arange(3), batch_size=2, num_epochs=2, shuffle=False)), [[0, 1], [2, 0], [1, 2]]),
        (
            lambda: everything(
                est.inputs.numpy_input_fn(
                    {"a": np.arange(2)}, {"l": np.arange(2), "m": np.arange(2) + 5}, batch_size=2, num_epochs=1, shuffle=False
                )
            ),
            [[{"a": [0, 1]}, {"l": [0, 1], "m": [5, 6]}]],
        ),
        (
            lambda: sorted(sum(everything(est.inputs.numpy_input_fn(np.arange(5), batch_size=2, num_epochs=1, shuffle=True)), [])),
            [0, 1, 2, 3, 4],
        ),
    ],
)
def test_inputs_come_from_arrays(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: built(est.LinearClassifier([x(), i()], model_dir=where()), [[0], [1], [1]]),
            [
                ["global_step", []],
                ["linear/linear_model/i/weights/part_0", [3, 1]],
                ["linear/linear_model/x/weights/part_0", [1, 1]],
                ["linear/linear_model/bias_weights/part_0", [1]],
                ["linear/linear/linear_model/i/weights/part_0/Ftrl", [3, 1]],
                ["linear/linear/linear_model/i/weights/part_0/Ftrl_1", [3, 1]],
                ["linear/linear/linear_model/x/weights/part_0/Ftrl", [1, 1]],
                ["linear/linear/linear_model/x/weights/part_0/Ftrl_1", [1, 1]],
                ["linear/linear/linear_model/bias_weights/part_0/Ftrl", [1]],
                ["linear/linear/linear_model/bias_weights/part_0/Ftrl_1", [1]],
            ],
        ),
        (
            lambda: built(est.LinearClassifier([x()], model_dir=where(), n_classes=3), [[0], [1], [2]]),
            [
                ["global_step", []],
                ["linear/linear_model/x/weights/part_0", [1, 3]],
                ["linear/linear_model/bias_weights/part_0", [3]],
                ["linear/linear/linear_model/x/weights/part_0/Ftrl", [1, 3]],
                ["linear/linear/linear_model/x/weights/part_0/Ftrl_1", [1, 3]],
                ["linear/linear/linear_model/bias_weights/part_0/Ftrl", [3]],
                ["linear/linear/linear_model/bias_weights/part_0/Ftrl_1", [3]],
            ],
        ),
        (
            lambda: built(est.LinearRegressor([x()], model_dir=where(), label_dimension=2), [[0.0, 1.0]] * 3),
            [
                ["global_step", []],
                ["linear/linear_model/x/weights/part_0", [1, 2]],
                ["linear/linear_model/bias_weights/part_0", [2]],
                ["linear/linear/linear_model/x/weights/part_0/Ftrl", [1, 2]],
                ["linear/linear/linear_model/x/weights/part_0/Ftrl_1", [1, 2]],
                ["linear/linear/linear_model/bias_weights/part_0/Ftrl", [2]],
                ["linear/linear/linear_model/bias_weights/part_0/Ftrl_1", [2]],
            ],
        ),
        (
            lambda: built(est.LinearRegressor([x()], model_dir=where(), optimizer="Adam"), [[0.0]] * 3),
            [
                ["global_step", []],
                ["linear/linear_model/x/weights/part_0", [1, 1]],
                ["linear/linear_model/bias_weights/part_0", [1]],
                ["linear/head/beta1_power", []],
                ["linear/head/beta2_power", []],
                ["linear/linear/linear_model/x/weights/part_0/Adam", [1, 1]],
                ["linear/linear/linear_model/x/weights/part_0/Adam_1", [1, 1]],
                ["linear/linear/linear_model/bias_weights/part_0/Adam", [1]],
                ["linear/linear/linear_model/bias_weights/part_0/Adam_1", [1]],
            ],
        ),
        (
            lambda: built(est.DNNClassifier([4, 2], [x(), fc.embedding_column(i(), 2)], model_dir=where()), [[0], [1], [1]]),
            [
                ["global_step", []],
                ["dnn/input_from_feature_columns/input_layer/i_embedding/embedding_weights/part_0", [3, 2]],
                ["dnn/hiddenlayer_0/kernel/part_0", [3, 4]],
                ["dnn/hiddenlayer_0/bias/part_0", [4]],
                ["dnn/hiddenlayer_1/kernel/part_0", [4, 2]],
                ["dnn/hiddenlayer_1/bias/part_0", [2]],
                ["dnn/logits/kernel/part_0", [2, 1]],
                ["dnn/logits/bias/part_0", [1]],
                ["dnn/dnn/input_from_feature_columns/input_layer/i_embedding/embedding_weights/part_0/Adagrad", [3, 2]],
                ["dnn/dnn/hiddenlayer_0/kernel/part_0/Adagrad", [3, 4]],
                ["dnn/dnn/hiddenlayer_0/bias/part_0/Adagrad", [4]],
                ["dnn/dnn/hiddenlayer_1/kernel/part_0/Adagrad", [4, 2]],
                ["dnn/dnn/hiddenlayer_1/bias/part_0/Adagrad", [2]],
                ["dnn/dnn/logits/kernel/part_0/Adagrad", [2, 1]],
                ["dnn/dnn/logits/bias/part_0/Adagrad", [1]],
            ],
        ),
        (
            lambda: built(est.DNNClassifier([4], [x()], model_dir=where(), n_classes=3, batch_norm=True), [[0], [1], [2]]),
            [
                ["global_step", []],
                ["dnn/hiddenlayer_0/kernel/part_0", [1, 4]],
                ["dnn/hiddenlayer_0/bias/part_0", [4]],
                ["dnn/hiddenlayer_0/batchnorm_0/gamma/part_0", [4]],
                ["dnn/hiddenlayer_0/batchnorm_0/beta/part_0", [4]],
                ["dnn/hiddenlayer_0/batchnorm_0/moving_mean", [4]],
                ["dnn/hiddenlayer_0/batchnorm_0/moving_variance", [4]],
                ["dnn/logits/kernel/part_0", [4, 3]],
                ["dnn/logits/bias/part_0", [3]],
                ["dnn/dnn/hiddenlayer_0/kernel/part_0/Adagrad", [1, 4]],
                ["dnn/dnn/hiddenlayer_0/bias/part_0/Adagrad", [4]],
                ["dnn/dnn/hiddenlayer_0/batchnorm_0/gamma/part_0/Adagrad", [4]],
                ["dnn/dnn/hiddenlayer_0/batchnorm_0/beta/part_0/Adagrad", [4]],
                ["dnn/dnn/logits/kernel/part_0/Adagrad", [4, 3]],
                ["dnn/dnn/logits/bias/part_0/Adagrad", [3]],
            ],
        ),
        (
            lambda: built(est.DNNRegressor([4], [x()], model_dir=where(), optimizer="SGD", dropout=0.5), [[0.0]] * 3),
            [
                ["global_step", []],
                ["dnn/hiddenlayer_0/kernel/part_0", [1, 4]],
                ["dnn/hiddenlayer_0/bias/part_0", [4]],
                ["dnn/logits/kernel/part_0", [4, 1]],
                ["dnn/logits/bias/part_0", [1]],
            ],
        ),
        (
            lambda: built(
                est.DNNLinearCombinedClassifier(where(), linear_feature_columns=[i()], dnn_feature_columns=[x()], dnn_hidden_units=[3]),
                [[0], [1], [1]],
            ),
            [
                ["global_step", []],
                ["dnn/hiddenlayer_0/kernel/part_0", [1, 3]],
                ["dnn/hiddenlayer_0/bias/part_0", [3]],
                ["dnn/logits/kernel/part_0", [3, 1]],
                ["dnn/logits/bias/part_0", [1]],
                ["linear/linear_model/i/weights/part_0", [3, 1]],
                ["linear/linear_model/bias_weights/part_0", [1]],
                ["dnn/hiddenlayer_0/kernel/part_0/Adagrad", [1, 3]],
                ["dnn/hiddenlayer_0/bias/part_0/Adagrad", [3]],
                ["dnn/logits/kernel/part_0/Adagrad", [3, 1]],
                ["dnn/logits/bias/part_0/Adagrad", [1]],
                ["linear/linear_model/i/weights/part_0/Ftrl", [3, 1]],
                ["linear/linear_model/i/weights/part_0/Ftrl_1", [3, 1]],
                ["linear/linear_model/bias_weights/part_0/Ftrl", [1]],
                ["linear/linear_model/bias_weights/part_0/Ftrl_1", [1]],
            ],
        ),
        (
            lambda: built(est.DNNLinearCombinedRegressor(where(), linear_feature_columns=[i()]), [[0.0]] * 3),
            [
                ["global_step", []],
                ["linear/linear_model/i/weights/part_0", [3, 1]],
                ["linear/linear_model/bias_weights/part_0", [1]],
                ["linear/linear_model/i/weights/part_0/Ftrl", [3, 1]],
                ["linear/linear_model/i/weights/part_0/Ftrl_1", [3, 1]],
                ["linear/linear_model/bias_weights/part_0/Ftrl", [1]],
                ["linear/linear_model/bias_weights/part_0/Ftrl_1", [1]],
            ],
        ),
        (
            lambda: built(
                est.DNNLinearCombinedRegressor(
                    where(), dnn_feature_columns=[x()], dnn_hidden_units=[3], dnn_optimizer="RMSProp", linear_optimizer="SGD"
                ),
                [[0.0]] * 3,
            ),
            [
                ["global_step", []],
                ["dnn/hiddenlayer_0/kernel/part_0", [1, 3]],
                ["dnn/hiddenlayer_0/bias/part_0", [3]],
                ["dnn/logits/kernel/part_0", [3, 1]],
                ["dnn/logits/bias/part_0", [1]],
                ["dnn/hiddenlayer_0/kernel/part_0/RMSProp", [1, 3]],
                ["dnn/hiddenlayer_0/kernel/part_0/RMSProp_1", [1, 3]],
                ["dnn/hiddenlayer_0/bias/part_0/RMSProp", [3]],
                ["dnn/hiddenlayer_0/bias/part_0/RMSProp_1", [3]],
                ["dnn/logits/kernel/part_0/RMSProp", [3, 1]],
                ["dnn/logits/kernel/part_0/RMSProp_1", [3, 1]],
                ["dnn/logits/bias/part_0/RMSProp", [1]],
                ["dnn/logits/bias/part_0/RMSProp_1", [1]],
            ],
        ),
        (
            lambda: built(est.BaselineClassifier(where(), n_classes=3), [[0], [1], [2]]),
            [["global_step", []], ["baseline/bias", [3]], ["baseline/bias/Ftrl", [3]], ["baseline/bias/Ftrl_1", [3]]],
        ),
        (
            lambda: built(est.BaselineRegressor(where(), label_dimension=2), [[0.0, 1.0]] * 3),
            [["global_step", []], ["baseline/bias", [2]], ["baseline/bias/Ftrl", [2]], ["baseline/bias/Ftrl_1", [2]]],
        ),
        (
            lambda: built(est.LinearClassifier([x(), i()], model_dir=where()), None, "infer"),
            [
                ["global_step", []],
                ["linear/linear_model/i/weights/part_0", [3, 1]],
                ["linear/linear_model/x/weights/part_0", [1, 1]],
                ["linear/linear_model/bias_weights/part_0", [1]],
            ],
        ),
        (
            lambda: built(est.DNNClassifier([4], [x()], model_dir=where()), [[0], [1], [1]], "eval"),
            [
                ["global_step", []],
                ["dnn/hiddenlayer_0/kernel/part_0", [1, 4]],
                ["dnn/hiddenlayer_0/bias/part_0", [4]],
                ["dnn/logits/kernel/part_0", [4, 1]],
                ["dnn/logits/bias/part_0", [1]],
            ],
        ),
        (
            lambda: built(est.LinearRegressor([x()], model_dir=where()), [["a"]] * 3),
            [
                ["global_step", []],
                ["linear/linear_model/x/weights/part_0", [1, 1]],
                ["linear/linear_model/bias_weights/part_0", [1]],
                ["linear/linear/linear_model/x/weights/part_0/Ftrl", [1, 1]],
                ["linear/linear/linear_model/x/weights/part_0/Ftrl_1", [1, 1]],
                ["linear/linear/linear_model/bias_weights/part_0/Ftrl", [1]],
                ["linear/linear/linear_model/bias_weights/part_0/Ftrl_1", [1]],
            ],
        ),
    ],
)
def test_canned_models_make_these_variables(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: est.TrainSpec(lambda: None).max_steps, None),
        (
            lambda: est.TrainSpec(lambda: None, max_steps=5, hooks=[tf.train.StopAtStepHook(1)]).hooks[0].__class__.__name__,
            "StopAtStepHook",
        ),
        (
            lambda: [
                getattr(est.EvalSpec(lambda: None), n) for n in ("steps", "name", "start_delay_secs", "throttle_secs", "exporters", "hooks")
            ],
            [100, None, 120, 600, [], []],
        ),
        (lambda: est.LatestExporter("a", lambda: None).name, "a"),
        (lambda: est.FinalExporter("a", lambda: None).name, "a"),
        (lambda: est.BestExporter("a", lambda: None).name, "a"),
        (lambda: est.WarmStartSettings("a").vars_to_warm_start, ".*"),
        (lambda: est.VocabInfo("v", 3, 1, "o").old_vocab_size, -1),
        (lambda: estimator().eval_dir().split("/")[-1], "eval"),
        (lambda: estimator().eval_dir("n").split("/")[-1], "eval_n"),
        (lambda: estimator().latest_checkpoint(), None),
    ],
)
def test_training_is_told_what_to_do(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: config().session_config.allow_soft_placement, AttributeError, "'NoneType' object has no attribute 'allow_soft_placement'"),
        (
            lambda: config().session_config.graph_options.rewrite_options.meta_optimizer_iterations,
            AttributeError,
            "'NoneType' object has no attribute 'graph_options'",
        ),
        (
            lambda: config({"model_dir": "d"}, model_dir="e"),
            ValueError,
            "`model_dir` provided in RunConfig construct, if set, must have the",
        ),
        (lambda: config({"model_dir": ""}), ValueError, "model_dir in TF_CONFIG should be non-empty."),
        (lambda: config(model_dir=""), ValueError, "model_dir should be non-empty."),
        (lambda: config({"service": 3}), TypeError, 'If "service" is set in TF_CONFIG, it must be a dict. Given <class'),
        (
            lambda: config({"task": {"type": "chief", "index": 0}}),
            ValueError,
            'If "cluster" is not set in TF_CONFIG, task type must be WORKER.',
        ),
        (
            lambda: config({"task": {"type": "worker", "index": 1}}),
            ValueError,
            'If "cluster" is not set in TF_CONFIG, task index must be 0.',
        ),
        (lambda: config(cluster("worker", 5)), ValueError, "5 is not a valid task_id for task_type worker in the cluster_spec:"),
        (lambda: config(cluster("worker", -1)), ValueError, "Task index must be non-negative number."),
        (lambda: config(cluster("other", 0)), ValueError, "other is not a valid task_type in the cluster_spec:"),
        (
            lambda: config(cluster("chief", 0, worker=["a:1"])),
            ValueError,
            'If "cluster" is set in TF_CONFIG, it must have one "chief" node.',
        ),
        (
            lambda: config(cluster("chief", 0, chief=["a:1", "b:1"])),
            ValueError,
            'The "cluster" in TF_CONFIG must have only one "chief" node.',
        ),
        (
            lambda: config({"cluster": {"chief": ["a:1"]}, "task": {"index": 0}}),
            ValueError,
            'If "cluster" is set in TF_CONFIG, task type must be set.',
        ),
        (
            lambda: config({"cluster": {"chief": ["a:1"]}, "task": {"type": "chief"}}),
            ValueError,
            'If "cluster" is set in TF_CONFIG, task index must be set.',
        ),
        (
            lambda: config(save_checkpoints_steps=1, save_checkpoints_secs=1),
            ValueError,
            "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both",
        ),
        (lambda: config(save_summary_steps=-1), ValueError, "save_summary_steps should be >= 0"),
        (lambda: config(keep_checkpoint_max=-1), ValueError, "keep_checkpoint_max should be >= 0"),
        (lambda: config(keep_checkpoint_every_n_hours=0), ValueError, "keep_checkpoint_every_n_hours should be > 0"),
        (lambda: config(log_step_count_steps=0), ValueError, "log_step_count_steps should be > 0"),
        (lambda: config(save_checkpoints_secs=-1), ValueError, "save_checkpoints_secs should be >= 0"),
        (lambda: config(save_checkpoints_steps=-1), ValueError, "save_checkpoints_steps should be >= 0"),
        (lambda: config(tf_random_seed=1.5), ValueError, "tf_random_seed must be integer."),
        (lambda: config(session_config={}), ValueError, "session_config must be instance of ConfigProto"),
        (lambda: config(device_fn=3), ValueError, 'device_fn must be callable with exactly one argument "op".'),
        (lambda: config().replace(wrong=3), ValueError, "Replacing wrong is not supported. Allowed properties are"),
        (lambda: config().replace(master="a"), ValueError, "Replacing master is not supported. Allowed properties are"),
        (
            lambda: config().replace(save_checkpoints_steps=1, save_checkpoints_secs=1),
            ValueError,
            "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both",
        ),
        (lambda: spec("train", train_op=tf.no_op()), ValueError, "Missing loss."),
        (lambda: spec("train", loss=tf.constant(1.0)), ValueError, "Missing train_op."),
        (lambda: spec("eval"), ValueError, "Missing loss."),
        (lambda: spec("infer"), ValueError, "Missing predictions."),
        (
            lambda: spec("train", loss=tf.constant([1.0, 2.0]), train_op=tf.no_op()),
            ValueError,
            'Loss must be scalar, given: Tensor("Const:0", shape=(2,),',
        ),
        (lambda: spec("train", loss=tf.constant(1.0), train_op=3), TypeError, "train_op must be Operation or Tensor, given: 3"),
        (
            lambda: spec("eval", loss=tf.constant(1.0), predictions=[dense()]),
            TypeError,
            "predictions must be Tensor, given: [<tf.Tensor 'Const_1:0' shape=(1,",
        ),
        (lambda: spec("eval", loss=tf.constant(1.0), predictions=3), TypeError, "predictions must be Tensor, given: 3"),
        (
            lambda: spec("eval", loss=tf.constant(1.0), eval_metric_ops={"m": 3}),
            TypeError,
            "Values of eval_metric_ops must be (metric_value, update_op) tuples,",
        ),
        (lambda: spec("eval", loss=tf.constant(1.0), eval_metric_ops=[3]), TypeError, "eval_metric_ops must be a dict, given: [3]"),
        (lambda: spec("infer", predictions=dense(), export_outputs=3), TypeError, "export_outputs must be dict, given: 3"),
        (
            lambda: spec("infer", predictions=dense(), export_outputs={"a": 3}),
            TypeError,
            "Values in export_outputs must be ExportOutput objects. Given: {'a':",
        ),
        (
            lambda: spec(
                "infer",
                predictions=dense(),
                export_outputs={"a": est.export.PredictOutput(dense()), "b": est.export.PredictOutput(dense())},
            ),
            ValueError,
            "Multiple export_outputs were provided, but none of them is specified",
        ),
        (
            lambda: spec("train", loss=tf.constant(1.0), train_op=tf.no_op(), training_hooks=[3]),
            TypeError,
            "All hooks must be SessionRunHook instances, given: 3",
        ),
        (lambda: spec("train", loss=tf.constant(1.0), train_op=tf.no_op(), scaffold=3), TypeError, "scaffold must be"),
        (
            lambda: spec("train", loss=tf.constant(1.0), train_op=tf.no_op(), evaluation_hooks=[3]),
            TypeError,
            "All hooks must be SessionRunHook instances, given: 3",
        ),
        (
            lambda: spec("infer", predictions=dense(), prediction_hooks=[3]),
            TypeError,
            "All hooks must be SessionRunHook instances, given: 3",
        ),
        (lambda: est.export.PredictOutput({3: dense()}), ValueError, "Prediction output key must be a string; got 3"),
        (lambda: est.export.PredictOutput({"a": 3}), ValueError, "Prediction output value must be a Tensor; got 3"),
        (lambda: est.export.RegressionOutput(tf.constant(["a"])), ValueError, "Regression output value must be a float32 Tensor; got"),
        (lambda: est.export.RegressionOutput(3), ValueError, "Regression output value must be a float32 Tensor; got 3"),
        (lambda: est.export.ClassificationOutput(), ValueError, "At least one of scores and classes must be set."),
        (
            lambda: est.export.ClassificationOutput(scores=tf.constant([1])),
            ValueError,
            'Classification scores must be a float32 Tensor; got Tensor("Const:0",',
        ),
        (
            lambda: est.export.ClassificationOutput(classes=tf.constant([1])),
            ValueError,
            'Classification classes must be a string Tensor; got Tensor("Const:0",',
        ),
        (
            lambda: est.export.RegressionOutput(dense()).as_signature_def(
                {"a": tf.placeholder(tf.string, [None]), "b": tf.placeholder(tf.string, [None])}
            ),
            ValueError,
            "Regression input must be a single string Tensor; got {'a': <tf.Tensor",
        ),
        (
            lambda: est.export.RegressionOutput(dense()).as_signature_def({"a": tf.placeholder(tf.float32, [None])}),
            ValueError,
            "Regression input must be a single string Tensor; got {'a': <tf.Tensor",
        ),
        (lambda: est.export.ServingInputReceiver(None, dense()), ValueError, "features must be defined."),
        (lambda: est.export.ServingInputReceiver({"a": dense()}, None), ValueError, "receiver_tensors must be defined."),
        (lambda: est.export.ServingInputReceiver({"a": "b"}, dense()), ValueError, "feature a must be a Tensor or SparseTensor."),
        (lambda: est.export.ServingInputReceiver({"a": dense()}, {3: dense()}), ValueError, "receiver_tensor keys must be strings: 3."),
        (
            lambda: est.export.ServingInputReceiver({"a": dense()}, {"a": 3}),
            ValueError,
            "receiver_tensor a must be a Tensor or SparseTensor.",
        ),
        (
            lambda: est.export.ServingInputReceiver({"a": dense()}, dense(), receiver_tensors_alternatives=3),
            ValueError,
            "receiver_tensors_alternatives must be a dict: 3.",
        ),
        (lambda: est.export.TensorServingInputReceiver(None, dense()), ValueError, "features must be defined."),
        (lambda: est.export.TensorServingInputReceiver({"a": dense()}, dense()), ValueError, "feature must be a Tensor or SparseTensor."),
        (
            lambda: est.experimental.build_raw_supervised_input_receiver_fn({"a": dense()}, {"a": dense()}),
            ValueError,
            "Features and labels must have distinct keys. Found overlapping keys:",
        ),
        (lambda: con.multi_head([]), ValueError, "Must specify heads. Given: []"),
        (lambda: con.multi_head([con.regression_head()]), ValueError, "All given heads must have name specified. Given:"),
        (
            lambda: con.multi_head([con.regression_head(name="a")], head_weights=[1.0, 2.0]),
            ValueError,
            "heads and head_weights must have the same size. Given len(heads): 1.",
        ),
        (lambda: con.multi_class_head(2), ValueError, "n_classes must be > 2: 2."),
        (
            lambda: con.multi_class_head(3, label_vocabulary=3),
            ValueError,
            "label_vocabulary should be a list or a tuple. Given type: <class",
        ),
        (lambda: con.multi_label_head(1), ValueError, "n_classes must be > 1 for multi-class classification. Given: 1"),
        (lambda: con.multi_label_head(3, thresholds=[1.5]), ValueError, "thresholds must be in (0, 1) range. Given: 1.5"),
        (
            lambda: con.multi_label_head(3, classes_for_class_based_metrics=[3]),
            ValueError,
            "All classes_for_class_based_metrics must be in range [0, 2]. Given: 3",
        ),
        (lambda: con.binary_classification_head(thresholds=[0.0]), ValueError, "thresholds not in (0, 1): ((0.0,),)."),
        (lambda: con.binary_classification_head(loss_reduction="wrong"), ValueError, "Invalid loss_reduction: wrong"),
        (lambda: con.regression_head(label_dimension=0), ValueError, "Invalid label_dimension 0."),
        (lambda: con.regression_head(loss_reduction="none"), ValueError, "Invalid loss_reduction: none"),
        (
            lambda: head(con.binary_classification_head(), "eval", THREE, [[0], [1]]),
            ValueError,
            "logits shape must be [D0, D1, ... DN, logits_dimension], got (2, 3).",
        ),
        (
            lambda: head(con.multi_class_head(3), "eval", THREE, [[5], [0]]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Labels must <= n_classes - 1] [Condition x <= y",
        ),
        (
            lambda: head(con.multi_class_head(3), "eval", THREE, [[0.5], [0.5]]),
            ValueError,
            "Labels dtype should be integer. Instead got <dtype: 'float32'>.",
        ),
        (
            lambda: head(con.regression_head(), "eval", LOGITS, [[1.0, 2.0]] * 3),
            ValueError,
            "Mismatched label shape. Expected labels dimension=1.  Received 2.",
        ),
        (lambda: head(con.regression_head(), "eval", LOGITS), ValueError, "You must provide a labels Tensor. Given: None. Suggested"),
        (
            lambda: head(con.multi_label_head(3), "eval", THREE, [[1, 0], [0, 1]]),
            ValueError,
            "Mismatched label shape. Expected labels dimension=3.  Received 2.",
        ),
        (lambda: est.MultiHead([]), ValueError, "Must specify heads. Given: []"),
        (lambda: est.MultiHead([est.RegressionHead()]), ValueError, "All given heads must have name specified. Given:"),
        (lambda: est.MultiClassHead(2), ValueError, "n_classes must be > 2: 2."),
        (lambda: est.MultiLabelHead(1), ValueError, "n_classes must be > 1 for multi-label classification. Given: 1"),
        (lambda: est.BinaryClassHead(thresholds=[2.0]), ValueError, "thresholds not in (0, 1): ((2.0,),)."),
        (lambda: est.RegressionHead(label_dimension=0), ValueError, "Invalid label_dimension 0."),
        (lambda: est.inputs.numpy_input_fn({}, shuffle=False)(), ValueError, "x cannot be an empty dict"),
        (lambda: est.inputs.numpy_input_fn([1, 2], shuffle=False)(), TypeError, "x must be a dict or array; got list"),
        (
            lambda: est.inputs.numpy_input_fn({"a": np.arange(2)}, {}, shuffle=False)(),
            ValueError,
            "y cannot be empty dict, use None instead.",
        ),
        (
            lambda: est.inputs.numpy_input_fn({"a": np.arange(2)}, {"a": np.arange(2)}, shuffle=False)(),
            ValueError,
            "1 duplicate keys are found in both x and y: {'a'}",
        ),
        (
            lambda: est.inputs.numpy_input_fn({"a": np.arange(2)}, shuffle=None),
            ValueError,
            "shuffle must be provided and explicitly set as boolean (it is",
        ),
        (lambda: est.LinearClassifier([x()], model_dir=where(), n_classes=1), ValueError, "n_classes must be > 2: 1."),
        (
            lambda: est.DNNLinearCombinedClassifier(where()),
            ValueError,
            "Either linear_feature_columns or dnn_feature_columns must be defined.",
        ),
        (
            lambda: built(est.DNNClassifier([4], [x()], model_dir=where(), optimizer="wrong"), [[0], [1], [1]]),
            ValueError,
            "Unsupported optimizer name: wrong. Supported names are: ('Adagrad',",
        ),
        (
            lambda: built(est.DNNClassifier([4], [i()], model_dir=where()), [[0], [1], [1]]),
            ValueError,
            "Items of feature_columns must be a",
        ),
        (
            lambda: built(est.LinearRegressor([x()], model_dir=where()), [[0.0]] * 3, features=tf.constant([[1.0]] * 3)),
            TypeError,
            "using a `tf.Tensor` as a Python `bool` is not allowed in Graph",
        ),
        (lambda: est.TrainSpec(3), TypeError, "`input_fn` must be callable, given: 3"),
        (lambda: est.TrainSpec(lambda: None, max_steps=0), ValueError, "Must specify max_steps > 0, given: 0"),
        (lambda: est.TrainSpec(lambda: None, hooks=[3]), TypeError, "All hooks must be `SessionRunHook` instances, given: 3"),
        (lambda: est.EvalSpec(3), TypeError, "`input_fn` must be callable, given: 3"),
        (lambda: est.EvalSpec(lambda: None, steps=0), ValueError, "Must specify steps > 0, given: 0"),
        (lambda: est.EvalSpec(lambda: None, name=3), TypeError, "`name` must be string, given: 3"),
        (lambda: est.EvalSpec(lambda: None, hooks=[3]), TypeError, "All hooks must be `SessionRunHook` instances, given: 3"),
        (
            lambda: est.EvalSpec(lambda: None, exporters=3),
            TypeError,
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`,",
        ),
        (
            lambda: est.EvalSpec(lambda: None, exporters=[3]),
            TypeError,
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`,",
        ),
        (lambda: est.EvalSpec(lambda: None, start_delay_secs=-1), ValueError, "Must specify start_delay_secs >= 0, given: -1"),
        (lambda: est.EvalSpec(lambda: None, throttle_secs=-1), ValueError, "Must specify throttle_secs >= 0, given: -1"),
        (
            lambda: est.EvalSpec(lambda: None, exporters=[est.LatestExporter("a", lambda: None), est.LatestExporter("a", lambda: None)]),
            ValueError,
            "`exporters` must have unique names. Such a name cannot be `None`. All",
        ),
        (
            lambda: est.train_and_evaluate(3, est.TrainSpec(lambda: None), est.EvalSpec(lambda: None)),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: est.train_and_evaluate(estimator(), 3, est.EvalSpec(lambda: None)),
            TypeError,
            "`train_spec` must have type `tf.estimator.TrainSpec`. Got: <class",
        ),
        (
            lambda: est.train_and_evaluate(estimator(), est.TrainSpec(lambda: None), 3),
            TypeError,
            "`eval_spec` must have type `tf.estimator.EvalSpec`. Got: <class",
        ),
        (lambda: est.LatestExporter("a", lambda: None, exports_to_keep=0), ValueError, "`exports_to_keep`, if provided, must be"),
        (
            lambda: est.BestExporter("a", lambda: None, exports_to_keep=-1),
            ValueError,
            "`exports_to_keep`, if provided, must be a positive number.",
        ),
        (lambda: est.WarmStartSettings(""), ValueError, "`ckpt_to_initialize_from` MUST be set in WarmStartSettings"),
        (lambda: estimator(params={"a": 1}).params, ValueError, "model_fn (<function estimator.<locals>.<lambda> at"),
        (lambda: estimator().get_variable_names(), ValueError, "Could not find trained model in model_dir:"),
        (lambda: estimator().train(lambda: None, steps=1, max_steps=1), ValueError, "Can not provide both steps and max_steps."),
        (lambda: estimator().train(lambda: None, steps=0), ValueError, "Must specify steps > 0, given: 0"),
        (lambda: estimator().train(lambda: None, max_steps=-1), ValueError, "Must specify max_steps > 0, given: -1"),
        (lambda: estimator().train(lambda: None, hooks=[3]), TypeError, "Hooks must be a SessionRunHook, given: 3"),
        (lambda: estimator().evaluate(lambda: None), ValueError, "model_fn should return an EstimatorSpec."),
        (lambda: estimator().evaluate(lambda: None, steps=0), ValueError, "Must specify steps > 0, given: 0"),
        (lambda: estimator(config=3), ValueError, "config must be an instance of `RunConfig`, but provided 3."),
        (lambda: est.Estimator(lambda labels: None, where()), ValueError, "must include features argument."),
        (
            lambda: est.Estimator(lambda features: None, where(), params={"a": 1}),
            ValueError,
            "does not include params argument, but params",
        ),
        (lambda: est.Estimator(lambda features, wrong: None, where()), ValueError, "has following not expected args: ['wrong']"),
        (
            lambda: stops(est.experimental.stop_if_no_decrease_hook, (1, 3.0), (2, 2.0), (9, 2.5), max_steps_without_decrease=5),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: stops(est.experimental.stop_if_no_decrease_hook, (1, 3.0), (2, 2.0), (9, 1.5), max_steps_without_decrease=5),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: stops(est.experimental.stop_if_no_increase_hook, (1, 3.0), (2, 2.0), (9, 1.5), max_steps_without_increase=5),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: stops(est.experimental.stop_if_no_increase_hook, (1, 1.0), (2, 2.0), (9, 3.5), max_steps_without_increase=5),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: stops(est.experimental.stop_if_higher_hook, (1, 1.0), (2, 5.0), threshold=3.0),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: stops(est.experimental.stop_if_higher_hook, (1, 1.0), (2, 2.0), threshold=3.0),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: stops(est.experimental.stop_if_lower_hook, (1, 1.0), (2, 5.0), threshold=3.0),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: stops(est.experimental.stop_if_lower_hook, (1, 4.0), (2, 5.0), threshold=3.0),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: stops(est.experimental.stop_if_lower_hook, (1, 1.0), (2, 5.0), threshold=3.0, min_steps=100),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (lambda: stops(est.experimental.stop_if_higher_hook), TypeError, "stop_if_higher_hook() missing 1 required positional argument:"),
        (lambda: est.experimental.make_early_stopping_hook(estimator(), 3), TypeError, "`should_stop_fn` must be callable"),
        (
            lambda: est.experimental.make_early_stopping_hook(3, lambda: True),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class",
        ),
        (
            lambda: est.experimental.make_early_stopping_hook(estimator(), lambda: True, run_every_secs=60, run_every_steps=10),
            ValueError,
            "Only one of `run_every_secs` and `run_every_steps` must be set.",
        ),
        (
            lambda: est.experimental.make_early_stopping_hook(estimator(), lambda: True, run_every_secs=None),
            ValueError,
            "Either every_secs or every_steps should be provided.",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)


def test_modes_and_keys_that_nobody_knows_are_taken():
    assert spec("wrong", predictions=dense()).mode == "wrong"
    assert list(est.export.ServingInputReceiver({3: dense()}, dense()).features) == [3]
