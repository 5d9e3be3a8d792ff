"""Tests that enter a graph of their own in programs whose ops run at once."""

import pytest

import everflow as tf
from everflow.graph import stacks


@pytest.fixture
def at_once():
    stacks.run_ops_at_once(True)
    yield
    stacks.run_ops_at_once(False)


def test_setting_up_inside_of_a_graph_stays_there(at_once):
    class Case(tf.test.TestCase):
        def runTest(self):
            assert tf.executing_eagerly()
            self.tearDown()
            with tf.Graph().as_default() as entered:
                self.setUp()
                assert not tf.executing_eagerly() and tf.get_default_graph() is not entered
                with self.test_session() as session:
                    x = tf.placeholder(tf.float32, [])
                    assert session.run(x * 2, {x: 3.0}) == 6
            assert tf.executing_eagerly()

    result = Case().defaultTestResult()
    Case().run(result)
    assert not result.failures and not result.errors


def test_setting_up_outside_of_graphs_leaves_ops_running_at_once(at_once):
    class Case(tf.test.TestCase):
        def runTest(self):
            self.setUp()
            assert (tf.constant(1) + 1).numpy() == 2

    result = Case().defaultTestResult()
    Case().run(result)
    assert not result.failures and not result.errors
