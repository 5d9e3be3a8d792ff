"""A network that is cut between a worker and its parameter server, and heals."""

import os
import re
import subprocess
import sys
import threading

import pytest
from tasks import ROOT

import everflow as tf
from everflow.platform.ports import free_ports
from everflow.test.network import Link

SERVER = """
import sys
import everflow as tf
tf.train.Server({"ps": [sys.argv[1]], "worker": [sys.argv[2]]}, job_name="ps", task_index=0).join()
"""
WORKER = """
import sys
import numpy as np
import everflow as tf

cluster = {"ps": [sys.argv[1]], "worker": [sys.argv[2]]}
server = tf.train.Server(cluster, job_name="worker", task_index=0)
with tf.device(tf.train.replica_device_setter(cluster=cluster)):
    w = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(tf.square(w - [1.0, 2.0, 3.0]))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(
    master=server.target, checkpoint_dir=sys.argv[3], save_checkpoint_steps=20, save_checkpoint_secs=None, save_summaries_steps=None,
    save_summaries_secs=None, log_step_count_steps=None, hooks=[tf.train.StopAtStepHook(last_step=300)],
) as session:
    while not session.should_stop():
        _, value, at = session.run([train, loss, step])
        print("step", at, "loss", value, flush=True)
"""


@pytest.fixture
def link():
    """The way from a worker to the parameter server, which runs."""
    ps, worker = (f"localhost:{port}" for port in free_ports(2))
    process = subprocess.Popen([sys.executable, "-c", SERVER, ps, worker], env={**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1"})
    found = Link(ps)
    found.worker = worker
    yield found
    found.close()
    process.kill()
    process.wait()


def trained(link, folder, is_loud):
    """The steps and losses of a worker whose link is cut after 50 of them, and healed two seconds later."""
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, link.address, link.worker, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1"},
    )
    watch = threading.Timer(200, worker.kill)
    watch.start()
    found = []
    try:
        for line in worker.stdout:
            at, loss = re.match(r"step (\d+) loss (\S+)", line).groups()
            found.append((int(at), float(loss)))
            if len(found) == 50:
                link.cut(is_loud)
                threading.Timer(2, link.heal).start()
        assert worker.wait() == 0
    finally:
        watch.cancel()
        worker.kill()
        worker.stdout.close()
    return found


def test_steps_wait_while_a_network_is_silent_and_none_is_lost(link, tmp_path):
    found = trained(link, tmp_path, is_loud=False)
    # The step may be read before or after it is counted up.
    steps = [at for at, _ in found]
    assert len(found) == 300 and steps == sorted(steps)
    assert found[-1][1] < 1e-3


def test_training_goes_on_from_a_checkpoint_when_connections_were_ended(link, tmp_path):
    found = trained(link, tmp_path, is_loud=True)
    assert found[-1][0] >= 299 and found[-1][1] < 1e-3
    # What came after the last checkpoint is done again, and no more than that.
    assert 300 <= len(found) <= 350


def test_a_step_that_may_not_wait_fails_and_the_session_works_again_when_the_network_does(link):
    cluster = {"ps": [link.address], "worker": [link.worker]}
    server = tf.train.Server(cluster, job_name="worker", task_index=0)
    with tf.device("/job:ps/task:0"):
        count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
        up, read = count.assign_add(1.0), count.read_value()
    with tf.Session(server.target) as session:
        session.run(count.initializer)
        # What a task is to run it has to know before: a step that is new to it is told of it without a limit.
        assert [session.run(up), session.run(read)] == [1.0, 1.0]
        link.cut()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(read, options=tf.RunOptions(timeout_in_ms=500))
        link.heal()
        assert session.run(up) == 2.0
