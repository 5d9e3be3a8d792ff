"""tf.contrib.receptive_field: what features see."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.receptive_field.fields import parse_graph_nodes
from everflow.contrib.receptive_field.layer_windows import get_layer_params

compute = tf.contrib.receptive_field.compute_receptive_field_from_graph_def


def field(build, **options):
    with tf.Graph().as_default() as graph:
        build(tf.placeholder(tf.float32, (1, None, None, 1), name="image"))
    return compute(graph.as_graph_def(), "image", "output", **options)


def conv(x, size, stride, padding, name=None):
    return tf.nn.conv2d(x, tf.ones((size, size, 1, 1)), [1, stride, stride, 1], padding, name=name)


def test_fields_of_a_chain_grow_with_kernels_and_strides():
    found = field(lambda x: conv(tf.nn.relu(conv(x, 7, 2, "VALID")), 3, 2, "VALID", "output"))
    assert list(found) == [11, 11, 4, 4, 0, 0]
    np.testing.assert_allclose(found.compute_input_center_coordinates([0, 1]), [5, 9])
    np.testing.assert_allclose(found.compute_feature_coordinates([5, 9]), [0, 1])


def test_the_largest_of_several_paths_counts():
    def build(x):
        tf.add(conv(x, 1, 4, "SAME"), conv(tf.pad(x, [[0, 0], [1, 0], [1, 0], [0, 0]]), 3, 4, "VALID"), name="output")

    assert list(field(build)) == [3, 3, 4, 4, 1, 1]


def test_paths_must_have_the_same_middle_and_stride():
    with pytest.raises(ValueError, match="center shift"):
        field(lambda x: tf.add(conv(x, 1, 4, "SAME"), conv(x, 3, 4, "VALID"), name="output"))
    with pytest.raises(ValueError, match="effective stride"):
        field(lambda x: tf.add(conv(x, 1, 4, "SAME"), conv(x, 1, 2, "SAME"), name="output"))


def test_padding_may_depend_on_the_size_of_the_image():
    def build(x):
        conv(x, 3, 2, "SAME", "output")

    assert list(field(build)) == [3, 3, 2, 2, None, None]
    assert list(field(build, input_resolution=[9, 8])) == [3, 3, 2, 2, 0, 1]


def test_unknown_ops_are_named():
    with pytest.raises(ValueError, match="Unknown layer.*ResizeBilinear"):
        field(lambda x: tf.image.resize_bilinear(x, [4, 4], name="output"))


def test_sizes_of_images_along_the_way():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, (1, None, None, 1), name="image")
        conv(tf.pad(x, [[0, 0], [3, 3], [1, 0], [0, 0]], name="padded"), 7, 2, "VALID", "first")
        conv(graph.get_tensor_by_name("first:0"), 3, 2, "SAME", "second")
    found, nodes = tf.contrib.receptive_field.get_compute_order(graph.as_graph_def(), "image", [224, 225])
    sizes = {name: (found[name].input_size, found[name].output_size) for name in ("image", "padded", "first", "second")}
    assert sizes == {
        "image": (None, [224, 225]),
        "padded": ([224, 225], [230, 226]),
        "first": ([230, 226], [112, 110]),
        "second": ([112, 110], [56, 55]),
    }
    assert found.keys() == nodes.keys()
    assert [found[name].order for name in ("image", "padded", "first", "second")] == [0, 1, 2, 3]


def test_parameters_of_a_layer_have_the_horizontal_first():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, (1, None, None, 1), name="image")
        tf.nn.max_pool(x, [1, 3, 2, 1], [1, 2, 1, 1], "SAME", name="pool")
        tf.transpose(x, name="other")
    nodes = parse_graph_nodes(graph.as_graph_def())
    assert get_layer_params(nodes["pool"], nodes) == (2, 3, 1, 2, 0, None, 1, None)
    assert get_layer_params(nodes["pool"], nodes, [5, 4]) == (2, 3, 1, 2, 0, 1, 1, 2)
    assert get_layer_params(nodes["other"], nodes, force=True) == (None,) * 8
    with pytest.raises(ValueError, match="Unknown layer for operation 'other': Transpose"):
        get_layer_params(nodes["other"], nodes)
