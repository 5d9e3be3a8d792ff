"""TPU estimators, towers, wrappers, receivers, clusters, trees and how an estimator is told what to do; values are of TensorFlow 1.15.5."""

import functools
import json
import os
import tempfile

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow import internals

est, con, fc, v2, tpu = tf.estimator, tf.contrib.estimator, tf.feature_column, tf.compat.v2.estimator, tf.estimator.tpu
INSIDE = "tensorflow_estimator.python.estimator."
kmeans, rnn, optimizers, util, trees, parts, linear, export = (
    internals.module(INSIDE + name)
    for name in (
        "canned.kmeans",
        "canned.rnn",
        "canned.optimizers",
        "tpu.util",
        "canned.boosted_trees_utils",
        "canned.boosted_trees",
        "canned.linear",
        "export.export",
    )
)
towers = internals.module("contrib.estimator.python.estimator.replicate_model_fn")


def folder():
    return tempfile.mkdtemp()


def evaluated(fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        return plain(session.run(fetches), 4)


def briefly(made):
    """What was refused, without what Python shows of classes and objects."""
    return refused(made).split(" <")[0]


def hook():
    return tf.train.StopAtStepHook(1)


def tpu_spec(mode, **kwargs):
    """The fields of a spec for TPUs, and of what it becomes."""
    loss = tf.constant(2.0)
    spec = tpu.TPUEstimatorSpec(mode, loss=loss, predictions={"y": tf.constant([1.0])}, train_op=tf.no_op(), **kwargs)
    return spec, spec.as_estimator_spec()


def hooks_of(*specs):
    return [[len(getattr(spec, kind + "_hooks")) for kind in ("training", "evaluation", "prediction")] for spec in specs]


def measured(mode, tensors):
    spec, plain_spec = tpu_spec(mode, eval_metrics=(lambda a, b: {"m": tf.metrics.mean(a * b)}, tensors))
    metrics = plain_spec.eval_metric_ops
    return evaluated([m[1] for m in metrics.values()]) if metrics else metrics


def tpu_model(features, labels, mode, params):
    return tpu.TPUEstimatorSpec(
        mode,
        loss=tf.reduce_sum(features["x"]) * params["scale"] + params.get("batch_size", 0),
        train_op=tf.assign_add(tf.train.get_global_step(), 1).op,
    )


def tpu_estimator(model_fn=tpu_model, config=None, use_tpu=False, params=None, **kwargs):
    return tpu.TPUEstimator(model_fn, folder(), config or tpu.RunConfig(), {"scale": 3.0} if params is None else params, use_tpu, **kwargs)


def tpu_input(params):
    return tf.data.Dataset.from_tensors(({"x": tf.ones([params.get("batch_size", 4)])}, tf.constant([0])))


def as_number(value):
    return None if value is None else int(value)


def config_facts(**kwargs):
    c = tpu.RunConfig(**kwargs)
    return [c.master, c.evaluation_master, c.cluster, list(map(as_number, c.tpu_config)), c.session_config is None, c.task_type]


def in_cluster(kind="worker", **kwargs):
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": {"chief": ["a:1"], "ps": ["c:1"], "worker": ["b:1"]}, "task": {"type": kind, "index": 0}}
    )
    try:
        return config_facts(**kwargs)
    finally:
        del os.environ["TF_CONFIG"]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [tuple(util.parse_iterations_per_loop(n)) for n in (1, "90s", "5m", "2h")],
            [[1, "count"], [90, "seconds"], [300, "seconds"], [7200, "seconds"]],
        ),
        (
            lambda: [briefly(lambda n=n: util.parse_iterations_per_loop(n)) for n in (0, "0s", "5", "5d", "x5s")],
            [
                "ValueError: Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based ",
                "ValueError: Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based ",
                "no error, but IterationsPerLoopCounter(value=5, unit='count')",
                "ValueError: Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based ",
                "ValueError: Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based ",
            ],
        ),
        (lambda: list(map(as_number, tpu.TPUConfig())), [2, None, None, 2, None, None, None, 2, 1]),
        (lambda: [int(tpu.TPUConfig(per_host_input_for_training=p).per_host_input_for_training) for p in (False, True, 3)], [1, 2, 3]),
        (
            lambda: [briefly(lambda n=n: tpu.TPUConfig(num_shards=n)) for n in (0, -1)],
            ["ValueError: TPUConfig num_shards must be positive, got 0", "ValueError: TPUConfig num_shards must be positive, got -1"],
        ),
        (lambda: [tpu.TPUConfig(num_shards=1).num_shards, tpu.TPUConfig(num_cores_per_replica=128).num_cores_per_replica], [1, 128]),
        (
            lambda: briefly(lambda: tpu.TPUConfig(num_cores_per_replica=3)),
            "ValueError: num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got 3",
        ),
        (lambda: config_facts(), ["", "", None, [2, None, None, 2, None, None, None, 2, 1], True, "worker"]),
        (
            lambda: config_facts(master="grpc://m", tpu_config=tpu.TPUConfig(5)),
            ["grpc://m", "grpc://m", None, [5, None, None, 2, None, None, None, 2, 1], True, "worker"],
        ),
        (
            lambda: config_facts(master="grpc://m", evaluation_master="grpc://e"),
            ["grpc://m", "grpc://e", None, [2, None, None, 2, None, None, None, 2, 1], True, "worker"],
        ),
        (lambda: briefly(lambda: config_facts(master="grpc://m", cluster=object())), "ValueError: Both master and cluster are set."),
        (lambda: in_cluster(), ["grpc://b:1", "grpc://b:1", None, [2, None, None, 2, None, None, None, 2, 1], True, "worker"]),
        (
            lambda: in_cluster(session_config=tf.ConfigProto()),
            ["grpc://b:1", "grpc://b:1", None, [2, None, None, 2, None, None, None, 2, 1], False, "worker"],
        ),
        (lambda: tpu.RunConfig(tf_random_seed=3).replace(tpu_config=tpu.TPUConfig(7), tf_random_seed=4).tpu_config.iterations_per_loop, 7),
        (lambda: tpu.RunConfig(tpu_config=tpu.TPUConfig(7)).replace(tf_random_seed=4).tpu_config.iterations_per_loop, 7),
        (
            lambda: [
                measured("eval", [tf.constant([2.0, 4.0]), tf.constant(1.0)]),
                measured("eval", {"a": tf.constant(2.0), "b": tf.constant(3.0)}),
            ],
            [[3.0], [6.0]],
        ),
        (
            lambda: [measured("train", [tf.constant([2.0]), tf.constant(1.0)]), briefly(lambda: measured("eval", [tf.constant(2.0)]))],
            [[2.0], "RuntimeError: In TPUEstimatorSpec.eval_metrics, length of tensors 1 does not match method args of the function"],
        ),
        (
            lambda: hooks_of(*tpu_spec("train", training_hooks=[hook()], evaluation_hooks=[hook()] * 2, prediction_hooks=[hook()] * 3)),
            [[1, 2, 3], [1, 2, 3]],
        ),
        (lambda: tpu_spec("train", scaffold_fn=lambda: tf.train.Scaffold(init_op=tf.no_op(name="mine")))[1].scaffold.init_op.name, "mine"),
        (
            lambda: [briefly(lambda p=p: tpu_spec("eval", eval_metrics=p)) for p in (3, (lambda: 1,), (1, []), (lambda: 1, 5))],
            [
                "ValueError: eval_metrics should be tuple or list",
                "ValueError: eval_metrics should have two elements.",
                "TypeError: eval_metrics[0] should be callable.",
                "ValueError: eval_metrics[1] should be tuple or list, or dict.",
            ],
        ),
        (
            lambda: [briefly(lambda p=p: tpu_spec("eval", host_call=p)) for p in (3, (lambda: 1,), (1, []), (lambda: 1, 5))],
            [
                "ValueError: host_call should be tuple or list",
                "ValueError: host_call should have two elements.",
                "TypeError: host_call[0] should be callable.",
                "ValueError: host_call[1] should be tuple or list, or dict.",
            ],
        ),
        (
            lambda: [
                plain(tpu_estimator(train_batch_size=2, eval_batch_size=8).train(tpu_input, steps=1).evaluate(tpu_input, steps=1)["loss"]),
                tpu_estimator().params,
            ],
            [32.0, {"scale": 3.0}],
        ),
        (
            lambda: briefly(lambda: tpu_estimator(config=est.RunConfig())),
            "ValueError: `config` must be provided with type `tpu_config.RunConfig`",
        ),
        (
            lambda: briefly(lambda: tpu_estimator(params={"batch_size": 3})),
            "ValueError: ['batch_size', 'context'] are reserved keys but existed in params {'batch_size': 3}.",
        ),
        (lambda: briefly(lambda: tpu_estimator(use_tpu=True)), "ValueError: `train_batch_size` cannot be `None`"),
        (lambda: briefly(lambda: tpu_estimator().train(lambda: 1, steps=1)).split("(")[0], "ValueError: input_fn "),
    ],
)
def test_estimators_for_tpus_run_without_one(made, expected):
    assert plain(made(), 4) == expected


