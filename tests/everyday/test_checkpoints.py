"""Checkpoints, graphs and logs by names without a folder."""
import os
import pathlib

import pytest

import everflow as tf


def saved(*names, **options):
    """Saves a variable under each name; what the calls returned."""
    tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver(**options)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [saver.save(session, name) for name in names]


def test_a_bare_name(here):
    assert saved("model.ckpt") == ["model.ckpt"]
    assert sorted(os.listdir(here)) == ["checkpoint", "model.ckpt.data-00000-of-00001", "model.ckpt.index", "model.ckpt.meta"]
    assert pathlib.Path("checkpoint").read_text() == 'model_checkpoint_path: "model.ckpt"\nall_model_checkpoint_paths: "model.ckpt"\n'
    assert tf.train.latest_checkpoint(".") == "./model.ckpt" and tf.train.latest_checkpoint("") == "model.ckpt"
    assert tf.train.get_checkpoint_state(".").model_checkpoint_path == "./model.ckpt"
    assert tf.train.checkpoint_exists("model.ckpt") and tf.train.list_variables(".") == [("v", [2])]
    tf.reset_default_graph()
    saver = tf.train.import_meta_graph("model.ckpt.meta")
    with tf.Session() as session:
        for name in ("model.ckpt", "./model.ckpt", tf.train.latest_checkpoint(".")):
            saver.restore(session, name)
        assert session.run("v:0").tolist() == [1, 2]


def test_a_new_folder():
    assert saved("made/model", "./again") == ["made/model", "./again"]
    assert tf.train.latest_checkpoint("made/") == "made/model"


def test_names_from_another_folder(here):
    os.mkdir("work")
    os.chdir("work")
    assert saved("../model") == ["../model"]
    os.chdir("..")
    assert tf.train.latest_checkpoint(".") == "./model"
    assert tf.contrib.framework.load_variable(".", "v").tolist() == [1, 2]


def test_graphs_are_written_here():
    tf.constant(1, name="c")
    graph = tf.get_default_graph()
    assert tf.train.write_graph(graph, ".", "g.pb", as_text=False) == "./g.pb"
    assert tf.train.write_graph(graph, "", "g.pbtxt") == "g.pbtxt"
    assert tf.io.write_graph(graph, "new/folder", "g.pbtxt") == "new/folder/g.pbtxt"
    with pytest.raises(TypeError, match="Expected binary or unicode string, got None"):
        tf.train.write_graph(graph, None, "g.pb")
