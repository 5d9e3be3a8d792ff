"""Every test starts in an empty default graph, as a program does."""

import pytest

import everflow as tf
from everflow.eager.context import eager_mode


@pytest.fixture(autouse=True)
def graph():
    """The default graph."""
    tf.reset_default_graph()
    return tf.get_default_graph()


@pytest.fixture
def session(graph):
    """A session of the default graph; it is the default session."""
    with tf.Session() as session:
        yield session


@pytest.fixture
def eager(graph):
    """Ops run at once."""
    with eager_mode():
        yield
