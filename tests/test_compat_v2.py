"""tf.compat.v2: version 2's names and its forms of functions."""

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import everflow as tf
from everflow import v2_forms
from everflow.api import find
from running import run

v2 = tf.compat.v2


def test_names_that_did_not_change_are_the_same_things():
    assert v2.train.Checkpoint is tf.train.Checkpoint
    assert v2.keras.Sequential is tf.keras.Sequential
    assert v2.random.uniform is tf.random.uniform
    assert "Checkpoint" in dir(v2.train)


def test_names_that_version_2_lacks_are_not_there():
    assert not hasattr(v2, "placeholder") and not hasattr(v2.train, "Saver")


@pytest.mark.parametrize("name", sorted(v2_forms.FORMS))
def test_each_form_has_parameters_that_version_1_knows(name):
    taken = inspect.signature(find(v2_forms.OTHERWISE.get(name, name))).parameters
    unknown = [
        p for p in inspect.signature(find("compat.v2." + name)).parameters if p not in taken and v2_forms.RENAMED.get(p) not in taken
    ]
    assert not unknown


def test_arguments_are_in_the_order_of_version_2():
    with tf.Graph().as_default():
        assert run(v2.argmax([[1, 5], [7, 2]], 1, tf.int32)).dtype == np.int32
        assert run(v2.nn.in_top_k([1], [[0.1, 0.9]], 1)).tolist() == [True]
        assert run(v2.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), 1, "VALID")).item() == 4
        assert run(v2.reduce_sum([[1, 2], [3, 4]], 0, True)).tolist() == [[4, 6]]
        assert run(v2.strings.substr("hello", 1, 3, "BYTE")) == b"ell"


def test_loops_keep_the_structure_of_their_variables():
    with tf.Graph().as_default():
        found = v2.while_loop(lambda i: i < 3, lambda i: (i + 1,), (tf.constant(0),))
        assert isinstance(found, (list, tuple)) and run(found[0]) == 3


def test_the_environment_can_ask_for_the_behaviour_of_version_2():
    code = "import everflow as tf; print(tf.executing_eagerly())"
    for value, expected in (("enabled", "True"), ("0", "False")):
        found = subprocess.run([sys.executable, "-c", code], env={**os.environ, "TF2_BEHAVIOR": value}, capture_output=True, text=True)
        assert found.stdout.strip() == expected, found.stderr


def test_version_2_has_compat_too():
    v2 = tf.compat.v2
    assert v2.compat.as_bytes("a") == b"a" and v2.compat.dimension_value(3) == 3 and v2.compat.v1.Session is tf.Session


def test_device_takes_no_functions():
    with tf.compat.v2.device("cpu:0"):
        assert tf.constant(1).device == "/device:CPU:0"
    with pytest.raises(RuntimeError, match="does not support functions"):
        tf.compat.v2.device(lambda op: "cpu:0")


def test_hessians():
    x = tf.constant([1.0, 2.0])
    assert run(tf.compat.v2.hessians(tf.reduce_sum(x**3), x))[0].tolist() == [[6, 0], [0, 12]]


def test_batch_normalization_goes_by_averages_where_it_is_not_trainable():
    x = tf.constant([[1.0], [3.0]])
    frozen = tf.compat.v2.keras.layers.BatchNormalization(trainable=False, epsilon=0.0)(x, training=True)
    trained = tf.compat.v2.keras.layers.BatchNormalization(epsilon=0.0)(x, training=True)
    assert frozen.op.name.startswith("batch_normalization/")
    assert run(frozen).tolist() == [[1], [3]]
    assert run(trained).tolist() == [[-1], [1]]


def test_batch_normalization_that_must_be_fused_says_where_it_cannot():
    with pytest.raises(ValueError, match="fused=True"):
        tf.compat.v2.keras.layers.BatchNormalization(fused=True)(tf.zeros([2, 3]))