def tower(loss=1.0, scale=1.0, outputs=None, **kwargs):
    return est.EstimatorSpec("infer", predictions={"y": tf.constant([scale, 2.0])}, export_outputs=outputs, **kwargs)


def merged(*outputs):
    spec = towers._predict_spec([tower(outputs={"o": output}) for output in outputs], "/cpu:0")
    found = spec.export_outputs["o"]
    return [
        type(found).__name__,
        evaluated({k: getattr(found, k) for k in ("scores", "classes", "value", "outputs") if getattr(found, k, None) is not None}),
        evaluated(spec.predictions),
    ]


def slices(*rows):
    return tf.IndexedSlices(tf.constant([[float(r)] for r in rows]), tf.constant(list(rows)), tf.constant([9, 1]))


def placed(op, worker="/gpu:1", servers=("/cpu:0", "/cpu:1")):
    turns = iter([1, 0])
    setter = towers._local_device_setter(worker, list(servers), lambda op: next(turns))
    with tf.device(setter):
        return [t.op.device if isinstance(t, tf.Tensor) else t.device for t in op()]


def wrapping(optimizer):
    made = towers.TowerOptimizer(optimizer)
    v = tf.get_variable("v", initializer=1.0)
    made.minimize(v * 2.0)
    return [made.get_name(), made.get_slot_names(), made.get_slot(v, "momentum").op.name, [x.op.name for x in made.variables()]]


