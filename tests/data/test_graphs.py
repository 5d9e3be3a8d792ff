"""Pipelines written down as GraphDefs and built again."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.graph_ops import replicate
from everflow.data.tuning import non_serializable
from everflow.eager.devices import PLACEMENT

D = tf.data.Dataset


@pytest.fixture
def two_processors():
    before = PLACEMENT.cpus
    PLACEMENT.choose(cpus=2)
    yield
    PLACEMENT.choose(cpus=before)


def described(dataset, **options):
    with tf.Session() as session:
        return tf.GraphDef.FromString(session.run(dataset._as_serialized_graph(**options)))


def test_nodes_are_numbered_from_the_sources_on():
    graph = described(D.range(10).map(lambda x: x + 1).batch(2))
    assert [n.name for n in graph.node] == [
        "Const/_0",
        "Const/_1",
        "Const/_2",
        "RangeDataset/_3",
        "MapDataset/_4",
        "Const/_5",
        "Const/_6",
        "BatchDatasetV2/_7",
        "dataset",
    ]
    assert graph.node[-1].op == "_Retval" and list(graph.node[-1].input) == ["BatchDatasetV2/_7"]
    assert len(graph.library.function) == 1


def test_a_dataset_built_again_gives_the_same():
    offset = tf.constant(5, tf.int64)
    dataset = (
        D.from_tensor_slices((np.arange(6), ["a", "b", "c", "d", "e", "f"]))
        .map(lambda n, text: (n + offset, text))
        .shuffle(4, seed=3)
        .repeat(2)
        .batch(4)
    )
    for copy in replicate(dataset, ["/cpu:0", "/device:CPU:0"]).values():
        assert copy.element_spec == dataset.element_spec
        one, other = tf.data.make_one_shot_iterator(dataset).get_next(), tf.data.make_initializable_iterator(copy)
        with tf.Session() as session:
            session.run(other.initializer)
            for _ in range(3):
                for a, b in zip(session.run(one), session.run(other.get_next())):
                    np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("eager")
def test_replicas_iterate_eagerly(two_processors):
    (copy,) = replicate(D.range(4).flat_map(lambda x: D.range(x)), ["/device:CPU:1"]).values()
    assert [int(x) for x in copy] == [0, 0, 1, 0, 1, 2]


def test_stateful_functions_are_refused_unless_named():
    dataset = D.range(3).map(lambda x: tf.random.uniform([]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="^RandomUniform is stateful."):
        described(dataset)
    assert described(dataset, stateful_whitelist=["RandomUniform"]).node


def test_what_cannot_be_written_down():
    with pytest.raises(tf.errors.UnimplementedError, match="NonSerializableDatasetOp::Dataset does not support serialization."):
        described(D.range(3).apply(non_serializable()))


def test_a_graph_without_a_dataset_is_refused():
    variant = tf.raw_ops.DatasetFromGraph(graph_def=tf.GraphDef().SerializeToString())
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Failed to find a _Retval op"):
        session.run(variant)
