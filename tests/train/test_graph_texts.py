"""Graphs as text, and graphs that are written again and again."""

import numpy as np
from google.protobuf import text_format

import everflow as tf
from everflow.train.metagraphs.graph_texts import graph_text


def test_text_of_a_graph_is_read_as_the_same_graph():
    with tf.Graph().as_default() as graph:
        tf.constant("\u00e9\n\"'\\\x00 \u2603")
        tf.constant([1.5, np.nan, np.inf, 1e-30, 0.1])
        tf.constant([1 << 40, -5])
        tf.constant(1 / 3, tf.float64)
        tf.placeholder(tf.float32)
        with tf.device("/gpu:1"), tf.control_dependencies([tf.placeholder(tf.string, [None, 2], name="p")]):
            tf.layers.dense(tf.ones([2, 3]), 4)
        # Functions hold maps within maps.
        tf.data.Dataset.range(3).map(lambda x: x + 1).make_one_shot_iterator().get_next()
    proto = graph.as_graph_def(add_shapes=True)
    text = graph_text(proto)
    read = text_format.Parse(text, tf.GraphDef())
    assert read.SerializeToString(deterministic=True) == proto.SerializeToString(deterministic=True)
    keys = [line.strip() for line in text.split("node {")[-1].splitlines() if line.startswith("    key:")]
    assert keys == sorted(keys) and len(keys) > 1


def test_other_protos_are_text_too():
    assert graph_text(tf.train.SaverDef(max_to_keep=3)) == "max_to_keep: 3\n"


def test_a_finalized_graph_gives_copies_of_one_definition_until_it_changes():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, name="x")
        graph.finalize()
    first = graph.as_graph_def(add_shapes=True)
    del first.node[:]
    assert len(graph.as_graph_def(add_shapes=True).node) == 1
    assert "_output_shapes" not in graph.as_graph_def().node[0].attr
    x.set_shape([2])
    assert graph.as_graph_def(add_shapes=True).node[0].attr["_output_shapes"].list.shape[0].dim[0].size == 2
    x.op._set_device("/cpu:0")
    assert graph.as_graph_def().node[0].device == "/device:CPU:0"
    graph._unsafe_unfinalize()
    with graph.as_default():
        tf.constant(1)
    graph.finalize()
    assert len(graph.as_graph_def().node) == 2