def in_towers(mode, **kwargs):
    """A model on two devices, with a metric, a loss that is a mean, and an optimizer that notes the steps."""

    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", initializer=params["w"])
        y = features["x"] * w
        if mode == "infer":
            return est.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(tf.square(y - labels))
        op = towers.TowerOptimizer(lambda: tf.train.GradientDescentOptimizer(0.1)).minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=op, eval_metric_ops={"m": tf.metrics.mean(y)})

    replicated = towers.replicate_model_fn(model_fn, devices=["/cpu:0", "/cpu:1"], **kwargs)
    tf.train.get_or_create_global_step()
    spec = replicated({"x": tf.constant([1.0, 2.0, 3.0, 4.0])}, tf.constant([1.0, 2.0, 3.0, 0.0]), mode, {"w": 2.0})
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        if mode == "infer":
            return plain(session.run(spec.predictions))
        if mode == "eval":
            session.run(spec.eval_metric_ops["m"][1])
            return plain(session.run([spec.loss, spec.eval_metric_ops["m"][0]]))
        loss = session.run([spec.loss, spec.train_op])[0]
        return plain([loss, session.run([tf.trainable_variables()[0], tf.train.get_global_step()])])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: merged(*(est.export.PredictOutput({"a": tf.constant([n])}) for n in (1, 2))),
            ["PredictOutput", {"outputs": {"a": [1, 2]}}, {"y": [1.0, 2.0, 1.0, 2.0]}],
        ),
        (
            lambda: merged(*(est.export.RegressionOutput(tf.constant([n])) for n in (1.0, 2.0))),
            ["RegressionOutput", {"value": [1.0, 2.0]}, {"y": [1.0, 2.0, 1.0, 2.0]}],
        ),
        (
            lambda: merged(*(est.export.ClassificationOutput(tf.constant([n]), tf.constant([c])) for n, c in ((1.0, "a"), (2.0, "b")))),
            ["ClassificationOutput", {"scores": [1.0, 2.0], "classes": [[b"a"], [b"b"]]}, {"y": [1.0, 2.0, 1.0, 2.0]}],
        ),
        (
            lambda: merged(*(est.export.ClassificationOutput(classes=tf.constant([c])) for c in "ab")),
            ["ClassificationOutput", {"classes": [[b"a"], [b"b"]]}, {"y": [1.0, 2.0, 1.0, 2.0]}],
        ),
        (lambda: evaluated(towers._predict_spec([tower(scale=3.0), tower()], "/cpu:0").predictions), {"y": [3.0, 2.0, 1.0, 2.0]}),
        (lambda: towers._concat_tensor_dicts(), {}),
        (
            lambda: [
                evaluated(towers._compute_sum_on_device([slices(1, 2), slices(2)], "/cpu:0").values),
                evaluated(towers._compute_sum_on_device([tf.constant(1.0), tf.constant(2.0)], "/cpu:0", "s")),
            ],
            [[[1.0], [2.0], [2.0]], 3.0],
        ),
        (
            lambda: [
                [evaluated(p) for p in part]
                for part in towers._split_batch(tf.constant([1, 2, 3, 4]), tf.constant([[5], [6], [7], [8]]), 2, "/cpu:0")
            ],
            [[[1, 2], [3, 4]], [[[5], [6]], [[7], [8]]]],
        ),
        (
            lambda: evaluated(towers._split_batch({"s": tf.SparseTensor([[0, 0], [3, 1]], [1, 2], [4, 2])}, None, 2, "/cpu:0")[0][1]["s"]),
            {"indices": [[1, 1]], "values": [2], "dense_shape": [2, 2]},
        ),
        (
            lambda: placed(lambda: [tf.Variable(1.0), tf.Variable(2.0), tf.constant(1.0)]),
            ["/device:CPU:1", "/device:CPU:0", "/device:GPU:1"],
        ),
        (lambda: placed(lambda: [tf.get_variable("r", [], use_resource=True).handle]), ["/device:CPU:1"]),
        (lambda: wrapping(tf.train.MomentumOptimizer(0.1, 0.9)), ["Momentum", ["momentum"], "v/Momentum", ["v/Momentum"]]),
        (lambda: wrapping(lambda: tf.train.MomentumOptimizer(0.1, 0.9)), ["Momentum", ["momentum"], "v/Momentum", ["v/Momentum"]]),
        (lambda: towers.TowerOptimizer.has_been_used(), False),
        (lambda: [in_towers("train"), in_other("eval"), in_other("infer")], [[19.5, [-0.3, 1]], [19.5, 5.0], {"y": [2.0, 4.0, 6.0, 8.0]}]),
        (lambda: in_towers("train", loss_reduction="weighted_sum"), [39.0, [-2.6, 1]]),
        (lambda: towers._get_local_devices("CPU")[0].split("/")[-1], "device:CPU:0"),
    ],
)
def test_towers_share_a_model(made, expected):
    assert plain(made(), 4) == expected


