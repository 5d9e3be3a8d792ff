"""Tasks that are killed while they train: the rest goes on, or waits and goes on from the last checkpoint."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

import pytest

from everflow.platform.ports import free_ports

ROOT = str(pathlib.Path(__file__).parents[2])
PROGRAM = """
import sys
import numpy as np
import everflow as tf

job, index, ps, workers, folder, last = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4].split(","), sys.argv[5], int(sys.argv[6])
cluster = {"ps": [ps], "worker": workers}
server = tf.train.Server(cluster, job_name=job, task_index=index)
print("serving", flush=True)
if job == "ps":
    server.join()
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index, cluster=cluster)):
    x = tf.constant(np.random.RandomState(0).rand(16, 3), tf.float32)
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w - [[1.0], [2.0], [3.0]])))
    step = tf.train.get_or_create_global_step()
    train = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(
    master=server.target,
    is_chief=index == 0,
    checkpoint_dir=folder,
    save_checkpoint_steps=20,
    save_checkpoint_secs=None,
    save_summaries_steps=None,
    save_summaries_secs=None,
    log_step_count_steps=None,
    hooks=[tf.train.StopAtStepHook(last_step=last)],
    # Who trains does not wait for workers that are gone.
    config=tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % index]),
) as session:
    while not session.should_stop():
        _, value, at = session.run([train, loss, step])
        print("step", at, "loss", value, flush=True)
print("over", flush=True)
"""


class Fleet:
    """A cluster of processes, of which each can be killed and started again."""

    def __init__(self, folder, last):
        self.ps, *self.workers = (f"localhost:{port}" for port in free_ports(3))
        self.arguments = [self.ps, ",".join(self.workers), str(folder), str(last)]
        self.running = []

    def start(self, job, index=0):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, job, str(index), *self.arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1"},
        )
        self.running.append(process)
        return process

    def end(self):
        for process in self.running:
            process.kill()
            process.wait()
            process.stdout.close()


def steps_until(process, enough):
    """What a task prints, as steps, until `enough(step)`; the last step and loss."""
    # A fleet that hangs is ended, and the test with it.
    watch = threading.Timer(180, process.kill)
    watch.start()
    try:
        for line in process.stdout:
            found = re.match(r"step (\d+) loss (\S+)", line)
            if found and enough(int(found.group(1))):
                return int(found.group(1)), float(found.group(2))
        return None
    finally:
        watch.cancel()


@pytest.fixture
def fleet(tmp_path):
    found = Fleet(tmp_path, 600)
    yield found
    found.end()


def finished(process):
    """The last step and loss of a task that trains to its end."""
    text, _ = process.communicate(timeout=180)
    last = re.findall(r"^step (\d+) loss (\S+)$", text, re.MULTILINE)[-1]
    assert text.endswith("over\n")
    assert process.returncode == 0
    return int(last[0]), float(last[1])


def test_training_goes_on_from_the_last_checkpoint_when_the_parameter_server_was_killed(fleet):
    server, chief = fleet.start("ps"), fleet.start("worker")
    before, _ = steps_until(chief, lambda step: step >= 50)
    server.send_signal(signal.SIGKILL)
    server.wait()
    fleet.start("ps")
    # What came after the checkpoint is lost, and done again; at most twenty steps, and those that were printed before the kill.
    again, _ = steps_until(chief, lambda step: step % 20 == 0)
    assert again > 0
    step, loss = finished(chief)
    assert step >= 599
    assert loss < 1e-3


def test_workers_go_on_without_one_that_was_killed_and_it_may_come_back(fleet):
    fleet.start("ps")
    chief = fleet.start("worker")
    assert steps_until(chief, lambda step: step >= 5)
    worker = fleet.start("worker", 1)
    assert steps_until(worker, lambda step: True)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    again = fleet.start("worker", 1)
    assert steps_until(again, lambda step: True)
    step, loss = finished(chief)
    assert step >= 599
    assert loss < 1e-3
