"""Replicas that train in step."""

import threading

import pytest

import everflow as tf


def replica(server, is_chief, gradient):
    """A session of a replica on a server, its graph and its step."""
    with tf.Graph().as_default() as graph:
        step = tf.Variable(0, name="global_step", trainable=False)
        dense = tf.Variable(0.0, name="dense")
        rows = tf.Variable([[3.0], [4.0]], name="rows")
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(2.0), 2, total_num_replicas=2)
        slices = tf.IndexedSlices(tf.constant([[gradient]]), tf.constant([1]), tf.constant([2, 1]))
        train_op = optimizer.apply_gradients([(tf.constant(gradient), dense), (slices, rows)], global_step=step)
        hook = optimizer.make_session_run_hook(is_chief, num_tokens=0)
        session = tf.train.MonitoredTrainingSession(server.target, is_chief=is_chief, hooks=[hook])
    return session, graph, train_op


def test_step_takes_the_mean_of_two_replicas():
    server = tf.train.Server.create_local_server()
    chief, chief_graph, chief_step = replica(server, True, 0.1)
    other, other_graph, other_step = replica(server, False, 0.3)
    threads = [threading.Thread(target=s.run, args=(step,)) for s, step in ((chief, chief_step), (other, other_step))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    values = other.run([other_graph.get_tensor_by_name(n) for n in ("dense:0", "rows:0", "global_step:0", "sync_rep_local_step:0")])
    assert values[0] == pytest.approx(-0.4)
    assert values[1].ravel() == pytest.approx([3.0, 3.6])
    assert values[2:] == [1, 1]
    assert chief.run(chief_graph.get_tensor_by_name("sync_rep_local_step:0")) == 1


def test_mistakes_are_told(graph):
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 3, total_num_replicas=1)
    variable = tf.Variable(0.0)
    with pytest.raises(ValueError, match="at least one variable"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="Global step is required"):
        optimizer.apply_gradients([(tf.constant(1.0), variable)])
    with pytest.raises(ValueError, match="after apply_gradients"):
        optimizer.get_chief_queue_runner()
    with pytest.raises(ValueError, match="should be called before using the hook"):
        optimizer.make_session_run_hook(True).begin()
    optimizer.apply_gradients([(tf.constant(1.0), variable)], global_step=tf.train.create_global_step())
    with pytest.raises(ValueError, match="Too few tokens"):
        optimizer.get_init_tokens_op(1)