def in_other(mode):
    with tf.Graph().as_default():
        return in_towers(mode)


def model(features, labels, mode, config):
    w = tf.get_variable("w", initializer=2.0)
    y = features["x"] * w
    outputs = {"serving_default": est.export.RegressionOutput(y), "other": est.export.PredictOutput({"y": y})} if mode == "infer" else None
    loss = tf.reduce_sum(y)
    return est.EstimatorSpec(mode, {"y": y}, loss, tf.assign_add(w, 1.0).op, {"m": tf.metrics.mean(y)}, outputs)


def spec_of(made, mode, labels=None, **features):
    features = {k: v if isinstance(v, tf.SparseTensor) else tf.constant(v) for k, v in (features or {"x": [1.0, 2.0]}).items()}
    return made.model_fn(features, labels, mode, made.config)


def estimator(model_fn=model, **kwargs):
    return est.Estimator(model_fn, folder(), **kwargs)


def forwarded(mode="infer", keys=None, defaults=None, model_fn=model, **features):
    spec = spec_of(con.forward_features(estimator(model_fn), keys, defaults), mode, **features)
    exports = {k: sorted(getattr(v, "outputs", ["-"])) for k, v in (spec.export_outputs or {}).items()}
    return [sorted(spec.predictions), exports]


def added(metric_fn, mode="eval"):
    with tf.Graph().as_default():
        return sorted(spec_of(con.add_metrics(estimator(), metric_fn), mode, labels=tf.constant([1.0])).eval_metric_ops)


