"""Steps over processes, of Everflow and a real TensorFlow 1.15 in turns: `python benchmarks/clusters.py [--peer PYTHON] [--rounds N]`.

a. a trivial step (x + 1) of a session whose target is a server in another process;
b. a trivial step of a worker's own session, whose op is placed on a parameter server in another process;
c. the same two with 10 MB fed and 10 MB fetched;
d. training the MNIST network (two convolutions, two dense layers; 3.3 million parameters; batches of 100) with a parameter server and two
   workers, each a process: the steps of both workers in a second. The pictures are noise, which trains as fast.

Prints a table: Everflow's time, the peer's, and how many times as long the peer takes. The best of the rounds counts.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from everflow.platform.ports import free_ports

ROOT = str(pathlib.Path(__file__).parents[1])
STEPS = """
import sys, time, json
import numpy as np
import tensorflow as tf
job, ps, worker = sys.argv[1:4]
server = tf.train.Server({"ps": [ps], "worker": [worker]}, job_name=job, task_index=0)
if job == "ps":
    server.join()
size = 10 * 1024 * 1024 // 4
with tf.device("/job:ps/task:0"):
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    large = tf.placeholder(tf.float32, [size])
    larger = large + 1.0
data = np.ones([size], np.float32)

def best(call, count):
    for _ in range(count // 5 + 2):
        call()
    found = []
    for _ in range(5):
        began = time.time()
        for _ in range(count):
            call()
        found.append((time.time() - began) / count)
    return min(found)

found = {}
for name, target in (("remote session", "grpc://" + ps), ("op on a ps", server.target)):
    with tf.Session(target) as session:
        found[name + ", trivial"] = best(lambda: session.run(y, {x: 1.0}), 200)
        found[name + ", 10 MB each way"] = best(lambda: session.run(larger, {large: data}), 8)
print("found " + json.dumps(found), flush=True)
import os; os._exit(0)
"""
TRAINING = """
import sys, time, json
import numpy as np
import tensorflow as tf
job, index, ps, workers, steps = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4].split(","), int(sys.argv[5])
config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=2)
server = tf.train.Server({"ps": [ps], "worker": workers}, job_name=job, task_index=index, config=config)
if job == "ps":
    server.join()
with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:%d" % index)):
    pictures, labels = tf.placeholder(tf.float32, [100, 784]), tf.placeholder(tf.int64, [100])
    h = tf.reshape(pictures, [-1, 28, 28, 1])
    for i, channels in enumerate((32, 64)):
        h = tf.layers.conv2d(h, channels, 5, padding="same", activation=tf.nn.relu, name="conv%d" % i)
        h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.dense(tf.reshape(h, [-1, 7 * 7 * 64]), 1024, activation=tf.nn.relu)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(h, 10))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)
    init = tf.global_variables_initializer()
    missing = tf.report_uninitialized_variables()
data = np.random.RandomState(index)
feeds = {pictures: data.rand(100, 784), labels: data.randint(0, 10, [100])}
with tf.Session(server.target, config=tf.ConfigProto(
        intra_op_parallelism_threads=1, inter_op_parallelism_threads=2,
        device_filters=["/job:ps", "/job:worker/task:%d" % index])) as session:
    if index == 0:
        session.run(init)
    while len(session.run(missing)):
        time.sleep(0.1)
    for _ in range(3):
        session.run(train, feeds)
    # Both workers count while both work.
    began, first = time.time(), session.run(step)
    for _ in range(steps):
        session.run(train, feeds)
    rate = (session.run(step) - first) / (time.time() - began)
print("found " + json.dumps({"steps a second": float(rate)}), flush=True)
import os; os._exit(0)
"""


class Side:
    """What runs the programs: Everflow, or a TensorFlow."""

    def __init__(self, command: list[str], path: str) -> None:
        self._command = command
        self._environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}

    def start(self, script: str, *arguments: object) -> Any:
        command = [*self._command, script, *map(str, arguments)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self._environment)

    def steps(self, script: str) -> dict[str, float]:
        """The seconds that single steps take."""
        addresses = [f"localhost:{port}" for port in free_ports(2)]
        server = self.start(script, "ps", *addresses)
        try:
            return _found(self.start(script, "worker", *addresses))
        finally:
            server.kill()
            server.wait()

    def training(self, script: str, count: int) -> float:
        """The steps in a second of two workers."""
        ps, *workers = [f"localhost:{port}" for port in free_ports(3)]
        server = self.start(script, "ps", 0, ps, ",".join(workers), count)
        try:
            running = [self.start(script, "worker", i, ps, ",".join(workers), count) for i in range(2)]
            return min(_found(w)["steps a second"] for w in running)
        finally:
            server.kill()
            server.wait()


def _found(process: Any) -> dict[str, float]:
    output, _ = process.communicate(timeout=600)
    return json.loads(output.rsplit("found ", 1)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", help="a Python that has TensorFlow 1.15")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=30, help="training steps of each worker")
    parser.add_argument("--only", choices=("steps", "training"))
    asked = parser.parse_args()
    sides = {"Everflow": Side([sys.executable, "-m", "everflow", "run"], ROOT)}
    if asked.peer:
        sides["peer"] = Side([asked.peer], "")
    table: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        steps, training = pathlib.Path(folder) / "steps.py", pathlib.Path(folder) / "training.py"
        steps.write_text(STEPS)
        training.write_text(TRAINING)
        for _ in range(asked.rounds):
            for name, side in sides.items():
                found = side.steps(str(steps)) if asked.only != "training" else {}
                if asked.only != "steps":
                    found["MNIST, a step of two workers"] = 1 / side.training(str(training), asked.steps)
                for case, seconds in found.items():
                    row = table.setdefault(case, {})
                    row[name] = min(seconds, row.get(name, seconds))
    for case, row in table.items():
        print(f"{case:<32}", *(f"{name} {seconds * 1e6:10.0f} µs" for name, seconds in row.items()), end="")
        print(f"   x {row['peer'] / row['Everflow']:.2f}" if "peer" in row else "")


if __name__ == "__main__":
    main()
