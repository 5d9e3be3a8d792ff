"""Watched runs on servers, and how a task is told about its cluster."""

import pytest

import everflow as tf
from everflow.debug.cluster_task import parse_cluster_spec
from everflow.debug.dump import DebugDumpDir
from everflow.debug.watches import watch_graph


def test_jobs_and_tasks_of_a_text():
    cluster = tf.train.ClusterDef()
    parse_cluster_spec("worker|a:1;b:2,ps|c:3", cluster)
    assert {job.name: dict(job.tasks) for job in cluster.job} == {"worker": {0: "a:1", 1: "b:2"}, "ps": {0: "c:3"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [("worker", "exactly one instance of"), ("|a:1", "Empty job_name"), ("worker|a:1;", "Empty task string at position 1")],
)
def test_texts_that_can_not_be(text, message):
    with pytest.raises(ValueError, match=message):
        parse_cluster_spec(text, tf.train.ClusterDef())


def test_a_server_runs_what_a_session_has_watched(tmp_path):
    server = tf.train.Server.create_local_server()
    v = tf.Variable(2.0, name="v")
    y = tf.multiply(v, 3.0, name="y")
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    with tf.Session(server.target) as session:
        session.run(v.initializer)
        watch_graph(options, session.graph, debug_urls=f"file://{tmp_path}")
        assert session.run(y, options=options, run_metadata=metadata) == 6
    dump = DebugDumpDir(str(tmp_path), partition_graphs=metadata.partition_graphs)
    assert dump.devices() == ["/job:local/replica:0/task:0/device:CPU:0"]
    assert dump.get_tensors("y", 0, "DebugIdentity") == [6]