def clipped(norm):
    v, w = tf.get_variable("v", initializer=0.0), tf.get_variable("w", initializer=[0.0, 0.0])
    made = con.clip_gradients_by_norm(tf.train.MomentumOptimizer(1.0, 0.9), norm)
    op = made.minimize(3.0 * v + 4.0 * w[0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(op)
        return plain([session.run([v, w]), made.get_name(), made.get_slot_names(), made.get_slot(v, "momentum").op.name])


def sparse():
    return tf.SparseTensor([[0, 1]], ["a"], [1, 2])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: forwarded(), [["x", "y"], {"serving_default": ["-"], "other": ["y"]}]),
        (lambda: forwarded(keys="k", x=[1.0], k=[1], l=[2]), [["k", "y"], {"serving_default": ["-"], "other": ["y"]}]),
        (lambda: forwarded(keys=["k", "l"], x=[1.0], k=[1], l=[2]), [["k", "l", "y"], {"serving_default": ["-"], "other": ["y"]}]),
        (lambda: forwarded("eval", x=[1.0], k=[1]), [["k", "x", "y"], {}]),
        (lambda: forwarded(keys="s", defaults={"s": "-"}, x=[1.0], s=sparse()), [["s", "y"], {"serving_default": ["-"], "other": ["y"]}]),
        (
            lambda: evaluated(spec_of(con.forward_features(estimator(), "s", {"s": "-"}), "infer", x=[1.0], s=sparse()).predictions["s"]),
            [[b"-", b"a"]],
        ),
        (
            lambda: [briefly(lambda k=k: forwarded(keys=k)) for k in (5, [5], "nowhere")],
            [
                "TypeError: keys should be either a string or a list of strings. Given:",
                "TypeError: All items in the given keys list should be a string. There exist an item with type:",
                'ValueError: keys should be exist in features. Key "nowhere" is not in features dict. features dict has followi',
            ],
        ),
        (
            lambda: briefly(lambda: forwarded(keys="s", x=[1.0], s=sparse())),
            "ValueError: Feature (s) should be a Tensor. Please use `keys` argument of forward_features to filter unwanted ",
        ),
        (lambda: briefly(lambda: forwarded(keys="x", defaults={"x": 1.0})), "ValueError: Feature (x) is expected to be a `SparseTensor`."),
        (
            lambda: briefly(lambda: forwarded(keys="y", x=[1.0], y=[1.0])),
            "ValueError: Cannot forward feature key (y). Since it does exist in predictions. Existing prediction keys: dict",
        ),
        (
            lambda: briefly(lambda: forwarded(model_fn=lambda features, mode: est.EstimatorSpec(mode, tf.constant([1.0])))),
            "ValueError: Predictions should be a dict to be able to forward features. Given:",
        ),
        (
            lambda: added(lambda features, labels, predictions, config: {"n": tf.metrics.mean(features["x"] + labels + predictions["y"])}),
            ["m", "n"],
        ),
        (lambda: [added(lambda: {"n": tf.metrics.mean(1.0)}), added(lambda: {"n": 1}, "train")], [["m", "n"], ["m"]]),
        (lambda: briefly(lambda: added(lambda other: {})), "ValueError: metric_fn (<function"),
        (lambda: clipped(1.0), [[-0.6, [-0.8, 0.0]], "ClipByNormMomentum", ["momentum"], "v/Momentum"]),
        (lambda: clipped(100.0), [[-3.0, [-4.0, 0.0]], "ClipByNormMomentum", ["momentum"], "v/Momentum"]),
        (
            lambda: plain(
                con.call_logit_fn(
                    lambda features, params, config, mode: tf.constant([features, params, config, len(mode)]), 1, "eval", 2, 3
                )
                .op.get_attr("value")
                .int_val
            ),
            [],
        ),
        (lambda: sorted(con.call_logit_fn(lambda features: {"a": tf.constant(1)}, 1, "eval", 2, 3)), ["a"]),
        (
            lambda: [
                briefly(lambda g=g: con.call_logit_fn(lambda features: g, 1, "eval", 2, 3)) for g in (5, {1: tf.constant(1)}, {"a": 1})
            ],
            [
                "ValueError: logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: 5",
                "ValueError: logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: {1",
                "ValueError: logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: {'",
            ],
        ),
        (
            lambda: [
                briefly(lambda a=a, p=p: est.Estimator(a, folder(), params=p)).split("(<")[0]
                for a, p in ((lambda labels: 1, None), (lambda features: 1, {}), (lambda features, other: 1, None), (None, None))
            ],
            [
                "ValueError: model_fn ",
                "ValueError: model_fn ",
                "ValueError: model_fn ",
                "ValueError: model_fn must be provided to Estimator.",
            ],
        ),
        (lambda: est.Estimator(functools.partial(lambda scale, features, labels: 1, 5), folder()).model_dir != "", True),
        (
            lambda: briefly(lambda: spec_of(estimator(lambda features: None), "eval", labels=tf.constant(1))),
            "ValueError: model_fn does not take labels, but input_fn returns labels.",
        ),
        (
            lambda: briefly(lambda: spec_of(estimator(lambda features: None), "eval")),
            "ValueError: model_fn should return an EstimatorSpec.",
        ),
        (
            lambda: [optimizers.get_optimizer_instance(n, 0.5).get_name() for n in ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD")],
            ["Adagrad", "Adam", "Ftrl", "RMSProp", "GradientDescent"],
        ),
        (
            lambda: [
                plain(optimizers.get_optimizer_instance_v2(n, 0.5).get_config()["learning_rate"])
                for n in ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD")
            ],
            [0.5, 0.5, 0.5, 0.5, 0.5],
        ),
        (lambda: [plain(optimizers.get_optimizer_instance_v2(n).get_config()["learning_rate"]) for n in ("Adagrad", "SGD")], [0.001, 0.01]),
        (
            lambda: [briefly(lambda o=o: optimizers.get_optimizer_instance(o)) for o in ("Adam", "Other", 5, lambda: 5)],
            [
                "ValueError: learning_rate must be specified when opt is string.",
                "ValueError: Unsupported optimizer name: Other. Supported names are: ('Adagrad', 'Adam', 'Ftrl', 'RMSProp', 'SG",
                "ValueError: The given object is not an Optimizer instance. Given: 5",
                "ValueError: The given object is not an Optimizer instance. Given: 5",
            ],
        ),
        (
            lambda: [briefly(lambda o=o: optimizers.get_optimizer_instance_v2(o)) for o in ("Other", 5)],
            [
                "ValueError: Unsupported optimizer name: Other. Supported names are: ('Adagrad', 'Adam', 'Ftrl', 'RMSProp', 'SG",
                "ValueError: The given object is not a tf.keras.optimizers.Optimizer instance. Given: 5",
            ],
        ),
    ],
)
def test_estimators_are_extended(made, expected):
    assert plain(made(), 4) == expected


