"""Single trees of forests."""

import pytest
from google.protobuf import text_format

import everflow as tf
from everflow.ops.core.registry import apply
from everflow.proto.tensorflow.core.kernels.boosted_trees import boosted_trees_pb2

TREE = text_format.Parse(
    """
    nodes { dense_split { feature_id: 0 threshold: 2 left_id: 1 right_id: 2 } }
    nodes { leaf { vector { value: 0.25 value: 0.75 } } }
    nodes { dense_split { feature_id: 1 threshold: 1.5 left_id: 3 right_id: 4 } }
    nodes { leaf { vector { value: 1 value: 2 } } }
    nodes { leaf { vector { value: 7 value: 8 } } }
    """,
    boosted_trees_pb2.Tree(),
).SerializeToString()


def test_a_tree_says_what_its_leaves_say(session):
    handle = apply("TensorForestTreeResourceHandleOp", shared_name="tree")
    predicted = apply("TensorForestTreePredict", handle, [[2.0, 5.0], [3.0, 1.5], [3.0, 2.0]], logits_dimension=2)
    assert predicted.shape == (3, 2) and not session.run(apply("TensorForestTreeIsInitializedOp", handle))
    session.run(apply("TensorForestCreateTreeVariable", handle, TREE))
    assert session.run(predicted).tolist() == [[0.25, 0.75], [1, 2], [7, 8]]
    assert session.run(apply("TensorForestTreeSize", handle)) == 5
    assert session.run(apply("TensorForestTreeSerialize", handle)) == TREE


def test_a_tree_is_replaced_by_another_and_made_but_once(session):
    handle = apply("TensorForestTreeResourceHandleOp", shared_name="tree")
    size = apply("TensorForestTreeSize", handle)
    with pytest.raises(tf.errors.NotFoundError, match="tree does not exist"):
        session.run(size)
    session.run(apply("TensorForestCreateTreeVariable", handle, TREE))
    session.run(apply("TensorForestCreateTreeVariable", handle, b""))
    assert session.run(size) == 5
    session.run(apply("TensorForestTreeDeserialize", handle, b""))
    assert session.run(size) == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse tree config."):
        session.run(apply("TensorForestTreeDeserialize", handle, b"\xff"))
