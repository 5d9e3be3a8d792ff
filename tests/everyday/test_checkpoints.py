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


def test_the_meta_graph_is_no_checkpoint():
    saved("model")
    with tf.Session() as session, pytest.raises(tf.errors.DataLossError, match="table file .*model.meta: Data loss: not an sstable"):
        tf.train.Saver().restore(session, "model.meta")


def test_a_writer_makes_its_file_with_the_first_event(here):
    writer = tf.summary.FileWriter("logs")
    writer.close()
    assert os.listdir("logs") == []
    writer = tf.summary.FileWriter("")
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.0)]), 3)
    writer.close()
    (name,) = (name for name in os.listdir(here) if "tfevents" in name)
    assert [event.step for event in tf.train.summary_iterator(name)] == [0, 3]


def test_an_export_has_the_files_of_its_checkpoint():
    tf.Variable(1.0, name="w")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        export = tf.contrib.session_bundle.exporter.Exporter(tf.train.Saver(sharded=True))
        export.init(session.graph.as_graph_def())
        assert [export.export("exports", tf.constant(step), session) for step in (1, 2)] == [b"exports/00000001", b"exports/00000002"]
    assert sorted(os.listdir("exports/00000002")) == ["checkpoint", "export.data-00000-of-00001", "export.index", "export.meta"]
    assert pathlib.Path("exports/00000002/checkpoint").read_text() == (
        'model_checkpoint_path: "export"\nall_model_checkpoint_paths: "export"\n'
    )