def received(receiver):
    """Names and shapes of what is received, and of what becomes features and labels."""

    def shown(tensors):
        if isinstance(tensors, dict):
            return {str(k): shown(v) for k, v in sorted(tensors.items())}
        return [tensors.op.name, tensors.dtype.name, plain(tensors.shape)] if tensors is not None else None

    return [shown(t) for t in (receiver.features, getattr(receiver, "labels", None), receiver.receiver_tensors)]


DIGITS = 4
raw, supervised = est.export.build_raw_serving_input_receiver_fn, est.experimental.build_raw_supervised_input_receiver_fn


def named(dtype=tf.float32, shape=(5, 2), name="q"):
    return tf.placeholder(dtype, shape, name=name)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: received(raw({"a": named(), "b": named(tf.int32, None, "r")})()),
            [
                {"a": ["q_1", "float32", [None, 2]], "b": ["r_1", "int32", None]},
                None,
                {"a": ["q_1", "float32", [None, 2]], "b": ["r_1", "int32", None]},
            ],
        ),
        (lambda: received(raw({"a": named(shape=())})()), [{"a": ["q_1", "float32", [None]]}, None, {"a": ["q_1", "float32", [None]]}]),
        (
            lambda: received(supervised({"a": named()}, {"b": named(tf.int32)}, 4)()),
            [
                {"a": ["q_2", "float32", [4, 2]]},
                {"b": ["q_1_1", "int32", [4, 2]]},
                {"a": ["q_2", "float32", [4, 2]], "b": ["q_1_1", "int32", [4, 2]]},
            ],
        ),
        (
            lambda: received(supervised(named(), named(tf.int32))()),
            [
                ["q_2", "float32", [None, 2]],
                ["q_1_1", "int32", [None, 2]],
                {"input": ["q_2", "float32", [None, 2]], "label": ["q_1_1", "int32", [None, 2]]},
            ],
        ),
        (
            lambda: briefly(lambda: supervised({"a": named()}, {"a": named()})).split("{")[0],
            "ValueError: Features and labels must have distinct keys. Found overlapping keys: ",
        ),
        (
            lambda: received(
                con.build_supervised_input_receiver_fn_from_input_fn(lambda n: ({"a": tf.ones([n, 2])}, tf.ones([n], tf.int32)), n=3)()
            ),
            [
                {"a": ["ones", "float32", [None, 2]]},
                ["ones_1", "int32", [None]],
                {"a": ["ones", "float32", [None, 2]], "label": ["ones_1", "int32", [None]]},
            ],
        ),
        (
            lambda: received(
                con.build_supervised_input_receiver_fn_from_input_fn(lambda: (tf.ones([3, 2]), {"l": tf.ones([3], tf.int32)}))()
            ),
            [
                ["ones", "float32", [None, 2]],
                {"l": ["ones_1", "int32", [None]]},
                {"input": ["ones", "float32", [None, 2]], "l": ["ones_1", "int32", [None]]},
            ],
        ),
        (
            lambda: received(export.SupervisedInputReceiver({1: named()}, named(), named())),
            [{"1": ["q", "float32", [5, 2]]}, ["q_1", "float32", [5, 2]], {"input": ["q_2", "float32", [5, 2]]}],
        ),
        (
            lambda: [
                briefly(lambda a=a: export.SupervisedInputReceiver(*a))
                for a in (
                    (None, named(), named()),
                    (named(), None, named()),
                    (named(), named(), None),
                    (5, named(), named()),
                    (named(), {"l": 5}, named()),
                    ({1.5: named()}, named(), named()),
                )
            ],
            [
                "ValueError: features must be defined.",
                "ValueError: labels must be defined.",
                "ValueError: receiver_tensors must be defined.",
                "ValueError: feature feature must be a Tensor or SparseTensor.",
                "ValueError: label l must be a Tensor or SparseTensor.",
                "ValueError: feature keys must be strings or ints: 1.5.",
            ],
        ),
        (
            lambda: [
                briefly(lambda a=a: est.export.ServingInputReceiver(*a))
                for a in (
                    (None, named()),
                    (named(), None),
                    (named(), {5: named()}),
                    (named(), named(), 5),
                    (named(), named(), {"a": {5: named()}}),
                    (named(), named(), {"a": 5}),
                )
            ],
            [
                "ValueError: features must be defined.",
                "ValueError: receiver_tensors must be defined.",
                "ValueError: receiver_tensor keys must be strings: 5.",
                "ValueError: receiver_tensors_alternatives must be a dict: 5.",
                "ValueError: receiver_tensors_alternative keys must be strings: 5.",
                "ValueError: receiver_tensors_alternative input must be a Tensor or SparseTensor.",
            ],
        ),
        (
            lambda: sorted(
                est.export.ServingInputReceiver(named(), named(), {"a": named(), "b": {"c": named()}}).receiver_tensors_alternatives["a"]
            ),
            ["input"],
        ),
        (
            lambda: [briefly(lambda f=f: est.export.TensorServingInputReceiver(f, named())) for f in (None, {"a": named()}, 5)],
            [
                "ValueError: features must be defined.",
                "ValueError: feature must be a Tensor or SparseTensor.",
                "ValueError: feature must be a Tensor or SparseTensor.",
            ],
        ),
    ],
)
def test_receivers_are_checked(made, expected):
    assert plain(made(), 4) == expected


