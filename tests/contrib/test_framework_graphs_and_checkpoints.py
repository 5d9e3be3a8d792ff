"""Functions of Python with structures, fused nodes, and initializers from checkpoints of tf.contrib.framework."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.variables.partitioned import PartitionInfo

framework = tf.contrib.framework


def test_a_function_takes_and_gives_structures():
    result = framework.py_func(
        lambda a, b, c: {"x": a["z"] + b, "y": (a["z"], c)},
        args=[{"z": tf.constant(1.0)}],
        kwargs={"b": tf.constant(2.0), "c": "s"},
        output_types={"x": tf.float32, "y": (tf.float32, tf.string)},
        output_shapes={"x": tf.TensorShape([]), "y": (tf.TensorShape([]), tf.TensorShape([]))},
    )
    assert result["x"].shape == []
    with tf.Session() as session:
        assert session.run(result) == {"x": 3.0, "y": (1.0, b"s")}


def test_a_function_without_state_may_have_one_result():
    result = framework.py_func(lambda: 1, output_types=tf.int64, stateful=False, name="one")
    assert (result.op.type, result.name) == ("PyFuncStateless", "one:0")
    with tf.Session() as session:
        assert session.run(result) == 1


def test_arguments_of_a_function_are_a_list_and_a_dictionary():
    with pytest.raises(TypeError, match="args must be list"):
        framework.py_func(lambda a: a, {"a": 1.0}, output_types=tf.float32)
    with pytest.raises(TypeError, match="kwargs must be dict"):
        framework.py_func(lambda a: a, [1.0], kwargs=[1], output_types=tf.float32)
    with pytest.raises(TypeError, match="same sequence type"):
        framework.py_func(lambda a: a, [tf.constant(1.0)], output_types=[tf.float32], output_shapes={"a": []})


def _graph(**nodes):
    graph = tf.GraphDef()
    for name, inputs in nodes.items():
        graph.node.add(name=name, op=name.upper(), input=inputs)
    return graph


def test_nodes_between_inputs_and_outputs_become_one():
    graph = _graph(e=["d"], a=[], b=["a"], c=["b"], c2=["b"], d=["c:1"], d2=["c2"], z=["b"])
    fused = framework.fuse_op(graph, ["b"], ["d2", "d"], [1, 3], True, "fused", "Fused")
    assert [(n.name, list(n.input)) for n in fused.node] == [
        ("a", []),
        ("b", ["a"]),
        ("fused", ["b"]),
        ("d2", ["fused"]),
        ("d", ["fused:1"]),
        ("e", ["d"]),
        ("z", ["b"]),
    ]
    node = fused.node[2]
    assert (node.op, list(node.attr["_output_types"].list.type), node.attr["_output_quantized"].b) == ("Fused", [1, 3], True)


def test_fusing_refuses_what_is_not_in_the_graph():
    with pytest.raises(TypeError, match="graph_def must be a graph_pb2.GraphDef proto"):
        framework.fuse_op("graph", ["a"], ["b"], [1], False, "f", "F")
    with pytest.raises(TypeError, match="input_nodes must be a list"):
        framework.fuse_op(_graph(a=[]), "a", ["a"], [1], False, "f", "F")
    with pytest.raises(AssertionError, match="x is not in graph"):
        framework.fuse_op(_graph(a=[]), ["x"], ["a"], [1], False, "f", "F")


@pytest.fixture
def saved(tmp_path):
    for name, words in {"old": "abc", "new": "cxa", "old_columns": "pq", "new_columns": "qrp"}.items():
        (tmp_path / name).write_text("".join(word + "\n" for word in words))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("m", initializer=np.arange(6, dtype="f").reshape(3, 2))
        tf.get_variable("bias", initializer=np.arange(10, 13, dtype="f").reshape(3, 1))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "saved"))
    return lambda name: str(tmp_path / name)


def _sevens(shape, dtype=tf.float32, partition_info=None):
    return tf.fill(shape, -7.0)


def _started(initializer, shape, partitioner=None):
    with tf.variable_scope("s", partitioner=partitioner):
        variable = tf.get_variable("v", shape=shape, initializer=initializer)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tf.convert_to_tensor(variable)).tolist()


def test_a_matrix_moves_to_other_words_in_rows_and_columns(saved):
    start = framework.load_and_remap_matrix_initializer(
        saved("saved"),
        "m",
        3,
        3,
        old_row_vocab_file=saved("old"),
        new_row_vocab_file=saved("new"),
        old_col_vocab_file=saved("old_columns"),
        new_col_vocab_file=saved("new_columns"),
        num_row_oov_buckets=1,
        num_col_oov_buckets=1,
        initializer=_sevens,
    )
    assert _started(start, [4, 4]) == [[5, -7, 4, -7], [-7, -7, -7, -7], [1, -7, 0, -7], [-7, -7, -7, -7]]


def test_an_embedding_in_parts_moves_to_other_words(saved):
    start = framework.load_embedding_initializer(
        saved("saved"), "m", 3, 2, saved("old"), saved("new"), num_oov_buckets=2, initializer=_sevens
    )
    assert _started(start, [5, 2], tf.fixed_size_partitioner(2)) == [[4, 5], [-7, -7], [0, 1], [-7, -7], [-7, -7]]


def test_biases_of_new_classes_are_zero(saved):
    start = framework.load_linear_multiclass_bias_initializer(
        saved("saved"), "bias", 3, saved("old"), saved("new"), num_class_oov_buckets=1
    )
    assert _started(start, [4, 1]) == [[12], [0], [10], [0]]


def test_a_slot_has_the_rows_of_its_variable(saved):
    start = framework.load_variable_slot_initializer(
        saved("saved"),
        "m",
        PartitionInfo([4, 2], [2, 0]),
        3,
        2,
        old_row_vocab_file=saved("old"),
        new_row_vocab_file=saved("new"),
        num_row_oov_buckets=1,
        initializer=_sevens,
    )
    assert _started(start, [2, 2]) == [[0, 1], [-7, -7]]


def test_initializers_refuse_shapes_and_files_that_do_not_fit(saved):
    start = framework.load_and_remap_matrix_initializer(
        saved("saved"), "m", 3, 2, old_row_vocab_file=saved("old"), new_row_vocab_file=saved("new")
    )
    with pytest.raises(ValueError, match="Expected 2-dim shape"):
        _started(start, [6])
    with pytest.raises(ValueError, match="Must provide either row or column vocab files"):
        _started(framework.load_and_remap_matrix_initializer(saved("saved"), "m", 3, 2), [3, 2])
