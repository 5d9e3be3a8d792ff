"""Checkpoints of canned estimators of version 1 as those of version 2 read them; values are those of TensorFlow 1.15.5."""

import pytest
from plain import plain

import everflow as tf
from everflow import internals

converter = internals.module("tensorflow_estimator.python.estimator.tools.checkpoint_converter")
DEEP, WIDE = "dnn/hiddenlayer_0/kernel", "linear/linear_model/x/weights"


def converted(folder, kind, variables, settings):
    """What a checkpoint with these variables becomes; the graph around it has these constants."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        for name, value in variables.items():
            tf.Variable(value, name=name, dtype=tf.int64 if name == "global_step" else tf.float32)
        for name, value in settings.items():
            tf.constant(value, tf.float32, name=name)
        session.run(tf.global_variables_initializer())
        source = tf.train.Saver().save(session, str(folder / "model"))
        tf.train.write_graph(graph, str(folder), "graph.pbtxt")
    target = str(folder / "converted" / "model")
    tf.gfile.MakeDirs(str(folder / "converted"))
    converter.convert_checkpoint(kind, source, str(folder / "graph.pbtxt"), target)
    reader = tf.train.load_checkpoint(target)
    return {name: plain(reader.get_tensor(name), 4) for name in sorted(reader.get_variable_to_shape_map())}


@pytest.mark.parametrize(
    ("kind", "variables", "expected"),
    [
        (
            "dnn",
            {DEEP: 1.0, DEEP + "/t_0/Adagrad": 2.0},
            {
                "dnn/hiddenlayer_0/kernel": 1.0,
                "global_step": 4,
                "training/Adagrad/decay": 0.0,
                "training/Adagrad/dnn/hiddenlayer_0/kernel/accumulator": 2.0,
                "training/Adagrad/learning_rate": 0.001,
            },
        ),
        (
            "dnn",
            {DEEP: 1.0, DEEP + "/t_0/Adam": 2.0, DEEP + "/t_0/Adam_1": 3.0, "dnn/beta1_power": 0.5, "dnn/beta2_power": 0.125},
            {
                "dnn/hiddenlayer_0/kernel": 1.0,
                "global_step": 4,
                "training/Adam/beta_1": 0.8409,
                "training/Adam/beta_2": 0.5946,
                "training/Adam/decay": 0.0,
                "training/Adam/dnn/hiddenlayer_0/kernel/m": 2.0,
                "training/Adam/dnn/hiddenlayer_0/kernel/v": 3.0,
                "training/Adam/learning_rate": 0.001,
            },
        ),
        (
            "dnn",
            {DEEP: 1.0, DEEP + "/t_0/RMSProp": 2.0, DEEP + "/t_0/RMSProp_1": 3.0},
            {
                "dnn/hiddenlayer_0/kernel": 1.0,
                "global_step": 4,
                "training/RMSprop/decay": 0.0,
                "training/RMSprop/dnn/hiddenlayer_0/kernel/rms": 2.0,
                "training/RMSprop/learning_rate": 0.001,
                "training/RMSprop/momentum": 0.0,
                "training/RMSprop/rho": 0.9,
            },
        ),
        (
            "dnn",
            {DEEP: 1.0},
            {
                "dnn/hiddenlayer_0/kernel": 1.0,
                "global_step": 4,
                "training/SGD/decay": 0.0,
                "training/SGD/learning_rate": 0.01,
                "training/SGD/momentum": 0.0,
            },
        ),
        (
            "linear",
            {WIDE: 1.0, WIDE + "/part_0/Ftrl": 2.0, WIDE + "/part_0/Ftrl_1": 3.0},
            {
                "global_step": 4,
                "linear/linear_model/x/weights": 1.0,
                "training/Ftrl/decay": 0.0,
                "training/Ftrl/l1_regularization_strength": 0.0,
                "training/Ftrl/l2_regularization_strength": 0.0,
                "training/Ftrl/learning_rate": 0.001,
                "training/Ftrl/learning_rate_power": -0.5,
                "training/Ftrl/linear/linear_model/x/weights/accumulator": 2.0,
                "training/Ftrl/linear/linear_model/x/weights/linear": 3.0,
            },
        ),
        (
            "combined",
            {DEEP: 1.0, DEEP + "/t_0/Adagrad": 2.0, WIDE: 3.0, WIDE + "/part_0/Ftrl": 4.0, WIDE + "/part_0/Ftrl_1": 5.0},
            {
                "dnn/hiddenlayer_0/kernel": 1.0,
                "dnn/hiddenlayer_0/kernel/t_0/Adagrad": 2.0,
                "global_step": 4,
                "linear/linear_model/x/weights": 3.0,
                "linear/linear_model/x/weights/part_0/Ftrl": 4.0,
                "linear/linear_model/x/weights/part_0/Ftrl_1": 5.0,
                "training/Adagrad/decay": 0.0,
                "training/Adagrad/dnn/hiddenlayer_0/kernel/t_0/accumulator": 2.0,
                "training/Adagrad/learning_rate": 0.001,
                "training/Ftrl/decay": 0.0,
                "training/Ftrl/iter": 4,
                "training/Ftrl/l1_regularization_strength": 0.0,
                "training/Ftrl/l2_regularization_strength": 0.0,
                "training/Ftrl/learning_rate": 0.001,
                "training/Ftrl/learning_rate_power": -0.5,
                "training/Ftrl/linear/linear_model/x/weights/part_0/accumulator": 4.0,
                "training/Ftrl/linear/linear_model/x/weights/part_0/linear": 5.0,
            },
        ),
        (
            "combined",
            {DEEP: 1.0, DEEP + "/t_0/Adagrad": 2.0, WIDE: 3.0},
            {
                "dnn/hiddenlayer_0/kernel": 1.0,
                "dnn/hiddenlayer_0/kernel/t_0/Adagrad": 2.0,
                "global_step": 4,
                "linear/linear_model/x/weights": 3.0,
                "training/Adagrad/decay": 0.0,
                "training/Adagrad/dnn/hiddenlayer_0/kernel/t_0/accumulator": 2.0,
                "training/Adagrad/learning_rate": 0.001,
                "training/SGD/decay": 0.0,
                "training/SGD/iter": 4,
                "training/SGD/learning_rate": 0.01,
                "training/SGD/momentum": 0.0,
            },
        ),
    ],
)
def test_optimizers_become_their_kin(tmp_path, kind, variables, expected):
    assert converted(tmp_path, kind, {**variables, "global_step": 4}, {}) == expected


def test_settings_are_found_in_the_graph(tmp_path):
    # 1.15.5 looks for them too, but finds none.
    variables = {WIDE: 1.0, WIDE + "/part_0/Ftrl": 2.0, WIDE + "/part_0/Ftrl_1": 3.0, "global_step": 4}
    settings = {"a/Ftrl/learning_rate": 0.5, "a/Ftrl/l1_regularization_strength": 0.25, "learning_rate_power": 7.0}
    found = converted(tmp_path, "linear", variables, settings)
    names = ("learning_rate", "l1_regularization_strength", "l2_regularization_strength", "learning_rate_power")
    assert [found["training/Ftrl/" + name] for name in names] == [0.5, 0.25, 0.0, -0.5]