def boundary(loss_before, loss, tolerance=0.5):
    """Whether a hook asks to stop when the loss goes from one value to another."""

    class Asked:
        stopped = False

        def request_stop(self):
            self.stopped = True

    asked, made = Asked(), kmeans._LossRelativeChangeHook(None, tolerance)
    for value in (loss_before, loss):
        made.after_run(asked, tf.train.SessionRunValues(value, None, None))
    return asked.stopped


def clusters(columns=None):
    """The centers of features side by side, and the step at which they no longer moved."""
    points = {"a": [[0.0], [0.0], [5.0], [6.0]], "b": [[1.0], [2.0], [5.0], [5.0]]}
    made = est.experimental.KMeans(
        2, folder(), np.array([[0.0, 1.0], [6.0, 5.0]], np.float32), use_mini_batch=False, relative_tolerance=1e-3, feature_columns=columns
    )
    made.train(lambda: tf.data.Dataset.from_tensors({k: tf.constant(v) for k, v in points.items()}).repeat())
    return [made.cluster_centers(), made.get_variable_value("global_step")]


ENSEMBLE = """
trees { nodes { bucketized_split { feature_id: 1 left_id: 1 right_id: 2 } metadata { gain: 3.0 } } nodes { leaf {} } nodes { leaf {} } }
trees { nodes { bucketized_split { feature_id: 0 left_id: 1 right_id: 2 } metadata { gain: 1.0 } }
        nodes { bucketized_split { feature_id: 1 } metadata { gain: 4.0 } } nodes { leaf {} } }
tree_weights: 1.0
tree_weights: 0.5
"""


def ensemble(text=ENSEMBLE):
    from google.protobuf import text_format

    return text_format.Parse(text, internals.module("core.kernels.boosted_trees.boosted_trees_pb2").TreeEnsemble())


def explained(classification):
    message = internals.module("core.kernels.boosted_trees.boosted_trees_pb2").DebugOutput(
        feature_ids=[1, 0, 1], logits_path=[0.0, 1.0, 0.5, 2.0]
    )
    bias, found = trees._parse_explanations_from_prediction(message.SerializeToString(), ["a", "b"], classification)
    return [bias, list(found.items())]


