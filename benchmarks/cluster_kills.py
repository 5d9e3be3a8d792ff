"""Trains on a cluster whose tasks are killed at random: `python benchmarks/cluster_kills.py [--steps 1000] [--every 50] [--seed 0]`.

One parameter server and two workers, each a process. Each time that training has made so many steps, one of the three is killed with -9 and
started again at once, as a scheduler would. In the end the step and the loss have to be right, and no pause in training may be longer than
half a minute. Exits with 1 where one of these does not hold.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

from everflow.platform.ports import free_ports

ROOT = str(pathlib.Path(__file__).parents[1])
LONGEST_PAUSE = 30.0
PROGRAM = """
import sys
import numpy as np
import everflow as tf

job, index, ps, workers, folder, last = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4].split(","), sys.argv[5], int(sys.argv[6])
server = tf.train.Server({"ps": [ps], "worker": workers}, job_name=job, task_index=index)
if job == "ps":
    server.join()
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index, ps_tasks=1)):
    points = np.random.RandomState(0).rand(64, 3).astype(np.float32)
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(points), w - [[1.0], [2.0], [3.0]])))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.3).minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(
    master=server.target, is_chief=index == 0, checkpoint_dir=folder, save_checkpoint_steps=10, save_checkpoint_secs=None,
    save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None, hooks=[tf.train.StopAtStepHook(last_step=last)],
    config=tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % index]),
) as session:
    while not session.should_stop():
        _, value, at = session.run([train, loss, step])
        print("step", at, "loss", value, flush=True)
"""


class Fleet:
    """The processes, and what the workers print."""

    def __init__(self, folder: str, steps: int) -> None:
        ps, *workers = [f"localhost:{port}" for port in free_ports(3)]
        self._arguments = [ps, ",".join(workers), folder, str(steps)]
        self.news: queue.SimpleQueue[tuple[str, str | None]] = queue.SimpleQueue()
        self.tasks: dict[str, Any] = {}

    def start(self, name: str) -> None:
        """Starts a task, for the first time or again."""
        job, index = name.split()
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, job, index, *self._arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1"},
        )
        self.tasks[name] = process
        threading.Thread(target=self._listen, args=(name, process), daemon=True).start()

    def _listen(self, name: str, process: Any) -> None:
        for line in process.stdout:
            self.news.put((name, line))
        if process.wait() == 0:
            self.news.put((name, None))

    def kill(self, name: str) -> None:
        """Kills a task as the kernel would, and has it started again."""
        self.tasks[name].kill()
        self.tasks[name].wait()
        self.start(name)

    def end(self) -> None:
        for process in self.tasks.values():
            process.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    names = ["ps 0", "worker 0", "worker 1"]
    kills = dict.fromkeys(names, 0)
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(folder, asked.steps)
        for name in names:
            fleet.start(name)
        best, made, loss, longest, moved = 0, 0, float("inf"), 0.0, 0.0
        over: set[str] = set()
        try:
            while "worker 0" not in over:
                name, line = fleet.news.get(timeout=300)
                if line is None:
                    over.add(name)
                    continue
                found = re.match(r"step (\d+) loss (\S+)", line)
                if not found:
                    continue
                now = time.monotonic()
                longest = max(longest, now - moved) if moved else 0.0
                moved = now
                best, loss, made = max(best, int(found.group(1))), float(found.group(2)), made + 1
                if made >= asked.every and best < asked.steps - 1:
                    made = 0
                    victim = chance.choice([n for n in names if n not in over])
                    kills[victim] += 1
                    print(f"at step {best}: {victim} is killed; the longest pause so far is {longest:.1f} s", flush=True)
                    fleet.kill(victim)
        finally:
            fleet.end()
    print(f"last step {best}, loss {loss:.2g}, longest pause {longest:.1f} s, kills {kills}")
    return 0 if best >= asked.steps - 1 and loss < 1e-3 and longest <= LONGEST_PAUSE else 1


if __name__ == "__main__":
    sys.exit(main())
