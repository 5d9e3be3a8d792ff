"""MetaGraphs: graphs with collections, out and in again."""

import numpy as np
import pytest

import everflow as tf
from everflow.proto import graph_debug_info_pb2


def small_graph():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.device("/cpu:0"):
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    y = tf.matmul(x, w, name="y")
    tf.add_to_collection("outputs", y)
    tf.add_to_collection("numbers", 5)
    return x, w, y


@pytest.mark.parametrize("as_text", [True, False])
def test_a_graph_comes_back_with_collections_and_saver(tmp_path, as_text):
    with tf.Graph().as_default(), tf.Session() as sess:
        small_graph()
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        path = saver.save(sess, str(tmp_path / "m"), write_meta_graph=False)
        saver.export_meta_graph(str(tmp_path / "m.meta"), as_text=as_text)
    with tf.Graph().as_default(), tf.Session() as sess:
        saver = tf.train.import_meta_graph(str(tmp_path / "m.meta"))
        saver.restore(sess, path)
        (y,) = tf.get_collection("outputs")
        assert sess.run(y, {"x:0": [[1, 1]]}).tolist() == [[3]]
        assert tf.get_collection("numbers") == [5]
        assert tf.trainable_variables()[0] is tf.global_variables()[0]


def test_a_scope_is_put_before_names(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        small_graph()
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        saver = tf.train.import_meta_graph(path + ".meta", import_scope="deep", clear_devices=True)
        saver.restore(sess, path)
        assert [v.name for v in tf.global_variables()] == ["deep/w:0"]
        assert sess.run("deep/y:0", {"deep/x:0": [[0, 1]]}).tolist() == [[2]]
        assert not any(op.device for op in graph.get_operations() if "save" not in op.name)


def test_default_attributes_are_left_out_and_found_again():
    with tf.Graph().as_default():
        small_graph()
        stripped = tf.train.export_meta_graph(strip_default_attrs=True)
        full = tf.train.export_meta_graph()
    (node,) = [n for n in stripped.graph_def.node if n.name == "y"]
    assert "transpose_a" not in node.attr and stripped.meta_info_def.stripped_default_attrs
    assert "transpose_a" in next(n for n in full.graph_def.node if n.name == "y").attr
    with tf.Graph().as_default():
        tf.train.import_meta_graph(stripped)
    assert not node.attr["transpose_a"].b


def test_other_savers_can_be_left_out():
    with tf.Graph().as_default():
        small_graph()
        tf.train.Saver()
        second = tf.train.Saver()
        names = {n.name for n in second.export_meta_graph(clear_extraneous_savers=True).graph_def.node}
    assert "save_1/SaveV2" in names and "save/SaveV2" not in names


def test_files_that_are_not_metagraphs_are_refused(tmp_path):
    (tmp_path / "x.meta").write_bytes(b"\xff\x00nonsense")
    with tf.Graph().as_default():
        with pytest.raises(OSError, match="Cannot parse"):
            tf.train.import_meta_graph(str(tmp_path / "x.meta"))
        with pytest.raises(OSError, match="does not exist"):
            tf.train.import_meta_graph(str(tmp_path / "y.meta"))


def test_graphs_are_written_as_text_and_binary(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(np.float32(3), name="c")
        text = tf.train.write_graph(graph, str(tmp_path), "g.pbtxt")
        binary = tf.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    assert 'name: "c"' in open(text).read()
    assert tf.GraphDef.FromString(open(binary, "rb").read()).node[0].name == "c"


def test_where_ops_were_made_is_written_beside_a_metagraph(tmp_path):
    with tf.Graph().as_default() as graph:
        small_graph()
        tf.train.export_meta_graph(str(tmp_path / "m.meta"), graph=graph, save_debug_info=True)
    told = graph_debug_info_pb2.GraphDebugInfo.FromString((tmp_path / "m.debug").read_bytes())
    assert set(told.traces) == {op.name for op in graph.get_operations()}
    frames = told.traces["y"].file_line_cols
    places = [(told.files[frame.file_index], frame.line) for frame in frames]
    assert (__file__, small_graph.__code__.co_firstlineno + 4) in places
    assert [place[:2] for place in reversed(graph.get_operation_by_name("y").traceback)] == places
