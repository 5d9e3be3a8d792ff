"""Summaries in a database of SQLite, in the tables that TensorFlow 1.15.5 makes."""

import sqlite3
import struct

import numpy as np
import pytest

import everflow as tf

summary = tf.contrib.summary


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "events.sqlite")
    return path, lambda query: sqlite3.connect(path).execute(query).fetchall()


def written(session, path, *ops, steps=1, **names):
    step = tf.train.get_or_create_global_step()
    with summary.create_db_writer(path, **names).as_default(), summary.always_record_summaries():
        made = [op() for op in ops]
    session.run(tf.global_variables_initializer())
    session.run(summary.summary_writer_initializer_op())
    for _ in range(steps):
        session.run(made)
        session.run(tf.assign_add(step, 1))


def test_values_are_tensors_of_series(session, database):
    path, found = database
    written(
        session,
        path,
        lambda: summary.scalar("f", 2.5),
        lambda: summary.scalar("n/i", tf.constant(3, tf.int64)),
        lambda: summary.generic("g", tf.constant([[1, 2], [3, 4]])),
        lambda: summary.histogram("h", [1.0, 2.0, 3.0]),
        lambda: summary.image("p", tf.zeros([1, 2, 4, 3], tf.uint8)),
        steps=2,
        experiment_name="e",
        run_name="r",
        user_name="me",
    )
    rows = found("SELECT tag_name, plugin_name, step, dtype, shape, data FROM Tensors JOIN Tags ON series = tag_id")
    tensors = {(tag, step): (plugin, dtype, shape, data) for tag, plugin, step, dtype, shape, data in rows}
    assert len(tensors) == 10
    assert tensors["f", 0] == ("scalars", 1, "", struct.pack("<f", 2.5))
    assert tensors["n/i", 1] == ("scalars", 9, "", struct.pack("<q", 3))
    assert tensors["g", 0] == ("", 3, "2,2", np.arange(1, 5, dtype=np.int32).tobytes())
    plugin, dtype, shape, data = tensors["h", 1]
    buckets = np.frombuffer(data).reshape([int(n) for n in shape.split(",")])
    assert (plugin, dtype, buckets.shape) == ("histograms", 2, (7, 3))
    np.testing.assert_allclose(buckets[:2], [[2.2250738585072014e-308, 0.91724639, 0], [0.91724639, 1.00897103, 1]], rtol=1e-6)
    assert buckets[:, 2].sum() == 3 and (buckets[1:, 0] == buckets[:-1, 1]).all()
    assert tensors["p/image/0", 0] == ("images", 7, "3", None)
    texts = [text for (text,) in found("SELECT data FROM TensorStrings ORDER BY tensor_rowid, idx")]
    assert texts[:2] == [b"4", b"2"] and texts[2].startswith(b"\x89PNG")


def test_runs_belong_to_experiments_and_users(session, database):
    path, found = database
    for run in ("one", "two", "one"):
        with tf.Graph().as_default(), tf.Session() as own:
            written(own, path, lambda: summary.scalar("s", 1.0), experiment_name="e", run_name=run, user_name="me")
    assert found("SELECT user_name FROM Users") == [("me",)]
    assert found("SELECT run_name, experiment_name FROM Runs JOIN Experiments USING (experiment_id)") == [("one", "e"), ("two", "e")]
    assert found("SELECT count(*), count(DISTINCT run_id) FROM Tags") == [(2, 2)]
    ids = {number for (number,) in found("SELECT id FROM Ids")}
    assert ids == {
        n for t, c in (("Users", "user_id"), ("Runs", "run_id"), ("Tags", "tag_id")) for (n,) in found(f"SELECT {c} FROM {t}")
    } | {n for (n,) in found("SELECT experiment_id FROM Experiments")}


def test_names_that_are_empty_are_left_out_and_others_have_defaults(session, database):
    path, found = database
    written(session, path, lambda: summary.scalar("s", 1.0), experiment_name="", user_name="")
    assert (found("SELECT * FROM Users"), found("SELECT * FROM Experiments")) == ([], [])
    ((name,),) = found("SELECT run_name FROM Runs")
    assert len(name.split(":")) == 3


def test_graphs_are_kept_node_by_node(session, database):
    path, found = database
    tf.train.get_or_create_global_step()
    graph = tf.GraphDef()
    graph.node.add(name="a", op="NoOp")
    graph.node.add(name="b", op="Split", input=["^a"])
    graph.node.add(name="c", op="Add", input=["b:1", "b"])
    with summary.create_db_writer(path, "e", "r", "me").as_default():
        session.run(tf.global_variables_initializer())
        summary.initialize(graph=graph, session=session)
    assert found("SELECT node_name, op FROM Nodes ORDER BY node_id") == [("a", "NoOp"), ("b", "Split"), ("c", "Add")]
    assert found("SELECT node_id, idx, input_node_id, input_node_idx, is_control FROM NodeInputs") == [
        (1, 0, 0, 0, 1),
        (2, 0, 1, 1, 0),
        (2, 1, 1, 0, 0),
    ]


@pytest.mark.parametrize(
    "names", [{"experiment_name": "\0"}, {"run_name": "<"}, {"user_name": "-hi"}, {"user_name": "hi-"}, {"user_name": "@"}]
)
def test_names_are_checked(names):
    with pytest.raises(ValueError, match="name must match regex"):
        summary.create_db_writer("x.sqlite", **names)


def test_in_eager_mode_summaries_are_written_at_once(eager, database):
    path, found = database
    tf.train.create_global_step()
    with summary.create_db_writer(path, "e", "r", "me").as_default(), summary.always_record_summaries():
        summary.scalar("t", 2.0)
    assert found("SELECT tag_name FROM Tags") == [("t",)]