def config_of():
    layer = tf.keras.layers.GRU(3, return_sequences=True)
    column = fc.sequence_numeric_column("t")
    made = rnn.RNNModel(layer, 2, [column], [fc.numeric_column("c")], "tanh", True, name="mine")
    config = made.get_config()
    again = rnn.RNNModel.from_config(dict(config)).get_config()
    return [
        again == config,
        config["name"],
        config["units"],
        config["rnn_layer"]["class_name"],
        config["activation"],
        config["return_sequences"],
        config["sequence_feature_columns"][0]["class_name"],
        config["context_feature_columns"][0]["config"]["key"],
    ]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: [boundary(*p) for p in ((1.0, 1.5), (1.0, 2.0), (1.0, 2.5), (-3.0, -1.5), (3.0, 0.9))], [True, False, False, True, False]),
        (lambda: clusters(), [[[0.0, 1.5], [5.5, 5.0]], 3]),
        (lambda: clusters([fc.numeric_column("b"), fc.numeric_column("a")]), [[[0.0, 1.5], [5.5, 5.0]], 3]),
        (
            lambda: [
                briefly(lambda: est.experimental.KMeans(2, folder(), "other")),
                briefly(lambda: est.experimental.KMeans(2, folder(), distance_metric="other")),
            ],
            ["ValueError: Unsupported initialization algorithm 'other'", "ValueError: Unsupported distance metric 'other'"],
        ),
        (lambda: list(parts._compute_feature_importances(ensemble(), 3, False)), [0.5, 5.0, 0.0]),
        (lambda: list(parts._compute_feature_importances(ensemble(), 2, True)), [0.09091, 0.9091]),
        (
            lambda: briefly(lambda: parts._compute_feature_importances(ensemble(""), 2, True)),
            "AssertionError: Trees are all empty or contain only a root node.",
        ),
        (lambda: list(parts._compute_feature_importances_per_tree(ensemble().trees[1], 3)), [1.0, 4.0, 0.0]),
        (lambda: [explained(False), explained(True)], [[0.0, [["b", 2.5], ["a", -0.5]]], [0.5, [["b", 0.4894], ["a", -0.1086]]]]),
        (lambda: list(trees._sum_by_feature_col_name_and_sort(["a", "b", "a"], [1.0, -5.0, 2.0]).items()), [["b", -5.0], ["a", 3.0]]),
        (lambda: config_of(), [True, "mine", 2, "GRU", "tanh", True, "SequenceNumericColumn", "c"]),
        (
            lambda: [briefly(lambda c=c: rnn._make_rnn_layer(None, [2, 2], c, False)) for c in ("other", tf.keras.layers.Dense)],
            [
                "ValueError: `cell_type` should be a class producing a RNN cell, or a string specifying the cell type. Supporte",
                "ValueError: RNN cell should have a `call` and `state_size` method.",
            ],
        ),
        (
            lambda: evaluated(
                [
                    linear._compute_fraction_of_zero([tf.constant([0.0, 1.0, 0.0]), tf.constant([[0.0]])]),
                    linear._compute_fraction_of_zero([tf.zeros([0, 2]), tf.constant([1.0, 0.0])]),
                ]
            ),
            [0.75, 0.5],
        ),
        (
            lambda: [
                briefly(lambda a=a: linear._validate_linear_sdca_optimizer_for_linear_classifier([], a[0], a[1], a[2]))
                for a in ((3, SDCA, "sum"), (2, SDCA, "mean"), (2, SDCA, "sum"), (3, "Ftrl", "mean"))
            ],
            [
                "ValueError: LinearSDCA cannot be used in a multi-class setting.",
                'ValueError: sparse_combiner must be "sum" when optimizer is a LinearSDCA object.',
                "no error, but None",
                "no error, but None",
            ],
        ),
        (
            lambda: [
                briefly(lambda a=a: linear._validate_linear_sdca_optimizer_for_linear_regressor([], a[0], a[1], a[2]))
                for a in ((2, SDCA, "sum"), (1, SDCA, "mean"), (1, SDCA, "sum"), (3, "Ftrl", "mean"))
            ],
            [
                "ValueError: LinearSDCA can only be used with one-dimensional label.",
                'ValueError: sparse_combiner must be "sum" when optimizer is a LinearSDCA object.',
                "no error, but None",
                "no error, but None",
            ],
        ),
        (
            lambda: ascended(est.LinearClassifier, [[0], [1], [1]], columns="s"),
            {"linear/linear_model/bias_weights": [0.5], "linear/linear_model/s_weighted_by_v/weights": [[-0.88], [0.58]]},
        ),
    ],
)
def test_models_of_their_own_kind(made, expected):
    assert plain(made(), 4) == expected


SDCA = est.experimental.LinearSDCA("id")


def ascended(kind, labels, columns="xi", **kwargs):
    """Weights after dual ascent, on numbers, ids, and ids with weights of which some are unknown."""
    known = {
        "x": fc.numeric_column("x"),
        "i": fc.categorical_column_with_identity("i", 3),
        "s": fc.weighted_categorical_column(fc.categorical_column_with_vocabulary_list("s", ["a", "b"]), "v"),
    }
    optimizer = est.experimental.LinearSDCA("id", symmetric_l2_regularization=0.5)
    e = kind([known[c] for c in columns], model_dir=folder(), optimizer=optimizer, **kwargs)

    def data():
        at = [[0, 0], [1, 0], [2, 0]]
        features = {
            "x": tf.constant([[1.0], [2.0], [-1.0]]),
            "i": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0, 0, 2], [3, 2]),
            "id": tf.constant(["1", "2", "3"]),
            "w": tf.constant([[1.0], [2.0], [3.0]]),
            "s": tf.SparseTensor(at, ["a", "b", "z"], [3, 1]),
            "v": tf.SparseTensor(at, [2.0, 3.0, 4.0], [3, 1]),
        }
        return tf.data.Dataset.from_tensors((features, tf.constant(labels))).repeat()

    e.train(data, steps=15)
    return {
        n: plain(np.round(e.get_variable_value(n), 2)) for n in sorted(e.get_variable_names()) if "weights" in n and "unshrunk" not in n
    }
