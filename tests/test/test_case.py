"""How `tf.test.TestCase` sets tests up and runs tensors."""

import random
import unittest
import warnings

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode
from everflow.proto import config_pb2
from everflow.test import case as cases


@pytest.fixture
def case():
    made = cases.TestCase("run")
    made.setUp()
    yield made
    made.tearDown()


def test_each_test_starts_with_the_same_seeds_and_an_empty_graph(case):
    drawn = random.random(), np.random.rand()
    tf.constant(1)
    case.setUp()
    assert (random.random(), np.random.rand()) == drawn
    assert tf.get_default_graph().get_operations() == [] and tf.get_default_graph().seed == 87654321


def test_sessions_are_default_and_put_ops_on_the_cpu(case):
    with case.session() as session:
        assert tf.get_default_session() is session
        x = tf.constant([1, 2])
        assert x.device == "/device:CPU:0"
        assert x.eval().tolist() == [1, 2]
    with case.session(use_gpu=True):
        assert tf.constant(1).device == ""


def test_evaluate_takes_structures(case):
    assert case.evaluate({"a": [tf.constant(1), tf.constant(2)]}) == {"a": [1, 2]}
    case.assertAllClose([tf.constant(1.0), 2.0], [1.0, tf.constant(2.0)])
    case.assertAllEqual(tf.constant([1, 2]), [1, 2])
    case.assertShapeEqual(np.zeros((2, 3)), tf.zeros([2, 3]))


def test_the_cached_session_stays_the_same(case):
    with case.cached_session() as one:
        pass
    with case.cached_session(use_gpu=True) as two:
        assert one is two
    for other in ({"graph": tf.Graph()}, {"config": config_pb2.ConfigProto()}, {"force_gpu": True}):
        with pytest.raises(ValueError, match="used to get the cached session is different than the one"):
            with case.cached_session(**other):
                pass
    with case.test_session(config=config_pb2.ConfigProto()) as three:
        assert three is one


def test_test_session_is_no_test_but_passes_where_cases_set_up_alone():
    class Plain(cases.TestCase):
        pass

    class OwnSetUp(cases.TestCase):
        def setUp(self):
            pass

    found = []
    for kind in (Plain, OwnSetUp):
        result = unittest.TestResult()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # It returns something, which tests should not.
            kind("test_session").run(result)
        found.append((result.testsRun, len(result.skipped), result.wasSuccessful()))
    assert found == [(1, 1, True), (1, 0, True)]


def test_errors_of_ops_name_the_op(case):
    with case.session():
        x = tf.placeholder(tf.float32)
        with case.assertRaisesOpError("(?s)Incompatible shapes.*Caused by: total"):
            tf.add(x, [1.0, 2.0], name="total").eval({x: [1.0, 2.0, 3.0]})


def test_devices_are_compared_by_meaning(case):
    case.assertDeviceEqual("/job:a/device:CPU:0", "/cpu:0/job:a")
    with pytest.raises(AssertionError, match="Devices /device:CPU:0 and /device:GPU:0 are not equal"):
        case.assertDeviceEqual("/cpu:0", "/gpu:0")


def test_temporary_folders_differ_from_test_to_test(case):
    other = cases.TestCase("run")
    assert case.get_temp_dir() == case.get_temp_dir() != other.get_temp_dir()


def test_writes_to_a_stream_are_captured(case, tmp_path):
    with open(tmp_path / "log", "w") as stream:
        stream.write("before")
        with case.captureWritesToStream(stream) as captured:
            stream.write("inside")
        stream.write(" after")
    assert captured.contents() == "inside" and (tmp_path / "log").read_text() == "before after"


def test_assertions_in_a_function_are_checked_when_it_runs(case):
    with eager_mode():

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def doubled(x):
            case.assertAllClose({"y": x * 2}, {"y": [2.0, 4.0]})
            return x * 2

        assert doubled([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]
        with pytest.raises(tf.errors.OpError, match="close"):
            doubled([1.0, 3.0])


def test_names_of_old_say_how_they_are_called_now():
    case = tf.test.TestCase()
    with pytest.warns(DeprecationWarning, match="Please use assertAlmostEqual instead"):
        case.failUnlessAlmostEqual(1.0, 1.04, places=1)
    with pytest.warns(DeprecationWarning, match="Please use assertEqual instead"), pytest.raises(AssertionError, match="1 != 2"):
        case.assertEquals(1, 2)
